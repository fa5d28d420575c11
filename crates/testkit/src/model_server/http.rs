//! As much of HTTP/1.1 as the clients need: one request, then an answer at once or as a stream of events.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::scenario::Close;

/// A connection on which a request was read.
pub(super) struct Exchange {
    connection: TcpStream,
}

/// What was asked.
pub(super) struct Head {
    /// The path and what follows it.
    pub(super) target: String,
    /// The body to its end.
    pub(super) body: Vec<u8>,
}

/// One event of a stream.
pub(super) struct Frame {
    /// Its name, in protocols that name them.
    pub(super) event: Option<String>,
    /// Its data: JSON, or a bare word such as `[DONE]`.
    pub(super) data: String,
}

impl Frame {
    /// An event whose name is also the `type` of its data.
    pub(super) fn typed(data: &Value) -> Frame {
        Frame { event: data["type"].as_str().map(str::to_owned), data: data.to_string() }
    }

    /// An event without a name.
    pub(super) fn data(data: impl ToString) -> Frame {
        Frame { event: None, data: data.to_string() }
    }
}

impl Exchange {
    /// Reads a request; `None` if the connection ends before its end, as those do that clients open
    /// for later.
    pub(super) fn receive(connection: TcpStream) -> Option<(Exchange, Head)> {
        let mut reader = BufReader::new(connection.try_clone().ok()?);
        let target = line(&mut reader)?.split(' ').nth(1)?.to_owned();
        let (mut length, mut chunked, mut expects) = (0, false, false);
        loop {
            let header = line(&mut reader)?;
            let Some((name, value)) = header.split_once(':') else { break };
            let value = value.trim().to_ascii_lowercase();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().ok()?,
                "transfer-encoding" => chunked = value == "chunked",
                "expect" => expects = value == "100-continue",
                _ => {}
            }
        }
        let mut exchange = Exchange { connection };
        if expects {
            exchange.connection.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
        }
        let body = if chunked { chunks(&mut reader)? } else { exactly(&mut reader, length)? };
        Some((exchange, Head { target, body }))
    }

    /// Answers with a JSON body.
    pub(super) fn whole(mut self, status: u16, headers: &[(&str, &str)], body: &Value) -> io::Result<()> {
        let body = body.to_string();
        let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = head(status, "application/json");
        write!(self.connection, "{head}{more}content-length: {}\r\n\r\n{body}", body.len())
    }

    /// Answers with events. A broken stream is noticed as such: its last chunk never comes.
    pub(super) fn stream(mut self, frames: &[Frame], close: Close) -> io::Result<()> {
        write!(self.connection, "{}transfer-encoding: chunked\r\n\r\n", head(200, "text/event-stream"))?;
        let sent = if close == Close::Well { frames.len() } else { frames.len().div_ceil(2) };
        for Frame { event, data } in frames.iter().take(sent) {
            let event = event.as_ref().map(|event| format!("event: {event}\n")).unwrap_or_default();
            let text = format!("{event}data: {data}\n\n");
            write!(self.connection, "{:x}\r\n{text}\r\n", text.len())?;
        }
        match close {
            Close::Well => self.connection.write_all(b"0\r\n\r\n"),
            Close::Drop => Ok(()),
            // Until the client gives up.
            Close::Stall => self.connection.read_to_end(&mut Vec::new()).map(drop),
        }
    }
}

fn head(status: u16, kind: &str) -> String {
    let reason = if status < 400 { "OK" } else { "Refused" };
    format!("HTTP/1.1 {status} {reason}\r\ncontent-type: {kind}\r\nrequest-id: req_scripted\r\nconnection: close\r\n")
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    line.ends_with('\n').then(|| line.trim_end().to_owned())
}

fn exactly(reader: &mut impl Read, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn chunks(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let length = usize::from_str_radix(line(reader)?.split(';').next()?.trim(), 16).ok()?;
        body.extend(exactly(reader, length)?);
        line(reader)?;
        if length == 0 {
            return Some(body);
        }
    }
}
