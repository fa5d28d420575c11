//! What ralph writes for the shell and for `man`.

use crate::env;
use std::process::Command;

/// Every command that people type.
const COMMANDS: [&str; 12] =
    ["run", "resume", "status", "show", "logs", "explain", "report", "cancel", "config", "completions", "man", "demo"];

#[test]
fn completions_know_every_command_and_nothing_that_is_hidden() {
    let env = env();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = env.ralph(["completions", shell]).run().stdout;
        for word in COMMANDS.iter().copied().chain(["schema", "max-wall-time", "plain"]) {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
        assert!(!script.contains("__docs") && !script.contains("__demo-agent"), "{shell} offers what is hidden");
    }
    let unknown = "error: invalid value 'tcsh'[..]\n  [possible values: bash, elvish, fish, powershell, zsh]";
    env.ralph(["completions", "tcsh"]).stderr_has(unknown).code(2).run();
}

#[test]
fn bash_takes_the_completions_and_completes_with_them() {
    let env = env();
    let script = env.ralph(["completions", "bash"]).run().stdout;
    env.write("completions.bash", &script);
    let completed = |words: &str, at: usize| {
        let last = words.split(' ').next_back().unwrap_or_default();
        let call = format!(
            "source completions.bash; COMP_WORDS=({words}); COMP_CWORD={at}; _ralph ralph '{last}'; echo \"${{COMPREPLY[@]}}\""
        );
        let output = Command::new("bash").args(["-c", &call]).current_dir(env.project()).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(completed("ralph comp", 1), "completions");
    assert_eq!(completed("ralph run --max-w", 2), "--max-wall-time");
    assert_eq!(completed("ralph config sch", 2), "schema");
}

#[test]
fn manual_pages_name_what_they_tell_of() {
    let env = env();
    let main = env.ralph(["man"]).run().stdout;
    for command in COMMANDS {
        assert!(main.contains(&format!("\nralph\\-{command}(1)\n")), "{command} is not in the main page");
    }
    assert!(main.contains(".SH \"EXIT CODES\"\n"), "{main}");
    let told = env.ralph(["man", "--dir", "pages/man1"]).stderr_has(" pages in pages/man1").run().stderr;
    let folder = env.path("pages/man1");
    let pages: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(pages.len() > COMMANDS.len());
    assert_eq!(told, format!("{} pages in pages/man1\n", pages.len()));
    assert_eq!(env.read("pages/man1/ralph.1"), *main);
    for path in pages {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let page = std::fs::read_to_string(&path).unwrap();
        let escaped = name.replace('-', "\\-");
        let (_, about) =
            page.split_once(&format!(".SH NAME\n{escaped} \\- ")).unwrap_or_else(|| panic!("{name}: {page}"));
        assert!(about.lines().next().is_some_and(|about| about.len() > 10), "{name} says nothing of itself");
        for part in [format!(".TH {name} 1 "), ".SH SYNOPSIS\n".to_owned(), ".SH DESCRIPTION\n".to_owned()] {
            assert!(page.contains(&part), "{name} lacks {part}");
        }
        let (_, examples) = page.split_once(".SH EXAMPLE").unwrap_or_else(|| panic!("{name} has no example"));
        assert!(examples.contains("\nralph "), "{name}: {examples}");
        assert!(!page.contains("__"), "{name} tells of what is hidden");
    }
    env.write("file", "");
    env.ralph(["man", "--dir", "file/man1"]).stderr_has("error: no pages can be written to file/man1").code(74).run();
}
