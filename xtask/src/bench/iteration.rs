//! What an iteration costs beyond the agent itself: against the least that a loop in C can do (`floor.c`: start, read,
//! wait, one fdatasync), and against the classic bash loop; in memory and on the disk.

use super::project::Project;
use super::{fail, median, verdict};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const ITERATIONS: u32 = 200;
const ROUNDS: usize = 7;
const FLOOR: &str = include_str!("floor.c");
/// A file system in memory, where there is one.
const MEMORY: &str = "/dev/shm";

pub(super) fn run(project: &Project) -> Result<(), String> {
    let floor = compile(project)?;
    if Path::new(MEMORY).is_dir() {
        measure(&project.beside(Path::new(MEMORY))?, &floor, "in memory")?;
    }
    measure(project, &floor, "on disk")
}

fn compile(project: &Project) -> Result<PathBuf, String> {
    let (source, program) = (project.path("floor.c"), project.path("floor"));
    project.write("floor.c", FLOOR)?;
    let status = Command::new("cc").args(["-static", "-O2", "-o"]).arg(&program).arg(source).status();
    match status.map_err(fail("cc"))?.success() {
        true => Ok(program),
        false => Err("floor.c could not be compiled".to_owned()),
    }
}

fn measure(project: &Project, floor: &Path, place: &str) -> Result<(), String> {
    project.settings(r#"{"agent":{"command":"/bin/echo","flags":["working"]},"loop":{"maxWallTimeMs":0}}"#)?;
    let (mut floors, mut ralphs, mut bashes) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        floors.push(bare(project, floor)?);
        ralphs.push(ralph(project, round)?);
        bashes.push(bash(project)?);
    }
    let ratios = |values: &[f64]| median(values.iter().zip(&floors).map(|(value, floor)| value / floor).collect());
    println!("  floor {place} (posix_spawn, read, waitpid, fdatasync): {:.2} ms", median(floors.clone()) * 1e3);
    println!("  plain bash loop {place}, nothing durable: {:.2} x the floor", ratios(&bashes));
    verdict(&format!("iteration without checks, durable, {place}"), ratios(&ralphs), 1.25, " x the floor");
    Ok(())
}

/// Seconds for one iteration of the bare loop.
fn bare(project: &Project, floor: &Path) -> Result<f64, String> {
    let (log, iterations) = (project.path("floor.log"), ITERATIONS.to_string());
    let mut call = Command::new(floor);
    call.arg(log).args([&iterations, "/bin/echo", "working"]).current_dir(project.root());
    let output = call.output().map_err(fail("the floor"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().map_err(|_| format!("the floor said: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Seconds for one of ralph's iterations: a long run less a short one, so that the start does not count.
fn ralph(project: &Project, round: usize) -> Result<f64, String> {
    let short = 20;
    let time = |iterations: u32, name: &str| {
        let began = Instant::now();
        let prompt = format!("{name} {round}");
        let status = project.call(&["run", "-q", "-p", &prompt, "-m", &iterations.to_string()]).status();
        status.map_err(fail("ralph")).map(|_| began.elapsed().as_secs_f64())
    };
    let few = time(short, "short")?;
    let many = time(short + ITERATIONS, "long")?;
    Ok((many - few) / f64::from(ITERATIONS))
}

/// Seconds for one round of the loop that everybody writes first.
fn bash(project: &Project) -> Result<f64, String> {
    let script = format!(
        "for i in $(seq {ITERATIONS}); do cat prompt | /bin/echo working 2>&1 | tee log >/dev/null; if grep -q '<response>DONE' log; then break; fi; done"
    );
    project.write("project/prompt", "make the tests pass")?;
    let began = Instant::now();
    Command::new("bash").args(["-c", &script]).current_dir(project.root()).status().map_err(fail("bash"))?;
    Ok(began.elapsed().as_secs_f64() / f64::from(ITERATIONS))
}
