//! Files that people may edit while a run goes on.

use crate::plain_file::{self, Links};
use ralph_core::text;
use ralph_core::trust::Standing;
use rustix::fs::CWD;
use std::fs::Metadata;
use std::io::{self, Read as _};
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
    pub fn new(files: Vec<PathBuf>) -> io::Result<SettingsWatch> {
        let contents = files.iter().map(|file| standing(file)).collect::<io::Result<_>>()?;
        let files = files.into_iter().map(|file| (file.clone(), std::fs::metadata(&file).ok())).collect();
        Ok(SettingsWatch { files, contents, told: false })
    }

    /// What they held at the start.
    pub fn standings(&self) -> &[Standing] {
        &self.contents
    }

    /// Those that hold something else now.
    pub fn changed(&self) -> io::Result<Vec<String>> {
        let mut changed = Vec::new();
        for before in &self.contents {
            if standing(Path::new(&before.key))? != *before {
                changed.push(before.path.clone());
            }
        }
        Ok(changed)
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

/// A settings file as it stands, or that it is not there. One that cannot be read is neither.
fn standing(file: &Path) -> io::Result<Standing> {
    let mut content = Vec::new();
    let read = plain_file::open(CWD, file, Links::Follow).and_then(|mut file| file.read_to_end(&mut content));
    let print = match read {
        Ok(_) => text::hash(&content),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => String::new(),
        Err(error) => return Err(io::Error::new(error.kind(), format!("{} cannot be read: {error}", file.display()))),
    };
    let key = file.display().to_string();
    // Those of the project are called as people call them; the user's are elsewhere.
    let in_project = file.parent().is_some_and(|folder| folder.ends_with(".ralph"));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Ok(Standing { path: if in_project { format!(".ralph/{name}") } else { key.clone() }, key, print })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_neither_changed_nor_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        let absent = SettingsWatch::new(vec![file.clone()]).unwrap();
        assert_eq!(absent.changed().unwrap(), Vec::<String>::new());
        std::fs::write(&file, "{}").unwrap();
        assert_eq!(absent.changed().unwrap(), [file.display().to_string()]);
        let present = SettingsWatch::new(vec![file.clone()]).unwrap();
        assert_eq!(present.changed().unwrap(), Vec::<String>::new());
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert!(present.changed().unwrap_err().to_string().contains("settings.json cannot be read"));
        assert!(SettingsWatch::new(vec![file]).is_err());
    }
}
