//! Faults of the system itself: strace answers a chosen system call with an error or a signal.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// What happens at the chosen call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call fails: `ENOSPC`, `EIO`, `EINTR`, …
    Errno(&'static str),
    /// A signal arrives: `SIGKILL`, `SIGTERM`, …
    Signal(&'static str),
    /// The call does nothing, and says that it did this much: what was sent is lost.
    Lost(usize),
}

/// One prepared fault.
#[derive(Debug, Clone)]
pub struct Injection {
    syscall: String,
    when: String,
    fault: Fault,
    /// Whether child processes and threads are spoiled as well.
    pub follow: bool,
    /// Where strace writes.
    pub file: PathBuf,
}

impl Injection {
    /// A fault whose trace is written into the folder.
    pub fn new(syscall: &str, when: String, fault: Fault, folder: &Path) -> Injection {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let file = folder.join(format!("strace-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        Injection { syscall: syscall.to_owned(), when, fault, follow: true, file }
    }

    /// The words that stand before the program.
    ///
    /// One system call each: strace counts `when` per call number, so that a list would mix its counts.
    pub fn words(&self) -> Vec<OsString> {
        let Injection { syscall, when, .. } = self;
        let effect = match self.fault {
            Fault::Errno(name) => format!("error={name}"),
            Fault::Signal(name) => format!("signal={name}"),
            Fault::Lost(bytes) => format!("retval={bytes}"),
        };
        let mut words: Vec<OsString> = vec!["strace".into(), "-qq".into(), "-o".into(), self.file.clone().into()];
        words.extend(self.follow.then(|| "-f".into()));
        words.extend(["-e".into(), format!("trace={syscall}").into()]);
        words.extend(["-e".into(), format!("inject={syscall}:{effect}:when={when}").into(), "--".into()]);
        words
    }
}

/// Whether a tool is installed. Where it is not, the test that asked passes with a note on a
/// developer's machine and fails in CI, where nothing may be left out silently.
pub fn has_tool(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    if !found {
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{name} is not installed");
        eprintln!("note: {name} is not installed: this test does nothing here");
    }
    found
}
