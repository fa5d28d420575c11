//! What a copy of a folder does not contain: file systems that are mounted below it, and the other ends of sockets.

use std::io;
use std::path::{Path, PathBuf};

/// More than this many in one project are somebody's container storage, not a project.
#[cfg(target_os = "linux")]
const MOST: usize = 32;

/// The folders and files below `tree` at which something else is mounted, those that contain others first.
#[cfg(target_os = "linux")]
pub(super) fn below(tree: &Path) -> io::Result<Vec<PathBuf>> {
    let table = std::fs::read("/proc/self/mountinfo")?;
    let mut found: Vec<PathBuf> = points(&table).filter(|point| point != tree && point.starts_with(tree)).collect();
    found.sort_unstable();
    found.dedup();
    // One that is hidden by another is listed as well.
    found.retain(|point| is_mounted(point));
    if found.len() > MOST {
        return Err(io::Error::other(format!("{} file systems are mounted below it", found.len())));
    }
    Ok(found)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn below(_: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(Vec::new())
}

#[cfg(target_os = "linux")]
fn is_mounted(point: &Path) -> bool {
    use rustix::fs::{AtFlags, StatxAttributes, StatxFlags};
    let looked = rustix::fs::statx(rustix::fs::CWD, point, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty());
    looked.is_ok_and(|found| {
        // A kernel that cannot say is believed to have meant what it listed.
        !found.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT)
            || found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)
    })
}

/// More than this many sockets in one project are connections, not services.
const MOST_SOCKETS: usize = 64;

/// The sockets below `tree` at which somebody listens.
pub(super) fn sockets(tree: &Path) -> Vec<PathBuf> {
    // Without the table, which only Linux has, none is found, and none is needed.
    let table = std::fs::read("/proc/net/unix").unwrap_or_default();
    let mut found: Vec<PathBuf> = socket_paths(&table).filter(|path| path.starts_with(tree)).collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(MOST_SOCKETS);
    found
}

/// The paths in the kernel's table of sockets, the last of eight columns.
fn socket_paths(table: &[u8]) -> impl Iterator<Item = PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    let lines = table.split(|byte| *byte == b'\n');
    let paths = lines.filter_map(|line| memchr::memmem::find(line, b" /").and_then(|at| line.get(at + 1..)));
    paths.map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(path)))
}

/// The mount points of the kernel's table.
#[cfg(any(test, target_os = "linux"))]
fn points(table: &[u8]) -> impl Iterator<Item = PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let lines = table.split(|byte| *byte == b'\n');
    let fields = lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    fields.map(|field| PathBuf::from(std::ffi::OsString::from_vec(unescaped(field))))
}

/// Blanks, newlines and backslashes are written as three octal digits.
#[cfg(any(test, target_os = "linux"))]
fn unescaped(mut field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    while let Some((first, rest)) = field.split_first() {
        field = rest;
        let digits = rest.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                field = rest.get(3..).unwrap_or_default();
            }
            None => plain.push(*first),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_with_a_path_are_found_in_the_table() {
        let table = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
                      0000: 00000002 00000000 00010000 0001 01 726 /p/a b\n\
                      0000: 00000003 00000000 00000000 0001 03 727\n\
                      0000: 00000003 00000000 00000000 0001 03 728 @abstract\n";
        assert_eq!(socket_paths(table).collect::<Vec<_>>(), [Path::new("/p/a b")]);
    }

    #[test]
    fn mount_points_with_odd_names_are_read_as_they_are() {
        let table = b"36 35 98:0 / /mnt rw - ext4 /dev/sda rw\n37 35 0:5 / /a\\040b\\134c\\012 rw - tmpfs none rw\n";
        assert_eq!(points(table).collect::<Vec<_>>(), [Path::new("/mnt"), Path::new("/a b\\c\n")]);
    }
}
