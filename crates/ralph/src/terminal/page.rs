//! Printing results. Whoever reads them may have seen enough (`| head`), which is no error.

use crate::cli::Global;
use crate::error::CommandError;
use ralph_core::outcome::exit;
use ralph_view::{Paint, Style, Suggest, Zone};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind, Write};
use std::time::Duration;

/// Colours and marks of results.
pub fn paint(global: &Global) -> Paint {
    Paint { on: global.color.colours(&io::stdout(), global.colorless()), marks: global.marks() }
}

pub fn style(global: &Global, suggest: Suggest) -> Style {
    Style { paint: paint(global), zone: zone(), suggest }
}

pub fn zone() -> Zone {
    Zone(jiff::tz::TimeZone::system())
}

/// Prints a result. Whoever has read enough of it does not change what the command makes of it.
pub fn print(text: &str) -> Result<(), CommandError> {
    put(text.as_bytes()).or_else(|error| if error.code == exit::OK { Ok(()) } else { Err(error) })
}

pub fn print_json(object: &serde_json::Value) -> Result<(), CommandError> {
    print(&ralph_view::json::line(object))
}

/// Prints a result for whoever asked: the object for programs, the page for people.
pub fn answer(
    global: &Global,
    object: impl FnOnce() -> serde_json::Value,
    page: impl FnOnce() -> String,
) -> Result<(), CommandError> {
    if global.json { print_json(&object()) } else { print(&page()) }
}

/// Says something beside the result; nobody has to hear it.
pub fn narrate(global: &Global, line: &str) {
    if !global.quiet {
        say(line);
    }
}

/// Tells even the quiet something on standard error; unlike `eprintln!` it survives a reader that is gone.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints a piece of a result; an error that is none says that nobody reads any more.
pub fn put(bytes: &[u8]) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    heard(out.write_all(bytes).and_then(|()| out.flush()))
}

pub fn heard(written: io::Result<()>) -> Result<(), CommandError> {
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => CommandError::unheard(),
        _ => CommandError::io("standard output cannot be written", &error),
    })
}

/// Waits this long, or until nobody reads standard output any more.
pub fn pause(span: Duration) -> Result<(), CommandError> {
    let stdout = io::stdout();
    // Nothing is asked for, so only the end of the reader is an answer.
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let timeout = Timespec { tv_sec: span.as_secs().cast_signed(), tv_nsec: span.subsec_nanos().into() };
    match poll(&mut fds, Some(&timeout)) {
        Ok(1..) => {
            // Without a reader every later pause would be none, so whoever goes on must not spin.
            std::thread::sleep(span);
            Err(CommandError::unheard())
        }
        _ => Ok(()),
    }
}
