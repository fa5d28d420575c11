//! Notices new names in a folder: at once where the system tells, else by polling, as on network disks.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often is looked at most seldom where the system refuses to tell: it allows each user only so many
/// watches (128 by default on Linux), and the next one must not be ten times slower.
const UNTOLD_POLL: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct FolderWatch {
    folder: PathBuf,
    poll: Duration,
    told: Option<os::Told>,
}

impl FolderWatch {
    /// Watches a folder from now on; `poll` is how often is looked where nothing is told.
    pub fn new(folder: &Path, poll: Duration) -> FolderWatch {
        FolderWatch { folder: folder.to_owned(), poll, told: os::Told::of(folder) }
    }

    /// Returns when something may have changed. That may be wrong, so whoever waits looks for himself.
    pub async fn changed(&mut self) {
        let Some(told) = &mut self.told else {
            tokio::time::sleep(self.poll.min(UNTOLD_POLL)).await;
            self.told = os::Told::of(&self.folder);
            return;
        };
        // The folder itself may be deleted and made again, or lie where changes by other machines are not told.
        if tokio::time::timeout(self.poll, told.event()).await.is_err() && !told.is_of(&self.folder) {
            self.told = os::Told::of(&self.folder);
        }
    }
}

#[cfg(target_os = "linux")]
mod os {
    use crate::process::watch;
    use rustix::fd::OwnedFd;
    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    #[derive(Debug)]
    pub(super) struct Told {
        events: AsyncFd<OwnedFd>,
        folder: (u64, u64),
    }

    impl Told {
        pub(super) fn of(folder: &Path) -> Option<Told> {
            let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            let names = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
            inotify::add_watch(&events, folder, names | WatchFlags::ONLYDIR).ok()?;
            Some(Told { events: watch(events, Interest::READABLE).ok()?, folder: inode(folder)? })
        }

        pub(super) fn is_of(&self, folder: &Path) -> bool {
            inode(folder) == Some(self.folder)
        }

        /// Waits until something is told, and forgets what.
        pub(super) async fn event(&mut self) {
            let Ok(mut ready) = self.events.readable().await else { return std::future::pending().await };
            let mut buffer = [0u8; 4096];
            while rustix::io::read(self.events.get_ref(), &mut buffer).is_ok_and(|read| read > 0) {}
            ready.clear_ready();
        }
    }

    fn inode(folder: &Path) -> Option<(u64, u64)> {
        std::fs::metadata(folder).ok().map(|meta| (meta.dev(), meta.ino()))
    }
}

/// Elsewhere nothing is told.
#[cfg(not(target_os = "linux"))]
mod os {
    use std::path::Path;

    #[derive(Debug)]
    pub(super) enum Told {}

    impl Told {
        pub(super) fn of(_: &Path) -> Option<Told> {
            None
        }

        pub(super) fn is_of(&self, _: &Path) -> bool {
            match *self {}
        }

        pub(super) async fn event(&mut self) {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Duration = Duration::from_secs(3600);

    #[tokio::test(flavor = "current_thread")]
    async fn a_new_name_is_told_long_before_the_next_look() {
        let folder = tempfile::tempdir().unwrap();
        let mut watch = FolderWatch::new(folder.path(), FAR);
        let path = folder.path().join("DONE");
        let told = tokio::time::timeout(Duration::from_secs(60), watch.changed());
        let (told, ()) = tokio::join!(told, async { std::fs::write(path, "").unwrap() });
        assert!(told.is_ok());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_folder_that_was_made_again_is_watched_again() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("task");
        std::fs::create_dir(&folder).unwrap();
        let mut watch = FolderWatch::new(&folder, Duration::from_millis(10));
        std::fs::rename(&folder, place.path().join("old")).unwrap();
        std::fs::create_dir(&folder).unwrap();
        watch.changed().await;
        // The move itself was told; the look after the next silence finds the other folder.
        watch.changed().await;
        assert!(watch.told.as_ref().is_some_and(|told| told.is_of(&folder)));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_folder_that_is_missing_is_looked_for() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("task");
        let mut watch = FolderWatch::new(&folder, FAR);
        assert!(watch.told.is_none());
        std::fs::create_dir(&folder).unwrap();
        watch.changed().await;
        assert!(watch.told.is_some());
    }
}
