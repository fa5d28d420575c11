//! `ralph logs`: what the agent and the checks printed.

mod check_log;
mod log_text;

use super::pick::{self, Wanted};
use super::show;
use crate::cli::Global;
use crate::error::CommandError;
use crate::live::Live;
use crate::project::Project;
use crate::runs;
use crate::terminal::page;
use clap::Args;
use log_text::{Events, Log, LogText, Origin};
use ralph_core::outcome::exit;
use ralph_core::policy::AgentPolicy;
use ralph_core::run::RunRow;
use ralph_core::time::WallTime;
use ralph_host::raw_log::{self, LogReader, Stream};
use ralph_store::Store;
use ralph_view::agent_lines::Renderer;
use ralph_view::liveness::State;
use ralph_view::pieces::Pieces;
use ralph_view::run_view::{AttemptView, Check, Prompts, RunView};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Print what the agent and the checks printed.
///
/// Without flags: the newest iteration's agent output, read as its stream of events. Nothing that
/// was printed can drive the terminal, whatever it holds.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph logs                      the newest iteration of the newest run\n  ralph logs 7f3a9k2m/3\n  ralph logs -i 3 --failed        what the failed checks of iteration 3 printed\n  ralph logs --follow             as it comes, while the run lives\n  ralph logs --raw > stream.jsonl"
)]
pub struct LogsArgs {
    /// The run by its id or the beginning of it, and the iteration behind a slash; the newest if left out
    #[arg(value_name = "RUN[/ITERATION]")]
    target: Option<Wanted>,
    /// The iteration
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    iteration: Option<u32>,
    /// What the agent wrote to standard error
    #[arg(long, conflicts_with_all = ["check", "failed"])]
    stderr: bool,
    /// The log of this guardrail, named by its command or a part of it
    #[arg(long, value_name = "NAME", conflicts_with = "failed")]
    check: Option<String>,
    /// The logs of the guardrails that failed
    #[arg(long)]
    failed: bool,
    /// The bytes as they were printed
    #[arg(long)]
    raw: bool,
    /// Go on printing as long as the run lives
    #[arg(short, long, conflicts_with_all = ["check", "failed"])]
    follow: bool,
}

const POLL: Duration = Duration::from_millis(200);
const CHUNK: usize = 64 << 10;

pub fn run(global: &Global, args: &LogsArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    let store = pick::store(&project)?;
    let typed = args.target.as_ref().and_then(|wanted| wanted.run.as_deref());
    let iteration = match (args.target.as_ref().and_then(|wanted| wanted.iteration), args.iteration) {
        (Some(behind), Some(flag)) if behind != flag => {
            return Err(CommandError::usage(format!("two iterations were named: {behind} and {flag}")));
        }
        (behind, flag) => behind.or(flag),
    };
    let row = pick::run(&store, typed, &project)?;
    let view = pick::view(&store, &row.run, Prompts::None)?;
    let viewer = Viewer { global, args, project: &project, store: &store, row: &row, view: &view };
    match (&args.check, args.failed) {
        (None, false) if args.follow => viewer.follow(iteration)?,
        (None, false) => viewer.agent(iteration)?,
        (Some(name), _) => {
            viewer.know_check(name)?;
            let named = |check: &Check| check.report.spec.name().contains(name.as_str());
            viewer.checks(iteration, &format!("guardrail `{name}` was executed"), named)?
        }
        (None, true) => viewer.checks(iteration, "guardrail failed", |check| !check.report.passed())?,
    };
    Ok(exit::OK)
}

struct Viewer<'a> {
    global: &'a Global,
    args: &'a LogsArgs,
    project: &'a Project,
    store: &'a Store,
    row: &'a RunRow,
    view: &'a RunView,
}

impl Viewer<'_> {
    fn agent(&self, iteration: Option<u32>) -> Result<(), CommandError> {
        let attempt = show::find(self.view, self.row, iteration)?;
        if !self.has_log(attempt.iteration, self.stream())? {
            return self.no_log(attempt);
        }
        let mut log = self.log(attempt.iteration, self.stream());
        let mut text = self.way(attempt.iteration, attempt.at);
        pour(|chunk| log.read(chunk), &self.folder(), &mut text)?;
        page::put(&text.finish())
    }

    /// The agent's log as it grows, and the next iteration's after it unless one was named.
    fn follow(&self, named: Option<u32>) -> Result<(), CommandError> {
        let begun = self.view.attempt(None).map_or(1, |attempt| attempt.iteration);
        let mut number = named.unwrap_or(begun);
        let open = |number| self.log(number, self.stream());
        let (mut text, mut log) = (self.way(number, self.row.updated_at), open(number));
        loop {
            // Looked at before the log is read: what a run that is over by now printed is there.
            let row = runs::row(self.store, &self.row.run)?.unwrap_or_else(|| self.row.clone());
            let lives = Live::look(self.project).state(&row) == State::Running;
            pour(|chunk| log.read(chunk), &self.folder(), &mut text)?;
            let over = !lives || row.iteration > number;
            if over {
                page::put(&text.finish())?;
            }
            // A run that is over may have been at an iteration that it could not begin.
            let begun = if lives { row.iteration } else { raw_log::last_logged(&self.folder()).unwrap_or(0) };
            let more = begun.min(row.iteration) > number;
            if over && (named.is_some() || !more) {
                return Ok(());
            }
            if over {
                number += 1;
                page::narrate(self.global, &format!("── iteration {number}/{}", row.max_iterations));
                (text, log) = (self.way(number, row.updated_at), open(number));
            } else {
                page::pause(POLL)?;
            }
        }
    }

    /// The logs of the checks that are wanted: of the named iteration, else of the newest that has any.
    fn checks(&self, named: Option<u32>, what: &str, wanted: impl Fn(&Check) -> bool) -> Result<(), CommandError> {
        let has_any = |attempt: &&AttemptView| attempt.counted().any(&wanted);
        let found = match named {
            Some(number) => Some(show::find(self.view, self.row, Some(number))?).filter(has_any),
            None => self.view.attempts.iter().rev().find(has_any),
        };
        let Some(attempt) = found else {
            let iteration = named.map_or(String::new(), |number| format!(", iteration {number}"));
            page::narrate(self.global, &format!("no {what} in run {}{iteration}", self.row.run));
            return Ok(());
        };
        for check in attempt.counted().filter(|check| wanted(check)) {
            page::narrate(self.global, &check_log::heading(attempt, check));
            self.check(attempt, check)?;
        }
        Ok(())
    }

    fn know_check(&self, name: &str) -> Result<(), CommandError> {
        let rules = &self.view.machine.policy().guardrails;
        if rules.iter().any(|rule| rule.shown().contains(name)) {
            return Ok(());
        }
        let known: Vec<&str> = rules.iter().map(|rule| rule.shown()).collect();
        let error = CommandError::usage(format!("run {} has no guardrail with `{name}` in its command", self.row.run));
        Err(if known.is_empty() {
            error.hint("it has none at all")
        } else {
            error.hint(format!("it has: {}", known.join(", ")))
        })
    }

    fn check(&self, attempt: &AttemptView, check: &Check) -> Result<(), CommandError> {
        let path = self.project.root.join(&check.report.log);
        let log = Log::Check { name: check.report.spec.name().to_owned(), file: check.report.log.clone() };
        let mut text = self.plain(attempt.iteration, check.at, log);
        match check_log::open(&path, &check.report) {
            Ok(mut file) => pour(|chunk| file.read(chunk), &path, &mut text)?,
            Err(why) => {
                page::narrate(self.global, &format!("{}: {why}; the journal kept its beginning", check.report.log));
                page::put(&text.feed(check.report.output_head.as_bytes()))?;
            }
        }
        page::put(&text.finish())
    }

    fn folder(&self) -> PathBuf {
        self.project.run_folder(&self.row.run)
    }

    fn stream(&self) -> Stream {
        if self.args.stderr { Stream::Stderr } else { Stream::Stdout }
    }

    fn log(&self, iteration: u32, stream: Stream) -> LogReader {
        LogReader::new(&self.folder(), iteration, stream)
    }

    fn has_log(&self, iteration: u32, stream: Stream) -> Result<bool, CommandError> {
        self.log(iteration, stream).has_any().map_err(|error| unreadable(&self.folder(), &error))
    }

    fn way(&self, iteration: u32, at: WallTime) -> LogText {
        if self.args.stderr || self.args.raw {
            return self.plain(iteration, at, if self.args.stderr { Log::Stderr } else { Log::Stdout });
        }
        // An empty prompt: what the agent printed back of it is part of the log.
        let agent: &AgentPolicy = &self.view.machine.policy().agent;
        let events = Box::new(Events::new(ralph_agents::for_agent(agent).reader(agent, "")));
        match self.global.json {
            true => LogText::EventLines(events, self.origin(iteration, at)),
            false => {
                // Settings that cannot be read are no reason not to see a log.
                let display = self.project.settings().map(|loaded| loaded.display()).unwrap_or_default();
                let renderer = Renderer::new(self.global.render(&display), None);
                LogText::Events(events, Box::new(renderer), at)
            }
        }
    }

    /// How a log that is only text is printed. Even raw bytes do not get to drive a terminal.
    fn plain(&self, iteration: u32, at: WallTime, log: Log) -> LogText {
        if self.global.json {
            LogText::TextLines(Default::default(), self.origin(iteration, at), log)
        } else if self.args.raw && !io::stdout().is_terminal() {
            LogText::Bytes
        } else {
            LogText::Text(Pieces::default())
        }
    }

    fn origin(&self, iteration: u32, at: WallTime) -> Origin {
        Origin { run: self.row.run.to_string(), iteration, at }
    }

    fn no_log(&self, attempt: &AttemptView) -> Result<(), CommandError> {
        let run = &self.row.run;
        let printed = attempt.agent.as_ref().map(|agent| agent.seen.process.bytes);
        let folder = self.folder();
        let other = if self.args.stderr { Stream::Stdout } else { Stream::Stderr };
        let other_exists = self.has_log(attempt.iteration, other)?;
        if printed.is_some_and(|bytes| bytes > 0) && !other_exists {
            return Err(CommandError::usage(format!("the raw logs of run {run} are gone from {}", folder.display()))
                .hint(format!("the journal still has its last words: ralph show {run}/{}", attempt.iteration)));
        }
        let where_to = if self.args.stderr { "standard error" } else { "standard output" };
        let so_far = if printed.is_none() { " so far" } else { "" };
        let mut line = format!("iteration {} of run {run} printed nothing on {where_to}{so_far}", attempt.iteration);
        if other_exists && !self.args.stderr {
            line.push_str(&format!("; on standard error it did: ralph logs {run}/{} --stderr", attempt.iteration));
        }
        page::narrate(self.global, &line);
        Ok(())
    }
}

/// Prints what a log has from here to its present end.
fn pour(
    mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
    path: &Path,
    text: &mut LogText,
) -> Result<(), CommandError> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(path, &error)),
        };
        page::put(&text.feed(chunk.get(..read).unwrap_or_default()))?;
    }
}

fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::io(format!("the log {} cannot be read", path.display()), error)
}
