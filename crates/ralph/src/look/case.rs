//! A run as something to be explained: its story, where it stands, and what stands for and against it.

use super::conditions::{self, Condition};
use super::live::Live;
use super::state::State;
use super::story::Story;
use super::{causes, pick, words};
use crate::error::CommandError;
use crate::project::Project;
use crate::suggest::Suggest;
use ralph_core::event::Entry;
use ralph_core::outcome::StopReason;
use ralph_core::run::RunRow;
use ralph_core::time::Millis;
use ralph_host::clock::Clock;

/// Everything that there is to say.
pub struct Case<'a> {
    /// The run, told again.
    pub story: Story<'a>,
    /// The run at a glance.
    pub row: RunRow,
    /// Whether it goes on.
    pub state: State,
    /// What `complete` needed.
    pub conditions: Vec<Condition>,
    /// Time that it was worked on, until now if it runs.
    pub worked: Millis,
    /// How commands about it are typed.
    pub suggest: Suggest,
}

impl<'a> Case<'a> {
    /// The case of a run with this journal.
    pub fn of(entries: &'a [Entry], row: RunRow, project: &Project) -> Result<Case<'a>, CommandError> {
        let mut story = Story::of(entries, None).map_err(|error| pick::unreadable(&row.run, &error))?;
        let (state, now) = (Live::look(project).state(&row), Clock::start().now());
        if state == State::Running && row.waits_until.is_some() {
            story.goes_on_waiting(now);
        }
        let worked = story.worked(state, now);
        Ok(Case { conditions: conditions::of(&story), story, row, state, worked, suggest: project.suggest() })
    }

    fn is_complete(&self) -> bool {
        self.state == State::Ended(StopReason::Complete)
    }

    /// Why it is where it is, in one sentence.
    pub fn message(&self) -> String {
        match (self.state, self.story.outcome()) {
            (State::Running, _) => "it is running; nothing has ended yet".to_owned(),
            (_, Some(outcome)) => outcome.message.clone(),
            (_, None) => "its ralph ended without a word: killed, or the machine went down".to_owned(),
        }
    }

    /// How it came to that, one sentence each.
    pub fn causes(&self) -> Vec<String> {
        causes::of(&self.story, self.state, self.worked)
    }

    /// What was being done when the journal ends.
    pub fn in_flight(&self) -> Option<String> {
        self.story.in_flight.as_ref().map(|doing| words::in_flight(doing, self.row.iteration))
    }

    /// What resuming would do, where there is something to resume.
    pub fn on_resume(&self) -> Option<String> {
        (self.state != State::Running && !self.is_complete()).then(|| words::on_resume(&self.story))
    }

    /// What had to be so for `complete`, and was not or was never looked at.
    pub fn missing(&self) -> Vec<&Condition> {
        if self.is_complete() || self.state == State::Running {
            return Vec::new();
        }
        self.conditions.iter().filter(|condition| !condition.needed.is_empty()).collect()
    }

    /// What to type next, without the command that asks.
    pub fn next(&self, asking: &str) -> Vec<String> {
        let run = &self.row.run;
        let next = match (self.state, self.story.outcome()) {
            (State::Running, _) => vec![format!("ralph logs {run} --follow"), format!("ralph cancel {run}")],
            (_, Some(outcome)) => outcome.next.clone(),
            (_, None) => vec![format!("ralph resume {run}")],
        };
        let asking = format!("ralph {asking} {run}");
        let mut next: Vec<String> = next.into_iter().filter(|command| *command != asking).collect();
        let show = format!("ralph show {run}");
        if !next.contains(&show) {
            next.push(show);
        }
        next.iter().map(|line| self.suggest.line(line)).collect()
    }
}
