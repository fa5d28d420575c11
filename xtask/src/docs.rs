//! Documentation that is made and not written: the command line, the settings, the faults and their tests.
//!
//! It is generated from the same types that the program runs on and kept in the repository, so that it
//! can be read without building anything; `--check` finds the copy that was not renewed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::faults;
use crate::step::{Step, root};

/// Where the generated files are kept. Nothing else lives there: what is not generated is reported.
const FOLDER: &str = "docs/reference";

/// Writes the files again.
pub fn write() -> Result<(), String> {
    generate(&root().join(FOLDER))
}

/// Writes them elsewhere and compares.
pub fn check() -> Result<(), String> {
    let fresh = root().join("target/xtask-docs");
    if fresh.exists() {
        fs::remove_dir_all(&fresh).map_err(|error| format!("{}: {error}", fresh.display()))?;
    }
    generate(&fresh)?;
    let differences = compare(&files(&root().join(FOLDER)), &files(&fresh));
    if differences.is_empty() {
        return Ok(());
    }
    Err(format!("{FOLDER} is not up to date:\n{}\nto renew it:\n\n    cargo xtask docs\n", differences.join("\n")))
}

/// The program writes its own documentation by a hidden command.
fn generate(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Step::new("cargo run --quiet --package ralph-loop -- __docs").arg(folder).run()?;
    fs::write(folder.join("faults.md"), faults::page()?).map_err(|error| format!("faults.md: {error}"))
}

fn compare(kept: &BTreeMap<PathBuf, Vec<u8>>, fresh: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
    let missing = fresh.keys().filter(|path| !kept.contains_key(*path)).map(|path| ("missing", path));
    let extra = kept.keys().filter(|path| !fresh.contains_key(*path)).map(|path| ("not generated", path));
    let differs = |path: &&PathBuf| fresh.get(*path).is_some_and(|content| Some(content) != kept.get(*path));
    let changed = kept.keys().filter(differs).map(|path| ("differs", path));
    missing.chain(extra).chain(changed).map(|(how, path)| format!("  {}: {how}", path.display())).collect()
}

/// Every file below a folder by its relative path.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let (Ok(relative), Ok(content)) = (path.strip_prefix(folder), fs::read(&path)) {
                found.insert(relative.to_owned(), content);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_difference_is_named() {
        let tree = |files: &[(&str, &str)]| {
            files.iter().map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec())).collect()
        };
        let kept = tree(&[("same", "1"), ("old", "1"), ("changed", "1")]);
        let fresh = tree(&[("same", "1"), ("new", "1"), ("changed", "2")]);
        assert_eq!(compare(&kept, &fresh), ["  new: missing", "  old: not generated", "  changed: differs"]);
    }
}
