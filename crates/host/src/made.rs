//! Files that can tell checks what to do, and that were made during a run.

use crate::aside::Stop;
use crate::pins;
use ralph_core::judges::{Direction, directs, directs_nothing, is_module, is_test};
use ralph_core::plan::marker;
use ralph_core::time::WallTime;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Of more files than this that a build left in one folder, the folder is named.
const MOST_OF_A_FOLDER: usize = 200;
/// More new tests than this are not left out one by one.
const MOST_TESTS: usize = 2000;
/// The times of files may lie so far behind the clock.
const TICK_MILLIS: i64 = 10;
/// git's folder and ralph's own, and what a run says of itself.
const OWN: [&str; 3] = [".git", ".ralph", marker::FILE];

/// The file of a run's folder that tells the time.
const STAMP: &str = "time";
/// The file of a run's folder with the modules that were there.
const MODULES: &str = "modules.json";

/// The files that somebody looks for by their names, as they stand now, by their paths in the work tree.
pub fn looked_for(tree: &Path, stop: &Stop) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    walk(tree, stop, directs, |path, direction| {
        found.extend((direction == Direction::Looked).then(|| path.to_owned()))
    })?;
    Ok(found)
}

/// Keeps in the folder of a run which files of the work tree can stand before modules from elsewhere.
pub fn keep_modules(tree: &Path, run_folder: &Path, stop: &Stop) -> Result<(), String> {
    let mut found = Vec::new();
    walk(tree, stop, |path| is_module(path).then_some(()), |path, ()| found.push(path.to_owned()))?;
    let written = serde_json::to_vec(&found).map_err(io::Error::other);
    let written = written.and_then(|bytes| std::fs::write(run_folder.join(MODULES), bytes));
    written.map_err(|error| format!("the list of modules could not be kept: {error}"))
}

/// Of these files of the work tree those that can stand before modules and were not there; none if nobody kept a list.
pub fn new_modules(tree: &Path, run_folder: &Path, opened: Vec<String>, began: WallTime) -> Vec<String> {
    let kept = std::fs::read(run_folder.join(MODULES)).ok();
    let Some(there) = kept.and_then(|bytes| serde_json::from_slice::<HashSet<String>>(&bytes).ok()) else {
        return Vec::new();
    };
    let is_new = |path: &String| {
        let mut folders = path.split('/').rev().skip(1);
        match folders.any(directs_nothing) {
            // Such folders are in no list.
            true => path.contains("/node_modules/") && since_then(&tree.join(path), began),
            false => !there.contains(path),
        }
    };
    opened.into_iter().filter(is_new).collect()
}

/// The files that can tell checks what to do and that were not there before, by their paths in the work tree. What a
/// build left is known by the time of its making.
pub fn since(tree: &Path, before: &[String], began: WallTime, stop: &Stop) -> Result<Vec<String>, String> {
    let before: HashSet<&str> = before.iter().map(String::as_str).collect();
    let mut looked = Vec::new();
    let mut built: BTreeMap<String, Vec<String>> = BTreeMap::new();
    walk(tree, stop, directs, |path, direction| match direction {
        Direction::Looked if !before.contains(path) => looked.push(path.to_owned()),
        Direction::Built if since_then(&tree.join(path), began) => {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            built.entry(folder.to_owned()).or_default().push(path.to_owned());
        }
        _ => {}
    })?;
    let whole = |(folder, files): (String, Vec<String>)| match files.len() > MOST_OF_A_FOLDER && !folder.is_empty() {
        true => vec![folder],
        false => files,
    };
    Ok(looked.into_iter().chain(built.into_iter().flat_map(whole)).collect())
}

/// The files that people protect by these globs and that were not there before, by their paths in the project: a runner may
/// load them before or around the tests that are protected. Folders of which all is new stand for what is in them.
pub fn beside_protected(
    root: &Path,
    globs: &[String],
    before: &HashSet<&str>,
    stop: &Stop,
) -> Result<Vec<String>, String> {
    let is_protected = pins::matching(globs);
    let held: HashSet<&Path> = before.iter().flat_map(|path| Path::new(path).ancestors()).collect();
    let mut found = BTreeSet::new();
    let skips = |name: &OsStr| directs_nothing(&name.to_string_lossy());
    let new = pins::files_below(root, stop, skips, |_| false, |path| is_protected(path) && !held.contains(path))?;
    for path in new {
        let folders = path.ancestors().take_while(|at| !held.contains(at) && is_protected(at));
        let whole = folders.last().unwrap_or(&path);
        found.insert(whole.to_str().ok_or_else(|| format!("the name {} is no text", path.display()))?.to_owned());
    }
    Ok(found.into_iter().collect())
}

/// The tests of a project that were made since then and were not there before, by their paths in it; none if there are too
/// many to be left out.
pub fn new_tests(
    root: &Path,
    was_there: impl Fn(&Path) -> bool,
    began: WallTime,
    stop: &Stop,
) -> Result<Vec<String>, String> {
    let is_new =
        |path: &Path| path.to_str().is_some_and(is_test) && !was_there(path) && since_then(&root.join(path), began);
    let found = pins::files_below(root, stop, |name| directs_nothing(&name.to_string_lossy()), |_| false, is_new)?;
    let paths: Vec<String> = found.into_iter().filter_map(|path| path.into_os_string().into_string().ok()).collect();
    Ok(if paths.len() > MOST_TESTS { Vec::new() } else { paths })
}

/// Goes through all files that are something to the caller, but for folders in which nothing tells checks what to do.
fn walk<T>(
    tree: &Path,
    stop: &Stop,
    is: impl Fn(&str) -> Option<T>,
    mut take: impl FnMut(&str, T),
) -> Result<(), String> {
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let at = tree.join(&folder);
        let listing = match at.read_dir() {
            Ok(listing) => listing,
            Err(_) if is_closed(&at) => continue,
            Err(error) => return Err(format!("{} cannot be listed: {error}", folder.display())),
        };
        for entry in listing {
            if stop.is_set() {
                return Err("the look at the files was stopped".to_owned());
            }
            let entry = entry.map_err(|error| format!("{} cannot be listed: {error}", folder.display()))?;
            let name = entry.file_name();
            if OWN.iter().any(|own| name == *own) {
                continue;
            }
            let path = folder.join(&name);
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.extend((!directs_nothing(&name.to_string_lossy())).then_some(path));
            } else if let Some(something) = is(&path.to_string_lossy()) {
                let path = path.to_str().ok_or_else(|| format!("the name {} is no text", path.display()))?;
                take(path, something);
            }
        }
    }
    Ok(())
}

/// Whether nothing in a folder can be opened, by its name either, or the folder is gone.
fn is_closed(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::EXEC_OK).is_err()
}

/// The time by which files are stamped here: that of the kernel, whatever clock this process is shown.
pub fn time_of_files(folder: &Path) -> io::Result<WallTime> {
    let path = folder.join(STAMP);
    let meta = std::fs::File::create(&path).and_then(|file| file.metadata());
    // Only its time is wanted.
    let _ = std::fs::remove_file(path);
    meta.map(|meta| WallTime(changed_at(&meta)))
}

fn changed_at(meta: &std::fs::Metadata) -> i64 {
    meta.ctime().saturating_mul(1000).saturating_add(meta.ctime_nsec() / 1_000_000)
}

/// Whether a file was made, or where the file system does not tell that, changed since then.
pub fn since_then(file: &Path, began: WallTime) -> bool {
    let Ok(meta) = file.symlink_metadata() else { return false };
    let made = meta.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    made.map_or_else(|| changed_at(&meta), |made| i64::try_from(made.as_millis()).unwrap_or(i64::MAX))
        >= began.0 - TICK_MILLIS
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
        let before = looked_for(tree.path(), &Stop::default()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(30));
        let began = crate::clock::Clock::start().now();
        for path in
            [".env", "pytest.ini", "build/new.o", "src/sub.py", "node_modules/.bin/x", ".venv/.env", "a/.editorconfig"]
        {
            write(path);
        }
        for number in 0..=MOST_OF_A_FOLDER {
            write(&format!("out/{number}.class"));
        }
        let mut made = since(tree.path(), &before, began, &Stop::default()).unwrap();
        made.sort();
        assert_eq!(made, ["a/.editorconfig", "build/new.o", "out", "pytest.ini"]);
    }

    #[test]
    fn what_is_new_beside_protected_files_is_told_and_new_tests_are_known() {
        let tree = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let file = tree.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "x").unwrap();
        };
        let old = ["tests/test_a.py", "sum/sum_test.go"];
        old.iter().for_each(|path| write(path));
        std::thread::sleep(std::time::Duration::from_millis(30));
        let began = crate::clock::Clock::start().now();
        let new = ["tests/conftest.py", "tests/new/a.py", "tests/__pycache__/a.pyc", "sum/main_test.go", "src/a.py"];
        new.iter().chain(&old).for_each(|path| write(path));
        let globs = ["tests/**", "**/*_test.go"].map(str::to_owned);
        let found = beside_protected(tree.path(), &globs, &HashSet::from(old), &Stop::default()).unwrap();
        assert_eq!(found, ["sum/main_test.go", "tests/conftest.py", "tests/new"]);
        let was_there = |path: &Path| old.iter().any(|old| path == Path::new(old));
        let mut tests = new_tests(tree.path(), was_there, began, &Stop::default()).unwrap();
        tests.sort();
        assert_eq!(tests, ["sum/main_test.go", "tests/conftest.py", "tests/new/a.py"]);
    }

    #[test]
    fn a_name_that_is_no_text_and_a_look_that_is_stopped_are_told() {
        use std::os::unix::ffi::OsStrExt as _;
        let tree = tempfile::tempdir().unwrap();
        let odd = tree.path().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
        std::fs::write(&odd, "no file of this name directs anything").unwrap();
        assert_eq!(looked_for(tree.path(), &Stop::default()), Ok(Vec::new()));
        let stop = Stop::default();
        stop.set();
        assert!(looked_for(tree.path(), &stop).is_err());
        std::fs::create_dir(tree.path().join(std::ffi::OsStr::from_bytes(b"at\xff"))).unwrap();
        std::fs::write(tree.path().join(std::ffi::OsStr::from_bytes(b"at\xff/.env")), "").unwrap();
        assert!(looked_for(tree.path(), &Stop::default()).is_err_and(|why| why.ends_with("is no text")));
        assert_eq!(looked_for(&tree.path().join("gone"), &Stop::default()), Ok(Vec::new()));
    }
}
