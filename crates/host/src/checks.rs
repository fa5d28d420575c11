//! Executing a check: a shell command on a snapshot of the tree, or on the tree as it is, its whole output in a log,
//! its beginning and its decisive lines for the next prompt, and a receipt.

use crate::aside::Aside;
use crate::process::drive::{Chunk, Job, Order, Sink, Streams, drive};
use crate::process::{Command, Keeper};
use crate::raw_log::LogFile;
use crate::snapshot::{Carried, Plan, Wanted};
use crate::watching::Watching;
use crate::{git, watching};
use ralph_core::check::{CheckEnding, CheckReport, CheckSpec};
use ralph_core::evidence::{Tally, TestsRan};
use ralph_core::excerpt::Excerpter;
use ralph_core::observation::ProcessFacts;
use ralph_core::text;
use ralph_core::time::Millis;
use sha2::{Digest, Sha256};
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use tokio::sync::mpsc;

/// Where a check runs and where its log goes.
#[derive(Debug)]
pub struct CheckPlace<'a> {
    /// The project's folder.
    pub root: &'a Path,
    /// The log, if it could be created.
    pub log: Option<File>,
    /// The log's path for people, relative to the project.
    pub log_path: String,
    /// Characters of output wanted for the prompt.
    pub output_chars: usize,
    /// The snapshot that it gets; `None` for the folder itself.
    pub snapshot: Option<Plan<'a>>,
    /// Where to write what it executes and opens, if it is watched.
    pub watched: Option<Watching<'a>>,
    /// Its folder for temporary files, if it has one of its own.
    pub temporary: Option<&'a Path>,
}

/// How long git may take to list what it tracks.
const PATIENCE: Millis = Millis::from_secs(600);

/// The folder of a run for the logs of hidden checks: agents have no business there.
const HIDDEN: &str = "hidden";

/// The log of a hidden check, and where it is.
pub fn hidden_log(run_folder: &Path, name: &str) -> (String, io::Result<File>) {
    let folder = run_folder.join(HIDDEN);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    let file = folder.join(name);
    (file.display().to_string(), made.and_then(|()| File::create(&file)))
}

/// The shell that runs checks.
pub fn shell(command: &str, root: &Path) -> Command {
    let (program, flag) = if cfg!(windows) { ("cmd", "/c") } else { ("sh", "-c") };
    Command {
        program: program.into(),
        args: vec![flag.into(), command.into()],
        folder: root.to_owned(),
        set: Vec::new(),
        remove: Vec::new(),
        starts_runs: false,
    }
}

/// Executes one check and writes its receipt; says too what is missing in its log, if anything is.
pub async fn run(
    keeper: &mut Keeper,
    spec: CheckSpec,
    place: CheckPlace<'_>,
    orders: &mut mpsc::UnboundedReceiver<Order>,
) -> (CheckReport, Option<String>) {
    let mut command = shell(&spec.command, place.root);
    if let Some(watching) = place.watched {
        command = watching::wrap(command, watching);
    }
    command.set.extend(place.temporary.map(|folder| ("TMPDIR".into(), folder.into())));
    // A character is at most four bytes, and one more shows that something was cut.
    let mut sink = CheckSink::new(place.log, place.output_chars.saturating_mul(4).saturating_add(4));
    sink.tally = spec.tally();
    let (mut done, mut live) = (None, String::new());
    if let Some(plan) = &place.snapshot {
        command.set.extend(plan.environment.iter().cloned());
        match on_snapshot(keeper, &spec, plan, &command, &mut sink, orders).await {
            Ok(facts) => done = Some(facts),
            Err(why) => live = why,
        }
    }
    let (facts, carried) = match done {
        Some(done) => done,
        None => (drive(keeper, &job(&command, &spec), &mut sink, orders).await, Carried::default()),
    };
    let ending = CheckEnding::from(facts.ending);
    let empty = sink.tally.is_some_and(|mut tally| match ending.succeeded() {
        true => tally.finish() == TestsRan::None,
        false => tally.found_none(),
    });
    // Of what passed nobody asks why.
    let (excerpt, output_print) =
        if ending.succeeded() && !empty { Default::default() } else { sink.excerpter.finish() };
    let unwritten = sink.log.as_ref().and_then(|log| log.problem(&place.log_path));
    let problems: Vec<String> = unwritten.into_iter().chain(carried.problems).collect();
    let report = CheckReport {
        spec,
        ending,
        duration: facts.duration,
        output_head: String::from_utf8_lossy(&sink.head).into_owned(),
        output_hash: text::hex(&sink.hash.finalize()),
        output_bytes: sink.bytes,
        excerpt,
        output_print,
        log: place.log_path,
        leaked: facts.leaked_count,
        carried: carried.files,
        live,
        empty,
        pinned: Vec::new(),
        outside: Vec::new(),
        unwatched: String::new(),
    };
    (report, (!problems.is_empty()).then(|| problems.join("; ")))
}

fn job<'a>(command: &'a Command, spec: &CheckSpec) -> Job<'a> {
    let no_limit = Millis::ZERO;
    let (timeout, streams) = (spec.timeout, Streams::Together);
    Job { command, stdin: b"", streams, timeout, idle: no_limit, linger: no_limit }
}

/// Executes a check on a snapshot and carries over what people want of it; an error says why there is no snapshot, and
/// that nothing was executed.
async fn on_snapshot(
    keeper: &mut Keeper,
    spec: &CheckSpec,
    plan: &Plan<'_>,
    command: &Command,
    sink: &mut CheckSink,
    orders: &mut mpsc::UnboundedReceiver<Order>,
) -> Result<(ProcessFacts, Carried), String> {
    let snapshot = plan.begin(spec, command).map_err(|error| error.to_string())?;
    let facts = drive(keeper, &job(&snapshot.command(command), spec), sink, orders).await;
    if let Some(why) = snapshot.refusal(&facts.ending) {
        return Err(why);
    }
    let passed = CheckEnding::from(facts.ending.clone()).succeeded();
    let terms = &spec.terms;
    let mut wanted = Wanted { writes: terms.writes && passed, keep: terms.keep.clone(), ..Wanted::default() };
    let mut problems = Vec::new();
    if plan.tree().join(".git").symlink_metadata().is_err() {
        if std::mem::take(&mut wanted.writes) {
            problems.push("nothing was carried over: only what git tracks is, and here is no repository".to_owned());
        }
    } else if wanted.writes || !wanted.keep.is_empty() {
        match git::run(keeper, plan.tree(), &["ls-files", "-z"], PATIENCE).await {
            Ok(listing) => wanted.track(&listing),
            Err(error) => {
                problems.push(format!("nothing was carried over, because git did not list what it tracks: {error}"));
                wanted = Wanted::default();
            }
        }
    }
    // A check may have written very many files, and all of them are removed.
    let carried = match Aside::start(move |_| snapshot.carry(&wanted)) {
        Ok(mut carrying) => carrying.answer().await.unwrap_or_else(|| {
            problems.push("what was to be carried over was cut short".to_owned());
            Carried::default()
        }),
        Err(error) => {
            problems.push(format!("nothing was carried over, because no thread could be started: {error}"));
            Carried::default()
        }
    };
    problems.extend(carried.problems);
    Ok((facts, Carried { problems, ..carried }))
}

struct CheckSink {
    log: Option<LogFile>,
    head: Vec<u8>,
    head_limit: usize,
    hash: Sha256,
    bytes: u64,
    excerpter: Excerpter,
    /// Where tests are expected.
    tally: Option<Tally>,
}

impl CheckSink {
    fn new(log: Option<File>, head_limit: usize) -> CheckSink {
        let log = log.map(LogFile::new);
        let (excerpter, tally) = Default::default();
        CheckSink { log, head: Vec::new(), head_limit, hash: Sha256::new(), bytes: 0, excerpter, tally }
    }
}

impl Sink for CheckSink {
    fn stdout(&mut self, bytes: &Chunk) {
        self.hash.update(bytes.as_slice());
        let room = self.head_limit.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(bytes.get(..room).unwrap_or_default());
        self.excerpter.feed(bytes);
        self.tally.iter_mut().for_each(|tally| tally.feed(bytes));
        self.log.iter_mut().for_each(|log| log.write(bytes));
        self.bytes += bytes.len() as u64;
    }

    fn stderr(&mut self, bytes: &Chunk) {
        self.stdout(bytes);
    }
}
