//! What grows with use: each figure is a ratio between a small and a large project in one session.

use super::project::{Project, memory};
use super::{fail, median, verdict};
use crate::step::{Step, root};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// How many runs or iterations there are in the small, the middle and the large project.
const SMALL: u32 = 10;
const MIDDLE: u32 = 1_000;
const LARGE: u32 = 10_000;
const REQUESTS: [usize; 2] = [5_000, 40_000];
const ROUNDS: usize = 5;
/// How much more something may cost that must not grow, and something that is ten times as long.
const THE_SAME: f64 = 1.5;
const LINEAR: f64 = 15.0;
/// Megabytes that showing a long run may take.
const MEMORY: f64 = 256.0;
/// Iterations that are measured together, because a single one is short.
const MORE: u32 = 50;

/// One group each: how many requests are open, how many runs a state folder holds, how long one run is.
pub(super) fn run(project: &Project) -> Result<(), String> {
    Step::new("cargo build --release --package ralph-loop-store --example many_runs").run()?;
    requests(project)?;
    runs(project)?;
    iterations(project)
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

/// Runs in one state folder: only a list of all of them may cost more.
fn runs(small: &Project) -> Result<(), String> {
    let large = Project::new(&small.ralph, &small.agent)?;
    for (project, count) in [(small, SMALL), (&large, LARGE)] {
        project.settings(r#"{"agent":{"command":"/bin/echo","flags":["working"]}}"#)?;
        grow(project, &[&count.to_string()])?;
    }
    let commands: [(&str, &[&str], f64); 4] = [
        ("a start", &["run", "-q", "-p", "x", "-m", "1"], THE_SAME),
        ("status", &["status"], THE_SAME),
        ("resume", &["resume", "-q"], THE_SAME),
        ("status --json", &["status", "--json"], 1.5 * f64::from(LARGE / SMALL)),
    ];
    for (name, args, goal) in commands {
        compare(&format!("{name}, {LARGE} runs against {SMALL}"), goal, || once(small, args), || once(&large, args))?;
    }
    Ok(())
}

/// Iterations of one run: what shows all of them may cost as much more as there are more.
fn iterations(small: &Project) -> Result<(), String> {
    let others = [Project::new(&small.ralph, &small.agent)?, Project::new(&small.ralph, &small.agent)?];
    let [middle, large] = &others;
    for (project, count) in [(small, SMALL), (middle, MIDDLE), (large, LARGE)] {
        let settings = r#"{"agent":{"command":"/bin/echo","flags":["working"]},"guardrails":[{"command":"false"}]}"#;
        project.settings(settings)?;
        grow(project, &[&count.to_string(), "long"])?;
    }
    let name = |what: &str| format!("{what}, {LARGE} iterations against {SMALL}");
    // The long run has to be the one before, which a start looks at.
    let mut copies = 0..;
    let mut start = |project: &Project, count: u32| {
        let copy = format!("copy{}", copies.next().unwrap_or(0));
        grow(project, &[&count.to_string(), &copy])?;
        once(project, &["run", "-q", "-p", "z", "-m", "1"])
    };
    let (mut few, mut many) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        few.push(start(small, SMALL)?);
        many.push(start(large, LARGE)?);
    }
    told(&name("a start"), THE_SAME, few, many);
    compare(&name("status"), THE_SAME, || once(small, &["status"]), || once(large, &["status"]))?;
    let (mut short, mut long) = (SMALL, LARGE);
    let resume = |project: &Project, last: &mut u32, more: u32| {
        *last += more;
        once(project, &["resume", "-q", "long", "-m", &last.to_string()])
    };
    compare(&name("resume"), THE_SAME, || resume(small, &mut short, 1), || resume(large, &mut long, 1))?;
    let iteration = |project: &Project, last: &mut u32| {
        let one = resume(project, last, 1)?;
        Ok((resume(project, last, MORE + 1)? - one) / f64::from(MORE))
    };
    compare(&name("an iteration"), THE_SAME, || iteration(small, &mut short), || iteration(large, &mut long))?;
    for command in ["show", "explain", "report"] {
        let args = [command, "long"];
        let name = format!("{command}, {LARGE} iterations against {MIDDLE}");
        compare(&name, LINEAR, || once(middle, &args), || once(large, &args))?;
        verdict(&format!("{command} of {LARGE} iterations"), largest(large, &args)?, MEMORY, " MB");
    }
    Ok(())
}

/// Measures two things in alternating rounds and tells how much more the second one costs.
fn compare(
    name: &str,
    goal: f64,
    mut few: impl FnMut() -> Result<f64, String>,
    mut many: impl FnMut() -> Result<f64, String>,
) -> Result<(), String> {
    let measured = (0..ROUNDS).map(|_| Ok((few()?, many()?))).collect::<Result<Vec<(f64, f64)>, String>>()?;
    let (few, many) = measured.into_iter().unzip();
    told(name, goal, few, many);
    Ok(())
}

fn told(name: &str, goal: f64, few: Vec<f64>, many: Vec<f64>) {
    let (few, many) = (median(few), median(many));
    println!("  {name}: {:.1} ms and {:.1} ms", few * 1e3, many * 1e3);
    verdict(name, many / few, goal, " x");
}

/// Megabytes that a command takes.
fn largest(project: &Project, args: &[&str]) -> Result<f64, String> {
    let mut child = project.call(args).spawn().map_err(fail("ralph"))?;
    let mut most: f64 = 0.0;
    while child.try_wait().map_err(fail("ralph"))?.is_none() {
        most = most.max(memory(child.id(), "VmHWM").unwrap_or(0.0));
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(most)
}

/// Seconds that a command takes.
fn once(project: &Project, args: &[&str]) -> Result<f64, String> {
    let began = Instant::now();
    project.call(args).status().map_err(fail("ralph")).map(|_| began.elapsed().as_secs_f64())
}

/// The middle of some seconds.
fn time(project: &Project, args: &[&str]) -> Result<f64, String> {
    (0..ROUNDS).map(|_| once(project, args)).collect::<Result<Vec<f64>, String>>().map(median)
}

/// Makes the project's state folder larger, by copies of its newest run.
fn grow(project: &Project, how: &[&str]) -> Result<(), String> {
    project.call(&["run", "-q", "-p", "x", "-m", "5"]).status().map_err(fail("ralph"))?;
    let folders = std::fs::read_dir(project.path("state")).map_err(fail("the state folder"))?.flatten();
    let state: PathBuf =
        folders.map(|entry| entry.path()).find(|path| path.join("ralph.db").exists()).ok_or("no journal")?;
    let program = root().join("target/release/examples/many_runs");
    let status = Command::new(program).arg(&state).args(how).status().map_err(fail("many_runs"))?;
    if status.success() { Ok(()) } else { Err(format!("many_runs ended with {status}")) }
}
