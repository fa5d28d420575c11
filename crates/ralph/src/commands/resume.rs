//! `ralph resume`: goes on with a run from its journal.

use super::pick;
use super::run::{LimitArgs, ReviewArgs};
use crate::cli::Global;
use crate::error::CommandError;
use crate::live::Live;
use crate::missing;
use crate::project::Project;
use crate::runs::{self, Listing};
use crate::session::{self, Beginning, Claimed};
use crate::settings::{Flags, Loaded};
use crate::terminal::page;
use clap::Args;
use ralph_core::event::{Resumed, Spent, Started};
use ralph_core::id::RunId;
use ralph_core::outcome::exit;
use ralph_core::plan::DIR;
use ralph_core::policy::{Policy, PromptSource};
use ralph_core::run::{Run, RunRow};
use ralph_core::stream::{Row as _, Standing};
use ralph_host::{state_dir, trust};
use ralph_store::{Found, Store, Which};
use ralph_view::{quoted, words};

/// Go on with a run after a stop, a limit or a crash.
///
/// Loses at most the iteration that was in flight. Limits given here replace those of the run.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph resume\n  ralph resume 7f3a9k2m -m 20\n  ralph resume --max-wall-time 8h\n  ralph resume --review-cap 8      of a plan"
)]
pub struct ResumeArgs {
    /// The run, by its id or the beginning of it; the newest unfinished one if left out
    run: Option<String>,
    /// How many iterations there may be in all
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    maximum_iterations: Option<u32>,
    /// Another agent program, instead of the one that the run began with
    #[arg(long, value_name = "COMMAND")]
    agent: Option<String>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    review: ReviewArgs,
}

pub fn run(global: &Global, args: ResumeArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    if args.maximum_iterations == Some(0) {
        return Err(CommandError::usage("-m needs a number of at least 1"));
    }
    let store = match (Store::open_existing(&project.state)?, &args.run) {
        (Some(store), _) => store,
        (None, Some(typed)) => adopt(&project, typed)?,
        (None, None) => return Err(nothing(&project, None)),
    };
    let run = choose(&store, args.run.as_deref(), &project)?;
    let Started { policy, version, .. } = pick::started(&store, &run)?;
    drop(store);
    // From here on nobody else writes to this run's journal.
    let claimed = Claimed::take(&project, &run, &policy)?;
    let machine = pick::machine(claimed.store(), &run)?;
    if machine.is_complete() {
        return Err(CommandError::usage(format!("run {run} is complete: there is nothing to go on with"))
            .hint(format!("look at it: ralph show {run}"))
            .hint(format!("begin a new one: {}", new_run(machine.policy(), &project))));
    }
    let loaded = project.settings().ok();
    let doubts = match machine.policy().supervision() {
        None => {
            let weaker = compare_settings(loaded.as_ref(), &machine, &version, &project)?;
            doubts(&project, &machine, weaker)?
        }
        Some(_) => Vec::new(),
    };
    let display = loaded.map(|loaded| loaded.display()).unwrap_or_default();
    let face = global.face(&project, machine.policy().agent.stream, &display);
    let resumed = Resumed {
        max_iterations: args.maximum_iterations,
        wall: args.limits.max_wall_time,
        iteration: args.limits.iteration_timeout,
        idle: args.limits.idle_timeout,
        max_cost_usd: args.limits.max_cost,
        max_tokens: args.limits.max_tokens,
        agent: args.agent,
        wait: args.limits.no_wait.then_some(false),
        task_spent: Spent::default(),
        no_repository: project.git_root.is_none(),
        doubts,
        plan: args.review.changes(machine.policy())?,
    };
    claimed.carry(face, &project, Beginning::Old(Box::new(machine), Box::new(resumed)))
}

/// Why nobody can believe the rules in this run's journal.
fn doubts(project: &Project, machine: &Run, weaker: Vec<String>) -> Result<Vec<String>, CommandError> {
    if !machine.policy().pins() {
        return Ok(Vec::new());
    }
    let trust = trust::read(&project.state).map_err(|error| {
        CommandError::io(format!("what people trust cannot be read in {}", project.state.display()), &error)
    })?;
    let pins = machine.is_pinned().then(|| machine.pins());
    let seal = session::seal(machine.id(), machine.policy(), pins.as_deref());
    let settings = project.watch_settings()?;
    Ok(trust.doubts(&seal, settings.standings(), weaker))
}

/// A run keeps the settings it began with; whoever edited them since should know, and in what they differ. Settings that
/// were not edited must say what the journal says, or somebody has written into it. Returns what the settings ask for and
/// the run does not.
fn compare_settings(
    loaded: Option<&Loaded>,
    machine: &Run,
    version: &str,
    project: &Project,
) -> Result<Vec<String>, CommandError> {
    let pinned = machine.policy();
    let (task, prompt, hash) = (pinned.task.clone(), pinned.prompt.clone(), pinned.config_hash.clone());
    let settings = loaded.and_then(|loaded| loaded.check().ok());
    let now = settings.map(|settings| {
        let policy = settings.policy(task, prompt, &Flags::default(), hash);
        let stall_is_given = loaded.is_some_and(|loaded| loaded.says(&["loop", "stallAfter"]));
        match pinned.plan() {
            Some(plan) => settings.for_plan(policy, &plan.dir, stall_is_given),
            None => policy,
        }
    });
    let weaker = now.as_ref().map(|now| pinned.weaknesses(now)).unwrap_or_default();
    let begin = format!("begin a new run: {}", new_run(pinned, project));
    if loaded.is_none_or(|loaded| loaded.hash() != pinned.config_hash) {
        page::say("note: the settings were edited since this run began; it keeps those that it began with");
        let told = now.iter().flat_map(|now| pinned.differences(now));
        told.for_each(|line| page::say(&format!("note: {line}")));
        page::say(&format!("hint: {}", project.suggest().line(&format!("to use the new ones, {begin}"))));
        return Ok(weaker);
    }
    // Another version of ralph may make other rules of the same settings.
    let forged = now.filter(|_| version == env!("CARGO_PKG_VERSION")).map(|now| pinned.forgeries(&now));
    let Some(forged) = forged.filter(|forged| !forged.is_empty()) else { return Ok(weaker) };
    let run = machine.id();
    let why =
        format!("the journal of run {run} is damaged: its rules are not those of the settings that it began with");
    let error = CommandError::new(exit::IO, format!("{why}:\n  {}", forged.join("\n  ")));
    Err(error.hint(format!("look at what it did: ralph show {run}")).hint(begin))
}

/// What begins a run of the same kind: a prompt file or a command as this run has it, and any prompt.
fn new_run(policy: &Policy, project: &Project) -> String {
    if let Some(plan) = policy.plan() {
        let folder = if plan.dir == DIR { String::new() } else { format!(" {}", quoted(&plan.dir)) };
        return format!("ralph run --plan{folder}");
    }
    match (policy.supervision(), &policy.prompt) {
        (Some(supervision), _) => {
            let folder = &supervision.task_folder;
            let (done, folder) = (quoted(&format!("{folder}/DONE")), quoted(folder));
            format!("rm {done} && ralph supervise --task-dir {folder} -- {}", words::command(policy))
        }
        (None, PromptSource::File(file)) => {
            // It is kept as seen from the project, and typed as seen from here.
            let file = if project.cwd == project.root { file.into() } else { project.root.join(file) };
            format!("ralph run -f {}", quoted(&file.to_string_lossy()))
        }
        (None, PromptSource::Text(_)) => "ralph run -p 'make the tests pass'".to_owned(),
    }
}

/// The run that is meant, or the newest unfinished one.
fn choose(store: &Store, wanted: Option<&str>, project: &Project) -> Result<RunId, CommandError> {
    match wanted {
        Some(typed) => find(store, typed),
        None => {
            let live = Live::look(project);
            missing::tell(project, &live, store, &missing::newest(store)?)?;
            match newest_unfinished(store, &live, LIKELY)? {
                Some(run) => Ok(run),
                None => newest_unfinished(store, &live, usize::MAX)?.ok_or_else(|| nothing(project, Some(store))),
            }
        }
    }
}

/// Unfinished runs among which there is nearly always one to go on with.
const LIKELY: usize = 50;

/// The newest unfinished run that rests and is not inside another such; if all live, the newest.
fn newest_unfinished(store: &Store, live: &Live<'_>, most: usize) -> Result<Option<RunId>, CommandError> {
    let unfinished = Listing::newest(store, Which::Unfinished, most)?.runs;
    let rests = |row: &RunRow| live.process(&row.run).is_none();
    let mut newest = None;
    for row in &unfinished {
        let parent = row.parent.as_ref().map(|parent| runs::indexed(store, parent)).transpose()?.flatten();
        // Whoever goes on with a tree goes on with its root.
        let is_inside = parent.is_some_and(|parent| parent.keys().standing != Standing::Finished && rests(&parent));
        if rests(row) && !is_inside {
            return Ok(Some(row.run.clone()));
        }
        newest.get_or_insert(row);
    }
    Ok(newest.filter(|_| unfinished.len() < most).map(|row| row.run.clone()))
}

/// A run that is named in a project without runs may be that of a project that was moved in a way that left
/// no sign, such as to another disk. Its old place must be gone: it could be copied from there.
fn adopt(project: &Project, typed: &str) -> Result<Store, CommandError> {
    for (folder, was) in project.homeless() {
        let found = Store::open_existing(&folder)?.map(|store| store.find(typed)).transpose()?;
        if let Some(Found::One(run)) = found {
            state_dir::adopt(&folder, &project.state, &project.root).map_err(|error| {
                CommandError::io(format!("the runs of {} cannot be brought here", was.display()), &error)
            })?;
            page::say(&format!("note: run {run} began in {}, which is gone; it goes on here", was.display()));
            return Store::open_existing(&project.state)?.ok_or_else(|| nothing(project, None));
        }
    }
    Err(nothing(project, None))
}

/// The run that somebody typed, or what they may have meant.
pub fn find(store: &Store, typed: &str) -> Result<RunId, CommandError> {
    match store.find(typed)? {
        Found::One(run) => Ok(run),
        Found::Several(runs) => {
            let runs: Vec<String> = runs.iter().map(ToString::to_string).collect();
            Err(CommandError::usage(format!("`{typed}` is the beginning of several runs: {}", runs.join(", "))))
        }
        Found::None { nearest } => {
            let error = CommandError::usage(format!("there is no run `{typed}` in this project"));
            let nearest: Vec<String> = nearest.iter().map(ToString::to_string).collect();
            let error = if nearest.is_empty() { error } else { error.hint(format!("near it: {}", nearest.join(", "))) };
            Err(error.hint("list them: ralph status"))
        }
    }
}

fn nothing(project: &Project, store: Option<&Store>) -> CommandError {
    let told = CommandError::usage(format!("there is no unfinished run in {}", project.root.display()))
        .hint("begin one: ralph run -p 'make the tests pass'");
    pick::with_missing(told, project, store)
}
