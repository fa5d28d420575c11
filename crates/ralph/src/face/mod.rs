//! The faces of the command line: one for people, one for programs. Both are told the same.

mod json;
pub mod json_lines;
pub mod local_time;
mod narration;
mod out;
pub mod paint;
pub mod render;
mod status_line;
mod terminal;

use crate::suggest::Suggest;
use json::Json;
use out::Out;
use paint::ColorChoice;
use ralph_engine::Face;
use ralph_host::clock::Clock;
use render::RenderOptions;
use std::cell::RefCell;
use std::io::{self, IsTerminal};
use terminal::Terminal;

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Volume {
    /// Only the end.
    Quiet,
    /// What a person wants to know.
    Normal,
    /// Everything.
    Verbose,
}

/// How a run is shown.
#[derive(Debug, Clone, Copy)]
pub struct FaceOptions {
    /// Whether programs read it.
    pub json: bool,
    /// How much is said.
    pub volume: Volume,
    /// When to colour.
    pub color: ColorChoice,
    /// Colour is unwanted: NO_COLOR or `--plain` is set, or the terminal is dumb.
    pub colorless: bool,
    /// Whether the agent's output is shown as it comes.
    pub stream: bool,
    /// Whether there is a terminal that can show a live line.
    pub live: bool,
    /// How the agent's events are shown.
    pub render: RenderOptions,
}

impl FaceOptions {
    /// Whether a live line can be shown.
    pub fn can_be_live(term: Option<&str>) -> bool {
        io::stderr().is_terminal() && !matches!(term, None | Some("dumb" | ""))
    }
}

/// A project as a face names it.
#[derive(Debug)]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// How commands about it are typed.
    pub suggest: Suggest,
}

/// The face that the options ask for.
pub fn start(options: FaceOptions, clock: Clock, project: Shown) -> io::Result<Box<RefCell<dyn Face>>> {
    let out = Out::start()?;
    Ok(if options.json {
        Box::new(RefCell::new(Json::new(out, project.suggest)))
    } else {
        Box::new(RefCell::new(Terminal::new(out, options, clock, project)))
    })
}

/// The terminal's width; 80 where nobody says.
fn columns() -> usize {
    rustix::termios::tcgetwinsize(io::stderr()).map_or(80, |size| usize::from(size.ws_col).max(1))
}
