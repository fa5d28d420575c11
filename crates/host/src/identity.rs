//! Who a process is, beyond its number.
//!
//! Numbers come back: after a reboot, or after enough other processes. A process is therefore named
//! by its number, the moment it started and the boot it started in, and all three must agree before
//! it counts as alive. Processes of a run are also found by the marker that ralph puts into their
//! environment, which survives double forks and new sessions; a signal goes only to a process that
//! was seen to carry the marker, through a handle that cannot change its owner in between, or that the
//! kernel itself names as a member of the run's control group.

use crate::clock::Clock;
use crate::process;
use ralph_core::id::RunId;
use ralph_core::time::Millis;
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// The variable that tells an agent, and what it starts, for which run it works.
pub const RUN_VARIABLE: &str = "RALPH_RUN_ID";
/// The variable by which every process that was started for a run is found again, checks and version control included.
pub const MARK_VARIABLE: &str = "RALPH_KEPT_FOR";

/// Time between asking a leftover process to end and ending it.
const GRACE: Millis = Millis(300);
/// How long a keeper may take to end when its ralph is gone and nothing is left to keep.
const KEEPER_LEAVES: Millis = Millis(200);
const POLL: Duration = Duration::from_millis(10);

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Identity {
    pub pid: i32,
    /// When it started, in the kernel's ticks since boot; 0 where the system does not tell.
    #[serde(default)]
    pub start: u64,
    /// The boot it started in; empty where the system does not tell.
    #[serde(default)]
    pub boot: String,
}

impl Identity {
    pub fn of_self() -> Identity {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        Identity::of(pid).unwrap_or(Identity { pid, start: 0, boot: boot_id() })
    }

    pub fn of(pid: i32) -> Option<Identity> {
        let start = os::start(pid)?;
        Some(Identity { pid, start, boot: boot_id() })
    }

    pub(crate) fn nobody() -> Identity {
        Identity::default()
    }

    /// Whether this very process still runs. One that ended and was not yet waited for does not.
    pub fn is_alive(&self) -> bool {
        self.boot == boot_id() && os::running_since(self.pid) == Some(self.start)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sweep {
    pub ended: Vec<i32>,
    pub left: Vec<i32>,
}

/// Ends every process of `run`, found by marker or control group, and what they start meanwhile: by SIGTERM, then
/// SIGKILL, until none is left or `limit` has passed. Spares child runs that registered in its folder, and everything
/// below them.
pub fn end_marked(run: &RunId, run_folder: &Path, limit: Duration) -> Sweep {
    let marker = marker(run);
    let clock = Clock::start();
    let limit = Millis::from(limit);
    let grace = GRACE.min(Millis(limit.0 / 2));
    let family = os::self_and_ancestors();
    let mut asked: Vec<i32> = Vec::new();
    loop {
        let mut left = os::marked(&marker);
        let mut members = process::in_groups_of(run);
        members.retain(|pid| !left.contains(pid) && !family.contains(pid));
        left.extend(&members);
        // A keeper whose ralph was killed ends by itself, after everything that it keeps.
        let leaving: Vec<i32> =
            left.extract_if(.., |pid| clock.elapsed() < KEEPER_LEAVES && process::is_keeper(*pid)).collect();
        if left.is_empty() && !leaving.is_empty() {
            std::thread::sleep(POLL);
            continue;
        }
        if !left.is_empty() {
            let spared = process::Spared::of_run(run_folder).pids();
            left.retain(|pid| !spared.contains(pid));
        }
        if left.is_empty() || clock.elapsed() > limit {
            asked.retain(|pid| !left.contains(pid));
            process::remove_empty_groups_of(run);
            return Sweep { ended: asked, left };
        }
        for &pid in &left {
            let new = !asked.contains(&pid);
            let send = |signal| match members.contains(&pid) {
                true => process::signal_process(pid, signal),
                false => os::signal(pid, &marker, signal),
            };
            if clock.elapsed() >= grace {
                send(Signal::KILL);
            } else if new {
                send(Signal::TERM);
                // A stopped process takes the first signal only when it goes on.
                send(Signal::CONT);
            }
            if new {
                asked.push(pid);
            }
        }
        std::thread::sleep(POLL);
    }
}

/// Whether this process was started by an agent or a check of a living run, however deep: why that is known, as the part
/// of a sentence. Whoever cleared the environment still has its ancestors, whoever hid those its control group, and the
/// locks of runs whose processes cannot be seen are held all the same.
pub fn is_below_a_run(locks_folder: &Path) -> Option<String> {
    let family = os::self_and_ancestors();
    let marked = |pid: &&i32| os::names(**pid, MARK_VARIABLE) || os::names(**pid, RUN_VARIABLE);
    if let Some(pid) = family.iter().find(marked) {
        return Some(format!("the environment of process {pid} names a run"));
    }
    if let Some(pid) = family.iter().find(|pid| process::is_keeper(**pid)) {
        return Some(format!("process {pid} above it keeps a run"));
    }
    if process::is_in_group_of_a_run() {
        return Some("it is in the control group of a run".to_owned());
    }
    crate::lock::held_by_nobody_here(locks_folder)
        .map(|lock| format!("{} is locked by a run that cannot be seen from here", lock.display()))
}

/// Whether a process was started for this run, by what stands in its environment.
pub(crate) fn carries_mark(pid: i32, run: &RunId) -> bool {
    os::carries(pid, &marker(run))
}

fn marker(run: &RunId) -> Vec<u8> {
    format!("{MARK_VARIABLE}={run}").into_bytes()
}

fn boot_id() -> String {
    static BOOT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    BOOT.get_or_init(os::boot).clone()
}

/// Linux tells everything in /proc.
#[cfg(target_os = "linux")]
mod os {
    use super::{Duration, Pid, Signal};
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    use std::io::Read as _;

    /// How often, and how far apart, the environment of a process is read that is changing its program.
    const EXEC_LOOKS: u32 = 50;
    /// How often an environment must be found empty before it is believed.
    const EMPTY_LOOKS: u32 = 10;
    const EXEC_POLL: Duration = Duration::from_millis(1);
    const USUAL_ENVIRONMENT: usize = 128 << 10;
    /// More than the kernel lets an environment be.
    const LARGEST_ENVIRONMENT: u64 = 8 << 20;

    pub(super) fn boot() -> String {
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
    }

    pub(super) fn start(pid: i32) -> Option<u64> {
        Some(Stat::of(pid)?.start)
    }

    pub(super) fn running_since(pid: i32) -> Option<u64> {
        Stat::of(pid).filter(|stat| !matches!(stat.state, 'Z' | 'X' | 'x')).map(|stat| stat.start)
    }

    /// The fields of /proc/PID/stat that matter here.
    #[derive(Debug, PartialEq, Eq)]
    pub(super) struct Stat {
        pub(super) state: char,
        pub(super) parent: i32,
        pub(super) start: u64,
    }

    impl Stat {
        fn of(pid: i32) -> Option<Stat> {
            Stat::parse(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
        }

        /// The second field is the program's name in parentheses; it may hold spaces, parentheses
        /// and any bytes, so that only the last `)` ends it. The third field follows.
        pub(super) fn parse(line: &[u8]) -> Option<Stat> {
            let name_end = memchr::memrchr(b')', line)?;
            let rest = std::str::from_utf8(line.get(name_end + 1..)?).ok()?;
            let mut fields = rest.split_ascii_whitespace();
            let state = fields.next()?.chars().next()?;
            let parent = fields.next()?.parse().ok()?;
            // Field 22 of all, and 4 are behind us.
            let start = fields.nth(17)?.parse().ok()?;
            Some(Stat { state, parent, start })
        }
    }

    pub(super) fn marked(marker: &[u8]) -> Vec<i32> {
        let family = self_and_ancestors();
        let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
        let pids = all.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        pids.filter(|pid| !family.contains(pid) && carries(*pid, marker)).collect()
    }

    /// Through a handle, so that the signal never reaches another process that got the pid meanwhile.
    pub(super) fn signal(pid: i32, marker: &[u8], signal: Signal) {
        let Some(known) = Pid::from_raw(pid) else { return };
        match pidfd_open(known, PidfdFlags::empty()) {
            Ok(handle) if carries(pid, marker) => _ = pidfd_send_signal(handle, signal),
            // Kernels before 5.3 and some sandboxes have no handles.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) if carries(pid, marker) => {
                _ = rustix::process::kill_process(known, signal);
            }
            _ => {}
        }
    }

    pub(super) fn carries(pid: i32, marker: &[u8]) -> bool {
        let mut empty = 0;
        for _ in 0..EXEC_LOOKS {
            let Ok(environ) = environ(pid) else { return false };
            if !environ.is_empty() {
                return holds_entry(&environ, marker);
            }
            match exec(pid) {
                Exec::Never => return false,
                Exec::OnItsWay => std::thread::sleep(EXEC_POLL),
                // It may have arrived after the environment was opened, which was that of its last program then.
                Exec::Over => empty += 1,
            }
            if empty == EMPTY_LOOKS {
                return false;
            }
        }
        false
    }

    /// What one call reads is of one program: the next call would find nothing, if the process changed it in between.
    fn environ(pid: i32) -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(format!("/proc/{pid}/environ"))?;
        let mut bytes = vec![0; USUAL_ENVIRONMENT];
        let length = file.read(&mut bytes)?;
        bytes.truncate(length);
        if length == USUAL_ENVIRONMENT {
            file.take(LARGEST_ENVIRONMENT).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }

    enum Exec {
        /// A thread of the kernel, or a process that ended: it has no memory.
        Never,
        OnItsWay,
        Over,
    }

    /// Whether a process is changing its program: it has memory by then, but no arguments yet.
    fn exec(pid: i32) -> Exec {
        let read = |name: &str| std::fs::read(format!("/proc/{pid}/{name}"));
        match (read("statm"), read("cmdline")) {
            (Ok(memory), _) if memory.starts_with(b"0 ") => Exec::Never,
            (Ok(_), Ok(arguments)) if arguments.is_empty() => Exec::OnItsWay,
            (Ok(_), Ok(_)) => Exec::Over,
            _ => Exec::Never,
        }
    }

    /// Whether a variable of this name is set for a process.
    pub(super) fn names(pid: i32, variable: &str) -> bool {
        let environ = environ(pid).unwrap_or_default();
        environ
            .split(|byte| *byte == 0)
            .any(|entry| entry.strip_prefix(variable.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'=')))
    }

    /// Whether one whole entry of an environment is `marker`; `X_RALPH_RUN_ID=a` is another one.
    pub(super) fn holds_entry(environ: &[u8], marker: &[u8]) -> bool {
        memchr::memmem::find_iter(environ, marker).any(|at| {
            let before = at.checked_sub(1).and_then(|before| environ.get(before));
            let after = environ.get(at + marker.len());
            before.is_none_or(|byte| *byte == 0) && after.is_none_or(|byte| *byte == 0)
        })
    }

    pub(super) fn self_and_ancestors() -> Vec<i32> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let parents = std::iter::successors(Some(own), |pid| Some(Stat::of(*pid)?.parent).filter(|parent| *parent > 0));
        // A chain is never this long; a number given away during the walk could make a ring.
        parents.take(1000).collect()
    }
}

/// Elsewhere only the number is known.
#[cfg(not(target_os = "linux"))]
mod os {
    use super::{Pid, Signal};

    pub(super) fn boot() -> String {
        String::new()
    }

    pub(super) fn start(pid: i32) -> Option<u64> {
        let answer = Pid::from_raw(pid).map(rustix::process::test_kill_process);
        matches!(answer, Some(Ok(()) | Err(rustix::io::Errno::PERM))).then_some(0)
    }

    pub(super) fn running_since(pid: i32) -> Option<u64> {
        start(pid)
    }

    pub(super) fn marked(_marker: &[u8]) -> Vec<i32> {
        Vec::new()
    }

    /// Only what this process itself was given is known.
    pub(super) fn names(_pid: i32, variable: &str) -> bool {
        std::env::var_os(variable).is_some()
    }

    /// Nobody tells.
    pub(super) fn carries(_pid: i32, _marker: &[u8]) -> bool {
        true
    }

    pub(super) fn signal(_pid: i32, _marker: &[u8], _signal: Signal) {}

    pub(super) fn self_and_ancestors() -> Vec<i32> {
        vec![rustix::process::getpid().as_raw_nonzero().get()]
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests need real processes")]
mod tests;
