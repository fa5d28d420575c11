//! Whether a silent process does anything.
//!
//! A client that waits for ever for its provider still runs timers, collects garbage and looks after its telemetry,
//! which takes a few percent of a core; and a build that waits for its disk computes hardly more. So a silent tree of
//! processes works if, over the time for which it may be idle, it used a fair part of one core or moved data at a fair
//! rate; else it is idle. It is looked at again and again during a silence, so that the time in question is always the
//! last one, whenever the work ended.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::AddAssign;
use std::time::Duration;
use tokio::time::Instant;

/// Looks at a tree during the time for which it may be idle.
const LOOKS: u32 = 16;
/// The part of one core that is work: clients that only wait were measured at up to a twenty-fifth, whatever compiles or
/// tests takes most of a core even where it must share it.
const CORE_SHARE: u32 = 10;
/// Bytes a second that are work: clients that only wait move a sixth of it, the slowest disk moves more.
const BYTES_PER_SECOND: u64 = 64 << 10;
/// Computing time is told in ticks of the system clock, so that less than two of them may be none.
const LEAST: Duration = Duration::from_millis(20);

/// What a tree of processes has done since its beginning, those of it included that have ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Work {
    /// Computing time in milliseconds, of all cores together.
    pub(super) cpu_ms: u64,
    /// Bytes read and written, by calls and through memory.
    pub(super) bytes: u64,
}

impl Work {
    /// What was done since then. A process whose parent takes no note of its end leaves the count with all that it did:
    /// less than before is nothing new.
    fn since(self, before: Work) -> Work {
        Work { cpu_ms: self.cpu_ms.saturating_sub(before.cpu_ms), bytes: self.bytes.saturating_sub(before.bytes) }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, more: Work) {
        self.cpu_ms = self.cpu_ms.saturating_add(more.cpu_ms);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }
}

/// The looks at a process during one silence.
#[derive(Debug)]
pub(super) struct Silence {
    /// How long it may be idle; `None` for ever.
    limit: Option<Duration>,
    since: Instant,
    /// The looks, each with all that was done until then.
    looks: VecDeque<(Instant, Work)>,
    /// What the last look saw.
    last: Work,
    /// What was done from look to look, all together.
    done: Work,
    asked: bool,
}

impl Silence {
    /// A silence that begins now.
    pub(super) fn new(limit: Option<Duration>, now: Instant) -> Silence {
        let (last, done) = (Work::default(), Work::default());
        Silence { limit, since: now, looks: VecDeque::new(), last, done, asked: false }
    }

    /// Output came: another silence begins. An answer that is under way belongs to it as well as any.
    pub(super) fn broken(&mut self, now: Instant) {
        self.since = now;
        self.looks.clear();
    }

    /// Nobody could work for a time: it counts for nothing.
    pub(super) fn put_off(&mut self, by: Duration) {
        self.since += by;
        self.looks.iter_mut().for_each(|(at, _)| *at += by);
    }

    /// When to look next; `None` while the answer to a look is awaited.
    pub(super) fn next_look(&self) -> Option<Instant> {
        let limit = self.limit.filter(|_| !self.asked)?;
        Some(self.looks.back().map_or(self.since, |(at, _)| *at) + limit / LOOKS)
    }

    /// Somebody was asked to look.
    pub(super) fn looking(&mut self) {
        self.asked = true;
    }

    /// Takes what was seen, and says whether the process has been idle for as long as it may.
    pub(super) fn seen(&mut self, now: Instant, work: Work) -> bool {
        let Some(limit) = self.limit.filter(|_| std::mem::take(&mut self.asked)) else { return false };
        self.done += work.since(self.last);
        self.last = work;
        self.looks.push_back((now, self.done));
        let is_old = |look: Option<&(Instant, Work)>| look.is_some_and(|(at, _)| now.duration_since(*at) >= limit);
        // The newest of those that are old enough is the beginning of the time in question.
        while is_old(self.looks.get(1)) {
            self.looks.pop_front();
        }
        let Some((at, before)) = self.looks.front() else { return false };
        let time = now.duration_since(*at);
        // Answers that came late leave less time between them than can be judged.
        if now.duration_since(self.since) < limit || time < limit / 2 {
            return false;
        }
        let done = self.done.since(*before);
        let rate = u128::from(done.bytes) * 1000 / time.as_millis().max(1);
        Duration::from_millis(done.cpu_ms) < (time / CORE_SHARE).max(LEAST) && rate < BYTES_PER_SECOND.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(160);

    /// Looks at a process whose doings in each second are given, until it is idle or the time is over; gives the
    /// second of its end.
    fn idle_at(seconds: u64, does: impl Fn(u64) -> Work) -> Option<u64> {
        let began = Instant::now();
        let mut silence = Silence::new(Some(LIMIT), began);
        let mut done = Work::default();
        for second in 0..seconds {
            done += does(second);
            let now = began + Duration::from_secs(second + 1);
            if silence.next_look().is_some_and(|at| now >= at) {
                silence.looking();
                if silence.seen(now, done) {
                    return Some(second + 1);
                }
            }
        }
        None
    }

    fn cpu(ms: u64) -> Work {
        Work { cpu_ms: ms, bytes: 0 }
    }

    fn bytes(bytes: u64) -> Work {
        Work { cpu_ms: 0, bytes }
    }

    #[test]
    fn a_few_percent_of_a_core_are_idle_at_the_limit_however_they_are_spread() {
        for percent in 0..=5 {
            assert_eq!(idle_at(1000, |_| cpu(percent * 10)), Some(160), "{percent} % steadily");
            assert_eq!(idle_at(1000, |at| cpu(if at % 20 == 19 { percent * 200 } else { 0 })), Some(160), "in bursts");
        }
    }

    #[test]
    fn a_good_part_of_a_core_is_work_however_it_is_spread() {
        for percent in [15, 30, 50, 100, 800] {
            assert_eq!(idle_at(1000, |_| cpu(percent * 10)), None, "{percent} % steadily");
            assert_eq!(idle_at(1000, |at| cpu(if at % 50 == 49 { percent * 500 } else { 0 })), None, "in bursts");
        }
    }

    #[test]
    fn data_that_moves_is_work_and_a_log_is_not() {
        assert_eq!(idle_at(1000, |_| bytes(400 << 10)), None, "a disk that seeks");
        assert_eq!(idle_at(1000, |_| bytes(4 << 10)), Some(160), "a talkative log");
    }

    #[test]
    fn work_of_processes_that_leave_the_count_is_work() {
        let began = Instant::now();
        let mut silence = Silence::new(Some(LIMIT), began);
        // One after the other computes for a minute and is gone with its count.
        let idle = (1..100).any(|look| {
            silence.looking();
            let second = look * 10;
            silence.seen(began + Duration::from_secs(second), cpu(second % 60 * 1000))
        });
        assert!(!idle);
    }

    #[test]
    fn the_time_of_idleness_begins_when_the_work_ends() {
        for worked in [40, 160, 500] {
            let end = idle_at(2000, |at| cpu(if at < worked { 1000 } else { 0 })).unwrap();
            assert!((worked + 140..=worked + 180).contains(&end), "{worked}: {end}");
        }
    }

    #[test]
    fn output_begins_another_silence() {
        let began = Instant::now();
        let at = |second| began + Duration::from_secs(second);
        let mut silence = Silence::new(Some(LIMIT), began);
        let look = |silence: &mut Silence, second| {
            silence.looking();
            silence.seen(at(second), Work::default())
        };
        assert!((1..16).all(|step| !look(&mut silence, step * 10)));
        silence.broken(at(159));
        assert!((17..=31).all(|step| !look(&mut silence, step * 10)));
        assert!(look(&mut silence, 320));
    }

    #[test]
    fn a_time_in_which_nobody_could_work_counts_for_nothing() {
        let began = Instant::now();
        let mut silence = Silence::new(Some(LIMIT), began);
        silence.looking();
        assert!(!silence.seen(began + LIMIT / 16, Work::default()));
        silence.put_off(LIMIT * 3);
        silence.looking();
        assert!(!silence.seen(began + LIMIT * 3 + LIMIT / 8, Work::default()));
        silence.looking();
        assert!(silence.seen(began + LIMIT * 4, Work::default()));
    }

    #[test]
    fn without_a_limit_or_while_an_answer_is_awaited_nobody_looks() {
        let now = Instant::now();
        assert_eq!(Silence::new(None, now).next_look(), None);
        let mut silence = Silence::new(Some(LIMIT), now);
        assert_eq!(silence.next_look(), Some(now + LIMIT / 16));
        silence.looking();
        assert_eq!(silence.next_look(), None);
        silence.broken(now);
        assert_eq!(silence.next_look(), None, "the answer is still to come");
    }
}
