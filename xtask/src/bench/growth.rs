//! What grows with use: each figure is a ratio between a small and a large project in one session.

use super::project::{Project, memory};
use super::{fail, median, verdict};
use crate::step::{Step, root};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

const RUNS: [u32; 3] = [10, 1_000, 10_000];
const ITERATIONS: [u32; 3] = [10, 1_000, 10_000];
/// How much more what should not grow may cost, and what grows with the length of what is shown.
const THE_SAME: f64 = 1.5;
const LINEAR: f64 = 1.5;
/// Megabytes that showing ten thousand iterations may take.
const MEMORY: f64 = 256.0;
const REQUESTS: [usize; 2] = [5_000, 40_000];
const ROUNDS: usize = 5;

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
fn runs(project: &Project) -> Result<(), String> {
    project.settings(r#"{"agent":{"command":"/bin/echo","flags":["working"]}}"#)?;
    let commands: [(&str, &[&str]); 4] = [
        ("a start", &["run", "-q", "-p", "x", "-m", "1"]),
        ("status", &["status"]),
        ("resume", &["resume", "-q"]),
        ("status --json", &["status", "--json"]),
    ];
    let mut measured = Vec::new();
    for count in RUNS {
        grow(project, &[&count.to_string()])?;
        let times = commands.iter().map(|(_, args)| time(project, args)).collect::<Result<Vec<f64>, String>>()?;
        let told = commands.iter().zip(&times).map(|((name, _), seconds)| format!("{name} {:.1} ms", seconds * 1e3));
        println!("  {count} runs: {}", told.collect::<Vec<_>>().join(", "));
        measured.push(times);
    }
    let [few, .., many] = measured.as_slice() else { return Err("nothing was measured".to_owned()) };
    for ((name, _), (few, many)) in commands.iter().zip(few.iter().zip(many)) {
        let goal = if name.contains("json") { LINEAR * f64::from(RUNS[2] / RUNS[0]) } else { THE_SAME };
        verdict(&format!("{name} with {} runs, against {}", RUNS[2], RUNS[0]), many / few, goal, " x");
    }
    Ok(())
}

/// Iterations of one run: what shows all of them may cost as much more as there are more.
fn iterations(project: &Project) -> Result<(), String> {
    let settings = r#"{"agent":{"command":"/bin/echo","flags":["working"]},"guardrails":[{"command":"false"}]}"#;
    project.settings(settings)?;
    let mut measured = Vec::new();
    for count in ITERATIONS {
        let name = format!("long{count}");
        grow(project, &[&count.to_string(), &name])?;
        let began = Instant::now();
        project.call(&["run", "-q", "-p", "z", "-m", "1"]).status().map_err(fail("ralph"))?;
        let start = began.elapsed().as_secs_f64();
        let status = time(project, &["status"])?;
        let mut last = count;
        let mut resume = |more: u32| -> Result<f64, String> {
            let mut once = || {
                last += more;
                let began = Instant::now();
                let args = ["resume", "-q", &name, "-m", &last.to_string()];
                project.call(&args).status().map_err(fail("ralph")).map(|_| began.elapsed().as_secs_f64())
            };
            (0..ROUNDS).map(|_| once()).collect::<Result<Vec<f64>, String>>().map(median)
        };
        let (one, many) = (resume(1)?, resume(21)?);
        let iteration = (many - one) / 20.0;
        let shown = ["show", "explain", "report"].map(|command| largest(project, &[command, &name]));
        let [show, explain, report] = shown;
        let (show, explain, report) = (show?, explain?, report?);
        println!(
            "  {count} iterations: start {:.1} ms, status {:.1} ms, resume {:.1} ms, an iteration {:.1} ms, \
             show {:.1} ms, explain {:.1} ms, report {:.1} ms; {:.0} MB at most",
            start * 1e3,
            status * 1e3,
            one * 1e3,
            iteration * 1e3,
            show.0 * 1e3,
            explain.0 * 1e3,
            report.0 * 1e3,
            show.1.max(explain.1).max(report.1),
        );
        measured.push(([start, status, one, iteration], [show, explain, report]));
    }
    let [few, more, many] = measured.as_slice() else { return Err("nothing was measured".to_owned()) };
    for (at, name) in ["a start", "status", "resume", "an iteration"].into_iter().enumerate() {
        let ratio = many.0.get(at).zip(few.0.get(at)).map_or(f64::NAN, |(many, few)| many / few);
        verdict(&format!("{name} with {} iterations, against {}", ITERATIONS[2], ITERATIONS[0]), ratio, THE_SAME, " x");
    }
    let longer = f64::from(ITERATIONS[2] / ITERATIONS[1]);
    for (at, name) in ["show", "explain", "report"].into_iter().enumerate() {
        let (many, more) = (many.1.get(at).copied().unwrap_or_default(), more.1.get(at).copied().unwrap_or_default());
        verdict(&format!("{name} of ten times the iterations"), many.0 / more.0, LINEAR * longer, " x");
        verdict(&format!("{name} of {} iterations", ITERATIONS[2]), many.1, MEMORY, " MB");
    }
    Ok(())
}

/// Seconds and megabytes that a command takes.
fn largest(project: &Project, args: &[&str]) -> Result<(f64, f64), String> {
    let began = Instant::now();
    let mut child = project.call(args).spawn().map_err(fail("ralph"))?;
    let mut most: f64 = 0.0;
    while child.try_wait().map_err(fail("ralph"))?.is_none() {
        most = most.max(memory(child.id(), "VmHWM").unwrap_or(0.0));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    Ok((began.elapsed().as_secs_f64(), most))
}

/// The middle of some seconds.
fn time(project: &Project, args: &[&str]) -> Result<f64, String> {
    let once = || {
        let began = Instant::now();
        project.call(args).status().map_err(fail("ralph")).map(|_| began.elapsed().as_secs_f64())
    };
    (0..ROUNDS).map(|_| once()).collect::<Result<Vec<f64>, String>>().map(median)
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
