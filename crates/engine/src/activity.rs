//! Performing one activity: each turns into host calls, and its result into events.

use crate::agent;
use crate::face::Face;
use ralph_core::check::{CheckSpec, Ground, TreePrint};
use ralph_core::claim::Patterns;
use ralph_core::effect::Effect;
use ralph_core::event::{Event, Gathered};
use ralph_core::id::RunId;
use ralph_core::memory::{self, Views};
use ralph_core::policy::{Policy, PromptSource};
use ralph_core::protect::{OnChange, Pinned, PinnedChange};
use ralph_core::scm::Pending;
use ralph_core::time::{Millis, WallTime};
use ralph_host::checkout::{self, Checkout};
use ralph_host::checks::{self, CheckPlace};
use ralph_host::clock::Clock;
use ralph_host::lock::{Standing, WorkTreeLock};
use ralph_host::pins::Pins;
use ralph_host::process::drive::Order;
use ralph_host::process::{Command, Keeper};
use ralph_host::programs::Programs;
use ralph_host::temp::RunTemp;
use ralph_host::views::Folder;
use ralph_host::watch::SettingsWatch;
use ralph_host::{marker, scm, tree, views};
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

/// A look at the tree must not hold up a run for ever.
const GIT_TIMEOUT: Millis = Millis::from_secs(120);
/// A wait looks at the wall clock at least this often: it may have been set, or the machine slept.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(30);

/// What activities act on.
pub struct World {
    /// The run.
    pub run: RunId,
    /// The project's folder, where agents and checks run.
    pub root: PathBuf,
    /// The git work tree around it, if there is one.
    pub git_root: Option<PathBuf>,
    /// The run's folder in the state directory, for raw logs.
    pub run_folder: PathBuf,
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
    pub pins: Pins,
    /// The commit that is being checked, where that is wanted.
    pub checkout: Option<Checkout>,
    /// Programs that checks use, as they were at the start.
    pub programs: Programs,
    /// Whether git could list the files before the first agent ran.
    pub tree_was_seen: bool,
    /// The settings files as they were at the start.
    pub settings: SettingsWatch,
    /// Why the views could not be written last time.
    pub unwritten: Option<String>,
    /// What makes this the only loop in the work tree, or the guest of an ancestor.
    pub lock: Option<WorkTreeLock>,
    /// Hash of the prompt file's text as core knows it.
    pub base_known: Option<String>,
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
        let edited = self.settings.edited();
        self.folder.take_notes().into_iter().chain(unwritten).chain(edited).map(|text| Event::Noted { text }).collect()
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

    /// A tree that could be seen and no longer can is changed in a way that hides every other change.
    fn lost_sight(&mut self, print: &TreePrint) -> Option<PinnedChange> {
        match print {
            TreePrint::Unknown { why } if self.tree_was_seen => {
                Some(PinnedChange { path: ".git".to_owned(), how: format!("made unreadable ({why})") })
            }
            _ => None,
        }
    }

    /// Removes a DONE file that was judged false.
    pub(crate) fn remove_done(&mut self) {
        let _ = marker::remove(self.folder.task_folder());
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
    /// The files whose state counts.
    pub(crate) pinned: &'a [Pinned],
}

/// One activity.
pub(crate) struct Activity(pub(crate) Effect);

impl Activity {
    /// Performs it. The last event is its answer; notes may stand before it.
    pub(crate) async fn run(self, world: &mut World, rules: Rules<'_>, links: Links<'_>) -> Vec<Event> {
        let Rules { policy, pinned } = rules;
        match self.0 {
            Effect::Gather { summary } => gather(world, policy, summary),
            Effect::Launch(launch) => agent::run(world, policy, &launch, links).await,
            Effect::LookAtTree => {
                let print = look_at_tree(world).await;
                let changed = world.fingerprinter.changed().to_vec();
                let mut pinned = world.pins.changes(pinned);
                if policy.pins_scripts() {
                    pinned.extend(world.programs.changes());
                    pinned.extend(world.lost_sight(&print));
                }
                vec![Event::TreeSeen { print, changed, pinned }]
            }
            Effect::Pin { candidates } => {
                world.tree_was_seen = list_files(world).await.is_ok();
                let (files, problem) = match world.pins.pin(&policy.protect.paths, &candidates) {
                    Ok(files) => (files, None),
                    Err(problem) => (Vec::new(), Some(problem)),
                };
                let unmatched = Pins::unmatched(&policy.protect.paths, &files);
                let told = |glob: String| Event::Noted { text: format!("protect.paths: `{glob}` matches no file") };
                let mut events: Vec<Event> = unmatched.into_iter().filter(|_| problem.is_none()).map(told).collect();
                events.push(Event::Pinned { files, problem });
                events
            }
            Effect::RestorePinned { paths } => {
                vec![Event::PinnedRestored { problems: world.pins.restore(pinned, &paths) }]
            }
            Effect::CheckOut => vec![check_out(world, policy, pinned).await],
            Effect::Check(spec) => check(world, policy, spec, links.orders).await,
            Effect::LookAtPending => vec![Event::ScmLooked { pending: look_at_pending(world, policy).await }],
            Effect::Scm(spec) => {
                let report = scm::run(&mut world.keeper, spec, &world.root, links.orders).await;
                vec![Event::ScmEnded(Box::new(report))]
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
    let human = memory::human_feedback(&world.folder.read_feedback(&policy.memory.feedback_file));
    let mut events = world.notes();
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

async fn look_at_tree(world: &mut World) -> TreePrint {
    let (root, listing) = match list_files(world).await {
        Ok(listed) => listed,
        Err(why) => return TreePrint::Unknown { why },
    };
    if tree::head(&root).is_some() {
        return world.fingerprinter.print(&root, &listing);
    }
    // References that are not files (reftable) only git itself can read.
    match checks::capture(&mut world.keeper, &git(&root, &["rev-parse", "--verify", "--quiet", "HEAD"]), GIT_TIMEOUT)
        .await
    {
        Ok(head) => world.fingerprinter.print_at(&root, &listing, String::from_utf8_lossy(&head).trim().to_owned()),
        Err(why) => TreePrint::Unknown { why: format!("git could not read HEAD: {why}") },
    }
}

async fn check_out(world: &mut World, policy: &Policy, pinned: &[Pinned]) -> Event {
    world.checkout = None;
    let Some(git_root) = world.git_root.clone() else {
        return Event::CheckedOut { commit: Err("not a git repository".to_owned()), uncommitted: Vec::new() };
    };
    let inside = world.root.strip_prefix(&git_root).unwrap_or(Path::new("")).to_owned();
    let folder = world.run_folder.join("checkout");
    let made = Checkout::make(&mut world.keeper, &git_root, &inside, &folder).await;
    let uncommitted = checkout::uncommitted(&mut world.keeper, &world.root.clone()).await;
    let (commit, uncommitted) = match (made, uncommitted) {
        (Ok((checkout, commit)), Ok(uncommitted)) => {
            // The commit is what is executed, so its scripts count too; what git does not hold is not there.
            let changes = world.pins.at(checkout.project()).changes(pinned);
            let changed = changes.into_iter().find(|change| change.how != "deleted");
            world.checkout = Some(checkout);
            match changed.filter(|_| policy.protect.on_change != OnChange::Allow) {
                Some(change) => (Err(format!("in the commit {}", change.words())), Vec::new()),
                None => (Ok(commit), uncommitted),
            }
        }
        (Err(why), _) | (_, Err(why)) => (Err(why), Vec::new()),
    };
    Event::CheckedOut { commit, uncommitted }
}

/// The work tree's root, and what git prints about its files.
async fn list_files(world: &mut World) -> Result<(PathBuf, Vec<u8>), String> {
    let root = world.git_root.clone().ok_or("not a git repository")?;
    let listing = checks::capture(&mut world.keeper, &git(&root, tree::LISTING), GIT_TIMEOUT).await;
    listing.map(|listing| (root, listing)).map_err(|why| format!("git could not list the files: {why}"))
}

async fn look_at_pending(world: &mut World, policy: &Policy) -> Pending {
    if !scm::is_git(&policy.scm.command) {
        return Pending::Unknown;
    }
    let root = world.root.clone();
    let listing = checks::capture(&mut world.keeper, &git(&root, scm::STATUS), GIT_TIMEOUT).await;
    listing.map_or(Pending::Unknown, |listing| scm::pending(&listing))
}

fn git(root: &Path, args: &[&str]) -> Command {
    Command {
        program: "git".into(),
        args: args.iter().map(OsString::from).collect(),
        folder: root.to_owned(),
        // Reading must not wait for, or take, the index lock of somebody else's git.
        set: vec![("GIT_OPTIONAL_LOCKS".into(), "0".into()), ("LC_ALL".into(), "C".into())],
        remove: tree::MISLEADING_VARIABLES.iter().map(OsString::from).collect(),
    }
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
    let report = checks::run(&mut world.keeper, spec, place, orders).await;
    events.push(Event::CheckEnded(Box::new(report)));
    events
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
