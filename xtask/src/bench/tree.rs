//! Trees of growing size, with and without a large folder that git ignores, against `git status` in the same tree: a
//! look that reads everything, one that knows every file from another process, an iteration with one check, the
//! snapshot alone; and the memory that they take.

use super::project::Project;
use super::{fail, median, verdict};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// Files of a folder, as in an ordinary project.
const IN_A_FOLDER: usize = 50;
/// Files of the folder that git ignores: an ordinary `node_modules`.
const IGNORED: usize = 50_000;
const ROUNDS: usize = 3;
/// Iterations of a short run; a long one has as many more, and the difference is what they cost.
const ITERATIONS: u32 = 4;
/// Writes down how much memory ralph had at most: a check's parent is the keeper, and its parent is ralph.
const CHECK: &str = "grep VmHWM /proc/$(sed 's/.*) . \\\\([0-9]*\\\\) .*/\\\\1/' /proc/$PPID/stat)/status > ../peak";

/// What stands in a tree.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Tracked,
    Untracked,
    BesideIgnored,
}

/// What one tree cost, in seconds and megabytes.
struct Cost {
    cold: f64,
    warm: f64,
    status: f64,
    iteration: f64,
    snapshot: f64,
    peak: f64,
}

pub(super) fn run(project: &Project) -> Result<(), String> {
    let root = project.root();
    git(&root, &["init", "--quiet"])?;
    for kind in [Kind::Tracked, Kind::Untracked, Kind::BesideIgnored] {
        if kind == Kind::BesideIgnored {
            project.write("project/.gitignore", "node_modules\n")?;
            fill(&root.join("node_modules"), IGNORED)?;
        }
        let mut costs = Vec::new();
        for size in SIZES {
            let folder = root.join("files");
            fill(&folder, size)?;
            if kind != Kind::Untracked {
                git(&root, &["add", "files"])?;
            }
            let cost = measure(project, kind)?;
            tell(size, kind.name(), &cost);
            costs.push(cost);
            std::fs::remove_dir_all(&folder).map_err(fail("the files"))?;
            git(&root, &["rm", "-r", "--quiet", "--cached", "--ignore-unmatch", "files"])?;
        }
        if let [.., before, last] = costs.as_slice() {
            verdict("ten times the files: a look", last.warm / before.warm, 15.0, " x");
            verdict("ten times the files: a first look", last.cold / before.cold, 15.0, " x");
            verdict("ten times the files: an iteration with a check", last.iteration / before.iteration, 15.0, " x");
            verdict("ten times the files: memory", last.peak / before.peak, 1.5, " x");
        }
    }
    Ok(())
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Tracked => "tracked files",
            Kind::Untracked => "untracked files",
            Kind::BesideIgnored => "tracked files beside ignored ones",
        }
    }

    /// What git needs for the same question: names and states, and for untracked files only names.
    fn question(self) -> &'static [&'static str] {
        if self == Kind::Untracked {
            &["ls-files", "--others", "--exclude-standard"]
        } else {
            &["status", "--porcelain"]
        }
    }
}

fn tell(size: usize, kind: &str, cost: &Cost) {
    let ms = |seconds: f64| seconds * 1e3;
    println!(
        "  {size} {kind}: git {:.1} ms, a look {:.1} ms, the first {:.1} ms, an iteration with a check {:.1} ms, its \
         snapshot {:.1} ms, memory {:.1} MB",
        ms(cost.status),
        ms(cost.warm),
        ms(cost.cold),
        ms(cost.iteration),
        ms(cost.snapshot),
        cost.peak
    );
    #[allow(clippy::cast_precision_loss, reason = "a number of files")]
    let allowed = 20.0 + size as f64 / 1e3;
    verdict(&format!("the snapshot of {size} {kind}"), ms(cost.snapshot), allowed, " ms");
    // A small tree costs the start of a process, and nothing can be told from that.
    if size > SIZES.first().copied().unwrap_or_default() {
        verdict(&format!("a look at {size} {kind} against git"), cost.warm / cost.status, 4.0, " x");
        verdict(
            &format!("an iteration with a check, {size} {kind}, against git"),
            cost.iteration / cost.status,
            6.0,
            " x",
        );
    }
}

fn measure(project: &Project, kind: Kind) -> Result<Cost, String> {
    project.script("claim\n", &format!(r#","guardrails":[{{"command":"{CHECK}"}}]"#))?;
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
        let mut question = Command::new("git");
        status.push(timed(question.args(kind.question()).current_dir(project.root()).stdout(Stdio::null()))?);
        warm.push(second);
        cold.push(first);
    }
    // A run looks twice; the second time everything is known.
    let (empty, second) = (median(empty), median(warm));
    let warm = ((second - empty) / 2.0).max(0.0);
    let peak = std::fs::read_to_string(project.path("peak")).map_err(fail("the memory"))?;
    let peak = peak.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(f64::NAN);
    let (iteration, snapshot) = iteration(project)?;
    let (cold, status) = (median(cold) - empty - warm, median(status));
    Ok(Cost { cold, warm, status, iteration, snapshot, peak: peak / 1024.0 })
}

/// Seconds for an iteration with one check that does nothing, and for its snapshot alone: the same one without it less.
fn iteration(project: &Project) -> Result<(f64, f64), String> {
    let one = |snapshot: &str| {
        project.settings(&format!(
            r#"{{"agent":{{"command":"/bin/echo","flags":["working"]}},"guardrails":[{{"command":"true"}}],"verify":{{"snapshot":"{snapshot}"}}}}"#
        ))?;
        let time = |iterations: u32| {
            let mut call = project.call(&["run", "-q", "-p", snapshot, "-m", &iterations.to_string()]);
            let began = Instant::now();
            // It ends by its limit.
            call.status().map_err(fail("ralph")).map(|_| began.elapsed().as_secs_f64())
        };
        let few = time(ITERATIONS)?;
        Ok::<_, String>((time(2 * ITERATIONS)? - few) / f64::from(ITERATIONS))
    };
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        with.push(one("auto")?);
        without.push(one("off")?);
    }
    let snapshots = with.iter().zip(&without).map(|(with, without)| with - without).collect();
    Ok((median(with), median(snapshots)))
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
