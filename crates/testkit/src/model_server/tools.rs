//! The tools that a request offers, and how a shell command is put in the terms of one of them.
//!
//! Every client names its shell tool and its arguments differently, but every request describes them:
//! the call is made from that description, so that it fits clients and versions that nobody listed.

use serde_json::{Map, Value, json};

use super::scenario::{Answer, ToolCall};

/// Names of shell tools, in lower case.
const SHELLS: [&str; 8] = [
    "bash", "exec_command", "shell", "shell_command", "run_shell_command", "local_shell", "run_terminal_command",
    "run_commands",
];

/// The declared tools: in `tools`, each bare, below `function`, or in lists of `functionDeclarations`.
pub(super) fn offered(body: &Value) -> impl Iterator<Item = &Value> {
    let tools = body["tools"].as_array().into_iter().flatten();
    tools.flat_map(|tool| match (&tool["functionDeclarations"], &tool["function"]) {
        (Value::Array(list), _) => list.iter().collect(),
        (_, function @ Value::Object(_)) => vec![function],
        _ => vec![tool],
    })
}

/// Whether the request leaves it to the model what to do. One that demands a certain tool asks for something
/// beside the conversation, such as its title.
pub(super) fn is_open(body: &Value) -> bool {
    let demanded = &body["tool_choice"];
    offered(body).next().is_some() && demanded["function"].is_null() && demanded["name"].is_null()
}

/// All calls of an answer, shell commands first.
pub(super) fn calls(answer: &Answer, body: &Value) -> Vec<ToolCall> {
    answer.shell.iter().map(|command| shell(command, body)).chain(answer.tools.iter().cloned()).collect()
}

/// The call ids of an answer must not return in the same conversation: they carry its length.
pub(super) fn call_id(body: &Value, number: usize) -> String {
    let turns = ["messages", "input", "contents"].iter().find_map(|key| body[key].as_array()).map_or(0, Vec::len);
    format!("call_{turns}_{number}")
}

fn shell(command: &str, body: &Value) -> ToolCall {
    let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
    let tool = offered(body).find(|tool| SHELLS.contains(&name(tool).to_lowercase().as_str()));
    let Some(tool) = tool else {
        return ToolCall { name: "no-shell-tool-was-offered".to_owned(), input: json!({ "command": command }) };
    };
    let schema = ["input_schema", "parameters", "parametersJsonSchema"].iter().find_map(|key| tool.get(key));
    ToolCall { name: name(tool), input: input(command, schema.unwrap_or(&Value::Null)) }
}

/// The command under the name that the schema has for it, and a value for whatever else is required.
fn input(command: &str, schema: &Value) -> Value {
    let is_known = |key: &&str| schema["properties"][key].is_object();
    let key = ["cmd", "commands"].into_iter().find(is_known).unwrap_or("command");
    let command = match schema["properties"][key]["type"].as_str() {
        Some("array") if key == "commands" => json!([command]),
        Some("array") => json!(["bash", "-c", command]),
        _ => json!(command),
    };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut input: Map<String, Value> = required.map(|name| (name.to_owned(), filler(schema, name))).collect();
    input.insert(key.to_owned(), command);
    Value::Object(input)
}

fn filler(schema: &Value, name: &str) -> Value {
    match schema["properties"][name]["type"].as_str().unwrap_or("string").to_lowercase().as_str() {
        "boolean" => json!(false),
        "number" | "integer" => json!(60),
        _ => json!("run a command"),
    }
}
