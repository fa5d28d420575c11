//! Writes to standard output and standard error without making the agent wait: a thread behind a bounded queue. For a
//! slow reader, what stands in a log too is skipped and counted; the rest is kept.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes that may wait before one more text. A reader that is a megabyte behind is not reading.
const QUEUE_BYTES: usize = 1 << 20;
/// Bytes written at once. Small texts come by the hundred thousand and go together, or their reader
/// would seem slow; of a large one the end sees every piece that is taken.
const PIECE: usize = 16 << 10;
/// How long the end waits for a reader that takes nothing at all.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Stdout,
    Stderr,
}

/// Whether a text may be left out when the reader is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worth {
    /// It stands in a log too.
    Skippable,
    /// It stands nowhere else.
    Kept,
}

/// The two ends. If both are one terminal, pipe or file they share a thread, so that their order is kept.
pub struct Out {
    stdout: Lane,
    stderr: Option<Lane>,
}

impl Out {
    pub fn start() -> io::Result<Out> {
        let stderr = if one_end() { None } else { Some(Lane::start()?) };
        Ok(Out { stdout: Lane::start()?, stderr })
    }

    pub fn write(&self, target: Target, worth: Worth, text: impl Into<Vec<u8>>) {
        self.lane(target).write(target, worth, text.into());
    }

    pub fn take_skipped(&self) -> u64 {
        std::mem::take(&mut self.stdout.lock().skipped)
    }

    pub fn stdout_is_gone(&self) -> bool {
        self.stdout.lock().gone == Some(Target::Stdout)
    }

    /// Waits until everything is written, as long as the readers still take something.
    pub fn finish(&self) {
        let whole = self.stdout.finish();
        if let Some(stderr) = &self.stderr {
            if !whole {
                let words = "warning: nobody read standard output, and its end was left out; see: ralph show\n";
                self.write(Target::Stderr, Worth::Kept, words);
            }
            stderr.finish();
        }
    }

    fn lane(&self, target: Target) -> &Lane {
        match (&self.stderr, target) {
            (Some(stderr), Target::Stderr) => stderr,
            _ => &self.stdout,
        }
    }
}

fn one_end() -> bool {
    let (Ok(out), Ok(err)) = (rustix::fs::fstat(io::stdout()), rustix::fs::fstat(io::stderr())) else { return false };
    (out.st_dev, out.st_ino, out.st_rdev) == (err.st_dev, err.st_ino, err.st_rdev)
}

#[derive(Default)]
struct Queue {
    texts: VecDeque<(Target, Vec<u8>)>,
    bytes: usize,
    skipped: u64,
    /// Counts writes, so that the end can see whether the reader takes anything.
    written: u64,
    writing: bool,
    closed: bool,
    gone: Option<Target>,
}

impl Queue {
    /// The next text, with those behind it that go the same way and fit into the same piece.
    fn next(&mut self) -> Option<(Target, Vec<u8>)> {
        let (target, mut text) = self.texts.pop_front()?;
        while let Some((_, more)) = self.texts.front().filter(|(other, _)| *other == target)
            && text.len() + more.len() <= PIECE
        {
            text.extend_from_slice(more);
            self.texts.pop_front();
        }
        self.bytes -= text.len();
        Some((target, text))
    }
}

struct Lane {
    shared: Arc<(Mutex<Queue>, Condvar)>,
}

impl Lane {
    fn start() -> io::Result<Lane> {
        let shared = Arc::new((Mutex::new(Queue::default()), Condvar::new()));
        let theirs = Arc::clone(&shared);
        // It only copies bytes: a small stack is enough.
        std::thread::Builder::new().name("out".to_owned()).stack_size(128 << 10).spawn(move || write_all(&theirs))?;
        Ok(Lane { shared })
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        lock(&self.shared.0)
    }

    fn write(&self, target: Target, worth: Worth, text: Vec<u8>) {
        let mut queue = self.lock();
        if queue.gone == Some(target) {
            return;
        }
        if worth == Worth::Skippable && queue.bytes > QUEUE_BYTES {
            queue.skipped += 1;
            return;
        }
        queue.bytes += text.len();
        queue.texts.push_back((target, text));
        drop(queue);
        self.shared.1.notify_all();
    }

    fn finish(&self) -> bool {
        let mut queue = self.lock();
        queue.closed = true;
        self.shared.1.notify_all();
        let mut written = queue.written;
        while !queue.texts.is_empty() || queue.writing {
            let (next, waited) = self.shared.1.wait_timeout(queue, PATIENCE).unwrap_or_else(PoisonError::into_inner);
            queue = next;
            if waited.timed_out() && queue.written == written {
                return false;
            }
            written = queue.written;
        }
        true
    }
}

/// A panic elsewhere must not silence the message about it.
fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write_all(shared: &(Mutex<Queue>, Condvar)) {
    let (queue, changed) = shared;
    let mut guard = lock(queue);
    loop {
        let Some((target, text)) = guard.next() else {
            if guard.closed {
                return;
            }
            guard = changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        guard.writing = true;
        drop(guard);
        let result = text.chunks(PIECE).try_for_each(|piece| {
            let result = match target {
                Target::Stdout => io::stdout().write_all(piece).and_then(|()| io::stdout().flush()),
                Target::Stderr => io::stderr().write_all(piece),
            };
            lock(queue).written += 1;
            result
        });
        guard = lock(queue);
        guard.writing = false;
        if let Err(error) = result {
            // Nobody reads: the run goes on without an audience. A full disk is no reader who left.
            if target == Target::Stdout && error.kind() != io::ErrorKind::BrokenPipe {
                let _ =
                    writeln!(io::stderr(), "warning: standard output takes nothing more ({error}); the run goes on");
            }
            guard.gone = Some(target);
            guard.texts.retain(|(other, _)| *other != target);
        }
        changed.notify_all();
    }
}
