//! Puts lock, store, keeper and face together and carries a run, new or resumed.

use crate::commands::pick;
use crate::error::CommandError;
use crate::live::{self, Live};
use crate::missing;
use crate::project::{self, Project, TASKS};
use crate::runs::Listing;
use crate::terminal::{self, FaceOptions, page};
use ralph_core::bus::{PROJECT_BUS, TASK_BUS};
use ralph_core::claim::Patterns;
use ralph_core::event::{Entry, Event, Resumed, Spent, Started};
use ralph_core::id::RunId;
use ralph_core::outcome::{Outcome, exit};
use ralph_core::plan::Unjudged;
use ralph_core::policy::{LoopKind, Policy};
use ralph_core::protect::Pins;
use ralph_core::run::{Run, RunStep};
use ralph_core::time::Millis;
use ralph_core::trust::{Seal, Trust};
use ralph_core::words::Note;
use ralph_engine::run::{BusNames, Buses, EndedChildren, Face, RunHands, RunSenses, Shown};
use ralph_engine::{Carrier, EngineError};
use ralph_host::aside::Aside;
use ralph_host::child_runs::{self, RegisterError, Registration};
use ralph_host::clock::{self, Clock};
use ralph_host::folder_watch::FolderWatch;
use ralph_host::identity;
use ralph_host::lock::{self, LockError, Owner, WorkTreeLock};
use ralph_host::pins::{self, PinnedFiles};
use ralph_host::process::Keeper;
use ralph_host::programs::Programs;
use ralph_host::raw_log::RawLog;
use ralph_host::scm::{self, ScmPlace};
use ralph_host::signals::Signals;
use ralph_host::state_dir::{self, StateDirError};
use ralph_host::temp::RunTemp;
use ralph_host::tree::{self, Fingerprinter};
use ralph_host::trim;
use ralph_host::trust;
use ralph_host::views::Folder;
use ralph_store::{DamagedRow, Durability, Store, StoreError, Which};
use ralph_view::narration::Volume;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// How long the processes of a crashed run may take to be ended before it goes on.
const END_OLD_TREE: Duration = Duration::from_secs(10);

/// Runs that are asked what they pinned, where nothing else tells it.
const ASKED: usize = 20;
/// Crashed runs whose leftovers are looked for before another run works in their tree.
const CRASHED_LOOKED_AT: usize = 5;

pub enum Beginning {
    New(Box<Started>),
    Old(Box<Run>, Box<Resumed>),
}

/// A run that may be carried: it is registered, and its work tree is locked for it or an ancestor.
pub struct Claimed {
    store: Store,
    clock: Clock,
    lock: Option<WorkTreeLock>,
    registration: Registration,
    /// What it owns is locked itself too: others may keep their state elsewhere.
    _folder: Option<File>,
}

impl Claimed {
    /// Registers a run, locks what it owns and opens the store; only a supervised agent's task folder is written
    /// before. Registering comes first: until then a run inside a run is a leftover of its parent's agent.
    pub fn take(project: &Project, run: &RunId, policy: &Policy) -> Result<Claimed, CommandError> {
        let (clock, registration) = begin(project, run)?;
        if policy.supervision().is_some() {
            folder(project, policy)?;
        }
        // Whoever carries this run owns the tree too, or works in its ancestor's; the lock tells more about it.
        let lock = take_lock(project, run, &owned(project, policy), &clock)?;
        let (is_guest, lock) = (lock.is_guest(), Some(lock));
        let folder = if is_guest { None } else { hold(&owned(project, policy))? };
        Ok(Claimed { store: Store::open(&project.state)?, clock, lock, registration: registration?, _folder: folder })
    }

    /// Registers a run that nobody carries, to end its journal; somebody else may own the work tree.
    pub fn take_journal(project: &Project, run: &RunId) -> Result<Claimed, CommandError> {
        let (clock, registration) = begin(project, run)?;
        let registration = registration?;
        let lock = take_lock(project, run, project.work_tree(), &clock).ok();
        Ok(Claimed { store: Store::open(&project.state)?, clock, lock, registration, _folder: None })
    }

    pub fn has_tree(&self) -> bool {
        self.lock.is_some()
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Takes an event into the journal of a run that nobody carries.
    pub fn append(&mut self, machine: &mut Run, event: Event) -> Result<RunStep, CommandError> {
        let entry = Entry { seq: machine.seq() + 1, at: self.clock.now(), elapsed: machine.elapsed(), event };
        let step = machine.step(&entry);
        self.store.append(&[entry], &machine.row(), &step.receipts, Durability::Synced)?;
        Ok(step)
    }

    /// Ends what crashed runs left, and tells the run what others spent and changed before it. Returns how long its agent
    /// went on after the last entry of the journal.
    fn prepare(
        &mut self,
        project: &Project,
        beginning: &mut Beginning,
        run: &RunId,
        policy: &Policy,
    ) -> Result<Millis, CommandError> {
        if matches!(beginning, Beginning::Old(..)) {
            for asked in self.store.asked(run)? {
                self.store.clear(asked)?;
            }
            end_leftovers_of(project, run);
            tell_children(&project.run_folder(run));
        }
        let (newest, live) = (missing::newest(&self.store)?, Live::look(project));
        missing::tell(project, &live, &self.store, &newest)?;
        forget_carried(project, &self.store)?;
        if policy.supervision().is_none() && self.lock.as_ref().is_some_and(|lock| !lock.is_guest()) {
            // Whether a damaged one crashed, nobody can tell any more.
            end_leftovers(project, newest.damaged.iter().filter_map(DamagedRow::run));
            let open = Listing::newest(&self.store, Which::Open, CRASHED_LOOKED_AT + 1)?.runs;
            end_leftovers(project, open.into_iter().map(|row| row.run).filter(|other| other != run));
            tell_left_locks(project);
        }
        if policy.pins() {
            self.trust_on(project, beginning, run, policy)?;
        }
        let unseen = match beginning {
            Beginning::Old(machine, _) if machine.outcome().is_none() => live::unseen(&machine.row(), project),
            _ => Millis::ZERO,
        };
        let (cost_usd, tokens) = self.store.spent(&policy.task, run)?;
        let task_spent = Spent { cost_usd, tokens };
        match beginning {
            Beginning::New(started) => {
                started.task_spent = task_spent;
                started.unjudged = self.unjudged_of_plan(started)?.map(Box::new);
            }
            Beginning::Old(_, resumed) => resumed.task_spent = task_spent,
        }
        Ok(unseen)
    }

    /// What the last run of the same plan left unjudged. One that works on it still is the run in which this one was
    /// started: both at once would undo each other's stories.
    fn unjudged_of_plan(&self, started: &Started) -> Result<Option<Unjudged>, CommandError> {
        let Some(plan) = started.policy.plan() else { return Ok(None) };
        let rows = Listing::newest(&self.store, Which::All, ASKED)?.runs;
        for row in rows.iter().filter(|row| row.kind == LoopKind::Plan && row.run != started.run) {
            let last = pick::machine(&self.store, &row.run)?;
            if last.policy().plan().is_none_or(|other| other.dir != plan.dir) {
                continue;
            }
            if last.outcome().is_none() && started.parent.is_some() {
                return Err(CommandError::new(
                    exit::LOCKED,
                    format!("run {} works on the plan in {}/", row.run, plan.dir),
                )
                .hint("a plan has one run at a time: let it go on"));
            }
            return Ok(last.unjudged());
        }
        Ok(None)
    }

    /// A run that goes on is open again; and where the record of what people trust is gone, the newest run that pinned
    /// something tells what it was.
    fn trust_on(
        &self,
        project: &Project,
        beginning: &Beginning,
        run: &RunId,
        policy: &Policy,
    ) -> Result<(), CommandError> {
        let failed = |error: io::Error| {
            CommandError::io(format!("what people trust cannot be kept in {}", project.state.display()), &error)
        };
        let head = project.git_root.as_deref().and_then(tree::head).unwrap_or_default();
        match beginning {
            Beginning::Old(machine, _) if machine.is_pinned() && machine.parent().is_none() => {
                trust::update(&project.state, |trust| trust.go_on(run, &head)).map_err(failed)
            }
            Beginning::New(started) if started.parent.is_none() && trust::is_missing(&project.state) => {
                let rows = Listing::newest(&self.store, Which::All, ASKED)?.runs;
                let mut machines = rows.iter().filter_map(|row| pick::machine(&self.store, &row.run).ok());
                let Some(last) = machines.find(|last| last.is_pinned() && last.parent().is_none()) else {
                    return Ok(());
                };
                let pins = last.pins();
                let settings = project.watch_settings()?;
                let settings = settings.standings().iter().map(|standing| standing.path.clone());
                let edited = last.policy().config_hash != policy.config_hash;
                let changed: Vec<String> = settings.filter(|_| edited).collect();
                let began = pins.git.identity.as_ref().map_or(head.as_str(), |identity| identity.commit.as_str());
                let trust = Trust::restored(last.id(), began, &pins.standings(), &changed);
                page::say(&format!(
                    "note: the record of what people trust is gone; run {} tells what stood there when it began",
                    last.id()
                ));
                trust::write(&project.state, &trust).map_err(failed)
            }
            _ => Ok(()),
        }
    }

    pub fn carry(
        mut self,
        options: FaceOptions,
        project: &Project,
        mut beginning: Beginning,
    ) -> Result<u8, CommandError> {
        let (run, parent, policy) = match &beginning {
            Beginning::New(started) => (started.run.clone(), started.parent.clone(), Arc::new(started.policy.clone())),
            Beginning::Old(machine, _) => {
                (machine.id().clone(), machine.parent().cloned(), Arc::clone(machine.policy()))
            }
        };
        let unseen = self.prepare(project, &mut beginning, &run, &policy)?;
        if options.volume == Volume::Verbose && !options.json {
            let line = ralph_agents::for_agent(&policy.agent).command(&policy.agent);
            page::say(&format!("[ralph] Agent command: {}", [vec![line.program], line.args].concat().join(" ")));
        }
        let runtime = event_loop()?;
        let face = terminal::start(options, self.clock.clone())
            .map_err(|error| CommandError::io("the output threads cannot be started", &error))?;
        let outcome =
            runtime.block_on(self.carry_by((project, &run, parent, &policy), face.as_ref(), beginning, unseen));
        face.borrow_mut().finish();
        Ok(outcome?.exit_code)
    }

    async fn carry_by(
        self,
        (project, run, parent, policy): (&Project, &RunId, Option<RunId>, &Policy),
        face: &RefCell<dyn Face>,
        beginning: Beginning,
        unseen: Millis,
    ) -> Result<Outcome, CommandError> {
        // Its record is removed when everything else is over.
        let Claimed { store, clock, lock, registration: _registration, _folder } = self;
        let senses = RunSenses { clock: clock.clone(), signals: signals()? };
        let run_folder = project.run_folder(run);
        let keeper = Keeper::start(run, &run_folder)
            .map_err(|error| CommandError::io("the keeper cannot be started", &error))?;
        let (temp, unwritten) = match RunTemp::create(&project::temp_folder(), run) {
            Ok(temp) => (Some(temp), None),
            Err(error) => (None, Some(Note::TempMissing { error: error.to_string() })),
        };
        let folder = folder(project, policy)?;
        // Beside the run: nothing waits for it, and it ends with the run. Where no thread can be started, the next run does it.
        let _trimming = policy.pins().then(|| {
            let state = project.state.clone();
            Aside::start(move |stop| trim::trim(&state, stop))
        });
        let supervision = policy.supervision();
        let hands = RunHands {
            run: run.clone(),
            parent,
            root: supervision.map_or(project.root.clone(), |supervision| supervision.folder.clone().into()),
            git_root: project.git_root.clone(),
            scm_note: scm_note(project),
            keeper,
            temp,
            face,
            clock: clock.clone(),
            ended_children,
            state: project.state.clone(),
            fingerprinter: fingerprinter(project),
            programs: Programs::new(&project.root, project::variable("PATH")),
            snapshots: None,
            heads: Default::default(),
            seal: seal(run, policy, None),
            settings: project.watch_settings()?,
            patterns: Patterns::new(&policy.completion),
            pinned_files: PinnedFiles::new(&project.root, &run_folder.join(pins::KEPT)),
            raw_log: RawLog::new(&run_folder),
            run_folder,
            checkout: None,
            unwritten,
            lock,
            base_known: None,
            buses: buses(project, run, policy, folder.task_folder()),
            asked_at: None,
            watch: supervision.map(|it| FolderWatch::new(folder.task_folder(), it.poll.duration())),
            folder,
            variable: project::variable,
        };
        let (shown, parts) = (Shown(face), (hands, store, senses));
        let outcome = match beginning {
            Beginning::New(started) => {
                let event = Event::Started(started);
                let entry = Entry { seq: 1, at: clock.now(), elapsed: Millis::ZERO, event };
                let (machine, step) = Run::begin(&entry).map_err(EngineError::from)?;
                Carrier::begin(machine, entry, parts, &shown).carry(step).await
            }
            Beginning::Old(machine, resumed) => {
                Carrier::resume(*machine, unseen, parts, &shown).carry_from(Event::Resumed(resumed)).await
            }
        };
        outcome.map_err(CommandError::from)
    }
}

/// By what the journal of a run is known again.
pub fn seal(run: &RunId, policy: &Policy, pins: Option<&Pins>) -> Seal {
    Seal {
        run: run.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rules: policy.print(),
        pins: pins.map(Pins::print).unwrap_or_default(),
    }
}

/// The child runs of a run that have ended, as the store knows them.
fn ended_children(state: &Path, run: &RunId) -> Result<EndedChildren, String> {
    let told = |error: StoreError| error.to_string();
    let store = Store::open(state).map_err(told)?;
    let own = Listing::newest(&store, Which::ChildrenOf(run), usize::MAX).map_err(told)?.runs;
    Ok(own.into_iter().map(|row| (row.run, row.stop_reason)).collect())
}

pub fn started(project: &Project, parent: Option<RunId>, policy: Policy) -> Box<Started> {
    Box::new(Started {
        run: RunId::from_random(clock::random_bits()),
        parent,
        policy,
        root: project.root.display().to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        task_spent: Spent::default(),
        no_repository: project.git_root.is_none(),
        unjudged: None,
    })
}

pub fn begin_run(options: FaceOptions, project: &Project, started: Box<Started>) -> Result<u8, CommandError> {
    Claimed::take(project, &started.run, &started.policy)?.carry(options, project, Beginning::New(started))
}

/// What runs everything. tokio panics where it gets no sockets for signals, so as many descriptors
/// as it opens are tried first: their lack is the machine's fault and not ralph's.
pub fn event_loop() -> Result<Runtime, CommandError> {
    let tried: io::Result<Vec<_>> = (0..3).map(|_| UnixStream::pair()).collect();
    // They are closed before the runtime needs as many.
    tried
        .map(drop)
        .and_then(|()| tokio::runtime::Builder::new_current_thread().enable_all().build())
        .map_err(|error| CommandError::io("the event loop cannot be started", &error))
}

fn buses(project: &Project, run: &RunId, policy: &Policy, task_folder: &Path) -> Buses {
    Buses::new(BusNames {
        task_bus: task_folder.join(TASK_BUS),
        project_bus: project.root.join(".ralph").join(PROJECT_BUS),
        project: project_name(project, policy),
        task: policy.task.clone(),
        run: run.clone(),
        state: project.state.clone(),
    })
}

pub fn signals() -> Result<Signals, CommandError> {
    Signals::listen().map_err(|error| CommandError::io("signals cannot be listened to", &error))
}

/// Knows the tree, less ralph's own folder in it.
fn fingerprinter(project: &Project) -> Fingerprinter {
    let own = project.git_root.as_deref().and_then(|git| project.root.strip_prefix(git).ok()).unwrap_or(Path::new(""));
    Fingerprinter::ignoring(&own.join(".ralph")).keeping(&project.state.join("tree-cache"))
}

/// Is there while a task of version control runs.
fn scm_note(project: &Project) -> PathBuf {
    project.state.join("scm-task")
}

fn folder(project: &Project, policy: &Policy) -> Result<Folder, CommandError> {
    let task_folder = task_folder(project, policy);
    if task_folder == usual_task_folder(project, policy) {
        return Folder::prepare(&project.root, &policy.task)
            .map_err(|error| CommandError::usage("the project's .ralph folder cannot be used").because(&error));
    }
    Folder::with_task_folder(&project.root, &task_folder)
        .map_err(|error| CommandError::usage("the task folder cannot be used").because(&error))
}

pub fn task_folder(project: &Project, policy: &Policy) -> PathBuf {
    let said = policy.supervision().map(|supervision| PathBuf::from(&supervision.task_folder));
    said.unwrap_or_else(|| usual_task_folder(project, policy))
}

fn usual_task_folder(project: &Project, policy: &Policy) -> PathBuf {
    project.root.join(TASKS).join(policy.task.as_str())
}

/// A run's project, as messages name it.
pub fn project_name(project: &Project, policy: &Policy) -> String {
    let said = policy.supervision().map(|supervision| supervision.project.clone());
    said.unwrap_or_else(|| project.project_name())
}

/// What no second loop may work on: the work tree, or the task folder of a supervised agent.
fn owned(project: &Project, policy: &Policy) -> PathBuf {
    if policy.supervision().is_some() { task_folder(project, policy) } else { project.work_tree().to_owned() }
}

fn begin(project: &Project, run: &RunId) -> Result<(Clock, Result<Registration, CommandError>), CommandError> {
    let clock = Clock::start();
    prepare_state(project)?;
    // A project that is moved later is known by this; without it, the run's id still finds it.
    if let Err(error) = state_dir::remember(&project.state, &project.root) {
        page::say(&format!("note: if this project is moved, its runs will not be found there: {error}"));
    }
    Ok((clock, register(project, run)))
}

fn prepare_state(project: &Project) -> Result<(), CommandError> {
    state_dir::prepare(&project.state, &project.root).map_err(|error| {
        // Where the folder lies and whose it is was somebody's choice; the rest is the disk's.
        let code = if matches!(error, StateDirError::Io { .. }) { exit::IO } else { exit::USAGE };
        CommandError::new(code, error.to_string())
            .because(&error)
            .hint("choose another one: export RALPH_STATE_DIR=/a/folder/outside/the/project")
    })
}

/// Makes this process the one that carries the run, and a child of the run around it.
fn register(project: &Project, run: &RunId) -> Result<Registration, CommandError> {
    child_runs::register(&project.run_folder(run), &project.origin()).map_err(|error| match error {
        RegisterError::Carried { pid } => {
            let who = if pid == 0 { String::new() } else { format!(": process {pid}") };
            CommandError::new(exit::LOCKED, format!("another ralph carries run {run}{who}"))
                .hint("look at it: ralph status")
                .hint(format!("stop it: ralph cancel {run}"))
        }
        other => CommandError::io(format!("run {run} cannot be registered"), &other),
    })
}

/// Locks a work tree or a task folder itself, against those whose locks are not where ours are. Where a folder
/// cannot be locked, as on some network disks, the lock in the state directory is all there is.
fn hold(folder: &Path) -> Result<Option<File>, CommandError> {
    match lock::hold(folder) {
        Ok(Some(held)) => Ok(Some(held)),
        Err(LockError::Unsupported { .. }) => Ok(None),
        Err(error) => Err(CommandError::io(format!("{} cannot be locked", folder.display()), &error)),
        Ok(None) => {
            let who = format!("another ralph, with another state directory, works in {}", folder.display());
            Err(CommandError::new(exit::LOCKED, who).hint("end it first, or give the same RALPH_STATE_DIR to both"))
        }
    }
}

/// Ends what crashed runs have left alive: the tree has one loop now, and this is it.
fn end_leftovers(project: &Project, crashed: impl Iterator<Item = RunId>) {
    // Older ones have been looked at by the runs since.
    for run in crashed.take(CRASHED_LOOKED_AT) {
        if child_runs::process_of(&project.run_folder(&run)).is_none() {
            end_leftovers_of(project, &run);
        }
    }
}

/// Removes locks of git that a crashed run left: nobody else knows whose they are.
fn tell_left_locks(project: &Project) {
    let said = scm::remove_left_locks(ScmPlace { root: &project.root, note: &scm_note(project) });
    if !said.is_empty() {
        page::say(&format!("note: a crashed run was in the middle of version control: {said}"));
    }
}

/// Runs that are looked for among those that were carried lately, before any of them is forgotten.
const CARRIED_LATELY: usize = 200;

/// Forgets most of the runs that were carried lately and live no more, so that looking for those that live stays cheap.
fn forget_carried(project: &Project, store: &Store) -> Result<(), StoreError> {
    let carried = child_runs::carried(&project.state);
    if carried.len() <= CARRIED_LATELY {
        return Ok(());
    }
    // One that the journal does not know was lost, and is told until somebody has seen to it.
    child_runs::forget_dead(&project.state, &store.known(&carried)?, CARRIED_LATELY / 2);
    Ok(())
}

/// What a crash left alive must not work beside its successor.
fn end_leftovers_of(project: &Project, run: &RunId) {
    let sweep = identity::end_marked(run, &project.run_folder(run), END_OLD_TREE);
    let ended = sweep.ended.len();
    if ended > 0 {
        page::say(&format!("note: processes that the crashed run {run} had left alive were ended: {ended}"));
    }
    if !sweep.left.is_empty() {
        let pids: Vec<String> = sweep.left.iter().map(i32::to_string).collect();
        page::say(&format!("note: processes of the crashed run {run} could not be ended: {}", pids.join(" ")));
    }
}

/// Whoever goes on with a run should know who else still works for it.
fn tell_children(run_folder: &Path) {
    for child in child_runs::live_descendants(run_folder) {
        page::say(&format!(
            "note: the child run {} still runs (process {}); stop it: ralph cancel {0}",
            child.run, child.identity.pid
        ));
    }
}

/// Locks the work tree for a command that writes into it: no run begins meanwhile, and where one works it is refused.
pub fn own_tree(project: &Project) -> Result<WorkTreeLock, CommandError> {
    prepare_state(project)?;
    let tree = project.work_tree();
    match WorkTreeLock::take(&project.locks, tree, &this_process(None, &Clock::start())) {
        Err(LockError::Held(holder)) => Err(owned_by_another(tree, &holder)),
        taken => taken.map_err(|error| CommandError::io(format!("{} cannot be locked", tree.display()), &error)),
    }
}

fn this_process(run: Option<RunId>, clock: &Clock) -> Owner {
    let command = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
    Owner::this_process(run, clock.now(), ralph_core::text::cut(&command, 200, "..."))
}

/// Takes the lock. A run inside a run works in its ancestor's tree, under its lock.
fn take_lock(project: &Project, run: &RunId, owned: &Path, clock: &Clock) -> Result<WorkTreeLock, CommandError> {
    let owner = this_process(Some(run.clone()), clock);
    let failed = |error: &LockError| CommandError::io(format!("{} cannot be locked", owned.display()), error);
    let locks = &project.locks;
    let holder = match WorkTreeLock::take(locks, owned, &owner) {
        Err(LockError::Held(holder)) => holder,
        taken => return taken.map_err(|error| failed(&error)),
    };
    let inside = [&holder.run, &holder.heir_of].into_iter().flatten().find(|run| project.is_inside(run));
    // Two may work in one tree, one inside the other; nobody can be supervised twice.
    if let Some(ancestor) = inside.filter(|_| owned == project.work_tree()) {
        return WorkTreeLock::join(locks, owned, owner, ancestor.clone()).map_err(|error| failed(&error));
    }
    Err(owned_by_another(owned, &holder))
}

fn owned_by_another(owned: &Path, holder: &Owner) -> CommandError {
    let run = holder.run.as_ref().map_or(String::new(), |run| format!(" {run}"));
    CommandError::new(exit::LOCKED, format!("another ralph owns {}: {holder}", owned.display()))
        .hint("look at it: ralph status")
        .hint(format!("stop it: ralph cancel{run}"))
}

/// A fault in ralph itself: says how to go on, and exits. The keeper then ends the agent.
pub fn on_panic() {
    std::panic::set_hook(Box::new(|info| {
        // A status line may stand there; only a terminal has one.
        let clear = if io::stderr().is_terminal() { "\r\u{1b}[K\n" } else { "" };
        page::say(&format!("{clear}error: ralph itself failed: {info}"));
        page::say("hint: the journal is intact; go on with: ralph resume");
        std::process::exit(exit::INTERNAL.into());
    }));
}
