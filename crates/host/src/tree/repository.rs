//! What git needs to read a repository. When git fails, these tell a repository that was damaged since the start
//! from a machine on which git does not work; what git prints is for people.

use super::{head, inode_of, links};
use crate::plain_file::{self, Links};
use ralph_core::protect::{Change, PinnedChange, RepositoryPart};
use ralph_core::text;
use rustix::fs::CWD;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// More than any configuration of a repository.
const LARGEST: u64 = 4 << 20;
/// Folders inside each other: more than names of branches have parts, and as deep as any project.
const DEEPEST: usize = 100;
/// Things that are named: people want examples.
const MOST_TOLD: usize = 20;

/// The parts of the repository at `root` as they are; none if it does not look like one.
pub fn parts(root: &Path) -> Vec<RepositoryPart> {
    let paths = paths(root);
    paths.iter().filter_map(|path| part(root, path).ok()).collect()
}

/// What happened to the parts since. Only asked where git fails.
pub fn damage(root: &Path, parts: &[RepositoryPart]) -> Vec<PinnedChange> {
    let changed = |before: &RepositoryPart| {
        let path = root.join(&before.path);
        let how = match part(root, &path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Change::Deleted,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                // Permissions that are as they were are somebody else's affair.
                let as_before = path.metadata().is_ok_and(|meta| meta.permissions().mode() == before.mode);
                if as_before {
                    return None;
                }
                Change::Unseen { why: error.to_string() }
            }
            // A disk that does not answer is no deed of the agent.
            Err(_) => return None,
            Ok(now) if now.kind != before.kind => Change::Replaced { by: now.kind },
            Ok(now) if now.hash != before.hash => Change::Content { losses: String::new() },
            Ok(_) if before.path.ends_with("HEAD") && head::is_nonsense(&path) => {
                Change::Content { losses: String::new() }
            }
            Ok(_) => return None,
        };
        Some(PinnedChange { path: before.path.clone(), how })
    };
    // What lies in a folder that is gone is gone with it, and worth no line of its own.
    let mut damage: Vec<PinnedChange> = parts.iter().filter_map(changed).collect();
    if let Some(whole) = damage.iter().position(|change| change.path == ".git") {
        damage = vec![damage.swap_remove(whole)];
    }
    damage
}

/// Device and inode of the repository's folder and of that with its objects.
pub(crate) fn identity(root: &Path) -> Option<[(u64, u64); 2]> {
    let (_, common) = head::folders(root)?;
    Some([inode_of(&common)?, inode_of(&common.join("objects"))?])
}

/// What in the repository's own folders is a pipe or the like, so that git would wait for it: all that a listing opens,
/// and every reference and pack.
pub(crate) fn blocking(root: &Path) -> Vec<PinnedChange> {
    let mut found = Found { root, changes: Vec::new() };
    let dot_git = root.join(".git");
    if found.look_at(&dot_git) {
        return found.changes;
    }
    let Some((own, common)) = head::folders(root) else { return found.changes };
    for folder in [&own, &common] {
        found.look_in(folder, 0);
        ["info", "objects/info", "objects/pack"].iter().for_each(|name| found.look_in(&folder.join(name), 0));
        found.look_in(&folder.join("refs"), DEEPEST);
    }
    found.changes.dedup();
    found.changes
}

/// The same with every object and, in every folder of the work tree, what git reads there: what a commit opens.
pub(crate) fn blocking_anywhere(root: &Path) -> Vec<PinnedChange> {
    let mut found = Found { root, changes: blocking(root) };
    if let Some((_, common)) = head::folders(root) {
        found.look_in(&common.join("objects"), 1);
    }
    found.look_through(root, DEEPEST);
    found.changes
}

/// What of the repository lies in one of these folders, so that it would go with them.
pub(crate) fn leading(root: &Path, own: &[PathBuf]) -> Vec<PinnedChange> {
    let Some((folder, common)) = head::folders(root) else { return Vec::new() };
    let objects = common.join("objects");
    let mut places =
        vec![(root.join(".git"), folder), (root.join(".git"), common.clone()), (objects.clone(), objects.clone())];
    places.push((common.join("refs"), common.join("refs")));
    let alternates = objects.join("info/alternates");
    if let Ok(contents) = plain_file::read(CWD, alternates.as_path(), Links::Follow, LARGEST) {
        let lines = contents.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        places.extend(lines.map(|line| (alternates.clone(), objects.join(OsStr::from_bytes(line)))));
    }
    let root_itself = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let own: Vec<PathBuf> = own.iter().map(|own| own.canonicalize().unwrap_or_else(|_| own.clone())).collect();
    let leads = |(path, leads_to): (PathBuf, PathBuf)| {
        let end = links::end_of(Path::new("/"), &leads_to);
        let is_own = own.iter().any(|own| end.path.starts_with(own) && !root_itself.starts_with(own));
        let path = shown_in(root, &path);
        is_own.then(|| PinnedChange { path, how: Change::Leads { to: end.path.display().to_string() } })
    };
    let mut found: Vec<PinnedChange> = places.into_iter().filter_map(leads).collect();
    found.dedup();
    found
}

/// Pipes and the like that were found in a work tree or its repository.
struct Found<'a> {
    root: &'a Path,
    changes: Vec<PinnedChange>,
}

impl Found<'_> {
    fn tell(&mut self, path: &Path, kind: &str) {
        if self.changes.len() < MOST_TOLD {
            let how = Change::Blocks { what: kind.to_owned() };
            self.changes.push(PinnedChange { path: shown_in(self.root, path), how });
        }
    }

    /// Whether this itself is one.
    fn look_at(&mut self, path: &Path) -> bool {
        let kind = path.metadata().ok().and_then(|meta| links::entry_blocks(meta.file_type()));
        kind.inspect(|kind| self.tell(path, kind)).is_some()
    }

    /// Looks at the files of a folder of the repository, and at folders below, so deep.
    fn look_in(&mut self, folder: &Path, depth: usize) {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth > 0 {
                self.look_in(&entry.path(), depth - 1);
            } else if kind.is_symlink() {
                self.look_at(&entry.path());
            } else if let Some(kind) = links::entry_blocks(kind) {
                // git talks to its own monitor by a socket.
                if kind != "socket" {
                    self.tell(&entry.path(), kind);
                }
            }
        }
    }

    /// Looks for what git reads in each folder of the work tree.
    fn look_through(&mut self, folder: &Path, depth: usize) {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else { continue };
            if kind.is_dir() && name != ".git" && depth > 0 {
                self.look_through(&entry.path(), depth - 1);
            } else if let Some(kind) = links::entry_blocks(kind).filter(|_| super::walk::is_read_by_git(&name)) {
                self.tell(&entry.path(), kind);
            }
        }
    }
}

/// A path as people know it: relative to the root of the work tree where it lies below that.
pub(crate) fn shown_in(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn paths(root: &Path) -> Vec<PathBuf> {
    let Some((own, common)) = head::folders(root) else { return Vec::new() };
    let mut paths = vec![root.join(".git"), own.join("HEAD")];
    paths.extend(["objects", "refs", "config"].map(|name| common.join(name)));
    paths
}

/// One of them.
pub(crate) fn part(root: &Path, path: &Path) -> io::Result<RepositoryPart> {
    let link = path.symlink_metadata()?;
    // Followed, since git follows it; that it can be opened is part of the answer.
    let meta = path.metadata()?;
    let is_head = path.ends_with("HEAD");
    let hash = if meta.is_dir() {
        path.read_dir().map(drop)?;
        String::new()
    } else {
        let contents = plain_file::read(CWD, path, Links::Follow, LARGEST)?;
        // Every commit may move HEAD.
        if is_head { String::new() } else { text::hash(&contents.bytes) }
    };
    // The width of a mode differs between systems.
    let mode = link.permissions().mode() as rustix::fs::RawMode;
    let kind = plain_file::kind(rustix::fs::FileType::from_raw_mode(mode)).to_owned();
    Ok(RepositoryPart { path: shown_in(root, path), kind, mode: meta.permissions().mode(), hash })
}
