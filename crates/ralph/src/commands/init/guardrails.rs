//! Proposes guardrails from the files that a project keeps for its own tools. Nothing is executed.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) command: String,
    pub(super) from: &'static str,
}

/// Reads a project file by its name; `None` if it is not there.
type Read<'a> = &'a dyn Fn(&str) -> Option<String>;

/// All commands, in the order in which they should run. A Makefile that has the target speaks for
/// the whole project; where it is silent, each ecosystem speaks for itself.
pub(super) fn find(read: Read<'_>) -> Vec<Found> {
    let make = make(read);
    let tests = |found: &Found| ["test", "pytest"].iter().any(|word| found.command.contains(word));
    let has = |target: &str| make.iter().any(|found| found.command == format!("make {target}"));
    let rest = [node(read), cargo(read), python(read), go(read)].concat();
    let rest = rest.into_iter().filter(|found| !has(if tests(found) { "test" } else { "lint" }));
    let rest: Vec<Found> = rest.collect();
    [make, rest].concat()
}

fn found(from: &'static str, commands: impl IntoIterator<Item = String>) -> Vec<Found> {
    commands.into_iter().map(|command| Found { command, from }).collect()
}

fn make(read: Read<'_>) -> Vec<Found> {
    // The order in which make itself looks for them.
    for file in ["GNUmakefile", "makefile", "Makefile"] {
        if let Some(text) = read(file) {
            let targets = ["test", "lint", "check"].into_iter().filter(|target| has_target(&text, target));
            return found(file, targets.map(|target| format!("make {target}")));
        }
    }
    Vec::new()
}

/// Whether a rule of this name stands in a makefile: `test: deps`, `a test::`, and not `test := x`.
fn has_target(makefile: &str, target: &str) -> bool {
    makefile.lines().filter(|line| !line.starts_with(['\t', '#'])).any(|line| {
        let Some((names, rest)) = line.split_once(':') else { return false };
        let is_variable = rest.starts_with('=') || rest.starts_with(":=");
        !is_variable && names.split_whitespace().any(|name| name == target)
    })
}

fn node(read: Read<'_>) -> Vec<Found> {
    const FILE: &str = "package.json";
    let package: Option<Value> = read(FILE).and_then(|text| serde_json::from_str(&text).ok());
    let Some(package) = package else { return Vec::new() };
    let locks = [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
    let manager = locks.iter().find(|(lock, _)| read(lock).is_some()).map_or("npm", |(_, manager)| manager);
    let script = |name: &str| package.pointer(&format!("/scripts/{name}")).and_then(Value::as_str);
    // What `npm init` writes when nobody has an idea.
    let is_real = |text: &str| !text.contains("no test specified");
    let scripts = ["test", "lint", "typecheck"].into_iter().filter(|name| script(name).is_some_and(is_real));
    found(
        FILE,
        scripts.map(|name| match (manager, name) {
            // Bun has a test runner of its own under the short name.
            ("npm" | "pnpm" | "yarn", "test") => format!("{manager} test"),
            _ => format!("{manager} run {name}"),
        }),
    )
}

fn cargo(read: Read<'_>) -> Vec<Found> {
    const FILE: &str = "Cargo.toml";
    let Some(text) = read(FILE) else { return Vec::new() };
    let all = if has_section(&text, "workspace") { " --workspace" } else { "" };
    found(FILE, [format!("cargo test{all}"), format!("cargo clippy{all} --all-targets -- -D warnings")])
}

fn python(read: Read<'_>) -> Vec<Found> {
    const FILE: &str = "pyproject.toml";
    let Some(text) = read(FILE) else { return Vec::new() };
    let runner = if read("uv.lock").is_some() {
        "uv run "
    } else if read("poetry.lock").is_some() {
        "poetry run "
    } else {
        ""
    };
    let configured = |tool: &str, file: &str| has_section(&text, &format!("tool.{tool}")) || read(file).is_some();
    // Pytest needs no configuration; to depend on it is to use it.
    let pytest = configured("pytest", "pytest.ini") || text.contains("\"pytest") || text.contains("\npytest ");
    let tools = [
        (pytest, "pytest"),
        (configured("ruff", "ruff.toml"), "ruff check ."),
        (configured("mypy", "mypy.ini"), "mypy ."),
    ];
    found(FILE, tools.into_iter().filter(|(used, _)| *used).map(|(_, command)| format!("{runner}{command}")))
}

fn go(read: Read<'_>) -> Vec<Found> {
    let commands = ["go test ./...", "go vet ./..."].map(str::to_owned);
    if read("go.mod").is_some() { found("go.mod", commands) } else { Vec::new() }
}

/// Whether a TOML text has the section or one below it.
fn has_section(toml: &str, name: &str) -> bool {
    toml.lines().any(|line| {
        let rest = line.trim().trim_start_matches('[').strip_prefix(name);
        line.trim_start().starts_with('[') && rest.is_some_and(|rest| rest.starts_with([']', '.']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files by name and text, and the commands that they make.
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);

    fn commands(files: &[(&str, &str)]) -> Vec<String> {
        let read = |name: &str| files.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned());
        find(&read).into_iter().map(|found| found.command).collect()
    }

    #[test]
    fn each_ecosystem_is_recognised_by_its_own_files() {
        let scripts = r#"{"scripts": {"test": "vitest", "lint": "eslint .", "typecheck": "tsc", "build": "x"}}"#;
        let pyproject = "[project]\nname = 'x'\n[tool.ruff.lint]\n[tool.pytest.ini_options]\n[tool.mypy]\n";
        let cases: &[Case<'_>] = &[
            (&[], &[]),
            (&[("package.json", scripts)], &["npm test", "npm run lint", "npm run typecheck"]),
            (
                &[("package.json", scripts), ("pnpm-lock.yaml", "")],
                &["pnpm test", "pnpm run lint", "pnpm run typecheck"],
            ),
            (&[("package.json", scripts), ("yarn.lock", "")], &["yarn test", "yarn run lint", "yarn run typecheck"]),
            (&[("package.json", scripts), ("bun.lockb", "")], &["bun run test", "bun run lint", "bun run typecheck"]),
            (&[("package.json", r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#)], &[]),
            (&[("package.json", "{broken")], &[]),
            (&[("package.json", r#"{"scripts": {"test": 3}}"#)], &[]),
            (&[("Cargo.toml", "[package]")], &["cargo test", "cargo clippy --all-targets -- -D warnings"]),
            (
                &[("Cargo.toml", "[workspace]\nmembers = []")],
                &["cargo test --workspace", "cargo clippy --workspace --all-targets -- -D warnings"],
            ),
            (&[("pyproject.toml", pyproject)], &["pytest", "ruff check .", "mypy ."]),
            (
                &[("pyproject.toml", pyproject), ("uv.lock", "")],
                &["uv run pytest", "uv run ruff check .", "uv run mypy ."],
            ),
            (&[("pyproject.toml", "dev = [\"pytest>=8\"]"), ("poetry.lock", "")], &["poetry run pytest"]),
            (&[("pyproject.toml", "[tool.ruffle]")], &[]),
            (&[("go.mod", "module x")], &["go test ./...", "go vet ./..."]),
        ];
        for (files, expected) in cases {
            assert_eq!(commands(files), *expected, "{files:?}");
        }
    }

    #[test]
    fn a_makefile_speaks_for_the_project_where_it_has_the_target() {
        let cargo = ("Cargo.toml", "[package]");
        let cases: &[Case<'_>] = &[
            (
                &[("Makefile", "test: build\n\tcargo test\nlint check::\n\ttrue\n"), cargo],
                &["make test", "make lint", "make check"],
            ),
            (&[("Makefile", "test:\n"), cargo], &["make test", "cargo clippy --all-targets -- -D warnings"]),
            (&[("Makefile", "build:\n\ttest: x\n# test:\ntest := 1\ntest ::= 2\n")], &[]),
            (&[("Makefile", ".PHONY: test lint\n")], &[]),
            (&[("GNUmakefile", "lint:\n"), ("Makefile", "test:\n")], &["make lint"]),
        ];
        for (files, expected) in cases {
            assert_eq!(commands(files), *expected, "{files:?}");
        }
    }
}
