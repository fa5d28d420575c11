//! A commit of ralph's own: exactly the paths that are named, whatever else is changed or staged. It is made beside the
//! user's index, runs no hook, and signs nothing, because nobody is there to type a passphrase.

use crate::git::{self, GitError, answer, root_command, with_index};
use crate::process::Keeper;
use ralph_core::time::Millis;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What is committed, and where.
#[derive(Debug, Clone, Copy)]
pub struct OwnCommit<'a> {
    /// The work tree.
    pub root: &'a Path,
    /// Files below it, as they stand now; one that is gone is gone in the commit too.
    pub paths: &'a [PathBuf],
    pub message: &'a str,
    /// A folder for the index of this commit.
    pub scratch: &'a Path,
    /// How long each call of git may take.
    pub patience: Millis,
}

/// Makes the commit and returns its id; `None` if it would change nothing. Files that git ignores are left out.
pub async fn commit(keeper: &mut Keeper, wanted: OwnCommit<'_>) -> Result<Option<String>, GitError> {
    let OwnCommit { root, message, scratch, patience, .. } = wanted;
    let paths = not_ignored(keeper, wanted).await?;
    let index = git::index_of_head(keeper, root, scratch, patience).await?;
    let made = async {
        let update = ["update-index", "--add", "--remove", "-z", "--stdin"];
        let beside = |args: &[&str]| with_index(root_command(root, args), &index);
        let parent = git::head(keeper, root, patience).await?;
        let before = line(answer(keeper, &beside(&["write-tree"]), b"", patience).await?);
        answer(keeper, &beside(&update), &paths, patience).await?;
        let tree = line(answer(keeper, &beside(&["write-tree"]), b"", patience).await?);
        if tree == before {
            return Ok(None);
        }
        let parents = if parent.is_empty() { &[][..] } else { &["-p", parent.as_str()] };
        let args = [&["commit-tree", tree.as_str(), "-m", message], parents].concat();
        let id = line(answer(keeper, &root_command(root, args), b"", patience).await?);
        not_locked(keeper, wanted).await?;
        let reason = format!("commit: {message}");
        let args = ["update-ref", "-m", reason.as_str(), "HEAD", id.as_str(), parent.as_str()];
        answer(keeper, &root_command(root, args), b"", patience).await?;
        // Otherwise the user's index would take back what was just committed.
        answer(keeper, &root_command(root, update), &paths, patience).await?;
        Ok(Some(id))
    };
    let made = made.await;
    let _ = std::fs::remove_file(&index);
    made
}

/// The paths that may be committed, each with NUL behind it.
async fn not_ignored(keeper: &mut Keeper, wanted: OwnCommit<'_>) -> Result<Vec<u8>, GitError> {
    let listing = ["--literal-pathspecs", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--"];
    let args =
        listing.iter().map(|arg| arg.into()).chain(wanted.paths.iter().map(|path| path.clone().into_os_string()));
    let ignored = answer(keeper, &root_command(wanted.root, args), b"", wanted.patience).await?;
    let is_ignored = |path: &&PathBuf| ignored.split(|byte| *byte == 0).any(|one| one == path.as_os_str().as_bytes());
    let kept = wanted.paths.iter().filter(|path| !is_ignored(path));
    Ok(kept.flat_map(|path| [path.as_os_str().as_bytes(), b"\0"].concat()).collect())
}

/// Nobody else writes the user's index now: it could not follow the commit.
async fn not_locked(keeper: &mut Keeper, wanted: OwnCommit<'_>) -> Result<(), GitError> {
    let command = root_command(wanted.root, ["rev-parse", "--git-path", "index.lock"]);
    let lock = wanted.root.join(line(answer(keeper, &command, b"", wanted.patience).await?));
    match lock.symlink_metadata() {
        Ok(_) => Err(GitError::Refused(format!("{} is there: another git works in this repository", lock.display()))),
        Err(_) => Ok(()),
    }
}

fn line(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).trim().to_owned()
}
