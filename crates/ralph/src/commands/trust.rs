//! `ralph trust`: a person accepts what judges as it stands.

use super::init::agrees;
use crate::cli::Global;
use crate::error::CommandError;
use crate::judging::{self, Found};
use crate::live::Live;
use crate::project::Project;
use crate::terminal::page;
use clap::Args;
use ralph_core::outcome::exit;
use ralph_core::text;
use ralph_core::trust::Untrusted;
use ralph_host::{identity, state_dir, trust};
use ralph_view::json::VERSION;
use ralph_view::judges::difference;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::IsTerminal as _;

/// Accept what judges, and the settings, as they stand now.
///
/// What an agent changed of that by which it is judged is believed by no later run, until it is put back, a
/// person commits it, or says so here. Refused inside a run.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph trust --show       what agents changed, and how\n  ralph trust              the same, and ask\n  ralph trust --yes        accept it without a question\n\nExit codes: 0 accepted, shown, or nothing to accept; 1 declined; 2 inside a run, or not a terminal and\nno --yes."
)]
pub struct TrustArgs {
    /// Only show what changed, and accept nothing
    #[arg(long, conflicts_with = "yes")]
    show: bool,
    /// Accept without a question
    #[arg(short, long)]
    yes: bool,
}

/// Lines of a difference that are shown.
const LINES_SHOWN: usize = 40;

pub fn run(global: &Global, args: &TrustArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    if !args.show {
        refuse_below_a_run(&project)?;
    }
    let anew = args.yes && set_damaged_aside(&project)?;
    let settings = project.settings()?.check_without_agent()?;
    let found = judging::look(&project, &settings)?;
    let changed = changed(&found);
    if args.show {
        return tell(global, &project, &found, &changed, false).map(|()| exit::OK);
    }
    if changed.is_empty() && !anew {
        // What people themselves changed is accepted by the next run anyway.
        accept(&project, &found)?;
        return tell(global, &project, &found, &changed, true).map(|()| exit::OK);
    }
    if !args.yes {
        if !std::io::stdin().is_terminal() {
            return Err(CommandError::usage("ralph trust asks a person, and standard input is not a terminal")
                .hint("look first: ralph trust --show")
                .hint("accept it without a question: ralph trust --yes"));
        }
        page::say(page_of(&project, &changed).trim_end());
        match agrees("Accept all of this? (y/N): ")? {
            Some(true) => {}
            Some(false) => {
                page::say("nothing was accepted");
                return Ok(exit::USED_UP);
            }
            None => return Ok(exit::INTERRUPTED),
        }
    }
    accept(&project, &found)?;
    if anew && !global.json {
        return page::print("accepted: the next run is judged by what stands there now\n").map(|()| exit::OK);
    }
    tell(global, &project, &found, &changed, true)?;
    Ok(exit::OK)
}

/// Whoever is judged does not say by what.
fn refuse_below_a_run(project: &Project) -> Result<(), CommandError> {
    match identity::is_below_a_run(&project.locks) {
        None => Ok(()),
        Some(why) => Err(CommandError::usage(format!("ralph trust is refused inside a run: {why}"))
            .hint("a person types it in a terminal of their own: ralph trust")),
    }
}

/// Nobody can tell any more what agents changed: a person has to say that everything is as it should be.
fn set_damaged_aside(project: &Project) -> Result<bool, CommandError> {
    let failed = |error: std::io::Error| CommandError::io("what people trust cannot be read", &error);
    let aside = trust::set_aside(&project.state).map_err(failed)?;
    if let Some(aside) = &aside {
        page::say(&format!("the damaged record of what people trust is kept as {}; a new one begins", aside.display()));
    }
    Ok(aside.is_some())
}

/// What no later run would believe, and what agents left changed that judges no more.
fn changed(found: &Found) -> Vec<Untrusted> {
    let mut changed = found.judging.untrusted.clone();
    let judging = |path: &str| found.standings.iter().any(|standing| standing.path == path);
    let left = found.trust.left().filter(|(path, _)| !judging(path));
    changed.extend(left.map(|(path, run)| Untrusted { path: path.to_owned(), run: Some(run.clone()) }));
    changed
}

fn accept(project: &Project, found: &Found) -> Result<(), CommandError> {
    let failed = |error: std::io::Error| {
        CommandError::io(format!("what people trust cannot be kept in {}", project.state.display()), &error)
    };
    state_dir::prepare(&project.state, &project.root)
        .map_err(|error| CommandError::usage(error.to_string()).because(&error))?;
    trust::update(&project.state, |trust| trust.accept_all(&found.standings)).map_err(failed)
}

fn tell(
    global: &Global,
    project: &Project,
    found: &Found,
    changed: &[Untrusted],
    accepted: bool,
) -> Result<(), CommandError> {
    let running = Live::look(project).runs();
    let people = || {
        let mut page = page_of(project, changed);
        match (changed.is_empty(), accepted) {
            (true, _) => page.push_str("nothing that judges was changed by an agent\n"),
            (false, true) => page.push_str("accepted: the next run is judged by this\n"),
            (false, false) => page.push_str("accept it: ralph trust · or put it back: git checkout -- FILE\n"),
        }
        if accepted && !found.trust.worked().is_empty() {
            page.push_str("accepted: what agents made or changed outside of the project, as it stands\n");
        }
        for run in running.iter().filter(|_| accepted) {
            let _ = writeln!(page, "run {run} goes on with what it pinned when it began");
        }
        page
    };
    let object = || json!({ "v": VERSION, "changed": changed.iter().map(|one| object_of(project, one)).collect::<Vec<_>>(), "accepted": accepted });
    page::answer(global, object, people)
}

fn object_of(project: &Project, untrusted: &Untrusted) -> Value {
    let lines = judging::contents(project, untrusted).map(|(before, after)| difference(&before, &after, usize::MAX));
    json!({ "path": untrusted.path, "run": untrusted.run, "difference": lines })
}

fn page_of(project: &Project, changed: &[Untrusted]) -> String {
    let mut page = String::new();
    for untrusted in changed {
        let _ = writeln!(page, "{}", text::for_terminal(&untrusted.words()));
        let contents = judging::contents(project, untrusted);
        for line in contents.iter().flat_map(|(before, after)| difference(before, after, LINES_SHOWN)) {
            let _ = writeln!(page, "  {line}");
        }
    }
    page
}
