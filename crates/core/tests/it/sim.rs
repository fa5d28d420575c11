//! A pretend world around the machine. It answers every effect by a script, keeps the journal, and
//! holds the machine to what any engine relies on: one activity at a time, nothing after the end.
//!
//! An answer depends on the iteration and on how often the same thing was asked in it, both read
//! from the journal. So a journal that was cut anywhere goes on in the same world.

use ralph_core::check::{Blindness, CheckEnding, CheckReport, CheckSpec, TreePrint};
use ralph_core::claim::{Claim, Completion};
use ralph_core::effect::{BusName, Effect, Launch, Purpose};
use ralph_core::event::{Entry, Event, Gathered, Resumed, Spent, Started};
use ralph_core::guardrail::{FailAction, Guardrail, OutputPart};
use ralph_core::id::{RunId, TaskName};
use ralph_core::inbox::{Heard, Request};
use ralph_core::memory::{Views, human_feedback, merge_feedback};
use ralph_core::notice::Notice;
use ralph_core::observation::{Ending, Failure, FailureClass, Marker, Markers, Observation, StartFault, Tokens};
use ralph_core::outcome::{Outcome, StopReason};
use ralph_core::policy::{
    AgentPolicy, Limits, LoopKind, MemoryPolicy, Passes, Policy, PromptSource, PromptVia, StopCriteria, VerifyPolicy,
};
use ralph_core::protect::{Change, Pinned, PinnedChange, PinnedState, Pins, ProtectPolicy};
use ralph_core::run::Run;
use ralph_core::scm::{Pending, ScmPolicy, ScmReport, ScmSpec};
use ralph_core::supervise::{self, Restarts, Supervision};
use ralph_core::time::{Millis, WallTime};
use std::collections::{BTreeMap, BTreeSet};

/// When every pretend run begins: 2027-01-15 08:00:00 UTC.
pub const START: i64 = 1_800_000_000_000;

/// How long a look at the tree and a check take.
const LOOK: Millis = Millis(10);
const CHECK: Millis = Millis(1000);

/// A policy with nothing switched on but the loop itself.
pub fn policy() -> Policy {
    Policy {
        kind: LoopKind::Prompt,
        task: TaskName::from_text("fix-login"),
        prompt: PromptSource::Text("Fix the login.".to_owned()),
        passes: Passes::Loop,
        completion: Completion::default(),
        protocol: false,
        iteration_line: false,
        guardrails: Vec::new(),
        output_chars: 5000,
        criteria: StopCriteria { passing_tests: false, lint: false, typecheck: false, no_errors: false, strict: false },
        limits: Limits {
            max_iterations: 10,
            wall: Millis::ZERO,
            iteration: Millis::ZERO,
            idle: Millis::ZERO,
            linger: Millis::from_secs(30),
            max_cost_usd: 0.0,
            max_tokens: 0,
            task_cost_usd: 0.0,
            task_tokens: 0,
            wait: true,
            stall_after: 0,
            max_consecutive_failures: 3,
            max_same_failures: 0,
            child_wait: ralph_core::policy::CHILD_WAIT,
        },
        memory: MemoryPolicy {
            enabled: false,
            max_chars: 20_000,
            summary_file: "ralph-summary.md".to_owned(),
            feedback_file: "ralph-feedback.md".to_owned(),
            state_file: "ralph-iteration.json".to_owned(),
            last_messages: 0,
        },
        agent: agent("agent"),
        fallback: Vec::new(),
        scm: ScmPolicy::default(),
        protect: ProtectPolicy::default(),
        verify: VerifyPolicy::default(),
        supervision: None,
        history: Default::default(),
        config_hash: String::new(),
    }
}

/// An agent of this name, with nothing special about it.
pub fn agent(command: &str) -> AgentPolicy {
    AgentPolicy {
        command: command.to_owned(),
        flags: Vec::new(),
        whole_flags: false,
        dialect: String::new(),
        format: String::new(),
        model: String::new(),
        prompt_via: PromptVia::Auto,
        env: BTreeMap::new(),
        env_remove: Vec::new(),
        stream: true,
    }
}

/// A root agent that may be started so often.
pub fn supervised(most: u32) -> Policy {
    let supervision = Supervision {
        project: "shop".to_owned(),
        task_folder: "/tasks/fix-login".to_owned(),
        folder: "/project".to_owned(),
        restart_delay: Millis::from_secs(1),
        poll: Millis::from_secs(1),
    };
    let restarts = Restarts { most, timeout: Millis::ZERO, idle: Millis::ZERO, child_wait: Millis::from_secs(300) };
    supervise::policy(TaskName::from_text("fix-login"), &["agent".to_owned()], restarts, supervision)
}

/// Runs of these names.
pub fn runs(names: &[&str]) -> Vec<RunId> {
    names.iter().map(|name| RunId::parse(name).unwrap()).collect()
}

/// Somebody's request.
pub fn request(id: &str) -> Heard {
    let (id, from, body) = (id.to_owned(), "anna".to_owned(), "please use tabs".to_owned());
    Heard::Request(Request { id, from, at: WallTime(START), body })
}

/// Guardrails that append, named by their commands.
pub fn guardrails(commands: &[&str]) -> Vec<Guardrail> {
    commands.iter().map(|command| guardrail(command, FailAction::Append)).collect()
}

pub fn guardrail(command: &str, fail_action: FailAction) -> Guardrail {
    Guardrail {
        command: command.to_owned(),
        fail_action,
        hint: String::new(),
        timeout: Millis::from_secs(60),
        output: OutputPart::First,
    }
}

pub const PASS: CheckEnding = CheckEnding::Exited { code: 0 };
pub const FAIL: CheckEnding = CheckEnding::Exited { code: 1 };

/// What a look at the tree shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// These files, at the first commit.
    Files(u8),
    /// These files, at that commit.
    Committed(u8, u8),
    /// Nothing.
    Unknown,
    /// Nothing, because the machine failed.
    Fault,
}

impl Look {
    pub fn print(self) -> TreePrint {
        let seen =
            |files: u8, head: u8| TreePrint::Seen { tree: format!("tree {files}"), head: format!("head {head}") };
        match self {
            Look::Files(files) => seen(files, 0),
            Look::Committed(files, head) => seen(files, head),
            Look::Unknown => TreePrint::Unknown { why: "no git".to_owned(), cause: Blindness::NoRepository },
            Look::Fault => TreePrint::fault("git was killed by signal 9"),
        }
    }
}

/// How an agent process goes, once its provider lets it work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agent {
    Claims,
    Blocked(&'static str),
    Works,
    /// It says that it is done and then fails: claims of these never count.
    Fails,
    TimesOut,
    CannotRun,
    /// It could run, but for its folder or the machine.
    NotStarted(StartFault),
    /// It is killed from outside while it claims, and its dialect sees nothing wrong.
    Killed,
}

/// One iteration of the script.
#[derive(Debug, Clone)]
pub struct Turn {
    /// What the provider answers before the agent gets to work.
    pub refusals: Vec<Failure>,
    pub agent: Agent,
    pub marker: Marker,
    /// Answers of the checks in the order in which they are executed, again from the first when
    /// used up; with none, all pass.
    pub checks: Vec<CheckEnding>,
    /// What each check prints, if anything special.
    pub output: String,
    /// What the first look of this iteration names as changed.
    pub edits: &'static [&'static str],
    /// What the looks of this iteration show; the last one repeats.
    pub looks: Vec<Look>,
    /// The base text as it is read for this iteration.
    pub base: Option<Result<String, String>>,
    /// What people write into the feedback file before this iteration, with its number behind it.
    pub human: &'static str,
    pub takes: Millis,
    pub cost_usd: f64,
    pub tokens: u64,
    pub says: String,
    /// What waits to be committed after this iteration.
    pub pending: Pending,
    /// What the agent answers when it is asked for a commit message; empty if it fails.
    pub message: &'static str,
    /// How tasks of version control end, by the task; others pass.
    pub tasks: Vec<(&'static str, CheckEnding)>,
    /// Pinned files that are found changed, and from which look of the iteration on.
    pub touches: Vec<(&'static str, usize)>,
    /// What is not part of the commit.
    pub uncommitted: Vec<String>,
    /// Pinned files that the commit holds otherwise than they were.
    pub committed: Vec<PinnedChange>,
    /// What is heard on the bus while the agent of this iteration works.
    pub heard: Vec<Heard>,
    /// What the agent acknowledges in its answer.
    pub acks: Vec<&'static str>,
    /// The file by which it asks to wait.
    pub wait: Marker,
    /// Child runs that outlive it.
    pub children: Vec<&'static str>,
}

/// An iteration in which an agent works for a minute and nothing else is remarkable.
pub fn turn(agent: Agent) -> Turn {
    Turn {
        refusals: Vec::new(),
        agent,
        marker: Marker::Absent,
        checks: Vec::new(),
        output: String::new(),
        edits: &[],
        looks: vec![Look::Files(1)],
        base: None,
        human: "",
        takes: Millis::from_secs(60),
        cost_usd: 0.0,
        tokens: 0,
        says: String::new(),
        pending: Pending::Seen { tracked: true, untracked: false },
        message: "Fix the login",
        tasks: Vec::new(),
        touches: Vec::new(),
        uncommitted: Vec::new(),
        committed: Vec::new(),
        heard: Vec::new(),
        acks: Vec::new(),
        wait: Marker::Absent,
        children: Vec::new(),
    }
}

/// Turns that differ only in their agents.
pub fn turns(agents: &[Agent]) -> Vec<Turn> {
    agents.iter().cloned().map(turn).collect()
}

/// Somebody at the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knock {
    Interrupt,
    Cancel,
    Note,
}

#[derive(Debug, Clone)]
pub struct World {
    pub policy: Policy,
    /// The iterations; the last one repeats.
    pub turns: Vec<Turn>,
    /// What the tree looks like before the first iteration.
    pub baseline: Look,
    /// Who knocks while which activity runs, counted from 0.
    pub knocks: Vec<(usize, Knock)>,
    /// What somebody types after each end.
    pub resumes: Vec<Resumed>,
    /// How long reading the inputs takes.
    pub gathering: Millis,
    /// The summary that an earlier run left.
    pub earlier: &'static str,
    /// What earlier runs of the task used.
    pub spent: Spent,
    /// What stands at DONE before the first attempt.
    pub done: Marker,
    /// Child runs that outlive every wait.
    pub orphans: Vec<&'static str>,
}

impl World {
    pub fn new(policy: Policy, turns: Vec<Turn>) -> World {
        World {
            policy,
            turns,
            baseline: Look::Files(0),
            knocks: Vec::new(),
            resumes: Vec::new(),
            gathering: Millis(5),
            earlier: "",
            spent: Spent::default(),
            done: Marker::Absent,
            orphans: Vec::new(),
        }
    }

    fn turn(&self, iteration: u32) -> &Turn {
        let index = (iteration as usize).saturating_sub(1).min(self.turns.len() - 1);
        &self.turns[index]
    }

    pub fn first_entry(&self) -> Entry {
        let started = Started {
            run: RunId::parse("r1").unwrap(),
            parent: None,
            policy: self.policy.clone(),
            root: "/project".to_owned(),
            version: "0.1.0".to_owned(),
            task_spent: self.spent,
            inherited: Vec::new(),
        };
        Entry { seq: 1, at: WallTime(START), elapsed: Millis::ZERO, event: Event::Started(Box::new(started)) }
    }
}

/// A run in its world.
#[derive(Debug)]
pub struct Sim {
    pub world: World,
    pub run: Run,
    pub journal: Vec<Entry>,
    /// Every effect, with the number of the entry that led to it.
    pub effects: Vec<(u64, Effect)>,
    /// The feedback file, as people and ralph have written it.
    pub feedback_file: String,
    pending: Option<Effect>,
    being_ended: bool,
    finished: bool,
    activities: usize,
    resumed: usize,
    heard_people: BTreeSet<u32>,
}

/// Plays a world to its last end.
pub fn play(world: World) -> Sim {
    let mut sim = Sim::new(world);
    sim.play();
    sim
}

impl Sim {
    pub fn new(world: World) -> Sim {
        let first = world.first_entry();
        let (run, effects) = Run::begin(&first).unwrap();
        let mut sim = Sim::around(world, run, vec![first]);
        sim.perform(effects);
        sim
    }

    /// The world after a crash: nothing is left but the journal's first entries.
    pub fn cut(world: World, journal: &[Entry]) -> Sim {
        let run = Run::replay(journal, |_, _| {}).unwrap();
        Sim::around(world, run, journal.to_vec())
    }

    fn around(world: World, run: Run, journal: Vec<Entry>) -> Sim {
        let finished = run.outcome().is_some();
        Sim {
            world,
            run,
            journal,
            effects: Vec::new(),
            feedback_file: String::new(),
            pending: None,
            being_ended: false,
            finished,
            activities: 0,
            resumed: 0,
            heard_people: BTreeSet::new(),
        }
    }

    /// Goes on until the run has ended and nobody resumes it any more.
    pub fn play(&mut self) {
        // Far beyond what any script needs, so that a machine that goes round for ever is found.
        for _ in 0..5_000 {
            if !self.finished {
                self.tick();
            } else if let Some(resumed) = self.world.resumes.get(self.resumed).cloned() {
                self.resumed += 1;
                self.resume(resumed);
                if self.run.is_complete() {
                    return;
                }
            } else {
                return;
            }
        }
        panic!("the run does not end: {:?}", self.run);
    }

    /// Lets the running activity come to its answer, with everything that happens meanwhile.
    pub fn tick(&mut self) {
        let mut left = self.span();
        let now = self.activities - 1;
        let knocks: Vec<Knock> =
            self.world.knocks.iter().filter(|(at, _)| *at == now).map(|(_, knock)| *knock).collect();
        for knock in knocks {
            self.happen(match knock {
                Knock::Interrupt => Event::Interrupted,
                Knock::Cancel => Event::Cancelled,
                Knock::Note => Event::Noted { text: "somebody was here".to_owned() },
            });
        }
        if let Some(wall) = self.run.wall_left().filter(|wall| *wall < left && self.pending.is_some()) {
            left = left.minus(wall);
            self.after(wall, Event::WallTimeUp);
        }
        if self.pending.is_some() && self.passes_the_budget() {
            self.happen(Event::BudgetUp);
        }
        if let Some(Effect::Launch(_)) = &self.pending {
            let messages = self.world.turn(self.run.iteration()).heard.clone();
            if !messages.is_empty() {
                self.happen(Event::Heard { messages });
            }
        }
        let Some(activity) = self.pending.take() else { return };
        let answer = self.answer(&activity);
        // What is ended does not take its time.
        self.after(if self.being_ended { Millis(100) } else { left }, answer);
    }

    /// Answers what runs with this event instead of the script's.
    pub fn answer_with(&mut self, event: Event) {
        self.pending = None;
        self.happen(event);
    }

    /// Somebody types `ralph resume`.
    pub fn resume(&mut self, resumed: Resumed) {
        // A new process: nothing of the old one runs any more.
        self.pending = None;
        self.being_ended = false;
        self.finished = self.run.is_complete();
        self.happen(Event::Resumed(resumed));
    }

    pub fn happen(&mut self, event: Event) {
        self.after(Millis::ZERO, event);
    }

    /// Journals an event and lets the machine take it.
    pub fn after(&mut self, span: Millis, event: Event) {
        let last = self.journal.last().unwrap();
        let at = last.at.0.saturating_add(i64::try_from(span.0).unwrap_or(i64::MAX));
        let entry = Entry { seq: last.seq + 1, at: WallTime(at), elapsed: Millis(last.elapsed.0 + span.0), event };
        self.journal.push(entry.clone());
        let effects = self.run.step(&entry);
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        let seq = self.run.seq();
        let count = effects.len();
        for (index, effect) in effects.into_iter().enumerate() {
            assert!(!self.finished || is_note(&effect), "after the end of entry {seq}: {effect:?}");
            match &effect {
                Effect::EndActivity => {
                    assert!(self.pending.is_some(), "nothing to end at entry {seq}");
                    self.being_ended = true;
                }
                Effect::WriteViews(views) => self.write_feedback(views),
                Effect::Finish => {
                    assert_eq!(index + 1, count, "the end is the last effect");
                    self.finished = true;
                    self.pending = None;
                }
                Effect::Tell(_) | Effect::RemoveDone | Effect::RemoveWait | Effect::Post(_) => {}
                activity => {
                    assert!(self.pending.is_none(), "entry {seq}: {activity:?} while {:?}", self.pending);
                    assert_eq!(index + 1, count, "an activity is the last effect");
                    // Pinning files takes no time here and is nobody's occasion to knock.
                    self.activities += usize::from(!matches!(activity, Effect::Pin { .. }));
                    self.being_ended = false;
                    self.pending = Some(activity.clone());
                }
            }
            self.effects.push((seq, effect));
        }
        if let Some(pin @ Effect::Pin { .. }) = self.pending.clone() {
            let answer = self.answer(&pin);
            self.answer_with(answer);
        }
    }

    fn write_feedback(&mut self, views: &Views) {
        self.feedback_file = merge_feedback(&self.feedback_file, &views.seen_human, &views.feedback.1);
    }

    fn span(&self) -> Millis {
        let pending =
            self.pending.as_ref().unwrap_or_else(|| panic!("nothing runs and the run goes on: {:?}", self.run));
        match pending {
            Effect::Gather { .. } => self.world.gathering,
            Effect::Launch(launch) => self.world.turn(launch.iteration).takes,
            Effect::Check(_) => CHECK,
            Effect::Rest { span } => *span,
            Effect::Wait { until } => {
                let now = self.journal.last().unwrap().at;
                Millis(u64::try_from(until.0.saturating_sub(now.0)).unwrap_or(0))
            }
            _ => LOOK,
        }
    }

    fn passes_the_budget(&self) -> bool {
        let Some(Effect::Launch(launch)) = &self.pending else { return false };
        let turn = self.world.turn(launch.iteration);
        (launch.cost_left > 0.0 && turn.cost_usd > launch.cost_left)
            || (launch.tokens_left > 0 && turn.tokens > launch.tokens_left)
    }

    fn answer(&mut self, activity: &Effect) -> Event {
        let iteration = self.run.iteration();
        match activity {
            Effect::Gather { summary, .. } => {
                let turn = self.world.turn(iteration);
                if !turn.human.is_empty() && self.heard_people.insert(iteration) {
                    let words = format!("{} ({iteration})", turn.human);
                    self.feedback_file = format!("{}\n{words}\n", self.feedback_file.trim_end());
                }
                Event::Gathered(Gathered {
                    base: turn.base.clone(),
                    summary: if *summary { self.world.earlier.to_owned() } else { String::new() },
                    human: human_feedback(&self.feedback_file),
                })
            }
            Effect::Launch(launch) if launch.purpose == Purpose::CommitMessage => {
                Event::AgentEnded(Box::new(self.message_end(self.world.turn(iteration))))
            }
            Effect::Launch(_) => Event::AgentEnded(Box::new(self.agent_end(self.world.turn(iteration)))),
            Effect::LookAtPending => Event::ScmLooked { pending: self.world.turn(iteration).pending },
            Effect::Scm(spec) => Event::ScmEnded(Box::new(self.task_end(spec, self.world.turn(iteration)))),
            Effect::LookAtTree => {
                let looks = &self.world.turn(iteration).looks;
                let asked = self.since_agent_end(|event| matches!(event, Event::TreeSeen { .. }));
                let look = if iteration == 0 { self.world.baseline } else { looks[asked.min(looks.len() - 1)] };
                let edits = if asked == 0 { self.world.turn(iteration).edits } else { &[] };
                Event::TreeSeen {
                    print: look.print(),
                    changed: (look != Look::Unknown).then(|| edits.iter().map(|&edit| edit.to_owned()).collect()),
                    pinned: self.pinned_changes(iteration, asked),
                }
            }
            Effect::Pin { candidates } => {
                let is_script = |(name, _): &&(String, Vec<usize>)| name.ends_with(".sh");
                let scripts = candidates.iter().filter(is_script).map(|(path, of)| pinned(path, of));
                let protected = self.world.policy.protect.paths.iter().map(|path| pinned(path, &[]));
                let files = scripts.chain(protected).collect();
                Event::Pinned {
                    pins: Ok(Pins { files, tree_seen: self.world.baseline != Look::Unknown, ..Pins::default() }),
                }
            }
            Effect::RestorePinned { .. } => Event::PinnedRestored { problems: Vec::new() },
            Effect::CheckOut => {
                let turn = self.world.turn(iteration);
                Event::CheckedOut {
                    commit: Ok("c1".to_owned()),
                    fault: false,
                    uncommitted: turn.uncommitted.clone(),
                    pinned: turn.committed.clone(),
                }
            }
            Effect::Check(spec) => {
                let ending = if self.being_ended { CheckEnding::Stopped } else { self.check_end(iteration) };
                let report = report(spec, ending);
                let output = self.world.turn(iteration).output.as_str();
                Event::CheckEnded(Box::new(if output.is_empty() { report } else { printed(report, output) }))
            }
            Effect::Wait { .. } | Effect::Rest { .. } => Event::Woke,
            Effect::LookAtMarkers => {
                Event::MarkersSeen { markers: Markers { done: self.done(), ..Markers::default() }, problem: None }
            }
            Effect::AwaitChildren { .. } => Event::ChildrenSeen { left: runs(&self.world.orphans), ended: Vec::new() },
            Effect::PostSafely(_) => Event::Posted { problem: None },
            other => panic!("{other:?} has no answer"),
        }
    }

    /// What the agent changed that it should not; gone once it was put back.
    fn pinned_changes(&self, iteration: u32, asked: usize) -> Vec<PinnedChange> {
        let put_back = self.since_agent_end(|event| matches!(event, Event::PinnedRestored { .. })) > 0;
        let turn = self.world.turn(iteration);
        let touched = turn.touches.iter().filter(|(_, look)| iteration > 0 && !put_back && *look <= asked);
        touched.map(|(path, _)| changed(path)).collect()
    }

    /// What stands at DONE: the last agent's, until it is removed.
    fn done(&self) -> Marker {
        let last = self.journal.iter().rev().find_map(|entry| match &entry.event {
            Event::AgentEnded(seen) => Some((entry.seq, seen.marker.clone())),
            _ => None,
        });
        let (from, marker) = last.unwrap_or((0, self.world.done.clone()));
        let removed = self.run_effects().iter().any(|(seq, effect)| *seq >= from && *effect == Effect::RemoveDone);
        if removed { Marker::Absent } else { marker }
    }

    /// Every effect that the journal led to, also before it was cut.
    fn run_effects(&self) -> Vec<(u64, Effect)> {
        let mut all = Vec::new();
        Run::replay(&self.journal, |entry, effects| all.extend(effects.into_iter().map(|effect| (entry.seq, effect))))
            .unwrap();
        all
    }

    fn agent_end(&self, turn: &Turn) -> Observation {
        // An agent that is ended halfway may well have printed its claim and its usage before.
        let mut seen = if self.being_ended {
            observation(&Agent::Claims, Ending::Stopped)
        } else if let Some(refusal) = turn.refusals.get(self.refusals_so_far(turn)) {
            let mut seen = observation(&Agent::Works, Ending::Exited { code: 1 });
            seen.failure = Some(refusal.clone());
            return seen;
        } else {
            observation(&turn.agent, how(&turn.agent))
        };
        seen.marker = turn.marker.clone();
        seen.wait = turn.wait.clone();
        seen.acks = turn.acks.iter().map(|&ack| ack.to_owned()).collect();
        seen.process.children = runs(&turn.children);
        seen.cost_usd = (turn.cost_usd > 0.0).then_some(turn.cost_usd);
        seen.tokens = Tokens { input: turn.tokens, ..Tokens::default() };
        seen.last_text.clone_from(&turn.says);
        seen.process.duration = turn.takes;
        seen
    }

    fn message_end(&self, turn: &Turn) -> Observation {
        let ending = if self.being_ended { Ending::Stopped } else { Ending::Exited { code: 0 } };
        let agent = if turn.message.is_empty() { Agent::Fails } else { Agent::Works };
        Observation { messages: vec![turn.message.to_owned()], ..observation(&agent, ending) }
    }

    fn task_end(&self, spec: &ScmSpec, turn: &Turn) -> ScmReport {
        let scripted = turn.tasks.iter().find(|(task, _)| *task == spec.task).map(|(_, ending)| ending.clone());
        let ending = if self.being_ended { CheckEnding::Stopped } else { scripted.unwrap_or(PASS) };
        ScmReport {
            spec: spec.clone(),
            ending,
            duration: CHECK,
            output: "said\nlast words\n".to_owned(),
            advice: String::new(),
            nothing: false,
        }
    }

    fn check_end(&self, iteration: u32) -> CheckEnding {
        let answers = &self.world.turn(iteration).checks;
        let asked = self.since_agent_end(
            |event| matches!(event, Event::CheckEnded(report) if report.ending != CheckEnding::Stopped),
        );
        if answers.is_empty() { PASS } else { answers[asked % answers.len()].clone() }
    }

    /// How many such entries there are since the agent last came to an end of its own, or since its
    /// checks began anew.
    fn since_agent_end(&self, wanted: impl Fn(&Event) -> bool) -> usize {
        let events = self.journal.iter().rev().map(|entry| &entry.event);
        events
            .take_while(|event| !matches!(event, Event::AgentEnded(_) | Event::Resumed(_)))
            .filter(|event| wanted(event))
            .count()
    }

    fn refusals_so_far(&self, turn: &Turn) -> usize {
        let ends = self.journal.iter().rev().filter_map(|entry| match &entry.event {
            Event::AgentEnded(seen) if seen.process.ending != Ending::Stopped => Some(seen),
            _ => None,
        });
        let scripted = |failure: &Failure| is_refusal(failure.class) || turn.refusals.contains(failure);
        ends.take_while(|seen| seen.failure.as_ref().is_some_and(scripted)).count()
    }

    pub fn outcome(&self) -> &Outcome {
        self.run.outcome().expect("the run has ended")
    }

    /// How the run ended: reason, exit code, iterations that count.
    pub fn end(&self) -> (StopReason, u8, u32) {
        let outcome = self.outcome();
        (outcome.reason, outcome.exit_code, outcome.iterations)
    }

    pub fn launches(&self) -> Vec<&Launch> {
        self.pick(|effect| if let Effect::Launch(launch) = effect { Some(launch.as_ref()) } else { None })
    }

    /// The numbers under which agents were started.
    pub fn numbers(&self) -> Vec<u32> {
        self.launches().iter().map(|launch| launch.iteration).collect()
    }

    pub fn prompts(&self) -> Vec<&str> {
        self.launches().iter().map(|launch| launch.prompt.as_str()).collect()
    }

    /// The commands of the checks, as they were executed.
    pub fn checked(&self) -> Vec<&str> {
        self.pick(|effect| if let Effect::Check(spec) = effect { Some(spec.command.as_str()) } else { None })
    }

    /// What was posted: the bus, the type and the text.
    pub fn posts(&self) -> Vec<(BusName, &str, &str)> {
        let posts = self.effects.iter().flat_map(|(_, effect)| match effect {
            Effect::Post(post) => std::slice::from_ref(post),
            Effect::PostSafely(posts) => posts,
            _ => &[],
        });
        posts.map(|post| (post.bus, post.kind.as_str(), post.body.as_str())).collect()
    }

    /// The arguments of every task of version control, as it was executed.
    pub fn tasks(&self) -> Vec<String> {
        self.pick(|effect| if let Effect::Scm(spec) = effect { Some(spec.args.join(" ")) } else { None })
    }

    /// How long each wait was meant to be, in milliseconds.
    pub fn waits(&self) -> Vec<i64> {
        let span = |(seq, effect): &(u64, Effect)| match effect {
            Effect::Wait { until } => Some(until.0.saturating_sub(self.journal[*seq as usize - 1].at.0)),
            _ => None,
        };
        self.effects.iter().filter_map(span).collect()
    }

    pub fn views(&self) -> Vec<&Views> {
        self.pick(|effect| if let Effect::WriteViews(views) = effect { Some(views.as_ref()) } else { None })
    }

    /// The numbers and reasons of the iterations that were told as finished.
    pub fn told_iterations(&self) -> Vec<(u32, Vec<String>)> {
        self.told(|notice| match notice {
            Notice::IterationFinished { iteration, reasons, .. } => Some((*iteration, reasons.clone())),
            _ => None,
        })
    }

    /// What was told, where it is of interest.
    pub fn told<T>(&self, wanted: impl Fn(&Notice) -> Option<T>) -> Vec<T> {
        self.pick(|effect| if let Effect::Tell(notice) = effect { wanted(notice) } else { None })
    }

    pub fn count(&self, wanted: impl Fn(&Effect) -> bool) -> usize {
        self.effects.iter().filter(|(_, effect)| wanted(effect)).count()
    }

    fn pick<'a, T>(&'a self, wanted: impl Fn(&'a Effect) -> Option<T>) -> Vec<T> {
        self.effects.iter().filter_map(|(_, effect)| wanted(effect)).collect()
    }
}

/// A file as it was pinned.
pub fn pinned(path: &str, scripts_of: &[usize]) -> Pinned {
    let state = PinnedState::File { executable: false, hash: "1".to_owned() };
    Pinned { path: path.to_owned(), state, scripts_of: scripts_of.to_vec() }
}

/// The same file with another content.
pub fn changed(path: &str) -> PinnedChange {
    PinnedChange { path: path.to_owned(), how: Change::Content { losses: String::new() } }
}

/// What a note after the end may still do: it tells, and changes nothing.
pub fn is_note(effect: &Effect) -> bool {
    matches!(effect, Effect::Tell(Notice::Note { .. }))
}

/// Whether the same iteration is tried again after this.
pub fn is_refusal(class: FailureClass) -> bool {
    matches!(class, FailureClass::Limited | FailureClass::Transient)
}

pub fn limited(resets_at: Option<i64>) -> Failure {
    Failure { resets_at, ..Failure::new(FailureClass::Limited, "usage limit reached") }
}

pub fn transient() -> Failure {
    Failure::new(FailureClass::Transient, "connection refused")
}

fn how(agent: &Agent) -> Ending {
    match agent {
        Agent::Claims | Agent::Blocked(_) | Agent::Works => Ending::Exited { code: 0 },
        Agent::Fails => Ending::Exited { code: 1 },
        Agent::TimesOut => Ending::TimedOut { limit: Millis::from_secs(60) },
        Agent::CannotRun => Ending::NotStarted { reason: "not found".to_owned(), fault: StartFault::Program },
        Agent::NotStarted(fault) => Ending::NotStarted { reason: "not started".to_owned(), fault: *fault },
        Agent::Killed => Ending::Signalled { signal: 9 },
    }
}

/// What is seen of an agent that went like this.
pub fn observation(agent: &Agent, ending: Ending) -> Observation {
    let failure = match agent {
        Agent::Claims | Agent::Blocked(_) | Agent::Works | Agent::Killed => None,
        Agent::Fails => Some(Failure::new(FailureClass::Other, "exit code 1")),
        Agent::TimesOut => Some(Failure::new(FailureClass::Other, "ran longer than 1m00s")),
        Agent::CannotRun => Some(Failure::new(FailureClass::CannotRun, "agent: not found")),
        Agent::NotStarted(_) => Some(Failure::new(FailureClass::Other, "agent: not started")),
    };
    let claim = match agent {
        Agent::Works | Agent::CannotRun | Agent::NotStarted(_) => Claim::None,
        Agent::Blocked(reason) => Claim::Blocked { reason: (*reason).to_owned() },
        Agent::Claims | Agent::Fails | Agent::TimesOut | Agent::Killed => Claim::Complete,
    };
    let blank = Observation::not_started(Failure::new(FailureClass::Other, ""), ending);
    Observation { failure, claim, ..blank }
}

/// The receipt of a check that printed this; of its beginning, 100 bytes are kept.
pub fn printed(report: CheckReport, output: &str) -> CheckReport {
    let mut excerpter = ralph_core::excerpt::Excerpter::default();
    excerpter.feed(output.as_bytes());
    let (excerpt, output_print) = excerpter.finish();
    CheckReport {
        output_head: ralph_core::text::prefix(output, 100).to_owned(),
        output_bytes: output.len() as u64,
        output_hash: ralph_core::text::hash(output.as_bytes()),
        excerpt,
        output_print,
        ..report
    }
}

/// The receipt of a check that ended like this.
pub fn report(spec: &CheckSpec, ending: CheckEnding) -> CheckReport {
    let output_head = format!("out{}", spec.index + 1);
    CheckReport {
        spec: spec.clone(),
        ending,
        duration: CHECK,
        output_hash: ralph_core::text::hash(output_head.as_bytes()),
        output_bytes: output_head.len() as u64,
        excerpt: Default::default(),
        output_print: String::new(),
        output_head,
        log: format!(".ralph/{}", spec.log_name),
        leaked: 0,
    }
}
