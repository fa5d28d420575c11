//! The loop machine.
//!
//! A run is the fold of its entries: [`Run::step`] takes one and says what to do next. There is one
//! file per phase, which holds the transitions out of that phase, and one per group of state, which
//! alone touches the fields of that group. What differs by kind stands in `seams`. An event that does
//! not fit the phase changes nothing and is told, so no order of events can break a run.
//!
//! ```text
//! Opening ──► Prompting ──► Working ──► Inspecting ──► Opening (next iteration)
//!                ▲             │            │
//!                └── Waiting ◄─┘            └──► Closing ──► Ended   (an end can be resumed)
//! ```

mod asking;
mod brief;
mod closing;
mod committing;
mod count;
mod crew;
mod inspecting;
mod integrity;
mod kinds;
mod last;
mod leaning;
mod opening;
mod progress;
mod prompting;
mod protecting;
mod resuming;
mod row;
mod seams;
mod spend;
mod stopping;
mod waiting;
mod working;

pub use row::{PlanRow, RunRow};

use crate::activity::{Act, Activity};
use crate::check::CheckReport;
use crate::event::{Entry, Event, Gathered, Started};
use crate::history::History;
use crate::id::RunId;
use crate::inbox::Inbox;
use crate::machine::{Machine, Next, Outside, Step};
use crate::notice::{Notice, ResumeKind};
use crate::outcome::Outcome;
use crate::policy::Policy;
use crate::protect::Pins;
use crate::receipt::Receipt;
use crate::time::{Millis, WallTime};
use crate::words::Note;
use brief::Brief;
use closing::Closing;
use count::Count;
use crew::Crew;
use inspecting::Inspection;
use integrity::Integrity;
use kinds::KindState;
use last::Last;
use opening::Opening;
use serde::{Deserialize, Serialize};
use spend::Spend;
use std::sync::Arc;
use stopping::{StopCause, StopWish};

/// What follows from one entry of a run.
pub type RunStep = Step<Activity, Act, Notice, Outcome>;

/// A run, as its entries have made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    about: About,
    policy: Arc<Policy>,
    now: Now,
    phase: Phase,
    /// Whether somebody wants it to stop.
    wish: StopWish,
    count: Count,
    spend: Spend,
    crew: Crew,
    brief: Brief,
    integrity: Integrity,
    history: History,
    inbox: Inbox,
    kind: KindState,
    last: Last,
    /// The command of version control that failed last, as a sentence; nothing if the last one went well.
    scm_failure: Option<String>,
    /// The project is in no repository, so that a look at the tree would show pinned files at most.
    #[serde(default)]
    no_repository: bool,
    /// Nobody hears what follows from the entries, so that prompts and views are not composed.
    #[serde(skip)]
    unheard: bool,
}

/// What never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct About {
    id: RunId,
    parent: Option<RunId>,
    /// The project's folder, for hints.
    root: String,
    started_at: WallTime,
}

/// The last entry's place in the journal and in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Now {
    seq: u64,
    at: WallTime,
    elapsed: Millis,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Phase {
    /// Something is looked at before an iteration.
    Opening(Opening),
    /// The inputs of the next prompt are being read.
    Prompting,
    /// An agent process runs.
    Working,
    /// The agent is gone, and what it did is looked at.
    Inspecting(Box<Inspection>),
    /// Nothing is done for a while.
    Waiting(Pause),
    /// It is complete, and only formalities are left.
    Closing(Closing),
    /// It has ended, and could go on like this.
    Ended(Box<Outcome>, Continuation),
}

/// Why nothing is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Pause {
    /// The same iteration will be tried again, at this time.
    Until(WallTime),
    /// The pause between two iterations.
    Between,
}

/// How an ended run would go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Continuation {
    NextIteration,
    SameIteration,
    Inspection(Box<Inspection>),
    /// It is complete.
    Nothing,
}

/// Why a journal is not a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It has no entries.
    #[error("the journal is empty")]
    Empty,
    /// Its first entry does not begin a run.
    #[error("the journal does not begin with the start of a run")]
    NoStart,
}

impl Run {
    /// Begins a run with its first entry.
    pub fn begin(entry: &Entry) -> Result<(Run, RunStep), ReplayError> {
        let Event::Started(started) = &entry.event else { return Err(ReplayError::NoStart) };
        let mut run = Run::new(started, Now { seq: entry.seq, at: entry.at, elapsed: entry.elapsed });
        let step = Step::telling([run.announce(None)]).then(run.open());
        Ok((run, step))
    }

    fn new(started: &Started, now: Now) -> Run {
        let policy = Arc::new(started.policy.clone());
        Run {
            about: About {
                id: started.run.clone(),
                parent: started.parent.clone(),
                root: started.root.clone(),
                started_at: now.at,
            },
            now,
            phase: Phase::Prompting,
            wish: StopWish::None,
            count: Count::default(),
            spend: Spend::beside(started.task_spent),
            crew: Crew::default(),
            brief: Brief::of(&policy),
            integrity: Integrity::default(),
            history: History::default(),
            inbox: Inbox::default(),
            kind: KindState::of(&policy.kind),
            last: Last::default(),
            scm_failure: None,
            no_repository: started.no_repository,
            unheard: false,
            policy,
        }
    }

    /// Folds a whole journal, telling `each` what every entry led to.
    pub fn replay(entries: &[Entry], mut each: impl FnMut(&Entry, RunStep)) -> Result<Run, ReplayError> {
        let (first, rest) = entries.split_first().ok_or(ReplayError::Empty)?;
        let (mut run, step) = Run::begin(first)?;
        each(first, step);
        for entry in rest {
            let step = run.step(entry);
            each(entry, step);
        }
        Ok(run)
    }

    /// Folds a journal, or what comes behind a run that was folded before, for the run alone.
    pub fn fold(before: Option<Run>, entries: &[Entry]) -> Result<Run, ReplayError> {
        let (mut run, rest) = match (before, entries) {
            (Some(run), rest) => (run, rest),
            (None, [first, rest @ ..]) => (Run::begin(first)?.0, rest),
            (None, []) => return Err(ReplayError::Empty),
        };
        run.unheard = true;
        rest.iter().for_each(|entry| drop(run.step(entry)));
        run.unheard = false;
        Ok(run)
    }

    /// The first prompt of a run that would begin so, without looking at anything else; `None` if its limits
    /// leave no iteration.
    pub fn first_prompt(started: &Started, at: WallTime, gathered: &Gathered) -> Option<String> {
        let mut run = Run::new(started, Now { seq: 1, at, elapsed: Millis::ZERO });
        run.count.begin_next();
        if run.cap_reached(run.count.iteration()).is_some() {
            return None;
        }
        run.brief.gather(&run.policy, gathered, true);
        Some(run.prompt())
    }

    /// Takes one entry and says what to do next.
    pub fn step(&mut self, entry: &Entry) -> RunStep {
        self.now = Now { seq: entry.seq, at: entry.at, elapsed: self.now.elapsed.max(entry.elapsed) };
        let (phase, iteration) = (self.phase.name(), self.count.iteration());
        let Some(mut step) = self.on_event(&entry.event) else {
            return Run::note(Note::Unexpected { event: entry.event.name().to_owned(), phase: phase.to_owned() });
        };
        if let Event::TreeSeen { print, .. } = &entry.event {
            self.last.see_tree(print);
        }
        step.receipts.extend(Receipt::of(entry, iteration, self.last.tree()));
        step
    }

    /// What follows from an event; `None` if it does not fit the phase.
    fn on_event(&mut self, event: &Event) -> Option<RunStep> {
        match event {
            Event::Started(_) => None,
            Event::Resumed(resumed) => self.on_resumed(resumed),
            Event::Gathered(gathered) => self.on_gathered(gathered),
            Event::AgentEnded(seen) => self.on_agent_ended(seen),
            Event::TreeSeen { print, changed, stirred, pinned } => {
                self.on_tree_seen(print, (changed.as_deref(), stirred), pinned)
            }
            Event::Learned { known, live } => self.on_learned(known, live),
            Event::Pinned { pins, untrusted } => self.on_pinned(pins, untrusted),
            Event::PinnedRestored { problems } => self.on_pinned_restored(problems),
            Event::CheckedOut { commit, fault, uncommitted, pinned } => {
                self.on_checked_out((commit, *fault), uncommitted, pinned)
            }
            Event::CheckEnded(report) => self.on_check_ended(report),
            Event::ScmLooked { pending } => self.on_scm_looked(*pending),
            Event::MadeSeen { made, problem, tests } => self.on_made_seen(made, problem, tests),
            Event::LeftOutSeen { paths, problem } => self.on_left_out_seen(paths, problem),
            Event::ScmEnded(report) => self.on_scm_ended(report),
            Event::MarkersSeen { markers, problem } => self.on_markers_seen(markers, problem.as_deref()),
            Event::Heard { messages } => Some(self.on_heard(messages)),
            Event::ChildrenSeen { left, ended } => self.on_children_seen(left, ended),
            Event::Posted { problem } => self.on_posted(problem.as_deref()),
            Event::TestsCompared { changed } => self.on_tests_compared(changed),
            Event::PlanSeen(seen) => self.on_plan_seen(seen),
            Event::PlanPutBack(done) => self.on_plan_put_back(done),
            Event::BranchSwitched { problem } => self.on_branch_switched(problem.as_deref()),
            Event::Woke => self.on_woke(),
            Event::Interrupted => self.on_stop(StopCause::Interrupted),
            Event::Cancelled => self.on_stop(StopCause::Cancelled),
            Event::CancelledUncarried => self.on_cancelled_uncarried(),
            Event::WallTimeUp => self.on_stop(StopCause::WallTime),
            Event::BudgetUp => self.on_stop(StopCause::Budget),
            Event::SettingsEdited { file } => Some(self.on_settings_edited(file)),
            Event::Noted { note } => Some(Run::note(note.clone())),
        }
    }

    /// The run's id.
    pub fn id(&self) -> &RunId {
        &self.about.id
    }

    /// The run inside which it was started.
    pub fn parent(&self) -> Option<&RunId> {
        self.about.parent.as_ref()
    }

    /// The run's rules, with limits as raised since.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// The number of the last entry.
    pub fn seq(&self) -> u64 {
        self.now.seq
    }

    /// Time that the run has been worked on.
    pub fn elapsed(&self) -> Millis {
        self.now.elapsed
    }

    /// The current iteration.
    pub fn iteration(&self) -> u32 {
        self.count.iteration()
    }

    /// How the run ended, if it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.phase {
            Phase::Ended(outcome, _) => Some(outcome),
            _ => None,
        }
    }

    /// How the run ended, or will end as soon as its last look is over.
    pub fn decided(&self) -> Option<&Outcome> {
        match &self.phase {
            Phase::Ended(outcome, _) => Some(outcome),
            Phase::Closing(Closing::Tests(ending)) => Some(&ending.outcome),
            _ => None,
        }
    }

    /// Whether an ended run is complete, so that nothing is left to resume.
    pub fn is_complete(&self) -> bool {
        matches!(&self.phase, Phase::Ended(_, Continuation::Nothing))
    }

    /// What must be as it was at the start.
    pub fn pins(&self) -> Arc<Pins> {
        self.integrity.pins()
    }

    /// Whether it was looked at what must stay as it is.
    pub const fn is_pinned(&self) -> bool {
        self.integrity.is_pinned()
    }

    /// Wall time that is left; `None` if there is no such limit.
    pub fn wall_left(&self) -> Option<Millis> {
        let wall = self.policy.limits.wall;
        (!wall.is_off()).then(|| wall.minus(self.now.elapsed))
    }

    fn announce(&self, resumed: Option<ResumeKind>) -> Notice {
        Notice::RunStarted { run: self.about.id.clone(), policy: Arc::clone(&self.policy), resumed }
    }

    /// A line for people.
    fn note(note: Note) -> RunStep {
        Step::telling([Notice::Note(note)])
    }

    /// Tells how an executed check went; the last one that was told is the run's last check.
    fn tell_executed(&mut self, iteration: u32, report: &CheckReport) -> RunStep {
        self.last.tell_check(report.spec.name(), report.passed());
        Step::telling([Notice::executed(iteration, report)])
    }
}

impl Machine for Run {
    type Event = Event;
    type Activity = Activity;
    type Act = Act;
    type Notice = Notice;
    type Outcome = Outcome;
    type Row = RunRow;

    fn step(&mut self, entry: &Entry) -> RunStep {
        Run::step(self, entry)
    }

    fn row(&self) -> RunRow {
        Run::row(self)
    }

    fn seq(&self) -> u64 {
        self.now.seq
    }

    fn elapsed(&self) -> Millis {
        self.now.elapsed
    }

    fn outside(&self, what: Outside) -> Option<Event> {
        Some(match what {
            Outside::Interrupt => Event::Interrupted,
            Outside::Cancel => Event::Cancelled,
            Outside::TimeUp => Event::WallTimeUp,
        })
    }

    fn time_left(&self) -> Option<Millis> {
        // Once somebody wants it to stop at once, or the end is decided, time has nothing to add.
        self.wall_left().filter(|_| !matches!(self.wish, StopWish::Now(_)) && self.decided().is_none())
    }

    fn can_repeat(activity: &Activity) -> bool {
        activity.can_repeat()
    }

    fn can_repeat_act(act: &Act) -> bool {
        matches!(
            act,
            Act::WriteViews(_)
                | Act::RememberPinned(_)
                | Act::WriteActive(_)
                | Act::RemoveActive
                | Act::WriteHookSnapshot(_)
        )
    }
}

impl Phase {
    const fn name(&self) -> &'static str {
        match self {
            Phase::Opening(_) => "opening",
            Phase::Prompting => "prompting",
            Phase::Working => "working",
            Phase::Inspecting(_) => "inspecting",
            Phase::Waiting(_) => "waiting",
            Phase::Closing(_) => "closing",
            Phase::Ended(..) => "ended",
        }
    }
}

/// Whether this step is the end, or nothing but the last look stands before it.
fn ends(step: &RunStep) -> bool {
    matches!(step.next, Next::Finished(_) | Next::Start(Activity::CompareTests { .. }))
}
