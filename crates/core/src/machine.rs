//! What every machine of ralph has in common: it is the fold of its entries, and it says what happens next.
//!
//! A machine has no clock, no files and no processes. [`Machine::step`] takes one entry and returns a [`Step`]:
//! what to tell, what to do at once, and what happens next. The types leave no second activity beside the first
//! and no end beside an activity.

use crate::event::Entry;
use crate::receipt::Receipt;
use crate::time::Millis;

/// A pure machine that an engine can carry.
pub trait Machine {
    /// What happens to it.
    type Event;
    /// What it asks for that takes time and answers with an event.
    type Activity;
    /// What it asks for that is done at once and answers nothing.
    type Act;
    /// What it tells.
    type Notice;
    /// How it ends.
    type Outcome;
    /// It at a glance.
    type Row;

    /// Takes one entry.
    fn step(&mut self, entry: &Entry<Self::Event>) -> StepOf<Self>;
    /// Where it stands, for lists.
    fn row(&self) -> Self::Row;
    /// The number of the last entry.
    fn seq(&self) -> u64;
    /// Time that was worked on it, as the last entry says.
    fn elapsed(&self) -> Millis;
    /// The event that this becomes for it; `None` if it is of no interest.
    fn outside(&self, what: Outside) -> Option<Self::Event>;
    /// How long something may run before time is up; `None` if there is no such limit.
    fn time_left(&self) -> Option<Millis>;
    /// Whether doing this twice does no harm, so that it need not wait for the journal.
    fn can_repeat(activity: &Self::Activity) -> bool;
    /// The same of what is done at once.
    fn can_repeat_act(act: &Self::Act) -> bool;
}

/// The step of a machine.
pub type StepOf<M> =
    Step<<M as Machine>::Activity, <M as Machine>::Act, <M as Machine>::Notice, <M as Machine>::Outcome>;

/// What comes from outside while something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// SIGINT or SIGTERM.
    Interrupt,
    /// A request to cancel it.
    Cancel,
    /// The time that [`Machine::time_left`] named is over.
    TimeUp,
}

/// What follows from one entry.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Step<Activity, Act, Notice, Outcome> {
    /// What faces are told, in this order.
    pub tell: Vec<Notice>,
    /// What is done at once, after telling.
    pub acts: Vec<Act>,
    pub next: Next<Activity, Outcome>,
    /// The entries up to here must survive a power cut once they are written.
    pub durable: bool,
    /// What the entry proves, to be kept beside it.
    pub receipts: Vec<Receipt>,
}

/// What happens next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next<Activity, Outcome> {
    /// Whatever runs goes on running.
    GoesOn,
    /// Nothing runs, and this is started. It answers with an event.
    Start(Activity),
    /// What runs is dropped, and this is started.
    Instead(Activity),
    /// What runs is ended by the stop ladder; its answer still comes.
    EndRunning,
    /// The end. Something that still runs is dropped.
    Finished(Outcome),
}

impl<A, C, N, O> Default for Step<A, C, N, O> {
    fn default() -> Self {
        Step { tell: Vec::new(), acts: Vec::new(), next: Next::GoesOn, durable: false, receipts: Vec::new() }
    }
}

impl<A, C, N, O> Step<A, C, N, O> {
    /// Only starts something.
    pub fn start(activity: A) -> Self {
        Step { next: Next::Start(activity), ..Step::default() }
    }

    /// Only tells something.
    pub fn telling(notices: impl IntoIterator<Item = N>) -> Self {
        Step { tell: notices.into_iter().collect(), ..Step::default() }
    }

    /// Only does something at once.
    pub fn acting(acts: impl IntoIterator<Item = C>) -> Self {
        Step { acts: acts.into_iter().collect(), ..Step::default() }
    }

    /// The same while something runs that nobody needs any more: what it starts is started instead.
    pub fn instead(mut self) -> Self {
        if let Next::Start(activity) = self.next {
            self.next = Next::Instead(activity);
        }
        self
    }

    /// This, and behind it what follows: the later step says what happens next.
    pub fn then(mut self, later: Self) -> Self {
        put_behind(&mut self.tell, later.tell);
        put_behind(&mut self.acts, later.acts);
        self.durable |= later.durable;
        put_behind(&mut self.receipts, later.receipts);
        if !matches!(later.next, Next::GoesOn) {
            self.next = later.next;
        }
        self
    }
}

/// Mostly there is nothing before it, and then nothing is copied.
fn put_behind<T>(first: &mut Vec<T>, later: Vec<T>) {
    if first.is_empty() {
        *first = later;
    } else {
        first.extend(later);
    }
}
