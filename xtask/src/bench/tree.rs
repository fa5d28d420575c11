//! Looks at trees of growing size, against `git status` in the same tree: one that reads everything, one that knows
//! every file, one that knows them from another process; and the memory that they take.

use super::project::Project;
use super::{fail, median, verdict};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// Files of a folder, as in an ordinary project.
const IN_A_FOLDER: usize = 50;
const ROUNDS: usize = 3;
/// Writes down how much memory ralph had at most: a check's parent is the keeper, and its parent is ralph.
const CHECK: &str = "grep VmHWM /proc/$(sed 's/.*) . \\\\([0-9]*\\\\) .*/\\\\1/' /proc/$PPID/stat)/status > ../peak";

/// What looks at one tree cost, in seconds and megabytes.
struct Cost {
    cold: f64,
    warm: f64,
    status: f64,
    peak: f64,
}

pub(super) fn run(project: &Project) -> Result<(), String> {
    project.script("claim\n", &format!(r#","guardrails":[{{"command":"{CHECK}"}}]"#))?;
    git(&project.root(), &["init", "--quiet"])?;
    for tracked in [true, false] {
        let mut costs = Vec::new();
        for (number, size) in SIZES.into_iter().enumerate() {
            let folder = project.root().join("files");
            fill(&folder, size)?;
            if tracked {
                git(&project.root(), &["add", "files"])?;
            }
            let cost = measure(project, tracked)?;
            let kind = if tracked { "tracked" } else { "untracked" };
            println!(
                "  {size} {kind} files: git {:.1} ms, a look {:.1} ms, the first {:.1} ms, memory {:.1} MB",
                cost.status * 1e3,
                cost.warm * 1e3,
                cost.cold * 1e3,
                cost.peak
            );
            // A small tree costs the start of a process, and nothing can be told from that.
            if number > 0 {
                verdict(&format!("a look at {size} {kind} files against git"), cost.warm / cost.status, 4.0, " x");
            }
            costs.push(cost);
            std::fs::remove_dir_all(&folder).map_err(fail("the files"))?;
            git(&project.root(), &["rm", "-r", "--quiet", "--cached", "--ignore-unmatch", "files"])?;
        }
        if let [.., before, last] = costs.as_slice() {
            verdict("ten times the files: a look", last.warm / before.warm, 15.0, " x");
            verdict("ten times the files: a first look", last.cold / before.cold, 15.0, " x");
            verdict("ten times the files: memory", last.peak / before.peak, 1.5, " x");
        }
    }
    Ok(())
}

fn measure(project: &Project, tracked: bool) -> Result<Cost, String> {
    // What git needs for the same question: names and states, and for untracked files only names.
    let question: &[&str] =
        if tracked { &["status", "--porcelain"] } else { &["ls-files", "--others", "--exclude-standard"] };
    let (mut cold, mut warm, mut status, mut empty) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let elsewhere = project.path("empty");
    std::fs::create_dir_all(elsewhere.join(".ralph")).map_err(fail("the empty project"))?;
    std::fs::copy(project.root().join(".ralph/settings.json"), elsewhere.join(".ralph/settings.json"))
        .map_err(fail("the settings"))?;
    git(&elsewhere, &["init", "--quiet"])?;
    for _ in 0..ROUNDS {
        let _ = std::fs::remove_dir_all(project.path("state"));
        empty.push(timed(project.call(&["run", "-q", "-p", "x"]).current_dir(&elsewhere))?);
        let first = timed(&mut project.call(&["run", "-q", "-p", "x"]))?;
        let second = timed(&mut project.call(&["run", "-q", "-p", "x"]))?;
        status.push(timed(Command::new("git").args(question).current_dir(project.root()).stdout(Stdio::null()))?);
        warm.push(second);
        cold.push(first);
    }
    // A run looks twice; the second time everything is known.
    let (empty, second) = (median(empty), median(warm));
    let warm = ((second - empty) / 2.0).max(0.0);
    let peak = std::fs::read_to_string(project.path("peak")).map_err(fail("the memory"))?;
    let peak = peak.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(f64::NAN);
    Ok(Cost { cold: median(cold) - empty - warm, warm, status: median(status), peak: peak / 1024.0 })
}

fn timed(command: &mut Command) -> Result<f64, String> {
    let began = Instant::now();
    let ended = command.status().map_err(fail("a command"))?;
    if ended.success() { Ok(began.elapsed().as_secs_f64()) } else { Err(format!("{command:?} failed: {ended}")) }
}

/// Small files in folders, each with a content of its own.
fn fill(folder: &Path, files: usize) -> Result<(), String> {
    for number in 0..files {
        let place = folder.join(format!("folder{:05}", number / IN_A_FOLDER));
        if number % IN_A_FOLDER == 0 {
            std::fs::create_dir_all(&place).map_err(fail("a folder"))?;
        }
        let text = format!("{number}\n").repeat(200);
        std::fs::write(place.join(format!("file{number:06}.txt")), text).map_err(fail("a file"))?;
    }
    Ok(())
}

fn git(folder: &Path, args: &[&str]) -> Result<(), String> {
    timed(Command::new("git").args(args).current_dir(folder).stdout(Stdio::null())).map(drop)
}
