//! Everything that core wants done. The engine performs these and decides nothing.

use crate::bus::Kind;
use crate::check::CheckSpec;
use crate::memory::Views;
use crate::notice::Notice;
use crate::policy::AgentPolicy;
use crate::scm::ScmSpec;
use crate::time::{Millis, WallTime};

/// One thing to do. At most one *activity* (a variant that answers with an event) is asked for at a
/// time, and none while another runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Read the inputs of the next prompt. Answers with `Gathered`.
    Gather {
        /// Whether the summary of an earlier run is wanted too.
        summary: bool,
        /// Whether the next look at the tree shall tell what the agent changed.
        remember_tree: bool,
    },
    /// Start the agent. Answers with `AgentEnded`.
    Launch(Box<Launch>),
    /// Look at the tree. Answers with `TreeSeen`.
    LookAtTree,
    /// Execute a check. Answers with `CheckEnded`.
    Check(CheckSpec),
    /// Look at the files whose state counts, before the first iteration. Answers with `Pinned`.
    Pin {
        /// Names in the guardrails' commands that may be scripts of the project, with the places of those.
        candidates: Vec<(String, Vec<usize>)>,
    },
    /// Put these pinned files back. Answers with `PinnedRestored`.
    RestorePinned {
        /// Where they are.
        paths: Vec<String>,
    },
    /// Check the commit out anew, in place of an earlier checkout. Answers with `CheckedOut`.
    CheckOut,
    /// Look at what waits to be committed. Answers with `ScmLooked`.
    LookAtPending,
    /// Execute a task of version control. Answers with `ScmEnded`.
    Scm(ScmSpec),
    /// Look at the marker files. Answers with `MarkersSeen`.
    LookAtMarkers,
    /// Do nothing for a while, or until a marker appears. Answers with `Woke`.
    Rest {
        /// How long.
        span: Millis,
    },
    /// Wait until no child run lives. Answers with `ChildrenSeen`.
    AwaitChildren {
        /// How long.
        span: Millis,
        /// What happens to those that still live then.
        then: Leftover,
    },
    /// Post messages, each once, and wait until they are safe. Answers with `Posted`.
    PostSafely(Vec<Post>),
    /// Do nothing until then. Answers with `Woke`.
    Wait {
        /// When to go on, by the wall clock: a reset is a point in time, even over a suspend.
        until: WallTime,
    },
    /// End the running activity by the stop ladder; its own answer still comes.
    EndActivity,
    /// Remove the DONE file: it was judged false.
    RemoveDone,
    /// Remove the file by which an agent asked to wait: somebody wants it to go on.
    RemoveWait,
    /// Post a message. Nothing depends on it.
    Post(Post),
    /// Write the readable views of memory.
    WriteViews(Box<Views>),
    /// Tell faces.
    Tell(Notice),
    /// The run has ended; nothing follows.
    Finish,
}

impl Effect {
    /// Whether this answers with an event.
    pub fn is_activity(&self) -> bool {
        match self {
            Effect::Gather { .. }
            | Effect::Launch(_)
            | Effect::LookAtTree
            | Effect::Check(_)
            | Effect::Pin { .. }
            | Effect::RestorePinned { .. }
            | Effect::CheckOut
            | Effect::LookAtPending
            | Effect::Scm(_)
            | Effect::LookAtMarkers
            | Effect::Rest { .. }
            | Effect::AwaitChildren { .. }
            | Effect::PostSafely(_)
            | Effect::Wait { .. } => true,
            Effect::EndActivity
            | Effect::RemoveDone
            | Effect::RemoveWait
            | Effect::Post(_)
            | Effect::WriteViews(_)
            | Effect::Tell(_)
            | Effect::Finish => false,
        }
    }

    /// Whether performing this could not be repeated harmlessly, so that the journal must hold what
    /// led to it first. Reading inputs, looking at the tree and writing views are repeatable.
    pub fn needs_the_journal(&self) -> bool {
        matches!(
            self,
            Effect::Launch(_)
                | Effect::Check(_)
                | Effect::RestorePinned { .. }
                | Effect::Scm(_)
                | Effect::Wait { .. }
                | Effect::Finish
                | Effect::RemoveDone
                | Effect::RemoveWait
                | Effect::Post(_)
                | Effect::PostSafely(_)
                | Effect::AwaitChildren { .. }
        )
    }
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
    /// Where to.
    pub bus: BusName,
    /// What makes it this message and no other: posted again with the same key, it is still one.
    pub key: String,
    /// Its type.
    pub kind: Kind,
    /// What it answers.
    pub parents: Vec<String>,
    /// What it says.
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

/// What an agent process is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To work on the task.
    Work,
    /// To be kept running until the task is done.
    Supervised,
    /// To say what the commit should be called.
    CommitMessage,
}

/// What an agent process is started with.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// Who is started.
    pub agent: AgentPolicy,
    /// What for.
    pub purpose: Purpose,
    /// The iteration.
    pub iteration: u32,
    /// Repeats of that number, from 1.
    pub attempt: u32,
    /// The exact prompt.
    pub prompt: String,
    /// How long it may run; zero for no limit.
    pub timeout: Millis,
    /// How long it may neither print nor compute; zero for no limit.
    pub idle: Millis,
    /// How long it may live after its final result.
    pub linger: Millis,
    /// Money left; zero for no limit.
    pub cost_left: f64,
    /// Tokens left; zero for no limit.
    pub tokens_left: u64,
}
