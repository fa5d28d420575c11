//! The buses of a run: what it says there, and what it hears.

use ralph_core::activity::{BusName, Post};
use ralph_core::bus::{Kind, Message};
use ralph_core::event::Event;
use ralph_core::id::{MessageId, RunId, TaskName};
use ralph_core::inbox::{Heard, Request};
use ralph_core::time::WallTime;
use ralph_core::words::Note;
use ralph_host::bus::{Bus, Durability, Follower};
use std::path::PathBuf;

/// Where the buses are, and whose they are.
#[derive(Debug, Clone)]
pub struct BusNames {
    /// The task's bus.
    pub task_bus: PathBuf,
    /// The project's bus.
    pub project_bus: PathBuf,
    /// The project, as messages name it.
    pub project: String,
    /// The task.
    pub task: TaskName,
    /// The run.
    pub run: RunId,
}

/// The buses of one run.
#[derive(Debug)]
pub struct Buses {
    names: BusNames,
    follower: Follower,
    /// It was told that the task's bus cannot be read.
    told: bool,
}

impl Buses {
    /// The buses of these names. What was said before counts too: a request may wait for its run.
    pub fn new(names: BusNames) -> Buses {
        Buses { follower: Bus::at(&names.task_bus).follow(), names, told: false }
    }

    /// Where they are, and whose.
    pub(super) fn names(&self) -> &BusNames {
        &self.names
    }

    /// Posts a message of this run.
    pub(super) fn post(&self, post: &Post, at: WallTime, durability: Durability) -> Result<(), String> {
        let BusNames { project, task, run, .. } = &self.names;
        let path = match post.bus {
            BusName::Task => &self.names.task_bus,
            BusName::Project => &self.names.project_bus,
        };
        let id = MessageId::from_meaning(&format!("{} {}", post.kind, post.key));
        let mut message = Message::new(id, at, post.kind.clone(), &format!("run {run}"), post.body.as_str());
        message.project = Some(project.clone());
        message.task = Some(task.clone());
        message.run = Some(run.clone());
        message.parents = post.parents.iter().filter_map(|parent| MessageId::parse(parent).ok()).collect();
        let bus = Bus::at(path);
        let posted = match durability {
            // What must be safe may have been posted before a crash.
            Durability::Synced => bus.post_once(&message, durability).map(drop),
            Durability::Written => bus.post(&[message], durability),
        };
        posted.map_err(|error| error.to_string())
    }

    /// What was said to this run since this was last asked.
    pub(super) fn listen(&mut self) -> Option<Event> {
        let mut messages = Vec::new();
        let run = &self.names.run;
        let read = self.follower.read(|message| messages.extend(heard(message, run)));
        if let Err(error) = read
            && !std::mem::replace(&mut self.told, true)
        {
            return Some(Event::Noted { note: Note::BusUnheard { error: error.to_string() } });
        }
        (!messages.is_empty()).then_some(Event::Heard { messages })
    }
}

/// What a message means to this run, if anything.
fn heard(message: Message, run: &RunId) -> Option<Heard> {
    let own = message.run.as_ref() == Some(run);
    // A sender's own run says where a message comes from; another one, whom it is for.
    let for_another = message.run.as_ref().is_some_and(|run| message.from != format!("run {run}")) && !own;
    let heard = match &message.kind {
        // A request to nobody in particular is for whoever works on the task.
        kind if *kind == Kind::USER_REQUEST && !for_another => Heard::Request(Request {
            id: message.id.to_string(),
            from: message.from,
            at: message.at,
            body: message.body,
        }),
        kind if *kind == Kind::ACK => Heard::Ack { of: message.parents.iter().map(ToString::to_string).collect() },
        kind if *kind == Kind::WAIT_WITHOUT_RESTART && !for_another => Heard::Wait { why: message.body },
        kind if *kind == Kind::FACT => Heard::Fact { text: message.body },
        _ => return None,
    };
    Some(heard.bounded())
}
