//! Group D, continued: a journal that is damaged, as a whole or in one run, and how it is repaired.

use crate::env;
use crate::story::runs;
use ralph_host::raw_log::last_logged;
use ralph_testkit::{Fault, TestEnv, has_tool};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// A project with this many complete runs; their ids, oldest first.
fn project(count: usize) -> (TestEnv, Vec<String>) {
    let env = env();
    // What an agent says at length does not fit onto one page.
    env.script(&format!("print {}\nclaim", "working ".repeat(900))).guardrail("true");
    for number in 0..count {
        env.ralph(["run", "-q", "-p", &format!("task {number}")]).ends("complete · verified").run();
    }
    let ids = runs(&env).iter().rev().map(|run| run["run"].as_str().unwrap().to_owned()).collect();
    (env, ids)
}

/// The project's own state folder.
pub fn state(env: &TestEnv) -> PathBuf {
    let folders = fs::read_dir(env.state()).unwrap().map(|folder| folder.unwrap().path());
    folders.into_iter().find(|folder| folder.join("runs").exists()).expect("a project")
}

fn database(env: &TestEnv) -> PathBuf {
    state(env).join("ralph.db")
}

/// Spoils everything that a run has under its name, and leaves the name.
fn garble(env: &TestEnv, run: &str) {
    let mut bytes = fs::read(database(env)).unwrap();
    let needle = format!(r#""run":"{run}""#);
    let places: Vec<usize> = memchr_all(&bytes, needle.as_bytes());
    assert!(places.len() >= 2, "its row and its first entry name it: {places:?}");
    places.into_iter().for_each(|at| bytes[at] = b'!');
    fs::write(database(env), bytes).unwrap();
}

fn memchr_all(bytes: &[u8], needle: &[u8]) -> Vec<usize> {
    bytes.windows(needle.len()).enumerate().filter(|(_, window)| *window == needle).map(|(at, _)| at).collect()
}

fn json(env: &TestEnv, arguments: &[&str]) -> Value {
    env.ralph(arguments).run().json_lines().remove(0)
}

/// What was put aside.
fn aside(env: &TestEnv) -> Vec<PathBuf> {
    let files = fs::read_dir(state(env)).unwrap().map(|file| file.unwrap().path());
    files.filter(|file| file.to_string_lossy().contains(".damaged-")).collect()
}

#[test]
fn d11_one_damaged_run_does_not_close_the_project() {
    let (env, ids) = project(3);
    let hurt = &ids[1];
    garble(&env, hurt);
    let told = format!("run {hurt} is damaged");
    let status = env.ralph(["status"]).stdout_has(&ids[0]).stdout_has(&ids[2]).stdout_lacks(hurt);
    status.stderr_has(&told).stderr_has("ralph doctor --repair").run();
    let listed = json(&env, &["status", "--json"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&listed["damaged"][0]["run"], &listed["damaged"][0]["next"]),
        (&hurt.as_str().into(), &"ralph doctor --repair".into())
    );
    for command in ["show", "explain", "report", "logs"] {
        let shown = if command == "logs" { "working" } else { "complete · verified" };
        env.ralph([command, &ids[0]]).stdout_has(shown).run();
        env.ralph([command, hurt]).stderr_has("error: ").stderr_has("ralph doctor --repair").code(74).run();
        // The newest one is another.
        env.ralph([command]).stdout_has(shown).stderr_has(&told).run();
    }
    env.ralph(["cancel", &ids[2]]).stdout_has(" · complete · ").stderr_has("already ended").run();
    for command in ["cancel", "resume"] {
        let refused = format!("error: entry 1 of run {hurt} is damaged[..]\nhint: [..]ralph doctor --repair");
        env.ralph([command, hurt]).stderr_has(&refused).code(74).run();
    }
    let none = "error: there is no unfinished run[..]\nhint: begin one: ";
    env.ralph(["resume"]).stderr_has(none).stderr_has(&told).code(2).run();
    env.ralph(["run", "-p", "another"]).stdout_has("complete · verified").stderr_has(&told).run();
    let doctor = env.ralph(["doctor"]).stdout_has(&format!("run {hurt}: its first entry is damaged"));
    doctor.stdout_has("fix: ralph doctor --repair").stdout_has("A run could start here.").run();

    let repair = env.ralph(["doctor", "--repair"]).stdout_has("put aside: [STATE]/");
    let repair = repair.stdout_has(&format!("run {}: whole", ids[0])).stdout_has(&format!("run {hurt}: lost"));
    repair.stdout_has(&format!("run {hurt}: not in the journal; what is left of it, logs up to iteration 1")).run();
    let listed = json(&env, &["status", "--json"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 3, "{listed}");
    assert_eq!((&listed["damaged"], &listed["lost"]), (&Value::Null, &Value::Null));
    env.ralph(["doctor", "--repair"]).stdout("Nothing is damaged.\n").run();
}

#[test]
fn d11_a_run_is_kept_up_to_its_first_damaged_entry_and_can_be_resumed() {
    let env = env();
    env.script("[1]\nprint not yet\n[2]\nprint the marrow of it\n[3]\nfile built yes\nclaim")
        .guardrail("test -f built");
    env.ralph(["run", "-p", "build it", "-m", "2"]).ends("max-iterations").code(1).run();
    let run = runs(&env)[0]["run"].as_str().unwrap().to_owned();
    let mut bytes = fs::read(database(&env)).unwrap();
    memchr_all(&bytes, b"the marrow of it").into_iter().for_each(|at| bytes[at] = b'T');
    fs::write(database(&env), bytes).unwrap();
    env.ralph(["show", &run]).stderr_has("is damaged").stderr_has("ralph doctor --repair").code(74).run();
    let told = json(&env, &["doctor", "--repair", "--json"]);
    assert_eq!((&told["repaired"], &told["runs"][0]["run"]), (&true.into(), &run.as_str().into()));
    let (kept, all) = (told["runs"][0]["entries"].as_u64().unwrap(), told["runs"][0]["of"].as_u64().unwrap());
    assert!(kept > 2 && kept < all, "{told}");
    env.ralph(["show", &run]).stdout_has("the journal was damaged and repaired").run();
    env.ralph(["resume", &run, "-m", "9"]).stdout_has("complete · verified").run();
}

type Blow = fn(&Path);

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    fs::OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, at).unwrap();
}

fn pages(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len() / 4096
}

/// What can happen to the file, whether it closes the project, and whether every run survives it.
const BLOWS: [(&str, bool, bool, Blow); 10] = [
    ("its header is gone", true, true, |db| overwrite(db, 0, &[0; 100])),
    ("its first page is gone", true, true, |db| overwrite(db, 0, &[0xaa; 4096])),
    ("another format is stated", true, true, |db| overwrite(db, 60, &[0, 0, 3, 0xe7])),
    ("no format is stated", true, true, |db| overwrite(db, 60, &[0; 4])),
    ("the page of the runs is gone", true, true, |db| overwrite(db, 4096, &[0x55; 4096])),
    ("half of it is gone", true, false, |db| {
        fs::OpenOptions::new().write(true).open(db).unwrap().set_len(pages(db) / 2 * 4096 + 100).unwrap();
    }),
    ("every third page is gone", false, false, |db| {
        (2..pages(db)).step_by(3).for_each(|page| overwrite(db, page * 4096, &[0x5a; 4096]));
    }),
    ("it is empty", true, false, |db| fs::write(db, "").unwrap()),
    ("it is a text", true, false, |db| fs::write(db, "my notes\n".repeat(900)).unwrap()),
    ("it is a folder", true, false, |db| {
        fs::remove_file(db).unwrap();
        fs::create_dir(db).unwrap();
    }),
];

#[test]
fn d12_a_damaged_database_is_put_aside_whole_and_all_that_is_proven_is_kept() {
    for (what, closes, all_survive, blow) in BLOWS {
        println!("{what}");
        let (env, ids) = project(3);
        blow(&database(&env));
        let damaged = fs::read(database(&env)).ok();
        for command in [&["status"][..], &["run", "-p", "x"], &["resume"], &["show"], &["logs"], &["cancel", &ids[0]]] {
            if !closes {
                break;
            }
            let (code, told) = match what == "another format is stated" {
                true => (2, "was written by a newer ralph"),
                false => (74, "is damaged"),
            };
            let told = format!("error: [STATE]/[..]/ralph.db {told}");
            env.ralph(command).stderr_has(&told).stderr_has("ralph doctor --repair").code(code).run();
        }
        let doctor = env.ralph(["doctor"]).stdout_has("fix: ralph doctor --repair").any_end().run();
        assert!(doctor.code() != 0, "{what}: {}", doctor.stdout);
        let told = json(&env, &["doctor", "--repair", "--json"]);
        assert_eq!(told["repaired"], true, "{what}: {told}");
        let kept = aside(&env);
        assert_eq!(kept.len(), 1, "{what}: {kept:?}");
        assert_eq!(fs::read(&kept[0]).ok(), damaged, "{what}: not a byte was changed");
        env.ralph(["doctor", "--repair"]).stdout("Nothing is damaged.\n").run();
        let left = runs(&env);
        assert!(!all_survive || left.len() == 3, "{what}: {told}");
        for run in &left {
            let run = run["run"].as_str().unwrap();
            assert!(ids.iter().any(|id| id == run), "{what}");
            let shown = env.ralph(["show", run]).any_end().run().stdout;
            let cut = shown.contains("the journal was damaged and repaired");
            assert!(shown.contains(" · complete · verified") || cut && !all_survive, "{what}: {shown}");
        }
        // Whatever is not in the journal any more is named with what is left of it.
        let named = told["lost"].as_array().unwrap();
        assert_eq!(named.len() + left.len(), 3, "{what}: {told}");
        let has_log = |lost: &Value| last_logged(Path::new(lost["folder"].as_str().unwrap())) == Some(1);
        assert!(named.iter().all(has_log), "{what}: {told}");
        let again = env.ralph(["run", "-p", "once more"]).stdout_has("complete · verified");
        match all_survive {
            true => again.run(),
            false => again.stderr_unchecked("a run whose journal lost its end is named").run(),
        };
        assert_eq!(runs(&env).len(), left.len() + 1, "{what}");
    }
}

#[test]
fn d12_a_repair_that_is_killed_anywhere_is_finished_by_the_next_command() {
    if !has_tool("strace") {
        return;
    }
    for syscall in ["rename", "renameat", "unlink", "unlinkat", "fsync", "fdatasync", "pwrite64", "mkdir"] {
        for when in (1..).step_by(if syscall == "pwrite64" { 7 } else { 1 }) {
            let (env, ids) = project(1);
            overwrite(&database(&env), 0, &[0; 100]);
            let damaged = fs::read(database(&env)).unwrap();
            let repair = env.ralph(["doctor", "--repair"]).inject(syscall, when, Fault::Signal("SIGKILL"));
            let repair = repair.without_following().any_end().run();
            assert!(!repair.stdout.contains("Nothing is damaged"), "{}", repair.stdout);
            if !repair.trace.as_deref().unwrap_or_default().contains("killed by SIGKILL") {
                break;
            }
            println!("killed at {syscall} {when}");
            let status = env.ralph(["status"]).stderr_unchecked("nobody knows how far the repair came").any_end().run();
            assert!(status.code() == 74 || status.stdout.contains("complete"), "{}{}", status.stdout, status.stderr);
            env.ralph(["doctor", "--repair"]).stdout_has("amaged").run();
            assert_eq!(runs(&env)[0]["run"], ids[0].as_str());
            assert_eq!(fs::read(&aside(&env)[0]).unwrap(), damaged);
            assert!(fs::read_dir(state(&env)).unwrap().all(|file| {
                let name = file.unwrap().file_name().into_string().unwrap();
                !name.starts_with("repair-") && !name.starts_with("ralph.db.repair")
            }));
        }
    }
}

/// Kills a run in its second iteration; the whole of its journal is in the log then.
fn killed() -> (TestEnv, String) {
    let env = env();
    env.script("[1]\nprint one\n[2]\nprint two\ntouch started\nsleep forever\n[*]\nprint x").guardrail("false");
    let running = env.ralph(["run", "-p", "x"]).killed_by(9).spawn();
    running.wait_for_stdout("two");
    running.wait_for_file("started");
    let logged = || {
        runs(&env)
            .iter()
            .all(|run| last_logged(&state(&env).join("runs").join(run["run"].as_str().unwrap())) == Some(2))
    };
    running.wait_until("the second log", logged);
    running.crash();
    let run = runs(&env)[0]["run"].as_str().unwrap().to_owned();
    env.script("file built yes\nclaim");
    (env, run)
}

#[test]
fn d13_a_log_that_was_cut_off_is_noticed_by_what_its_runs_left() {
    type Cut = fn(&Path);
    let cuts: [(&str, Cut); 3] = [
        ("gone", |log| fs::remove_file(log).unwrap()),
        ("empty", |log| fs::write(log, "").unwrap()),
        ("garbage", |log| fs::write(log, [0x77; 20_000]).unwrap()),
    ];
    for (how, cut) in cuts {
        let (env, run) = killed();
        let log = state(&env).join("ralph.db-wal");
        assert!(log.metadata().unwrap().len() > 0);
        cut(&log);
        let told = format!("run {run} left logs up to iteration 2, but the journal does not know it");
        env.ralph(["status"]).stderr_has("no runs in [PROJECT] yet").stderr_has(&told).run();
        assert_eq!(json(&env, &["status", "--json"])["lost"][0]["run"], run.as_str(), "{how}");
        for (command, none) in [("resume", "there is no unfinished run"), ("show", "there are no runs")] {
            let none = format!("error: {none} in [PROJECT][..]\nhint: begin one: ");
            env.ralph([command]).stderr_has(&none).stderr_has(&told).code(2).run();
        }
        env.ralph(["doctor"]).stdout_has(&told).stdout_has("fix: ralph doctor --repair").run();
        let repair = env.ralph(["doctor", "--repair"]).stdout_has(&format!("run {run}: not in the journal"));
        repair.stdout_has(&format!("/lost/{run}")).run();
        env.ralph(["doctor", "--repair"]).stdout("Nothing is damaged.\n").run();
        env.ralph(["status"]).stderr_has("no runs in [PROJECT] yet").stderr_lacks(&run).run();
    }
}

#[test]
fn d12_a_database_that_lacks_a_table_is_damaged_and_repaired() {
    for table in ["receipts", "requests"] {
        let env = env();
        env.script("claim").guardrail("true");
        env.ralph(["run", "-p", "x"]).ends("complete · verified").run();
        let database = rusqlite::Connection::open(state(&env).join("ralph.db")).unwrap();
        database.execute_batch(&format!("DROP TABLE {table}")).unwrap();
        drop(database);
        let told = format!("it has no table {table}");
        env.ralph(["doctor"]).stdout_has(&told).stdout_has("fix: ralph doctor --repair").any_end().run();
        env.ralph(["doctor", "--repair"]).stdout_has(&told).stdout_has("put aside: ").run();
        env.ralph(["run", "-p", "x"]).stdout_has("complete · verified").run();
        assert_eq!(runs(&env).len(), 2, "the first run was kept");
    }
}

#[test]
fn d11_a_damaged_row_is_not_told_as_a_journal_that_lost_its_end() {
    let env = env();
    env.script("claim").guardrail("true");
    env.ralph(["run", "-p", "x"]).ends("complete · verified").run();
    let database = rusqlite::Connection::open(state(&env).join("ralph.db")).unwrap();
    database.execute_batch("UPDATE streams SET row = '{}'").unwrap();
    drop(database);
    env.ralph(["status"]).stdout_has("complete").run();
    env.ralph(["doctor"]).stdout_has("its row is damaged").stdout_has("fix: ralph doctor --repair").any_end().run();
}

#[test]
fn d13_a_run_whose_agent_was_silent_is_missed_too() {
    let env = env();
    env.script("touch started\nsleep forever\n");
    let run = env.ralph(["run", "-p", "x"]).killed_by(9).spawn();
    run.wait_for_file("started");
    run.crash();
    fs::write(state(&env).join("ralph.db-wal"), "").unwrap();
    env.ralph(["status"])
        .stderr_has("no runs in [PROJECT] yet")
        .stderr_has("left logs up to iteration 1, but the journal does not know it")
        .run();
}

#[test]
fn d13_a_log_that_lost_its_end_is_never_taken_for_the_whole_in_silence() {
    let (env, run) = killed();
    let log = state(&env).join("ralph.db-wal");
    let whole = fs::read(&log).unwrap();
    let (mut unknown, mut behind) = (0, 0);
    for part in (0..=12).rev() {
        fs::write(&log, &whole[..whole.len() * part / 12]).unwrap();
        let listed = json(&env, &["status", "--json"]);
        match (&listed["runs"][0]["iteration"], &listed["lost"][0]) {
            (Value::Null, lost) => {
                assert_eq!((&lost["run"], &lost["known_iteration"]), (&run.as_str().into(), &Value::Null), "{listed}");
                unknown += 1;
            }
            (known, Value::Null) => assert_eq!(*known, 2, "{listed}"),
            (known, lost) => {
                assert_eq!((&lost["known_iteration"], &lost["logged_iteration"]), (known, &2.into()), "{listed}");
                let told =
                    format!("the journal of run {run} ends in iteration {known}, but it left logs of iteration 2");
                let crashed = format!("run {run} crashed, resume with: ralph resume {run}");
                env.ralph(["status"]).stdout_has(" crashed ").stderr_has(&told).stderr_has(&crashed).run();
                behind += 1;
            }
        }
    }
    assert!(unknown > 0 && behind > 0, "both are seen: {unknown} {behind}");
}

#[test]
fn d13_what_a_damaged_log_still_holds_is_recovered() {
    let (env, run) = killed();
    let entries = |env: &TestEnv| json(env, &["show", "--json"])["iterations"].as_array().unwrap().len();
    let before = entries(&env);
    // The first frame of the log: SQLite reads nothing of what comes after it.
    overwrite(&state(&env).join("ralph.db-wal"), 32 + 8, &[0xff; 8]);
    env.ralph(["status"]).stderr_has("no runs in [PROJECT] yet").stderr_has(&run).run();
    env.ralph(["doctor", "--repair"]).stdout_has("the damaged log hides its entries").stdout_has("put aside: ").run();
    assert_eq!(entries(&env), before);
    env.ralph(["resume", &run, "-m", "3"]).ends("max-iterations").code(1).run();
    assert_eq!(runs(&env)[0]["run"], run.as_str());
}

#[test]
fn d13_an_index_of_the_log_that_is_garbage_harms_nothing() {
    let (env, run) = killed();
    fs::write(state(&env).join("ralph.db-shm"), [0x3c; 40_000]).unwrap();
    env.ralph(["status"]).stdout_has(&run).stderr_has(&format!("run {run} crashed, resume with: ")).run();
    env.ralph(["doctor", "--repair"]).stdout("Nothing is damaged.\n").run();
}

#[test]
fn a_repair_is_refused_while_a_run_goes_on() {
    let env = env();
    env.script("touch started\nwait-file go\nclaim").guardrail("true");
    let running = env.ralph(["run", "-p", "x"]).ends("complete · verified").spawn();
    running.wait_for_file("started");
    let pid = running.pid();
    env.ralph(["doctor", "--repair"])
        .stderr_has("is running: process")
        .stderr_has("ralph cancel[..]\nhint: [..]kill ")
        .code(75)
        .run();
    env.write("go", "");
    assert_eq!(running.pid(), pid);
    running.finish();
    env.ralph(["doctor", "--repair"]).stdout("Nothing is damaged.\n").run();
}

/// Writes another text into the first entry of a run's journal, with a checksum that fits.
fn forge(env: &TestEnv, run: &str, old: &str, new: &str) {
    let database = rusqlite::Connection::open(state(env).join("ralph.db")).unwrap();
    let sql = "SELECT place, at, elapsed, event FROM journal WHERE place & 255 = 1";
    let (place, at, elapsed, event): (i64, i64, i64, String) =
        database.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
    assert!(event.contains(old), "{event}");
    let event = event.replace(old, new);
    let mut hashed = [b"run\0".as_slice(), run.as_bytes()].concat();
    for number in [1, at, elapsed] {
        hashed.push(0);
        hashed.extend(number.to_be_bytes());
    }
    hashed.extend(event.as_bytes());
    let checksum = u64::from_str_radix(&ralph_core::text::hash(&hashed)[..16], 16).unwrap().cast_signed();
    let changed = "UPDATE journal SET event = ?1, checksum = ?2 WHERE place = ?3";
    assert_eq!(database.execute(changed, (event, checksum, place)).unwrap(), 1);
}

#[test]
fn a_journal_whose_rules_were_rewritten_is_not_gone_on_with() {
    for (old, new, told) in [
        (r#""command":"false""#, r#""command":"true""#, r#"guardrail "true" is in this run and not in the settings"#),
        (
            r#""paths":["tests/**"]"#,
            r#""paths":[]"#,
            r#"protect: paths is [] in this run and ["tests/**"] in the settings"#,
        ),
    ] {
        let env = env();
        env.guardrail("false").script("claim").settings(serde_json::json!({ "protect": { "paths": ["tests/**"] } }));
        env.write("tests/a", "");
        env.ralph(["run", "-p", "x", "-m", "1"]).ends("max-iterations").code(1).run();
        let run = runs(&env)[0]["run"].as_str().unwrap().to_owned();
        forge(&env, &run, old, new);
        env.ralph(["resume", "-m", "2"])
            .stderr_has("is damaged: its rules are not those of the settings that it began with")
            .stderr_has(told)
            .stderr_has("hint: look at what it did: ralph show ")
            .stderr_has("hint: begin a new run: ralph run -p ")
            .code(74)
            .run();
        // Whoever forges the hash of the settings as well is told on as an editor of them.
        forge(&env, &run, "\"config_hash\":\"", "\"config_hash\":\"0");
        env.ralph(["resume", "-m", "2"])
            .any_end()
            .stderr_has("the settings were edited since this run began")
            .stderr_has(&format!("note: {told}"))
            .stderr_has(
                "note: the journal of this run was rewritten: its rules are not those with which it began: this run is",
            )
            .stderr_unchecked("the limits that flags gave differ too, and the run goes on")
            .stdout_has(&run)
            .run();
    }
}
