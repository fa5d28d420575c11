//! Where the repository around a plan stands: its commit, its branch, what is not committed, and how to get to another
//! branch.

use crate::git::{self, GitError};
use crate::process::Keeper;
use crate::scm::{self, Tree};
use ralph_core::plan::{GitSeen, marker};
use ralph_core::time::Millis;
use std::path::{Path, PathBuf};

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
    let head = git::head(keeper, place.top, patience).await?;
    let branch = git::run(keeper, place.top, &["symbolic-ref", "--quiet", "--short", "HEAD"], patience).await;
    let branch = match branch {
        Ok(name) => String::from_utf8_lossy(&name).trim().to_owned(),
        // HEAD names a commit.
        Err(GitError::Refused(_)) => String::new(),
        Err(fault) => return Err(fault),
    };
    let tree = Tree { root: place.top, project: place.project };
    let dirty = scm::dirty(keeper, tree, patience).await?;
    let prefix = place.inside().to_string_lossy().into_owned();
    Ok(GitSeen { head, branch, prefix, dirty })
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
