//! A throw-away checkout of a commit: what is in it was committed, and nothing else is there.

use crate::checks;
use crate::process::{Command, Keeper};
use crate::tree;
use ralph_core::time::Millis;
use std::ffi::OsString;
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

impl Checkout {
    /// Checks the current commit of the work tree at `git_root` out into `folder`, in place of what an
    /// earlier one left there. `inside` is the project's place in the repository. Returns the commit too.
    pub async fn make(
        keeper: &mut Keeper,
        git_root: &Path,
        inside: &Path,
        folder: &Path,
    ) -> Result<(Checkout, String), String> {
        let commit = git(keeper, git_root, &["rev-parse", "--verify", "--quiet", "HEAD"])
            .await
            .map_err(|_| "there is no commit yet".to_owned())?;
        let commit = commit.trim().to_owned();
        let _ = std::fs::remove_dir_all(folder);
        let checkout = Checkout { folder: folder.to_owned(), project: folder.join(inside) };
        let place = folder.to_str().ok_or("its folder's name is not UTF-8")?;
        // Objects are shared, so this costs one file list; the repository itself is not touched.
        let from = git_root.to_str().ok_or("the project's name is not UTF-8")?;
        git(keeper, git_root, &["clone", "--quiet", "--shared", "--no-checkout", "--template=", "--", from, place])
            .await?;
        git(keeper, folder, &["checkout", "--quiet", "--detach", &commit]).await?;
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
pub async fn uncommitted(keeper: &mut Keeper, project: &Path) -> Result<Vec<String>, String> {
    let listing = git(keeper, project, crate::scm::STATUS).await?;
    let entries = listing.split('\0').filter(|entry| !entry.is_empty());
    Ok(entries.take(NAMED).map(|entry| entry.get(3..).unwrap_or(entry).to_owned()).collect())
}

/// Nothing that the repository's own configuration names is started.
async fn git(keeper: &mut Keeper, folder: &Path, args: &[&str]) -> Result<String, String> {
    let quiet = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false"];
    let command = Command {
        program: "git".into(),
        args: quiet.iter().chain(args).map(OsString::from).collect(),
        folder: folder.to_owned(),
        set: vec![("GIT_TERMINAL_PROMPT".into(), "0".into()), ("LC_ALL".into(), "C".into())],
        remove: tree::MISLEADING_VARIABLES.iter().map(OsString::from).collect(),
    };
    let said = checks::capture(keeper, &command, PATIENCE).await?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}
