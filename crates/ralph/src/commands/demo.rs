//! `ralph demo`: the whole thing in a scratch folder, with a scripted agent that first lies about
//! its work and then does it. A newcomer should understand ralph from this alone.

use crate::cli::Global;
use crate::error::CommandError;
use crate::project::Project;
use crate::session::{self, event_loop};
use crate::settings::Flags;
use crate::terminal::page;
use clap::Args;
use ralph_core::id::{RunId, TaskName};
use ralph_core::outcome::exit;
use ralph_core::policy::PromptSource;
use ralph_core::time::Millis;
use ralph_host::clock;
use ralph_host::git;
use ralph_host::process::Keeper;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// See the whole thing work in a scratch folder: no account, no network.
///
/// A scripted agent is asked to mend a small program. It first claims that the work is done when it
/// is not; ralph executes the check, does not believe it, and tells it what failed. Then it does the
/// work, and ralph accepts exactly the files that passed.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ralph demo")]
pub struct DemoArgs {
    /// Make the scratch project in this (new or empty) folder
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

const PROMPT: &str = "Make `sh greet.sh World` print exactly: Hello, World!";
const BROKEN: &str = "#!/bin/sh\necho \"Hello $1\"\n";
const MENDED: &str = "#!/bin/sh\necho \"Hello, $1!\"\n";
const CHECK: &str = "#!/bin/sh\ngot=$(sh greet.sh World)\nwant='Hello, World!'\n[ \"$got\" = \"$want\" ] && echo \"ok: $got\" && exit 0\necho \"expected: $want\"\necho \"got:      $got\"\nexit 1\n";

pub fn run(global: &Global, args: &DemoArgs) -> Result<u8, CommandError> {
    let folder = scratch(args.folder.as_deref())?;
    let project = Project::find(Some(&folder))?;
    write_project(&project.root)?;
    let git = begin_repository(&project.root);
    let project = Project::find(Some(&folder))?;
    if !global.json && !global.quiet {
        introduce(&project, git.is_ok());
    }
    let flags = Flags::default();
    let loaded = project.settings()?.with_flags(&flags);
    let settings = loaded.check()?;
    let policy =
        settings.policy(TaskName::from_text("demo"), PromptSource::Text(PROMPT.to_owned()), &flags, loaded.hash());
    let started = session::started(&project, None, policy);
    let (run, face) = (started.run.clone(), global.face(&project, started.policy.agent.stream, &settings.display));
    let code = session::begin_run(face, &project, started)?;
    if !global.json && !global.quiet {
        conclude(&project, &run, code);
    }
    Ok(code)
}

fn scratch(wanted: Option<&Path>) -> Result<PathBuf, CommandError> {
    let refuse = |error: std::io::Error| CommandError::io("the scratch folder cannot be made", &error);
    match wanted {
        None => Ok(tempfile::Builder::new().prefix("ralph-demo-").tempdir().map_err(refuse)?.keep()),
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(refuse)?;
            let empty = std::fs::read_dir(folder).map_err(refuse)?.next().is_none();
            if empty {
                Ok(folder.to_owned())
            } else {
                Err(CommandError::usage(format!("{} is not empty", folder.display())))
            }
        }
    }
}

fn write_project(root: &Path) -> Result<(), CommandError> {
    let program =
        std::env::current_exe().map_err(|error| CommandError::io("ralph's own program cannot be found", &error))?;
    let settings = serde_json::json!({
        "maximumIterations": 5,
        "agent": { "command": program, "flags": ["__demo-agent"], "dialect": "generic" },
        "guardrails": [{ "command": "sh check.sh", "failAction": "APPEND", "hint": "Run sh check.sh yourself before you claim anything." }],
    });
    let files = [
        ("greet.sh", BROKEN.to_owned()),
        ("check.sh", CHECK.to_owned()),
        (".ralph/settings.json", format!("{settings:#}\n")),
    ];
    for (name, text) in files {
        let path = root.join(name);
        let folder = path.parent().unwrap_or(root);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| CommandError::io(format!("{} cannot be written", path.display()), &error))?;
    }
    Ok(())
}

/// Makes the project a git repository with one commit, if git is there; ralph works without it too.
fn begin_repository(root: &Path) -> Result<(), CommandError> {
    let failed = |error: &(dyn std::error::Error + 'static)| CommandError::io("git cannot be used", error);
    event_loop()?.block_on(async {
        let mut keeper =
            Keeper::start_alone(&RunId::from_random(clock::random_bits())).map_err(|error| failed(&error))?;
        let author = ["-c", "user.name=ralph demo", "-c", "user.email=demo@localhost"];
        let commit = [author.as_slice(), &["commit", "--quiet", "-m", "a program with a fault"]].concat();
        let calls: [&[&str]; 3] = [&["init", "--quiet"], &["add", "--all"], &commit];
        let mut result = Ok(());
        for args in calls {
            result = git::run(&mut keeper, root, args, Millis::from_secs(20)).await.map(drop);
            if result.is_err() {
                break;
            }
        }
        keeper.close();
        result.map_err(|error| failed(&error))
    })
}

fn introduce(project: &Project, git: bool) {
    page::say(&format!("This is a scratch project: {}", project.root.display()));
    page::say(&format!(
        "  greet.sh prints the wrong greeting; check.sh tells right from wrong{}.",
        if git { "; both are committed" } else { "" }
    ));
    page::say(&format!("  An agent (a scripted one, inside ralph) is asked: {PROMPT}"));
    page::say("  It will claim to be done too early. Watch what ralph makes of that.\n");
}

const WHAT_HAPPENED: &str = "
What you saw: iteration 1 claimed to be done; ralph executed the check itself, it failed, and the
claim was not accepted. Iteration 2 was a fresh process that was told what had failed; it did the
work, the check passed on exactly these files, and only then the run was complete and verified.";

fn conclude(project: &Project, run: &RunId, code: u8) {
    let folder = project.root.display();
    if code == exit::OK {
        page::say(WHAT_HAPPENED);
    }
    page::say(&format!(
        "\nLook closer:\n  ralph -C {folder} explain {run}          the evidence\n  \
         ralph -C {folder} show {run}/2 --prompt  what the second agent was told\n\
         The folder can be deleted when you have seen enough.\n\
         A run that is stopped, killed or at a limit goes on with: ralph resume\n\
         Now your own project: ralph run -p 'make the tests pass' --agent claude"
    ));
}

/// The scripted agent: an ordinary program that reads its prompt and prints what it does.
pub fn agent() -> Result<u8, CommandError> {
    let mut prompt = String::new();
    std::io::stdin()
        .read_to_string(&mut prompt)
        .map_err(|error| CommandError::io("the prompt could not be read", &error))?;
    if prompt.contains("failed with exit code") {
        say("I was told that `sh check.sh` failed: a comma and an exclamation mark are missing.");
        say("Editing greet.sh.");
        std::fs::write("greet.sh", MENDED).map_err(|error| CommandError::io("greet.sh cannot be written", &error))?;
        say("Done, really this time. <response>DONE</response>");
    } else {
        say("Looking at greet.sh… it says hello. That looks fine to me.");
        say("All tests pass, the task is complete! <response>DONE</response>");
    }
    Ok(exit::OK)
}

/// Speaks at the pace of a reader; the whole demo takes a few seconds.
fn say(line: &str) {
    println!("{line}");
    let _ = std::io::stdout().flush();
    std::thread::sleep(Duration::from_millis(500));
}
