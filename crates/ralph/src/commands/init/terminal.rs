//! Asking on the terminal. A thread waits for lines, because only so can a signal be heard while
//! nobody types; nothing of the terminal's own modes is changed, so none needs to be restored.

use super::interview::{Gone, Listener};
use crate::error::CommandError;
use crate::session::{event_loop, signals};
use crate::terminal::page;
use ralph_host::signals::{Sign, Signals, suspend_self};
use std::io::{self, BufRead, Write};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// A terminal drops what is beyond 4095 bytes, so a line of that length is not what was typed.
const LONGEST: usize = 4094;

pub(super) struct Terminal {
    runtime: Runtime,
    signals: Signals,
    lines: mpsc::Receiver<Vec<u8>>,
}

impl Terminal {
    pub(super) fn open() -> Result<Terminal, CommandError> {
        let runtime = event_loop()?;
        let signals = {
            let _inside = runtime.enter();
            signals()?
        };
        // One line at a time: when it is full, the rest waits in the terminal.
        let (sender, lines) = mpsc::channel(1);
        let reading = std::thread::Builder::new().spawn(move || {
            let mut input = io::stdin().lock();
            while let Ok(Some(line)) = read_line(&mut input) {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        reading.map_err(|error| CommandError::io("the terminal cannot be read beside signals", &error))?;
        Ok(Terminal { runtime, signals, lines })
    }

    fn line(&mut self) -> Result<Vec<u8>, Gone> {
        let Terminal { runtime, signals, lines } = self;
        runtime.block_on(async {
            loop {
                tokio::select! {
                    biased;
                    sign = signals.next() => match sign {
                        Sign::Interrupt => return Err(Gone),
                        Sign::Suspend => suspend_self(),
                        Sign::LookForRequests | Sign::Resized => {}
                    },
                    line = lines.recv() => return line.ok_or(Gone),
                }
            }
        })
    }
}

impl Listener for Terminal {
    fn ask(&mut self, question: &str) -> Result<String, Gone> {
        loop {
            let mut screen = io::stderr();
            let _ = screen.write_all(question.as_bytes()).and_then(|()| screen.flush());
            match understood(&self.line()?) {
                Ok(answer) => return Ok(answer),
                Err(complaint) => self.remark(complaint),
            }
        }
    }

    fn remark(&mut self, line: &str) {
        page::say(line);
    }
}

/// One line without its newline; `None` at the end of input. Of a longer one only the beginning is
/// kept. What stands before the end without a newline was never sent off, and is no line.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        let buffer = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        if buffer.is_empty() {
            return Ok(None);
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        let room = (LONGEST + 1).saturating_sub(line.len()).min(part.len());
        line.extend_from_slice(part.get(..room).unwrap_or_default());
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

fn understood(line: &[u8]) -> Result<String, &'static str> {
    if line.len() > LONGEST {
        return Err(
            "That line is too long for a terminal: please enter a shorter one, and put the rest into a script.",
        );
    }
    let Ok(text) = std::str::from_utf8(line) else {
        return Err("That is not UTF-8: please enter it again.");
    };
    let text = text.trim();
    if text.chars().any(|c| c.is_control() && c != '\t') {
        return Err("That has a control character in it, as arrow keys give one: please enter it again.");
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_any_way_and_the_unfinished_one_is_none() {
        let mut input = io::BufReader::with_capacity(3, "one\r\n\ntwo words \nrest".as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut input).unwrap() {
            lines.push(understood(&line).unwrap());
        }
        assert_eq!(lines, ["one", "", "two words"]);
    }

    #[test]
    fn a_line_is_bounded_and_the_next_one_whole() {
        let typed = format!("{}\n{}\nnext\n", "x".repeat(LONGEST), "y".repeat(100_000));
        let mut input = typed.as_bytes();
        assert_eq!(understood(&read_line(&mut input).unwrap().unwrap()).unwrap().len(), LONGEST);
        let long = read_line(&mut input).unwrap().unwrap();
        assert!(long.len() == LONGEST + 1 && understood(&long).unwrap_err().contains("too long"));
        assert_eq!(read_line(&mut input).unwrap().unwrap(), b"next");
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for (line, complaint) in [
            (b"\xff\xfe".as_slice(), "UTF-8"),
            (b"claude\x1b[A", "control character"),
            (b"a\0b", "control character"),
            (b"a\rb", "control character"),
            ("a\u{9b}b".as_bytes(), "control character"),
        ] {
            assert!(understood(line).unwrap_err().contains(complaint), "{line:?}");
        }
        assert_eq!(understood("printf 'a\tb' ü \r".as_bytes()).unwrap(), "printf 'a\tb' ü");
    }
}
