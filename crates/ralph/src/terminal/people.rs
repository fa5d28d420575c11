//! The face for people: narration, the agent's words, the end, and on a terminal a live line at the bottom.

use super::FaceOptions;
use super::out::{Out, Target, Worth};
use ralph_core::agent_event::AgentEvent;
use ralph_core::notice::Notice;
use ralph_core::time::{Millis, WallTime};
use ralph_engine::run::Face;
use ralph_host::clock::Clock;
use ralph_view::narration::{Narrator, Said, Volume};
use std::io;
use std::time::Duration;

/// How often the live line is drawn: often enough to look alive, seldom enough to cost nothing.
const REDRAW: Duration = Duration::from_millis(500);
/// Off a terminal, a line this often says that it still lives; a wait has said how long it will take.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

pub struct People {
    out: Out,
    clock: Clock,
    narrator: Narrator,
    volume: Volume,
    stream: bool,
    live: bool,
    drawn: bool,
    last_word: Millis,
}

impl People {
    pub fn new(out: Out, options: FaceOptions, clock: Clock) -> People {
        let FaceOptions { project, volume, stream, live, style, render, .. } = options;
        let narrator = Narrator::new(style, render, volume, env!("CARGO_PKG_VERSION"), project);
        let stream = stream && volume != Volume::Quiet;
        People { out, clock, narrator, volume, stream, live, drawn: false, last_word: Millis::ZERO }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            self.out.write(Target::Stderr, Worth::Kept, "\r\u{1b}[K");
        }
    }

    fn show(&mut self, said: Said) {
        let (target, worth, text) = match said {
            Said::Line(line) | Said::Urgent(line) => (Target::Stderr, Worth::Kept, line + "\n"),
            Said::Agent(lines) => (Target::Stdout, Worth::Skippable, lines),
            Said::AgentStderr(lines) => (Target::Stderr, Worth::Skippable, lines),
            Said::End(block) => (Target::Stdout, Worth::Kept, block),
        };
        if !text.is_empty() {
            self.clear();
            self.last_word = self.clock.elapsed();
            self.out.write(target, worth, text);
        }
    }

    fn narrate(&mut self, said: Said) {
        if self.volume != Volume::Quiet || !matches!(said, Said::Line(_)) {
            self.show(said);
        }
    }
}

impl Face for People {
    fn notice(&mut self, at: WallTime, notice: &Notice) {
        let said = self.narrator.notice(at, self.clock.elapsed(), notice);
        said.into_iter().for_each(|said| self.narrate(said));
    }

    fn agent_event(&mut self, at: WallTime, _iteration: u32, event: &AgentEvent) {
        self.narrator.take_activity(event);
        if self.stream {
            let said = self.narrator.agent_event(at, event);
            self.show(said);
        }
    }

    fn wants_agent_events(&self) -> bool {
        self.live || (self.stream && !self.out.stdout_is_gone())
    }

    fn heard(&mut self, _at: WallTime) {
        self.narrator.heard(self.clock.elapsed());
    }

    fn agent_stderr(&mut self, bytes: &[u8]) {
        if self.volume == Volume::Verbose {
            let said = self.narrator.agent_stderr(bytes);
            self.show(said);
        }
    }

    fn tick_every(&self) -> Option<Duration> {
        match (self.live, self.volume) {
            (true, _) => Some(REDRAW),
            (false, Volume::Quiet) => None,
            (false, _) => Some(KEEP_ALIVE),
        }
    }

    fn tick(&mut self) {
        let (at, now) = (self.clock.now(), self.clock.elapsed());
        let skipped = self.out.take_skipped();
        if skipped > 0 {
            let run = self.narrator.run();
            let line = format!(
                "note: {skipped} pieces of output were skipped: their reader is slow (ralph logs {run} has all)"
            );
            self.narrate(Said::Line(line));
        }
        if self.live {
            let line = self.narrator.live_line(at, now, columns());
            self.drawn = true;
            self.out.write(Target::Stderr, Worth::Skippable, format!("\r\u{1b}[K{line}"));
        } else if !self.narrator.is_waiting() && now.minus(self.last_word) >= Millis::from(KEEP_ALIVE) {
            let line = self.narrator.sign_of_life(at, now);
            self.narrate(Said::Line(line));
        }
    }

    fn suspended(&mut self) {
        self.clear();
    }

    fn continued(&mut self) {}

    fn finish(&mut self) {
        let rest = self.narrator.end(self.clock.now());
        rest.into_iter().for_each(|said| self.show(said));
        self.clear();
        self.out.finish();
    }
}

/// The terminal's width; 80 where nobody says.
fn columns() -> usize {
    rustix::termios::tcgetwinsize(io::stderr()).map_or(80, |size| usize::from(size.ws_col).max(1))
}
