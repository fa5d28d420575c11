//! The end of a file that an agent's program writes about its session, in folders by year, month and day. It keeps
//! every session, so only the newest days are looked through.

use crate::plain_file::{self, Links};
use rustix::fs::CWD;
use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes that are read: the last word on limits stands near the end.
const TAIL: u64 = 256 << 10;
/// Days that are looked through: a session that ended just now began today or a few days ago.
const DAYS: usize = 8;

/// The end of the newest file below `folder/YEAR/MONTH/DAY` with this suffix; empty if there is none.
pub fn tail(folder: &Path, suffix: &str) -> Vec<u8> {
    let days = newest(folder).into_iter().flat_map(|year| newest(&year)).flat_map(|month| newest(&month));
    let names = |day: PathBuf| newest(&day).into_iter().find(|file| ends_with(file, suffix));
    days.take(DAYS).find_map(names).and_then(|file| read(&file).ok()).unwrap_or_default()
}

/// What is in a folder, the greatest name first, which is the newest here.
fn newest(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort_unstable_by(|one, other| other.cmp(one));
    paths
}

fn ends_with(file: &Path, suffix: &str) -> bool {
    file.file_name().is_some_and(|name| name.as_encoded_bytes().ends_with(suffix.as_bytes()))
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut file = plain_file::open(CWD, file, Links::Refuse)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_file_of_that_name_is_read_from_its_end() {
        let home = tempfile::tempdir().unwrap();
        let write = |day: &str, name: &str, bytes: &[u8]| {
            let folder = home.path().join(day);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(name), bytes).unwrap();
        };
        assert_eq!(tail(home.path(), "-a.jsonl"), b"");
        write("2026/11/14", "rollout-1-a.jsonl", b"old");
        write("2026/11/15", "rollout-2-a.jsonl", b"new");
        write("2026/11/15", "rollout-3-b.jsonl", b"other");
        write("2026/9/30", "rollout-4-c.jsonl", b"month of another form");
        assert_eq!(tail(home.path(), "-a.jsonl"), b"new");
        assert_eq!(tail(home.path(), "-d.jsonl"), b"");
        let mut long = vec![b'x'; usize::try_from(TAIL).unwrap()];
        long.extend_from_slice(b"last line");
        write("2026/11/15", "rollout-5-e.jsonl", &long);
        let read = tail(home.path(), "-e.jsonl");
        assert!(read.len() == usize::try_from(TAIL).unwrap() && read.ends_with(b"last line"));
    }

    #[test]
    fn c08_what_is_no_plain_file_is_not_read() {
        let home = tempfile::tempdir().unwrap();
        let day = home.path().join("2026/11/15");
        fs::create_dir_all(day.join("folder-a.jsonl")).unwrap();
        fs::write(home.path().join("secret"), "secret").unwrap();
        std::os::unix::fs::symlink(home.path().join("secret"), day.join("link-b.jsonl")).unwrap();
        assert_eq!(tail(home.path(), "-a.jsonl"), b"");
        assert_eq!(tail(home.path(), "-b.jsonl"), b"");
    }
}
