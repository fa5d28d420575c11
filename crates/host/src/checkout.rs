//! A throw-away checkout of a commit: what is in it was committed, and nothing else is there.

use crate::git::GitError;
use crate::process::Keeper;
use crate::{git, scm};
use ralph_core::time::Millis;
use std::path::{Path, PathBuf};

/// A large repository on a slow disk.
const PATIENCE: Millis = Millis::from_secs(600);
/// Files that are named: a person wants examples.
const NAMED: usize = 5;

/// A checkout, removed when this is dropped.
#[derive(Debug)]
pub struct Checkout {
    folder: PathBuf,
    project: PathBuf,
}

/// Why there is no checkout.
#[derive(Debug, thiserror::Error)]
pub enum CheckoutError {
    /// Nothing was committed yet.
    #[error("there is no commit yet")]
    NoCommit,
    /// It could not be made: a full disk, a killed git.
    #[error("{0}")]
    Failed(String),
}

impl From<GitError> for CheckoutError {
    fn from(error: GitError) -> CheckoutError {
        CheckoutError::Failed(error.to_string())
    }
}

impl Checkout {
    /// Checks the current commit of the work tree at `git_root` out into `folder`, in place of what an
    /// earlier one left there. `inside` is the project's place in the repository. Returns the commit too.
    pub async fn make(
        keeper: &mut Keeper,
        git_root: &Path,
        inside: &Path,
        folder: &Path,
    ) -> Result<(Checkout, String), CheckoutError> {
        let commit = match git::run(keeper, git_root, &["rev-parse", "--verify", "--quiet", "HEAD"], PATIENCE).await {
            Ok(commit) => String::from_utf8_lossy(&commit).trim().to_owned(),
            Err(GitError::Refused(_)) => return Err(CheckoutError::NoCommit),
            Err(fault) => return Err(CheckoutError::Failed(fault.to_string())),
        };
        let failed = |why: &str| CheckoutError::Failed(why.to_owned());
        let _ = std::fs::remove_dir_all(folder);
        let checkout = Checkout { folder: folder.to_owned(), project: folder.join(inside) };
        let place = folder.to_str().ok_or_else(|| failed("its folder's name is not UTF-8"))?;
        // Objects are shared, so this costs one file list; the repository itself is not touched.
        let from = git_root.to_str().ok_or_else(|| failed("the project's name is not UTF-8"))?;
        let clone = ["clone", "--quiet", "--shared", "--no-checkout", "--template=", "--", from, place];
        git::run(keeper, git_root, &clone, PATIENCE).await?;
        git::run(keeper, folder, &["checkout", "--quiet", "--detach", &commit], PATIENCE).await?;
        Ok((checkout, commit))
    }

    /// The project in it.
    pub fn project(&self) -> &Path {
        &self.project
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        // It lies in the state directory, where the next one takes its place if this fails.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Some of the files that differ from the commit.
pub async fn uncommitted(keeper: &mut Keeper, project: &Path) -> Result<Vec<String>, GitError> {
    let listing = git::run(keeper, project, scm::STATUS, PATIENCE).await?;
    let listing = String::from_utf8_lossy(&listing);
    let entries = listing.split('\0').filter(|entry| !entry.is_empty());
    Ok(entries.take(NAMED).map(|entry| entry.get(3..).unwrap_or(entry).to_owned()).collect())
}
