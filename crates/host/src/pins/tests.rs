//! With real files: every kind of change, and its undoing.

use super::*;
use ralph_core::id::CheckId;
use std::os::unix::fs::symlink;

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

/// A judge of one check.
fn judge(path: &str, part: Part) -> Judge {
    let why = Why::Named { by: String::new() };
    Judge { path: path.to_owned(), part, why, of: vec![CheckId::new("1")], executed: false }
}

fn known(judges: Vec<Judge>) -> Known {
    Known { judges, ..Known::default() }
}

#[test]
fn globs_and_judges_are_found_and_nothing_else() {
    let project = Project::new();
    let judges = known(vec![judge("check.sh", Part::Whole)]);
    for (patterns, expected) in [
        (&["tests/**"][..], &["check.sh", "tests/a.rs", "tests/deep/b.txt", "tests/link"][..]),
        (&["./tests/"], &["check.sh", "tests/a.rs", "tests/deep/b.txt", "tests/link"]),
        (&["tests/*"], &["check.sh", "tests/a.rs", "tests/deep/b.txt", "tests/link"]),
        (&["**/*.rs"], &["check.sh", "src/main.rs", "tests/a.rs"]),
        (&["*.rs"], &["check.sh"]),
        (&["**/tests/c"], &["check.sh", "ignored/tests/c"]),
        (&[], &["check.sh"]),
    ] {
        let pinned = project.pins().pin(&globs(patterns), &[], &judges, &Stop::default()).unwrap();
        assert_eq!(paths(&pinned), expected, "{patterns:?}");
    }
    assert!(judge_glob("a{b").is_err() && judge_glob("tests/**/*.{ts,tsx}").is_ok());
}

#[test]
fn a_file_that_must_stay_away_is_seen_when_it_comes() {
    let project = Project::new();
    let judges = known(vec![judge("GNUmakefile", Part::Whole), judge("pytest", Part::Whole)]);
    let pinned = project.pins().pin(&[], &[], &judges, &Stop::default()).unwrap();
    assert!(project.pins().changes(&pinned).unwrap().is_empty());
    std::fs::write(project.at("project/GNUmakefile"), "test:").unwrap();
    std::fs::create_dir(project.at("project/pytest")).unwrap();
    let added = |path: &str| PinnedChange { path: path.to_owned(), how: Change::Added };
    assert_eq!(project.pins().changes(&pinned).unwrap(), [added("GNUmakefile"), added("pytest")]);
    assert!(project.pins().restore(&pinned, &["GNUmakefile".to_owned(), "pytest".to_owned()]).is_empty());
    assert!(project.pins().changes(&pinned).unwrap().is_empty());
}

#[test]
fn an_output_may_be_a_plain_file_that_can_be_written_and_nothing_else() {
    let project = Project::new();
    let pinned = project.pins().pin(&[], &[], &known(vec![judge("out.txt", Part::Output)]), &Stop::default()).unwrap();
    let (pins, path) = (project.pins(), project.at("project/out.txt"));
    let added = [PinnedChange { path: "out.txt".to_owned(), how: Change::Added }];
    std::fs::write(&path, "5").unwrap();
    assert!(pins.changes(&pinned).unwrap().is_empty());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(pins.changes(&pinned).unwrap(), added);
    std::fs::remove_file(&path).unwrap();
    symlink("expected.txt", &path).unwrap();
    assert_eq!(pins.changes(&pinned).unwrap(), added);
    assert!(pins.restore(&pinned, &["out.txt".to_owned()]).is_empty());
    assert!(pins.changes(&pinned).unwrap().is_empty());
}

#[test]
fn what_a_link_leads_to_is_pinned_with_it() {
    let project = Project::new();
    for (path, text) in [("outside/expected/one", "1"), ("project/data/two", "2"), ("outside/three", "3")] {
        std::fs::create_dir_all(project.at(path).parent().unwrap()).unwrap();
        std::fs::write(project.at(path), text).unwrap();
    }
    symlink(project.at("outside/expected"), project.at("project/tests/expected")).unwrap();
    symlink("../data", project.at("project/tests/data")).unwrap();
    symlink(project.at("outside/three"), project.at("project/three.sh")).unwrap();
    symlink("data", project.at("project/alias")).unwrap();
    let judges = known(vec![judge("three.sh", Part::Whole), judge("alias/two", Part::Whole)]);
    let edits: [(&str, &str); 5] = [
        ("outside/expected/one", "x"),
        ("project/data/two", "x"),
        ("outside/three", "x"),
        ("outside/expected/new", "x"),
        ("project/data/new", "x"),
    ];
    for (path, text) in edits {
        let pinned = project.pins().pin(&globs(&["tests/**"]), &[], &judges, &Stop::default()).unwrap();
        assert_eq!(project.pins().changes(&pinned).unwrap(), []);
        let before = std::fs::read(project.at(path)).ok();
        std::fs::write(project.at(path), text).unwrap();
        assert!(!project.pins().changes(&pinned).unwrap().is_empty(), "{path}");
        match before {
            Some(before) => std::fs::write(project.at(path), before).unwrap(),
            None => std::fs::remove_file(project.at(path)).unwrap(),
        }
        assert_eq!(project.pins().changes(&pinned).unwrap(), [], "{path}");
    }
    let pinned = project.pins().pin(&[], &[], &judges, &Stop::default()).unwrap();
    std::fs::remove_file(project.at("project/alias")).unwrap();
    symlink("src", project.at("project/alias")).unwrap();
    assert!(project.pins().changes(&pinned).unwrap().iter().any(|change| change.path == "alias"));
}

#[test]
fn an_installed_package_counts_by_content_alone() {
    let project = Project::new();
    let file = |path: &str, text: &str| {
        let path = project.at("project/node_modules").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let install = || {
        file("jest/index.js", "run()");
        file("jest/bin/jest.js", "index()");
        file("jest/node_modules/x/index.js", "x");
    };
    install();
    let why = Why::Installed { runner: "jest".to_owned() };
    let judges = known(vec![Judge { why, ..judge("node_modules/jest", Part::Whole) }]);
    let pins = project.pins();
    let pinned = pins.pin(&[], &[], &judges, &Stop::default()).unwrap();
    std::fs::remove_dir_all(project.at("project/node_modules")).unwrap();
    assert_eq!(pins.changes(&pinned).unwrap().len(), 1);
    install();
    file("left-pad/index.js", "pad");
    file("jest/__pycache__/a.pyc", "cache");
    assert_eq!(pins.changes(&pinned).unwrap(), [], "the same version again, another package and a cache");
    for (path, text) in [("jest/index.js", "pass"), ("jest/new.js", ""), ("jest/node_modules/core/index.js", "")] {
        file(path, text);
        assert_eq!(
            pins.changes(&pinned).unwrap(),
            [PinnedChange { path: "node_modules/jest".to_owned(), how: Change::Content { losses: String::new() } }]
        );
        install();
        let _ = std::fs::remove_file(project.at("project/node_modules/jest/new.js"));
        let _ = std::fs::remove_dir_all(project.at("project/node_modules/jest/node_modules/core"));
        assert_eq!(pins.changes(&pinned).unwrap(), []);
    }
    let told = pins.restore(&pinned, &["node_modules/jest".to_owned()]);
    assert_eq!(told.len(), 1, "nobody makes an installation again: {told:?}");
}

#[test]
fn files_with_an_ending_count_and_others_beside_them_do_not() {
    let project = Project::new();
    let judges = known(vec![judge("site", Part::Ending { ending: ".pth".to_owned() })]);
    let pins = project.pins();
    let pinned = pins.pin(&[], &[], &judges, &Stop::default()).unwrap();
    std::fs::create_dir(project.at("project/site")).unwrap();
    std::fs::write(project.at("project/site/package.py"), "").unwrap();
    std::fs::write(project.at("project/site/__editable__.x.pth"), "/p/src\n").unwrap();
    assert_eq!(pins.changes(&pinned).unwrap(), []);
    std::fs::write(project.at("project/site/evil.pth"), "import evil").unwrap();
    assert_eq!(pins.changes(&pinned).unwrap().len(), 1);
}

#[test]
fn a_mode_counts_only_for_what_is_executed_directly() {
    let project = Project::new();
    for (executed, expected) in [(false, 0), (true, 1)] {
        let judges = known(vec![Judge { executed, ..judge("check.sh", Part::Whole) }]);
        std::fs::set_permissions(project.at("project/check.sh"), std::fs::Permissions::from_mode(0o644)).unwrap();
        let pinned = project.pins().pin(&[], &[], &judges, &Stop::default()).unwrap();
        std::fs::set_permissions(project.at("project/check.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(project.pins().changes(&pinned).unwrap().len(), expected);
    }
}

#[test]
fn what_runners_leave_among_protected_files_is_not_protected() {
    let project = Project::new();
    let write = |path: &str| {
        let path = project.at("project").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    };
    std::fs::write(project.at("project/.gitignore"), "*.log\n/tests/coverage/\n").unwrap();
    for path in [
        "tests/__pycache__/a.cpython-312.pyc", "tests/.DS_Store", "tests/run.log", "tests/coverage/x.html",
        "tests/.pytest_cache/v/x",
    ] {
        write(path);
    }
    let pins = project.pins();
    let found = pins.pin(&globs(&["tests/**"]), &[], &Known::default(), &Stop::default()).unwrap();
    assert_eq!(paths(&found), ["tests/a.rs", "tests/deep/b.txt", "tests/link"]);
    std::fs::write(project.at("project/.gitignore"), "").unwrap();
    let found = pins.pin(&globs(&["tests/**"]), &[], &Known::default(), &Stop::default()).unwrap();
    assert!(paths(&found).contains(&"tests/run.log"), "a log that is no secret to git may be an expected one");
}

#[test]
fn a_pipe_among_judges_is_seen_and_never_opened() {
    let project = Project::new();
    std::fs::create_dir(project.at("project/pack")).unwrap();
    plain_file::make_pipe(&project.at("project/pack/pipe"));
    plain_file::make_pipe(&project.at("project/judge.sh"));
    let judges = known(vec![judge("pack", Part::Whole), judge("judge.sh", Part::Whole)]);
    let pinned = project.pins().pin(&[], &[], &judges, &Stop::default()).unwrap();
    assert!(matches!(&pinned[0].state, PinnedState::Other { name } if name == "named pipe"));
    assert_eq!(project.pins().changes(&pinned).unwrap(), []);
}

#[test]
fn declared_judges_are_pinned_for_their_check() {
    let project = Project::new();
    let subject =
        Subject { id: CheckId::new("x"), command: "true".to_owned(), judges: globs(&["src/**"]), work: Vec::new() };
    let pinned = project.pins().pin(&[], &[subject], &Known::default(), &Stop::default()).unwrap();
    assert_eq!(
        (paths(&pinned), &pinned[0].of, &pinned[0].why),
        (vec!["src/main.rs"], &vec![CheckId::new("x")], &Why::Declared)
    );
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
        let pinned = pins.pin(&globs(&["tests/**"]), &[], &Known::default(), &Stop::default()).unwrap();
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
    let part = Part::Package { scripts: vec!["test".to_owned()], sections: vec!["jest".to_owned()] };
    let pinned = project.pins().pin(&[], &[], &known(vec![judge("package.json", part)]), &Stop::default()).unwrap();
    write(r#"{"scripts":{"test":"jest","dev":"vite"},"dependencies":{"left-pad":"1"}}"#);
    assert_eq!(project.pins().changes(&pinned).unwrap(), []);
    write(r#"{"scripts":{"test":"true","pretest":"x","dev":"vite"},"jest":{},"dependencies":{"left-pad":"2"}}"#);
    assert_eq!(project.pins().changes(&pinned).unwrap().len(), 1);
    assert!(project.pins().restore(&pinned, &["package.json".to_owned()]).is_empty());
    assert_eq!(project.pins().changes(&pinned).unwrap(), []);
    let now = std::fs::read_to_string(project.at("project/package.json")).unwrap();
    assert!(now.contains("vite") && !now.contains("pretest") && now.contains("\"left-pad\": \"2\""), "{now}");
}

#[test]
fn a_plugin_that_announces_itself_counts_and_another_package_does_not() {
    let project = Project::new();
    let part = Part::Announced { file: "entry_points.txt".to_owned(), text: "[pytest11]".to_owned() };
    let pins = project.pins();
    let pinned = pins.pin(&[], &[], &known(vec![judge("site", part)]), &Stop::default()).unwrap();
    for (package, points, expected) in
        [("other", "[console_scripts]\nx = y\n", 0), ("evil", "[pytest11]\nevil = evil\n", 1)]
    {
        std::fs::create_dir_all(project.at("project/site").join(package)).unwrap();
        std::fs::write(project.at("project/site").join(package).join("entry_points.txt"), points).unwrap();
        assert_eq!(pins.changes(&pinned).unwrap().len(), expected, "{package}");
    }
}

#[test]
fn every_link_on_the_way_is_pinned_and_so_is_an_end_that_is_not_there() {
    for (lead_elsewhere, changed) in [
        (&["project/mid/add", "project/easy"][..], "mid/add"),
        (&["project/current", "v2"], "current"),
        (&["project/nowhere"], "nowhere"),
    ] {
        let project = Project::new();
        for folder in ["mid", "v1/golden", "v2/golden"] {
            std::fs::create_dir_all(project.at("project").join(folder)).unwrap();
        }
        for file in ["golden", "easy", "v1/golden/x", "v2/golden/x"] {
            std::fs::write(project.at("project").join(file), file).unwrap();
        }
        for (target, link) in [
            ("../mid/add", "tests/add"),
            ("../golden", "mid/add"),
            ("../current/golden/x", "tests/x"),
            ("v1", "current"),
            ("../nowhere", "tests/override"),
        ] {
            symlink(target, project.at("project").join(link)).unwrap();
        }
        let pins = project.pins();
        let pinned = pins.pin(&globs(&["tests/**"]), &[], &Known::default(), &Stop::default()).unwrap();
        assert!(pins.changes(&pinned).unwrap().is_empty());
        match lead_elsewhere {
            [link, target] => {
                std::fs::remove_file(project.at(link)).unwrap();
                symlink(target, project.at(link)).unwrap();
            }
            [file, ..] => std::fs::write(project.at(file), "exit 0").unwrap(),
            [] => {}
        }
        let changes: Vec<String> = pins.changes(&pinned).unwrap().into_iter().map(|change| change.path).collect();
        assert_eq!(changes, [changed]);
    }
}

#[test]
fn what_people_wrote_is_fixed_for_a_check_and_what_tools_write_is_not() {
    let project = Project::new();
    let pins = project.pins();
    for path in ["dist/t.js", "node_modules/.bin/jest"] {
        std::fs::create_dir_all(project.at("project").join(path).parent().unwrap()).unwrap();
        std::fs::write(project.at("project").join(path), "").unwrap();
    }
    std::fs::write(project.at("project/package.json"), "{}").unwrap();
    let package = Part::Package { scripts: vec!["test".to_owned()], sections: Vec::new() };
    let whole = ["check.sh", "dist/t.js", "node_modules/.bin/jest", "absent"].map(|path| judge(path, Part::Whole));
    let known = known(whole.into_iter().chain([judge("package.json", package)]).collect());
    let pinned = pins.pin(&globs(&["tests/*.rs"]), &[], &known, &Stop::default()).unwrap();
    let fixed = |command: &str| {
        let check = ralph_core::check::CheckSpec::new(CheckId::new("1"), command);
        pins.fixed(&pinned, &check, Path::new("in"))
    };
    assert_eq!(fixed("sh check.sh"), [Path::new("in/check.sh"), Path::new("in/tests/a.rs")]);
    assert_eq!(fixed("chmod +x ./check.sh && ./check.sh"), [Path::new("in/tests/a.rs")]);
    let speaks = |command: &str| {
        pins.speaks_of_own_files(&pinned, &ralph_core::check::CheckSpec::new(CheckId::new("1"), command))
    };
    assert!(speaks("! grep -q TODO .ralph/tasks/t/plan.md") && !speaks("sh check.sh"));
}

#[test]
fn a_link_to_a_folder_is_walked_through_where_a_glob_names_it() {
    let project = Project::new();
    std::fs::rename(project.at("project/tests"), project.at("project/spec")).unwrap();
    symlink("spec", project.at("project/tests")).unwrap();
    symlink(".", project.at("project/spec/self")).unwrap();
    let found = |patterns: &[&str]| {
        let pinned = project.pins().pin(&globs(patterns), &[], &Known::default(), &Stop::default()).unwrap();
        paths(&pinned).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let named = found(&["tests/*.rs"]);
    assert_eq!(named, ["spec/a.rs", "tests", "tests/a.rs"], "the link, and the file behind it");
    assert!(found(&["tests/**"]).contains(&"spec/deep/b.txt".to_owned()));
    assert_eq!(found(&["**/a.rs"]), ["spec/a.rs"], "a glob that names no folder walks through no link");
}

#[test]
fn what_is_expected_counts_where_a_glob_means_it() {
    let project = Project::new();
    let expecting = project.pins().expecting(globs(&["tests/gone.rs", "src/gone.rs"]));
    let pinned = expecting.pin(&globs(&["tests/*.rs"]), &[], &Known::default(), &Stop::default()).unwrap();
    assert_eq!(paths(&pinned), ["tests/a.rs", "tests/gone.rs"]);
    assert_eq!(pinned.last().unwrap().state, PinnedState::Nothing);
}

#[test]
fn every_part_of_a_file_that_is_put_back_as_a_person_accepted_it_is_told() {
    let project = Project::new();
    let pins = project.pins();
    let package = |test: &str, jest: &str| {
        let text = format!(r#"{{"scripts":{{"test":"{test}"}},"jest":{{"bail":{jest}}}}}"#);
        std::fs::write(project.at("project/package.json"), text).unwrap();
    };
    let scripts = Part::Package { scripts: vec!["test".to_owned()], sections: Vec::new() };
    let section = Part::Package { scripts: Vec::new(), sections: vec!["jest".to_owned()] };
    let judges = known(vec![judge("package.json", scripts), judge("package.json", section)]);
    let pin = || pins.pin(&[], &[], &judges, &Stop::default()).unwrap();
    package("jest", "true");
    let accepted = pin();
    package("true", "false");
    let mut pinned = pin();
    for (file, accepted) in pinned.iter_mut().zip(&accepted) {
        file.accepted = Some(accepted.state.print());
    }
    let changes = || pins.changes(&pinned).unwrap().into_iter().map(|change| change.how).collect::<Vec<_>>();
    let content = || Change::Content { losses: String::new() };
    assert_eq!(changes(), []);
    package("jest", "true");
    assert_eq!(changes(), [Change::PutBack, Change::PutBack]);
    package("jest", "false");
    assert_eq!(changes(), [Change::PutBack]);
    package("echo", "0");
    assert_eq!(changes(), [content()], "two parts of one file are one change");
}
