//! What is shown on the command line: a run while it goes on, to people or to programs, and results.

mod out;
pub mod page;
mod people;
mod programs;

use out::Out;
use people::People;
use programs::Programs;
use ralph_engine::run::Face;
use ralph_host::clock::Clock;
use ralph_view::Style;
use ralph_view::agent_lines::RenderOptions;
use ralph_view::narration::Volume;
use std::cell::RefCell;
use std::io::{self, IsTerminal};

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal that can, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorChoice {
    /// Whether to colour what goes to this end. A choice is a choice: only where there is none does `colorless` count.
    pub fn colours(self, end: &impl IsTerminal, colorless: bool) -> bool {
        match self {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => end.is_terminal() && !colorless,
        }
    }
}

#[derive(Debug, Clone)]
pub struct FaceOptions {
    pub project: String,
    pub json: bool,
    pub volume: Volume,
    pub stream: bool,
    pub live: bool,
    /// How narration on standard error looks.
    pub style: Style,
    /// How the agent's events are shown on standard output.
    pub render: RenderOptions,
}

pub fn start(options: FaceOptions, clock: Clock) -> io::Result<Box<RefCell<dyn Face>>> {
    let out = Out::start()?;
    Ok(if options.json {
        Box::new(RefCell::new(Programs::new(out, options.style.suggest)))
    } else {
        Box::new(RefCell::new(People::new(out, options, clock)))
    })
}
