//! Files that can tell checks what to do, and that were made during a run.

use crate::aside::Stop;
use ralph_core::judges::{Direction, directs};
use ralph_core::time::WallTime;
use std::collections::{BTreeMap, HashSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Of more files than this that a build left in one folder, the folder is named.
const MOST_OF_A_FOLDER: usize = 200;
/// The times of files may lie so far behind the clock.
const TICK_MILLIS: i64 = 10;
/// What is not looked at: git's and ralph's own, and those in which nobody looks for such files.
const NOT_WALKED: [&str; 5] = [".git", ".ralph", "node_modules", "target", "__pycache__"];

/// The files that somebody looks for by their names, as they stand now, by their paths in the work tree.
pub fn looked_for(tree: &Path, stop: &Stop) -> Vec<String> {
    let mut found = Vec::new();
    walk(tree, stop, |path, direction| {
        if direction == Direction::Looked {
            found.push(path.to_owned());
        }
    });
    found
}

/// The files that can tell checks what to do and that were not there before, by their paths in the work tree. What a
/// build left is known by the time of its making.
pub fn since(tree: &Path, before: &[String], began: WallTime, stop: &Stop) -> Vec<String> {
    let before: HashSet<&str> = before.iter().map(String::as_str).collect();
    let mut looked = Vec::new();
    let mut built: BTreeMap<String, Vec<String>> = BTreeMap::new();
    walk(tree, stop, |path, direction| match direction {
        Direction::Looked if !before.contains(path) => looked.push(path.to_owned()),
        Direction::Built if made_since(&tree.join(path), began) => {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            built.entry(folder.to_owned()).or_default().push(path.to_owned());
        }
        _ => {}
    });
    let whole = |(folder, files): (String, Vec<String>)| match files.len() > MOST_OF_A_FOLDER && !folder.is_empty() {
        true => vec![folder],
        false => files,
    };
    looked.into_iter().chain(built.into_iter().flat_map(whole)).collect()
}

/// Goes through all files that can tell checks something; what cannot be read or is no text tells them nothing either.
fn walk(tree: &Path, stop: &Stop, mut take: impl FnMut(&str, Direction)) {
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let Ok(listing) = std::fs::read_dir(tree.join(&folder)) else { continue };
        for entry in listing.flatten() {
            if stop.is_set() {
                return;
            }
            if NOT_WALKED.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            let path = folder.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if let Some(path) = path.to_str()
                && let Some(direction) = directs(path)
            {
                take(path, direction);
            }
        }
    }
}

/// Whether a file was made, or where the file system does not tell that, changed since then.
fn made_since(file: &Path, began: WallTime) -> bool {
    let Ok(meta) = file.symlink_metadata() else { return false };
    let made = meta.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    let changed = || meta.ctime().saturating_mul(1000).saturating_add(meta.ctime_nsec() / 1_000_000);
    made.map_or_else(changed, |made| i64::try_from(made.as_millis()).unwrap_or(i64::MAX)) >= began.0 - TICK_MILLIS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_since_is_told_from_what_was_there() {
        let tree = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let file = tree.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "x").unwrap();
        };
        for path in [".env", "tests/conftest.py", "build/old.o", "src/add.py"] {
            write(path);
        }
        let before = looked_for(tree.path(), &Stop::default());
        std::thread::sleep(std::time::Duration::from_millis(30));
        let began = crate::clock::Clock::start().now();
        for path in [".env", "pytest.ini", "build/new.o", "src/sub.py", "node_modules/.bin/x", "a/.editorconfig"] {
            write(path);
        }
        for number in 0..=MOST_OF_A_FOLDER {
            write(&format!("out/{number}.class"));
        }
        let mut made = since(tree.path(), &before, began, &Stop::default());
        made.sort();
        assert_eq!(made, ["a/.editorconfig", "build/new.o", "out", "pytest.ini"]);
    }
}
