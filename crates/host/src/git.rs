//! Starts git, or what stands in its place, so that it answers for its folder and asks nobody.

mod pinning;

pub(crate) use pinning::ways;
pub use pinning::{Pinning, changes, filters_of, pin};

use crate::process::drive::{Chunk, Job, Sink, Streams, drive};
use crate::process::{Command, Keeper};
use crate::spool::Spool;
use crate::tree::{self, LISTING, LIVE_RULES, Listing};
use ralph_core::check::{Blindness, TreePrint};
use ralph_core::observation::Ending;
use ralph_core::protect::{Change, GitPins, PinnedChange, Pins};
use ralph_core::text;
use ralph_core::time::Millis;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tokio::sync::mpsc;

/// Variables that would make git answer for another repository; they do not belong in its environment.
pub(crate) const MISLEADING_VARIABLES: &[&str] = &["GIT_DIR", "GIT_WORK_TREE", INDEX_VARIABLE, "GIT_COMMON_DIR"];
const INDEX_VARIABLE: &str = "GIT_INDEX_FILE";

/// Why git gave no answer. What it printed is for people; what follows from it depends on the kind alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    #[error("{0}")]
    Refused(String),
    /// The machine did not let it run to its end: it was not found, or killed.
    #[error("{0}")]
    Fault(String),
    #[error("it did not answer within {0}")]
    TooSlow(Millis),
}

/// Runs git for ralph itself and returns its output. No hook or monitor of the repository is started.
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
    let mut command = own_command(folder, args);
    command.set.extend_from_slice(environment);
    answer(keeper, &command, b"", patience).await
}

/// What a command printed, if it succeeded.
pub(crate) async fn answer(
    keeper: &mut Keeper,
    command: &Command,
    stdin: &[u8],
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
    ask(keeper, command, stdin, &mut sink, patience).await?;
    Ok(sink.0)
}

/// The files that git tracks in a work tree and in its modules, each with NUL behind it.
pub async fn tracked(keeper: &mut Keeper, root: &Path, scratch: &Path, patience: Millis) -> Result<Spool, GitError> {
    const TRACKED: [&str; 4] = ["ls-files", "-z", "--cached", "--full-name"];
    let whole = TRACKED.iter().chain(&["--recurse-submodules"]);
    let mut files = Spool::new(scratch);
    let answered = ask(keeper, &root_command(root, whole.copied()), b"", &mut files, patience).await;
    if let Err(GitError::Refused(_)) = answered {
        // A module that git cannot read hides nothing but its own files.
        files = Spool::new(scratch);
        ask(keeper, &root_command(root, TRACKED), b"", &mut files, patience).await?;
        return Ok(files);
    }
    answered.map(|()| files)
}

#[derive(Debug, Clone, Copy)]
pub struct Inquiry<'a> {
    pub root: &'a Path,
    /// What must be as it was at the start.
    pub pins: &'a Pins,
    /// A folder of the run for what must be kept meanwhile.
    pub scratch: &'a Path,
    pub patience: Millis,
    /// Folders of ralph that go with the run or are rewritten by it: nothing of the tree may lead there.
    pub own: &'a [PathBuf],
}

#[derive(Debug)]
pub struct Unlisted {
    /// Nothing was seen, and why.
    pub print: TreePrint,
    pub changes: Vec<PinnedChange>,
}

impl Unlisted {
    pub fn no_repository() -> Unlisted {
        let why = "not a git repository".to_owned();
        Unlisted { print: TreePrint::Unknown { why, cause: Blindness::NoRepository }, changes: Vec::new() }
    }
}

/// How long git may take to read its settings: more than any machine needs, where nothing stands in the way.
const SETTINGS_PATIENCE: Millis = Millis::from_secs(30);

/// Lists the files of a work tree and of every repository inside. Where git fails, the repository itself is looked at:
/// what was done to it since the start is told as a change; an index that cannot be read is replaced by one made of HEAD,
/// which shows the files as well; everything else is a fault of the machine.
pub async fn list_tree(keeper: &mut Keeper, on: Inquiry<'_>) -> Result<Listing, Unlisted> {
    let blocking = tree::blocking(on.root);
    if !blocking.is_empty() {
        return Err(Unlisted::because(blocking));
    }
    let mut changes = tree::leading(on.root, on.own);
    let seen = changes_or_unlisted(keeper, on).await;
    changes.extend(seen.map_err(|unlisted| unlisted.with(&changes))?);
    let repository = Repository { root: on.root, path: b"", patience: Patience::of(on.patience) };
    let listed = list_anyhow(keeper, on, repository).await;
    let mut files = listed.map_err(|unlisted| unlisted.with(&changes))?;
    changes.extend(list_inside(keeper, on, repository.patience, &mut files).await?);
    if !on.pins.git.tracked_anyway.is_empty() {
        files.push(tree::ANYWAY);
        files.push(b"\0");
        on.pins.git.tracked_anyway.iter().for_each(|path| files.push(format!("? {path}\0").as_bytes()));
    }
    let head = head(keeper, on.root, on.patience).await;
    let head = head.map_err(|why| Unlisted::fault(format!("git could not read HEAD: {why}")))?;
    Ok(Listing { root: on.root.to_owned(), head, files, own: on.own.to_vec(), changes })
}

/// What of git is not as it was, if that can be seen.
async fn changes_or_unlisted(keeper: &mut Keeper, on: Inquiry<'_>) -> Result<Vec<PinnedChange>, Unlisted> {
    let git = &on.pins.git;
    if *git == GitPins::default() {
        return Ok(Vec::new());
    }
    match changes(keeper, on.root, git, on.scratch).await {
        Ok(changes) => Ok(changes),
        Err(why @ GitError::TooSlow(_)) => {
            let how = Change::Unseen { why: why.to_string() };
            Err(Unlisted::because(vec![PinnedChange { path: "git's configuration".to_owned(), how }]))
        }
        Err(GitError::Refused(why)) => Err(Unlisted::refused(on, &why)),
        Err(GitError::Fault(why)) => Err(Unlisted::fault(format!("git could not read its settings: {why}"))),
    }
}

impl Unlisted {
    fn fault(why: String) -> Unlisted {
        Unlisted { print: TreePrint::fault(why), changes: Vec::new() }
    }

    /// What was done to the repository keeps git from listing it.
    fn because(changes: Vec<PinnedChange>) -> Unlisted {
        let why = changes.first().map(PinnedChange::words).unwrap_or_default();
        Unlisted { print: TreePrint::fault(why), changes }
    }

    /// git refused: either the repository or a file of settings was damaged since the start, or the machine is to blame.
    fn refused(on: Inquiry<'_>, why: &str) -> Unlisted {
        let mut changes = tree::damage(on.root, &on.pins.repository);
        if changes.is_empty() {
            changes = tree::damage(on.root, &on.pins.git.settings_files);
        }
        if !changes.is_empty() {
            return Unlisted::because(changes);
        }
        if matches!(on.root.join(".git").symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
        {
            return Unlisted::no_repository();
        }
        Unlisted::fault(format!("git could not list the files: {why}"))
    }

    /// With what was seen before.
    fn with(mut self, before: &[PinnedChange]) -> Unlisted {
        self.changes.splice(..0, before.iter().cloned());
        self
    }
}

/// A repository that is listed.
#[derive(Clone, Copy)]
struct Repository<'a> {
    root: &'a Path,
    /// Its path in the outermost one.
    path: &'a [u8],
    patience: Patience,
}

/// How long all answers together may take.
#[derive(Clone, Copy)]
struct Patience {
    whole: Millis,
    until: Option<Instant>,
}

impl Patience {
    fn of(whole: Millis) -> Patience {
        Patience { whole, until: (!whole.is_off()).then(|| Instant::now() + whole.duration()) }
    }

    fn left(self) -> Result<Millis, GitError> {
        let Some(until) = self.until else { return Ok(self.whole) };
        let left = Millis::from(until.saturating_duration_since(Instant::now()));
        if left.is_off() { Err(GitError::TooSlow(self.whole)) } else { Ok(left) }
    }
}

/// Lists the outermost repository, whatever became of its index.
async fn list_anyhow(keeper: &mut Keeper, on: Inquiry<'_>, repository: Repository<'_>) -> Result<Spool, Unlisted> {
    let mut listed = list(keeper, on, repository, None).await;
    if matches!(listed, Err(GitError::Fault(_))) {
        // A process that was killed by chance is not killed twice.
        listed = list(keeper, on, repository, None).await;
    }
    if let Err(GitError::Refused(why)) = &listed {
        let refused = Unlisted::refused(on, why);
        if !refused.changes.is_empty()
            || matches!(refused.print, TreePrint::Unknown { cause: Blindness::NoRepository, .. })
        {
            return Err(refused);
        }
        if let Ok(index) = index_of_head(keeper, on.root, on.scratch, on.patience).await {
            listed = list(keeper, on, repository, Some(&index)).await.or(listed);
            // It is made anew for the next look, if that needs it.
            let _ = std::fs::remove_file(index);
        }
    }
    listed.map_err(|why| Unlisted::fault(format!("git could not list the files: {why}")))
}

/// Adds the listings of the repositories inside, in the order of their paths.
async fn list_inside(
    keeper: &mut Keeper,
    on: Inquiry<'_>,
    patience: Patience,
    files: &mut Spool,
) -> Result<Vec<PinnedChange>, Unlisted> {
    let unkept = |error: std::io::Error| Unlisted::fault(format!("git's list of the files could not be kept: {error}"));
    let mut left: BTreeSet<Vec<u8>> = tree::repositories_in(files).map_err(unkept)?.into_iter().collect();
    let mut changes = Vec::new();
    while let Some(path) = left.pop_first() {
        let root = on.root.join(OsStr::from_bytes(&path));
        // One that is gone, or that a link stands for, is seen as such in the listing that names it.
        if !root.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            continue;
        }
        let inside = |change: PinnedChange| PinnedChange {
            path: format!("{}/{}", String::from_utf8_lossy(&path), change.path),
            ..change
        };
        let blocking: Vec<PinnedChange> = tree::blocking(&root).into_iter().map(inside).collect();
        if !blocking.is_empty() {
            return Err(Unlisted::because(blocking));
        }
        changes.extend(tree::leading(&root, on.own).into_iter().map(inside));
        // Without a repository of its own, git would answer for the one around it.
        let listed = match root.join(".git").symlink_metadata() {
            Ok(_) => list(keeper, on, Repository { root: &root, path: &path, patience }, None).await,
            Err(error) => Err(GitError::Refused(error.to_string())),
        };
        match listed {
            Ok(mut listed) => {
                let inside = tree::repositories_in(&mut listed).map_err(unkept)?;
                left.extend(inside.iter().map(|below| tree::joined(&path, below)));
                [tree::REPOSITORY, &path, b"\0"].iter().for_each(|bytes| files.push(bytes));
                files.append(&mut listed).map_err(unkept)?;
            }
            Err(GitError::Refused(_)) => [tree::FOLDER, &path, b"\0"].iter().for_each(|bytes| files.push(bytes)),
            Err(why) => {
                return Err(Unlisted::fault(format!("git could not list the files in {}: {why}", root.display())));
            }
        }
    }
    Ok(changes)
}

async fn list(
    keeper: &mut Keeper,
    on: Inquiry<'_>,
    repository: Repository<'_>,
    index: Option<&Path>,
) -> Result<Spool, GitError> {
    let mut args: Vec<OsString> = LISTING.iter().map(Into::into).collect();
    args.extend(excluding(on, repository.path)?);
    let mut command = root_command(repository.root, args);
    command.set.extend(index.map(|index| (INDEX_VARIABLE.into(), index.into())));
    let mut files = Spool::new(on.scratch);
    let answered = ask(keeper, &command, b"", &mut files, repository.patience.left()?).await;
    // It had what the others left of the time; people know the whole.
    let whole = repository.patience.whole;
    answered.map_err(|error| if matches!(error, GitError::TooSlow(_)) { GitError::TooSlow(whole) } else { error })?;
    Ok(files)
}

/// What a listing leaves out: what the repository ignored at the start. One that was not there then ignored nothing.
pub(crate) fn excluding(on: Inquiry<'_>, repository: &[u8]) -> Result<Option<OsString>, GitError> {
    let git = &on.pins.git;
    if git.ignored.is_empty() {
        return Ok(Some(LIVE_RULES.into()));
    }
    let name = text::hex(repository);
    let Some(ignored) = git.ignored.iter().find(|ignored| ignored.repository == name) else { return Ok(None) };
    let file = on.scratch.join("ignored");
    let unkept = |error| GitError::Fault(format!("{} cannot be written: {error}", file.display()));
    std::fs::write(&file, &ignored.rules).map_err(unkept)?;
    let mut option = OsString::from("--exclude-from=");
    option.push(&file);
    Ok(Some(option))
}

/// An index of the last commit, or an empty one before the first.
pub(crate) async fn index_of_head(
    keeper: &mut Keeper,
    root: &Path,
    scratch: &Path,
    patience: Millis,
) -> Result<PathBuf, GitError> {
    let born = head(keeper, root, patience).await?;
    index_of(keeper, root, scratch, if born.is_empty() { "--empty" } else { "HEAD" }, patience).await
}

/// An index of a commit.
async fn index_of(
    keeper: &mut Keeper,
    root: &Path,
    scratch: &Path,
    what: &str,
    patience: Millis,
) -> Result<PathBuf, GitError> {
    let index = scratch.join("index");
    let _ = std::fs::remove_file(&index);
    let command = with_index(root_command(root, ["read-tree", what]), &index);
    ask(keeper, &command, b"", &mut Spool::new(scratch), patience).await?;
    Ok(index)
}

/// The same command with another index.
pub(crate) fn with_index(mut command: Command, index: &Path) -> Command {
    command.set.push((INDEX_VARIABLE.into(), index.into()));
    command
}

/// The commit that HEAD names; empty before the first one.
pub(crate) async fn head(keeper: &mut Keeper, root: &Path, patience: Millis) -> Result<String, GitError> {
    if let Some(head) = tree::head(root) {
        return Ok(head);
    }
    // References that are not files (reftable) only git itself can read.
    match run(keeper, root, &["rev-parse", "--verify", "--quiet", "HEAD"], patience).await {
        Ok(head) => Ok(String::from_utf8_lossy(&head).trim().to_owned()),
        // Before the first commit it names a branch that is not there yet.
        Err(refused @ GitError::Refused(_)) => {
            let branch = run(keeper, root, &["symbolic-ref", "--quiet", "HEAD"], patience).await;
            branch.map(|_| String::new()).map_err(|_| refused)
        }
        Err(fault) => Err(fault),
    }
}

async fn ask(
    keeper: &mut Keeper,
    command: &Command,
    stdin: &[u8],
    sink: &mut impl Sink,
    patience: Millis,
) -> Result<(), GitError> {
    #[cfg(test)]
    if keeper.is_absent() {
        return tests::ask_directly(command, stdin, sink);
    }
    let (_silent, mut orders) = mpsc::unbounded_channel();
    let no_limit = Millis::ZERO;
    let job = Job { command, stdin, streams: Streams::Apart, timeout: patience, idle: no_limit, linger: no_limit };
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

fn own_command(folder: &Path, args: impl IntoIterator<Item = impl Into<OsString>>) -> Command {
    let alone = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];
    let args = alone.iter().map(OsString::from).chain(args.into_iter().map(Into::into));
    let mut command = command("git", args, folder);
    // Reading must not wait for, or take, the index lock of somebody else's git.
    command.set.extend([("GIT_OPTIONAL_LOCKS".into(), "0".into()), ("LC_ALL".into(), "C".into())]);
    command
}

/// The same for the repository at this root and none around it, with its work tree where it is.
pub(crate) fn root_command(root: &Path, args: impl IntoIterator<Item = impl Into<OsString>>) -> Command {
    let args = [OsString::from("--work-tree=.")].into_iter().chain(args.into_iter().map(Into::into));
    let mut command = own_command(root, args);
    let around = root.canonicalize().ok().and_then(|root| root.parent().map(Path::to_owned));
    command.set.extend(around.map(|around| ("GIT_CEILING_DIRECTORIES".into(), around.into())));
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
        starts_runs: false,
    }
}

#[cfg(test)]
mod tests;
