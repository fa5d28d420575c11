//! What a run left behind, read as a person's script would read it: by ralph's own commands.

use ralph_testkit::TestEnv;
use serde_json::Value;

/// The runs of the project, newest first.
#[track_caller]
pub fn runs(env: &TestEnv) -> Vec<Value> {
    let status = env.ralph(["status", "--json"]).run();
    status.json_lines()[0]["runs"].as_array().expect("a list of runs").clone()
}

/// The newest run, as its journal tells it.
#[track_caller]
pub fn story(env: &TestEnv) -> Value {
    env.ralph(["show", "--json"]).run().json_lines().remove(0)
}

/// The number of every iteration that was begun, in order; a repeated one stands twice.
pub fn begun(story: &Value) -> Vec<u64> {
    let number = |iteration: &Value| iteration["iteration"].as_u64().expect("a number");
    iterations(story).iter().map(number).collect()
}

/// The number of every iteration that was judged, in order.
pub fn judged(story: &Value) -> Vec<u64> {
    iterations(story)
        .iter()
        .filter(|one| !one["verdict"].is_null())
        .filter_map(|one| one["iteration"].as_u64())
        .collect()
}

/// The iterations of a story.
pub fn iterations(story: &Value) -> &[Value] {
    story["iterations"].as_array().expect("a list of iterations")
}

/// The id of the newest run.
#[track_caller]
pub fn newest(env: &TestEnv) -> String {
    runs(env)[0]["run"].as_str().expect("an id").to_owned()
}

/// What the agent noted about its own launches, outside of the tree: one line each.
pub fn launches(env: &TestEnv) -> Vec<String> {
    let noted = std::fs::read_to_string(env.home().join("launches")).unwrap_or_default();
    noted.lines().map(str::to_owned).collect()
}
