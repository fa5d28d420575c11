//! One command of a chore: announced, timed, and on failure shown so that it can be typed again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A command with its arguments and the variables it needs.
pub struct Step {
    program: String,
    arguments: Vec<String>,
    variables: Vec<(&'static str, String)>,
    path_first: Option<PathBuf>,
}

impl Step {
    /// A command line; words are separated by spaces.
    pub fn new(line: &str) -> Step {
        let mut words = line.split_whitespace().map(str::to_owned);
        Step {
            program: words.next().unwrap_or_default(),
            arguments: words.collect(),
            variables: Vec::new(),
            path_first: None,
        }
    }

    /// Adds an argument that may itself contain spaces.
    pub fn arg(mut self, argument: &Path) -> Step {
        self.arguments.push(argument.display().to_string());
        self
    }

    /// Sets a variable for this command only.
    pub fn env(mut self, name: &'static str, value: &str) -> Step {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// Puts a folder before all others in which programs are looked for.
    pub fn path_first(mut self, folder: &Path) -> Step {
        self.path_first = Some(folder.to_owned());
        self
    }

    /// Runs it at the root of the workspace and says how long it took.
    pub fn run(self) -> Result<(), String> {
        let line = self.line();
        println!("==> {line}");
        let begun = Instant::now();
        let mut command = Command::new(program(&self.program));
        command
            .args(&self.arguments)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(root());
        if let Some(folder) = &self.path_first {
            command.env("PATH", with_first(folder)?);
        }
        let status = command.status().map_err(|error| format!("cannot run {}: {error}", self.program))?;
        let took = begun.elapsed().as_secs_f64();
        if !status.success() {
            return Err(format!("failed after {took:.1} s ({status}); to repeat it:\n\n    {line}\n"));
        }
        println!("    ok in {took:.1} s");
        Ok(())
    }

    /// The step as a person types it.
    fn line(&self) -> String {
        let path = self.path_first.iter().map(|folder| format!("PATH={}:$PATH", folder.display()));
        let variables = path.chain(self.variables.iter().map(|(name, value)| format!("{name}={value}")));
        let words: Vec<String> =
            variables.chain([self.program.clone()]).chain(self.arguments.iter().cloned()).collect();
        words.join(" ")
    }
}

/// The root of the workspace, wherever the chore was started.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}

/// The search path with this folder before its own.
fn with_first(folder: &Path) -> Result<OsString, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = [folder.to_owned()].into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(all).map_err(|error| format!("PATH: {error}"))
}

/// The cargo that runs this program is the one that runs the steps.
fn program(name: &str) -> OsString {
    match std::env::var_os("CARGO") {
        Some(cargo) if name == "cargo" => cargo,
        _ => name.into(),
    }
}
