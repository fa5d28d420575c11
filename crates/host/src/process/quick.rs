//! A small program for a caller that itself lives for milliseconds, as a hook does: no keeper, no event loop, and a
//! deadline.

use super::Command;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::Read as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// What the program printed, if it ended well in time. One that takes longer is killed.
#[allow(clippy::disallowed_methods, reason = "host/process is the place that spawns")]
pub fn ask_quickly(command: &Command, patience: Duration) -> Option<Vec<u8>> {
    let deadline = Instant::now() + patience;
    let mut program = std::process::Command::new(&command.program);
    program.args(&command.args).current_dir(&command.folder);
    command.remove.iter().for_each(|name| _ = program.env_remove(name));
    program.envs(command.set.iter().map(|(name, value)| (name, value)));
    program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = program.spawn().ok()?;
    let answer = read(&mut child, deadline).filter(|_| ends_well(&mut child, deadline));
    if answer.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    answer
}

/// Everything until the end of its output.
fn read(child: &mut Child, deadline: Instant) -> Option<Vec<u8>> {
    let mut pipe = child.stdout.take()?;
    let (mut bytes, mut chunk) = (Vec::new(), [0; 16 << 10]);
    loop {
        let left = deadline.checked_duration_since(Instant::now())?;
        let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        if poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&timeout)).ok()? == 0 {
            return None;
        }
        match pipe.read(&mut chunk).ok()? {
            0 => return Some(bytes),
            length => bytes.extend_from_slice(chunk.get(..length)?),
        }
    }
}

/// It has closed its output, and is about to end.
fn ends_well(child: &mut Child, deadline: Instant) -> bool {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_micros(200)),
            Ok(None) | Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn sh(script: &str, patience: Duration) -> Option<Vec<u8>> {
        let command = Command {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            folder: Path::new("/").to_owned(),
            set: vec![("SAID".into(), "hello".into())],
            remove: Vec::new(),
            starts_runs: false,
        };
        ask_quickly(&command, patience)
    }

    #[test]
    fn an_answer_counts_if_the_program_ends_well_in_time() {
        let patience = Duration::from_secs(20);
        assert_eq!(sh("printf '%s' \"$SAID\"", patience).as_deref(), Some(&b"hello"[..]));
        assert_eq!(sh("echo x; exit 3", patience), None);
        assert_eq!(sh("exec sleep 60", Duration::from_millis(50)), None);
        assert_eq!(sh("exec >&-; exec sleep 60", Duration::from_millis(200)), None);
        assert_eq!(sh("head -c 300000 /dev/zero", patience).map(|bytes| bytes.len()), Some(300_000));
    }
}
