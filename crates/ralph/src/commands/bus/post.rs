//! `ralph bus post`: leaves a message.

use super::which::{Which, WhichArgs};
use crate::cli::Global;
use crate::error::CommandError;
use crate::project::{Project, RunAround};
use crate::terminal::page;
use clap::Args;
use ralph_core::bus::{Kind, LARGEST_BODY, Message};
use ralph_core::id::{MessageId, NotAName, RunId, plain_name};
use ralph_core::outcome::exit;
use ralph_host::bus::{Bus, Durability};
use ralph_host::clock::{Clock, random_bits};
use ralph_host::state_dir;
use ralph_view::json::VERSION;
use serde_json::json;
use std::io::Read as _;

/// Post a message and print its id.
///
/// The body comes back byte for byte, whatever it holds; only what is not UTF-8 is refused. When the id
/// is printed, the message is on the disk.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph bus post --type INFO 'the schema is ready'\n  git diff | ralph bus post --type FACT --task checkout -\n  ralph bus post --type ACK --parent m7f3a9k2mq1xw 'done'"
)]
pub struct PostArgs {
    /// What it is: USER_REQUEST, ACK, FACT, INFO, WARNING, ERROR, or a word of your own
    #[arg(long = "type", value_name = "TYPE", value_parser = Kind::parse)]
    kind: Kind,
    #[command(flatten)]
    which: WhichArgs,
    /// The run that it belongs to; the one around if left out
    #[arg(long, value_name = "RUN", value_parser = run_id)]
    run: Option<RunId>,
    /// A message that it answers; may be repeated
    #[arg(long = "parent", value_name = "ID", value_parser = MessageId::parse)]
    parents: Vec<MessageId>,
    /// What it says; `-` reads it from standard input
    #[arg(value_name = "BODY|-")]
    body: String,
}

pub fn run(global: &Global, args: PostArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    if args.kind == Kind::ACK && args.parents.is_empty() {
        return Err(CommandError::usage("an acknowledgement without --parent acknowledges nothing")
            .hint("name the request: ralph bus post --type ACK --parent ID 'what was done'")
            .hint("requests: ralph bus read --type USER_REQUEST"));
    }
    let around = RunAround::find();
    let which = args.which.find(&project, &around);
    let message = compose(args, &which, &project, around)?;
    which.make_folder(&project)?;
    let bus = which.bus(&project);
    bus.post(std::slice::from_ref(&message), Durability::Synced)?;
    keep(&bus, &message, &project);
    let object = || json!({ "v": VERSION, "id": message.id.as_str(), "bus": bus.path().to_string_lossy() });
    page::answer(global, object, || format!("{}\n", message.id))?;
    Ok(exit::OK)
}

/// Keeps a request or an acknowledgement where no agent comes by. What cannot be kept, as inside of a box that hides
/// the state folder, stands on the bus all the same.
fn keep(bus: &Bus, message: &Message, project: &Project) {
    let prepared = state_dir::prepare(&project.state, &project.root).map_err(|error| error.to_string());
    let kept = |()| bus.keep(message, &project.state, Durability::Synced).map_err(|error| error.to_string());
    if let Err(error) = prepared.and_then(kept) {
        page::say(&format!("note: the message stands on the bus only, where it may be edited or deleted: {error}"));
    }
}

fn compose(args: PostArgs, which: &Which, project: &Project, around: RunAround) -> Result<Message, CommandError> {
    let body = body(args.body, &format!("ralph bus post --type {} 'what there is to say'", args.kind))?;
    let from = around.sender();
    let id = MessageId::from_random(random_bits());
    let mut message = Message::new(id, Clock::start().now(), args.kind, &from, body);
    message.project = Some(args.which.project.or(around.project).unwrap_or_else(|| project.project_name()));
    message.task = args.which.task.or(around.task).or_else(|| which.task());
    message.run = args.run.or(around.run);
    message.parents = args.parents;
    Ok(message)
}

/// What a message says, as it was given or from standard input; nothing is no message.
pub fn body(given: String, example: &str) -> Result<String, CommandError> {
    let body = if given == "-" { stdin()? } else { given };
    if body.is_empty() {
        return Err(CommandError::usage("the message is empty").hint(format!("for example: {example}")));
    }
    Ok(body)
}

fn stdin() -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    // One byte more than can be posted shows that it is too much.
    let read = std::io::stdin().lock().take(1 + LARGEST_BODY as u64).read_to_end(&mut bytes);
    read.map_err(|error| CommandError::io("standard input cannot be read", &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let byte = error.as_bytes().get(at).copied().unwrap_or_default();
        let number = at + 1;
        CommandError::usage(format!("the body is not UTF-8: byte {number} is 0x{byte:02x}; nothing was posted")).hint(
            "put it into a file and post its path, or post it as text: base64 FILE | ralph bus post --type FACT -",
        )
    })
}

fn run_id(text: &str) -> Result<RunId, NotAName> {
    plain_name(text, 64)?;
    let strange = text.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '-').unwrap_or(' ');
    RunId::parse(text).ok_or(NotAName::Character(strange))
}
