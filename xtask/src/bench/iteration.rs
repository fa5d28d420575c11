//! What an iteration costs beyond the agent itself: against a bare spawn-and-wait loop with one
//! fdatasync, and against the classic bash loop.

use super::project::Project;
use super::{fail, median, verdict};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

const ITERATIONS: u32 = 200;
const ROUNDS: usize = 5;

pub(super) fn run(project: &Project) -> Result<(), String> {
    project.settings(r#"{"agent":{"command":"/bin/echo","flags":["working"]},"loop":{"maxWallTimeMs":0}}"#)?;
    let (mut floors, mut ralphs, mut bashes) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        floors.push(floor(project)?);
        ralphs.push(ralph(project, round)?);
        bashes.push(bash(project)?);
    }
    let ratios = |values: &[f64]| median(values.iter().zip(&floors).map(|(value, floor)| value / floor).collect());
    println!("  floor (spawn + fdatasync): {:.2} ms", median(floors.clone()) * 1e3);
    println!("  plain bash loop, nothing durable: {:.2} x the floor", ratios(&bashes));
    verdict("iteration without checks, durable", ratios(&ralphs), 1.25, " x the floor");
    Ok(())
}

/// Seconds for one bare start, prompt, answer and end, and one sync.
fn floor(project: &Project) -> Result<f64, String> {
    let mut log = std::fs::File::create(project.path("floor.log")).map_err(fail("the floor's log"))?;
    let began = Instant::now();
    for _ in 0..ITERATIONS {
        let mut child = Command::new("/bin/echo")
            .arg("working")
            .current_dir(project.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(fail("/bin/echo"))?;
        // It need not read its prompt.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(b"make the tests pass"));
        let output = child.wait_with_output().map_err(fail("/bin/echo"))?;
        log.write_all(&output.stdout).and_then(|()| log.write_all(&[b'.'; 4096])).map_err(fail("the floor's log"))?;
        log.sync_data().map_err(fail("the floor's log"))?;
    }
    Ok(began.elapsed().as_secs_f64() / f64::from(ITERATIONS))
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
