//! A plan's files and the repository around them: read, put back, committed, and shown to hooks and eyes.

use super::RunHands;
use super::activity::GIT_TIMEOUT;
use ralph_core::activity::{KeptTree, PlanRead, PutBack};
use ralph_core::event::PlanPutBack;
use ralph_core::plan::PlanSeen;
use ralph_core::plan::hooks::{self, HookSnapshot};
use ralph_core::plan::marker::{self, Marker};
use ralph_core::words::Note;
use ralph_host::kept_tree::{self, Keeping};
use ralph_host::plan_files::{self, Stands};
use ralph_host::plan_git::{self, Place};
use ralph_host::scm::{self, OwnCommit};
use std::io;
use std::path::{Path, PathBuf};

/// The folder of the run in which work trees are kept.
const KEPT: &str = "kept-tree";

pub(super) async fn read(hands: &mut RunHands<'_>, wanted: &PlanRead) -> PlanSeen {
    let seen = plan_files::look(&hands.root, wanted);
    let (git, problem) = match hands.git_root.clone() {
        None => (None, String::new()),
        Some(top) => {
            let place = Place { top: &top, project: &hands.root };
            match plan_git::look(&mut hands.keeper, place, GIT_TIMEOUT).await {
                Ok(git) => (Some(git), String::new()),
                Err(error) => (None, error.to_string()),
            }
        }
    };
    PlanSeen { git, problem, ..seen }
}

/// Keeps the work tree as it stands.
pub(super) async fn keep_tree(hands: &mut RunHands<'_>) -> Result<String, String> {
    let Some(top) = hands.git_root.clone() else { return Err("there is no repository".to_owned()) };
    let (folder, usual) = (hands.run_folder.join(KEPT), usual_rules(hands));
    let place = Place { top: &top, project: &hands.root };
    let of = Keeping { place, folder: &folder, usual_rules: usual.as_deref(), patience: GIT_TIMEOUT };
    kept_tree::keep(&mut hands.keeper, of).await.map_err(|error| error.to_string())
}

/// Where git looks for rules about what it ignores, if nobody says otherwise.
fn usual_rules(hands: &RunHands<'_>) -> Option<PathBuf> {
    let said = (hands.variable)("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = said.or_else(|| Some(PathBuf::from((hands.variable)("HOME")?).join(".config")))?;
    Some(folder.join("git/ignore"))
}

pub(super) async fn put_back(hands: &mut RunHands<'_>, wanted: &PutBack) -> PlanPutBack {
    let mut done = PlanPutBack::default();
    let mut paths: Vec<PathBuf> = Vec::new();
    let top = hands.git_root.clone().unwrap_or_else(|| hands.root.clone());
    let root = hands.root.clone();
    let place = Place { top: &top, project: &root };
    if let Some(tree) = wanted.tree.as_ref().filter(|_| hands.git_root.is_some()) {
        let (folder, usual) = (hands.run_folder.join(KEPT), usual_rules(hands));
        let of = Keeping { place, folder: &folder, usual_rules: usual.as_deref(), patience: GIT_TIMEOUT };
        let spares = |path: &Path| is_spared(tree, &place.shown(path));
        match kept_tree::restore(&mut hands.keeper, of, &tree.id, spares).await {
            Ok(restored) => {
                let own = |path: &String| wanted.writes.iter().any(|(written, _)| written == path);
                done.files = restored.files.iter().map(|path| place.shown(path)).filter(|path| !own(path)).collect();
                done.problems = restored.problems;
                paths = restored.files;
            }
            Err(error) => done.problems.push(format!("what the review changed could not be put back: {error}")),
        }
    }
    for (path, content) in &wanted.writes {
        match write(&root.join(path), content.bytes()) {
            Ok(()) => paths.push(place.from_top(path)),
            Err(error) => done.problems.push(format!("{path} could not be put back: {error}")),
        }
    }
    paths.extend(wanted.paths.iter().map(|path| place.from_top(path)));
    if wanted.subject.is_empty() || paths.is_empty() || hands.git_root.is_none() {
        return done;
    }
    let commit = OwnCommit {
        root: &top,
        paths: &paths,
        message: &wanted.subject,
        scratch: &hands.run_folder,
        patience: GIT_TIMEOUT,
    };
    match scm::commit(&mut hands.keeper, commit).await {
        Ok(commit) => done.commit = commit.unwrap_or_default(),
        Err(error) => done.problems.push(format!("\"{}\" could not be committed: {error}", wanted.subject)),
    }
    done
}

/// Whether a path of the project stays as it is; one with `/**` at its end names a whole folder.
fn is_spared(tree: &KeptTree, path: &str) -> bool {
    tree.spare.iter().any(|spared| match spared.strip_suffix("/**") {
        Some(folder) => Path::new(path).starts_with(folder),
        None => path == spared,
    })
}

/// Writes a file of a plan, also where its folder is gone or something else stands in its place.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        match folder.symlink_metadata() {
            Ok(meta) if !meta.is_dir() => std::fs::remove_file(folder)?,
            Ok(_) | Err(_) => {}
        }
        std::fs::create_dir_all(folder)?;
    }
    if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        std::fs::remove_dir_all(path)?;
    }
    plan_files::write(path, bytes)
}

pub(super) async fn switch(hands: &mut RunHands<'_>, name: &str) -> Option<String> {
    let Some(top) = hands.git_root.clone() else { return Some("there is no repository".to_owned()) };
    let switched = plan_git::switch(&mut hands.keeper, &top, name, GIT_TIMEOUT).await;
    switched.err().map(|error| format!("{name}: {error}"))
}

/// Says in the project what the run is doing, for prompts and eyes.
pub(super) fn write_active(hands: &mut RunHands<'_>, mut marker: Marker) {
    marker.pid = std::process::id();
    let text = marker.text().map_err(io::Error::from);
    let written = text.and_then(|text| plan_files::write(&hands.root.join(marker::FILE), text.as_bytes()));
    say_unwritten(hands, marker::FILE, written);
}

/// Removes that, unless it is somebody else's.
pub(super) fn remove_active(hands: &mut RunHands<'_>) {
    let path = hands.root.join(marker::FILE);
    let Stands::Bytes(text) = plan_files::read(&path) else { return };
    let is_ours = Marker::owner(&text).and_then(|owner| owner.run).is_some_and(|run| run == hands.run.as_str());
    if is_ours {
        let removed = std::fs::remove_file(&path);
        say_unwritten(hands, marker::FILE, removed);
    }
}

/// What the hooks of the agent that is about to start decide by.
pub(super) fn write_hook_snapshot(hands: &mut RunHands<'_>, snapshot: &HookSnapshot) {
    let text = serde_json::to_vec(snapshot).map_err(io::Error::from);
    let written = text.and_then(|text| plan_files::write(&hands.run_folder.join(hooks::FILE), &text));
    say_unwritten(hands, hooks::FILE, written);
}

fn say_unwritten(hands: &mut RunHands<'_>, file: &str, written: io::Result<()>) {
    if let Err(error) = written {
        hands.unwritten = Some(Note::Machine { text: format!("{file} could not be written: {error}") });
    }
}
