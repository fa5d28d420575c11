//! Whether a process that is recorded as the carrier of a run is one. Records lie where anybody can write; what
//! counts is what the kernel says of the process.

use crate::identity::Identity;
use std::path::Path;

/// Whether this process holds the lock of the run's folder, and opened it itself: a descriptor that was inherited by
/// `exec` is not marked to be closed by the next one.
#[cfg(target_os = "linux")]
pub(super) fn holds_lock(identity: &Identity, run_folder: &Path) -> bool {
    use crate::plain_file;
    let Ok(folder) = rustix::fs::lstat(run_folder) else { return false };
    let process = Path::new("/proc").join(identity.pid.to_string());
    let descriptors = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    let held = descriptors.filter(|entry| {
        let here = |stat: rustix::fs::Stat| plain_file::inode(&stat) == plain_file::inode(&folder);
        rustix::fs::stat(entry.path()).is_ok_and(here)
    });
    let told = |entry: std::fs::DirEntry| std::fs::read_to_string(process.join("fdinfo").join(entry.file_name())).ok();
    let locked = held.filter_map(told).any(|text| is_own_lock(&text));
    // The number may have been given away meanwhile.
    locked && identity.is_alive()
}

/// Whether a descriptor, by its lines in `/proc/PID/fdinfo`, is closed on `exec` and holds a lock that excludes others.
#[cfg(target_os = "linux")]
fn is_own_lock(text: &str) -> bool {
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|octal| i32::from_str_radix(octal.trim(), 8).ok()).unwrap_or(0);
    let locks = text.lines().filter_map(|line| line.strip_prefix("lock:"));
    let whole = |lock: &str| lock.contains(" FLOCK ") && lock.contains(" WRITE ");
    flags & libc::O_CLOEXEC != 0 && locks.into_iter().any(whole)
}

/// Whether this process executes the same program as the one that asks: the same file, or one with the same content.
#[cfg(target_os = "linux")]
pub(super) fn is_this_program(identity: &Identity) -> bool {
    use std::fs::File;
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::fs::MetadataExt as _;
    // Opened by the kernel's own link: the file that is executed, even if another stands at its path by now.
    let open = |process: &str| File::open(Path::new("/proc").join(process).join("exe"));
    let same = || {
        let (own, other) = (open("self")?, open(&identity.pid.to_string())?);
        let (here, there) = (own.metadata()?, other.metadata()?);
        if (here.dev(), here.ino()) == (there.dev(), there.ino()) {
            return Ok::<bool, std::io::Error>(true);
        }
        let (mut own, mut other) = (BufReader::new(own), BufReader::new(other));
        while here.len() == there.len() {
            let (one, two) = (own.fill_buf()?, other.fill_buf()?);
            let count = one.len().min(two.len());
            if one.get(..count) != two.get(..count) {
                return Ok(false);
            }
            if count == 0 {
                return Ok(one.len() == two.len());
            }
            own.consume(count);
            other.consume(count);
        }
        Ok(false)
    };
    same().unwrap_or(false) && executes_nothing_else(identity.pid) && identity.is_alive()
}

/// Whether what a process has mapped to be executed is what this one has, but for the program's own file: a library that
/// is preloaded would be another program in the clothes of this one.
#[cfg(target_os = "linux")]
fn executes_nothing_else(pid: i32) -> bool {
    use std::collections::HashSet;
    use std::os::unix::fs::MetadataExt as _;
    let executed = |process: &str| -> Option<HashSet<(String, u64)>> {
        let folder = Path::new("/proc").join(process);
        let program = folder.join("exe").metadata().ok()?.ino();
        let maps = std::fs::read_to_string(folder.join("maps")).ok()?;
        let parse = |line: &str| {
            // Addresses, rights, offset, device, inode.
            let fields: Vec<&str> = line.split_ascii_whitespace().take(5).collect();
            let &[_, rights, _, device, inode] = fields.as_slice() else { return None };
            let inode: u64 = inode.parse().ok()?;
            (rights.contains('x') && inode != 0 && inode != program).then(|| (device.to_owned(), inode))
        };
        Some(maps.lines().filter_map(parse).collect())
    };
    match (executed(&pid.to_string()), executed("self")) {
        (Some(other), Some(own)) => other.is_subset(&own),
        _ => false,
    }
}

/// Nobody tells who holds a lock, only whether somebody does.
#[cfg(not(target_os = "linux"))]
pub(super) fn holds_lock(_: &Identity, run_folder: &Path) -> bool {
    matches!(crate::lock::hold(run_folder), Ok(None))
}

/// Nobody tells what a process executes.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_this_program(_: &Identity) -> bool {
    true
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_an_exclusive_lock_on_a_descriptor_of_its_own_counts() {
        let text = |flags: &str, lock: &str| format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t29\n{lock}");
        let write = "lock:\t1: FLOCK  ADVISORY  WRITE 42 fe:01:77 0 EOF\n";
        assert!(is_own_lock(&text("02300000", write)));
        for (flags, lock) in [
            ("0300000", write),
            ("02300000", ""),
            ("02300000", "lock:\t1: FLOCK  ADVISORY  READ 42 fe:01:77 0 EOF\n"),
            ("02300000", "lock:\t1: POSIX  ADVISORY  WRITE 42 fe:01:77 0 EOF\n"),
            ("", write),
        ] {
            assert!(!is_own_lock(&text(flags, lock)), "{flags} {lock}");
        }
    }
}
