//! Inspecting: the agent is gone with all its processes. What it did is gone through as a queue of steps: the tree
//! is looked at, every check runs on it, for a claim it is looked at again, version control follows, and then the
//! iteration is judged. Exactly the tree that was checked is accepted.

use super::committing::Committing;
use super::kinds::{Children, listed};
use super::opening::Opening;
use super::stopping::Ending;
use super::{Continuation, Phase, Run, RunStep, brief, ends};
use crate::activity::{Act, Activity, Leftover};
use crate::check::{Blindness, CheckEnding, CheckKind, CheckReport, CheckSpec, Ground, TreePrint};
use crate::claim::Claim;
use crate::evidence::{self, Criterion, Finding};
use crate::feedback::{Lookback, feedback};
use crate::id::RunId;
use crate::machine::Step;
use crate::memory::Past;
use crate::notice::{Notice, VerdictWord};
use crate::observation::{Marker, Observation, StartFault};
use crate::outcome::{StopReason, exit};
use crate::policy::{Passes, Policy};
use crate::protect::{Change, OnChange, PinnedChange};
use crate::scm::ScmSpec;
use crate::text;
use crate::verdict::{self, Case, Decision, Judgement, Stability};
use std::collections::VecDeque;

/// Rounds of checks on a tree that changes under them. A formatter needs two; what needs more than
/// three does not come to rest.
const MOST_ROUNDS: u32 = 3;

/// What one iteration's agent did, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Inspection {
    pub(super) seen: Observation,
    /// What runs now.
    now: Inspect,
    /// What comes behind it; the judgement comes behind everything.
    queue: VecDeque<Inspect>,
    pub(super) tree: Option<TreePrint>,
    /// Why the machine could not show the tree that this round checks; empty if it could.
    unseen: String,
    /// Pinned files that are not as they were, where that counts.
    pub(super) violations: Vec<PinnedChange>,
    /// They were put back once.
    pub(super) restored: bool,
    /// What the last look showed of them, whether it counts or not.
    pub(super) pinned: Vec<PinnedChange>,
    /// Why the commit cannot be checked out; empty if it can.
    unclean: String,
    /// What is not part of the commit, if that counts; empty if all is.
    uncommitted: String,
    pub(super) reports: Vec<CheckReport>,
    round: u32,
    /// Some of the files that the agent changed, where the tree was seen before it and after it.
    edited: Option<Vec<String>>,
    /// Some of the files that changed under the last round.
    changed: Vec<String>,
    pub(super) committing: Committing,
}

/// One step of an inspection.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Inspect {
    /// Child runs that outlived the agent are waited for.
    Children,
    Look(Moment),
    /// These pinned files are put back.
    Restore(Vec<String>),
    /// The commit is checked out anew.
    CheckOut,
    Check(Box<CheckSpec>),
    /// All checks have run. Only a claim that still stands needs the second look.
    Stands,
    /// Version control begins, if everything allows it.
    Commit,
    /// Is there anything to commit?
    Pending,
    /// The agent is asked for a commit message.
    Message,
    Scm(ScmSpec),
}

/// When the tree is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    BeforeChecks,
    AfterChecks,
    /// Has whoever was asked for a message left the tree alone?
    AfterMessage,
}

impl Inspection {
    pub(super) fn of(seen: Observation, policy: &Policy) -> Inspection {
        let mut inspection = Inspection {
            now: Inspect::Stands,
            queue: VecDeque::new(),
            tree: None,
            unseen: String::new(),
            violations: Vec::new(),
            restored: false,
            pinned: Vec::new(),
            unclean: String::new(),
            uncommitted: String::new(),
            reports: Vec::new(),
            round: 1,
            edited: None,
            changed: Vec::new(),
            committing: Committing::default(),
            seen,
        };
        if policy.looks_at_the_tree() {
            inspection.queue.push_back(Inspect::Look(Moment::BeforeChecks));
        } else {
            inspection.queue_round(Vec::new(), false);
        }
        if !inspection.seen.process.children.is_empty() {
            inspection.first([Inspect::Children]);
        }
        inspection
    }

    /// The same from the beginning: whatever passed before a stop may fail after it.
    pub(super) fn anew(self, policy: &Policy) -> Inspection {
        Inspection { committing: self.committing.anew(), edited: self.edited, ..Inspection::of(self.seen, policy) }
    }

    /// Puts a round of checks into the queue, in place of whatever was there.
    fn queue_round(&mut self, checks: Vec<CheckSpec>, check_out: bool) {
        self.queue.clear();
        self.queue.extend((check_out && !checks.is_empty()).then_some(Inspect::CheckOut));
        self.queue.extend(checks.into_iter().map(|check| Inspect::Check(Box::new(check))));
        self.queue.extend([Inspect::Stands, Inspect::Commit]);
    }

    /// Does these things next, before what waits.
    pub(super) fn first(&mut self, steps: impl IntoIterator<Item = Inspect, IntoIter: DoubleEndedIterator>) {
        steps.into_iter().rev().for_each(|step| self.queue.push_front(step));
    }

    /// Only judges what is known, without anything that waits.
    pub(super) fn forget_the_rest(&mut self) {
        self.queue.clear();
    }

    pub(super) fn is_at(&self, step: &Inspect) -> bool {
        self.now == *step
    }

    pub(super) fn asks_for_message(&self) -> bool {
        self.is_at(&Inspect::Message)
    }

    /// Whether a process is running now that may finish by itself.
    pub(super) fn runs_a_command(&self) -> bool {
        matches!(self.now, Inspect::Check(_) | Inspect::Message | Inspect::Scm(_))
    }

    /// Some of the files that the agent changed: by the tree, or where it cannot be seen by what tools said.
    pub(super) fn files_changed(&self) -> &[String] {
        self.edited.as_deref().unwrap_or(&self.seen.files)
    }

    /// Whether no check that was executed speaks against the work.
    pub(super) fn nothing_refutes(&self) -> bool {
        !self.reports.iter().any(CheckReport::refutes)
    }

    /// What the question for a commit message cost belongs to the iteration that it is about.
    pub(super) fn add_cost(&mut self, asked: &Observation) {
        self.seen.tokens = self.seen.tokens.plus(asked.tokens);
        if let Some(cost) = asked.cost_usd {
            self.seen.cost_usd = Some(self.seen.cost_usd.unwrap_or(0.0) + cost);
        }
    }

    /// Why the machine could not show the tree is remembered once per round.
    fn saw(&mut self, print: &TreePrint, moved: bool) {
        if moved {
            self.unseen.clear();
        }
        if self.unseen.is_empty() {
            self.unseen.push_str(print.fault_in_words().unwrap_or_default());
        }
    }
}

impl Run {
    /// Does the next step of an inspection, and judges when none is left.
    pub(super) fn go_on(&mut self, mut at: Box<Inspection>) -> RunStep {
        let Some(step) = at.queue.pop_front() else { return self.conclude(&at, Stability::Still) };
        at.now = step.clone();
        match step {
            Inspect::Children if self.policy.limits.child_wait.is_off() => {
                Run::note(format!("child runs live on: {}", listed(&at.seen.process.children))).then(self.go_on(at))
            }
            Inspect::Children => {
                let span = self.policy.limits.child_wait;
                self.inspect_by(at, Activity::AwaitChildren { span, then: Leftover::Interrupt })
            }
            Inspect::Look(_) => self.inspect_by(at, self.look()),
            Inspect::Restore(paths) => self.inspect_by(at, Activity::RestorePinned { paths, pins: self.pins() }),
            Inspect::CheckOut => self.inspect_by(at, Activity::CheckOut { pins: self.pins() }),
            Inspect::Check(spec) => match self.reason_to_refuse(&at, &spec) {
                Some(reason) => self.refuse(at, *spec, reason),
                None => {
                    self.phase = Phase::Inspecting(at);
                    self.start_check(*spec)
                }
            },
            Inspect::Stands => {
                let claims = verdict::counted_claim(&at.seen) == Claim::Complete;
                if claims && at.reports.iter().any(CheckReport::supports) && at.nothing_refutes() {
                    at.first([Inspect::Look(Moment::AfterChecks)]);
                }
                self.go_on(at)
            }
            Inspect::Commit => self.begin_commit(at),
            Inspect::Pending => {
                let program = self.policy.scm.command.clone();
                self.inspect_by(at, Activity::LookAtPending { program })
            }
            Inspect::Message => self.ask_for_message(at),
            Inspect::Scm(spec) => {
                let started = Notice::ScmStarted { iteration: self.count.iteration(), task: spec.task.clone() };
                Step::telling([started]).then(self.inspect_by(at, Activity::Scm(spec)))
            }
        }
    }

    pub(super) fn inspect_by(&mut self, at: Box<Inspection>, activity: Activity) -> RunStep {
        self.phase = Phase::Inspecting(at);
        Step::start(activity)
    }

    /// The inspection, if it is at this step.
    pub(super) fn inspecting(&self, fits: impl Fn(&Inspect) -> bool) -> Option<Box<Inspection>> {
        match &self.phase {
            Phase::Inspecting(inspection) if fits(&inspection.now) => Some(inspection.clone()),
            _ => None,
        }
    }

    /// Nothing works in the tree any more that the agent started, or it was interrupted.
    pub(super) fn on_children_seen(
        &mut self,
        left: &[RunId],
        ended: &[(RunId, Option<StopReason>)],
    ) -> Option<RunStep> {
        if self.phase == Phase::Closing(super::Closing::Children) {
            return Some(self.close_with(Children { left: left.to_vec(), ended: ended.to_vec() }));
        }
        let at = self.inspecting(|step| *step == Inspect::Children)?;
        let told = if left.is_empty() {
            Step::default()
        } else {
            Run::note(format!("child runs took too long and were interrupted: {}", listed(left)))
        };
        Some(told.then(self.go_on(at)))
    }

    /// Why a check would prove nothing; it is not executed then, and has not passed.
    fn reason_to_refuse(&self, at: &Inspection, spec: &CheckSpec) -> Option<String> {
        self.changed_script(at, spec).or_else(|| (!at.unclean.is_empty()).then(|| at.unclean.clone()))
    }

    fn refuse(&mut self, at: Box<Inspection>, spec: CheckSpec, reason: String) -> RunStep {
        let ending = CheckEnding::NotStarted { reason, fault: StartFault::Program };
        self.take_report(at, &CheckReport::silent(spec, ending, String::new()))
    }

    /// The checks of a round on the tree that was just seen.
    fn begin_round(&mut self, mut at: Box<Inspection>) -> RunStep {
        let clean = self.policy.verify.clean_checkout;
        let ground = if clean { Ground::Checkout } else { Ground::Project };
        at.reports.clear();
        at.queue_round(self.policy.checks(self.count.iteration(), ground), clean);
        self.go_on(at)
    }

    pub(super) fn on_checked_out(
        &mut self,
        (commit, fault): (&Result<String, String>, bool),
        uncommitted: &[String],
        pinned: &[PinnedChange],
    ) -> Option<RunStep> {
        let mut at = self.inspecting(|step| *step == Inspect::CheckOut)?;
        // The commit is what is executed, so its scripts count too; what git does not hold is not in it.
        let counts = self.policy.protect.on_change != OnChange::Allow;
        let changed = pinned.iter().find(|change| counts && change.how != Change::Deleted);
        let why = commit.as_ref().err().cloned().or(changed.map(|change| format!("in the commit {}", change.words())));
        let said =
            if fault { "the commit could not be checked out on this machine" } else { "the commit cannot be judged" };
        at.unclean = why.map_or(String::new(), |why| format!("{said}: {why}"));
        if fault {
            // The checks cannot run, and say so themselves; what is committed nobody knows.
            at.uncommitted.clear();
            let told = Run::note(format!("a fault of this machine, not of the work: {}", at.unclean));
            return Some(told.then(self.go_on(at)));
        }
        at.uncommitted = match uncommitted {
            _ if !at.unclean.is_empty() => at.unclean.clone(),
            [] => String::new(),
            files => format!("not committed{}", named(files)),
        };
        let told = self.tell_looked_at(CheckKind::CleanTree, "everything is committed", at.uncommitted.clone());
        Some(told.then(self.go_on(at)))
    }

    /// Tells about something that holds or does not hold, and for which nothing was executed.
    pub(super) fn tell_looked_at(&mut self, kind: CheckKind, name: &str, problem: String) -> RunStep {
        self.tell_check(Notice::looked_at(self.count.iteration(), kind, name, problem))
    }

    pub(super) fn on_tree_seen(
        &mut self,
        print: &TreePrint,
        changed: Option<&[String]>,
        pinned: &[PinnedChange],
    ) -> Option<RunStep> {
        if self.phase == Phase::Opening(Opening::Tree) {
            return Some(self.on_first_tree(print));
        }
        let mut at = self.inspecting(|step| matches!(step, Inspect::Look(_)))?;
        let first_look = at.tree.is_none();
        if first_look && at.edited.is_none() {
            at.edited = changed.map(<[String]>::to_vec);
        }
        let pinned = self.pins().violations(print, pinned);
        // Files that git ignores are pinned too, so both looks are compared.
        let moved = at.tree.replace(print.clone()).is_some_and(|before| print.differs_from_checked(&before))
            || (!first_look && at.pinned != pinned);
        at.pinned = pinned;
        at.saw(print, moved);
        let told = self.tell_blindness(print);
        if (first_look || moved)
            && let Some(first) = self.pinned_seen(&mut at)
        {
            return Some(told.then(first));
        }
        Some(told.then(self.after_look(at, changed.unwrap_or_default(), moved)))
    }

    /// What follows a look that found the pinned files in order, or nothing that can be done about them.
    fn after_look(&mut self, mut at: Box<Inspection>, changed: &[String], moved: bool) -> RunStep {
        let moment = match at.now {
            Inspect::Look(moment) => moment,
            _ => Moment::BeforeChecks,
        };
        if !moved && moment != Moment::BeforeChecks {
            return self.go_on(at);
        }
        if moved && moment != Moment::BeforeChecks && at.round >= MOST_ROUNDS {
            at.changed = changed.to_vec();
            return self.conclude(&at, Stability::Changing);
        }
        // The first look, or a tree that moved under the checks: every check speaks for this print.
        let mut told = Step::default();
        if moved {
            at.round += 1;
            let when = match moment {
                Moment::AfterMessage => "the agent was asked for a commit message",
                _ => "the checks ran",
            };
            told = Run::note(format!("files changed while {when}; checking again{}", named(changed)));
        }
        told.then(self.tell_protected(&at)).then(self.begin_round(at))
    }

    /// Says once that the tree cannot be seen, and what that means for the word verified.
    fn tell_blindness(&mut self, print: &TreePrint) -> RunStep {
        let TreePrint::Unknown { why, cause } = print else { return Step::default() };
        if self.policy.guardrails.is_empty() || !self.integrity.tells_blindness() {
            return Step::default();
        }
        Run::note(match cause {
            Blindness::NoRepository => format!("changes during the checks cannot be seen: {why}"),
            Blindness::Fault => {
                format!("the tree could not be looked at, so what is claimed on it is not verified: {why}")
            }
        })
    }

    pub(super) fn on_check_ended(&mut self, report: &CheckReport) -> Option<RunStep> {
        if let Phase::Opening(Opening::Checks(reports)) = &self.phase {
            let reports = reports.clone();
            return self.on_first_check_ended(reports, report);
        }
        let at = self.inspecting(|step| matches!(step, Inspect::Check(spec) if spec.id == report.spec.id))?;
        Some(self.take_report(at, report))
    }

    fn take_report(&mut self, mut at: Box<Inspection>, report: &CheckReport) -> RunStep {
        if report.ending == CheckEnding::Stopped {
            // It was ended before it could say anything, so it will be executed again on resume.
            at.first([at.now.clone()]);
            return self.stop_between(&at).unwrap_or_else(|| self.go_on(at));
        }
        // The work was not judged, so nothing is held against it: the checks are executed when the machine can.
        if let CheckEnding::NotStarted { reason, fault: fault @ (StartFault::Folder | StartFault::Machine) } =
            &report.ending
        {
            let message = format!("guardrail \"{}\" could not be started: {reason}", report.spec.command);
            let then = Continuation::Inspection(at);
            return self.finish_with_code(StopReason::Error, fault.exit_code(), message, then);
        }
        let mut told = self.tell_check(Notice::executed(self.count.iteration(), report));
        if report.leaked > 0 {
            let command = &report.spec.command;
            let left = format!("guardrail \"{command}\" left processes behind, ended now: {}", report.leaked);
            told = told.then(Run::note(left));
        }
        at.reports.push(report.clone());
        told.then(self.stop_between(&at).unwrap_or_else(|| self.go_on(at)))
    }

    /// Ends the run between two processes of an inspection, if somebody wants it to stop.
    pub(super) fn stop_between(&mut self, at: &Inspection) -> Option<RunStep> {
        let cause = self.wish.cause()?;
        Some(self.finish_stopped(cause, Continuation::Inspection(Box::new(at.clone()))))
    }

    /// Judges the iteration and goes on accordingly.
    pub(super) fn conclude(&mut self, at: &Inspection, tree: Stability) -> RunStep {
        let seen = &at.seen;
        let findings = self.findings(seen);
        let changed = named(&at.changed);
        let judgement = verdict::judge(Case {
            policy: &self.policy,
            seen,
            reports: &at.reports,
            findings: &findings,
            violations: &at.violations,
            uncommitted: &at.uncommitted,
            baseline: self.integrity.baseline(),
            requests: self.inbox.open(),
            tree,
            changed: &changed,
            unseen: &at.unseen,
        });
        let again = at.committing.is_all_that_was_left();
        self.count.judge(seen.ended_well(), !again);
        let stalled = if again { None } else { self.note_lap(at, &judgement) };
        self.learn(at, &judgement, again);
        self.integrity.judged_with(super::protecting::sentence(&at.violations));
        let mut told = self.tell_findings(&findings);
        let views = self.policy.memory.enabled.then(|| self.write_views(None, self.brief.human().to_owned()));
        let (claim, reasons) = (judgement.claim.clone(), judgement.reasons.clone());
        // Going on takes the next number, so what is told of this one is made before.
        let finished = |verdict| self.tell_iteration(seen, claim, verdict, reasons);
        let (stops, goes_on) = (finished.clone()(VerdictWord::Stop), finished(VerdictWord::Continue));
        let then = self.after_judgement(judgement, at, stalled);
        self.brief.use_up_human();
        told = told.then(if ends(&then) { stops } else { goes_on });
        told.durable = true;
        // An ended run writes its own last views.
        let views = views.filter(|_| !ends(&then));
        let removed = (seen.marker == Marker::Present && !self.is_complete()).then_some(Act::RemoveDone);
        told.then(Step::acting(views.into_iter().chain(removed))).then(then)
    }

    /// What the next agent is told about this iteration.
    fn learn(&mut self, at: &Inspection, judgement: &Judgement, again: bool) {
        let iteration = self.count.iteration();
        let feedback = feedback(Lookback { iteration, judgement, reports: &at.reports, history: &self.history });
        self.brief.learn(brief::Lesson {
            past: Past { iteration, seen: &at.seen, files: at.files_changed() },
            candidate: match judgement.decision {
                Decision::Complete => "complete",
                Decision::Blocked => "blocked",
                Decision::NotYet => "continue",
            },
            reasons: judgement.reasons.clone(),
            failures: judgement.failures.clone(),
            feedback,
            claimed: judgement.claim == Claim::Complete,
            counts: !again,
        });
    }

    fn after_judgement(&mut self, judgement: Judgement, at: &Inspection, stalled: Option<String>) -> RunStep {
        let seen = &at.seen;
        match judgement.decision {
            Decision::Complete => return self.complete(&judgement, at),
            Decision::Blocked => {
                let message = judgement.reasons.into_iter().next().unwrap_or_default();
                return self.finish(StopReason::Blocked, message, Continuation::NextIteration);
            }
            Decision::NotYet => {}
        }
        if self.policy.passes == Passes::Single {
            let fine = seen.ended_well() && judgement.failing.is_empty() && self.scm_failure.is_none();
            let code = if fine { exit::OK } else { exit::USED_UP };
            let message = format!("single pass: {}", judgement.reasons.join("; "));
            return self.finish_with_code(StopReason::SinglePass, code, message, Continuation::NextIteration);
        }
        let most = self.policy.limits.max_consecutive_failures;
        if most > 0 && self.count.failures_in_row() >= most {
            let why = seen.failure.as_ref().map_or("", |failure| failure.message.as_str());
            let message = format!("the agent failed {} in a row: {why}", text::count(most.into(), "time"));
            return self.finish(StopReason::Error, message, Continuation::NextIteration);
        }
        match stalled {
            Some(message) => self.finish(StopReason::Stalled, message, Continuation::NextIteration),
            None => self.open(),
        }
    }

    fn complete(&mut self, judgement: &Judgement, at: &Inspection) -> RunStep {
        let after = text::count(self.count.iteration().into(), "iteration");
        let Judgement { verified, unverified, .. } = judgement;
        let message = if *verified {
            format!("complete and verified after {after}")
        } else {
            format!("claimed, not verified, after {after}: {unverified}")
        };
        if let Some(failure) = self.scm_failure.take() {
            return self.end_uncommitted(at, &message, &failure, *verified);
        }
        let ending = Ending { reason: StopReason::Complete, code: exit::OK, message, verified: *verified };
        self.end(ending, Continuation::Nothing)
    }

    /// What the agent's tool runs show, where a claim makes it matter.
    fn findings(&self, seen: &Observation) -> Vec<Finding> {
        if verdict::counted_claim(seen) == Claim::Complete {
            evidence::judge_with(&self.policy.criteria, &seen.tools, &seen.errors, &self.policy.verify.commands)
        } else {
            Vec::new()
        }
    }

    fn tell_findings(&mut self, findings: &[Finding]) -> RunStep {
        // That no error was seen is the normal case and worth no line.
        let worth_telling =
            findings.iter().filter(|finding| !finding.passed || finding.criterion != Criterion::NoErrors);
        worth_telling.fold(Step::default(), |told, finding| {
            let problem = if finding.passed { String::new() } else { finding.reason.clone() };
            told.then(self.tell_looked_at(CheckKind::Evidence, finding.criterion.as_str(), problem))
        })
    }
}

/// Files that a sentence names: a person wants examples.
const FILES_NAMED: usize = 5;

/// Some files, as the end of a sentence.
fn named(files: &[String]) -> String {
    let files = files.get(..FILES_NAMED).unwrap_or(files);
    if files.is_empty() { String::new() } else { format!(": {}", text::without_controls(&files.join(", "))) }
}
