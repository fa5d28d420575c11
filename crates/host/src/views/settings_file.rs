//! Writing `.ralph/settings.json` for a person who asked for it.

use super::{ViewError, failed, make_own_folder, put_durably};
use std::os::fd::AsFd as _;
use std::path::Path;

const NAME: &str = "settings.json";

/// Writes the settings, whole or not at all, and what is missing around them. Nobody has another
/// copy of a person's answers, so they are on the disk before their name is.
pub fn write_settings(root: &Path, text: &str) -> Result<(), ViewError> {
    let own = make_own_folder(root)?;
    let (folder, path) = (own.open.as_fd(), own.path.join(NAME));
    put_durably(folder, NAME, text.as_bytes()).map_err(failed(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn settings_are_written_whole_and_with_the_rules_for_git() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join(".ralph");
        for text in ["{}\n", "{\"a\": 1}\n"] {
            write_settings(root.path(), text).unwrap();
            assert_eq!(std::fs::read_to_string(own.join(NAME)).unwrap(), text);
            assert_eq!(names(&own), [".gitignore", NAME]);
        }
        assert!(std::fs::read_to_string(own.join(".gitignore")).unwrap().contains("!settings.json"));
    }

    #[test]
    fn a_link_is_replaced_and_a_folder_refused_and_nothing_is_left_behind() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join(".ralph");
        std::fs::create_dir(&own).unwrap();
        std::fs::write(root.path().join("elsewhere"), "kept").unwrap();
        std::os::unix::fs::symlink(root.path().join("elsewhere"), own.join(NAME)).unwrap();
        write_settings(root.path(), "{}").unwrap();
        assert_eq!(std::fs::read_to_string(root.path().join("elsewhere")).unwrap(), "kept");
        std::fs::remove_file(own.join(NAME)).unwrap();
        std::fs::create_dir(own.join(NAME)).unwrap();
        let error = write_settings(root.path(), "{}").unwrap_err().to_string();
        assert!(error.contains("settings.json cannot be written"), "{error}");
        assert_eq!(names(&own), [".gitignore", NAME]);
    }
}
