//! Everything below a process, however it got there.

use ralph_core::observation::Leaked;
use ralph_core::text;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::collections::{HashMap, HashSet};
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
    ticks: u64,
}

/// The process table: pid to parent and computing time.
#[cfg(target_os = "linux")]
fn process_table() -> HashMap<i32, Stat> {
    let Ok(folder) = std::fs::read_dir("/proc") else { return HashMap::new() };
    let pids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name stands in parentheses and may itself hold any character; fields follow the last one.
        let fields: Vec<&str> = stat.get(stat.rfind(')')? + 2..)?.split(' ').collect();
        let state = *fields.first()?;
        let number = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok());
        // A zombie computes nothing and cannot be signalled; its parent reaps it.
        (state != "Z").then_some(())?;
        Some((
            pid,
            Stat {
                parent: i32::try_from(number(1)?).ok()?,
                ticks: number(11)? + number(12)? + number(13)? + number(14)?,
            },
        ))
    })
    .collect()
}

#[cfg(not(target_os = "linux"))]
fn process_table() -> HashMap<i32, Stat> {
    HashMap::new()
}

/// All living processes below this one.
pub(super) fn descendants() -> Vec<i32> {
    below(&process_table(), std::process::id().cast_signed())
}

fn below(table: &HashMap<i32, Stat>, root: i32) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for (pid, stat) in table {
        children.entry(stat.parent).or_default().push(*pid);
    }
    let mut found = Vec::new();
    let mut seen = HashSet::from([root]);
    let mut next = vec![root];
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

/// How much everything below this process has computed, in ticks of the system clock.
pub(super) fn computing_time() -> u64 {
    let table = process_table();
    let below = below(&table, std::process::id().cast_signed());
    below.iter().filter_map(|pid| table.get(pid)).map(|stat| stat.ticks).sum()
}

/// Sends a signal; a process that is gone already needs none.
pub(super) fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid).filter(|_| pid > 1) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Names processes for a report, before they are gone.
pub(super) fn name(pids: &[i32]) -> Vec<Leaked> {
    pids.iter().take(NAMED).map(|&pid| Leaked { pid, command: command_line(pid) }).collect()
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

/// Ends everything below this process at once: the last resort of ralph itself after its keeper was
/// killed. Other children of ralph than orphans do not exist then.
pub(super) fn end_own_children(limit: Duration) {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        for pid in descendants() {
            signal(pid, Signal::KILL);
        }
        loop {
            match reap() {
                Reaped::One(..) => {}
                Reaped::NoneLeft => return,
                Reaped::AllAlive => break,
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
