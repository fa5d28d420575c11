//! The carrier by itself: a machine that does as it is told, hands that follow a script, and time that stands
//! still until everybody waits for it.

use super::*;
use crate::journal::{Batch, Extent};
use ralph_core::check::{CheckEnding, CheckReport, CheckSpec};
use ralph_core::event::Event;
use ralph_core::id::CheckId;
use ralph_core::receipt::Receipt;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// What each event asks of the machine.
#[derive(Debug, Clone, PartialEq)]
struct Ask {
    name: &'static str,
    step: Step<Work, &'static str, &'static str, u32>,
}

#[derive(Debug, Clone, PartialEq)]
struct Work {
    name: &'static str,
    repeatable: bool,
}

fn ask(name: &'static str) -> Ask {
    Ask { name, step: Step::default() }
}

impl Ask {
    fn next(mut self, next: Next<Work, u32>) -> Ask {
        self.step.next = next;
        self
    }
    fn starts(self, name: &'static str) -> Ask {
        self.next(Next::Start(Work { name, repeatable: false }))
    }
    fn looks(self, name: &'static str) -> Ask {
        self.next(Next::Start(Work { name, repeatable: true }))
    }
    fn acts(mut self, act: &'static str) -> Ask {
        self.step.acts.push(act);
        self
    }
    fn tells(mut self, notice: &'static str) -> Ask {
        self.step.tell.push(notice);
        self
    }
    fn proves(mut self, command: &str) -> Ask {
        let spec = CheckSpec::new(CheckId::new("check"), command);
        let report = CheckReport::silent(spec, CheckEnding::Exited { code: 0 }, String::new());
        let event = Event::CheckEnded(Box::new(report));
        let ended = Entry { seq: 1, at: WallTime(0), elapsed: Millis::ZERO, event };
        self.step.receipts.extend(Receipt::of(&ended, 1, None));
        self
    }
    fn durable(mut self) -> Ask {
        self.step.durable = true;
        self
    }
}

/// Does what the event itself says.
#[derive(Debug, Default)]
struct Puppet {
    seq: u64,
    elapsed: Millis,
    limit: Option<Millis>,
    on_interrupt: Option<Ask>,
    on_cancel: Option<Ask>,
    on_time: Option<Ask>,
    stopping: bool,
}

impl Machine for Puppet {
    type Event = Ask;
    type Activity = Work;
    type Act = &'static str;
    type Notice = &'static str;
    type Outcome = u32;
    type Row = ();

    fn step(&mut self, entry: &Entry<Ask>) -> StepOf<Puppet> {
        assert_eq!(entry.seq, self.seq + 1, "entries are numbered without gaps");
        assert!(entry.elapsed >= self.elapsed, "time does not run backwards");
        (self.seq, self.elapsed) = (entry.seq, entry.elapsed);
        self.stopping |= entry.event.step.next == Next::EndRunning;
        entry.event.step.clone()
    }
    fn row(&self) {}
    fn seq(&self) -> u64 {
        self.seq
    }
    fn elapsed(&self) -> Millis {
        self.elapsed
    }
    fn outside(&self, what: Outside) -> Option<Ask> {
        match what {
            Outside::Interrupt => self.on_interrupt.clone(),
            Outside::Cancel => self.on_cancel.clone(),
            Outside::TimeUp => self.on_time.clone(),
        }
    }
    fn time_left(&self) -> Option<Millis> {
        self.limit.map(|limit| limit.minus(self.elapsed)).filter(|_| !self.stopping)
    }
    fn can_repeat(activity: &Work) -> bool {
        activity.repeatable
    }
    fn can_repeat_act(act: &&'static str) -> bool {
        *act == "harmless"
    }
}

/// Everything that happened, in order.
#[derive(Debug, Clone, Default)]
struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    fn add(&self, line: impl Into<String>) {
        self.0.borrow_mut().push(line.into());
    }
    fn lines(&self) -> Vec<String> {
        self.0.borrow().clone()
    }
}

/// How an activity goes: how long it takes, what it raises on the way, what it answers.
struct Script {
    takes: Duration,
    alarms: Vec<Ask>,
    answer: Vec<Ask>,
}

fn answers(answer: impl IntoIterator<Item = Ask>) -> Script {
    Script { takes: Duration::from_secs(10), alarms: Vec::new(), answer: answer.into_iter().collect() }
}

struct Hand {
    log: Log,
    scripts: VecDeque<Script>,
}

impl Hands<Puppet> for Hand {
    async fn perform(&mut self, activity: Work, mut links: Links<Ask>) -> Vec<Ask> {
        let script = self.scripts.pop_front().unwrap();
        self.log.add(format!("start {}", activity.name));
        for alarm in script.alarms {
            links.alarm.send(alarm).unwrap();
        }
        let until = Instant::now() + script.takes;
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(until) => break,
                Some(order) = links.orders.recv() => {
                    self.log.add(format!("order {order:?}"));
                    if order == Order::End {
                        break;
                    }
                }
            }
        }
        self.log.add(format!("end {}", activity.name));
        script.answer
    }
    async fn act(&mut self, act: &'static str) {
        self.log.add(format!("act {act}"));
    }
    fn close(self) {
        self.log.add("close");
    }
}

struct Shelf {
    log: Log,
    cancel: bool,
    /// How often it is locked before it can be written to again.
    locked: u32,
}

impl Shelf {
    fn busy(&mut self) -> Result<(), StoreError> {
        if self.locked == 0 {
            return Ok(());
        }
        self.locked -= 1;
        Err(StoreError::Busy { path: "db".into() })
    }
}

impl Remembers<Puppet> for Shelf {
    fn append(&mut self, batch: Batch<'_, Puppet>) -> Result<(), StoreError> {
        self.busy()?;
        let Batch { entries, receipts, machine, extent, durability } = batch;
        let names = entries.iter().map(|entry| entry.event.name.to_owned());
        let proven = receipts.iter().map(|receipt| format!("+{}", receipt.command));
        let kept = (extent == Extent::Snapshot).then(|| format!("=machine {}", machine.seq));
        self.log.add(format!("{durability:?} {}", names.chain(proven).chain(kept).collect::<Vec<_>>().join(" ")));
        Ok(())
    }
    fn wants_cancel(&mut self, _: &Puppet) -> Result<bool, StoreError> {
        self.busy()?;
        Ok(self.cancel)
    }
    fn again<T>(&mut self, call: &mut dyn FnMut(&mut Shelf) -> Result<T, StoreError>) -> Result<T, StoreError> {
        call(self)
    }
}

/// Signals at their times; the clock is the runtime's own, which stands still.
struct Moments {
    begun: Instant,
    signs: VecDeque<(Duration, Sign)>,
    log: Log,
}

impl Senses for Moments {
    fn now(&self) -> WallTime {
        WallTime(i64::try_from(self.begun.elapsed().as_millis()).unwrap())
    }
    fn elapsed(&self) -> Millis {
        Millis(u64::try_from(self.begun.elapsed().as_millis()).unwrap())
    }
    async fn sign(&mut self) -> Sign {
        let Some((at, sign)) = self.signs.front().copied() else { return std::future::pending().await };
        tokio::time::sleep_until(self.begun + at).await;
        self.signs.pop_front();
        sign
    }
    fn suspend(&self) {
        self.log.add("suspended");
    }
}

struct Ear {
    log: Log,
    ticks: Cell<u32>,
}

impl Listener<&'static str> for Ear {
    fn notice(&self, at: WallTime, notice: &&'static str) {
        self.log.add(format!("{} {notice}", at.0 / 1000));
    }
    fn delayed(&self, _: WallTime, delay: Note) {
        self.log.add(format!("{delay:?}"));
    }
    fn tick_every(&self) -> Option<Duration> {
        Some(Duration::from_secs(1))
    }
    fn tick(&self) {
        self.ticks.set(self.ticks.get() + 1);
    }
    fn suspended(&self) {
        self.log.add("leaves the terminal");
    }
    fn continued(&self) {
        self.log.add("is back");
    }
}

/// A whole life of a machine.
#[derive(Default)]
struct Life {
    machine: Puppet,
    scripts: Vec<Script>,
    signs: Vec<(u64, Sign)>,
    cancel: bool,
    locked: u32,
    unseen: Millis,
}

impl Life {
    async fn live(self, first: Ask) -> (Vec<String>, Result<u32, EngineError>, u32) {
        let log = Log::default();
        let hands = Hand { log: log.clone(), scripts: self.scripts.into() };
        let store = Shelf { log: log.clone(), cancel: self.cancel, locked: self.locked };
        let signs = self.signs.into_iter().map(|(at, sign)| (Duration::from_secs(at), sign)).collect();
        let senses = Moments { begun: Instant::now(), signs, log: log.clone() };
        let ear = Ear { log: log.clone(), ticks: Cell::new(0) };
        let carrier = Carrier::resume(self.machine, self.unseen, (hands, store, senses), &ear);
        let end = carrier.carry_from(first).await;
        (log.lines(), end, ear.ticks.get())
    }
}

const END: Next<Work, u32> = Next::Finished(7);

#[tokio::test(start_paused = true)]
async fn what_cannot_be_repeated_waits_for_the_journal_and_what_can_does_not() {
    let life = Life {
        scripts: vec![
            answers([ask("seen").looks("again")]),
            answers([ask("seen again").starts("work")]),
            answers([ask("worked").acts("harmless").looks("more").durable()]),
            answers([ask("last").acts("post").next(END).durable()]),
        ],
        ..Life::default()
    };
    let (log, end, ticks) = life.live(ask("begin").looks("first")).await;
    let expected = [
        "start first", "end first", "start again", "end again", "Synced begin seen seen again", "start work",
        "end work", "act harmless", "start more", "end more", "Synced worked last", "act post", "close",
    ];
    assert_eq!(log, expected);
    assert!(matches!(end, Ok(7)), "{end:?}");
    assert_eq!(ticks, 36, "a face is woken every second of the forty, but for the last one of each activity");
}

#[tokio::test(start_paused = true)]
async fn the_machine_itself_is_kept_once_for_so_many_entries_and_first_where_a_long_journal_goes_on() {
    for (folded, kept) in [(0, vec![500, 1000]), (498, vec![500, 1000]), (499, vec![500, 1000]), (730, vec![731, 1231])]
    {
        let last = 1300 - folded;
        let scripts = (2..=last).map(|seq| {
            let answer = ask("worked");
            answers([if seq == last { answer.next(END) } else { answer.starts("work") }])
        });
        let machine = Puppet { seq: folded, ..Puppet::default() };
        let life = Life { machine, scripts: scripts.collect(), ..Life::default() };
        let (log, ..) = life.live(ask("begin").starts("work")).await;
        let found: Vec<u64> = log.iter().filter_map(|line| line.split_once("=machine ")?.1.parse().ok()).collect();
        assert_eq!(found, kept, "{folded} entries were folded");
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_entry_proves_is_kept_with_it_once() {
    let scripts = vec![
        answers([ask("checked").proves("test").looks("tree")]),
        answers([ask("seen").proves("lint").starts("work")]),
        answers([ask("worked").next(END)]),
    ];
    let life = Life { scripts, ..Life::default() };
    let (log, _, _) = life.live(ask("begin").starts("check")).await;
    let written: Vec<_> = log.iter().filter(|line| line.starts_with("Synced") || line.starts_with("Written")).collect();
    assert_eq!(written, ["Synced begin", "Written checked seen +test +lint", "Written worked"]);
}

#[tokio::test(start_paused = true)]
async fn an_order_to_end_reaches_what_runs_and_its_answer_still_counts() {
    let on_interrupt = Some(ask("interrupted").tells("stopping").acts("post").next(Next::EndRunning));
    let machine = Puppet { on_interrupt, ..Puppet::default() };
    let scripts = vec![answers([ask("note").tells("late"), ask("ended").next(END)])];
    let life = Life { machine, scripts, signs: vec![(3, Sign::Interrupt)], ..Life::default() };
    let (log, end, _) = life.live(ask("begin").starts("work")).await;
    let expected = [
        "Synced begin", "start work", "3 stopping", "order End", "end work", "Written interrupted note ended",
        "3 late", "act post", "close",
    ];
    assert_eq!(log, expected, "what was asked for meanwhile is done as soon as hands are free, and never lost");
    assert!(end.is_ok());
}

#[tokio::test(start_paused = true)]
async fn time_is_up_once_and_at_its_time() {
    let on_time = Some(ask("time").tells("time is up").next(Next::EndRunning));
    let machine = Puppet { limit: Some(Millis(4_000)), on_time, ..Puppet::default() };
    let life = Life { machine, scripts: vec![answers([ask("ended").next(END)])], ..Life::default() };
    let (log, ..) = life.live(ask("begin").starts("work")).await;
    assert_eq!(
        log,
        ["Synced begin", "start work", "4 time is up", "order End", "end work", "Written time ended", "close"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_end_under_an_activity_drops_it() {
    let on_cancel = Some(ask("cancelled").tells("over").next(END).durable());
    let machine = Puppet { on_cancel, ..Puppet::default() };
    let signs = vec![(1, Sign::Resized), (2, Sign::LookForRequests)];
    let life = Life { machine, scripts: vec![answers([])], signs, cancel: true, ..Life::default() };
    let (log, end, _) = life.live(ask("begin").starts("wait")).await;
    assert_eq!(log, ["Synced begin", "start wait", "Synced cancelled", "2 over", "close"]);
    assert!(end.is_ok());
}

#[tokio::test(start_paused = true)]
async fn what_is_started_instead_of_an_activity_drops_it_and_its_answer_counts() {
    let other = Work { name: "last look", repeatable: true };
    let on_interrupt = Some(ask("interrupted").tells("stopping").next(Next::Instead(other)));
    let machine = Puppet { on_interrupt, ..Puppet::default() };
    let scripts = vec![answers([ask("never").starts("other")]), answers([ask("looked").next(END)])];
    let life = Life { machine, scripts, signs: vec![(3, Sign::Interrupt)], ..Life::default() };
    let (log, end, _) = life.live(ask("begin").starts("wait")).await;
    let expected = [
        "Synced begin", "start wait", "3 stopping", "start last look", "end last look", "Written interrupted looked",
        "close",
    ];
    assert_eq!(log, expected);
    assert!(end.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_signal_without_a_request_changes_nothing() {
    let machine = Puppet { on_cancel: Some(ask("cancelled").next(END)), ..Puppet::default() };
    let scripts = vec![answers([ask("ended").next(Next::Finished(1))])];
    let life = Life { machine, scripts, signs: vec![(2, Sign::LookForRequests)], ..Life::default() };
    assert!(matches!(life.live(ask("begin").starts("work")).await.1, Ok(1)));
}

#[tokio::test(start_paused = true)]
async fn what_a_machine_may_not_ask_for_is_an_error_with_a_name() {
    let second = Script { alarms: vec![ask("alarm").starts("other")], ..answers([]) };
    let life = Life { scripts: vec![second], ..Life::default() };
    assert!(matches!(life.live(ask("begin").starts("work")).await.1, Err(EngineError::Second)));
    let two = answers([ask("one").starts("a"), ask("two").starts("b")]);
    let life = Life { scripts: vec![two], ..Life::default() };
    assert!(matches!(life.live(ask("begin").starts("work")).await.1, Err(EngineError::Second)));
    for answer in [vec![ask("nothing")], vec![ask("end what").next(Next::EndRunning)], vec![]] {
        let life = Life { scripts: vec![answers(answer)], ..Life::default() };
        assert!(matches!(life.live(ask("begin").starts("work")).await.1, Err(EngineError::Idle)));
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_begins_hears_at_once_that_the_database_is_locked() {
    let scripts = || vec![answers([ask("worked").starts("more")]), answers([ask("end").next(END)])];
    // Whoever begins has nothing to lose yet.
    let life = Life { scripts: scripts(), locked: 1, ..Life::default() };
    assert!(matches!(life.live(ask("begin").starts("work")).await.1, Err(EngineError::Store(StoreError::Busy { .. }))));

    let machine = Puppet { on_cancel: Some(ask("cancelled")), ..Puppet::default() };
    let signs = vec![(1, Sign::LookForRequests)];
    let life = Life { machine, scripts: scripts(), signs, locked: 0, cancel: true, ..Life::default() };
    let (log, end, _) = life.live(ask("begin").looks("work")).await;
    assert!(end.is_ok() && !log.iter().any(|line| line.contains("Database")), "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_database_that_is_locked_later_holds_up_the_run_until_it_is_free() {
    struct LockedLater(Shelf, u32);
    impl Remembers<Puppet> for LockedLater {
        fn append(&mut self, batch: Batch<'_, Puppet>) -> Result<(), StoreError> {
            let answer = self.0.append(batch);
            self.0.locked += std::mem::take(&mut self.1);
            answer
        }
        fn wants_cancel(&mut self, puppet: &Puppet) -> Result<bool, StoreError> {
            self.0.wants_cancel(puppet)
        }
        fn again<T>(&mut self, call: &mut dyn FnMut(&mut Self) -> Result<T, StoreError>) -> Result<T, StoreError> {
            call(self)
        }
    }
    let run = async |locked: u32, signs: Vec<(Duration, Sign)>| {
        let log = Log::default();
        let scripts = [answers([ask("worked").starts("more")]), answers([ask("end").next(END)])];
        let hands = Hand { log: log.clone(), scripts: scripts.into() };
        let store = LockedLater(Shelf { log: log.clone(), cancel: false, locked: 0 }, locked);
        let senses = Moments { begun: Instant::now(), signs: signs.into(), log: log.clone() };
        let ear = Ear { log: log.clone(), ticks: Cell::new(0) };
        let carrier = Carrier::resume(Puppet::default(), Millis::ZERO, (hands, store, senses), &ear);
        (carrier.carry_from(ask("begin").starts("work")).await, log.lines())
    };
    let (end, log) = run(50, Vec::new()).await;
    assert!(end.is_ok());
    let told: Vec<&String> = log.iter().filter(|line| line.starts_with("Database")).collect();
    assert_eq!(told, ["DatabaseLocked { path: \"db\" }", "DatabaseFree"]);
    let interrupt = (Duration::from_secs(11), Sign::Interrupt);
    let (end, _) = run(u32::MAX, vec![interrupt]).await;
    assert!(matches!(end, Err(EngineError::Store(StoreError::Busy { .. }))), "an interrupt ends the wait: {end:?}");
    let (end, _) = run(u32::MAX, Vec::new()).await;
    assert!(end.is_err(), "and nobody waits for ever");
}

#[tokio::test(start_paused = true)]
async fn a_suspended_run_freezes_what_it_runs_and_thaws_it() {
    let life =
        Life { scripts: vec![answers([ask("ended").next(END)])], signs: vec![(2, Sign::Suspend)], ..Life::default() };
    let (log, ..) = life.live(ask("begin").starts("work")).await;
    let expected = [
        "Synced begin", "start work", "order Freeze", "leaves the terminal", "suspended", "is back", "order Thaw",
        "end work", "Written ended", "close",
    ];
    assert_eq!(log, expected);
}

#[tokio::test(start_paused = true)]
async fn time_goes_on_where_the_journal_and_the_crash_left_it() {
    let machine = Puppet { seq: 4, elapsed: Millis(60_000), limit: Some(Millis(75_000)), ..Puppet::default() };
    let machine = Puppet { on_time: Some(ask("time").tells("up").next(END)), ..machine };
    let life = Life { machine, unseen: Millis(10_000), scripts: vec![answers([])], ..Life::default() };
    let (log, ..) = life.live(ask("resumed").starts("work")).await;
    assert_eq!(log, ["Synced resumed", "start work", "Written time", "5 up", "close"]);
}
