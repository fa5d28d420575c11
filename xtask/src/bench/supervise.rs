//! Supervised agents: how soon DONE is seen, what ten thousand restarts cost, and two hundred loops at once.

use super::project::{Project, Running, children, is_alive, memory, wait_for};
use super::{fail, median, verdict};
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

const ROUNDS: usize = 50;
const RESTARTS: usize = 10_000;
const LOOPS: usize = 200;
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) fn run(project: &Project) -> Result<(), String> {
    done(project)?;
    restarts(project)?;
    parallel(project)
}

fn task(project: &Project, name: &str) -> PathBuf {
    project.root().join(".ralph/tasks").join(name)
}

/// A supervisor that pauses for an hour after its first attempt.
fn pausing(project: &Project, name: &str) -> Result<Child, String> {
    let command = format!("touch {}", task(project, name).join("ran").display());
    let args = ["supervise", "--task", name, "--restart-delay", "1h", "--", "sh", "-c", &command];
    project.call(&args).spawn().map_err(fail("ralph"))
}

/// Writes DONE and waits for the supervisor's end; seconds that it took.
fn finish(project: &Project, name: &str, ralph: &mut Child) -> Result<f64, String> {
    let began = Instant::now();
    std::fs::write(task(project, name).join("DONE"), "").map_err(fail("DONE"))?;
    let status = ralph.wait().map_err(fail("ralph"))?;
    if status.success() { Ok(began.elapsed().as_secs_f64()) } else { Err(format!("{name} ended with {status}")) }
}

fn done(project: &Project) -> Result<(), String> {
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let name = format!("done-{round}");
        let mut ralph = pausing(project, &name)?;
        if !wait_for(PATIENCE, || task(project, &name).join("ran").exists()) {
            let _ = ralph.kill();
            return Err("the agent did not start".to_owned());
        }
        // It must have come to its pause.
        std::thread::sleep(Duration::from_millis(100));
        times.push(finish(project, &name, &mut ralph)? * 1e3);
    }
    verdict("DONE to the end of the run", median(times), 50.0, " ms");
    Ok(())
}

fn restarts(project: &Project) -> Result<(), String> {
    let most = RESTARTS.to_string();
    let args = ["supervise", "--task", "restarts", "--restart-delay", "0", "--max-restarts", &most, "-q", "--", "true"];
    let mut ralph = Running(project.call(&args).spawn().map_err(fail("ralph"))?);
    let pid = ralph.0.id();
    let looks = || {
        let all: Vec<u32> = std::iter::once(pid).chain(children(pid)).collect();
        let rss: f64 = all.iter().filter_map(|pid| memory(*pid, "VmRSS")).sum();
        let open: usize =
            all.iter().map(|pid| std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)).sum();
        (rss, open, all.into_iter().filter(|pid| !is_alive(*pid)).count())
    };
    std::thread::sleep(Duration::from_secs(2));
    let (rss, open, _) = looks();
    let (mut last, mut zombies) = ((rss, open), 0);
    while ralph.0.try_wait().map_err(fail("ralph"))?.is_none() {
        let (rss, open, dead) = looks();
        if rss > 0.0 {
            last = (rss, open);
        }
        // The one that has just ended is waited for in a moment.
        zombies = zombies.max(dead.saturating_sub(1));
        std::thread::sleep(Duration::from_millis(200));
    }
    verdict("memory after 10 000 restarts, against the first seconds", last.0 / rss, 1.1, " x");
    #[allow(clippy::cast_precision_loss, reason = "a handful")]
    verdict("open files more than in the first seconds", last.1.saturating_sub(open) as f64, 4.0, "");
    #[allow(clippy::cast_precision_loss, reason = "a handful")]
    verdict("zombies", zombies as f64, 0.0, "");
    Ok(())
}

fn parallel(project: &Project) -> Result<(), String> {
    let name = |number: usize| format!("loop-{number}");
    let mut loops: Vec<Running> = Vec::new();
    for number in 0..LOOPS {
        loops.push(Running(pausing(project, &name(number))?));
    }
    if !wait_for(PATIENCE, || (0..LOOPS).all(|number| task(project, &name(number)).join("ran").exists())) {
        return Err("not all agents were started".to_owned());
    }
    std::thread::sleep(Duration::from_secs(3));
    let processes: Vec<u32> =
        loops.iter().flat_map(|running| std::iter::once(running.0.id()).chain(children(running.0.id()))).collect();
    #[allow(clippy::cast_precision_loss, reason = "two hundred")]
    let share = processes.iter().filter_map(|pid| proportional(*pid)).sum::<f64>() / LOOPS as f64;
    let rss = loops.iter().filter_map(|running| memory(running.0.id(), "VmRSS")).fold(0.0, f64::max);
    let mut times = Vec::new();
    for (number, running) in loops.iter_mut().enumerate() {
        times.push(finish(project, &name(number), &mut running.0)?);
    }
    times.sort_by(f64::total_cmp);
    verdict(
        "200 loops: DONE to the end of the run, 99th of 100",
        times.get(LOOPS * 99 / 100).copied().unwrap_or(f64::NAN),
        1.0,
        " s",
    );
    verdict("memory of one of 200 loops, keeper included, by its share of each page", share, 6.0, " MB");
    verdict("memory of one of 200 loops, all that it can see", rss, 6.0, " MB");
    Ok(())
}

/// The share of memory that a process has, where pages are shared with others.
fn proportional(pid: u32) -> Option<f64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find(|line| line.starts_with("Pss:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}
