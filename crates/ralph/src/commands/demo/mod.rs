//! `ralph demo`: the whole thing in a scratch folder, with a scripted agent that first lies about
//! its work and then does it. A newcomer should understand ralph from this alone.

mod plan;

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
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// See the whole thing work in a scratch folder: no account, no network.
///
/// A scripted agent is asked to mend a small program. It first claims that the work is done when it
/// is not; ralph executes the check, does not believe it, and tells it what failed. Then it does the
/// work, and ralph accepts exactly the files that passed. With --plan it works through a plan and tries to approve its
/// own work; ralph undoes that, and a review decides.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ralph demo\n  ralph demo --plan")]
pub struct DemoArgs {
    /// Show a plan: an agent that approves itself, is undone, is reviewed, reworks, and completes
    #[arg(long)]
    plan: bool,
    /// Make the scratch project in this (new or empty) folder
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// The branch that the scratch project begins with, whatever the machine is used to.
const BRANCH: &str = "--initial-branch=ralph/greetings";
const PROMPT: &str = "Make `sh greet.sh World` print exactly: Hello, World!";
const BROKEN: &str = "#!/bin/sh\necho \"Hello $1\"\n";
const MENDED: &str = "#!/bin/sh\necho \"Hello, $1!\"\n";
const CHECK: &str = "#!/bin/sh\ngot=$(sh greet.sh World)\nwant='Hello, World!'\n[ \"$got\" = \"$want\" ] && echo \"ok: $got\" && exit 0\necho \"expected: $want\"\necho \"got:      $got\"\nexit 1\n";

/// What a demonstration shows.
struct Show {
    /// The files of the project, by their names.
    files: Vec<(String, String)>,
    prompt: PromptSource,
    /// The folder of the plan, if there is one.
    plan: Option<&'static str>,
    /// Flags of the scripted agent behind its command.
    agent: &'static [&'static str],
    settings: Value,
    /// What the project is, in lines.
    before: [String; 3],
    after: &'static str,
    /// Of which iteration the prompt is worth a look, and what it is.
    look: &'static str,
    then: &'static str,
}

pub fn run(global: &Global, args: &DemoArgs) -> Result<u8, CommandError> {
    let show = if args.plan { plan::show() } else { claim() };
    let folder = scratch(args.folder.as_deref())?;
    write_project(&Project::find(Some(&folder))?.root, &show)?;
    // Whoever tries this may not have told git yet who they are.
    let [name, mail] = [["config", "user.name", "ralph demo"], ["config", "user.email", "demo@localhost"]];
    let first: [&[&str]; 4] = [&["init", "--quiet", BRANCH], &name, &mail, &["add", "--all"]];
    let committed = git(&folder, &first, "a program with a fault");
    let project = Project::find(Some(&folder))?;
    let talks = !global.json && !global.quiet;
    if talks {
        introduce(&project, &show, committed.is_ok());
    }
    let flags = Flags::default();
    let loaded = project.settings()?.with_flags(&flags);
    let settings = loaded.check()?;
    let mut policy = settings.policy(TaskName::from_text("demo"), show.prompt.clone(), &flags, loaded.hash());
    if let Some(dir) = show.plan {
        policy = settings.for_plan(policy, dir, false);
    }
    let started = session::started(&project, None, policy);
    let (run, face) = (started.run.clone(), global.face(&project, started.policy.agent.stream, &settings.display));
    let code = session::begin_run(face, &project, started)?;
    if talks {
        conclude(&project, &show, &run, code);
    }
    Ok(code)
}

/// A prompt, and an agent that claims too early.
fn claim() -> Show {
    Show {
        files: vec![("greet.sh".to_owned(), BROKEN.to_owned()), ("check.sh".to_owned(), CHECK.to_owned())],
        prompt: PromptSource::Text(PROMPT.to_owned()),
        plan: None,
        agent: &[],
        settings: json!({
            "maximumIterations": 5,
            "guardrails": [{ "command": "sh check.sh", "failAction": "APPEND", "hint": "Run sh check.sh yourself before you claim anything." }],
        }),
        before: [
            "greet.sh prints the wrong greeting; check.sh tells right from wrong.".to_owned(),
            format!("An agent (a scripted one, inside ralph) is asked: {PROMPT}"),
            "It will claim to be done too early. Watch what ralph makes of that.".to_owned(),
        ],
        after: WHAT_HAPPENED,
        look: "2 --prompt  what the second agent was told",
        then: "ralph run -p 'make the tests pass' --agent claude",
    }
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

fn write_project(root: &Path, show: &Show) -> Result<(), CommandError> {
    let program =
        std::env::current_exe().map_err(|error| CommandError::io("ralph's own program cannot be found", &error))?;
    let flags: Vec<&str> = std::iter::once("__demo-agent").chain(show.agent.iter().copied()).collect();
    let mut settings = show.settings.clone();
    if let Some(keys) = settings.as_object_mut() {
        keys.insert("agent".to_owned(), json!({ "command": program, "flags": flags, "dialect": "generic" }));
    }
    let own = (".ralph/settings.json".to_owned(), format!("{settings:#}\n"));
    for (name, text) in show.files.iter().chain([&own]) {
        let path = root.join(name);
        let folder = path.parent().unwrap_or(root);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| CommandError::io(format!("{} cannot be written", path.display()), &error))?;
    }
    Ok(())
}

/// Executes these commands of git and commits; ralph works without git too.
fn git(root: &Path, calls: &[&[&str]], subject: &str) -> Result<(), CommandError> {
    let failed = |error: &(dyn std::error::Error + 'static)| CommandError::io("git cannot be used", error);
    event_loop()?.block_on(async {
        let mut keeper =
            Keeper::start_alone(&RunId::from_random(clock::random_bits())).map_err(|error| failed(&error))?;
        let commit = ["commit", "--quiet", "-m", subject];
        let mut result = Ok(());
        for args in calls.iter().copied().chain([commit.as_slice()]) {
            result = git::run(&mut keeper, root, args, Millis::from_secs(20)).await.map(drop);
            if result.is_err() {
                break;
            }
        }
        keeper.close();
        result.map_err(|error| failed(&error))
    })
}

fn introduce(project: &Project, show: &Show, is_committed: bool) {
    page::say(&format!("This is a scratch project: {}", project.root.display()));
    let committed = is_committed.then(|| "Everything is in its first commit.".to_owned());
    for line in committed.iter().chain(&show.before) {
        page::say(&format!("  {line}"));
    }
    page::say("");
}

const WHAT_HAPPENED: &str = "
What you saw: iteration 1 claimed to be done; ralph executed the check itself, it failed, and the
claim was not accepted. Iteration 2 was a fresh process that was told what had failed; it did the
work, the check passed on exactly these files, and only then the run was complete and verified.";

fn conclude(project: &Project, show: &Show, run: &RunId, code: u8) {
    let folder = project.root.display();
    if code == exit::OK {
        page::say(show.after);
    }
    page::say(&format!(
        "\nLook closer:\n  ralph -C {folder} explain {run}          the evidence\n  \
         ralph -C {folder} show {run}/{}\n\
         The folder can be deleted when you have seen enough.\n\
         A run that is stopped, killed or at a limit goes on with: ralph resume\n\
         Now your own project: {}",
        show.look, show.then
    ));
}

/// The scripted agent: an ordinary program that reads its prompt and prints what it does.
pub fn agent(plan: bool) -> Result<u8, CommandError> {
    let mut prompt = String::new();
    std::io::stdin()
        .read_to_string(&mut prompt)
        .map_err(|error| CommandError::io("the prompt could not be read", &error))?;
    if plan {
        plan::work(&prompt)?;
    } else if prompt.contains("failed with exit code") {
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
