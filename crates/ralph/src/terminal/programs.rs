//! The face for programs: JSON lines on standard output and nothing else there.

use super::out::{Out, Target, Worth};
use ralph_core::agent_event::AgentEvent;
use ralph_core::notice::Notice;
use ralph_core::time::WallTime;
use ralph_engine::run::Face;
use ralph_view::Suggest;
use ralph_view::json::lines;
use std::time::Duration;

/// Tells a run to a program.
pub struct Programs {
    out: Out,
    run: String,
    suggest: Suggest,
}

impl Programs {
    /// A face on these ends.
    pub fn new(out: Out, suggest: Suggest) -> Programs {
        Programs { out, run: String::new(), suggest }
    }

    fn tell_skipped(&self, at: WallTime) {
        let skipped = self.out.take_skipped();
        if skipped > 0 {
            self.out.write(Target::Stdout, Worth::Kept, lines::skipped_line(at, &self.run, skipped));
        }
    }
}

impl Face for Programs {
    fn notice(&mut self, at: WallTime, notice: &Notice) {
        if let Notice::RunStarted { run, .. } = notice {
            self.run = run.to_string();
        }
        self.tell_skipped(at);
        if let Some(line) = lines::notice_line(at, &self.run, notice, &self.suggest) {
            self.out.write(Target::Stdout, Worth::Kept, line);
        }
    }

    fn agent_event(&mut self, at: WallTime, iteration: u32, event: &AgentEvent) {
        self.out.write(Target::Stdout, Worth::Skippable, lines::agent_line(at, &self.run, iteration, event));
    }

    fn wants_agent_events(&self) -> bool {
        !self.out.stdout_is_gone()
    }

    fn heard(&mut self, _at: WallTime) {}

    fn agent_stderr(&mut self, _bytes: &[u8]) {}

    fn tick_every(&self) -> Option<Duration> {
        None
    }

    fn tick(&mut self) {}

    fn suspended(&mut self) {}

    fn continued(&mut self) {}

    fn finish(&mut self) {
        self.out.finish();
    }
}
