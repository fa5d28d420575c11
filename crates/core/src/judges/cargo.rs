//! Cargo: what in its manifests switches tests, targets and lints off, and the aliases that people add to it.

use super::learn::{Context, Learner, Setting};
use super::premises::{name, parent, place, upward};
use super::shell::Call;
use super::{Format, Part, Standing, Why, table};
use crate::evidence::{is_one_of, positionals};
use serde_json::Value;
use std::collections::BTreeSet;

/// What of a manifest decides which tests run and which lints count. Dependencies and further members may change; members
/// that are there must stay, and so must a package.
const COUNTING: [&str; 24] = [
    "package?", "package.autotests", "package.autobins", "package.autoexamples", "package.autobenches",
    "package.autolib", "package.workspace", "lib.test", "lib.doctest", "lib.harness", "lib.proc-macro", "test",
    "bin.*.test", "bin.*.harness", "bin.*.doctest", "example.*.test", "example.*.harness", "workspace.default-members",
    "workspace.exclude", "workspace.lints", "lints", "profile", "patch", "replace",
];

/// Where the packages come from that tests compare with: another version is ordinary work, another place is not.
fn sources_for_tests(manifest: &Value) -> Vec<String> {
    let packages = manifest.get("dev-dependencies").and_then(Value::as_object).into_iter().flatten();
    let places = ["path", "git", "package", "registry"];
    packages.flat_map(|(name, _)| places.map(|place| format!("dev-dependencies.{name}.{place}"))).collect()
}

impl Learner<'_> {
    pub(super) fn cargo(&mut self, args: &[String], folder: &str, call: &Call, context: &Context<'_>) {
        self.configured_runner("cargo", args, folder, call);
        let manifest = |folder: &str| place(self.premises.root(), folder, "Cargo.toml");
        let found = upward(folder).map(manifest).find(|path| self.premises.standing(path) == Standing::File);
        let own = found.unwrap_or_else(|| manifest(folder));
        self.manifest(&own);
        // The workspace's manifest stands in the same folder or above it; one that appears above would be taken.
        let above: Vec<String> = upward(parent(&own)).skip(1).map(manifest).collect();
        let root = std::iter::once(&own).chain(&above).find(|path| self.toml(path).get("workspace").is_some()).cloned();
        for path in above {
            self.manifest(&path);
        }
        for member in root.iter().flat_map(|root| self.members(root)).collect::<Vec<_>>() {
            self.manifest(&member);
        }
        self.subcommand(args, root.as_deref().unwrap_or(&own), folder, call, context);
    }

    fn toml(&self, path: &str) -> Value {
        self.premises.read(path).and_then(|text| toml::from_str(&text).ok()).unwrap_or_default()
    }

    fn manifest(&mut self, path: &str) {
        if !self.is_new(format!("manifest {path}")) {
            return;
        }
        let text = self.toml(path);
        let members = text.pointer("/workspace/members").and_then(Value::as_array).into_iter().flatten();
        let members = members.filter_map(Value::as_str).map(|member| format!("workspace.members={member}"));
        let names = COUNTING.iter().map(|name| (*name).to_owned()).chain(members);
        let names = names.chain(self.needed_features(&text, parent(path))).chain(sources_for_tests(&text)).collect();
        self.judge(
            path,
            Part::Sections { format: Format::Toml, names },
            Why::Configures { runner: "cargo".to_owned() },
            false,
        );
    }

    /// What enables the features that tests need: a test that is not compiled does not fail.
    fn needed_features(&self, manifest: &Value, folder: &str) -> Vec<String> {
        let Some(features) = manifest.get("features").and_then(Value::as_object) else { return Vec::new() };
        let tests = place(self.premises.root(), folder, "tests");
        let files = self.premises.list(&tests).into_iter().map(|file| format!("{tests}/{file}"));
        let sources = ["src/lib.rs", "src/main.rs"].map(|file| place(self.premises.root(), folder, file));
        let texts = files.filter(|file| file.ends_with(".rs")).filter_map(|file| self.premises.read(&file));
        // Of a source what speaks of tests.
        let lines = sources
            .iter()
            .filter_map(|file| self.premises.read(file))
            .flat_map(|text| text.lines().filter(|line| line.contains("test")).map(str::to_owned).collect::<Vec<_>>());
        let targets = manifest.get("test").map(Value::to_string).unwrap_or_default();
        let speaking = texts.chain(lines).collect::<Vec<_>>().join("\n");
        let is_needed = |name: &str| {
            speaking.contains(&format!("feature = \"{name}\"")) || targets.contains(&format!("\"{name}\""))
        };
        let items = |name: &str| features.get(name).and_then(Value::as_array).into_iter().flatten();
        let mut names = Vec::new();
        let (mut left, mut seen) = (vec!["default".to_owned()], BTreeSet::new());
        while let Some(name) = left.pop().filter(|_| seen.len() < features.len() + 1) {
            if !seen.insert(name.clone()) {
                continue;
            }
            for item in items(&name).filter_map(Value::as_str) {
                let leads_on = items(item).next().is_some();
                names.extend((is_needed(item) || leads_on).then(|| format!("features.{name}={item}")));
                left.push(item.to_owned());
            }
        }
        names
    }

    /// The manifests of a workspace's members.
    fn members(&self, root: &str) -> Vec<String> {
        let text = self.toml(root);
        let members = text
            .pointer("/workspace/members")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let at = |path: &str| place(self.premises.root(), parent(root), path);
        let folders = members.flat_map(|member| match member.strip_suffix("/*") {
            Some(folder) => {
                let folder = at(folder);
                self.premises.list(&folder).into_iter().map(|inner| format!("{folder}/{inner}")).collect()
            }
            None => vec![at(member)],
        });
        let manifests = folders.map(|folder| place(self.premises.root(), &folder, "Cargo.toml"));
        manifests.filter(|path| self.premises.standing(path) == Standing::File).collect()
    }

    /// Aliases, programs of the workspace that judge, and subcommands.
    fn subcommand(&mut self, args: &[String], root: &str, folder: &str, call: &Call, context: &Context<'_>) {
        const OWN: &str = "test|t|check|c|build|b|clippy|fmt|doc|d|bench|run|r|nextest|llvm-cov|tarpaulin|miri|hack|deny|audit|machete|udeps|semver-checks|clean|fetch|tree|metadata|update|version|install|fix|rustdoc|rustc|package|publish|vet|outdated|mutants|insta|expand|careful|make|msrv|add|init|new|generate-lockfile|vendor|locate-project|login|search|sort|spellcheck|public-api|all-features|component|leptos|dylint|criterion|flamegraph|bloat|geiger|license|about|readme|release|set-version|upgrade|watch|nono|pgo|show-asm|llvm-lines|sweep|binstall|zigbuild|ndk|lipo|xwin|cross|wasi|web|tauri|dist|shear|toml|reedme|rdme|doc2readme|minimal-versions|no-dev-deps|limit|deadlinks|quickinstall|chef|careful|docs-rs|help";
        let words = positionals("cargo", args);
        let Some(verb) = words.first().map(|word| word.as_str()).filter(|verb| !verb.starts_with('+')) else { return };
        if is_one_of(verb, "run|r") {
            let packages = Self::values_of("cargo", args, "-p|--package|--bin|--example");
            for package in
                packages.iter().filter(|package| table::sounds_like_a_judge(package) || package.as_str() == "xtask")
            {
                self.judging_package(package, root, context);
            }
            return;
        }
        let alias = upward(folder).flat_map(|folder| {
            [".cargo/config.toml", ".cargo/config"].map(|file| place(self.premises.root(), folder, file))
        });
        let alias =
            alias.map(|path| self.toml(&path)).find_map(|config| config.pointer(&format!("/alias/{verb}")).cloned());
        let rest = words.iter().skip(1).map(|word| (*word).clone());
        let line: Option<Vec<String>> = match alias {
            Some(Value::String(line)) => Some(line.split_whitespace().map(str::to_owned).collect()),
            Some(Value::Array(words)) => Some(words.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            _ => None,
        };
        match line {
            Some(line) => {
                let packages = Self::values_of("cargo", &line, "-p|--package|--bin");
                for package in &packages {
                    if is_one_of(line.first().map_or("", String::as_str), "run|r") {
                        self.judging_package(package, root, context);
                    }
                }
                let words: Vec<String> = std::iter::once("cargo".to_owned()).chain(line).chain(rest).collect();
                if packages.is_empty() && self.is_new(format!("alias {verb} {folder}")) {
                    self.again(&words, call, context);
                }
            }
            None if verb == "make" => {
                let path = place(self.premises.root(), folder, "Makefile.toml");
                self.judge(&path, Part::Whole, Why::Configures { runner: "cargo".to_owned() }, false);
                self.unknown("what `cargo make` runs".to_owned(), false);
            }
            None if !is_one_of(verb, OWN) => {
                let program = format!("cargo-{verb}");
                if self.premises.find(&program).is_some() {
                    self.known.program(&program, &self.subject.id);
                }
                self.unknown(format!("what `cargo {verb}` runs"), false);
            }
            None => {
                let program = format!("cargo-{verb}");
                if self.premises.find(&program).is_some() {
                    self.known.program(&program, &self.subject.id);
                }
            }
        }
    }

    /// A package of the workspace whose program judges: all of its sources.
    fn judging_package(&mut self, package: &str, root: &str, context: &Context<'_>) {
        let manifests: Vec<String> = self.members(root).into_iter().chain([root.to_owned()]).collect();
        let is_named = |path: &&String| {
            let own = self.toml(path);
            own.pointer("/package/name").and_then(Value::as_str) == Some(package) || name(parent(path)) == package
        };
        let found = manifests.iter().find(is_named).cloned();
        let setting: &Setting = context.setting;
        match found {
            Some(manifest) if !parent(&manifest).is_empty() => {
                self.named(parent(&manifest), &setting.by, false);
            }
            _ => self.unknown(format!("where the package {package} is that `cargo` runs"), false),
        }
    }
}
