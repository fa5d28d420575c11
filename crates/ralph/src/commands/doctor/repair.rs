//! `ralph doctor --repair`: puts a damaged journal aside and keeps what can be proven of it.
//!
//! Nothing is guessed and nothing is deleted: an entry counts only if its checksum proves it, a run only from
//! its beginning up to the first entry that does not, and everything that was there is still there afterwards.

use crate::cli::Global;
use crate::error::CommandError;
use crate::live::Live;
use crate::missing::{self, Beside};
use crate::project::Project;
use crate::runs;
use crate::terminal::page;
use ralph_core::event::{Entry, Event};
use ralph_core::id::RunId;
use ralph_core::outcome::exit;
use ralph_core::run::Run;
use ralph_core::stream::StreamId;
use ralph_core::text;
use ralph_core::words::Note;
use ralph_host::clock::Clock;
use ralph_host::lock::{LockError, Owner, WorkTreeLock};
use ralph_host::{child_runs, raw_log};
use ralph_store::{Class, Damage, Durability, IoProblem, Replacement, Salvage, Store, StoreError};
use ralph_view::json::VERSION;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

type Remains = ralph_store::Remains<Event>;

/// Where the folders of runs go that no journal knows.
const LOST: &str = "lost";

pub(super) fn run(global: &Global, project: &Project) -> Result<u8, CommandError> {
    let clock = Clock::start();
    refuse_beside_the_living(project)?;
    let _lock = lock(project, &clock)?;
    let repaired = match damage(project)? {
        Some(why) => Repaired { why, ..rebuild(project, &clock)? },
        None => Repaired::default(),
    };
    let lost = set_lost_folders_aside(project)?;
    page::answer(global, || repaired.json(&lost), || repaired.page(&lost, project))?;
    Ok(exit::OK)
}

/// A run that goes on writes to the journal, and would write to the wrong one.
fn refuse_beside_the_living(project: &Project) -> Result<(), CommandError> {
    let live = Live::look(project);
    let mut folders = child_runs::run_folders(&project.state).into_iter();
    match folders.find_map(|(run, _)| live.process(&run).map(|process| (run, process.pid))) {
        None => Ok(()),
        Some((run, pid)) => Err(CommandError::new(exit::LOCKED, format!("run {run} is running: process {pid}"))
            .hint(format!("stop it first: ralph cancel {run}"))
            .hint(format!("where the journal keeps that from working: kill {pid}"))),
    }
}

fn lock(project: &Project, clock: &Clock) -> Result<WorkTreeLock, CommandError> {
    let owner = Owner::this_process(None, clock.now(), "ralph doctor --repair".to_owned());
    WorkTreeLock::take(&project.locks, project.work_tree(), &owner).map_err(|error| match error {
        LockError::Held(holder) => {
            CommandError::new(exit::LOCKED, format!("another ralph owns {}: {holder}", project.work_tree().display()))
                .hint("look at it: ralph status")
        }
        other => CommandError::io(format!("{} cannot be locked", project.work_tree().display()), &other),
    })
}

fn damage(project: &Project) -> Result<Option<Vec<String>>, CommandError> {
    let look = || -> Result<Damage, StoreError> {
        let Some(store) = Store::open_existing(&project.state)? else { return Ok(Damage::default()) };
        let mut damage = runs::damage(&store)?;
        if damage.is_none() {
            damage.streams = hidden(project, &store)?;
        }
        Ok(damage)
    };
    match look() {
        Ok(damage) if damage.is_none() => Ok(None),
        Ok(Damage { structure, streams }) => Ok(Some(structure.into_iter().chain(streams).collect())),
        Err(error) => match (error.class(), &error) {
            // Whether a newer ralph wrote it is seen by what it wrote.
            (Class::Damage | Class::Newer, _)
            | (_, StoreError::Io { problem: IoProblem::CannotOpen | IoProblem::Failed, .. }) => {
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
                Ok(Some(vec![format!("{error}{cause}")]))
            }
            _ => Err(error.into()),
        },
    }
}

/// SQLite stops silently at damage in a log; what a run left beyond the journal may stand behind it.
fn hidden(project: &Project, store: &Store) -> Result<Vec<String>, StoreError> {
    let live = Live::look(project);
    let newest = missing::newest(store)?;
    if missing::look(project, &live, Some(store), &newest, Beside::Everything)?.lines().is_empty() {
        return Ok(Vec::new());
    }
    let salvage = Salvage::read(&project.state)?;
    let mut hidden = Vec::new();
    for Remains { stream, entries, .. } in best_of_each(&salvage) {
        let Some(stream) = stream else { continue };
        let known = store.entries::<Event>(&stream)?.len();
        if entries.len() > known {
            hidden.push(format!("{stream}: the damaged log hides its entries from {} to {}", known + 1, entries.len()));
        }
    }
    Ok(hidden)
}

#[derive(Debug, Default)]
struct Repaired {
    why: Vec<String>,
    aside: Vec<PathBuf>,
    runs: Vec<Kept>,
}

#[derive(Debug)]
struct Kept {
    run: Option<RunId>,
    no: i64,
    entries: u64,
    promised: u64,
    lost: Option<String>,
}

fn rebuild(project: &Project, clock: &Clock) -> Result<Repaired, CommandError> {
    let salvage = Salvage::read(&project.state)?;
    let stamp: String = clock.now().rfc3339().chars().filter(char::is_ascii_alphanumeric).collect();
    let replacement = Replacement::begin(&project.state, &stamp)?;
    let mut store = replacement.store()?;
    let mut runs = Vec::new();
    for remains in best_of_each(&salvage) {
        if remains.is_newer {
            let told = format!(
                "what a newer ralph wrote cannot be repaired by this one: {}",
                remains.lost.unwrap_or_default()
            );
            return Err(CommandError::usage(told).hint("use that ralph: its `ralph doctor --repair` understands it"));
        }
        runs.push(keep(&mut store, remains, clock)?);
    }
    // What was written is read once more before it counts.
    drop(store);
    let store = replacement.store()?;
    let left = runs::damage(&store)?;
    if !left.is_none() {
        let told = format!("the repaired journal cannot be read back: {left:?}");
        return Err(CommandError::new(exit::INTERNAL, told));
    }
    drop(store);
    refuse_beside_the_living(project)?;
    let aside = replacement.put_in_place()?;
    Ok(Repaired { why: Vec::new(), aside, runs })
}

/// Damage can split a run in two: a row here, its entries there. What has more of them stands for it.
fn best_of_each(salvage: &Salvage) -> Vec<Remains> {
    let all: Vec<Remains> = salvage.streams().into_iter().map(|no| salvage.remains(no)).collect();
    let mut best: BTreeMap<&StreamId, (usize, i64)> = BTreeMap::new();
    for remains in &all {
        if let Some(stream) = &remains.stream {
            let this = (remains.entries.len(), remains.no);
            let other = best.entry(stream).or_insert(this);
            *other = this.max(*other);
        }
    }
    let best: HashSet<i64> = best.into_values().map(|(_, no)| no).collect();
    all.into_iter().filter(|remains| remains.stream.is_none() || best.contains(&remains.no)).collect()
}

/// Writes a run's entries into the new journal, and that some are missing, if some are.
fn keep(store: &mut Store, remains: Remains, clock: &Clock) -> Result<Kept, CommandError> {
    let Remains { stream, no, entries, promised, lost, .. } = remains;
    let mut kept =
        Kept { run: stream.and_then(|stream| stream.run()), no, entries: entries.len() as u64, promised, lost };
    let Some((first, rest)) = entries.split_first() else { return Ok(kept) };
    let Ok((mut machine, _)) = Run::begin(first) else {
        kept.entries = 0;
        kept.lost = Some("its first entry does not begin a run".to_owned());
        return Ok(kept);
    };
    let mut proofs = Vec::new();
    for entry in rest {
        proofs.extend(machine.step(entry).receipts);
    }
    let mut all = entries.clone();
    if let Some(lost) = &kept.lost {
        let text = format!("the journal was damaged and repaired: {lost}, and what came after it is lost");
        let event = Event::Noted { note: Note::Machine { text } };
        let noted = Entry { seq: machine.seq() + 1, at: clock.now(), elapsed: machine.elapsed(), event };
        let _ = machine.step(&noted);
        all.push(noted);
    }
    store.append(&all, &machine.row(), &proofs, Durability::Synced)?;
    Ok(kept)
}

/// The folder of a run that no journal knows, where it was put.
struct LostFolder {
    run: RunId,
    folder: PathBuf,
    logged: Option<u32>,
}

/// Puts the folders of unknown runs aside. An empty folder is that of a run that never began.
fn set_lost_folders_aside(project: &Project) -> Result<Vec<LostFolder>, CommandError> {
    let folders = child_runs::run_folders(&project.state);
    let left: Vec<RunId> = folders.iter().map(|(run, _)| run.clone()).collect();
    let store = Store::open_existing(&project.state)?;
    let known = store.map(|store| store.known(&left)).transpose()?.unwrap_or_default();
    let known: HashSet<RunId> = known.into_iter().collect();
    let mut lost = Vec::new();
    for (run, from) in folders {
        let logged = raw_log::last_logged(&from);
        if known.contains(&run) || logged.is_none() {
            continue;
        }
        let folder = free_name(&project.state.join(LOST).join(run.as_str()));
        let moved = std::fs::create_dir_all(project.state.join(LOST)).and_then(|()| std::fs::rename(&from, &folder));
        moved.map_err(|error| CommandError::io(format!("{} cannot be put aside", from.display()), &error))?;
        child_runs::forget(&project.state, &run);
        lost.push(LostFolder { run, folder, logged });
    }
    Ok(lost)
}

/// The name itself, or one with a number behind it that nobody has.
fn free_name(path: &std::path::Path) -> PathBuf {
    let numbered = (2..).map(|number| path.with_extension(number.to_string()));
    std::iter::once(path.to_owned()).chain(numbered).find(|path| path.symlink_metadata().is_err()).unwrap_or_default()
}

impl Kept {
    fn name(&self) -> String {
        self.run.as_ref().map_or_else(|| format!("number {}", self.no), RunId::to_string)
    }

    fn line(&self) -> String {
        let entries = |count: u64| format!("{count} {}", if count == 1 { "entry" } else { "entries" });
        let all = self.promised.max(self.entries);
        match &self.lost {
            None => format!("run {}: whole, {}", self.name(), entries(self.entries)),
            Some(why) if self.entries == 0 => format!("run {}: lost, of {}: {why}", self.name(), entries(all)),
            Some(why) => format!("run {}: {} of {all} kept: {why}", self.name(), entries(self.entries)),
        }
    }
}

impl Repaired {
    fn page(&self, lost: &[LostFolder], project: &Project) -> String {
        let mut lines: Vec<String> =
            self.why.iter().map(|why| format!("damaged: {}", text::for_terminal(why))).collect();
        lines.extend(self.aside.iter().map(|path| format!("put aside: {}", path.display())));
        lines.extend(self.runs.iter().map(Kept::line));
        lines.extend(lost.iter().map(|LostFolder { run, folder, logged }| {
            let logs = logged.map_or(String::new(), |logged| format!(", logs up to iteration {logged}"));
            format!("run {run}: not in the journal; what is left of it{logs}: {}", folder.display())
        }));
        if lines.is_empty() {
            return "Nothing is damaged.\n".to_owned();
        }
        if !self.aside.is_empty() {
            lines.push(format!("repaired: {}", project.state.join("ralph.db").display()));
        }
        lines.push(project.suggest().line("next: ralph status"));
        lines.join("\n") + "\n"
    }

    fn json(&self, lost: &[LostFolder]) -> Value {
        let runs = self.runs.iter().map(|kept| {
            json!({
                "run": kept.run,
                "number": kept.no,
                "entries": kept.entries,
                "of": kept.promised.max(kept.entries),
                "lost": kept.lost,
            })
        });
        let folders = lost.iter().map(
            |LostFolder { run, folder, logged }| json!({ "run": run, "folder": folder, "logged_iteration": logged }),
        );
        json!({
            "v": VERSION,
            "ok": true,
            "repaired": !self.aside.is_empty(),
            "damage": self.why,
            "aside": self.aside,
            "runs": runs.collect::<Vec<_>>(),
            "lost": folders.collect::<Vec<_>>(),
        })
    }
}
