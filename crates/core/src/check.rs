//! Checks: what ralph itself executes, and the receipts that it keeps of them.

use crate::evidence::{self, Tally};
use crate::excerpt::Excerpt;
use crate::guardrail::{FailAction, OutputPart};
use crate::id::CheckId;
use crate::judges::Subject;
use crate::observation::{Ending, StartFault};
use crate::protect::PinnedChange;
use crate::text;
use crate::time::Millis;
use serde::{Deserialize, Serialize};

/// Which kind of check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// A command of the settings.
    Guardrail,
    /// A verify command of a plan.
    Verify,
    /// What the agent's tool events show.
    Evidence,
    /// Files that the agent must leave alone.
    Protected,
    /// Whether everything is committed.
    CleanTree,
}

impl CheckKind {
    /// The word as it stands in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            CheckKind::Guardrail => "guardrail",
            CheckKind::Verify => "verify",
            CheckKind::Evidence => "evidence",
            CheckKind::Protected => "protected",
            CheckKind::CleanTree => "clean-tree",
        }
    }
}

/// What people say about a check beyond its command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Terms {
    /// Globs of files that judge, beside those that are known anyway.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<String>,
    /// Globs of files that are the work, even if the check executes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub work: Vec<String>,
    /// What it changes in tracked files is carried over into the project, and the checks run again.
    pub writes: bool,
    /// Folders whose contents are carried back from the check's snapshot: coverage, reports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// Folders that only checks fill and that the next check finds as the last one left them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<String>,
    /// Agents see neither its command nor its output, only whether it passed, and its hint.
    pub hidden: bool,
}

impl Terms {
    /// The same for a check of which nothing is carried back.
    pub(crate) fn without_writing(&self) -> Terms {
        Terms { writes: false, keep: Vec::new(), ..self.clone() }
    }

    /// Whether nothing is said.
    pub(crate) fn are_none(&self) -> bool {
        *self == Terms::default()
    }
}

/// A command to execute as a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckSpec {
    /// What tells it from other checks.
    pub id: CheckId,
    pub source: CheckKind,
    /// What people call it; empty means: by its command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The shell command.
    pub command: String,
    /// How long it may run.
    pub timeout: Millis,
    /// The log's file name in `.ralph/`.
    pub log_name: String,
    pub ground: Ground,
    /// Whether a claim counts only if it passes; one that is not required is told, and judges nothing.
    pub required: bool,
    /// What its failure does to the next prompt.
    pub fail_action: FailAction,
    /// Guidance for the agent if it fails, never cut; empty means none.
    pub hint: String,
    /// Which part of its output the next prompt shows.
    pub output: OutputPart,
    /// Characters of its output in the next prompt.
    pub output_chars: usize,
    #[serde(default, skip_serializing_if = "Terms::are_none")]
    pub terms: Terms,
    /// What it does not find: new files that the commit does not hold, or that were made or changed during the run. By the
    /// path in the work tree; absolute beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// Whether those that a checkout of the commit holds otherwise stand in it as that holds them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub as_committed: bool,
    /// Runners that it calls and whose report says that tests ran, one for each call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runners: Vec<String>,
    /// Whether it is watched for what it uses beside the tree and was made or changed there during the run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub watched: bool,
}

impl CheckSpec {
    /// A command that must pass in the project, with nothing else to say about it.
    pub fn new(id: CheckId, command: impl Into<String>) -> CheckSpec {
        CheckSpec {
            log_name: format!("{id}.log"),
            id,
            source: CheckKind::Guardrail,
            name: String::new(),
            command: command.into(),
            timeout: Millis::ZERO,
            ground: Ground::Project,
            required: true,
            fail_action: FailAction::default(),
            hint: String::new(),
            output: OutputPart::default(),
            output_chars: 0,
            terms: Terms::default(),
            without: Vec::new(),
            as_committed: false,
            runners: Vec::new(),
            watched: false,
        }
    }

    /// What it does not find beside the tree.
    pub fn without_outside(&self) -> impl Iterator<Item = &String> {
        self.without.iter().filter(|path| path.starts_with('/'))
    }

    /// What it does not find in the tree.
    pub fn without_inside(&self) -> impl Iterator<Item = &String> {
        self.without.iter().filter(|path| !path.starts_with('/'))
    }

    /// What counts the tests that it runs, if it is there to run some.
    pub fn tally(&self) -> Option<Tally> {
        let counts = evidence::tally_of(&self.command);
        let counts = counts.or_else(|| (!self.runners.is_empty()).then(Tally::default));
        counts.map(|tally| tally.expecting(&self.runners))
    }

    /// As far as its judges depend on it.
    pub fn subject(&self) -> Subject {
        let Terms { judges, work, .. } = self.terms.clone();
        Subject { id: self.id.clone(), command: self.command.clone(), judges, work }
    }

    /// What it is called wherever it is shown.
    pub fn name(&self) -> &str {
        if self.name.is_empty() { &self.command } else { &self.name }
    }
}

/// Where a check runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// On a snapshot of the project.
    #[default]
    Project,
    /// In the project itself.
    Live,
    /// In a fresh checkout of the commit.
    Checkout,
}

/// How a check's command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum CheckEnding {
    /// With this code. 126 and 127 mean that the shell could not run it.
    Exited { code: i32 },
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// Its own time was up.
    TimedOut { limit: Millis },
    /// ralph ended it: a second interrupt, cancellation or the wall time.
    Stopped,
    /// It never ran.
    NotStarted {
        reason: String,
        #[serde(default)]
        fault: StartFault,
    },
}

/// How the process of a check ended is how the check ended.
impl From<Ending> for CheckEnding {
    fn from(ending: Ending) -> CheckEnding {
        match ending {
            Ending::Exited { code } => CheckEnding::Exited { code },
            Ending::Signalled { signal } => CheckEnding::Signalled { signal },
            Ending::TimedOut { limit } | Ending::Idle { limit } => CheckEnding::TimedOut { limit },
            Ending::NotStarted { reason, fault } => CheckEnding::NotStarted { reason, fault },
            Ending::KeeperLost => {
                let reason = "the process that watches over checks was killed".to_owned();
                CheckEnding::NotStarted { reason, fault: StartFault::Program }
            }
            Ending::Stopped | Ending::Lingered => CheckEnding::Stopped,
        }
    }
}

impl CheckEnding {
    /// Whether the command ended with success. Whether the check passed is for [`CheckReport::passed`] to say.
    pub fn succeeded(&self) -> bool {
        *self == CheckEnding::Exited { code: 0 }
    }

    /// The exit code, where there is one.
    pub fn code(&self) -> Option<i32> {
        match self {
            CheckEnding::Exited { code } => Some(*code),
            _ => None,
        }
    }

    /// Whether the command itself ran to its end, so that a failure speaks of the code under test.
    pub fn ran(&self) -> bool {
        matches!(self, CheckEnding::Exited { code } if *code != 126 && *code != 127)
    }

    /// `failed with exit code 2`, or why it could not run.
    pub fn failure(&self) -> String {
        match self {
            CheckEnding::Exited { code: 127 } => "could not run: command not found (exit code 127)".to_owned(),
            CheckEnding::Exited { code: 126 } => "could not run: not executable (exit code 126)".to_owned(),
            CheckEnding::Exited { code } => format!("failed with exit code {code}"),
            CheckEnding::Signalled { signal } => format!("was killed by signal {signal}"),
            CheckEnding::TimedOut { limit } => format!("timed out after {limit}"),
            CheckEnding::Stopped => "was stopped before it ended".to_owned(),
            CheckEnding::NotStarted { reason, .. } => format!("could not run: {reason}"),
        }
    }
}

/// The receipt of one executed check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    pub spec: CheckSpec,
    pub ending: CheckEnding,
    pub duration: Millis,
    /// The beginning of its output, for the next prompt.
    pub output_head: String,
    /// SHA-256 of its whole output.
    pub output_hash: String,
    /// Bytes of its whole output.
    pub output_bytes: u64,
    /// The lines of its output that tell most, if it did not pass.
    #[serde(default, skip_serializing_if = "Excerpt::is_empty")]
    pub excerpt: Excerpt,
    /// Equal for two failures of the same kind, whatever varies in their outputs; empty if it passed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output_print: String,
    /// The log's path, relative to the project.
    pub log: String,
    /// Processes that it left behind and that were ended.
    pub leaked: u32,
    /// Files of the project that were changed as it changed them in its snapshot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<String>,
    /// Why it ran on the live tree and not on a snapshot of its own, as the part of a sentence; empty if it did not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub live: String,
    /// Whether it is there to run tests, and its own output says that it ran none.
    #[serde(default, skip_serializing_if = "is_false")]
    pub empty: bool,
    /// What is pinned outside of its snapshot and was not as at the start when it had ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<PinnedChange>,
    /// What it used and was made or changed during the run: by an absolute path beside the tree, by one in the work tree
    /// what stands there before a module from elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// Why nobody knows that, although this machine can tell it; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unwatched: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl CheckReport {
    /// Whether it passed. Not having run is not passing, and neither is having run no test.
    pub fn passed(&self) -> bool {
        self.ending.succeeded() && !self.empty
    }

    /// Why it did not pass, as the end of a sentence: `failed with exit code 2`, `ran no test`.
    pub fn problem(&self) -> String {
        if self.ending.succeeded() { "ran no test".to_owned() } else { self.ending.failure() }
    }

    /// Whether it speaks for the work: it is required, and passed.
    pub fn supports(&self) -> bool {
        self.spec.required && self.passed()
    }

    /// Whether it speaks against the work: it is required, and did not pass.
    pub fn refutes(&self) -> bool {
        self.spec.required && !self.passed()
    }

    /// Of a check that printed nothing: it was not executed, or nobody was there when it ended.
    pub fn silent(spec: CheckSpec, ending: CheckEnding, log: String) -> CheckReport {
        CheckReport {
            spec,
            ending,
            duration: Millis::ZERO,
            output_head: String::new(),
            output_hash: text::hash(b""),
            output_bytes: 0,
            excerpt: Excerpt::default(),
            output_print: String::new(),
            log,
            leaked: 0,
            carried: Vec::new(),
            live: String::new(),
            empty: false,
            pinned: Vec::new(),
            outside: Vec::new(),
            unwatched: String::new(),
        }
    }
}

/// What the work tree looked like at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreePrint {
    /// Hash over every tracked and untracked file, with the commit that HEAD names.
    Seen {
        /// SHA-256 over paths, kinds, modes and contents.
        tree: String,
        /// The commit, or empty before the first one.
        head: String,
    },
    /// It cannot be seen, and is not guessed.
    Unknown {
        /// Why, as the part of a sentence.
        why: String,
        #[serde(default)]
        cause: Blindness,
    },
}

/// Why a tree cannot be seen. Neither is held against the agent: what an agent does to a repository is told
/// among the changes of pinned files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blindness {
    #[default]
    NoRepository,
    /// The machine failed: git was killed or not found, the disk did not answer, time was up.
    Fault,
}

impl TreePrint {
    /// A look that failed through no fault of the agent.
    pub fn fault(why: impl Into<String>) -> TreePrint {
        TreePrint::Unknown { why: why.into(), cause: Blindness::Fault }
    }

    /// The tree's hash, if it could be seen.
    pub fn hash(&self) -> Option<&str> {
        match self {
            TreePrint::Seen { tree, .. } => Some(tree),
            TreePrint::Unknown { .. } => None,
        }
    }

    /// Why the look failed, if the machine made it fail.
    pub fn fault_in_words(&self) -> Option<&str> {
        match self {
            TreePrint::Unknown { why, cause: Blindness::Fault } => Some(why),
            _ => None,
        }
    }

    /// Whether the tree that was checked is no longer this one. A tree that cannot be seen is accepted as it was
    /// checked, unseen; a repository that appears or vanishes between two looks is another one. A look that the
    /// machine made fail says nothing either way.
    pub fn differs_from_checked(&self, checked: &TreePrint) -> bool {
        let unseen = matches!((self, checked), (TreePrint::Unknown { .. }, TreePrint::Unknown { .. }));
        let failed = [self, checked].iter().any(|print| print.fault_in_words().is_some());
        !unseen && !failed && self != checked
    }

    /// Whether both are known and equal.
    pub fn surely_equals(&self, other: &TreePrint) -> bool {
        matches!(self, TreePrint::Seen { .. }) && self == other
    }

    /// Whether both are known and differ.
    pub fn surely_differs(&self, other: &TreePrint) -> bool {
        matches!((self, other), (TreePrint::Seen { .. }, TreePrint::Seen { .. })) && self != other
    }
}
