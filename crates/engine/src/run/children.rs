//! Waiting for child runs: they live on when the agent that started them is gone.

use ralph_core::activity::Leftover;
use ralph_core::event::Event;
use ralph_core::id::RunId;
use ralph_core::time::Millis;
use ralph_core::words::Note;
use ralph_host::child_runs::{self, Child};
use ralph_host::signals;
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, sleep, timeout_at};

/// A child that ends must be noticed as soon as a file that appears.
const LOOK: Duration = Duration::from_millis(50);
/// How long an interrupted child may take: its agent has five seconds, and itself some more.
const INTERRUPTED: Duration = Duration::from_secs(15);

/// Waits until no child of this run lives, or for as long as that. Returns those that lived on until then.
pub(super) async fn wait(folder: &Path, span: Millis, then: Leftover, alarm: &UnboundedSender<Event>) -> Vec<RunId> {
    // Whoever works in the tree that is to be judged is waited for, whomever it calls its parent.
    let living = if then == Leftover::Interrupt { child_runs::live_inside } else { child_runs::live_children };
    let waiting = living(folder);
    if !waiting.is_empty() {
        let runs = waiting.into_iter().map(|child| child.run).collect();
        let _ = alarm.send(Event::Noted { note: Note::ChildrenAwaited { span, runs } });
    }
    let deadline = Instant::now() + span.duration();
    let _ = timeout_at(deadline, gone(folder, living)).await;
    let left = living(folder);
    if then == Leftover::Interrupt && !left.is_empty() {
        // Once is a wish to finish what runs now, twice an order to stop.
        for _ in 0..2 {
            left.iter().for_each(|child| signals::interrupt(&child.identity));
            sleep(LOOK).await;
        }
        let _ = timeout_at(Instant::now() + INTERRUPTED, gone(folder, living)).await;
    }
    left.into_iter().map(|child| child.run).collect()
}

async fn gone(folder: &Path, living: fn(&Path) -> Vec<Child>) {
    while !living(folder).is_empty() {
        sleep(LOOK).await;
    }
}
