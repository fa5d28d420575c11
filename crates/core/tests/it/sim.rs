//! A pretend world around the machine. It answers every activity by a script, keeps the journal, and
//! holds the machine to what any engine relies on: one activity at a time, nothing after the end, and no event
//! that the machine did not expect.
//!
//! An answer depends on the iteration and on how often the same thing was asked in it, both read
//! from the journal. So a journal that was cut anywhere goes on in the same world.

use ralph_core::activity::{Act, Activity, BusName, Launch, Role};
use ralph_core::check::{Blindness, CheckEnding, CheckReport, CheckSpec, TreePrint};
use ralph_core::claim::Claim;
use ralph_core::event::{Entry, Event, Gathered, Resumed, Spent, Started};
use ralph_core::guardrail::{FailAction, Guardrail};
use ralph_core::id::{CheckId, RunId, TaskName};
use ralph_core::inbox::{Heard, Request};
use ralph_core::judges::{Known, Part, Unknown, Why};
use ralph_core::machine::{Machine, Next, Outside};
use ralph_core::memory::{Views, human_feedback, merge_feedback};
use ralph_core::notice::Notice;
use ralph_core::observation::{Ending, Failure, FailureClass, Marker, Markers, Observation, StartFault, Tokens};
use ralph_core::outcome::{Outcome, StopReason};
use ralph_core::policy::{AgentPolicy, Limits, MemoryPolicy, Policy, PromptSource};
use ralph_core::protect::{Change, Pinned, PinnedChange, PinnedState, Pins};
use ralph_core::run::{Run, RunStep};
use ralph_core::scm::{Pending, ScmReport, ScmSpec};
use ralph_core::supervise::{self, Restarts, Supervision};
use ralph_core::tests_changed::{TestsChanged, TestsRecord};
use ralph_core::time::{Millis, WallTime};
use ralph_core::trust::Untrusted;
use ralph_core::words::Note;
use std::collections::BTreeSet;

/// When every pretend run begins: 2027-01-15 08:00:00 UTC.
pub const START: i64 = 1_800_000_000_000;

/// How long a look at the tree and a check take.
const LOOK: Millis = Millis(10);
const CHECK: Millis = Millis(1000);

/// A policy with nothing switched on but the loop itself.
pub fn policy() -> Policy {
    Policy {
        prompt: PromptSource::Text("Fix the login.".to_owned()),
        output_chars: 5000,
        limits: Limits {
            max_iterations: 10,
            linger: Millis::from_secs(30),
            max_consecutive_failures: 3,
            ..Limits::default()
        },
        memory: MemoryPolicy {
            max_chars: 20_000,
            summary_file: "ralph-summary.md".to_owned(),
            feedback_file: "ralph-feedback.md".to_owned(),
            state_file: "ralph-iteration.json".to_owned(),
            ..MemoryPolicy::default()
        },
        agent: agent("agent"),
        ..Policy::new(TaskName::from_text("fix-login"))
    }
}

/// An agent of this name, with nothing special about it.
pub fn agent(command: &str) -> AgentPolicy {
    AgentPolicy { command: command.to_owned(), stream: true, ..AgentPolicy::default() }
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
    Guardrail { command: command.to_owned(), fail_action, timeout: Millis::from_secs(60), ..Guardrail::default() }
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
    /// What was written and is as it was, by the number of the look that sees it.
    pub stirs: Vec<&'static [&'static str]>,
    /// What is new and not in the commit.
    pub left_out: &'static [&'static str],
    /// Whether checks fail without that.
    pub needs_left_out: bool,
    /// What was made that can tell checks what to do, and whether the checks fail without it.
    pub made: &'static [&'static str],
    pub leans: bool,
    /// Tests that are new, and whether checks that lean fail without them as well.
    pub new_tests: &'static [&'static str],
    pub leans_anyway: bool,
    /// Why that could not be looked for; empty if it could.
    pub unmade: &'static str,
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

impl Turn {
    /// Whether a check fails without these files.
    fn leans_without(&self, without: &[String]) -> bool {
        let is_left_out = |test: &&str| without.iter().any(|path| path == test);
        let is_second = !self.new_tests.is_empty() && self.new_tests.iter().all(is_left_out);
        !without.is_empty() && self.leans && (!is_second || self.leans_anyway)
    }
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
        stirs: Vec::new(),
        left_out: &[],
        needs_left_out: false,
        made: &[],
        leans: false,
        new_tests: &[],
        leans_anyway: false,
        unmade: "",
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
    /// Why checks run on the live tree; empty for snapshots.
    pub live: String,
    /// What reading the checks tells.
    pub known: Known,
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
    /// What stands at DONE before the first start.
    pub done: Marker,
    /// Child runs that outlive every wait.
    pub orphans: Vec<&'static str>,
    pub no_repository: bool,
    /// Which existing tests are found changed in the end.
    pub tests: Result<TestsChanged, String>,
    /// Pinned files of which an agent of an earlier run changed a part, one part for each mention.
    pub untrusted: Vec<&'static str>,
    /// What is not known of the checks.
    pub unknown: Vec<Unknown>,
}

impl World {
    pub fn new(policy: Policy, turns: Vec<Turn>) -> World {
        World {
            policy,
            turns,
            baseline: Look::Files(0),
            live: String::new(),
            known: Known::default(),
            knocks: Vec::new(),
            resumes: Vec::new(),
            gathering: Millis(5),
            earlier: "",
            spent: Spent::default(),
            done: Marker::Absent,
            orphans: Vec::new(),
            no_repository: false,
            tests: Ok(TestsChanged::default()),
            untrusted: Vec::new(),
            unknown: Vec::new(),
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
            no_repository: self.no_repository,
        };
        Entry { seq: 1, at: WallTime(START), elapsed: Millis::ZERO, event: Event::Started(Box::new(started)) }
    }
}

/// One thing that the machine asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    Tell(Notice),
    Act(Act),
    Start(Activity),
    /// What runs is dropped for this.
    Instead(Activity),
    /// What runs is ended.
    End,
    Finished,
}

/// All that a step asks for, in the order in which an engine does it.
pub fn asked(step: RunStep) -> Vec<Asked> {
    let next = match step.next {
        Next::GoesOn => None,
        Next::Start(activity) => Some(Asked::Start(activity)),
        Next::Instead(activity) => Some(Asked::Instead(activity)),
        Next::EndRunning => Some(Asked::End),
        Next::Finished(_) => Some(Asked::Finished),
    };
    let told = step.tell.into_iter().map(Asked::Tell);
    told.chain(step.acts.into_iter().map(Asked::Act)).chain(next).collect()
}

/// Folds a journal: the run, and everything that it asked for with the number of the entry that led to it.
pub fn replay(journal: &[Entry]) -> (Run, Vec<(u64, Asked)>) {
    let mut log = Vec::new();
    let run = Run::replay(journal, |entry, step| log.extend(asked(step).into_iter().map(|asked| (entry.seq, asked))));
    (run.unwrap(), log)
}

/// A run, written and read back.
pub fn through_json(run: &Run) -> Run {
    serde_json::from_str(&serde_json::to_string(run).unwrap()).unwrap()
}

/// Reads the run back behind every entry and goes on with that; what follows must be what followed without it, and
/// the fold of the rest must come to the same end.
pub fn goes_on_after_every_entry(journal: &[Entry]) {
    let (whole, _) = replay(journal);
    assert_eq!(Run::fold(None, journal).as_ref(), Ok(&whole));
    let (mut run, _) = Run::begin(&journal[0]).unwrap();
    for (number, entry) in journal.iter().enumerate().skip(1) {
        let mut back = through_json(&run);
        assert_eq!(back, run, "behind entry {number}");
        assert_eq!(back.step(entry), run.step(entry), "behind entry {number}");
        assert_eq!(back, run);
        run = back;
    }
    assert_eq!(through_json(&run), whole);
    let middle = journal.len() / 2 + 1;
    let half = Run::fold(None, &journal[..middle]).unwrap();
    assert_eq!(Run::fold(Some(through_json(&half)), &journal[middle..]), Ok(whole));
}

/// A run in its world.
#[derive(Debug)]
pub struct Sim {
    pub world: World,
    pub run: Run,
    pub journal: Vec<Entry>,
    /// Everything that was asked for, with the number of the entry that led to it.
    pub log: Vec<(u64, Asked)>,
    /// The feedback file, as people and ralph have written it.
    pub feedback_file: String,
    pending: Option<Activity>,
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
        let (run, step) = Run::begin(&first).unwrap();
        let mut sim = Sim { finished: false, ..Sim::around(world, run, vec![first]) };
        sim.perform(step);
        sim
    }

    /// The world after a crash: nothing is left but the journal's first entries.
    pub fn cut(world: World, journal: &[Entry]) -> Sim {
        Sim::around(world, replay(journal).0, journal.to_vec())
    }

    fn around(world: World, run: Run, journal: Vec<Entry>) -> Sim {
        let finished = run.outcome().is_some();
        Sim {
            world,
            run,
            journal,
            log: Vec::new(),
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
                continue;
            }
            // Nobody can resume a run that is complete.
            let Some(resumed) = self.world.resumes.get(self.resumed).filter(|_| !self.run.is_complete()) else {
                return;
            };
            let resumed = resumed.clone();
            self.resumed += 1;
            self.resume(resumed);
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
            // Whoever comes after the end finds nobody to tell.
            match knock {
                Knock::Interrupt => self.knock_with(Millis::ZERO, Outside::Interrupt),
                Knock::Cancel => self.knock_with(Millis::ZERO, Outside::Cancel),
                Knock::Note => {
                    self.happen(Event::Noted { note: Note::Machine { text: "somebody was here".to_owned() } })
                }
            }
        }
        if let Some(wall) = self.run.time_left().filter(|wall| *wall < left) {
            left = left.minus(wall);
            self.knock_with(wall, Outside::TimeUp);
        }
        if self.pending.is_some() && self.passes_the_budget() {
            self.happen(Event::BudgetUp);
        }
        if let Some(Activity::Launch(_)) = &self.pending {
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

    /// Somebody or something from outside, if anything runs that it could meet.
    fn knock_with(&mut self, span: Millis, what: Outside) {
        if self.pending.is_some() {
            let event = self.run.outside(what).unwrap();
            self.after(span, event);
        }
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
        self.happen(Event::Resumed(Box::new(resumed)));
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
        let step = self.run.step(&entry);
        self.perform(step);
    }

    fn perform(&mut self, step: RunStep) {
        let seq = self.run.seq();
        for asked in asked(step) {
            assert!(!self.finished || is_note(&asked), "after the end of entry {seq}: {asked:?}");
            match &asked {
                Asked::Tell(told) => {
                    assert!(!matches!(told, Notice::Note(Note::Unexpected { .. })), "entry {seq}: {told:?}")
                }
                Asked::Act(Act::WriteViews(views)) => self.write_feedback(views),
                Asked::Act(_) => {}
                Asked::Start(activity) => {
                    assert!(self.pending.is_none(), "entry {seq}: {activity:?} while {:?}", self.pending);
                    // Pinning files takes no time here and is nobody's occasion to knock.
                    self.activities += usize::from(!matches!(activity, Activity::Pin(_) | Activity::Learn(..)));
                    self.being_ended = false;
                    self.pending = Some(activity.clone());
                }
                Asked::Instead(activity) => {
                    assert!(self.pending.is_some(), "entry {seq}: {activity:?} instead of nothing");
                    self.activities += 1;
                    self.being_ended = false;
                    self.pending = Some(activity.clone());
                }
                Asked::End => {
                    assert!(self.pending.is_some(), "nothing to end at entry {seq}");
                    self.being_ended = true;
                }
                Asked::Finished => {
                    self.finished = true;
                    self.pending = None;
                }
            }
            self.log.push((seq, asked));
        }
        while let Some(pin @ (Activity::Pin(_) | Activity::Learn(..))) = self.pending.clone() {
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
            Activity::Gather(_) => self.world.gathering,
            Activity::Launch(launch) => self.world.turn(launch.iteration).takes,
            Activity::Check(..) => CHECK,
            Activity::Rest { span } => *span,
            Activity::Wait { until } => {
                let now = self.journal.last().unwrap().at;
                Millis(u64::try_from(until.0.saturating_sub(now.0)).unwrap_or(0))
            }
            _ => LOOK,
        }
    }

    fn passes_the_budget(&self) -> bool {
        let Some(Activity::Launch(launch)) = &self.pending else { return false };
        let turn = self.world.turn(launch.iteration);
        let (cost_left, tokens_left) = (launch.limits.cost_left, launch.limits.tokens_left);
        (cost_left > 0.0 && turn.cost_usd > cost_left) || (tokens_left > 0 && turn.tokens > tokens_left)
    }

    fn answer(&mut self, activity: &Activity) -> Event {
        let iteration = self.run.iteration();
        match activity {
            Activity::Gather(gather) => {
                let turn = self.world.turn(iteration);
                if !turn.human.is_empty() && self.heard_people.insert(iteration) {
                    let words = format!("{} ({iteration})", turn.human);
                    self.feedback_file = format!("{}\n{words}\n", self.feedback_file.trim_end());
                }
                Event::Gathered(Gathered {
                    base: turn.base.clone(),
                    summary: gather.summary_file.as_ref().map_or(String::new(), |_| self.world.earlier.to_owned()),
                    human: human_feedback(&self.feedback_file),
                    tree: None,
                })
            }
            Activity::Launch(launch) if launch.role == Role::Scribe => {
                Event::AgentEnded(Box::new(self.message_end(self.world.turn(iteration))))
            }
            Activity::Launch(_) => Event::AgentEnded(Box::new(self.agent_end(self.world.turn(iteration)))),
            Activity::LookForMade { checks, .. } => {
                let files = |_: &_| self.world.turn(iteration).made.iter().map(|&path| path.to_owned()).collect();
                let made = checks.iter().map(|spec| (spec.id.clone(), files(spec))).collect();
                let turn = self.world.turn(iteration);
                let tests = turn.new_tests.iter().map(|&path| path.to_owned()).collect();
                Event::MadeSeen { made, problem: turn.unmade.to_owned(), tests }
            }
            Activity::LookForLeftOut { .. } => {
                let paths = self.world.turn(iteration).left_out.iter().map(|&path| path.to_owned()).collect();
                Event::LeftOutSeen { paths, problem: String::new() }
            }
            Activity::LookAtPending { .. } => Event::ScmLooked { pending: self.world.turn(iteration).pending },
            Activity::Scm(spec, _) => Event::ScmEnded(Box::new(self.task_end(spec, self.world.turn(iteration)))),
            Activity::LookAtTree(_) => {
                let looks = &self.world.turn(iteration).looks;
                let asked = self.since_agent_end(|event| matches!(event, Event::TreeSeen { .. }));
                let look = if iteration == 0 { self.world.baseline } else { looks[asked.min(looks.len() - 1)] };
                let edits = if asked == 0 { self.world.turn(iteration).edits } else { &[] };
                Event::TreeSeen {
                    print: look.print(),
                    changed: (look != Look::Unknown).then(|| edits.iter().map(|&edit| edit.to_owned()).collect()),
                    stirred: self
                        .world
                        .turn(iteration)
                        .stirs
                        .get(asked)
                        .map(|all| all.iter().map(|&path| path.to_owned()).collect())
                        .unwrap_or_default(),
                    pinned: self.pinned_changes(iteration, asked),
                }
            }
            Activity::Learn(..) => {
                let known = Known { unknown: self.world.unknown.clone(), ..self.world.known.clone() };
                Event::Learned { known: Box::new(known), live: self.world.live.clone() }
            }
            Activity::Watch(watch) => Event::CheckEnded(Box::new(report(&watch.spec, CheckEnding::Exited { code: 0 }))),
            Activity::Pin(pinning) => {
                let subjects = pinning.subjects.iter();
                let scripts = subjects.flat_map(|check| {
                    let scripts = check.command.split(' ').filter(|word| word.ends_with(".sh"));
                    scripts.map(|path| pinned(path, std::slice::from_ref(&check.id)))
                });
                let protected = pinning.globs.iter().map(|path| pinned(path, &[]));
                let parts = self.world.untrusted.iter().filter(|path| !path.starts_with('/'));
                let files = scripts.chain(protected).chain(parts.map(|path| changed_by_an_agent(path))).collect();
                let untrusted: BTreeSet<&str> = self.world.untrusted.iter().copied().collect();
                Event::Pinned {
                    pins: Ok(Box::new(Pins {
                        files,
                        tree_seen: pinning.known.is_some() && self.world.baseline != Look::Unknown,
                        tests: pinning.tests.map(|_| TestsRecord { count: 3, hash: "h".to_owned() }),
                        began: Some(WallTime(0)),
                        unknown: self.world.unknown.clone(),
                        ..Pins::default()
                    })),
                    untrusted: untrusted.iter().map(|&path| Untrusted { path: path.to_owned(), run: None }).collect(),
                }
            }
            Activity::RestorePinned { .. } => Event::PinnedRestored { problems: Vec::new() },
            Activity::CheckOut { .. } => {
                let turn = self.world.turn(iteration);
                Event::CheckedOut {
                    commit: Ok("c1".to_owned()),
                    fault: false,
                    uncommitted: turn.uncommitted.clone(),
                    pinned: turn.committed.clone(),
                }
            }
            Activity::Check(spec, _) => {
                let ending = match self.being_ended {
                    true => CheckEnding::Stopped,
                    false if !spec.without.is_empty() && self.world.turn(iteration).needs_left_out => FAIL,
                    false if self.world.turn(iteration).leans_without(&spec.without) => FAIL,
                    false => self.check_end(iteration),
                };
                let report = report(spec, ending);
                let output = self.world.turn(iteration).output.as_str();
                Event::CheckEnded(Box::new(if output.is_empty() { report } else { printed(report, output) }))
            }
            Activity::Wait { .. } | Activity::Rest { .. } => Event::Woke,
            Activity::LookAtMarkers => {
                Event::MarkersSeen { markers: Markers { done: self.done(), ..Markers::default() }, problem: None }
            }
            Activity::AwaitChildren { .. } => {
                Event::ChildrenSeen { left: runs(&self.world.orphans), ended: Vec::new() }
            }
            Activity::PostSafely(_) => Event::Posted { problem: None },
            Activity::CompareTests { .. } => Event::TestsCompared { changed: self.world.tests.clone() },
            Activity::ReadPlan(_) | Activity::PutBack(_) | Activity::SwitchBranch { .. } => {
                panic!("this world has no plan: {activity:?}")
            }
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
        // Also before the journal was cut.
        let log = replay(&self.journal).1;
        let removed = log.iter().any(|(seq, asked)| *seq >= from && *asked == Asked::Act(Act::RemoveDone));
        if removed { Marker::Absent } else { marker }
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
            differs: Vec::new(),
            uncompared: String::new(),
            left_out: Vec::new(),
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

    pub fn is_finished(&self) -> bool {
        self.finished
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
        self.pick_started(|activity| if let Activity::Launch(launch) = activity { Some(launch.as_ref()) } else { None })
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
        self.pick_started(
            |activity| if let Activity::Check(spec, _) = activity { Some(spec.command.as_str()) } else { None },
        )
    }

    /// What was posted: the bus, the type and the text.
    pub fn posts(&self) -> Vec<(BusName, &str, &str)> {
        let posts = self.log.iter().flat_map(|(_, asked)| match asked {
            Asked::Act(Act::Post(post)) => std::slice::from_ref(post),
            Asked::Start(Activity::PostSafely(posts)) => posts,
            _ => &[],
        });
        posts.map(|post| (post.bus, post.kind.as_str(), post.body.as_str())).collect()
    }

    /// The arguments of every task of version control, as it was executed.
    pub fn tasks(&self) -> Vec<String> {
        self.pick_started(
            |activity| if let Activity::Scm(spec, _) = activity { Some(spec.args.join(" ")) } else { None },
        )
    }

    /// How long each wait was meant to be, in milliseconds.
    pub fn waits(&self) -> Vec<i64> {
        let span = |(seq, asked): &(u64, Asked)| match asked {
            Asked::Start(Activity::Wait { until }) => {
                Some(until.0.saturating_sub(self.journal[*seq as usize - 1].at.0))
            }
            _ => None,
        };
        self.log.iter().filter_map(span).collect()
    }

    pub fn views(&self) -> Vec<&Views> {
        self.pick(|asked| if let Asked::Act(Act::WriteViews(views)) = asked { Some(views.as_ref()) } else { None })
    }

    /// The numbers and reasons of the iterations that were told as finished.
    pub fn told_iterations(&self) -> Vec<(u32, Vec<String>)> {
        self.told(|notice| match notice {
            Notice::IterationFinished { iteration, reasons, .. } => {
                Some((*iteration, reasons.iter().map(ToString::to_string).collect()))
            }
            _ => None,
        })
    }

    /// What was told, where it is of interest.
    pub fn told<T>(&self, wanted: impl Fn(&Notice) -> Option<T>) -> Vec<T> {
        self.pick(|asked| if let Asked::Tell(notice) = asked { wanted(notice) } else { None })
    }

    /// The notes among what was told.
    pub fn notes(&self) -> Vec<String> {
        self.told(|notice| if let Notice::Note(note) = notice { Some(note.to_string()) } else { None })
    }

    /// What runs now.
    pub fn running(&self) -> Option<&Activity> {
        self.pending.as_ref()
    }

    /// How many activities of this kind were started.
    pub fn started(&self, wanted: impl Fn(&Activity) -> bool) -> usize {
        self.pick_started(|activity| wanted(activity).then_some(())).len()
    }

    /// What was started, where it is of interest.
    pub fn pick_started<'a, T>(&'a self, wanted: impl Fn(&'a Activity) -> Option<T>) -> Vec<T> {
        self.pick(
            |asked| if let Asked::Start(activity) | Asked::Instead(activity) = asked { wanted(activity) } else { None },
        )
    }

    /// How often this was done at once.
    pub fn acts(&self, wanted: &Act) -> usize {
        self.pick(|asked| matches!(asked, Asked::Act(act) if act == wanted).then_some(())).len()
    }

    /// How often what ran was ended.
    pub fn ended(&self) -> usize {
        self.pick(|asked| (*asked == Asked::End).then_some(())).len()
    }

    /// What was asked for, where it is of interest.
    pub fn pick<'a, T>(&'a self, wanted: impl Fn(&'a Asked) -> Option<T>) -> Vec<T> {
        self.log.iter().filter_map(|(_, asked)| wanted(asked)).collect()
    }
}

/// A file as it was pinned.
pub fn pinned(path: &str, of: &[CheckId]) -> Pinned {
    let state = PinnedState::File { executable: Some(false), hash: "1".to_owned() };
    let accepted = Some(state.print());
    Pinned { path: path.to_owned(), part: Part::Whole, state, why: Why::Protected, accepted, of: of.to_vec() }
}

/// A part of a file as an agent of an earlier run left it.
fn changed_by_an_agent(path: &str) -> Pinned {
    let part = Part::Recipes { tool: "make".to_owned(), goals: vec!["test".to_owned()] };
    Pinned { part, accepted: Some("as a person accepted it".to_owned()), ..pinned(path, &[]) }
}

/// The same file with another content.
pub fn changed(path: &str) -> PinnedChange {
    PinnedChange { path: path.to_owned(), how: Change::Content { losses: String::new() } }
}

/// What a note after the end may still do: it tells, and changes nothing.
pub fn is_note(asked: &Asked) -> bool {
    matches!(asked, Asked::Tell(Notice::Note(_)))
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

/// The receipt of a check that ended like this and printed `out` with the number in its command, or 1.
pub fn report(spec: &CheckSpec, ending: CheckEnding) -> CheckReport {
    let number = spec.command.find(|c: char| c.is_ascii_digit()).and_then(|at| spec.command.get(at..));
    let output_head = format!("out{}", number.unwrap_or("1"));
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
        carried: Vec::new(),
        live: String::new(),
        empty: false,
        pinned: Vec::new(),
        outside: Vec::new(),
        unwatched: String::new(),
    }
}

/// What is told of an event that does not fit.
pub fn unexpected(event: &str, phase: &str) -> Notice {
    Notice::Note(Note::Unexpected { event: event.to_owned(), phase: phase.to_owned() })
}
