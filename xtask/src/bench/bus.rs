//! Eight writers on one bus, against eight that lock, write the same bytes and unlock without looking.

use super::project::Project;
use super::{fail, median, verdict};
use crate::step::{Step, root};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const WRITERS: u32 = 8;
const MESSAGES: u32 = 10_000;
const ROUNDS: usize = 5;

pub(super) fn run(project: &Project) -> Result<(), String> {
    Step::new("cargo build --release --package ralph-loop-host --example bus_load").run()?;
    let program = root().join("target/release/examples/bus_load");
    let (mut ratios, mut lost, mut torn) = (Vec::new(), 0.0, 0.0);
    for round in 0..ROUNDS {
        let file = |kind: &str| project.path(&format!("{kind}-{round}.md"));
        let (raw, bus) = (write(&program, "raw", &file("raw"))?, write(&program, "post", &file("post"))?);
        let found = check(&program, &file("post"))?;
        (lost, torn) = (lost + found.0, torn + found.1);
        println!("  raw {raw:.2} s, bus {bus:.2} s");
        ratios.push(bus / raw);
    }
    verdict("80 000 messages of 8 writers against raw locked appends", median(ratios), 2.0, " x");
    verdict("messages lost", lost, 0.0, "");
    verdict("torn or repeated", torn, 0.0, "");
    Ok(())
}

/// Seconds until all writers have ended.
fn write(program: &Path, kind: &str, file: &PathBuf) -> Result<f64, String> {
    let began = Instant::now();
    let start = |writer: u32| {
        Command::new(program).arg(kind).arg(file).args([writer.to_string(), MESSAGES.to_string()]).spawn()
    };
    let writers: Vec<_> = (0..WRITERS).map(start).collect::<Result<_, _>>().map_err(fail("a writer"))?;
    for mut writer in writers {
        if !writer.wait().map_err(fail("a writer"))?.success() {
            return Err(format!("a writer of {} failed", file.display()));
        }
    }
    Ok(began.elapsed().as_secs_f64())
}

/// How many messages are lost, and how much is torn.
fn check(program: &Path, file: &PathBuf) -> Result<(f64, f64), String> {
    let mut check = Command::new(program);
    check.arg("check").arg(file).args([WRITERS.to_string(), MESSAGES.to_string()]).stderr(Stdio::inherit());
    let output = check.output().map_err(fail("the look at the bus"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    match numbers.as_slice() {
        [lost, torn] => Ok((*lost, *torn)),
        _ => Err(format!("the look at the bus said: {text}")),
    }
}
