//! The tests that are there when a run begins, and which of them it changed. What cannot be seen is told, and refuses
//! nothing.

use super::RunHands;
use crate::carry::at;
use ralph_core::event::Event;
use ralph_core::tests_changed::TestsRecord;
use ralph_core::time::Millis;
use ralph_host::aside::{Aside, Stop};
use ralph_host::git;
use ralph_host::tree::ExistingTests;
use std::io;
use tokio::time::Instant;

/// Records the tests that git tracks, or without a repository those that are there.
pub(super) async fn record(hands: &mut RunHands<'_>, patience: Millis) -> Result<TestsRecord, String> {
    let tests = ExistingTests::new(&hands.root, &hands.run_folder);
    let Some(root) = hands.git_root.clone() else {
        return aside(patience, move |stop| tests.record_present(stop)).await;
    };
    let tracked = git::tracked(&mut hands.keeper, &root, &hands.run_folder, patience).await;
    let mut tracked = tracked.map_err(|error| format!("git could not list the files: {error}"))?;
    aside(patience, move |stop| tests.record_tracked(&root, &mut tracked, stop)).await
}

/// Compares them with what is there now.
pub(super) async fn compare(hands: &RunHands<'_>, record: TestsRecord, patience: Millis) -> Event {
    let tests = ExistingTests::new(&hands.root, &hands.run_folder);
    Event::TestsCompared { changed: aside(patience, move |stop| tests.compare(&record, stop)).await }
}

/// Looks aside from the event loop, and not longer than that.
async fn aside<T: Send + 'static>(
    patience: Millis,
    look: impl FnOnce(&Stop) -> io::Result<T> + Send + 'static,
) -> Result<T, String> {
    let mut looking = Aside::start(look).map_err(|error| format!("no thread could be started: {error}"))?;
    let until = (!patience.is_off()).then(|| Instant::now() + patience.duration());
    tokio::select! {
        biased;
        answer = looking.answer() => match answer {
            Some(answer) => answer.map_err(|error| error.to_string()),
            None => Err("the look at them was cut".to_owned()),
        },
        () = at(until) => Err(format!("it takes longer than {patience} (verify.treeTimeoutMs)")),
    }
}
