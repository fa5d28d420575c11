//! The command line. The doc comments are the help texts.

use crate::commands;
use crate::error::CommandError;
use crate::project::{self, Project};
use crate::settings::DisplaySettings;
use crate::terminal::{ColorChoice, FaceOptions, page};
use clap::{Args, Parser, Subcommand};
use ralph_core::outcome::exit;
use ralph_view::agent_lines::RenderOptions;
use ralph_view::narration::Volume;
use ralph_view::{Marks, Paint, Style, Suggest};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// Runs a coding agent again and again, with fresh context each time, until the work is verifiably done.
///
/// The agent claims; ralph checks. A run ends as complete only if every check passed on the files as
/// they are, and everything it did can be looked at afterwards.
#[derive(Debug, Parser)]
#[command(
    name = "ralph",
    version,
    disable_version_flag = true,
    after_help = "Examples:\n  ralph demo                                   see it work, without account or network\n  ralph init                                   settings for your project, by a few questions\n  ralph doctor                                 whether a run could start here\n  ralph run -p 'make the tests pass' --agent claude\n  ralph run -f PROMPT.md -m 20 --max-wall-time 8h\n  ralph plan init && ralph plan draft && ralph run --plan\n  ralph resume                                 go on after a stop, a limit or a crash\n  ralph explain                                why the last run ended\n\nExit codes: 0 complete, 1 used up, 2 usage, 3 blocked, 4 time or budget, 5 agent cannot run,\n6 waiting, 7 stalled, 70 internal, 74 disk, 75 another ralph owns the tree, 130 interrupted."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Work in this folder instead of the current one
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Print JSON for programs: one object, or one object a line for streams
    #[arg(long, global = true)]
    pub json: bool,
    /// When to colour
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", global = true)]
    pub color: ColorChoice,
    /// Show runs without emoji, colour and live line, as screen readers and logs like it
    #[arg(long, global = true)]
    pub plain: bool,
    /// Say more: every step as a `[ralph]` line
    #[arg(short = 'V', long, global = true)]
    pub verbose: bool,
    /// Say only how it ended
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print the version
    #[arg(short = 'v', long, action = clap::ArgAction::Version)]
    version: Option<bool>,
}

impl Global {
    /// How a run is to be shown.
    pub fn face(&self, project: &Project, stream: bool, display: &DisplaySettings) -> FaceOptions {
        let volume = match (self.quiet, self.verbose) {
            (true, _) => Volume::Quiet,
            (false, true) => Volume::Verbose,
            (false, false) => Volume::Normal,
        };
        let stderr = std::io::stderr();
        let can_be_live = stderr.is_terminal() && !matches!(project::term().as_deref(), None | Some("dumb" | ""));
        let live = can_be_live && !(self.json || self.quiet || self.plain);
        let render = self.render(display);
        let paint = Paint { on: self.color.colours(&stderr, self.colorless()), ..render.paint };
        let style = Style { paint, zone: render.zone.clone(), suggest: project.suggest() };
        FaceOptions { project: project.name(), json: self.json, volume, stream, live, style, render }
    }

    /// How an agent's events are to be shown.
    pub fn render(&self, display: &DisplaySettings) -> RenderOptions {
        let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        RenderOptions {
            paint: Paint { marks: if display.emoji { self.marks() } else { Marks::Words }, ..page::paint(self) },
            zone: page::zone(),
            timestamps: display.timestamps,
            text: display.text,
            max_output_lines: size(display.max_output_lines),
            max_output_chars: size(display.max_output_chars),
            verbose: self.verbose,
        }
    }

    /// Which marks can be read here.
    pub fn marks(&self) -> Marks {
        if self.plain || !project::shows_unicode() { Marks::Words } else { Marks::Emoji }
    }

    /// Whether colour is unwanted unless it is asked for.
    pub fn colorless(&self) -> bool {
        self.plain || project::is_colorless()
    }
}

/// What ralph can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write .ralph/settings.json by answering a few questions
    Init(commands::init::InitArgs),
    /// Run the loop until the agent's claim is verified
    Run(Box<commands::run::RunArgs>),
    /// Write, check, show and keep plans
    Plan(commands::plan::PlanArgs),
    /// Keep a root agent running until it is DONE
    Supervise(commands::supervise::SuperviseArgs),
    /// Go on with a run after a stop, a limit or a crash
    Resume(commands::resume::ResumeArgs),
    /// List the runs of this project
    Status(commands::status::StatusArgs),
    /// Show a run, or one of its iterations
    Show(commands::show::ShowArgs),
    /// Print what the agent and the checks printed
    Logs(commands::logs::LogsArgs),
    /// Say why a run ended, with the evidence
    Explain(commands::explain::ExplainArgs),
    /// Write a report on a run: Markdown, HTML or JSON
    Report(commands::report::ReportArgs),
    /// Stop a run at once
    Cancel(commands::cancel::CancelArgs),
    /// Post and read messages between people, agents and runs
    #[command(subcommand)]
    Bus(commands::bus::BusCommand),
    /// Ask something of a run
    Say(commands::say::SayArgs),
    /// Say what the checks are made of, why, and what is not known
    Judges(commands::judges::JudgesArgs),
    /// Accept what judges, and the settings, as they stand now
    Trust(commands::trust::TrustArgs),
    /// Answer the hook of an agent's program, inside a run
    Hook(commands::hook::HookArgs),
    /// Write the plugin for Claude Code
    #[command(subcommand)]
    Plugin(commands::plugin::PluginCommand),
    /// Look at the settings
    #[command(subcommand)]
    Config(commands::config::ConfigCommand),
    /// Print a script that completes commands and flags in a shell
    Completions(commands::completions::CompletionsArgs),
    /// Print the manual page, or write those of all commands
    Man(commands::man::ManArgs),
    /// Say whether a run could start here, and what to do where it could not
    Doctor(commands::doctor::DoctorArgs),
    /// See the whole thing work in a scratch folder: no account, no network
    Demo(commands::demo::DemoArgs),
    /// The scripted agent of the demo
    #[command(hide = true, name = "__demo-agent")]
    DemoAgent {
        #[arg(long)]
        plan: bool,
    },
    /// What a child process can do to isolate itself
    #[command(hide = true, name = "__isolation")]
    Isolation,
    /// Writes the generated pages of the documentation
    #[command(hide = true, name = "__docs")]
    Docs {
        /// Where to
        folder: PathBuf,
    },
}

/// Parses, runs, prints errors, and returns the exit code.
pub fn main() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let printed = error.print();
            // Help and version are results; everything else is a wrong call.
            return if error.use_stderr() {
                exit::USAGE
            } else {
                code_of(page::heard(printed).map(|()| exit::OK), None)
            };
        }
    };
    let result = match cli.command {
        Command::Init(args) => commands::init::run(&cli.global, &args),
        Command::Run(args) => commands::run::run(&cli.global, *args),
        Command::Plan(args) => commands::plan::run(&cli.global, &args),
        Command::Supervise(args) => commands::supervise::run(&cli.global, &args),
        Command::Resume(args) => commands::resume::run(&cli.global, args),
        Command::Status(args) => commands::status::run(&cli.global, &args),
        Command::Show(args) => commands::show::run(&cli.global, &args),
        Command::Logs(args) => commands::logs::run(&cli.global, &args),
        Command::Explain(args) => commands::explain::run(&cli.global, &args),
        Command::Report(args) => commands::report::run(&cli.global, &args),
        Command::Cancel(args) => commands::cancel::run(&cli.global, &args),
        Command::Bus(command) => commands::bus::run(&cli.global, command),
        Command::Say(args) => commands::say::run(&cli.global, args),
        Command::Judges(args) => commands::judges::run(&cli.global, &args),
        Command::Trust(args) => commands::trust::run(&cli.global, &args),
        Command::Hook(args) => commands::hook::run(&args),
        Command::Plugin(command) => commands::plugin::run(&cli.global, &command),
        Command::Config(command) => commands::config::run(&cli.global, &command),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&cli.global, &args),
        Command::Doctor(args) => commands::doctor::run(&cli.global, &args),
        Command::Isolation => commands::doctor::isolation_child(),
        Command::Demo(args) => commands::demo::run(&cli.global, &args),
        Command::DemoAgent { plan } => commands::demo::agent(plan),
        Command::Docs { folder } => commands::config::write_docs(&folder),
    };
    code_of(result, cli.global.directory.as_deref())
}

/// Prints the version, and returns the exit code.
pub fn version() -> u8 {
    let printed = page::print(concat!("ralph ", env!("CARGO_PKG_VERSION"), "\n"));
    code_of(printed.map(|()| exit::OK), None)
}

/// The exit code of what came of a command; an error is told first, with hints for that folder.
fn code_of(result: Result<u8, CommandError>, folder: Option<&Path>) -> u8 {
    result.unwrap_or_else(|error| {
        let suggest = folder.map(Suggest::elsewhere).unwrap_or_default();
        if error.code != exit::OK {
            page::say(error.text(&suggest).trim_end());
        }
        error.code
    })
}
