//! Performing one activity: each turns into host calls, and its result into events.

use crate::agent;
use crate::buses::Buses;
use crate::children;
use crate::face::Face;
use ralph_core::check::{CheckSpec, Ground, TreePrint};
use ralph_core::claim::Patterns;
use ralph_core::effect::{Effect, Post};
use ralph_core::event::{Event, Gathered};
use ralph_core::id::RunId;
use ralph_core::memory::{self, Views};
use ralph_core::observation::Markers;
use ralph_core::policy::{Policy, PromptSource};
use ralph_core::protect::{self, PinFailure, Pins};
use ralph_core::scm::{Pending, ScmPolicy, is_commit};
use ralph_core::time::{Millis, WallTime};
use ralph_host::aside::{Aside, Stop};
use ralph_host::bus::Durability;
use ralph_host::checkout::{self, Checkout, CheckoutError};
use ralph_host::checks::{self, CheckPlace};
use ralph_host::clock::Clock;
use ralph_host::folder_watch::FolderWatch;
use ralph_host::git::{Inquiry, Unlisted};
use ralph_host::lock::{Standing, WorkTreeLock};
use ralph_host::pins::{self, PinnedFiles};
use ralph_host::process::Keeper;
use ralph_host::process::drive::Order;
use ralph_host::programs::Programs;
use ralph_host::raw_log::RawLog;
use ralph_host::scm::ScmPlace;
use ralph_host::temp::RunTemp;
use ralph_host::views::Folder;
use ralph_host::watch::SettingsWatch;
use ralph_host::{git, marker, scm, tree, views};
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

/// How long git may take to say what waits to be committed.
const GIT_TIMEOUT: Millis = Millis::from_secs(600);
/// How long a look that was told to stop may take to do so; one that hangs in the kernel is left behind.
const STOPPING: Duration = Duration::from_secs(5);
/// A wait looks at the wall clock at least this often: it may have been set, or the machine slept.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(30);

/// What activities act on.
pub struct World {
    /// The run.
    pub run: RunId,
    /// The run inside which it was started.
    pub parent: Option<RunId>,
    /// The project's folder, where agents and checks run.
    pub root: PathBuf,
    /// The git work tree around it, if there is one.
    pub git_root: Option<PathBuf>,
    /// The run's folder in the state directory.
    pub run_folder: PathBuf,
    /// What agents print.
    pub raw_log: RawLog,
    /// A file in the state directory that is there while a task of version control runs.
    pub scm_note: PathBuf,
    /// Readable files in the project.
    pub folder: Folder,
    /// Who starts processes.
    pub keeper: Keeper,
    /// Where agents put what is temporary; `None` if it could not be made, and then the system's own.
    pub temp: Option<RunTemp>,
    /// The clock.
    pub clock: Clock,
    /// Knows the tree.
    pub fingerprinter: tree::Fingerprinter,
    /// What a claim looks like.
    pub patterns: Patterns,
    /// Files whose state counts.
    pub pinned_files: PinnedFiles,
    /// The commit that is being checked, where that is wanted.
    pub checkout: Option<Checkout>,
    /// Programs that checks use.
    pub programs: Programs,
    /// The settings files as they were at the start.
    pub settings: SettingsWatch,
    /// Why the views could not be written last time.
    pub unwritten: Option<String>,
    /// What makes this the only loop in the work tree, or the guest of an ancestor.
    pub lock: Option<WorkTreeLock>,
    /// Hash of the prompt file's text as core knows it.
    pub base_known: Option<String>,
    /// The buses of the run.
    pub buses: Buses,
    /// Notices markers in the task folder, where somebody waits for them.
    pub watch: Option<FolderWatch>,
    /// Reads a variable of this process's environment, which agents inherit.
    pub variable: fn(&str) -> Option<OsString>,
}

impl World {
    /// Writes the readable views. The journal holds all of it, so a full disk or a deleted folder
    /// does not end the run here; the next note says what could not be written.
    pub(crate) fn write_views(&mut self, views: &Views) {
        if let Err(error) = self.folder.write_views(views) {
            self.unwritten = Some(error.to_string());
        }
    }

    /// What happened to the readable files since this was last asked.
    pub(crate) fn notes(&mut self) -> Vec<Event> {
        let unwritten = self.unwritten.take();
        let edited = self.settings.edited().map(|file| Event::SettingsEdited { file });
        let notes = self.folder.take_notes().into_iter().chain(unwritten).map(|text| Event::Noted { text });
        notes.chain(edited).collect()
    }

    /// Whether this is still the only loop in the work tree.
    fn stands_alone(&mut self) -> Result<Option<Event>, String> {
        match self.lock.as_mut().map(WorkTreeLock::check) {
            None | Some(Standing::Firm) => Ok(None),
            Some(Standing::Mended) => {
                Ok(Some(Event::Noted { text: "a part of the work tree's lock was deleted and is back".to_owned() }))
            }
            Some(Standing::Inherited) => Ok(Some(Event::Noted {
                text: "the run in whose work tree this one works has ended; the tree is this run's now".to_owned(),
            })),
            Some(Standing::Taken(owner)) => {
                Err(format!("the run in whose work tree this one worked has ended, and another ralph came in: {owner}"))
            }
            Some(Standing::Lost) => {
                Err("the work tree's lock was deleted, so another ralph may have come in; nothing more is started"
                    .to_owned())
            }
        }
    }

    /// Removes a marker that no longer counts. One that cannot be removed is seen again at the next look.
    pub(crate) fn remove_marker(&mut self, name: &str) {
        let _ = marker::remove(self.folder.task_folder(), name);
    }

    /// Posts a message that nothing depends on; the next note says if that failed.
    pub(crate) fn post(&mut self, post: &Post) {
        let posted = self.buses.post(post, self.clock.now(), Durability::Written);
        self.unwritten = posted.err().or(self.unwritten.take());
    }

    /// What was said on the bus since this was last asked, if it concerns this run.
    pub(crate) fn listen(&mut self) -> Option<Event> {
        self.buses.listen()
    }
}

/// What connects a running activity with the rest.
pub(crate) struct Links<'a> {
    /// Who is told.
    pub(crate) face: &'a RefCell<dyn Face>,
    /// Orders to the running process.
    pub(crate) orders: &'a mut UnboundedReceiver<Order>,
    /// Events that cannot wait for the activity's end.
    pub(crate) alarm: &'a UnboundedSender<Event>,
}

/// What an activity goes by.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    /// The rules of the run.
    pub(crate) policy: &'a Policy,
    /// What must be as it was at the start.
    pub(crate) pins: &'a Arc<Pins>,
}

/// One activity.
pub(crate) struct Activity(pub(crate) Effect);

impl Activity {
    /// Performs it. The last event is its answer; notes may stand before it.
    pub(crate) async fn run(self, world: &mut World, rules: Rules<'_>, links: Links<'_>) -> Vec<Event> {
        let Rules { policy, pins } = rules;
        match self.0 {
            Effect::Gather { summary, remember_tree } => {
                if remember_tree && !world.fingerprinter.has_looked() {
                    // Only what it changed since counts, so nobody asks for the print.
                    let _ = look_at_tree(world, policy.patience_for_memory(), pins).await;
                }
                gather(world, policy, summary)
            }
            Effect::Launch(launch) => agent::run(world, policy, &launch, links).await,
            Effect::LookAtMarkers => {
                let problem = world.folder.keep_task_folder().err().map(|error| error.to_string());
                let markers = marker::look_at_all(world.folder.task_folder());
                world.listen().into_iter().chain([Event::MarkersSeen { markers, problem }]).collect()
            }
            Effect::Rest { span } => {
                rest(world, span).await;
                vec![Event::Woke]
            }
            Effect::AwaitChildren { span, then } => {
                let seen = children::wait(&world.run_folder, span, then, links.alarm).await;
                world.listen().into_iter().chain([seen]).collect()
            }
            Effect::PostSafely(posts) => {
                let post = |post| world.buses.post(post, world.clock.now(), Durability::Synced).err();
                let problems: Vec<String> = posts.iter().filter_map(post).collect();
                vec![Event::Posted { problem: (!problems.is_empty()).then(|| problems.join("; ")) }]
            }
            Effect::LookAtTree => {
                let seen = look_at_tree(world, policy.tree_patience(), pins).await;
                let problem = world.fingerprinter.take_problem().map(|text| Event::Noted { text });
                // What somebody wants while the checks run is heard before they count.
                problem.into_iter().chain(world.listen()).chain([seen]).collect()
            }
            Effect::Pin { candidates } => pin(world, policy, candidates).await,
            Effect::RestorePinned { paths } => {
                vec![Event::PinnedRestored { problems: world.pinned_files.restore(&pins.files, &paths) }]
            }
            Effect::CheckOut => vec![check_out(world, pins).await],
            Effect::Check(spec) => check(world, policy, spec, links.orders).await,
            Effect::LookAtPending => {
                let pending = look_at_pending(world, policy).await;
                world.listen().into_iter().chain([Event::ScmLooked { pending }]).collect()
            }
            Effect::Scm(spec) => {
                let place = ScmPlace { root: &world.root, note: &world.scm_note };
                let mut report = scm::run(&mut world.keeper, spec, place, links.orders).await;
                if !report.ending.passed() && report.spec.args.first().is_some_and(|word| is_commit(word)) {
                    report.nothing = ScmPolicy::is_nothing(look_at_pending(world, policy).await);
                }
                world.listen().into_iter().chain([Event::ScmEnded(Box::new(report))]).collect()
            }
            Effect::Wait { until } => {
                wait(&world.clock, until).await;
                vec![Event::Woke]
            }
            // Everything else is no activity and was performed at once.
            _ => Vec::new(),
        }
    }
}

fn gather(world: &mut World, policy: &Policy, summary: bool) -> Vec<Event> {
    let base = match &policy.prompt {
        PromptSource::Text(_) => None,
        PromptSource::File(path) => {
            let base = views::read_prompt_file(&world.root.join(path));
            let known = base.as_ref().ok().map(|text| ralph_core::text::hash(text.as_bytes()));
            // The same text again need not stand in the journal again.
            let same = known.is_some() && known == world.base_known;
            world.base_known = known;
            (!same).then_some(base)
        }
    };
    let summary = if summary { world.folder.read_summary(&policy.memory.summary_file) } else { String::new() };
    let human = match policy.memory.feedback_file.as_str() {
        "" => String::new(),
        name => memory::human_feedback(&world.folder.read_feedback(name)),
    };
    let mut events = world.notes();
    events.extend(world.listen());
    let base = match world.stands_alone() {
        Ok(note) => {
            events.extend(note);
            base
        }
        Err(problem) => Some(Err(problem)),
    };
    events.push(Event::Gathered(Gathered { base, summary, human }));
    events
}

/// Looks at the tree and at everything pinned, aside from the event loop: signals and timers go on, and a run that
/// ends meanwhile drops it.
async fn look_at_tree(world: &mut World, limit: Millis, pins: &Arc<Pins>) -> Event {
    let until = (!limit.is_off()).then(|| Instant::now() + limit.duration());
    let listed = match world.git_root.as_deref() {
        Some(root) => {
            let inquiry = Inquiry { root, pins, scratch: &world.run_folder, patience: limit };
            git::list_tree(&mut world.keeper, inquiry).await
        }
        None => Err(Unlisted::no_repository()),
    };
    let is_listed = listed.is_ok();
    let anew = world.fingerprinter.anew();
    let mut fingerprinter = std::mem::replace(&mut world.fingerprinter, anew);
    let (files, programs, pins) = (world.pinned_files.clone(), world.programs.clone(), Arc::clone(pins));
    let reads_nothing = !is_listed && pins.files.is_empty() && pins.programs.is_empty();
    let look = move |stop: &Stop| {
        // The pinned files first: they are few, and count even where there is no time for the rest.
        let seen = files.changes(&pins.files).and_then(|files| Ok((files, programs.changes(&pins.programs)?)));
        let (print, damage) = match listed {
            Ok(mut listing) => (fingerprinter.print(&mut listing, stop), Vec::new()),
            Err(unlisted) => (unlisted.print, unlisted.changes),
        };
        let seen_whole = matches!(print, TreePrint::Seen { .. });
        let changed = fingerprinter.changed().filter(|_| seen_whole).map(<[String]>::to_vec);
        let event = match seen {
            Ok((files, programs)) => {
                Event::TreeSeen { print, changed, pinned: files.into_iter().chain(programs).chain(damage).collect() }
            }
            Err(fault) => Event::TreeSeen { print: TreePrint::fault(fault), changed, pinned: damage },
        };
        (fingerprinter, event)
    };
    let started = if reads_nothing { Ok(Aside::done(look)) } else { Aside::start(look) };
    let failed = |why: String| Event::TreeSeen { print: TreePrint::fault(why), changed: None, pinned: Vec::new() };
    let mut look = match started {
        Ok(look) => look,
        Err(error) => return failed(format!("no thread could be started: {error}")),
    };
    let (answer, in_time) = tokio::select! {
        biased;
        answer = look.answer() => (answer, true),
        () = crate::at(until) => {
            look.stop();
            (tokio::time::timeout(STOPPING, look.answer()).await.ok().flatten(), false)
        }
    };
    let too_long = || format!("it takes longer than {limit} (verify.treeTimeoutMs)");
    let Some((fingerprinter, mut event)) = answer else { return failed(too_long()) };
    world.fingerprinter = fingerprinter;
    if let Event::TreeSeen { print: print @ TreePrint::Unknown { .. }, .. } = &mut event
        && is_listed
        && !in_time
    {
        *print = TreePrint::fault(too_long());
    }
    event
}

/// Looks at everything that must stay as it is, aside from the event loop: a project may be large.
async fn pin(world: &mut World, policy: &Policy, candidates: Vec<(String, Vec<usize>)>) -> Vec<Event> {
    let (files, programs, git_root) = (world.pinned_files.clone(), world.programs.clone(), world.git_root.clone());
    let (globs, scripts) = (policy.protect.paths.clone(), policy.pins_scripts());
    let words: Vec<String> = policy.guardrails.iter().flat_map(|rule| protect::words(&rule.command)).collect();
    let started = Aside::start(move |stop| {
        let mut pins = Pins { files: files.pin(&globs, &candidates, stop)?, ..Pins::default() };
        let unmatched = pins::unmatched(&globs, &pins.files);
        if scripts {
            pins.programs = programs.pin(&words);
            pins.repository = git_root.as_deref().map(tree::parts).unwrap_or_default();
            pins.tree_seen = !pins.repository.is_empty();
        }
        Ok((pins, unmatched))
    });
    let fault = |why| Err(PinFailure { why, fault: true });
    let answer = match started {
        Ok(mut looking) => looking.answer().await.unwrap_or_else(|| fault("the look at them was cut".to_owned())),
        Err(error) => fault(format!("no thread could be started: {error}")),
    };
    let (pins, unmatched) = match answer {
        Ok(seen) => seen,
        Err(problem) => return vec![Event::Pinned { pins: Err(problem) }],
    };
    let told = |glob: String| Event::Noted { text: format!("protect.paths: `{glob}` matches no file") };
    unmatched.into_iter().map(told).chain([Event::Pinned { pins: Ok(pins) }]).collect()
}

async fn check_out(world: &mut World, pins: &Pins) -> Event {
    let refused =
        |why, fault| Event::CheckedOut { commit: Err(why), fault, uncommitted: Vec::new(), pinned: Vec::new() };
    world.checkout = None;
    let Some(git_root) = world.git_root.clone() else { return refused("not a git repository".to_owned(), false) };
    let inside = world.root.strip_prefix(&git_root).unwrap_or(Path::new("")).to_owned();
    let folder = world.run_folder.join("checkout");
    let made = Checkout::make(&mut world.keeper, &git_root, &inside, &folder).await;
    let uncommitted = checkout::uncommitted(&mut world.keeper, &world.root).await;
    match (made, uncommitted) {
        (Ok((checkout, commit)), Ok(uncommitted)) => {
            match world.pinned_files.at(checkout.project()).changes(&pins.files) {
                Ok(pinned) => {
                    world.checkout = Some(checkout);
                    Event::CheckedOut { commit: Ok(commit), fault: false, uncommitted, pinned }
                }
                Err(why) => refused(why, true),
            }
        }
        (Err(CheckoutError::NoCommit), _) => refused(CheckoutError::NoCommit.to_string(), false),
        (Err(why), _) => refused(why.to_string(), true),
        (_, Err(why)) => refused(why.to_string(), true),
    }
}

async fn look_at_pending(world: &mut World, policy: &Policy) -> Pending {
    if !scm::is_git(&policy.scm.command) {
        return Pending::Unknown;
    }
    let listing = git::run(&mut world.keeper, &world.root, scm::STATUS, GIT_TIMEOUT).await;
    listing.map_or(Pending::Unknown, |listing| scm::pending(&listing))
}

async fn check(
    world: &mut World,
    policy: &Policy,
    spec: CheckSpec,
    orders: &mut UnboundedReceiver<Order>,
) -> Vec<Event> {
    let log_path = world.folder.log_path(&spec.log_name);
    let log = world.folder.create_log(&spec.log_name);
    let mut events = Vec::new();
    if let Err(error) = &log {
        events.push(Event::Noted { text: format!("{log_path} could not be written: {error}") });
    }
    let root = match (spec.ground, &world.checkout) {
        (Ground::Checkout, Some(checkout)) => checkout.project(),
        _ => &world.root,
    };
    let place = CheckPlace { root, log: log.ok(), log_path, output_chars: policy.output_chars };
    let (report, problem) = checks::run(&mut world.keeper, spec, place, orders).await;
    events.extend(problem.map(|text| Event::Noted { text }));
    events.push(Event::CheckEnded(Box::new(report)));
    events
}

/// Waits, but not beyond the appearance of a marker.
async fn rest(world: &mut World, span: Millis) {
    let task_folder = world.folder.task_folder();
    let marked = async {
        match &mut world.watch {
            Some(watch) => {
                while marker::look_at_all(task_folder) == Markers::default() {
                    watch.changed().await;
                }
            }
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = tokio::time::sleep(span.duration()) => {}
        () = marked => {}
    }
}

async fn wait(clock: &Clock, until: WallTime) {
    loop {
        let left = until.0.saturating_sub(clock.now().0);
        match u64::try_from(left) {
            Ok(left @ 1..) => tokio::time::sleep(Duration::from_millis(left).min(LOOK_AT_CLOCK)).await,
            _ => return,
        }
    }
}
