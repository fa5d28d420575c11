//! Folding: every notice of the machine finds its attempt.

use super::{AgentEnd, AttemptView, Check, Finding, InFlight, Judged, Prompts, RunView, ScmCommand, Wait};
use ralph_core::activity::Activity;
use ralph_core::check::{CheckEnding, CheckKind, CheckReport, CheckSpec};
use ralph_core::event::{Entry, Event, Gathered};
use ralph_core::machine::Next;
use ralph_core::notice::{Notice, VerdictWord};
use ralph_core::observation::Observation;
use ralph_core::outcome::StopReason;
use ralph_core::run::RunStep;
use ralph_core::time::{Millis, WallTime};

/// What of an entry belongs to the notice that it leads to.
#[derive(Default)]
struct Brought {
    at: WallTime,
    elapsed: Millis,
    seen: Option<Box<Observation>>,
    report: Option<Box<CheckReport>>,
}

impl RunView {
    pub(super) fn take(&mut self, entry: Entry, step: RunStep) {
        self.end_wait(&entry);
        let Entry { at, elapsed, event, .. } = entry;
        let mut brought = Brought { at, elapsed, ..Brought::default() };
        match event {
            Event::TreeSeen { print, .. } => {
                if let Some(attempt) = self.attempts.last_mut() {
                    attempt.tree = Some(print.clone());
                    if attempt.counted().next().is_some() {
                        attempt.look_after = Some(print.clone());
                    }
                }
                self.tree = Some(print);
            }
            Event::CheckEnded(report) if report.ending == CheckEnding::Stopped => {
                self.add_check(CheckKind::Guardrail, report, at, Some("it was stopped before it ended"));
            }
            Event::CheckEnded(report) => brought.report = Some(report),
            Event::AgentEnded(seen) => brought.seen = Some(seen),
            Event::Gathered(Gathered { base: Some(Ok(base)), .. }) => self.asked = base,
            _ => {}
        }
        step.tell.into_iter().for_each(|notice| self.hear(&mut brought, notice));
        match step.next {
            Next::Start(Activity::Check(spec, _)) => self.check_begins(*spec),
            Next::Start(activity) | Next::Instead(activity) => self.in_flight = Some(in_flight(activity)),
            Next::GoesOn | Next::EndRunning | Next::Finished(_) => {}
        }
        // Only the run's end says whether DONE counted.
        if self.machine.policy().supervision().is_some()
            && let Some(outcome) = self.machine.outcome()
            && let Some(last) = self.attempts.last_mut().and_then(|attempt| attempt.judged.as_mut())
        {
            last.accepted = outcome.reason == StopReason::Complete;
        }
    }

    fn hear(&mut self, brought: &mut Brought, notice: Notice) {
        let last = self.attempts.last_mut();
        match (notice, last) {
            (Notice::IterationStarted { iteration, attempt, prompt, agent, turn }, last) => {
                let keep = match self.prompts {
                    Prompts::None => false,
                    Prompts::Of(wanted) => wanted == iteration,
                    Prompts::Newest => true,
                };
                if let (Some(last), Prompts::Newest) = (last, self.prompts) {
                    last.prompt = String::new();
                }
                self.attempts.push(AttemptView {
                    iteration,
                    attempt,
                    at: brought.at,
                    prompt: if keep { prompt } else { String::new() },
                    program: agent,
                    turn,
                    ..AttemptView::default()
                });
            }
            (Notice::AgentEnded { how, well, .. }, Some(attempt)) => {
                if let Some(seen) = brought.seen.take() {
                    attempt.agent = Some(AgentEnd { seen, how, well });
                }
            }
            (Notice::CheckFinished { kind, name, passed, problem, duration, log, .. }, last) => {
                // Findings are told with the last check too; only the check itself names the receipt's log.
                let own = |report: &mut Box<CheckReport>| log.as_ref() == Some(&report.log);
                if let Some(report) = brought.report.take_if(own) {
                    self.add_check(kind, report, brought.at, None);
                } else if let Some(attempt) = last {
                    // Another round of checks finds the same thing again, so the earlier finding goes.
                    attempt.forget(kind, &name);
                    attempt.findings.push(Finding { kind, name, passed, problem, duration, log });
                }
            }
            (Notice::ScmFinished { task, passed, detail, exit_code, duration, .. }, Some(attempt)) => {
                attempt.scm.push(ScmCommand { name: task, passed, detail, exit_code, duration });
            }
            (
                Notice::IterationFinished { claim, verdict, reasons, cost_usd, tokens, leaked, duration, .. },
                Some(attempt),
            ) => {
                let accepted = verdict == VerdictWord::Stop && reasons.is_empty();
                attempt.judged = Some(Judged { claim, verdict, reasons, accepted, cost_usd, tokens, leaked, duration });
            }
            (Notice::Waiting { iteration, until, why }, _) => {
                self.waits.push(Wait { iteration, at: brought.at, until, why, waited: None });
                self.waiting_since = Some(brought.elapsed);
            }
            (Notice::Note(note), _) => self.notes.push((brought.at, note.to_string())),
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
        let again = |attempt: &&mut AttemptView| attempt.counted().any(|check| check.report.spec.id == spec.id);
        if let Some(attempt) = self.attempts.last_mut().filter(again) {
            attempt.look_after = None;
            for check in attempt.checks.iter_mut().filter(|check| check.set_aside.is_none()) {
                check.set_aside = Some("files changed while the checks ran, so it was executed again");
            }
        }
        self.in_flight = Some(InFlight::Check(Box::new(spec)));
    }

    fn add_check(&mut self, kind: CheckKind, report: Box<CheckReport>, at: WallTime, set_aside: Option<&'static str>) {
        let tree = self.tree.clone();
        let of = |iteration, attempt, report| Check { iteration, attempt, kind, report, tree, at, set_aside };
        match self.attempts.last_mut() {
            Some(attempt) => {
                // It may not have been executed in an earlier round.
                attempt.forget(kind, report.spec.name());
                attempt.checks.push(of(attempt.iteration, attempt.attempt, report));
            }
            // A beginning that was stopped is begun again.
            None if set_aside.is_some() => {}
            None => {
                self.baseline.retain(|check| check.report.spec.id != report.spec.id);
                self.baseline.push(of(0, 1, report));
            }
        }
    }
}

fn in_flight(activity: Activity) -> InFlight {
    match activity {
        Activity::Gather(_) => InFlight::Prompt,
        Activity::Launch(_) => InFlight::Agent,
        Activity::LookAtTree(_)
        | Activity::LookAtPending { .. }
        | Activity::LookForLeftOut { .. }
        | Activity::LookForMade { .. }
        | Activity::LookAtMarkers
        | Activity::Learn(..)
        | Activity::Pin(_)
        | Activity::RestorePinned { .. }
        | Activity::CompareTests { .. }
        | Activity::CheckOut { .. }
        | Activity::ReadPlan(_)
        | Activity::PutBack(_)
        | Activity::SwitchBranch { .. } => InFlight::Tree,
        Activity::Wait { until } => InFlight::Wait(until),
        Activity::Check(spec, _) => InFlight::Check(spec),
        Activity::Watch(watch) => InFlight::Check(Box::new(watch.spec)),
        Activity::Scm(spec, _) => InFlight::Scm(spec),
        Activity::Rest { .. } => InFlight::Rest,
        Activity::AwaitChildren { .. } => InFlight::Children,
        Activity::PostSafely(_) => InFlight::Fact,
    }
}
