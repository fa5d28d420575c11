//! What every client is put through. A trial states what the provider says and what comes of it.

use super::{SIGINT, Stage};
use crate::process::{lines, only};
use jiff::{SignedDuration, Timestamp};
use ralph_testkit::Finished;
use ralph_testkit::model_server::{Answer, Close, Refusal, Reply};
use serde_json::{Value, json};

/// Puts a client on stage; `None` where it is not installed and that is allowed.
type Client = fn(Vec<Reply>) -> Option<Stage>;

const DONE: &str = "All finished.\n<response>DONE</response>";

/// The agent's events of one kind.
fn events(run: &Finished, kind: &str) -> Vec<Value> {
    let all = lines(run, "agent.event").into_iter().map(|line| line["event"].clone());
    all.filter(|event| event["kind"] == kind).collect()
}

/// The model's requests, the run's prompt, the tool's work and the model's words all arrive.
pub fn a_task_with_tools(client: Client) {
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
pub fn tokens_are_counted(client: Client) {
    let Some(stage) = client(vec![Reply::shell("true"), Reply::text(DONE)]) else { return };
    let tokens = only(&stage.json(&["run", "-p", "x"]).run(), "run.finished")["tokens"].clone();
    assert_eq!((&tokens["input"], &tokens["output"]), (&json!(2400), &json!(80)), "two answers");
}

/// A tool that fails is the model's business and no failure of the agent.
pub fn a_tool_that_fails(client: Client) {
    let Some(stage) = client(vec![Reply::shell("echo oops; exit 3"), Reply::text(DONE)]) else { return };
    stage.env.guardrail("true");
    let run = stage.json(&["run", "-p", "x"]).run();
    assert_eq!(only(&run, "run.finished")["stop_reason"], "complete");
    let ended = events(&run, "tool_end");
    assert!(ended.len() == 1 && ended[0]["output"].as_str().is_some_and(|said| said.contains("oops")), "{ended:?}");
    assert_eq!(ended[0]["error"], true);
    assert!(stage.model.turns()[1].has("oops"));
}

/// What a tool prints is nobody's claim.
pub fn a_claim_in_a_tool_result_is_not_believed(client: Client) {
    let replies = vec![Reply::shell("echo '<response>DONE</response>'"), Reply::text("That was only printed.")];
    let Some(stage) = client(replies) else { return };
    stage.env.guardrail("true");
    let run = stage.json(&["run", "-p", "x", "-m", "1"]).code(1).run();
    assert_eq!(only(&run, "iteration.finished")["claim"], "none");
    assert_eq!(only(&run, "run.finished")["stop_reason"], "max-iterations");
    assert!(stage.model.turns()[1].has("<response>DONE</response>"), "it was printed indeed");
}

/// A provider that says nothing has not done the work. `said` is how that is told.
pub fn an_empty_answer(client: Client, said: &str) {
    let Some(stage) = client(vec![Reply::empty()]) else { return };
    stage.env.guardrail("true");
    let run = stage.json(&["run", "-p", "x", "-m", "1"]).code(1).run();
    let iteration = only(&run, "iteration.finished");
    assert_eq!(iteration["claim"], "none");
    let reasons = iteration["reasons"].to_string();
    assert!(reasons.contains(said), "{reasons}");
}

/// A stream that breaks is the client's to mend.
pub fn a_stream_that_breaks_once(client: Client) {
    let half = Answer { text: "I was about to".to_owned(), close: Close::Drop, ..Answer::default() };
    let Some(stage) = client(vec![Reply::Answer(half), Reply::text(DONE)]) else { return };
    stage.env.guardrail("true");
    let run = stage.json(&["run", "-p", "x"]).run();
    let end = only(&run, "run.finished");
    assert_eq!((&end["stop_reason"], &end["iterations"]), (&json!("complete"), &json!(1)));
}

/// A provider that falls silent holds nothing up for longer than an agent may be idle.
pub fn a_provider_that_falls_silent(client: Client) {
    let half = Answer { text: "I was about to".to_owned(), close: Close::Stall, ..Answer::default() };
    let Some(stage) = client(vec![Reply::Answer(half)]) else { return };
    let run = stage.json(&["run", "-p", "x", "-m", "1", "--idle-timeout", "5s"]).code(1).run();
    let reasons = only(&run, "iteration.finished")["reasons"].to_string();
    assert!(reasons.contains("neither printed nor computed"), "{reasons}");
    assert_eq!(stage.model.turns().len(), 1, "it was the provider that was waited for");
    stage.nobody_is_left();
}

/// Wrong credentials need a person, and no second try.
pub fn a_refused_key(client: Client, refusal: Refusal) {
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
pub fn a_usage_limit(client: Client, refusal: fn(i64) -> Refusal) {
    // On a whole minute: some clients tell no more.
    let reset = Timestamp::from_second(Timestamp::now().as_second() / 60 * 60 + 600).unwrap();
    let Some(stage) = client(vec![refusal(reset.as_second()).into()]) else { return };
    let waiting = an_interrupted_wait(&stage);
    let until: Timestamp = waiting["until"].as_str().unwrap().parse().unwrap();
    assert_eq!(until, reset + SignedDuration::from_mins(1), "{waiting}");
}

/// A provider in trouble is asked again later, in the same iteration.
pub fn an_overloaded_provider(client: Client, refusal: Refusal) {
    let Some(stage) = client(vec![refusal.into()]) else { return };
    let waiting = an_interrupted_wait(&stage);
    let until: Timestamp = waiting["until"].as_str().unwrap().parse().unwrap();
    assert!(until < Timestamp::now() + SignedDuration::from_secs(10), "the first wait is short: {waiting}");
}

/// Runs until ralph waits, interrupts it, and takes the run up again when the provider is well; gives
/// what was said about the wait.
fn an_interrupted_wait(stage: &Stage) -> Value {
    stage.env.guardrail("true");
    let running = stage.json(&["run", "-p", "x"]).stderr_any().code(130).spawn();
    running.wait_for_stdout("\"run.waiting\"");
    running.signal(SIGINT);
    let run = running.finish();
    let waiting = only(&run, "run.waiting");
    assert_eq!((&waiting["iteration"], lines(&run, "iteration.started").len()), (&json!(1), 1));
    assert_eq!(only(&run, "run.finished")["stop_reason"], "interrupted");
    stage.model.scenario(vec![Reply::text(DONE)]);
    let run = stage.json(&["resume"]).run();
    assert_eq!(only(&run, "iteration.started")["iteration"], 1);
    assert_eq!(only(&run, "run.finished")["stop_reason"], "complete");
    waiting
}

/// The second interrupt ends the client in the middle of its tool, and the tool with it.
pub fn an_interrupt_in_the_middle_of_a_tool(client: Client) {
    let Some(stage) = client(vec![Reply::shell("touch at-work; sleep 300"), Reply::text(DONE)]) else { return };
    let invocation = stage.ralph(&["run", "-p", "x"]).stdout_has("interrupted").stdout_lacks("DONE");
    let running = invocation.stderr_has("shutting down").code(130).spawn();
    running.wait_for_file("at-work");
    let sleeps = || stage.env.processes().iter().any(|process| process.command == "sleep 300");
    running.wait_until("the tool is seen", sleeps);
    running.signal(SIGINT);
    running.wait_for_stderr("shutting down");
    assert!(sleeps(), "the first interrupt lets the agent finish");
    running.signal(SIGINT);
    running.finish();
    stage.nobody_is_left();
}
