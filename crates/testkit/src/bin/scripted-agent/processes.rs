//! Children that stay, sessions that escape, signals, memory and CPU: what ralph must survive.

use std::ffi::c_int;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::actions::{Agent, Stop};
use crate::files::write_pid;
use crate::system;
use crate::text::{duration, expand, number, split_word};

/// First argument of a process that only sleeps; `TERM` after it means that it ignores SIGTERM.
pub const SLEEPER: &str = "--sleeper";

/// Does the action if it is one of these.
pub fn perform(agent: &mut Agent, action: &str, rest: &str) -> Result<bool, Stop> {
    match action {
        "run" => {
            let status = shell(rest).stdin(Stdio::null()).status()?;
            agent.status = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        }
        // Neither waited for nor reaped: the child keeps stdout and stderr open.
        "background" => drop(shell(rest).stdin(Stdio::null()).spawn()?),
        "fork-sleeper" => Kind::parse(rest)?.start(Session::Same)?,
        "setsid-child" => Kind::parse(rest)?.start(Session::Own)?,
        "daemonise" => Kind::parse(rest)?.start(Session::Daemon)?,
        "ignore" => each_signal(rest, system::ignore)?,
        "exit-on" => {
            let (signal, code) = split_word(rest);
            system::exit_on(system::signal(signal)?, number(code)?);
        }
        "stop-self" => system::kill(system::own_pid(), libc::SIGSTOP)?,
        "kill-self" => system::kill(system::own_pid(), system::signal(rest)?)?,
        "kill-parent" => system::kill(system::parent_pid(), system::signal(rest)?)?,
        "kill-group" => system::kill(0, if rest.is_empty() { libc::SIGTERM } else { system::signal(rest)? })?,
        "close-output" => system::close_output(),
        "spin" => {
            let (time, percent) = split_word(rest);
            let percent = if percent.is_empty() { 100 } else { number(percent.trim_end_matches('%'))? };
            spin(duration(time)?, percent);
        }
        // Written to, so that it is really there, and kept until the end.
        "alloc" => std::mem::forget(std::hint::black_box(vec![1u8; number::<usize>(rest)? << 20])),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Burns so much of a core, spread as evenly as timers allow.
fn spin(time: Duration, percent: u32) {
    const PERIOD: Duration = Duration::from_millis(10);
    let begun = Instant::now();
    while begun.elapsed() < time {
        let period = Instant::now();
        while period.elapsed() < PERIOD * percent / 100 {
            std::hint::spin_loop();
        }
        std::thread::sleep(PERIOD.saturating_sub(period.elapsed()));
    }
}

/// What a process started as `--sleeper` does.
pub fn sleep_as_daemon(arguments: &[String]) -> c_int {
    if arguments.iter().any(|argument| argument == "TERM") {
        system::ignore(libc::SIGTERM);
    }
    system::sleep_forever()
}

/// How far a sleeping child stands from the agent.
#[derive(Clone, Copy, PartialEq)]
enum Session {
    /// A plain child that holds the agent's pipes.
    Same,
    /// A session of its own and no pipes, as real agents start their tools.
    Own,
    /// A session of its own, and init (or a subreaper) for a parent.
    Daemon,
}

/// The options of a sleeping child: `[env-clear] [ignore-term] [PIDFILE]`.
struct Kind {
    env_clear: bool,
    ignore_term: bool,
    pid_file: Option<String>,
}

impl Kind {
    fn parse(rest: &str) -> Result<Kind, Stop> {
        let mut kind = Kind { env_clear: false, ignore_term: false, pid_file: None };
        for word in rest.split_whitespace() {
            match word {
                "env-clear" => kind.env_clear = true,
                "ignore-term" => kind.ignore_term = true,
                path if kind.pid_file.is_none() => kind.pid_file = Some(expand(path)?),
                extra => return Err(Stop::Wrong(format!("one PIDFILE only: {extra}"))),
            }
        }
        Ok(kind)
    }

    /// Starts the child and returns once it is in place: detached, its signals set, its pid written.
    fn start(self, session: Session) -> Result<(), Stop> {
        let ready = system::ready_pipe()?;
        if let Some(child) = system::fork()? {
            ready.wait()?;
            if session == Session::Daemon {
                system::reap(child);
            }
            return Ok(());
        }
        if session != Session::Same {
            system::new_session();
        }
        if session == Session::Daemon && matches!(system::fork(), Ok(Some(_)) | Err(_)) {
            system::exit_now(0);
        }
        system::exit_now(self.become_sleeper(session, ready))
    }

    fn become_sleeper(self, session: Session, ready: system::ReadyPipe) -> c_int {
        if session != Session::Same {
            system::redirect_to_null();
        }
        if self.ignore_term {
            system::ignore(libc::SIGTERM);
        }
        if let Some(path) = self.pid_file
            && write_pid(&path, std::process::id()).is_err()
        {
            return 97;
        }
        if self.env_clear {
            // Only a new program has a new environment in /proc; the pipe closes with the exec.
            let mut sleeper = Command::new("/proc/self/exe");
            let _refused = sleeper.arg(SLEEPER).args(self.ignore_term.then_some("TERM")).env_clear().exec();
            return 97;
        }
        drop(ready);
        system::sleep_forever()
    }
}

fn shell(command: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command);
    shell
}

fn each_signal(names: &str, act: fn(c_int)) -> Result<(), Stop> {
    names.split_whitespace().try_for_each(|name| {
        act(system::signal(name)?);
        Ok(())
    })
}
