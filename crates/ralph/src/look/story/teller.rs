//! Listening to a journal as the machine folds it: every notice finds its chapter.

use super::{AgentEnd, AttemptView, Check, Finding, InFlight, Judged, Task, Wait};
use ralph_core::check::{CheckEnding, CheckKind, CheckReport, CheckSpec, TreePrint};
use ralph_core::effect::Effect;
use ralph_core::event::{Entry, Event, Gathered};
use ralph_core::notice::{Notice, VerdictWord};
use ralph_core::time::{Millis, WallTime};

/// A story while it is being told.
#[derive(Default)]
pub(super) struct Teller<'a> {
    pub(super) prompt_of: Option<u32>,
    /// The hash of the pinned settings.
    pub(super) settings: &'a str,
    pub(super) baseline: Vec<Check<'a>>,
    pub(super) attempts: Vec<AttemptView<'a>>,
    pub(super) notes: Vec<(WallTime, String)>,
    pub(super) in_flight: Option<InFlight>,
    pub(super) tree: Option<&'a TreePrint>,
    /// The base text of the last prompt that was read from a file.
    pub(super) asked: &'a str,
    pub(super) waits: Vec<Wait>,
    /// When the wait began that is not over yet, as time that the run was worked on.
    pub(super) waiting_since: Option<Millis>,
}

impl<'a> Teller<'a> {
    /// Takes an entry and what it led to.
    pub(super) fn hear(&mut self, entry: &'a Entry, effects: Vec<Effect>) {
        if let Event::TreeSeen { print, .. } = &entry.event {
            self.tree = Some(print);
            if let Some(attempt) = self.attempts.last_mut() {
                attempt.tree = Some(print);
                attempt.look_after = Some(print).filter(|_| attempt.counted().next().is_some()).or(attempt.look_after);
            }
        }
        if let Event::CheckEnded(report) = &entry.event
            && report.ending == CheckEnding::Stopped
        {
            self.add_check(CheckKind::Guardrail, report, entry.at, Some("it was stopped before it ended"));
        }
        if let Event::Gathered(Gathered { base: Some(Ok(base)), .. }) = &entry.event {
            self.asked = base;
        }
        self.end_wait(entry);
        for effect in effects {
            match effect {
                Effect::Tell(notice) => self.hear_notice(entry, notice),
                Effect::Gather { .. } => self.in_flight = Some(InFlight::Prompt),
                Effect::Launch(_) => self.in_flight = Some(InFlight::Agent),
                Effect::LookAtTree => self.in_flight = Some(InFlight::Tree),
                Effect::Wait { until } => self.in_flight = Some(InFlight::Wait(until)),
                Effect::Check(spec) => self.check_begins(spec),
                Effect::LookAtPending | Effect::Pin { .. } | Effect::RestorePinned { .. } | Effect::CheckOut => {
                    self.in_flight = Some(InFlight::Tree);
                }
                Effect::Scm(spec) => self.in_flight = Some(InFlight::Scm(spec)),
                Effect::LookAtMarkers => self.in_flight = Some(InFlight::Tree),
                Effect::Rest { .. } => self.in_flight = Some(InFlight::Rest),
                Effect::AwaitChildren { .. } => self.in_flight = Some(InFlight::Children),
                Effect::PostSafely(_) => self.in_flight = Some(InFlight::Fact),
                Effect::EndActivity
                | Effect::RemoveDone
                | Effect::RemoveWait
                | Effect::Post(_)
                | Effect::WriteViews(_)
                | Effect::Finish => {}
            }
        }
    }

    fn hear_notice(&mut self, entry: &'a Entry, notice: Notice) {
        match (notice, &entry.event) {
            (Notice::IterationStarted { iteration, attempt, prompt, agent }, _) => {
                let prompt = if self.prompt_of == Some(iteration) { prompt } else { String::new() };
                self.attempts.push(AttemptView {
                    iteration,
                    attempt,
                    at: entry.at,
                    prompt,
                    program: agent,
                    agent: None,
                    tasks: Vec::new(),
                    checks: Vec::new(),
                    findings: Vec::new(),
                    tree: None,
                    look_after: None,
                    judged: None,
                });
            }
            (Notice::AgentEnded { how, well, .. }, Event::AgentEnded(seen)) => {
                if let Some(attempt) = self.attempts.last_mut() {
                    attempt.agent = Some(AgentEnd { seen, how, well });
                }
            }
            // Findings are told with the last check too; only the check itself names the receipt's log.
            (Notice::CheckFinished { kind, log: Some(log), .. }, Event::CheckEnded(report)) if log == report.log => {
                self.add_check(kind, report, entry.at, None);
            }
            // What ralph found without executing anything, a guardrail that it refused to execute among it.
            (Notice::CheckFinished { kind, name, passed, problem, duration, log, .. }, _) => {
                if let Some(attempt) = self.attempts.last_mut() {
                    // Another round looks at the same thing again.
                    attempt.forget(kind, &name);
                    attempt.findings.push(Finding { kind, name, passed, problem, duration, log });
                }
            }
            (Notice::ScmFinished { task, passed, detail, exit_code, duration, .. }, _) => {
                if let Some(attempt) = self.attempts.last_mut() {
                    attempt.tasks.push(Task { name: task, passed, detail, exit_code, duration });
                }
            }
            (Notice::IterationFinished { claim, verdict, reasons, cost_usd, tokens, leaked, duration, .. }, _) => {
                if let Some(attempt) = self.attempts.last_mut() {
                    let accepted = verdict == VerdictWord::Stop && reasons.is_empty();
                    attempt.judged =
                        Some(Judged { claim, verdict, reasons, accepted, cost_usd, tokens, leaked, duration });
                }
            }
            (Notice::Waiting { iteration, until, why }, _) => {
                self.waits.push(Wait { iteration, at: entry.at, until, why, waited: None });
                self.waiting_since = Some(entry.elapsed);
            }
            (Notice::Note { text }, _) => self.notes.push((entry.at, text)),
            _ => {}
        }
    }

    /// Whatever happens to a run that waits ends its wait, but for a remark.
    fn end_wait(&mut self, entry: &Entry) {
        if !matches!(entry.event, Event::Noted { .. } | Event::SettingsEdited { .. })
            && let (Some(since), Some(wait)) = (self.waiting_since.take(), self.waits.last_mut())
        {
            // After a crash nobody can say how long it still waited.
            wait.waited = (!matches!(entry.event, Event::Resumed(_))).then(|| entry.elapsed.minus(since));
        }
    }

    /// A check that begins again begins a new round: files had changed.
    fn check_begins(&mut self, spec: CheckSpec) {
        let again =
            |attempt: &&mut AttemptView<'_>| attempt.counted().any(|check| check.report.spec.index >= spec.index);
        if let Some(attempt) = self.attempts.last_mut().filter(again) {
            attempt.look_after = None;
            for check in attempt.checks.iter_mut().filter(|check| check.set_aside.is_none()) {
                check.set_aside = Some("files changed while the checks ran, so it was executed again");
            }
        }
        self.in_flight = Some(InFlight::Check(spec));
    }

    fn add_check(&mut self, kind: CheckKind, report: &'a CheckReport, at: WallTime, set_aside: Option<&'static str>) {
        let Teller { tree, settings, .. } = *self;
        let of = |iteration, attempt| Check { iteration, attempt, kind, report, settings, tree, at, set_aside };
        match self.attempts.last_mut() {
            Some(attempt) => {
                // It may not have been executed in an earlier round.
                attempt.forget(kind, &report.spec.command);
                attempt.checks.push(of(attempt.iteration, attempt.attempt));
            }
            // A beginning that was stopped is begun again.
            None if set_aside.is_some() => {}
            None => {
                self.baseline.retain(|check| check.report.spec.index != report.spec.index);
                self.baseline.push(of(0, 1));
            }
        }
    }
}
