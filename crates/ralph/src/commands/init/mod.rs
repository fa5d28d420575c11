//! `ralph init`: writes `.ralph/settings.json`, by asking or from flags.

mod answers;
mod guardrails;
mod interview;
mod proposals;
mod terminal;

use crate::cli::Global;
use crate::error::CommandError;
use crate::judging;
use crate::project::{self, Project};
use crate::settings::{Flags, Loaded};
use crate::terminal::page;
use answers::{Answers, Scm};
use clap::Args;
use interview::{Gone, Listener};
use proposals::Proposals;
use ralph_core::guardrail::FailAction;
use ralph_core::outcome::exit;
use ralph_core::text;
use ralph_host::views;
use ralph_view::json;
use ralph_view::quoted;
use serde_json::{Value, json};
use std::io::IsTerminal;
use terminal::Terminal;

/// Write .ralph/settings.json by answering a few questions.
///
/// What was found is proposed: agents on the PATH, and tests and lints that the project has. Settings
/// that are there already are shown first, and overwritten only if you say so. With --yes nothing is
/// asked: flags say what you know, and proposals stand for the rest.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph init\n  ralph init --yes --agent claude --guardrail 'make test'\n  ralph init --yes --dry-run       what would be written\n  ralph init --yes --force         anew, over what is there\n\nExit codes: 0 written, or overwriting was declined; 2 not a terminal, a wrong value, or it cannot be\nwritten; 130 Ctrl-C or the end of input, and nothing was written."
)]
pub struct InitArgs {
    /// Ask nothing: take flags, and proposals for what they leave out
    #[arg(short, long)]
    yes: bool,
    /// The agent program
    #[arg(long, value_name = "COMMAND", requires = "yes")]
    agent: Option<String>,
    /// An argument for the agent; may be repeated
    #[arg(long = "flag", value_name = "FLAG", requires = "yes", allow_hyphen_values = true)]
    flags: Vec<String>,
    /// How many iterations a run may use
    #[arg(short, long, value_name = "N", requires = "yes", allow_negative_numbers = true)]
    maximum_iterations: Option<i64>,
    /// What the agent puts into its response tag when it is done
    #[arg(short, long, value_name = "TEXT", requires = "yes")]
    completion_response: Option<String>,
    /// A command that must pass after every iteration, instead of those found; may be repeated
    #[arg(long = "guardrail", value_name = "COMMAND", requires = "yes", conflicts_with = "no_guardrails")]
    guardrails: Vec<String>,
    /// No guardrails, whatever was found
    #[arg(long, requires = "yes")]
    no_guardrails: bool,
    /// What git does when all guardrails pass
    #[arg(long, value_name = "TASKS", requires = "yes", num_args = 0..=1, default_missing_value = "add -A,commit", conflicts_with = "no_scm")]
    scm: Option<String>,
    /// Leave version control alone; this is so unless --scm is given
    #[arg(long, requires = "yes")]
    no_scm: bool,
    /// Overwrite settings that are there already
    #[arg(long, requires = "yes")]
    force: bool,
    /// Print what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// The file, as people are told.
const FILE: &str = ".ralph/settings.json";

pub fn run(global: &Global, args: &InitArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    let proposals = Proposals::find(&project);
    let answers = if args.yes {
        refuse_to_overwrite(&project, args)?;
        Some(from_flags(args, &proposals)?)
    } else {
        match ask(args, &project, &proposals)? {
            Asked::Answered(answers) => Some(answers),
            Asked::Declined => None,
            Asked::Gone => {
                page::say("\nAborted: nothing was written.");
                return Ok(exit::INTERRUPTED);
            }
        }
    };
    match answers {
        Some(answers) => conclude(global, args, &project, &answers),
        None => Ok(exit::OK),
    }
}

/// Asks for yes or no on the terminal; `None` if whoever was asked went away.
pub fn agrees(question: &str) -> Result<Option<bool>, CommandError> {
    Ok(Terminal::open()?.agrees(question, false).ok())
}

enum Asked {
    Answered(Answers),
    /// The settings that are there stay.
    Declined,
    Gone,
}

fn ask(args: &InitArgs, project: &Project, proposals: &Proposals) -> Result<Asked, CommandError> {
    if !std::io::stdin().is_terminal() {
        return Err(CommandError::usage("ralph init asks questions, and standard input is not a terminal")
            .hint("write the settings without questions: ralph init --yes --agent claude"));
    }
    let mut terminal = Terminal::open()?;
    if exists(project) && !args.dry_run {
        show_existing(project);
        match terminal.agrees("Overwrite? (y/N): ", false) {
            Ok(true) => {}
            Ok(false) => return Ok(Asked::Declined),
            Err(Gone) => return Ok(Asked::Gone),
        }
    }
    if project.root != project.cwd {
        terminal.remark(&format!("Settings for the project {}", text::for_terminal(&project.root.to_string_lossy())));
    }
    terminal.remark("");
    Ok(interview::interview(&mut terminal, proposals).map_or(Asked::Gone, Asked::Answered))
}

/// What is there now: merged, and from where; or why it cannot be shown.
fn show_existing(project: &Project) {
    match project.settings() {
        Ok(loaded) => {
            // Whoever cannot read the settings can still say whether they may go.
            let _ = page::print(&format!("{}\n{}\n", loaded.show(false), loaded_from(&loaded)));
        }
        Err(error) => page::say(&format!("The settings that are there cannot be read:\n{error}")),
    }
}

fn loaded_from(loaded: &Loaded) -> &'static str {
    if loaded.files().len() > 1 {
        "Loaded from .ralph/settings.json (with local overlay from settings.local.json)"
    } else {
        "Loaded from .ralph/settings.json"
    }
}

fn exists(project: &Project) -> bool {
    project.root.join(FILE).symlink_metadata().is_ok()
}

fn refuse_to_overwrite(project: &Project, args: &InitArgs) -> Result<(), CommandError> {
    if !exists(project) || args.force || args.dry_run {
        return Ok(());
    }
    Err(CommandError::usage(format!("{} is there already", project.root.join(FILE).display()))
        .hint("look at it: ralph config show --origin")
        .hint(format!("write it anew: ralph init --yes --force{}", typed(args))))
}

/// What somebody said about the settings, to be typed again.
fn typed(args: &InitArgs) -> String {
    let text = |flag: &str, value: &String| {
        // Behind a blank, a dash would begin a flag.
        let between = if value.starts_with('-') { "=" } else { " " };
        format!(" {flag}{between}{}", quoted(value))
    };
    let mut words: Vec<String> = args.agent.iter().map(|agent| text("--agent", agent)).collect();
    words.extend(args.flags.iter().map(|flag| text("--flag", flag)));
    words.extend(args.maximum_iterations.map(|number| format!(" -m {number}")));
    words.extend(args.completion_response.iter().map(|response| text("--completion-response", response)));
    words.extend(args.guardrails.iter().map(|command| text("--guardrail", command)));
    words.extend(args.no_guardrails.then(|| " --no-guardrails".to_owned()));
    words.extend(args.scm.iter().map(|tasks| text("--scm", tasks)));
    words.extend(args.no_scm.then(|| " --no-scm".to_owned()));
    words.concat()
}

fn from_flags(args: &InitArgs, proposals: &Proposals) -> Result<Answers, CommandError> {
    let agent = args.agent.clone().or_else(|| proposals.agents.first().map(|&name| name.to_owned()));
    let agent = agent.ok_or_else(|| {
        let known: Vec<&str> = ralph_agents::programs().collect();
        CommandError::usage(format!("no agent was found in PATH; looked for {}", known.join(", ")))
            .hint("name yours: ralph init --yes --agent COMMAND")
            .hint("or see ralph work without one: ralph demo")
    })?;
    let given = |command: &String| answers::Guardrail::new(command, FailAction::Append, "");
    let guardrails = match (args.guardrails.as_slice(), args.no_guardrails) {
        (_, true) => Vec::new(),
        ([], false) => proposals.guardrails.iter().map(|found| given(&found.command)).collect(),
        (commands, false) => commands.iter().map(given).collect(),
    };
    Ok(Answers {
        agent,
        flags: args.flags.clone(),
        maximum_iterations: args.maximum_iterations.unwrap_or(answers::MAXIMUM_ITERATIONS),
        completion_response: args.completion_response.clone().unwrap_or(answers::COMPLETION_RESPONSE.to_owned()),
        guardrails,
        scm: args.scm.as_deref().map(|tasks| Scm { command: "git".to_owned(), tasks: answers::list(tasks) }),
    })
}

/// Judges the answers as `config check` would, and writes them.
fn conclude(global: &Global, args: &InitArgs, project: &Project, answers: &Answers) -> Result<u8, CommandError> {
    let settings = answers.settings();
    let flags = Flags {
        agent: args.agent.clone(),
        max_iterations: args.maximum_iterations,
        completion_response: args.completion_response.clone(),
        ..Flags::default()
    };
    let loaded = Loaded::of(settings.clone()).with_flags(&flags);
    loaded.check()?;
    let file = format!("{settings:#}\n");
    if !args.dry_run {
        views::write_settings(&project.root, &file).map_err(|error| {
            CommandError::usage("the settings cannot be written").because(&error).hint("look closer: ralph doctor")
        })?;
    }
    for warning in loaded.warnings() {
        page::say(&format!("warning: {warning}"));
    }
    tell(global, args, &settings, &file)?;
    if !args.dry_run {
        warn_of_a_missing_agent(project, answers);
        // Whoever wants none knows.
        if !args.no_guardrails {
            tell_judges(global, project, answers);
        }
        page::narrate(global, "next: ralph run -p 'make the tests pass'");
    }
    Ok(exit::OK)
}

fn tell(global: &Global, args: &InitArgs, settings: &Value, file: &str) -> Result<(), CommandError> {
    if global.json {
        let written = (!args.dry_run).then_some(FILE);
        page::print_json(&json!({ "v": json::VERSION, "written": written, "settings": settings }))
    } else if args.dry_run {
        page::print(file)
    } else {
        page::print(&format!("\nSettings written to {FILE}\n"))
    }
}

/// What the new checks are made of; or that there is none.
fn tell_judges(global: &Global, project: &Project, answers: &Answers) {
    if answers.guardrails.is_empty() {
        page::say("note: no check was found or given, so nothing but the agent's word will stand behind a claim");
        page::say("add one: ralph init --yes --force --guardrail 'make test'");
        return;
    }
    let looked = project.settings().and_then(|loaded| loaded.check_without_agent()).map_err(Into::into);
    // Whoever cannot look now is told so by the run, or by doctor.
    let Ok(found) = looked.and_then(|settings| judging::look(project, &settings)) else { return };
    let pins = &found.judging.pins;
    let told = ralph_view::judges::count(pins.present(), pins.programs.len());
    page::narrate(global, &format!("checks: {told} when a run begins; look at them: ralph judges"));
    for what in found.judging.unknown_of_shown() {
        page::narrate(global, &format!("note: ralph does not know {}", text::for_terminal(what)));
    }
}

fn warn_of_a_missing_agent(project: &Project, answers: &Answers) {
    if project::program(&answers.agent, &project.root).is_err() {
        let agent = text::for_terminal(&answers.agent);
        page::say(&format!("warning: {agent} cannot be found; what is there: ralph doctor"));
    }
}
