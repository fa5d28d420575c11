//! An agent program that does exactly what a file tells it.
//!
//! Tests and benchmarks start it where a coding agent would stand. It knows nothing of ralph but the
//! number of its iteration, and it must start at once: no dependency but libc, no JSON library, one
//! read of one small file. The script comes from `--script FILE` or from `RALPH_TEST_SCRIPT`; every
//! other argument is ignored, so that it can be started with the flags of any real agent.
//!
//! A script is one action a line, `#` begins a comment, and sections select by iteration:
//!
//! ```text
//! # lines before the first section are done in every iteration
//! stdin
//! [1]
//! print working
//! [2-3]
//! exit 1
//! [*]
//! claim
//! ```
//!
//! Exit codes of its own: 96 a "forever" ran out, 97 an action failed, 98 the script is wrong (an
//! action that is misspelt must fail its test), 99 an expectation of the script was not met.

#![no_main]

mod actions;
mod claude;
mod files;
mod output;
mod processes;
mod reports;
mod script;
mod speech;
mod system;
mod text;

use std::ffi::c_int;

use actions::{Agent, Stop};
use script::Script;

/// The C entry point instead of Rust's: the Rust runtime ignores SIGPIPE and reopens missing standard
/// streams before `main`, and `sigmask` and `fds` could then no longer show what this process was given.
#[allow(unsafe_code)] // exporting a symbol by its bare name is what `unsafe` stands for here
#[unsafe(no_mangle)]
pub extern "C" fn main(_argc: c_int, _argv: *const *const u8) -> c_int {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    match arguments.first().map(String::as_str) {
        Some("--version") if arguments.len() == 1 => {
            system::write_all(1, b"scripted-agent 1.0.0\n").ok();
            0
        }
        // How a daemon with an empty environment comes to be: see `processes::daemonise`.
        Some(processes::SLEEPER) => processes::sleep_as_daemon(&arguments),
        _ => run(arguments),
    }
}

fn run(arguments: Vec<String>) -> c_int {
    let mut agent = match load(&arguments) {
        Ok(script) => Agent::new(script, arguments),
        Err(stop) => return report(&stop),
    };
    let end = agent.run(iteration());
    // Whatever was said before the end is said, even if the end is a failure.
    let flushed = agent.out.flush();
    match (end, flushed) {
        (Err(stop), _) => report(&stop),
        (Ok(()), Err(error)) => report(&Stop::Failed(error.to_string())),
        (Ok(()), Ok(())) => 0,
    }
}

/// Says why on stderr and gives the exit code.
fn report(stop: &Stop) -> c_int {
    let (code, message) = match stop {
        Stop::Exit(code) => return *code,
        Stop::Failed(message) => (97, message),
        Stop::Wrong(message) => (98, message),
        Stop::Unmet(message) => (99, message),
    };
    system::write_all(2, format!("scripted-agent: {message}\n").as_bytes()).ok();
    code
}

fn iteration() -> u32 {
    std::env::var("RALPH_ITERATION").ok().and_then(|number| number.trim().parse().ok()).unwrap_or(1)
}

fn load(arguments: &[String]) -> Result<Script, Stop> {
    let given = arguments.iter().position(|argument| argument == "--script").and_then(|at| arguments.get(at + 1));
    let path = match given {
        Some(path) => path.clone(),
        None => std::env::var("RALPH_TEST_SCRIPT")
            .map_err(|_| Stop::Wrong("no script: set RALPH_TEST_SCRIPT or give --script FILE".to_owned()))?,
    };
    let bytes = std::fs::read(&path).map_err(|error| Stop::Wrong(format!("script {path}: {error}")))?;
    Script::parse(&String::from_utf8_lossy(&bytes)).map_err(Stop::Wrong)
}
