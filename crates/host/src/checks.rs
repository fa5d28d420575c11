//! Executing a check: a shell command on the tree as it is, its whole output in a log, its
//! beginning and its decisive lines for the next prompt, and a receipt.

use crate::process::Command;
use crate::process::Keeper;
use crate::process::drive::{Chunk, Job, Order, Sink, Streams, drive};
use crate::raw_log::LogFile;
use ralph_core::check::{CheckEnding, CheckReport, CheckSpec};
use ralph_core::evidence::{self, Tally, TestsRan};
use ralph_core::excerpt::Excerpter;
use ralph_core::text;
use ralph_core::time::Millis;
use sha2::{Digest, Sha256};
use std::fs::File;
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
    }
}

/// Executes one check and writes its receipt; says too what is missing in its log, if anything is.
pub async fn run(
    keeper: &mut Keeper,
    spec: CheckSpec,
    place: CheckPlace<'_>,
    orders: &mut mpsc::UnboundedReceiver<Order>,
) -> (CheckReport, Option<String>) {
    let command = shell(&spec.command, place.root);
    // A character is at most four bytes, and one more shows that something was cut.
    let mut sink = CheckSink::new(place.log, place.output_chars.saturating_mul(4).saturating_add(4));
    sink.tally = evidence::tally_of(&spec.command);
    let job = Job {
        command: &command,
        stdin: b"",
        streams: Streams::Together,
        timeout: spec.timeout,
        idle: Millis::ZERO,
        linger: Millis::ZERO,
    };
    let facts = drive(keeper, &job, &mut sink, orders).await;
    let ending = CheckEnding::from(facts.ending);
    let empty = ending.succeeded() && sink.tally.is_some_and(|tally| tally.finish() == TestsRan::None);
    // Of what passed nobody asks why.
    let (excerpt, output_print) =
        if ending.succeeded() && !empty { Default::default() } else { sink.excerpter.finish() };
    let problem = sink.log.as_ref().and_then(|log| log.problem(&place.log_path));
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
        carried: Vec::new(),
        empty,
    };
    (report, problem)
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
