//! Group L: sizes, names and encodings.

use crate::env;
use ralph_testkit::TestEnv;
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

/// What the agent is given must arrive whole.
fn megabyte() -> String {
    "The quick brown fox. ".repeat(50_000)
}

fn claiming() -> TestEnv {
    let env = env();
    env.script("save-stdin $HOME/prompt\nclaim").guardrail("true");
    env
}

#[track_caller]
fn completes(env: &TestEnv, arguments: &[&str]) {
    env.ralph(arguments).stdout_has("complete · verified").run();
}

#[test]
fn l01_a_prompt_of_a_megabyte_arrives_whole_by_stdin() {
    let env = claiming();
    env.write("PROMPT.md", &megabyte());
    completes(&env, &["run", "-f", "PROMPT.md"]);
    let (kept, arrived) = (env.read(".ralph/prompt_001.txt"), env.read(env.home().join("prompt")));
    assert!(arrived.contains(&megabyte()), "{} bytes arrived", arrived.len());
    assert!(arrived == kept, "what is kept is what was given");
}

#[test]
fn l01_by_file_it_arrives_too_and_by_argument_it_is_refused_with_the_way_out() {
    let env = env();
    env.write("PROMPT.md", &megabyte()).guardrail("true");
    env.settings(json!({ "agent": { "promptVia": "file" } })).script("expect-arg .ralph/prompt_001.txt\nclaim");
    completes(&env, &["run", "-f", "PROMPT.md"]);
    env.settings(json!({ "agent": { "promptVia": "arg" } })).script("append $HOME/launches x");
    env.ralph(["run", "-f", "PROMPT.md"])
        .stdout_has("the prompt is too long for an argument of [..]scripted-agent; shorten it, or set agent.promptVia")
        .stdout_has("0 iterations")
        .stderr_has("✗ agent: the agent could not be started: the prompt is too long for an argument")
        .code(5)
        .run();
    assert!(!env.home().join("launches").exists());
}

#[test]
fn l01_a_prompt_file_beyond_all_measure_is_refused() {
    let env = env();
    let file = std::fs::File::create(env.path("PROMPT.md")).unwrap();
    file.set_len(17 << 20).unwrap();
    let run = env.ralph(["run", "-f", "PROMPT.md"]);
    run.stderr_has("error: the prompt file [PROJECT]/PROMPT.md is larger than 16 MiB[..]\nhint: ").code(2).run();
}

#[test]
fn l02_any_task_name_becomes_one_short_folder_of_its_own() {
    let env = claiming();
    let long = "long ".repeat(80);
    let names = [
        "plain", "Fix login!", "日本語 🦀", "..", ".", "../../escape", "a/b", "a\\b", "-rf", "CON", "x\ny", "%2e%2e",
        &long,
    ];
    for name in names {
        completes(&env, &["run", "-p", "x", &format!("--task={name}")]);
    }
    let folders: Vec<String> = std::fs::read_dir(env.path(".ralph/tasks"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(folders.len(), names.len(), "every name has its own: {folders:?}");
    assert!(folders.contains(&"plain".to_owned()));
    for folder in &folders {
        let plain = folder.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        assert!(plain && folder.len() <= 80 && !folder.starts_with(['.', '-']), "{folder}");
    }
    assert!(!env.exists("escape") && !env.root().join("escape").exists());
    env.ralph(["run", "-p", "x", "--task", " "]).stderr_has("error: --task needs a name").code(2).run();
}

#[test]
fn l03_a_project_deep_down_works() {
    let env = claiming();
    let folder = (0..14).fold(PathBuf::new(), |path, _| path.join("d".repeat(200)));
    let settings = env.read(".ralph/settings.json");
    // Paths beyond the system's limit are made step by step by whoever has them; this one is just below.
    env.write(folder.join(".ralph/settings.json"), &settings);
    env.ralph(["run", "-p", "x"]).current_dir(&folder).stdout_has("complete · verified").run();
    assert!(env.exists(folder.join(".ralph/prompt_001.txt")));
}

#[test]
fn l05_variables_that_are_not_utf8_are_passed_on() {
    let env = env();
    env.script("save-env $HOME/env\nclaim").guardrail("true");
    let (name, value) = (OsStr::from_bytes(b"ODD_\xff"), OsStr::from_bytes(b"\xfe\xffx"));
    let run = env.ralph(["run", "-p", "grüße"]).env(name, value).env("LANG", "C").env("LC_ALL", "C");
    run.stdout_has("complete · verified").stderr_has("[OK] guardrail true passed").run();
    assert!(env.read(".ralph/prompt_001.txt").starts_with("grüße\n"));
}

#[test]
fn l05_arguments_that_are_not_utf8_are_refused_and_not_bent() {
    let env = env();
    let odd = OsStr::from_bytes(b"fix \xff it");
    env.ralph(["run", "-p"]).arg(odd).stderr_has("error: invalid UTF-8").code(2).run();
    env.ralph(["run", "-p", "x", "--task"]).arg(odd).stderr_has("error: invalid UTF-8").code(2).run();
    let file = OsString::from_vec(b"odd\xff.md".to_vec());
    env.write(PathBuf::from(&file), "the task");
    env.ralph(["run", "-f"])
        .arg(&file)
        .stderr_has("error: the name of the prompt file [PROJECT]/odd\u{fffd}.md is not UTF-8")
        .stderr_has("hint: give the file another name")
        .code(2)
        .run();
    assert!(std::fs::read_dir(env.state()).unwrap().next().is_none(), "nothing was begun");
}

#[test]
fn l05_a_project_whose_path_is_not_utf8_works() {
    let env = claiming();
    let folder = PathBuf::from(OsString::from_vec(b"caf\xe9".to_vec()));
    env.write(folder.join(".ralph/settings.json"), &env.read(".ralph/settings.json"));
    env.write(folder.join("PROMPT.md"), "the task");
    for arguments in [&["run", "-p", "x"][..], &["run", "-f", "PROMPT.md"]] {
        env.ralph(arguments).current_dir(&folder).stdout_has("complete · verified").run();
    }
    assert!(env.read(env.home().join("prompt")).contains("the task"));
    for command in ["status", "show", "explain", "report", "logs"] {
        let shown = if command == "logs" { "<response>DONE</response>" } else { "complete" };
        env.ralph([command]).current_dir(&folder).stdout_has(shown).run();
    }
}

#[test]
fn odd_names_of_prompt_files_are_names_like_others() {
    let env = claiming();
    for name in [
        "with space.md", "-p.md", "$(touch pwned).md", "quo'te\".md", "日本語.md", "new\nline.md", ".hidden",
        "deep/er/PROMPT",
    ] {
        env.write(name, &format!("the task in {name:?}"));
        let argument = format!("--prompt-file={name}");
        completes(&env, &["run", &argument]);
        assert!(env.read(env.home().join("prompt")).contains(&format!("the task in {name:?}")), "{name}");
    }
    assert!(!env.exists("pwned"));
}

#[test]
fn a_prompt_file_outside_of_the_project_works_from_a_subfolder_too() {
    let env = claiming();
    std::fs::write(env.root().join("outside.md"), "from outside").unwrap();
    env.write("sub/inside.md", "from below");
    for (file, text) in
        [("../../outside.md", "from outside"), ("inside.md", "from below"), ("../sub/inside.md", "from below")]
    {
        env.ralph(["run", "-f", file]).current_dir("sub").stdout_has("complete · verified").run();
        assert!(env.read(env.home().join("prompt")).contains(text), "{file}");
    }
}
