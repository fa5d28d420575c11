//! Scripts by which guardrails judge: which words of a command name one, and what of it counts.

use crate::evidence;

/// Paths in a guardrail's command that are scripts by which it judges. Which of them are files of the
/// project only the host can tell. A script that is executed need not be a judge: `sh greet.sh | grep Hello`
/// runs the work itself. So only those count whose name or folder says that they check something, and the
/// files from which make and its like take what they do.
pub fn script_candidates(command: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut folder = String::new();
    for words in evidence::simple_commands(command) {
        if let [program, place, ..] = words.as_slice()
            && program == "cd"
        {
            folder = below(&folder, place);
            continue;
        }
        for path in scripts_of(&words) {
            let path = below(&folder, &path);
            if !path.is_empty() && !path.starts_with('/') && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// A path as it is from a folder of the project.
fn below(folder: &str, path: &str) -> String {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    if folder.is_empty() || path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") }
}

/// The words of a guardrail's command, in whatever role, those inside `sh -c '…'` too.
pub fn words(command: &str) -> Vec<String> {
    let words = evidence::simple_commands(command).into_iter().flatten();
    words.flat_map(|word| word.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// What a file would take the place of if it were there.
pub fn hidden_by(path: &str) -> &'static [&'static str] {
    match path {
        "GNUmakefile" => &["makefile", "Makefile"],
        "makefile" => &["Makefile"],
        _ => &[],
    }
}

/// Programs that run another one, whose words follow after options and numbers.
const WRAPPERS: [&str; 13] =
    ["env", "timeout", "nice", "exec", "command", "xvfb-run", "sudo", "uv", "poetry", "pipenv", "npx", "pnpx", "bunx"];
/// Programs that run the file that they are given.
const INTERPRETERS: [&str; 17] = [
    "sh", "bash", "dash", "zsh", "ksh", "python", "python3", "node", "ruby", "perl", "php", "deno", "bun", "tsx",
    "ts-node", "Rscript", "pwsh",
];
/// What the name of a script or of its folder holds that judges instead of being judged.
const JUDGES: [&str; 20] = [
    "check", "test", "verif", "valid", "lint", "spec", "accept", "assert", "guard", "ci", "scripts", "tools", "hack",
    "quality", "e2e", "smoke", "gate", "grade", "judge", "precommit",
];

fn scripts_of(words: &[String]) -> Vec<String> {
    let Some((program, args)) = words.split_first() else { return Vec::new() };
    let plain = program.rsplit('/').next().unwrap_or_default();
    let owned = |paths: &[&str]| paths.iter().map(|&path| path.to_owned()).collect();
    let is_option = |word: &&String| {
        word.starts_with('-') || word.contains('=') || word.chars().all(|c| c.is_ascii_digit() || c == 's' || c == 'm')
    };
    let rest: Vec<String> = args.iter().skip_while(is_option).cloned().collect();
    match plain {
        "make" | "gmake" => match (value_of(args, &["-f", "--file"]), value_of(args, &["-C", "--directory"])) {
            (Some(file), place) => vec![below(place.unwrap_or_default(), file)],
            (None, place) => {
                let names = ["GNUmakefile", "makefile", "Makefile"];
                names.iter().map(|name| below(place.unwrap_or_default(), name)).collect()
            }
        },
        "just" => owned(&["justfile", "Justfile", ".justfile"]),
        "rake" => owned(&["Rakefile"]),
        "task" => owned(&["Taskfile.yml", "Taskfile.yaml"]),
        "npm" | "pnpm" | "yarn" => {
            vec![below(value_of(args, &["--prefix", "-C", "--dir", "--cwd"]).unwrap_or_default(), PACKAGE)]
        }
        "." | "source" => rest.into_iter().next().filter(|path| judges(path)).into_iter().collect(),
        "sh" | "bash" | "dash" | "zsh" | "ksh" if args.first().is_some_and(|flag| is_dash_c(flag)) => {
            args.get(1).map(|script| script_candidates(script)).unwrap_or_default()
        }
        "bun" if rest.first().is_some_and(|word| word == "test" || word == "run") => owned(&[PACKAGE]),
        name if WRAPPERS.contains(&name) => scripts_of(rest.strip_prefix(&["run".to_owned()]).unwrap_or(&rest)),
        name if INTERPRETERS.contains(&name) => {
            rest.into_iter().find(|word| word != "run").filter(|path| judges(path)).into_iter().collect()
        }
        _ if program.contains('/') && judges(program) => vec![program.clone()],
        _ => Vec::new(),
    }
}

/// The value of an option, from `-C sub` or `--directory=sub`.
fn value_of<'a>(args: &'a [String], names: &[&str]) -> Option<&'a str> {
    args.iter().enumerate().find_map(|(index, arg)| match arg.split_once('=') {
        Some((name, value)) if names.contains(&name) => Some(value),
        None if names.contains(&arg.as_str()) => args.get(index + 1).map(String::as_str),
        _ => None,
    })
}

fn is_dash_c(flag: &str) -> bool {
    flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('c')
}

fn judges(path: &str) -> bool {
    // `tests`, `verify`, `validate` and `linting` judge; `checkout`, `latest` and `checker` do something else.
    const ENDINGS: [&str; 6] = ["", "s", "y", "ing", "ate", "all"];
    let is_judge =
        |part: &str| JUDGES.iter().any(|word| part.strip_prefix(word).is_some_and(|ending| ENDINGS.contains(&ending)));
    path.split(['/', '.', '-', '_']).any(|part| is_judge(&part.to_lowercase()))
}

/// The file of which only the scripts are pinned: dependencies in it may change.
pub const PACKAGE: &str = "package.json";

/// What is pinned of a file: its scripts where it is a package's description, else all of it.
pub fn pinned_content<'a>(path: &str, is_script: bool, content: &'a [u8]) -> std::borrow::Cow<'a, [u8]> {
    if !is_script || path.rsplit('/').next() != Some(PACKAGE) {
        return content.into();
    }
    // Only those that judge, in an order of their own: a new `dev` script is nobody's lie.
    let scripts = serde_json::from_slice::<serde_json::Value>(content).ok().map(|package| {
        let scripts = package.get("scripts").and_then(serde_json::Value::as_object).into_iter().flatten();
        let judging: std::collections::BTreeMap<&String, &serde_json::Value> = scripts
            .filter(|(name, _)| judges(&name.replace(':', "-").replace("pre", "").replace("post", "")))
            .collect();
        serde_json::to_string(&judging).unwrap_or_default()
    });
    scripts.map_or(content.into(), |scripts| scripts.into_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_in_any_part_of_a_command() {
        for (command, expected) in [
            ("sh check.sh", &["check.sh"][..]),
            ("./scripts/build.sh --all", &["scripts/build.sh"]),
            ("cd web && python3 -u tools/verify.py | tee log", &["web/tools/verify.py"]),
            ("make -C sub test", &["sub/GNUmakefile", "sub/makefile", "sub/Makefile"]),
            ("make -f sub/Makefile test", &["sub/Makefile"]),
            ("cd sub && make test", &["sub/GNUmakefile", "sub/makefile", "sub/Makefile"]),
            ("cd ./web/ && npm test && cd api && sh check.sh", &["web/package.json", "web/api/check.sh"]),
            ("npm --prefix sub test", &["sub/package.json"]),
            (". ./check.sh", &["check.sh"]),
            ("env FOO=1 sh check.sh", &["check.sh"]),
            ("./checkout.sh && ./latest.sh && python3 src/checker.py", &[]),
            ("./e2e.sh", &["e2e.sh"]),
            ("CI=1 npm test", &["package.json"]),
            ("bash -ec 'set -u; ./ci/run'", &["ci/run"]),
            ("timeout 60 sh -e check.sh && ! ./test.sh", &["check.sh", "test.sh"]),
            ("if uv run python check_all.py; then :; fi", &["check_all.py"]),
            // The work itself, and files that are only read.
            ("sh greet.sh World | grep -q Hello", &[]),
            ("python main.py", &[]),
            ("grep -q done work.txt", &[]),
            ("test -f tests/built", &[]),
            ("pytest tests/test_a.py", &[]),
            ("cargo test", &[]),
            ("/usr/bin/check", &[]),
            ("$RUNNER check.sh", &[]),
        ] {
            assert_eq!(script_candidates(command), expected, "{command}");
        }
    }

    #[test]
    fn of_a_package_only_the_scripts_are_pinned() {
        let content = |json: &str| pinned_content("web/package.json", true, json.as_bytes()).into_owned();
        let one = content(r#"{"scripts":{"test":"jest"},"dependencies":{"a":"1"}}"#);
        assert_eq!(one, content(r#"{"dependencies":{"a":"2","b":"1"},"scripts":{"test":"jest"}}"#));
        assert_eq!(one, content(r#"{"scripts":{"dev":"vite","test":"jest"}}"#));
        assert_ne!(one, content(r#"{"scripts":{"test":"true"}}"#));
        assert_ne!(one, content(r#"{"scripts":{"test":"jest","pretest":"rm -r tests"}}"#));
        assert_ne!(one, content("no json"));
        let protected = pinned_content("package.json", false, b"{}");
        assert_eq!(protected.as_ref(), b"{}", "what people protect is protected as a whole");
    }
}
