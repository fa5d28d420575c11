//! `ralph hook`: what an agent's program calls while the agent works. It is dispatched before anything else, starts no
//! event loop, reads no settings and opens no database: everything it knows stands in the run's folder. It is never the
//! gate, so whatever goes wrong here ends in silence and exit code 0.

use crate::project;
use ralph_core::plan::context::{Advice, Gauge};
use ralph_core::plan::hooks::{FILE, HookSnapshot};
use ralph_core::plan::stop::{Asked, reason};
use ralph_core::plan::{Plan, TASKS};
use ralph_host::child_runs::{FOLDER_VARIABLE, PROJECT_VARIABLE};
use ralph_host::hook_state::HookState;
use ralph_host::identity::RUN_VARIABLE;
use ralph_host::scm::{self, Tree};
use ralph_host::{look, plan_files, tree};
use serde::Deserialize;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

/// The word by which the command line asks for a hook.
pub const ARGUMENT: &str = "hook";

/// A payload holds what a tool printed; a snapshot a whole plan, with its quotes escaped.
const LARGEST: u64 = 64 << 20;

/// How long git may take: the client waits ten seconds for a hook, and then goes on without an answer.
const GIT_PATIENCE: Duration = Duration::from_secs(5);

/// Which hook is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Hook {
    /// The agent wants to stop: says what the plan's rules still ask for
    Stop,
    /// A tool has run: says how full the context window is
    Context,
    /// A tool is about to run
    Guard,
    /// A session begins
    SessionStart,
}

impl Hook {
    pub fn named(name: &OsStr) -> Option<Hook> {
        match name.to_str()? {
            "stop" => Some(Hook::Stop),
            "context" => Some(Hook::Context),
            "guard" => Some(Hook::Guard),
            "session-start" => Some(Hook::SessionStart),
            _ => None,
        }
    }
}

/// Answers the client's program, if there is something to say.
pub fn main(hook: Hook) {
    // Nothing is known yet that would forbid a tool, and nothing is read to say so.
    if hook == Hook::Guard {
        return;
    }
    let Some(run) = Run::around() else { return };
    let payload = Payload::read();
    let answer = match hook {
        Hook::Stop => run.stop(&payload),
        Hook::Context => run.context(&payload),
        Hook::SessionStart => {
            run.state(payload.session()).rearm();
            None
        }
        Hook::Guard => None,
    };
    if let Some(answer) = answer {
        // Nobody is left to be told that nobody listens.
        let _ = writeln!(io::stdout(), "{answer}");
    }
}

/// What a client says to a hook, as far as anybody asks.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload {
    session_id: Option<String>,
    transcript_path: Option<PathBuf>,
    hook_event_name: Option<String>,
}

impl Payload {
    /// What stands on standard input; nothing if it is no such thing.
    fn read() -> Payload {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return Payload::default();
        }
        let mut bytes = Vec::new();
        match stdin.lock().take(LARGEST).read_to_end(&mut bytes) {
            Ok(_) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(_) => Payload::default(),
        }
    }

    fn session(&self) -> &str {
        self.session_id.as_deref().unwrap_or_default()
    }
}

/// The run around this process.
struct Run {
    folder: PathBuf,
    root: PathBuf,
    /// What is told to agents that work on a plan.
    snapshot: Option<HookSnapshot>,
}

impl Run {
    /// The run that the environment names; `None` outside of one.
    fn around() -> Option<Run> {
        let run = project::variable(RUN_VARIABLE)?;
        let folder = PathBuf::from(project::variable(FOLDER_VARIABLE)?);
        let root = PathBuf::from(project::variable(PROJECT_VARIABLE)?);
        if !folder.is_absolute() || folder.file_name() != Some(run.as_os_str()) || !folder.is_dir() {
            return None;
        }
        let mut bytes = Vec::new();
        let opened = look::open_unlinked(&folder.join(FILE));
        let read = opened.and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
        let snapshot = read.ok().and_then(|_| serde_json::from_slice(&bytes).ok());
        Some(Run { folder, root, snapshot })
    }

    fn state(&self, session: &str) -> HookState {
        HookState::of(&self.folder, session)
    }

    /// Why the agent may not stop yet; nothing after it was sent back often enough.
    fn stop(&self, payload: &Payload) -> Option<Value> {
        let snapshot = self.snapshot.as_ref()?;
        // One agent process is one session, and a client that names none has one in each iteration.
        let iteration = project::variable("RALPH_ITERATION").unwrap_or_default();
        let state = self.state(&format!("{} {}", iteration.to_string_lossy(), payload.session()));
        if state.blocks() >= u64::from(snapshot.max_stop_blocks) {
            return None;
        }
        let file = plan_files::read(&self.root.join(&snapshot.dir).join(TASKS));
        let before = Plan::read(snapshot.tasks.as_bytes()).ok();
        let turn = before.as_ref().map(|before| (before, snapshot.turn.mode, &snapshot.turn.story));
        let asked = Asked { file: file.seen(), turn, rules: snapshot.rules, uncommitted: &[] };
        let why = reason(&asked).or_else(|| {
            let uncommitted = self.uncommitted(snapshot)?;
            reason(&Asked { uncommitted: &uncommitted, ..asked })
        })?;
        // Who cannot count must not send anybody back: it would be for ever.
        state.add_block().ok()?;
        Some(json!({ "decision": "block", "reason": why }))
    }

    /// What the agent has left uncommitted; `None` without git, or if git cannot tell.
    fn uncommitted(&self, snapshot: &HookSnapshot) -> Option<Vec<String>> {
        let root = tree::git_root(&self.root)?;
        scm::newly_dirty(Tree { root: &root, project: &self.root }, &snapshot.dirty, GIT_PATIENCE)
    }

    /// How full the context window is, if that is worth a word.
    fn context(&self, payload: &Payload) -> Option<Value> {
        let size = payload.transcript_path.as_ref()?.metadata().ok()?.len();
        let window = project::variable("CLAUDE_CONTEXT_WINDOW");
        let (gauge, advice) = match &self.snapshot {
            Some(snapshot) => (snapshot.context.clone(), Advice::ForPlan),
            None => (Gauge::default(), Advice::ForOthers),
        };
        let gauge = gauge.with_window_of(window.as_deref().and_then(OsStr::to_str));
        let state = self.state(payload.session());
        let alert = gauge.alert(size, state.told(&gauge.thresholds), advice)?;
        // Of several calls at once one speaks; and who cannot remember would say it again and again.
        if !state.tell(alert.threshold).unwrap_or(false) {
            return None;
        }
        let event = payload.hook_event_name.as_deref().unwrap_or("PostToolUse");
        Some(json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": alert.text } }))
    }
}
