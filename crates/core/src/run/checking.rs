//! Checking: the agent is gone with all its processes. The tree is looked at, every check runs on
//! it, and for a claim it is looked at again: exactly the tree that was checked is accepted.

use super::beginning::Beginning;
use super::committing::Committing;
use super::stopping::{Ending, StopWish};
use super::supervising::{Children, Finishing, listed};
use super::{Continuation, LastJudged, Phase, Run};
use crate::check::{Blindness, CheckEnding, CheckKind, CheckReport, CheckSpec, Ground, TreePrint};
use crate::claim::Claim;
use crate::effect::{Effect, Leftover};
use crate::evidence::{self, Criterion, Finding};
use crate::feedback::{Lookback, feedback};
use crate::guardrail;
use crate::id::RunId;
use crate::memory::Past;
use crate::notice::{Notice, VerdictWord};
use crate::observation::{Marker, Observation, StartFault};
use crate::outcome::{StopReason, exit};
use crate::policy::Passes;
use crate::protect::{Change, OnChange, PinnedChange};
use crate::text;
use crate::verdict::{self, Case, Decision, Judgement, Stability};

/// Rounds of checks on a tree that changes under them. A formatter needs two; what needs more than
/// three does not come to rest.
const MOST_ROUNDS: u32 = 3;

/// The checks of one iteration, as far as they are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Checking {
    pub(super) seen: Observation,
    pub(super) stage: Stage,
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
    pub(super) edited: Option<Vec<String>>,
    /// Some of the files that changed under the last round.
    changed: Vec<String>,
    pub(super) committing: Committing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Child runs that outlived the agent are waited for.
    Children,
    LookBefore,
    /// Pinned files are put back.
    Restore,
    /// The commit is checked out anew.
    CheckOut,
    Commands,
    LookAfter,
    /// Is there anything to commit?
    LookAtPending,
    /// The agent is asked for a commit message.
    Message,
    /// Has whoever was asked left the tree alone?
    LookAtAsked,
    /// Tasks of version control.
    Tasks,
}

impl Checking {
    pub(super) fn new(seen: Observation) -> Checking {
        Checking {
            stage: if seen.process.children.is_empty() { Stage::LookBefore } else { Stage::Children },
            seen,
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
        }
    }

    /// The same checks from the beginning: whatever passed before a stop may fail after it.
    pub(super) fn anew(self) -> Checking {
        Checking { committing: self.committing.anew(), edited: self.edited, ..Checking::new(self.seen) }
    }

    /// Whether a process is running now that may finish by itself.
    pub(super) fn runs_a_command(&self) -> bool {
        matches!(self.stage, Stage::Commands | Stage::Message | Stage::Tasks)
    }

    /// Some of the files that the agent changed: by the tree, or where it cannot be seen by what tools said.
    pub(super) fn files_changed(&self) -> &[String] {
        self.edited.as_deref().unwrap_or(&self.seen.files)
    }

    /// Whether every guardrail that was executed passed.
    pub(super) fn all_passed(&self) -> bool {
        self.reports.iter().all(|report| report.ending.passed())
    }

    /// What the question for a commit message cost belongs to the iteration that it is about.
    pub(super) fn committing_cost(&mut self, asked: &Observation) {
        self.seen.tokens = self.seen.tokens.plus(asked.tokens);
        if let Some(cost) = asked.cost_usd {
            self.seen.cost_usd = Some(self.seen.cost_usd.unwrap_or(0.0) + cost);
        }
    }
}

impl Run {
    /// Does the next thing that checking needs, from wherever it stands.
    pub(super) fn go_on_checking(&mut self, mut checking: Box<Checking>) -> Vec<Effect> {
        if checking.stage == Stage::LookBefore && !self.policy.looks_at_the_tree() {
            checking.stage = Stage::Commands;
        }
        match checking.stage {
            Stage::LookBefore | Stage::LookAfter | Stage::LookAtAsked => {
                self.phase = Phase::Checking(checking);
                vec![Effect::LookAtTree]
            }
            Stage::Children if self.policy.limits.child_wait.is_off() => {
                let text = format!("child runs live on: {}", listed(&checking.seen.process.children));
                checking.stage = Stage::LookBefore;
                let mut effects = vec![Effect::Tell(Notice::Note { text })];
                effects.extend(self.go_on_checking(checking));
                effects
            }
            Stage::Children => {
                self.phase = Phase::Checking(checking);
                vec![Effect::AwaitChildren { span: self.policy.limits.child_wait, then: Leftover::Interrupt }]
            }
            // Its answer leads on.
            Stage::Restore => Vec::new(),
            Stage::CheckOut => {
                self.phase = Phase::Checking(checking);
                vec![Effect::CheckOut]
            }
            Stage::LookAtPending => {
                self.phase = Phase::Checking(checking);
                vec![Effect::LookAtPending]
            }
            Stage::Message => self.ask_for_message(checking),
            Stage::Tasks => self.next_task(checking),
            Stage::Commands => match self.next_check(checking.reports.len()) {
                Some(spec) if !checking.unclean.is_empty() || self.changed_script(&checking, &spec).is_some() => {
                    self.refuse_to_execute(checking, spec)
                }
                Some(spec) => {
                    self.phase = Phase::Checking(checking);
                    let started = Notice::CheckStarted { iteration: self.iteration, name: spec.command.clone() };
                    vec![Effect::Tell(started), Effect::Check(spec)]
                }
                None => self.commands_done(checking),
            },
        }
    }

    /// Nothing works in the tree any more that the agent started, or it was interrupted.
    pub(super) fn on_children_seen(&mut self, left: &[RunId], ended: &[(RunId, Option<StopReason>)]) -> Vec<Effect> {
        match &self.phase {
            Phase::Finishing(Finishing::Children) => {
                self.on_done_children(Children { left: left.to_vec(), ended: ended.to_vec() })
            }
            Phase::Checking(checking) if checking.stage == Stage::Children => {
                let mut checking = checking.clone();
                checking.stage = Stage::LookBefore;
                let mut effects = Vec::new();
                if !left.is_empty() {
                    let text = format!("child runs took too long and were interrupted: {}", listed(left));
                    effects.push(Effect::Tell(Notice::Note { text }));
                }
                effects.extend(self.go_on_checking(checking));
                effects
            }
            _ => Vec::new(),
        }
    }

    /// A check that would prove nothing is not executed, and has not passed.
    fn refuse_to_execute(&mut self, checking: Box<Checking>, spec: CheckSpec) -> Vec<Effect> {
        let reason = self.changed_script(&checking, &spec).unwrap_or_else(|| checking.unclean.clone());
        let report =
            CheckReport::silent(spec, CheckEnding::NotStarted { reason, fault: StartFault::Program }, String::new());
        self.phase = Phase::Checking(checking);
        self.on_check_ended(&report)
    }

    pub(super) fn next_check(&self, index: usize) -> Option<CheckSpec> {
        let rule = self.policy.guardrails.get(index)?;
        let log_name = guardrail::log_names(self.iteration, &self.policy.guardrails).into_iter().nth(index)?;
        let ground = if self.policy.verify.clean_checkout && !matches!(self.phase, Phase::Beginning(_)) {
            Ground::Checkout
        } else {
            Ground::Project
        };
        Some(CheckSpec { index, command: rule.command.clone(), timeout: rule.timeout, log_name, ground })
    }

    pub(super) fn on_checked_out(
        &mut self,
        (commit, fault): (&Result<String, String>, bool),
        uncommitted: &[String],
        pinned: &[PinnedChange],
    ) -> Vec<Effect> {
        let Phase::Checking(checking) = &self.phase else { return Vec::new() };
        if checking.stage != Stage::CheckOut {
            return Vec::new();
        }
        let mut checking = checking.clone();
        // The commit is what is executed, so its scripts count too; what git does not hold is not in it.
        let counts = self.policy.protect.on_change != OnChange::Allow;
        let changed = pinned.iter().find(|change| counts && change.how != Change::Deleted);
        let why = commit.as_ref().err().cloned().or(changed.map(|change| format!("in the commit {}", change.words())));
        let said =
            if fault { "the commit could not be checked out on this machine" } else { "the commit cannot be judged" };
        checking.unclean = why.map_or(String::new(), |why| format!("{said}: {why}"));
        let problem = match uncommitted {
            // The checks cannot run, and say so themselves; what is committed nobody knows.
            _ if fault => String::new(),
            _ if !checking.unclean.is_empty() => checking.unclean.clone(),
            [] => String::new(),
            files => format!("not committed{}", named(files)),
        };
        checking.uncommitted = problem.clone();
        checking.stage = Stage::Commands;
        let told = if fault {
            Notice::Note { text: format!("a fault of this machine, not of the work: {}", checking.unclean) }
        } else {
            Notice::looked_at(self.iteration, CheckKind::CleanTree, "everything is committed", problem)
        };
        let mut effects = vec![Effect::Tell(told)];
        effects.extend(self.go_on_checking(checking));
        effects
    }

    /// All commands have run. Only a claim that still stands needs the second look.
    fn commands_done(&mut self, mut checking: Box<Checking>) -> Vec<Effect> {
        let stands = verdict::counted_claim(&checking.seen) == Claim::Complete
            && !checking.reports.is_empty()
            && checking.all_passed();
        if stands {
            checking.stage = Stage::LookAfter;
            return self.go_on_checking(checking);
        }
        self.commit_or_conclude(checking)
    }

    pub(super) fn on_tree_seen(
        &mut self,
        print: &TreePrint,
        changed: Option<&[String]>,
        pinned: &[PinnedChange],
    ) -> Vec<Effect> {
        match &self.phase {
            Phase::Beginning(Beginning::Tree) => self.on_first_tree(print),
            Phase::Checking(checking)
                if matches!(checking.stage, Stage::LookBefore | Stage::LookAfter | Stage::LookAtAsked) =>
            {
                let checking = checking.clone();
                self.tree_seen_while_checking(checking, print, changed, pinned)
            }
            _ => Vec::new(),
        }
    }

    fn tree_seen_while_checking(
        &mut self,
        mut checking: Box<Checking>,
        print: &TreePrint,
        changed: Option<&[String]>,
        pinned: &[PinnedChange],
    ) -> Vec<Effect> {
        let first_look = checking.tree.is_none();
        if first_look && checking.edited.is_none() {
            checking.edited = changed.map(<[String]>::to_vec);
        }
        let changed = changed.unwrap_or_default();
        let pinned = self.pins().violations(print, pinned);
        // Files that git ignores are pinned too, so both looks are compared.
        let moved = checking.tree.replace(print.clone()).is_some_and(|before| print.differs_from_checked(&before))
            || (!first_look && checking.pinned != pinned);
        checking.pinned = pinned;
        if moved {
            checking.unseen.clear();
        }
        checking.unseen.push_str(print.fault_in_words().filter(|_| checking.unseen.is_empty()).unwrap_or_default());
        let mut effects = self.tell_blindness(print);
        if (first_look || moved)
            && let Some(first) = self.pinned_seen(&mut checking)
        {
            effects.extend(first);
            return effects;
        }
        effects.extend(match checking.stage {
            Stage::LookAfter | Stage::LookAtAsked if moved && checking.round >= MOST_ROUNDS => {
                checking.changed = changed.to_vec();
                self.conclude(&checking, Stability::Changing)
            }
            Stage::LookAfter if !moved => self.commit_or_conclude(checking),
            Stage::LookAtAsked if !moved => {
                checking.stage = Stage::Tasks;
                self.go_on_checking(checking)
            }
            // The first look, or a tree that moved under the checks: every check speaks for this print.
            _ => {
                let mut effects = Vec::new();
                if moved {
                    checking.round += 1;
                    checking.reports.clear();
                    let when = match checking.stage {
                        Stage::LookAtAsked => "the agent was asked for a commit message",
                        _ => "the checks ran",
                    };
                    let text = format!("files changed while {when}; checking again{}", named(changed));
                    effects.push(Effect::Tell(Notice::Note { text }));
                }
                effects.extend(self.tell_protected(&checking));
                checking.stage = if self.policy.verify.clean_checkout && !self.policy.guardrails.is_empty() {
                    Stage::CheckOut
                } else {
                    Stage::Commands
                };
                effects.extend(self.go_on_checking(checking));
                effects
            }
        });
        effects
    }

    /// Says once that the tree cannot be seen, and what that means for the word verified.
    fn tell_blindness(&mut self, print: &TreePrint) -> Vec<Effect> {
        let TreePrint::Unknown { why, cause } = print else { return Vec::new() };
        if self.policy.guardrails.is_empty() || std::mem::replace(&mut self.blind_told, true) {
            return Vec::new();
        }
        let text = match cause {
            Blindness::NoRepository => format!("changes during the checks cannot be seen: {why}"),
            Blindness::Fault => {
                format!("the tree could not be looked at, so what is claimed on it is not verified: {why}")
            }
        };
        vec![Effect::Tell(Notice::Note { text })]
    }

    pub(super) fn on_check_ended(&mut self, report: &CheckReport) -> Vec<Effect> {
        if let Phase::Beginning(Beginning::Checks(reports)) = &self.phase {
            let reports = reports.clone();
            return self.on_first_check_ended(reports, report);
        }
        let Phase::Checking(checking) = &self.phase else { return Vec::new() };
        if checking.stage != Stage::Commands || report.spec.index != checking.reports.len() {
            return Vec::new();
        }
        let mut checking = checking.clone();
        if report.ending == CheckEnding::Stopped {
            // It was ended before it could say anything, so it will be executed again on resume.
            return self.stop_between(&checking).unwrap_or_else(|| self.go_on_checking(checking));
        }
        // The work was not judged, so nothing is held against it: the checks are executed when the machine can.
        if let CheckEnding::NotStarted { reason, fault: fault @ (StartFault::Folder | StartFault::Machine) } =
            &report.ending
        {
            let message = format!("guardrail \"{}\" could not be started: {reason}", report.spec.command);
            let then = Continuation::Checks(checking);
            return self.finish_with_code(StopReason::Error, fault.exit_code(), message, then);
        }
        let fail_action = self.policy.guardrails.get(report.spec.index).map(|rule| rule.fail_action);
        let mut effects = vec![Effect::Tell(Notice::executed(self.iteration, report, fail_action))];
        if report.leaked > 0 {
            let text =
                format!("guardrail \"{}\" left processes behind, ended now: {}", report.spec.command, report.leaked);
            effects.push(Effect::Tell(Notice::Note { text }));
        }
        checking.reports.push(report.clone());
        effects.extend(self.stop_between(&checking).unwrap_or_else(|| self.go_on_checking(checking)));
        effects
    }

    /// Ends the run between two processes of checking, if somebody wants it to stop.
    pub(super) fn stop_between(&mut self, checking: &Checking) -> Option<Vec<Effect>> {
        match self.wish {
            StopWish::None => None,
            StopWish::AfterActivity(cause) | StopWish::Now(cause) => {
                Some(self.finish_stopped(cause, Continuation::Checks(Box::new(checking.clone()))))
            }
        }
    }

    /// Judges the iteration and goes on accordingly.
    pub(super) fn conclude(&mut self, checking: &Checking, tree: Stability) -> Vec<Effect> {
        let seen = &checking.seen;
        let findings = self.findings(seen);
        let changed = named(&checking.changed);
        let case = Case {
            policy: &self.policy,
            seen,
            reports: &checking.reports,
            findings: &findings,
            violations: &checking.violations,
            uncommitted: &checking.uncommitted,
            baseline: self.baseline.as_deref(),
            requests: self.inbox.open(),
            tree,
            changed: &changed,
            unseen: &checking.unseen,
        };
        let judgement = verdict::judge(case);
        let again = checking.committing.is_all_that_was_left();
        self.judged += u32::from(!again);
        self.failures_in_row = if seen.ended_well() { 0 } else { self.failures_in_row + 1 };
        self.guardrail_failures.clone_from(&judgement.failures);
        self.messages.clone_from(&seen.messages);
        let stalled = if again { None } else { self.note_lap(checking, &judgement) };
        self.feedback = feedback(Lookback {
            policy: &self.policy,
            iteration: self.iteration,
            judgement: &judgement,
            reports: &checking.reports,
            history: &self.history,
        });
        if let Some(undone) = self.undone.take() {
            self.feedback += &format!("\n\nPut back as it was at the start: {undone}. Leave it alone.");
        }
        let candidate = match judgement.decision {
            Decision::Complete => "complete",
            Decision::Blocked => "blocked",
            Decision::NotYet => "continue",
        };
        let past = Past { iteration: self.iteration, seen, files: checking.files_changed() };
        if !again {
            self.memory.record(past, candidate, &judgement.reasons);
        }
        self.last_judged = LastJudged {
            claimed: judgement.claim == Claim::Complete,
            errors: seen.all_errors(),
            violations: super::protecting::sentence(&checking.violations),
        };

        let mut effects = self.tell_findings(&findings);
        let views = self.policy.memory.enabled.then(|| self.write_views(None, self.human.clone()));
        let spent = self.elapsed.minus(self.iteration_began);
        let claim = judgement.claim.clone();
        let reasons = judgement.reasons.clone();
        // Going on takes the next number.
        let iteration = self.iteration;
        let then = self.after_judgement(judgement, checking, stalled);
        self.human.clear();
        let ended = matches!(self.phase, Phase::Ended(..));
        effects.push(Effect::Tell(Notice::IterationFinished {
            iteration,
            claim: claim.clone(),
            verdict: if ended { VerdictWord::Stop } else { VerdictWord::Continue },
            reasons,
            cost_usd: seen.cost_usd,
            tokens: seen.tokens,
            leaked: seen.process.leaked_count,
            duration: spent,
        }));
        // An ended run writes its own last views.
        effects.extend(views.filter(|_| !ended));
        if seen.marker == Marker::Present && !self.is_complete() {
            effects.push(Effect::RemoveDone);
        }
        effects.extend(then);
        effects
    }

    fn after_judgement(&mut self, judgement: Judgement, checking: &Checking, stalled: Option<String>) -> Vec<Effect> {
        let seen = &checking.seen;
        match judgement.decision {
            Decision::Complete => {
                let after = text::count(self.iteration.into(), "iteration");
                let Judgement { verified, unverified, .. } = judgement;
                let message = if verified {
                    format!("complete and verified after {after}")
                } else {
                    format!("claimed, not verified, after {after}: {unverified}")
                };
                if let Some(failure) = self.scm_failure.take() {
                    return self.end_uncommitted(checking, &message, &failure, verified);
                }
                let ending = Ending { reason: StopReason::Complete, code: exit::OK, message, verified };
                return self.end(ending, Continuation::Nothing);
            }
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
        if most > 0 && self.failures_in_row >= most {
            let why = seen.failure.as_ref().map_or("", |failure| failure.message.as_str());
            let message = format!("the agent failed {} in a row: {why}", text::count(most.into(), "time"));
            return self.finish(StopReason::Error, message, Continuation::NextIteration);
        }
        if let Some(message) = stalled {
            return self.finish(StopReason::Stalled, message, Continuation::NextIteration);
        }
        self.next_iteration()
    }

    /// What the agent's tool runs show, where a claim makes it matter.
    fn findings(&self, seen: &Observation) -> Vec<Finding> {
        if verdict::counted_claim(seen) == Claim::Complete {
            evidence::judge_with(&self.policy.criteria, &seen.tools, &seen.errors, &self.policy.verify.commands)
        } else {
            Vec::new()
        }
    }

    fn tell_findings(&self, findings: &[Finding]) -> Vec<Effect> {
        // That no error was seen is the normal case and worth no line.
        let worth_telling =
            findings.iter().filter(|finding| !finding.passed || finding.criterion != Criterion::NoErrors);
        let tell = worth_telling.map(|finding| {
            let problem = if finding.passed { String::new() } else { finding.reason.clone() };
            Effect::Tell(Notice::looked_at(self.iteration, CheckKind::Evidence, finding.criterion.as_str(), problem))
        });
        tell.collect()
    }
}

/// Files that a sentence names: a person wants examples.
const FILES_NAMED: usize = 5;

/// Some files, as the end of a sentence.
fn named(files: &[String]) -> String {
    let files = files.get(..FILES_NAMED).unwrap_or(files);
    if files.is_empty() { String::new() } else { format!(": {}", text::without_controls(&files.join(", "))) }
}
