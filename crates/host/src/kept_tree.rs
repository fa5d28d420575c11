//! A work tree as it stood: kept before an agent that may change nothing, and put back behind it. What git ignores is
//! left alone. Contents are objects of a store of the run's own, so that nothing an agent does to the repository takes
//! them away, and neither filters nor flags of the index that it sets hide a change.

use crate::git::{self, GitError, answer, root_command, with_index};
use crate::plan_git::Place;
use crate::process::{Command, Keeper};
use ralph_core::text;
use ralph_core::time::Millis;
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// Rounds of putting back: rules about what is ignored may come back with the first.
const ROUNDS: usize = 3;

/// Where trees are kept, and of what.
#[derive(Debug, Clone, Copy)]
pub struct Keeping<'a> {
    pub place: Place<'a>,
    /// A folder of the run.
    pub folder: &'a Path,
    /// Where git looks for rules about what it ignores, if nobody says otherwise.
    pub usual_rules: Option<&'a Path>,
    /// How long each call of git may take.
    pub patience: Millis,
}

/// What was put back, and what could not be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Restored {
    /// From the top of the work tree.
    pub files: Vec<PathBuf>,
    pub problems: Vec<String>,
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    File {
        executable: bool,
        /// The object with its content.
        object: String,
    },
    /// Where a link leads, in hexadecimal digits.
    Link(String),
    /// Something whose content nobody keeps; equal while it is the same.
    Other(String),
}

type Manifest = BTreeMap<PathBuf, Entry>;

/// Keeps the tree as it stands, and returns the name by which it is found again.
pub async fn keep(keeper: &mut Keeper, of: Keeping<'_>) -> Result<String, GitError> {
    let fault = |error: io::Error| GitError::Fault(format!("{} cannot be written: {error}", of.folder.display()));
    std::fs::create_dir_all(of.objects()).map_err(fault)?;
    std::fs::write(of.rules(), ignored(keeper, of).await?).map_err(fault)?;
    let written = written(&look(keeper, of, &Manifest::new(), true).await?);
    let name = text::hash(&written);
    std::fs::write(of.folder.join(&name), written).map_err(fault)?;
    Ok(name)
}

/// Puts everything back as it stood, but for what `spares` names, and what git ignored then.
pub async fn restore(
    keeper: &mut Keeper,
    of: Keeping<'_>,
    name: &str,
    spares: impl Fn(&Path) -> bool,
) -> Result<Restored, GitError> {
    let fault = |error: io::Error| GitError::Fault(format!("the tree from before cannot be read: {error}"));
    let was = read(&std::fs::read(of.folder.join(name)).map_err(fault)?);
    let mut restored = Restored::default();
    for _ in 0..ROUNDS {
        let now = look(keeper, of, &was, false).await?;
        let paths: BTreeSet<&PathBuf> = was.keys().chain(now.keys()).collect();
        let differs = |path: &&&PathBuf| was.get(**path) != now.get(**path) && !spares(path);
        let changed: Vec<&PathBuf> = paths.iter().filter(differs).copied().collect();
        let changed: Vec<&PathBuf> = changed.into_iter().filter(|path| !restored.files.contains(path)).collect();
        if changed.is_empty() {
            break;
        }
        // What is in the way of others goes first.
        for path in changed.iter().filter(|path| !was.contains_key(**path)).rev() {
            if let Err(error) = remove(of.place.top, path) {
                restored.problems.push(format!("{} could not be removed: {error}", of.place.shown(path)));
            }
        }
        for (path, entry) in changed.iter().filter_map(|path| Some((*path, was.get(*path)?))) {
            if let Err(problem) = put(keeper, of, path, entry).await {
                restored.problems.push(format!("{} could not be put back: {problem}", of.place.shown(path)));
            }
        }
        restored.files.extend(changed.into_iter().cloned());
    }
    restored.files.sort();
    Ok(restored)
}

impl Keeping<'_> {
    fn objects(&self) -> PathBuf {
        self.folder.join("objects")
    }

    fn rules(&self) -> PathBuf {
        self.folder.join("ignored")
    }

    /// The same command with a store of its own, which knows the repository's objects.
    fn stored(&self, mut command: Command, lender: &Path) -> Command {
        command.set.push(("GIT_OBJECT_DIRECTORY".into(), self.objects().into()));
        command.set.push(("GIT_ALTERNATE_OBJECT_DIRECTORIES".into(), lender.into()));
        command
    }

    async fn lender(&self, keeper: &mut Keeper) -> Result<PathBuf, GitError> {
        git_path(keeper, *self, "objects").await
    }
}

/// Where something of the repository lies.
async fn git_path(keeper: &mut Keeper, of: Keeping<'_>, name: &str) -> Result<PathBuf, GitError> {
    let said = git::run(keeper, of.place.top, &["rev-parse", "--git-path", name], of.patience).await?;
    Ok(of.place.top.join(OsStr::from_bytes(said.trim_ascii_end())))
}

/// The rules about what git ignores that stand in no file of the tree.
async fn ignored(keeper: &mut Keeper, of: Keeping<'_>) -> Result<Vec<u8>, GitError> {
    let own = std::fs::read(git_path(keeper, of, "info/exclude").await?).unwrap_or_default();
    let global = git::run(keeper, of.place.top, &["config", "--path", "--get", "core.excludesFile"], of.patience).await;
    let named = global.ok().map(|path| PathBuf::from(OsStr::from_bytes(path.trim_ascii_end())));
    let named = named.or_else(|| of.usual_rules.map(Path::to_owned));
    let global = named.map(|path| std::fs::read(path).unwrap_or_default()).unwrap_or_default();
    Ok([own, b"\n".to_vec(), global, b"\n".to_vec()].concat())
}

/// What stands in the tree: what git tracks in the commit, what it does not ignore, and what was `known`.
async fn look(keeper: &mut Keeper, of: Keeping<'_>, known: &Manifest, writes: bool) -> Result<Manifest, GitError> {
    let top = of.place.top;
    let index = git::index_of_head(keeper, top, of.folder, of.patience).await?;
    let mut rules = std::ffi::OsString::from("--exclude-from=");
    rules.push(of.rules());
    let listing = ["ls-files", "-z", "--cached", "--others", "--exclude-per-directory=.gitignore"];
    let args = listing.iter().map(Into::into).chain([rules]);
    let listed = answer(keeper, &with_index(root_command(top, args), &index), b"", of.patience).await;
    let _ = std::fs::remove_file(&index);
    let listed = listed?;
    let listed = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    let listed = listed.map(|path| PathBuf::from(OsStr::from_bytes(path)));
    let paths: BTreeSet<PathBuf> = listed.chain(known.keys().cloned()).filter(|path| !of.place.is_own(path)).collect();
    let mut manifest = Manifest::new();
    let mut files: Vec<(PathBuf, bool)> = Vec::new();
    for path in paths {
        // Behind a link stands something else than what git means.
        if !is_below_folders(top, &path) {
            continue;
        }
        let full = top.join(&path);
        let Ok(meta) = full.symlink_metadata() else { continue };
        let stamp = || format!("{:o} {} {}.{}", meta.mode(), meta.len(), meta.mtime(), meta.mtime_nsec());
        if meta.is_symlink() {
            let target = std::fs::read_link(&full).unwrap_or_default();
            manifest.insert(path, Entry::Link(text::hex(target.as_os_str().as_bytes())));
        } else if meta.is_file() && !path.as_os_str().as_bytes().contains(&b'\n') {
            files.push((path, meta.mode() & 0o111 != 0));
        } else if !meta.is_dir() {
            manifest.insert(path, Entry::Other(stamp()));
        }
    }
    let mut names = Vec::new();
    files.iter().for_each(|(path, _)| names.extend([path.as_os_str().as_bytes(), b"\n"].concat()));
    let lender = of.lender(keeper).await?;
    let write: &[&str] = if writes { &["-w"] } else { &[] };
    let args = [&["hash-object", "--no-filters", "--stdin-paths"], write].concat();
    let command = of.stored(root_command(top, args), &lender);
    let objects = answer(keeper, &command, &names, of.patience).await?;
    let objects = String::from_utf8_lossy(&objects).into_owned();
    let mut objects = objects.lines();
    for (path, executable) in files {
        let object = objects.next().ok_or_else(|| GitError::Fault("git answered for too few files".to_owned()))?;
        manifest.insert(path, Entry::File { executable, object: object.to_owned() });
    }
    Ok(manifest)
}

fn is_below_folders(top: &Path, path: &Path) -> bool {
    let mut folders: Vec<&Path> = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()).collect();
    folders.reverse();
    folders.iter().all(|folder| top.join(folder).symlink_metadata().is_ok_and(|meta| meta.is_dir()))
}

/// Opens the folder of a path, link by link refused, and makes what is missing of it.
fn folder_of(top: &Path, path: &Path) -> io::Result<(OwnedFd, Vec<u8>)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = rustix::fs::openat(CWD, top, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let strange = || io::Error::new(io::ErrorKind::InvalidInput, "its name leads elsewhere");
    for part in path.parent().unwrap_or(Path::new("")).components() {
        let Component::Normal(part) = part else { return Err(strange()) };
        match rustix::fs::mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        folder = rustix::fs::openat(&folder, part, flags, Mode::empty())?;
    }
    let name = path.file_name().ok_or_else(strange)?;
    Ok((folder, name.as_bytes().to_vec()))
}

/// Removes a file that was not there, and the folders that are empty without it.
fn remove(top: &Path, path: &Path) -> io::Result<()> {
    let (folder, name) = folder_of(top, path)?;
    rustix::fs::unlinkat(folder.as_fd(), OsStr::from_bytes(&name), AtFlags::empty())?;
    for above in path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
        if std::fs::remove_dir(top.join(above)).is_err() {
            break;
        }
    }
    Ok(())
}

async fn put(keeper: &mut Keeper, of: Keeping<'_>, path: &Path, entry: &Entry) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    let content = match entry {
        Entry::Other(_) => return Err("it was no plain file".to_owned()),
        Entry::Link(_) => Vec::new(),
        Entry::File { object, .. } => {
            let lender = of.lender(keeper).await.map_err(|error| error.to_string())?;
            let command = of.stored(root_command(of.place.top, ["cat-file", "blob", object.as_str()]), &lender);
            answer(keeper, &command, b"", of.patience).await.map_err(|error| error.to_string())?
        }
    };
    clear_way(of.place.top, path).map_err(told)?;
    let (folder, name) = folder_of(of.place.top, path).map_err(told)?;
    let name = OsStr::from_bytes(&name);
    let temporary = format!(".ralph-put-{}", std::process::id());
    let made = || -> io::Result<()> {
        let _ = rustix::fs::unlinkat(&folder, temporary.as_str(), AtFlags::empty());
        match entry {
            Entry::Link(target) => {
                let target = text::unhex(target);
                rustix::fs::symlinkat(OsStr::from_bytes(&target), &folder, temporary.as_str())?;
            }
            Entry::File { executable, .. } => {
                let mode = if *executable { 0o755 } else { 0o644 };
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = rustix::fs::openat(&folder, temporary.as_str(), flags, Mode::from_raw_mode(mode))?;
                let mut file = std::fs::File::from(file);
                io::Write::write_all(&mut file, &content)?;
                rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
            }
            Entry::Other(_) => {}
        }
        Ok(rustix::fs::renameat(&folder, temporary.as_str(), &folder, name)?)
    };
    made().map_err(told)
}

/// Removes what stands where a file, or a folder above it, should be: a folder that took the file's place, or a file
/// that took the folder's.
fn clear_way(top: &Path, path: &Path) -> io::Result<()> {
    let mut folders: Vec<&Path> = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()).collect();
    folders.reverse();
    for folder in folders {
        match top.join(folder).symlink_metadata() {
            Ok(meta) if !meta.is_dir() => std::fs::remove_file(top.join(folder))?,
            _ => {}
        }
    }
    match top.join(path).symlink_metadata() {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(top.join(path)),
        _ => Ok(()),
    }
}

fn written(manifest: &Manifest) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (path, entry) in manifest {
        let (kind, what) = match entry {
            Entry::File { executable: false, object } => ("file", object),
            Entry::File { executable: true, object } => ("program", object),
            Entry::Link(target) => ("link", target),
            Entry::Other(stamp) => ("other", stamp),
        };
        [kind.as_bytes(), b"\0", what.as_bytes(), b"\0", path.as_os_str().as_bytes(), b"\0"]
            .iter()
            .for_each(|part| bytes.extend_from_slice(part));
    }
    bytes
}

fn read(bytes: &[u8]) -> Manifest {
    let mut parts = bytes.split(|byte| *byte == 0);
    let mut manifest = Manifest::new();
    while let (Some(kind), Some(what), Some(path)) = (parts.next(), parts.next(), parts.next()) {
        let what = String::from_utf8_lossy(what).into_owned();
        let entry = match kind {
            b"file" => Entry::File { executable: false, object: what },
            b"program" => Entry::File { executable: true, object: what },
            b"link" => Entry::Link(what),
            _ => Entry::Other(what),
        };
        manifest.insert(PathBuf::from(OsStr::from_bytes(path)), entry);
    }
    manifest
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "these tests need a repository")]

    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn git(folder: &Path, args: &[&str]) {
        let done = std::process::Command::new("git").args(args).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn snapshot(folder: &Path) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        let mut left = vec![folder.to_owned()];
        while let Some(next) = left.pop() {
            for entry in std::fs::read_dir(next).unwrap().map(Result::unwrap) {
                let (path, meta) = (entry.path(), entry.metadata().unwrap());
                match () {
                    () if path.ends_with(".git") => {}
                    () if meta.is_dir() => left.push(path),
                    () if meta.is_symlink() => {
                        all.insert(path.clone(), format!("{:?}", std::fs::read_link(&path).unwrap()));
                    }
                    () => {
                        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                        all.insert(path, format!("{:o} {text}", meta.mode() & 0o111));
                    }
                }
            }
        }
        all
    }

    #[tokio::test]
    async fn whatever_was_done_to_the_files_they_stand_as_before() {
        let place = tempfile::tempdir().unwrap();
        let (top, folder) = (place.path().join("tree"), place.path().join("kept"));
        for made in ["src", "ralph", "dir/deep"] {
            std::fs::create_dir_all(top.join(made)).unwrap();
        }
        let write = |path: &str, text: &str| std::fs::write(top.join(path), text).unwrap();
        write("src/main.rs", "main\n");
        write("src/tool.sh", "#!/bin/sh\n");
        std::fs::set_permissions(top.join("src/tool.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
        write("dir/deep/file", "deep");
        write("plain", "plain");
        write("ralph/tasks.json", "{}");
        write(".gitignore", "ignored\n*.log\n");
        write("ignored", "before");
        symlink("src/main.rs", top.join("link")).unwrap();
        git(&top, &["init", "--quiet"]);
        git(&top, &["add", "-A"]);
        git(&top, &["-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "-m", "first"]);
        write("untracked", "mine");
        write("src/main.rs", "main, edited\n");
        let before = snapshot(&top);
        let mut keeper = Keeper::absent();
        let of = Keeping {
            place: Place { top: &top, project: &top },
            folder: &folder,
            usual_rules: None,
            patience: Millis::ZERO,
        };
        let name = keep(&mut keeper, of).await.unwrap();
        assert_eq!(restore(&mut keeper, of, &name, |_| false).await.unwrap(), Restored::default());

        write("src/main.rs", "by a reviewer\n");
        git(&top, &["update-index", "--assume-unchanged", "src/main.rs"]);
        git(&top, &["config", "filter.hide.clean", "git show HEAD:%f"]);
        write(".git/info/attributes", "* filter=hide\n");
        write("untracked", "by a reviewer");
        std::fs::remove_file(top.join("src/tool.sh")).unwrap();
        std::fs::remove_file(top.join("link")).unwrap();
        write("link", "no link");
        std::fs::remove_file(top.join("plain")).unwrap();
        std::fs::create_dir(top.join("plain")).unwrap();
        write("plain/inside", "in the way");
        std::fs::remove_dir_all(top.join("dir")).unwrap();
        symlink(place.path(), top.join("dir")).unwrap();
        std::fs::create_dir_all(top.join("new/deep")).unwrap();
        write("new/deep/file", "new");
        write(".gitignore", "ignored\n*.log\nhidden\n");
        write("hidden", "behind a new rule");
        write(".git/info/exclude", "hidden2\n");
        write("hidden2", "behind another one");
        git(&top, &["-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "-am", "by a reviewer"]);
        write("ralph/tasks.json", "{\"edited\": 1}");
        write("ignored", "after");
        write("build.log", "after");

        let spares = |path: &Path| path == Path::new("ralph/tasks.json");
        let restored = restore(&mut keeper, of, &name, spares).await.unwrap();
        assert_eq!(restored.problems, Vec::<String>::new());
        let mut expected = before;
        expected.insert(top.join("ralph/tasks.json"), "0 {\"edited\": 1}".to_owned());
        expected.insert(top.join("ignored"), "0 after".to_owned());
        expected.insert(top.join("build.log"), "0 after".to_owned());
        assert_eq!(snapshot(&top), expected);
        assert!(restored.files.contains(&PathBuf::from("src/main.rs")), "{restored:?}");
        assert!(!top.join("new").exists());
    }
}
