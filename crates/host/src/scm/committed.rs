//! Whether a commit holds what was checked.
//!
//! Nothing is believed from the index: its times, flags and cached contents are what an agent may have written. Every
//! path of the commit is read from the work tree and hashed anew, as it is; only what differs then is put through the
//! filters that were there at the start, as a commit would.

use crate::git::{self, GitError, Inquiry, answer, root_command, with_index};
use crate::made;
use crate::process::Keeper;
use crate::tree;
use ralph_core::protect::{PinnedChange, PinnedState};
use ralph_core::time::WallTime;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Files that are named of each kind: people want examples.
const NAMED: usize = 20;
/// Ignored folders are looked through so deep for what the run wrote.
const DEEPEST: usize = 100;
/// So many new files of an ignored folder are named one by one; of more, the whole folder.
const MOST_NEW: usize = 200;
/// Folders that tools fill, which no commit holds and which checks may need all the same.
const GENERATED: &[&str] = &[
    "node_modules", "bower_components", "vendor", "venv", "env", "virtualenv", "deps", "Pods", "target", "dist",
    "build", "builddir", "out", "_build", "dist-newstyle", "__pycache__",
];

/// How a commit differs from the work tree in which the checks ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Committed {
    /// What of git is not as it was at the start: a hook may have changed it while the commit was made.
    pub changes: Vec<PinnedChange>,
    /// Paths whose content or kind in the commit is another one, or that only the commit has.
    pub differs: Vec<String>,
    /// Files of the work that the commit leaves out though the rules of the start do not ignore them.
    pub left_out: Vec<String>,
}

/// An entry of the commit.
struct Held<'a> {
    mode: &'a [u8],
    id: &'a [u8],
    path: &'a [u8],
}

/// Compares the last commit with the work tree, and the commits of the repositories that it names with theirs.
pub async fn committed(keeper: &mut Keeper, on: Inquiry<'_>) -> Result<Committed, GitError> {
    let changes = git::changes(keeper, on.root, &on.pins.git, on.scratch).await?;
    let (mut differs, mut left_out) = (Named::default(), Named::default());
    let mut left = BTreeSet::from([Vec::new()]);
    while let Some(path) = left.pop_first() {
        let root = on.root.join(OsStr::from_bytes(&path));
        let inside = Inside { on: Inquiry { root: &root, ..on }, path: &path, filters: changes.is_empty() };
        let index = git::index_of_head(keeper, &root, on.scratch, on.patience).await?;
        let compared = inside.compare(keeper, &index, [&mut differs, &mut left_out]).await;
        // It is of no use to the next look.
        let _ = std::fs::remove_file(index);
        left.extend(compared?);
    }
    Ok(Committed { changes, differs: differs.list(), left_out: left_out.list() })
}

/// Where the files are kept, by their paths, that a checkout of the last commit writes otherwise than they were checked.
pub fn as_committed(scratch: &Path) -> PathBuf {
    scratch.join("committed")
}

/// Everything new that whoever checks out the last commit does not get, by its path in the outermost repository: files that
/// are not tracked; ignored ones that were written since then, unless they lie where tools put what they make; folders
/// without files; repositories that were not there at the start, unless whoever clones this one gets them too; and files
/// that a checkout writes otherwise, kept in [`as_committed`]. People's own settings (`.env`) and what is pinned do not count.
pub async fn left_out(keeper: &mut Keeper, on: Inquiry<'_>, since: WallTime) -> Result<Vec<PathBuf>, GitError> {
    let mut found: BTreeSet<Vec<u8>> = BTreeSet::new();
    let kept = as_committed(on.scratch);
    match std::fs::remove_dir_all(&kept) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(unkept(&kept, &error)),
        _ => {}
    }
    let mut left = BTreeSet::from([Vec::new()]);
    while let Some(path) = left.pop_first() {
        let root = on.root.join(OsStr::from_bytes(&path));
        let inside = Inside { on: Inquiry { root: &root, ..on }, path: &path, filters: false };
        let index = git::index_of_head(keeper, &root, on.scratch, on.patience).await?;
        let looked = inside.look_for_new(keeper, &index, since, &mut found).await;
        let _ = std::fs::remove_file(index);
        left.extend(looked?);
    }
    let is_pinned = |path: &Path| {
        let pinned = on.pins.files.iter().filter(|file| !matches!(file.state, PinnedState::Nothing));
        pinned.into_iter().any(|file| path.ends_with(&file.path))
    };
    let paths = found.into_iter().map(|path| PathBuf::from(OsString::from_vec(path)));
    Ok(paths.filter(|path| !is_pinned(path)).collect())
}

/// The outermost repository, or one inside.
struct Inside<'a> {
    on: Inquiry<'a>,
    /// Where it is in the outermost one.
    path: &'a [u8],
    /// Whether the filters of git are those of the start.
    filters: bool,
}

impl Inside<'_> {
    /// What the commit holds, as git lists it.
    async fn held(&self, keeper: &mut Keeper, index: &Path) -> Result<Vec<u8>, GitError> {
        let asked = with_index(root_command(self.on.root, ["ls-files", "-z", "--stage"]), index);
        answer(keeper, &asked, b"", self.on.patience).await
    }

    /// What stands beside that. A repository that was not there at the start ignored nothing then.
    async fn beside(&self, keeper: &mut Keeper, index: &Path, which: Beside) -> Result<Vec<u8>, GitError> {
        let words = ["ls-files", "-z", "--others", "--directory"];
        let mut args: Vec<OsString> = words.iter().map(OsString::from).collect();
        let rules = git::excluding(self.on, self.path)?;
        if which == Beside::Ignored && rules.is_none() {
            return Ok(Vec::new());
        }
        args.extend(rules);
        args.extend(match which {
            Beside::New => vec!["--no-empty-directory".into()],
            Beside::Ignored => vec!["--no-empty-directory".into(), "--ignored".into()],
            Beside::AlsoEmpty => Vec::new(),
        });
        answer(keeper, &with_index(root_command(self.on.root, args), index), b"", self.on.patience).await
    }

    /// Adds what differs and what is left out; returns the repositories that the commit names.
    async fn compare(
        &self,
        keeper: &mut Keeper,
        index: &Path,
        [differs, left_out]: [&mut Named; 2],
    ) -> Result<Vec<Vec<u8>>, GitError> {
        let at = self.path;
        let listed = self.held(keeper, index).await?;
        let entries: Vec<Held<'_>> = listed.split(|byte| *byte == 0).filter_map(Held::parse).collect();
        self.differing(keeper, &entries).await?.into_iter().for_each(|path| differs.add(at, path));
        let listed = self.beside(keeper, index, Beside::New).await?;
        paths(&listed).filter(|path| !is_own(path)).for_each(|path| left_out.add(at, path));
        Ok(self.repositories(&entries).map(|entry| tree::joined(at, entry.path)).collect())
    }

    /// The entries that name a repository which is there.
    fn repositories<'a>(&self, entries: &'a [Held<'a>]) -> impl Iterator<Item = &'a Held<'a>> {
        let root = self.on.root.to_owned();
        entries.iter().filter(move |entry| {
            entry.mode == b"160000" && root.join(OsStr::from_bytes(entry.path)).join(".git").symlink_metadata().is_ok()
        })
    }

    /// Adds what is new and not in the commit; returns the repositories in which the same is to be asked.
    async fn look_for_new(
        &self,
        keeper: &mut Keeper,
        index: &Path,
        since: WallTime,
        found: &mut BTreeSet<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, GitError> {
        let Inside { on, path: at, .. } = *self;
        let listed = self.beside(keeper, index, Beside::New).await?;
        let new: BTreeSet<&[u8]> = paths(&listed).filter(|path| !is_own(path)).collect();
        let mut left: BTreeSet<Vec<u8>> = new.iter().map(|path| path.to_vec()).collect();
        let also_empty = self.beside(keeper, index, Beside::AlsoEmpty).await?;
        let is_made = |path: &&[u8]| {
            let name = path.strip_suffix(b"/").unwrap_or(path).rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            !is_made_by_tools(name, true) && made::since_then(&on.root.join(OsStr::from_bytes(path)), since)
        };
        let empty = paths(&also_empty).filter(|path| path.ends_with(b"/") && !is_own(path) && !new.contains(path));
        left.extend(empty.filter(is_made).map(<[u8]>::to_vec));
        let listed = self.beside(keeper, index, Beside::Ignored).await?;
        for path in paths(&listed).filter(|path| !is_own(path)) {
            let mut new = Vec::new();
            new_below(on.root, path, since, DEEPEST, &mut new);
            if new.len() > MOST_NEW {
                new = vec![path.to_vec()];
            }
            left.extend(new);
        }
        let listed = self.held(keeper, index).await?;
        let entries: Vec<Held<'_>> = listed.split(|byte| *byte == 0).filter_map(Held::parse).collect();
        let folders: BTreeSet<&[u8]> = entries.iter().flat_map(|entry| above(entry.path)).collect();
        left = left.iter().map(|path| with_its_folder(on.root, path, &folders, since)).collect();
        let twice = |path: &[u8]| path.strip_suffix(b"/").is_some_and(|bare| left.contains(bare));
        let mut left: BTreeSet<Vec<u8>> = left.iter().filter(|path| !twice(path)).cloned().collect();
        left.extend(self.converted(keeper, index, &entries, since).await?);
        found.extend(left.iter().map(|path| tree::joined(at, path)));
        let mut known = Vec::new();
        for entry in self.repositories(&entries) {
            let path = tree::joined(at, entry.path);
            if git::excluding(on, &path)?.is_some() || self.comes_with_a_clone(keeper, entry).await? {
                known.push(path);
            } else {
                found.insert(path);
            }
        }
        Ok(known)
    }

    /// The files of the commit that a checkout writes otherwise than they stand here, by attributes that came with the
    /// work, each kept as it would be written.
    async fn converted(
        &self,
        keeper: &mut Keeper,
        index: &Path,
        entries: &[Held<'_>],
        since: WallTime,
    ) -> Result<Vec<Vec<u8>>, GitError> {
        let on = self.on;
        let files = entries.iter().filter(|entry| entry.mode == b"100644" || entry.mode == b"100755");
        let files: Vec<&[u8]> = files.map(|entry| entry.path).collect();
        let is_changed = |path: &&[u8]| changed_since(&on.root.join(OsStr::from_bytes(path)), since);
        let mut candidates: BTreeSet<&[u8]> = files.iter().copied().filter(is_changed).collect();
        let is_attributes = |path: &&[u8]| path.rsplit(|byte| *byte == b'/').next() == Some(b".gitattributes");
        if candidates.iter().any(is_attributes) {
            let now = converting(keeper, on, "HEAD", &files).await?;
            let start = on.pins.git.identity.as_ref().map(|identity| identity.commit.as_str());
            let before = match start.filter(|commit| !commit.is_empty() && self.path.is_empty()) {
                // One that git cannot look at says nothing for what is there now.
                Some(commit) => converting(keeper, on, commit, &files).await.unwrap_or_default(),
                None => BTreeSet::new(),
            };
            let new: BTreeSet<&[u8]> = now.difference(&before).map(|(path, _)| path.as_slice()).collect();
            candidates.extend(files.iter().copied().filter(|path| new.contains(path)));
        }
        // What the commit holds otherwise is not converted by a checkout, and told as such.
        let there = entries.iter().filter(|entry| candidates.contains(entry.path));
        let there = there.filter(|entry| on.root.join(OsStr::from_bytes(entry.path)).is_file()).collect();
        let other = unlike(keeper, on, there, &[]).await?;
        candidates.retain(|path| !other.iter().any(|entry| entry.path == *path));
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let kept = as_committed(on.scratch).join(OsStr::from_bytes(self.path));
        std::fs::create_dir_all(&kept).map_err(|error| unkept(&kept, &error))?;
        let prefix = [b"--prefix=", kept.as_os_str().as_bytes(), b"/"].concat();
        let args = ["checkout-index", "--force", "-z", "--stdin"].map(OsString::from);
        let mut asked = with_index(root_command(on.root, args.into_iter().chain([OsString::from_vec(prefix)])), index);
        // Whoever clones has the attributes of the commit and no others.
        asked.set.push(("GIT_ATTR_SOURCE".into(), "HEAD".into()));
        let stdin: Vec<u8> = candidates.iter().flat_map(|path| [path, &b"\0"[..]].concat()).collect();
        answer(keeper, &asked, &stdin, on.patience).await?;
        let mut converted = Vec::new();
        for path in candidates {
            let [here, there] = [on.root, &kept].map(|folder| std::fs::read(folder.join(OsStr::from_bytes(path))));
            match (here, there) {
                (Ok(here), Ok(there)) if here != there => converted.push(path.to_vec()),
                // What is not there cannot have been checked, and is told elsewhere.
                (Err(_), _) => {}
                (_, Ok(_)) => _ = std::fs::remove_file(kept.join(OsStr::from_bytes(path))),
                (_, Err(error)) => return Err(unkept(&kept, &error)),
            }
        }
        Ok(converted)
    }

    /// Whether a repository inside is registered, and its commit is one of its remote.
    async fn comes_with_a_clone(&self, keeper: &mut Keeper, entry: &Held<'_>) -> Result<bool, GitError> {
        let on = self.on;
        let paths = ["config", "-z", "--blob", "HEAD:.gitmodules", "--get-regexp", r"^submodule\..*\.path$"];
        let registered = match answer(keeper, &root_command(on.root, paths), b"", on.patience).await {
            Ok(listed) => listed,
            // There are none.
            Err(GitError::Refused(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        let value = |line: &[u8]| memchr::memchr(b'\n', line).and_then(|end| line.get(end + 1..).map(<[u8]>::to_vec));
        if !registered.split(|byte| *byte == 0).filter_map(value).any(|path| path == entry.path) {
            return Ok(false);
        }
        let inner = on.root.join(OsStr::from_bytes(entry.path));
        let contains = [b"--contains=", entry.id].concat();
        let args = ["for-each-ref".into(), OsString::from_vec(contains), "--count=1".into(), "refs/remotes".into()];
        match answer(keeper, &root_command(&inner, args), b"", on.patience).await {
            Ok(listed) => Ok(!listed.is_empty()),
            Err(GitError::Refused(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The paths of the commit that the work tree holds otherwise.
    async fn differing<'a>(&self, keeper: &mut Keeper, entries: &[Held<'a>]) -> Result<BTreeSet<&'a [u8]>, GitError> {
        let on = self.on;
        let mut differs: BTreeSet<&[u8]> = BTreeSet::new();
        let (mut links, mut files) = (Vec::new(), Vec::new());
        let sparse = if on.pins.git.sparse { sparse(keeper, on).await? } else { BTreeSet::new() };
        for entry in entries {
            let place = on.root.join(OsStr::from_bytes(entry.path));
            let Ok(meta) = place.symlink_metadata() else {
                // A part of the tree that was not there at the start cannot have been checked, nor changed.
                if !sparse.contains(entry.path) {
                    differs.insert(entry.path);
                }
                continue;
            };
            let executable = meta.permissions().mode() & 0o100 != 0;
            match entry.mode {
                // A repository inside has a commit of its own; one that is not fetched has none.
                b"160000" => {
                    let head = tree::head(&place).filter(|_| place.join(".git").exists());
                    if head.is_some_and(|head| !head.is_empty() && head.as_bytes() != entry.id) {
                        differs.insert(entry.path);
                    }
                }
                b"120000" if meta.is_symlink() => links.push(entry),
                b"100644" | b"100755" if meta.is_file() && executable == (entry.mode == b"100755") => files.push(entry),
                _ => _ = differs.insert(entry.path),
            }
        }
        differs.extend(other_links(keeper, on, &links).await?);
        let other = unlike(keeper, on, files, &["--no-filters"]).await?;
        if !self.filters {
            differs.extend(other.iter().map(|entry| entry.path));
            return Ok(differs);
        }
        let unlike: BTreeSet<&[u8]> =
            unlike(keeper, on, other.clone(), &[]).await?.iter().map(|entry| entry.path).collect();
        let transformed: Vec<&[u8]> =
            other.iter().map(|entry| entry.path).filter(|path| !unlike.contains(path)).collect();
        differs.extend(unlike);
        differs.extend(cut_by_keywords(keeper, on, &transformed).await?);
        Ok(differs)
    }
}

/// What is listed beside a commit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// What was not ignored at the start.
    New,
    /// The same, with folders in which no file is.
    AlsoEmpty,
    /// What was ignored at the start.
    Ignored,
}

/// Attributes by which a checkout writes something else than the commit holds, each with its path, as they are in a commit.
async fn converting(
    keeper: &mut Keeper,
    on: Inquiry<'_>,
    commit: &str,
    paths: &[&[u8]],
) -> Result<BTreeSet<(Vec<u8>, Vec<u8>)>, GitError> {
    const CONVERTING: [&str; 4] = ["eol", "ident", "working-tree-encoding", "filter"];
    let source = format!("--source={commit}");
    let args = ["check-attr", "-z", "--stdin", &source].into_iter().chain(CONVERTING);
    let stdin: Vec<u8> = paths.iter().flat_map(|path| [path, &b"\0"[..]].concat()).collect();
    let answered = answer(keeper, &root_command(on.root, args), &stdin, on.patience).await?;
    let mut fields = answered.split(|byte| *byte == 0);
    let mut found = BTreeSet::new();
    while let (Some(path), Some(name), Some(value)) = (fields.next(), fields.next(), fields.next()) {
        if !matches!(value, b"unspecified" | b"unset" | b"lf") {
            found.insert((path.to_vec(), [name, b"=", value].concat()));
        }
    }
    Ok(found)
}

/// Whether a file was changed since then, by the kernel's own time.
fn changed_since(file: &Path, since: WallTime) -> bool {
    let time =
        |meta: std::fs::Metadata| meta.ctime().saturating_mul(1000).saturating_add(meta.ctime_nsec() / 1_000_000);
    file.symlink_metadata().is_ok_and(|meta| time(meta) >= since.0)
}

fn unkept(place: &Path, error: &std::io::Error) -> GitError {
    GitError::Fault(format!("what a checkout writes cannot be kept in {}: {error}", place.display()))
}

/// The folders above a path, the nearest first.
fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    fn parent(path: &[u8]) -> Option<&[u8]> {
        memchr::memrchr(b'/', path).and_then(|end| path.get(..end))
    }
    std::iter::successors(parent(path), |folder| parent(folder))
}

/// What a commit leaves out goes with the folders around it that are new and of which the commit holds nothing.
fn with_its_folder(root: &Path, path: &[u8], held: &BTreeSet<&[u8]>, since: WallTime) -> Vec<u8> {
    let bare = path.strip_suffix(b"/").unwrap_or(path);
    let is_new =
        |folder: &&[u8]| !held.contains(folder) && made::since_then(&root.join(OsStr::from_bytes(folder)), since);
    above(bare).take_while(is_new).last().unwrap_or(path).to_vec()
}

/// Those of these links that lead elsewhere than the commit says.
async fn other_links<'a>(keeper: &mut Keeper, on: Inquiry<'_>, links: &[&Held<'a>]) -> Result<Vec<&'a [u8]>, GitError> {
    if links.is_empty() {
        return Ok(Vec::new());
    }
    let asked: Vec<u8> = links.iter().flat_map(|link| [link.id, &b"\n"[..]].concat()).collect();
    let answered = answer(keeper, &root_command(on.root, ["cat-file", "--batch"]), &asked, on.patience).await?;
    let mut rest = answered.as_slice();
    let mut others = Vec::new();
    for link in links {
        // `<id> blob <size>`, a newline, the content, another newline.
        let target = memchr::memchr(b'\n', rest).and_then(|end| {
            let size = rest.get(..end)?.rsplit(|byte| *byte == b' ').next()?;
            let size: usize = std::str::from_utf8(size).ok()?.parse().ok()?;
            let target = rest.get(end + 1..)?.get(..size)?;
            rest = rest.get(end + size + 2..)?;
            Some(target)
        });
        let here = std::fs::read_link(on.root.join(OsStr::from_bytes(link.path)));
        if !here.is_ok_and(|here| Some(here.as_os_str().as_bytes()) == target) {
            others.push(link.path);
        }
    }
    Ok(others)
}

/// Those of these files that git gives another id than the commit has.
async fn unlike<'a, 'b>(
    keeper: &mut Keeper,
    on: Inquiry<'_>,
    entries: Vec<&'a Held<'b>>,
    options: &[&str],
) -> Result<Vec<&'a Held<'b>>, GitError> {
    if entries.is_empty() {
        return Ok(entries);
    }
    let args = ["hash-object", "--stdin-paths"].iter().chain(options);
    let asked: Vec<u8> = entries.iter().flat_map(|entry| c_quoted(entry.path)).collect();
    let answered = answer(keeper, &root_command(on.root, args), &asked, on.patience).await?;
    let mut ids = answered.split(|byte| *byte == b'\n');
    let unlike: Vec<&Held<'_>> = entries.into_iter().filter(|entry| ids.next() != Some(entry.id)).collect();
    Ok(unlike)
}

/// A path as `--stdin-paths` reads it, with the end of its line.
fn c_quoted(path: &[u8]) -> Vec<u8> {
    let plain = path.iter().all(|byte| (b' '..0x7f).contains(byte) && !b"\"\\".contains(byte));
    if plain {
        return [path, b"\n"].concat();
    }
    let mut quoted = vec![b'"'];
    path.iter().for_each(|byte| quoted.extend(format!("\\{byte:03o}").into_bytes()));
    quoted.extend(b"\"\n");
    quoted
}

/// Those of these files in which git takes out more than the name of an object between `$Id:` and `$`.
async fn cut_by_keywords<'a>(
    keeper: &mut Keeper,
    on: Inquiry<'_>,
    paths: &[&'a [u8]],
) -> Result<Vec<&'a [u8]>, GitError> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let stdin: Vec<u8> = paths.iter().flat_map(|path| [path, &b"\0"[..]].concat()).collect();
    let asked = root_command(on.root, ["check-attr", "-z", "--stdin", "ident"]);
    let answered = answer(keeper, &asked, &stdin, on.patience).await?;
    let values = answered.split(|byte| *byte == 0).skip(2).step_by(3);
    let expanded = paths.iter().zip(values).filter(|(_, value)| *value == b"set").map(|(path, _)| *path);
    let is_cut = |path: &&[u8]| {
        let file = on.root.join(OsStr::from_bytes(path));
        std::fs::read(file).map_or(true, |content| !only_ids(&content))
    };
    Ok(expanded.filter(is_cut).collect())
}

/// Whether between `$Id:` and `$` stands nothing but the name of an object.
fn only_ids(content: &[u8]) -> bool {
    memchr::memmem::find_iter(content, b"$Id:").all(|at| {
        let rest = content.get(at + 4..).unwrap_or_default();
        // git expands within one line.
        let end = rest.iter().position(|byte| matches!(byte, b'$' | b'\n'));
        let inside = rest.get(..end.unwrap_or(0)).unwrap_or_default().trim_ascii();
        end.and_then(|end| rest.get(end)) != Some(&b'$') || inside.iter().all(u8::is_ascii_hexdigit)
    })
}

/// Paths that the work tree leaves out, where it did that at the start.
async fn sparse(keeper: &mut Keeper, on: Inquiry<'_>) -> Result<BTreeSet<Vec<u8>>, GitError> {
    let asked = root_command(on.root, ["ls-files", "-z", "-t", "--cached"]);
    let listed = answer(keeper, &asked, b"", on.patience).await?;
    Ok(paths(&listed).filter_map(|line| line.strip_prefix(b"S ")).map(<[u8]>::to_vec).collect())
}

impl<'a> Held<'a> {
    /// `100644 <id> 0<TAB>path`.
    fn parse(line: &'a [u8]) -> Option<Held<'a>> {
        let tab = memchr::memchr(b'\t', line)?;
        let mut fields = line.get(..tab)?.split(|byte| *byte == b' ');
        Some(Held { mode: fields.next()?, id: fields.next()?, path: line.get(tab + 1..)? })
    }
}

fn paths(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|byte| *byte == 0).filter(|path| !path.is_empty())
}

/// ralph's own folder, in whichever project of the repository.
fn is_own(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|name| name == b".ralph")
}

/// Some paths, and how many more there are.
#[derive(Default)]
struct Named {
    paths: Vec<String>,
    more: usize,
}

impl Named {
    fn add(&mut self, folder: &[u8], path: &[u8]) {
        if self.paths.len() < NAMED {
            self.paths.push(String::from_utf8_lossy(&tree::joined(folder, path)).into_owned());
        } else {
            self.more += 1;
        }
    }

    fn list(mut self) -> Vec<String> {
        self.paths.extend((self.more > 0).then(|| format!("and {} more", self.more)));
        self.paths
    }
}

/// Adds a file, or those in a folder, that were changed since then, by the kernel's own time, and that no tool made.
fn new_below(root: &Path, path: &[u8], since: WallTime, depth: usize, found: &mut Vec<Vec<u8>>) {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let place = root.join(OsStr::from_bytes(path));
    let Ok(meta) = place.symlink_metadata() else { return };
    let is_folder = meta.is_dir();
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    if found.len() > MOST_NEW || is_made_by_tools(name, is_folder) {
        return;
    }
    if !is_folder {
        found.extend(changed_since(&place, since).then(|| path.to_vec()));
        return;
    }
    for entry in place.read_dir().into_iter().flatten().flatten().filter(|_| depth > 0) {
        new_below(root, &tree::joined(path, entry.file_name().as_bytes()), since, depth - 1, found);
    }
}

/// Whether an ignored folder or file is such that checks need it and no commit holds it. Hidden folders are caches and
/// environments of tools; a hidden file is mostly one of people's settings.
fn is_made_by_tools(name: &[u8], is_folder: bool) -> bool {
    let is_hidden = name.starts_with(b".");
    if is_folder {
        return is_hidden
            || GENERATED.iter().any(|folder| folder.as_bytes() == name)
            || name.ends_with(b".egg-info")
            || name.starts_with(b"cmake-build-");
    }
    name.starts_with(b".env") || name == b".DS_Store" || name.ends_with(b".pyc")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_keywords_only_names_of_objects_may_be_cut_out() {
        for (content, whole) in [
            ("$Id$", true),
            ("$Id: 0123abcd $ and $Id:$", true),
            ("$Id: evil() $", false),
            ("$Id: 12 $ then $Id: not an id $", false),
            ("$Id: no end\n$", true),
            ("cost: 5$, $Idx: a$", true),
        ] {
            assert_eq!(only_ids(content.as_bytes()), whole, "{content}");
        }
    }
}
