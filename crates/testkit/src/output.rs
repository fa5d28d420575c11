//! Output that has to be looked at.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a run printed. If the test stated nothing about it, it has to read it: otherwise the test
/// fails when this is dropped.
#[derive(Debug)]
pub struct Output {
    text: String,
    bytes: Vec<u8>,
    /// Which run it is of, if it must be read.
    unread: Option<String>,
    read: AtomicBool,
}

impl Output {
    /// Output that must be read if a run is named.
    pub(crate) fn new(bytes: Vec<u8>, unread: Option<String>) -> Output {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Output { text, unread, read: AtomicBool::new(bytes.is_empty()), bytes }
    }

    /// To the byte; as text wrong UTF-8 is replaced.
    pub fn raw(&self) -> &[u8] {
        self.read.store(true, Ordering::Relaxed);
        &self.bytes
    }
}

impl Deref for Output {
    type Target = str;

    fn deref(&self) -> &str {
        self.read.store(true, Ordering::Relaxed);
        &self.text
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(run) = self.unread.take_if(|_| !*self.read.get_mut() && !std::thread::panicking()) {
            panic!("{run}\nstdout was neither stated nor read:\n{}", self.text);
        }
    }
}
