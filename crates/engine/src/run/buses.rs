//! The buses of a run: what it says there, and what it hears.

use ralph_core::activity::{BusName, Post};
use ralph_core::bus::{Kind, Message};
use ralph_core::event::Event;
use ralph_core::id::{MessageId, RunId, TaskName};
use ralph_core::inbox::{Heard, Request};
use ralph_core::time::WallTime;
use ralph_core::words::Note;
use ralph_host::bus::{Bus, Durability, Follower};
use std::collections::HashSet;
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
    pub task: TaskName,
    pub run: RunId,
    /// The state directory, where requests are kept.
    pub state: PathBuf,
}

/// The buses of one run.
#[derive(Debug)]
pub struct Buses {
    names: BusNames,
    follower: Follower,
    /// What trusted state keeps of the task's bus.
    kept: Follower,
    /// Requests that are not on the bus any more, where people read.
    vanished: Vec<Message>,
    /// Requests that were heard by this process.
    known: HashSet<String>,
    /// It was told that the task's bus cannot be read.
    told: bool,
}

impl Buses {
    /// The buses of these names. What was said before counts too: a request may wait for its run.
    pub fn new(names: BusNames) -> Buses {
        let bus = Bus::at(&names.task_bus);
        let (follower, kept) = (bus.follow(), bus.kept_in(&names.state).follow());
        Buses { follower, kept, vanished: Vec::new(), known: HashSet::new(), names, told: false }
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
            Durability::Written => bus.post(std::slice::from_ref(&message), durability),
        };
        posted.and_then(|()| bus.keep(&message, &self.names.state, durability)).map_err(|error| error.to_string())
    }

    /// What was said to this run since this was last asked. What trusted state keeps comes first: whatever became of
    /// the bus meanwhile, that is what was said.
    pub(super) fn listen(&mut self) -> Option<Event> {
        let Buses { names, follower, kept, vanished, known, .. } = self;
        let mut messages = Vec::new();
        // A request comes by both ways, and is heard once.
        let mut take = |message: &Message| {
            let heard = heard(message.clone(), &names.run);
            let is_request = matches!(heard, Some(Heard::Request(_)));
            let is_new = !is_request || known.insert(message.id.to_string());
            messages.extend(heard.filter(|_| is_new));
            is_request && is_new
        };
        let of_kept = kept.read(|message| vanished.extend(take(&message).then_some(message)));
        let of_file = follower.read(|message| {
            take(&message);
            vanished.retain(|kept| kept.id != message.id);
        });
        // Its folder may be gone with it; then it is tried again when that was made anew.
        if !vanished.is_empty() && follower.bus().post(vanished, Durability::Written).is_ok() {
            vanished.clear();
        }
        if let Err(error) = of_kept.and(of_file)
            && messages.is_empty()
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
