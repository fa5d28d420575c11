//! Programs that checks find by their names: whether the same files still answer to them.
//!
//! An agent that puts a file `make` into a folder of the search path, or over the one that is there, changes
//! what a check executes without touching the project. So the names that checks may use are looked up before
//! the first agent runs, and again after each. Programs that are not there yet may be installed.

use crate::pins::Stamp;
use crate::plain_file::{self, Links};
use crate::process::find_program;
use ralph_core::judges::Program;
use ralph_core::protect::{Change, PinnedChange, PinnedProgram};
use ralph_core::text;
use rustix::fs::CWD;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Checks begin in a shell, and ralph itself looks at the tree with git.
const ALWAYS: [&str; 2] = ["sh", "git"];
/// Names that are looked up: each costs a look into every folder of the search path.
const MOST_NAMES: usize = 2000;
/// The largest program that is read; an interpreter has a hundred megabytes at most.
const LARGEST: u64 = 256 << 20;
/// Folders whose programs the system updates: whether those changed is not asked, only whether they still are found.
const OF_THE_SYSTEM: [&str; 7] = ["/usr/bin/", "/usr/sbin/", "/usr/lib/", "/bin/", "/sbin/", "/nix/", "/snap/"];

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

    /// The file that a name leads to.
    pub fn path_of(&self, name: &str) -> Option<String> {
        let file = find_program(name.as_ref(), &self.root, self.path.as_deref()).ok()?;
        file.to_str().map(str::to_owned)
    }

    /// Looks up the names that checks use, and what their programs are run by.
    pub fn pin(&self, known: &[Program]) -> Vec<PinnedProgram> {
        let mut names: BTreeSet<&str> = ALWAYS.into_iter().collect();
        names.extend(known.iter().map(|program| program.name.as_str()));
        let mut programs: Vec<PinnedProgram> =
            names.iter().take(MOST_NAMES).filter_map(|name| self.find(name).ok()).collect();
        // What a program is run by: `#!/usr/bin/env node`.
        let shebang = |program: &PinnedProgram| interpreter_of(Path::new(&program.file));
        let interpreters: BTreeSet<String> = programs.iter().filter_map(shebang).collect();
        let new = interpreters.iter().filter(|name| !names.contains(name.as_str()));
        programs.extend(new.filter_map(|name| self.find(name).ok()));
        programs
    }

    /// Names that lead to something else now; or why the machine did not let that be seen. Contents count: the same
    /// program installed again is the same.
    pub fn changes(&self, pinned: &[PinnedProgram]) -> Result<Vec<PinnedChange>, String> {
        let changed = |before: &PinnedProgram| {
            let how = match self.find_again(before) {
                Ok(now)
                    if now.hash == before.hash
                        && (!now.hash.is_empty() || now.stamp == before.stamp && now.file == before.file) =>
                {
                    return None;
                }
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

    fn find(&self, name: &str) -> io::Result<PinnedProgram> {
        let (file, stamp) = self.stamped(name)?;
        let shown = file.display().to_string();
        let hash =
            if OF_THE_SYSTEM.iter().any(|folder| shown.starts_with(folder)) { String::new() } else { hash(&file)? };
        Ok(PinnedProgram { name: name.to_owned(), file: shown, hash, stamp })
    }

    /// As it is now; nothing is read of a file whose stamp is as it was.
    fn find_again(&self, before: &PinnedProgram) -> io::Result<PinnedProgram> {
        let (file, stamp) = self.stamped(&before.name)?;
        if stamp == before.stamp && file.display().to_string() == before.file {
            Ok(before.clone())
        } else {
            self.find(&before.name)
        }
    }

    fn stamped(&self, name: &str) -> io::Result<(PathBuf, Stamp)> {
        let file = find_program(name.as_ref(), &self.root, self.path.as_deref())?;
        let stat = rustix::fs::stat(&file)?;
        Ok((file, crate::pins::stamp(&stat)))
    }
}

/// A hash of a program's content; empty for one that is too large.
fn hash(file: &Path) -> io::Result<String> {
    match plain_file::read(CWD, file, Links::Follow, LARGEST) {
        Ok(contents) if contents.complete => Ok(text::hash(&contents.bytes)),
        Ok(_) => Ok(String::new()),
        // What may be executed need not be readable.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(String::new()),
        Err(error) => Err(error),
    }
}

/// The name of the program that runs a script.
fn interpreter_of(file: &Path) -> Option<String> {
    let contents = plain_file::read(CWD, file, Links::Follow, 256).ok()?;
    let line = String::from_utf8_lossy(&contents.bytes).lines().next()?.strip_prefix("#!")?.to_owned();
    let mut words = line.split_whitespace().filter(|word| !word.ends_with("/env") && !word.starts_with('-'));
    words.next().map(str::to_owned)
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
            let program = |name: &&str| Program { name: (*name).to_owned(), of: Vec::new() };
            self.programs().pin(&words.iter().map(program).collect::<Vec<_>>())
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
        place.program("first", "make", "#!/bin/sh\nexit 0\n");
        assert_eq!(place.changes(&pinned), ["make hidden"]);
    }

    #[test]
    fn what_a_program_is_run_by_is_seen_too() {
        let place = Place::new();
        let pinned = place.pin(&["sed", "npm"]);
        place.program("first", "node", "#!/bin/sh\nexit 0\n");
        place.program("first", "old", "#!/bin/sh\nexit 0\n");
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
    fn the_same_program_installed_again_is_the_same() {
        let place = Place::new();
        let pinned = place.pin(&["make", "npm"]);
        for name in ["make", "npm"] {
            let text = fs::read_to_string(place.path("second").join(name)).unwrap();
            fs::remove_file(place.path("second").join(name)).unwrap();
            place.program("second", name, &text);
        }
        assert!(place.changes(&pinned).is_empty());
        place.program("first", "npm", "#!/usr/bin/env node\n");
        assert!(place.changes(&pinned).is_empty(), "the same content in another place does the same");
    }

    #[test]
    fn a_program_that_is_changed_without_a_trace_in_its_times_is_seen() {
        let place = Place::new();
        let pinned = place.pin(&["make"]);
        let file = place.path("second/make");
        let before = fs::metadata(&file).unwrap().modified().unwrap();
        fs::write(&file, "#!/bin/ls\n").unwrap();
        fs::File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
        assert_eq!(place.changes(&pinned), ["make changed"]);
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
