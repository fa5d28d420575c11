//! Which file a program's name means.

use crate::plain_file;
use rustix::fs::Access;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What stands for `PATH` where it is not set.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The file that a program's name means to a process that starts in `folder` with this `PATH`. A
/// name with a slash is a path already, and is not looked at.
pub fn find_program(program: &OsStr, folder: &Path, path: Option<&OsStr>) -> io::Result<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Ok(folder.join(program));
    }
    let mut found = io::Error::from(io::ErrorKind::NotFound);
    for place in std::env::split_paths(path.unwrap_or(OsStr::new(USUAL_PATH))) {
        let file = folder.join(place).join(program);
        match rustix::fs::access(&file, Access::EXEC_OK) {
            Ok(()) if file.is_file() => return Ok(file),
            Err(rustix::io::Errno::ACCESS) => found = io::ErrorKind::PermissionDenied.into(),
            // A folder that does not answer may hold it: a later one of that name is not what was meant.
            Err(errno) if plain_file::is_fault(&errno.into()) => return Err(errno.into()),
            _ => {}
        }
    }
    Err(found)
}
