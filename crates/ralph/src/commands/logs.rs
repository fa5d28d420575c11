//! `ralph logs`: what the agent and the checks printed.

use super::show;
use crate::cli::Global;
use crate::error::CommandError;
use crate::face::render::Renderer;
use crate::look::check_log;
use crate::look::live::Live;
use crate::look::log_text::{Events, Log, LogText, Origin, Pieces};
use crate::look::page::{self, Audience};
use crate::look::pick::{self, Wanted};
use crate::look::runs;
use crate::look::state::State;
use crate::look::story::{AttemptView, Check, Story};
use crate::project::Project;
use crate::settings::Loaded;
use clap::Args;
use ralph_core::outcome::exit;
use ralph_core::policy::AgentPolicy;
use ralph_core::run::RunRow;
use ralph_core::time::WallTime;
use ralph_store::Store;
use std::fs::File;
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

/// How often a followed log is looked at.
const POLL: Duration = Duration::from_millis(200);
/// How much of a log is held at a time.
const CHUNK: usize = 64 << 10;

/// Runs the command.
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
    let entries = store.entries(&row.run)?;
    let story = Story::of(&entries, None).map_err(|error| pick::unreadable(&row.run, &error))?;
    let viewer = Viewer { global, args, project: &project, store: &store, row: &row, story: &story };
    match (&args.check, args.failed) {
        (None, false) if args.follow => viewer.follow(iteration)?,
        (None, false) => viewer.agent(iteration)?,
        (Some(name), _) => {
            viewer.know_check(name)?;
            let named = |check: &Check<'_>| check.report.spec.command.contains(name.as_str());
            viewer.checks(iteration, &format!("guardrail `{name}` was executed"), named)?
        }
        (None, true) => viewer.checks(iteration, "guardrail failed", |check| !check.report.ending.passed())?,
    };
    Ok(exit::OK)
}

/// One look at the logs of a run.
struct Viewer<'a> {
    global: &'a Global,
    args: &'a LogsArgs,
    project: &'a Project,
    store: &'a Store,
    row: &'a RunRow,
    story: &'a Story<'a>,
}

impl Viewer<'_> {
    /// The agent's log of one iteration.
    fn agent(&self, iteration: Option<u32>) -> Result<Audience, CommandError> {
        let attempt = show::find(self.story, self.row, iteration)?;
        let path = self.log(attempt.iteration);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return self.no_log(attempt),
            Err(error) => return Err(unreadable(&path, &error)),
        };
        let mut text = self.way(attempt.iteration, attempt.at);
        match pour(&mut file, &path, &mut text)? {
            Audience::There => page::put(&text.finish()),
            Audience::Gone => Ok(Audience::Gone),
        }
    }

    /// The agent's log as it grows, and the next iteration's after it unless one was named.
    fn follow(&self, named: Option<u32>) -> Result<Audience, CommandError> {
        let begun = self.story.attempt(None).map_or(1, |attempt| attempt.iteration);
        let mut number = named.unwrap_or(begun);
        let (mut text, mut file) = (self.way(number, self.row.updated_at), None);
        loop {
            // Looked at before the log is read: what a run that is over by now printed is there.
            let row = runs::row(self.store, &self.row.run)?.unwrap_or_else(|| self.row.clone());
            let lives = Live::look(self.project).state(&row) == State::Running;
            let path = self.log(number);
            file = file.or_else(|| File::open(&path).ok());
            if let Some(file) = &mut file
                && pour(file, &path, &mut text)? == Audience::Gone
            {
                return Ok(Audience::Gone);
            }
            let over = !lives || row.iteration > number;
            if over && page::put(&text.finish())? == Audience::Gone {
                return Ok(Audience::Gone);
            }
            // A run that is over may have been at an iteration that it could not begin.
            let printed = |next: u32| self.log(next).exists();
            let more = if lives { row.iteration > number } else { (number + 1..=row.iteration).any(printed) };
            if over && (named.is_some() || !more) {
                return Ok(Audience::There);
            }
            if over {
                number += 1;
                page::narrate(self.global, &format!("── iteration {number}/{}", row.max_iterations));
                (text, file) = (self.way(number, row.updated_at), None);
            } else if page::pause(POLL) == Audience::Gone {
                return Ok(Audience::Gone);
            }
        }
    }

    /// The logs of the checks that are wanted: of the named iteration, else of the newest that has any.
    fn checks(
        &self,
        named: Option<u32>,
        what: &str,
        wanted: impl Fn(&Check<'_>) -> bool,
    ) -> Result<Audience, CommandError> {
        let has_any = |attempt: &&AttemptView<'_>| attempt.counted().any(&wanted);
        let found = match named {
            Some(number) => Some(show::find(self.story, self.row, Some(number))?).filter(has_any),
            None => self.story.attempts.iter().rev().find(has_any),
        };
        let Some(attempt) = found else {
            let iteration = named.map_or(String::new(), |number| format!(", iteration {number}"));
            page::narrate(self.global, &format!("no {what} in run {}{iteration}", self.row.run));
            return Ok(Audience::There);
        };
        for check in attempt.counted().filter(|check| wanted(check)) {
            page::narrate(self.global, &check_log::heading(attempt, check));
            if self.check(attempt, check)? == Audience::Gone {
                return Ok(Audience::Gone);
            }
        }
        Ok(Audience::There)
    }

    /// Refuses a name that no guardrail of this run has.
    fn know_check(&self, name: &str) -> Result<(), CommandError> {
        let rules = &self.story.machine.policy().guardrails;
        if rules.iter().any(|rule| rule.command.contains(name)) {
            return Ok(());
        }
        let known: Vec<&str> = rules.iter().map(|rule| rule.command.as_str()).collect();
        let error = CommandError::usage(format!("run {} has no guardrail with `{name}` in its command", self.row.run));
        Err(if known.is_empty() {
            error.hint("it has none at all")
        } else {
            error.hint(format!("it has: {}", known.join(", ")))
        })
    }

    fn check(&self, attempt: &AttemptView<'_>, check: &Check<'_>) -> Result<Audience, CommandError> {
        let path = self.project.root.join(&check.report.log);
        let log = Log::Check { name: check.report.spec.command.clone(), file: check.report.log.clone() };
        let mut text = self.plain(attempt.iteration, check.at, log);
        match check_log::open(&path, check.report) {
            Ok(mut file) => {
                if pour(&mut file, &path, &mut text)? == Audience::Gone {
                    return Ok(Audience::Gone);
                }
            }
            Err(why) => {
                page::narrate(self.global, &format!("{}: {why}; the journal kept its beginning", check.report.log));
                if page::put(&text.feed(check.report.output_head.as_bytes()))? == Audience::Gone {
                    return Ok(Audience::Gone);
                }
            }
        }
        page::put(&text.finish())
    }

    fn log(&self, iteration: u32) -> PathBuf {
        let stream = if self.args.stderr { "stderr" } else { "stdout" };
        self.project.run_folder(&self.row.run).join(format!("{iteration:03}.{stream}.log"))
    }

    /// How the agent's log is printed.
    fn way(&self, iteration: u32, at: WallTime) -> LogText {
        if self.args.stderr || self.args.raw {
            return self.plain(iteration, at, if self.args.stderr { Log::Stderr } else { Log::Stdout });
        }
        // An empty prompt: what the agent printed back of it is part of the log.
        let agent: &AgentPolicy = &self.story.machine.policy().agent;
        let events = Box::new(Events::new(ralph_agents::for_agent(agent).reader(agent, "")));
        match self.global.json {
            true => LogText::EventLines(events, self.origin(iteration, at)),
            false => {
                // Settings that cannot be read are no reason not to see a log.
                let display = Loaded::read(&self.project.root).map(|loaded| loaded.display()).unwrap_or_default();
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

    /// Says why there is no log.
    fn no_log(&self, attempt: &AttemptView<'_>) -> Result<Audience, CommandError> {
        let run = &self.row.run;
        let printed = attempt.agent.as_ref().map(|agent| agent.seen.process.bytes);
        let folder = self.project.run_folder(run);
        let other = if self.args.stderr { "stdout" } else { "stderr" };
        let other_exists = folder.join(format!("{:03}.{other}.log", attempt.iteration)).exists();
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
        Ok(Audience::There)
    }
}

/// Prints what a file has from here to its present end.
fn pour(file: &mut File, path: &Path, text: &mut LogText) -> Result<Audience, CommandError> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match file.read(&mut chunk) {
            Ok(0) => return Ok(Audience::There),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(path, &error)),
        };
        if page::put(&text.feed(chunk.get(..read).unwrap_or_default()))? == Audience::Gone {
            return Ok(Audience::Gone);
        }
    }
}

fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::io(format!("the log {} cannot be read", path.display()), error)
}
