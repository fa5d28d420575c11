//! A throw-away checkout of a commit: what is in it was committed, and nothing else is there.

use crate::git::GitError;
use crate::process::Keeper;
use crate::snapshot::{Judge, Put};
use crate::{git, scm};
use ralph_core::time::Millis;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
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
    /// The work trees in it, itself and its submodules, below its folder.
    trees: Vec<PathBuf>,
    missing: Vec<String>,
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
    /// earlier one left there. `inside` is the project's place in the repository, `environment` names git's
    /// configuration where that is not the user's own. Submodules are checked out as far as their commits are here:
    /// nothing is fetched. Returns the commit too.
    pub async fn make(
        keeper: &mut Keeper,
        git_root: &Path,
        inside: &Path,
        folder: &Path,
        environment: &[(OsString, OsString)],
    ) -> Result<(Checkout, String), CheckoutError> {
        let commit = match git::run(keeper, git_root, &["rev-parse", "--verify", "--quiet", "HEAD"], PATIENCE).await {
            Ok(commit) => String::from_utf8_lossy(&commit).trim().to_owned(),
            Err(GitError::Refused(_)) => return Err(CheckoutError::NoCommit),
            Err(fault) => return Err(CheckoutError::Failed(fault.to_string())),
        };
        let _ = std::fs::remove_dir_all(folder);
        let project = folder.join(inside);
        let mut checkout = Checkout { folder: folder.to_owned(), project, trees: Vec::new(), missing: Vec::new() };
        // Submodules may have submodules.
        let mut trees = vec![(PathBuf::new(), commit.clone())];
        while let Some((tree, of)) = trees.pop() {
            let (from, to) = (git_root.join(&tree), folder.join(&tree));
            if let Err(error) = check_out(keeper, &from, &to, &of, environment).await {
                if tree.as_os_str().is_empty() {
                    return Err(error);
                }
                checkout.missing.push(tree.display().to_string());
                continue;
            }
            if to.join(".gitmodules").is_file() {
                let listing = git::run_with(keeper, &to, &["ls-tree", "-r", "-z", &of], environment, PATIENCE).await?;
                let inner = submodules(&listing).map(|(commit, path)| (tree.join(path), commit));
                // One that nobody has checked out in the project either is not missed.
                trees.extend(inner.filter(|(path, _)| git_root.join(path).join(".git").exists()));
            }
            checkout.trees.push(tree);
        }
        Ok((checkout, commit))
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Submodules that could not be checked out, because their commits are not here.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Its objects are borrowed from the repositories in the project; where it stands in the project's place, they are
    /// found below `live`.
    pub(crate) fn borrowed_objects(&self, project_tree: &Path, live: &Path) -> io::Result<Vec<Put>> {
        let mut puts = Vec::new();
        for tree in &self.trees {
            let path = tree.join(".git/objects/info/alternates");
            let lenders = std::fs::read(self.folder.join(&path))?;
            let mut content = Vec::with_capacity(lenders.len());
            for lender in lenders.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let lender = Path::new(OsStr::from_bytes(lender)).canonicalize()?;
                let place = lender.strip_prefix(project_tree).map_or(lender.clone(), |inside| live.join(inside));
                content.extend_from_slice(place.as_os_str().as_bytes());
                content.push(b'\n');
            }
            puts.push(Put { path, what: Judge::File { content, executable: false } });
        }
        Ok(puts)
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

/// Checks a commit of the repository of one work tree out into a folder.
async fn check_out(
    keeper: &mut Keeper,
    from: &Path,
    to: &Path,
    commit: &str,
    environment: &[(OsString, OsString)],
) -> Result<(), CheckoutError> {
    let failed = |why: &str| CheckoutError::Failed(why.to_owned());
    let place = to.to_str().ok_or_else(|| failed("its folder's name is not UTF-8"))?;
    let source = from.to_str().ok_or_else(|| failed("the project's name is not UTF-8"))?;
    // Objects are shared, so this costs one file list; the repository itself is not touched.
    let clone = ["clone", "--quiet", "--shared", "--no-checkout", "--template=", "--", source, place];
    git::run_with(keeper, from, &clone, environment, PATIENCE).await?;
    let detach = ["checkout", "--quiet", "--detach", commit];
    git::run_with(keeper, to, &detach, environment, PATIENCE).await?;
    Ok(())
}

/// The commits of the submodules in a tree that git listed, and their paths.
fn submodules(listing: &[u8]) -> impl Iterator<Item = (String, PathBuf)> {
    let entries = listing.split(|byte| *byte == 0).filter_map(|entry| entry.strip_prefix(b"160000 commit "));
    entries.filter_map(|entry| {
        let tab = memchr::memchr(b'\t', entry)?;
        let commit = std::str::from_utf8(entry.get(..tab)?).ok()?;
        Some((commit.to_owned(), PathBuf::from(OsStr::from_bytes(entry.get(tab + 1..)?))))
    })
}

/// Some of the files that differ from the commit.
pub async fn uncommitted(keeper: &mut Keeper, project: &Path) -> Result<Vec<String>, GitError> {
    let listing = git::run(keeper, project, scm::STATUS, PATIENCE).await?;
    let listing = String::from_utf8_lossy(&listing);
    let entries = listing.split('\0').filter(|entry| !entry.is_empty());
    Ok(entries.take(NAMED).map(|entry| entry.get(3..).unwrap_or(entry).to_owned()).collect())
}
