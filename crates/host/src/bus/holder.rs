//! Who holds a lock that does not come free: for an error message, so a guess is better than nothing.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;

/// The process that holds the lock of a file, as people would look for it.
pub(super) fn of(file: &File) -> String {
    let inode = file.metadata().map_or(0, |meta| meta.ino());
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let Some(pid) = holder(&locks, inode) else { return "another process".to_owned() };
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    match name.trim() {
        "" => format!("process {pid}"),
        name => format!("process {pid} ({})", ralph_core::text::for_terminal(name)),
    }
}

/// Finds the pid in `1: FLOCK  ADVISORY  WRITE 4242 fd:01:131 0 EOF`; who waits has an arrow before FLOCK.
fn holder(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (kind, pid, place) = (words.next()?, words.nth(2)?, words.next()?);
        let found: u64 = place.rsplit(':').next()?.parse().ok()?;
        (kind == "FLOCK" && found == inode).then(|| pid.parse().ok()).flatten().filter(|pid| *pid > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_told_from_those_who_wait() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 fd:01:131 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 8 fd:01:131 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 9 fd:01:132 0 EOF\n4: FLOCK  ADVISORY  WRITE 10 fd:01:131 0 EOF\n";
        assert_eq!(holder(locks, 131), Some(10));
        assert_eq!(holder(locks, 133), None);
        assert_eq!(holder("", 131), None);
    }
}
