//! Everything that a run wants done. Each variant carries what whoever performs it needs to know, so that
//! nobody outside of core looks anything up in the rules.

use crate::bus::Kind;
use crate::check::{CheckSpec, Ground};
use crate::judges::{Known, Subject};
use crate::memory::Views;
use crate::plan::marker::Marker;
use crate::plan::{Content, HookSnapshot};
use crate::policy::AgentPolicy;
use crate::protect::Pins;
use crate::scm::ScmSpec;
use crate::tests_changed::TestsRecord;
use crate::time::{Millis, WallTime};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Something that takes time and answers with an event. At most one runs at a time.
#[derive(Debug, Clone, PartialEq)]
pub enum Activity {
    /// Read the inputs of the next prompt. Answers with `Gathered`.
    Gather(Gather),
    /// Start an agent. Answers with `AgentEnded`.
    Launch(Box<Launch>),
    /// Look at the tree. Answers with `TreeSeen`.
    LookAtTree(Look),
    /// Execute a check, for which everything pinned stands as it did at the start. Answers with `CheckEnded`.
    Check(Box<CheckSpec>, Arc<Pins>),
    /// Read what checks are made of, before anything runs. Answers with `Learned`.
    Learn(Vec<Subject>, Ground),
    /// Execute a check and watch what it is made of. Answers with `Learned`, then `CheckEnded`.
    Watch(Box<Watch>),
    /// Look at the files whose state counts, before the first iteration. Answers with `Pinned`.
    Pin(Pinning),
    /// Put these pinned files back. Answers with `PinnedRestored`.
    RestorePinned { paths: Vec<String>, pins: Arc<Pins> },
    /// Check the commit out anew, in place of an earlier checkout. Answers with `CheckedOut`.
    CheckOut { pins: Arc<Pins> },
    /// Look at what waits to be committed. Answers with `ScmLooked`.
    LookAtPending {
        /// The program of version control.
        program: String,
    },
    /// Look for what is new and not in the last commit. Answers with `LeftOutSeen`.
    LookForLeftOut { pins: Arc<Pins> },
    /// Look for files that can tell these checks what to do and were made during the run, but for what each declares as
    /// work. Answers with `MadeSeen`.
    LookForMade { pins: Arc<Pins>, protected: Vec<String>, checks: Vec<CheckSpec> },
    /// Execute a command of version control. Answers with `ScmEnded`.
    Scm(ScmSpec, Arc<Pins>),
    /// Look at the marker files. Answers with `MarkersSeen`.
    LookAtMarkers,
    /// Do nothing for a while, or until a marker appears. Answers with `Woke`.
    Rest { span: Millis },
    /// Wait until no child run lives. Answers with `ChildrenSeen`.
    AwaitChildren {
        span: Millis,
        /// What happens to those that still live then.
        then: Leftover,
    },
    /// Post messages, each once, and wait until they are safe. Answers with `Posted`.
    PostSafely(Vec<Post>),
    /// Compare the tests with those that were there when the run began. Answers with `TestsCompared`.
    CompareTests { record: TestsRecord, patience: Millis },
    /// Read a plan's files and look where the repository stands. Answers with `PlanSeen`.
    ReadPlan(PlanRead),
    /// Put files of a plan, or around it, as they must stand. Answers with `PlanPutBack`.
    PutBack(Box<PutBack>),
    /// Work on this branch, and make it if it is not there. Answers with `BranchSwitched`.
    SwitchBranch { name: String },
    /// Do nothing until then. Answers with `Woke`.
    Wait {
        /// When to go on, by the wall clock: a reset is a point in time, even over a suspend.
        until: WallTime,
    },
}

impl Activity {
    /// Whether doing this twice does no harm: it only reads, or writes the same again.
    pub const fn can_repeat(&self) -> bool {
        matches!(
            self,
            Activity::Gather(_)
                | Activity::LookAtTree(_)
                | Activity::Learn(..)
                | Activity::Pin(_)
                | Activity::CheckOut { .. }
                | Activity::LookAtPending { .. }
                | Activity::LookForLeftOut { .. }
                | Activity::LookForMade { .. }
                | Activity::LookAtMarkers
                | Activity::CompareTests { .. }
                | Activity::ReadPlan(_)
                | Activity::Rest { .. }
        )
    }
}

/// Something that is done at once and answers nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Remove the DONE file: it was judged false.
    RemoveDone,
    /// Remove the file by which an agent asked to wait: somebody wants it to go on.
    RemoveWait,
    /// Post a message. Nothing depends on it.
    Post(Post),
    /// Write the readable views of memory.
    WriteViews(Box<Views>),
    /// Remember which of these the agents have changed, for later runs.
    RememberPinned(Arc<Pins>),
    /// Write `.ralph-active`; whoever does it puts its own process id in.
    WriteActive(Box<Marker>),
    /// Remove `.ralph-active`, if it is this run's.
    RemoveActive,
    /// Write what hooks know, for the agent that is about to start.
    WriteHookSnapshot(Box<HookSnapshot>),
}

/// A plan's files, with what is known of them: hashes of what they held last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanRead {
    /// The plan's folder, as seen from the project's root.
    pub dir: String,
    pub tasks: Option<String>,
    pub prd: Option<String>,
    pub template: Option<String>,
    pub progress: Option<String>,
}

/// What must stand otherwise than it does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PutBack {
    /// What every file of the work tree is put back to, but for these.
    pub tree: Option<KeptTree>,
    /// Files with what they must hold, by their paths below the project; each is replaced as a whole.
    pub writes: Vec<(String, Content)>,
    /// Files that are committed with what was put back, by their paths below the project.
    pub paths: Vec<String>,
    /// The subject of that commit, of these paths alone, where they differ from the last one; empty for none.
    pub subject: String,
}

/// The work tree as it stood before an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptTree {
    /// As git knows it.
    pub id: String,
    /// Globs of what stays as it is, from the project's folder.
    pub spare: Vec<String>,
}

/// What the next prompt is made from, and where it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gather {
    /// The file with the base text; `None` if the text is known.
    pub prompt_file: Option<String>,
    /// The summary of an earlier run, if it is wanted; the file's name in the task folder.
    pub summary_file: Option<String>,
    /// Where people write feedback; empty if nowhere.
    pub feedback_file: String,
    /// A look to be taken before the agent works, so that the next one tells what it changed.
    pub before: Option<Look>,
    /// Keep the work tree as it stands, so that it can be put back.
    pub keep_tree: bool,
}

/// A look at the tree and at everything pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// How long it may take; zero for no limit.
    pub patience: Millis,
    /// What must be as it was at the start.
    pub pins: Arc<Pins>,
}

/// What is pinned before the first iteration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pinning {
    /// Globs of files that must not change.
    pub globs: Vec<String>,
    /// The checks whose judges are pinned.
    pub subjects: Vec<Subject>,
    /// What they are made of; `None` if neither that nor the repository is pinned.
    pub known: Option<Arc<Known>>,
    /// How long recording the tests that are there may take; `None` if that is not wanted.
    pub tests: Option<Millis>,
}

/// A check that is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    pub spec: CheckSpec,
    pub subject: Subject,
    /// What is known of all checks so far.
    pub known: Arc<Known>,
}

/// What happens to child runs that outlive the wait for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    /// They live on.
    Leave,
    /// They are interrupted, and can be resumed.
    Interrupt,
}

/// A message to post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    pub bus: BusName,
    /// What makes it this message and no other: posted again with the same key, it is still one.
    pub key: String,
    pub kind: Kind,
    pub parents: Vec<String>,
    pub body: String,
}

/// One of the two buses of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusName {
    /// In the task folder.
    Task,
    /// In the project's own folder.
    Project,
}

/// An agent process: who is started, with what, under which limits, and what is kept of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    pub role: Role,
    pub agent: AgentPolicy,
    pub iteration: u32,
    /// Repeats of that number, from 1.
    pub attempt: u32,
    pub prompt: String,
    pub keep: Keep,
    /// What its marker files mean.
    pub markers: MarkerUse,
    pub hooks: HookUse,
    /// Whether it works in the project, so that what it leaves there is remembered.
    pub works: bool,
    /// How far it may go.
    pub limits: LaunchLimits,
}

/// Whether the agent's program calls ralph's hooks, where it has a way to be told so for one process only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookUse {
    None,
    /// The rules of a plan are told while the agent works.
    Plan,
}

/// What an agent process is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// To work on the task.
    Worker,
    /// To be kept running until the task is done.
    Root,
    /// To say what the commit should be called.
    Scribe,
}

/// What is kept of an agent process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keep {
    /// The readable file that shows its prompt; `None` for no such file.
    pub prompt_file: Option<PromptFile>,
    /// Under which name its output is kept.
    pub log: AgentLog,
    /// How many of its last messages.
    pub messages: usize,
    /// How many iterations' raw logs; zero for all.
    pub logs: u32,
}

/// A readable file that shows a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFile {
    pub name: String,
    /// The file of the oldest prompt that is kept, which makes room for it.
    pub instead_of: Option<String>,
}

/// Under which name an agent's output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentLog {
    /// As that of the iteration.
    Work,
    /// Beside it.
    CommitMessage,
}

/// What the marker files in the task folder mean for an agent process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerUse {
    /// Nothing.
    Ignored,
    /// DONE is its claim: one from before it is removed, and its own is looked at afterwards.
    Claim,
    /// Every marker counts, whoever wrote it, as soon as it is there.
    Standing,
}

/// How far an agent process may go; zero switches a limit off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaunchLimits {
    /// How long it may run.
    pub timeout: Millis,
    /// How long it may neither print nor compute.
    pub idle: Millis,
    /// How long it may live after its final result.
    pub linger: Millis,
    pub cost_left: f64,
    pub tokens_left: u64,
}
