//! Files whose state at the start counts: finding them, keeping what they held, seeing whether they are
//! still as they were, and putting them back.
//!
//! What they held is kept outside of the work tree, where the agent's tools have no business. Every path
//! is walked folder by folder without passing through a link, as the fingerprint of the tree does it.

use crate::plain_file::{self, Links};
use crate::tree::Walk;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ralph_core::protect::{self, Pinned, PinnedChange};
use ralph_core::text;
use rustix::fs::{AtFlags, FileType};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// More files than this are no longer a rule but a whole project, and looking at them takes too long.
const MOST_FILES: usize = 20_000;
/// Entries that are walked to find them.
const MOST_ENTRIES: usize = 1_000_000;
/// The largest file that is pinned; tests and scripts are far smaller, and fixtures mostly.
const LARGEST: u64 = 64 << 20;
/// Folders that hold no rules of people.
const NOT_WALKED: [&str; 2] = [".git", ".ralph"];

/// Where pinned files are and where their first content is kept.
#[derive(Debug, Clone)]
pub struct Pins {
    root: PathBuf,
    kept: PathBuf,
}

/// What stands at a path, as far as it counts.
enum Standing {
    File { executable: bool, content: Vec<u8> },
    Link(Vec<u8>),
    Other(&'static str),
    Nothing,
}

impl Pins {
    /// For the project at `root`; contents are kept in `kept`, which is made when it is needed.
    pub fn new(root: &Path, kept: &Path) -> Pins {
        Pins { root: root.to_owned(), kept: kept.to_owned() }
    }

    /// The same files in another place.
    pub fn at(&self, root: &Path) -> Pins {
        Pins { root: root.to_owned(), kept: self.kept.clone() }
    }

    /// Looks at everything that matches a glob, and at those candidates that are files of the project.
    pub fn pin(&self, globs: &[String], candidates: &[(String, Vec<usize>)]) -> Result<Vec<Pinned>, String> {
        let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        if !globs.is_empty() {
            self.find(&set_of(globs)?, &mut found)?;
        }
        for (name, scripts_of) in candidates {
            let is_file = |name: &str| matches!(self.look(name), Ok(Standing::File { .. }));
            // Only what the project itself holds can be changed by an agent that works in it; of what it does
            // not hold, only what would take the place of something that it does.
            if is_file(name) || protect::hidden_by(name).iter().any(|hidden| is_file(hidden)) {
                found.entry(name.clone()).or_default().extend(scripts_of);
            } else if let Some(real) = self.behind_links(name) {
                // Both where it leads and that it leads there.
                found.entry(real).or_default().extend(scripts_of);
                if matches!(self.look(name), Ok(Standing::Link(_))) {
                    found.entry(name.clone()).or_default().extend(scripts_of);
                }
            }
        }
        if found.len() > MOST_FILES {
            return Err(format!("{} files match, and at most {MOST_FILES} can be kept an eye on", found.len()));
        }
        let mut pinned = Vec::with_capacity(found.len());
        for (path, scripts_of) in found {
            let standing = self.look(&path).map_err(|error| format!("{path}: {error}"))?;
            let file = Pinned { print: print(&path, &scripts_of, &standing), path, scripts_of };
            self.keep(&file, &standing).map_err(|error| format!("{} cannot be kept: {error}", file.path))?;
            pinned.push(file);
        }
        Ok(pinned)
    }

    /// What is not as it was.
    pub fn changes(&self, pinned: &[Pinned]) -> Vec<PinnedChange> {
        let changed = |file: &Pinned| {
            let standing = self.look(&file.path).unwrap_or_else(|error| Standing::unreadable(&error));
            if print(&file.path, &file.scripts_of, &standing) == file.print {
                return None;
            }
            let how = match &standing {
                Standing::Nothing => "deleted".to_owned(),
                _ if file.print == print(&file.path, &[], &Standing::Nothing) => "added".to_owned(),
                Standing::Other(kind) => format!("replaced by a {kind}"),
                Standing::Link(_) => "replaced by a symbolic link".to_owned(),
                Standing::File { content, .. } => self.compared(file, content),
            };
            Some(PinnedChange { path: file.path.clone(), how })
        };
        pinned.iter().filter_map(changed).collect()
    }

    /// Puts files back as they were; says what could not be.
    pub fn restore(&self, pinned: &[Pinned], paths: &[String]) -> Vec<String> {
        let wanted = pinned.iter().filter(|file| paths.contains(&file.path));
        let put_back = |file: &Pinned| {
            self.put_back(file).err().map(|error| format!("{} could not be put back: {error}", file.path))
        };
        wanted.filter_map(put_back).collect()
    }

    /// The file of the project that a path with links in it leads to.
    fn behind_links(&self, path: &str) -> Option<String> {
        let (root, real) = (self.root.canonicalize().ok()?, self.root.join(path).canonicalize().ok()?);
        let inside = real.strip_prefix(root).ok().filter(|_| real.is_file())?;
        inside.to_str().map(str::to_owned)
    }

    /// Globs that match none of the pinned files: a slip of the pen protects nothing.
    pub fn unmatched(globs: &[String], pinned: &[Pinned]) -> Vec<String> {
        let matches_none = |glob: &&String| {
            set_of(std::slice::from_ref(*glob)).is_ok_and(|set| !pinned.iter().any(|file| set.is_match(&file.path)))
        };
        globs.iter().filter(matches_none).cloned().collect()
    }

    fn find(&self, globs: &GlobSet, found: &mut BTreeMap<String, Vec<usize>>) -> Result<(), String> {
        let mut folders = vec![PathBuf::new()];
        let mut entries = 0_usize;
        while let Some(folder) = folders.pop() {
            // A folder that cannot be read holds nothing that can be compared later.
            let Ok(listing) = std::fs::read_dir(self.root.join(&folder)) else { continue };
            for entry in listing.flatten() {
                entries += 1;
                if entries > MOST_ENTRIES {
                    return Err(format!("the project has more than {MOST_ENTRIES} files"));
                }
                let path = folder.join(entry.file_name());
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder && !NOT_WALKED.iter().any(|name| entry.file_name() == *name) {
                    folders.push(path);
                } else if !is_folder && globs.is_match(&path) {
                    let name = path.to_str().ok_or_else(|| format!("{} is not UTF-8", path.display()))?;
                    found.insert(name.to_owned(), Vec::new());
                }
            }
        }
        Ok(())
    }

    fn look(&self, path: &str) -> io::Result<Standing> {
        let mut walk = Walk::from(&self.root)?;
        let Some((folder, name)) = walk.parent_of(path.as_bytes())? else { return Ok(Standing::Nothing) };
        let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(rustix::io::Errno::NOENT) => return Ok(Standing::Nothing),
            Err(errno) => return Err(errno.into()),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let mut content = Vec::new();
                plain_file::open(folder, name, Links::Refuse)?.take(LARGEST + 1).read_to_end(&mut content)?;
                if content.len() as u64 > LARGEST {
                    return Err(io::Error::other("it is larger than 64 MiB"));
                }
                Ok(Standing::File { executable: stat.st_mode & 0o111 != 0, content })
            }
            FileType::Symlink => Ok(Standing::Link(rustix::fs::readlinkat(folder, name, Vec::new())?.into_bytes())),
            other => Ok(Standing::Other(plain_file::kind(other))),
        }
    }

    fn keep(&self, file: &Pinned, standing: &Standing) -> io::Result<()> {
        let Standing::File { content, .. } = standing else { return Ok(()) };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.kept)?;
        let place = self.place(file);
        // The same content under two names is kept once, and a run that goes on has kept it already.
        if place.exists() { Ok(()) } else { std::fs::write(place, content) }
    }

    fn place(&self, file: &Pinned) -> PathBuf {
        self.kept.join(text::hash(format!("{}\n{}", file.path, file.print).as_bytes()))
    }

    /// How a content differs: by its tests, where it is source with tests in it.
    fn compared(&self, file: &Pinned, now: &[u8]) -> String {
        let before = std::fs::read(self.place(file)).unwrap_or_default();
        if before == now {
            return "made executable, or no longer".to_owned();
        }
        let losses = protect::test_losses(&String::from_utf8_lossy(&before), &String::from_utf8_lossy(now));
        if losses.is_empty() { "changed".to_owned() } else { format!("changed ({losses})") }
    }

    /// Writes a file beside its place and renames it, so that nothing that stands there is written through.
    fn put_back(&self, file: &Pinned) -> io::Result<()> {
        let mut words = file.print.splitn(3, ' ');
        let (kind, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let path = self.root.join(&file.path);
        let folder = path.parent().unwrap_or(&self.root).to_owned();
        let inside = folder.strip_prefix(&self.root).map_err(io::Error::other)?;
        make_real_folders(&self.root, inside)?;
        // Where a crash leaves it, nobody takes it for the project's own.
        let own = self.root.join(".ralph");
        let place = if own.is_dir() { &own } else { &folder };
        let beside = place.join(format!(".restore-{}", std::process::id()));
        let _ = std::fs::remove_file(&beside);
        match kind {
            "nothing" => return std::fs::remove_file(&path),
            "link" => symlink(OsStr::from_bytes(&unhex(rest)), &beside)?,
            _ => {
                let content = self.content_to_put_back(file)?;
                let mut made = File::create_new(&beside)?;
                made.write_all(&content)?;
                made.set_permissions(std::fs::Permissions::from_mode(if kind == "exec" { 0o755 } else { 0o644 }))?;
            }
        }
        if std::fs::symlink_metadata(&path).is_ok_and(|now| now.is_dir()) {
            std::fs::remove_dir_all(&path)?;
        }
        std::fs::rename(&beside, &path).inspect_err(|_| drop(std::fs::remove_file(&beside)))
    }
}

impl Pins {
    /// What a file held; of a package's description only the scripts, in what it holds now.
    fn content_to_put_back(&self, file: &Pinned) -> io::Result<Vec<u8>> {
        let before = std::fs::read(self.place(file))?;
        let of_a_package = !file.scripts_of.is_empty() && file.path.rsplit('/').next() == Some(protect::PACKAGE);
        let Ok(Standing::File { content: now, .. }) = self.look(&file.path) else { return Ok(before) };
        let parsed = |bytes: &[u8]| serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(bytes).ok();
        match (parsed(&before), parsed(&now)) {
            (Some(mut before), Some(mut now)) if of_a_package => {
                match before.remove("scripts") {
                    Some(scripts) => drop(now.insert("scripts".to_owned(), scripts)),
                    None => drop(now.remove("scripts")),
                }
                Ok(serde_json::to_string_pretty(&now)?.into_bytes())
            }
            _ => Ok(before),
        }
    }
}

impl Standing {
    fn unreadable(error: &io::Error) -> Standing {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Standing::Other("file that cannot be read"),
            _ => Standing::Other("thing that cannot be read"),
        }
    }
}

/// `file HASH`, `exec HASH`, `link TARGET`, `other KIND`, `nothing`.
fn print(path: &str, scripts_of: &[usize], standing: &Standing) -> String {
    match standing {
        Standing::File { executable, content } => {
            let kind = if *executable { "exec" } else { "file" };
            let content = protect::pinned_content(path, !scripts_of.is_empty(), content);
            format!("{kind} {}", text::hash(&content))
        }
        Standing::Link(target) => format!("link {}", text::hex(target)),
        Standing::Other(kind) => format!("other {kind}"),
        Standing::Nothing => "nothing".to_owned(),
    }
}

/// Makes folders below the root that are none, in place of links and files.
fn make_real_folders(root: &Path, inside: &Path) -> io::Result<()> {
    let mut folder = root.to_owned();
    for part in inside.components() {
        folder.push(part);
        match std::fs::symlink_metadata(&folder) {
            Ok(now) if now.is_dir() => continue,
            Ok(_) => std::fs::remove_file(&folder)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        std::fs::create_dir(&folder)?;
    }
    Ok(())
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |index: usize| text.get(index..index + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..text.len()).step_by(2).filter_map(digit).collect()
}

/// A glob of the settings: `*` stays in its folder, `**` does not, and a folder means all that is in it.
fn set_of(globs: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let trimmed = glob.trim_start_matches("./").trim_end_matches('/');
        for pattern in [trimmed.to_owned(), format!("{trimmed}/**")] {
            let built = GlobBuilder::new(&pattern).literal_separator(true).build();
            set.add(built.map_err(|error| format!("`{glob}` is no pattern: {error}"))?);
        }
    }
    set.build().map_err(|error| error.to_string())
}

/// Whether this is a pattern at all, or why not.
pub fn judge_glob(glob: &str) -> Result<(), String> {
    set_of(&[glob.to_owned()]).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Project(tempfile::TempDir);

    impl Project {
        fn new() -> Project {
            let project = Project(tempfile::tempdir().unwrap());
            for (path, text) in [
                ("project/tests/a.rs", "#[test]\nfn a() {}\n#[test]\nfn b() {}\n"),
                ("project/tests/deep/b.txt", "b"),
                ("project/src/main.rs", "main"),
                ("project/check.sh", "exit 1"),
                ("project/ignored/tests/c", "c"),
                ("project/.git/tests/x", "x"),
            ] {
                std::fs::create_dir_all(project.at(path).parent().unwrap()).unwrap();
                std::fs::write(project.at(path), text).unwrap();
            }
            symlink("a.rs", project.at("project/tests/link")).unwrap();
            project
        }

        fn at(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn pins(&self) -> Pins {
            Pins::new(&self.at("project"), &self.at("kept"))
        }
    }

    fn globs(globs: &[&str]) -> Vec<String> {
        globs.iter().map(|&glob| glob.to_owned()).collect()
    }

    fn paths(pinned: &[Pinned]) -> Vec<&str> {
        pinned.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn globs_and_scripts_are_found_and_nothing_else() {
        let project = Project::new();
        let candidates = [("check.sh".to_owned(), vec![1]), ("sh".to_owned(), vec![1]), ("src".to_owned(), vec![0])];
        for (patterns, expected) in [
            (&["tests/**"][..], &["check.sh", "tests/a.rs", "tests/deep/b.txt", "tests/link"][..]),
            (&["./tests/"], &["check.sh", "tests/a.rs", "tests/deep/b.txt", "tests/link"]),
            (&["tests/*"], &["check.sh", "tests/a.rs", "tests/deep/b.txt", "tests/link"]),
            (&["**/*.rs"], &["check.sh", "src/main.rs", "tests/a.rs"]),
            (&["*.rs"], &["check.sh"]),
            (&["**/tests/c"], &["check.sh", "ignored/tests/c"]),
            (&[], &["check.sh"]),
        ] {
            let pinned = project.pins().pin(&globs(patterns), &candidates).unwrap();
            assert_eq!(paths(&pinned), expected, "{patterns:?}");
        }
        assert!(judge_glob("a{b").is_err() && judge_glob("tests/**/*.{ts,tsx}").is_ok());
    }

    #[test]
    fn a_file_that_would_come_first_must_stay_away() {
        let project = Project::new();
        std::fs::write(project.at("project/Makefile"), "test:").unwrap();
        let candidates = ["GNUmakefile", "makefile", "Makefile"].map(|name| (name.to_owned(), vec![0]));
        let pinned = project.pins().pin(&[], &candidates).unwrap();
        assert!(project.pins().changes(&pinned).is_empty());
        std::fs::write(project.at("project/GNUmakefile"), "test:").unwrap();
        let added = PinnedChange { path: "GNUmakefile".to_owned(), how: "added".to_owned() };
        assert_eq!(project.pins().changes(&pinned), [added]);
        assert!(project.pins().restore(&pinned, &["GNUmakefile".to_owned()]).is_empty());
        assert!(project.pins().changes(&pinned).is_empty());
    }

    #[test]
    fn j08_every_kind_of_change_is_seen_named_and_undone() {
        type Case = (fn(&Project), &'static str, &'static str);
        let cases: [Case; 9] = [
            (|p| std::fs::write(p.at("project/tests/deep/b.txt"), "other").unwrap(), "tests/deep/b.txt", "changed"),
            (
                |p| std::fs::write(p.at("project/tests/a.rs"), "#[test]\n#[ignore]\nfn a() {}\n").unwrap(),
                "tests/a.rs",
                "changed (1 test fewer, 1 test newly switched off)",
            ),
            (|p| std::fs::remove_file(p.at("project/tests/a.rs")).unwrap(), "tests/a.rs", "deleted"),
            (
                |p| {
                    let mode = std::fs::Permissions::from_mode(0o755);
                    std::fs::set_permissions(p.at("project/tests/a.rs"), mode).unwrap();
                },
                "tests/a.rs",
                "made executable, or no longer",
            ),
            (
                |p| {
                    std::fs::rename(p.at("project/tests/a.rs"), p.at("project/moved")).unwrap();
                    symlink("../moved", p.at("project/tests/a.rs")).unwrap();
                },
                "tests/a.rs",
                "replaced by a symbolic link",
            ),
            (
                |p| {
                    std::fs::remove_file(p.at("project/tests/link")).unwrap();
                    symlink("elsewhere", p.at("project/tests/link")).unwrap();
                },
                "tests/link",
                "replaced by a symbolic link",
            ),
            (
                |p| {
                    std::fs::remove_file(p.at("project/tests/a.rs")).unwrap();
                    std::fs::create_dir_all(p.at("project/tests/a.rs/inner")).unwrap();
                },
                "tests/a.rs",
                "replaced by a directory",
            ),
            (
                |p| {
                    std::fs::rename(p.at("project/tests/deep"), p.at("project/elsewhere")).unwrap();
                    symlink("../elsewhere", p.at("project/tests/deep")).unwrap();
                },
                "tests/deep/b.txt",
                "deleted",
            ),
            (
                |p| {
                    std::fs::remove_file(p.at("project/tests/a.rs")).unwrap();
                    plain_file::make_pipe(&p.at("project/tests/a.rs"));
                },
                "tests/a.rs",
                "replaced by a named pipe",
            ),
        ];
        for (change, path, how) in cases {
            let project = Project::new();
            let pins = project.pins();
            let pinned = pins.pin(&globs(&["tests/**"]), &[]).unwrap();
            assert_eq!(pins.changes(&pinned), []);
            std::fs::write(project.at("project/tests/new.rs"), "adding is no change").unwrap();
            change(&project);
            let changes = pins.changes(&pinned);
            assert_eq!(changes, [PinnedChange { path: path.to_owned(), how: how.to_owned() }]);
            assert_eq!(pins.restore(&pinned, &[path.to_owned()]), Vec::<String>::new());
            assert_eq!(pins.changes(&pinned), [], "{path} {how}");
        }
    }

    #[test]
    fn a_package_may_get_dependencies_but_no_other_scripts() {
        let project = Project::new();
        let write = |text: &str| std::fs::write(project.at("project/package.json"), text).unwrap();
        write(r#"{"scripts":{"test":"jest"}}"#);
        let pinned = project.pins().pin(&[], &[("package.json".to_owned(), vec![0])]).unwrap();
        write(r#"{"scripts":{"test":"jest"},"dependencies":{"left-pad":"1"}}"#);
        assert_eq!(project.pins().changes(&pinned), []);
        write(r#"{"scripts":{"test":"true"},"dependencies":{"left-pad":"2"}}"#);
        assert_eq!(project.pins().changes(&pinned).len(), 1);
        assert!(project.pins().restore(&pinned, &["package.json".to_owned()]).is_empty());
        assert_eq!(project.pins().changes(&pinned), []);
        let now = std::fs::read_to_string(project.at("project/package.json")).unwrap();
        assert!(now.contains("jest") && now.contains("\"left-pad\": \"2\""), "{now}");
    }
}
