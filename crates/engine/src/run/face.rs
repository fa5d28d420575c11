//! What the engine asks of a face.

use crate::carry::Listener;
use ralph_core::agent_event::AgentEvent;
use ralph_core::notice::Notice;
use ralph_core::time::WallTime;
use ralph_core::words::Note;
use std::cell::RefCell;
use std::time::Duration;

/// Somebody who is told what happens. Calls must not block: an agent waits for nobody's terminal.
pub trait Face {
    /// Something worth telling.
    fn notice(&mut self, at: WallTime, notice: &Notice);
    /// The agent said or did something.
    fn agent_event(&mut self, at: WallTime, iteration: u32, event: &AgentEvent);
    /// Whether agent events are worth making for this face beyond what the verdict needs.
    fn wants_agent_events(&self) -> bool;
    /// The agent's process printed something, whatever it was: it is alive.
    fn heard(&mut self, at: WallTime);
    /// The agent's process wrote to standard error.
    fn agent_stderr(&mut self, bytes: &[u8]);
    /// How often to be woken to redraw; `None` means never.
    fn tick_every(&self) -> Option<Duration>;
    /// Time to redraw.
    fn tick(&mut self);
    /// The process is about to be suspended: leave the terminal as it was.
    fn suspended(&mut self);
    /// The process goes on.
    fn continued(&mut self);
    /// The run is over: leave the terminal as it was, and return when everything is written or
    /// nobody reads any more.
    fn finish(&mut self);
}

/// A face as the carrier tells it.
pub struct Shown<'a>(pub &'a RefCell<dyn Face>);

impl Listener<Notice> for Shown<'_> {
    fn notice(&self, at: WallTime, notice: &Notice) {
        self.0.borrow_mut().notice(at, notice);
    }

    fn delayed(&self, at: WallTime, delay: Note) {
        self.notice(at, &Notice::Note(delay));
    }

    fn tick_every(&self) -> Option<Duration> {
        self.0.borrow().tick_every()
    }

    fn tick(&self) {
        self.0.borrow_mut().tick();
    }

    fn suspended(&self) {
        self.0.borrow_mut().suspended();
    }

    fn continued(&self) {
        self.0.borrow_mut().continued();
    }
}
