//! Which files beside the tree were made or changed since a moment, as a command comes by them, and which of them it does
//! not find.

use super::Order;
use ralph_core::judges::{Used, is_module};
use ralph_core::time::WallTime;
use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// The times of files may lie so far behind the clock.
const TICK_MILLIS: i64 = 10;
/// Links behind each other, as in the kernel.
const MOST_LINKS: usize = 40;
/// Files that are none, and the folder among them with files as anywhere.
const VOID: [&str; 3] = ["/proc", "/sys", "/dev"];
const MEMORY: &str = "/dev/shm";

#[derive(Debug)]
pub(crate) struct Scrutiny {
    /// When this run began, in milliseconds.
    since: i64,
    /// From when to when, in milliseconds.
    spans: Vec<(i64, i64)>,
    inside: Vec<PathBuf>,
    /// By device and inode.
    hidden: HashSet<(u64, u64)>,
    /// What the command itself made.
    made: HashSet<PathBuf>,
    /// Files that were looked at: what happens to them later is the command's own doing.
    looked_at: HashSet<PathBuf>,
    /// News of which a process only asked whether it is there, with the process.
    asked: HashMap<PathBuf, (i32, Used)>,
    /// Folders with files of which interpreters take modules.
    modules: HashSet<PathBuf>,
    ways: HashMap<PathBuf, Way>,
    user: u32,
}

/// Where a folder is.
#[derive(Debug, Clone, Default)]
struct Way {
    real: PathBuf,
    /// Whether a link on the way was made or changed since.
    changed: bool,
}

impl Scrutiny {
    pub(crate) fn new(order: &Order, user: u32) -> Scrutiny {
        let inode = |path: &String| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
        let since = (order.since, WallTime(i64::MAX));
        let spans = order.spans.iter().chain([&since]);
        let spans = spans.map(|(from, until)| (from.0.saturating_sub(TICK_MILLIS), until.0)).collect();
        Scrutiny {
            since: order.since.0.saturating_sub(TICK_MILLIS),
            spans,
            inside: order.inside.clone(),
            hidden: order.hidden.iter().filter_map(inode).collect(),
            made: HashSet::new(),
            looked_at: HashSet::new(),
            asked: HashMap::new(),
            modules: HashSet::new(),
            ways: HashMap::new(),
            user,
        }
    }

    /// Whether nothing at this path is worth a look.
    pub(crate) fn is_void(path: &Path) -> bool {
        VOID.iter().any(|void| path.starts_with(void)) && !path.starts_with(MEMORY)
    }

    pub(crate) fn hides(&self, file: &Metadata) -> bool {
        !self.hidden.is_empty() && self.hidden.contains(&(file.dev(), file.ino()))
    }

    /// A process of the command makes what stands here from now on; `before` is what it takes the content of. Whoever only
    /// asked what it is about to replace has not used it.
    pub(crate) fn makes(&mut self, pid: i32, path: &Path, before: Option<&Metadata>) {
        if self.asked.get(path).is_some_and(|(asked, _)| *asked == pid) {
            self.asked.remove(path);
        }
        if let Some(before) = before {
            self.hidden.remove(&(before.dev(), before.ino()));
        }
        if !self.is_inside(path) {
            self.made.insert(path.to_owned());
        }
    }

    /// Takes note of the folder of a module, and says whether it is a module of the tree.
    pub(crate) fn is_module_inside(&mut self, path: &Path) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let is_inside = self.is_inside(path);
        let is_installed = || {
            path.components().any(|part| matches!(part.as_os_str().to_str(), Some("site-packages" | "dist-packages")))
        };
        if matches!(extension, "py" | "so" | "pm")
            && (!is_inside || is_installed())
            && let Some(folder) = path.parent()
            && !self.modules.contains(folder)
        {
            self.modules.insert(folder.to_owned());
        }
        is_inside && is_module(&path.to_string_lossy())
    }

    pub(crate) fn modules(&self) -> impl Iterator<Item = &PathBuf> {
        self.modules.iter()
    }

    /// A process asks whether a file is there.
    pub(crate) fn asks(&mut self, pid: i32, path: &Path, file: &Metadata, by: impl FnOnce() -> String) {
        if let Some(used) = self.news(path, file, by) {
            self.asked.insert(path.to_owned(), (pid, used));
        }
    }

    /// A process reads or executes a file, which may be news.
    pub(crate) fn uses(&mut self, path: &Path, file: &Metadata, by: impl FnOnce() -> String) -> Option<Used> {
        self.asked.remove(path).map(|(_, used)| used).or_else(|| self.news(path, file, by))
    }

    /// The news that were only asked for.
    pub(crate) fn only_asked(&self) -> impl Iterator<Item = &Used> {
        self.asked.values().map(|(_, used)| used)
    }

    /// Whether a file that the command comes by is beside the tree and was made or changed since, by anybody else. Only the
    /// first time counts.
    fn news(&mut self, path: &Path, file: &Metadata, by: impl FnOnce() -> String) -> Option<Used> {
        if self.is_inside(path) || !self.looked_at.insert(path.to_owned()) {
            return None;
        }
        if path.ancestors().any(|above| self.made.contains(above)) {
            return None;
        }
        let way = self.way(path, MOST_LINKS);
        let changed = self.is_within(file) && !self.is_inside(&way.real);
        let earlier = way.changed || changed_at(file) < self.since;
        let path = (changed || way.changed).then_some(path).filter(|path| self.can_be_changed(path, file))?;
        Some(Used { path: path.to_string_lossy().into_owned(), by: by(), earlier })
    }

    /// Whether a file was last changed at a time that counts.
    fn is_within(&self, file: &Metadata) -> bool {
        let at = changed_at(file);
        self.spans.iter().any(|(from, until)| (*from..=*until).contains(&at))
    }

    fn is_inside(&self, path: &Path) -> bool {
        self.inside.iter().any(|folder| path.starts_with(folder))
    }

    /// Where a path leads through all links. Each folder is asked for once.
    fn way(&mut self, path: &Path, links: usize) -> Way {
        let (Some(above), Some(name)) = (path.parent(), path.components().next_back()) else {
            return Way { real: path.to_owned(), changed: false };
        };
        let Way { real, mut changed } = self.folder(above, links);
        let Component::Normal(name) = name else {
            return Way { real: real.parent().unwrap_or(&real).to_owned(), changed };
        };
        let real = real.join(name);
        let link = fs::symlink_metadata(&real).ok().filter(|meta| meta.is_symlink() && links > 0);
        let Some((link, target)) = link.and_then(|link| Some((link, fs::read_link(&real).ok()?))) else {
            return Way { real, changed };
        };
        // One in the tree is part of it.
        changed |= self.is_within(&link) && !self.is_inside(&real);
        let target = real.parent().unwrap_or(&real).join(target);
        let behind = self.way(&target, links - 1);
        Way { changed: changed || behind.changed, ..behind }
    }

    fn folder(&mut self, folder: &Path, links: usize) -> Way {
        if let Some(known) = self.ways.get(folder) {
            return known.clone();
        }
        let way = self.way(folder, links);
        self.ways.insert(folder.to_owned(), way.clone());
        way
    }

    /// Whether a process of this user could have changed it: what only the system's administrator can change was updated.
    fn can_be_changed(&self, path: &Path, file: &Metadata) -> bool {
        let can_write = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
        self.user == 0 || file.uid() == self.user || can_write(path) || path.parent().is_some_and(can_write)
    }
}

/// When a file was last changed in any way, in milliseconds. Nobody can set that back.
fn changed_at(file: &Metadata) -> i64 {
    file.ctime().saturating_mul(1000).saturating_add(file.ctime_nsec() / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::time::Duration;

    #[test]
    fn what_changed_beside_the_tree_is_news_once_and_what_the_command_made_is_none() {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        let at = |path: &str| root.join(path);
        for path in ["tree/a", "home/old", "home/edited", "home/versions/1/lib", "home/versions/2/lib"] {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), "x").unwrap();
        }
        symlink("versions/1", at("home/kept")).unwrap();
        let written = fs::metadata(at("home/edited")).unwrap().modified().unwrap();
        std::thread::sleep(Duration::from_millis(40));
        let since = crate::clock::Clock::start().now();
        std::thread::sleep(Duration::from_millis(10));
        fs::write(at("tree/a"), "y").unwrap();
        fs::write(at("home/new"), "y").unwrap();
        fs::write(at("home/edited"), "y").unwrap();
        fs::File::options().write(true).open(at("home/edited")).unwrap().set_modified(written).unwrap();
        symlink("versions/2", at("home/now")).unwrap();
        symlink("../tree", at("home/work")).unwrap();
        fs::create_dir(at("home/own")).unwrap();
        fs::write(at("home/own/cache"), "y").unwrap();
        let order = Order {
            since,
            spans: Vec::new(),
            inside: vec![at("tree")],
            hidden: vec![at("home/new").display().to_string()],
        };
        let mut scrutiny = Scrutiny::new(&order, 0);
        scrutiny.makes(1, &at("home/own"), None);
        let mut is_news =
            |path: &str| scrutiny.uses(&at(path), &fs::metadata(at(path)).unwrap(), String::new).is_some();
        for path in ["home/new", "home/edited", "home/now/lib", "home/work/a"] {
            assert!(is_news(path), "{path}");
            assert!(!is_news(path), "{path} again");
        }
        for path in ["tree/a", "home/old", "home/kept/lib", "home/versions/1/lib", "home/own/cache"] {
            assert!(!is_news(path), "{path}");
        }
        assert!(scrutiny.hides(&fs::metadata(at("home/new")).unwrap()));
        scrutiny.makes(1, &at("home/new"), Some(&fs::metadata(at("home/new")).unwrap()));
        assert!(!scrutiny.hides(&fs::metadata(at("home/new")).unwrap()));
        assert!(Scrutiny::is_void(Path::new("/proc/1/maps")));
        assert!(!Scrutiny::is_void(Path::new("/dev/shm/x")) && Scrutiny::is_void(Path::new("/dev/null")));
    }

    #[test]
    fn what_a_process_asks_for_and_then_replaces_itself_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        let order = Order { since: WallTime(0), spans: Vec::new(), inside: Vec::new(), hidden: Vec::new() };
        let mut scrutiny = Scrutiny::new(&order, 0);
        for (name, replaces, used) in [("a", None, true), ("b", Some(1), false), ("c", Some(2), true)] {
            let file = root.join(name);
            fs::write(&file, "").unwrap();
            scrutiny.asks(1, &file, &fs::metadata(&file).unwrap(), || "cp".to_owned());
            replaces.into_iter().for_each(|pid| scrutiny.makes(pid, &file, None));
            assert_eq!(scrutiny.only_asked().any(|one| Path::new(&one.path) == file && one.by == "cp"), used, "{name}");
        }
        let read = root.join("a");
        let mut uses = || scrutiny.uses(&read, &fs::metadata(&read).unwrap(), String::new).is_some();
        assert_eq!((uses(), uses()), (true, false));
        assert_eq!(scrutiny.only_asked().count(), 1);
    }

    #[test]
    fn what_was_changed_in_an_earlier_run_is_told_as_that() {
        let place = tempfile::tempdir().unwrap();
        let file = fs::canonicalize(place.path()).unwrap().join("a");
        fs::write(&file, "").unwrap();
        let meta = fs::metadata(&file).unwrap();
        let earlier = |since: i64, spans: Vec<(WallTime, WallTime)>| {
            let order = Order { since: WallTime(since), spans, inside: Vec::new(), hidden: Vec::new() };
            Scrutiny::new(&order, 0).uses(&file, &meta, String::new).map(|used| used.earlier)
        };
        let (long_ago, always) = ((WallTime(0), WallTime(1)), (WallTime(0), WallTime(i64::MAX)));
        assert_eq!((earlier(0, vec![]), earlier(i64::MAX, vec![])), (Some(false), None));
        assert_eq!((earlier(i64::MAX, vec![long_ago]), earlier(i64::MAX, vec![always])), (None, Some(true)));
    }

    #[test]
    fn links_that_lead_in_circles_end() {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        symlink("b", root.join("a")).unwrap();
        symlink("a", root.join("b")).unwrap();
        let order = Order { since: WallTime(i64::MAX), spans: Vec::new(), inside: Vec::new(), hidden: Vec::new() };
        let mut scrutiny = Scrutiny::new(&order, 0);
        assert_eq!(scrutiny.uses(&root.join("a"), &fs::metadata(&root).unwrap(), String::new), None);
    }
}
