//! What the checks of a project are made of as it stands, for commands that look at it without a run.

use crate::commands::pick;
use crate::error::CommandError;
use crate::project::{self, Project};
use crate::runs::Listing;
use crate::session::event_loop;
use crate::settings::{Flags, Settings};
use ralph_core::check::{CheckSpec, Ground};
use ralph_core::id::{RunId, TaskName};
use ralph_core::judges::{self, Judge, Known, Program, Subject, Why};
use ralph_core::policy::{Policy, PromptSource};
use ralph_core::protect::{PinnedState, Pins};
use ralph_core::trust::{Committer, Standing, Trust, Untrusted};
use ralph_host::aside::Stop;
use ralph_host::clock;
use ralph_host::pins::{self, Machine, PinnedFiles};
use ralph_host::process::Keeper;
use ralph_host::programs::Programs;
use ralph_host::snapshot::{Place, Snapshots};
use ralph_host::temp::RunTemp;
use ralph_host::{tree, trust};
use ralph_store::{Store, Which};
use ralph_view::judges::Judging;
use std::path::Path;
use std::sync::Arc;

/// Runs that are asked what they saw when they watched a check.
const ASKED: usize = 5;

/// What was found, and what of it people accepted.
pub struct Found {
    pub judging: Judging,
    pub trust: Trust,
    /// Everything that judges, as it stands.
    pub standings: Vec<Standing>,
}

/// Looks at everything. Nothing in the project is touched, and nothing is executed but git and a trial of snapshots.
pub fn look(project: &Project, settings: &Settings) -> Result<Found, CommandError> {
    let flags = Flags::default();
    let policy =
        settings.policy(TaskName::from_text("judges"), PromptSource::Text(String::new()), &flags, String::new());
    let checks = policy.checks(0, Ground::Project);
    let subjects: Vec<Subject> = checks.iter().map(CheckSpec::subject).collect();
    let programs = Programs::new(&project.root, project::variable("PATH"));
    let machine = Machine::new(&project.root, programs.clone(), project::variable);
    let mut known = Known::default();
    if policy.pins_scripts() {
        known = judges::learn(&subjects, &machine);
        add_watched(project, &policy, &mut known);
    }
    let name = RunId::from_random(clock::random_bits());
    let temp = RunTemp::create(&project::temp_folder(), &name)
        .map_err(|error| CommandError::io("there is no place for a look at the checks", &error))?;
    let files = PinnedFiles::new(&project.root, &temp.path().join(pins::KEPT))
        .pin(&policy.protect.paths, &subjects, &known, &Stop::default())
        .map_err(|failure| CommandError::usage(format!("what judges cannot be looked at: {}", failure.why)))?;
    let programs = if policy.pins_scripts() { programs.pin(&known.programs) } else { Vec::new() };
    let pins = Pins { files, programs, ..Pins::default() };
    let settings = project.watch_settings()?;
    let standings: Vec<Standing> = pins.standings().into_iter().chain(settings.standings().iter().cloned()).collect();
    let trust = trust::read(&project.state).map_err(|error| {
        CommandError::io(format!("what people trust cannot be read in {}", project.state.display()), &error)
    })?;
    let (untrusted, live) = event_loop()?.block_on(async {
        let mut keeper =
            Keeper::start_alone(&name).map_err(|error| CommandError::io("no process can be started", &error))?;
        let untrusted = untrusted(project, &mut keeper, &trust, &standings).await;
        let live = match (policy.verify.live, checks.is_empty()) {
            (_, true) => String::new(),
            (true, _) => "verify.snapshot is off".to_owned(),
            (false, _) => {
                let folder = temp.path().to_owned();
                let place = Place {
                    tree: project.work_tree().to_owned(),
                    project: project.root.clone(),
                    state: folder.clone(),
                    run_folder: folder,
                    spare: None,
                };
                Snapshots::probe(&mut keeper, place).await.err().unwrap_or_default()
            }
        };
        keeper.close();
        Ok::<_, CommandError>((untrusted, live))
    })?;
    let (protects, checkout) = (policy.protect.scripts, policy.verify.clean_checkout);
    let judging = Judging { checks, known, pins, untrusted, live, checkout, protects };
    Ok(Found { judging, trust, standings })
}

/// What the next run would not believe. A run that was never closed is answerable for whatever differs.
async fn untrusted(project: &Project, keeper: &mut Keeper, trust: &Trust, standings: &[Standing]) -> Vec<Untrusted> {
    let mut next = trust.clone();
    let head = project.git_root.as_deref().and_then(tree::head).unwrap_or_default();
    next.begin(&RunId::from_random(clock::random_bits()), &head, standings);
    let differing = next.differing(standings);
    let committers = match differing.is_empty() {
        true => Default::default(),
        false => trust::committers(keeper, &project.root, &differing, next.moves()).await,
    };
    next.settle(standings, |path| committers.get(path).copied().unwrap_or(Committer::Nobody))
}

/// Adds what the last runs learned by watching the same checks: reading does not tell it.
fn add_watched(project: &Project, policy: &Policy, known: &mut Known) {
    for (before, pins) in pins_of_last_runs(project) {
        let same =
            |check: &CheckSpec| before.checks(0, Ground::Project).iter().any(|old| old.subject() == check.subject());
        let checks = policy.checks(0, Ground::Project);
        let open = |check: &&CheckSpec| !known.knows(&check.id) && same(check);
        let Some(ids) = Some(checks.iter().filter(open).map(|check| check.id.clone()).collect::<Vec<_>>())
            .filter(|ids| !ids.is_empty())
        else {
            continue;
        };
        known.unknown.retain(|one| !ids.contains(&one.check));
        known.unknown.extend(pins.unknown.iter().filter(|one| ids.contains(&one.check)).cloned());
        for file in pins.files.iter().filter(|file| file.why == Why::Watched) {
            let of: Vec<_> = file.of.iter().filter(|id| ids.contains(id)).cloned().collect();
            let executed = matches!(file.state, PinnedState::File { executable: Some(_), .. });
            let (path, part, why) = (file.path.clone(), file.part.clone(), Why::Watched);
            if !of.is_empty() && !known.judges.iter().any(|judge| judge.path == path && judge.part == part) {
                known.judges.push(Judge { path, part, why, of, executed });
            }
        }
        for program in &pins.programs {
            if !known.programs.iter().any(|one| one.name == program.name) {
                known.programs.push(Program { name: program.name.clone(), of: ids.clone() });
            }
        }
    }
}

/// What the last runs pinned, newest first, with their rules. A journal that cannot be read tells nothing here.
fn pins_of_last_runs(project: &Project) -> Vec<(Arc<Policy>, Arc<Pins>)> {
    let Ok(Some(store)) = Store::open_existing(&project.state) else { return Vec::new() };
    let Ok(listing) = Listing::newest(&store, Which::All, ASKED) else { return Vec::new() };
    let machines = listing.runs.iter().filter_map(|row| pick::machine(&store, &row.run).ok());
    machines.map(|machine| (Arc::clone(machine.policy()), machine.pins())).collect()
}

/// What an untrusted file held when the run began whose agent changed it, and what it holds now.
pub fn contents(project: &Project, untrusted: &Untrusted) -> Option<(String, String)> {
    let run = untrusted.run.as_ref()?;
    let store = Store::open_existing(&project.state).ok()??;
    let pins = pick::machine(&store, run).ok()?.pins();
    let file = pins.files.iter().find(|file| file.path == untrusted.path)?;
    let kept = PinnedFiles::new(&project.root, &project.run_folder(run).join(pins::KEPT));
    let before = kept.content(file).unwrap_or_default();
    let after = ralph_host::look::text(&project.root.join(Path::new(&untrusted.path))).unwrap_or_default();
    Some((String::from_utf8_lossy(&before).into_owned(), after))
}
