//! Starting git, or what stands in its place: it answers for the folder in which it is asked, and asks nobody
//! back.

use crate::process::drive::{Chunk, Job, Sink, Streams, drive};
use crate::process::{Command, Keeper};
use crate::spool::Spool;
use crate::tree::{self, LISTING, Listing};
use ralph_core::check::{Blindness, TreePrint};
use ralph_core::observation::Ending;
use ralph_core::protect::{PinnedChange, Pins};
use ralph_core::time::Millis;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// Variables that would make git answer for another repository; they do not belong in its environment.
pub(crate) const MISLEADING_VARIABLES: &[&str] = &["GIT_DIR", "GIT_WORK_TREE", INDEX_VARIABLE, "GIT_COMMON_DIR"];
/// Names the file in which git looks for the index.
const INDEX_VARIABLE: &str = "GIT_INDEX_FILE";

/// Why git gave no answer. What it printed is for people; what follows from it depends on the kind alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// It ran and refused.
    #[error("{0}")]
    Refused(String),
    /// The machine did not let it run to its end: it was not found, or killed.
    #[error("{0}")]
    Fault(String),
    /// It took too long.
    #[error("it did not answer within {0}")]
    TooSlow(Millis),
}

/// Runs git for ralph itself and returns what it printed, if it succeeded. No hook and no monitor that the
/// repository's own configuration names is started.
pub async fn run(keeper: &mut Keeper, folder: &Path, args: &[&str], patience: Millis) -> Result<Vec<u8>, GitError> {
    run_with(keeper, folder, args, &[], patience).await
}

/// The same with these variables, such as those that name git's configuration.
pub(crate) async fn run_with(
    keeper: &mut Keeper,
    folder: &Path,
    args: &[&str],
    environment: &[(OsString, OsString)],
    patience: Millis,
) -> Result<Vec<u8>, GitError> {
    struct Capture(Vec<u8>);
    impl Sink for Capture {
        fn stdout(&mut self, bytes: &Chunk) {
            self.0.extend_from_slice(bytes);
        }
        fn stderr(&mut self, _: &Chunk) {}
    }
    let mut sink = Capture(Vec::new());
    let mut command = own_command(folder, args);
    command.set.extend_from_slice(environment);
    ask(keeper, &command, &mut sink, patience).await?;
    Ok(sink.0)
}

/// How git is asked about a work tree.
#[derive(Debug, Clone, Copy)]
pub struct Inquiry<'a> {
    /// The root of the work tree.
    pub root: &'a Path,
    /// What must be as it was at the start.
    pub pins: &'a Pins,
    /// A folder of the run for what must be kept meanwhile.
    pub scratch: &'a Path,
    /// How long git may take for each answer.
    pub patience: Millis,
}

/// A tree that git cannot list.
#[derive(Debug)]
pub struct Unlisted {
    /// Nothing was seen, and why.
    pub print: TreePrint,
    pub changes: Vec<PinnedChange>,
}

impl Unlisted {
    /// There is nothing to list.
    pub fn no_repository() -> Unlisted {
        let why = "not a git repository".to_owned();
        Unlisted { print: TreePrint::Unknown { why, cause: Blindness::NoRepository }, changes: Vec::new() }
    }
}

/// Lists the files of a work tree. Where git fails, the repository itself is looked at: what was done to it since the
/// start is told as a change; an index that cannot be read is replaced by one made of HEAD, which shows the files as
/// well; everything else is a fault of the machine.
pub async fn list_tree(keeper: &mut Keeper, on: Inquiry<'_>) -> Result<Listing, Unlisted> {
    let mut listed = list(keeper, on, None).await;
    if matches!(listed, Err(GitError::Fault(_))) {
        // A process that was killed by chance is not killed twice.
        listed = list(keeper, on, None).await;
    }
    if let Err(GitError::Refused(_)) = listed {
        let changes = tree::damage(on.root, &on.pins.repository);
        if let Some(first) = changes.first() {
            return Err(Unlisted { print: TreePrint::fault(first.words()), changes });
        }
        if matches!(on.root.join(".git").symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
        {
            return Err(Unlisted::no_repository());
        }
        if let Ok(index) = index_of_head(keeper, on).await {
            listed = list(keeper, on, Some(&index)).await.or(listed);
            // It is made anew for the next look, if that needs it.
            let _ = std::fs::remove_file(index);
        }
    }
    let fault = |why: String| Unlisted { print: TreePrint::fault(why), changes: Vec::new() };
    let files = listed.map_err(|why| fault(format!("git could not list the files: {why}")))?;
    let head = head(keeper, on).await.map_err(|why| fault(format!("git could not read HEAD: {why}")))?;
    Ok(Listing { root: on.root.to_owned(), head, files })
}

async fn list(keeper: &mut Keeper, on: Inquiry<'_>, index: Option<&Path>) -> Result<Spool, GitError> {
    let mut command = own_command(on.root, LISTING);
    command.set.extend(index.map(|index| (INDEX_VARIABLE.into(), index.into())));
    let mut files = Spool::new(on.scratch);
    ask(keeper, &command, &mut files, on.patience).await?;
    Ok(files)
}

/// An index of the last commit, or an empty one before the first.
async fn index_of_head(keeper: &mut Keeper, on: Inquiry<'_>) -> Result<PathBuf, GitError> {
    let index = on.scratch.join("index");
    let _ = std::fs::remove_file(&index);
    let born = head(keeper, on).await?;
    let what = if born.is_empty() { "--empty" } else { "HEAD" };
    let mut command = own_command(on.root, &["read-tree", what]);
    command.set.push((INDEX_VARIABLE.into(), index.clone().into()));
    ask(keeper, &command, &mut Spool::new(on.scratch), on.patience).await?;
    Ok(index)
}

/// The commit that HEAD names; empty before the first one.
async fn head(keeper: &mut Keeper, on: Inquiry<'_>) -> Result<String, GitError> {
    if let Some(head) = tree::head(on.root) {
        return Ok(head);
    }
    // References that are not files (reftable) only git itself can read.
    match run(keeper, on.root, &["rev-parse", "--verify", "--quiet", "HEAD"], on.patience).await {
        Ok(head) => Ok(String::from_utf8_lossy(&head).trim().to_owned()),
        // Before the first commit it names a branch that is not there yet.
        Err(refused @ GitError::Refused(_)) => {
            let branch = run(keeper, on.root, &["symbolic-ref", "--quiet", "HEAD"], on.patience).await;
            branch.map(|_| String::new()).map_err(|_| refused)
        }
        Err(fault) => Err(fault),
    }
}

async fn ask(keeper: &mut Keeper, command: &Command, sink: &mut impl Sink, patience: Millis) -> Result<(), GitError> {
    let (_silent, mut orders) = mpsc::unbounded_channel();
    let no_limit = Millis::ZERO;
    let job = Job { command, stdin: b"", streams: Streams::Apart, timeout: patience, idle: no_limit, linger: no_limit };
    let facts = drive(keeper, &job, sink, &mut orders).await;
    let said = facts.stderr_tail.trim();
    match facts.ending {
        Ending::Exited { code: 0 } => Ok(()),
        Ending::Exited { code } if said.is_empty() => Err(GitError::Refused(format!("it ended with exit code {code}"))),
        Ending::Exited { .. } => Err(GitError::Refused(said.to_owned())),
        Ending::NotStarted { reason, .. } => Err(GitError::Fault(reason)),
        Ending::Signalled { signal } => Err(GitError::Fault(format!("it was killed by signal {signal}"))),
        Ending::TimedOut { limit } | Ending::Idle { limit } => Err(GitError::TooSlow(limit)),
        Ending::KeeperLost => Err(GitError::Fault("the process that watches over it was killed".to_owned())),
        Ending::Stopped | Ending::Lingered => Err(GitError::Fault("it was stopped".to_owned())),
    }
}

fn own_command(folder: &Path, args: &[&str]) -> Command {
    let alone = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];
    let mut command = command("git", alone.iter().chain(args), folder);
    // Reading must not wait for, or take, the index lock of somebody else's git.
    command.set.extend([("GIT_OPTIONAL_LOCKS".into(), "0".into()), ("LC_ALL".into(), "C".into())]);
    command
}

/// A program of version control, as people configured it.
pub(crate) fn command(program: &str, args: impl IntoIterator<Item = impl Into<OsString>>, folder: &Path) -> Command {
    Command {
        program: program.into(),
        args: args.into_iter().map(Into::into).collect(),
        folder: folder.to_owned(),
        // Nobody is there to type a password or to edit a text.
        set: vec![("GIT_TERMINAL_PROMPT".into(), "0".into()), ("GIT_EDITOR".into(), "true".into())],
        remove: MISLEADING_VARIABLES.iter().map(OsString::from).collect(),
    }
}
