//! What stands at one path: a file by its content, a link with what it leads to, anything else by its kind.

use super::listing::Listed;
use super::{BEHIND_LINKS, Fingerprinter, Fold, Look, Trouble, head, joined, links, shown};
use crate::aside::Stop;
use crate::plain_file::{self, Links};
use crate::snapshot;
use ralph_core::protect::Change;
use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, FileType, Stat};
use sha2::{Digest as _, Sha256};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Bytes read at once: large enough that the calls do not count.
const CHUNK: usize = 128 << 10;
/// Bytes of a file that is large enough to have holes worth passing over.
const LARGE: u64 = 64 << 20;
/// Bytes behind links to folders that are read; beyond them a file is known by its state, which changes with its content.
const MOST_BYTES_BEHIND_LINKS: u64 = 1 << 30;

pub(crate) type Hash = [u8; 32];

/// What cannot stay the same when a content changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileState {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) size: u64,
    pub(super) modified: (i64, i64),
    pub(super) changed: (i64, i64),
}

/// A name in an open folder.
pub(crate) type Place<'a> = (BorrowedFd<'a>, &'a OsStr);

/// What tells a file from every other one, whatever its name.
pub(crate) fn file_of(stat: &Stat) -> (u64, u64) {
    let state = FileState::of(stat);
    (state.device, state.inode)
}

/// What stands at a path: a letter for the kind, and bytes that differ when it differs.
pub(super) struct Seen {
    pub(super) kind: u8,
    pub(super) content: Vec<u8>,
}

impl Fingerprinter {
    /// What stands at a listed path, and what is to be remembered of it.
    pub(super) fn see(
        &mut self,
        look: &Look<'_>,
        fold: &mut Fold,
        listed: &Listed<'_>,
        place: Place<'_>,
        at: &Path,
        known: Option<&(FileState, Hash)>,
    ) -> Result<(Seen, Option<(FileState, Hash)>), Trouble> {
        let (folder, name) = place;
        let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(errno) => return absent(listed.path, errno.into()),
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        // A folder stands here for the repository in it, and is looked at with what is in it.
        if kind != FileType::Directory && !self.outputs.contains(&file_of(&stat)) {
            self.stamp(look, fold, &stat);
        }
        let seen = match kind {
            FileType::RegularFile => {
                if fold.round >= BEHIND_LINKS {
                    fold.bytes_behind = fold.bytes_behind.saturating_add(FileState::of(&stat).size);
                }
                if fold.bytes_behind > MOST_BYTES_BEHIND_LINKS {
                    return Ok((Seen { kind: b's', content: FileState::of(&stat).hash().to_vec() }, None));
                }
                return self.see_file(look, listed.path, place, &stat, known);
            }
            FileType::Symlink => match rustix::fs::readlinkat(folder, name, Vec::new()) {
                Ok(target) => return self.see_link(look, fold, listed, target.as_bytes(), at, known),
                Err(errno) => return absent(listed.path, errno.into()),
            },
            // Its files follow in a listing of their own.
            FileType::Directory if listed.is_repository() => Seen { kind: b'r', content: head::fingerprint(at) },
            other => {
                if links::blocks(other) && !listed.staged.is_empty() {
                    let how = Change::Blocks { what: plain_file::kind(other).to_owned() };
                    fold.tell(&joined(&fold.section, listed.path), how);
                }
                Seen { kind: b'?', content: plain_file::kind(other).as_bytes().to_vec() }
            }
        };
        Ok((seen, None))
    }

    fn see_file(
        &mut self,
        look: &Look<'_>,
        path: &[u8],
        place: Place<'_>,
        stat: &Stat,
        known: Option<&(FileState, Hash)>,
    ) -> Result<(Seen, Option<(FileState, Hash)>), Trouble> {
        if self.outputs.contains(&file_of(stat)) {
            return Ok((Seen { kind: b'o', content: Vec::new() }, None));
        }
        let kind = if stat.st_mode & 0o111 != 0 { b'x' } else { b'f' };
        let state = FileState::of(stat);
        let (content, known) = match known.filter(|(before, _)| *before == state) {
            Some((_, content)) => (*content, known.copied()),
            None => self.content(look, path, place, state)?,
        };
        Ok((Seen { kind, content: content.to_vec() }, known))
    }

    /// A link, with the file that it leads to; a folder is looked at later.
    fn see_link(
        &mut self,
        look: &Look<'_>,
        fold: &mut Fold,
        listed: &Listed<'_>,
        target: &[u8],
        at: &Path,
        known: Option<&(FileState, Hash)>,
    ) -> Result<(Seen, Option<(FileState, Hash)>), Trouble> {
        let end = links::end_of(at.parent().unwrap_or(look.root), Path::new(OsStr::from_bytes(target)));
        let mut link = Seen { kind: b'l', content: target.to_vec() };
        let inside = end.path.strip_prefix(look.root).map_or(&[][..], |path| path.as_os_str().as_bytes());
        // The settings are the only files of people in that folder.
        let is_of_ralph = self.is_own(inside);
        let is_settings = inside.ends_with(b"/settings.json") || inside.ends_with(b"/settings.local.json");
        if look.is_own(&end.path) || (is_of_ralph && !is_settings) {
            // What lies behind a link is nothing that the tree could do without.
            if fold.round < BEHIND_LINKS {
                fold.tell(&joined(&fold.section, listed.path), Change::Leads { to: end.path.display().to_string() });
            }
            return Ok((link, None));
        }
        let is_nobodys = is_of_ralph || links::is_of_the_kernel(&end.path);
        let Some(stat) = end.stat.filter(|_| !is_nobodys) else { return Ok((link, None)) };
        let kind = FileType::from_raw_mode(stat.st_mode);
        let (behind, known) = match kind {
            FileType::RegularFile => {
                if !self.outputs.contains(&file_of(&stat)) {
                    self.stamp(look, fold, &stat);
                }
                self.see_file(look, listed.path, (rustix::fs::CWD, end.path.as_os_str()), &stat, known)?
            }
            other => {
                if other == FileType::Directory {
                    fold.linked.insert(end.path);
                }
                (Seen { kind: b'?', content: plain_file::kind(other).as_bytes().to_vec() }, None)
            }
        };
        link.content.extend([0, behind.kind]);
        link.content.extend(behind.content);
        Ok((link, known))
    }

    /// Reads a file. Its content is remembered if its state will tell whether it changes.
    fn content(
        &mut self,
        look: &Look<'_>,
        path: &[u8],
        (folder, name): Place<'_>,
        state: FileState,
    ) -> Result<(Hash, Option<(FileState, Hash)>), Trouble> {
        let read = plain_file::open(folder, name, Links::Refuse).and_then(|file| {
            // The state from before the reading: a change meanwhile makes the next look read again.
            let state = FileState::of(&rustix::fs::fstat(&file)?);
            Ok((state, snapshot::hides_from_checks(&file), hash_file(file, &mut self.chunk, look.stop)?))
        });
        let read = match read {
            Ok((_, true, _)) => {
                let path = shown(path);
                return Err(Trouble::Fault(format!(
                    "{path} carries a mark (overlay.metacopy or overlay.whiteout) that hides it from checks; remove it \
                     with setfattr -x"
                )));
            }
            Ok((state, false, content)) => Ok((state, content)),
            Err(error) => Err(error),
        };
        match read {
            Ok((_, None)) => Err(Trouble::Stopped),
            Ok((state, Some(content))) => {
                let settled = state.changed_millis() < look.settled.0;
                Ok((content, settled.then_some((state, content))))
            }
            Err(error) if plain_file::is_fault(&error) => {
                Err(Trouble::Fault(format!("{} cannot be read: {error}", shown(path))))
            }
            // What may not be read is known by its state, which changes with its content.
            Err(_) => Ok((state.hash(), None)),
        }
    }
}

/// What could not be looked at is not there, unless the machine is why.
fn absent(path: &[u8], error: io::Error) -> Result<(Seen, Option<(FileState, Hash)>), Trouble> {
    if plain_file::is_fault(&error) {
        return Err(Trouble::Fault(format!("{} cannot be looked at: {error}", shown(path))));
    }
    Ok((Seen::nothing(), None))
}

/// The hash of a file's content; nothing if it was told to stop. Disk images are mostly holes, which nobody wrote and
/// nobody has to read: of a file as large as they are, what is not zero is hashed with its place.
pub(crate) fn hash_file(mut file: File, chunk: &mut Vec<u8>, stop: &Stop) -> io::Result<Option<Hash>> {
    chunk.resize(CHUNK, 0);
    let size = file.metadata()?.len();
    if size >= LARGE {
        return hash_written(&file, size, chunk, stop);
    }
    let mut hasher = Sha256::new();
    while !stop.is_set() {
        match file.read(chunk) {
            Ok(0) => return Ok(Some(hasher.finalize().into())),
            Ok(count) => hasher.update(chunk.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The hash of what was written of a file, whether its zeros are holes or not.
fn hash_written(file: &File, size: u64, chunk: &mut [u8], stop: &Stop) -> io::Result<Option<Hash>> {
    let mut hasher = Sha256::new();
    hasher.update(size.to_be_bytes());
    let step = chunk.len() as u64;
    let mut at = 0;
    while !stop.is_set() {
        at = match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(at)) {
            Ok(data) => data.max(at) / step * step,
            // Nothing but a hole is left.
            Err(rustix::io::Errno::NXIO) => return Ok(Some(hasher.finalize().into())),
            // Not every file system knows its holes.
            Err(_) => at,
        };
        let count = read_full(file, chunk, at)?;
        let read = chunk.get(..count).unwrap_or_default();
        if read.is_empty() {
            return Ok(Some(hasher.finalize().into()));
        }
        if read.iter().any(|byte| *byte != 0) {
            hasher.update(at.to_be_bytes());
            hasher.update(read);
        }
        at += step;
    }
    Ok(None)
}

/// Reads at a place until the buffer is full or the file ends.
fn read_full(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    let mut count = 0;
    while let Some(rest) = into.get_mut(count..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at + count as u64) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

impl Seen {
    pub(super) fn nothing() -> Seen {
        Seen { kind: b'-', content: Vec::new() }
    }
}

impl FileState {
    #[allow(clippy::unnecessary_cast, reason = "the fields' widths differ between systems")]
    pub(super) fn of(stat: &Stat) -> FileState {
        FileState {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// For what is not read.
    fn hash(&self) -> Hash {
        Sha256::digest(format!("{self:?}")).into()
    }

    pub(super) fn changed_millis(&self) -> i64 {
        self.changed.0.saturating_mul(1000).saturating_add(self.changed.1 / 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_not_read_and_zeros_count_as_holes() {
        let folder = tempfile::tempdir().unwrap();
        let hash = |name: &str, size: u64, writes: &[(u64, &[u8])]| {
            let path = folder.path().join(name);
            let file = File::options().create(true).truncate(true).write(true).open(&path).unwrap();
            file.set_len(size).unwrap();
            writes.iter().for_each(|(at, bytes)| file.write_all_at(bytes, *at).unwrap());
            hash_file(File::open(&path).unwrap(), &mut Vec::new(), &Stop::default()).unwrap().unwrap()
        };
        let began = std::time::Instant::now();
        // Whoever reads all of it takes hours.
        let image = hash("image", 1 << 40, &[(5 << 30, b"x")]);
        assert!(began.elapsed().as_secs() < 60);
        assert_eq!(image, hash("zeros", 1 << 40, &[(5 << 30, b"x"), (9 << 30, &[0; 300_000])]));
        for (size, writes) in [
            (1 << 40, &[][..]),
            ((1 << 40) + 1, &[(5 << 30, &b"x"[..])]),
            (1 << 40, &[((5 << 30) + 1, b"x")]),
            (1 << 40, &[(5 << 30, b"x"), (6 << 30, b"y")]),
        ] {
            assert_ne!(image, hash("other", size, writes), "{size} {writes:?}");
        }
    }
}
