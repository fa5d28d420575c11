//! Stdout with a small buffer, and the floods that fill pipes.
//!
//! Lines that follow each other at once leave in one write, as they would from a busy agent; any
//! action that takes time flushes first. Floods are written in whole blocks, so that what a benchmark
//! measures is the reader.

use std::io;

use crate::system::write_all;

/// As large as a Linux pipe: a larger block would only wait inside `write`.
const BLOCK: usize = 64 * 1024;

/// Buffered stdout.
#[derive(Default)]
pub struct Output {
    buffer: Vec<u8>,
}

impl Output {
    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffer.len() + bytes.len() > BLOCK {
            self.flush()?;
        }
        if bytes.len() > BLOCK {
            return write_all(1, bytes);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Adds bytes and a newline.
    pub fn line(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes)?;
        self.write(b"\n")
    }

    /// Hands everything to the kernel.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let result = write_all(1, &self.buffer);
        self.buffer.clear();
        result
    }
}

/// `bytes` bytes without a newline.
pub fn flood(out: &mut Output, bytes: u64) -> io::Result<()> {
    out.flush()?;
    let block = [b'x'; BLOCK];
    let mut left = bytes;
    while left > 0 {
        let now = left.min(BLOCK as u64);
        write_all(1, block.get(..now as usize).unwrap_or(&block))?;
        left -= now;
    }
    Ok(())
}

/// The same line `lines` times.
pub fn flood_lines(out: &mut Output, lines: u64, text: &[u8]) -> io::Result<()> {
    out.flush()?;
    let line = [text, b"\n"].concat();
    let per_block = (BLOCK / line.len()).max(1) as u64;
    let block = line.repeat(per_block as usize);
    for _ in 0..lines / per_block {
        write_all(1, &block)?;
    }
    write_all(1, &line.repeat((lines % per_block) as usize))
}

/// Tool results as Claude Code prints them, `bytes` long each with its newline; a line is never
/// shorter than its frame.
pub fn stream(out: &mut Output, lines: u64, bytes: u64) -> io::Result<()> {
    const HEAD: &str = r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_"#;
    const DIGITS: usize = 12;
    const MIDDLE: &str = r#"","type":"tool_result","content":""#;
    const TAIL: &str = "\",\"is_error\":false}]},\"parent_tool_use_id\":null,\"session_id\":\"00000000-0000-4000-8000-000000000000\"}\n";
    let frame = HEAD.len() + DIGITS + MIDDLE.len() + TAIL.len();
    let filler = "x".repeat((bytes as usize).saturating_sub(frame));
    let mut line = format!("{HEAD}{:0DIGITS$}{MIDDLE}{filler}{TAIL}", 0).into_bytes();
    for number in 1..=lines {
        // Only the digits of the id differ from line to line.
        let mut rest = number;
        for digit in line.iter_mut().skip(HEAD.len()).take(DIGITS).rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        out.write(&line)?;
    }
    Ok(())
}
