//! Version control: what waits to be committed, and the tasks that the settings name.

mod committed;
mod dirty;
mod locks;
mod own_commit;
pub(crate) mod pushed;

pub use committed::{Committed, as_committed, committed, left_out};
pub use dirty::{Tree, dirty, newly_dirty};
pub use own_commit::{OwnCommit, commit};
pub use pushed::leads_elsewhere;

use crate::aside::Stop;
use crate::git::{self, GitError};
use crate::plain_file::{self, Links};
use crate::process::Keeper;
use crate::process::drive::{Chunk, Job, Order, Sink, Streams, drive};
use crate::tree;
use locks::Locks;
use ralph_core::check::CheckEnding;
use ralph_core::observation::StartFault;
use ralph_core::scm::{Pending, ScmReport, ScmSpec};
use ralph_core::text;
use ralph_core::time::Millis;
use rustix::fs::CWD;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use tokio::sync::mpsc::UnboundedReceiver;

/// How long one task may take: a hook may run a whole test suite, a push may cross half the world.
const TASK_TIMEOUT: Millis = Millis::from_secs(600);
/// The end of a task's output, where the reason of a failure stands.
const OUTPUT_KEPT: usize = 4096;

/// How git lists what waits to be committed, less ralph's own folder, which is nobody's work.
pub const STATUS: &[&str] =
    &["status", "--porcelain=v1", "-z", "--untracked-files=normal", "--", ":/", ":(exclude).ralph"];

pub fn is_git(program: &str) -> bool {
    Path::new(program).file_stem().is_some_and(|name| name == "git")
}

/// What a listing by [`STATUS`] amounts to.
pub fn pending(listing: &[u8]) -> Pending {
    let mut entries = listing.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    let (mut tracked, mut untracked) = (false, false);
    while let Some(entry) = entries.next() {
        match entry {
            [b'?', b'?', ..] => untracked = true,
            [b'R' | b'C', ..] | [_, b'R' | b'C', ..] => {
                tracked = true;
                // A renamed file's old name follows as an entry of its own.
                entries.next();
            }
            _ => tracked = true,
        }
    }
    Pending::Seen { tracked, untracked }
}

/// What waits to be committed in the project; nobody knows where git would wait for a pipe.
pub async fn look_at_pending(keeper: &mut Keeper, project: &Path, patience: Millis) -> Pending {
    if blocked(project).is_some() {
        return Pending::Unknown;
    }
    let listing: Result<Vec<u8>, GitError> = git::run(keeper, project, STATUS, patience).await;
    listing.map_or(Pending::Unknown, |listing| pending(&listing))
}

/// Files whose contents are compared before and after a commit; a commit of more is compared by what it holds alone.
const MOST_COMPARED: usize = 10_000;

/// What the files hold that wait to be committed in this work tree: whoever commits them must leave them alone.
pub async fn contents(keeper: &mut Keeper, root: &Path, patience: Millis) -> Result<Contents, GitError> {
    if let Some(why) = blocked(root) {
        return Err(GitError::Refused(why));
    }
    let args =
        ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", ":/", ":(exclude).ralph"];
    let listing = git::run(keeper, root, &args, patience).await?;
    let paths = listing.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..)).take(MOST_COMPARED);
    Ok(Contents(paths.map(|path| (path.to_vec(), content(root, path))).collect()))
}

/// What some files held at one moment.
#[derive(Debug, Default)]
pub struct Contents(Vec<(Vec<u8>, String)>);

impl Contents {
    /// Those that hold something else now.
    pub fn changed(&self, root: &Path) -> Vec<String> {
        let changed = self.0.iter().filter(|(path, before)| content(root, path) != *before);
        changed.map(|(path, _)| String::from_utf8_lossy(path).into_owned()).collect()
    }
}

/// Equal for equal contents; what is no file is known by where it leads, or by nothing.
fn content(root: &Path, path: &[u8]) -> String {
    let path = root.join(OsStr::from_bytes(path));
    if let Ok(target) = std::fs::read_link(&path) {
        return format!("link {}", target.display());
    }
    let read = plain_file::open(CWD, &path, Links::Refuse)
        .and_then(|file| tree::hash_file(file, &mut Vec::new(), &Stop::default()));
    read.ok().flatten().map_or(String::new(), |hash| text::hex(&hash))
}

/// What git would wait for in the repository around a folder, in words.
fn blocked(project: &Path) -> Option<String> {
    let root = tree::git_root(project)?;
    tree::blocking_anywhere(&root).first().map(|change| change.words())
}

/// Where tasks are executed.
#[derive(Debug, Clone, Copy)]
pub struct ScmPlace<'a> {
    pub root: &'a Path,
    /// A file in trusted state that is there while a task runs; it says which locks of git are not the task's.
    pub note: &'a Path,
}

/// Removes locks that a task left which was killed together with its ralph; says which, if any.
pub fn remove_left_locks(place: ScmPlace<'_>) -> String {
    Locks::around(place.root, place.note).map_or(String::new(), |locks| locks.after_crash())
}

/// The report of a task that was not begun.
pub fn not_started(spec: ScmSpec, reason: String) -> ScmReport {
    ScmReport {
        spec,
        ending: CheckEnding::NotStarted { reason, fault: StartFault::Program },
        advice: String::new(),
        nothing: false,
        duration: Millis::ZERO,
        output: String::new(),
        differs: Vec::new(),
        uncompared: String::new(),
        left_out: Vec::new(),
    }
}

pub async fn run(
    keeper: &mut Keeper,
    spec: ScmSpec,
    place: ScmPlace<'_>,
    orders: &mut UnboundedReceiver<Order>,
) -> ScmReport {
    let ScmPlace { root, note } = place;
    if let Some(reason) = blocked(root) {
        return not_started(spec, reason);
    }
    let locks = Locks::around(root, note).filter(|_| is_git(&spec.program));
    let before = match &locks {
        Some(locks) => {
            locks.after_crash();
            locks.before_task().await
        }
        None => Default::default(),
    };
    let command = git::command(&spec.program, &spec.args, root);
    let mut sink = Tail::default();
    let job = Job {
        command: &command,
        stdin: b"",
        streams: Streams::Together,
        timeout: TASK_TIMEOUT,
        idle: Millis::ZERO,
        linger: Millis::ZERO,
    };
    let facts = drive(keeper, &job, &mut sink, orders).await;
    // Nothing that it started is alive any more.
    let advice = locks.map_or(String::new(), |locks| locks.after_task(&before));
    ScmReport {
        differs: Vec::new(),
        uncompared: String::new(),
        left_out: Vec::new(),
        spec,
        ending: CheckEnding::from(facts.ending),
        advice,
        nothing: false,
        duration: facts.duration,
        output: String::from_utf8_lossy(&sink.0).into_owned(),
    }
}

#[derive(Default)]
struct Tail(Vec<u8>);

impl Sink for Tail {
    fn stdout(&mut self, bytes: &Chunk) {
        self.0.extend_from_slice(bytes.get(bytes.len().saturating_sub(OUTPUT_KEPT)..).unwrap_or_default());
        let excess = self.0.len().saturating_sub(OUTPUT_KEPT);
        self.0.drain(..excess);
    }

    fn stderr(&mut self, bytes: &Chunk) {
        self.stdout(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_tells_known_files_from_new_ones() {
        let seen = |tracked, untracked| Pending::Seen { tracked, untracked };
        for (listing, expected) in [
            (&b""[..], seen(false, false)),
            (b"?? new.txt\0", seen(false, true)),
            (b" M a\0", seen(true, false)),
            (b"A  a\0?? b\0", seen(true, true)),
            (b"R  new\0?? old name\0", seen(true, false)),
            (b" D a b\0", seen(true, false)),
        ] {
            assert_eq!(pending(listing), expected, "{:?}", String::from_utf8_lossy(listing));
        }
        assert!(is_git("git") && is_git("/usr/bin/git") && is_git("git.exe") && !is_git("gitx") && !is_git("hg"));
    }
}
