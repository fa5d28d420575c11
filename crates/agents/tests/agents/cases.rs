//! Small lines as older clients printed them, with the events that users of ralph know.

use crate::hear;
use ralph_core::agent_event::AgentEvent;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Case {
    lines: Vec<String>,
    events: Vec<Value>,
    #[serde(default)]
    errors: Vec<String>,
}

#[test]
fn lines_become_the_events_of_the_table() {
    for (agent, table, most) in [
        ("claude", include_str!("../cases/claude.json"), 16),
        ("codex", include_str!("../cases/codex.json"), 9),
        ("amp", include_str!("../cases/amp.json"), 10),
    ] {
        let cases: Vec<Case> = serde_json::from_str(table).unwrap();
        assert_eq!(cases.len(), most);
        cases.into_iter().for_each(|case| check(agent, case));
    }
}

fn check(agent: &str, case: Case) {
    let heard = hear(agent, "", case.lines.join("\n").as_bytes());
    let events: Vec<Value> = heard.events.iter().map(|event| in_the_tables_words(agent, event)).collect();
    let mut expected = case.events;
    for event in &mut expected {
        // The table also states the step from one total to the next, which faces compute.
        event.as_object_mut().unwrap().remove("cost_delta");
    }
    assert_eq!(events, expected, "{:?}", case.lines);
    assert_eq!(heard.noise, case.errors.len(), "{:?}", case.lines);
}

fn in_the_tables_words(agent: &str, event: &AgentEvent) -> Value {
    match event {
        AgentEvent::Progress { text } => json!({"type": "Progress", "text": text}),
        AgentEvent::Text { text, .. } => json!({"type": "Text", "text": text}),
        AgentEvent::Unknown { what } => json!({"type": "Unknown", "text": what}),
        AgentEvent::ToolStart { id, name, input, .. } if input.is_empty() => {
            json!({"type": "ToolStart", "tool_name": name, "tool_id": id})
        }
        AgentEvent::ToolStart { id, name, input, .. } => {
            json!({"type": "ToolStart", "tool_name": name, "tool_id": id, "tool_input": input})
        }
        AgentEvent::ToolEnd { id, output, .. } => json!({"type": "ToolEnd", "tool_id": id, "tool_output": output}),
        AgentEvent::Result { text, is_error, cost_usd, tokens } => {
            let mut event = json!({"type": "Result", "is_complete": !is_error});
            let tokens = tokens.unwrap_or_default();
            // The table has the figures of the program: only Codex counts the cached part as input.
            let stated_input = if agent == "codex" { tokens.input } else { tokens.fresh_input() };
            // What is not stated does not stand in the table.
            let stated = [
                ("result", (!text.is_empty()).then(|| json!(text))),
                ("cost", cost_usd.map(|cost| json!(cost))),
                ("input_tokens", count(stated_input)),
                ("output_tokens", count(tokens.output)),
                ("cache_read_tokens", count(tokens.cache_read)),
                ("cache_write_tokens", count(tokens.cache_write)),
            ];
            for (name, value) in stated.into_iter().filter_map(|(name, value)| Some((name, value?))) {
                event[name] = value;
            }
            event
        }
        other => json!(format!("{other:?}")),
    }
}

fn count(tokens: u64) -> Option<Value> {
    (tokens > 0).then(|| json!(tokens))
}
