//! Keeps within bounds what a project's trusted state holds for speed and for undoing: the caches of checks, and what
//! pinned files held when runs began. What was not used for longest goes first; what was used lately stays, however
//! large it is, and so does what a living run needs.
//!
//! What is known of the tree's files needs no bound: it is one file, which forgets what the tree no longer holds.

use crate::aside::Stop;
use crate::child_runs;
use crate::pins::KEPT;
use crate::snapshot::{CACHES, remove_path};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Bytes of all caches of checks: a few large build folders.
const MOST_CACHED: u64 = 10 << 30;
/// Bytes of all that pinned files held: scripts and tests, thousands of times.
const MOST_PINNED: u64 = 1 << 30;
/// What was used within this time is not removed: another run may use it right now, and this one soon again.
const LATELY: Duration = Duration::from_secs(24 * 60 * 60);
/// A cache that is being removed is called by this and its name, so that no check finds half of it.
const GOING: &str = "going-";

/// Removes what is too much. Blocks while it looks and removes, and gives up when told to stop; what could not be
/// removed is tried again by the next run.
pub fn trim(state: &Path, stop: &Stop) {
    let since = SystemTime::now().checked_sub(LATELY).unwrap_or(SystemTime::UNIX_EPOCH);
    trim_caches(&state.join(CACHES), MOST_CACHED, since, stop);
    trim_pinned(state, MOST_PINNED, since, stop);
}

fn trim_caches(caches: &Path, most: u64, since: SystemTime, stop: &Stop) {
    let all: Vec<PathBuf> = caches.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (going, all): (Vec<PathBuf>, Vec<PathBuf>) = all.into_iter().partition(|path| name(path).starts_with(GOING));
    let old = too_much(all, most, since, stop);
    let renamed = old.into_iter().filter_map(|cache| {
        let aside = caches.join(format!("{GOING}{}", name(&cache)));
        std::fs::rename(&cache, &aside).ok().map(|()| aside)
    });
    remove(going.into_iter().chain(renamed), stop);
}

fn trim_pinned(state: &Path, most: u64, since: SystemTime, stop: &Stop) {
    let runs = child_runs::run_folders(state).into_iter().map(|(_, folder)| folder);
    let old = too_much(runs.map(|folder| folder.join(KEPT)).collect(), most, since, stop);
    let lives = |kept: &PathBuf| kept.parent().is_some_and(|run| child_runs::process_of(run).is_some());
    remove(old.into_iter().filter(|kept| !lives(kept)), stop);
}

fn remove(paths: impl Iterator<Item = PathBuf>, stop: &Stop) {
    for path in paths.take_while(|_| !stop.is_set()) {
        // The next run tries again.
        let _ = remove_path(&path);
    }
}

/// Those folders without which the rest is not too much, of those that were last used before `since`; the oldest first.
fn too_much(folders: Vec<PathBuf>, most: u64, since: SystemTime, stop: &Stop) -> Vec<PathBuf> {
    let used = |folder: PathBuf| {
        let used = folder.symlink_metadata().ok().filter(std::fs::Metadata::is_dir)?.modified().ok()?;
        Some((used, folder))
    };
    let mut folders: Vec<(SystemTime, PathBuf)> = folders.into_iter().filter_map(used).collect();
    folders.sort_unstable();
    // Most have nothing that could go, and need not be measured.
    if folders.first().is_none_or(|(used, _)| *used >= since) {
        return Vec::new();
    }
    let sizes: Vec<u64> = folders.iter().map(|(_, folder)| size(folder, stop).unwrap_or(0)).collect();
    let mut all = sizes.iter().fold(0, |all: u64, size| all.saturating_add(*size));
    let mut old = Vec::new();
    for ((_, folder), size) in folders.into_iter().filter(|(used, _)| *used < since).zip(sizes) {
        if all <= most || stop.is_set() {
            break;
        }
        all = all.saturating_sub(size);
        old.push(folder);
    }
    old
}

/// Bytes that a folder takes on the disk.
fn size(folder: &Path, stop: &Stop) -> io::Result<u64> {
    /// What the system counts blocks in, whatever the blocks of the disk are.
    const BLOCK: u64 = 512;
    let (mut bytes, mut open) = (0_u64, vec![folder.to_owned()]);
    while let Some(folder) = open.pop().filter(|_| !stop.is_set()) {
        // What refuses to be looked at counts as nothing.
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let meta = entry.metadata()?;
            bytes = bytes.saturating_add(meta.blocks().saturating_mul(BLOCK));
            open.extend(meta.is_dir().then(|| entry.path()));
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    /// Folders of 64 KiB each, last used so many hours ago.
    fn make(parent: &Path, folders: &[(&str, u64)]) {
        for (name, hours) in folders {
            let folder = parent.join(name);
            std::fs::create_dir_all(folder.join("inside")).unwrap();
            std::fs::write(folder.join("inside/file"), vec![1; 64 << 10]).unwrap();
            let used = SystemTime::now() - Duration::from_secs(hours * 3600);
            File::open(&folder).unwrap().set_modified(used).unwrap();
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        names
    }

    fn yesterday() -> SystemTime {
        SystemTime::now() - LATELY
    }

    #[test]
    fn caches_that_were_not_used_for_longest_go_until_the_rest_is_not_too_much() {
        let place = tempfile::tempdir().unwrap();
        make(place.path(), &[("a", 50), ("b", 90), ("c", 70), ("d", 1)]);
        trim_caches(place.path(), 300 << 10, yesterday(), &Stop::default());
        assert_eq!(names(place.path()), ["a", "b", "c", "d"]);
        trim_caches(place.path(), 150 << 10, yesterday(), &Stop::default());
        assert_eq!(names(place.path()), ["a", "d"]);
    }

    #[test]
    fn what_was_used_lately_stays_however_large_it_is() {
        let place = tempfile::tempdir().unwrap();
        make(place.path(), &[("a", 1), ("b", 2), ("c", 30)]);
        trim_caches(place.path(), 0, yesterday(), &Stop::default());
        assert_eq!(names(place.path()), ["a", "b"]);
    }

    #[test]
    fn a_cache_whose_removal_was_cut_short_is_removed_by_the_next_run() {
        let place = tempfile::tempdir().unwrap();
        make(place.path(), &[("going-a", 1), ("b", 1)]);
        trim_caches(place.path(), u64::MAX, yesterday(), &Stop::default());
        assert_eq!(names(place.path()), ["b"]);
    }

    #[test]
    fn nothing_is_removed_once_it_is_told_to_stop() {
        let place = tempfile::tempdir().unwrap();
        make(place.path(), &[("a", 50)]);
        let stop = Stop::default();
        stop.set();
        trim_caches(place.path(), 0, yesterday(), &stop);
        assert_eq!(names(place.path()), ["a"]);
    }

    #[test]
    fn what_pinned_files_held_goes_with_the_oldest_runs_and_nothing_else_of_them() {
        let place = tempfile::tempdir().unwrap();
        let runs = place.path().join("runs");
        make(&runs, &[("aaaaaaaa/pinned", 50), ("bbbbbbbb/pinned", 40), ("cccccccc/pinned", 2)]);
        std::fs::write(runs.join("aaaaaaaa/raw.log"), "said").unwrap();
        trim_pinned(place.path(), 150 << 10, yesterday(), &Stop::default());
        assert_eq!(names(&runs.join("aaaaaaaa")), ["raw.log"]);
        assert_eq!(names(&runs.join("bbbbbbbb")), ["pinned"]);
        assert_eq!(names(&runs.join("cccccccc")), ["pinned"]);
    }
}
