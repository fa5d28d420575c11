//! Where the repository around a plan stands: its commit, its branch, what is not committed, and how to get to another
//! branch.

use crate::git::{self, GitError, answer, root_command};
use crate::plain_file::{self, Links};
use crate::process::Keeper;
use ralph_core::plan::marker;
use ralph_core::plan::{Dirty, GitSeen};
use ralph_core::text;
use ralph_core::time::Millis;
use rustix::fs::CWD;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A larger file is known again by its size and times.
const READ_WHOLE: u64 = 16 * 1024 * 1024;
/// Entries of a new folder that its print looks at.
const MOST_ENTRIES: usize = 100_000;

/// A repository and the project in it.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The top of the work tree.
    pub top: &'a Path,
    /// The project's folder, in it or the same.
    pub project: &'a Path,
}

impl Place<'_> {
    /// The project, from the top.
    fn inside(&self) -> &Path {
        self.project.strip_prefix(self.top).unwrap_or(Path::new(""))
    }

    /// A path from the top, as people in the project name it; outside of the project as git names it there.
    pub fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(self.inside()) {
            Ok(own) => own.to_string_lossy().into_owned(),
            Err(_) => format!(":/{}", path.display()),
        }
    }

    /// A path of the project, from the top.
    pub fn from_top(&self, path: &str) -> PathBuf {
        path.strip_prefix(":/").map_or_else(|| self.inside().join(path), PathBuf::from)
    }

    /// Whether it belongs to ralph, and is nobody's work.
    pub(crate) fn is_own(&self, path: &Path) -> bool {
        let own = path.strip_prefix(self.inside()).unwrap_or(path);
        own.starts_with(".ralph") || own == Path::new(marker::FILE)
    }
}

/// Looks where the repository stands.
pub async fn look(keeper: &mut Keeper, place: Place<'_>, patience: Millis) -> Result<GitSeen, GitError> {
    const STATUS: [&str; 5] = ["status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames"];
    let head = git::head(keeper, place.top, patience).await?;
    let branch = git::run(keeper, place.top, &["symbolic-ref", "--quiet", "--short", "HEAD"], patience).await;
    let branch = match branch {
        Ok(name) => String::from_utf8_lossy(&name).trim().to_owned(),
        // HEAD names a commit.
        Err(GitError::Refused(_)) => String::new(),
        Err(fault) => return Err(fault),
    };
    let listing = answer(keeper, &root_command(place.top, STATUS), b"", patience).await?;
    let paths = listing.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..).filter(|path| !path.is_empty()));
    let paths = paths.map(|path| Path::new(OsStr::from_bytes(path))).filter(|path| !place.is_own(path));
    let dirty = paths.map(|path| Dirty { path: place.shown(path), print: print(&place.top.join(path)) });
    Ok(GitSeen { head, branch, dirty: dirty.collect() })
}

/// Works on a branch, and makes it if it is not there.
pub async fn switch(keeper: &mut Keeper, top: &Path, name: &str, patience: Millis) -> Result<(), GitError> {
    git::run(keeper, top, &["check-ref-format", "--branch", name], patience).await?;
    let known = format!("refs/heads/{name}");
    let known = git::run(keeper, top, &["show-ref", "--verify", "--quiet", &known], patience).await;
    let args: &[&str] = match known {
        Ok(_) => &["switch", "--quiet", name],
        Err(GitError::Refused(_)) => &["switch", "--quiet", "-c", name],
        Err(fault) => return Err(fault),
    };
    git::run(keeper, top, args, patience).await.map(drop)
}

/// Equal while what stands there is the same.
fn print(path: &Path) -> String {
    match path.symlink_metadata() {
        Err(_) => "gone".to_owned(),
        Ok(meta) if meta.is_dir() => folder_print(path),
        Ok(meta) if meta.is_symlink() => {
            let target = std::fs::read_link(path).unwrap_or_default();
            text::hash(target.as_os_str().as_bytes())
        }
        Ok(meta) if meta.is_file() && meta.len() <= READ_WHOLE => {
            match plain_file::read(CWD, path, Links::Refuse, READ_WHOLE) {
                Ok(contents) => format!("{:o} {}", meta.mode(), text::hash(&contents.bytes)),
                Err(_) => stamp(&meta),
            }
        }
        Ok(meta) => stamp(&meta),
    }
}

fn stamp(meta: &Metadata) -> String {
    format!("{:o} {} {}.{:09}", meta.mode(), meta.len(), meta.mtime(), meta.mtime_nsec())
}

/// A folder of which git tracks nothing: names, sizes and times of everything in it.
fn folder_print(folder: &Path) -> String {
    let mut seen = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let (path, Ok(meta)) = (entry.path(), entry.metadata()) else { continue };
            seen.push((path.clone(), if meta.is_dir() { String::new() } else { stamp(&meta) }));
            if meta.is_dir() && seen.len() < MOST_ENTRIES {
                left.push(path);
            }
        }
    }
    seen.sort();
    let mut all = String::new();
    for (path, stamp) in seen {
        let _ = writeln!(all, "{} {stamp}", path.display());
    }
    text::hash(all.as_bytes())
}
