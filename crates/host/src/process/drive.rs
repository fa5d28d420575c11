//! One process from its start to the moment when nothing of it is left: the prompt goes in, output
//! comes out, every wait has an end, and whoever asks can have it ended by the ladder.

use super::protocol::{Reply, Request};
use super::sys::watch;
use super::work::{Silence, Work};
use super::{Command, Ended, Keeper, ProcessError};
use ralph_core::observation::{Ending, ProcessFacts, StartFault};
use ralph_core::text;
use ralph_core::time::Millis;
use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// From the polite signal to the other one.
pub const GRACE: Duration = Duration::from_secs(5);
/// The same for what outlived a process that ended by itself: it was not expected to live at all.
const LEFTOVER_GRACE: Duration = Duration::from_millis(500);
/// How much longer than the grace the keeper may take to end a tree. One that takes more was itself
/// stopped by the agent, or waits for a process that the kernel cannot end.
const KEEPER_PATIENCE: Duration = Duration::from_secs(5);
/// How long the keeper may say nothing before it is asked whether it is there: an answer that was lost, and be it
/// the word that the process has ended, is noticed by the number of the next one.
const PING_EVERY: Duration = Duration::from_secs(5);
/// How long it may take to say so: it answers at once unless the machine is overloaded.
const PING_PATIENCE: Duration = Duration::from_secs(15);
/// Output of an ended process is waited for until it has been quiet this long…
const DRAIN_QUIET: Duration = Duration::from_millis(250);
/// …and never longer than this.
const DRAIN_MOST: Duration = Duration::from_secs(2);
/// How long a flood may be read without a pause: what a person takes for "at once".
const PAUSE_EVERY: Duration = Duration::from_millis(20);
/// Bytes read at once from a process that says little…
const SMALL_CHUNK: usize = 1 << 13;
/// …and from one that fills its pipe. What is read is written to a log and searched at once, which is fast while
/// it stays in the processor's cache: twice as much was measured to take a third longer.
const CHUNK: usize = 1 << 17;
/// The pipe of one that fills it: room enough for it to go on while a chunk is looked at.
#[cfg(target_os = "linux")]
const PIPE: usize = 2 * CHUNK;
/// The end of standard error that is kept for messages.
const STDERR_TAIL: usize = 4096;

/// A process to drive.
#[derive(Debug)]
pub struct Job<'a> {
    pub command: &'a Command,
    /// What to write to its standard input before closing it.
    pub stdin: &'a [u8],
    /// Whether standard error goes to the sink apart from standard output.
    pub streams: Streams,
    /// How long it may run; zero for no limit.
    pub timeout: Millis,
    /// How long it may neither print nor work; zero for no limit.
    pub idle: Millis,
    /// How long it may live after its final result.
    pub linger: Millis,
}

/// How output reaches the sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// Standard output and standard error each by itself.
    Apart,
    /// Both in one pipe, in the order in which they were written.
    Together,
}

/// Bytes that were read at once. Whoever holds on to them costs no copy: the next ones are read elsewhere meanwhile.
pub type Chunk = Arc<Vec<u8>>;

/// Takes a process's output. Called in the order of arrival; must not block for long.
pub trait Sink {
    /// Bytes of standard output.
    fn stdout(&mut self, bytes: &Chunk);
    /// Bytes of standard error.
    fn stderr(&mut self, bytes: &Chunk);
    /// Whether the final result was seen, so that the process should end soon.
    fn has_result(&self) -> bool {
        false
    }
}

/// An order to a running process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// End it by the ladder.
    End,
    /// Stop it where it stands: ralph itself is being suspended.
    Freeze,
    /// Let it go on.
    Thaw,
    /// Ask the sink again whether the final result was seen: it may have come by another way than output.
    LookForResult,
}

/// Drives one process. `orders` may stay silent; its closing is no order.
pub async fn drive(
    keeper: &mut Keeper,
    job: &Job<'_>,
    sink: &mut impl Sink,
    orders: &mut mpsc::UnboundedReceiver<Order>,
) -> ProcessFacts {
    let start = start(keeper, job);
    drive_started(keeper, start, sink, orders).await
}

/// A process that was asked for.
pub struct Start<'j> {
    job: &'j Job<'j>,
    began: Instant,
    pipes: Result<Pipes, ProcessError>,
}

/// Has a process started. Whatever its sink needs is best made afterwards: the process takes its time to begin.
pub fn start<'j>(keeper: &mut Keeper, job: &'j Job<'_>) -> Start<'j> {
    Start { job, began: Instant::now(), pipes: ask_for(keeper, job) }
}

/// Drives a process that was started.
pub async fn drive_started(
    keeper: &mut Keeper,
    start: Start<'_>,
    sink: &mut impl Sink,
    orders: &mut mpsc::UnboundedReceiver<Order>,
) -> ProcessFacts {
    let Start { job, began, pipes } = start;
    let facts = |ending, drive: Option<&Drive<'_>>, ended: Ended| ProcessFacts {
        children: Vec::new(),
        ending,
        duration: Millis::from(began.elapsed()),
        bytes: drive.map_or(0, |drive| drive.bytes),
        leaked: ended.leaked,
        leaked_count: ended.count,
        stderr_tail: drive.map_or(String::new(), |drive| {
            text::suffix(&String::from_utf8_lossy(&drive.stderr_tail), STDERR_TAIL).to_owned()
        }),
    };
    let Pipes { stdin, stdout, stderr, written } = match pipes {
        Ok(pipes) => pipes,
        Err(ProcessError::NotStarted { reason, fault }) => {
            return facts(Ending::NotStarted { reason, fault }, None, Ended::default());
        }
        Err(ProcessError::KeeperLost) => return facts(Ending::KeeperLost, None, Ended::default()),
        Err(ProcessError::NoKeeper(error)) => {
            let reason = format!("no process can be started: {error}");
            return facts(Ending::NotStarted { reason, fault: StartFault::Machine }, None, Ended::default());
        }
    };
    let mut drive = Drive {
        job,
        stdin,
        stdout,
        stderr,
        written,
        bytes: 0,
        stderr_tail: Vec::new(),
        buffers: Buffers::default(),
        began,
        silence: Silence::new(on(job.idle), began),
        result_at: None,
        frozen_at: None,
        ending: None,
        answer_by: None,
        pulse: Pulse::Heard(began),
    };
    let (ending, ended) = drive.run(keeper, sink, orders).await;
    let children = keeper.child_runs().into_iter().map(|child| child.run).collect();
    ProcessFacts { children, ..facts(ending, Some(&drive), ended) }
}

/// Our ends of the pipes, and how much of the input is in them already.
struct Pipes {
    stdin: Option<AsyncFd<OwnedFd>>,
    stdout: Option<AsyncFd<OwnedFd>>,
    stderr: Option<AsyncFd<OwnedFd>>,
    written: usize,
}

/// Pipes that no process has yet. Ours never block.
#[derive(Debug)]
pub(super) struct Fresh {
    /// The process's standard input, output and error.
    theirs: [OwnedFd; 3],
    stdin: Option<OwnedFd>,
    stdout: AsyncFd<OwnedFd>,
    stderr: Option<AsyncFd<OwnedFd>>,
}

/// Asks the keeper for the process. Whether it could be started is among the answers that come later: nothing waits
/// for it.
fn ask_for(keeper: &mut Keeper, job: &Job<'_>) -> Result<Pipes, ProcessError> {
    let refuse = |error: io::Error| ProcessError::NotStarted {
        reason: format!("no pipe could be made: {error}"),
        fault: StartFault::Machine,
    };
    let ready = if job.has_three_pipes() { keeper.pipes.take() } else { None };
    let Fresh { theirs, stdin, stdout, stderr } = ready.map_or_else(|| Fresh::make(job), Ok).map_err(refuse)?;
    // Most prompts fit into the pipe, and are there before anybody reads them.
    let written = stdin.as_ref().and_then(|end| rustix::io::write(end, job.stdin).ok()).unwrap_or(0);
    let stdin = stdin.filter(|_| written < job.stdin.len());
    let stdin = stdin.map(|end| watch(end, Interest::WRITABLE)).transpose().map_err(refuse)?;
    keeper.spawn(job.command, theirs)?;
    // While this one begins, there is time to make those of the next.
    if job.has_three_pipes() {
        keeper.pipes = Fresh::make(job).ok();
    }
    Ok(Pipes { stdin, stdout: Some(stdout), stderr, written })
}

impl Job<'_> {
    /// As agents have.
    fn has_three_pipes(&self) -> bool {
        self.streams == Streams::Apart && !self.stdin.is_empty()
    }
}

impl Fresh {
    fn make(job: &Job<'_>) -> io::Result<Fresh> {
        let nonblocking = |end: &OwnedFd| rustix::fs::fcntl_setfl(end, OFlags::NONBLOCK);
        let watched = |end: OwnedFd| {
            nonblocking(&end)?;
            watch(end, Interest::READABLE)
        };
        let (stdout, their_stdout) = pipe()?;
        let (stderr, their_stderr) = match job.streams {
            Streams::Together => (None, their_stdout.try_clone()?),
            Streams::Apart => {
                let (stderr, theirs) = pipe()?;
                (Some(watched(stderr)?), theirs)
            }
        };
        let (their_stdin, stdin) = if job.stdin.is_empty() {
            (rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?, None)
        } else {
            let (theirs, stdin) = pipe()?;
            nonblocking(&stdin)?;
            (theirs, Some(stdin))
        };
        Ok(Fresh { theirs: [their_stdin, their_stdout, their_stderr], stdin, stdout: watched(stdout)?, stderr })
    }
}

/// A pipe that no other process inherits: its reading end and its writing end.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), writer.into()))
}

struct Drive<'a> {
    job: &'a Job<'a>,
    stdin: Option<AsyncFd<OwnedFd>>,
    stdout: Option<AsyncFd<OwnedFd>>,
    stderr: Option<AsyncFd<OwnedFd>>,
    written: usize,
    bytes: u64,
    stderr_tail: Vec<u8>,
    buffers: Buffers,
    began: Instant,
    silence: Silence,
    result_at: Option<Instant>,
    /// Since when it is stopped with ralph itself: no limit runs meanwhile.
    frozen_at: Option<Instant>,
    /// Why ralph is ending the process, if it is.
    ending: Option<Ending>,
    /// Until when the keeper must have ended it.
    answer_by: Option<Instant>,
    pulse: Pulse,
}

/// What is known of the keeper.
#[derive(Clone, Copy)]
enum Pulse {
    /// It said something then.
    Heard(Instant),
    /// It was asked then, and has said nothing since.
    Asked(Instant),
}

impl Pulse {
    /// When something has to be done about it.
    fn due(self) -> Instant {
        match self {
            Pulse::Heard(at) => at + PING_EVERY,
            Pulse::Asked(at) => at + PING_PATIENCE,
        }
    }
}

enum Step {
    Stdin,
    Stdout,
    Stderr,
    Reply(Result<Reply, ProcessError>),
    Order(Option<Order>),
    Deadline,
}

impl Drive<'_> {
    /// Runs until the process and everything below it is gone.
    async fn run(
        &mut self,
        keeper: &mut Keeper,
        sink: &mut impl Sink,
        orders: &mut mpsc::UnboundedReceiver<Order>,
    ) -> (Ending, Ended) {
        let mut orders_open = true;
        let mut paused_at = Instant::now();
        loop {
            let deadline = self.next_deadline();
            let now = Instant::now();
            // Timers and signals only move when this task pauses, and a flooded pipe gives no occasion.
            if now.duration_since(paused_at) >= PAUSE_EVERY {
                paused_at = now;
                tokio::task::yield_now().await;
            }
            let step = if deadline.is_some_and(|at| now >= at) {
                // A flood of output, or a stop of ralph itself, may have kept an answer from being read.
                match self.is_silent(now) {
                    true => waiting(keeper).await.map_or(Step::Deadline, Step::Reply),
                    false => Step::Deadline,
                }
            } else {
                let timer = async {
                    match deadline {
                        Some(at) => sleep_until(at).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    biased;
                    order = orders.recv(), if orders_open => Step::Order(order),
                    () = writable(self.stdin.as_ref()), if self.stdin.is_some() => Step::Stdin,
                    () = readable(self.stdout.as_ref()), if self.stdout.is_some() => Step::Stdout,
                    () = readable(self.stderr.as_ref()), if self.stderr.is_some() => Step::Stderr,
                    reply = keeper.reply() => Step::Reply(reply),
                    // What is due is seen by a new look at the clock.
                    () = timer => continue,
                }
            };
            if matches!(step, Step::Reply(Ok(_))) {
                self.pulse = Pulse::Heard(Instant::now());
            }
            match step {
                Step::Stdin => self.write_stdin(),
                Step::Stdout => self.read_stdout(sink),
                Step::Stderr => self.read_stderr(sink),
                Step::Order(None) => orders_open = false,
                Step::Order(Some(order)) => self.obey(order, keeper, sink),
                Step::Deadline if self.ending.is_some() || self.is_lost(now) => {
                    keeper.lose();
                    return self.without_keeper(sink).await;
                }
                Step::Deadline if self.is_silent(now) => {
                    // One that is gone says so by the end of its socket.
                    let _ = keeper.ask(&Request::Ping);
                    self.pulse = Pulse::Asked(now);
                }
                Step::Deadline => self.on_deadline(keeper),
                Step::Reply(Ok(Reply::Work(work))) => self.on_work(keeper, work),
                Step::Reply(Ok(Reply::Exited { code, signal, leftovers })) => {
                    let natural = match (code, signal) {
                        (_, Some(signal)) => Ending::Signalled { signal },
                        (code, None) => Ending::Exited { code: code.unwrap_or(-1) },
                    };
                    return self.after_exit(keeper, sink, natural, leftovers).await;
                }
                Step::Reply(Ok(Reply::NotSpawned { reason, fault })) => {
                    return (Ending::NotStarted { reason, fault }, Ended::default());
                }
                // That the keeper is there has been noted; and it says Exited before Ended.
                Step::Reply(Ok(Reply::Here | Reply::Ended { .. })) => {}
                Step::Reply(Err(_)) => {
                    self.ending = None;
                    return self.without_keeper(sink).await;
                }
            }
        }
    }

    fn obey(&mut self, order: Order, keeper: &mut Keeper, sink: &mut impl Sink) {
        match order {
            Order::End => self.end(keeper, Ending::Stopped),
            Order::Freeze => {
                self.frozen_at = Some(Instant::now());
                let _ = keeper.ask(&Request::Freeze);
            }
            Order::Thaw => {
                self.go_on();
                let _ = keeper.ask(&Request::Thaw);
            }
            Order::LookForResult => self.look_for_result(sink),
        }
    }

    /// The keeper says nothing any more. What ralph had ordered before that names the end.
    async fn without_keeper(&mut self, sink: &mut impl Sink) -> (Ending, Ended) {
        self.read_rest(sink).await;
        (self.ending.take().unwrap_or(Ending::KeeperLost), Ended::default())
    }

    async fn after_exit(
        &mut self,
        keeper: &mut Keeper,
        sink: &mut impl Sink,
        natural: Ending,
        leftovers: bool,
    ) -> (Ending, Ended) {
        self.stdin = None;
        // The ladder was asked for while the process lived: its second answer says what had to be killed.
        if let Some(ending) = self.ending.take() {
            let ended = ended(keeper, GRACE).await;
            self.read_rest(sink).await;
            // It ended by itself before the signal reached it, and said so by its code.
            let by_itself = matches!(ending, Ending::Lingered) && natural == Ending::Exited { code: 0 };
            return (if by_itself { natural } else { ending }, ended);
        }
        self.drain(sink).await;
        if !leftovers {
            return (natural, Ended::default());
        }
        let grace_ms = u64::try_from(LEFTOVER_GRACE.as_millis()).unwrap_or(u64::MAX);
        let left = match keeper.ask(&Request::End { grace_ms }) {
            Ok(()) => ended(keeper, LEFTOVER_GRACE).await,
            Err(_) => Ended::default(),
        };
        self.read_rest(sink).await;
        (natural, left)
    }

    /// Reads until both pipes end, or have been quiet, or it has taken too long: a grandchild may
    /// hold them open for ever.
    async fn drain(&mut self, sink: &mut impl Sink) {
        let most = Instant::now() + DRAIN_MOST;
        while self.stdout.is_some() || self.stderr.is_some() {
            let quiet = (Instant::now() + DRAIN_QUIET).min(most);
            tokio::select! {
                biased;
                () = readable(self.stdout.as_ref()), if self.stdout.is_some() => self.read_stdout(sink),
                () = readable(self.stderr.as_ref()), if self.stderr.is_some() => self.read_stderr(sink),
                () = sleep_until(quiet) => return,
            }
            if Instant::now() >= most {
                return;
            }
        }
    }

    /// Nobody is left who could write: what is in the pipes is all there is.
    async fn read_rest(&mut self, sink: &mut impl Sink) {
        self.drain(sink).await;
        self.stdout = None;
        self.stderr = None;
    }

    fn end(&mut self, keeper: &mut Keeper, why: Ending) {
        if self.ending.is_none() {
            self.ending = Some(why);
            self.answer_by = Some(Instant::now() + GRACE + KEEPER_PATIENCE);
            let grace_ms = u64::try_from(GRACE.as_millis()).unwrap_or(u64::MAX);
            let _ = keeper.ask(&Request::End { grace_ms });
        }
    }

    fn write_stdin(&mut self) {
        let Some(stdin) = &self.stdin else { return };
        let rest = self.job.stdin.get(self.written..).unwrap_or_default();
        match stdin.try_io(Interest::WRITABLE, |end| Ok(rustix::io::write(end.as_fd(), rest)?)) {
            Ok(written) => self.written += written,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            // An agent that does not want its whole prompt closes its end; that is its affair.
            Err(_) => self.written = self.job.stdin.len(),
        }
        if self.written >= self.job.stdin.len() {
            self.stdin = None;
        }
    }

    fn read_stdout(&mut self, sink: &mut impl Sink) {
        let Some(stdout) = &self.stdout else { return };
        let before = self.bytes;
        match self.buffers.read(stdout) {
            Got::Bytes(bytes) => {
                self.bytes += bytes.len() as u64;
                self.silence.broken(Instant::now());
                sink.stdout(bytes);
                // The first full pipe announces a stream; a larger pipe saves switches between the two.
                if before < CHUNK as u64 && self.bytes >= CHUNK as u64 {
                    #[cfg(target_os = "linux")]
                    let _ = rustix::pipe::fcntl_setpipe_size(stdout.get_ref(), PIPE);
                }
                self.look_for_result(sink);
            }
            Got::Nothing => {}
            Got::End => self.stdout = None,
        }
    }

    /// An agent that wakes up after its result has not finished after all.
    fn look_for_result(&mut self, sink: &impl Sink) {
        self.result_at = sink.has_result().then(|| self.result_at.unwrap_or_else(Instant::now));
    }

    fn read_stderr(&mut self, sink: &mut impl Sink) {
        let Some(stderr) = &self.stderr else { return };
        match self.buffers.read(stderr) {
            Got::Bytes(bytes) => {
                self.bytes += bytes.len() as u64;
                self.silence.broken(Instant::now());
                sink.stderr(bytes);
                self.stderr_tail
                    .extend_from_slice(bytes.get(bytes.len().saturating_sub(STDERR_TAIL)..).unwrap_or_default());
                let excess = self.stderr_tail.len().saturating_sub(STDERR_TAIL);
                self.stderr_tail.drain(..excess);
            }
            Got::Nothing => {}
            Got::End => self.stderr = None,
        }
    }

    /// Puts everything that limits count from off by the time in which nobody could work.
    fn go_on(&mut self) {
        let Some(frozen) = self.frozen_at.take().map(|at| at.elapsed()) else { return };
        self.began += frozen;
        self.silence.put_off(frozen);
        self.result_at = self.result_at.map(|at| at + frozen);
        self.answer_by = self.answer_by.map(|at| at + frozen);
        self.pulse = Pulse::Heard(Instant::now());
    }

    /// Whether the keeper has to be asked whether it is there, or was asked for too long.
    /// Whether the keeper was asked for a sign of life in vain.
    fn is_lost(&self, now: Instant) -> bool {
        matches!(self.pulse, Pulse::Asked(_)) && self.is_silent(now)
    }

    fn is_silent(&self, now: Instant) -> bool {
        self.ending.is_none() && now >= self.pulse.due()
    }

    fn next_deadline(&self) -> Option<Instant> {
        if self.frozen_at.is_some() {
            return None;
        }
        if self.ending.is_some() {
            return self.answer_by;
        }
        let timeout = on(self.job.timeout).map(|limit| self.began + limit);
        let linger = self.result_at.map(|at| at + self.job.linger.duration());
        [timeout, linger, self.silence.next_look(), Some(self.pulse.due())].into_iter().flatten().min()
    }

    fn on_deadline(&mut self, keeper: &mut Keeper) {
        let now = Instant::now();
        if self.result_at.is_some_and(|at| now >= at + self.job.linger.duration()) {
            return self.end(keeper, Ending::Lingered);
        }
        if on(self.job.timeout).is_some_and(|limit| now >= self.began + limit) {
            return self.end(keeper, Ending::TimedOut { limit: self.job.timeout });
        }
        // One that cannot be asked is gone, and the next wait for its answer says so.
        if self.silence.next_look().is_some_and(|at| now >= at) && keeper.ask(&Request::Work).is_ok() {
            self.silence.looking();
        }
    }

    fn on_work(&mut self, keeper: &mut Keeper, work: Work) {
        let now = Instant::now();
        if !self.silence.seen(now, work) {
            return;
        }
        // Whoever waits for a run of its own does nothing meanwhile, and that run has limits of its own.
        if keeper.child_runs().is_empty() {
            self.end(keeper, Ending::Idle { limit: self.job.idle });
        } else {
            self.silence.broken(now);
        }
    }
}

/// An answer that has come already. Whoever asks has perhaps not looked at the socket for a while.
async fn waiting(keeper: &mut Keeper) -> Option<Result<Reply, ProcessError>> {
    tokio::task::yield_now().await;
    tokio::select! {
        biased;
        reply = keeper.reply() => Some(reply),
        () = std::future::ready(()) => None,
    }
}

/// Waits for the keeper's word that nothing is left; one that does not give it is given up.
async fn ended(keeper: &mut Keeper, grace: Duration) -> Ended {
    let answer = async {
        loop {
            match keeper.reply().await {
                Ok(Reply::Ended { count, leaked }) => return Ended { count, leaked },
                Ok(_) => {}
                Err(_) => return Ended::default(),
            }
        }
    };
    match tokio::time::timeout(grace + KEEPER_PATIENCE, answer).await {
        Ok(ended) => ended,
        Err(_) => {
            keeper.lose();
            Ended::default()
        }
    }
}

fn on(limit: Millis) -> Option<Duration> {
    (!limit.is_off()).then(|| limit.duration())
}

enum Got<'a> {
    Bytes(&'a Chunk),
    Nothing,
    End,
}

/// Where output is read to. There is more than one place only while somebody holds on to what was read before.
#[derive(Default)]
struct Buffers(Vec<Chunk>);

impl Buffers {
    /// Reads once. An empty pipe makes the next wait for readiness a real one.
    fn read(&mut self, end: &AsyncFd<OwnedFd>) -> Got<'_> {
        // The first that is free was used last, and is likely still in the processor's cache.
        let free = self.0.iter_mut().position(|chunk| Arc::get_mut(chunk).is_some()).unwrap_or_else(|| {
            let size = if self.0.is_empty() { SMALL_CHUNK } else { CHUNK };
            self.0.push(Arc::new(Vec::with_capacity(size)));
            self.0.len() - 1
        });
        let Some(chunk) = self.0.get_mut(free) else { return Got::Nothing };
        let Some(buffer) = Arc::get_mut(chunk) else { return Got::Nothing };
        if buffer.capacity() < CHUNK && buffer.len() == buffer.capacity() {
            *buffer = Vec::with_capacity(CHUNK);
        }
        buffer.clear();
        let room = buffer.capacity();
        match end.try_io(Interest::READABLE, |end| Ok(rustix::io::read(end.as_fd(), spare_capacity(buffer))?)) {
            Ok(0) => Got::End,
            Ok(read) => {
                if read < room {
                    // The pipe is empty: without this, the next wait would be answered by a read that finds nothing.
                    let _ = end.try_io(Interest::READABLE, |_| Err::<(), _>(io::ErrorKind::WouldBlock.into()));
                }
                Got::Bytes(chunk)
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Got::Nothing
            }
            Err(_) => Got::End,
        }
    }
}

async fn readable(end: Option<&AsyncFd<OwnedFd>>) {
    match end {
        // An error is found again, and handled, by the read that follows.
        Some(end) => drop(end.readable().await),
        None => std::future::pending().await,
    }
}

async fn writable(end: Option<&AsyncFd<OwnedFd>>) {
    match end {
        Some(end) => drop(end.writable().await),
        None => std::future::pending().await,
    }
}
