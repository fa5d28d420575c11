//! Every check runs on a snapshot of its own, so that it can reach neither the next check nor the tree that is accepted.
//!
//! # Theory of operation
//!
//! On Linux a snapshot is an overlay in a private mount namespace, mounted over the tree's own path: absolute paths stay
//! true, nothing is copied before it is written, and the kernel removes it with the last process inside. What is written
//! lands in a folder in trusted state, from which `carry` takes what people asked to have, and which is then removed.
//!
//! ```text
//! ralph ── keeper ── ralph __snapshot FOLDER  →  exec sh -c CHECK
//!                    1. namespace  2. overlays  3. judges, read-only  4. caches  5. trusted state read-only
//! ```
//!
//! Home, `/tmp`, the network and everything else outside the tree stay what they are, and so do sockets in the tree at
//! which somebody listens; a named pipe in it leads nowhere. An ordinary user's check gains no rights by `sudo`, and a program that
//! renames a folder of the tree is told that it leads to another file system (`EXDEV`), as in many containers.
//!
//! Where no snapshot can be made, a check runs on the live tree, and its receipt says why.

mod carry;
#[cfg(target_os = "linux")]
mod inside;
mod mounts;
mod order;
mod rooted;

pub use carry::hides_from_checks;
pub(crate) use carry::{Carried, Wanted};
#[cfg(target_os = "linux")]
pub use inside::snapshot_main;
pub use order::{Judge, Put};
pub(crate) use rooted::remove_path;

use crate::checkout::Checkout;
use crate::process::drive::{Chunk, Job, Sink, Streams, drive};
use crate::process::{Command, Keeper};
use crate::{child_runs, tree};
use order::{Cache, Layer, Order};
use ralph_core::check::{CheckEnding, CheckSpec};
use ralph_core::observation::Ending;
use ralph_core::text;
use ralph_core::time::Millis;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW};
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc;

/// The hidden first argument that makes the binary the helper inside a snapshot.
pub const SNAPSHOT_ARGUMENT: &str = "__snapshot";

/// Elsewhere nobody starts it.
#[cfg(not(target_os = "linux"))]
pub fn snapshot_main(_: impl Iterator<Item = OsString>) -> u8 {
    1
}

/// Files in the folder of a snapshot: what the helper is told, and what it tells.
const ORDER: &str = "order";
const STATUS: &str = "status";
/// What the helper tells before it becomes the check.
const BEGUN: &str = "begun";
/// Where the live tree can be read while the clean checkout stands in its place.
const LIVE: &str = "live";
/// The folder of a run in which its snapshots lie.
const SNAPSHOTS: &str = "snapshots";
/// The folder of a project's trusted state that holds caches.
pub(crate) const CACHES: &str = "caches";
/// The folder of a project with ralph's own files.
const OWN_FILES: &str = ".ralph";
/// Folders of which nothing is ever carried back.
const OWN: [&str; 2] = [".git", OWN_FILES];
/// How long the helper may take to try: it needs some milliseconds.
const PATIENCE: Millis = Millis(20_000);

/// Where a run's snapshots are made.
#[derive(Debug, Clone)]
pub struct Place {
    /// The tree that is copied: the git work tree around the project, else the project.
    pub tree: PathBuf,
    pub project: PathBuf,
    /// The project's folder of trusted state: it holds caches, and checks cannot write there.
    pub state: PathBuf,
    /// The run's folder in it, which holds what checks write.
    pub run_folder: PathBuf,
    /// A private folder that takes its place where its file system cannot (a network disk, a container's own layers).
    pub spare: Option<PathBuf>,
}

/// A place in which snapshots can be made: it was tried.
#[derive(Debug)]
pub struct Snapshots {
    place: Place,
    /// Where what checks write is kept.
    store: PathBuf,
    count: AtomicU64,
}

/// What the snapshot for one check is made of.
#[derive(Debug)]
pub struct Plan<'a> {
    pub snapshots: &'a Snapshots,
    /// The clean checkout that stands in the place of the live tree, if one is wanted.
    pub checkout: Option<&'a Checkout>,
    /// What must stand at these paths; what does already is not touched.
    pub judges: Vec<Put>,
    /// Judges below the tree's root that the check itself cannot change: what it executes could swap them and put them
    /// back while nobody looks.
    pub fixed: Vec<PathBuf>,
    /// Folders below the tree's root that the check finds empty.
    pub emptied: Vec<PathBuf>,
    /// Whether ralph's own files in the project are hidden: they are no part of the work.
    pub hides_own: bool,
    /// Cache folders that were recognised, below the project; those of the check's terms are added.
    pub caches: Vec<PathBuf>,
    /// Variables for the check.
    pub environment: Vec<(OsString, OsString)>,
}

impl Snapshots {
    /// Finds out by trying whether snapshots can be made; if not, why, as the part of a sentence. Removes what crashed
    /// runs of the project left.
    pub async fn probe(keeper: &mut Keeper, place: Place) -> Result<Snapshots, String> {
        let real = |path: &Path| path.canonicalize().map_err(|error| format!("{}: {error}", path.display()));
        let (tree, project) = (real(&place.tree)?, real(&place.project)?);
        let (state, run_folder) = (real(&place.state)?, real(&place.run_folder)?);
        let spare = place.spare.as_deref().map(real).transpose()?;
        let place = Place { tree, project, state, run_folder, spare };
        if !cfg!(target_os = "linux") {
            return Err("only Linux can lay a copy over a folder".to_owned());
        }
        if place.tree.parent().is_none() {
            return Err("the project is the root of the file system".to_owned());
        }
        sweep(&place);
        let mut why = String::new();
        for store in std::iter::once(&place.run_folder).chain(&place.spare) {
            let snapshots = Snapshots { store: store.join(SNAPSHOTS), place: place.clone(), count: AtomicU64::new(0) };
            match snapshots.try_out(keeper).await {
                Ok(()) => return Ok(snapshots),
                // The first place is the usual one, and its reason tells more.
                Err(refusal) if why.is_empty() => why = refusal,
                Err(_) => {}
            }
        }
        Err(why)
    }

    async fn try_out(&self, keeper: &mut Keeper) -> Result<(), String> {
        struct Deaf;
        impl Sink for Deaf {
            fn stdout(&mut self, _: &Chunk) {}
            fn stderr(&mut self, _: &Chunk) {}
        }
        // The kernel allows it, and promises nothing.
        if self.store.starts_with(&self.place.tree) {
            return Err(format!("what checks write would lie in the project itself, in {}", self.store.display()));
        }
        let snapshot = self.begin(None, &[], &[]).map_err(|error| error.to_string())?;
        let nothing = Command::of_own_binary(Vec::new(), &self.place.project);
        let command = snapshot.command(&nothing);
        let (_silent, mut orders) = mpsc::unbounded_channel();
        let no_limit = Millis::ZERO;
        let job = Job {
            command: &command,
            stdin: b"",
            streams: Streams::Apart,
            timeout: PATIENCE,
            idle: no_limit,
            linger: no_limit,
        };
        match drive(keeper, &job, &mut Deaf, &mut orders).await.ending {
            Ending::Exited { code: 0 } => Ok(()),
            ending => Err(snapshot.refusal(&ending).unwrap_or_else(|| "the trial was cut short".to_owned())),
        }
    }

    /// Prepares a snapshot; without a plan and a program it only tries.
    fn begin(&self, plan: Option<&Plan<'_>>, caches: &[Cache], program: &[OsString]) -> io::Result<Snapshot> {
        let checkout = plan.and_then(|plan| plan.checkout);
        let (judges, fixed) = plan.map(|plan| (plan.judges.as_slice(), plan.fixed.as_slice())).unwrap_or_default();
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let folder = self.store.join(format!("{}-{number}", std::process::id()));
        make_private(&folder)?;
        // From here on it is removed again, whatever happens.
        let mut snapshot = Snapshot {
            // By the same clock as the files of the tree: what changed later changed beside the check.
            began: changed_at(&folder.metadata()?),
            layers: Vec::new(),
            tree: self.place.tree.clone(),
            project: self.place.project.clone(),
            checkout: checkout.map(|checkout| checkout.folder().to_owned()),
            put: judges.iter().map(|put| put.path.clone()).collect(),
            folder,
        };
        let layers = self.layers(checkout, &snapshot.folder)?;
        for layer in &layers {
            make_private(&layer.upper())?;
            make_private(&layer.work())?;
            // The copy has the permissions of what it is a copy of.
            std::fs::set_permissions(layer.upper(), layer.lower.metadata()?.permissions())?;
        }
        let mut caches = caches.to_vec();
        // A commit holds of them what people put there.
        if plan.is_some_and(|plan| plan.hides_own) && checkout.is_none() {
            caches.extend(self.place.without_own_files(&snapshot.folder)?);
        }
        let emptied = plan.filter(|_| checkout.is_none()).map(|plan| plan.emptied.as_slice()).unwrap_or_default();
        caches.extend(emptied.iter().enumerate().map(|(number, to)| {
            let from = snapshot.folder.join(format!("empty{number}"));
            Cache { from, to: to.clone() }
        }));
        for cache in &caches {
            make_private(&cache.from)?;
            // It was used now, by which it is known what may go. One whose time cannot be set may go too early.
            let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
            let times = Timestamps { last_access: now, last_modification: now };
            let _ = rustix::fs::utimensat(CWD, &cache.from, &times, AtFlags::SYMLINK_NOFOLLOW);
        }
        let (mut puts, mut sealed) = (judges.to_vec(), vec![self.place.state.clone().into_os_string()]);
        if !snapshot.folder.starts_with(&self.place.state) {
            sealed.push(snapshot.folder.clone().into_os_string());
        }
        let (mut aside, mut sockets) = (None, Vec::new());
        if let Some(checkout) = checkout {
            let live = snapshot.folder.join(LIVE);
            make_private(&live)?;
            puts.extend(checkout.borrowed_objects(&self.place.tree, &live)?);
            // Before the folder that it lies in: what is mounted below that is sealed by itself.
            sealed.insert(0, live.clone().into_os_string());
            aside = Some(live.into_os_string());
        } else {
            sockets = mounts::sockets(&self.place.tree).into_iter().map(PathBuf::into_os_string).collect();
        }
        let order = Order {
            layers: layers.clone(),
            tree: self.place.tree.clone(),
            aside,
            sockets,
            puts,
            fixed: fixed.iter().map(|path| path.clone().into_os_string()).collect(),
            caches,
            sealed,
            program: program.to_vec(),
            start: self.place.project.clone(),
        };
        let order = postcard::to_allocvec(&order).map_err(io::Error::other)?;
        std::fs::write(snapshot.folder.join(ORDER), order)?;
        std::fs::write(snapshot.folder.join(STATUS), "")?;
        snapshot.layers = layers;
        Ok(snapshot)
    }

    /// What is laid over what: the tree, what is mounted in it, and the parts of its repository that lie elsewhere.
    fn layers(&self, checkout: Option<&Checkout>, folder: &Path) -> io::Result<Vec<Layer>> {
        let tree = &self.place.tree;
        let lower = checkout.map_or(tree.as_path(), Checkout::folder);
        let mut places = vec![(tree.clone(), lower.to_owned())];
        let same = |path: PathBuf| (path.clone(), path);
        if checkout.is_none() {
            places.extend(mounts::below(tree)?.into_iter().map(same));
        }
        let (own, common) = tree::git_folders(tree).unwrap_or_default();
        for repository in [common, own].iter().filter_map(|path| path.canonicalize().ok()) {
            if !places.iter().any(|(at, _)| repository.starts_with(at)) {
                places.push(same(repository));
            }
        }
        places.sort_by_key(|(at, _)| at.components().count());
        let numbered = places.into_iter().enumerate();
        Ok(numbered.map(|(number, (at, lower))| Layer { at, lower, store: folder.join(number.to_string()) }).collect())
    }
}

impl Plan<'_> {
    /// The live tree.
    pub(crate) fn tree(&self) -> &Path {
        &self.snapshots.place.tree
    }

    /// Prepares the snapshot for a check that executes this command.
    pub(crate) fn begin(&self, spec: &CheckSpec, command: &Command) -> io::Result<Snapshot> {
        let caches = self.snapshots.caches(spec, &self.caches)?;
        let program: Vec<OsString> = std::iter::once(&command.program).chain(&command.args).cloned().collect();
        self.snapshots.begin(Some(self), &caches, &program)
    }
}

impl Snapshots {
    /// Removes what a check has in its caches: the next time it begins anew.
    pub fn forget(&self, spec: &CheckSpec, recognised: &[PathBuf]) -> io::Result<()> {
        let caches = self.caches(spec, recognised)?;
        let there = caches.iter().filter(|cache| cache.from.symlink_metadata().is_ok());
        there.into_iter().try_for_each(|cache| remove_path(&cache.from))
    }

    /// The cache folders of a check, each before those that lie in it: those that were recognised, and those of its terms.
    fn caches(&self, spec: &CheckSpec, recognised: &[PathBuf]) -> io::Result<Vec<Cache>> {
        let place = &self.place;
        let declared = spec.terms.caches.iter().map(|path| Path::new(path.as_str()));
        let mut folders: Vec<PathBuf> = Vec::new();
        for path in recognised.iter().map(PathBuf::as_path).chain(declared) {
            let path = place.inside().join(plain(path).ok_or_else(|| not_below("caches", path))?);
            if !folders.contains(&path) {
                folders.push(path);
            }
        }
        // One cache may lie in another.
        folders.sort_by_key(|path| path.components().count());
        Ok(folders.into_iter().map(|to| Cache { from: place.cache(spec, &to), to }).collect())
    }
}

impl Place {
    /// The project's place in the tree.
    fn inside(&self) -> &Path {
        self.project.strip_prefix(&self.tree).unwrap_or(Path::new(""))
    }

    /// A folder with nothing but settings in it that stands in the place of the project's `.ralph`, if it has one.
    fn without_own_files(&self, folder: &Path) -> io::Result<Option<Cache>> {
        let own = self.project.join(OWN_FILES);
        if !own.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return Ok(None);
        }
        let from = folder.join("own");
        make_private(&from)?;
        for entry in own.read_dir()? {
            let entry = entry?;
            let name = entry.file_name();
            let is_settings = name.to_str().is_some_and(|name| name.starts_with("settings") && name.ends_with(".json"));
            if is_settings && entry.file_type()?.is_file() {
                std::fs::copy(entry.path(), from.join(name))?;
            }
        }
        Ok(Some(Cache { from, to: self.inside().join(OWN_FILES) }))
    }

    /// Where a check's cache lies. Each check has its own: what one leaves there must not reach another that judges.
    fn cache(&self, spec: &CheckSpec, path: &Path) -> PathBuf {
        let key = [spec.id.as_str().as_bytes(), spec.command.as_bytes(), path.as_os_str().as_encoded_bytes()];
        self.state.join(CACHES).join(text::prefix(&text::hash(&key.join(&0)), 24))
    }
}

fn not_below(setting: &str, path: &Path) -> io::Error {
    let text =
        format!("{setting} names {}, which is no folder inside the project that checks may have", path.display());
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

/// A path below the project as people write it; `None` if it leads elsewhere, is the project itself, or is ralph's or
/// git's own.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) if !is_own(name) => plain.push(name),
            _ => return None,
        }
    }
    Some(plain).filter(|path| path.file_name().is_some())
}

fn is_own(name: &std::ffi::OsStr) -> bool {
    OWN.iter().any(|own| name == *own)
}

fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// When a file was last changed in any way, as seconds and nanoseconds.
fn changed_at(meta: &std::fs::Metadata) -> (i64, i64) {
    (meta.ctime(), meta.ctime_nsec())
}

/// Removes the snapshots of runs that nobody carries any more, and earlier ones of this run.
fn sweep(place: &Place) {
    let others = child_runs::run_folders(&place.state).into_iter().map(|(_, folder)| folder);
    let left = others.filter(|folder| *folder != place.run_folder && folder.join(SNAPSHOTS).exists());
    let dead = left.filter(|folder| child_runs::process_of(folder).is_none());
    for folder in dead.chain([place.run_folder.clone()]).chain(place.spare.clone()) {
        // What cannot be removed now is tried again by the next run.
        let _ = rooted::remove_path(&folder.join(SNAPSHOTS));
    }
}

/// One snapshot; what was written in it goes with it.
#[derive(Debug)]
pub(crate) struct Snapshot {
    folder: PathBuf,
    layers: Vec<Layer>,
    tree: PathBuf,
    project: PathBuf,
    /// The checkout that stands in the place of the live tree.
    checkout: Option<PathBuf>,
    began: (i64, i64),
    /// Paths at which judges were put.
    put: Vec<PathBuf>,
}

impl Snapshot {
    /// What the keeper starts in place of a command; it becomes that.
    pub(crate) fn command(&self, instead_of: &Command) -> Command {
        let own = Command::of_own_binary(vec![SNAPSHOT_ARGUMENT.into(), self.folder.clone().into()], &self.project);
        Command { set: instead_of.set.clone(), remove: instead_of.remove.clone(), ..own }
    }

    /// Why nothing was executed in it, if that is so.
    pub(crate) fn refusal(&self, ending: &Ending) -> Option<String> {
        match ending {
            Ending::Exited { .. } | Ending::Signalled { .. } => {}
            Ending::NotStarted { reason, .. } => return Some(reason.clone()),
            // Whoever was ended from outside was not refused anything.
            _ => return None,
        }
        match std::fs::read_to_string(self.folder.join(STATUS)) {
            Ok(status) if status == BEGUN => None,
            Ok(status) if status.is_empty() => {
                Some(format!("the helper that makes it {}", CheckEnding::from(ending.clone()).failure()))
            }
            Ok(status) => Some(status),
            Err(error) => Some(format!("its folder cannot be read: {error}")),
        }
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        // The next run removes what is left.
        let _ = rooted::remove_path(&self.folder);
        // Unless another one lies there.
        let _ = self.folder.parent().map(std::fs::remove_dir);
    }
}
