//! What a check executes and opens, seen from one run of it.
//!
//! [`wrap`] puts an inner helper of this binary, `ralph __watch OUT -- program args…`, before a command. The helper
//! starts the command, sees every call by which a process below it executes or opens a file, and at the end writes what
//! it saw to `OUT`, where [`read`] finds it. It needs no privilege.
//!
//! * On Linux a seccomp filter makes the kernel ask the helper before each such call; the helper reads the path from the
//!   process's memory, looks whether the file is there, and lets the call go on. Nothing is refused, except io_uring: what
//!   is opened through a ring passes no filter, and programs do without it, because containers refuse it too.
//! * Where the kernel offers no such filter, or a process above has one already, the helper traces the command with
//!   ptrace. That is slower, and a traced process does not stay stopped and cannot be traced by a debugger of its own.
//! * Where neither works, and on other systems, the command runs unwatched, and [`Watched::gap`] says why.
//!
//! This is for learning what an honest check is made of, not for keeping anybody in: a process may change a path
//! between the helper's look and the kernel's. What could not be seen is in `gap`: a set-uid program (it has no power
//! of its own while it is watched), a 32-bit program, files under a root, a mount or a FUSE of the check itself, memory that
//! may not be read.
//!
//! With an order beside it ([`Order`]) the helper also tells which files outside of the tree the command used that were made
//! or changed since a moment, and lets some of them not be found. Only the filter can do that; without it the command
//! runs unwatched then.
//!
//! Exit code and signal of the command are the helper's own, and standard streams are handed on untouched. SIGTERM to the
//! helper makes it write what it has seen so far, and nothing else: whoever ends a check signals all of its processes.
//! When the command's main process has ended, so does the helper, and what is left of the command can execute and open
//! nothing any more: the keeper, the parent of every check, ends it at that moment anyway.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod scrutiny;

#[cfg(target_os = "linux")]
pub(crate) use calls::{Answer, Call, Eyes, SILENT, numbers};

use crate::process::{Command, own_program};
use ralph_core::judges::Watched;
use ralph_core::time::WallTime;
use ralph_core::trust::Span;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The hidden first argument that makes the binary watch a command.
pub const WATCH_ARGUMENT: &str = "__watch";

/// Where what is seen of a command is written, and what else is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Watching<'a> {
    pub out: &'a Path,
    /// A file with an [`Order`].
    pub order: Option<&'a Path>,
}

/// What the helper looks for beside what a command executes and opens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// What was made or changed at this time or later.
    pub since: WallTime,
    /// Or within one of these.
    pub spans: Vec<Span>,
    /// Folders of which nothing is told, without links on the way to them.
    #[serde(with = "as_bytes")]
    pub inside: Vec<PathBuf>,
    /// Files that the command does not find, whatever name leads to them.
    pub hidden: Vec<String>,
}

/// Paths as text, or as bytes where they are none.
mod as_bytes {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    use std::path::PathBuf;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        let written = |path: &PathBuf| match path.to_str() {
            Some(text) => Written::Text(text.to_owned()),
            None => Written::Bytes(path.as_os_str().as_bytes().to_vec()),
        };
        paths.iter().map(written).collect::<Vec<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        let path = |written| match written {
            Written::Text(text) => text.into(),
            Written::Bytes(bytes) => OsString::from_vec(bytes).into(),
        };
        Ok(Vec::<Written>::deserialize(deserializer)?.into_iter().map(path).collect())
    }
}

impl Order {
    /// Writes it where the helper will read it.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        std::fs::write(file, serde_json::to_vec(self)?)
    }

    pub(crate) fn read(file: &Path) -> io::Result<Order> {
        Ok(serde_json::from_slice(&std::fs::read(file)?)?)
    }
}

/// The same command, watched; what was seen is there when it has ended.
pub fn wrap(command: Command, watching: Watching<'_>) -> Command {
    // Without its own path, ralph cannot be its own helper; the missing report then says so.
    let Ok(helper) = own_program() else { return command };
    let mut args = vec![WATCH_ARGUMENT.into(), watching.out.into()];
    args.extend(watching.order.map(|order| order.into()));
    args.extend(["--".into(), command.program]);
    args.extend(command.args);
    Command { program: helper.into(), args, ..command }
}

/// What a watched command did. A report that is not there or cannot be read is a gap in itself.
pub fn read(out: &Path) -> Watched {
    let nothing = |gap: String| Watched { gap, ..Watched::default() };
    match std::fs::read(out) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .unwrap_or_else(|error| nothing(format!("what was seen of the check cannot be read: {error}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => nothing(
            "there is no report of what the check executed and opened: it was killed, or the disk is full".to_owned(),
        ),
        Err(error) => nothing(format!("what was seen of the check cannot be read: {error}")),
    }
}

/// Writes a report so that a reader finds all of it or nothing.
pub(crate) fn write(out: &Path, watched: &Watched) -> io::Result<()> {
    let mut beside = out.as_os_str().to_owned();
    beside.push(".new");
    // Whoever made that file before may still hold it open.
    let _ = std::fs::remove_file(&beside);
    let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
    file.write_all(&serde_json::to_vec(watched)?)?;
    std::fs::rename(&beside, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_command_keeps_its_words_its_folder_and_its_environment() {
        let command = Command {
            program: "sh".into(),
            args: vec!["-c".into(), "make test".into()],
            folder: "/project".into(),
            set: vec![("A".into(), "1".into())],
            remove: vec!["B".into()],
            starts_runs: false,
        };
        let out = Path::new("/state/seen.json");
        let ordered = wrap(command.clone(), Watching { out, order: Some(Path::new("/state/order")) });
        assert_eq!(ordered.args, ["__watch", "/state/seen.json", "/state/order", "--", "sh", "-c", "make test"]);
        let wrapped = wrap(command.clone(), Watching { out, order: None });
        assert_eq!(wrapped.args, ["__watch", "/state/seen.json", "--", "sh", "-c", "make test"]);
        assert_eq!((wrapped.folder, wrapped.set, wrapped.remove), (command.folder, command.set, command.remove));
    }

    #[test]
    fn a_report_that_is_missing_or_torn_is_a_gap() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("seen.json");
        assert!(read(&out).gap.contains("killed"), "{:?}", read(&out));
        std::fs::write(&out, "{\"executed\":[").unwrap();
        assert!(read(&out).gap.contains("cannot be read"), "{:?}", read(&out));
        let watched = Watched { made: vec!["/a".to_owned()], ..Watched::default() };
        write(&out, &watched).unwrap();
        assert_eq!(read(&out), watched);
    }
}
