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
    let cases: Vec<Case> = serde_json::from_str(include_str!("../cases/claude.json")).unwrap();
    assert!(cases.len() >= 16);
    for case in cases {
        let heard = hear("claude", "", case.lines.join("\n").as_bytes());
        let events: Vec<Value> = heard.events.iter().map(in_the_tables_words).collect();
        let mut expected = case.events;
        for event in &mut expected {
            // The table also states the step from one total to the next, which faces compute.
            event.as_object_mut().unwrap().remove("cost_delta");
        }
        assert_eq!(events, expected, "{:?}", case.lines);
        assert_eq!(heard.noise, case.errors.len(), "{:?}", case.lines);
    }
}

fn in_the_tables_words(event: &AgentEvent) -> Value {
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
        AgentEvent::Result { text, is_error, cost_usd, .. } => {
            json!({"type": "Result", "result": text, "is_complete": !is_error, "cost": cost_usd})
        }
        other => json!(format!("{other:?}")),
    }
}
