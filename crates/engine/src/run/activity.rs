//! Performing one activity: each turns into host calls, and its result into events.

use super::{RunHands, agent, checking, children, existing_tests, plan, trusting};
use crate::carry::{Links, at};
use ralph_core::activity::{Activity, Gather, Look, Post};
use ralph_core::check::TreePrint;
use ralph_core::event::{Event, Gathered};
use ralph_core::judges::Why;
use ralph_core::memory;
use ralph_core::observation::Markers;
use ralph_core::protect::{PinnedChange, Pins};
use ralph_core::scm::{Pending, ScmPolicy, ScmSpec, is_commit};
use ralph_core::time::{Millis, WallTime};
use ralph_core::words::Note;
use ralph_host::aside::{Aside, Stop};
use ralph_host::bus::Durability;
use ralph_host::checkout::{self, Checkout, CheckoutError};
use ralph_host::clock::Clock;
use ralph_host::git::{Inquiry, Unlisted};
use ralph_host::process::drive::Order;
use ralph_host::scm::{Contents, ScmPlace};
use ralph_host::{git, marker, scm, views};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

/// How long git may take to say what waits to be committed.
pub(super) const GIT_TIMEOUT: Millis = Millis::from_secs(600);
/// How long a look that was told to stop may take to do so; one that hangs in the kernel is left behind.
const STOPPING: Duration = Duration::from_secs(5);
/// A wait looks at the wall clock at least this often: it may have been set, or the machine slept.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(30);

/// Performs an activity. The last event is its answer; notes may stand before it.
pub(super) async fn perform(hands: &mut RunHands<'_>, activity: Activity, mut links: Links<Event>) -> Vec<Event> {
    // What was seen of the folder when an agent ended holds until the next one begins, unless something else comes between.
    if !matches!(activity, Activity::Gather(_) | Activity::Launch(_)) {
        hands.folder.doubt();
        hands.asked_at = None;
    }
    match activity {
        Activity::Gather(wanted) => {
            let tree = before_gathering(hands, &wanted).await;
            gather(hands, &wanted, tree)
        }
        Activity::Launch(launch) => {
            if launch.works {
                trusting::open(hands).await;
            }
            agent::run(hands, &launch, links).await
        }
        Activity::LookAtMarkers => {
            let seen = look_at_markers(hands);
            heard_before(hands, seen)
        }
        Activity::Rest { span } => {
            rest(hands, span).await;
            vec![Event::Woke]
        }
        Activity::AwaitChildren { span, then } => {
            let left = children::wait(&hands.run_folder, span, then, &links.alarm).await;
            let ended = (hands.ended_children)(&hands.state, &hands.run);
            let (ended, problem) = ended.map_or_else(|why| (Vec::new(), Some(why)), |ended| (ended, None));
            let ended = ended.into_iter().filter(|(run, _)| !left.contains(run)).collect();
            let told = problem.map(|why| Event::Noted { note: Note::ChildrenUnknown { why } });
            told.into_iter().chain(heard_before(hands, Event::ChildrenSeen { left, ended })).collect()
        }
        Activity::PostSafely(posts) => {
            let problems: Vec<String> = posts.iter().filter_map(|post| post_safely(hands, post)).collect();
            vec![Event::Posted { problem: (!problems.is_empty()).then(|| problems.join("; ")) }]
        }
        Activity::LookAtTree(look) => {
            let seen = look_at_tree(hands, &look).await;
            if let Event::TreeSeen { print: TreePrint::Seen { head, .. }, .. } = &seen {
                hands.heads.insert(head.clone());
            }
            let problem = hands.fingerprinter.take_problem().map(|text| Event::Noted { note: Note::Machine { text } });
            // What somebody wants while the checks run is heard before they count.
            problem.into_iter().chain(heard_before(hands, seen)).collect()
        }
        Activity::Learn(subjects, ground) => vec![checking::learn(hands, subjects, ground).await],
        Activity::Watch(watch) => checking::watch(hands, *watch, &mut links.orders).await,
        Activity::Pin(pinning) => checking::pin(hands, pinning).await,
        Activity::RestorePinned { paths, pins } => {
            vec![Event::PinnedRestored { problems: hands.pinned_files.restore(&pins.files, &paths) }]
        }
        Activity::CheckOut { pins } => vec![check_out(hands, &pins).await],
        Activity::Check(spec, pins) => checking::check(hands, *spec, &pins, &mut links.orders).await,
        Activity::LookAtPending { program } => {
            let pending = look_at_pending(hands, &program).await;
            heard_before(hands, Event::ScmLooked { pending })
        }
        Activity::LookForLeftOut { pins } => {
            let (paths, problem) = look_for_left_out(hands, &pins).await.unwrap_or_else(|why| (Vec::new(), why));
            heard_before(hands, Event::LeftOutSeen { paths, problem })
        }
        Activity::LookForMade { pins, protected, checks } => {
            let looked = checking::look_for_made(hands, &pins, protected, checks).await;
            heard_before(hands, made_seen(looked))
        }
        Activity::Scm(spec, pins) => scm_task(hands, spec, &pins, &mut links.orders).await,
        Activity::CompareTests { record, patience } => vec![existing_tests::compare(hands, record, patience).await],
        Activity::ReadPlan(wanted) => {
            let seen = plan::read(hands, &wanted).await;
            heard_before(hands, Event::PlanSeen(Box::new(seen)))
        }
        Activity::PutBack(wanted) => vec![Event::PlanPutBack(plan::put_back(hands, &wanted).await)],
        Activity::SwitchBranch { name } => vec![Event::BranchSwitched { problem: plan::switch(hands, &name).await }],
        Activity::Wait { until } => {
            wait(&hands.clock, until).await;
            vec![Event::Woke]
        }
    }
}

/// Looks at what the agent will change, and keeps it where that is wanted.
async fn before_gathering(hands: &mut RunHands<'_>, wanted: &Gather) -> Option<Result<String, String>> {
    if let Some(look) = wanted.before.as_ref().filter(|_| !hands.fingerprinter.has_looked()) {
        // Only what it changed since counts, so nobody asks for the print.
        let _ = look_at_tree(hands, look).await;
    }
    if wanted.keep_tree { Some(plan::keep_tree(hands).await) } else { None }
}

fn look_at_markers(hands: &mut RunHands<'_>) -> Event {
    let problem = hands.folder.keep_task_folder().err().map(|error| error.to_string());
    Event::MarkersSeen { markers: marker::look_at_all(hands.folder.task_folder()), problem }
}

fn post_safely(hands: &RunHands<'_>, post: &Post) -> Option<String> {
    hands.buses.post(post, hands.clock.now(), Durability::Synced).err()
}

fn made_seen(looked: Result<checking::Seen, String>) -> Event {
    match looked {
        Ok((made, tests)) => Event::MadeSeen { made, problem: String::new(), tests },
        Err(problem) => Event::MadeSeen { made: Vec::new(), problem, tests: Vec::new() },
    }
}

/// What was said on the bus meanwhile stands before the answer.
fn heard_before(hands: &mut RunHands<'_>, answer: Event) -> Vec<Event> {
    hands.listen().into_iter().chain([answer]).collect()
}

fn gather(hands: &mut RunHands<'_>, wanted: &Gather, tree: Option<Result<String, String>>) -> Vec<Event> {
    let base = wanted.prompt_file.as_ref().and_then(|path| {
        let base = views::read_prompt_file(&hands.root.join(path));
        let known = base.as_ref().ok().map(|text| ralph_core::text::hash(text.as_bytes()));
        // The same text again need not stand in the journal again.
        let same = known.is_some() && known == hands.base_known;
        hands.base_known = known;
        (!same).then_some(base)
    });
    let summary = wanted.summary_file.as_ref().map(|file| hands.folder.read_summary(file)).unwrap_or_default();
    let human = match wanted.feedback_file.as_str() {
        "" => String::new(),
        name => memory::human_feedback(&hands.folder.read_feedback(name)),
    };
    let mut events = hands.news_since();
    let base = match hands.stands_alone() {
        Ok(note) => {
            events.extend(note);
            base
        }
        Err(problem) => Some(Err(problem)),
    };
    events.push(Event::Gathered(Gathered { base, summary, human, tree }));
    events
}

/// Looks at the tree and at everything pinned, aside from the event loop: signals and timers go on, and a run that
/// ends meanwhile drops it.
async fn look_at_tree(hands: &mut RunHands<'_>, look: &Look) -> Event {
    let Look { patience: limit, pins } = look;
    let limit = *limit;
    let until = (!limit.is_off()).then(|| Instant::now() + limit.duration());
    let listed = match hands.git_root.as_deref() {
        Some(root) => {
            let own = hands.own_folders();
            let inquiry = Inquiry { root, pins, scratch: &hands.run_folder, patience: limit, own: &own };
            git::list_tree(&mut hands.keeper, inquiry).await
        }
        None => Err(Unlisted::no_repository()),
    };
    let is_listed = listed.is_ok();
    let anew = hands.fingerprinter.anew();
    let mut fingerprinter = std::mem::replace(&mut hands.fingerprinter, anew);
    let (files, programs, pins) = (hands.pinned_files.clone(), hands.programs.clone(), Arc::clone(pins));
    let reads_nothing = !is_listed && pins.files.is_empty() && pins.programs.is_empty();
    let look = move |stop: &Stop| {
        // The pinned files first: they are few, and count even where there is no time for the rest.
        let seen = files.changes(&pins.files).and_then(|files| Ok((files, programs.changes(&pins.programs)?)));
        let (print, damage) = match listed {
            Ok(mut listing) => (fingerprinter.print(&mut listing, stop), listing.changes),
            Err(unlisted) => (unlisted.print, unlisted.changes),
        };
        let seen_whole = matches!(print, TreePrint::Seen { .. });
        let changed = fingerprinter.changed().filter(|_| seen_whole).map(<[String]>::to_vec);
        let stirred = fingerprinter.stirred().filter(|_| seen_whole).unwrap_or_default().to_vec();
        let event = match seen {
            Ok((files, programs)) => {
                let pinned = files.into_iter().chain(programs).chain(damage).collect();
                Event::TreeSeen { print, changed, stirred, pinned }
            }
            Err(fault) => Event::TreeSeen { print: TreePrint::fault(fault), changed, stirred, pinned: damage },
        };
        (fingerprinter, event)
    };
    let started = if reads_nothing { Ok(Aside::done(look)) } else { Aside::start(look) };
    let failed = |why: String| {
        let (stirred, pinned) = Default::default();
        Event::TreeSeen { print: TreePrint::fault(why), changed: None, stirred, pinned }
    };
    let mut looking = match started {
        Ok(looking) => looking,
        Err(error) => return failed(format!("no thread could be started: {error}")),
    };
    let (answer, in_time) = tokio::select! {
        biased;
        answer = looking.answer() => (answer, true),
        () = at(until) => {
            looking.stop();
            (tokio::time::timeout(STOPPING, looking.answer()).await.ok().flatten(), false)
        }
    };
    let too_long = || format!("it takes longer than {limit} (verify.treeTimeoutMs)");
    let Some((fingerprinter, mut event)) = answer else { return failed(too_long()) };
    hands.fingerprinter = fingerprinter;
    if let Event::TreeSeen { print: print @ TreePrint::Unknown { .. }, .. } = &mut event
        && is_listed
        && !in_time
    {
        *print = TreePrint::fault(too_long());
    }
    event
}

async fn check_out(hands: &mut RunHands<'_>, pins: &Pins) -> Event {
    let refused =
        |why, fault| Event::CheckedOut { commit: Err(why), fault, uncommitted: Vec::new(), pinned: Vec::new() };
    hands.checkout = None;
    let Some(git_root) = hands.git_root.clone() else { return refused("not a git repository".to_owned(), false) };
    let inside = hands.root.strip_prefix(&git_root).unwrap_or(Path::new("")).to_owned();
    let folder = hands.run_folder.join("checkout");
    let filters = git::filters_of(&pins.git);
    let made = Checkout::make(&mut hands.keeper, &git_root, &inside, &folder, &filters).await;
    let uncommitted = checkout::uncommitted(&mut hands.keeper, &hands.root).await;
    match (made, uncommitted) {
        (Ok((checkout, commit)), Ok(uncommitted)) => {
            // What is installed is in no commit.
            let committed = pins.files.iter().filter(|file| !matches!(file.why, Why::Installed { .. }));
            let committed: Vec<_> = committed.cloned().collect();
            match hands.pinned_files.at(checkout.project()).changes(&committed) {
                Ok(pinned) => {
                    hands.checkout = Some(checkout);
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

/// Executes a task of version control. A commit is compared with what was checked.
async fn scm_task(
    hands: &mut RunHands<'_>,
    spec: ScmSpec,
    pins: &Pins,
    orders: &mut UnboundedReceiver<Order>,
) -> Vec<Event> {
    let commits = spec.args.first().is_some_and(|word| is_commit(word));
    let checked = hands.git_root.clone().filter(|_| commits && pins.tree_seen && scm::is_git(&spec.program));
    let before = match &checked {
        Some(root) => scm::contents(&mut hands.keeper, root, GIT_TIMEOUT).await,
        None => Ok(Contents::default()),
    };
    if let Some(why) = leads_elsewhere(hands, &spec, pins).await {
        return heard_before(hands, Event::ScmEnded(Box::new(scm::not_started(spec, why))));
    }
    let place = ScmPlace { root: &hands.root, note: &hands.scm_note };
    let program = spec.program.clone();
    let mut report = scm::run(&mut hands.keeper, spec, place, orders).await;
    if commits && !report.ending.succeeded() {
        report.nothing = ScmPolicy::is_nothing(look_at_pending(hands, &program).await);
    }
    // Where git sees nothing to commit, the last commit must hold what was checked.
    if let Some(root) = checked.filter(|_| report.ending.succeeded() || report.nothing) {
        let own = hands.own_folders();
        let inquiry = Inquiry { root: &root, pins, scratch: &hands.run_folder, patience: GIT_TIMEOUT, own: &own };
        let committed = scm::committed(&mut hands.keeper, inquiry).await;
        match before.and_then(|before| Ok((before, committed?))) {
            Ok((before, committed)) => {
                report.differs = before.changed(&root);
                report.differs.extend(committed.differs);
                report.differs.extend(committed.changes.iter().map(PinnedChange::words));
                report.left_out = committed.left_out;
                report.nothing &= report.differs.is_empty();
            }
            Err(error) => report.uncompared = error.to_string(),
        }
    }
    heard_before(hands, Event::ScmEnded(Box::new(report)))
}

/// Why a task is a push that does not go where it went when the run began, or why nobody knows.
async fn leads_elsewhere(hands: &mut RunHands<'_>, spec: &ScmSpec, pins: &Pins) -> Option<String> {
    let pushes = scm::is_git(&spec.program) && spec.args.first().is_some_and(|word| word == "push");
    let (root, ways) = hands.git_root.as_deref().filter(|_| pushes).zip(pins.git.ways.as_ref())?;
    let looked = scm::leads_elsewhere(&mut hands.keeper, root, ways, &spec.args, GIT_TIMEOUT).await;
    looked.unwrap_or_else(|error| Some(format!("where the push goes could not be seen: {error}")))
}

/// What is new and not in the last commit; where there is no git, nobody can tell, and nobody is asked to.
async fn look_for_left_out(hands: &mut RunHands<'_>, pins: &Pins) -> Result<(Vec<String>, String), String> {
    let root = hands.git_root.clone().filter(|_| pins.tree_seen);
    let Some((root, began)) = root.zip(pins.began) else { return Ok(Default::default()) };
    let own = hands.own_folders();
    let inquiry = Inquiry { root: &root, pins, scratch: &hands.run_folder, patience: GIT_TIMEOUT, own: &own };
    let found = scm::left_out(&mut hands.keeper, inquiry, began).await.map_err(|error| error.to_string())?;
    let text = |path: PathBuf| {
        path.into_os_string().into_string().map_err(|path| format!("the name {} is no text", path.display()))
    };
    Ok((found.into_iter().map(text).collect::<Result<_, _>>()?, String::new()))
}

async fn look_at_pending(hands: &mut RunHands<'_>, program: &str) -> Pending {
    if !scm::is_git(program) {
        return Pending::Unknown;
    }
    scm::look_at_pending(&mut hands.keeper, &hands.root, GIT_TIMEOUT).await
}

/// Waits, but not beyond the appearance of a marker.
async fn rest(hands: &mut RunHands<'_>, span: Millis) {
    let task_folder = hands.folder.task_folder();
    let marked = async {
        match &mut hands.watch {
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
