//! Two interrupts: how long until the whole tree is dead, and whether anything survives.

use super::project::{Project, is_alive, wait_for};
use super::{fail, median, verdict};
use std::process::Command;
use std::time::{Duration, Instant};

const RUNS: usize = 200;
const STUBBORN_RUNS: usize = 3;

pub(super) fn run(project: &Project) -> Result<(), String> {
    let mut survivors = 0;
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let (seconds, left) =
            interrupt_twice(project, "daemonise ../daemon\nsetsid-child ../tool\ntouch ../ready\nsleep 10m\n")?;
        times.push(seconds * 1e3);
        survivors += left;
    }
    verdict("polite agent: both interrupts to a dead tree", median(times), 100.0, " ms");
    #[allow(clippy::cast_precision_loss, reason = "a small count")]
    verdict("survivors in 200 runs with daemonised grandchildren", survivors as f64, 0.0, "");
    let mut times = Vec::new();
    for _ in 0..STUBBORN_RUNS {
        let stubborn = "ignore TERM INT HUP\ndaemonise ignore-term ../daemon\nsetsid-child ignore-term ../tool\ntouch ../ready\nsleep 10m\n";
        times.push(interrupt_twice(project, stubborn)?.0 * 1e3);
    }
    verdict("stubborn agent: 5 s of grace and", median(times) - 5000.0, 100.0, " ms");
    Ok(())
}

/// Seconds from the second interrupt to the end of the tree, and how many of it still lived when ralph had exited.
fn interrupt_twice(project: &Project, script: &str) -> Result<(f64, usize), String> {
    for name in ["daemon", "tool", "ready"] {
        let _ = std::fs::remove_file(project.path(name));
    }
    project.script(script, "")?;
    let mut ralph = project.call(&["run", "-p", "work"]).spawn().map_err(fail("ralph"))?;
    if !wait_for(Duration::from_secs(10), || project.path("ready").exists()) {
        let _ = ralph.kill();
        return Err("the agent did not start".to_owned());
    }
    let tree: Vec<u32> = ["daemon", "tool"]
        .iter()
        .filter_map(|name| std::fs::read_to_string(project.path(name)).ok()?.trim().parse().ok())
        .collect();
    interrupt(ralph.id())?;
    std::thread::sleep(Duration::from_millis(20));
    let began = Instant::now();
    interrupt(ralph.id())?;
    if !wait_for(Duration::from_secs(10), || tree.iter().all(|pid| !is_alive(*pid))) {
        let _ = ralph.kill();
        return Err("the tree did not die within ten seconds".to_owned());
    }
    let seconds = began.elapsed().as_secs_f64();
    ralph.wait().map_err(fail("ralph"))?;
    Ok((seconds, tree.iter().filter(|pid| is_alive(**pid)).count()))
}

fn interrupt(pid: u32) -> Result<(), String> {
    Command::new("kill").args(["-INT", &pid.to_string()]).status().map(drop).map_err(fail("kill"))
}
