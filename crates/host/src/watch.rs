//! Files that people may edit while a run goes on.

use crate::plain_file::{self, Links};
use ralph_core::text;
use ralph_core::trust::Standing;
use rustix::fs::CWD;
use std::fs::Metadata;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Notices that the pinned settings were edited during the run; they change nothing in it.
#[derive(Debug)]
pub struct SettingsWatch {
    files: Vec<(PathBuf, Option<Metadata>)>,
    contents: Vec<Standing>,
    told: bool,
}

impl SettingsWatch {
    pub fn new(files: Vec<PathBuf>) -> SettingsWatch {
        let contents = files.iter().map(|file| standing(file)).collect();
        let files = files.into_iter().map(|file| (file.clone(), std::fs::metadata(&file).ok())).collect();
        SettingsWatch { files, contents, told: false }
    }

    /// What they held at the start.
    pub fn standings(&self) -> &[Standing] {
        &self.contents
    }

    /// Those that hold something else now.
    pub fn changed(&self) -> impl Iterator<Item = String> {
        let changed = |before: &&Standing| standing(Path::new(&before.key)) != **before;
        self.contents.iter().filter(changed).map(|before| before.path.clone())
    }

    pub fn edited(&mut self) -> Option<String> {
        // The time of change cannot be set back, unlike the time of modification.
        let stamp = |meta: &Option<Metadata>| {
            meta.as_ref().map(|meta| (meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec()))
        };
        let edited = self.files.iter().find(|(file, before)| stamp(&std::fs::metadata(file).ok()) != stamp(before));
        let (file, _) = edited.filter(|_| !self.told)?;
        self.told = true;
        Some(file.display().to_string())
    }
}

/// A settings file as it stands; one that cannot be read stands as one that is empty.
fn standing(file: &Path) -> Standing {
    let mut content = Vec::new();
    let read = plain_file::open(CWD, file, Links::Follow).and_then(|mut file| file.read_to_end(&mut content));
    let print = if read.is_ok() { text::hash(&content) } else { String::new() };
    let key = file.display().to_string();
    // Those of the project are called as people call them; the user's are elsewhere.
    let in_project = file.parent().is_some_and(|folder| folder.ends_with(".ralph"));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Standing { path: if in_project { format!(".ralph/{name}") } else { key.clone() }, key, print }
}
