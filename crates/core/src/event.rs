//! Everything that happens to a run.
//!
//! The journal is a list of these. Names and fields are a contract: they are added, never changed.

use crate::check::{CheckReport, TreePrint};
use crate::id::{CheckId, RunId};
use crate::inbox::Heard;
use crate::judges::Known;
use crate::observation::{Markers, Observation};
use crate::outcome::StopReason;
use crate::plan::{PlanChanges, PlanSeen};
use crate::policy::Policy;
use crate::protect::{PinFailure, PinnedChange, Pins};
use crate::scm::{Pending, ScmReport};
use crate::tests_changed::TestsChanged;
use crate::time::{Millis, WallTime};
use crate::trust::Untrusted;
use crate::words::Note;
use serde::{Deserialize, Serialize};

/// An event with its place in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry<E = Event> {
    /// Numbered from 1, without gaps.
    pub seq: u64,
    pub at: WallTime,
    /// Time that the run has been worked on, over all resumes; every limit counts in this.
    pub elapsed: Millis,
    pub event: E,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The run began.
    Started(Box<Started>),
    /// The run goes on after an end, a crash or a limit.
    Resumed(Box<Resumed>),
    /// The inputs of the next prompt were read.
    Gathered(Gathered),
    /// The agent's process is gone, with everything that it started.
    AgentEnded(Box<Observation>),
    /// The tree was looked at.
    TreeSeen {
        print: TreePrint,
        /// Some of the files that differ from the look before; `None` if there was none to compare with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changed: Option<Vec<String>>,
        /// Some of the files that were written since the look before and hold the same again, and of the folders, each
        /// with a slash at its end, in which something was made, removed or renamed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        stirred: Vec<String>,
        /// Pinned files that are not as they were at the start.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pinned: Vec<PinnedChange>,
    },
    /// What checks are made of was read, or seen by watching one.
    Learned {
        known: Box<Known>,
        /// Why checks run on the live tree; empty if each gets a snapshot of its own.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        live: String,
    },
    /// The files whose state counts were looked at before the first iteration.
    Pinned {
        /// All of them, or why they cannot be kept an eye on; the run cannot begin then.
        pins: Result<Box<Pins>, PinFailure>,
        /// What judges and was changed by an agent of an earlier run.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        untrusted: Vec<Untrusted>,
    },
    /// Pinned files were put back.
    PinnedRestored {
        /// What could not be put back, one sentence each.
        problems: Vec<String>,
    },
    /// The commit was checked out anew.
    CheckedOut {
        /// The commit, or why there is none.
        commit: Result<String, String>,
        /// The machine is why there is none.
        #[serde(default)]
        fault: bool,
        /// Some of the files that differ from it.
        uncommitted: Vec<String>,
        /// Pinned files that are not as they were, in the commit.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pinned: Vec<PinnedChange>,
    },
    CheckEnded(Box<CheckReport>),
    /// Files that can tell checks what to do were looked for.
    MadeSeen {
        /// For each check those that were made during the run, by their paths in the work tree.
        made: Vec<(CheckId, Vec<String>)>,
        /// Why they could not be looked for; empty if they could.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        problem: String,
        /// Tests that are new: without them the tests that were there must pass.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tests: Vec<String>,
    },
    /// The last commit was compared with what is there.
    LeftOutSeen {
        /// What is new and not in it, by its path in the work tree.
        paths: Vec<String>,
        /// Why that could not be seen; empty if it could.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        problem: String,
    },
    /// What waits to be committed was looked at.
    ScmLooked {
        pending: Pending,
    },
    /// A task of version control ended.
    ScmEnded(Box<ScmReport>),
    /// The marker files were looked at.
    MarkersSeen {
        markers: Markers,
        /// Why the task folder cannot be used any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// Something was said on the bus that concerns this run.
    Heard {
        messages: Vec<Heard>,
    },
    /// Child runs were waited for.
    ChildrenSeen {
        /// Those that still live.
        left: Vec<RunId>,
        /// Those of this project that do not, and how they ended; one without an end crashed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ended: Vec<(RunId, Option<StopReason>)>,
    },
    /// A message was posted.
    Posted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// The tests were compared with those of the start, or could not be.
    TestsCompared {
        changed: Result<TestsChanged, String>,
    },
    /// A plan was read.
    PlanSeen(Box<PlanSeen>),
    /// What must stand otherwise was put back.
    PlanPutBack(PlanPutBack),
    /// The run works on the branch of its plan, or why it cannot.
    BranchSwitched {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// A wait is over.
    Woke,
    /// SIGINT or SIGTERM came.
    Interrupted,
    /// Somebody cancelled the run.
    Cancelled,
    /// Somebody cancelled a run that no process carries, so that nothing of it runs any more.
    CancelledUncarried,
    /// The wall time is used up while something runs.
    WallTimeUp,
    /// Money or tokens are used up while the agent runs.
    BudgetUp,
    /// A settings file was edited, which changes nothing in this run.
    SettingsEdited {
        file: String,
    },
    /// Something worth telling that changes nothing: a stale marker removed, a file that could not be written.
    Noted {
        note: Note,
    },
}

impl Event {
    /// The name by which it stands in the journal.
    pub const fn name(&self) -> &'static str {
        match self {
            Event::Started(_) => "started",
            Event::Resumed(_) => "resumed",
            Event::Gathered(_) => "gathered",
            Event::AgentEnded(_) => "agent_ended",
            Event::TreeSeen { .. } => "tree_seen",
            Event::Learned { .. } => "learned",
            Event::Pinned { .. } => "pinned",
            Event::PinnedRestored { .. } => "pinned_restored",
            Event::CheckedOut { .. } => "checked_out",
            Event::CheckEnded(_) => "check_ended",
            Event::MadeSeen { .. } => "made_seen",
            Event::LeftOutSeen { .. } => "left_out_seen",
            Event::ScmLooked { .. } => "scm_looked",
            Event::ScmEnded(_) => "scm_ended",
            Event::MarkersSeen { .. } => "markers_seen",
            Event::Heard { .. } => "heard",
            Event::ChildrenSeen { .. } => "children_seen",
            Event::Posted { .. } => "posted",
            Event::TestsCompared { .. } => "tests_compared",
            Event::PlanSeen(_) => "plan_seen",
            Event::PlanPutBack(_) => "plan_put_back",
            Event::BranchSwitched { .. } => "branch_switched",
            Event::Woke => "woke",
            Event::Interrupted => "interrupted",
            Event::Cancelled => "cancelled",
            Event::CancelledUncarried => "cancelled_uncarried",
            Event::WallTimeUp => "wall_time_up",
            Event::BudgetUp => "budget_up",
            Event::SettingsEdited { .. } => "settings_edited",
            Event::Noted { .. } => "noted",
        }
    }
}

/// The beginning of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Started {
    pub run: RunId,
    /// The run inside which this one was started, if any.
    pub parent: Option<RunId>,
    pub policy: Policy,
    /// The project's folder, for people.
    pub root: String,
    /// The version of ralph that began it.
    pub version: String,
    /// What earlier runs of the same task used.
    #[serde(default)]
    pub task_spent: Spent,
    /// The project is in no repository, so that nobody can see which files an agent changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_repository: bool,
}

/// Money and tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// US dollars, as far as agents state them.
    pub cost_usd: f64,
    pub tokens: u64,
}

/// A run that goes on. Limits that the person raised replace the pinned ones.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Resumed {
    /// `-m`.
    pub max_iterations: Option<u32>,
    /// `--max-wall-time`.
    pub wall: Option<Millis>,
    /// `--iteration-timeout`.
    pub iteration: Option<Millis>,
    /// `--idle-timeout`.
    pub idle: Option<Millis>,
    pub max_cost_usd: Option<f64>,
    pub max_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// `--no-wait`, or its opposite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
    /// What other runs of the same task have used by now.
    #[serde(default)]
    pub task_spent: Spent,
    /// As in [`Started`]: a repository may have been made, or deleted, since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_repository: bool,
    /// Why nobody can believe the rules with which it goes on, one part of a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// How a plan is run from now on.
    #[serde(default, skip_serializing_if = "PlanChanges::is_empty")]
    pub plan: PlanChanges,
}

/// What the next prompt is made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gathered {
    /// The base text, or why there is none; `None` if it is what it was, so that it stands once in the journal.
    pub base: Option<Result<String, String>>,
    /// The summary file as an earlier run of the same task left it; only read for a run's first prompt.
    pub summary: String,
    /// What people wrote into the feedback file since ralph wrote it last.
    pub human: String,
    /// The work tree as git knows it, or why it could not be kept; `None` if nobody wanted that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Result<String, String>>,
}

/// What was put back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlanPutBack {
    /// Files beside the plan's own that were changed and are as they were, from the top of the work tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What could not be done, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// The commit that was made of it; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub commit: String,
}
