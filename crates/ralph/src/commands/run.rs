//! `ralph run`: begins a loop.

use crate::cli::Global;
use crate::error::CommandError;
use crate::plan_folder::PlanFolder;
use crate::project::{self, Project};
use crate::session;
use crate::settings::{Flags, Loaded, reviewer};
use crate::terminal::page;
use clap::Args;
use ralph_agents::Delivery;
use ralph_core::activity::{HookUse, PlanRead};
use ralph_core::event::{Gathered, Started};
use ralph_core::id::TaskName;
use ralph_core::memory;
use ralph_core::outcome::exit;
use ralph_core::plan::{PlanChanges, TEMPLATE};
use ralph_core::policy::{AgentPolicy, Policy, PromptSource};
use ralph_core::run::Run;
use ralph_core::time::Millis;
use ralph_engine::run::command_line;
use ralph_host::clock::Clock;
use ralph_host::{look, plan_files, views};
use ralph_view::json;
use ralph_view::quoted;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Run the loop until the agent's claim is verified.
///
/// Each iteration is a fresh agent process with the prompt, what went wrong before, and a summary.
/// After it every guardrail of the settings is executed; a claim counts only if all of them pass.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph run -p 'make the tests pass' --agent claude\n  ralph run -f PROMPT.md -m 20 --max-wall-time 8h\n  ralph run -f PROMPT.md --dry-run\n  ralph run -p 'tidy up' --once --json\n  ralph run --plan -m 30 --review-model opus"
)]
pub struct RunArgs {
    /// The prompt
    #[arg(short, long, value_name = "TEXT", value_parser = prompt, allow_hyphen_values = true)]
    prompt: Option<String>,
    /// A file that holds the prompt; it is read again for every iteration
    #[arg(short = 'f', long, value_name = "FILE")]
    prompt_file: Option<PathBuf>,
    /// Work through a plan: the folder DIR, or the one that the settings name (`plan.dir`, usually `ralph`)
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    plan: Option<Option<PathBuf>>,
    #[command(flatten)]
    review: ReviewArgs,
    /// How many iterations there may be
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    maximum_iterations: Option<i64>,
    /// What the agent puts into its response tag when it is done
    #[arg(short, long, value_name = "TEXT")]
    completion_response: Option<String>,
    /// Show the agent's output as it comes
    #[arg(long, overrides_with = "no_stream_agent_output")]
    stream_agent_output: bool,
    /// Do not show the agent's output
    #[arg(long)]
    no_stream_agent_output: bool,
    /// The task, which picks the memory under .ralph/tasks/
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    /// One iteration only
    #[arg(long)]
    once: bool,
    /// Require tests, lint and typecheck in the agent's own tool runs, and no failing command
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    limits: LimitArgs,
    /// The agent program, instead of the one in the settings
    #[arg(long, value_name = "COMMAND")]
    agent: Option<String>,
    /// The model to ask the agent for
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// How to isolate the agent; only `none` is available in this version
    #[arg(long, value_name = "MODE", conflicts_with = "no_sandbox")]
    sandbox: Option<String>,
    /// Do not isolate the agent
    #[arg(long)]
    no_sandbox: bool,
    /// Print the exact prompt and command, and run nothing
    #[arg(long)]
    dry_run: bool,
}

/// How a plan is reviewed, as `run --plan` and `resume` take it.
#[derive(Debug, Clone, Args)]
pub struct ReviewArgs {
    /// In a plan: no reviews; whoever implements a story says that it passes
    #[arg(long, overrides_with = "no_skip_review")]
    skip_review: bool,
    /// In a plan: with reviews, whatever the settings say
    #[arg(long)]
    no_skip_review: bool,
    /// In a plan: how many reviews a story may have; the last one approves it, and says so
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub review_cap: Option<i64>,
    /// In a plan: the agent program that reviews, instead of the one that implements
    #[arg(long, value_name = "COMMAND")]
    pub review_agent: Option<String>,
    /// In a plan: the model to ask the reviewer for
    #[arg(long, value_name = "NAME")]
    pub review_model: Option<String>,
}

impl ReviewArgs {
    pub fn skip(&self) -> Option<bool> {
        (self.skip_review || self.no_skip_review).then_some(self.skip_review)
    }

    /// What these flags change of a run that goes on.
    pub fn changes(&self, policy: &Policy) -> Result<PlanChanges, CommandError> {
        let Some(plan) = policy.plan() else {
            return match self.given() {
                Some(flag) => Err(CommandError::usage(format!("{flag} is for plans, and this run is none"))),
                None => Ok(PlanChanges::default()),
            };
        };
        let cap = self.review_cap.map(|cap| {
            let valid = u32::try_from(cap).ok().and_then(NonZeroU32::new);
            valid.ok_or_else(|| CommandError::usage("--review-cap needs a number of at least 1"))
        });
        let base = plan.reviewer.as_ref().unwrap_or(&policy.agent);
        let named = self.review_agent.is_some() || self.review_model.is_some();
        let reviewer = || reviewer(base, self.review_agent.as_deref(), self.review_model.as_deref());
        Ok(PlanChanges { skip_review: self.skip(), review_cap: cap.transpose()?, reviewer: named.then(reviewer) })
    }

    /// The first flag that was given, for a run that has no reviews.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--skip-review", self.skip_review),
            ("--no-skip-review", self.no_skip_review),
            ("--review-cap", self.review_cap.is_some()),
            ("--review-agent", self.review_agent.is_some()),
            ("--review-model", self.review_model.is_some()),
        ];
        given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }
}

/// Limits, as `run` and `resume` take them.
#[derive(Debug, Clone, Args)]
pub struct LimitArgs {
    /// How long the whole run may take, like 90s, 15m or 8h; 0 for no limit
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub max_wall_time: Option<Millis>,
    /// How long one agent process may take; 0 for no limit
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub iteration_timeout: Option<Millis>,
    /// How long an agent may neither print nor compute; 0 for no limit
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub idle_timeout: Option<Millis>,
    /// How much money the whole run may cost, in US dollars
    #[arg(long, value_name = "USD", value_parser = money, allow_hyphen_values = true)]
    pub max_cost: Option<f64>,
    /// How many tokens the whole run may use
    #[arg(long, value_name = "N", value_parser = tokens, allow_negative_numbers = true)]
    pub max_tokens: Option<u64>,
    /// Stop when the agent's provider refuses, instead of waiting until its limit is over
    #[arg(long)]
    pub no_wait: bool,
}

/// A prompt may begin with a dash, as lists do. A single word that does is most likely a flag in the wrong place.
fn prompt(text: &str) -> Result<String, String> {
    if text.starts_with('-') && !text.contains(char::is_whitespace) {
        let why = "one word that begins with a dash looks like a flag, not like a prompt: -p 'make the tests pass'";
        return Err(why.to_owned());
    }
    Ok(text.to_owned())
}

fn tokens(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number like 500000"))
}

fn money(text: &str) -> Result<f64, String> {
    let amount: f64 =
        text.trim_start_matches('$').parse().map_err(|_| format!("`{text}` is not an amount like 12.50"))?;
    if amount.is_finite() && amount >= 0.0 { Ok(amount) } else { Err(format!("`{text}` is not an amount of money")) }
}

pub fn run(global: &Global, args: RunArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    refuse_what_is_not_there(&args)?;
    let flags = flags(&args);
    let loaded = project.settings()?;
    let hash = loaded.hash();
    let loaded = loaded.with_flags(&flags);
    let prompt = source(&args, &project)?;
    tell_settings(global, &loaded);
    let settings = loaded.check()?;
    let policy = match (prompt, &args.plan) {
        (Some((source, usual)), _) => settings.policy(task(&args, usual)?, source, &flags, hash),
        (None, typed) => {
            let typed = typed.as_ref().and_then(Option::as_deref);
            let folder = PlanFolder::find(&project, typed, &settings.plan.dir)?;
            // Whoever starts a plan that is broken is told as by `plan check`, and nothing is begun.
            folder.plan(settings.plan.rules())?;
            let task = task(&args, TaskName::from_text("plan"))?;
            let prompt = PromptSource::File(folder.name(TEMPLATE));
            let policy = settings.policy(task, prompt, &flags, hash);
            settings.for_plan(policy, folder.dir(), loaded.says(&["loop", "stallAfter"]))
        }
    };
    doubts(&project, &policy).iter().for_each(|doubt| page::say(&format!("warning: {doubt}")));
    let started = session::started(&project, project::parent_run(), policy);
    if args.dry_run {
        return dry_run(global, &project, &started);
    }
    let face = global.face(&project, started.policy.agent.stream, &settings.display);
    session::begin_run(face, &project, started)
}

/// Which prompt, and the usual name of its task; `None` for a plan.
fn source(args: &RunArgs, project: &Project) -> Result<Option<(PromptSource, TaskName)>, CommandError> {
    let example = "for example: ralph run -p 'make the tests pass'  or  ralph run -f PROMPT.md  or  ralph run --plan";
    Ok(Some(match (&args.prompt, &args.prompt_file, &args.plan) {
        (Some(text), None, None) => {
            if text.trim().is_empty() {
                return Err(CommandError::usage("the prompt is empty").hint(example));
            }
            (PromptSource::Text(text.clone()), TaskName::from_prompt_text(text))
        }
        (None, Some(file), None) => {
            let path = project.cwd.join(file);
            views::read_prompt_file(&path).map_err(|problem| {
                let told = CommandError::usage(problem);
                // Whether the machine is to blame is in the system's own words only.
                let told = match look::may_read(&path) {
                    Err(error) => told.because(&error),
                    Ok(()) => told,
                };
                told.hint("give a file with -f, or the text itself with -p")
            })?;
            let stem = path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
            // The journal is text. A path below the project is kept relative to it, so that only its own name counts.
            let kept = path.strip_prefix(&project.root).unwrap_or(&path);
            let kept = kept.to_str().ok_or_else(|| {
                CommandError::usage(format!("the name of the prompt file {} is not UTF-8", path.display()))
                    .hint("give the file another name")
            })?;
            (PromptSource::File(kept.to_owned()), TaskName::from_text(&stem))
        }
        (None, None, Some(_)) => return Ok(None),
        (None, None, None) => {
            return Err(CommandError::usage("no prompt was given: one of -p, -f and --plan is needed").hint(example));
        }
        _ => return Err(CommandError::usage("only one of -p, -f and --plan can be given").hint(example)),
    }))
}

fn task(args: &RunArgs, usual: TaskName) -> Result<TaskName, CommandError> {
    match &args.task {
        Some(name) if name.trim().is_empty() => Err(CommandError::usage("--task needs a name")),
        Some(name) => Ok(TaskName::from_text(name)),
        None => Ok(usual),
    }
}

/// What was asked for and is not there is an error, never silently left out.
fn refuse_what_is_not_there(args: &RunArgs) -> Result<(), CommandError> {
    if let (None, Some(flag)) = (&args.plan, args.review.given()) {
        return Err(CommandError::usage(format!("{flag} is for plans: give --plan too")));
    }
    match args.sandbox.as_deref() {
        None | Some("none") => Ok(()),
        Some(mode) => {
            Err(CommandError::usage(format!("the sandbox `{mode}` is not available in this version of ralph"))
                .hint("run without one, knowingly: --no-sandbox"))
        }
    }
}

fn flags(args: &RunArgs) -> Flags {
    let stream = match (args.stream_agent_output, args.no_stream_agent_output) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    };
    Flags {
        agent: args.agent.clone(),
        model: args.model.clone(),
        completion_response: args.completion_response.clone(),
        max_iterations: args.maximum_iterations,
        stream,
        strict: args.strict,
        max_wall_time: args.limits.max_wall_time,
        iteration_timeout: args.limits.iteration_timeout,
        idle_timeout: args.limits.idle_timeout,
        max_cost: args.limits.max_cost,
        max_tokens: args.limits.max_tokens,
        no_wait: args.limits.no_wait,
        once: args.once,
        plan: args.plan.is_some(),
        skip_review: args.review.skip(),
        review_cap: args.review.review_cap,
        review_agent: args.review.review_agent.clone(),
        review_model: args.review.review_model.clone(),
    }
}

fn tell_settings(global: &Global, loaded: &Loaded) {
    if global.verbose && !global.json {
        for file in loaded.files() {
            page::say(&format!("[ralph] Loading settings from {file}"));
        }
    }
    for warning in loaded.warnings() {
        page::say(&format!("warning: {warning}"));
    }
}

/// What is set and will not work as things are: better told now than after hours of work.
fn doubts(project: &Project, policy: &Policy) -> Vec<String> {
    let in_git = project.git_root.is_some();
    let needs_git = [
        ("verify.cleanCheckout", policy.verify.clean_checkout && !policy.guardrails.is_empty()),
        ("scm.tasks", policy.scm.command == "git" && !policy.scm.tasks.is_empty()),
    ];
    let without_git = needs_git.into_iter().filter(|(_, is_set)| *is_set && !in_git).map(|(setting, _)| {
        let root = project.root.display();
        format!(
            "`{setting}` needs git, and {root} is in no work tree: make one with `git init`, or take the setting out"
        )
    });
    let reviewer = policy.plan().and_then(|plan| plan.reviewer.as_ref());
    let agents = std::iter::once(&policy.agent).chain(&policy.fallback).chain(reviewer);
    let unheard = agents.filter(|agent| !agent.model.is_empty()).filter_map(|agent| {
        let AgentPolicy { command, model, .. } = agent;
        let is_generic = ralph_agents::for_agent(agent).name == "generic";
        is_generic.then(|| {
            format!("`{command}` is not told of the model `{model}`: ralph does not know its flag; put it into `agent.flags`")
        })
    });
    without_git.chain(unheard).collect()
}

/// What would run, exactly: the first prompt through the same machine, and the command of its dialect.
fn dry_run(global: &Global, project: &Project, started: &Started) -> Result<u8, CommandError> {
    let policy = &started.policy;
    let gathered = gathered(project, policy);
    if let Some(Err(problem)) = &gathered.base {
        return Err(CommandError::usage(problem.clone()));
    }
    let now = Clock::start().now();
    let (prompt, hooks) = match policy.plan() {
        None => (Run::first_prompt(started, now, &gathered), HookUse::None),
        Some(plan) => {
            let read = PlanRead { dir: plan.dir.clone(), ..PlanRead::default() };
            let seen = plan_files::look(&project.root, &read);
            (Run::first_prompt_of_plan(started, now, &seen, &gathered), HookUse::Plan)
        }
    };
    let prompt = prompt.ok_or_else(|| {
        CommandError::usage("there is no iteration to run: nothing is left, or the limits leave none")
    })?;
    let line = command_line(&project.root, &policy.agent, hooks);
    if global.json {
        let object = serde_json::json!({
            "v": json::VERSION, "program": line.program, "args": line.args, "env": line.env.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "delivery": format!("{:?}", line.delivery).to_lowercase(), "prompt": prompt, "folder": project.root,
        });
        page::print_json(&object)?;
    } else {
        let (delivery, last) = match line.delivery {
            Delivery::Stdin => ("on standard input", None),
            Delivery::LastArg => ("as the last argument", Some("\"$PROMPT\"")),
            Delivery::File => ("as a file, the last argument", Some(".ralph/prompt_001.txt")),
        };
        let words = std::iter::once(&line.program).chain(&line.args).map(|word| quoted(word));
        let words: Vec<String> = words.chain(last.map(str::to_owned)).collect();
        page::say(&format!("command: {}", words.join(" ")));
        page::say(&format!("folder:  {}", project.root.display()));
        page::say(&format!("prompt ({delivery}):"));
        page::print(&prompt)?;
    }
    Ok(exit::OK)
}

/// The inputs of the first prompt, read without changing anything.
fn gathered(project: &Project, policy: &Policy) -> Gathered {
    let task_folder = project.root.join(project::TASKS).join(policy.task.as_str());
    let read = |file: &str| look::text(&task_folder.join(file)).unwrap_or_default();
    let base = match &policy.prompt {
        PromptSource::Text(_) => None,
        PromptSource::File(path) => Some(views::read_prompt_file(&project.root.join(path))),
    };
    Gathered {
        base,
        summary: read(&policy.memory.summary_file),
        human: memory::human_feedback(&read(&policy.memory.feedback_file)),
        tree: None,
    }
}
