//! `kill -9` at random moments: every run goes on where it was, and nothing that was recorded is done twice.

use super::project::Project;
use super::{fail, verdict};
use std::process::Stdio;
use std::time::{Duration, Instant};

const TRIALS: u64 = 500;
const ITERATIONS: usize = 6;

pub(super) fn run(project: &Project) -> Result<(), String> {
    let counter = project.path("launches");
    // What stands before the first section is done in every iteration.
    let script = format!("append {} x\nprint working\n[{ITERATIONS}]\nclaim\n", counter.display());
    let mut faults = 0;
    let mut repeats = 0;
    let mut moment = 0x9e37_79b9_u64;
    for trial in 0..TRIALS {
        let _ = std::fs::remove_dir_all(project.path("state"));
        let _ = std::fs::remove_file(&counter);
        project.script(&script, r#","guardrails":[{"command":"true"}]"#)?;
        let mut ralph = project.call(&["run", "-q", "-p", "work", "-m", "10"]).spawn().map_err(fail("ralph"))?;
        // Any spread will do; a generator of its own keeps the trials the same from run to run.
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((moment >> 33) % 80_000));
        let _ = ralph.kill();
        let _ = ralph.wait();
        if !complete(project)? {
            faults += 1;
            println!("  trial {trial}: the run did not become complete");
        }
        let launches = std::fs::read_to_string(&counter).unwrap_or_default().len();
        // The iteration in flight may be repeated once; nothing else may.
        repeats += usize::from(launches > ITERATIONS + 1);
    }
    verdict("runs that did not go on to the end in 500 kills", f64::from(faults), 0.0, "");
    #[allow(clippy::cast_precision_loss, reason = "a small count")]
    verdict("runs that repeated more than the iteration in flight", repeats as f64, 0.0, "");
    Ok(())
}

/// Resumes, or begins anew if nothing had been recorded yet.
fn complete(project: &Project) -> Result<bool, String> {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(20) {
        let status = project.call(&["resume", "-q"]).status().map_err(fail("ralph"))?;
        match status.code() {
            Some(0) => return Ok(true),
            // Nothing to resume: it ended before the kill, or had not begun.
            Some(2) if is_complete(project)? => return Ok(true),
            Some(2) => {
                let shown = project.call(&["run", "-q", "-p", "work", "-m", "10"]).status().map_err(fail("ralph"))?;
                return Ok(shown.code() == Some(0));
            }
            // The killed one's tree may hold the lock for a moment.
            Some(75) => std::thread::sleep(Duration::from_millis(20)),
            _ => return Ok(false),
        }
    }
    Ok(false)
}

fn is_complete(project: &Project) -> Result<bool, String> {
    let output = project.call(&["status", "--json"]).stdout(Stdio::piped()).output().map_err(fail("ralph"))?;
    Ok(String::from_utf8_lossy(&output.stdout).contains(r#""stop_reason":"complete""#))
}
