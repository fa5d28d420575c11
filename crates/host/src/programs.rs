//! Programs that checks find by their names: whether the same files still answer to them.
//!
//! An agent that puts a file `make` into a folder of the search path, or over the one that is there, changes
//! what a check executes without touching the project. So the names that checks may use are looked up before
//! the first agent runs, and again after each. Programs that are not there yet may be installed.

use crate::plain_file;
use crate::process::find_program;
use ralph_core::protect::{Change, PinnedChange, PinnedProgram};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Checks begin in a shell, and ralph itself looks at the tree with git.
const ALWAYS: [&str; 2] = ["sh", "git"];
/// Bytes of a script that are searched for names; the rest of a longer one goes unseen.
const MOST_TEXT: u64 = 256 << 10;
/// Names that are looked up: each costs a look into every folder of the search path.
const MOST_NAMES: usize = 1000;

/// Where programs are found by their names.
#[derive(Debug, Clone)]
pub struct Programs {
    root: PathBuf,
    path: Option<OsString>,
}

impl Programs {
    /// Those that a check in the folder `root` finds with this search path.
    pub fn new(root: &Path, path: Option<OsString>) -> Programs {
        Programs { root: root.to_owned(), path }
    }

    /// Looks up the words of checks, and those in scripts of the project that they name.
    pub fn pin(&self, words: &[String]) -> Vec<PinnedProgram> {
        let mut names: BTreeSet<String> = ALWAYS.iter().map(ToString::to_string).collect();
        for word in words {
            names.extend(names_in(word));
            names.extend(names_in(&beginning(&self.root.join(word))));
        }
        let mut programs = self.look_up(&names);
        // What a program is run by: `#!/usr/bin/env node`.
        let shebang = |program: &PinnedProgram| {
            beginning(Path::new(&program.file)).lines().next().filter(|line| line.starts_with("#!")).map(names_in)
        };
        let mut interpreters: BTreeSet<String> = programs.iter().filter_map(shebang).flatten().collect();
        interpreters.retain(|name| !names.contains(name));
        programs.extend(self.look_up(&interpreters));
        programs
    }

    /// Names that lead elsewhere now; or why the machine did not let that be seen.
    pub fn changes(&self, pinned: &[PinnedProgram]) -> Result<Vec<PinnedChange>, String> {
        let changed = |before: &PinnedProgram| {
            let how = match self.find(&before.name) {
                Ok(now) if now == *before => return None,
                Ok(now) if now.file == before.file => Change::Program,
                Ok(now) => Change::Hidden { by: now.file },
                Err(error) if plain_file::is_fault(&error) => {
                    return Some(Err(format!("{} cannot be looked at: {error}", before.file)));
                }
                Err(_) => Change::Deleted,
            };
            Some(Ok(PinnedChange { path: before.file.clone(), how }))
        };
        pinned.iter().filter_map(changed).collect()
    }

    fn look_up(&self, names: &BTreeSet<String>) -> Vec<PinnedProgram> {
        names.iter().take(MOST_NAMES).filter_map(|name| self.find(name).ok()).collect()
    }

    /// The time of change (ctime) is the kernel's and cannot be set back.
    fn find(&self, name: &str) -> io::Result<PinnedProgram> {
        let file = find_program(name.as_ref(), &self.root, self.path.as_deref())?;
        let state = file.metadata()?;
        let stamp = (state.ino(), state.ctime(), state.ctime_nsec());
        Ok(PinnedProgram { name: name.to_owned(), file: file.display().to_string(), stamp })
    }
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

        fn programs(&self) -> Programs {
            let path = std::env::join_paths([self.path("first"), self.path("second")]).unwrap();
            Programs::new(&self.path("project"), Some(path))
        }

        fn pin(&self, words: &[&str]) -> Vec<PinnedProgram> {
            self.programs().pin(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
        }

        /// The last part of each path, with what happened to it.
        fn changes(&self, pinned: &[PinnedProgram]) -> Vec<String> {
            let word = |change: PinnedChange| {
                let how = match change.how {
                    Change::Program => "changed",
                    Change::Deleted => "deleted",
                    Change::Hidden { by } if by.starts_with(self.path("first").to_str().unwrap()) => "hidden",
                    other => panic!("{other:?}"),
                };
                format!("{} {how}", change.path.rsplit('/').next().unwrap_or_default())
            };
            self.programs().changes(pinned).unwrap().into_iter().map(word).collect()
        }
    }

    #[test]
    fn a_program_that_hides_one_of_a_check_is_seen() {
        let place = Place::new();
        let pinned = place.pin(&["make", "test"]);
        assert!(place.changes(&pinned).is_empty());
        place.program("first", "make", "#!/bin/sh\n");
        assert_eq!(place.changes(&pinned), ["make hidden"]);
    }

    #[test]
    fn programs_of_scripts_and_their_interpreters_are_seen_too() {
        let place = Place::new();
        let pinned = place.pin(&["sh", "check.sh"]);
        place.program("first", "node", "#!/bin/sh\n");
        place.program("first", "old", "#!/bin/sh\n");
        symlink("/bin/true", place.path("first/sed")).unwrap();
        assert_eq!(place.changes(&pinned), ["sed hidden", "node hidden"]);
    }

    #[test]
    fn a_program_that_is_written_to_or_deleted_is_seen() {
        let place = Place::new();
        let pinned = place.pin(&["make", "npm"]);
        place.program("second", "make", "#!/bin/sh\nexit 0\n");
        fs::remove_file(place.path("second/npm")).unwrap();
        assert_eq!(place.changes(&pinned), ["make changed", "npm deleted"]);
    }

    #[test]
    fn what_no_check_uses_and_what_was_not_there_may_be_installed() {
        let place = Place::new();
        let pinned = place.pin(&["make", "pytest"]);
        place.program("first", "pytest", "#!/bin/sh\n");
        place.program("first", "old", "#!/bin/sh\n");
        place.program("first", "new", "#!/bin/sh\n");
        assert!(place.changes(&pinned).is_empty());
    }
}
