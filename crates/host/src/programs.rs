//! Programs that checks find by their names: whether the same files still answer to them.
//!
//! An agent that puts a file `make` into a folder of the search path, or over the one that is there, changes
//! what a check executes without touching the project. So the names that checks may use are looked up before
//! the first agent runs, and again after each. Programs that are not there yet may be installed.

use crate::process::find_program;
use ralph_core::protect::PinnedChange;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Checks begin in a shell, and ralph itself looks at the tree with git.
const ALWAYS: [&str; 2] = ["sh", "git"];
/// Bytes of a script that are searched for names; the rest of a longer one goes unseen.
const MOST_TEXT: u64 = 256 << 10;
/// Names that are looked up: each costs a look into every folder of the search path.
const MOST_NAMES: usize = 1000;

/// The programs that checks may use, as they were found first.
#[derive(Debug)]
pub struct Programs {
    root: PathBuf,
    path: Option<OsString>,
    known: Vec<(String, Found)>,
}

/// A file that a name leads to, and what cannot stay the same when it is replaced or written to. The time
/// of change (ctime) is the kernel's and cannot be set back.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    file: PathBuf,
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

impl Programs {
    /// Looks up the words of checks, and those in scripts of the project that they name.
    pub fn named_by(words: &[String], root: &Path, path: Option<OsString>) -> Programs {
        let mut programs = Programs { root: root.to_owned(), path, known: Vec::new() };
        let mut names: BTreeSet<String> = ALWAYS.iter().map(ToString::to_string).collect();
        for word in words {
            names.extend(names_in(word));
            names.extend(names_in(&beginning(&root.join(word))));
        }
        programs.look_up(&names);
        // What a program is run by: `#!/usr/bin/env node`.
        let shebang =
            |found: &Found| beginning(&found.file).lines().next().filter(|line| line.starts_with("#!")).map(names_in);
        let mut interpreters: BTreeSet<String> =
            programs.known.iter().filter_map(|(_, found)| shebang(found)).flatten().collect();
        interpreters.retain(|name| !names.contains(name));
        programs.look_up(&interpreters);
        programs
    }

    /// Names that lead elsewhere now.
    pub fn changes(&self) -> Vec<PinnedChange> {
        let changed = |(name, before): &(String, Found)| {
            let how = match self.find(name) {
                Some(now) if now == *before => return None,
                // Updates of the system come at night, and no agent can or should undo them.
                Some(now) if now.file == before.file && is_of_the_system(&now.file) => return None,
                Some(now) if now.file == before.file => "changed".to_owned(),
                Some(now) => format!("hidden by {}", now.file.display()),
                None => "deleted".to_owned(),
            };
            Some(PinnedChange { path: before.file.display().to_string(), how })
        };
        self.known.iter().filter_map(changed).collect()
    }

    fn look_up(&mut self, names: &BTreeSet<String>) {
        let found: Vec<_> =
            names.iter().take(MOST_NAMES).filter_map(|name| Some((name.clone(), self.find(name)?))).collect();
        self.known.extend(found);
    }

    fn find(&self, name: &str) -> Option<Found> {
        let file = find_program(name.as_ref(), &self.root, self.path.as_deref()).ok()?;
        let state = file.metadata().ok()?;
        Some(Found { file, device: state.dev(), inode: state.ino(), changed: (state.ctime(), state.ctime_nsec()) })
    }
}

fn is_of_the_system(file: &Path) -> bool {
    ["/usr", "/bin", "/sbin", "/lib", "/opt", "/nix", "/snap"].iter().any(|folder| file.starts_with(folder))
        && !file.starts_with("/usr/local")
}

/// Whatever could be the name of a program in a text.
fn names_in(text: &str) -> BTreeSet<String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "._+-".contains(letter);
    let words = text.split(|letter| !is_part(letter)).filter(|word| !word.trim_matches(['.', '-', '+']).is_empty());
    words.map(str::to_owned).collect()
}

/// The beginning of a text file; nothing if there is none.
fn beginning(file: &Path) -> String {
    let mut bytes = Vec::new();
    // What cannot be read names no program that could be looked up.
    if file.is_file()
        && let Ok(file) = File::open(file)
    {
        let _ = file.take(MOST_TEXT).read_to_end(&mut bytes);
    }
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    /// A search path of two folders, the second with some programs in it, and a project.
    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Place {
            let place = Place(tempfile::tempdir().unwrap());
            fs::create_dir(place.path("project")).unwrap();
            for name in ["make", "node", "sed", "old"] {
                place.program("second", name, "#!/bin/sh\n");
            }
            place.program("second", "npm", "#!/usr/bin/env node\n");
            fs::write(place.path("project/check.sh"), "sed s/a/b/ x | npm test\n").unwrap();
            place
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn program(&self, folder: &str, name: &str, text: &str) {
            fs::create_dir_all(self.path(folder)).unwrap();
            let file = self.path(folder).join(name);
            fs::write(&file, text).unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        }

        fn programs(&self, words: &[&str]) -> Programs {
            let path = std::env::join_paths([self.path("first"), self.path("second")]).unwrap();
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            Programs::named_by(&words, &self.path("project"), Some(path))
        }
    }

    /// The last part of each path, with what happened to it.
    fn changes(programs: &Programs) -> Vec<String> {
        let word = |change: PinnedChange| {
            let how = change.how.split('/').next().unwrap_or_default().trim().to_owned();
            format!("{} {how}", change.path.rsplit('/').next().unwrap_or_default())
        };
        programs.changes().into_iter().map(word).collect()
    }

    #[test]
    fn a_program_that_hides_one_of_a_check_is_seen() {
        let place = Place::new();
        let programs = place.programs(&["make", "test"]);
        assert!(programs.changes().is_empty());
        place.program("first", "make", "#!/bin/sh\n");
        assert_eq!(changes(&programs), ["make hidden by"]);
    }

    #[test]
    fn programs_of_scripts_and_their_interpreters_are_seen_too() {
        let place = Place::new();
        let programs = place.programs(&["sh", "check.sh"]);
        place.program("first", "node", "#!/bin/sh\n");
        place.program("first", "old", "#!/bin/sh\n");
        symlink("/bin/true", place.path("first/sed")).unwrap();
        assert_eq!(changes(&programs), ["sed hidden by", "node hidden by"]);
    }

    #[test]
    fn a_program_that_is_written_to_or_deleted_is_seen() {
        let place = Place::new();
        let programs = place.programs(&["make", "npm"]);
        place.program("second", "make", "#!/bin/sh\nexit 0\n");
        fs::remove_file(place.path("second/npm")).unwrap();
        assert_eq!(changes(&programs), ["make changed", "npm deleted"]);
    }

    #[test]
    fn what_no_check_uses_and_what_was_not_there_may_be_installed() {
        let place = Place::new();
        let programs = place.programs(&["make", "pytest"]);
        place.program("first", "pytest", "#!/bin/sh\n");
        place.program("first", "old", "#!/bin/sh\n");
        place.program("first", "new", "#!/bin/sh\n");
        assert!(programs.changes().is_empty());
    }
}
