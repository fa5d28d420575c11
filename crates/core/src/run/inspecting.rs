//! Inspecting: the agent is gone with all its processes. What it did is gone through as a queue of steps: the tree
//! is looked at, every check runs on it, for a claim it is looked at again, version control follows, and then the
//! iteration is judged. Exactly the tree that was checked is accepted.

use super::committing::Committing;
use super::kinds::{Children, PlanInspection};
use super::opening::Opening;
use super::{Continuation, Phase, Run, RunStep, brief, ends};
use crate::activity::{Act, Activity, Leftover, PutBack};
use crate::check::{CheckEnding, CheckKind, CheckReport, CheckSpec, Ground, TreePrint};
use crate::claim::Claim;
use crate::evidence::Criterion;
use crate::feedback::{Lookback, feedback};
use crate::id::{CheckId, RunId};
use crate::machine::Step;
use crate::memory::Past;
use crate::notice::{Notice, VerdictWord};
use crate::observation::{Marker, Observation, StartFault};
use crate::outcome::StopReason;
use crate::policy::Passes;
use crate::protect::{Change, OnChange, PinnedChange};
use crate::scm::ScmSpec;
use crate::verdict::{self, About, Case, Condition, Decision, Judgement, TreeState};
use crate::words::{Cause, Note, Reason, named};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// Rounds of checks on a tree that changes under them. A formatter needs two; what needs more than
/// three does not come to rest.
const MOST_ROUNDS: u32 = 3;

/// What one iteration's agent did, as far as it is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Inspection {
    pub(super) seen: Arc<Observation>,
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
    /// What is not part of the commit, empty if all is; `None` if that does not count or nobody knows.
    uncommitted: Option<String>,
    pub(super) reports: Vec<CheckReport>,
    round: u32,
    /// Some of the files that the agent changed, where the tree was seen before it and after it.
    edited: Option<Vec<String>>,
    /// Some of the files that changed under the last round.
    changed: Vec<String>,
    /// Whether the tree stood still while this round's checks ran.
    stood: Stood,
    /// Checks that do not pass without files that were made during the run and can tell them what to do, or that they
    /// use beside the tree.
    #[serde(default)]
    pub(super) leaning: Vec<(CheckId, Vec<String>)>,
    /// Tests that are new.
    #[serde(default)]
    pub(super) new_tests: Vec<String>,
    pub(super) committing: Committing,
    /// What is known of the plan, where the run has one.
    #[serde(default)]
    pub(super) plan: PlanInspection,
}

/// One step of an inspection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Inspect {
    /// Child runs that outlived the agent are waited for.
    Children,
    /// The plan is read, and what the agent did to it is judged.
    Plan,
    /// What has no right to be there is put back, or what is left is committed.
    PutBack(Box<PutBack>),
    /// The plan stands as it must.
    AfterPlan,
    /// Is anything not committed?
    Uncommitted,
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
    /// Was anything made that can tell checks what to do, or used beside the tree?
    Made,
    /// A check without that.
    TryWithout(Box<CheckSpec>),
    /// Is there anything new that the commit does not hold?
    LeftOut,
    /// A check on what the commit holds of the new files.
    CheckWithout(Box<CheckSpec>),
}

/// When the tree is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Moment {
    BeforeChecks,
    AfterChecks,
    /// Has whoever was asked for a message left the tree alone?
    AfterMessage,
}

/// Whether the tree stood still while the checks ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Stood {
    /// Nobody has looked again, or it cannot be seen.
    Unseen,
    Still,
    Changing,
    /// No file did anything, but something came or went in folders, in every round.
    Restless,
}

impl Inspection {
    /// `first` comes before everything else, once nothing works in the tree any more.
    pub(super) fn of(seen: Arc<Observation>, looks: bool, first: Vec<Inspect>) -> Inspection {
        let mut inspection = Inspection {
            now: Inspect::Stands,
            queue: VecDeque::new(),
            tree: None,
            unseen: String::new(),
            violations: Vec::new(),
            restored: false,
            pinned: Vec::new(),
            unclean: String::new(),
            uncommitted: None,
            reports: Vec::new(),
            round: 1,
            edited: None,
            changed: Vec::new(),
            stood: Stood::Unseen,
            leaning: Vec::new(),
            new_tests: Vec::new(),
            committing: Committing::default(),
            plan: PlanInspection::default(),
            seen,
        };
        if looks {
            inspection.queue.push_back(Inspect::Look(Moment::BeforeChecks));
        } else {
            inspection.queue_round(Vec::new(), false);
        }
        inspection.first(first);
        if !inspection.seen.process.children.is_empty() {
            inspection.first([Inspect::Children]);
        }
        inspection
    }

    /// The same from the beginning: whatever passed before a stop may fail after it.
    pub(super) fn anew(self, looks: bool, first: Vec<Inspect>) -> Inspection {
        Inspection {
            committing: self.committing.anew(),
            edited: self.edited,
            ..Inspection::of(self.seen, looks, first)
        }
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
        matches!(
            self.now,
            Inspect::Check(_) | Inspect::CheckWithout(_) | Inspect::TryWithout(_) | Inspect::Message | Inspect::Scm(_)
        )
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
        let seen = Arc::make_mut(&mut self.seen);
        seen.tokens = seen.tokens.plus(asked.tokens);
        if let Some(cost) = asked.cost_usd {
            seen.cost_usd = Some(seen.cost_usd.unwrap_or(0.0) + cost);
        }
    }

    fn saw(&mut self, print: &TreePrint, moved: bool) {
        if moved {
            self.unseen.clear();
        }
        self.see_fault(print.fault_in_words().unwrap_or_default());
    }

    /// Why the machine could not show the tree is remembered once per round.
    pub(super) fn see_fault(&mut self, why: &str) {
        if self.unseen.is_empty() {
            self.unseen.push_str(why);
        }
    }
}

impl Run {
    /// Does the next step of an inspection, and judges when none is left.
    pub(super) fn go_on(&mut self, mut at: Box<Inspection>) -> RunStep {
        let Some(step) = at.queue.pop_front() else { return self.conclude(&at) };
        at.now = step.clone();
        match step {
            Inspect::Children if self.policy.limits.child_wait.is_off() => {
                let runs = at.seen.process.children.clone();
                Run::note(Note::ChildrenLiveOn { runs }).then(self.go_on(at))
            }
            Inspect::Children => {
                let span = self.policy.limits.child_wait;
                self.inspect_by(at, Activity::AwaitChildren { span, then: Leftover::Interrupt })
            }
            Inspect::Plan | Inspect::Uncommitted => self.read_plan_again(at),
            Inspect::PutBack(put_back) => self.inspect_by(at, Activity::PutBack(put_back)),
            Inspect::AfterPlan => self.after_plan(at),
            Inspect::Look(_) => self.inspect_by(at, self.look()),
            Inspect::Restore(paths) => self.inspect_by(at, Activity::RestorePinned { paths, pins: self.pins() }),
            Inspect::CheckOut => self.inspect_by(at, Activity::CheckOut { pins: self.pins() }),
            Inspect::Check(spec) => match self.reason_to_refuse(&at, &spec) {
                Some(reason) => self.refuse(at, *spec, reason),
                None => {
                    let spec = CheckSpec { watched: self.watches(&at), ..*spec };
                    self.phase = Phase::Inspecting(at);
                    self.start_check(spec)
                }
            },
            Inspect::Stands => {
                if self.is_said_done(&at) && at.reports.iter().any(CheckReport::supports) && at.nothing_refutes() {
                    let uses = at.reports.iter().any(|report| report.supports() && !report.outside.is_empty());
                    let made = (uses || self.looks_for_made()).then_some(Inspect::Made);
                    at.first([Inspect::Look(Moment::AfterChecks)].into_iter().chain(made).collect::<Vec<_>>());
                }
                self.go_on(at)
            }
            Inspect::Made if !self.looks_for_made() => self.try_without(at, &[]),
            Inspect::Made => {
                let speaks = at.reports.iter().filter(|report| report.supports());
                let checks = speaks.map(|report| report.spec.clone()).collect();
                let protected = self.policy.protect.paths.clone();
                self.inspect_by(at, Activity::LookForMade { pins: self.pins(), protected, checks })
            }
            Inspect::Commit => self.begin_commit(at),
            Inspect::Pending => {
                let program = self.policy.scm.command.clone();
                self.inspect_by(at, Activity::LookAtPending { program })
            }
            Inspect::Message => self.ask_for_message(at),
            Inspect::LeftOut => self.inspect_by(at, Activity::LookForLeftOut { pins: self.pins() }),
            Inspect::CheckWithout(spec) | Inspect::TryWithout(spec) => {
                self.phase = Phase::Inspecting(at);
                self.start_check(*spec)
            }
            Inspect::Scm(spec) => {
                let started = Notice::ScmStarted { iteration: self.count.iteration(), task: spec.task.clone() };
                Step::telling([started]).then(self.inspect_by(at, Activity::Scm(spec, self.pins())))
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
            Run::note(Note::ChildrenInterrupted { runs: left.to_vec() })
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
        at.leaning.clear();
        at.stood = Stood::Unseen;
        at.queue_round(self.checks_due(ground), clean);
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
        let changed = pinned.iter().find(|change| counts && !matches!(change.how, Change::Deleted | Change::PutBack));
        let why = commit.as_ref().err().cloned().or(changed.map(|change| format!("in the commit {}", change.words())));
        let said =
            if fault { "the commit could not be checked out on this machine" } else { "the commit cannot be judged" };
        at.unclean = why.map_or(String::new(), |why| format!("{said}: {why}"));
        if fault {
            // The checks cannot run, and say so themselves; what is committed nobody knows.
            at.uncommitted = None;
            let told = Run::note(Note::CheckoutFailed { why: at.unclean.clone() });
            return Some(told.then(self.go_on(at)));
        }
        let problem = match uncommitted {
            _ if !at.unclean.is_empty() => at.unclean.clone(),
            [] => String::new(),
            files => format!("not committed{}", named(files)),
        };
        at.uncommitted = Some(problem.clone());
        let told = self.tell_looked_at(CheckKind::CleanTree, "everything is committed", problem);
        Some(told.then(self.go_on(at)))
    }

    /// Tells about something that holds or does not hold, and for which nothing was executed.
    pub(super) fn tell_looked_at(&mut self, kind: CheckKind, name: &str, problem: String) -> RunStep {
        self.last.tell_check(name, problem.is_empty());
        Step::telling([Notice::looked_at(self.count.iteration(), kind, name, problem)])
    }

    pub(super) fn on_tree_seen(
        &mut self,
        print: &TreePrint,
        (changed, stirred): (Option<&[String]>, &[String]),
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
        self.integrity.see_put_back(pinned);
        self.integrity.see_made(pinned);
        let pinned = self.pins().violations(print, pinned);
        // Files that git ignores are pinned too, so both looks are compared.
        let moved = at.tree.replace(print.clone()).is_some_and(|before| print.differs_from_checked(&before))
            || (!first_look && at.pinned != pinned);
        let stirred = if moved { Vec::new() } else { self.stirred_under_checks(&at, stirred) };
        let restless = !stirred.is_empty() && stirred.iter().all(|path| path.ends_with('/'));
        let moved = moved || !stirred.is_empty();
        at.pinned = pinned;
        at.saw(print, moved);
        let told = self.tell_blindness(print);
        if (first_look || moved)
            && let Some(first) = self.pinned_seen(&mut at)
        {
            return Some(told.then(first));
        }
        let changed: Vec<String> = changed.unwrap_or_default().iter().cloned().chain(stirred).collect();
        let how = match moved {
            false => Stood::Still,
            true if restless => Stood::Restless,
            true => Stood::Changing,
        };
        Some(told.then(self.after_look(at, &changed, how)))
    }

    /// What was written beside the checks and is as it was: nothing of them writes into the tree of which they have a
    /// snapshot, so they may have seen what is there no more. What comes and goes in folders is ralph's own doing where
    /// it carries something back.
    fn stirred_under_checks(&self, at: &Inspection, stirred: &[String]) -> Vec<String> {
        let on_snapshots = self.integrity.has_snapshots() && !self.policy.verify.clean_checkout;
        if !at.is_at(&Inspect::Look(Moment::AfterChecks)) || !on_snapshots {
            return Vec::new();
        }
        let carries = at.reports.iter().any(|report| report.spec.terms.writes || !report.spec.terms.keep.is_empty());
        stirred.iter().filter(|path| !carries || !path.ends_with('/')).cloned().collect()
    }

    /// What follows a look that found the pinned files in order, or nothing that can be done about them.
    fn after_look(&mut self, mut at: Box<Inspection>, changed: &[String], how: Stood) -> RunStep {
        let moved = how != Stood::Still;
        let moment = match at.now {
            Inspect::Look(moment) => moment,
            _ => Moment::BeforeChecks,
        };
        if !moved && moment != Moment::BeforeChecks {
            at.stood = match at.stood {
                // A look after the agent was asked for a message says nothing new about the checks.
                Stood::Restless => Stood::Restless,
                _ if matches!(at.tree, Some(TreePrint::Seen { .. })) => Stood::Still,
                _ => Stood::Unseen,
            };
            return self.go_on(at);
        }
        if moved && at.round >= MOST_ROUNDS {
            at.changed = changed.to_vec();
            at.stood = how;
            return if how == Stood::Restless { self.go_on(at) } else { self.conclude(&at) };
        }
        // The first look, or a tree that moved under the checks: every check speaks for this print.
        let mut told = Step::default();
        if moved {
            at.round += 1;
            let files = changed.to_vec();
            told = Run::note(match moment {
                Moment::AfterMessage => Note::FilesMovedByAnswer { files },
                Moment::BeforeChecks | Moment::AfterChecks => Note::FilesMoved { files },
            });
        }
        told = told.then(self.tell_protected(&at));
        // Whoever opens a pipe waits for it, checks as well as git.
        if at.violations.iter().any(|change| matches!(change.how, Change::Blocks { .. })) {
            return told.then(self.conclude(&at));
        }
        told.then(self.begin_round(at))
    }

    /// Says once that the tree cannot be seen, and what that means for the word verified.
    fn tell_blindness(&mut self, print: &TreePrint) -> RunStep {
        let TreePrint::Unknown { why, cause } = print else { return Step::default() };
        if !self.policy.has_checks() || !self.integrity.tells_blindness() {
            return Step::default();
        }
        Run::note(Note::TreeUnseen { why: why.clone(), cause: *cause })
    }

    pub(super) fn on_check_ended(&mut self, report: &CheckReport) -> Option<RunStep> {
        match &self.phase {
            Phase::Opening(Opening::Checks(reports)) => return self.on_first_check_ended(reports.clone(), report),
            Phase::Opening(Opening::Watching(checks)) => return self.on_watched(checks.clone(), report),
            _ => {}
        }
        if let Some(at) = self.inspecting(|step| matches!(step, Inspect::TryWithout(spec) if spec.id == report.spec.id))
        {
            return Some(self.on_tried_without(at, report));
        }
        if let Some(at) =
            self.inspecting(|step| matches!(step, Inspect::CheckWithout(spec) if spec.id == report.spec.id))
        {
            return Some(self.on_checked_without(at, report));
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
            let (command, why) = (report.spec.name().to_owned(), reason.clone());
            let cause = Cause::CheckNotStarted { command, why, code: fault.exit_code() };
            return self.finish(cause, Continuation::Inspection(at));
        }
        let mut told = self.tell_executed(self.count.iteration(), report);
        if report.leaked > 0 {
            let (command, count) = (report.spec.name().to_owned(), report.leaked);
            told = told.then(Run::note(Note::CheckLeaked { command, count }));
        }
        at.see_fault(&report.unwatched);
        at.reports.push(report.clone());
        // What it did to a judge that no snapshot holds must not judge for the next one, and be gone at the next look.
        let tree = at.tree.clone().unwrap_or(TreePrint::fault("nobody has looked"));
        let meddled = self.pins().violations(&tree, &report.pinned).iter().any(|change| !at.pinned.contains(change));
        if meddled && matches!(at.queue.front(), Some(Inspect::Check(_))) {
            at.first([Inspect::Look(Moment::AfterChecks)]);
        }
        told.then(self.stop_between(&at).unwrap_or_else(|| self.go_on(at)))
    }

    /// Ends the run between two processes of an inspection, if somebody wants it to stop.
    pub(super) fn stop_between(&mut self, at: &Inspection) -> Option<RunStep> {
        let cause = self.wish.cause()?;
        Some(self.finish_stopped(cause, Continuation::Inspection(Box::new(at.clone()))))
    }

    /// What the verdict on an inspection rests on, as far as it is.
    fn case<'a>(&'a self, at: &'a Inspection, checks: &'a [CheckSpec]) -> Case<'a> {
        let protects = self.policy.protect.on_change != OnChange::Allow
            && !(self.policy.protect.paths.is_empty() && at.violations.is_empty());
        Case {
            policy: &self.policy,
            seen: Some(&at.seen),
            checks,
            reports: &at.reports,
            violations: (protects && at.tree.is_some()).then_some(at.violations.as_slice()),
            uncommitted: at.uncommitted.as_deref(),
            baseline: self.integrity.baseline(),
            requests: self.inbox.open(),
            tree: match at.stood {
                Stood::Unseen => TreeState::Unseen,
                Stood::Still => TreeState::Still,
                Stood::Changing => TreeState::Changing(&at.changed),
                Stood::Restless => TreeState::Restless(&at.changed),
            },
            unseen: &at.unseen,
            unknown: self.integrity.unknown(),
            leaning: &at.leaning,
            untrusted: self.integrity.untrusted(),
            doubted_rules: self.integrity.doubted_rules(),
            live: self.integrity.is_live(),
            plan: self.plan_case(Some(&at.plan)),
        }
    }

    /// What the newest iteration needed to be complete.
    pub(super) fn conditions_of_work(&self) -> Vec<Condition> {
        let checks = self.checks_due(Ground::Project);
        match (self.last.judged(), &self.phase) {
            (Some(judged), _) => judged.to_vec(),
            (None, Phase::Inspecting(at) | Phase::Ended(_, Continuation::Inspection(at))) => {
                verdict::conditions(&self.case(at, &checks))
            }
            (None, _) => verdict::conditions(&Case {
                policy: &self.policy,
                seen: self.last.seen(),
                checks: &checks,
                reports: &[],
                violations: None,
                uncommitted: None,
                baseline: self.integrity.baseline(),
                requests: self.inbox.open(),
                tree: TreeState::Unseen,
                unseen: "",
                unknown: self.integrity.unknown(),
                leaning: &[],
                untrusted: self.integrity.untrusted(),
                doubted_rules: self.integrity.doubted_rules(),
                live: self.integrity.is_live(),
                plan: self.plan_case(None),
            }),
        }
    }

    /// The checks that are due, and those that were executed when others were.
    fn checks_judged(&self, at: &Inspection) -> Vec<CheckSpec> {
        let mut checks = self.checks_due(Ground::Project);
        for report in &at.reports {
            if !checks.iter().any(|check| check.id == report.spec.id) {
                checks.push(report.spec.clone());
            }
        }
        checks
    }

    /// Judges the iteration and goes on accordingly.
    pub(super) fn conclude(&mut self, at: &Inspection) -> RunStep {
        let seen = &at.seen;
        let checks = self.checks_judged(at);
        let judgement = verdict::judge(self.case(at, &checks));
        if let Some(first) = self.settle(at, &judgement) {
            return first;
        }
        if at.plan.agentless {
            return self.conclude_without_agent(judgement);
        }
        self.last.judge(judgement.conditions.clone());
        let again = at.committing.is_all_that_was_left();
        self.count.judge(seen.ended_well(), !again);
        let stalled = if again { None } else { self.note_lap(at, &judgement) };
        self.learn(at, &judgement, again);
        self.remember_ran(&at.reports);
        self.book_story(at);
        let mut told = self.tell_findings(&judgement);
        let views = self.has_views().then(|| self.write_views(None, self.brief.human().to_owned()));
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
        let removed =
            (seen.marker == Marker::Present && self.continuation() != Continuation::Nothing).then_some(Act::RemoveDone);
        told.then(Step::acting(views.into_iter().chain(removed))).then(then)
    }

    /// What the next agent is told about this iteration.
    fn learn(&mut self, at: &Inspection, judgement: &Judgement, again: bool) {
        let iteration = self.count.iteration();
        let feedback = feedback(Lookback { iteration, judgement, reports: &at.reports, history: &self.history });
        let lesson = brief::Lesson {
            past: Past { iteration, seen: &at.seen, files: at.files_changed() },
            candidate: match judgement.decision {
                Decision::Complete => "complete",
                Decision::Blocked => "blocked",
                Decision::NotYet => "continue",
            },
            reasons: judgement.reasons.iter().map(ToString::to_string).collect(),
            failures: judgement.failures.clone(),
            feedback,
            claimed: judgement.claim == Claim::Complete,
            counts: !again,
        };
        self.brief.learn(&self.policy, lesson);
    }

    fn after_judgement(&mut self, judgement: Judgement, at: &Inspection, stalled: Option<Cause>) -> RunStep {
        let next = Continuation::NextIteration;
        let Judgement { decision, reasons, failing, .. } = judgement;
        match decision {
            Decision::Complete => {
                let (verification, why) = judgement.verification;
                let work = Cause::Completed { iterations: self.count.iteration(), verification, why };
                return match self.scm_failure.take() {
                    Some(failure) => self.end_uncommitted(at, work, failure),
                    None => self.finish(work, Continuation::Nothing),
                };
            }
            Decision::Blocked => {
                let reason = reasons.into_iter().next().unwrap_or(Reason::Blocked { reason: None });
                return self.finish(Cause::Blocked(reason), next);
            }
            Decision::NotYet => {}
        }
        if self.policy.passes == Passes::Single {
            let fine = at.seen.ended_well() && failing.is_empty() && self.scm_failure.is_none();
            return self.finish(Cause::SinglePass { reasons, fine }, next);
        }
        let most = self.policy.limits.max_consecutive_failures;
        if most > 0 && self.count.failures_in_row() >= most {
            let why = at.seen.failure.as_ref().map_or(String::new(), |failure| failure.message.clone());
            return self.finish(Cause::AgentInRow { times: most, why }, next);
        }
        match stalled {
            Some(cause) => self.finish(cause, next),
            None => self.open(),
        }
    }

    /// Tells what the agent's tool runs show, where a claim makes it matter. That no error was seen is the normal
    /// case and worth no line.
    fn tell_findings(&mut self, judgement: &Judgement) -> RunStep {
        let claims = judgement.claim == Claim::Complete;
        judgement.conditions.iter().filter(|_| claims).fold(Step::default(), |told, condition| {
            let About::Evidence(criterion) = condition.about else { return told };
            if condition.holds() && criterion == Criterion::NoErrors {
                return told;
            }
            let problem = condition.reasons().iter().map(ToString::to_string).collect();
            told.then(self.tell_looked_at(CheckKind::Evidence, criterion.as_str(), problem))
        })
    }
}
