//! A run on a terminal: the test is the screen and the keyboard.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::ops::Deref;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::capture::Capture;
use crate::child::Child;
use crate::running::{Finished, Running};
use crate::sys::{self, Preparation};

/// A run that was started by `spawn_on_terminal`; it is also a [`Running`], whose stdout is all that
/// the screen received.
pub struct Terminal<'e> {
    running: Running<'e>,
    screen: Screen,
}

/// The master of a terminal.
pub struct Screen {
    /// Everything it received.
    pub output: Capture,
    /// `None` once it is closed.
    master: Option<Master>,
}

struct Master {
    keyboard: File,
    /// The reader of the screen stops when this goes.
    _reading: PipeWriter,
}

impl<'e> Terminal<'e> {
    pub(crate) fn new(running: Running<'e>, screen: Screen) -> Terminal<'e> {
        Terminal { running, screen }
    }

    /// Types; `\x03` is Ctrl-C, `\x04` the end of input, `\r` the return key.
    #[track_caller]
    pub fn send(&self, keys: &str) {
        let master = self.screen.master.as_ref().expect("the terminal is open");
        (&master.keyboard).write_all(keys.as_bytes()).unwrap();
    }

    /// Gives the window another size.
    #[track_caller]
    pub fn resize(&self, columns: u16, rows: u16) {
        let master = self.screen.master.as_ref().expect("the terminal is open");
        sys::resize_terminal(master.keyboard.as_fd(), columns, rows).unwrap();
    }

    /// Closes the window: ralph gets SIGHUP and can print no more.
    #[track_caller]
    pub fn close(&mut self) {
        self.screen.master = None;
        // The terminal is gone when its last descriptor is: that of the reading thread.
        assert!(self.screen.output.wait_for_end(Instant::now() + Duration::from_secs(2)), "the screen is still read");
    }

    /// Waits for the end and checks everything that was stated.
    #[track_caller]
    pub fn finish(self) -> Finished {
        let Terminal { running, screen } = self;
        let finished = running.finish();
        drop(screen);
        finished
    }
}

impl<'e> Deref for Terminal<'e> {
    type Target = Running<'e>;

    fn deref(&self) -> &Running<'e> {
        &self.running
    }
}

/// Starts the command with a new terminal as its three streams and as its controlling terminal.
pub(crate) fn start(command: &mut Command, mut steps: Vec<Preparation>, columns: u16, rows: u16) -> (Child, Screen) {
    let (master, slave) = sys::open_terminal(columns, rows).expect("a terminal can be opened");
    let copy = || Stdio::from(slave.try_clone().unwrap());
    command.stdin(copy()).stdout(copy()).stderr(copy());
    // Right after the new session: only its leader can take a terminal.
    steps.insert(1, Preparation::ControllingTerminal);
    sys::prepare(command, steps);
    let (child, _) = Child::start(command).unwrap_or_else(|error| panic!("{command:?}: {error}"));
    // Our own copies of the slave would keep the screen from ever ending.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    drop(slave);
    let (stop, reading) = io::pipe().unwrap();
    let output = Capture::of(ScreenReader { master: File::from(master.try_clone().unwrap()), stop });
    (child, Screen { output, master: Some(Master { keyboard: File::from(master), _reading: reading }) })
}

/// Reads the screen until its programs are gone or the test closes it.
struct ScreenReader {
    master: File,
    stop: PipeReader,
}

impl Read for ScreenReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if sys::readable_before(self.master.as_fd(), self.stop.as_fd()) { self.master.read(buffer) } else { Ok(0) }
    }
}
