//! What of git counts as it was at the start, and whether it still is.
//!
//! A setting is asked for as git itself finds it, so that no file that it includes is overlooked. Only those count that
//! can execute something or transform what is committed: names, remotes and branches are the agent's to change.

use super::{GitError, LISTING, SETTINGS_PATIENCE, answer, command, own_command, root_command};
use crate::plain_file::{self, Links};
use crate::process::Keeper;
use crate::scm::pushed::{self, Ways};
use crate::spool::Spool;
use crate::tree::{self, LIVE_RULES, rules};
use ralph_core::protect::{
    self, Change, GIT_SETTING, GitFile, GitPins, GitSetting, IgnoreRules, PinnedChange, RepositoryIdentity,
};
use ralph_core::text;
use ralph_core::time::Millis;
use rustix::fs::CWD;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// More than any file of rules, and any hook.
const LARGEST: u64 = 4 << 20;
/// Hooks may have helpers beside them, in folders so deep.
const HOOK_DEPTH: usize = 3;
/// More files than that are no hooks.
const MOST_HOOKS: usize = 1000;
/// Files that are hidden from checks and told one by one: one is enough.
const MOST_NAMED: usize = 20;
/// Tracked files that are ignored all the same: mostly none.
const MOST_TRACKED_ANYWAY: usize = 10_000;

/// Where git is looked at before anything else happens.
#[derive(Debug, Clone, Copy)]
pub struct Pinning<'a> {
    /// The root of the work tree.
    pub root: &'a Path,
    /// A folder of the run, for copies of hooks and for what is kept meanwhile.
    pub scratch: &'a Path,
    /// How long git may take for each answer.
    pub patience: Millis,
    /// Reads a variable of the environment in which git runs.
    pub variable: fn(&str) -> Option<OsString>,
}

/// Looks at git and the repository before the first agent does.
pub async fn pin(keeper: &mut Keeper, place: Pinning<'_>) -> Result<GitPins, GitError> {
    match look(keeper, place).await {
        // What fails by chance does not fail twice.
        Err(GitError::Fault(_)) => look(keeper, place).await,
        answer => answer,
    }
}

async fn look(keeper: &mut Keeper, place: Pinning<'_>) -> Result<GitPins, GitError> {
    let Pinning { root, scratch, patience, .. } = place;
    let blocking = tree::blocking(root);
    if let Some(first) = blocking.first() {
        return Err(GitError::Refused(first.words()));
    }
    let settings = settings(keeper, root).await?;
    let files: BTreeSet<&str> = settings.iter().map(|one| one.file.as_str()).filter(|file| !file.is_empty()).collect();
    let settings_files = files.iter().filter_map(|file| tree::part(root, &root.join(file)).ok()).collect();
    let hook_folders = hook_folders(keeper, root, &settings, patience).await?;
    let attributes = user_file(keeper, place, &settings, "core.attributesfile", "attributes").await?;
    let mut pinned = hooks(root, &hook_folders)?;
    pinned.extend(attributes_files(root).into_iter().chain(attributes));
    let filters = settings.iter().filter(|setting| setting.name.starts_with("filter."));
    pinned.extend(filters.flat_map(|filter| named_files(place, &filter.value)));
    pinned.sort_unstable();
    pinned.dedup();
    let mut git = GitPins {
        settings_files,
        hook_folders: hook_folders.iter().map(|folder| tree::shown_in(root, folder)).collect(),
        identity: tree::identity(root).map(|folders| RepositoryIdentity { folders, commit: String::new() }),
        sparse: settings.iter().rfind(|one| one.name == "core.sparsecheckout").is_some_and(|one| one.value == "true"),
        ..GitPins::default()
    };
    if let Some(identity) = &mut git.identity {
        identity.commit = super::head(keeper, root, patience).await?;
    }
    let excludes = user_file(keeper, place, &settings, "core.excludesfile", "ignore").await?;
    let excludes = excludes.map(|file| read(&file, Links::Follow)).transpose()?.flatten().unwrap_or_default();
    git.ignored = ignored(keeper, place, &excludes).await?;
    git.tracked_anyway = tracked_anyway(keeper, place).await?;
    for path in pinned {
        git.files.push(keep(root, &path, scratch)?);
    }
    git.hidden = Some(hidden(keeper, root, patience).await?);
    git.ways = Some(pushed::ways(keeper, root, &settings, patience).await?);
    git.settings = settings.into_iter().filter(counts).map(without_secret).collect();
    Ok(git)
}

/// Tracked files that git was told not to look at.
async fn hidden(keeper: &mut Keeper, root: &Path, patience: Millis) -> Result<Vec<String>, GitError> {
    let listed = match answer(keeper, &root_command(root, ["ls-files", "-z", "-v"]), b"", patience).await {
        // An index that cannot be read hides nothing: whoever asks git gets no answer.
        Err(GitError::Refused(_)) => return Ok(Vec::new()),
        listed => listed?,
    };
    let is_hidden = |tag: u8| tag == b'S' || tag.is_ascii_lowercase();
    let hidden = listed.split(|byte| *byte == 0).filter(|line| line.first().is_some_and(|tag| is_hidden(*tag)));
    Ok(hidden.filter_map(|line| Some(String::from_utf8_lossy(line.get(2..)?).into_owned())).collect())
}

/// Files that checks looked at when the run began and do not look at now, because git says so.
async fn hidden_since(
    keeper: &mut Keeper,
    root: &Path,
    git: &GitPins,
    scratch: &Path,
) -> Result<Vec<PinnedChange>, GitError> {
    let mut changes = Vec::new();
    if let Some(before) = &git.hidden {
        for path in hidden(keeper, root, SETTINGS_PATIENCE).await?.into_iter().filter(|path| !before.contains(path)) {
            let undo = format!("git update-index --no-assume-unchanged --no-skip-worktree -- {}", quoted(&path));
            changes.push(PinnedChange { path, how: Change::Undoable { did: "hidden from git".to_owned(), undo } });
        }
    }
    let began = git.identity.as_ref().map(|identity| identity.commit.as_str()).filter(|commit| !commit.is_empty());
    if let Some(commit) = began.filter(|_| git.obeyed) {
        let index = match super::index_of(keeper, root, scratch, commit, SETTINGS_PATIENCE).await {
            // History may be rewritten.
            Err(GitError::Refused(_)) => return Ok(changes),
            index => index?,
        };
        let args = ["ls-files", "-z", "--cached", "--ignored", LIVE_RULES];
        let listed = answer(keeper, &super::with_index(root_command(root, args), &index), b"", SETTINGS_PATIENCE).await;
        // It is of no use to the next look.
        let _ = std::fs::remove_file(index);
        let listed = listed?;
        let now = listed.split(|byte| *byte == 0).filter_map(|path| std::str::from_utf8(path).ok());
        for path in now.filter(|path| !path.is_empty() && !git.tracked_anyway.iter().any(|known| known == path)) {
            let undo = format!("take out the rule that this shows: git check-ignore -v --no-index {}", quoted(path));
            let did = "hidden by a rule of git from a check that passes over what git ignores".to_owned();
            changes.push(PinnedChange { path: path.to_owned(), how: Change::Undoable { did, undo } });
            if changes.len() > MOST_NAMED {
                break;
            }
        }
    }
    Ok(changes)
}

/// The ways that pushes take now.
pub(crate) async fn ways(keeper: &mut Keeper, root: &Path, patience: Millis) -> Result<Ways, GitError> {
    let settings = settings(keeper, root).await?;
    pushed::ways(keeper, root, &settings, patience).await
}

/// The variables by which another git transforms contents as the repository did at the start: a clone has its objects,
/// but none of its settings.
pub fn filters_of(git: &GitPins) -> Vec<(OsString, OsString)> {
    const ENDS_OF_LINES: [&str; 3] = ["core.autocrlf", "core.eol", "core.symlinks"];
    let transforms = |one: &&GitSetting| one.name.starts_with("filter.") || ENDS_OF_LINES.contains(&one.name.as_str());
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    for (index, one) in git.settings.iter().filter(transforms).enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{index}").into(), one.name.clone().into()));
        variables.push((format!("GIT_CONFIG_VALUE_{index}").into(), one.value.clone().into()));
    }
    let count = variables.len() / 2;
    variables.extend((count > 0).then(|| ("GIT_CONFIG_COUNT".into(), count.to_string().into())));
    variables
}

/// What of git is not as it was.
pub async fn changes(
    keeper: &mut Keeper,
    root: &Path,
    git: &GitPins,
    scratch: &Path,
) -> Result<Vec<PinnedChange>, GitError> {
    let mut changes = file_changes(root, git, scratch)?;
    if let Some(commit) = lost_commit(keeper, root, git).await? {
        changes.push(PinnedChange { path: ".git".to_owned(), how: Change::Anew { commit } });
    }
    changes.extend(hidden_since(keeper, root, git, scratch).await?);
    let settings = settings(keeper, root).await?;
    let now: Vec<GitSetting> = settings.into_iter().filter(counts).map(without_secret).collect();
    changes.extend(setting_changes(root, &git.settings, &now));
    let put_back = put_back(root, git, &now)?;
    changes.retain(|change| !put_back.contains(&change.path));
    changes.extend(put_back.into_iter().map(|path| PinnedChange { path, how: Change::PutBack }));
    Ok(changes)
}

/// What an agent of an earlier run had changed, and is again as a person accepted it.
fn put_back(root: &Path, git: &GitPins, now: &[GitSetting]) -> Result<Vec<String>, GitError> {
    let prints = protect::setting_prints(now);
    let mut found = Vec::new();
    for (path, accepted) in &git.accepted {
        let print = match path.starts_with(GIT_SETTING) {
            true => prints.get(path).cloned().unwrap_or_default(),
            false => state(root, &root.join(path))?.print(),
        };
        found.extend((print == *accepted).then(|| path.clone()));
    }
    Ok(found)
}

/// The commit where the run began, if this is another repository that does not have it. A folder that is the same one
/// is the same repository, whatever was rewritten and pruned in it.
async fn lost_commit(keeper: &mut Keeper, root: &Path, git: &GitPins) -> Result<Option<String>, GitError> {
    let Some(identity) = git.identity.as_ref().filter(|identity| !identity.commit.is_empty()) else { return Ok(None) };
    if tree::identity(root) == Some(identity.folders) {
        return Ok(None);
    }
    let asked = root_command(root, ["cat-file", "-e", &format!("{}^{{commit}}", identity.commit)]);
    match answer(keeper, &asked, b"", SETTINGS_PATIENCE).await {
        Ok(_) => Ok(None),
        Err(GitError::Refused(_)) => Ok(Some(identity.commit.clone())),
        Err(other) => Err(other),
    }
}

/// Every setting as git finds it, but for those that ralph itself gives on the command line.
async fn settings(keeper: &mut Keeper, root: &Path) -> Result<Vec<GitSetting>, GitError> {
    let asked = root_command(root, ["config", "--list", "--null", "--show-origin", "--show-scope"]);
    let listed = answer(keeper, &asked, b"", SETTINGS_PATIENCE).await?;
    let mut found = Vec::new();
    let mut fields = listed.split(|byte| *byte == 0);
    while let (Some(scope), Some(origin), Some(setting)) = (fields.next(), fields.next(), fields.next()) {
        if scope == b"command" {
            continue;
        }
        let (name, value) = match memchr::memchr(b'\n', setting) {
            Some(end) => (setting.get(..end).unwrap_or_default(), setting.get(end + 1..).unwrap_or_default()),
            // Without a value it is meant as a yes.
            None => (setting, b"true".as_slice()),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let file = origin.strip_prefix(b"file:").map(text).unwrap_or_default();
        found.push(GitSetting { name: text(name), value: text(value), file });
    }
    Ok(found)
}

/// Whether a setting can execute something or transform a content. Sections and keys are in lower case, as git lists
/// them.
fn counts(setting: &GitSetting) -> bool {
    let name = setting.name.as_str();
    let section = name.split('.').next().unwrap_or_default();
    let key = name.rsplit('.').next().unwrap_or_default();
    match section {
        "filter" | "hook" | "protocol" => true,
        "core" => [
            "hookspath", "attributesfile", "excludesfile", "worktree", "fsmonitor", "sshcommand", "gitproxy",
            "askpass", "alternaterefscommand", "autocrlf", "eol", "symlinks",
        ]
        .contains(&key),
        "diff" => ["textconv", "command", "external"].contains(&key),
        "merge" => key == "driver",
        "attr" => key == "tree",
        // One that only abbreviates git's own words does nothing that git would not.
        "alias" => setting.value.starts_with('!'),
        "gpg" => ["program", "defaultkeycommand"].contains(&key),
        "credential" => key == "helper",
        "remote" => ["vcs", "uploadpack", "receivepack"].contains(&key),
        // Otherwise it names a way to update, which a module may propose.
        "submodule" => key == "update" && setting.value.starts_with('!'),
        "trailer" => ["command", "cmd"].contains(&key),
        "init" => key == "templatedir",
        "uploadpack" => key == "packobjectshook",
        _ => false,
    }
}

/// A helper for passwords may hold one.
fn is_secret(name: &str) -> bool {
    name.starts_with("credential.")
}

fn without_secret(setting: GitSetting) -> GitSetting {
    let value = if is_secret(&setting.name) { text::hash(setting.value.as_bytes()) } else { setting.value };
    GitSetting { value, ..setting }
}

fn setting_changes(root: &Path, before: &[GitSetting], now: &[GitSetting]) -> Vec<PinnedChange> {
    /// The values of a setting in the order in which they count, each with its file.
    type Values<'a> = Vec<(&'a str, &'a str)>;
    let mut names: BTreeMap<&str, [Values<'_>; 2]> = BTreeMap::new();
    for (which, settings) in [before, now].into_iter().enumerate() {
        for setting in settings {
            let values = names.entry(&setting.name).or_default().get_mut(which);
            values.into_iter().for_each(|values| values.push((&setting.value, &setting.file)));
        }
    }
    let changed = |(name, [before, now]): (&str, [Values<'_>; 2])| {
        let values = |of: &Values<'_>| of.iter().map(|(value, _)| (*value).to_owned()).collect::<Vec<_>>();
        if values(&before) == values(&now) {
            return None;
        }
        let did = match (before.is_empty(), now.is_empty()) {
            (true, _) => "added",
            (_, true) => "removed",
            _ => "changed",
        };
        let files: BTreeSet<&str> = before.iter().chain(&now).map(|(_, file)| *file).collect();
        let undo: Vec<String> = files.into_iter().filter_map(|file| undo_in(root, name, file, &before, &now)).collect();
        let how = Change::Undoable { did: did.to_owned(), undo: undo.join(" && ") };
        Some(PinnedChange { path: format!("{GIT_SETTING}{name}"), how })
    };
    names.into_iter().filter_map(changed).collect()
}

/// The command that puts a setting back in one file; `None` if it is as it was there.
fn undo_in(root: &Path, name: &str, file: &str, before: &[(&str, &str)], now: &[(&str, &str)]) -> Option<String> {
    let values = |of: &[(&str, &str)]| -> Vec<String> {
        of.iter().filter(|(_, at)| *at == file).map(|(value, _)| (*value).to_owned()).collect()
    };
    let (before, now) = (values(before), values(now));
    if before == now {
        return None;
    }
    let place = root.join(file).display().to_string();
    if is_secret(name) && !before.is_empty() {
        return Some(format!("put its old value back in {place}"));
    }
    let config = format!("git config --file {}", quoted(&place));
    let name = quoted(name);
    let unset = (!now.is_empty()).then(|| format!("{config} --unset-all {name}"));
    let add = before.iter().map(|value| format!("{config} --add {name} {}", quoted(value)));
    Some(unset.into_iter().chain(add).collect::<Vec<_>>().join(" && "))
}

/// Where git looks for hooks: in the repository, and where a setting says.
async fn hook_folders(
    keeper: &mut Keeper,
    root: &Path,
    settings: &[GitSetting],
    patience: Millis,
) -> Result<Vec<PathBuf>, GitError> {
    let mut folders: Vec<PathBuf> =
        tree::git_folders(root).map(|(_, common)| common.join("hooks")).into_iter().collect();
    if settings.iter().any(|setting| setting.name == "core.hookspath") {
        // git itself knows what a tilde means, and what a path is relative to.
        let asked = command("git", ["rev-parse", "--git-path", "hooks"], root);
        let answered = answer(keeper, &asked, b"", patience).await?;
        folders.push(root.join(OsStr::from_bytes(answered.strip_suffix(b"\n").unwrap_or(&answered))));
        folders.dedup();
    }
    Ok(folders)
}

/// The files in folders of hooks that are no mere examples.
fn hooks(root: &Path, folders: &[PathBuf]) -> Result<Vec<PathBuf>, GitError> {
    fn visit(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), GitError> {
        let entries = match folder.read_dir() {
            Ok(entries) => entries,
            Err(error) => return seen(error, folder),
        };
        for entry in entries {
            let path = match entry {
                Ok(entry) => entry.path(),
                Err(error) => return seen(error, folder),
            };
            let is_example = path.extension().is_some_and(|extension| extension == "sample");
            if path.is_dir() && depth > 0 {
                visit(&path, depth - 1, found)?;
            } else if !path.is_dir() && !is_example && path.to_str().is_some() && found.len() < MOST_HOOKS {
                found.push(path);
            }
        }
        Ok(())
    }
    let mut found = Vec::new();
    for folder in folders {
        visit(&root.join(folder), HOOK_DEPTH, &mut found)?;
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The repository's own rules about which contents are transformed.
fn attributes_files(root: &Path) -> Option<PathBuf> {
    tree::git_folders(root).map(|(_, common)| common.join("info/attributes"))
}

/// The files that a command names by a path: programs and scripts, and what they are given. git executes filters in the
/// root of the work tree.
fn named_files(place: Pinning<'_>, command: &str) -> Vec<PathBuf> {
    let words = shlex::split(command).unwrap_or_default();
    let paths = words.iter().filter_map(|word| match word.strip_prefix("~/").or(word.strip_prefix("$HOME/")) {
        Some(below) => (place.variable)("HOME").map(|home| PathBuf::from(home).join(below)),
        None => Some(place.root.join(word)),
    });
    paths.filter(|path| path.is_file() && path.to_str().is_some()).collect()
}

/// A file of the user: where the setting says, or where git looks without one.
async fn user_file(
    keeper: &mut Keeper,
    place: Pinning<'_>,
    settings: &[GitSetting],
    name: &str,
    usual: &str,
) -> Result<Option<PathBuf>, GitError> {
    if settings.iter().any(|setting| setting.name == name) {
        let asked = own_command(place.root, ["config", "--type=path", "--get", name]);
        let answered = answer(keeper, &asked, b"", place.patience).await?;
        let path = answered.strip_suffix(b"\n").unwrap_or(&answered);
        return Ok((!path.is_empty()).then(|| place.root.join(OsStr::from_bytes(path))));
    }
    let set = |name: &str| (place.variable)(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")));
    Ok(folder.map(|folder| folder.join("git").join(usual)))
}

/// What every repository ignores now, the outermost one first.
async fn ignored(keeper: &mut Keeper, place: Pinning<'_>, excludes: &[u8]) -> Result<Vec<IgnoreRules>, GitError> {
    let mut found = Vec::new();
    let mut left = BTreeSet::from([Vec::new()]);
    while let Some(path) = left.pop_first() {
        let root = place.root.join(OsStr::from_bytes(&path));
        // One that is not there yet ignores nothing.
        if !path.is_empty()
            && (!root.is_dir() || root.join(".git").symlink_metadata().is_err() || !tree::blocking(&root).is_empty())
        {
            continue;
        }
        match ignored_by(keeper, &root, excludes, place).await {
            Ok((rules, inside)) => {
                left.extend(inside.iter().map(|below| tree::joined(&path, below)));
                found.push(IgnoreRules { repository: text::hex(&path), rules });
            }
            // A folder that only looks like a repository is looked at whole.
            Err(GitError::Refused(_)) if !path.is_empty() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// The rules of one repository as one list, and the repositories inside.
async fn ignored_by(
    keeper: &mut Keeper,
    root: &Path,
    excludes: &[u8],
    place: Pinning<'_>,
) -> Result<(String, Vec<Vec<u8>>), GitError> {
    let mut list = String::new();
    rules::add(&mut list, b"", excludes);
    let exclude = tree::git_folders(root).map(|(_, common)| common.join("info/exclude"));
    let exclude = exclude.map(|file| read(&file, Links::Follow)).transpose()?.flatten();
    rules::add(&mut list, b"", &exclude.unwrap_or_default());
    // A file of rules may itself be ignored, and counts all the same.
    let args = LISTING.iter().chain(&[LIVE_RULES, "--exclude=!.gitignore"]);
    let mut listed = Spool::new(place.scratch);
    super::ask(keeper, &root_command(root, args), b"", &mut listed, place.patience).await?;
    let unkept = |error: io::Error| GitError::Fault(format!("git's list of the files could not be kept: {error}"));
    let files = tree::rules_in(&mut listed).map_err(unkept)?;
    let mut folders: Vec<&[u8]> = files.iter().filter_map(|file| file.strip_suffix(b".gitignore")).collect();
    // Rules of deeper folders come later.
    folders.sort_unstable();
    for folder in folders {
        let file = root.join(OsStr::from_bytes(folder)).join(".gitignore");
        let contents = read(&file, Links::Refuse)?.unwrap_or_default();
        rules::add(&mut list, folder.strip_suffix(b"/").unwrap_or(folder), &contents);
    }
    Ok((list, tree::repositories_in(&mut listed).map_err(unkept)?))
}

/// Tracked files that would be ignored if they were not: one that is taken out of the index still counts.
async fn tracked_anyway(keeper: &mut Keeper, place: Pinning<'_>) -> Result<Vec<String>, GitError> {
    let asked = root_command(place.root, ["ls-files", "-z", "--cached", "--ignored", LIVE_RULES]);
    let listed = answer(keeper, &asked, b"", place.patience).await?;
    let paths = listed.split(|byte| *byte == 0).filter_map(|path| std::str::from_utf8(path).ok());
    let paths: BTreeSet<&str> = paths.filter(|path| !path.is_empty()).collect();
    Ok(paths.into_iter().take(MOST_TRACKED_ANYWAY).map(str::to_owned).collect())
}

/// The state of a file, with a copy of it.
fn keep(root: &Path, path: &Path, scratch: &Path) -> Result<GitFile, GitError> {
    let file = state(root, path)?;
    if let Some(content) = read(path, Links::Follow)? {
        let copy = kept(scratch, &file.hash);
        let copied = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(copy.parent().unwrap_or(scratch))
            .and_then(|()| std::fs::write(&copy, content))
            .and_then(|()| std::fs::set_permissions(&copy, path.metadata()?.permissions()));
        copied.map_err(|error| GitError::Fault(format!("{} cannot be written: {error}", copy.display())))?;
    }
    Ok(file)
}

fn kept(scratch: &Path, hash: &str) -> PathBuf {
    scratch.join("git").join(hash)
}

/// A file as it is now.
fn state(root: &Path, path: &Path) -> Result<GitFile, GitError> {
    let executable = path.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0);
    let hash = match (read(path, Links::Follow)?, path.symlink_metadata()) {
        (Some(content), _) => text::hash(&content),
        (None, Err(_)) => String::new(),
        // A pipe, or what may not be read.
        (None, Ok(meta)) => text::hash(format!("{:?}", meta.file_type()).as_bytes()),
    };
    Ok(GitFile { path: tree::shown_in(root, path), executable, hash })
}

fn file_changes(root: &Path, git: &GitPins, scratch: &Path) -> Result<Vec<PinnedChange>, GitError> {
    let folders: Vec<PathBuf> = git.hook_folders.iter().map(PathBuf::from).collect();
    let known = |path: &PathBuf| git.files.iter().any(|file| root.join(&file.path) == *path);
    let added = hooks(root, &folders)?.into_iter().filter(|path| !known(path));
    let added = added.map(|path| GitFile { path: tree::shown_in(root, &path), executable: false, hash: String::new() });
    let before: Vec<GitFile> = git.files.iter().cloned().chain(added).collect();
    let changed = |before: &GitFile| {
        let path = root.join(&before.path);
        let now = match state(root, &path) {
            Ok(now) => now,
            Err(fault) => return Some(Err(fault)),
        };
        // A hook that is gone executes nothing and changes nothing.
        let is_hook = folders.iter().any(|folder| path.starts_with(root.join(folder)));
        if now == *before || (now.hash.is_empty() && is_hook) {
            return None;
        }
        let place = quoted(&path.display().to_string());
        let (did, undo) = match (before.hash.is_empty(), now.hash.is_empty()) {
            (true, _) => ("added", format!("rm -f {place}")),
            (_, gone) => {
                let copy = quoted(&kept(scratch, &before.hash).display().to_string());
                (if gone { "deleted" } else { "changed" }, format!("rm -f {place} && cp -p {copy} {place}"))
            }
        };
        let how = Change::Undoable { did: did.to_owned(), undo };
        Some(Ok(PinnedChange { path: before.path.clone(), how }))
    };
    before.iter().filter_map(changed).collect()
}

/// What a plain file holds; `None` where none stands that may be read. A machine that fails has shown nothing.
fn read(path: &Path, links: Links) -> Result<Option<Vec<u8>>, GitError> {
    match plain_file::read(CWD, path, links, LARGEST) {
        Ok(contents) => Ok(Some(contents.bytes)),
        Err(error) => seen(error, path).map(|()| None),
    }
}

/// Whether an error speaks of what stands at a path, and not of the machine.
fn seen(error: io::Error, path: &Path) -> Result<(), GitError> {
    use io::ErrorKind::{InvalidInput, NotADirectory, NotFound, PermissionDenied};
    let of_the_path = matches!(error.kind(), NotFound | NotADirectory | PermissionDenied | InvalidInput);
    if of_the_path || error.raw_os_error() == Some(libc::ELOOP) {
        return Ok(());
    }
    Err(GitError::Fault(format!("{} cannot be read: {error}", path.display())))
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+=:@%,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
