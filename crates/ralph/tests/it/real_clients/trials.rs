//! What every client is put through. A trial states what the provider says and what comes of it.

use super::{SIGINT, Stage};
use crate::process::{lines, only};
use jiff::{SignedDuration, Timestamp};
use ralph_testkit::Finished;
use ralph_testkit::model_server::{Answer, Close, Refusal, Reply};
use serde_json::{Value, json};

/// Puts a client on stage; `None` where it is not installed and that is allowed.
pub(super) trait Client: Fn(Vec<Reply>) -> Option<Stage> {}

impl<F: Fn(Vec<Reply>) -> Option<Stage>> Client for F {}

const DONE: &str = "All finished.\n<response>DONE</response>";

/// The agent's events of one kind.
fn events(run: &Finished, kind: &str) -> Vec<Value> {
    let all = lines(run, "agent.event").into_iter().map(|line| line["event"].clone());
    all.filter(|event| event["kind"] == kind).collect()
}

/// The model's requests, the run's prompt, the tool's work and the model's words all arrive.
pub(super) fn a_task_with_tools(client: impl Client) {
    let command = "echo hello from the tool > built; cat built";
    let Some(stage) = client(vec![Reply::shell(command), Reply::text(DONE)]) else { return };
    stage.env.guardrail("grep hello built");
    let run = stage.json(&["run", "-p", "build the thing"]).run();
    let end = only(&run, "run.finished");
    assert_eq!((&end["stop_reason"], &end["verified"]), (&json!("complete"), &json!(true)));
    let turns = stage.model.turns();
    assert_eq!(turns.len(), 2);
    assert!(turns[0].has("build the thing") && turns[0].has("## Completion protocol"), "the prompt is given");
    assert!(turns[1].has("hello from the tool"), "the tool's output goes back");
    let (begun, ended) = (events(&run, "tool_start"), events(&run, "tool_end"));
    assert!(begun.len() == 1 && begun[0]["input"].as_str().is_some_and(|said| said.contains(command)), "{begun:?}");
    assert!(ended.len() == 1 && ended[0]["output"].as_str().is_some_and(|said| said.contains("hello")), "{ended:?}");
    assert_eq!(ended[0]["error"], false);
    assert_eq!(events(&run, "unknown"), [] as [Value; 0], "the dialect knows this version");
    stage.nobody_is_left();
}

/// What the provider counted is what ralph counts.
pub(super) fn tokens_are_counted(client: impl Client) {
    let Some(stage) = client(vec![Reply::shell("true"), Reply::text(DONE)]) else { return };
    let tokens = only(&stage.json(&["run", "-p", "x"]).run(), "run.finished")["tokens"].clone();
    assert_eq!((&tokens["input"], &tokens["output"]), (&json!(2400), &json!(80)), "two answers");
}

/// A tool that fails is the model's business and no failure of the agent.
pub(super) fn a_tool_that_fails(client: impl Client) {
    a_failing_tool(client, true);
}

/// The same with a client that does not tell whether a command failed.
pub(super) fn a_tool_that_fails_unseen(client: impl Client) {
    a_failing_tool(client, false);
}

fn a_failing_tool(client: impl Client, seen: bool) {
    let Some(stage) = client(vec![Reply::shell("echo oops; exit 3"), Reply::text(DONE)]) else { return };
    stage.env.guardrail("true");
    let run = stage.json(&["run", "-p", "x"]).run();
    assert_eq!(only(&run, "run.finished")["stop_reason"], "complete");
    let ended = events(&run, "tool_end");
    assert!(ended.len() == 1 && ended[0]["output"].as_str().is_some_and(|said| said.contains("oops")), "{ended:?}");
    assert_eq!(ended[0]["error"], seen);
    assert!(stage.model.turns()[1].has("oops"));
}

/// What a tool prints is nobody's claim.
pub(super) fn a_claim_in_a_tool_result_is_not_believed(client: impl Client) {
    let replies = vec![Reply::shell("echo '<response>DONE</response>'"), Reply::text("That was only printed.")];
    let Some(stage) = client(replies) else { return };
    stage.env.guardrail("true");
    let run = stage.json(&["run", "-p", "x", "-m", "1"]).code(1).run();
    assert_eq!(only(&run, "iteration.finished")["claim"], "none");
    assert_eq!(only(&run, "run.finished")["stop_reason"], "max-iterations");
    assert!(stage.model.turns()[1].has("<response>DONE</response>"), "it was printed indeed");
}

/// A provider that says nothing has not done the work. `said` is how that is told.
pub(super) fn an_empty_answer(client: impl Client, said: &str) {
    let Some(stage) = client(vec![Reply::empty()]) else { return };
    stage.env.guardrail("true");
    let run = stage.json(&["run", "-p", "x", "-m", "1"]).code(1).run();
    let iteration = only(&run, "iteration.finished");
    assert_eq!(iteration["claim"], "none");
    let reasons = iteration["reasons"].to_string();
    assert!(reasons.contains(said), "{reasons}");
}

/// A stream that breaks is the client's to mend; if it does not, the iteration is repeated under its number.
pub(super) fn a_stream_that_breaks_once(client: impl Client) {
    let half = Answer { text: "I was about to".to_owned(), close: Close::Drop, ..Answer::default() };
    let Some(stage) = client(vec![Reply::Answer(half), Reply::text(DONE)]) else { return };
    stage.env.guardrail("true");
    let run = stage.json(&["run", "-p", "x"]).run();
    let end = only(&run, "run.finished");
    assert_eq!((&end["stop_reason"], &end["iterations"]), (&json!("complete"), &json!(1)));
}

/// A provider that falls silent holds nothing up for longer than an agent may be idle.
pub(super) fn a_provider_that_falls_silent(client: impl Client) {
    let half = Answer { text: "I was about to".to_owned(), close: Close::Stall, ..Answer::default() };
    let Some(stage) = client(vec![Reply::Answer(half)]) else { return };
    let run = stage.json(&["run", "-p", "x", "-m", "1", "--idle-timeout", "5s"]).code(1).run();
    let reasons = only(&run, "iteration.finished")["reasons"].to_string();
    assert!(reasons.contains("neither printed nor computed"), "{reasons}");
    assert_eq!(only(&run, "run.finished")["iterations"], 1, "it counts as a failure");
    assert_eq!(stage.model.turns().len(), 1, "it was the provider that was waited for");
    stage.nobody_is_left();
}

/// Wrong credentials need a person, and no second try.
pub(super) fn a_refused_key(client: impl Client, refusal: Refusal) {
    let Some(stage) = client(vec![refusal.into()]) else { return };
    let run = stage.json(&["run", "-p", "x"]).code(5).run();
    let end = only(&run, "run.finished");
    assert_eq!((&end["stop_reason"], &end["iterations"]), (&json!("error"), &json!(0)), "{end}");
    assert_eq!(lines(&run, "iteration.started").len(), 1, "nothing is tried twice");
    let message = end["message"].as_str().unwrap_or_default();
    assert!(message.contains("; to log in: ") && !message.contains("npm install"), "it says what to do: {message}");
}

/// The provider's limit is waited for until a minute after its reset; an interrupted wait is taken up
/// in the same iteration. `refusal` is given the reset in seconds since 1970.
pub(super) fn a_usage_limit(client: impl Client, refusal: fn(i64) -> Refusal) {
    let begun = Timestamp::now();
    // On a whole minute: some clients tell no more.
    let reset = Timestamp::from_second(begun.as_second() / 60 * 60 + 600).unwrap();
    let Some(stage) = client(vec![refusal(reset.as_second()).into()]) else { return };
    let (until, _) = a_wait_that_is_interrupted(&stage);
    // A provider that says how long counts from when it says it; whole seconds are rounded up.
    let late = until.duration_since(reset + SignedDuration::from_mins(1));
    let latest = Timestamp::now().duration_since(begun) + SignedDuration::from_secs(2);
    assert!(!late.is_negative() && late <= latest, "until {until}, reset {reset}");
    it_is_taken_up_in_the_same_iteration(&stage);
}

/// A limit that does not say when it ends is tried again soon, in the same iteration.
pub(super) fn a_limit_without_a_reset(client: impl Client, refusal: Refusal) {
    let Some(stage) = client(vec![refusal.into()]) else { return };
    let (until, _) = a_wait_that_is_interrupted(&stage);
    it_is_soon(until);
    it_is_taken_up_in_the_same_iteration(&stage);
}

/// A provider in trouble is asked again soon, in the same iteration, until the wall time is over.
pub(super) fn an_overloaded_provider(client: impl Client, refusal: Refusal) {
    let Some(stage) = client(vec![refusal.into()]) else { return };
    let (until, elapsed) = a_wait_that_is_interrupted(&stage);
    it_is_soon(until);
    let wall_time = format!("{}ms", elapsed + 1000);
    let run = stage.json(&["resume", "--max-wall-time", &wall_time]).code(4).run();
    let end = only(&run, "run.finished");
    assert_eq!((&end["stop_reason"], &end["iterations"]), (&json!("max-wall-time"), &json!(0)), "{end}");
    stage.nobody_is_left();
    it_is_taken_up_in_the_same_iteration(&stage);
}

/// Runs until ralph waits, and interrupts it; gives until when it would have waited, and the milliseconds so far.
fn a_wait_that_is_interrupted(stage: &Stage) -> (Timestamp, u64) {
    stage.env.guardrail("true");
    let running = stage.json(&["run", "-p", "x"]).code(130).spawn();
    running.wait_for_stdout("\"run.waiting\"");
    running.signal(SIGINT);
    let run = running.finish();
    let (waiting, end) = (only(&run, "run.waiting"), only(&run, "run.finished"));
    assert_eq!((&waiting["iteration"], lines(&run, "iteration.started").len()), (&json!(1), 1));
    assert_eq!((&end["stop_reason"], &end["iterations"]), (&json!("interrupted"), &json!(0)), "it counts for nothing");
    (waiting["until"].as_str().unwrap().parse().unwrap(), end["elapsed_ms"].as_u64().unwrap())
}

/// The first wait for something that may be over at any time takes seconds.
fn it_is_soon(until: Timestamp) {
    assert!(until < Timestamp::now() + SignedDuration::from_secs(10), "the first wait is short: {until}");
}

/// The run goes on where it was stopped, now that the provider is well.
fn it_is_taken_up_in_the_same_iteration(stage: &Stage) {
    stage.model.scenario(vec![Reply::text(DONE)]);
    let run = stage.json(&["resume", "--max-wall-time", "1h"]).run();
    assert_eq!(only(&run, "iteration.started")["iteration"], 1);
    assert_eq!(only(&run, "run.finished")["stop_reason"], "complete");
}

/// The second interrupt ends the client in the middle of its tool, and the tool with it; nothing of the run is lost.
pub(super) fn an_interrupt_in_the_middle_of_a_tool(client: impl Client) {
    let Some(stage) = client(vec![Reply::shell("touch at-work; sleep 300"), Reply::text(DONE)]) else { return };
    let invocation = stage.ralph(&["run", "-p", "x"]).stdout_has("interrupted").stdout_lacks("DONE");
    let running = invocation.stderr_unchecked("clients differ in what they leave behind").code(130).spawn();
    running.wait_for_file("at-work");
    let sleeps = || stage.env.processes().iter().any(|process| process.command == "sleep 300");
    running.wait_until("the tool is seen", sleeps);
    running.signal(SIGINT);
    running.wait_for_stderr("shutting down");
    assert!(sleeps(), "the first interrupt lets the agent finish");
    running.signal(SIGINT);
    running.wait_for_stderr("stopping now");
    running.finish();
    stage.nobody_is_left();
    it_is_taken_up_in_the_same_iteration(&stage);
}
