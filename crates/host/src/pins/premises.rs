//! What reading of checks asks of this machine.

use super::globs;
use crate::plain_file::{self, Links};
use crate::programs::Programs;
use ralph_core::judges::{Premises, Standing};
use rustix::fs::CWD;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The largest text that is read for what it names.
const LARGEST: u64 = 4 << 20;
/// Names of one folder.
const MOST_NAMES: usize = 20_000;

/// The project on this machine, as checks find it.
#[derive(Debug, Clone)]
pub struct Machine {
    root: PathBuf,
    shown: String,
    programs: Programs,
    variable: fn(&str) -> Option<OsString>,
}

impl Machine {
    /// The project at `root`, with the programs and variables that its checks find.
    pub fn new(root: &Path, programs: Programs, variable: fn(&str) -> Option<OsString>) -> Machine {
        Machine { root: root.to_owned(), shown: root.display().to_string(), programs, variable }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

impl Premises for Machine {
    fn root(&self) -> &str {
        &self.shown
    }

    fn read(&self, path: &str) -> Option<String> {
        let contents = plain_file::read(CWD, self.at(path), Links::Follow, LARGEST).ok()?;
        String::from_utf8(contents.bytes).ok().filter(|_| contents.complete)
    }

    fn standing(&self, path: &str) -> Standing {
        match self.at(path).metadata() {
            Ok(meta) if meta.is_file() => Standing::File,
            Ok(meta) if meta.is_dir() => Standing::Folder,
            Ok(_) => Standing::Other,
            Err(_) if self.at(path).symlink_metadata().is_ok() => Standing::Other,
            Err(_) => Standing::Nothing,
        }
    }

    fn real(&self, path: &str) -> Option<String> {
        let real = self.at(path).canonicalize().ok()?;
        let inside = self.root.canonicalize().ok().and_then(|root| real.strip_prefix(root).ok().map(Path::to_owned));
        inside.unwrap_or(real).to_str().map(str::to_owned)
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let listing = std::fs::read_dir(self.at(folder)).into_iter().flatten().flatten().take(MOST_NAMES);
        let mut names: Vec<String> = listing.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn find(&self, program: &str) -> Option<String> {
        self.programs.path_of(program)
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.variable)(name)?.into_string().ok()
    }

    fn matches(&self, globs: &[String], path: &str) -> bool {
        !globs.is_empty() && globs::set_of(globs).is_ok_and(|set| set.is_match(path))
    }
}
