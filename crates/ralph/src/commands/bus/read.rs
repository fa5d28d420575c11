//! `ralph bus read` and `ralph bus tail`: what was posted, and what is being posted.

use super::which::WhichArgs;
use crate::cli::Global;
use crate::error::CommandError;
use crate::project::{Project, RunAround};
use crate::terminal::page;
use clap::Args;
use ralph_core::bus::{Kind, Message};
use ralph_core::id::MessageId;
use ralph_core::outcome::exit;
use ralph_core::text;
use ralph_core::time::{Millis, WallTime};
use ralph_host::bus::{Bus, Follower};
use ralph_host::clock::Clock;
use ralph_view::{Suggest, json, message};
use std::collections::VecDeque;
use std::time::Duration;

/// Print the last messages.
///
/// A bus that does not exist yet is empty. With `--json` each message is one line.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph bus read\n  ralph bus read --task checkout --type USER_REQUEST --type ACK\n  ralph bus read --since 15m --json | jq -r .body\n  ralph bus read --since m7f3a9k2mq1xw"
)]
pub struct ReadArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// How many of the last messages; 0 for all, or with -f for none. 20 if left out, all with --since
    #[arg(short = 'n', long, value_name = "N")]
    tail: Option<usize>,
    /// Only the message of this id
    #[arg(long, value_name = "ID", value_parser = MessageId::parse, conflicts_with_all = ["tail", "since"])]
    id: Option<MessageId>,
    /// Only of this type; may be repeated
    #[arg(long = "type", value_name = "TYPE", value_parser = Kind::parse)]
    kinds: Vec<Kind>,
    /// Only newer ones: a span like 15m, a time like 2026-11-15T08:45:00Z, or the id of a message
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
}

/// Print the last messages, and with -f those that come.
///
/// Following goes on until it is interrupted; the bus need not exist yet, and may be replaced.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph bus tail -f\n  ralph bus tail -f --task checkout --json\n  ralph bus tail -f -n 1"
)]
pub struct TailArgs {
    #[command(flatten)]
    read: ReadArgs,
    /// Go on printing what is posted
    #[arg(short, long)]
    follow: bool,
}

const SHOWN: usize = 20;
const POLL: Duration = Duration::from_millis(100);

pub fn run(global: &Global, args: &ReadArgs) -> Result<u8, CommandError> {
    let viewer = Viewer::new(global, args)?;
    viewer.last(&mut viewer.bus.follow(), usize::MAX)?;
    Ok(exit::OK)
}

pub fn tail(global: &Global, args: &TailArgs) -> Result<u8, CommandError> {
    let viewer = Viewer::new(global, &args.read)?;
    let mut follower = viewer.bus.follow();
    // Whoever follows and wants none of the last ones wants only what comes.
    viewer.last(&mut follower, if args.follow { 0 } else { usize::MAX })?;
    if args.follow {
        loop {
            viewer.next(&mut follower)?;
        }
    }
    Ok(exit::OK)
}

struct Viewer<'a> {
    global: &'a Global,
    args: &'a ReadArgs,
    bus: Bus,
    since: Option<Since>,
}

enum Since {
    Time(WallTime),
    /// Behind this message.
    Message(MessageId),
}

impl<'a> Viewer<'a> {
    fn new(global: &'a Global, args: &'a ReadArgs) -> Result<Viewer<'a>, CommandError> {
        let project = Project::find(global.directory.as_deref())?;
        let bus = args.which.find(&project, &RunAround::find()).bus(&project);
        let since = args.since.as_deref().map(since).transpose()?;
        Ok(Viewer { global, args, bus, since })
    }

    /// Prints the last messages; `zero` is how many are meant by 0.
    fn last(&self, follower: &mut Follower, zero: usize) -> Result<(), CommandError> {
        let most = match self.args.tail {
            None if self.since.is_some() => usize::MAX,
            None => SHOWN,
            Some(0) => zero,
            Some(number) => number,
        };
        let (mut last, mut found, mut all) = (VecDeque::new(), 0, 0_u64);
        follower.read(|message| {
            all += 1;
            if matches!(&self.since, Some(Since::Message(id)) if *id == message.id) {
                found += 1;
                last.clear();
            } else if self.wants(&message) {
                last.push_back(message);
                if last.len() > most {
                    last.pop_front();
                }
            }
        })?;
        if let (Some(Since::Message(id)), 0) = (&self.since, found) {
            return Err(CommandError::usage(format!("there is no message {id} on {}", self.bus.path().display()))
                .hint("--since takes a span (15m), a time (2026-11-15T08:45:00Z), or the id of a message"));
        }
        self.remark(all, last.len(), follower);
        self.print(last.iter())
    }

    /// Waits for a moment, and prints what came. The one place that waits for a bus.
    fn next(&self, follower: &mut Follower) -> Result<(), CommandError> {
        page::pause(POLL)?;
        let mut came = Vec::new();
        follower.read(|message| came.push(message))?;
        self.print(came.iter().filter(|message| self.wants(message)))
    }

    fn wants(&self, message: &Message) -> bool {
        let kinds = &self.args.kinds;
        if let Some(id) = &self.args.id {
            return message.id == *id;
        }
        let new_enough = !matches!(&self.since, Some(Since::Time(since)) if message.at < *since);
        new_enough && (kinds.is_empty() || kinds.contains(&message.kind))
    }

    fn print<'m>(&self, messages: impl Iterator<Item = &'m Message>) -> Result<(), CommandError> {
        let (style, now) = (page::style(self.global, Suggest::default()), Clock::start().now());
        for posted in messages {
            let text = match self.global.json {
                true => json::line(&message::object(posted)),
                false => message::block(posted, &style, now),
            };
            page::put(text.as_bytes())?;
        }
        Ok(())
    }

    /// What a reader should know beside the messages.
    fn remark(&self, all: u64, shown: usize, follower: &Follower) {
        let path = self.bus.path().display();
        let say = |line: String| page::narrate(self.global, &line);
        match (all, shown) {
            (0, _) if follower.offset() == 0 && !self.bus.path().exists() => {
                say(format!("no message was posted to {path} yet"));
            }
            (0, _) => say(format!("no messages on {path}")),
            (all, 0) => say(format!("none of {} on {path} is wanted", text::count(all, "message"))),
            _ => {}
        }
        if follower.skipped() > 0 {
            let skipped = text::count(follower.skipped(), "byte");
            say(format!("{skipped} on {path} belong to no whole message and were passed over"));
        }
    }
}

fn since(text: &str) -> Result<Since, CommandError> {
    let ago = |span: Millis| WallTime(Clock::start().now().0.saturating_sub(i64::try_from(span.0).unwrap_or(i64::MAX)));
    // A number without a unit is a slip, and no moment.
    let moment = || WallTime::parse(text).filter(|_| text.contains(':'));
    let time = text.parse().map(ago).ok().or_else(moment).map(Since::Time);
    match time {
        Some(time) => Ok(time),
        None => MessageId::parse(text).map(Since::Message).map_err(|error| {
            CommandError::usage(format!("--since `{text}` is no message id: {error}"))
                .hint("it takes a span (15m), a time (2026-11-15T08:45:00Z), or the id of a message")
        }),
    }
}
