//! `ralph say`: the short way to ask something of a run.

use super::bus::post;
use super::pick;
use crate::cli::Global;
use crate::error::CommandError;
use crate::live::Live;
use crate::project::{Project, RunAround};
use crate::session;
use crate::terminal::page;
use clap::Args;
use ralph_core::bus::{Kind, Message, TASK_BUS};
use ralph_core::id::MessageId;
use ralph_core::outcome::exit;
use ralph_host::bus::{Bus, Durability};
use ralph_host::clock::{Clock, random_bits};
use ralph_view::json::VERSION;
use ralph_view::liveness::State;
use serde_json::json;
use std::time::Duration;

/// Ask something of a run, and print the request's id.
///
/// The request enters the run's next prompt with your name. The run cannot be complete before it is
/// acknowledged: by the agent in its answer, or by a message of type ACK on the bus.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph say 7f3a9k2m 'use tabs, not spaces'\n  git diff | ralph say 7f3a9k2m -\n  ralph bus read --type ACK"
)]
pub struct SayArgs {
    /// The run, by its id or the beginning of it
    run: String,
    /// What you want; `-` reads it from standard input
    #[arg(value_name = "TEXT|-")]
    text: String,
}

/// A run that is just ending has ended by then.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

pub fn run(global: &Global, args: SayArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    let store = pick::store(&project)?;
    let row = pick::run(&store, Some(&args.run), &project)?;
    let machine = pick::machine(&store, &row.run)?;
    if machine.is_complete() {
        return Err(CommandError::usage(format!("run {} is complete and hears nothing any more", row.run)).hint(
            format!(
                "leave it to the next run of the task: ralph bus post --task {} --type USER_REQUEST TEXT",
                row.task
            ),
        ));
    }
    let around = RunAround::find();
    let body = post::body(args.text, "ralph say RUN 'what you want'")?;
    let id = MessageId::from_random(random_bits());
    let mut message = Message::new(id, Clock::start().now(), Kind::USER_REQUEST, &around.sender(), body);
    message.project = Some(session::project_name(&project, machine.policy()));
    message.task = Some(row.task.clone());
    message.run = Some(row.run.clone());
    let bus = Bus::at(session::task_folder(&project, machine.policy()).join(TASK_BUS));
    bus.post(std::slice::from_ref(&message), Durability::Synced)?;
    bus.keep(&message, &project.state, Durability::Synced)?;
    let _ = page::pause(LOOK_AGAIN);
    let now = pick::machine(&store, &row.run)?;
    if now.is_complete() && !now.has_heard(&message.id) {
        return Err(CommandError::usage(format!(
            "run {} was complete before it could hear request {}",
            row.run, message.id
        ))
        .hint(format!(
            "say it to the next run of the task: ralph bus post --task {} --type USER_REQUEST TEXT",
            row.task
        )));
    }
    let (id, path) = (message.id.as_str(), bus.path().to_string_lossy());
    page::answer(global, || json!({ "v": VERSION, "id": id, "run": row.run, "bus": path }), || format!("{id}\n"))?;
    match Live::look(&project).state(&row) {
        State::Running => page::narrate(global, &format!("run {} hears it before its next prompt", row.run)),
        _ => page::narrate(global, &format!("run {0} is not running; it hears it with: ralph resume {0}", row.run)),
    }
    Ok(exit::OK)
}
