//! A writer of very many messages, the same without a bus for comparison, and a look at what came of it:
//! `cargo xtask bench bus` measures with it.
//!
//! ```text
//! bus_load post FILE WRITER COUNT      posts COUNT messages of this writer
//! bus_load raw FILE WRITER COUNT       lock, write of as many bytes, unlock: COUNT times
//! bus_load check FILE WRITERS COUNT    prints how many messages are lost, and how many bytes are torn
//! ```
#![allow(clippy::disallowed_macros, reason = "a program of its own")]

use ralph_core::bus::{Kind, Message};
use ralph_core::id::MessageId;
use ralph_host::bus::{Bus, Durability};
use ralph_host::clock::{Clock, random_bits};
use std::collections::HashSet;
use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write as _;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["post", file, writer, count] => post(file, writer, count.parse()?),
        ["raw", file, writer, count] => raw(file, writer, count.parse()?),
        ["check", file, writers, count] => check(file, writers.parse()?, count.parse()?),
        _ => Err("usage: bus_load post|raw|check FILE WRITER COUNT".into()),
    }
}

fn message(writer: &str, number: u32) -> Message {
    let id = MessageId::from_random(random_bits());
    Message::new(id, Clock::start().now(), Kind::INFO, "load", body(writer, number))
}

/// As long as what people and agents write to each other.
fn body(writer: &str, number: u32) -> String {
    format!("{writer} {number}\n---\n{}", "the quick brown fox has looked at src/main.rs\n".repeat(3))
}

fn post(file: &str, writer: &str, count: u32) -> Result<(), Box<dyn Error>> {
    let bus = Bus::at(file);
    let mut open = bus.writer();
    for number in 0..count {
        open.post(&[message(writer, number)], Durability::Written)?;
    }
    Ok(())
}

fn raw(file: &str, writer: &str, count: u32) -> Result<(), Box<dyn Error>> {
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    for number in 0..count {
        let entry = message(writer, number).encode()?;
        file.lock()?;
        file.write_all(entry.as_bytes())?;
        file.unlock()?;
    }
    Ok(())
}

fn check(file: &str, writers: u32, count: u32) -> Result<(), Box<dyn Error>> {
    let (mut follower, mut found) = (Bus::at(file).follow(), HashSet::new());
    let mut twice = 0;
    follower.read(|message| twice += u32::from(!found.insert(message.body)))?;
    let expected = (0..writers).flat_map(|writer| (0..count).map(move |number| body(&writer.to_string(), number)));
    let lost = expected.filter(|body| !found.remove(body)).count();
    println!("{} {}", lost, follower.skipped() + u64::from(twice) + found.len() as u64);
    Ok(())
}
