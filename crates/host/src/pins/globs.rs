//! Globs of the settings: which files they mean.

use crate::aside::Stop;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ralph_core::protect::Pinned;
use std::path::{Path, PathBuf};

/// Folders that hold no rules of people.
const NOT_WALKED: [&str; 2] = [".git", ".ralph"];

/// The files below a folder that match.
pub(super) fn find(root: &Path, globs: &GlobSet, stop: &Stop) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        // A folder that cannot be read holds nothing that can be compared later.
        let Ok(listing) = std::fs::read_dir(root.join(&folder)) else { continue };
        for entry in listing.flatten() {
            if stop.is_set() {
                return Err("the look at the files was stopped".to_owned());
            }
            let path = folder.join(entry.file_name());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !NOT_WALKED.iter().any(|name| entry.file_name() == *name) {
                folders.push(path);
            } else if !is_folder && globs.is_match(&path) {
                let name = path.to_str().ok_or_else(|| format!("{} is not UTF-8", path.display()))?;
                found.push(name.to_owned());
            }
        }
    }
    Ok(found)
}

/// Globs that match none of the pinned files: a slip of the pen protects nothing.
pub fn unmatched(globs: &[String], pinned: &[Pinned]) -> Vec<String> {
    let matches_none = |glob: &&String| {
        set_of(std::slice::from_ref(*glob)).is_ok_and(|set| !pinned.iter().any(|file| set.is_match(&file.path)))
    };
    globs.iter().filter(matches_none).cloned().collect()
}

/// A glob of the settings: `*` stays in its folder, `**` does not, and a folder means all that is in it.
pub(super) fn set_of(globs: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let trimmed = glob.trim_start_matches("./").trim_end_matches('/');
        for pattern in [trimmed.to_owned(), format!("{trimmed}/**")] {
            let built = GlobBuilder::new(&pattern).literal_separator(true).build();
            set.add(built.map_err(|error| format!("`{glob}` is no pattern: {error}"))?);
        }
    }
    set.build().map_err(|error| error.to_string())
}

/// Whether this is a pattern at all, and of something in a project, or why not.
pub fn judge_glob(glob: &str) -> Result<(), String> {
    if glob.starts_with('/') || glob.split('/').any(|part| part == "..") {
        return Err(format!("`{glob}` is outside; it is relative to the project, such as `tests/**`"));
    }
    set_of(&[glob.to_owned()]).map(|_| ())
}
