//! What grows with use: each figure is a ratio between a small and a large project in one session.

use super::project::Project;
use super::{fail, median, verdict};
use crate::step::{Step, root};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

const RUNS: [u32; 3] = [10, 1_000, 10_000];
const REQUESTS: [usize; 2] = [5_000, 40_000];
const ROUNDS: usize = 5;

/// One group each: how many requests are open, and how many runs a state folder holds.
pub(super) fn run(project: &Project) -> Result<(), String> {
    requests(project)?;
    runs(project)
}

/// Open requests of one task: eight times as many may cost eight times as much, and not sixty-four times.
fn requests(project: &Project) -> Result<(), String> {
    project.settings(r#"{"agent":{"command":"/bin/echo","flags":["working"]}}"#)?;
    let mut measured = Vec::new();
    for count in REQUESTS {
        let task = format!("requests-{count}");
        ask(project, &task, count)?;
        let seconds = time(project, &["run", "-q", "-p", "x", "-m", "1", "--task", &task])?;
        println!("  {count} open requests: a run of one iteration {:.1} ms", seconds * 1e3);
        measured.push(seconds);
    }
    let [few, many] = measured.as_slice() else { return Err("nothing was measured".to_owned()) };
    verdict("eight times the requests", many / few, 12.0, " x");
    Ok(())
}

/// Puts so many requests on a task's bus: the first one by ralph, the others like it under other ids.
fn ask(project: &Project, task: &str, count: usize) -> Result<(), String> {
    let post = ["bus", "post", "--task", task, "--type", "USER_REQUEST", "use tabs"];
    project.call(&post).status().map_err(fail("ralph"))?;
    let bus = project.root().join(format!(".ralph/tasks/{task}/TASK-MESSAGE-BUS.md"));
    let first = std::fs::read_to_string(&bus).map_err(fail("the bus"))?;
    let id = first.lines().find_map(|line| line.strip_prefix("id: ")).ok_or("the bus holds no message")?;
    let digits = id.len().saturating_sub(1);
    let others = (1..count).map(|number| first.replace(id, &format!("m{number:0digits$}")));
    std::fs::write(&bus, first.clone() + &others.collect::<String>()).map_err(fail("the bus"))
}

/// Runs in one state folder: a start has to stay a start, and a list may cost as much more as it is longer.
fn runs(project: &Project) -> Result<(), String> {
    Step::new("cargo build --release --package ralph-loop-store --example many_runs").run()?;
    project.settings(r#"{"agent":{"command":"/bin/echo","flags":["working"]}}"#)?;
    let mut measured = Vec::new();
    for count in RUNS {
        grow(project, count)?;
        let time = |args: &[&str]| time(project, args);
        let (start, status, json) =
            (time(&["run", "-q", "-p", "x", "-m", "1"])?, time(&["status"])?, time(&["status", "--json"])?);
        println!(
            "  {count} runs: start {:.1} ms, status {:.1} ms, status --json {:.1} ms",
            start * 1e3,
            status * 1e3,
            json * 1e3
        );
        measured.push((f64::from(count), start, status, json));
    }
    let [few, .., many] = measured.as_slice() else { return Err("nothing was measured".to_owned()) };
    let longer = many.0 / few.0;
    verdict("a start with 10 000 runs, against 10", many.1 / few.1, 2.0, " x");
    verdict("status with 10 000 runs, against 10, of what is listed more", many.2 / few.2 / longer, 0.05, " x");
    verdict("status --json, likewise", many.3 / few.3 / longer, 0.2, " x");
    Ok(())
}

/// The middle of some seconds.
fn time(project: &Project, args: &[&str]) -> Result<f64, String> {
    let once = || {
        let began = Instant::now();
        project.call(args).status().map_err(fail("ralph")).map(|_| began.elapsed().as_secs_f64())
    };
    (0..ROUNDS).map(|_| once()).collect::<Result<Vec<f64>, String>>().map(median)
}

/// Fills the project's state folder up to this many runs, each with a folder and a log as a run leaves them.
fn grow(project: &Project, count: u32) -> Result<(), String> {
    project.call(&["run", "-q", "-p", "x", "-m", "1"]).status().map_err(fail("ralph"))?;
    let folders = std::fs::read_dir(project.path("state")).map_err(fail("the state folder"))?.flatten();
    let state: PathBuf =
        folders.map(|entry| entry.path()).find(|path| path.join("ralph.db").exists()).ok_or("no journal")?;
    let program = root().join("target/release/examples/many_runs");
    let status = Command::new(program).arg(&state).arg(count.to_string()).status().map_err(fail("many_runs"))?;
    if status.success() { Ok(()) } else { Err(format!("many_runs ended with {status}")) }
}
