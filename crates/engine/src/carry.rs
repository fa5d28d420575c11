//! The carrier: one loop for every machine.
//!
//! At most one *activity* runs at a time. While it runs, signals, requests and timers still become events, because
//! they enter by the same `select!`, which only converts. What a machine may not ask for (a second activity beside
//! the first, nothing at all while nothing runs) ends in an error with a name, and never in silence.

use crate::journal::{Journal, Remembers};
use ralph_core::event::Entry;
use ralph_core::machine::{Machine, Next, Outside, Step, StepOf};
use ralph_core::run::ReplayError;
use ralph_core::time::{Millis, WallTime};
use ralph_core::words::Note;
use ralph_host::footprint;
use ralph_host::process::ProcessError;
use ralph_host::process::drive::Order;
use ralph_host::signals::Sign;
use ralph_store::StoreError;
use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

/// What takes longer than this may take hours, and much of what led to it is not needed meanwhile.
const SETTLING: Duration = Duration::from_secs(1);
/// How long to wait for a database that another process keeps locked. A write takes milliseconds, so whoever
/// holds it is stopped or copies it; an hour of work is worth more than ten minutes.
const LOCKED: Duration = Duration::from_secs(600);
/// How often it is tried again meanwhile.
const TRY_AGAIN: Duration = Duration::from_millis(200);
/// An activity that is about to be suspended has this long to be frozen first.
const FREEZING: Duration = Duration::from_millis(20);

/// Whoever performs what a machine wants done.
pub trait Hands<M: Machine> {
    /// Performs an activity. The last event is its answer; notes may stand before it. Dropping the future drops
    /// the activity.
    fn perform(&mut self, activity: M::Activity, links: Links<M::Event>) -> impl Future<Output = Vec<M::Event>>;
    /// Does something at once: whoever waits for it waits with a limit.
    fn act(&mut self, act: M::Act) -> impl Future<Output = ()>;
    /// The machine has come to its end.
    fn close(self);
}

/// What connects a running activity with the carrier.
pub struct Links<E> {
    /// Orders to the running process.
    pub orders: UnboundedReceiver<Order>,
    /// Events that cannot wait for the activity's end.
    pub alarm: UnboundedSender<E>,
}

/// The clock and the signals of this process.
pub trait Senses {
    /// The wall clock.
    fn now(&self) -> WallTime;
    /// Time since this process began to carry.
    fn elapsed(&self) -> Millis;
    /// The next signal.
    fn sign(&mut self) -> impl Future<Output = Sign>;
    /// Suspends this process as the terminal asked, and returns when it goes on.
    fn suspend(&self);
}

/// Somebody who is told what happens. Calls must not block: an agent waits for nobody's terminal.
pub trait Listener<N> {
    /// Something worth telling.
    fn notice(&self, at: WallTime, notice: &N);
    /// The carrier itself is held up, or no longer.
    fn delayed(&self, at: WallTime, delay: Note);
    /// How often to be woken to redraw; `None` means never.
    fn tick_every(&self) -> Option<Duration>;
    /// Time to redraw.
    fn tick(&self);
    /// The process is about to be suspended: leave the terminal as it was.
    fn suspended(&self);
    /// The process goes on.
    fn continued(&self);
}

/// Why a machine could not be carried on. Its journal is as it was after the last whole step.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The journal could not be written: nothing more may be done.
    #[error("the journal could not be written")]
    Store(#[from] StoreError),
    /// Processes cannot be started at all.
    #[error("processes cannot be started")]
    Process(#[from] ProcessError),
    /// The journal is not one of a run.
    #[error("the journal cannot be read back")]
    Replay(#[from] ReplayError),
    /// The machine waits for an answer, and nothing runs that could give one.
    #[error("a fault in ralph: nothing runs, and the machine asked for nothing")]
    Idle,
    /// The machine asked for something while something else runs.
    #[error("a fault in ralph: the machine asked for a second activity while one runs")]
    Second,
}

/// A machine on its way.
pub struct Carrier<'a, M: Machine, H, S, W> {
    journal: Journal<M>,
    hands: H,
    store: S,
    senses: W,
    listener: &'a dyn Listener<M::Notice>,
}

/// What ends or interrupts a running activity.
enum Disturbance<E> {
    Done(Vec<E>),
    Sign(Sign),
    Alarm(E),
    TimeUp,
    Tick,
    /// The activity takes its time.
    Settled,
}

impl<'a, M: Machine, H: Hands<M>, S: Remembers<M>, W: Senses> Carrier<'a, M, H, S, W> {
    /// A machine that has just begun, with its first entry and what follows from it.
    pub fn begin(machine: M, first: Entry<M::Event>, parts: (H, S, W), listener: &'a dyn Listener<M::Notice>) -> Self {
        let (hands, store, senses) = parts;
        Carrier { journal: Journal::new(machine, vec![first], Millis::ZERO), hands, store, senses, listener }
    }

    /// A machine that its journal has made. `unseen` is how long it was worked on beyond what its journal says.
    pub fn resume(machine: M, unseen: Millis, parts: (H, S, W), listener: &'a dyn Listener<M::Notice>) -> Self {
        let (hands, store, senses) = parts;
        Carrier { journal: Journal::new(machine, Vec::new(), unseen), hands, store, senses, listener }
    }

    /// Takes an event before anything runs, and carries on from there.
    pub async fn carry_from(mut self, event: M::Event) -> Result<M::Outcome, EngineError> {
        let step = self.take(event);
        self.carry(step).await
    }

    /// Carries the machine to its end.
    pub async fn carry(mut self, mut step: StepOf<M>) -> Result<M::Outcome, EngineError> {
        loop {
            match self.settle(step).await? {
                Next::Start(activity) | Next::Instead(activity) => step = self.run(activity).await?,
                Next::Finished(outcome) => {
                    self.hands.close();
                    return Ok(outcome);
                }
                Next::GoesOn | Next::EndRunning => return Err(EngineError::Idle),
            }
        }
    }

    fn take(&mut self, event: M::Event) -> StepOf<M> {
        self.journal.take(event, self.senses.now(), self.senses.elapsed())
    }

    fn tell(&self, notices: &[M::Notice]) {
        notices.iter().for_each(|notice| self.listener.notice(self.senses.now(), notice));
    }

    /// Does what a step wants done at once, with the journal written first where that could not be repeated.
    async fn settle(&mut self, step: StepOf<M>) -> Result<Next<M::Activity, M::Outcome>, EngineError> {
        let repeatable = step.acts.iter().all(M::can_repeat_act)
            && match &step.next {
                Next::Start(activity) | Next::Instead(activity) => M::can_repeat(activity),
                Next::Finished(_) => false,
                Next::GoesOn | Next::EndRunning => true,
            };
        if !repeatable {
            // Whoever begins has nothing to lose yet, and hears at once that it cannot.
            let patience = if self.journal.has_begun { LOCKED } else { Duration::ZERO };
            let Carrier { journal, store, senses, listener, .. } = self;
            patiently(store, senses, *listener, patience, |store| journal.write(store)).await?;
        }
        self.tell(&step.tell);
        for act in step.acts {
            self.hands.act(act).await;
        }
        Ok(step.next)
    }

    /// Runs one activity to its answer, taking signals and timers meanwhile.
    async fn run(&mut self, activity: M::Activity) -> Result<StepOf<M>, EngineError> {
        let (orders, orders_in) = unbounded_channel();
        let (alarm, mut alarms) = unbounded_channel();
        let Carrier { journal, hands, store, senses, listener } = self;
        let mut time_up = at_the_latest(&journal.machine);
        let (settling, mut settled) = (Instant::now() + SETTLING, false);
        // Hands are busy while the activity runs, so what is to be done at once is done as soon as they are free.
        let mut step: StepOf<M> = Step::default();
        let mut running = pin!(hands.perform(activity, Links { orders: orders_in, alarm }));
        loop {
            let disturbance = tokio::select! {
                biased;
                events = &mut running => Disturbance::Done(events),
                sign = senses.sign() => Disturbance::Sign(sign),
                Some(event) = alarms.recv() => Disturbance::Alarm(event),
                () = at(time_up) => Disturbance::TimeUp,
                () = after(listener.tick_every()) => Disturbance::Tick,
                () = at(Some(settling)), if !settled => Disturbance::Settled,
            };
            let event = match disturbance {
                Disturbance::Done(events) => return answered(journal, senses, step, events),
                Disturbance::Tick => {
                    listener.tick();
                    continue;
                }
                Disturbance::Settled => {
                    settled = true;
                    footprint::shrink();
                    continue;
                }
                Disturbance::Sign(Sign::Resized) => continue,
                Disturbance::Sign(Sign::Suspend) => {
                    let _ = orders.send(Order::Freeze);
                    if let Some(events) = suspend(senses, *listener, running.as_mut()).await {
                        return answered(journal, senses, step, events);
                    }
                    let _ = orders.send(Order::Thaw);
                    continue;
                }
                Disturbance::Sign(Sign::LookForRequests) => {
                    let machine = &journal.machine;
                    let wanted =
                        patiently(store, senses, *listener, LOCKED, |store| store.wants_cancel(machine)).await?;
                    machine.outside(Outside::Cancel).filter(|_| wanted)
                }
                Disturbance::Sign(Sign::Interrupt) => journal.machine.outside(Outside::Interrupt),
                Disturbance::Alarm(event) => Some(event),
                Disturbance::TimeUp => journal.machine.outside(Outside::TimeUp),
            };
            let Some(event) = event else { continue };
            let then = journal.take(event, senses.now(), senses.elapsed());
            time_up = at_the_latest(&journal.machine);
            match then.next {
                // The activity that still runs is dropped.
                Next::Finished(_) | Next::Instead(_) => return Ok(step.then(then)),
                Next::Start(_) => return Err(EngineError::Second),
                // The receiver lives as long as the activity; a late order finds it gone.
                Next::EndRunning => drop(orders.send(Order::End)),
                Next::GoesOn => {}
            }
            then.tell.iter().for_each(|notice| listener.notice(senses.now(), notice));
            step.acts.extend(then.acts);
        }
    }
}

/// Takes an activity's answer with the notes before it.
fn answered<M: Machine>(
    journal: &mut Journal<M>,
    senses: &impl Senses,
    mut step: StepOf<M>,
    events: Vec<M::Event>,
) -> Result<StepOf<M>, EngineError> {
    for event in events {
        let then = journal.take(event, senses.now(), senses.elapsed());
        if matches!((&step.next, &then.next), (Next::Start(_), Next::Start(_))) {
            return Err(EngineError::Second);
        }
        step = step.then(then);
        if matches!(step.next, Next::Finished(_)) {
            break;
        }
    }
    Ok(step)
}

/// When time is up for what begins now.
fn at_the_latest<M: Machine>(machine: &M) -> Option<Instant> {
    machine.time_left().map(|left| Instant::now() + left.duration())
}

/// Calls the store, and again for as long as another process keeps the database locked: what has run is not lost by
/// somebody's backup. An interrupt ends the wait.
async fn patiently<M: Machine, S: Remembers<M>, T>(
    store: &mut S,
    senses: &mut impl Senses,
    listener: &dyn Listener<M::Notice>,
    patience: Duration,
    mut call: impl FnMut(&mut S) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut answer = call(store);
    let patience = Instant::now() + patience;
    let mut told = false;
    while let Err(StoreError::Busy { path }) = &answer
        && Instant::now() < patience
    {
        if !std::mem::replace(&mut told, true) {
            listener.delayed(senses.now(), Note::DatabaseLocked { path: path.display().to_string() });
        }
        let interrupted = tokio::select! {
            biased;
            sign = senses.sign() => sign == Sign::Interrupt,
            () = tokio::time::sleep(TRY_AGAIN) => false,
        };
        if interrupted {
            break;
        }
        answer = store.again(&mut call);
        if !matches!(answer, Err(StoreError::Busy { .. })) {
            listener.delayed(senses.now(), Note::DatabaseFree);
        }
    }
    answer
}

pub(crate) async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

async fn after(span: Option<Duration>) {
    at(span.map(|span| Instant::now() + span)).await;
}

/// Suspends this process, after the activity had a moment to be frozen too. Returns the activity's answer if it came
/// just then.
async fn suspend<E, N>(
    senses: &impl Senses,
    listener: &dyn Listener<N>,
    running: Pin<&mut impl Future<Output = Vec<E>>>,
) -> Option<Vec<E>> {
    let answer = tokio::time::timeout(FREEZING, running).await.ok();
    if answer.is_none() {
        listener.suspended();
        senses.suspend();
        listener.continued();
    }
    answer
}

#[cfg(test)]
mod tests;
