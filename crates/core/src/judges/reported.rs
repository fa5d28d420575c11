//! Runners that must have said that tests ran, if a check that calls them succeeds.

use super::learn::{Context, Learner};
use super::premises::{is_known, parent, place};
use super::{Reporting, Standing, Why};
use crate::evidence::{self, NODE_TEST, is_idle, is_one_of, positionals};

/// Words of pytest's options with which it sums up less.
const QUIETER: [&str; 4] = ["-q", "--quiet", "--no-summary", "no:terminal"];

impl Learner<'_> {
    /// A call that has happened if the check succeeds.
    pub(super) fn reported(&mut self, program: &str, args: &[String], folder: &str, context: &Context<'_>) {
        let Some(runner) = evidence::reporting(program, args).filter(|_| context.setting.certain) else { return };
        if !self.uses_its_harness(runner.name, args, folder) {
            return;
        }
        let (check, name) = (self.subject.id.clone(), runner.name.to_owned());
        self.known.runners.push(Reporting { check, name });
    }

    /// Whether the tests are written for the harness whose report is known: cargo and node also run plain programs.
    fn uses_its_harness(&self, runner: &str, args: &[String], folder: &str) -> bool {
        if runner.starts_with("cargo") {
            let manifest = self.premises.read(&place(self.premises.root(), folder, "Cargo.toml")).unwrap_or_default();
            return !["harness", "[workspace", "[[bench"].iter().any(|word| manifest.contains(word));
        }
        if runner != NODE_TEST {
            return true;
        }
        let given: Vec<String> = positionals("node", args).into_iter().cloned().collect();
        let places = if given.is_empty() { vec!["test".to_owned()] } else { given };
        let files: Vec<String> =
            places.iter().flat_map(|path| self.files_at(&self.scope(folder).place(path))).collect();
        let texts = files.iter().map(|file| self.premises.read(file).unwrap_or_default());
        !files.is_empty() && texts.into_iter().all(|text| text.contains("node:test"))
    }

    /// A file, or the sources in a folder.
    fn files_at(&self, path: &str) -> Vec<String> {
        match self.premises.standing(path) {
            _ if !is_known(path) => Vec::new(),
            Standing::File => vec![path.to_owned()],
            Standing::Folder => {
                let sources = self.premises.list(path).into_iter().map(|file| place(self.premises.root(), path, &file));
                let is_source = |file: &String| {
                    let ending = file.rsplit('.').next().unwrap_or_default();
                    is_one_of(ending, "js|cjs|mjs|ts|cts|mts") && parent(file) == path
                };
                sources.filter(is_source).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Takes back runners whose configuration may change what they report.
    pub(super) fn forget_reconfigured(&mut self) {
        let (id, known, premises) = (&self.subject.id, &self.known, self.premises);
        let is_changed = |name: &str| {
            let Some(word) = evidence::runner_by_name(name).map(|runner| runner.unless_configured) else { return true };
            let configures = |runner: &Why| matches!(runner, Why::Configures { runner } if runner == name);
            let mut texts = known.judges.iter().filter(|judge| configures(&judge.why)).map(|judge| {
                if premises.standing(&judge.path) == Standing::File {
                    premises.read(&judge.path).unwrap_or_default()
                } else {
                    String::new()
                }
            });
            !word.is_empty()
                && texts.any(|text| match word {
                    "addopts" => text.contains(word) && QUIETER.iter().any(|option| text.contains(option)),
                    _ => text.contains(word),
                })
        };
        let forgotten: Vec<String> =
            known.runners.iter().map(|one| one.name.clone()).filter(|name| is_changed(name)).collect();
        let id = id.clone();
        self.known.runners.retain(|one| one.check != id || !forgotten.contains(&one.name));
    }
}

/// Whether a program may pass over what it is given, runs it elsewhere, or prints something else than it does.
pub(super) fn may_pass_over(program: &str, args: &[String]) -> bool {
    const CHOOSING: &str = "task|go-task|turbo|nx|lerna|wireit|concurrently|npm-run-all|npm-run-all2|run-s|run-p|rake|pre-commit|tox|nox|\
        xargs|parallel|watch|entr|retry|hyperfine|find|fd|script|git|chronic|doit|invoke|inv";
    const EVERYWHERE: &str = "-r|--recursive|--filter|-F|--workspaces|-ws|-w|--workspace|--if-present|--parallel";
    let everywhere = is_one_of(program, "npm|pnpm|yarn|yarnpkg|bun|composer")
        && args.iter().any(|word| is_one_of(word.split('=').next().unwrap_or_default(), EVERYWHERE));
    is_one_of(program, CHOOSING) || everywhere || is_idle(program, args)
}
