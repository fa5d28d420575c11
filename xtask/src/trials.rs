//! `cargo xtask clients`: how the real agent programs fare below ralph.
//!
//! The trials are tests like the others, in the module of their client; those of the slow clients are
//! ignored by `cargo test`. The page keeps the last results of all clients together.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use crate::clients::{self, Client};
use crate::step::{Step, root};

const PAGE: &str = "docs/clients.md";

/// A program, one of its trials, and what is to be said about that.
type Remark = (&'static str, &'static str, &'static str);

/// One test of a client and whether it passed.
#[derive(Debug, PartialEq)]
struct Trial {
    name: String,
    passed: bool,
}

/// Installs and tries the clients, all or those that are named; fails if any trial does. The page is
/// written only when all were tried: it must not mix results of several days.
pub fn run(names: &[&str]) -> Result<(), String> {
    let clients = clients::chosen(names)?;
    let missing = clients::install_all(clients.iter().copied());
    Step::new("cargo test --workspace --test * --no-run").run()?;
    let mut results = Vec::new();
    for client in clients.into_iter().filter(|client| !missing.contains(&client.program)) {
        results.push((client, try_out(client)?));
    }
    let (table, gaps) = (table(&results, &clients::REMARKS), gaps(&results, &clients::REMARKS));
    println!("\n{table}");
    if names.is_empty() && missing.is_empty() {
        let text = format!("{HEAD}{table}");
        std::fs::write(root().join(PAGE), text).map_err(|error| format!("{PAGE}: {error}"))?;
        println!("written to {PAGE}");
    }
    let failed = results.iter().flat_map(|(_, trials)| trials).filter(|trial| !trial.passed).count();
    match (failed, missing.as_slice(), gaps.as_slice()) {
        (0, [], []) => Ok(()),
        (0, [], gaps) => {
            Err(format!("trials that are lacking without a remark in xtask/src/clients.rs: {}", gaps.join(", ")))
        }
        (0, missing, _) => Err(format!("could not be installed: {}", missing.join(", "))),
        (failed, ..) => Err(format!("trials that failed: {failed}")),
    }
}

const HEAD: &str = "\
# Agent programs

The agent programs that ralph was tried with, in exactly these versions, against a scripted model server and
without any other network. `cargo xtask clients` installs them, runs the trials and writes this page; `cargo xtask
test` runs those of claude and codex every time.

The trials state what a user sees: a limit is waited for until its reset, or a little if it states none, and the
iteration is repeated and not counted; a refused key ends the run with exit code 5 and says how to log in; a provider
in trouble is asked again until the wall time is over; silence ends with the idle limit and counts as a failure; after
an interrupt nothing that was started is alive, and the run can be resumed. Programs that ask a provider again by
themselves for minutes are told to [give up sooner](agents.md#programs-that-wait-by-themselves).

";

/// Runs the tests of one client, one after the other: some of the clients fill the machine by themselves.
fn try_out(client: &Client) -> Result<Vec<Trial>, String> {
    println!("==> {} {}", client.program, client.version);
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["test", "--quiet", "--workspace", "--test", "*"]);
    // In CI a client that is missing fails its tests instead of leaving them out.
    command.arg(format!("real_clients::{}::", client.program)).env("CI", "true").current_dir(root());
    command.args(["--", "--include-ignored", "--test-threads=1", "--format=pretty"]);
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let trials = trials(&text, client.program);
    if !output.status.success() || trials.is_empty() {
        println!("{text}{}", String::from_utf8_lossy(&output.stderr));
    }
    if trials.is_empty() { Err(format!("there is no trial of {}", client.program)) } else { Ok(trials) }
}

/// The results among the lines of a test run.
fn trials(output: &str, client: &str) -> Vec<Trial> {
    let prefix = format!("test real_clients::{client}::");
    let trial = |line: &str| {
        let (name, result) = line.strip_prefix(&prefix)?.split_once(" ... ")?;
        let name = name.split(" - ").next().unwrap_or(name).replace('_', " ");
        Some(Trial { name, passed: result == "ok" })
    };
    output.lines().filter_map(trial).collect()
}

/// A row a trial, a column a client, and below what there is to remark.
fn table(results: &[(&Client, Vec<Trial>)], remarks: &[Remark]) -> String {
    let mut versions = "| program | version | package |\n|---|---|---|\n".to_owned();
    for (Client { program, version, package }, _) in results {
        let _ = writeln!(versions, "| {program} | {version} | `{package}` |");
    }
    let programs: String = results.iter().map(|(client, _)| format!(" {} |", client.program)).collect();
    let mut table = format!("{versions}\n| trial |{programs}\n|---|{}\n", "---|".repeat(results.len()));
    let mut below = String::new();
    for name in names(results) {
        let _ = write!(table, "| {name} |");
        for (client, trials) in results {
            let mark = match find(trials, name) {
                Some(Trial { passed: true, .. }) => "✓",
                Some(Trial { passed: false, .. }) => "**failed**",
                None => "no",
            };
            let _ = write!(table, " {mark}");
            if let Some((_, _, why)) = remark(remarks, client.program, name) {
                let number = below.lines().count() + 1;
                let _ = write!(table, " ({number})");
                let _ = writeln!(below, "{number}. {}, {name}: {why}.", client.program);
            }
            table.push_str(" |");
        }
        table.push('\n');
    }
    if below.is_empty() { table } else { format!("{table}\n{below}") }
}

/// The trials that a client does not have, though others do, and that nobody explains.
fn gaps(results: &[(&Client, Vec<Trial>)], remarks: &[Remark]) -> Vec<String> {
    let of = |(client, trials): &(&Client, Vec<Trial>)| -> Vec<String> {
        let lacks = |name: &&str| find(trials, name).is_none() && remark(remarks, client.program, name).is_none();
        names(results).into_iter().filter(lacks).map(|name| format!("{}: {name}", client.program)).collect()
    };
    results.iter().flat_map(of).collect()
}

fn names<'a>(results: &'a [(&Client, Vec<Trial>)]) -> BTreeSet<&'a str> {
    results.iter().flat_map(|(_, trials)| trials).map(|trial| trial.name.as_str()).collect()
}

fn find<'a>(trials: &'a [Trial], name: &str) -> Option<&'a Trial> {
    trials.iter().find(|trial| trial.name == name)
}

fn remark<'a>(remarks: &'a [Remark], program: &str, trial: &str) -> Option<&'a Remark> {
    remarks.iter().find(|(of, about, _)| *of == program && *about == trial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_from_the_lines_of_their_client() {
        let output = "running 2 tests\ntest real_clients::pi::a_task - should be slow ... ok\n\
                      test real_clients::pi::a_refusal ... FAILED\ntest real_clients::pix::other ... ok\n";
        assert_eq!(trials(output, "pi"), [trial("a task", true), trial("a refusal", false)]);
    }

    fn trial(name: &str, passed: bool) -> Trial {
        Trial { name: name.to_owned(), passed }
    }

    #[test]
    fn a_trial_that_a_client_lacks_is_explained_or_a_gap() {
        let client = |program| Client { program, package: "p", version: "1" };
        let (first, second) = (client("a"), client("b"));
        let results =
            [(&first, vec![trial("x", true), trial("y", false), trial("z", true)]), (&second, vec![trial("z", true)])];
        let remarks = [("b", "x", "it has none"), ("a", "z", "by half"), ("c", "x", "not here")];
        let table = table(&results, &remarks);
        let expected = "| trial | a | b |\n|---|---|---|\n| x | ✓ | no (1) |\n| y | **failed** | no |\n\
                        | z | ✓ (2) | ✓ |\n\n1. b, x: it has none.\n2. a, z: by half.\n";
        assert!(table.ends_with(expected), "{table}");
        assert_eq!(gaps(&results, &remarks), ["b: y"]);
    }

    #[test]
    fn every_remark_is_about_a_program_that_is_tried() {
        for (program, ..) in clients::REMARKS {
            assert!(clients::chosen(&[program]).is_ok(), "{program}");
        }
    }
}
