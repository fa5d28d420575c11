//! A temporary folder for one run's agents. Real ones leave task output, sockets and shells behind
//! wherever `TMPDIR` points; this way it goes with the run.

use ralph_core::id::RunId;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

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

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RunTemp {
    fn drop(&mut self) {
        // Whatever cannot be removed is in a folder that the system cleans anyway.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

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
}
