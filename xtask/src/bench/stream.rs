//! A 200 MB stream of events, and lines that are far too long, against `cat` through the same pipe.

use super::project::{Project, memory};
use super::{fail, median, verdict};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

const MEGABYTES: usize = 200;
/// On a machine that others share, single rounds differ by half.
const ROUNDS: usize = 21;

pub(super) fn run(project: &Project) -> Result<(), String> {
    let stream = project.path("stream.ndjson");
    write_stream(&stream)?;
    // The agent is `cat` itself under a name that has a dialect, so that both sides read the same file.
    let agent = project.path("claude");
    std::fs::write(&agent, format!("#!/bin/sh\nexec cat {}\n", stream.display())).map_err(fail("the agent"))?;
    make_executable(&agent)?;
    project.settings(&format!(r#"{{"agent":{{"command":"{}"}}}}"#, agent.display()))?;
    let (mut ratios, mut peaks) = (Vec::new(), Vec::new());
    // Pages that were just given back are cheap, and such as nobody has used yet can cost more than all the rest:
    // each leaves its own to the next, and what the first one takes does not count.
    cat(project, &stream)?;
    ralph(project, "stream")?;
    remove_logs(project).map_err(fail("the log"))?;
    for round in 0..ROUNDS {
        let cat = cat(project, &stream)?;
        let (seconds, peak) = ralph(project, &format!("stream {round}"))?;
        remove_logs(project).map_err(fail("the log"))?;
        println!("  cat {cat:.2} s, ralph {seconds:.2} s, peak {peak:.1} MB");
        ratios.push(seconds / cat);
        peaks.push(peak);
    }
    verdict("200 MB stream against cat through a pipe into a file", median(ratios), 1.5, " x");
    verdict("peak memory", median(peaks), 16.0, " MB");
    long_line(project, "20 MB line", "20M", 40.0)?;
    long_line(project, "2 GB without newline", "2G", 64.0)
}

fn write_stream(path: &Path) -> Result<(), String> {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).map_err(fail("the stream"))?);
    let text = "The quick brown fox looks at src/main.rs and finds nothing to do there. ".repeat(12);
    let mut line = String::new();
    let mut written = 0;
    let mut number = 0;
    while written < MEGABYTES << 20 {
        line.clear();
        number += 1;
        let _ = match number % 3 {
            0 => writeln!(
                line,
                r#"{{"type":"assistant","message":{{"id":"m{number}","content":[{{"type":"text","text":"{text}"}}]}},"session_id":"s"}}"#
            ),
            1 => writeln!(
                line,
                r#"{{"type":"assistant","message":{{"id":"m{number}","content":[{{"type":"tool_use","id":"t{number}","name":"Bash","input":{{"command":"cat src/{number}.rs","description":"{text}"}}}}]}},"session_id":"s"}}"#
            ),
            _ => writeln!(
                line,
                r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{}","content":"{text}\n{text}","is_error":false}}]}},"session_id":"s"}}"#,
                number - 1
            ),
        };
        written += line.len();
        file.write_all(line.as_bytes()).map_err(fail("the stream"))?;
    }
    writeln!(file, r#"{{"type":"result","subtype":"success","is_error":false,"result":"fine","session_id":"s"}}"#)
        .map_err(fail("the stream"))?;
    file.flush().map_err(fail("the stream"))
}

/// Seconds that `cat` takes to carry the stream through a pipe into a file, which is where ralph keeps it too.
fn cat(project: &Project, stream: &Path) -> Result<f64, String> {
    let copy = project.path("copy");
    let script = format!("cat {} | cat > {}", stream.display(), copy.display());
    let began = Instant::now();
    Command::new("sh").args(["-c", &script]).status().map_err(fail("cat"))?;
    let seconds = began.elapsed().as_secs_f64();
    std::fs::remove_file(copy).map_err(fail("the copy"))?;
    Ok(seconds)
}

/// Seconds and peak memory of one iteration.
fn ralph(project: &Project, prompt: &str) -> Result<(f64, f64), String> {
    let began = Instant::now();
    let mut child = project.call(&["run", "-q", "--once", "-p", prompt]).spawn().map_err(fail("ralph"))?;
    let (id, (ended, is_over)) = (child.id(), mpsc::channel::<()>());
    // Whoever looks too often takes part in the race.
    let watcher = std::thread::spawn(move || {
        let mut peak = 0.0_f64;
        while is_over.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Timeout) {
            peak = peak.max(memory(id, "VmHWM").unwrap_or(0.0));
        }
        peak
    });
    child.wait().map_err(fail("ralph"))?;
    let seconds = began.elapsed().as_secs_f64();
    drop(ended);
    let peak = watcher.join().map_err(|_| "nobody watched the memory".to_owned())?;
    Ok((seconds, peak))
}

/// Removes what ralph kept of the stream, and nothing that a first run makes once for all.
fn remove_logs(project: &Project) -> std::io::Result<()> {
    for state in std::fs::read_dir(project.path("state"))? {
        let runs = state?.path().join("runs");
        if runs.is_dir() {
            std::fs::remove_dir_all(runs)?;
        }
    }
    Ok(())
}

fn long_line(project: &Project, what: &str, size: &str, goal: f64) -> Result<(), String> {
    let command = format!("head -c {size} /dev/zero | tr '\\\\0' x; echo");
    project.settings(&format!(r#"{{"agent":{{"command":"sh","flags":["-c","{command}"]}}}}"#))?;
    let (_, peak) = ralph(project, what)?;
    verdict(&format!("peak memory, {what}"), peak, goal, " MB");
    Ok(())
}

fn make_executable(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).map_err(fail("the agent"))
}
