//! Plans in a pretend world: files, a repository and agents that edit both, without a process.

use crate::sim::{self, FAIL, PASS, agent, goes_on_after_every_entry, policy, report, through_json};
use ralph_core::activity::{Act, Activity, Launch, PutBack};
use ralph_core::check::TreePrint;
use ralph_core::claim::Claim;
use ralph_core::event::{Entry, Event, Gathered, PlanPutBack, Resumed, Started};
use ralph_core::id::RunId;
use ralph_core::judges::Known;
use ralph_core::machine::{Machine as _, Next, Outside};
use ralph_core::notice::{Notice, VerdictWord};
use ralph_core::observation::{Ending, Failure, FailureClass, Observation};
use ralph_core::outcome::{Outcome, StopReason, Verification};
use ralph_core::plan::{
    BranchUse, Content, Dirty, GitSeen, Mode, PlanChanges, PlanPolicy, PlanSeen, Rules, Sight, VerifyCommand,
};
use ralph_core::policy::{Kind, Policy, PromptSource};
use ralph_core::protect::Pins;
use ralph_core::run::{Run, RunStep};
use ralph_core::text;
use ralph_core::time::{Millis, WallTime};
use ralph_core::words::Note;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

const TASKS: &str = "ralph/tasks.json";
const PROGRESS: &str = "ralph/progress.txt";
const CODE: &str = "src/main.rs";

type Files = BTreeMap<String, String>;

/// What an agent of the script does; `true` if it commits everything.
type Script = fn(&mut World, &str, &str) -> Observation;

#[derive(Clone)]
struct World {
    files: Files,
    committed: Files,
    commits: usize,
    trees: Vec<Files>,
    branch: String,
    /// Which verify commands fail, by words that the tree's code holds.
    red: fn(&Files, &str) -> bool,
    script: Script,
    no_git: bool,
    /// Agents that were started.
    launches: Vec<Launch>,
    acts: Vec<Act>,
}

struct Play {
    world: World,
    run: Run,
    journal: Vec<Entry>,
    told: Vec<Notice>,
    /// The world before each entry of the journal.
    worlds: Vec<World>,
    pending: Option<Activity>,
}

fn story(id: &str, more: Value) -> Value {
    let mut story = json!({
        "id": id, "title": format!("Story {id}"), "description": "d", "acceptanceCriteria": ["it works"],
        "priority": 1, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "",
        "dependsOn": [],
    });
    for (key, value) in more.as_object().unwrap() {
        story[key] = value.clone();
    }
    story
}

fn plan(stories: Vec<Value>) -> String {
    let plan = json!({
        "project": "shop", "branchName": "main", "description": "d", "verifyCommands": ["make test"],
        "userStories": stories,
    });
    serde_json::to_string_pretty(&plan).unwrap()
}

fn two() -> String {
    plan(vec![story("A", json!({})), story("B", json!({}))])
}

impl World {
    fn new(tasks: String, script: Script) -> World {
        let files: Files = [
            (TASKS, tasks),
            ("ralph/prd.md", "# Wanted\n".to_owned()),
            ("ralph/prompt.md", "Iteration {{RALPH_ITERATION}}: $RALPH_MODE $RALPH_STORY_ID ${RALPH_X}\n".to_owned()),
            (PROGRESS, "# Progress\n---\n".to_owned()),
            (CODE, "fn main() {}\n".to_owned()),
        ]
        .map(|(path, text)| (path.to_owned(), text))
        .into();
        World {
            committed: files.clone(),
            files,
            commits: 1,
            trees: Vec::new(),
            branch: "main".to_owned(),
            red: |files, _| files[CODE].contains("bug"),
            script,
            no_git: false,
            launches: Vec::new(),
            acts: Vec::new(),
        }
    }

    /// Changes fields of a story.
    fn edit(&mut self, id: &str, fields: Value) {
        let mut plan: Value = serde_json::from_str(&self.files[TASKS]).unwrap();
        let stories = plan["userStories"].as_array_mut().unwrap();
        let story = stories.iter_mut().find(|story| story["id"] == id).unwrap();
        for (key, value) in fields.as_object().unwrap() {
            story[key] = value.clone();
        }
        self.files.insert(TASKS.to_owned(), serde_json::to_string_pretty(&plan).unwrap());
    }

    fn story(&self, id: &str) -> Value {
        let plan: Value = serde_json::from_str(&self.files[TASKS]).unwrap();
        plan["userStories"].as_array().unwrap().iter().find(|story| story["id"] == id).unwrap().clone()
    }

    fn count(&self, id: &str) -> u64 {
        self.story(id)["reviewCount"].as_u64().unwrap()
    }

    fn write(&mut self, path: &str, text: &str) {
        self.files.insert(path.to_owned(), text.to_owned());
    }

    fn append(&mut self, path: &str, text: &str) {
        self.files.entry(path.to_owned()).or_default().push_str(text);
    }

    fn commit(&mut self) {
        if self.committed != self.files {
            self.committed = self.files.clone();
            self.commits += 1;
        }
    }

    fn submit(&mut self, id: &str) {
        self.edit(id, json!({ "reviewStatus": "needs_review", "reviewFeedback": "", "notes": "secret words" }));
    }

    fn approve(&mut self, id: &str) {
        let count = self.count(id) + 1;
        self.edit(id, json!({ "reviewStatus": "approved", "passes": true, "reviewCount": count, "notes": "fine" }));
    }

    fn request_changes(&mut self, id: &str) {
        let count = self.count(id) + 1;
        self.edit(
            id,
            json!({ "reviewStatus": "changes_requested", "reviewCount": count, "reviewFeedback": "rename it" }),
        );
    }

    fn git(&self) -> Option<GitSeen> {
        let paths = self.files.keys().chain(self.committed.keys());
        let mut dirty: Vec<Dirty> = paths
            .filter(|path| self.files.get(*path) != self.committed.get(*path))
            .map(|path| Dirty {
                path: path.clone(),
                print: text::hash(format!("{:?}", self.files.get(path)).as_bytes()),
            })
            .collect();
        dirty.sort_by(|one, two| one.path.cmp(&two.path));
        dirty.dedup();
        let git = GitSeen {
            head: format!("commit{:06}", self.commits),
            branch: self.branch.clone(),
            prefix: String::new(),
            dirty,
        };
        (!self.no_git).then_some(git)
    }

    fn sight(&self, path: &str, known: Option<&String>) -> Sight {
        match self.files.get(path) {
            None => Sight::Gone,
            Some(text) if Some(&text::hash(text.as_bytes())) == known => Sight::Same,
            Some(text) => Sight::Holds(Content::new(text.as_bytes())),
        }
    }

    fn put_back(&mut self, wanted: &PutBack) -> PlanPutBack {
        let mut done = PlanPutBack::default();
        if let Some(tree) = &wanted.tree {
            let index: usize = tree.id.parse().unwrap();
            let was = self.trees[index].clone();
            let spared = |path: &String| tree.spare.iter().any(|spare| spare == path);
            let paths: Vec<String> = was.keys().chain(self.files.keys()).cloned().collect();
            for path in paths {
                if spared(&path) || was.get(&path) == self.files.get(&path) {
                    continue;
                }
                match was.get(&path) {
                    Some(text) => self.files.insert(path.clone(), text.clone()),
                    None => self.files.remove(&path),
                };
                if !path.starts_with("ralph/") && !done.files.contains(&path) {
                    done.files.push(path);
                }
            }
        }
        for (path, content) in &wanted.writes {
            self.files.insert(path.clone(), content.text());
        }
        if !wanted.subject.is_empty() {
            let written = wanted.writes.iter().map(|(path, _)| path);
            let mut made = false;
            for path in written.chain(&wanted.paths).chain(&done.files.clone()) {
                made |= self.committed.get(path) != self.files.get(path);
                match self.files.get(path) {
                    Some(text) => self.committed.insert(path.clone(), text.clone()),
                    None => self.committed.remove(path),
                };
            }
            if made {
                self.commits += 1;
                done.commit = format!("commit{:06}", self.commits);
            }
        }
        done
    }

    fn answer(&mut self, activity: &Activity) -> Event {
        match activity {
            Activity::ReadPlan(read) => Event::PlanSeen(Box::new(PlanSeen {
                tasks: self.sight(TASKS, read.tasks.as_ref()),
                prd: self.sight("ralph/prd.md", read.prd.as_ref()),
                template: self.sight("ralph/prompt.md", read.template.as_ref()),
                progress: self.sight(PROGRESS, read.progress.as_ref()),
                git: self.git(),
                problem: String::new(),
            })),
            Activity::PutBack(wanted) => Event::PlanPutBack(self.put_back(wanted)),
            Activity::SwitchBranch { name } => {
                self.branch.clone_from(name);
                Event::BranchSwitched { problem: None }
            }
            Activity::Gather(gather) => {
                let base = self.files.get("ralph/prompt.md").cloned().ok_or("it is not there".to_owned());
                let tree = gather.keep_tree.then(|| {
                    self.trees.push(self.files.clone());
                    Ok((self.trees.len() - 1).to_string())
                });
                Event::Gathered(Gathered { base: Some(base), summary: String::new(), human: String::new(), tree })
            }
            Activity::Launch(launch) => {
                self.launches.push((**launch).clone());
                let turn = launch.prompt.lines().next().unwrap_or_default().to_owned();
                let mut words = turn.split(' ').skip(2);
                let (mode, story) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
                Event::AgentEnded(Box::new((self.script)(self, mode, story)))
            }
            Activity::Learn(..) => Event::Learned { known: Box::new(Known::default()), live: String::new() },
            Activity::Pin(_) => {
                let pins = Pins { tree_seen: true, ..Pins::default() };
                Event::Pinned { pins: Ok(Box::new(pins)), untrusted: Vec::new() }
            }
            Activity::LookAtTree(_) => {
                let tree = text::hash(format!("{:?}", self.files).as_bytes());
                let print = TreePrint::Seen { tree, head: self.commits.to_string() };
                Event::TreeSeen { print, changed: Some(Vec::new()), stirred: Vec::new(), pinned: Vec::new() }
            }
            Activity::Check(spec, _) => {
                let ending = if (self.red)(&self.files, &spec.command) { FAIL } else { PASS };
                Event::CheckEnded(Box::new(report(spec, ending)))
            }
            Activity::Wait { .. } => Event::Woke,
            other => panic!("nobody scripted {other:?}"),
        }
    }
}

/// An agent that worked and said so.
fn says(words: &str) -> Observation {
    Observation { last_text: words.to_owned(), ..Observation::nothing() }
}

fn fails() -> Observation {
    let failure = Failure::new(FailureClass::Other, "it fell over");
    Observation { failure: Some(failure), ..says("words") }
}

/// Implements, requests changes once, settles them and approves.
fn honest(world: &mut World, mode: &str, story: &str) -> Observation {
    match mode {
        "implement" | "review-fix" => {
            world.append(CODE, &format!("// {mode} {story}\n"));
            world.submit(story);
        }
        _ if world.count(story) == 0 => world.request_changes(story),
        _ => world.approve(story),
    }
    world.append(PROGRESS, &format!("### {mode} {story}\n"));
    world.commit();
    says("done")
}

/// Implements, and approves at once.
fn quick(world: &mut World, mode: &str, story: &str) -> Observation {
    if mode == "review" {
        world.approve(story);
    } else {
        world.append(CODE, &format!("// {story}\n"));
        world.submit(story);
    }
    world.commit();
    says("done")
}

fn rules(cap: u32, skip_review: bool) -> Rules {
    Rules { cap: NonZeroU32::new(cap).unwrap(), skip_review }
}

fn planned(rules: Rules) -> Policy {
    let mut policy = policy();
    policy.kind = Kind::Plan(Box::new(PlanPolicy { rules, ..PlanPolicy::default() }));
    policy.prompt = PromptSource::File("ralph/prompt.md".to_owned());
    policy.protect.scripts = true;
    policy.limits.max_iterations = 15;
    policy
}

impl Play {
    fn begin(world: World, policy: Policy) -> Play {
        let started = Started {
            run: RunId::parse("r1").unwrap(),
            parent: None,
            policy,
            root: "/project".to_owned(),
            version: "0.1.0".to_owned(),
            task_spent: Default::default(),
            no_repository: world.no_git,
            unjudged: None,
        };
        let event = Event::Started(Box::new(started));
        let first = Entry { seq: 1, at: WallTime(sim::START), elapsed: Millis::ZERO, event };
        let (run, step) = Run::begin(&first).unwrap();
        let worlds = vec![world.clone()];
        let mut play = Play { world, run, journal: vec![first], told: Vec::new(), worlds, pending: None };
        play.take(step);
        play
    }

    /// The world after a crash behind so many entries.
    fn cut(&self, entries: usize) -> Play {
        let journal = self.journal[..entries].to_vec();
        let run = Run::fold(None, &journal).unwrap();
        let world = self.worlds[entries.min(self.worlds.len() - 1)].clone();
        Play { world, run, journal, told: Vec::new(), worlds: self.worlds[..entries].to_vec(), pending: None }
    }

    fn take(&mut self, step: RunStep) {
        let unexpected = |told: &&Notice| matches!(told, Notice::Note(Note::Unexpected { .. }));
        assert_eq!(step.tell.iter().find(unexpected), None, "{:?}", self.journal.last());
        self.told.extend(step.tell);
        self.world.acts.extend(step.acts);
        self.pending = match step.next {
            Next::Start(activity) | Next::Instead(activity) => Some(activity),
            Next::GoesOn | Next::EndRunning => self.pending.take(),
            Next::Finished(_) => None,
        };
    }

    fn happen(&mut self, event: Event) {
        let last = self.journal.last().unwrap();
        let (seq, at, elapsed) = (last.seq + 1, WallTime(last.at.0 + 1000), last.elapsed.plus(Millis(1000)));
        let entry = Entry { seq, at, elapsed, event };
        self.journal.push(entry.clone());
        self.worlds.push(self.world.clone());
        assert_eq!(through_json(&self.run), self.run);
        let step = self.run.step(&entry);
        self.take(step);
    }

    fn tick(&mut self) {
        let activity = self.pending.take().expect("something runs");
        let event = self.world.answer(&activity);
        self.happen(event);
    }

    fn play(mut self) -> Play {
        for _ in 0..2000 {
            if self.run.outcome().is_some() {
                return self;
            }
            self.tick();
        }
        panic!("it does not end: {:?}", self.journal.last());
    }

    fn resume(mut self, resumed: Resumed) -> Play {
        self.happen(Event::Resumed(Box::new(resumed)));
        self.play()
    }

    fn outcome(&self) -> &Outcome {
        self.run.outcome().unwrap()
    }

    /// Modes and stories of the iterations that began.
    fn turns(&self) -> Vec<String> {
        let turn = |notice: &Notice| match notice {
            Notice::IterationStarted { turn: Some(turn), .. } => {
                Some(format!("{} {}", turn.mode.map_or("closing", Mode::as_str), turn.story))
            }
            _ => None,
        };
        self.told.iter().filter_map(turn).collect()
    }

    /// The words of why iterations were not accepted.
    fn reasons(&self) -> Vec<String> {
        let reasons = self.told.iter().filter_map(|notice| match notice {
            Notice::IterationFinished { reasons, .. } => Some(reasons),
            _ => None,
        });
        reasons.flatten().map(ToString::to_string).collect()
    }

    fn notes(&self) -> Vec<String> {
        let note = |notice: &Notice| if let Notice::Note(note) = notice { Some(note.to_string()) } else { None };
        self.told.iter().filter_map(note).collect()
    }
}

fn play(tasks: String, script: Script, policy: Policy) -> Play {
    Play::begin(World::new(tasks, script), policy).play()
}

fn ended(play: &Play) -> (StopReason, u8, u32) {
    let outcome = play.outcome();
    (outcome.reason, outcome.exit_code, outcome.iterations)
}

const COMPLETE: StopReason = StopReason::Complete;

#[test]
fn two_stories_go_through_implementation_review_rework_and_approval() {
    let play = play(two(), honest, planned(Rules::default()));
    let expected =
        ["implement A", "review A", "review-fix A", "review A", "implement B", "review B", "review-fix B", "review B"];
    assert_eq!(play.turns(), expected);
    assert_eq!(ended(&play), (COMPLETE, 0, 8), "{:?}", play.reasons());
    assert_eq!(play.outcome().verification, Some(Verification::Verified));
    assert_eq!(play.outcome().message, "complete and verified after 8 iterations");
    assert_eq!(play.outcome().next[1], "ralph plan archive");
    assert!(matches!(play.world.acts.last(), Some(Act::RemoveActive)));
    let figures = play.run.story_figures();
    assert_eq!((figures[0].reviews, figures[0].sent_back, figures[0].iterations), (2, 1, 4));
    goes_on_after_every_entry(&play.journal);
}

#[test]
fn a_crash_behind_any_entry_leads_to_the_same_end() {
    for script in [honest as Script, quick, meddling] {
        let whole = play(two(), script, planned(Rules::default()));
        let (wanted, files) = (ended(&whole), whole.world.files[TASKS].clone());
        assert_eq!(wanted.0, COMPLETE, "{}", whole.outcome().message);
        for entries in 2..whole.journal.len() {
            let again = whole.cut(entries).resume(Resumed::default());
            let last = whole.journal[entries - 1].event.name();
            assert_eq!(ended(&again).0, COMPLETE, "cut behind entry {entries} ({last}): {}", again.outcome().message);
            let states = |text: &str| -> Vec<(Value, Value)> {
                let plan: Value = serde_json::from_str(text).unwrap();
                let stories = plan["userStories"].as_array().unwrap();
                stories.iter().map(|story| (story["passes"].clone(), story["reviewStatus"].clone())).collect()
            };
            assert_eq!(states(&again.world.files[TASKS]), states(&files), "cut behind entry {entries} ({last})");
            assert!(!again.world.files[CODE].contains("by a reviewer"));
        }
    }
}

/// A reviewer that mends the code itself, and otherwise does its work.
fn meddling(world: &mut World, mode: &str, story: &str) -> Observation {
    if mode == "review" {
        world.append(CODE, "// by a reviewer\n");
        world.write("src/new.rs", "// by a reviewer\n");
    }
    quick(world, mode, story)
}

#[test]
fn what_a_review_does_to_the_code_is_put_back_and_its_decision_stands() {
    let play = play(two(), meddling, planned(Rules::default()));
    assert_eq!(ended(&play), (COMPLETE, 0, 4));
    assert!(!play.world.files[CODE].contains("by a reviewer") && !play.world.files.contains_key("src/new.rs"));
    assert_eq!(play.world.committed, play.world.files, "what was put back is committed");
    let told = "a review changes no code; put back: src/main.rs, src/new.rs";
    assert_eq!(play.reasons().iter().filter(|reason| *reason == told).count(), 2);
    assert!(play.world.launches[2].prompt.contains(told), "the next prompt says it");
}

#[test]
fn an_implementer_cannot_approve_itself() {
    let script: Script = |world, mode, story| {
        if mode == "implement" {
            let forged = json!({ "passes": true, "reviewStatus": "approved", "reviewCount": 1, "notes": "n" });
            world.edit(story, forged);
            world.commit();
            return Observation { claim: Claim::Complete, ..says("all done") };
        }
        quick(world, mode, story)
    };
    let mut policy = planned(Rules::default());
    policy.limits.max_iterations = 3;
    let play = play(two(), script, policy);
    assert_eq!(play.turns(), ["implement A", "implement A", "implement A"]);
    assert_eq!(ended(&play), (StopReason::MaxIterations, 1, 3));
    assert_eq!((play.world.story("A")["passes"].clone(), play.world.count("A")), (json!(false), 0));
    assert_eq!(play.world.story("A")["notes"], "n", "what is lawful is kept");
    assert_eq!(play.world.committed, play.world.files);
    let reasons = play.reasons();
    assert!(reasons[0].contains("cannot set passes=true") && reasons[0].contains('A'), "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason.starts_with("completion was claimed, but 2 of 2 stories are open")));
    assert!(play.world.launches[1].prompt.contains("cannot set passes=true"));
    let claims = |notice: &&Notice| matches!(notice, Notice::IterationFinished { claim: Claim::Complete, .. });
    assert_eq!(play.told.iter().filter(claims).count(), 3, "a false claim is counted");
}

#[test]
fn a_review_that_decides_nothing_is_told_so_and_ends_as_a_stall() {
    let script: Script =
        |world, mode, story| if mode == "review" { says("looks fine") } else { quick(world, mode, story) };
    let mut policy = planned(Rules::default());
    policy.limits.max_same_failures = 3;
    let play = play(two(), script, policy);
    assert_eq!(play.turns(), ["implement A", "review A", "review A", "review A"]);
    assert_eq!(ended(&play), (StopReason::Stalled, 7, 4));
    assert!(play.reasons().contains(&"the review of story A decided nothing".to_owned()));
}

#[test]
fn the_last_review_approves_and_keeps_what_it_wanted() {
    let script: Script = |world, mode, story| {
        if mode == "review" {
            world.request_changes(story);
            world.commit();
            return says("no");
        }
        quick(world, mode, story)
    };
    let play = play(plan(vec![story("A", json!({}))]), script, planned(rules(2, false)));
    assert_eq!(play.turns(), ["implement A", "review A", "review-fix A", "review A"]);
    assert_eq!(ended(&play), (COMPLETE, 0, 4));
    assert_eq!(play.world.story("A")["reviewFeedback"], "[AUTO-APPROVED AT CAP] rename it");
    assert!(play.notes().iter().any(|note| note.contains("review 2 is its last")));
    assert!(play.run.story_figures()[0].auto_approved);
}

#[test]
fn an_approval_on_red_is_withdrawn_with_the_command_and_at_the_cap_the_run_is_blocked() {
    let script: Script = |world, mode, story| {
        match mode {
            "implement" => {
                world.append(CODE, "bug");
                world.submit(story);
            }
            "review-fix" => {
                let clean = world.files[CODE].replace("bug", "");
                world.write(CODE, &clean);
                world.submit(story);
            }
            _ => world.approve(story),
        }
        world.commit();
        says("done")
    };
    let one = plan(vec![story("A", json!({}))]);
    let mended = play(one.clone(), script, planned(Rules::default()));
    assert_eq!(mended.turns(), ["implement A", "review A", "review-fix A", "review A"]);
    assert_eq!(ended(&mended), (COMPLETE, 0, 4));
    let fix = &mended.world.launches[2].prompt;
    assert!(fix.contains("verify command \"make test\" failed with exit code 1"), "{fix}");
    assert!(mended.notes().iter().any(|note| note.starts_with("the approval of story A is withdrawn")));

    let blocked = play(one, script, planned(rules(1, false)));
    assert_eq!(ended(&blocked), (StopReason::Blocked, 3, 2));
    let message = &blocked.outcome().message;
    assert!(message.contains("story A") && message.contains("make test"), "{message}");
}

#[test]
fn without_reviews_the_implementer_passes_and_red_takes_that_back() {
    let script: Script = |world, mode, story| {
        assert_eq!(mode, "implement");
        let first = !world.files[CODE].contains("tried");
        world.append(CODE, if first { "tried bug" } else { " mended" });
        if !first {
            let clean = world.files[CODE].replace("bug", "");
            world.write(CODE, &clean);
        }
        world.edit(story, json!({ "passes": true, "notes": "did it" }));
        world.commit();
        says("done")
    };
    let play = play(two(), script, planned(rules(5, true)));
    assert_eq!(play.turns(), ["implement A", "implement A", "implement B"]);
    assert_eq!(ended(&play), (COMPLETE, 0, 3));
    assert!(play.notes().iter().any(|note| note.starts_with("story A does not pass: verify command")));
}

fn approved() -> Value {
    story("A", json!({ "passes": true, "reviewStatus": "approved", "reviewCount": 1, "notes": "n" }))
}

#[test]
fn a_plan_that_is_complete_already_is_verified_and_complete_after_no_iteration() {
    let done = play(plan(vec![approved()]), quick, planned(Rules::default()));
    assert_eq!(ended(&done), (COMPLETE, 0, 0));
    assert_eq!(done.outcome().message, "complete and verified after 0 iterations");
    assert_eq!(done.world.launches.len(), 0);
    goes_on_after_every_entry(&done.journal);

    let mut world = World::new(plan(vec![approved()]), |world, mode, story| {
        world.write(CODE, "clean");
        quick(world, mode, story)
    });
    world.append(CODE, "bug");
    world.commit();
    let red = Play::begin(world, planned(Rules::default())).play();
    assert_eq!(red.turns(), ["review-fix A", "review A"]);
    assert_eq!(ended(&red), (COMPLETE, 0, 2));
}

#[test]
fn a_plan_without_commands_is_reviewed_and_not_verified() {
    let tasks = two().replace("\"make test\"", "");
    let play = play(tasks, quick, planned(Rules::default()));
    assert_eq!(ended(&play), (COMPLETE, 0, 4));
    assert_eq!(play.outcome().verification, Some(Verification::Reviewed));
    assert!(play.outcome().message.contains("reviewed, not verified"), "{}", play.outcome().message);
}

#[test]
fn a_plan_that_a_person_broke_ends_the_run_before_it_begins() {
    for (tasks, says) in [
        ("{".to_owned(), "is not JSON"),
        (plan(vec![]), "has no story"),
        (plan(vec![story("A", json!({ "passes": true, "notes": "n" }))]), "not 'approved'"),
        (plan(vec![story("A", json!({ "dependsOn": ["Z"] }))]), "'Z', which is not in the plan"),
    ] {
        let play = play(tasks, quick, planned(Rules::default()));
        assert_eq!(ended(&play), (StopReason::Error, 2, 0));
        assert!(play.outcome().message.contains(says), "{}", play.outcome().message);
    }
    let mut world = World::new(two(), quick);
    world.files.remove("ralph/prompt.md");
    assert_eq!(ended(&Play::begin(world, planned(Rules::default())).play()), (StopReason::Error, 2, 0));
}

#[test]
fn an_answer_without_words_and_edits_is_asked_again_three_times() {
    let silent = play(two(), |_, _, _| says(" \n"), planned(Rules::default()));
    assert_eq!(ended(&silent), (StopReason::Error, 5, 0));
    assert_eq!(silent.world.launches.iter().map(|launch| launch.iteration).collect::<Vec<_>>(), [1, 1, 1]);
    let retried = |notice: &&Notice| matches!(notice, Notice::IterationFinished { verdict: VerdictWord::Retry, .. });
    assert_eq!(silent.told.iter().filter(retried).count(), 2);
    let dumb = play(
        two(),
        |world, mode, story| Observation { last_text: String::new(), ..quick(world, mode, story) },
        planned(Rules::default()),
    );
    assert_eq!(ended(&dumb), (COMPLETE, 0, 4), "edits speak for themselves");
}

#[test]
fn an_agent_that_did_not_end_well_decided_nothing_and_its_code_stays() {
    let script: Script = |world, mode, story| {
        if mode == "review" && world.launches.len() == 2 {
            world.approve(story);
            return fails();
        }
        if mode == "implement" && world.launches.len() == 1 {
            world.append(CODE, "// half\n");
            world.submit(story);
            let failure = Failure::new(FailureClass::Limited, "come back later");
            return Observation { failure: Some(failure), ..says("words") };
        }
        quick(world, mode, story)
    };
    let play = play(plan(vec![story("A", json!({}))]), script, planned(Rules::default()));
    assert_eq!(play.turns(), ["implement A", "implement A", "review A"]);
    assert_eq!(ended(&play), (COMPLETE, 0, 2), "{:?}", play.reasons());
    assert!(play.world.files[CODE].contains("// half"));
    assert!(play.told.iter().any(|notice| matches!(notice, Notice::PlanJudged { undone, .. }
        if undone.iter().any(|what| what.contains("did not end well")))));
}

#[test]
fn frozen_files_are_put_back_whatever_was_done_to_them() {
    let script: Script = |world, mode, story| {
        if world.launches.len() == 1 {
            world.write("ralph/prd.md", "less\n");
            world.files.remove("ralph/prompt.md");
            world.write(PROGRESS, "# Progress\n---\nnew\n");
        }
        if world.launches.len() == 2 {
            world.files.remove(TASKS);
            return says("oh");
        }
        quick(world, mode, story)
    };
    let mut world = World::new(two(), script);
    world.append(PROGRESS, "old\n");
    world.commit();
    let play = Play::begin(world, planned(Rules::default())).play();
    assert_eq!(ended(&play).0, COMPLETE);
    assert_eq!(play.world.files["ralph/prd.md"], "# Wanted\n");
    assert!(play.world.files["ralph/prompt.md"].starts_with("Iteration"));
    assert!(play.world.files[PROGRESS].contains("old\n") && play.world.files[PROGRESS].contains("new\n"));
    let reasons = play.reasons().join("\n");
    for says in [
        "ralph/prd.md was changed", "ralph/prompt.md is not there", "ralph/progress.txt lost",
        "tasks.json is not there",
    ] {
        assert!(reasons.contains(says), "{says}: {reasons}");
    }
    assert_eq!(play.world.committed, play.world.files);
}

#[test]
fn what_is_left_uncommitted_is_committed_by_ralph_or_asked_for_once() {
    // The plan's own files are ralph's to commit.
    let script: Script = |world, mode, story| {
        if mode == "review" {
            world.approve(story);
            return says("done");
        }
        quick(world, mode, story)
    };
    let own = play(plan(vec![story("A", json!({}))]), script, planned(Rules::default()));
    assert_eq!(ended(&own), (COMPLETE, 0, 2));
    assert_eq!(own.world.committed, own.world.files);

    // Anything else is asked for by one more iteration, which changes nothing in the plan.
    let script: Script = |world, mode, story| match mode {
        "implement" => {
            world.submit(story);
            world.commit();
            world.write("left.txt", "over");
            says("done")
        }
        "review" => {
            world.approve(story);
            says("done")
        }
        _ => {
            world.edit("A", json!({ "reviewCount": 9 }));
            world.commit();
            says("committed")
        }
    };
    let closing = play(plan(vec![story("A", json!({}))]), script, planned(Rules::default()));
    assert_eq!(closing.turns(), ["implement A", "review A", "closing A"]);
    assert_eq!(ended(&closing), (COMPLETE, 0, 3), "{:?}", closing.reasons());
    assert!(closing.world.launches[2].prompt.contains("left.txt"));
    assert_eq!((closing.world.count("A"), &closing.world.committed), (1, &closing.world.files));

    let script: Script = |world, mode, story| match mode {
        "implement" => {
            world.submit(story);
            world.write("left.txt", "over");
            says("done")
        }
        "review" => {
            world.approve(story);
            says("done")
        }
        _ => says("no"),
    };
    let dirty = play(plan(vec![story("A", json!({}))]), script, planned(Rules::default()));
    assert_eq!(ended(&dirty), (StopReason::Blocked, 3, 3));
    assert!(dirty.outcome().message.contains("left.txt"), "{}", dirty.outcome().message);
    let mut helped = dirty;
    helped.world.commit();
    let helped = helped.resume(Resumed::default());
    assert_eq!(ended(&helped).0, COMPLETE, "a person committed it: {}", helped.outcome().message);

    // What was there before, and is as it was, is nobody's work.
    let mut world = World::new(plan(vec![story("A", json!({}))]), |world, mode, story| {
        let draft = world.files.remove("draft.txt").unwrap();
        world.committed.remove("draft.txt");
        let said = quick(world, mode, story);
        world.files.insert("draft.txt".to_owned(), draft);
        said
    });
    world.write("draft.txt", "mine");
    assert_eq!(ended(&Play::begin(world, planned(Rules::default())).play()), (COMPLETE, 0, 2));
}

#[test]
fn a_persons_edits_between_runs_are_the_new_truth_and_told() {
    let mut policy = planned(Rules::default());
    policy.limits.max_iterations = 2;
    let mut stopped = play(two(), quick, policy);
    assert_eq!(ended(&stopped), (StopReason::MaxIterations, 1, 2));
    stopped.world.edit("B", json!({ "priority": 3, "title": "Another title" }));
    stopped.told.clear();
    let went_on = stopped.resume(Resumed { max_iterations: Some(9), ..Resumed::default() });
    assert_eq!(ended(&went_on).0, COMPLETE);
    assert_eq!(went_on.world.story("B")["title"], "Another title");
    let told = went_on.notes();
    let edited = told.iter().find(|note| note.starts_with("edited by a person")).unwrap();
    assert!(edited.contains("Story B: title") && edited.contains("Story B: priority"), "{edited}");
}

#[test]
fn a_resume_may_change_cap_reviews_and_reviewer() {
    let mut policy = planned(rules(5, true));
    policy.limits.max_iterations = 1;
    let script: Script = |world, mode, story| {
        if mode == "implement" {
            world.edit(story, json!({ "passes": true, "notes": "n" }));
            world.commit();
            return says("done");
        }
        quick(world, mode, story)
    };
    let stopped = play(two(), script, policy);
    assert_eq!(ended(&stopped), (StopReason::MaxIterations, 1, 1));
    let changes =
        PlanChanges { skip_review: Some(false), review_cap: NonZeroU32::new(1), reviewer: Some(agent("critic")) };
    let mut again = stopped.resume(Resumed { max_iterations: Some(2), plan: changes, ..Resumed::default() });
    assert_eq!(again.turns()[1], "review A", "what passed unapproved awaits review");
    assert_eq!(again.world.launches[1].agent.command, "critic");
    assert!(again.notes().contains(&"from now on: at most 1 review of a story, reviews, reviews by critic".to_owned()));
    assert_eq!(again.world.story("A")["reviewStatus"], "approved");
    again.world.launches.clear();
    goes_on_after_every_entry(&again.journal);
}

#[test]
fn reviews_go_to_the_reviewer_and_say_nothing_of_the_implementers_words() {
    let mut policy = planned(Rules::default());
    if let Kind::Plan(plan) = &mut policy.kind {
        plan.reviewer = Some(agent("critic"));
    }
    let play = play(two(), honest, policy);
    let agents: Vec<&str> = play.world.launches.iter().map(|launch| launch.agent.command.as_str()).collect();
    assert_eq!(agents, ["agent", "critic", "agent", "critic", "agent", "critic", "agent", "critic"]);
    let (implement, review) = (&play.world.launches[0].prompt, &play.world.launches[1].prompt);
    assert!(!review.contains("secret words") && review.contains("make test (exit code 0)"), "{review}");
    assert!(review.contains("`git diff commit000001..HEAD`"), "{review}");
    assert!(
        play.world.launches[2].prompt.contains("secret words") && play.world.launches[2].prompt.contains("rename it")
    );
    assert!(implement.starts_with("Iteration 1: implement A ${RALPH_X}"), "{implement}");
    assert_eq!(play.notes().iter().filter(|note| note.contains("${RALPH_X} is not replaced")).count(), 1);
}

#[test]
fn the_branch_of_a_plan_is_checked_made_or_ignored() {
    for (used, notes, branch) in
        [(BranchUse::Check, 1, "other"), (BranchUse::Create, 0, "main"), (BranchUse::Ignore, 0, "other")]
    {
        let mut policy = planned(Rules::default());
        if let Kind::Plan(plan) = &mut policy.kind {
            plan.branch = used;
        }
        let mut world = World::new(two(), quick);
        world.branch = "other".to_owned();
        let play = Play::begin(world, policy).play();
        assert_eq!(ended(&play).0, COMPLETE);
        let told =
            play.notes().iter().filter(|note| note.contains("belongs to branch main, but HEAD is other")).count();
        assert_eq!((told, play.world.branch.as_str()), (notes, branch), "{used:?}");
    }
}

#[test]
fn verify_commands_of_a_story_run_with_it_and_all_of_them_at_the_end() {
    let tasks = plan(vec![
        story("A", json!({ "verifyCommands": ["make a"] })),
        story("B", json!({ "verifyCommands": ["make b", "make test"] })),
    ]);
    let commands = VerifyCommand::of(&ralph_core::plan::Plan::read(tasks.as_bytes()).unwrap());
    assert_eq!(commands.iter().map(|one| one.command.as_str()).collect::<Vec<_>>(), ["make test", "make a", "make b"]);
    let play = play(tasks, quick, planned(Rules::default()));
    assert_eq!(ended(&play), (COMPLETE, 0, 4));
    let checked = |iteration: u32| -> Vec<String> {
        let name = |notice: &Notice| match notice {
            Notice::CheckStarted { iteration: at, name } if *at == iteration => Some(name.clone()),
            _ => None,
        };
        play.told.iter().filter_map(name).collect()
    };
    assert_eq!(checked(1), ["make test", "make a"]);
    assert_eq!(checked(3), ["make test", "make b"]);
    assert_eq!(checked(4), ["make test", "make a", "make b"]);
}

#[test]
fn a_run_that_is_interrupted_in_a_review_goes_on_with_the_same_review() {
    let mut play = Play::begin(World::new(two(), honest), planned(Rules::default()));
    while play.world.launches.is_empty() || !matches!(play.pending, Some(Activity::Launch(_))) {
        play.tick();
    }
    // The reviewer is killed in the middle of its work.
    play.world.edit("A", json!({ "reviewStatus": "approved", "passes": true, "reviewCount": 1 }));
    play.world.append(CODE, "// by a reviewer\n");
    for _ in 0..2 {
        let event = play.run.outside(Outside::Interrupt).unwrap();
        play.happen(event);
    }
    let ending = Observation {
        process: ralph_core::observation::ProcessFacts { ending: Ending::Stopped, ..says("").process },
        ..says("half")
    };
    play.happen(Event::AgentEnded(Box::new(ending)));
    assert_eq!(play.outcome().reason, StopReason::Interrupted);
    play.told.clear();
    let again = play.resume(Resumed::default());
    assert_eq!(again.turns()[0], "review A");
    assert_eq!(ended(&again).0, COMPLETE);
    assert!(!again.world.files[CODE].contains("by a reviewer"));
    assert!(
        again.notes().iter().any(|note| note.starts_with("undone: ") && note.contains("did not end well")),
        "{:?}",
        again.notes()
    );
}

#[test]
fn what_stands_in_files_for_eyes_and_hooks_is_written_before_each_agent() {
    let play = play(two(), quick, planned(Rules::default()));
    let mut markers =
        play.world.acts.iter().filter_map(|act| if let Act::WriteActive(marker) = act { Some(marker) } else { None });
    let first = markers.next().unwrap();
    assert_eq!((first.iteration_mode.as_str(), first.story.as_str(), first.before.len()), ("implement", "A", 2));
    let snapshots: Vec<_> = play
        .world
        .acts
        .iter()
        .filter_map(|act| if let Act::WriteHookSnapshot(one) = act { Some(one) } else { None })
        .collect();
    assert_eq!(snapshots.len(), 4);
    assert_eq!(snapshots[1].turn.mode, Mode::Review);
    assert!(snapshots[1].tasks.contains("needs_review"));
}

#[test]
fn without_a_repository_a_plan_runs_all_the_same() {
    let mut world = World::new(two(), honest);
    world.no_git = true;
    let play = Play::begin(world, planned(Rules::default())).play();
    assert_eq!(ended(&play).0, COMPLETE);
}
