//! The face for people: narration on standard error, the agent's words and the end on standard
//! output, and on a terminal one live line at the bottom.

use super::narration::{self, Narration, RunOf};
use super::out::{Out, Target, Worth};
use super::paint::Paint;
use super::render::{self, Renderer};
use super::status_line::StatusLine;
use super::{FaceOptions, Shown, Volume, local_time};
use crate::look::log_text::Pieces;
use crate::look::words;
use crate::suggest::Suggest;
use ralph_core::agent_event::AgentEvent;
use ralph_core::notice::Notice;
use ralph_core::policy::{LoopKind, Policy};
use ralph_core::text;
use ralph_core::time::{Millis, WallTime};
use ralph_engine::Face;
use ralph_host::clock::Clock;
use std::time::Duration;

/// How often the live line is drawn: often enough to look alive, seldom enough to cost nothing.
const REDRAW: Duration = Duration::from_millis(500);
/// Off a terminal, a line this often says that it still lives; a wait has said how long it will take.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// Shows a run to a person.
pub struct Terminal {
    out: Out,
    options: FaceOptions,
    /// The voice on standard error.
    voice: Narration,
    clock: Clock,
    renderer: Renderer,
    stderr: Pieces,
    line: StatusLine,
    drawn: bool,
    run: String,
    project: String,
    /// What a command needs to find the project from the caller's folder.
    suggest: Suggest,
    policy: Option<Box<Policy>>,
    waiting_until: Option<WallTime>,
    last_word: Millis,
}

impl Terminal {
    /// A face on these ends.
    pub fn new(out: Out, options: FaceOptions, clock: Clock, project: Shown) -> Terminal {
        let paint = Paint::for_end(options.color, &std::io::stderr(), options.colorless);
        Terminal {
            out,
            options,
            voice: Narration { paint, marks: options.render.marks },
            clock,
            renderer: Renderer::new(options.render, None),
            stderr: Pieces::default(),
            line: StatusLine::default(),
            drawn: false,
            run: String::new(),
            project: project.name,
            suggest: project.suggest,
            policy: None,
            waiting_until: None,
            last_word: Millis::ZERO,
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            self.out.write(Target::Stderr, Worth::Kept, "\r\u{1b}[K");
        }
    }

    /// A line of narration.
    fn say(&mut self, line: &str) {
        self.clear();
        self.last_word = self.clock.elapsed();
        if self.options.volume != Volume::Quiet {
            self.out.write(Target::Stderr, Worth::Kept, format!("{line}\n"));
        }
    }

    fn say_all(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.say(line));
    }

    /// A line in the form of the verbose log.
    fn log(&mut self, line: &str) {
        if self.options.volume == Volume::Verbose {
            let line = format!("[ralph] {line}");
            self.say(&line);
        }
    }

    /// Lines of the agent.
    fn show(&mut self, lines: String) {
        if !lines.is_empty() {
            self.clear();
            self.last_word = self.clock.elapsed();
            self.out.write(Target::Stdout, Worth::Skippable, lines);
        }
    }

    /// Lines that the agent wrote to standard error.
    fn pass_on(&mut self, lines: String) {
        if !lines.is_empty() {
            self.clear();
            self.out.write(Target::Stderr, Worth::Skippable, lines);
        }
    }

    fn kind(&self) -> LoopKind {
        self.policy.as_ref().map_or(LoopKind::Prompt, |policy| policy.kind)
    }

    fn last_iteration(&self, iteration: u32) -> u32 {
        self.policy.as_ref().map_or(iteration, |policy| policy.last_iteration(iteration))
    }
}

impl Face for Terminal {
    fn notice(&mut self, at: WallTime, notice: &Notice) {
        match notice {
            Notice::RunStarted { run, policy, resumed } => {
                self.run = run.to_string();
                self.policy = Some(policy.clone());
                self.line.began = self.clock.elapsed();
                self.say_all(&self.voice.header(&self.project, &self.run, policy));
                self.say_all(
                    &resumed.map(|kind| narration::resumed(kind, policy.kind.step())).into_iter().collect::<Vec<_>>(),
                );
            }
            Notice::IterationStarted { iteration, attempt, prompt, .. } => {
                let last = self.last_iteration(*iteration);
                self.renderer = Renderer::new(self.options.render, Some(at));
                self.line.step = self.kind().step();
                self.line.iteration = (*iteration, last);
                self.line.activity = "agent starting".to_owned();
                self.line.heard = Some(self.clock.elapsed());
                self.line.waiting = None;
                self.waiting_until = None;
                self.log(&format!("Iteration {iteration}/{last} starting"));
                if self.options.volume == Volume::Verbose {
                    self.log(&format!(
                        "Prompt: {}",
                        text::truncate(&text::for_terminal(prompt).replace('\n', " "), 200)
                    ));
                }
                let again = if *attempt > 1 { format!(" · attempt {attempt}") } else { String::new() };
                let line = match self.kind() {
                    LoopKind::Prompt => format!("iteration {iteration}/{last}{again}"),
                    LoopKind::Supervise => format!("Starting agent (attempt {iteration}/{last})"),
                };
                let line = self.voice.paint.bold(&line);
                self.say(&line);
            }
            Notice::AgentEnded { how, well, lines, duration, .. } => {
                let rest = self.renderer.end_text(at);
                self.show(rest);
                let rest = self.stderr.finish();
                self.pass_on(if rest.is_empty() { rest } else { rest + "\n" });
                self.line.heard = None;
                self.line.activity = match self.kind() {
                    LoopKind::Prompt => "checking".to_owned(),
                    LoopKind::Supervise => "pausing".to_owned(),
                };
                self.log(&format!("Agent {} ({:.1}s)", text::for_terminal(how), duration.duration().as_secs_f64()));
                if let Some(counts) =
                    narration::not_understood(*lines).filter(|_| self.options.volume == Volume::Verbose)
                {
                    let line = self.voice.paint.dim(&format!("  {counts}"));
                    self.say(&line);
                }
                // An attempt's line says it all.
                if !well && self.kind() != LoopKind::Supervise {
                    let line = format!(
                        "  {} agent: {}",
                        self.voice.paint.red(self.voice.marks.failed()),
                        text::for_terminal(how)
                    );
                    self.say(&line);
                }
            }
            Notice::CheckStarted { name, .. } => {
                self.line.activity = format!("check {name}");
                self.log(&format!("Running guardrail: {}", text::for_terminal(name)));
            }
            Notice::CheckFinished { exit_code, duration, .. } => {
                if let Some(code) = exit_code {
                    self.log(&format!("Guardrail exited with code {code} ({:.1}s)", duration.duration().as_secs_f64()));
                }
                self.say_all(&self.voice.check(notice));
            }
            Notice::ScmStarted { task, .. } => {
                self.line.activity = format!("scm {task}");
                self.log(&format!("Running SCM task: {}", text::for_terminal(task)));
            }
            Notice::ScmFinished { .. } => self.say_all(&self.voice.scm(notice)),
            Notice::IterationFinished { iteration, cost_usd, .. } => {
                if let Some(cost) = cost_usd {
                    self.line.cost_usd = Some(self.line.cost_usd.unwrap_or(0.0) + cost);
                }
                match self.kind() {
                    LoopKind::Prompt => {
                        self.say_all(&self.voice.iteration_finished(notice, self.last_iteration(*iteration)));
                    }
                    LoopKind::Supervise => self.say_all(&self.voice.attempt_finished(notice)),
                }
            }
            Notice::Waiting { until, why, .. } => {
                self.waiting_until = Some(*until);
                self.line.activity = format!("waiting until {}", local_time::short(*until, at));
                let left = words::between(at, *until);
                let words = format!("{}, {left} left · {}", self.line.activity, text::for_terminal(why));
                let line = self.voice.paint.yellow(&words);
                self.say(&line);
            }
            Notice::Stopping { now } => {
                self.line.stopping = true;
                if *now {
                    self.say("stopping now: ending the agent and everything it started");
                } else {
                    // The words of seed 001; whoever greps for them finds them.
                    self.clear();
                    self.out.write(Target::Stderr, Worth::Kept, "Received signal, shutting down...\n");
                    let line = self.voice.paint.dim("what runs now may finish; once more to stop it at once");
                    self.say(&line);
                }
            }
            Notice::Note { text } => {
                let line = format!("{} {}", self.voice.paint.yellow("note:"), text::for_terminal(text));
                self.say(&line);
            }
            Notice::RunFinished { outcome, elapsed } => {
                self.clear();
                let voice = Narration { paint: self.options.render.paint, ..self.voice };
                let run = RunOf { run: &self.run, kind: self.kind() };
                let block = voice.end(&run, outcome, *elapsed, &self.suggest);
                self.out.write(Target::Stdout, Worth::Kept, block);
            }
        }
    }

    fn agent_event(&mut self, at: WallTime, _iteration: u32, event: &AgentEvent) {
        if let Some(words) = render::in_a_few_words(event) {
            self.line.activity = words;
        }
        if self.options.stream && self.options.volume != Volume::Quiet {
            let shown = self.renderer.render(at, event);
            self.show(shown);
        }
    }

    fn wants_agent_events(&self) -> bool {
        self.options.live || (self.options.stream && self.options.volume != Volume::Quiet && !self.out.stdout_is_gone())
    }

    fn heard(&mut self, _at: WallTime) {
        if self.line.heard.is_some() {
            self.line.heard = Some(self.clock.elapsed());
        }
    }

    fn agent_stderr(&mut self, bytes: &[u8]) {
        if self.options.volume == Volume::Verbose {
            let lines = self.stderr.feed(bytes);
            self.pass_on(lines);
        }
    }

    fn tick_every(&self) -> Option<Duration> {
        match (self.options.live, self.options.volume) {
            (true, _) => Some(REDRAW),
            (false, Volume::Quiet) => None,
            (false, _) => Some(KEEP_ALIVE),
        }
    }

    fn tick(&mut self) {
        let now = self.clock.elapsed();
        self.line.waiting = self.waiting_until.map(|until| words::between(self.clock.now(), until));
        let skipped = self.out.take_skipped();
        if skipped > 0 {
            self.say(&format!(
                "note: {skipped} pieces of output were skipped: their reader is slow (ralph logs {} has all)",
                self.run
            ));
        }
        if self.options.live {
            let columns = super::columns();
            let line = self.line.draw(now, columns);
            self.drawn = true;
            self.out.write(Target::Stderr, Worth::Skippable, format!("\r\u{1b}[K{line}"));
        } else if self.waiting_until.is_none() && now.minus(self.last_word) >= Millis::from(KEEP_ALIVE) {
            let line = self.line.draw(now, 200).chars().skip(2).collect::<String>().replace(" · ^C stop", "");
            self.say(&line);
        }
    }

    fn suspended(&mut self) {
        self.clear();
    }

    fn continued(&mut self) {}

    fn finish(&mut self) {
        // A run that could not be carried to its end leaves no half line either.
        let rest = self.renderer.end_text(self.clock.now());
        self.show(rest);
        self.clear();
        self.out.finish();
    }
}
