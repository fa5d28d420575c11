//! ralph carries.
//!
//! One event loop: an event gets its number and time, goes into the journal, then to core, and what
//! core wants done is done; the answer is the next event. Nothing here decides anything about tasks,
//! limits or verdicts.
//!
//! At most one *activity* runs at a time (reading inputs, an agent, a look at the tree, a check, a
//! wait). While it runs, signals, timers and requests still become events, because they enter by the
//! same `select!`.

mod activity;
mod agent;
mod buses;
mod children;
mod face;

pub use activity::World;
pub use buses::{BusNames, Buses};
pub use face::Face;

use activity::{Activity, Links, Rules};
use ralph_core::effect::Effect;
use ralph_core::event::{Entry, Event};
use ralph_core::id::RunId;
use ralph_core::notice::Notice;
use ralph_core::outcome::{Outcome, StopReason};
use ralph_core::receipt::{Receipt, receipts};
use ralph_core::request::Request;
use ralph_core::run::{ReplayError, Run, RunRow};
use ralph_core::time::Millis;
use ralph_host::clock::Clock;
use ralph_host::process::ProcessError;
use ralph_host::process::drive::Order;
use ralph_host::signals::{self, Sign, Signals};
use ralph_host::{footprint, marker};
use ralph_store::{Durability, Store, StoreError, Which};
use std::cell::RefCell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// What takes longer than this may take hours, and much of what led to it is not needed meanwhile.
const SETTLING: Duration = Duration::from_secs(1);

/// How long a run waits for a database that another process keeps locked. A write takes milliseconds, so whoever
/// holds it is stopped or copies it; an hour of work is worth more than ten minutes.
const LOCKED: Duration = Duration::from_secs(600);
/// How often it is tried again meanwhile.
const TRY_AGAIN: Duration = Duration::from_millis(200);

/// Why a run could not be carried on. Its journal is as it was after the last whole step.
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
}

/// Everything that a run is carried with.
pub struct Engine<'a> {
    /// The journal.
    pub store: Store,
    /// What activities act on.
    pub world: World,
    /// Who is told.
    pub face: &'a RefCell<dyn Face>,
    /// Signals to this process.
    pub signals: Signals,
}

impl Engine<'_> {
    /// Begins a run with its first event and carries it to its end.
    pub async fn begin(self, first: Event) -> Result<Outcome, EngineError> {
        let entry = Entry { seq: 1, at: self.world.clock.now(), elapsed: Millis::ZERO, event: first };
        let (machine, effects) = Run::begin(&entry)?;
        let carrier = Carrier::new(self, machine, vec![entry]);
        carrier.carry(effects).await
    }

    /// Goes on with a run that its journal has made. `unseen` is how long it worked beyond what its journal says.
    pub async fn resume(self, machine: Run, event: Event, unseen: Millis) -> Result<Outcome, EngineError> {
        let mut carrier = Carrier::new(self, machine, Vec::new());
        carrier.journal.elapsed_before = carrier.journal.elapsed_before.plus(unseen);
        let effects = carrier.take(event);
        carrier.carry(effects).await
    }
}

/// A run on its way.
struct Carrier<'a> {
    store: Store,
    world: World,
    face: &'a RefCell<dyn Face>,
    signals: Signals,
    journal: Journal,
}

/// The machine and the entries that are not yet in the store.
struct Journal {
    machine: Run,
    pending: Vec<Entry>,
    /// What proves the checks among them.
    receipts: Vec<Receipt>,
    /// The tree that was seen last; each check of a resumed run comes behind a new look.
    tree: Option<String>,
    /// An iteration or the run ended among them: they must survive a power cut.
    sync: bool,
    /// Time that the run had been worked on before this process.
    elapsed_before: Millis,
    /// Whether this process has written anything.
    has_begun: bool,
}

/// What a running activity is interrupted by.
enum Disturbance {
    Done(Vec<Event>),
    Sign(Sign),
    Alarm(Event),
    WallTimeUp,
    Tick,
    /// The activity takes its time.
    Settled,
}

impl<'a> Carrier<'a> {
    fn new(engine: Engine<'a>, machine: Run, pending: Vec<Entry>) -> Carrier<'a> {
        let elapsed_before = machine.elapsed();
        let Engine { store, world, face, signals } = engine;
        Carrier {
            store,
            world,
            face,
            signals,
            journal: Journal {
                machine,
                pending,
                receipts: Vec::new(),
                tree: None,
                sync: true,
                elapsed_before,
                has_begun: false,
            },
        }
    }

    async fn carry(mut self, effects: Vec<Effect>) -> Result<Outcome, EngineError> {
        let mut effects = effects;
        loop {
            let Some(activity) = self.perform(effects).await? else { break };
            effects = self.run_activity(activity).await?;
        }
        self.world.keeper.close();
        // Core ends a run only with an outcome, and without one there is always an activity.
        self.journal.machine.outcome().cloned().ok_or(EngineError::Replay(ReplayError::NoStart))
    }

    /// Turns an event into an entry and asks core. The entry is in the store before any of its
    /// effects that could not be repeated.
    fn take(&mut self, event: Event) -> Vec<Effect> {
        self.journal.take(event, &self.world.clock)
    }

    /// Performs effects; returns the activity among them, or `None` if the run has ended.
    async fn perform(&mut self, effects: Vec<Effect>) -> Result<Option<Activity>, EngineError> {
        let effects = effects.into_iter();
        let mut activity = None;
        if effects.as_slice().iter().any(Effect::needs_the_journal) {
            let Carrier { store, world, face, signals, journal } = self;
            // Whoever begins has nothing to lose yet, and hears at once that it cannot.
            let patience = if journal.has_begun { LOCKED } else { Duration::ZERO };
            let waiting = Waiting { face, signals, clock: &world.clock, patience };
            patiently(store, waiting, |store| journal.write(store)).await?;
        }
        for effect in effects {
            match effect {
                Effect::Tell(notice) => self.face.borrow_mut().notice(self.world.clock.now(), &notice),
                Effect::WriteViews(views) => self.world.write_views(&views),
                Effect::RemoveDone => self.world.remove_marker(marker::DONE),
                Effect::RemoveWait => self.world.remove_marker(marker::WAIT),
                Effect::Post(post) => self.world.post(&post),
                // Nothing runs while effects of a finished activity are performed.
                Effect::EndActivity => {}
                Effect::Finish => return Ok(None),
                asked => {
                    debug_assert!(asked.is_activity(), "nobody performs {asked:?}");
                    activity = Some(Activity(asked));
                }
            }
        }
        Ok(activity)
    }

    /// Runs one activity to its answer, taking signals and timers meanwhile.
    async fn run_activity(&mut self, activity: Activity) -> Result<Vec<Effect>, EngineError> {
        let (orders, mut orders_in) = mpsc::unbounded_channel();
        let (alarm, mut alarms) = mpsc::unbounded_channel();
        let Carrier { store, world, face, signals, journal } = self;
        let clock = world.clock.clone();
        let policy = journal.machine.policy().clone();
        let wall = journal.machine.wall_left().map(|left| Instant::now() + left.duration());
        let mut wall_told = false;
        let (settling, mut settled) = (Instant::now() + SETTLING, false);
        let pins = journal.machine.pins();
        let mut running = pin!(activity.run(
            world,
            Rules { policy: &policy, pins: &pins },
            Links { face, orders: &mut orders_in, alarm: &alarm }
        ));
        loop {
            let tick = face.borrow().tick_every();
            let disturbance = tokio::select! {
                biased;
                events = &mut running => Disturbance::Done(events),
                sign = signals.next() => Disturbance::Sign(sign),
                Some(event) = alarms.recv() => Disturbance::Alarm(event),
                () = at(wall), if !wall_told => Disturbance::WallTimeUp,
                () = after(tick) => Disturbance::Tick,
                () = at(Some(settling)), if !settled => Disturbance::Settled,
            };
            let event = match disturbance {
                Disturbance::Done(events) => {
                    let waiting = Waiting { face, signals, clock: &clock, patience: LOCKED };
                    return Ok(journal.take_all(events, store, waiting).await?);
                }
                Disturbance::Tick => {
                    face.borrow_mut().tick();
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
                    if let Some(events) = suspend(face, running.as_mut()).await {
                        let waiting = Waiting { face, signals, clock: &clock, patience: LOCKED };
                        return Ok(journal.take_all(events, store, waiting).await?);
                    }
                    let _ = orders.send(Order::Thaw);
                    continue;
                }
                Disturbance::Sign(Sign::LookForRequests) => {
                    let waiting = Waiting { face, signals, clock: &clock, patience: LOCKED };
                    let asked = patiently(store, waiting, |store| store.asked(journal.machine.id())).await?;
                    if !asked.iter().any(|asked| asked.request == Request::Cancel) {
                        continue;
                    }
                    Event::Cancelled
                }
                Disturbance::Sign(Sign::Interrupt) => Event::Interrupted,
                Disturbance::Alarm(event) => event,
                Disturbance::WallTimeUp => {
                    wall_told = true;
                    Event::WallTimeUp
                }
            };
            let mut effects = journal.take(event, &clock).into_iter();
            while let Some(effect) = effects.next() {
                match effect {
                    Effect::Tell(notice) => face.borrow_mut().notice(clock.now(), &notice),
                    // The receiver lives as long as the activity; a late order finds it gone.
                    Effect::EndActivity => drop(orders.send(Order::End)),
                    // The run ended under an activity that only waits or looks: it is dropped.
                    other => return Ok(std::iter::once(other).chain(effects).collect()),
                }
            }
        }
    }
}

impl Journal {
    fn take(&mut self, event: Event, clock: &Clock) -> Vec<Effect> {
        let elapsed = Millis(self.elapsed_before.0 + clock.elapsed().0);
        let entry = Entry { seq: self.machine.seq() + 1, at: clock.now(), elapsed, event };
        self.receipts.extend(receipts(std::slice::from_ref(&entry), self.machine.iteration(), &mut self.tree));
        let effects = self.machine.step(&entry);
        self.pending.push(entry);
        let durable = self.machine.policy().iterations_are_durable();
        self.sync |= effects.iter().any(|effect| match effect {
            Effect::Tell(Notice::IterationFinished { .. }) => durable,
            Effect::Tell(Notice::RunFinished { .. }) => true,
            _ => false,
        });
        effects
    }

    /// What became of the child runs that an activity saw, which only the store knows.
    fn children(&self, events: &[Event], store: &Store) -> Result<Children, StoreError> {
        let Some(Event::ChildrenSeen { left, .. }) = events.last() else { return Ok(Vec::new()) };
        let children = store.newest::<RunRow>(Which::ChildrenOf(self.machine.id()), usize::MAX)?;
        let ended = children.into_iter().flatten().filter(|row| !left.contains(&row.run));
        Ok(ended.map(|row| (row.run, row.stop_reason)).collect())
    }

    /// Takes an activity's answer with the notes before it.
    async fn take_all(
        &mut self,
        mut events: Vec<Event>,
        store: &mut Store,
        waiting: Waiting<'_>,
    ) -> Result<Vec<Effect>, StoreError> {
        let clock = waiting.clock;
        let children = patiently(store, waiting, |store| self.children(&events, store)).await?;
        if let Some(Event::ChildrenSeen { ended, .. }) = events.last_mut() {
            *ended = children;
        }
        Ok(events.into_iter().flat_map(|event| self.take(event, clock)).collect())
    }

    /// Writes what is pending, with the run's line, in one transaction.
    fn write(&mut self, store: &mut Store) -> Result<(), StoreError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let durability = if self.sync { Durability::Synced } else { Durability::Written };
        store.append(&self.pending, &self.machine.row(), &self.receipts, durability)?;
        self.pending.clear();
        self.receipts.clear();
        self.sync = false;
        self.has_begun = true;
        Ok(())
    }
}

/// Child runs that have ended, and why.
type Children = Vec<(RunId, Option<StopReason>)>;

/// Who is told that a run waits for its database, and who may end that.
struct Waiting<'w> {
    face: &'w RefCell<dyn Face>,
    signals: &'w mut Signals,
    clock: &'w Clock,
    patience: Duration,
}

/// Calls the store, and again for as long as another process keeps the database locked: what has run is not lost by
/// somebody's backup. An interrupt ends the wait.
async fn patiently<T>(
    store: &mut Store,
    waiting: Waiting<'_>,
    mut call: impl FnMut(&mut Store) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut answer = call(store);
    let patience = Instant::now() + waiting.patience;
    let mut told = false;
    while let Err(StoreError::Busy { path }) = &answer
        && Instant::now() < patience
    {
        let tell = |text: String| waiting.face.borrow_mut().notice(waiting.clock.now(), &Notice::Note { text });
        if !told {
            tell(format!("{} is locked by another process; waiting for it", path.display()));
            told = true;
        }
        let interrupted = tokio::select! {
            biased;
            sign = waiting.signals.next() => sign == Sign::Interrupt,
            () = tokio::time::sleep(TRY_AGAIN) => false,
        };
        if interrupted {
            break;
        }
        answer = store.again(&mut call);
        if !matches!(answer, Err(StoreError::Busy { .. })) {
            tell("the database is free again".to_owned());
        }
    }
    answer
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

async fn after(span: Option<Duration>) {
    match span {
        Some(span) => tokio::time::sleep(span).await,
        None => std::future::pending().await,
    }
}

/// Suspends this process as the terminal asked, after the activity had a moment to be frozen too.
/// Returns the activity's answer if it came just then.
async fn suspend(
    face: &RefCell<dyn Face>,
    mut running: Pin<&mut impl Future<Output = Vec<Event>>>,
) -> Option<Vec<Event>> {
    let moment = Duration::from_millis(20);
    let answer = tokio::time::timeout(moment, running.as_mut()).await.ok();
    if answer.is_none() {
        face.borrow_mut().suspended();
        signals::suspend_self();
        face.borrow_mut().continued();
    }
    answer
}
