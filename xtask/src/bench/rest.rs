//! Doing nothing: idle while the agent thinks, starting, and the size of the program.

use super::project::{Project, Running, children, memory, ticks, wait_for};
use super::{fail, median, verdict};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SILENCE: Duration = Duration::from_secs(20);

pub(super) fn idle(project: &Project) -> Result<(), String> {
    project.script("touch ready\nsleep 10m\n", "")?;
    let ralph = Running(project.call(&["run", "-p", "think"]).spawn().map_err(fail("ralph"))?);
    if !wait_for(Duration::from_secs(10), || project.root().join("ready").exists()) {
        return Err("the agent did not start".to_owned());
    }
    std::thread::sleep(Duration::from_millis(500));
    let all: Vec<u32> = std::iter::once(ralph.0.id()).chain(children(ralph.0.id())).collect();
    let computed = || all.iter().filter_map(|pid| ticks(*pid)).sum::<u64>();
    let before = computed();
    std::thread::sleep(SILENCE);
    #[allow(clippy::cast_precision_loss, reason = "a handful of ticks")]
    verdict("ticks computed in 20 s, keeper included", (computed() - before) as f64, 0.0, "");
    verdict("memory while idle", memory(ralph.0.id(), "VmRSS").unwrap_or(f64::NAN), 12.0, " MB");
    Ok(())
}

pub(super) fn start(project: &Project) -> Result<(), String> {
    #[allow(clippy::cast_precision_loss, reason = "shown with two decimals")]
    let size = std::fs::metadata(&project.ralph).map_err(fail("the program"))?.len() as f64 / 1e6;
    verdict("size of the program", size, 12.0, " MB");
    let source = project.path("hello.c");
    project.write("hello.c", "#include <stdio.h>\nint main(void) { puts(\"ralph 0.0.0\"); return 0; }\n")?;
    let small = project.path("hello");
    let built = Command::new("cc").args(["-O2", "-static", "-o"]).arg(&small).arg(&source).status();
    if !built.is_ok_and(|status| status.success()) {
        println!("  start: not measured, because no static C program could be built");
        return Ok(());
    }
    let time = |program: &std::path::Path| -> Result<f64, String> {
        let began = Instant::now();
        for _ in 0..200 {
            Command::new(program).arg("--version").stdout(Stdio::null()).status().map_err(fail("a start"))?;
        }
        Ok(began.elapsed().as_secs_f64())
    };
    let mut ratios = Vec::new();
    for _ in 0..7 {
        let floor = time(&small)?;
        ratios.push(time(&project.ralph)? / floor);
    }
    verdict("`--version` against a static C program", median(ratios), 2.0, " x");
    Ok(())
}
