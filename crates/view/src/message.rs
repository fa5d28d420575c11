//! A message of a bus as it is printed.

use crate::json::VERSION;
use crate::{Paint, Style};
use ralph_core::bus::{Kind, Message};
use ralph_core::id::MessageId;
use ralph_core::text::for_terminal;
use ralph_core::time::WallTime;
use serde_json::{Value, json};

/// The line for programs. A contract: additive only.
pub fn object(message: &Message) -> Value {
    json!({
        "v": VERSION,
        "id": message.id.as_str(),
        "at": message.at.rfc3339(),
        "type": message.kind.as_str(),
        "project": message.project,
        "task": message.task,
        "run": message.run,
        "parents": message.parents,
        "from": message.from,
        "body": message.body,
    })
}

/// The block for people. Nothing that a sender wrote drives the terminal, and no line of a body can look
/// like the head of another message, because it stands behind two blanks.
pub fn block(message: &Message, style: &Style, now: WallTime) -> String {
    let paint = style.paint;
    let mut parts = vec![style.zone.short(message.at, now)];
    let mut part = |word: &str, text: &str| {
        if !text.is_empty() {
            parts.push(format!("{word} {}", for_terminal(text)));
        }
    };
    part("from", &message.from);
    part("task", message.task.as_ref().map_or("", |task| task.as_str()));
    // A run that posts is named as the sender already.
    let run = message.run.as_ref().map_or("", |run| run.as_str());
    part("run", if message.from.ends_with(run) { "" } else { run });
    let parents: Vec<&str> = message.parents.iter().map(MessageId::as_str).collect();
    part("answers", &parents.join(", "));
    let head =
        format!("{} {}", painted(&message.kind, paint), paint.dim(&format!("{} · {}", message.id, parts.join(" · "))));
    let body: String = for_terminal(&message.body).lines().map(|line| format!("  {line}\n")).collect();
    format!("{head}\n{body}\n")
}

fn painted(kind: &Kind, paint: Paint) -> String {
    let word = kind.as_str();
    match kind {
        kind if *kind == Kind::ERROR || *kind == Kind::TORN => paint.red(word),
        kind if *kind == Kind::WARNING => paint.yellow(word),
        kind if *kind == Kind::USER_REQUEST => paint.cyan(word),
        _ => paint.bold(word),
    }
}
