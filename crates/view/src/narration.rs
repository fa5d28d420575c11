//! What a run says of itself to people while it goes on: each notice in its words. Nothing here prints; nothing
//! that came from an agent, a check or a file goes out as it is.

use crate::agent_lines::{self, RenderOptions, Renderer};
use crate::judges;
use crate::pieces::Pieces;
use crate::status_line::StatusLine;
use crate::words::{self, amounts};
use crate::{Paint, Style, Suggest};
use ralph_core::agent_event::AgentEvent;
use ralph_core::check::CheckKind;
use ralph_core::claim::Claim;
use ralph_core::notice::{Notice, PlanTurn, ResumeKind, VerdictWord};
use ralph_core::observation::LineCounts;
use ralph_core::outcome::{Outcome, StopReason, Verification};
use ralph_core::plan::choice::Budget;
use ralph_core::plan::{Decision, Mode};
use ralph_core::policy::{LoopKind, Policy};
use ralph_core::tests_changed::TestsChanged;
use ralph_core::text;
use ralph_core::time::{Millis, WallTime};
use std::sync::Arc;

/// Lines of a failed check's output that are unfolded, and how long they may be.
const UNFOLDED_LINES: usize = 5;
const UNFOLDED_CHARS: usize = 160;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Volume {
    /// Only the end.
    Quiet,
    #[default]
    Normal,
    Verbose,
}

/// Something to show. Its kind says where it goes and whether it may be left out when the reader is slow.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    Line(String),
    /// A line that even the quiet want to read.
    Urgent(String),
    /// Lines of the agent, which are in its log too.
    Agent(String),
    /// Lines that the agent wrote to standard error, likewise.
    AgentStderr(String),
    End(String),
}

/// Lines of narration. Nobody can forge a line of ralph's own by a newline.
fn each_a_line(lines: Vec<String>) -> impl Iterator<Item = Said> {
    lines.into_iter().map(|line| Said::Line(line.replace('\n', " ")))
}

#[derive(Default)]
pub struct Narrator {
    style: Style,
    /// The look of the agent's lines and of the end.
    render: RenderOptions,
    volume: Volume,
    version: &'static str,
    project: String,
    run: String,
    policy: Option<Arc<Policy>>,
    renderer: Renderer,
    stderr: Pieces,
    line: StatusLine,
    waiting_until: Option<WallTime>,
    failed: Vec<String>,
}

impl Narrator {
    /// Tells a run of `project`, as this version of ralph.
    pub fn new(
        style: Style,
        render: RenderOptions,
        volume: Volume,
        version: &'static str,
        project: String,
    ) -> Narrator {
        let renderer = Renderer::new(render.clone(), None);
        Narrator { renderer, style, render, volume, version, project, ..Narrator::default() }
    }

    pub fn run(&self) -> &str {
        &self.run
    }

    fn paint(&self) -> Paint {
        self.style.paint
    }

    fn kind(&self) -> LoopKind {
        self.policy.as_ref().map_or(LoopKind::Prompt, |policy| policy.kind.name())
    }

    fn last_iteration(&self, iteration: u32) -> u32 {
        self.policy.as_ref().map_or(iteration, |policy| policy.last_iteration(iteration))
    }

    /// A line of the verbose log, made only where somebody reads it: a prompt may be long.
    fn log(&self, line: impl FnOnce() -> String) -> Option<String> {
        (self.volume == Volume::Verbose).then(|| format!("[ralph] {}", line()))
    }

    /// What a notice says. `now` is the time by the clock that counts the run's own time.
    pub fn notice(&mut self, at: WallTime, now: Millis, notice: &Notice) -> Vec<Said> {
        let lines = match notice {
            Notice::RunStarted { run, policy, resumed } => {
                self.run = run.to_string();
                self.line.began = now;
                self.policy = Some(policy.clone());
                let resumed = resumed.map(|kind| self::resumed(kind, words::step(policy.kind.name())));
                self.header(policy).into_iter().chain(resumed).collect()
            }
            Notice::Pinned { files, programs } => {
                let told = format!("judges: {} (ralph judges)", judges::count(*files, *programs));
                vec![self.paint().dim(&told)]
            }
            Notice::PlanStarted { budget, allowed } => {
                let warning = budget.warning(*allowed).map(|warning| self.paint().yellow(&format!("  ! {warning}")));
                std::iter::once(budget.start_line(*allowed)).chain(warning).collect()
            }
            Notice::PlanJudged { turn, decision, undone, budget, .. } => {
                self.plan_judged(turn, decision, undone, budget)
            }
            Notice::IterationStarted { iteration, attempt, prompt, turn, .. } => {
                self.iteration_started(at, now, (*iteration, *attempt), (prompt, turn.as_deref()))
            }
            Notice::AgentEnded { how, well, lines, duration, .. } => {
                let mut said = self.end(at);
                said.extend(each_a_line(self.agent_ended(how, *well, *lines, *duration)));
                return said;
            }
            Notice::CheckStarted { name, .. } => {
                self.line.activity = format!("check {name}");
                self.log(|| format!("Running guardrail: {}", text::for_terminal(name))).into_iter().collect()
            }
            Notice::CheckFinished { .. } => self.check(notice),
            Notice::ScmStarted { task, .. } => {
                self.line.activity = format!("scm {task}");
                self.log(|| format!("Running SCM task: {}", text::for_terminal(task))).into_iter().collect()
            }
            Notice::ScmFinished { .. } => self.scm(notice),
            Notice::IterationFinished { .. } => self.iteration_finished(notice),
            Notice::Waiting { until, why, .. } => {
                self.waiting_until = Some(*until);
                self.line.activity = format!("waiting until {}", self.style.zone.short(*until, at));
                let left = words::between(at, *until);
                let line = format!("{}, {left} left · {}", self.line.activity, text::for_terminal(why));
                vec![self.paint().yellow(&line)]
            }
            Notice::Stopping { now } => return self.stopping(*now),
            Notice::Note(note) => {
                vec![format!("{} {}", self.paint().yellow("note:"), text::for_terminal(&note.to_string()))]
            }
            Notice::RunFinished { outcome, elapsed } => {
                let end = end(self.render.paint, (&self.run, self.kind()), outcome, *elapsed, &self.style.suggest);
                return vec![Said::End(end)];
            }
        };
        each_a_line(lines).collect()
    }

    fn header(&self, policy: &Policy) -> Vec<String> {
        let head = format!(
            "{} {} · project {} · run {} · agent {} · task {}",
            self.paint().bold("ralph"),
            self.version,
            text::for_terminal(&self.project),
            self.run,
            text::for_terminal(&policy.agent.command),
            policy.task
        );
        let mut limits = vec![words::passes(policy)];
        limits.extend((!policy.limits.wall.is_off()).then(|| policy.limits.wall.to_string()));
        limits.extend((policy.limits.max_cost_usd > 0.0).then(|| words::money(policy.limits.max_cost_usd)));
        limits.extend((policy.limits.max_tokens > 0).then(|| format!("{} tokens", policy.limits.max_tokens)));
        let checks: Vec<&str> = policy.guardrails.iter().map(|guardrail| guardrail.shown()).collect();
        let rest = match policy.supervision() {
            Some(supervision) => format!("until DONE in {}", text::for_terminal(&supervision.task_folder)),
            None if policy.plan().is_some() => {
                let own = if checks.is_empty() { String::new() } else { format!("{}, ", checks.join(", ")) };
                format!("checks: {}verify commands of the plan", text::for_terminal(&own))
            }
            None if checks.is_empty() => "checks: none, so a claim will be believed unverified".to_owned(),
            None => format!("checks: {}", text::for_terminal(&checks.join(", "))),
        };
        vec![head, self.paint().dim(&format!("limits: {} · {rest}", limits.join(", ")))]
    }

    fn iteration_started(
        &mut self,
        at: WallTime,
        now: Millis,
        (iteration, attempt): (u32, u32),
        (prompt, turn): (&str, Option<&PlanTurn>),
    ) -> Vec<String> {
        let last = self.last_iteration(iteration);
        self.renderer = Renderer::new(self.render.clone(), Some(at));
        self.line.step = words::step(self.kind());
        self.line.iteration = (iteration, last);
        self.line.activity = "agent starting".to_owned();
        self.line.heard = Some(now);
        self.waiting_until = None;
        self.failed.clear();
        let again = if attempt > 1 { format!(" · attempt {attempt}") } else { String::new() };
        let line = match self.kind() {
            LoopKind::Prompt => format!("iteration {iteration}/{last}{again}"),
            LoopKind::Plan => {
                let turn = turn.map_or(String::new(), |turn| format!(" · {}", plan_turn(turn)));
                format!("iteration {iteration}/{last}{again}{turn}")
            }
            LoopKind::Supervise => format!("Starting agent (attempt {iteration}/{last})"),
        };
        let logged = [
            self.log(|| format!("Iteration {iteration}/{last} starting")),
            self.log(|| format!("Prompt: {}", text::truncate(&words::one_line(prompt), 200))),
        ];
        logged.into_iter().flatten().chain([self.paint().bold(&line)]).collect()
    }

    /// What an iteration made of its plan, in one line, and below it what was undone.
    fn plan_judged(&self, turn: &PlanTurn, decision: &Decision, undone: &[String], budget: &Budget) -> Vec<String> {
        let paint = self.paint();
        let line = match plan_decision(turn, decision) {
            Some((well, said)) => {
                vec![format!("  {} {said} ({}/{} done)", paint.check(well), budget.done, budget.stories)]
            }
            None => Vec::new(),
        };
        let undone = undone.iter().map(|what| paint.yellow(&format!("  ! undone: {}", text::for_terminal(what))));
        line.into_iter().chain(undone).collect()
    }

    fn agent_ended(&mut self, how: &str, well: bool, lines: LineCounts, duration: Millis) -> Vec<String> {
        self.line.heard = None;
        self.line.activity = match self.kind() {
            LoopKind::Prompt | LoopKind::Plan => "checking".to_owned(),
            LoopKind::Supervise => "pausing".to_owned(),
        };
        let (paint, how) = (self.paint(), text::for_terminal(how));
        let log = self.log(|| format!("Agent {how} ({:.1}s)", duration.duration().as_secs_f64()));
        let counts = not_understood(lines).filter(|_| self.volume == Volume::Verbose);
        // The line at the end of a supervised agent's start says it all.
        let failed = !well && self.kind() != LoopKind::Supervise;
        let failed = failed.then(|| format!("  {} agent: {how}", paint.check(false)));
        log.into_iter().chain(counts.map(|counts| paint.dim(&format!("  {counts}")))).chain(failed).collect()
    }

    /// How a check went. A failure is unfolded: its first lines, and where the rest is.
    fn check(&mut self, notice: &Notice) -> Vec<String> {
        let Notice::CheckFinished {
            kind, name, passed, problem, exit_code, duration, log, fail_action, output, ..
        } = notice
        else {
            return Vec::new();
        };
        let (paint, name) = (self.paint(), text::for_terminal(name));
        // A later round of checks says it anew.
        self.failed.retain(|failed| *failed != name);
        let is_guardrail = matches!(kind, CheckKind::Guardrail | CheckKind::Verify);
        let kind = kind.as_str();
        let seconds = duration.duration().as_secs_f64();
        let exited =
            exit_code.and_then(|code| self.log(|| format!("Guardrail exited with code {code} ({seconds:.1}s)")));
        let mut lines: Vec<String> = exited.into_iter().collect();
        let mark = paint.check(*passed);
        if *passed {
            lines.push(format!("  {mark} {kind} {name} passed ({duration})"));
            return lines;
        }
        let action = fail_action.map_or(String::new(), |action| {
            format!(" · {action} to the next prompt").replace("REPLACE to", "REPLACE for")
        });
        lines.push(format!("  {mark} {kind} {name} {} ({duration}){action}", paint.red(problem)));
        let clean = text::for_terminal(output);
        let shown = clean.lines().filter(|line| !line.trim().is_empty()).take(UNFOLDED_LINES);
        lines.extend(shown.map(|line| paint.dim(&format!("      {}", text::cut(line, UNFOLDED_CHARS, "...")))));
        lines.extend(log.as_ref().map(|log| paint.dim(&format!("      all of it: {log}"))));
        self.failed.extend(is_guardrail.then_some(name));
        lines
    }

    /// How a command of version control went. A commit is known by the subject of its message.
    fn scm(&self, notice: &Notice) -> Vec<String> {
        let Notice::ScmFinished { task, passed, detail, duration, .. } = notice else { return Vec::new() };
        let (task, detail) = (text::for_terminal(task), text::for_terminal(detail.lines().next().unwrap_or_default()));
        let detail = match (*passed, detail.is_empty()) {
            (true, true) => String::new(),
            (true, false) => format!(": {detail}"),
            (false, _) => format!(" {}", self.paint().red(&detail)),
        };
        vec![format!("  {} scm {task}{detail} ({duration})", self.paint().check(*passed))]
    }

    /// How an iteration was judged, or how a start of a supervised agent went.
    fn iteration_finished(&mut self, notice: &Notice) -> Vec<String> {
        let Notice::IterationFinished { iteration, claim, verdict, reasons, cost_usd, leaked, duration, .. } = notice
        else {
            return Vec::new();
        };
        if let Some(cost) = cost_usd {
            self.line.cost_usd = Some(self.line.cost_usd.unwrap_or(0.0) + cost);
        }
        let paint = self.paint();
        let leaked = if *leaked > 0 { format!(" · {leaked} leaked") } else { String::new() };
        let reasons = reasons.iter().map(|reason| text::for_terminal(&reason.to_string()));
        if self.kind() == LoopKind::Supervise {
            let line = |(index, reason): (usize, String)| match index {
                0 => format!("{reason} ({duration}){leaked}"),
                _ => paint.dim(&format!("  {reason}")),
            };
            return reasons.enumerate().map(line).collect();
        }
        let said = match claim {
            Claim::None => String::new(),
            claim => format!(" · {}", words::claim(claim)),
        };
        let verdict = match verdict {
            VerdictWord::Stop if reasons.len() == 0 => paint.green("accepted"),
            VerdictWord::Stop if matches!(claim, Claim::Blocked { .. }) => paint.yellow("stops"),
            VerdictWord::Stop => paint.yellow("not accepted"),
            VerdictWord::Continue if said.is_empty() => "goes on".to_owned(),
            VerdictWord::Continue => paint.yellow(&words::rejected(&self.failed)),
            VerdictWord::Retry | VerdictWord::Wait => paint.yellow("will be repeated, not counted"),
        };
        let last = self.last_iteration(*iteration);
        let cost = cost_usd.map_or(String::new(), |cost| format!(" · ${cost:.2}"));
        let line = format!("iteration {iteration}/{last}{said} · {verdict} · {duration}{cost}{leaked}");
        [line].into_iter().chain(reasons.map(|reason| paint.dim(&format!("  - {reason}")))).collect()
    }

    fn stopping(&mut self, now: bool) -> Vec<Said> {
        self.line.stopping = true;
        if now {
            return vec![Said::Line("stopping now: ending the agent and everything it started".to_owned())];
        }
        let step = words::step(self.kind());
        let line = self.paint().dim(&format!("Finishing this {step}, then stopping. Ctrl-C again to stop now."));
        // Scripts may look for exactly these words.
        vec![Said::Urgent("Received signal, shutting down...".to_owned()), Said::Line(line)]
    }

    pub fn agent_event(&mut self, at: WallTime, event: &AgentEvent) -> Said {
        Said::Agent(self.renderer.render(at, event))
    }

    /// Takes what the agent is doing from its event, for the live line.
    pub fn take_activity(&mut self, event: &AgentEvent) {
        if let Some(words) = agent_lines::in_a_few_words(event) {
            self.line.activity = words;
        }
    }

    /// What the agent wrote to standard error, as far as its lines are whole.
    pub fn agent_stderr(&mut self, bytes: &[u8]) -> Said {
        Said::AgentStderr(self.stderr.feed(bytes))
    }

    pub fn heard(&mut self, now: Millis) {
        self.line.heard = self.line.heard.map(|_| now);
    }

    /// What is left of the agent's lines when it is gone, so that no half line stays behind.
    pub fn end(&mut self, at: WallTime) -> Vec<Said> {
        let stderr = self.stderr.finish();
        let stderr = if stderr.is_empty() { stderr } else { stderr + "\n" };
        vec![Said::Agent(self.renderer.end_text(at)), Said::AgentStderr(stderr)]
    }

    /// Whether the run waits for a limit or for trouble to be over.
    pub fn is_waiting(&self) -> bool {
        self.waiting_until.is_some()
    }

    pub fn live_line(&mut self, at: WallTime, now: Millis, columns: usize) -> String {
        self.line.waiting = self.waiting_until.map(|until| words::between(at, until));
        self.line.draw(now, columns)
    }

    /// A line that says that the run still lives, where there is no live line.
    pub fn sign_of_life(&mut self, at: WallTime, now: Millis) -> String {
        self.live_line(at, now, 200).chars().skip(2).collect::<String>().replace(" · ^C stop", "")
    }
}

/// `review US-001 (2 of 5): Add a login`.
pub(crate) fn plan_turn(turn: &PlanTurn) -> String {
    let PlanTurn { mode, story, title, reviews, cap } = turn;
    let title = text::for_terminal(&words::one_line(title));
    match mode {
        None => "commit what is left".to_owned(),
        Some(Mode::Review) => format!("review {story} ({} of {cap}): {title}", reviews.saturating_add(1)),
        Some(mode) => format!("{mode} {story}: {title}"),
    }
}

/// What was decided about a story, and whether that is a step forward; nothing is said of what an iteration left open.
pub(crate) fn plan_decision(turn: &PlanTurn, decision: &Decision) -> Option<(bool, String)> {
    let story = &turn.story;
    Some(match decision {
        Decision::None => match turn.mode {
            Some(Mode::Review) => (false, format!("{story}: the review decided nothing")),
            _ => return None,
        },
        Decision::Submitted { story } => (true, format!("{story} awaits review")),
        Decision::Resubmitted => (true, format!("{story} awaits review again")),
        Decision::Approved { automatic: true, .. } => {
            (true, format!("{story} approved at the cap, not by its reviewer"))
        }
        Decision::Approved { .. } => (true, format!("{story} approved")),
        Decision::ChangesRequested => (false, format!("{story}: changes requested")),
        Decision::Passes => (true, format!("{story} passes")),
    })
}

/// How a run ended: the word, the sentence, the facts and what to type next.
fn end(paint: Paint, run: (&str, LoopKind), outcome: &Outcome, took: Millis, suggest: &Suggest) -> String {
    let (run, kind) = run;
    let standing = match (outcome.reason, outcome.verification) {
        // A supervised run checks nothing but that DONE is there.
        (StopReason::Complete, _) if kind == LoopKind::Supervise => format!("{} · DONE", paint.green("complete")),
        (reason, _) if kind == LoopKind::Supervise => paint.red(reason.as_str()),
        (StopReason::Complete, Some(how)) => {
            let complete =
                if how == Verification::Verified { paint.green("complete") } else { paint.yellow("complete") };
            format!("{complete} · {}", how.standing())
        }
        (StopReason::Error, Some(Verification::Verified)) => {
            format!("{} · verified, version control failed", paint.red("error"))
        }
        (reason, _) => format!("{} · not verified", paint.red(reason.as_str())),
    };
    let mut facts = vec![format!("run {run}"), text::count(outcome.iterations.into(), words::step(kind))];
    facts.push(took.to_string());
    // What nobody stated is not zero.
    let spent = outcome.tokens.total() > 0;
    facts.extend(outcome.cost_usd.map(|cost| format!("${cost:.2}")).or(spent.then(|| "no price stated".to_owned())));
    facts.extend(spent.then(|| amounts::tokens(outcome.tokens)));
    let head = format!("\n{}\n  {}\n", paint.bold(&standing), words::one_line(&outcome.message));
    let tests = outcome.tests_changed.as_ref().and_then(TestsChanged::words);
    let tests = tests.map_or(String::new(), |words| format!("  {}\n", paint.yellow(&words::one_line(&words))));
    head + &tests + &format!("  {}\n", paint.dim(&facts.join(" · "))) + &words::next(&outcome.next, paint, suggest)
}

fn resumed(kind: ResumeKind, step: &str) -> String {
    let words = match kind {
        ResumeKind::NextIteration(n) => format!("continuing with {step} {n}"),
        ResumeKind::SameIteration(n) => {
            format!("continuing with {step} {n} from its beginning: it was not finished")
        }
        ResumeKind::Checks(n) => format!("continuing with the checks of iteration {n}: its agent had finished"),
        ResumeKind::AtALimit => "nothing can be done within the limits".to_owned(),
    };
    format!("resumed · {words}")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use ralph_core::run::Run;

    fn narrator(volume: Volume) -> Narrator {
        let render = RenderOptions {
            paint: Paint::default(),
            zone: Default::default(),
            timestamps: false,
            text: true,
            max_output_lines: 3,
            max_output_chars: 120,
            verbose: volume == Volume::Verbose,
        };
        Narrator::new(Style::default(), render, volume, "1.2.3", "shop".to_owned())
    }

    /// Every line of narration while the sample's journal is folded.
    fn told(narrator: &mut Narrator) -> Vec<Said> {
        let mut said = Vec::new();
        Run::replay(&sample::journal(), |entry, step| {
            for notice in step.tell {
                said.extend(narrator.notice(entry.at, entry.elapsed, &notice));
            }
        })
        .unwrap();
        said
    }

    #[test]
    fn a_run_is_told_from_its_limits_to_its_end() {
        let lines: Vec<String> = told(&mut narrator(Volume::Normal))
            .into_iter()
            .filter_map(|said| match said {
                Said::Line(line) | Said::End(line) => Some(line),
                Said::Urgent(_) | Said::Agent(_) | Said::AgentStderr(_) => None,
            })
            .collect();
        let run = ralph_core::id::RunId::from_random(7);
        let head = format!("ralph 1.2.3 · project shop · run {run} · agent claude · task sample");
        assert_eq!(lines[..3], [head.as_str(), "limits: 3 iterations · checks: make test", "iteration 1/3"]);
        assert!(lines.contains(&"  ✗ agent: the agent exited with code 1".to_owned()), "{lines:?}");
        assert!(lines.contains(&"iteration 2/3 · said it was done · accepted · 7.0s".to_owned()), "{lines:?}");
        assert!(lines.last().unwrap().starts_with("\ncomplete · verified\n"), "{lines:?}");
    }

    #[test]
    fn a_newline_in_what_is_told_forges_no_line() {
        let nasty = || "x\ncomplete · verified".to_owned();
        let notices = [
            Notice::Note(ralph_core::words::Note::Machine { text: nasty() }),
            Notice::Waiting { iteration: 1, until: WallTime(9000), why: nasty() },
            Notice::AgentEnded {
                iteration: 1,
                how: nasty(),
                well: false,
                lines: LineCounts::default(),
                duration: Millis::ZERO,
            },
            Notice::looked_at(1, CheckKind::Evidence, "tests", nasty()),
            Notice::ScmFinished {
                iteration: 1,
                task: nasty(),
                passed: false,
                detail: nasty(),
                exit_code: None,
                duration: Millis::ZERO,
            },
        ];
        for notice in notices {
            let said = narrator(Volume::Verbose).notice(WallTime(0), Millis::ZERO, &notice);
            let forged = |said: &Said| matches!(said, Said::Line(line) if line.contains('\n'));
            assert!(!said.is_empty() && !said.iter().any(forged), "{said:?}");
        }
    }

    #[test]
    fn a_rejected_claim_names_the_guardrails_that_failed() {
        let judged = Notice::IterationFinished {
            iteration: 1,
            claim: Claim::Complete,
            verdict: VerdictWord::Continue,
            reasons: vec![ralph_core::words::Reason::AgentFailed { message: "because".to_owned() }],
            cost_usd: Some(0.25),
            tokens: Default::default(),
            leaked: 0,
            duration: Millis(1000),
        };
        let failed = |kind, name: &str| Notice::looked_at(1, kind, name, "failed".to_owned());
        let line = |checks: &[Notice]| {
            let mut narrator = narrator(Volume::Normal);
            for check in checks {
                narrator.notice(WallTime(0), Millis::ZERO, check);
            }
            narrator.notice(WallTime(0), Millis::ZERO, &judged).remove(0)
        };
        let rest = " · 1.0s · $0.25";
        for (checks, words) in [
            (vec![], "rejected"),
            (vec![failed(CheckKind::Protected, "tests/a")], "rejected"),
            (
                vec![
                    failed(CheckKind::Guardrail, "make test"),
                    Notice::looked_at(1, CheckKind::Guardrail, "make test", String::new()),
                ],
                "rejected",
            ),
            (
                vec![failed(CheckKind::Guardrail, "make test"), failed(CheckKind::Guardrail, "make lint")],
                "rejected: make test, make lint failed",
            ),
        ] {
            let expected = format!("iteration 1/1 · said it was done · {words}{rest}");
            assert_eq!(line(&checks), Said::Line(expected));
        }
    }

    #[test]
    fn a_first_interrupt_says_what_follows_and_how_to_stop_now() {
        let mut narrator = narrator(Volume::Normal);
        let said = narrator.notice(WallTime(0), Millis::ZERO, &Notice::Stopping { now: false });
        let lines =
            ["Received signal, shutting down...", "Finishing this iteration, then stopping. Ctrl-C again to stop now."];
        assert_eq!(said, [Said::Urgent(lines[0].to_owned()), Said::Line(lines[1].to_owned())]);
    }

    #[test]
    fn only_the_verbose_read_the_log() {
        let logs = |volume| {
            let said = told(&mut narrator(volume)).into_iter();
            said.filter(|said| matches!(said, Said::Line(line) if line.starts_with("[ralph] "))).count()
        };
        assert_eq!(logs(Volume::Normal), 0);
        assert!(logs(Volume::Verbose) > 5);
    }

    #[test]
    fn only_what_there_was_is_counted() {
        let lines = |unknown, noise, too_long, suspect_usage| LineCounts { noise, unknown, too_long, suspect_usage };
        for (counts, words) in [
            (lines(0, 0, 0, 0), None),
            (lines(3, 2, 0, 0), Some("3 unknown events, 2 lines not understood")),
            (lines(1, 1, 0, 0), Some("1 unknown event, 1 line not understood")),
            (lines(0, 0, 1, 2), Some("1 line too long to be read, 2 usage figures that cannot be true")),
        ] {
            assert_eq!(not_understood(counts).as_deref(), words);
        }
    }
}
