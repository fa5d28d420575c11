//! Files that people may edit while a run goes on.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Notices that the pinned settings were edited during the run; they change nothing in it.
#[derive(Debug)]
pub struct SettingsWatch {
    files: Vec<(PathBuf, Option<Metadata>)>,
    told: bool,
}

impl SettingsWatch {
    pub fn new(files: Vec<PathBuf>) -> SettingsWatch {
        let files = files.into_iter().map(|file| (file.clone(), std::fs::metadata(&file).ok())).collect();
        SettingsWatch { files, told: false }
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
