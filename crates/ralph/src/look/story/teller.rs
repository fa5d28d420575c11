//! Listening to a journal as the machine folds it: every notice finds its chapter.

use super::{AgentEnd, Chapter, Check, Finding, InFlight, Judged};
use ralph_core::check::{CheckEnding, CheckKind, CheckReport, CheckSpec, TreePrint};
use ralph_core::effect::Effect;
use ralph_core::event::{Entry, Event};
use ralph_core::notice::Notice;
use ralph_core::time::WallTime;

/// A story while it is being told.
#[derive(Default)]
pub(super) struct Teller<'a> {
    pub(super) prompt_of: Option<u32>,
    pub(super) chapters: Vec<Chapter<'a>>,
    pub(super) notes: Vec<(WallTime, String)>,
    pub(super) in_flight: Option<InFlight>,
    pub(super) tree: Option<&'a TreePrint>,
}

impl<'a> Teller<'a> {
    /// Takes an entry and what it led to.
    pub(super) fn hear(&mut self, entry: &'a Entry, effects: Vec<Effect>) {
        if let Event::TreeSeen { print, .. } = &entry.event {
            self.tree = Some(print);
            if let Some(chapter) = self.chapters.last_mut().filter(|chapter| chapter.counted().next().is_some()) {
                chapter.look_after = Some(print);
            }
        }
        if let Event::CheckEnded(report) = &entry.event
            && report.ending == CheckEnding::Stopped
        {
            self.add_check(report, entry.at, Some("it was stopped before it ended"));
        }
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
                Effect::EndActivity | Effect::RemoveDone | Effect::WriteViews(_) | Effect::Finish => {}
            }
        }
    }

    fn hear_notice(&mut self, entry: &'a Entry, notice: Notice) {
        match (notice, &entry.event) {
            (Notice::IterationStarted { iteration, attempt, prompt, agent }, _) => {
                let prompt = if self.prompt_of == Some(iteration) { prompt } else { String::new() };
                self.chapters.push(Chapter {
                    iteration,
                    attempt,
                    at: entry.at,
                    prompt,
                    program: agent,
                    agent: None,
                    tasks: Vec::new(),
                    checks: Vec::new(),
                    evidence: Vec::new(),
                    look_after: None,
                    judged: None,
                });
            }
            (Notice::AgentEnded { how, well, .. }, Event::AgentEnded(seen)) => {
                if let Some(chapter) = self.chapters.last_mut() {
                    chapter.agent = Some(AgentEnd { seen, how, well });
                }
            }
            (Notice::CheckFinished { kind: CheckKind::Guardrail, name, exit_code, .. }, Event::CheckEnded(report))
                if report.spec.command == name && report.ending.code() == exit_code =>
            {
                self.add_check(report, entry.at, None);
            }
            // What ralph found without executing anything, a guardrail that it refused to execute among it.
            (Notice::CheckFinished { name, passed, problem, .. }, _) => {
                if let Some(chapter) = self.chapters.last_mut() {
                    chapter.evidence.push(Finding { name, passed, problem });
                }
            }
            (Notice::ScmFinished { task, passed, detail, .. }, _) => {
                if let Some(chapter) = self.chapters.last_mut() {
                    chapter.tasks.push(Finding { name: task, passed, problem: detail });
                }
            }
            (Notice::IterationFinished { claim, verdict, reasons, leaked, duration, .. }, _) => {
                if let Some(chapter) = self.chapters.last_mut() {
                    chapter.judged = Some(Judged { claim, verdict, reasons, leaked, duration });
                }
            }
            (Notice::Note { text }, _) => self.notes.push((entry.at, text)),
            _ => {}
        }
    }

    /// A check that begins again from the first one begins a new round: files had changed.
    fn check_begins(&mut self, spec: CheckSpec) {
        if let Some(chapter) = self.chapters.last_mut().filter(|chapter| chapter.counted().count() > spec.index) {
            chapter.look_after = None;
            for check in chapter.checks.iter_mut().filter(|check| check.set_aside.is_none()) {
                check.set_aside = Some("files changed while the checks ran, so it was executed again");
            }
        }
        self.in_flight = Some(InFlight::Check(spec));
    }

    fn add_check(&mut self, report: &'a CheckReport, at: WallTime, set_aside: Option<&'static str>) {
        let tree = self.tree;
        if let Some(chapter) = self.chapters.last_mut() {
            chapter.checks.push(Check { report, tree, at, set_aside });
        }
    }
}
