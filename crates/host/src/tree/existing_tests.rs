//! The tests that are there when a run begins, and which of them are not the same when it ends.
//!
//! What they hold is kept as hashes in a file of the run's own folder, one record for each test, and the journal knows
//! the hash of that file. A file that was not touched since is not read again: the time of change (ctime) is the kernel's.
//! Only contents count. A link counts with what it leads to, and nothing but plain files is ever opened.

use super::SETTLED_MILLIS;
use super::seen::{FileState, Hash, hash_file};
use crate::aside::Stop;
use crate::clock::Clock;
use crate::pins;
use crate::plain_file::{self, Links};
use crate::spool::Spool;
use ralph_core::judges;
use ralph_core::tests_changed::{TestsChanged, TestsRecord};
use ralph_core::text;
use rustix::fs::{CWD, FileType};
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Bytes that are read to know what tests hold. What is beyond them is known by its size and its time of modification.
const MOST_BYTES: u64 = 1 << 30;
/// Folders that builders fill; where git does not tell what is ignored, their names must.
const BUILT: [&str; 4] = ["target", "build", "dist", ".next"];
const FIELDS: usize = 9;

/// The tests of one project, and where they are recorded.
#[derive(Debug, Clone)]
pub struct ExistingTests {
    root: PathBuf,
    record: PathBuf,
}

/// What a test is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Hash(Hash),
    /// It was not read: its size and its time of modification tell whether it changed.
    Unread,
    /// A link that leads to no file, by where it leads.
    Link(Vec<u8>),
}

/// A test as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Recorded {
    content: Content,
    /// `None` if it had changed so shortly before that a further change would leave no trace in it.
    state: Option<FileState>,
    size: u64,
    modified: (i64, i64),
    /// Relative to the project.
    path: Vec<u8>,
}

/// What stands at a path now.
enum Standing {
    File(FileState),
    Link(Vec<u8>),
    Other,
    Nothing,
}

impl ExistingTests {
    /// For the project at `root`; the record is a file in the run's own folder.
    pub fn new(root: &Path, run_folder: &Path) -> ExistingTests {
        ExistingTests { root: root.to_owned(), record: run_folder.join("tests") }
    }

    /// Records the tests among the files that git tracks, as [`crate::git::tracked`] lists them.
    pub fn record_tracked(&self, git_root: &Path, tracked: &mut Spool, stop: &Stop) -> io::Result<TestsRecord> {
        let outside = |_| io::Error::other(format!("the project is not below {}", git_root.display()));
        let inside = self.root.strip_prefix(git_root).map_err(outside)?.as_os_str().as_bytes();
        let mut recorder = Recorder::begin(self)?;
        let (mut lines, mut line, mut last) = (tracked.read()?, Vec::new(), Vec::new());
        while lines.read_until(0, &mut line)? > 0 {
            let listed = line.strip_suffix(&[0]).unwrap_or(&line);
            let path = from_project(inside, listed);
            let decisive = if path.starts_with(b"../") { listed } else { &path };
            // A file in conflict is listed once for each side.
            if last != listed && is_test(decisive) {
                recorder.add(path, stop)?;
            }
            last.clear();
            last.extend_from_slice(listed);
            line.clear();
        }
        recorder.finish()
    }

    /// Records every test that is there, where no git tells which files are tracked.
    pub fn record_present(&self, stop: &Stop) -> io::Result<TestsRecord> {
        let is_built = |name: &OsStr| BUILT.iter().any(|built| name == *built);
        let found =
            pins::files_below(&self.root, stop, is_built, |_| false, |path| is_test(path.as_os_str().as_bytes()));
        let mut found = found.map_err(io::Error::other)?;
        found.sort_unstable();
        let mut recorder = Recorder::begin(self)?;
        for path in found {
            recorder.add(path.into_os_string().into_encoded_bytes(), stop)?;
        }
        recorder.finish()
    }

    /// The tests that do not hold what they held, by their names.
    pub fn compare(&self, record: &TestsRecord, stop: &Stop) -> io::Result<TestsChanged> {
        let (mut changed, mut chunk) = (TestsChanged::default(), Vec::new());
        self.read(record, |test| {
            if let Some(deleted) = self.compare_one(test, &mut chunk, stop)? {
                changed.add(String::from_utf8_lossy(&test.path).into_owned(), deleted);
            }
            Ok(())
        })?;
        Ok(changed)
    }

    /// The tests that were there, by their paths from the project.
    pub fn paths(&self, record: &TestsRecord) -> io::Result<HashSet<Vec<u8>>> {
        let mut paths = HashSet::new();
        self.read(record, |test| {
            paths.insert(test.path.clone());
            Ok(())
        })?;
        Ok(paths)
    }

    /// Goes through the record.
    fn read(&self, record: &TestsRecord, mut take: impl FnMut(&Recorded) -> io::Result<()>) -> io::Result<()> {
        let unread = |error: io::Error| io::Error::new(error.kind(), format!("their record cannot be read: {error}"));
        let damaged = || io::Error::other("their record is damaged");
        let mut lines = BufReader::new(plain_file::open(CWD, &self.record, Links::Refuse).map_err(unread)?);
        let (mut line, mut hash, mut count) = (Vec::new(), Sha256::new(), 0);
        while lines.read_until(0, &mut line).map_err(unread)? > 0 {
            hash.update(&line);
            count += 1;
            take(&line.strip_suffix(&[0]).and_then(Recorded::parse).ok_or_else(damaged)?)?;
            line.clear();
        }
        // Nothing of it counts unless all of it is what was written.
        let whole = count == record.count && text::hex(&hash.finalize()) == record.hash;
        whole.then_some(()).ok_or_else(damaged)
    }

    /// Whether a test differs, and then whether it is gone.
    fn compare_one(&self, test: &Recorded, chunk: &mut Vec<u8>, stop: &Stop) -> io::Result<Option<bool>> {
        let path = self.root.join(OsStr::from_bytes(&test.path));
        let state = match (standing(&path)?, &test.content) {
            (Standing::Nothing, _) => return Ok(Some(true)),
            (Standing::Link(now), Content::Link(before)) => return Ok((now != *before).then_some(false)),
            (Standing::Link(_) | Standing::Other, _) | (Standing::File(_), Content::Link(_)) => {
                return Ok(Some(false));
            }
            (Standing::File(state), _) => state,
        };
        if test.state == Some(state) {
            return Ok(None);
        }
        let same = match &test.content {
            _ if state.size != test.size => false,
            Content::Hash(before) => match content(&path, state, chunk, stop)? {
                Content::Hash(now) => now == *before,
                _ => state.modified == test.modified,
            },
            _ => state.modified == test.modified,
        };
        Ok((!same).then_some(false))
    }
}

/// Writes a record, and takes its place only when it is whole.
struct Recorder<'a> {
    tests: &'a ExistingTests,
    beside: PathBuf,
    file: BufWriter<File>,
    hash: Sha256,
    count: u64,
    chunk: Vec<u8>,
    bytes_left: u64,
}

impl<'a> Recorder<'a> {
    fn begin(tests: &'a ExistingTests) -> io::Result<Recorder<'a>> {
        let beside = tests.record.with_extension("new");
        let file = BufWriter::new(File::create(&beside)?);
        Ok(Recorder { tests, beside, file, hash: Sha256::new(), count: 0, chunk: Vec::new(), bytes_left: MOST_BYTES })
    }

    /// Adds a test, if it is there.
    fn add(&mut self, path: Vec<u8>, stop: &Stop) -> io::Result<()> {
        if stop.is_set() {
            return Err(io::Error::other("it was stopped"));
        }
        let at = self.tests.root.join(OsStr::from_bytes(&path));
        let settled = Clock::start().now().0 - SETTLED_MILLIS;
        let test = match standing(&at)? {
            Standing::Link(target) => Recorded::link(target, path),
            Standing::File(state) => {
                let left = self.bytes_left.checked_sub(state.size);
                self.bytes_left = left.unwrap_or(self.bytes_left);
                let content = match left {
                    Some(_) => content(&at, state, &mut self.chunk, stop)?,
                    None => Content::Unread,
                };
                let (size, modified) = (state.size, state.modified);
                Recorded { content, state: (state.changed_millis() < settled).then_some(state), size, modified, path }
            }
            Standing::Other | Standing::Nothing => return Ok(()),
        };
        let line = test.line();
        self.hash.update(&line);
        self.count += 1;
        self.file.write_all(&line)
    }

    fn finish(mut self) -> io::Result<TestsRecord> {
        self.file.flush()?;
        // Nothing waits for the disk: what a power cut leaves of it has another hash.
        std::fs::rename(&self.beside, &self.tests.record)?;
        Ok(TestsRecord { count: self.count, hash: text::hex(&self.hash.finalize()) })
    }
}

impl Recorded {
    fn link(target: Vec<u8>, path: Vec<u8>) -> Recorded {
        Recorded { content: Content::Link(target), state: None, size: 0, modified: (0, 0), path }
    }

    fn line(&self) -> Vec<u8> {
        let content = match &self.content {
            Content::Hash(hash) => format!("h{}", text::hex(hash)),
            Content::Unread => "u".to_owned(),
            Content::Link(target) => format!("l{}", text::hex(target)),
        };
        // An inode is never zero, so that these are the state of no file.
        let state = self.state.map_or((0, 0, (0, 0)), |state| (state.device, state.inode, state.changed));
        let ((device, inode, changed), modified) = (state, self.modified);
        let mut line = format!(
            "{content} {} {device} {inode} {} {} {} {} ",
            self.size, modified.0, modified.1, changed.0, changed.1
        )
        .into_bytes();
        line.extend_from_slice(&self.path);
        line.push(0);
        line
    }

    fn parse(line: &[u8]) -> Option<Recorded> {
        let mut fields = line.splitn(FIELDS, |byte| *byte == b' ');
        let (kind, digits) = fields.next()?.split_at_checked(1)?;
        let content = match kind {
            b"h" => Content::Hash(bytes_of(digits)?.try_into().ok()?),
            b"u" => Content::Unread,
            b"l" => Content::Link(bytes_of(digits)?),
            _ => return None,
        };
        let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse::<i64>().ok();
        let (size, device, inode) = (number()?, number()?, number()?);
        let (modified, changed) = ((number()?, number()?), (number()?, number()?));
        let (size, device, inode) = (size.cast_unsigned(), device.cast_unsigned(), inode.cast_unsigned());
        let state = (inode != 0).then_some(FileState { device, inode, size, modified, changed });
        Some(Recorded { content, state, size, modified, path: fields.next()?.to_vec() })
    }
}

/// What hexadecimal digits stand for.
fn bytes_of(digits: &[u8]) -> Option<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(byte).collect()
}

fn is_test(path: &[u8]) -> bool {
    !path.starts_with(b".ralph/") && judges::is_test(&String::from_utf8_lossy(path))
}

/// A path of the work tree, as seen from the project in the folder `inside` of it.
fn from_project(inside: &[u8], path: &[u8]) -> Vec<u8> {
    let folders: Vec<&[u8]> = inside.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
    let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let same = folders.iter().zip(&parts).take_while(|(folder, part)| folder == part).count();
    let up = folders.iter().skip(same).map(|_| b"..".as_slice());
    up.chain(parts.into_iter().skip(same)).collect::<Vec<_>>().join(&b'/')
}

/// Links are followed, so that a test counts by what a runner would read.
fn standing(path: &Path) -> io::Result<Standing> {
    match rustix::fs::stat(path) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
            return Ok(Standing::File(FileState::of(&stat)));
        }
        Err(errno) if plain_file::is_fault(&errno.into()) => return Err(unseen(path, &errno.into())),
        _ => {}
    }
    match rustix::fs::readlink(path, Vec::new()) {
        Ok(target) => Ok(Standing::Link(target.into_bytes())),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Ok(Standing::Nothing),
        Err(errno) if plain_file::is_fault(&errno.into()) => Err(unseen(path, &errno.into())),
        Err(_) => Ok(Standing::Other),
    }
}

/// What a file of this state holds, unless it may not be read.
fn content(path: &Path, state: FileState, chunk: &mut Vec<u8>, stop: &Stop) -> io::Result<Content> {
    let read = plain_file::open(CWD, path, Links::Follow).and_then(|file| {
        let opened = FileState::of(&rustix::fs::fstat(&file)?);
        Ok((opened, hash_file(file, chunk, stop)?))
    });
    match read {
        Ok((_, None)) => Err(io::Error::other("it was stopped")),
        // Somebody replaced it just now; what was read belongs to another state.
        Ok((opened, Some(_))) if opened != state => Ok(Content::Unread),
        Ok((_, Some(hash))) => Ok(Content::Hash(hash)),
        Err(error) if plain_file::is_fault(&error) => Err(unseen(path, &error)),
        Err(_) => Ok(Content::Unread),
    }
}

fn unseen(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{} cannot be read: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    struct Project {
        _place: tempfile::TempDir,
        root: PathBuf,
        tests: ExistingTests,
    }

    impl Project {
        fn with(files: &[&str]) -> Project {
            let place = tempfile::tempdir().unwrap();
            let (root, run_folder) = (place.path().join("project"), place.path().join("run"));
            fs::create_dir(&run_folder).unwrap();
            let tests = ExistingTests::new(&root, &run_folder);
            let project = Project { _place: place, root, tests };
            files.iter().for_each(|file| project.write(file, file));
            project
        }

        fn at(&self, path: &str) -> PathBuf {
            self.root.join(path)
        }

        fn write(&self, path: &str, text: &str) {
            fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
            fs::write(self.at(path), text).unwrap();
        }

        fn record(&self) -> TestsRecord {
            self.tests.record_present(&Stop::default()).unwrap()
        }

        fn changed(&self, record: &TestsRecord) -> Vec<(String, bool)> {
            let changed = self.tests.compare(record, &Stop::default()).unwrap();
            changed.files.into_iter().map(|file| (file.path, file.deleted)).collect()
        }
    }

    fn named(files: &[(&str, bool)]) -> Vec<(String, bool)> {
        files.iter().map(|(path, deleted)| ((*path).to_owned(), *deleted)).collect()
    }

    #[test]
    fn only_contents_count() {
        let names = ["same", "edited", "grown", "gone", "renamed", "touched", "mode", "restored", "replaced", "locked"];
        let files: Vec<String> = names.iter().map(|name| format!("tests/{name}.py")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let project = Project::with(&files);
        project.write("src/main.py", "x");
        let record = project.record();
        assert_eq!(record.count, 10);
        assert_eq!(project.changed(&record), []);
        project.write("tests/edited.py", "tests/edited.PY");
        project.write("tests/grown.py", "more than before");
        fs::remove_file(project.at("tests/gone.py")).unwrap();
        fs::rename(project.at("tests/renamed.py"), project.at("tests/new_name.py")).unwrap();
        project.write("tests/touched.py", "tests/touched.py");
        fs::set_permissions(project.at("tests/mode.py"), fs::Permissions::from_mode(0o755)).unwrap();
        project.write("tests/restored.py", "something else");
        fs::remove_file(project.at("tests/restored.py")).unwrap();
        project.write("tests/restored.py", "tests/restored.py");
        fs::remove_file(project.at("tests/replaced.py")).unwrap();
        plain_file::make_pipe(&project.at("tests/replaced.py"));
        fs::set_permissions(project.at("tests/locked.py"), fs::Permissions::from_mode(0o000)).unwrap();
        project.write("src/main.py", "y");
        project.write("tests/added.py", "z");
        let expected = [
            ("tests/edited.py", false),
            ("tests/gone.py", true),
            ("tests/grown.py", false),
            ("tests/renamed.py", true),
            ("tests/replaced.py", false),
        ];
        let expected = named(&expected);
        let mut changed = project.changed(&record);
        changed.sort();
        assert_eq!(changed, expected);
    }

    #[test]
    fn an_edit_with_a_forged_date_is_seen() {
        let project = Project::with(&["tests/a.py"]);
        let time = fs::metadata(project.at("tests/a.py")).unwrap().modified().unwrap();
        let record = project.record();
        project.write("tests/a.py", "tests/b.py");
        File::options().write(true).open(project.at("tests/a.py")).unwrap().set_modified(time).unwrap();
        assert_eq!(project.changed(&record), named(&[("tests/a.py", false)]));
    }

    #[test]
    fn a_link_counts_with_what_it_leads_to() {
        let project = Project::with(&["tests/a.py", "data/one.txt", "data/two.txt"]);
        symlink("../data/one.txt", project.at("tests/linked.txt")).unwrap();
        symlink("../data", project.at("tests/folder")).unwrap();
        symlink("nowhere", project.at("tests/dangling.txt")).unwrap();
        let record = project.record();
        assert_eq!((record.count, project.changed(&record)), (4, vec![]));
        project.write("data/one.txt", "changed!!!!!");
        fs::remove_file(project.at("tests/folder")).unwrap();
        symlink("..", project.at("tests/folder")).unwrap();
        // The same test, only no longer behind a link of its own.
        fs::create_dir(project.at("elsewhere")).unwrap();
        fs::rename(project.at("tests/a.py"), project.at("elsewhere/a.py")).unwrap();
        symlink("../elsewhere/a.py", project.at("tests/a.py")).unwrap();
        let mut changed = project.changed(&record);
        changed.sort();
        assert_eq!(changed, named(&[("tests/folder", false), ("tests/linked.txt", false)]));
    }

    #[test]
    fn names_are_told_as_seen_from_the_project() {
        for (inside, path, expected) in [
            ("", "tests/a.py", "tests/a.py"),
            ("app", "app/tests/a.py", "tests/a.py"),
            ("app/web", "app/tests/a.py", "../tests/a.py"),
            ("app/web", "tests/a.py", "../../tests/a.py"),
            ("app", "apple/tests/a.py", "../apple/tests/a.py"),
        ] {
            assert_eq!(from_project(inside.as_bytes(), path.as_bytes()), expected.as_bytes());
        }
    }

    #[test]
    fn of_what_is_listed_only_tests_that_are_there_are_recorded_and_a_conflict_once() {
        let project = Project::with(&["tests/a.py", "src/a.py", ".ralph/tests/x.py"]);
        let mut listed = Spool::new(&project.root);
        ["app/.ralph/tests/x.py", "app/src/a.py", "app/tests/a.py", "app/tests/a.py", "app/tests/away.py"]
            .iter()
            .for_each(|path| listed.push(format!("{}\0", path.replacen("app", "project", 1)).as_bytes()));
        let above = project.root.parent().unwrap().to_owned();
        let record = project.tests.record_tracked(&above, &mut listed, &Stop::default()).unwrap();
        assert_eq!(record.count, 1);
        fs::remove_dir_all(project.at("tests")).unwrap();
        assert_eq!(project.changed(&record), named(&[("tests/a.py", true)]));
    }

    #[test]
    fn without_git_what_others_built_or_installed_is_no_test() {
        let others = ["node_modules/x/test/a.js", "target/debug/tests/a.rs", ".venv/x/tests/a.py", ".git/tests/a.py"];
        let project = Project::with(&others);
        project.write("tests/__pycache__/a.pyc", "x");
        project.write("tests/a.py", "x");
        assert_eq!(project.record().count, 1);
    }

    #[test]
    fn a_record_that_is_not_the_one_of_the_start_is_not_believed() {
        let project = Project::with(&["tests/a.py", "tests/b.py"]);
        let record = project.record();
        let file = project.tests.record.clone();
        let lines = fs::read(&file).unwrap();
        let first = lines.iter().position(|byte| *byte == 0).unwrap();
        for forged in [&lines[first + 1..], &lines[..first], b"", b"rubbish\0"] {
            fs::write(&file, forged).unwrap();
            let error = project.tests.compare(&record, &Stop::default()).unwrap_err().to_string();
            assert_eq!(error, "their record is damaged");
        }
        fs::remove_file(&file).unwrap();
        let error = project.tests.compare(&record, &Stop::default()).unwrap_err().to_string();
        assert!(error.starts_with("their record cannot be read: "), "{error}");
    }

    #[test]
    fn nobody_waits_for_a_look_that_was_stopped() {
        let project = Project::with(&["tests/a.py"]);
        let record = project.record();
        let stop = Stop::default();
        stop.set();
        assert!(project.tests.record_present(&stop).is_err());
        project.write("tests/a.py", "tests/b.py");
        assert!(project.tests.compare(&record, &stop).is_err());
    }
}
