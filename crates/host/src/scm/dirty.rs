//! What is not committed, as `git status` tells it, less ralph's own files.

use super::content;
use crate::git::{GitError, answer, root_command};
use crate::process::{Command, Keeper, ask_quickly};
use ralph_core::plan::{Dirty, marker};
use ralph_core::time::Millis;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// A work tree, and the project in it.
#[derive(Debug, Clone, Copy)]
pub struct Tree<'a> {
    pub root: &'a Path,
    /// The folder that holds `.ralph`.
    pub project: &'a Path,
}

impl Tree<'_> {
    fn listing(self) -> Command {
        let project = self.project.strip_prefix(self.root).unwrap_or(Path::new(""));
        let own = [".ralph", marker::FILE].map(|name| {
            let mut exclude = OsString::from(":(top,exclude,literal)");
            exclude.push(project.join(name));
            exclude
        });
        let status = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", ":/"];
        root_command(self.root, status.iter().map(OsString::from).chain(own))
    }

    fn dirty(self, path: &[u8]) -> Dirty {
        Dirty { path: String::from_utf8_lossy(path).into_owned(), print: content(self.root, path) }
    }
}

/// Everything that is not committed, with what it holds.
pub async fn dirty(keeper: &mut Keeper, tree: Tree<'_>, patience: Millis) -> Result<Vec<Dirty>, GitError> {
    let listing = answer(keeper, &tree.listing(), b"", patience).await?;
    Ok(paths(&listing).map(|path| tree.dirty(path)).collect())
}

/// What is not committed and was not, or not like this, when the run began; for a caller without a keeper. `None` if git
/// cannot tell.
pub fn newly_dirty(tree: Tree<'_>, began: &[Dirty], patience: Duration) -> Option<Vec<String>> {
    let listing = ask_quickly(&tree.listing(), patience)?;
    // Only what was dirty before must be read to tell whether it is still the same.
    let is_new = |path: &&[u8]| {
        let name = String::from_utf8_lossy(path);
        !began.iter().any(|dirty| dirty.path == name) || !began.contains(&tree.dirty(path))
    };
    Some(paths(&listing).filter(is_new).map(|path| String::from_utf8_lossy(path).into_owned()).collect())
}

fn paths(listing: &[u8]) -> impl Iterator<Item = &[u8]> {
    listing.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..))
}
