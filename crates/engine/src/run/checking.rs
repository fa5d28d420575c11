//! Executing checks, each on a snapshot of its own, and learning what they are made of.

use super::{RunHands, existing_tests, trusting};
use ralph_core::activity::{Pinning, Watch};
use ralph_core::check::{CheckEnding, CheckReport, CheckSpec, Ground};
use ralph_core::event::Event;
use ralph_core::excerpt::Excerpt;
use ralph_core::id::CheckId;
use ralph_core::judges::{self, Known, Packages, Subject, Watched};
use ralph_core::protect::{GitPins, PinFailure, PinnedChange, Pins};
use ralph_core::time::WallTime;
use ralph_core::trust::{Span, Untrusted};
use ralph_core::words::Note;
use ralph_host::aside::Aside;
use ralph_host::checks::{self, CheckPlace};
use ralph_host::git::{self, GitError};
use ralph_host::pins::{self, Machine};
use ralph_host::process::drive::Order;
use ralph_host::snapshot::{Judge, Place, Plan, Put, Snapshots};
use ralph_host::tree::{self, ExistingTests};
use ralph_host::watching::Watching;
use ralph_host::{made, scm, stores, watching};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// Where caches that a variable names stand in a check's snapshot; the live tree has no such folder.
const CACHES: &str = ".ralph-caches";
/// How long a check waits until changes leave a trace; a disk whose clock is ahead makes nobody wait longer.
const LONGEST_SETTLING: Duration = Duration::from_millis(20);
/// Files outside of the tree that a report names.
const MOST_NAMED: usize = 500;

/// What checks are made of, by reading them, and whether they can have snapshots.
pub(super) async fn learn(hands: &mut RunHands<'_>, subjects: Vec<Subject>, ground: Ground) -> Event {
    let machine = Machine::new(&hands.root, hands.programs.clone(), hands.variable);
    let nothing = Known::nothing_of(&subjects);
    let work = move |_: &_| judges::learn(&subjects, &machine);
    // Whoever cannot start a thread for it waits for it.
    let known = match Aside::start(work.clone()) {
        Ok(mut learning) => learning.answer().await,
        Err(_) => Aside::done(work).answer().await,
    };
    // Where reading failed, nothing may be taken for known.
    let known = known.unwrap_or(nothing);
    let live = snapshots(hands, ground).await.err().unwrap_or_default();
    Event::Learned { known: Box::new(known), live }
}

/// Executes a check once and adds what it is made of to what is known.
pub(super) async fn watch(hands: &mut RunHands<'_>, watch: Watch, orders: &mut UnboundedReceiver<Order>) -> Vec<Event> {
    let Watch { spec, subject, known } = watch;
    let out = report_file(hands);
    let ground = spec.ground;
    let (mut events, report) = execute(hands, spec, &Pins::default(), Some((&out, None)), orders).await;
    events.push(Event::CheckEnded(Box::new(report)));
    let seen = watching::read(&out);
    // The next watched check writes it anew.
    let _ = std::fs::remove_file(&out);
    let machine = Machine::new(&hands.root, hands.programs.clone(), hands.variable);
    let known = judges::learn_watched(&subject, &known, &seen, &machine);
    let live = snapshots(hands, ground).await.err().unwrap_or_default();
    events.insert(0, Event::Learned { known: Box::new(known), live });
    events
}

/// Looks at everything that must stay as it is, aside from the event loop: a project may be large.
pub(super) async fn pin(hands: &mut RunHands<'_>, pinning: Pinning) -> Vec<Event> {
    let tests = pinning.tests;
    let (mut pins, untrusted, mut notes) = match pin_judges(hands, pinning).await {
        Ok(pinned) => pinned,
        Err(problem) => return vec![Event::Pinned { pins: Err(problem), untrusted: Vec::new() }],
    };
    if let Some(patience) = tests {
        match existing_tests::record(hands, patience).await {
            Ok(record) => pins.tests = Some(record),
            Err(why) => notes.push(Note::TestsUnseen { why }),
        }
    }
    let told = notes.into_iter().map(|note| Event::Noted { note });
    told.chain([Event::Pinned { pins: Ok(Box::new(pins)), untrusted }]).collect()
}

/// What judges, what of it no person stands behind, and what else there is to tell.
async fn pin_judges(
    hands: &mut RunHands<'_>,
    pinning: Pinning,
) -> Result<(Pins, Vec<Untrusted>, Vec<Note>), PinFailure> {
    let (left, worked) = trusting::left(hands).map_err(|why| PinFailure { why, fault: true })?;
    let (obeyed, asked) = pinning.known.as_ref().map_or((false, false), |known| (known.obeys_git(), known.asks_git()));
    let (mut pins, unmatched) = look_at_all(hands, pinning, left, worked).await?;
    if let Some(root) = hands.git_root.as_deref().filter(|_| pins.tree_seen) {
        let patience = super::activity::GIT_TIMEOUT;
        let place = git::Pinning { root, scratch: &hands.run_folder, patience, variable: hands.variable };
        match git::pin(&mut hands.keeper, place).await {
            Ok(git) => pins.git = GitPins { obeyed, hidden: git.hidden.filter(|_| asked), ..git },
            Err(error) => {
                let why = format!("what git does in {} could not be seen: {error}", root.display());
                return Err(PinFailure { why, fault: !matches!(error, GitError::Refused(_)) });
            }
        }
    }
    pins.began = Some(hands.time_of_files());
    let untrusted = trusting::settle(hands, &mut pins).await.map_err(|why| PinFailure { why, fault: true })?;
    let notes = unmatched.into_iter().map(|glob| Note::GlobWithoutFiles { glob });
    Ok((pins, untrusted, notes.collect()))
}

async fn look_at_all(
    hands: &RunHands<'_>,
    pinning: Pinning,
    left: Vec<String>,
    worked: Vec<Span>,
) -> Result<(Pins, Vec<String>), PinFailure> {
    let (files, programs, git_root) = (hands.pinned_files.clone(), hands.programs.clone(), hands.git_root.clone());
    let whole = git_root.clone().unwrap_or_else(|| hands.root.clone());
    let Pinning { globs, subjects, known, .. } = pinning;
    let machine = Machine::new(&hands.root, hands.programs.clone(), hands.variable);
    let (state, run_folder) = (hands.state.clone(), hands.run_folder.clone());
    let started = Aside::start(move |stop| {
        let nothing = Known::default();
        let judging = known.as_deref().unwrap_or(&nothing);
        let files = files.expecting(left).pin(&globs, &subjects, judging, stop)?;
        let mut pins = Pins { files, ..Pins::default() };
        let unmatched = pins::unmatched(&globs, &pins.files);
        if known.is_some() {
            // What cannot be listed now is taken for made during the run later.
            pins.looked_for = made::looked_for(&whole, stop).unwrap_or_default();
            made::keep_modules(&whole, &run_folder, stop).map_err(|why| PinFailure { why, fault: true })?;
            let before = stores::kept(&state).unwrap_or_default();
            let packages = stores::list(&judges::stores(&machine), before, &worked, stop);
            let kept = stores::keep(&state, &packages);
            let unkept = |error| format!("the list of packages could not be kept in {}: {error}", state.display());
            kept.map_err(|error| PinFailure { why: unkept(error), fault: true })?;
            pins.programs = programs.pin(&judging.programs);
            pins.unknown.clone_from(&judging.unknown);
            pins.caches.clone_from(&judging.caches);
            pins.made.clone_from(&judging.made);
            pins.repository = git_root.as_deref().map(tree::parts).unwrap_or_default();
            pins.tree_seen = !pins.repository.is_empty();
        }
        Ok((pins, unmatched))
    });
    let fault = |why| Err(PinFailure { why, fault: true });
    match started {
        Ok(mut looking) => looking.answer().await.unwrap_or_else(|| fault("the look at them was cut".to_owned())),
        Err(error) => fault(format!("no thread could be started: {error}")),
    }
}

/// What was made during a run: for each check the files that can tell it what to do, and new tests.
pub(super) type Seen = (Vec<(CheckId, Vec<String>)>, Vec<String>);

/// For each of these checks the files that can tell it what to do and were made during the run, but for what it declares
/// as work, what is pinned, and its own caches; with new tests, which may need them; or why nobody knows.
pub(super) async fn look_for_made(
    hands: &RunHands<'_>,
    pins: &Arc<Pins>,
    protected: Vec<String>,
    checks: Vec<CheckSpec>,
) -> Result<Seen, String> {
    let Some(began) = pins.began else { return Ok(Seen::default()) };
    let (root, tree) = (hands.root.clone(), hands.git_root.clone().unwrap_or_else(|| hands.root.clone()));
    let (pins, run_folder) = (Arc::clone(pins), hands.run_folder.clone());
    let look = move |stop: &_| {
        let made = made::since(&tree, &pins.looked_for, began, stop)?;
        let inside = root.strip_prefix(&tree).unwrap_or(Path::new(""));
        let before = pins.files.iter().map(|file| file.path.as_str()).collect();
        let beside = match protected.is_empty() {
            true => Vec::new(),
            false => made::beside_protected(&root, &protected, &before, stop)?,
        };
        let of = |spec: CheckSpec| {
            let (is_work, caches) = (pins::matching(&spec.terms.work), caches(&root, &spec, &pins).0);
            let counts = |path: &&String| {
                let path = Path::new(path).strip_prefix(inside).unwrap_or(Path::new(path));
                let is_pinned = || pins.files.iter().any(|file| Path::new(&file.path) == path);
                !is_work(path) && !caches.iter().any(|cache| path.starts_with(cache)) && !is_pinned()
            };
            let own = pins.made.iter().filter(|one| one.check == spec.id && !is_work(Path::new(&one.path)));
            let own = own.filter(|one| made::since_then(&root.join(&one.path), began)).map(|one| &one.path);
            // What counts how much is tested needs new tests.
            let counts_tests = spec.command.contains("cov");
            let beside = beside.iter().filter(|path| !counts_tests && !is_work(Path::new(path)));
            let own = own.chain(beside).filter_map(|path| Some(inside.join(path).to_str()?.to_owned()));
            let files: BTreeSet<String> = made.iter().filter(counts).cloned().chain(own).collect();
            (spec.id.clone(), files.into_iter().collect())
        };
        let made: Vec<(CheckId, Vec<String>)> = checks.into_iter().map(of).collect();
        if made.iter().all(|(_, files)| files.is_empty()) {
            return Ok((made, Vec::new()));
        }
        // Where nobody knows which tests were there, none is new.
        let Some(record) = &pins.tests else { return Ok((made, Vec::new())) };
        let known = ExistingTests::new(&root, &run_folder).paths(record).map_err(|error| error.to_string())?;
        let was_there = |path: &Path| {
            known.contains(path.as_os_str().as_bytes()) || path.to_str().is_some_and(|path| before.contains(path))
        };
        let tests = made::new_tests(&root, was_there, began, stop)?;
        let inside = tests.iter().filter_map(|path| Some(inside.join(path).to_str()?.to_owned()));
        Ok((made, inside.collect()))
    };
    // Whoever cannot start a thread for it waits for it.
    let looked = match Aside::start(look.clone()) {
        Ok(mut looking) => looking.answer().await,
        Err(_) => Aside::done(look).answer().await,
    };
    looked.unwrap_or_else(|| Err("the look at the files was cut".to_owned()))
}

/// The snapshots of this run, tried once; or why there are none.
async fn snapshots<'h>(hands: &'h mut RunHands<'_>, ground: Ground) -> Result<&'h Snapshots, String> {
    if ground == Ground::Live {
        return Err("verify.snapshot is off".to_owned());
    }
    if hands.snapshots.is_none() {
        let place = Place {
            tree: hands.git_root.clone().unwrap_or_else(|| hands.root.clone()),
            project: hands.root.clone(),
            state: hands.state.clone(),
            run_folder: hands.run_folder.clone(),
            spare: None,
        };
        hands.snapshots = Some(Snapshots::probe(&mut hands.keeper, place).await);
    }
    match &hands.snapshots {
        Some(Ok(snapshots)) => Ok(snapshots),
        Some(Err(why)) => Err(why.clone()),
        None => Err("nobody has tried yet".to_owned()),
    }
}

/// Where a watched check tells what it did.
fn report_file(hands: &RunHands<'_>) -> PathBuf {
    hands.temp.as_ref().map_or(hands.run_folder.as_path(), |temp| temp.path()).join("watched.json")
}

/// Executes a check, and looks at what it uses beside the tree if that is wanted and can be seen.
pub(super) async fn check(
    hands: &mut RunHands<'_>,
    spec: CheckSpec,
    pins: &Pins,
    orders: &mut UnboundedReceiver<Order>,
) -> Vec<Event> {
    // A watched check needs a place to tell what it did that its snapshot does not hold.
    let can_be_watched = cfg!(target_os = "linux") && hands.temp.is_some();
    let began = pins.began.filter(|_| spec.watched && can_be_watched);
    let (mut events, report) = match began {
        Some(since) => watched(hands, spec, pins, since, orders).await,
        None => execute(hands, spec, pins, None, orders).await,
    };
    events.push(Event::CheckEnded(Box::new(report)));
    events
}

/// The same, watched for what was made or changed since then.
async fn watched(
    hands: &mut RunHands<'_>,
    spec: CheckSpec,
    pins: &Pins,
    since: WallTime,
    orders: &mut UnboundedReceiver<Order>,
) -> (Vec<Event>, CheckReport) {
    let out = report_file(hands);
    let hidden: Vec<String> = spec.without_outside().cloned().collect();
    let (spans, inside) = (pins.worked.clone(), inside(hands));
    let wanted = watching::Order { since, spans, inside, hidden: hidden.clone() };
    let (mut events, mut report) = execute(hands, spec.clone(), pins, Some((&out, Some(&wanted))), orders).await;
    let is_told = out.is_file();
    let seen = watching::read(&out);
    let is_watched = !seen.executed.is_empty();
    // Some programs work otherwise while they are watched; then nobody knows what the check uses.
    let ended_itself = matches!(report.ending, CheckEnding::Exited { .. } | CheckEnding::Signalled { .. });
    if hidden.is_empty() && is_watched && !report.passed() && !seen.gap.is_empty() && ended_itself {
        return execute(hands, spec, pins, None, orders).await;
    }
    if !is_watched {
        report.outside = hidden;
        if !is_told && report.passed() {
            report.unwatched = format!("what guardrail \"{}\" uses could not be seen: {}", spec.name(), seen.gap);
        }
        return (events, report);
    }
    let machine = Machine::new(&hands.root, hands.programs.clone(), hands.variable);
    // Without a list every package counts as one that was there.
    let unlisted = || judges::stores(&machine).into_iter().map(|store| store.root).collect();
    let packages = stores::kept(&hands.state);
    let packages = packages.unwrap_or_else(|| Packages { unlisted: unlisted(), ..Packages::default() });
    let is_pinned = |path: &str| pins.pins_outside(path);
    report.outside = judges::counted_outside(&seen.used, &packages, &machine, is_pinned);
    // The trial without these finds the others, and says so.
    report.outside.truncate(MOST_NAMED);
    if matches!(hands.snapshots, Some(Ok(_))) {
        report.outside.extend(shadowing(hands, &spec, pins, &seen));
    }
    if !report.outside.is_empty()
        && let Some(Ok(snapshots)) = &hands.snapshots
        && let Err(error) = snapshots.forget(&spec, &caches(&hands.root, &spec, pins).0)
    {
        // What it remembers of them would come back.
        let text = format!("the caches of guardrail \"{}\" could not be emptied: {error}", spec.name());
        events.push(Event::Noted { note: Note::Machine { text } });
    }
    (events, report)
}

/// New files of the tree that stood before modules from elsewhere when a check ran, but for what it declares as work.
fn shadowing(hands: &RunHands<'_>, spec: &CheckSpec, pins: &Pins, seen: &Watched) -> Vec<String> {
    let Some(began) = pins.began else { return Vec::new() };
    let tree = hands.git_root.as_ref().unwrap_or(&hands.root);
    let Ok(real) = tree.canonicalize() else { return Vec::new() };
    let below = |path: &String| Path::new(path).strip_prefix(&real).ok()?.to_str().map(str::to_owned);
    let opened = seen.opened.iter().filter_map(|opened| below(&opened.path)).filter(|path| judges::is_module(path));
    let new = made::new_modules(&real, &hands.run_folder, opened.collect(), began);
    let machine = Machine::new(&real, hands.programs.clone(), hands.variable);
    let folders: Vec<String> =
        seen.modules.iter().map(|folder| below(folder).unwrap_or_else(|| folder.clone())).collect();
    let inside = hands.root.strip_prefix(tree).unwrap_or(Path::new(""));
    let (is_work, caches) = (pins::matching(&spec.terms.work), caches(&hands.root, spec, pins).0);
    let counts = |path: &String| {
        let path = Path::new(path).strip_prefix(inside).unwrap_or(Path::new(path));
        !is_work(path) && !caches.iter().any(|cache| path.starts_with(cache))
    };
    judges::shadowing(&new, &folders, &machine).into_iter().filter(counts).collect()
}

/// Folders of which a look beside the tree tells nothing: the tree with its repository, and what is ralph's own.
fn inside(hands: &RunHands<'_>) -> Vec<PathBuf> {
    let tree = hands.git_root.as_ref().unwrap_or(&hands.root);
    let (own, common) = tree::git_folders(tree).unwrap_or_default();
    let temp = hands.temp.as_ref().map(|temp| temp.path().to_owned());
    let checkout = hands.checkout.as_ref().map(|checkout| checkout.folder().to_owned());
    let all =
        [tree.clone(), hands.root.clone(), own, common, hands.state.clone()].into_iter().chain(temp).chain(checkout);
    all.filter_map(|folder| folder.canonicalize().ok()).collect()
}

/// Executes a check, watched if `watched` says where to write what is seen.
async fn execute(
    hands: &mut RunHands<'_>,
    spec: CheckSpec,
    pins: &Pins,
    watched: Option<(&Path, Option<&watching::Order>)>,
    orders: &mut UnboundedReceiver<Order>,
) -> (Vec<Event>, CheckReport) {
    let mut events = Vec::new();
    // What an agent or another check left there must not reach what judges it.
    let (mut temporary, mut order) = (None, None);
    if let Some(temp) = &hands.temp {
        let (folder, file) = (temp.path().join("t"), temp.path().join("order.json"));
        let wanted = watched.and_then(|(_, order)| order);
        let made = temp.empty().and_then(|()| std::fs::create_dir(&folder));
        if let Err(error) = made.and_then(|()| wanted.map_or(Ok(()), |order| order.write(&file))) {
            let text = format!("the run's temporary folder could not be emptied: {error}");
            events.push(Event::Noted { note: Note::Machine { text } });
        }
        (temporary, order) = (Some(folder), wanted.map(|_| file));
    }
    let (log_path, log) = log(hands, &spec);
    if let Err(error) = &log {
        let (log, error) = (log_path.clone(), error.to_string());
        events.push(Event::Noted { note: Note::LogUnwritten { log, error } });
    }
    let made = snapshots(hands, spec.ground).await.map(|_| ());
    let checkout = hands.checkout.as_ref().filter(|_| spec.ground == Ground::Checkout);
    let snapshot = match (&made, &hands.snapshots) {
        (Ok(()), Some(Ok(snapshots))) => {
            let inside = hands.git_root.as_deref().and_then(|root| hands.root.strip_prefix(root).ok());
            let (caches, environment) = caches(&hands.root, &spec, pins);
            let (files, inside) = (&hands.pinned_files, inside.unwrap_or(Path::new("")));
            let mut judges = files.puts(&pins.files, inside);
            let committed = scm::as_committed(&hands.run_folder);
            judges.extend(spec.without_inside().map(|path| {
                let kept = committed.join(path);
                let what = match kept.metadata() {
                    Ok(meta) if spec.as_committed && meta.is_file() => {
                        let executable = meta.permissions().mode() & 0o100 != 0;
                        Judge::Kept { file: kept, executable }
                    }
                    _ => Judge::Nothing,
                };
                Put { path: PathBuf::from(path), what }
            }));
            let emptied = files.emptied(&pins.files, inside);
            let fixed = files.fixed(&pins.files, &spec, inside);
            let hides_own = !files.speaks_of_own_files(&pins.files, &spec);
            Some(Plan { snapshots, checkout, judges, fixed, emptied, hides_own, caches, environment })
        }
        _ => None,
    };
    if snapshot.is_some()
        && let Some(settles) = hands.fingerprinter.settles_at()
    {
        // A change in the same tick of the clock as the look before would leave no trace for the look after.
        let left = u64::try_from(settles.0.saturating_sub(hands.clock.now().0)).unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(left).min(LONGEST_SETTLING)).await;
    }
    let root = match (checkout, &snapshot) {
        (Some(checkout), None) => checkout.project(),
        _ => &hands.root,
    };
    let hidden = spec.terms.hidden;
    let watched = watched.map(|(out, _)| Watching { out, order: order.as_deref() });
    let (log, output_chars, temporary) = (log.ok(), spec.output_chars, temporary.as_deref());
    let place = CheckPlace { root, log, log_path, output_chars, snapshot, watched, temporary };
    let (mut report, problem) = checks::run(&mut hands.keeper, spec, place, orders).await;
    report.pinned = changed_outside(hands, pins).await;
    if hidden {
        (report.output_head, report.excerpt) = (String::new(), Excerpt::default());
    }
    events.extend(problem.map(|text| Event::Noted { note: Note::Machine { text } }));
    (events, report)
}

/// What is pinned and in no snapshot, and is not as it was: programs, and files outside of the project. What cannot be
/// seen now, the next look tells.
async fn changed_outside(hands: &RunHands<'_>, pins: &Pins) -> Vec<PinnedChange> {
    let outside = pins.files.iter().filter(|file| file.path.starts_with('/')).cloned().collect::<Vec<_>>();
    if outside.is_empty() && pins.programs.is_empty() {
        return Vec::new();
    }
    let (files, finder, programs) = (hands.pinned_files.clone(), hands.programs.clone(), pins.programs.clone());
    let work = move |_: &_| {
        let files = files.changes(&outside).unwrap_or_default();
        files.into_iter().chain(finder.changes(&programs).unwrap_or_default()).collect::<Vec<_>>()
    };
    let looked = match Aside::start(work.clone()) {
        Ok(mut looking) => looking.answer().await,
        Err(_) => Aside::done(work).answer().await,
    };
    looked.unwrap_or_default()
}

/// Where a check's log goes: of a hidden one to a place that agents have no business with.
fn log(hands: &mut RunHands<'_>, spec: &CheckSpec) -> (String, io::Result<File>) {
    if !spec.terms.hidden {
        return (
            hands.folder.log_path(&spec.log_name),
            hands.folder.create_log(&spec.log_name).map_err(io::Error::other),
        );
    }
    checks::hidden_log(&hands.run_folder, &spec.log_name)
}

/// The cache folders of a check in its snapshot, and the variables by which its tools find them.
fn caches(root: &Path, spec: &CheckSpec, pins: &Pins) -> (Vec<PathBuf>, Vec<(OsString, OsString)>) {
    let (mut folders, mut environment) = (Vec::new(), Vec::new());
    for cache in pins.caches.iter().filter(|cache| cache.check == spec.id) {
        let folder = match cache.path.as_str() {
            "" => Path::new(CACHES).join(&cache.variable),
            path => PathBuf::from(path),
        };
        if !cache.variable.is_empty() {
            environment.push((cache.variable.clone().into(), root.join(&folder).into_os_string()));
        }
        folders.push(folder);
    }
    (folders, environment)
}
