//! Where a repository stands, read from its files: a process per look would cost more than the look.

use crate::plain_file::{self, Links};
use rustix::fs::CWD;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// More than any file that names one commit or one folder.
const SMALL: u64 = 64 << 10;
/// A million packed refs.
const PACKED: u64 = 128 << 20;
/// git follows five names from HEAD as well.
const LONGEST_CHAIN: usize = 5;

/// The nearest folder at or above `start` that is the root of a work tree.
pub fn git_root(start: &Path) -> Option<PathBuf> {
    let start = std::path::absolute(start).ok()?;
    start.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok()).map(Path::to_owned)
}

/// The commit that HEAD names in the work tree at `root`: empty before the first commit, `None`
/// where only git can tell (another ref format) or where the files make no sense.
pub fn head(root: &Path) -> Option<String> {
    let repository = Repository::of(root)?;
    if repository.common.join("reftable").is_dir() {
        return None;
    }
    let mut name = "HEAD".to_owned();
    for _ in 0..LONGEST_CHAIN {
        match repository.look_up(&name)? {
            Target::Commit(id) => return Some(id),
            Target::Name(next) => name = next,
            // HEAD itself is always there; what it names may not have been born yet.
            Target::Nothing => return (name != "HEAD").then(String::new),
        }
    }
    None
}

/// The folder that holds HEAD, and the one that holds all else; for most repositories they are one.
pub fn folders(root: &Path) -> Option<(PathBuf, PathBuf)> {
    Repository::of(root).map(|repository| (repository.own, repository.common))
}

/// Whether this HEAD file can be read and names neither a commit nor a branch.
pub(super) fn is_nonsense(file: &Path) -> bool {
    read(file, SMALL).is_ok_and(|text| {
        let reftable = text.trim_ascii() == b"ref: refs/heads/.invalid";
        !reftable && parse(&text).is_none()
    })
}

/// What differs when a repository inside the tree stands elsewhere.
pub(super) fn fingerprint(root: &Path) -> Vec<u8> {
    if let Some(commit) = head(root) {
        return commit.into_bytes();
    }
    // The other ref format replaces this file with every change of a ref.
    let tables =
        Repository::of(root).and_then(|repository| read(&repository.common.join("reftable/tables.list"), SMALL).ok());
    tables.unwrap_or_default()
}

struct Repository {
    /// HEAD lives here; for a linked work tree it is a folder of its own.
    own: PathBuf,
    /// Branches live here.
    common: PathBuf,
}

enum Target {
    Commit(String),
    Name(String),
    Nothing,
}

impl Repository {
    fn of(root: &Path) -> Option<Repository> {
        let dot_git = root.join(".git");
        let own = if dot_git.is_dir() {
            dot_git
        } else {
            let text = read(&dot_git, SMALL).ok()?;
            root.join(path(text.strip_prefix(b"gitdir: ")?))
        };
        let common = match read(&own.join("commondir"), SMALL) {
            Ok(text) => own.join(path(&text)),
            Err(_) => own.clone(),
        };
        Some(Repository { own, common })
    }

    fn look_up(&self, name: &str) -> Option<Target> {
        let belongs_to_the_work_tree =
            name == "HEAD" || ["refs/bisect/", "refs/worktree/", "refs/rewritten/"].iter().any(|p| name.starts_with(p));
        let place = if belongs_to_the_work_tree { &self.own } else { &self.common };
        match read(&place.join(name), SMALL) {
            Ok(text) => parse(&text),
            // `refs/heads/a` is a folder while `refs/heads/a/b` exists; the ref itself may be packed.
            Err(_) if !place.join(name).is_file() => self.packed(name),
            Err(_) => None,
        }
    }

    fn packed(&self, name: &str) -> Option<Target> {
        let text = match read(&self.common.join("packed-refs"), PACKED) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(Target::Nothing),
            Err(_) => return None,
        };
        let line = format!(" {name}\n");
        for at in memchr::memmem::find_iter(&text, line.as_bytes()) {
            let before = text.get(..at)?;
            let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
            if let Some(id) = commit(before.get(start..)?) {
                return Some(Target::Commit(id));
            }
        }
        Some(Target::Nothing)
    }
}

fn parse(text: &[u8]) -> Option<Target> {
    let text = text.trim_ascii();
    match text.strip_prefix(b"ref:") {
        None => commit(text).map(Target::Commit),
        Some(name) => {
            let name = std::str::from_utf8(name.trim_ascii()).ok()?;
            // Such a name would lead out of the repository; `.invalid` stands where refs are kept otherwise.
            let plain =
                name.starts_with("refs/") && !name.split('/').any(|part| part.is_empty() || part.starts_with('.'));
            plain.then(|| Target::Name(name.to_owned()))
        }
    }
}

/// An id of either length.
fn commit(text: &[u8]) -> Option<String> {
    let whole = matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit);
    whole.then(|| String::from_utf8_lossy(text).into_owned())
}

fn path(text: &[u8]) -> PathBuf {
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    PathBuf::from(OsStr::from_bytes(line.strip_suffix(b"\r").unwrap_or(line)))
}

/// Links are followed, since git follows them here too; a pipe is refused, and a part is no answer.
fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let contents = plain_file::read(CWD, path, Links::Follow, limit)?;
    if contents.complete { Ok(contents.bytes) } else { Err(io::Error::other("too large")) }
}
