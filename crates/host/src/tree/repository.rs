//! What git needs to read a repository. When git fails, these tell a repository that was damaged since the start
//! from a machine on which git does not work; what git prints is for people.

use super::head;
use crate::plain_file::{self, Links};
use ralph_core::protect::{Change, PinnedChange, RepositoryPart};
use ralph_core::text;
use rustix::fs::CWD;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// More than any configuration of a repository.
const LARGEST: u64 = 4 << 20;

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

fn paths(root: &Path) -> Vec<PathBuf> {
    let Some((own, common)) = head::folders(root) else { return Vec::new() };
    let mut paths = vec![root.join(".git"), own.join("HEAD")];
    paths.extend(["objects", "refs", "config"].map(|name| common.join(name)));
    paths
}

fn part(root: &Path, path: &Path) -> io::Result<RepositoryPart> {
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
    let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
    Ok(RepositoryPart { path: shown, kind, mode: meta.permissions().mode(), hash })
}
