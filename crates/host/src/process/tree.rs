//! Everything below a process, however it got there.

use super::spared::Spared;
use super::work::Work;
use ralph_core::observation::Leaked;
use ralph_core::text;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::collections::{HashMap, HashSet};
#[cfg(target_os = "linux")]
use std::io::Read as _;
use std::time::{Duration, Instant};

/// How many leftover processes are named; the count is always exact.
const NAMED: usize = 10;

/// Orphans below this process become its children.
pub(super) fn become_subreaper() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// A line of the process table.
struct Stat {
    parent: i32,
    /// It has ended and waits for its parent to take note: it cannot be signalled, but what it did counts.
    ended: bool,
    cpu_ms: u64,
    /// …and what those of its children did that have ended.
    children_cpu_ms: u64,
}

/// A tick of the system clock, on every system that ralph runs on.
#[cfg(target_os = "linux")]
const TICK_MS: u64 = 10;

/// The process table: all processes, each with its parent and computing time.
pub(super) struct Table(HashMap<i32, Stat>);

impl Table {
    #[cfg(target_os = "linux")]
    pub(super) fn read() -> Table {
        let Ok(folder) = std::fs::read_dir("/proc") else { return Table(HashMap::new()) };
        let pids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        Table(pids.filter_map(|pid| Some((pid, Stat::of(pid)?))).collect())
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn read() -> Table {
        Table(HashMap::new())
    }

    /// All living processes below this one.
    pub(super) fn below_self(&self) -> Vec<i32> {
        self.below(&[own_pid()])
    }

    /// All living processes below these, without themselves.
    fn below(&self, roots: &[i32]) -> Vec<i32> {
        let mut below = self.all_below(roots);
        below.retain(|pid| self.0.get(pid).is_some_and(|stat| !stat.ended));
        below
    }

    /// All processes below these, without themselves.
    fn all_below(&self, roots: &[i32]) -> Vec<i32> {
        let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
        for (pid, stat) in &self.0 {
            children.entry(stat.parent).or_default().push(*pid);
        }
        let mut found = Vec::new();
        let mut seen: HashSet<i32> = roots.iter().copied().collect();
        let mut next = roots.to_vec();
        while let Some(pid) = next.pop() {
            for child in children.get(&pid).into_iter().flatten() {
                if seen.insert(*child) {
                    found.push(*child);
                    next.push(*child);
                }
            }
        }
        found
    }

    /// These processes and all that are below them.
    pub(super) fn with_below(&self, mut pids: Vec<i32>) -> HashSet<i32> {
        pids.extend(self.below(&pids));
        pids.into_iter().collect()
    }

    /// What everything below this process has done so far. What a process did is not lost with it: the system adds it to
    /// what its parent did as soon as the parent takes note of its end.
    pub(super) fn work_below_self(&self) -> Work {
        let own = own_pid();
        // Its own looks at the process table are no work, nor is what they read.
        let mut work = Work {
            cpu_ms: self.0.get(&own).map_or(0, |stat| stat.children_cpu_ms),
            bytes: moved(own, &["read_bytes", "write_bytes"]),
        };
        for pid in self.all_below(&[own]) {
            let cpu_ms = self.0.get(&pid).map_or(0, |stat| stat.cpu_ms + stat.children_cpu_ms);
            // By calls, whatever they read and wrote; and past them, as programs do that map their files.
            work += Work { cpu_ms, bytes: moved(pid, &["rchar", "wchar", "read_bytes"]) };
        }
        work
    }
}

impl Stat {
    #[cfg(not(target_os = "linux"))]
    fn of(_pid: i32) -> Option<Stat> {
        None
    }

    #[cfg(target_os = "linux")]
    fn of(pid: i32) -> Option<Stat> {
        // A line of a few hundred bytes, read at once: there may be thousands of processes.
        let mut buffer = [0; 1024];
        let read = std::fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut buffer).ok()?;
        let stat = String::from_utf8_lossy(buffer.get(..read)?);
        // The name stands in parentheses and may itself hold any character; fields follow the last one.
        let fields: Vec<&str> = stat.get(stat.rfind(')')? + 2..)?.split(' ').collect();
        let number = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok());
        Some(Stat {
            parent: i32::try_from(number(1)?).ok()?,
            ended: *fields.first()? == "Z",
            cpu_ms: (number(11)? + number(12)?) * TICK_MS,
            children_cpu_ms: (number(13)? + number(14)?) * TICK_MS,
        })
    }

    /// The line of a process that has not ended.
    fn of_living(pid: i32) -> Option<Stat> {
        Stat::of(pid).filter(|stat| !stat.ended)
    }
}

/// How many bytes a process and those of its children that have ended have moved, by these counts of the system. None
/// where it does not let us know.
fn moved(pid: i32, counts: &[&str]) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let counted = text.lines().filter_map(|line| line.split_once(": ")).filter(|(name, _)| counts.contains(name));
    counted.filter_map(|(_, number)| number.parse::<u64>().ok()).fold(0, u64::saturating_add)
}

/// Who started a process, or took it in.
#[cfg(target_os = "linux")]
pub(crate) fn parent_of(pid: i32) -> Option<i32> {
    Stat::of_living(pid).map(|stat| stat.parent)
}

/// Whether this process is the parent of that one.
pub(super) fn is_own_child(pid: i32) -> bool {
    Stat::of_living(pid).is_some_and(|stat| stat.parent == own_pid())
}

fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

/// Sends a signal; a process that is gone already needs none.
pub(crate) fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid).filter(|_| pid > 1) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Names processes for a report, before they are gone.
pub(super) fn name(pids: &[i32]) -> Vec<Leaked> {
    pids.iter().take(NAMED).map(|&pid| Leaked { pid, command: command_line(pid) }).collect()
}

/// Whether a process is a keeper by its own words.
pub(crate) fn is_keeper(pid: i32) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).nth(1) == Some(super::KEEPER_ARGUMENT.as_bytes())
}

fn command_line(pid: i32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&bytes).trim_end_matches('\0').replace('\0', " ");
    let words = text::without_controls(&words);
    if words.is_empty() { format!("process {pid}") } else { text::cut(&words, 120, "...") }
}

/// What became of the children so far.
pub(super) enum Reaped {
    /// This one ended.
    One(i32, WaitStatus),
    /// There are children, and all live.
    AllAlive,
    /// There is no child, and so no descendant.
    NoneLeft,
}

/// Reaps one child that has ended.
pub(super) fn reap() -> Reaped {
    match rustix::process::wait(WaitOptions::NOHANG) {
        Ok(Some((pid, status))) => Reaped::One(pid.as_raw_nonzero().get(), status),
        Ok(None) => Reaped::AllAlive,
        Err(_) => Reaped::NoneLeft,
    }
}

/// Ends everything below this process at once, but for child runs: the last resort of ralph itself
/// after its keeper was killed. Other children of ralph than orphans do not exist then.
pub(super) fn end_own_children(spared: &Spared, limit: Duration) {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        let table = Table::read();
        let spared = spared.among(&table);
        let victims: Vec<i32> = table.below_self().into_iter().filter(|pid| !spared.contains(pid)).collect();
        for pid in &victims {
            signal(*pid, Signal::KILL);
        }
        loop {
            match reap() {
                Reaped::One(..) => {}
                Reaped::NoneLeft => return,
                Reaped::AllAlive if victims.is_empty() && !spared.is_empty() => return,
                Reaped::AllAlive => break,
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a child to be looked at")]
    fn what_a_process_did_still_counts_when_it_is_gone() {
        let before = Table::read().work_below_self();
        // In a grandchild, which its parent waits for.
        let burn = "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; true";
        let status = std::process::Command::new("sh").args(["-c", burn]).status();
        assert!(status.unwrap().success());
        let after = Table::read().work_below_self();
        assert!(after.cpu_ms >= before.cpu_ms + 2 * TICK_MS, "{before:?} {after:?}");
    }
}
