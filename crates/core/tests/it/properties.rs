//! What holds in every world. Each promise is checked against the journal, with code of its own.

use crate::sim::{Asked, PASS, Sim, World, goes_on_after_every_entry, is_refusal, play, replay, through_json};
use crate::worlds::{events, policies_of_all_kinds, quiet_worlds, supervised_worlds, worlds};
use proptest::collection::vec;
use proptest::prelude::*;
use ralph_core::activity::{Activity, BusName};
use ralph_core::check::{CheckEnding, TreePrint};
use ralph_core::claim::Claim;
use ralph_core::event::{Entry, Event, Resumed};
use ralph_core::guardrail;
use ralph_core::id::CheckId;
use ralph_core::machine::{Next, Step};
use ralph_core::notice::{Notice, VerdictWord};
use ralph_core::observation::{Ending, FailureClass, Marker, Markers, Observation};
use ralph_core::outcome::{Outcome, StopReason};
use ralph_core::policy::Limits;
use ralph_core::protect::Pins;
use ralph_core::run::{Run, RunStep};
use ralph_core::scm::{Pending, ScmReport};
use ralph_core::tests_changed::{TestsChanged, TestsRecord};
use ralph_core::time::{Millis, WallTime};
use ralph_core::words::Note;
use std::collections::BTreeSet;

/// A failing case belongs into a table with a name, not into a file of seeds.
fn cases(number: u32) -> ProptestConfig {
    ProptestConfig { cases: number, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn replaying_a_journal_gives_the_same_state_and_tells_the_same_story(world in worlds()) {
        let sim = play(world);
        let (run, log) = replay(&sim.journal);
        prop_assert_eq!(&run, &sim.run);
        prop_assert_eq!(log, sim.log);
    }

    #[test]
    fn p12_a_run_ends_within_its_limits(world in worlds()) {
        let sim = play(world);
        prop_assert_eq!(launches_past_a_cap(&sim), Vec::<String>::new());
        let most_judged = sim.world.resumes.iter().filter_map(|resumed| resumed.max_iterations).max();
        let most_judged = most_judged.unwrap_or(0).max(sim.world.policy.limits.max_iterations);
        prop_assert!(sim.outcome().iterations <= most_judged);
        // Every launch costs at most three rounds of checks; every resume and every knock a few words.
        let per_launch = 20 + 3 * (3 + 3 * sim.world.policy.guardrails.len());
        let begun = 1 + sim.world.resumes.len();
        let words = 10 * (begun + sim.world.knocks.len());
        prop_assert!(sim.log.len() <= sim.launches().len() * per_launch + begun * 3 * per_launch + words);
    }

    #[test]
    fn i01_waits_are_bounded(world in worlds()) {
        let sim = play(world);
        for (wait, resets_at) in waits(&sim) {
            prop_assert!(wait > 0, "a wait of {} ms is a busy loop", wait);
            let longest = if resets_at.is_some() { 8 * 86_400_000 } else { 360_000 };
            prop_assert!(wait <= longest, "{} ms", wait);
        }
        prop_assert!(transient_in_row(&sim.journal) <= 25);
    }

    #[test]
    fn complete_means_claimed_and_checked_on_the_tree_as_it_is(world in worlds()) {
        let sim = play(world);
        let outcome = sim.outcome();
        if outcome.reason == StopReason::Complete {
            let passed = checks_that_passed_after_the_claim(&sim)?;
            prop_assert_eq!(passed, sim.world.policy.guardrails.len());
            prop_assert_eq!(outcome.verified(), passed > 0);
            prop_assert_eq!(outcome.exit_code, 0);
        } else {
            prop_assert!(!outcome.verified());
        }
    }

    #[test]
    fn iteration_numbers_never_skip_and_repeat_only_for_a_reason(world in worlds()) {
        let sim = play(world);
        let launches: Vec<(u64, u32)> = sim.log.iter().filter_map(|(seq, asked)| match asked {
            Asked::Start(Activity::Launch(launch)) => Some((*seq, launch.iteration)),
            _ => None,
        }).collect();
        prop_assert!(launches.first().is_none_or(|(_, first)| *first == 1));
        for pair in launches.windows(2) {
            let ((from, before), (to, after)) = (pair[0], pair[1]);
            let between = &sim.journal[from as usize..to as usize];
            prop_assert!(after == before + 1 || (after == before && between.iter().any(asks_for_a_repeat)), "{:?}", pair);
        }
        // What was told as judged are exactly the numbers that count, each once and in order.
        let told: Vec<u32> = told_as_judged(&sim);
        prop_assert_eq!(told, (1..=sim.outcome().iterations).collect::<Vec<u32>>());
    }

    #[test]
    fn what_people_write_reaches_exactly_one_iteration(mut world in worlds()) {
        world.policy.memory.enabled = true;
        let sim = play(world);
        let judged = told_as_judged(&sim);
        let carried_by = |words: &str| -> BTreeSet<u32> {
            let carrying = sim.launches().into_iter().filter(|launch| launch.prompt.contains(words));
            carrying.map(|launch| launch.iteration).collect()
        };
        for iteration in &judged {
            let words = format!("please use tabs ({iteration})");
            if gathered_words(&sim).contains(&words) {
                prop_assert_eq!(carried_by(&words), BTreeSet::from([*iteration]), "{}", words);
            }
        }
    }

    #[test]
    fn every_entry_survives_json_and_replays_equally(world in worlds()) {
        let sim = play(world);
        let written = serde_json::to_string(&sim.journal).unwrap();
        let journal: Vec<Entry> = serde_json::from_str(&written).unwrap();
        prop_assert_eq!(&journal, &sim.journal);
        prop_assert_eq!(replay(&journal).0, sim.run);
    }

    #[test]
    fn a_run_that_was_written_and_read_back_behind_any_entry_goes_on_equally(
        world in prop_oneof![worlds(), supervised_worlds()],
    ) {
        goes_on_after_every_entry(&play(world).journal);
    }
}

proptest! {
    // Every case plays the world once for each entry of its journal.
    #![proptest_config(cases(150))]

    #[test]
    fn e01_cutting_the_journal_anywhere_and_resuming_ends_in_the_same_verdict(world in quiet_worlds()) {
        let whole = play(world.clone());
        // All but the usage, of which the agent in flight may take its part with it.
        let verdict = |outcome: &Outcome| {
            (outcome.reason, outcome.verified(), outcome.exit_code, outcome.iterations, outcome.message.clone())
        };
        for length in 1..whole.journal.len() {
            let mut rest = Sim::cut(world.clone(), &whole.journal[..length]);
            rest.resume(Resumed::default());
            rest.play();
            prop_assert_eq!(verdict(rest.outcome()), verdict(whole.outcome()), "cut behind entry {}", length);
        }
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn e01_a_supervised_agent_ends_alike_wherever_its_journal_is_cut(world in supervised_worlds()) {
        let whole = play(world.clone());
        let verdict = |outcome: &Outcome| (outcome.reason, outcome.exit_code, outcome.iterations);
        prop_assert!(whole.launches().len() <= world.policy.limits.max_iterations as usize);
        if whole.outcome().reason == StopReason::Complete {
            prop_assert_eq!(whole.posts().iter().filter(|(bus, ..)| *bus == BusName::Project).count(), 1);
        }
        for length in 1..whole.journal.len() {
            let mut rest = Sim::cut(world.clone(), &whole.journal[..length]);
            rest.resume(Resumed::default());
            rest.play();
            prop_assert_eq!(verdict(rest.outcome()), verdict(whole.outcome()), "cut behind entry {}", length);
        }
    }
}

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn no_order_of_events_breaks_a_run_and_what_does_not_fit_is_told_and_changes_nothing(
        policy in policies_of_all_kinds(),
        happenings in vec((events(), any::<prop::sample::Index>(), 0u64..100_000, -200_000i64..200_000), 0..60),
    ) {
        let first = World::new(policy, Vec::new()).first_entry();
        let (mut run, step) = Run::begin(&first).unwrap();
        let mut running = what_runs_after(None, &step)?;
        let mut last = first;
        for (event, choice, span, jump) in happenings {
            // Every second event is what the running activity could have answered, or no test would get far.
            let event = if choice.index(2) == 0 { event } else { fitting(running.as_ref(), event) };
            let at = WallTime(last.at.0 + jump);
            last = Entry { seq: last.seq + 1, at, elapsed: Millis(last.elapsed.0 + span), event };
            let written = serde_json::to_string(&last).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Entry>(&written).unwrap(), &last);

            let before = run.clone();
            let step = run.step(&last);
            prop_assert_eq!(&through_json(&run), &run);
            if !fits(&before, running.as_ref(), &last.event) {
                let (event, phase) = only_unexpected(&step).ok_or_else(|| TestCaseError::fail(format!("{step:?}")))?;
                prop_assert_eq!(event, last.event.name());
                prop_assert!(!phase.is_empty());
                prop_assert_eq!(&run, &only_later(before, &last));
                continue;
            }
            prop_assert!(!step.tell.iter().any(|told| matches!(told, Notice::Note(Note::Unexpected { .. }))), "{:?}", step);
            if matches!(last.event, Event::Resumed(_)) || answers(running.as_ref(), &last.event) {
                running = None;
            }
            running = what_runs_after(running, &step)?;
            prop_assert_eq!(run.outcome().is_some(), running.is_none(), "something runs, or the run has ended");
        }
    }
}

/// The same run at this entry's place and time. A note changes nothing else.
fn only_later(mut run: Run, entry: &Entry) -> Run {
    let _ = run.step(&Entry { event: Event::Noted { note: Note::DoneTakenBack }, ..entry.clone() });
    run
}

/// The event and the phase that a step tells as unexpected, if that is all that it does.
fn only_unexpected(step: &RunStep) -> Option<(&str, &str)> {
    match step {
        Step { tell, acts, next: Next::GoesOn, durable: false, receipts } if acts.is_empty() && receipts.is_empty() => {
            match tell.as_slice() {
                [Notice::Note(Note::Unexpected { event, phase })] => Some((event.as_str(), phase.as_str())),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether an engine could ever bring this event now.
fn fits(run: &Run, running: Option<&Activity>, event: &Event) -> bool {
    match event {
        Event::Started(_) => false,
        Event::Resumed(_) => !run.is_complete(),
        Event::Interrupted | Event::Cancelled | Event::CancelledUncarried | Event::WallTimeUp | Event::BudgetUp => {
            run.outcome().is_none()
        }
        Event::Heard { .. } | Event::SettingsEdited { .. } | Event::Noted { .. } => true,
        answer => answers(running, answer),
    }
}

/// What runs behind a step: only one thing at a time is started, and nothing is ended that does not run.
fn what_runs_after(running: Option<Activity>, step: &RunStep) -> Result<Option<Activity>, TestCaseError> {
    match &step.next {
        Next::GoesOn => Ok(running),
        Next::Start(next) => {
            prop_assert!(running.is_none(), "{next:?} while {running:?}");
            Ok(Some(next.clone()))
        }
        Next::Instead(next) => {
            prop_assert!(running.is_some(), "{next:?} instead of nothing");
            Ok(Some(next.clone()))
        }
        Next::EndRunning => {
            prop_assert!(running.is_some(), "nothing to end");
            Ok(running)
        }
        Next::Finished(_) => Ok(None),
    }
}

fn answers(running: Option<&Activity>, event: &Event) -> bool {
    match (running, event) {
        (Some(Activity::Check(spec, _)), Event::CheckEnded(report)) => spec.id == report.spec.id,
        (Some(Activity::Watch(watch)), Event::CheckEnded(report)) => watch.spec.id == report.spec.id,
        (Some(Activity::Scm(spec, _)), Event::ScmEnded(report)) => spec.index == report.spec.index,
        (Some(Activity::Gather(_)), Event::Gathered(_))
        | (Some(Activity::LookAtPending { .. }), Event::ScmLooked { .. })
        | (Some(Activity::LookForLeftOut { .. }), Event::LeftOutSeen { .. })
        | (Some(Activity::LookForMade { .. }), Event::MadeSeen { .. })
        | (Some(Activity::Learn(..)), Event::Learned { .. })
        | (Some(Activity::Pin(_)), Event::Pinned { .. })
        | (Some(Activity::RestorePinned { .. }), Event::PinnedRestored { .. })
        | (Some(Activity::CheckOut { .. }), Event::CheckedOut { .. })
        | (Some(Activity::Launch(_)), Event::AgentEnded(_))
        | (Some(Activity::LookAtTree(_)), Event::TreeSeen { .. })
        | (Some(Activity::LookAtMarkers), Event::MarkersSeen { .. })
        | (Some(Activity::AwaitChildren { .. }), Event::ChildrenSeen { .. })
        | (Some(Activity::PostSafely(_)), Event::Posted { .. })
        | (Some(Activity::CompareTests { .. }), Event::TestsCompared { .. })
        | (Some(Activity::Wait { .. } | Activity::Rest { .. }), Event::Woke) => true,
        _ => false,
    }
}

/// The event itself if it answers what runs, else the plainest answer.
fn fitting(running: Option<&Activity>, event: Event) -> Event {
    use crate::sim::{Agent, Look, observation, report};
    use ralph_core::event::Gathered;
    if answers(running, &event) {
        return event;
    }
    match running {
        Some(Activity::Gather(_)) => {
            Event::Gathered(Gathered { base: None, summary: String::new(), human: String::new(), tree: None })
        }
        Some(Activity::Launch(_)) => {
            Event::AgentEnded(Box::new(observation(&Agent::Claims, Ending::Exited { code: 0 })))
        }
        Some(Activity::LookAtTree(_)) => {
            Event::TreeSeen { print: Look::Files(0).print(), changed: None, stirred: Vec::new(), pinned: Vec::new() }
        }
        Some(Activity::Check(spec, _)) => Event::CheckEnded(Box::new(report(spec, PASS))),
        Some(Activity::Learn(..)) => Event::Learned { known: Box::default(), live: String::new() },
        Some(Activity::Watch(watch)) => Event::CheckEnded(Box::new(report(&watch.spec, PASS))),
        Some(Activity::LookForMade { .. }) => {
            Event::MadeSeen { made: Vec::new(), problem: String::new(), tests: Vec::new() }
        }
        Some(Activity::LookForLeftOut { .. }) => Event::LeftOutSeen { paths: Vec::new(), problem: String::new() },
        Some(Activity::LookAtPending { .. }) => Event::ScmLooked { pending: Pending::Unknown },
        Some(Activity::Pin(pinning)) => {
            let tests = pinning.tests.map(|_| TestsRecord { count: 1, hash: String::new() });
            Event::Pinned { pins: Ok(Box::new(Pins { tests, ..Pins::default() })), untrusted: Vec::new() }
        }
        Some(Activity::RestorePinned { .. }) => Event::PinnedRestored { problems: Vec::new() },
        Some(Activity::CheckOut { .. }) => {
            Event::CheckedOut { commit: Ok("c".to_owned()), fault: false, uncommitted: Vec::new(), pinned: Vec::new() }
        }
        Some(Activity::Scm(spec, _)) => Event::ScmEnded(Box::new(ScmReport {
            spec: spec.clone(),
            ending: PASS,
            duration: Millis(1),
            output: String::new(),
            advice: String::new(),
            nothing: false,
            differs: Vec::new(),
            uncompared: String::new(),
            left_out: Vec::new(),
        })),
        Some(Activity::Wait { .. } | Activity::Rest { .. }) => Event::Woke,
        Some(Activity::LookAtMarkers) => Event::MarkersSeen { markers: Markers::default(), problem: None },
        Some(Activity::AwaitChildren { .. }) => Event::ChildrenSeen { left: Vec::new(), ended: Vec::new() },
        Some(Activity::PostSafely(_)) => Event::Posted { problem: None },
        Some(Activity::CompareTests { .. }) => Event::TestsCompared { changed: Ok(TestsChanged::default()) },
        _ => event,
    }
}

/// Launches that a cap forbids, by the journal's own figures up to there.
fn launches_past_a_cap(sim: &Sim) -> Vec<String> {
    let mut limits = sim.world.policy.limits.clone();
    let (mut cost, mut tokens) = (0.0, 0);
    let mut beyond = Vec::new();
    for entry in &sim.journal {
        match &entry.event {
            Event::Resumed(resumed) => raise(&mut limits, resumed),
            Event::AgentEnded(seen) => {
                cost += seen.cost_usd.unwrap_or(0.0);
                tokens += seen.tokens.total();
            }
            _ => {}
        }
        let launch = sim.log.iter().find_map(|(seq, asked)| match asked {
            Asked::Start(Activity::Launch(launch)) if *seq == entry.seq => Some(launch),
            _ => None,
        });
        let Some(launch) = launch else { continue };
        if limits.wall.0 > 0 && entry.elapsed >= limits.wall {
            beyond.push(format!("entry {}: wall time", entry.seq));
        }
        if (limits.max_cost_usd > 0.0 && cost >= limits.max_cost_usd)
            || (limits.max_tokens > 0 && tokens >= limits.max_tokens)
        {
            beyond.push(format!("entry {}: budget", entry.seq));
        }
        if launch.iteration > limits.max_iterations {
            beyond.push(format!("entry {}: iteration {}", entry.seq, launch.iteration));
        }
    }
    beyond
}

fn raise(limits: &mut Limits, resumed: &Resumed) {
    limits.max_iterations = resumed.max_iterations.unwrap_or(limits.max_iterations);
    limits.wall = resumed.wall.unwrap_or(limits.wall);
    limits.max_cost_usd = resumed.max_cost_usd.unwrap_or(limits.max_cost_usd);
    limits.max_tokens = resumed.max_tokens.unwrap_or(limits.max_tokens);
}

/// Each wait with the reset that was stated for it.
fn waits(sim: &Sim) -> Vec<(i64, Option<i64>)> {
    let wait = |(seq, asked): &(u64, Asked)| {
        let Asked::Start(Activity::Wait { until }) = asked else { return None };
        let entry = &sim.journal[*seq as usize - 1];
        let resets_at = match &entry.event {
            Event::AgentEnded(seen) => seen.failure.as_ref().and_then(|failure| failure.resets_at),
            other => panic!("a wait after {other:?}"),
        };
        Some((until.0.saturating_sub(entry.at.0), resets_at))
    };
    sim.log.iter().filter_map(wait).collect()
}

/// The longest row of transient failures that nobody resumed.
fn transient_in_row(journal: &[Entry]) -> usize {
    let (mut longest, mut row) = (0, 0);
    for entry in journal {
        match &entry.event {
            Event::AgentEnded(seen) if class(seen) == Some(FailureClass::Transient) => row += 1,
            Event::AgentEnded(_) | Event::Resumed(_) => row = 0,
            _ => {}
        }
        longest = longest.max(row);
    }
    longest
}

fn class(seen: &Observation) -> Option<FailureClass> {
    seen.failure.as_ref().map(|failure| failure.class)
}

/// How many checks stand behind a completion, by the journal alone: the agent ended well and claimed,
/// and the last round of checks passed between two looks at the same tree.
fn checks_that_passed_after_the_claim(sim: &Sim) -> Result<usize, TestCaseError> {
    let claimed_at = sim.journal.iter().rposition(|entry| matches!(entry.event, Event::AgentEnded(_)));
    let (claim, after) = sim.journal[claimed_at.unwrap()..].split_first().unwrap();
    let Event::AgentEnded(seen) = &claim.event else { unreachable!() };
    prop_assert!(seen.failure.is_none() && seen.process.ending == Ending::Exited { code: 0 }, "it did not end well");
    prop_assert!(seen.claim == Claim::Complete || (seen.claim == Claim::None && seen.marker == Marker::Present));

    // The last round: what was executed between the last two looks.
    let mut looks: Vec<&TreePrint> = Vec::new();
    let mut round: Vec<&CheckEnding> = Vec::new();
    let mut ids: Vec<&CheckId> = Vec::new();
    for entry in after.iter().rev() {
        match &entry.event {
            Event::TreeSeen { print, .. } => looks.push(print),
            Event::CheckEnded(report) if looks.len() == 1 && report.ending != CheckEnding::Stopped => {
                round.push(&report.ending);
                ids.push(&report.spec.id);
            }
            _ => {}
        }
        if looks.len() == 2 {
            break;
        }
    }
    let rules = sim.world.policy.guardrails.len();
    if rules == 0 {
        return Ok(0);
    }
    // What comes while existing tests are compared changes nothing any more.
    let decides = |event: &Event| {
        let later = matches!(event, Event::TestsCompared { .. } | Event::Noted { .. });
        !later && !matches!(event, Event::Interrupted | Event::Cancelled)
    };
    let decided_by = after.iter().rfind(|entry| decides(&entry.event));
    prop_assert!(
        decided_by.is_some_and(|entry| matches!(entry.event, Event::TreeSeen { .. })),
        "the second look decides"
    );
    prop_assert_eq!(looks.len(), 2);
    prop_assert_eq!(looks[0], looks[1], "checked and accepted trees differ");
    ids.reverse();
    let wanted = guardrail::ids(&sim.world.policy.guardrails);
    prop_assert_eq!(ids, wanted.iter().collect::<Vec<&CheckId>>());
    prop_assert!(round.iter().all(|ending| **ending == PASS), "{round:?}");
    Ok(round.len())
}

fn asks_for_a_repeat(entry: &Entry) -> bool {
    match &entry.event {
        Event::Resumed(_) => true,
        Event::AgentEnded(seen) => class(seen).is_some_and(is_refusal),
        _ => false,
    }
}

fn gathered_words(sim: &Sim) -> String {
    let words = sim.journal.iter().filter_map(|entry| match &entry.event {
        Event::Gathered(gathered) => Some(gathered.human.as_str()),
        _ => None,
    });
    words.collect::<Vec<&str>>().join("\n")
}

fn told_as_judged(sim: &Sim) -> Vec<u32> {
    sim.told(|notice| match notice {
        Notice::IterationFinished { iteration, verdict, .. } if *verdict != VerdictWord::Wait => Some(*iteration),
        _ => None,
    })
}
