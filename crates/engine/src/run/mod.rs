//! The hands of a run: each activity turns into calls of host, and its result into events.

mod activity;
mod agent;
mod buses;
mod checking;
mod children;
mod existing_tests;
mod face;
mod plan;
mod trusting;

pub use agent::command_line;
pub use buses::{BusNames, Buses};
pub use face::{Face, Shown};

use crate::carry::{Hands, Links, Senses};
use ralph_core::activity::{Act, Activity, Post};
use ralph_core::claim::Patterns;
use ralph_core::event::Event;
use ralph_core::id::RunId;
use ralph_core::memory::Views;
use ralph_core::outcome::StopReason;
use ralph_core::run::Run;
use ralph_core::time::{Millis, WallTime};
use ralph_core::trust::Seal;
use ralph_core::words::Note;
use ralph_host::bus::Durability;
use ralph_host::checkout::Checkout;
use ralph_host::clock::Clock;
use ralph_host::folder_watch::FolderWatch;
use ralph_host::lock::{Standing, WorkTreeLock};
use ralph_host::pins::PinnedFiles;
use ralph_host::process::Keeper;
use ralph_host::programs::Programs;
use ralph_host::raw_log::RawLog;
use ralph_host::signals::{self, Sign, Signals};
use ralph_host::snapshot::Snapshots;
use ralph_host::temp::RunTemp;
use ralph_host::views::Folder;
use ralph_host::watch::SettingsWatch;
use ralph_host::{made, marker, tree};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

/// How long what was asked when an agent ended counts for the next prompt: where nothing comes between, that is some
/// tenths of a millisecond later. What happens meanwhile is heard when the next agent ends.
const JUST_NOW: Duration = Duration::from_millis(10);

/// Child runs that have ended, and why; one without a reason crashed.
pub type EndedChildren = Vec<(RunId, Option<StopReason>)>;

/// The clock and the signals of the process that carries a run.
pub struct RunSenses {
    pub clock: Clock,
    pub signals: Signals,
}

impl Senses for RunSenses {
    fn now(&self) -> WallTime {
        self.clock.now()
    }

    fn elapsed(&self) -> Millis {
        self.clock.elapsed()
    }

    async fn sign(&mut self) -> Sign {
        self.signals.next().await
    }

    fn suspend(&self) {
        signals::suspend_self();
    }
}

impl Hands<Run> for RunHands<'_> {
    async fn perform(&mut self, activity: Activity, links: Links<Event>) -> Vec<Event> {
        activity::perform(self, activity, links).await
    }

    async fn act(&mut self, act: Act) {
        match act {
            Act::WriteViews(views) => self.write_views(&views),
            Act::RemoveDone => self.remove_marker(marker::DONE),
            Act::RemoveWait => self.remove_marker(marker::WAIT),
            Act::Post(post) => self.post(&post),
            Act::RememberPinned(pins) => trusting::close(self, &pins).await,
            Act::WriteActive(marker) => plan::write_active(self, *marker),
            Act::RemoveActive => plan::remove_active(self),
            Act::WriteHookSnapshot(snapshot) => plan::write_hook_snapshot(self, &snapshot),
        }
    }

    fn close(self) {
        self.keeper.close();
    }
}

/// What the activities of a run act on, and who performs them.
pub struct RunHands<'a> {
    pub run: RunId,
    /// The run inside which it was started.
    pub parent: Option<RunId>,
    /// The project's folder, where agents and checks run.
    pub root: PathBuf,
    /// The git work tree around it, if there is one.
    pub git_root: Option<PathBuf>,
    /// The run's folder in the state directory.
    pub run_folder: PathBuf,
    pub raw_log: RawLog,
    /// A file in the state directory that is there while a task of version control runs.
    pub scm_note: PathBuf,
    /// Readable files in the project.
    pub folder: Folder,
    /// Who starts processes.
    pub keeper: Keeper,
    /// Where agents put what is temporary; `None` if it could not be made, and then the system's own.
    pub temp: Option<RunTemp>,
    /// Who is shown what the agent does.
    pub face: &'a RefCell<dyn Face>,
    pub clock: Clock,
    /// Asks the store which child runs of this run have ended, and why.
    pub ended_children: fn(&Path, &RunId) -> Result<EndedChildren, String>,
    pub state: PathBuf,
    pub fingerprinter: tree::Fingerprinter,
    /// What a claim looks like.
    pub patterns: Patterns,
    /// Files whose state counts.
    pub pinned_files: PinnedFiles,
    /// The commit that is being checked, where that is wanted.
    pub checkout: Option<Checkout>,
    /// Where checks get snapshots, or why they do not, once that was tried.
    pub snapshots: Option<Result<Snapshots, String>>,
    /// Commits that HEAD named behind agents.
    pub heads: BTreeSet<String>,
    /// Programs that checks use.
    pub programs: Programs,
    /// By what this run's journal is known again; what is pinned is added to it then.
    pub seal: Seal,
    /// The settings files as they were at the start.
    pub settings: SettingsWatch,
    /// What could not be written last time; told with the next look at the readable files.
    pub unwritten: Option<Note>,
    /// What makes this the only loop in the work tree, or the guest of an ancestor.
    pub lock: Option<WorkTreeLock>,
    /// Hash of the prompt file's text as core knows it.
    pub base_known: Option<String>,
    pub buses: Buses,
    /// When the settings and the buses were looked at for all that follows at once.
    pub asked_at: Option<Instant>,
    /// Notices markers in the task folder, where somebody waits for them.
    pub watch: Option<FolderWatch>,
    /// Reads a variable of this process's environment, which agents inherit.
    pub variable: fn(&str) -> Option<OsString>,
}

impl RunHands<'_> {
    /// The time by which files are stamped; this process's own where nothing can be written.
    fn time_of_files(&self) -> WallTime {
        made::time_of_files(&self.run_folder).unwrap_or_else(|_| self.clock.now())
    }

    /// Folders that go with the run, or that only ralph writes to: nothing of the tree may lead there.
    fn own_folders(&self) -> Vec<PathBuf> {
        // The folder that holds the state of all projects, unless it holds the projects themselves.
        let all = self.state.parent().filter(|all| !self.root.starts_with(all)).map(Path::to_owned);
        let temp = self.temp.iter().map(|temp| temp.path().to_owned());
        temp.chain([self.state.clone()]).chain(all).collect()
    }

    /// Writes the readable views. The journal holds all of it, so a full disk or a deleted folder
    /// does not end the run here; the next note says what could not be written.
    fn write_views(&mut self, views: &Views) {
        if let Err(error) = self.folder.write_views(views) {
            self.unwritten = Some(Note::Machine { text: error.to_string() });
        }
    }

    /// What happened to the readable files since this was last asked.
    fn notes(&mut self) -> Vec<Event> {
        let edited = self.settings.edited().map(|file| Event::SettingsEdited { file });
        self.own_notes().into_iter().chain(edited).collect()
    }

    /// What ralph itself found when it read and wrote them.
    fn own_notes(&mut self) -> Vec<Event> {
        let unwritten = self.unwritten.take();
        let notes = self.folder.take_notes().into_iter().map(|text| Note::Machine { text });
        notes.chain(unwritten).map(|note| Event::Noted { note }).collect()
    }

    /// What happened beside the agent: to the readable files, and on the bus. It counts for all that follows at once.
    fn news(&mut self) -> Vec<Event> {
        let news = self.notes().into_iter().chain(self.listen()).collect();
        self.asked_at = Some(Instant::now());
        news
    }

    /// The same before a prompt, unless that was asked just before.
    fn news_since(&mut self) -> Vec<Event> {
        match self.asked_at.take() {
            Some(at) if at.elapsed() < JUST_NOW => self.own_notes(),
            _ => self.news(),
        }
    }

    /// Whether this is still the only loop in the work tree.
    fn stands_alone(&mut self) -> Result<Option<Event>, String> {
        match self.lock.as_mut().map(WorkTreeLock::check) {
            None | Some(Standing::Firm) => Ok(None),
            Some(Standing::Mended) => Ok(Some(Event::Noted { note: Note::LockMended })),
            Some(Standing::Inherited) => Ok(Some(Event::Noted { note: Note::TreeInherited })),
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
    fn remove_marker(&mut self, name: &str) {
        let _ = marker::remove(self.folder.task_folder(), name);
    }

    /// Posts a message that nothing depends on; the next note says if that failed.
    fn post(&mut self, post: &Post) {
        let posted = self.buses.post(post, self.clock.now(), Durability::Written);
        self.unwritten = posted.err().map(|text| Note::Machine { text }).or(self.unwritten.take());
    }

    /// What was said on the bus since this was last asked, if it concerns this run.
    fn listen(&mut self) -> Option<Event> {
        self.buses.listen()
    }
}
