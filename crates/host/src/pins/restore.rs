//! Putting pinned files back as they were.

use super::{PinnedFiles, Standing};
use crate::snapshot::{Judge, Put};
use ralph_core::check::CheckSpec;
use ralph_core::judges::{Part, Why};
use ralph_core::protect::{Change, Pinned, PinnedState};
use ralph_core::text;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// Files that are fixed for a check: each is a mount.
const MOST_FIXED: usize = 2000;
/// Folders that checks fill by themselves: with packages and with what they build.
const GENERATED: [&str; 9] = ["node_modules", ".venv", "venv", "vendor", "dist", "build", "out", "target", ".tox"];

impl PinnedFiles {
    /// Puts files back as they were; says what could not be.
    pub fn restore(&self, pinned: &[Pinned], paths: &[String]) -> Vec<String> {
        let paths: HashSet<&str> = paths.iter().map(String::as_str).collect();
        let wanted = pinned.iter().filter(|file| paths.contains(file.path.as_str()));
        let put_back = |file: &Pinned| {
            self.put_back(file).err().map(|error| format!("{} could not be put back: {error}", file.path))
        };
        wanted.filter_map(put_back).collect()
    }

    /// What must be put into a copy of the project so that these stand in it as they were; `inside` is the project's
    /// place in the copied tree.
    pub fn puts(&self, pinned: &[Pinned], inside: &Path) -> Vec<Put> {
        let put = |file: &Pinned| {
            // What stands there as it did needs nothing; what cannot be seen is told by the look at the tree. Without an
            // environment that somebody made, some runners have none.
            if file.path.starts_with('/')
                || matches!(file.why, Why::Environment { own: false, .. })
                || self.is_own_environment(file)
                || self
                    .changes(std::slice::from_ref(file))
                    .is_ok_and(|all| all.iter().all(|change| change.how == Change::PutBack))
            {
                return None;
            }
            let what = match &file.state {
                PinnedState::File { executable, hash } => Judge::File {
                    content: self.content_to_put_back(file, hash).ok()?,
                    executable: executable.unwrap_or(false),
                },
                PinnedState::Link { target } => {
                    Judge::Link { target: OsStr::from_bytes(&text::unhex(target)).to_owned() }
                }
                PinnedState::Nothing => Judge::Nothing,
                PinnedState::Folder { .. } | PinnedState::Other { .. } => return None,
            };
            Some(Put { path: inside.join(&file.path), what })
        };
        pinned.iter().filter_map(put).collect()
    }

    /// Folders that the check must find empty: removing all that an agent put into an environment would take long.
    pub fn emptied(&self, pinned: &[Pinned], inside: &Path) -> Vec<PathBuf> {
        let is_made = |file: &&Pinned| self.is_own_environment(file);
        pinned.iter().filter(is_made).map(|file| inside.join(&file.path)).collect()
    }

    /// Whether this is the folder of an environment that was made during the run and that no check needs.
    fn is_own_environment(&self, file: &Pinned) -> bool {
        let is_it = matches!(file.why, Why::Environment { own: true, .. }) && file.state == PinnedState::Nothing;
        is_it
            && !file.path.starts_with('/')
            && self.root.join(&file.path).symlink_metadata().is_ok_and(|now| now.is_dir())
    }

    /// Judges that a check has no reason to write: it may not, for what it executes could swap them and put them back
    /// while nobody looks. Those of the check itself come first; `inside` is as for [`PinnedFiles::puts`].
    pub fn fixed(&self, pinned: &[Pinned], check: &CheckSpec, inside: &Path) -> Vec<PathBuf> {
        let words: Vec<&str> =
            check.command.split(|char: char| char.is_whitespace() || ";&|()'\"".contains(char)).collect();
        let sets_modes = words.contains(&"chmod");
        let is_fixed = |file: &&Pinned| {
            // A package manager writes what it installed and the description of the package.
            let is_written_by_people = matches!(file.why, Why::Declared | Why::Protected | Why::Named { .. })
                && file.part == Part::Whole
                && !file.path.starts_with('/')
                && !file.path.split('/').any(|name| GENERATED.contains(&name));
            let is_told_to_change = sets_modes && words.iter().any(|word| word.trim_start_matches("./") == file.path);
            is_written_by_people && !is_told_to_change && matches!(file.state, PinnedState::File { .. })
        };
        let mut fixed: Vec<&Pinned> = pinned.iter().filter(is_fixed).collect();
        fixed.sort_by_key(|file| !file.of.contains(&check.id));
        fixed.into_iter().take(MOST_FIXED).map(|file| inside.join(&file.path)).collect()
    }

    /// Whether a check reads ralph's own files in the project: its command or one of its judges speaks of them.
    pub fn speaks_of_own_files(&self, pinned: &[Pinned], check: &CheckSpec) -> bool {
        let speaks = |text: &[u8]| memchr::memmem::find(text, b".ralph").is_some();
        let judges = pinned.iter().filter(|file| file.of.contains(&check.id) || matches!(file.why, Why::Protected));
        let mut contents = judges.filter_map(|file| self.content(file));
        speaks(check.command.as_bytes())
            || pinned.iter().any(|file| file.path.starts_with(".ralph/") && file.of.contains(&check.id))
            || contents.any(|content| speaks(&content))
    }

    /// Writes a file beside its place and renames it, so that nothing that stands there is written through.
    fn put_back(&self, file: &Pinned) -> io::Result<()> {
        if file.path.starts_with('/') {
            return Err(io::Error::other("it is outside of the project"));
        }
        let path = self.root.join(&file.path);
        let folder = path.parent().unwrap_or(&self.root).to_owned();
        let inside = folder.strip_prefix(&self.root).map_err(io::Error::other)?;
        make_real_folders(&self.root, inside)?;
        // Where a crash leaves it, nobody takes it for the project's own.
        let own = self.root.join(".ralph");
        let place = if own.is_dir() { &own } else { &folder };
        let beside = place.join(format!(".restore-{}", std::process::id()));
        let _ = std::fs::remove_file(&beside);
        match &file.state {
            PinnedState::Nothing if std::fs::symlink_metadata(&path).is_ok_and(|now| now.is_dir()) => {
                return std::fs::remove_dir_all(&path);
            }
            PinnedState::Nothing => return std::fs::remove_file(&path),
            PinnedState::Folder { .. } => return Err(io::Error::other("only whoever installed it can put it back")),
            PinnedState::Link { target } => symlink(OsStr::from_bytes(&text::unhex(target)), &beside)?,
            PinnedState::Other { name } => return Err(io::Error::other(format!("a {name} cannot be made again"))),
            PinnedState::File { executable, hash } => {
                let content = self.content_to_put_back(file, hash)?;
                let mut made = File::create_new(&beside)?;
                made.write_all(&content)?;
                made.set_permissions(std::fs::Permissions::from_mode(
                    if executable.unwrap_or_else(|| is_executable(&path)) { 0o755 } else { 0o644 },
                ))?;
            }
        }
        if std::fs::symlink_metadata(&path).is_ok_and(|now| now.is_dir()) {
            std::fs::remove_dir_all(&path)?;
        }
        std::fs::rename(&beside, &path).inspect_err(|_| drop(std::fs::remove_file(&beside)))
    }

    /// What a file held; of a package's description only what counts, in what it holds now.
    fn content_to_put_back(&self, file: &Pinned, hash: &str) -> io::Result<Vec<u8>> {
        let before = std::fs::read(self.place(&file.path, hash))?;
        let Part::Package { scripts, sections } = &file.part else { return Ok(before) };
        let Ok(Standing::File { content: now, .. }) = self.look(&file.path, &file.part) else { return Ok(before) };
        let parsed = |bytes: &[u8]| serde_json::from_slice::<Map<String, Value>>(bytes).ok();
        let (Some(before_all), Some(mut now)) = (parsed(&before), parsed(&now)) else { return Ok(before) };
        let around = scripts.iter().flat_map(|name| [format!("pre{name}"), name.clone(), format!("post{name}")]);
        let own = |all: &Map<String, Value>| all.get("scripts").and_then(Value::as_object).cloned().unwrap_or_default();
        let (then, mut scripts_now) = (own(&before_all), own(&now));
        around.for_each(|name| put(&mut scripts_now, &name, then.get(&name)));
        if !scripts_now.is_empty() || before_all.contains_key("scripts") {
            now.insert("scripts".to_owned(), Value::Object(scripts_now));
        }
        sections.iter().for_each(|name| put(&mut now, name, before_all.get(name)));
        Ok(serde_json::to_string_pretty(&now)?.into_bytes())
    }
}

/// Makes a member what it was.
fn put(members: &mut Map<String, Value>, name: &str, before: Option<&Value>) {
    match before {
        Some(value) => drop(members.insert(name.to_owned(), value.clone())),
        None => drop(members.shift_remove(name)),
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}

/// Makes folders below the root that are none, in place of links and files.
fn make_real_folders(root: &Path, inside: &Path) -> io::Result<()> {
    let mut folder = root.to_owned();
    for part in inside.components() {
        folder.push(part);
        match std::fs::symlink_metadata(&folder) {
            Ok(now) if now.is_dir() => continue,
            Ok(_) => std::fs::remove_file(&folder)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        std::fs::create_dir(&folder)?;
    }
    Ok(())
}
