//! `ralph plan`: writing, checking, showing, importing and keeping plans, whatever stands in the way.

use crate::env;
use ralph_testkit::TestEnv;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

const TASKS: &str = "ralph/tasks.json";
const MEND: &str = "hint: mend it, then look again: ralph plan check\n";

fn story(id: &str) -> Value {
    json!({
        "id": id, "title": format!("Title of {id}"), "description": "d", "acceptanceCriteria": ["it works"],
        "priority": 1, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "",
        "dependsOn": []
    })
}

fn with(mut story: Value, fields: Value) -> Value {
    for (key, value) in fields.as_object().unwrap() {
        story[key] = value.clone();
    }
    story
}

fn done(id: &str, reviews: u32) -> Value {
    with(story(id), json!({"passes": true, "reviewStatus": "approved", "reviewCount": reviews, "notes": "n"}))
}

fn tasks(stories: &[Value]) -> String {
    let file = json!({
        "project": "shop", "branchName": "ralph/order-status", "description": "Orders have a status.",
        "verifyCommands": ["true"], "userStories": stories
    });
    format!("{file:#}\n")
}

/// A project with a plan of these stories.
fn planned(stories: &[Value]) -> TestEnv {
    let env = env();
    env.ralph(["plan", "init", "-q"]).stdout_has("wrote ralph/tasks.json").run();
    env.write("ralph/prd.md", "# Shop\n\n## Summary\n\nOrders have a status.\n").write(TASKS, &tasks(stories));
    env.git(["add", "-A"]);
    env.git(["commit", "-qm", "plan"]);
    env
}

#[test]
fn init_writes_the_four_files_and_ignores_the_marker_once() {
    let env = env();
    env.write(".gitignore", "target\n");
    env.ralph(["plan", "init", "--name", "Order status!"])
        .stdout("wrote ralph/prd.md\nwrote ralph/tasks.json\nwrote ralph/progress.txt\nwrote ralph/prompt.md\n")
        .stderr(
            "next:\n  1. write ralph/prd.md and the stories in ralph/tasks.json, or let an agent ask you: ralph plan draft\n  \
             2. check it: ralph plan check\n  3. commit it: git add ralph .gitignore && git commit -m 'plan'\n  \
             4. start it: ralph run --plan\n",
        )
        .run();
    let written: Value = serde_json::from_str(&env.read(TASKS)).unwrap();
    assert_eq!((&written["branchName"], &written["project"]), (&json!("ralph/Order-status"), &json!("project")));
    assert!(env.read("ralph/progress.txt").contains("\n---\n"));
    assert!(env.read("ralph/prompt.md").contains("ralph/tasks.json"));
    assert_eq!(env.read(".gitignore"), "target\n.ralph-active\n");
    let again = env.ralph(["plan", "init"]).code(2);
    again
        .stderr(
            "error: there is a plan already: ralph/prd.md, tasks.json, progress.txt, prompt.md\n\
             hint: look at it: ralph plan status\nhint: keep it, and begin with an empty one: ralph plan archive\n\
             hint: write only what is missing: ralph plan init --missing\n\
             hint: begin anew, with the old files beside the new ones: ralph plan init --force\n",
        )
        .run();
    fs::remove_file(env.path("ralph/prompt.md")).unwrap();
    env.write("ralph/prd.md", "# Mine\n\nwords\n");
    env.ralph(["plan", "init", "--missing", "-q"]).stdout("wrote ralph/prompt.md\n").run();
    assert_eq!(env.read("ralph/prd.md"), "# Mine\n\nwords\n");
    env.ralph(["plan", "init", "--force", "--json"]).stdout_has(r#""kept":["ralph/prd.md.old"]"#).run();
    assert_eq!(env.read("ralph/prd.md.old"), "# Mine\n\nwords\n");
    assert_eq!(env.read(".gitignore"), "target\n.ralph-active\n", "once");
}

#[test]
fn a_plan_stands_in_a_folder_of_its_own_inside_the_project() {
    let env = env();
    env.ralph(["plan", "init", "--dir", "plans/cart", "-q"]).stdout_has("wrote plans/cart/prd.md\n").run();
    env.settings(json!({"plan": {"dir": "plans/cart"}}));
    env.write("plans/cart/tasks.json", &tasks(&[story("A")]));
    env.ralph(["plan", "check"]).stdout("the plan in plans/cart/ is fine (1 story)\n").run();
    fs::create_dir(env.path("deep")).unwrap();
    env.ralph(["plan", "check", "--dir", "../plans/cart"])
        .current_dir(env.path("deep"))
        .stdout("the plan in plans/cart/ is fine (1 story)\n")
        .run();
    symlink("/tmp", env.path("elsewhere")).unwrap();
    for (dir, why) in [
        ("..", "it is outside the project"),
        ("/tmp", "it is outside the project"),
        ("elsewhere", "it is outside the project"),
        (".", "it is the project itself"),
        (".ralph/plan", "what stands there is not part of the project"),
        (".git", "what stands there is not part of the project"),
    ] {
        env.ralph(["plan", "init", "--dir", dir])
            .code(2)
            .stderr(format!(
                "error: `{dir}` cannot be the folder of a plan: {why}\n\
                 hint: give a folder inside the project: --dir ralph\n"
            ))
            .run();
    }
    for (plan, message) in [
        (json!({"reviewCap": 0}), "plan.reviewCap: expected a whole number of at least 1, found 0"),
        (json!({"branch": "make"}), "plan.branch: expected check, create or ignore, found \"make\""),
        (json!({"review": {"agent": 1}}), "plan.review.agent: expected a string"),
        (json!({"context": {"thresholds": [0]}}), "plan.context.thresholds[0]: expected a whole number of at least 1"),
    ] {
        let env = self::env();
        env.settings(json!({ "plan": plan }));
        env.ralph(["plan", "status"]).code(2).stderr_has(message).run();
    }
}

/// What may stand in the place of a plan's file, how it comes there, and what is said.
#[test]
fn every_kind_of_broken_plan_is_named_and_left_as_it_is() {
    let cycle = [with(story("A"), json!({"dependsOn": ["B"]})), with(story("B"), json!({"dependsOn": ["A"]}))];
    let texts: Vec<(&str, String, &str)> = vec![
        ("empty", String::new(), "ralph/tasks.json is empty"),
        ("blank", " \n".to_owned(), "ralph/tasks.json is empty"),
        ("no JSON", "{\n  \"project\": ,\n}".to_owned(), "ralph/tasks.json is not JSON: line 2, column 14"),
        ("half", tasks(&[story("A")])[..200].to_owned(), "ralph/tasks.json is not JSON: line"),
        ("a list", "[]".to_owned(), "ralph/tasks.json must be a JSON object"),
        ("no stories", "{\"project\":\"p\",\"description\":\"d\"}".to_owned(), "top-level field: 'userStories'"),
        ("an empty list", tasks(&[]), "ralph/tasks.json: 'userStories' holds no story"),
        (
            "twice",
            tasks(&[story("A")]).replacen("\"title\"", "\"notes\": \"x\", \"title\"", 1),
            "ralph/tasks.json: Story A: 'notes' stands twice",
        ),
        ("wrong type", tasks(&[with(story("A"), json!({"passes": "yes"}))]), "Story A: field 'passes' has wrong type"),
        ("odd id", tasks(&[story("a b\u{1b}[31m")]), "must be 1 to 64 of the characters"),
        ("same id", tasks(&[story("A"), story("A")]), "ralph/tasks.json: Duplicate story ID: 'A'"),
        (
            "no criteria",
            tasks(&[with(story("A"), json!({"acceptanceCriteria": []}))]),
            "'acceptanceCriteria' must not be empty",
        ),
        (
            "unknown",
            tasks(&[with(story("A"), json!({"dependsOn": ["Z"]}))]),
            "'dependsOn' names 'Z', which is not in the plan",
        ),
        ("cycle", tasks(&cycle), "'dependsOn' is a cycle: A → B"),
        ("passes unapproved", tasks(&[with(story("A"), json!({"passes": true, "notes": "n"}))]), "Story A"),
        ("above the cap", tasks(&[with(story("A"), json!({"reviewCount": 7}))]), "reviewCount=7"),
    ];
    let env = planned(&[story("A")]);
    for (name, text, message) in &texts {
        env.write(TASKS, text);
        for command in ["check", "status", "archive"] {
            let run = env.ralph(["plan", command]).code(2).stderr_has(message).stderr_has(MEND).run();
            assert!(run.stderr.starts_with("error: "), "{name}: {}", run.stderr);
            assert!(!run.stderr.contains('\u{1b}'), "{name}");
        }
        let object = env.ralph(["plan", "check", "--json"]).code(2).stdout_has("\"ok\":false").run();
        assert_eq!(object.json_lines()[0]["problems"][0]["file"], TASKS, "{name}");
        assert_eq!(&env.read(TASKS), text, "{name}");
    }
    assert!(!env.exists("ralph-archive"));
    let bytes = [&b"\xff\xfe"[..], tasks(&[story("A")]).as_bytes()].concat();
    fs::write(env.path(TASKS), bytes).unwrap();
    env.ralph(["plan", "check"]).code(2).stderr_has("ralph/tasks.json is not UTF-8 (byte 0)").stderr_has(MEND).run();
    env.write(TASKS, &format!("\u{feff}{}", tasks(&[story("A")])));
    env.ralph(["plan", "check"]).stdout("the plan in ralph/ is fine (1 story)\n").run();
}

#[test]
fn what_is_no_file_is_named_and_nothing_waits_for_it() {
    let env = planned(&[story("A")]);
    let path = env.path(TASKS);
    let fifo = || assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let put: [(&str, &dyn Fn(), &str); 6] = [
        ("gone", &|| {}, "ralph/tasks.json is not there"),
        (
            "a link",
            &|| symlink(env.path("ralph/prd.md"), &path).unwrap(),
            "ralph/tasks.json is a symbolic link, not a file",
        ),
        ("a loop", &|| symlink(&path, &path).unwrap(), "ralph/tasks.json is a symbolic link, not a file"),
        ("a directory", &|| fs::create_dir(&path).unwrap(), "ralph/tasks.json is a directory, not a file"),
        ("a pipe", &fifo, "ralph/tasks.json could not be read: it is a named pipe, not a file"),
        (
            "50 MB",
            &|| fs::File::create(&path).unwrap().set_len(50 << 20).unwrap(),
            "ralph/tasks.json has 52428800 bytes",
        ),
    ];
    for (name, put, message) in put {
        if path.is_dir() {
            fs::remove_dir(&path).unwrap();
        } else {
            let _ = fs::remove_file(&path);
        }
        put();
        for command in [["plan", "check"], ["plan", "status"], ["plan", "archive"]] {
            let run = env
                .ralph(command)
                .code(2)
                .stderr_has(message)
                .stderr_has(MEND)
                .time_limit(Duration::from_secs(60))
                .run();
            assert!(run.stdout.is_empty(), "{name}");
        }
        env.ralph(["plan", "init"]).code(2).stderr_has("there is a plan already").stderr_has("hint: ").run();
    }
    for (file, also) in [
        ("prd.md", "ralph/prd.md is not there; write what is missing: ralph plan init --missing"),
        ("prompt.md", "ralph/prompt.md is not there"),
    ] {
        let env = planned(&[story("A")]);
        fs::remove_file(env.path("ralph").join(file)).unwrap();
        env.ralph(["plan", "check"]).code(2).stderr_has(also).stderr_has(MEND).run();
        env.ralph(["plan", "archive", "--force"]).code(2).stderr_has(also).stderr_has(MEND).run();
        env.ralph(["plan", "init", "--missing", "-q"]).stdout(format!("wrote ralph/{file}\n")).run();
        env.ralph(["plan", "check", "-q"]).stdout_has("is fine").run();
    }
    let env = self::env();
    for command in ["check", "status", "archive", "draft"] {
        env.ralph(["plan", command])
            .code(2)
            .stderr("error: there is no plan in ralph/: run ralph plan init first\nhint: make one: ralph plan init\n")
            .run();
    }
}

#[test]
fn ten_thousand_stories_are_a_plan_and_ten_thousand_problems_a_short_message() {
    let stories: Vec<Value> = (0..10_000).map(|at| story(&format!("S-{at}"))).collect();
    let env = planned(&stories);
    env.ralph(["plan", "check"]).stdout("the plan in ralph/ is fine (10000 stories)\n").run();
    let broken: Vec<Value> = stories.into_iter().map(|one| with(one, json!({"title": ""}))).collect();
    env.write(TASKS, &tasks(&broken));
    let run = env.ralph(["plan", "check"]).code(2).stderr_has("has 10000 problems:\n").stderr_has(MEND).run();
    assert!(run.stderr.contains("\n  and 9980 more\n") && run.stderr.lines().count() < 30, "{}", run.stderr);
    let all = env.ralph(["plan", "check", "--json"]).code(2).stdout_has("\"ok\":false").run();
    assert_eq!(all.json_lines()[0]["problems"].as_array().unwrap().len(), 10_000);
}

#[test]
fn status_tells_the_stories_and_what_comes_next() {
    let waiting = with(story("C"), json!({"dependsOn": ["B"]}));
    let env =
        planned(&[done("A", 2), with(story("B"), json!({"reviewStatus": "needs_review", "reviewCount": 1})), waiting]);
    let status =
        env.ralph(["plan", "status"]).stdout_has("plan: 3 stories, 1 done, about 4 iterations needed (15 allowed)\n");
    let status = status.stdout_has("\nnext: review B: Title of B, review 2 of at most 5\n").run();
    assert!(status.stdout.contains("C  waits for B"), "{}", status.stdout);
    env.settings(json!({"plan": {"maximumIterations": 3, "reviewCap": 2}}));
    env.ralph(["plan", "status"]).stdout_has("warning: the plan needs about 4 iterations and 3 are allowed").run();
    let object = env.ralph(["plan", "status", "--json"]).stdout_has("\"stories\"").run().json_lines().remove(0);
    assert_eq!((&object["reviewCap"], &object["allowed"], &object["dir"]), (&json!(2), &json!(3), &json!("ralph")));
    assert_eq!(object["next"], json!({"mode": "review", "story": "B"}));
    assert_eq!(object["budget"]["needed"], 4);
    let env = planned(&[done("A", 1)]);
    env.ralph(["plan", "status"]).stdout_has("next: every story is done; keep it: ralph plan archive\n").run();
}

#[test]
fn plans_of_other_tools_become_stories_and_what_is_lost_is_told() {
    let prd_json = json!({"project": "x", "branchName": "ralph/y", "userStories": [
        {"id": "US-1", "title": "One", "description": "d", "acceptanceCriteria": ["c"], "priority": 1, "passes": true, "notes": ""},
        {"id": "US-2", "title": "Two", "description": "d", "acceptanceCriteria": ["c"], "priority": 2, "passes": false, "notes": ""}
    ]});
    let issues = json!([{"number": 7, "title": "Bug", "body": "words", "labels": [], "state": "OPEN"}]);
    for (name, text, stories, done) in [
        ("prd.json", prd_json.to_string(), 2, 1),
        ("fix_plan.md", "- [x] first thing\n- [ ] second thing\n".to_owned(), 2, 1),
        (
            "plan.md",
            "# Plan\n\n## Task 1: Login\n\n- [ ] it works\n\n## Task 2: Logout\n\n- [ ] it works\n".to_owned(),
            2,
            0,
        ),
        ("issues.json", issues.to_string(), 1, 0),
    ] {
        let env = env();
        env.write(name, &text);
        let import = env.ralph(["plan", "import", name]).stdout_has(&format!(" ({done} done) from "));
        import
            .stderr_has("next: ralph plan check\n")
            .stderr_unchecked("what could not be mapped depends on the tool")
            .run();
        let written: Value = serde_json::from_str(&env.read(TASKS)).unwrap();
        assert_eq!(written["userStories"].as_array().unwrap().len(), stories, "{name}");
        if done == 1 {
            assert_eq!(written["userStories"][0]["reviewStatus"], "approved", "{name}");
            assert_eq!(written["userStories"][0]["reviewCount"], 0, "{name}");
        }
        env.ralph(["plan", "check", "-q"]).stdout_has("is fine").run();
        assert!(
            ["prd.md", "progress.txt", "prompt.md"].iter().all(|file| env.exists(format!("ralph/{file}"))),
            "{name}"
        );
        assert!(env.read(".gitignore").contains(".ralph-active"));
    }
    let env = env();
    let import = env.ralph(["plan", "import", "-", "--reopen"]).stdin(prd_json.to_string());
    import.stdout_has("imported 2 stories (1 of them were done and are open again)").stderr_has("next: ").run();
    assert_eq!(serde_json::from_str::<Value>(&env.read(TASKS)).unwrap()["userStories"][0]["passes"], false);
}

#[test]
fn an_import_takes_nothing_away_and_refuses_what_is_no_plan() {
    let env = planned(&[story("A")]);
    let before = env.read(TASKS);
    env.write("todo.md", "- [ ] one\n");
    env.ralph(["plan", "import", "todo.md"])
        .code(2)
        .stderr(
            "error: there is a plan already: ralph/tasks.json\nhint: look at it: ralph plan status\n\
             hint: put the imported one in its place, with the old one beside it: --force\n",
        )
        .run();
    assert_eq!(env.read(TASKS), before);
    for (name, text, why) in [
        ("prose.md", "Nothing to do here.\n", "there are no tasks in the file"),
        ("broken.json", "{\"userStories\": [", "is not valid JSON"),
        ("empty.md", "", "there are no tasks in the file"),
    ] {
        env.write(name, text);
        env.ralph(["plan", "import", name, "--force"])
            .code(2)
            .stderr_has(&format!("error: {name} cannot be imported"))
            .stderr_has(why)
            .stderr_has("hint: see what can be imported: ralph plan import --help\n")
            .run();
    }
    fs::write(env.path("bytes"), b"\xff\xff").unwrap();
    fs::File::create(env.path("huge")).unwrap().set_len(50 << 20).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(env.path("pipe")).status().unwrap().success());
    for (name, why) in [
        ("bytes", "not text in UTF-8"),
        ("huge", "more than the 16777216"),
        ("gone", "No such file"),
        ("pipe", "named pipe"),
        ("gone-too", "No such file"),
    ] {
        env.ralph(["plan", "import", name, "--force"])
            .code(2)
            .stderr_has(&format!("{name} cannot be "))
            .stderr_has(why)
            .stderr_has("hint: see what can be imported: ralph plan import --help\n")
            .time_limit(Duration::from_secs(60))
            .run();
    }
    assert_eq!(env.read(TASKS), before);
    let import = env.ralph(["plan", "import", "todo.md", "--force"]);
    import
        .stdout_has("kept the old one as ralph/tasks.json.old\n")
        .stderr_has("note: No acceptance criteria")
        .stderr_has("next: ")
        .run();
    assert_eq!(env.read("ralph/tasks.json.old"), before);
    // A folder of the plugin brings its requirements and its log along.
    let other = planned(&[story("B")]);
    let import = self::env();
    let run = import.ralph(["plan", "import", &other.path("ralph").display().to_string()]);
    run.stdout_has("imported 1 story (0 done) from a tasks.json with reviews into ralph/tasks.json\n")
        .stderr_has("next: ")
        .run();
    assert_eq!(import.read("ralph/prd.md"), other.read("ralph/prd.md"));
}

#[test]
fn an_archive_is_one_commit_of_exactly_its_files() {
    let env = planned(&[done("A", 2), done("B", 1)]);
    env.write("ralph/progress.txt", "# Log\n\nStarted: 2026-11-02\n\n---\nwords\n");
    env.write("ralph/prompt.md", "my own template\n").write("staged.txt", "s").write("loose.txt", "l");
    env.git(["add", "staged.txt"]);
    let (prd, before) = (env.read("ralph/prd.md"), env.git(["rev-parse", "HEAD"]));
    let archive = env
        .ralph(["plan", "archive"])
        .stderr_has("committed as ")
        .stderr_has("archive(ralph): order-status — 2/2 stories\n");
    let folder = archive.stdout_has("-order-status\n").run().stdout.trim().to_owned();
    assert!(folder.starts_with("ralph-archive/20"), "{folder}");
    assert_eq!(env.read(format!("{folder}/prd.md")), prd);
    assert_eq!(env.read(format!("{folder}/tasks.json")), tasks(&[done("A", 2), done("B", 1)]));
    let summary = env.read(format!("{folder}/summary.md"));
    assert!(summary.contains("- Stories: 2 of 2 done\n- Dates: 2026-11-02 to 20"), "{summary}");
    assert_eq!(env.read("ralph/prompt.md"), "my own template\n");
    assert!(env.read(TASKS).contains("\"title\": \"\"") && env.read("ralph/prd.md").contains("<!--"));
    assert_eq!(env.git(["rev-parse", "HEAD^"]), before);
    assert_eq!(env.git(["log", "-1", "--format=%s"]).trim(), "archive(ralph): order-status — 2/2 stories");
    let files = env.git(["show", "--format=", "--name-only", "--no-renames", "HEAD"]);
    let mut files: Vec<&str> = files.lines().collect();
    files.sort_unstable();
    let mut expected: Vec<String> =
        ["prd.md", "progress.txt", "summary.md", "tasks.json"].map(|file| format!("{folder}/{file}")).into();
    expected.extend(["ralph/prd.md", "ralph/progress.txt", "ralph/tasks.json"].map(str::to_owned));
    expected.sort_unstable();
    assert_eq!(files, expected);
    assert_eq!(
        env.git(["status", "--porcelain"]),
        "A  staged.txt\n M ralph/prompt.md\n?? loose.txt\n"
            .replace("A  staged.txt\n M ralph/prompt.md\n", " M ralph/prompt.md\nA  staged.txt\n")
    );
    env.write(TASKS, &tasks(&[done("A", 1)]));
    let second = env.ralph(["plan", "archive", "-q"]).stdout_has("-order-status-2\n").run();
    assert_eq!(second.stdout.trim(), format!("{folder}-2"));
    env.write(TASKS, &tasks(&[done("A", 1)]));
    env.ralph(["plan", "archive", "-q", "--label", "../first try"]).stdout_has("-..-first-try\n").run();
}

#[test]
fn an_unfinished_plan_is_kept_only_by_force_and_without_git_nothing_is_committed() {
    let env = planned(&[done("A", 1), story("B")]);
    let before = env.read(TASKS);
    env.ralph(["plan", "archive"])
        .code(2)
        .stderr(
            "error: the plan in ralph/ is not finished: 1 of 2 stories are done; open: B\n\
             hint: go on with it: ralph plan status\nhint: keep it as it is: ralph plan archive --force\n",
        )
        .run();
    assert!(!env.exists("ralph-archive") && env.read(TASKS) == before);
    env.ralph(["plan", "archive", "--force"]).stdout_has("-order-status\n").stderr_has("— 1/2 stories\n").run();
    let env = self::env().without_git();
    env.ralph(["plan", "init", "-q"]).stdout_has("wrote").run();
    env.write(TASKS, &tasks(&[done("A", 1)]));
    env.ralph(["plan", "archive"])
        .stdout_has("-order-status\n")
        .stderr("no git repository here, so nothing was committed\n")
        .run();
}

#[test]
fn an_archive_that_git_cannot_commit_is_kept_and_told() {
    let env = planned(&[done("A", 1)]);
    env.write(".git/index.lock", "");
    let head = env.git(["rev-parse", "HEAD"]);
    let run = env.ralph(["plan", "archive"]).code(1).stdout_has("-order-status\n");
    let run = run
        .stderr_has("warning: the archive is not committed: ")
        .stderr_has("index.lock is there")
        .stderr_has("hint: in [PROJECT]: git add -- ")
        .run();
    assert_eq!(env.git(["rev-parse", "HEAD"]), head);
    assert_eq!(env.read(format!("{}/tasks.json", run.stdout.trim())), tasks(&[done("A", 1)]));
    // Where nothing can be written, the plan is as it was.
    let env = planned(&[done("A", 1)]);
    env.write("ralph-archive", "a file in the way");
    let before = env.read(TASKS);
    env.ralph(["plan", "archive"]).code(2).stderr_has("cannot be written; the plan is as it was").run();
    assert_eq!(env.read(TASKS), before);
}

#[test]
fn nobody_exchanges_the_files_of_a_plan_on_which_a_run_works() {
    let env = planned(&[done("A", 1)]);
    env.write("todo.md", "- [ ] one\n");
    env.script("append $HOME/launches 1\\n\nwait-file $HOME/go\nclaim\n").guardrail("true");
    let run = env.ralph(["run", "-p", "x"]).stdout_has("complete").spawn();
    run.wait_for_file(env.home().join("launches"));
    for arguments in [&["plan", "archive"][..], &["plan", "init", "--force"], &["plan", "import", "todo.md", "--force"]]
    {
        env.ralph(arguments)
            .code(75)
            .stderr_has("error: another ralph owns [PROJECT]: process ")
            .stderr_has("hint: look at it: ralph status\nhint: stop it: ralph cancel ")
            .run();
    }
    env.ralph(["plan", "status"]).stdout_has(" works in this project now: ralph show ").run();
    fs::write(env.home().join("go"), "").unwrap();
    run.finish();
    assert_eq!(env.read(TASKS), tasks(&[done("A", 1)]));
}

/// An agent that notes how it was started, and does this.
fn drafting(env: &TestEnv, does: &str) {
    let text = format!("#!/bin/sh\nfor arg in \"$@\"; do printf '%s\\n' \"$arg\"; done > \"$HOME/args\"\n{does}\n");
    let path = env.program("claude", &text);
    env.settings(json!({"agent": {"command": path, "flags": ["-p", "--mine"], "model": "opus"}}));
}

#[test]
fn a_draft_is_a_conversation_with_the_agent_and_then_a_check() {
    let env = env();
    env.ralph(["plan", "init", "-q"]).stdout_has("wrote").run();
    fs::write(env.home().join("tasks"), tasks(&[story("A")])).unwrap();
    drafting(&env, "read answer; echo \"heard $answer\"; cp \"$HOME/tasks\" ralph/tasks.json");
    let draft = env.ralph(["plan", "draft", "a cart"]).stdin("yes\n");
    draft.stdout("heard yes\nthe plan in ralph/ is fine (1 story)\n").run();
    let args = fs::read_to_string(env.home().join("args")).unwrap();
    assert!(args.starts_with("--model\nopus\n--mine\n# Plan a feature for ralph\n"), "{args}");
    assert!(args.contains("What the person wants: a cart\n") && args.contains("*Full planning*.\n"), "{args}");
    env.write("ralph/prd.md", "# Cart\n\n## Summary\n\nA cart.\n");
    drafting(&env, "echo more >> ralph/prd.md; echo {} > ralph/tasks.json; exit 3");
    let draft =
        env.ralph(["plan", "draft"]).code(2).stderr_has("note: ralph/prd.md was written before and is changed now");
    draft
        .stderr_has("ended with exit status: 3")
        .stderr_has("error: the plan in ralph/ has 3 problems:\n")
        .stderr_has(MEND)
        .run();
    let args = fs::read_to_string(env.home().join("args")).unwrap();
    assert!(
        args.contains("What the person wants: ask them.\n") && args.contains("`prd.md` is written: leave it"),
        "{args}"
    );
    env.ralph(["plan", "draft", "--agent", "no-such-agent"])
        .code(5)
        .stderr_has("error: the agent `no-such-agent` cannot be started\n")
        .stderr_has("hint: see which agents could run here: ralph doctor\n")
        .stderr_unchecked("the settings are for another agent")
        .run();
}

#[test]
fn a_dry_run_shows_the_first_prompt_of_a_plan_and_the_hooks_of_this_run_alone() {
    let env = planned(&[done("A", 1), story("B")]);
    env.agent_as("claude").write("mine.json", r#"{"model": "m", "hooks": {"Stop": [1]}}"#);
    env.settings(json!({"agent": {"flags": ["--settings", "mine.json"]}}));
    let dry = |more: &[&str]| {
        let arguments = [&["run", "--plan", "--dry-run", "--json"], more].concat();
        env.ralph(arguments).stdout_has("\"prompt\":").run().json_lines().remove(0)
    };
    let shown = dry(&[]);
    let prompt = shown["prompt"].as_str().unwrap();
    assert!(prompt.contains("Mode: implement.") && prompt.contains("id: B\ntitle: Title of B"), "{prompt}");
    let args: Vec<&str> = shown["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
    assert_eq!(args.iter().filter(|arg| **arg == "--settings").count(), 1, "{args:?}");
    let settings: Value = serde_json::from_str(args.last().unwrap()).unwrap();
    assert_eq!((&settings["model"], &settings["hooks"]["Stop"][0]), (&json!("m"), &json!(1)), "what was given stays");
    let command = settings["hooks"]["Stop"][1]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.contains(&format!("'{}' hook stop", env!("CARGO_BIN_EXE_ralph"))), "{command}");
    assert!(dry(&["--skip-review"])["prompt"].as_str().unwrap().contains("set its `passes` to `true`"));
    env.ralph(["run", "-p", "x", "--dry-run", "--json"]).stdout_lacks("hook stop").stdout_has("\"prompt\":").run();
    for (arguments, message) in [
        (&["run", "-p", "x", "--review-cap", "2"][..], "error: --review-cap is for plans: give --plan too\n"),
        (
            &["run", "--plan", "--review-cap", "0"],
            "flag --review-cap: plan.reviewCap: expected a whole number of at least 1",
        ),
        (&["run", "--plan", "nowhere"], "error: there is no plan in nowhere/: run ralph plan init first\n"),
        (&["run", "--plan", "-p", "x"], "error: only one of -p, -f and --plan can be given\n"),
    ] {
        env.ralph(arguments).code(2).stderr_has(message).stderr_unchecked("hints differ").run();
    }
    env.write(TASKS, "{}");
    env.ralph(["run", "--plan"])
        .code(2)
        .stderr_has("missing required top-level field: 'project'")
        .stderr_has(MEND)
        .stderr_has("error: ")
        .run();
}
