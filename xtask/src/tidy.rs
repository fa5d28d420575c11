//! The rules of the house that no compiler holds: which crate may know which, no forgotten file, no function longer
//! than a screen or two, nothing of one machine. First among the tests, because it takes no time.

mod rules;
mod shape;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::root;

/// A file that is part of the repository.
pub struct Text {
    /// Its path from the root of the workspace.
    pub path: String,
    /// What is in it; what is not UTF-8 is replaced.
    pub text: String,
}

impl Text {
    /// The crate that the file belongs to, as its folder is called.
    fn room(&self) -> &str {
        let mut parts = self.path.split('/');
        match parts.next() {
            Some("crates") => parts.next().unwrap_or_default(),
            first => first.unwrap_or_default(),
        }
    }

    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

/// Fails with everything that is against a rule, and says how large the product is.
pub fn check() -> Result<(), String> {
    println!("==> tidy");
    let files = files()?;
    let found = rules::all(&files, &own_places());
    if !found.is_empty() {
        return Err(format!("not tidy:\n\n{}", found.join("\n")));
    }
    let (rooms, total) = shape::production_lines(&files);
    println!("    {total} lines of production code without comments: {rooms}");
    Ok(())
}

/// Every file that git knows, and those that somebody is about to add.
fn files() -> Result<Vec<Text>, String> {
    let mut list = Command::new("git");
    list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let listed = list.output().map_err(|error| format!("cannot run git: {error}"))?;
    if !listed.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&listed.stderr)));
    }
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let read = |path: &str| {
        // A file that was deleted and not yet staged is still listed.
        let bytes = fs::read(root().join(path)).ok()?;
        Some(Text { path: path.to_owned(), text: String::from_utf8_lossy(&bytes).into_owned() })
    };
    Ok(listed.split_terminator('\0').filter_map(read).collect())
}

/// Paths that mean something on this machine only: where this checkout and the user's files are. A system's own
/// folders, like `/tmp` and `/root`, are everybody's.
fn own_places() -> Vec<String> {
    let home = std::env::var("HOME").unwrap_or_default();
    let home = Some(home).filter(|home| Path::new(home).components().count() > 2);
    [Some(root().display().to_string()), home].into_iter().flatten().collect()
}

/// The file, still empty, into which insta notes the snapshots that tests compare with.
pub fn snapshots_in_use() -> Result<PathBuf, String> {
    let file = root().join("target/snapshots-in-use");
    fs::write(&file, "").map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(file)
}

/// Fails if a snapshot is there that no test of the last run compared with. `used` holds the paths that insta noted.
pub fn check_snapshots(used: &Path) -> Result<(), String> {
    let noted = fs::read_to_string(used).map_err(|error| format!("{}: {error}", used.display()))?;
    let left = rules::unused_snapshots(&files()?, &noted, &root());
    if left.is_empty() { Ok(()) } else { Err(format!("snapshots without a test:\n\n{}", left.join("\n"))) }
}
