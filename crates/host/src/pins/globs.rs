//! Globs of the settings: which files they mean.

use crate::aside::Stop;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ralph_core::protect::Pinned;
use std::ffi::{OsStr, OsString};
use std::fs::FileType;
use std::path::{Path, PathBuf};

/// Folders that hold no rules of people: ralph's and git's own, and what runners leave behind.
const NOT_WALKED: [&str; 10] = [
    ".git", ".ralph", "__pycache__", "node_modules", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis",
    ".nyc_output", ".tox",
];
/// Files that nobody writes, by the end of their names.
const LEFT_BEHIND: [&str; 6] = [".pyc", ".pyo", ".DS_Store", ".coverage", ".tsbuildinfo", ".eslintcache"];
/// Files and folders that somebody may write, but not where git is told to ignore them.
const LEFT_BEHIND_IF_IGNORED: [&str; 6] = [".log", "coverage", "htmlcov", "test-results", "playwright-report", ".tmp"];

/// The files below a folder that match. A link to a folder is walked through if a glob names it, or something below.
pub(super) fn find(root: &Path, globs: &[String], set: &GlobSet, stop: &Stop) -> Result<Vec<String>, String> {
    let named: Vec<PathBuf> = globs.iter().map(|glob| plain_start(glob)).collect();
    let follows = |path: &Path| named.iter().any(|start| start.starts_with(path));
    let found = files_below(root, stop, |_| false, follows, |path| set.is_match(path))?;
    let unnamed = |path: OsString| format!("{} is not UTF-8", path.display());
    found.into_iter().map(|path| path.into_os_string().into_string().map_err(unnamed)).collect()
}

/// The files below a folder that are wanted, but for what runners leave behind; `skips` names further folders to leave
/// out, `follows` links to folders that are walked through.
pub(crate) fn files_below(
    root: &Path,
    stop: &Stop,
    skips: impl Fn(&OsStr) -> bool,
    follows: impl Fn(&Path) -> bool,
    wants: impl Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        // A folder that cannot be read holds nothing that can be compared later.
        let Ok(listing) = std::fs::read_dir(root.join(&folder)) else { continue };
        for entry in listing.flatten() {
            if stop.is_set() {
                return Err("the look at the files was stopped".to_owned());
            }
            let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
            if is_left_behind(root, &path) {
                continue;
            }
            let leads = |kind: FileType| kind.is_symlink() && follows(&path) && root.join(&path).is_dir();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir() || leads(kind));
            if is_folder && !NOT_WALKED.iter().any(|own| name == *own) && !skips(&name) {
                folders.push(path);
            } else if !is_folder && wants(&path) {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// The folders with which a glob begins before anything in it is a pattern.
fn plain_start(glob: &str) -> PathBuf {
    let parts = Path::new(glob.trim_start_matches("./")).components();
    let is_plain = |part: &std::path::Component<'_>| {
        !part.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?[{\\".contains(byte))
    };
    parts.take_while(is_plain).collect()
}

/// Whether a runner left this behind: no person protects that, whatever a glob matches.
fn is_left_behind(root: &Path, path: &Path) -> bool {
    let ends = |endings: &[&str]| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        endings.iter().any(|ending| name.ends_with(ending.as_bytes()))
    };
    ends(&LEFT_BEHIND) || (ends(&LEFT_BEHIND_IF_IGNORED) && is_ignored(root, path))
}

/// Whether a plain rule of a `.gitignore` above a path means it. Rules that make exceptions are not weighed: then the
/// path counts.
fn is_ignored(root: &Path, path: &Path) -> bool {
    let mut folders = path.ancestors().skip(1);
    folders.any(|folder| {
        let rules = std::fs::read_to_string(root.join(folder).join(".gitignore")).unwrap_or_default();
        let inside = path.strip_prefix(folder).unwrap_or(path);
        let rules = rules.lines().map(str::trim).filter(|rule| !rule.is_empty() && !rule.starts_with('#'));
        let rules: Vec<&str> = rules.collect();
        let means = |rule: &&str| {
            let plain = rule.trim_end_matches('/');
            let anywhere = if plain.trim_start_matches('/').contains('/') { "" } else { "**/" };
            let glob =
                format!("{}{}", if rule.starts_with('/') { "" } else { anywhere }, plain.trim_start_matches('/'));
            set_of(&[glob]).is_ok_and(|set| set.is_match(inside))
        };
        !rules.iter().any(|rule| rule.starts_with('!')) && rules.iter().any(means)
    })
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

/// Tells which paths any of these globs means; what is no pattern means none.
pub fn matching(globs: &[String]) -> impl Fn(&Path) -> bool + use<> {
    let set = set_of(globs).ok();
    move |path: &Path| set.as_ref().is_some_and(|set| set.is_match(path))
}

/// Whether this is a pattern at all, and of something in a project, or why not.
pub fn judge_glob(glob: &str) -> Result<(), String> {
    if glob.starts_with('/') || glob.split('/').any(|part| part == "..") {
        return Err(format!("`{glob}` is outside; it is relative to the project, such as `tests/**`"));
    }
    set_of(&[glob.to_owned()]).map(|_| ())
}
