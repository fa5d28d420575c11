//! git's lock files: which are there, whose they are, and which of them a killed git of ours left behind.
//!
//! A git that comes to its own end removes its locks. So a lock that appeared while a task of ours ran, and is still
//! there when everything that the task started is gone, was left by that task, unless another git works in the
//! repository: that one's locks are never touched.

use crate::process;
use crate::tree;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long somebody else's git may hold a lock before a task begins: most hold it for less than a second.
const PATIENCE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(50);
/// Folders below a repository are looked through so deep; branches have names of a few parts.
const DEEPEST: usize = 16;

#[derive(Debug)]
pub(super) struct Locks {
    root: PathBuf,
    own: PathBuf,
    common: PathBuf,
    /// In trusted state: the locks that were there before the task that runs.
    note: PathBuf,
}

impl Locks {
    /// Of the repository around this folder, if there is one.
    pub(super) fn around(folder: &Path, note: &Path) -> Option<Locks> {
        // As processes name their folders.
        let root = tree::git_root(folder)?.canonicalize().ok()?;
        let (own, common) = tree::git_folders(&root)?;
        let (own, common) = (own.canonicalize().ok()?, common.canonicalize().ok()?);
        Some(Locks { root, own, common, note: note.to_owned() })
    }

    /// Waits until no lock is there, or long enough, and notes which are.
    pub(super) async fn before_task(&self) -> BTreeSet<PathBuf> {
        let began = Instant::now();
        let mut there = self.there();
        while !there.is_empty() && began.elapsed() < PATIENCE {
            tokio::time::sleep(AGAIN).await;
            there = self.there();
        }
        let names: Vec<&Path> = there.iter().map(PathBuf::as_path).collect();
        // Without the note a crash makes these locks somebody else's, which are told and not removed.
        let _ = serde_json::to_vec(&names).map(|names| std::fs::write(&self.note, names));
        there
    }

    /// Removes what a task left, now that everything of it is gone; says so, and what is in the way of the next.
    pub(super) fn after_task(&self, before: &BTreeSet<PathBuf>) -> String {
        let there = self.there();
        let others = if there.is_empty() { Vec::new() } else { self.other_gits() };
        let mut said = Vec::new();
        for lock in there {
            let shown = lock.strip_prefix(&self.root).unwrap_or(&lock).display().to_string();
            let left_by_task = !before.contains(&lock) && others.is_empty() && !is_held(&lock);
            if left_by_task && std::fs::remove_file(&lock).is_ok() {
                said.push(format!("{shown}, which it left behind, was removed"));
                continue;
            }
            let who = match others.first() {
                Some(pid) => format!("git works here as process {pid}"),
                None => "another git holds it, or was killed and left it".to_owned(),
            };
            said.push(format!("{shown} is in the way: {who}; once no git runs here: rm -f '{}'", lock.display()));
        }
        let _ = std::fs::remove_file(&self.note);
        said.join("; ")
    }

    /// Removes what the task of a ralph left that was killed with it.
    pub(super) fn after_crash(&self) -> String {
        let Ok(names) = std::fs::read(&self.note) else { return String::new() };
        let before = serde_json::from_slice::<BTreeSet<PathBuf>>(&names).unwrap_or_else(|_| self.there());
        self.after_task(&before)
    }

    fn there(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let objects = self.common.join("objects");
        for folder in [&self.own, &self.common, &objects] {
            collect(folder, 0, &mut found);
        }
        for folder in
            [self.own.join("refs"), self.common.join("refs"), self.common.join("reftable"), objects.join("info")]
        {
            collect(&folder, DEEPEST, &mut found);
        }
        found
    }

    /// Processes of git that work in this repository and are none of ours.
    fn other_gits(&self) -> Vec<i32> {
        let here = |folder: &Path| [&self.root, &self.own, &self.common].iter().any(|place| folder.starts_with(place));
        process::working_in(&here, "git")
    }
}

/// The names that end like a lock, in a folder and so deep below it.
fn collect(folder: &Path, deeper: usize, found: &mut BTreeSet<PathBuf>) {
    // A folder that cannot be read holds no lock that could be removed.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && deeper > 0 {
            collect(&entry.path(), deeper - 1, found);
        } else if kind.is_file() && entry.path().extension().is_some_and(|end| end == "lock") {
            found.insert(entry.path());
        }
    }
}

/// Whether somebody has this file open, or it cannot be told.
fn is_held(lock: &Path) -> bool {
    File::open(lock).map_or(true, |file| process::is_open_elsewhere(&file))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with its state beside it.
    fn repository() -> (tempfile::TempDir, Locks) {
        let place = tempfile::tempdir().unwrap();
        for folder in ["tree/.git/refs/heads/topic", "tree/.git/objects/info", "state"] {
            std::fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        std::fs::write(place.path().join("tree/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let locks = Locks::around(&place.path().join("tree"), &place.path().join("state/note")).unwrap();
        (place, locks)
    }

    const ALL: [&str; 7] = [
        "index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock", "refs/heads/topic/x.lock",
        "objects/info/commit-graph.lock",
    ];

    #[tokio::test]
    async fn every_lock_that_a_killed_task_left_is_removed_and_told() {
        let (_place, locks) = repository();
        let before = locks.before_task().await;
        for name in ALL {
            std::fs::write(locks.own.join(name), "").unwrap();
        }
        let said = locks.after_task(&before);
        assert_eq!(locks.there(), BTreeSet::new(), "{said}");
        assert!(said.contains(".git/index.lock, which it left behind, was removed"), "{said}");
        assert!(!locks.note.exists());
    }

    #[tokio::test]
    async fn what_was_left_by_a_task_that_was_killed_with_ralph_is_removed_by_the_next() {
        let (_place, locks) = repository();
        locks.before_task().await;
        std::fs::write(locks.own.join("index.lock"), "").unwrap();
        assert!(locks.after_crash().contains("was removed"));
        assert!(!locks.own.join("index.lock").exists());
        // Without a note nobody knows whose it is.
        std::fs::write(locks.own.join("index.lock"), "").unwrap();
        assert_eq!(locks.after_crash(), "");
        assert!(locks.own.join("index.lock").exists());
    }

    #[tokio::test]
    async fn a_lock_that_was_there_before_stays_and_is_named_with_what_to_type() {
        let (_place, locks) = repository();
        let lock = locks.own.join("index.lock");
        std::fs::write(&lock, "").unwrap();
        let before = BTreeSet::from([lock.clone()]);
        let said = locks.after_task(&before);
        assert!(lock.exists());
        assert!(
            said.contains(".git/index.lock is in the way") && said.contains(&format!("rm -f '{}'", lock.display()))
        );
    }

    #[tokio::test]
    async fn a_lock_that_somebody_holds_open_stays() {
        let (_place, locks) = repository();
        let before = locks.before_task().await;
        let held = File::create(locks.own.join("index.lock")).unwrap();
        locks.after_task(&before);
        assert!(locks.own.join("index.lock").exists());
        drop(held);
    }

    #[test]
    #[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test may start programs")]
    fn f10_the_lock_of_a_living_git_stays() {
        let (place, locks) = repository();
        std::fs::write(locks.own.join("index.lock"), "").unwrap();
        // Anything of that name that works in the repository.
        let git = place.path().join("git");
        std::fs::copy("/bin/sleep", &git).unwrap();
        let mut living = std::process::Command::new(&git).arg("60").current_dir(&locks.root).spawn().unwrap();
        // The kernel gives it its name a moment after it began.
        let name = format!("/proc/{}/comm", living.id());
        while std::fs::read_to_string(&name).unwrap() != "git\n" {
            std::thread::yield_now();
        }
        let said = locks.after_task(&BTreeSet::new());
        living.kill().unwrap();
        living.wait().unwrap();
        assert!(said.contains(&format!("git works here as process {}", living.id())), "{said}");
        assert!(locks.own.join("index.lock").exists());
    }
}
