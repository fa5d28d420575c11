//! A temporary folder for one run's agents. Real ones leave task output, sockets and shells behind
//! wherever `TMPDIR` points; this way it goes with the run.

use ralph_core::id::RunId;
use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Folders inside each other that are made writable before they are removed.
const DEEPEST: usize = 500;

/// The folder, removed when this is dropped.
#[derive(Debug)]
pub struct RunTemp {
    path: PathBuf,
}

impl RunTemp {
    pub fn name(run: &RunId) -> String {
        format!("ralph-{run}")
    }

    /// The run's folder in `base`; one that an earlier process of the same run left is used again. The
    /// name is short, because agents put sockets there and a socket's path may have 107 bytes.
    pub fn create(base: &Path, run: &RunId) -> io::Result<RunTemp> {
        let path = base.join(RunTemp::name(run));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(RunTemp { path }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let found = std::fs::symlink_metadata(&path)?;
                let ours = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
                if ours { Ok(RunTemp { path }) } else { Err(error) }
            }
            Err(error) => Err(error),
        }
    }

    /// Removes what an earlier process of the run left in `base`.
    pub fn remove(base: &Path, run: &RunId) {
        if base.join(RunTemp::name(run)).exists() {
            drop(RunTemp::create(base, run));
        }
    }

    /// Removes everything in it: what an agent left there is gone before its work is judged.
    pub fn empty(&self) -> io::Result<()> {
        let mut problem = None;
        for entry in std::fs::read_dir(&self.path)? {
            problem = entry.and_then(|entry| remove(&entry.path())).err().or(problem);
        }
        problem.map_or(Ok(()), Err)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RunTemp {
    fn drop(&mut self) {
        // Whatever cannot be removed is in a folder that the system cleans anyway.
        let _ = remove(&self.path);
    }
}

/// Removes what stands at a path with all that is in it, links not followed.
fn remove(path: &Path) -> io::Result<()> {
    if !path.symlink_metadata()?.is_dir() {
        return std::fs::remove_file(path);
    }
    std::fs::remove_dir_all(path).or_else(|_| {
        // Some tools keep what they fetch in folders that may not be written to.
        open_up(path, DEEPEST);
        std::fs::remove_dir_all(path)
    })
}

fn open_up(folder: &Path, depth: usize) {
    let _ = std::fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path(), depth - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_private_used_again_and_gone_at_the_end_and_nobody_elses() {
        let base = tempfile::tempdir().unwrap();
        let run = RunId::from_random(1);
        let temp = RunTemp::create(base.path(), &run).unwrap();
        assert_eq!(std::fs::metadata(temp.path()).unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::create_dir_all(temp.path().join("deep/er")).unwrap();
        std::mem::forget(temp);
        let again = RunTemp::create(base.path(), &run).unwrap();
        assert!(again.path().join("deep/er").exists());
        let path = again.path().to_owned();
        drop(again);
        assert!(!path.exists());
        std::os::unix::fs::symlink(base.path(), &path).unwrap();
        assert!(RunTemp::create(base.path(), &run).is_err(), "a link leads to somebody else's folder");
        assert!(path.exists() && RunTemp::create(&base.path().join("nowhere"), &run).is_err());
    }

    #[test]
    fn it_is_emptied_whatever_an_agent_left_and_nothing_beyond_it() {
        let base = tempfile::tempdir().unwrap();
        let temp = RunTemp::create(base.path(), &RunId::from_random(2)).unwrap();
        let kept = base.path().join("kept");
        std::fs::create_dir(&kept).unwrap();
        std::fs::write(kept.join("file"), "").unwrap();
        std::fs::create_dir_all(temp.path().join("closed/inside")).unwrap();
        std::fs::write(temp.path().join("closed/inside/file"), "").unwrap();
        std::os::unix::fs::symlink(&kept, temp.path().join("link")).unwrap();
        std::os::unix::fs::symlink(&kept, temp.path().join("closed/link")).unwrap();
        crate::plain_file::make_pipe(&temp.path().join("pipe"));
        let _socket = std::os::unix::net::UnixListener::bind(temp.path().join("socket")).unwrap();
        for folder in ["closed/inside", "closed"] {
            std::fs::set_permissions(temp.path().join(folder), Permissions::from_mode(0o000)).unwrap();
        }
        temp.empty().unwrap();
        assert_eq!(temp.path().read_dir().unwrap().count(), 0);
        assert!(kept.join("file").exists());
        temp.empty().unwrap();
    }
}
