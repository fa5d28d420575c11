//! What people accepted of that by which agents are judged, over all runs of the project.

use super::RunHands;
use ralph_core::protect::{Change, Pins};
use ralph_core::trust::{Committer, Standing, Untrusted};
use ralph_core::words::Note;
use ralph_host::{tree, trust};

/// A run begins with these pins: what of them only an agent stands behind. The rest is accepted, unless an agent itself
/// began this run: it accepts nothing.
pub(super) async fn settle(hands: &mut RunHands<'_>, pins: &mut Pins) -> Result<Vec<Untrusted>, String> {
    let failed = |error: std::io::Error| {
        format!("what people trust cannot be read or kept in {}: {error}", hands.state.display())
    };
    let mut trust = trust::read(&hands.state).map_err(failed)?;
    let standings: Vec<Standing> =
        pins.standings().into_iter().chain(hands.settings.standings().iter().cloned()).collect();
    let head = hands.git_root.as_deref().and_then(tree::head).unwrap_or_default();
    trust.begin(&hands.run, &head, &standings);
    let differing = trust.differing(&standings);
    let committers = match differing.is_empty() {
        true => Default::default(),
        false => trust::committers(&mut hands.keeper, &hands.root, &differing, trust.moves()).await,
    };
    let untrusted = trust.settle(&standings, |path| committers.get(path).copied().unwrap_or(Committer::Nobody));
    for file in pins.files.iter_mut().filter(|file| untrusted.iter().any(|one| one.path == file.path)) {
        file.accepted = trust.accepted(&file.key()).cloned();
    }
    if hands.parent.is_none() {
        trust::write(&hands.state, &trust).map_err(failed)?;
    }
    Ok(untrusted)
}

/// A run ends: what its agents changed and did not put back is remembered.
pub(super) fn close(hands: &mut RunHands<'_>, pins: &Pins) {
    if hands.parent.is_some() {
        return;
    }
    let files = hands.pinned_files.changes(&pins.files);
    let changed = files.and_then(|files| Ok(files.into_iter().chain(hands.programs.changes(&pins.programs)?)));
    let closed = changed.map_err(std::io::Error::other).and_then(|changes| {
        let paths = changes.filter(|change| change.how != Change::PutBack).flat_map(|change| match change.how {
            // The next run finds the program that hides the first one.
            Change::Hidden { by } => vec![change.path, by],
            _ => vec![change.path],
        });
        let changed: Vec<String> = paths.chain(hands.settings.changed()).collect();
        trust::update(&hands.state, |trust| trust.close(&hands.run, &changed, std::mem::take(&mut hands.heads)))
    });
    // The run stays open then, and the next one takes whatever differs for its doing.
    if let Err(error) = closed {
        hands.unwritten =
            Some(Note::Machine { text: format!("what this run leaves could not be remembered: {error}") });
    }
}
