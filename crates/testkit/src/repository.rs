//! The project's git repository: one commit, always the same one.
//!
//! Made by git once per test process and kept in memory; every further project is a copy of a dozen
//! small files, which takes less time than starting git once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Identity and date of every commit in a test, so that its hashes are the same on every machine.
pub const IDENTITY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "Ralph Test"),
    ("GIT_AUTHOR_EMAIL", "test@example.com"),
    ("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z"),
    ("GIT_COMMITTER_NAME", "Ralph Test"),
    ("GIT_COMMITTER_EMAIL", "test@example.com"),
    ("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z"),
];

/// Puts the repository into an empty folder.
pub fn create(project: &Path) {
    static TEMPLATE: OnceLock<Vec<(PathBuf, Option<Vec<u8>>)>> = OnceLock::new();
    for (path, content) in TEMPLATE.get_or_init(template) {
        let path = project.join(path);
        match content {
            Some(content) => fs::write(path, content).unwrap(),
            None => fs::create_dir_all(path).unwrap(),
        }
    }
}

/// Runs git with nothing of the machine's own configuration and gives its stdout.
#[track_caller]
pub fn git<'a>(folder: &Path, home: &Path, arguments: impl IntoIterator<Item = &'a str>) -> String {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.env("HOME", home).env("GIT_CONFIG_NOSYSTEM", "1").env("LANG", "C.UTF-8").envs(IDENTITY);
    let output = command.output().expect("git is needed by the tests");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn template() -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // Without git's own template: its sample hooks would be most of the files.
    git(path, path, ["init", "--quiet", "--initial-branch=main", "--template="]);
    fs::write(path.join("README.md"), "# A project\n").unwrap();
    git(path, path, ["add", "README.md"]);
    git(path, path, ["commit", "--quiet", "--message=Begin"]);
    let mut entries = Vec::new();
    collect(path, Path::new(""), &mut entries);
    entries
}

fn collect(root: &Path, folder: &Path, entries: &mut Vec<(PathBuf, Option<Vec<u8>>)>) {
    entries.push((folder.to_owned(), None));
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let relative = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            collect(root, &relative, entries);
        } else {
            entries.push((relative, Some(fs::read(entry.path()).unwrap())));
        }
    }
}
