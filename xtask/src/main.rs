//! The chores of this workspace, in Rust so that they need no other tool.

mod bench;
mod clients;
mod docs;
mod faults;
mod honesty;
mod macos;
mod step;
mod test;
mod tidy;
mod tools;
mod trials;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore>

  test            everything that must be green before a change is done
  tidy            only the rules that no compiler holds: who may know whom, no forgotten file, sizes
  record          take the snapshots and the recorded journals anew; look at the difference
  bench [NAME]    measure ralph: iteration, stream, idle, start, stop, crash, bus,
                  supervise, tree, growth
  clients [NAME]  install the real agent programs, try them below ralph and write docs/clients.md
  honesty [NAME]  try agents that lie and agents that do not, below ralph and below plain loops: all, a
                  family, or those whose name contains NAME; --write keeps the table in docs/honesty.md
  docs [--check]  write the generated documentation again; --check only compares
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["test"] => test::run(),
        ["tidy"] => tidy::check(),
        ["record"] => test::record(),
        ["bench"] => bench::run(None),
        ["bench", only] => bench::run(Some(only)),
        ["clients", names @ ..] => trials::run(names),
        ["honesty"] => honesty::run(None),
        ["honesty", "--write"] => honesty::write(),
        ["honesty", part] => honesty::run(Some(part)),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
