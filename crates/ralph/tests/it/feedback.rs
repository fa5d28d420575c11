//! What an agent is told after a failure, and when the same failure ends a run.

use super::env;
use serde_json::json;

/// Fails with its reason in the middle of much output, and in another time each time.
const BURIED: &str =
    "seq 1 4000; echo \"src/a.c:$(wc -l < tried): error: no login\"; seq 1 4000; date +'%s failures in %S.%Ns'; exit 1";

#[test]
fn the_next_prompt_carries_the_reason_wherever_it_stands_in_the_output() {
    for (output, told) in [
        ("first", "The decisive lines of \"seq 1 4000;"),
        ("decisive", "Output (decisive lines):\n1\n2\n3\n[3997 lines left out]\nsrc/a.c:1: error: no login\n"),
    ] {
        let env = env();
        env.settings(json!({ "maximumIterations": 2, "guardrails": [{ "command": BURIED, "output": output }] }));
        env.script("append tried 1\\n\nclaim");
        env.ralph(["run", "-p", "x"]).ends("max-iterations").code(1).run();
        let prompt = env.read(".ralph/prompt_002.txt");
        assert!(prompt.contains(told), "{prompt}");
        assert_eq!(prompt.matches("src/a.c:1: error: no login\n").count(), 1, "{prompt}");
    }
}

#[test]
fn the_same_failure_is_told_with_what_was_tried_and_ends_the_run_where_asked() {
    let env = env();
    env.settings(json!({ "loop": { "maxSameFailures": 3 } })).guardrail(BURIED);
    env.script("append tried 1\\n\nprint no\n[2]\nfile second.txt x\n");
    env.ralph(["run", "-p", "x"])
        .stdout_has(
            "stalled · not verified\n  the same failure in 3 iterations in a row, whatever was changed: seq 1 4000;",
        )
        .stdout_has("failed with exit code 1 (src/a.c:3: error: no login)")
        .code(7)
        .run();
    let prompt = env.read(".ralph/prompt_003.txt");
    assert!(prompt.contains("Iteration 2 changed `second.txt`, `tried`."), "{prompt}");
    assert!(prompt.contains("It has failed in the same way 2 times now, before this in iteration 1."), "{prompt}");
}

#[test]
fn a_project_can_say_which_of_its_commands_are_tests() {
    let env = env();
    env.settings(json!({
        "loop": { "stopCriteria": { "requirePassingTests": true } },
        "verify": { "commands": [{ "purpose": "test", "command": "scripts/ci.sh unit" }] }
    }));
    env.agent_as("claude").guardrail("true").script(
        "claude-init\nclaude-tool Bash t1 cd web && ./scripts/ci.sh unit\n\
         claude-tool-result t1 ok all passed\nclaude-result <response>DONE</response>\n",
    );
    env.ralph(["run", "-p", "x"]).stdout_has("complete and verified after 1 iteration").run();
}
