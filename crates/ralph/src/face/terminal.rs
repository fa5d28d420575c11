//! The face for people: narration on standard error, the agent's words and the end on standard
//! output, and on a terminal one live line at the bottom.

use super::out::{Out, Target, Worth};
use super::paint::Paint;
use super::render::{self, Marks, Renderer, amounts};
use super::status_line::StatusLine;
use super::{FaceOptions, Shown, Volume, local_time};
use crate::look::log_text::Pieces;
use crate::look::words;
use ralph_core::agent_event::AgentEvent;
use ralph_core::claim::Claim;
use ralph_core::notice::{Notice, ResumeKind, VerdictWord};
use ralph_core::observation::LineCounts;
use ralph_core::outcome::{Outcome, StopReason};
use ralph_core::policy::Policy;
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
    err: Paint,
    std: Paint,
    clock: Clock,
    renderer: Renderer,
    stderr: Pieces,
    line: StatusLine,
    drawn: bool,
    run: String,
    project: String,
    /// What a command needs to find the project from the caller's folder.
    folder_flag: String,
    policy: Option<Box<Policy>>,
    waiting_until: Option<WallTime>,
    last_word: Millis,
}

impl Terminal {
    /// A face on these ends.
    pub fn new(out: Out, options: FaceOptions, clock: Clock, project: Shown) -> Terminal {
        let err = Paint::for_end(options.color, &std::io::stderr(), options.colorless);
        let std = Paint::for_end(options.color, &std::io::stdout(), options.colorless);
        Terminal {
            out,
            options,
            err,
            std,
            clock,
            renderer: Renderer::new(options.render, None),
            stderr: Pieces::default(),
            line: StatusLine::default(),
            drawn: false,
            run: String::new(),
            project: text::for_terminal(&project.name),
            folder_flag: project.folder_flag,
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

    fn marks(&self) -> Marks {
        self.options.render.marks
    }

    fn last_iteration(&self, iteration: u32) -> u32 {
        self.policy.as_ref().map_or(iteration, |policy| policy.last_iteration(iteration))
    }

    fn header(&mut self, policy: &Policy, resumed: Option<ResumeKind>) {
        let head = format!(
            "{} {} · project {} · run {} · agent {} · task {}",
            self.err.bold("ralph"),
            env!("CARGO_PKG_VERSION"),
            self.project,
            self.run,
            text::for_terminal(&policy.agent.command),
            policy.task
        );
        self.say(&head);
        let mut limits = vec![words::passes(policy)];
        limits.extend((!policy.limits.wall.is_off()).then(|| policy.limits.wall.to_string()));
        limits.extend((policy.limits.max_cost_usd > 0.0).then(|| format!("${:.2}", policy.limits.max_cost_usd)));
        limits.extend((policy.limits.max_tokens > 0).then(|| format!("{} tokens", policy.limits.max_tokens)));
        let checks: Vec<&str> = policy.guardrails.iter().map(|guardrail| guardrail.command.as_str()).collect();
        let checks = if checks.is_empty() {
            "none, so a claim will be believed unverified".to_owned()
        } else {
            checks.join(", ")
        };
        let line = self.err.dim(&format!("limits: {} · checks: {}", limits.join(", "), text::for_terminal(&checks)));
        self.say(&line);
        if let Some(kind) = resumed {
            let words = match kind {
                ResumeKind::NextIteration(n) => format!("continuing with iteration {n}"),
                ResumeKind::SameIteration(n) => {
                    format!("continuing with iteration {n} from its beginning: it was not finished")
                }
                ResumeKind::Checks(n) => format!("continuing with the checks of iteration {n}: its agent had finished"),
                ResumeKind::AtALimit => "nothing can be done within the limits".to_owned(),
            };
            self.say(&format!("resumed · {words}"));
        }
    }

    fn check(&mut self, notice: &Notice) {
        let Notice::CheckFinished {
            kind, name, passed, problem, exit_code, duration, log, fail_action, output, ..
        } = notice
        else {
            return;
        };
        if let Some(code) = exit_code {
            self.log(&format!("Guardrail exited with code {code} ({:.1}s)", duration.duration().as_secs_f64()));
        }
        let name = text::for_terminal(name);
        if *passed {
            let line =
                format!("  {} {} {name} passed ({duration})", self.err.green(self.marks().passed()), kind.as_str());
            return self.say(&line);
        }
        let action = fail_action.map_or(String::new(), |action| {
            format!(" · {action} to the next prompt").replace("REPLACE to", "REPLACE for")
        });
        let line = format!(
            "  {} {} {name} {} ({duration}){action}",
            self.err.red(self.marks().failed()),
            kind.as_str(),
            self.err.red(problem)
        );
        self.say(&line);
        // A failure is unfolded: its first lines, and where the rest is.
        for shown in text::for_terminal(output).lines().filter(|line| !line.trim().is_empty()).take(5) {
            let shown = self.err.dim(&format!("      {}", text::cut(shown, 160, "...")));
            self.say(&shown);
        }
        if let Some(log) = log {
            let line = self.err.dim(&format!("      all of it: {log}"));
            self.say(&line);
        }
    }

    fn iteration_finished(&mut self, notice: &Notice) {
        let Notice::IterationFinished { iteration, claim, verdict, reasons, cost_usd, leaked, duration, .. } = notice
        else {
            return;
        };
        if let Some(cost) = cost_usd {
            self.line.cost_usd = Some(self.line.cost_usd.unwrap_or(0.0) + cost);
        }
        let said = match claim {
            Claim::None => "",
            Claim::Complete => " · claimed complete",
            Claim::Blocked { .. } => " · claimed blocked",
            Claim::Wait => " · asked to wait",
        };
        let accepted = reasons.is_empty();
        let verdict = match verdict {
            VerdictWord::Stop if accepted => self.err.green("accepted"),
            VerdictWord::Stop if matches!(claim, Claim::Blocked { .. }) => self.err.yellow("stops"),
            VerdictWord::Stop => self.err.yellow("not accepted"),
            VerdictWord::Continue if said.is_empty() => "goes on".to_owned(),
            VerdictWord::Continue => self.err.yellow("not accepted, goes on"),
            VerdictWord::Retry | VerdictWord::Wait => self.err.yellow("will be repeated, not counted"),
        };
        let cost = cost_usd.map_or(String::new(), |cost| format!(" · ${cost:.2}"));
        let leaked = if *leaked > 0 { format!(" · {leaked} leaked") } else { String::new() };
        self.say(&format!(
            "iteration {iteration}/{}{said} · {verdict} · {duration}{cost}{leaked}",
            self.last_iteration(*iteration)
        ));
        for reason in reasons {
            let line = self.err.dim(&format!("  - {}", text::for_terminal(reason)));
            self.say(&line);
        }
    }

    fn finished(&mut self, outcome: &Outcome) {
        self.clear();
        let paint = self.std;
        let verified = match (outcome.reason, outcome.verified) {
            (StopReason::Complete, true) => format!("{} · verified", paint.green("complete")),
            (StopReason::Complete, false) => format!("{} · claimed, not verified", paint.yellow("complete")),
            (reason, _) => format!("{} · not verified", paint.red(reason.as_str())),
        };
        let mut facts = vec![format!("run {}", self.run), text::count(outcome.iterations.into(), "iteration")];
        facts.push(self.clock.elapsed().to_string());
        facts.extend(outcome.cost_usd.map(|cost| format!("${cost:.2}")));
        facts.extend((outcome.tokens.total() > 0).then(|| amounts::tokens(outcome.tokens)));
        let mut block = format!(
            "\n{}\n  {}\n  {}\n",
            paint.bold(&verified),
            text::for_terminal(&outcome.message),
            paint.dim(&facts.join(" · "))
        );
        for (index, command) in outcome.next.iter().enumerate() {
            let lead = if index == 0 { "next: " } else { "      " };
            let command = command.replace("ralph ", &format!("ralph{} ", self.folder_flag));
            block.push_str(&format!("  {lead}{}\n", paint.cyan(&command)));
        }
        self.out.write(Target::Stdout, Worth::Kept, block);
    }
}

impl Face for Terminal {
    fn notice(&mut self, at: WallTime, notice: &Notice) {
        match notice {
            Notice::RunStarted { run, policy, resumed } => {
                self.run = run.to_string();
                self.policy = Some(policy.clone());
                self.line.began = self.clock.elapsed();
                self.header(policy, *resumed);
            }
            Notice::IterationStarted { iteration, attempt, prompt, .. } => {
                let last = self.last_iteration(*iteration);
                self.renderer = Renderer::new(self.options.render, Some(at));
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
                let line = self.err.bold(&format!("iteration {iteration}/{last}{again}"));
                self.say(&line);
            }
            Notice::AgentEnded { how, well, lines, duration, .. } => {
                let rest = self.renderer.end_text(at);
                self.show(rest);
                let rest = self.stderr.finish();
                self.pass_on(if rest.is_empty() { rest } else { rest + "\n" });
                self.line.heard = None;
                self.line.activity = "checking".to_owned();
                self.log(&format!("Agent {} ({:.1}s)", text::for_terminal(how), duration.duration().as_secs_f64()));
                if let Some(counts) = not_understood(*lines).filter(|_| self.options.volume == Volume::Verbose) {
                    let line = self.err.dim(&format!("  {counts}"));
                    self.say(&line);
                }
                if !well {
                    let line = format!("  {} agent: {}", self.err.red(self.marks().failed()), text::for_terminal(how));
                    self.say(&line);
                }
            }
            Notice::CheckStarted { name, .. } => {
                self.line.activity = format!("check {name}");
                self.log(&format!("Running guardrail: {}", text::for_terminal(name)));
            }
            Notice::CheckFinished { .. } => self.check(notice),
            Notice::ScmStarted { task, .. } => {
                self.line.activity = format!("scm {task}");
                self.log(&format!("Running SCM task: {}", text::for_terminal(task)));
            }
            Notice::ScmFinished { task, passed, detail, duration, .. } => {
                let task = text::for_terminal(task);
                // A message may have a body; its subject is what people know a commit by.
                let detail = text::for_terminal(detail.lines().next().unwrap_or_default());
                let line = match (*passed, detail.is_empty()) {
                    (true, true) => format!("  {} scm {task} ({duration})", self.err.green("✓")),
                    (true, false) => format!("  {} scm {task}: {detail} ({duration})", self.err.green("✓")),
                    (false, _) => format!("  {} scm {task} {} ({duration})", self.err.red("✗"), self.err.red(&detail)),
                };
                self.say(&line);
            }
            Notice::IterationFinished { .. } => self.iteration_finished(notice),
            Notice::Waiting { until, why, .. } => {
                self.waiting_until = Some(*until);
                self.line.activity = format!("waiting until {}", local_time::short(*until, at));
                let left = words::between(at, *until);
                let words = format!("{}, {left} left · {}", self.line.activity, text::for_terminal(why));
                let line = self.err.yellow(&words);
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
                    let line = self.err.dim("what runs now may finish; once more to stop it at once");
                    self.say(&line);
                }
            }
            Notice::Note { text } => {
                let line = format!("{} {}", self.err.yellow("note:"), text::for_terminal(text));
                self.say(&line);
            }
            Notice::RunFinished { outcome } => self.finished(outcome),
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
        self.clear();
        self.out.finish();
    }
}

/// What was in an agent's stream and not understood; `None` if that is nothing.
fn not_understood(lines: LineCounts) -> Option<String> {
    let LineCounts { noise, unknown, too_long, suspect_usage } = lines;
    let counts = [
        (unknown, "unknown event", ""),
        (noise, "line", " not understood"),
        (too_long, "line", " too long to be read"),
        (suspect_usage, "usage figure", " that cannot be true"),
    ];
    let told: Vec<String> = counts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, word, what)| text::count(number, word) + what)
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}
