//! Files that an agent must leave alone: what people protect, and the scripts by which their checks
//! judge. They are looked at before the first iteration and after every agent.

use crate::evidence;
use crate::text;
use serde::{Deserialize, Serialize};

/// What is protected, and what a change leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProtectPolicy {
    /// Globs, relative to the project.
    pub paths: Vec<String>,
    /// Whether the scripts that guardrails name are pinned too; runs that began before there were pins say no.
    #[serde(default)]
    pub scripts: bool,
    /// What follows a change.
    pub on_change: OnChange,
}

/// What follows when an agent changes or deletes what is pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnChange {
    /// No claim is accepted until it is as it was.
    #[default]
    Fail,
    /// It is put back before the checks run.
    Restore,
    /// It is told, and used as it is now.
    Allow,
}

/// A file whose state at the start counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinned {
    /// Where it is, relative to the project.
    pub path: String,
    /// Kind, executable bit and content, as one text that differs when any of them does.
    pub print: String,
    /// The places of the guardrails whose script it is; none for a file that is only protected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts_of: Vec<usize>,
}

/// How a pinned file differs from its state at the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedChange {
    /// Where it is.
    pub path: String,
    /// What happened: `changed`, `deleted`, with what is worth knowing about it.
    pub how: String,
}

impl PinnedChange {
    /// As the part of a sentence.
    pub fn words(&self) -> String {
        format!("{} was {}", text::without_controls(&self.path), text::without_controls(&self.how))
    }
}

/// The words of a guardrail's command, in whatever role.
pub fn words(command: &str) -> Vec<String> {
    evidence::commands_of(command).into_iter().flatten().collect()
}

/// The words of a guardrail's command that may be the name of a script in the project. Which of them are
/// files only the host can tell. Programs that take their script from a well-known file name it too. A file
/// that is only looked at, as by a linter or a formatter, is the agent's work and no script.
pub fn script_candidates(command: &str) -> Vec<String> {
    let mut candidates: Vec<String> = Vec::new();
    for words in evidence::commands_of(command) {
        for path in scripts_of(&words) {
            let path = path.trim_start_matches("./");
            if !path.is_empty() && !path.starts_with(['/', '-']) && !candidates.iter().any(|known| known == path) {
                candidates.push(path.to_owned());
            }
        }
    }
    candidates
}

/// Programs that run the file that they are given first.
const INTERPRETERS: &str = "sh|bash|dash|zsh|ksh|ash|fish|pwsh|source|.|python|python2|python3|pypy3|node|deno|bun|tsx|\
                            ts-node|ruby|perl|php|lua|julia|Rscript|awk|osascript|nu";
/// Programs and words before the program that is meant.
const WRAPPERS: &str = "env|exec|command|time|timeout|nice|nohup|sudo|xargs|stdbuf|setsid|uv|poetry|pipenv|hatch|rye|\
                        npx|pnpx|bunx|run|x|dlx|if|then|else|elif|while|until|do|!|{";
/// Flags behind which a check names its rules.
const RULE_FLAGS: &str = "-c|-f|-p|--config|--file|--makefile|--project|--rcfile|--settings|--rules";

/// What of one command's words may be a script.
fn scripts_of(words: &[String]) -> Vec<&str> {
    let is = |word: &str, list: &str| list.split('|').any(|one| one == word);
    let is_passed_over = |word: &&String| {
        word.contains('=')
            || is(word, WRAPPERS)
            || word.starts_with(|first: char| first == '-' || first.is_ascii_digit())
    };
    let words: Vec<&str> = words.iter().skip_while(is_passed_over).map(String::as_str).collect();
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let name = program.rsplit('/').next().unwrap_or(program);
    let mut found = vec![*program];
    if is(name, INTERPRETERS) {
        let given = arguments.iter().find(|word| !word.starts_with('-') && !is(word, WRAPPERS));
        found.extend(given);
    }
    let behind_a_flag = arguments.windows(2).filter_map(|pair| match pair {
        [flag, file] if is(flag, RULE_FLAGS) => Some(*file),
        _ => None,
    });
    found.extend(behind_a_flag);
    // Whoever names a test or another check by its file means that file as it is.
    let judges =
        |word: &&&str| ["test", "spec", "check", "verify"].iter().any(|part| word.to_lowercase().contains(part));
    found.extend(arguments.iter().filter(judges));
    let implied: &[&str] = match name {
        "make" | "gmake" => &["GNUmakefile", "makefile", "Makefile"],
        "just" => &["justfile", "Justfile", ".justfile"],
        "rake" => &["Rakefile"],
        "task" => &["Taskfile.yml", "Taskfile.yaml"],
        "npm" | "pnpm" | "yarn" | "bun" => &[PACKAGE],
        _ => &[],
    };
    found.extend(implied);
    found
}

/// What a file would take the place of if it were there.
pub fn hidden_by(path: &str) -> &'static [&'static str] {
    match path {
        "GNUmakefile" => &["makefile", "Makefile"],
        "makefile" => &["Makefile"],
        _ => &[],
    }
}

/// The file of which only the scripts are pinned: dependencies in it may change.
pub const PACKAGE: &str = "package.json";

/// What is pinned of a file: its scripts where it is a package's description, else all of it.
pub fn pinned_content<'a>(path: &str, is_script: bool, content: &'a [u8]) -> std::borrow::Cow<'a, [u8]> {
    if !is_script || path.rsplit('/').next() != Some(PACKAGE) {
        return content.into();
    }
    let scripts = serde_json::from_slice::<serde_json::Value>(content).ok();
    let scripts = scripts.map(|package| package.get("scripts").map(ToString::to_string).unwrap_or_default());
    scripts.map_or(content.into(), |scripts| scripts.into_bytes().into())
}

/// Tests in a source file, and those among them that are switched off, by the words of common test
/// frameworks. Rough, and only used to say more about a change that counts anyway.
pub fn count_tests(source: &str) -> (usize, usize) {
    const TESTS: [&str; 8] = ["#[test]", "::test]", "def test", "it(", "test(", "func Test", "@Test", "it \""];
    const OFF: [&str; 10] = [
        "#[ignore",
        "mark.skip",
        "unittest.skip",
        ".skip(",
        "xit(",
        "xdescribe(",
        "t.Skip",
        "@Disabled",
        "@Ignore",
        "xfail",
    ];
    let holds = |line: &str, words: &[&str]| words.iter().any(|word| line.trim_start().starts_with(word));
    let tests = source.lines().filter(|line| holds(line, &TESTS)).count();
    let off = source.lines().filter(|line| OFF.iter().any(|word| line.contains(word))).count();
    (tests, off)
}

/// What a change of a source file did to the tests in it; empty if nothing can be seen.
pub fn test_losses(before: &str, now: &str) -> String {
    let ((tests, off), (tests_now, off_now)) = (count_tests(before), count_tests(now));
    let mut losses = Vec::new();
    if tests_now < tests {
        losses.push(format!("{} fewer", text::count((tests - tests_now) as u64, "test")));
    }
    if off_now > off {
        losses.push(format!("{} newly switched off", text::count((off_now - off) as u64, "test")));
    }
    losses.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_in_any_part_of_a_command() {
        for (command, expected) in [
            ("sh check.sh", &["sh", "check.sh"][..]),
            ("./scripts/test.sh --all", &["scripts/test.sh"]),
            ("cd web && python3 -u tools/verify.py src/app.py | tee log", &["cd", "python3", "tools/verify.py", "tee"]),
            ("make -C sub test", &["make", "test", "GNUmakefile", "makefile", "Makefile"]),
            ("CI=1 npm test", &["npm", "test", "package.json"]),
            ("timeout 20 sh -e check.sh", &["sh", "check.sh"]),
            ("if ! ./ok.sh; then exit 1; fi", &["ok.sh", "exit", "fi"]),
            ("bash -c 'sh a.sh && ./b.sh'", &["sh", "a.sh", "b.sh", "bash"]),
            ("pytest -q tests/test_a.py src/b.py", &["pytest", "tests/test_a.py"]),
            ("eslint -c rules.js src/index.js", &["eslint", "rules.js"]),
            ("prettier --check src/index.ts", &["prettier"]),
            ("sed -i s/a/b/ src/add.sh > out.txt", &["sed"]),
            ("/usr/bin/true", &[]),
        ] {
            assert_eq!(script_candidates(command), expected, "{command}");
        }
    }

    #[test]
    fn of_a_package_only_the_scripts_are_pinned() {
        let content = |json: &str| pinned_content("web/package.json", true, json.as_bytes()).into_owned();
        let one = content(r#"{"scripts":{"test":"jest"},"dependencies":{"a":"1"}}"#);
        assert_eq!(one, content(r#"{"dependencies":{"a":"2","b":"1"},"scripts":{"test":"jest"}}"#));
        assert_ne!(one, content(r#"{"scripts":{"test":"true"}}"#));
        assert_ne!(one, content("no json"));
        let protected = pinned_content("package.json", false, b"{}");
        assert_eq!(protected.as_ref(), b"{}", "what people protect is protected as a whole");
    }

    #[test]
    fn lost_and_silenced_tests_are_counted() {
        let rust = "#[test]\nfn a() {}\n    #[test]\nfn b() {}\n";
        for (before, now, expected) in [
            (rust, "#[test]\nfn a() {}\n", "1 test fewer"),
            (rust, "#[test]\n#[ignore]\nfn a() {}\n#[test]\nfn b() {}\n", "1 test newly switched off"),
            (
                "def test_a():\n  x\ndef test_b():\n  y\n",
                "@pytest.mark.skip\ndef test_a():\n  x\n",
                "1 test fewer, 1 test newly switched off",
            ),
            ("it('a', f)\nit('b', g)\n", "it.skip('a', f)\nit('b', g)\n", "1 test fewer, 1 test newly switched off"),
            (rust, rust, ""),
            (rust, "#[test]\n#[test]\n#[test]\n", ""),
        ] {
            assert_eq!(test_losses(before, now), expected);
        }
    }
}
