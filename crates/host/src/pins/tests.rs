//! With real files: every kind of change, and its undoing.

use super::*;
use std::os::unix::fs::{PermissionsExt as _, symlink};

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

    fn pins(&self) -> PinnedFiles {
        PinnedFiles::new(&self.at("project"), &self.at("kept"))
    }
}

fn globs(globs: &[&str]) -> Vec<String> {
    globs.iter().map(|&glob| glob.to_owned()).collect()
}

fn paths(pinned: &[Pinned]) -> Vec<&str> {
    pinned.iter().map(|file| file.path.as_str()).collect()
}

fn checks(ids: &[&str]) -> Vec<CheckId> {
    ids.iter().copied().map(CheckId::new).collect()
}

#[test]
fn globs_and_scripts_are_found_and_nothing_else() {
    let project = Project::new();
    let candidates = [
        ("check.sh".to_owned(), checks(&["1"])),
        ("sh".to_owned(), checks(&["1"])),
        ("src".to_owned(), checks(&["0"])),
    ];
    for (patterns, expected) in [
        (&["tests/**"][..], &["check.sh", "tests/a.rs", "tests/deep/b.txt", "tests/link"][..]),
        (&["./tests/"], &["check.sh", "tests/a.rs", "tests/deep/b.txt", "tests/link"]),
        (&["tests/*"], &["check.sh", "tests/a.rs", "tests/deep/b.txt", "tests/link"]),
        (&["**/*.rs"], &["check.sh", "src/main.rs", "tests/a.rs"]),
        (&["*.rs"], &["check.sh"]),
        (&["**/tests/c"], &["check.sh", "ignored/tests/c"]),
        (&[], &["check.sh"]),
    ] {
        let pinned = project.pins().pin(&globs(patterns), &candidates, &Stop::default()).unwrap();
        assert_eq!(paths(&pinned), expected, "{patterns:?}");
    }
    assert!(judge_glob("a{b").is_err() && judge_glob("tests/**/*.{ts,tsx}").is_ok());
}

#[test]
fn a_file_that_would_come_first_must_stay_away() {
    let project = Project::new();
    std::fs::write(project.at("project/Makefile"), "test:").unwrap();
    let candidates = ["GNUmakefile", "makefile", "Makefile"].map(|name| (name.to_owned(), checks(&["0"])));
    let pinned = project.pins().pin(&[], &candidates, &Stop::default()).unwrap();
    assert!(project.pins().changes(&pinned).unwrap().is_empty());
    std::fs::write(project.at("project/GNUmakefile"), "test:").unwrap();
    let added = PinnedChange { path: "GNUmakefile".to_owned(), how: Change::Added };
    assert_eq!(project.pins().changes(&pinned).unwrap(), [added]);
    assert!(project.pins().restore(&pinned, &["GNUmakefile".to_owned()]).is_empty());
    assert!(project.pins().changes(&pinned).unwrap().is_empty());
}

#[test]
fn j08_every_kind_of_change_is_seen_named_and_undone() {
    type Case = (fn(&Project), &'static str, Change);
    let changed = |losses: &str| Change::Content { losses: losses.to_owned() };
    let replaced = |by: &str| Change::Replaced { by: by.to_owned() };
    let cases: [Case; 9] = [
        (|p| std::fs::write(p.at("project/tests/deep/b.txt"), "other").unwrap(), "tests/deep/b.txt", changed("")),
        (
            |p| std::fs::write(p.at("project/tests/a.rs"), "#[test]\n#[ignore]\nfn a() {}\n").unwrap(),
            "tests/a.rs",
            changed("1 test fewer, 1 test newly switched off"),
        ),
        (|p| std::fs::remove_file(p.at("project/tests/a.rs")).unwrap(), "tests/a.rs", Change::Deleted),
        (
            |p| {
                let mode = std::fs::Permissions::from_mode(0o755);
                std::fs::set_permissions(p.at("project/tests/a.rs"), mode).unwrap();
            },
            "tests/a.rs",
            Change::Mode,
        ),
        (
            |p| {
                std::fs::rename(p.at("project/tests/a.rs"), p.at("project/moved")).unwrap();
                symlink("../moved", p.at("project/tests/a.rs")).unwrap();
            },
            "tests/a.rs",
            replaced("symbolic link"),
        ),
        (
            |p| {
                std::fs::remove_file(p.at("project/tests/link")).unwrap();
                symlink("elsewhere", p.at("project/tests/link")).unwrap();
            },
            "tests/link",
            replaced("symbolic link"),
        ),
        (
            |p| {
                std::fs::remove_file(p.at("project/tests/a.rs")).unwrap();
                std::fs::create_dir_all(p.at("project/tests/a.rs/inner")).unwrap();
            },
            "tests/a.rs",
            replaced("directory"),
        ),
        (
            |p| {
                std::fs::rename(p.at("project/tests/deep"), p.at("project/elsewhere")).unwrap();
                symlink("../elsewhere", p.at("project/tests/deep")).unwrap();
            },
            "tests/deep/b.txt",
            Change::Deleted,
        ),
        (
            |p| {
                std::fs::remove_file(p.at("project/tests/a.rs")).unwrap();
                plain_file::make_pipe(&p.at("project/tests/a.rs"));
            },
            "tests/a.rs",
            replaced("named pipe"),
        ),
    ];
    for (change, path, how) in cases {
        let project = Project::new();
        let pins = project.pins();
        let pinned = pins.pin(&globs(&["tests/**"]), &[], &Stop::default()).unwrap();
        assert_eq!(pins.changes(&pinned).unwrap(), []);
        std::fs::write(project.at("project/tests/new.rs"), "adding is no change").unwrap();
        change(&project);
        let changes = pins.changes(&pinned).unwrap();
        assert_eq!(changes, [PinnedChange { path: path.to_owned(), how }]);
        assert_eq!(pins.restore(&pinned, &[path.to_owned()]), Vec::<String>::new());
        assert_eq!(pins.changes(&pinned).unwrap(), [], "{changes:?}");
    }
}

#[test]
fn a_package_may_get_dependencies_but_no_other_scripts() {
    let project = Project::new();
    let write = |text: &str| std::fs::write(project.at("project/package.json"), text).unwrap();
    write(r#"{"scripts":{"test":"jest"}}"#);
    let pinned = project.pins().pin(&[], &[("package.json".to_owned(), checks(&["0"]))], &Stop::default()).unwrap();
    write(r#"{"scripts":{"test":"jest"},"dependencies":{"left-pad":"1"}}"#);
    assert_eq!(project.pins().changes(&pinned).unwrap(), []);
    write(r#"{"scripts":{"test":"true"},"dependencies":{"left-pad":"2"}}"#);
    assert_eq!(project.pins().changes(&pinned).unwrap().len(), 1);
    assert!(project.pins().restore(&pinned, &["package.json".to_owned()]).is_empty());
    assert_eq!(project.pins().changes(&pinned).unwrap(), []);
    let now = std::fs::read_to_string(project.at("project/package.json")).unwrap();
    assert!(now.contains("jest") && now.contains("\"left-pad\": \"2\""), "{now}");
}
