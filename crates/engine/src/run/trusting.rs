//! What people accepted of that by which agents are judged, over all runs of the project.

use super::RunHands;
use ralph_core::protect::{Change, GIT_SETTING, PinnedChange, Pins};
use ralph_core::trust::{Committer, Seal, Span, Untrusted};
use ralph_core::words::Note;
use ralph_host::git::GitError;
use ralph_host::{git, tree, trust};
use std::path::Path;

/// Paths of judges that agents of earlier runs left changed, of which one that is gone still counts; and when those agents
/// worked.
pub(super) fn left(hands: &RunHands<'_>) -> Result<(Vec<String>, Vec<Span>), String> {
    let mut trust = trust::read(&hands.state).map_err(|error| unkept(hands, &error))?;
    trust.works_since(&hands.run, hands.time_of_files());
    Ok((trust.left().map(|(path, _)| path.to_owned()).collect(), trust.worked().to_vec()))
}

/// A run begins with these pins: what of them only an agent stands behind. The rest is accepted, unless an agent itself
/// began this run: it accepts nothing.
pub(super) async fn settle(hands: &mut RunHands<'_>, pins: &mut Pins) -> Result<Vec<Untrusted>, String> {
    let mut trust = trust::read(&hands.state).map_err(|error| unkept(hands, &error))?;
    let standings = pins.standings().into_iter().chain(hands.settings.standings().iter().cloned()).collect();
    let standings = trust.with_gone(standings);
    let before = trust.clone();
    let head = hands.git_root.as_deref().and_then(tree::head).unwrap_or_default();
    // Before this run is among those that have begun: the others have crashed.
    trust.works_since(&hands.run, pins.began.unwrap_or_else(|| hands.time_of_files()));
    trust.begin(&hands.run, &head, &standings);
    trust.works_since(&hands.run, pins.began.unwrap_or_else(|| hands.time_of_files()));
    pins.worked = trust.worked().to_vec();
    let differing = trust.differing(&standings);
    let committers = match differing.is_empty() {
        true => Default::default(),
        false => trust::committers(&mut hands.keeper, &hands.root, &differing, trust.moves()).await,
    };
    let untrusted = trust.settle(&standings, |path| committers.get(path).copied().unwrap_or(Committer::Nobody));
    for file in pins.files.iter_mut().filter(|file| untrusted.iter().any(|one| one.path == file.path)) {
        file.accepted = trust.accepted(&file.key()).cloned();
    }
    let of_git: Vec<_> = pins.git.standings().into_iter().map(|one| (one.path, one.key)).collect();
    let gone = untrusted
        .iter()
        .filter(|one| one.path.starts_with(GIT_SETTING))
        .map(|one| (one.path.clone(), one.path.clone()));
    for (path, key) in of_git.into_iter().chain(gone) {
        if untrusted.iter().any(|one| one.path == path) {
            pins.git.accepted.insert(path, trust.accepted(&key).cloned().unwrap_or_default());
        }
    }
    let mut kept = if hands.parent.is_none() { trust } else { before };
    kept.seal(Seal { pins: pins.print(), ..hands.seal.clone() });
    trust::write(&hands.state, &kept).map_err(|error| unkept(hands, &error))?;
    Ok(untrusted)
}

/// An agent is about to work: if it kills ralph, the next run must know that there was one, also where this run has no
/// check for which anything was pinned.
pub(super) async fn open(hands: &mut RunHands<'_>) {
    if hands.parent.is_some() {
        return;
    }
    let opened = match trust::read(&hands.state) {
        Ok(trust) if trust.is_open(&hands.run) => Ok(()),
        Ok(_) => settle(hands, &mut Pins::default()).await.map(drop),
        Err(error) => Err(unkept(hands, &error)),
    };
    if let Err(text) = opened {
        hands.unwritten = Some(Note::Machine { text });
    }
}

fn unkept(hands: &RunHands<'_>, error: &std::io::Error) -> String {
    format!("what people trust cannot be read or kept in {}: {error}", hands.state.display())
}

/// A run ends: what its agents changed and did not put back is remembered.
pub(super) async fn close(hands: &mut RunHands<'_>, pins: &Pins) {
    if hands.parent.is_some() {
        return;
    }
    let closed = changed(hands, pins).await.map_err(std::io::Error::other).and_then(|changed| {
        let now = hands.time_of_files();
        trust::update(&hands.state, |trust| {
            trust.close(&hands.run, &changed, std::mem::take(&mut hands.heads));
            pins.began.into_iter().for_each(|began| trust.note_work((began, now)));
        })
    });
    // The run stays open then, and the next one takes whatever differs for its doing.
    if let Err(error) = closed {
        hands.unwritten =
            Some(Note::Machine { text: format!("what this run leaves could not be remembered: {error}") });
    }
}

/// What is not as it was when the run began.
async fn changed(hands: &mut RunHands<'_>, pins: &Pins) -> Result<Vec<String>, String> {
    let mut changes = hands.pinned_files.changes(&pins.files)?;
    changes.extend(hands.programs.changes(&pins.programs)?);
    if let Some(root) = hands.git_root.clone().filter(|_| pins.tree_seen) {
        changes.extend(git_changes(hands, &root, pins).await?);
    }
    let paths =
        changes.into_iter().filter(|change| change.how != Change::PutBack).flat_map(|change| match change.how {
            // The next run finds the program that hides the first one.
            Change::Hidden { by } => vec![change.path, by],
            _ => vec![change.path],
        });
    let settings = hands.settings.changed().map_err(|error| error.to_string())?;
    Ok(paths.chain(settings).collect())
}

/// What of git is not as it was. Where git cannot say it, the repository is damaged, and the next run sees that.
async fn git_changes(hands: &mut RunHands<'_>, root: &Path, pins: &Pins) -> Result<Vec<PinnedChange>, String> {
    match git::changes(&mut hands.keeper, root, &pins.git, &hands.run_folder).await {
        Ok(changes) => Ok(changes),
        Err(GitError::Refused(_)) => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}
