//! The helper: it enters a mount namespace of its own, lays copies over the tree, and becomes the check.
//!
//! It is the process that the keeper started, before and after: nobody stands between keeper and check, so signals,
//! exit codes and the end of the tree are what they are without a snapshot. When the last process in the namespace is
//! gone, the kernel removes the mounts; nobody else has seen them.

use super::order::{Cache, Judge, Layer, Order, Put};
use super::rooted::{New, Parents, Rooted};
use super::{BEGUN, ORDER, STATUS};
use crate::process;
use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::CapabilitySet;
use std::collections::BTreeSet;
use std::ffi::{CString, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The exit code of a helper that executed nothing; why stands in the status file.
const NOTHING_EXECUTED: u8 = 125;
/// How an overlay is mounted, best first; a kernel that does not know an option refuses all of them. Nothing has to
/// reach the disk (`volatile`), and folders can be renamed (`redirect_dir`), which only the system's administrator is
/// granted.
const OPTIONS: &[&str] =
    &["volatile,index=off,metacopy=off,redirect_dir=on", "index=off,metacopy=off,redirect_dir=on", "index=off"];
const OPTIONS_OF_USERS: &[&str] = &["volatile,index=off,userxattr", "index=off,userxattr", "userxattr"];

/// The helper's whole life, if it does not become the check. The argument names the folder of its order.
pub fn snapshot_main(mut args: impl Iterator<Item = OsString>) -> u8 {
    let Some(folder) = args.next().map(PathBuf::from) else { return NOTHING_EXECUTED };
    // Opened before anything is mounted, and closed when the check is executed.
    let Ok(mut status) = OpenOptions::new().write(true).open(folder.join(STATUS)) else { return NOTHING_EXECUTED };
    match obey(&folder, &mut status) {
        Ok(()) => 0,
        Err(why) => {
            // Without a word in it the caller knows all the same that nothing was executed.
            let _ = status.set_len(0).and_then(|()| io::Seek::rewind(&mut status));
            let _ = status.write_all(why.as_bytes());
            NOTHING_EXECUTED
        }
    }
}

fn obey(folder: &Path, status: &mut File) -> Result<(), String> {
    let order = std::fs::read(folder.join(ORDER)).map_err(|error| format!("its order could not be read: {error}"))?;
    let order: Order = postcard::from_bytes(&order).map_err(|_| "its order makes no sense".to_owned())?;
    let rights = Rights::enter()?;
    lay_copies(&order, &rights)?;
    let tree = Rooted::open(&order.tree).map_err(|error| told("the copy could not be opened", &error))?;
    for put in &order.puts {
        put_over(&tree, &order.tree, put)
            .map_err(|error| format!("{} could not be put over the copy: {error}", put.path.display()))?;
    }
    if rights.can_rename_folders() {
        pin_folders(&tree, &order).map_err(|error| told("the folders of judges could not be kept in place", &error))?;
    }
    for cache in &order.caches {
        mount_cache(&tree, cache)
            .map_err(|error| format!("the cache {} could not be mounted: {error}", cache.to.display()))?;
    }
    for judge in order.fixed.iter().map(Path::new) {
        fix(&tree, judge).map_err(|error| format!("{} could not be made read-only: {error}", judge.display()))?;
    }
    for sealed in order.sealed.iter().map(Path::new) {
        seal(sealed).map_err(|error| format!("{} could not be made read-only: {error}", sealed.display()))?;
    }
    let Some((program, args)) = order.program.split_first() else { return try_it(&tree) };
    rustix::process::chdir(&order.start)
        .map_err(|errno| format!("the folder {} is not in it: {errno}", order.start.display()))?;
    rights.give_back();
    status.write_all(BEGUN.as_bytes()).map_err(|error| told("its status could not be told", &error))?;
    let error = process::become_program(program, args);
    Err(format!("{} could not be executed in it: {error}", program.display()))
}

fn told(what: &str, error: &dyn std::fmt::Display) -> String {
    format!("{what}: {error}")
}

/// What the process may do since it entered its namespaces.
struct Rights {
    /// What it could do before, if it entered a namespace for users, where it could do everything.
    before: Option<CapabilitySet>,
    options: &'static [&'static str],
}

impl Rights {
    /// Enters namespaces, with as few new rights as will do.
    fn enter() -> Result<Rights, String> {
        let why = |error: io::Error| format!("this machine lets ralph make no mount namespace ({error})");
        let rights = match process::unshare_mounts(false) {
            Ok(()) if is_administrator() => Rights { before: None, options: OPTIONS },
            Ok(()) => Rights { before: None, options: OPTIONS_OF_USERS },
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let before = rustix::thread::capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.permitted);
                let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
                process::unshare_mounts(true).map_err(why)?;
                // Without this, nobody but an administrator may name a group.
                map("setgroups", "deny")?;
                map("uid_map", &format!("{user} {user} 1"))?;
                map("gid_map", &format!("{group} {group} 1"))?;
                Rights { before: Some(before), options: OPTIONS_OF_USERS }
            }
            Err(error) => return Err(why(error)),
        };
        // What is mounted here is seen by nobody else; what the system unmounts goes here too.
        rustix::mount::mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
            .map_err(|errno| why(errno.into()))?;
        Ok(rights)
    }

    /// Whether folders of the live tree can be renamed in the copy.
    fn can_rename_folders(&self) -> bool {
        std::ptr::eq(self.options, OPTIONS)
    }

    /// Makes sure that the check can do no more than without a snapshot. An ordinary user loses everything with the
    /// next program; one whose number is 0 would keep it.
    fn give_back(&self) {
        let Some(before) = self.before else { return };
        for capability in CapabilitySet::all().difference(before).iter() {
            // One that the kernel does not know was not gained.
            let _ = rustix::thread::remove_capability_from_bounding_set(capability);
        }
    }
}

/// Whether user numbers mean here what they mean to the system itself: only then may attributes of its own be written.
fn is_administrator() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

fn map(file: &str, text: &str) -> Result<(), String> {
    std::fs::write(Path::new("/proc/self").join(file), text).map_err(|error| {
        format!("this machine lets ordinary users do nothing in a namespace of their own ({file}: {error})")
    })
}

/// A name of an open file that every call understands, whatever characters its path has.
fn name_of(fd: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

fn open_place(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// A socket, without connecting to it.
fn open_socket(path: &Path) -> Result<OwnedFd, Errno> {
    let socket = rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let is_socket = FileType::from_raw_mode(rustix::fs::fstat(&socket)?.st_mode) == FileType::Socket;
    if is_socket { Ok(socket) } else { Err(Errno::NOTSOCK) }
}

fn lay_copies(order: &Order, rights: &Rights) -> Result<(), String> {
    struct Open<'a> {
        layer: &'a Layer,
        /// Lower, upper and work folder.
        places: [OwnedFd; 3],
    }
    let open = |path: &Path| open_place(path).map_err(|error| format!("{} cannot be opened: {error}", path.display()));
    // All are opened before the first is mounted: it may hide the others.
    let layers = order
        .layers
        .iter()
        .map(|layer| Ok(Open { layer, places: [open(&layer.lower)?, open(&layer.upper())?, open(&layer.work())?] }));
    let layers: Vec<Open<'_>> = layers.collect::<Result<_, String>>()?;
    let sockets = order.sockets.iter().map(Path::new);
    // One that is gone by now is not missed.
    let sockets: Vec<(OwnedFd, &Path)> = sockets.filter_map(|path| Some((open_socket(path).ok()?, path))).collect();
    // Later it would have the copy on top of it.
    if let Some(to) = order.aside.as_deref().map(Path::new) {
        let mounted = rustix::mount::mount_bind_recursive(order.tree.as_path(), to);
        mounted.map_err(|errno| format!("the live tree could not be mounted beside it: {errno}"))?;
    }
    for Open { layer, places: [lower, upper, work] } in &layers {
        let forbidden = forbidden_in(&layer.lower).map_err(|errno| format!("{}: {errno}", layer.lower.display()))?;
        let overlay = |options: &&str| {
            let (lower, upper, work) = (name_of(lower), name_of(upper), name_of(work));
            let data = format!("lowerdir={lower},upperdir={upper},workdir={work},{options}");
            let data = CString::new(data).map_err(|_| Errno::INVAL)?;
            rustix::mount::mount("overlay", layer.at.as_path(), "overlay", forbidden, data.as_c_str())
        };
        let mut refusal = Errno::INVAL;
        let mounted = rights.options.iter().any(|options| overlay(options).map_err(|errno| refusal = errno).is_ok());
        if !mounted {
            return Err(format!("no copy-on-write view of {} could be mounted: {refusal}", layer.at.display()));
        }
    }
    for (live, path) in &sockets {
        let bound = open_socket(path).and_then(|copy| rustix::mount::mount_bind(name_of(live), name_of(&copy)));
        bound.map_err(|errno| format!("the socket {} could not be mounted in it: {errno}", path.display()))?;
    }
    Ok(())
}

/// Makes a path what it must be; what it is already is left alone, so that links of people stay links.
fn put_over(tree: &Rooted, root: &Path, put: &Put) -> io::Result<()> {
    let path = root.join(&put.path);
    let file = |content: &[u8], executable: bool| {
        // Links are followed: what the check will find there counts.
        let is =
            path.metadata().is_ok_and(|now| now.is_file() && (now.permissions().mode() & 0o100 != 0) == executable)
                && std::fs::read(&path).is_ok_and(|now| now == content);
        let mode = Mode::from_raw_mode(if executable { 0o755 } else { 0o644 });
        if is { Ok(()) } else { tree.replace(&put.path, Parents::Forced, New::Bytes(content, mode)) }
    };
    match &put.what {
        Judge::File { content, executable } => file(content, *executable),
        Judge::Kept { file: kept, executable } => file(&std::fs::read(kept)?, *executable),
        Judge::Link { target } if std::fs::read_link(&path).is_ok_and(|now| now == Path::new(target)) => Ok(()),
        Judge::Link { target } => tree.replace(&put.path, Parents::Forced, New::Link(target)),
        Judge::Nothing if path.symlink_metadata().is_err() => Ok(()),
        Judge::Nothing => {
            // What is found through a link goes with the link.
            tree.folder(put.path.parent().unwrap_or(Path::new("")), Parents::Forced)?;
            tree.remove(&put.path)
        }
    }
}

fn mount_cache(tree: &Rooted, cache: &Cache) -> io::Result<()> {
    let (from, to) = (open_place(&cache.from)?, tree.folder(&cache.to, Parents::Forced)?);
    Ok(rustix::mount::mount_bind(name_of(&from), name_of(&to))?)
}

/// Makes a folder read-only for all in this namespace.
fn seal(folder: &Path) -> io::Result<()> {
    rustix::mount::mount_bind_recursive(folder, folder)?;
    make_read_only(folder)
}

/// Makes the mount at a path read-only. What it forbids already must stay forbidden, or the kernel refuses.
fn make_read_only(mounted: &Path) -> io::Result<()> {
    let flags = MountFlags::BIND | MountFlags::RDONLY | forbidden_in(mounted)?;
    Ok(rustix::mount::mount_remount(mounted, flags, "")?)
}

/// Makes a file of the copy one that can be neither written nor replaced. What is no plain file is left alone.
fn fix(tree: &Rooted, path: &Path) -> io::Result<()> {
    let Some(file) = tree.place(path)? else { return Ok(()) };
    rustix::mount::mount_bind(name_of(&file), name_of(&file))?;
    // Opened again, for the first look is at what lies below the mount.
    let Some(file) = tree.place(path)? else { return Ok(()) };
    make_read_only(Path::new(&name_of(&file)))
}

/// Makes every folder above a fixed file a mount: one that is mounted cannot be renamed, and its files with it.
fn pin_folders(tree: &Rooted, order: &Order) -> io::Result<()> {
    let above = order.fixed.iter().flat_map(|path| Path::new(path).ancestors().skip(1));
    // In the order of paths a folder stands before what is in it.
    let folders: BTreeSet<&Path> = above.filter(|folder| !folder.as_os_str().is_empty()).collect();
    for folder in folders {
        // One that is not there, or is a link, holds no judge.
        let Ok(folder) = tree.folder(folder, Parents::Needed) else { continue };
        rustix::mount::mount_bind(name_of(&folder), name_of(&folder))?;
    }
    Ok(())
}

/// What the mount that a folder lies in forbids: a program on a disk for data stays one that cannot be executed.
fn forbidden_in(folder: &Path) -> Result<MountFlags, Errno> {
    let now = rustix::fs::statvfs(folder)?.f_flag;
    let pairs = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ];
    Ok(pairs.iter().filter(|(is, _)| now.contains(*is)).map(|(_, forbids)| *forbids).collect())
}

/// Whether a file can be made in the copy, and removed again: a folder of a group or user that the namespace does not
/// know can be read, but not copied.
fn try_it(tree: &Rooted) -> Result<(), String> {
    let name = Path::new(".ralph-try");
    match tree.replace(name, Parents::Needed, New::Bytes(b"", Mode::RUSR)).and_then(|()| tree.remove(name)) {
        // Its permissions speak against it, as they do in the live tree.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        tried => tried.map_err(|error| format!("nothing can be written in a copy-on-write view of it: {error}")),
    }
}
