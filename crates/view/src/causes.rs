//! How a run came to its end, beyond the one sentence of its outcome: what was used up and for what,
//! what was said, what kept failing, and how far the work was.

use crate::liveness::State;
use crate::run_view::{AttemptView, RunView};
use crate::words;
use ralph_core::check::TreePrint;
use ralph_core::claim::Claim;
use ralph_core::notice::VerdictWord;
use ralph_core::observation::Ending;
use ralph_core::outcome::{StopReason, exit};
use ralph_core::plan::{ReviewStatus, Story};
use ralph_core::text;
use ralph_core::time::Millis;
use std::collections::{BTreeMap, BTreeSet};

/// Lines and characters of an agent's last words: enough to see what it was about.
const LAST_LINES: usize = 3;
const LAST_CHARS: usize = 400;
/// Failed processes that are told one by one.
const FAILURES: usize = 3;

/// Sentences without full stops; for every stop reason at least one, if any iteration was begun.
pub fn of(view: &RunView, state: State, worked: Millis) -> Vec<String> {
    let Some(last) = view.attempt(None) else { return vec!["no agent was started".to_owned()] };
    if view.machine.policy().supervision().is_some() {
        return starts(view, last);
    }
    let sentences = match state {
        State::Ended(StopReason::Complete) => vec![Some(accepted(last))],
        State::Ended(StopReason::Blocked | StopReason::Waiting) => vec![last_words(last), Some(standing(view))],
        State::Ended(StopReason::MaxIterations | StopReason::MaxRestarts) => {
            vec![Some(claims(view)), often_failing(view), trend(view), Some(standing(view))]
        }
        State::Ended(StopReason::MaxWallTime) => vec![Some(time_spent(view, worked)), Some(standing(view))],
        State::Ended(StopReason::Budget) => vec![Some(spent(view)), trend(view), Some(standing(view))],
        // The work is done; the message says what kept it from being committed.
        State::Ended(StopReason::Error) if view.outcome().is_some_and(|outcome| outcome.exit_code == exit::USED_UP) => {
            vec![Some(accepted(last))]
        }
        State::Ended(StopReason::Error) => {
            let mut all = failures(view);
            all.extend([last_errors(last), Some(standing(view))]);
            all
        }
        State::Ended(StopReason::Stalled) => {
            vec![same_tree(view), often_failing(view), Some(claims(view)), last_words(last)]
        }
        State::Ended(StopReason::SinglePass) => vec![Some(standing(view)), last_words(last)],
        State::Ended(StopReason::Cancelled | StopReason::Interrupted) | State::Crashed | State::Running => {
            vec![Some(cut_short(last)), Some(standing(view))]
        }
    };
    let stories = open_stories(view).filter(|_| state != State::Ended(StopReason::Complete));
    stories.into_iter().chain(sentences.into_iter().flatten()).collect()
}

/// Stories that are named one by one.
const STORIES: usize = 10;

/// How far a plan is, and where its open stories stand.
fn open_stories(view: &RunView) -> Option<String> {
    let plan = view.machine.plan()?;
    let skips = view.machine.policy().plan().is_some_and(|plan| plan.rules.skip_review);
    let open: Vec<&Story> = plan.stories().iter().filter(|story| !story.is_done(skips)).collect();
    let status = |story: &&Story| {
        let status = story.status.map_or("not begun", ReviewStatus::as_str);
        format!("{} ({status}, {})", story.id, text::count(story.count.into(), "review"))
    };
    let named: Vec<String> = open.iter().take(STORIES).map(status).collect();
    let all = plan.stories().len();
    let more = if named.is_empty() { String::new() } else { format!("; open: {}", named.join(", ")) };
    Some(format!("{} of {all} stories done{more}", all - open.len()))
}

fn starts(view: &RunView, last: &AttemptView) -> Vec<String> {
    let ended: Vec<bool> = view.counted().filter_map(|attempt| Some(attempt.agent.as_ref()?.well)).collect();
    let failed = ended.iter().filter(|well| !**well).count();
    let made = text::count(ended.len() as u64, "start");
    let mut sentences = vec![format!("{made} came to an end, {failed} of them by a failure")];
    sentences.extend(last.agent.as_ref().map(|agent| format!("the last one, start {}: {}", last.iteration, agent.how)));
    sentences
}

fn accepted(last: &AttemptView) -> String {
    let (passed, _) = last.tally();
    let number = last.iteration;
    match last.counted().last() {
        None => format!("iteration {number} claimed completion, and no command was executed to check it"),
        Some(check) => format!(
            "iteration {number} claimed completion, and {} passed on the tree {}",
            text::count(passed as u64, "check"),
            words::tree(check.tree.as_ref())
        ),
    }
}

/// How far the work was, by the last iteration that was judged.
fn standing(view: &RunView) -> String {
    let Some(attempt) = view.counted().last() else { return "no iteration was judged".to_owned() };
    let number = attempt.iteration;
    match attempt.tally() {
        (0, 0) => format!("iteration {number} is the last that was judged; nothing was checked in it"),
        (passed, 0) => {
            format!(
                "in iteration {number}, the last that was judged, {} passed and none failed",
                text::count(passed as u64, "check")
            )
        }
        (passed, failed) => format!(
            "in iteration {number}, the last that was judged, {passed} of {} passed; failing: {}",
            text::count((passed + failed) as u64, "check"),
            failing(attempt).join(", ")
        ),
    }
}

fn failing(attempt: &AttemptView) -> Vec<String> {
    let commands = attempt.counted().filter(|check| !check.report.passed());
    let commands = commands.map(|check| format!("`{}`", check.report.spec.name()));
    let findings = attempt.findings.iter().filter(|finding| !finding.passed).map(|finding| finding.name.clone());
    commands.chain(findings).collect()
}

fn claims(view: &RunView) -> String {
    let claimed = |attempt: &&AttemptView| attempt.judged.as_ref().is_some_and(|it| it.claim == Claim::Complete);
    match view.counted().filter(claimed).count() {
        0 => "completion was never claimed".to_owned(),
        times => format!("completion was claimed in {} and not accepted", text::count(times as u64, "iteration")),
    }
}

fn often_failing(view: &RunView) -> Option<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut judged = 0_u64;
    for attempt in view.counted() {
        judged += 1;
        let agent = attempt.agent.as_ref().is_some_and(|agent| !agent.well).then(|| "the agent itself".to_owned());
        // A command may stand twice among the guardrails.
        let names: BTreeSet<String> = failing(attempt).into_iter().chain(agent).collect();
        names.into_iter().for_each(|name| *times.entry(name).or_default() += 1);
    }
    let (name, most) = times.into_iter().max_by_key(|(_, times)| *times)?;
    Some(format!("{name} failed in {most} of {}", text::count(judged, "iteration")))
}

fn trend(view: &RunView) -> Option<String> {
    let (first, last) = (view.counted().next()?, view.counted().last()?);
    let ((passed, before), (_, now)) = (first.tally(), last.tally());
    (first.iteration < last.iteration && passed + before > 0).then(|| {
        let checks = text::count(before as u64, "check");
        format!("{checks} failed in iteration {}, {now} in iteration {}", first.iteration, last.iteration)
    })
}

fn time_spent(view: &RunView, worked: Millis) -> String {
    let sum = |spans: &mut dyn Iterator<Item = Millis>| spans.fold(Millis::ZERO, Millis::plus);
    let agents = view.attempts.iter().filter_map(|attempt| attempt.agent.as_ref());
    let agents = sum(&mut agents.map(|agent| agent.seen.process.duration));
    let checks = sum(&mut view.attempts.iter().flat_map(|attempt| &attempt.checks).map(|check| check.report.duration));
    let waits = view.waited();
    let limit = view.machine.policy().limits.wall;
    format!("{worked} used of {limit}: agents {agents}, checks {checks}, waits {waits}")
}

fn spent(view: &RunView) -> String {
    let row = view.machine.row();
    let limits = &view.machine.policy().limits;
    let judged = text::count(view.judged().into(), "iteration");
    let of = |limit: String, on: bool| if on { format!(" of {limit}") } else { String::new() };
    let money = limits.max_cost_usd > 0.0 || limits.task_cost_usd > 0.0;
    match row.cost_usd.filter(|_| money) {
        Some(cost) => {
            let limit = of(words::money(limits.max_cost_usd), limits.max_cost_usd > 0.0);
            let dearest = view.attempts.iter().filter_map(|attempt| Some((attempt.cost_usd()?, attempt.iteration)));
            let dearest = dearest.max_by(|(one, _), (other, _)| one.total_cmp(other));
            let most =
                dearest.map_or(String::new(), |(cost, n)| format!("; most in iteration {n}: {}", words::money(cost)));
            format!("{}{limit} spent in {judged}{most}", words::money(cost))
        }
        None => {
            let limit = of(limits.max_tokens.to_string(), limits.max_tokens > 0);
            let most = view.attempts.iter().filter_map(|attempt| Some((attempt.tokens()?.total(), attempt.iteration)));
            let most = most.max().map_or(String::new(), |(tokens, n)| format!("; most in iteration {n}: {tokens}"));
            format!("{}{limit} tokens spent in {judged}{most}", row.tokens.total())
        }
    }
}

fn failures(view: &RunView) -> Vec<Option<String>> {
    let skipped = view.attempts.len().saturating_sub(FAILURES);
    let bad = |attempt: &AttemptView| {
        let agent = attempt.agent.as_ref().filter(|agent| !agent.well)?;
        Some(format!("iteration {}, {}: {}", attempt.iteration, words::program(attempt), words::agent_end(agent)))
    };
    view.attempts.iter().skip(skipped).map(bad).collect()
}

fn last_errors(attempt: &AttemptView) -> Option<String> {
    let said = &attempt.agent.as_ref()?.seen.process.stderr_tail;
    last_lines(said).map(|lines| format!("its standard error ended with: {lines}"))
}

fn last_words(attempt: &AttemptView) -> Option<String> {
    last_lines(&attempt.agent.as_ref()?.seen.last_text).map(|lines| format!("the agent's last words: {lines}"))
}

/// The end of a text as part of a sentence.
fn last_lines(said: &str) -> Option<String> {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let end = lines.get(lines.len().saturating_sub(LAST_LINES)..)?.join(" / ");
    (!end.is_empty()).then(|| text::cut(&end, LAST_CHARS, "..."))
}

fn same_tree(view: &RunView) -> Option<String> {
    let last = view.counted().last()?;
    let Some(TreePrint::Seen { tree, .. }) = &last.tree else { return None };
    let same = |attempt: &&AttemptView| attempt.tree == last.tree;
    let first = view.counted().collect::<Vec<_>>().into_iter().rev().take_while(same).last()?;
    let tree = words::short(tree);
    // What changes and fails alike is a stall too.
    (first.iteration < last.iteration).then(|| {
        format!("the files were the same after iterations {} to {}: tree {tree}", first.iteration, last.iteration)
    })
}

fn cut_short(last: &AttemptView) -> String {
    let number = last.iteration;
    match (&last.agent, &last.judged) {
        (None, _) => format!("the agent of iteration {number} had not come to its end"),
        (Some(agent), None) if agent.seen.process.ending == Ending::Stopped => {
            format!("the agent of iteration {number} was ended before it had finished")
        }
        (Some(agent), None) => {
            let claim = words::claim(&agent.seen.claim);
            format!("the agent of iteration {number} had ended ({claim}), and was not judged yet")
        }
        (Some(_), Some(judged)) if judged.verdict == VerdictWord::Wait => {
            format!("iteration {number} was to be tried again after a wait")
        }
        (Some(_), Some(_)) => format!("iteration {number} was judged: {}", words::verdict(last)),
    }
}
