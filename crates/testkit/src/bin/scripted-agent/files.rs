//! What the agent does to the file system.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::actions::Stop;
use crate::system;
use crate::text::{expand, split_word, unescape};

/// Does the action if it is one of these.
pub fn perform(action: &str, rest: &str) -> Result<bool, Stop> {
    let (word, text) = split_word(rest);
    let named = |result: io::Result<()>| result.map_err(|error| Stop::Failed(format!("{action} {word}: {error}")));
    match action {
        "file" => named(write_whole(&expand(word)?, &unescape(text)?))?,
        "append" => named(append(&expand(word)?, &unescape(text)?))?,
        "touch" => named(append(&expand(word)?, b""))?,
        "remove" => named(remove(&expand(word)?))?,
        "mkdir" => named(fs::create_dir_all(expand(word)?))?,
        "symlink" => named(with_parents(&expand(text.trim())?, |path| symlink(expand_io(word)?, path)))?,
        "fifo" => named(with_parents(&expand(word)?, system::make_fifo))?,
        "chmod" => {
            let mode = u32::from_str_radix(word, 8).map_err(|_| Stop::Wrong(format!("not a mode: {word:?}")))?;
            named(fs::set_permissions(expand(text.trim())?, Permissions::from_mode(mode)))?;
        }
        "pidfile" => named(write_pid(&expand(word)?, std::process::id()))?,
        "wait-file" => wait(&expand(word)?)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Writes a file; a new one appears at once, so that whoever waits for its name finds it whole. One
/// that exists is written where it is: it keeps its mode, and a symlink, FIFO or device is followed.
pub fn write_whole(path: &str, bytes: &[u8]) -> io::Result<()> {
    with_parents(path, |path| {
        if fs::symlink_metadata(path).is_ok() {
            return OpenOptions::new().write(true).truncate(true).open(path)?.write_all(bytes);
        }
        let beside = format!("{}.{}.part", path.display(), std::process::id());
        fs::write(&beside, bytes)?;
        fs::rename(&beside, path)
    })
}

/// Writes a process id on its own line.
pub fn write_pid(path: &str, pid: u32) -> io::Result<()> {
    write_whole(path, format!("{pid}\n").as_bytes())
}

/// Creates an empty file that must not exist.
pub fn create_new(path: &str) -> io::Result<()> {
    with_parents(path, |path| OpenOptions::new().write(true).create_new(true).open(path).map(drop))
}

fn append(path: &str, bytes: &[u8]) -> io::Result<()> {
    with_parents(path, |path| OpenOptions::new().append(true).create(true).open(path)?.write_all(bytes))
}

/// A file or a whole folder; nothing there is as good as removed.
fn remove(path: &str) -> io::Result<()> {
    let result = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    result.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Waits until the file exists: how a test holds an agent at a point without a sleep.
fn wait(path: &str) -> Result<(), Stop> {
    let begun = Instant::now();
    while !Path::new(path).exists() {
        if begun.elapsed() > system::FOREVER {
            return Err(Stop::Unmet(format!("{path} never appeared")));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

fn with_parents(path: &str, then: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let path = Path::new(path);
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.exists()) {
        fs::create_dir_all(parent)?;
    }
    then(path)
}

fn expand_io(text: &str) -> io::Result<String> {
    expand(text).map_err(|stop| io::Error::other(format!("{stop:?}")))
}
