//! `ralph __watch`: what a command executes and opens is seen, and the command does not notice.

use crate::process::guarded;
use ralph_testkit::{eventually, has_tool};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

const NOBODY: u32 = 65534;

/// A project in a folder of its own that everybody may read and write.
struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

/// How a command was watched.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// The kernel asks.
    Asked,
    /// Below another one, which has the filter already.
    Traced,
    /// Without any privilege.
    AsNobody,
}

/// What came of a watched command.
struct Seen {
    status: ExitStatus,
    stdout: String,
    report: Value,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::Builder::new().prefix("ralph-watch-").tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        Place { _folder: folder, root }
    }

    /// Writes a file; one that begins like a script may be executed.
    fn write(&self, name: &str, text: &str) -> &Place {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        if text.starts_with("#!") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        self
    }

    fn at(&self, name: &str) -> String {
        self.root.join(name).to_str().unwrap().to_owned()
    }

    fn out(&self) -> PathBuf {
        self.root.join("out.json")
    }

    /// The command below the helper.
    fn command<S: AsRef<OsStr>>(&self, way: Way, words: &[S]) -> Command {
        let helper = env!("CARGO_BIN_EXE_ralph");
        let mut command = Command::new(helper);
        if way == Way::Traced {
            command.args(["__watch", &self.at("outer.json"), "--", helper]);
        }
        command.arg("__watch").arg(self.out()).arg("--").args(words);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", &self.root);
        command.current_dir(&self.root).stdin(Stdio::null()).stdout(Stdio::piped());
        if way == Way::AsNobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    fn watch_as(&self, way: Way, words: &[&str]) -> Seen {
        let output = self.command(way, words).output().unwrap();
        let report = serde_json::from_slice(&fs::read(self.out()).unwrap()).unwrap();
        Seen { status: output.status, stdout: String::from_utf8_lossy(&output.stdout).into_owned(), report }
    }

    fn watch(&self, script: &str) -> Seen {
        self.watch_as(Way::Asked, &["sh", "-c", script])
    }
}

impl Seen {
    fn paths(&self, list: &str, key: &str) -> Vec<String> {
        let items = self.report[list].as_array().unwrap().iter();
        items.map(|item| item[key].as_str().unwrap().to_owned()).collect()
    }

    #[track_caller]
    fn opened(&self, path: &str) {
        assert!(self.paths("opened", "path").contains(&path.to_owned()), "{path}: {:#}", self.report);
    }

    #[track_caller]
    fn missed(&self, path: &str) {
        assert!(self.paths("missed", "path").contains(&path.to_owned()), "{path}: {:#}", self.report);
    }

    #[track_caller]
    fn made(&self, path: &str) {
        assert!(self.report["made"].as_array().unwrap().iter().any(|made| made == path), "{path}: {:#}", self.report);
    }

    /// The arguments with which a program was executed.
    #[track_caller]
    fn executed(&self, program: &str) -> Vec<&Value> {
        let all = self.report["executed"].as_array().unwrap().iter();
        let found: Vec<&Value> = all.filter(|item| item["program"] == program).map(|item| &item["args"]).collect();
        assert!(!found.is_empty(), "{program}: {:#}", self.report);
        found
    }

    fn gap(&self) -> &str {
        self.report["gap"].as_str().unwrap()
    }
}

/// The ways that can be tried here: to become somebody else takes root.
fn ways() -> Vec<Way> {
    let is_root = rustix::process::geteuid().is_root();
    let can_be_executed = || {
        let helper = Path::new(env!("CARGO_BIN_EXE_ralph"));
        let all =
            helper.ancestors().all(|path| fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 1 == 1));
        assert!(all, "uid {NOBODY} cannot reach {}", helper.display());
    };
    if is_root {
        can_be_executed();
        vec![Way::Asked, Way::Traced, Way::AsNobody]
    } else {
        vec![Way::Asked, Way::Traced]
    }
}

#[test]
fn whatever_way_a_check_calls_its_helpers_they_are_seen() {
    for way in ways() {
        let place = Place::new();
        place
            .write("check.sh", "#!/bin/sh\n. ./lib.sh\nT=./tool\n$T a\nsh -c 'sh deep/../second.sh'\n./by-env b\nmake -s t\ncd deep && cat ../data\n")
            .write("lib.sh", "X=1\n")
            .write("tool", "#!./run -x\n")
            .write("run", "#!/bin/sh\n")
            .write("second.sh", "exec 3< input; true\n")
            .write("input", "")
            .write("by-env", "#!/usr/bin/env sh\ntrue\n")
            .write("Makefile", "-include extra.mk\nt:\n\t@sh recipe.sh\n")
            .write("recipe.sh", "true\n")
            .write("data", "")
            .write("deep/x", "");
        let seen = place.watch_as(way, &["sh", "-c", "./check.sh"]);
        assert!(seen.status.success(), "{way:?}: {:?}", seen.status);
        assert_eq!(seen.gap(), "", "{way:?}");
        for opened in ["check.sh", "lib.sh", "run", "second.sh", "input", "by-env", "Makefile", "recipe.sh", "data"] {
            seen.opened(&place.at(opened));
        }
        seen.missed(&place.at("extra.mk"));
        assert_eq!(seen.executed(&place.at("check.sh"))[0], &serde_json::json!(["./check.sh"]));
        // The kernel starts interpreters by itself, one after the other.
        assert_eq!(seen.executed(&place.at("run"))[0], &serde_json::json!(["./run", "-x", "./tool", "a"]));
        let shell = seen.executed("/bin/sh");
        assert!(shell.contains(&&serde_json::json!(["/bin/sh", "./run", "-x", "./tool", "a"])), "{shell:?}");
        assert_eq!(seen.executed("/usr/bin/env")[0], &serde_json::json!(["/usr/bin/env", "sh", "./by-env", "b"]));
        let folder = &seen.report["executed"].as_array().unwrap().last().unwrap()["folder"];
        assert_eq!(folder, &Value::from(place.at("deep")), "{way:?}");
    }
}

#[test]
fn an_interpreter_is_seen_with_its_script_and_what_it_looked_for() {
    if !has_tool("python3") {
        return;
    }
    let place = Place::new();
    place.write(
        "test.py",
        "import os, sys\nos.path.exists('setup.cfg')\nopen('made', 'w')\nos.rename('made', 'moved')\n",
    );
    let seen = place.watch_as(Way::Asked, &["sh", "-c", "python3 -B test.py a"]);
    assert!(seen.status.success());
    seen.opened(&place.at("test.py"));
    seen.missed(&place.at("setup.cfg"));
    seen.made(&place.at("made"));
    seen.made(&place.at("moved"));
}

#[test]
fn what_a_program_is_looked_for_in_path_is_missed_where_it_is_not() {
    let place = Place::new();
    fs::create_dir(place.root.join("first")).unwrap();
    let seen = place.watch(&format!("PATH={}:$PATH; grep x /dev/null", place.at("first")));
    seen.missed(&place.at("first/grep"));
    seen.executed("/usr/bin/grep");
}

#[test]
fn what_is_only_written_is_made_and_not_opened() {
    let place = Place::new();
    place.write("old", "x").write("both", "x");
    let seen = place.watch("echo > new; echo >> old; echo <> both; cp new copy; ln -s new link; cat new > /dev/null");
    for made in ["new", "old", "both", "copy", "link"] {
        seen.made(&place.at(made));
    }
    let opened = seen.paths("opened", "path");
    assert!(!opened.contains(&place.at("old")), "{opened:?}");
    seen.opened(&place.at("new"));
    seen.opened(&place.at("both"));
    assert!(opened.iter().all(|path| !path.starts_with("/usr/lib/") && !path.starts_with("/dev/")), "{opened:?}");
}

#[test]
fn a_file_that_is_reached_through_a_descriptor_or_a_link_is_seen_by_its_own_path() {
    let place = Place::new();
    place.write("far/script.sh", "true\n").write("direct", "#!/bin/sh\ncat /dev/fd/3\n").write("three", "");
    symlink("far", place.root.join("near")).unwrap();
    let seen = place.watch("sh near/../near/script.sh; ./direct 3< three; cd /proc/self/cwd; cat three");
    seen.opened(&place.at("near/script.sh"));
    seen.opened(&place.at("three"));
}

#[test]
fn how_a_command_ends_is_how_the_helper_ends() {
    for way in [Way::Asked, Way::Traced] {
        let place = Place::new();
        for (script, code, signal) in [
            ("exit 7", Some(7), None),
            ("kill -9 $$", None, Some(9)),
            ("kill -15 $$", None, Some(15)),
            ("kill -6 $$", None, Some(6)),
        ] {
            let seen = place.watch_as(way, &["sh", "-c", script]);
            assert_eq!((seen.status.code(), seen.status.signal()), (code, signal), "{way:?}: {script}");
            assert_eq!(seen.gap(), "", "{way:?}: {script}");
            seen.executed("/usr/bin/sh");
        }
        let output = place.command(way, &["no-such-program"]).output().unwrap();
        assert_eq!(output.status.code(), Some(127), "{way:?}");
    }
}

#[test]
fn standard_streams_signals_and_group_of_a_command_are_as_without_the_helper() {
    for way in [Way::Asked, Way::Traced] {
        let place = Place::new();
        place.write("in", "from stdin\n");
        let script = "cat; echo error >&2; grep -E 'Sig(Blk|Pnd)' /proc/self/status; \
                      grep SigIgn /proc/self/status | grep -o '.......$'; \
                      ps -o pgid= -p $$ | grep -qw $$ && echo leads";
        let run = |command: &mut Command| {
            command.stdin(fs::File::open(place.root.join("in")).unwrap()).stderr(Stdio::piped());
            let output = command.output().unwrap();
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let mut plain = Command::new("sh");
        let plain = run(plain.args(["-c", script]).process_group(0));
        assert!(plain[0].starts_with("from stdin\n") && plain[0].ends_with("leads\n"), "{plain:?}");
        assert_eq!(run(&mut place.command(way, &["sh", "-c", script])), plain, "{way:?}");
    }
}

/// Waits until the command has made this file.
fn wait_for(place: &Place, name: &str) {
    assert!(eventually(Duration::from_secs(10), || place.root.join(name).exists()), "{name} was not made");
}

/// Ends a child that a test may have left.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_was_seen_is_kept_when_a_check_is_told_to_end_and_then_killed() {
    for way in [Way::Asked, Way::Traced] {
        let place = Place::new();
        place
            .write("check.sh", "trap 'cat late; touch told' TERM; touch ready; while :; do sleep 0.05; done\n")
            .write("late", "");
        let mut child = Ending(place.command(way, &["sh", "check.sh"]).stderr(Stdio::null()).spawn().unwrap());
        wait_for(&place, "ready");
        assert!(!place.out().exists());
        // As the keeper does it: SIGTERM to all of them, and after a while SIGKILL.
        let below = |pid: u32| {
            let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
            list.split_whitespace().map(|pid| pid.parse::<u32>().unwrap()).collect::<Vec<_>>()
        };
        let mut all = vec![child.0.id()];
        let mut next = 0;
        while let Some(pid) = all.get(next).copied() {
            all.extend(below(pid));
            next += 1;
        }
        for pid in &all {
            let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
            // The one that sleeps may be gone.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        wait_for(&place, "told");
        wait_for(&place, "out.json");
        for pid in all.iter().rev() {
            let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        child.0.wait().unwrap();
        let report: Value = serde_json::from_slice(&fs::read(place.out()).unwrap()).unwrap();
        let seen = Seen { status: ExitStatus::default(), stdout: String::new(), report };
        assert!(seen.gap().contains("ended before it was over"), "{way:?}: {}", seen.gap());
        seen.opened(&place.at("check.sh"));
    }
}

#[test]
fn a_process_that_outlives_the_command_does_not_hold_the_helper() {
    for way in [Way::Asked, Way::Traced] {
        let place = Place::new();
        let script = "(setsid sh -c 'echo $$ > pid; sleep 60' >/dev/null 2>&1 &) ; while ! test -s pid; do sleep 0.01; done; exit 3";
        let seen = place.watch_as(way, &["sh", "-c", script]);
        assert_eq!(seen.status.code(), Some(3), "{way:?}");
        let pid = fs::read_to_string(place.root.join("pid")).unwrap().trim().parse().unwrap();
        let _ =
            rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL);
    }
}

#[test]
fn below_two_watchers_a_command_runs_unwatched_and_that_is_said() {
    let place = Place::new();
    let helper = env!("CARGO_BIN_EXE_ralph");
    let inner = place.at("inner.json");
    let words = [helper, "__watch", &inner, "--", "sh", "-c", "echo works; exit 4"];
    let seen = place.watch_as(Way::Traced, &words);
    assert_eq!((seen.status.code(), seen.stdout.as_str()), (Some(4), "works\n"));
    let report: Value = serde_json::from_slice(&fs::read(&inner).unwrap()).unwrap();
    assert!(report["gap"].as_str().unwrap().starts_with("the check cannot be watched (seccomp: "), "{report}");
    assert_eq!(report["executed"], Value::Array(Vec::new()));
}

#[test]
fn odd_names_and_long_paths_are_seen() {
    let place = Place::new();
    let name = OsStr::from_bytes(b"not-utf-8-\xff.sh");
    fs::write(place.root.join(name), "true\n").unwrap();
    let output = place.command(Way::Asked, &[OsStr::new("sh"), name]).output().unwrap();
    assert!(output.status.success());
    let report: Value = serde_json::from_slice(&fs::read(place.out()).unwrap()).unwrap();
    let seen = Seen { status: output.status, stdout: String::new(), report };
    seen.opened(&place.at("not-utf-8-\u{fffd}.sh"));
    let deep = "d".repeat(200) + "/";
    let script = format!("{}x.sh", deep.repeat(15));
    place.write(&script, "true\n");
    let seen = place.watch_as(Way::Asked, &["sh", &script]);
    assert!(seen.status.success());
    seen.opened(&place.at(&script));
    // Too long for the kernel, and so nothing that anybody could have opened.
    let seen = place.watch_as(Way::Asked, &["sh", "-c", &format!("cat {}", deep.repeat(30))]);
    assert_eq!((seen.status.code(), seen.gap()), (Some(1), ""));
}

#[test]
fn a_check_under_a_root_or_mounts_of_its_own_is_seen_or_a_gap() {
    if !rustix::process::geteuid().is_root() || !has_tool("unshare") {
        return;
    }
    let place = Place::new();
    place.write("check.sh", "cat data\n").write("data", "").write("jail/data", "").write("other/data", "x");
    // Another process sees the same files: nothing is unknown.
    let seen = place.watch("unshare -m sh -c 'mount -t tmpfs none /mnt; sh check.sh'");
    assert_eq!((seen.status.code(), seen.gap()), (Some(0), ""));
    seen.opened(&place.at("data"));
    let seen = place.watch("unshare -m sh -c 'mount --bind other jail; cat jail/data'");
    assert_eq!(seen.stdout, "x");
    assert!(seen.gap().contains("mounts or a root of its own"), "{}", seen.gap());
    if has_tool("python3") {
        place.write("root.py", "import os\nos.chroot('jail')\nos.chdir('/')\nopen('/data')\n");
        let seen = place.watch("python3 root.py");
        assert_eq!((seen.status.code(), seen.gap()), (Some(0), ""));
        seen.opened(&place.at("jail/data"));
    }
}

#[test]
fn a_set_uid_program_is_a_gap_only_where_it_loses_its_power() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = Place::new();
    fs::copy("/usr/bin/true", place.root.join("power")).unwrap();
    fs::set_permissions(place.root.join("power"), fs::Permissions::from_mode(0o4755)).unwrap();
    assert_eq!(place.watch_as(Way::Asked, &["./power"]).gap(), "");
    let _ = fs::remove_file(place.out());
    let seen = place.watch_as(Way::AsNobody, &["./power"]);
    assert!(seen.gap().contains("/power is a set-uid program"), "{}", seen.gap());
}

#[test]
fn io_uring_is_refused_and_named_only_if_the_check_fails() {
    if !has_tool("python3") {
        return;
    }
    let place = Place::new();
    // io_uring_setup has the same number on every machine; 38 is ENOSYS.
    let ask = "import ctypes, sys\nlibc = ctypes.CDLL(None, use_errno=True)\nlibc.syscall(425, 1, ctypes.create_string_buffer(120))\n\
               assert ctypes.get_errno() == 38\nsys.exit(int(sys.argv[1]))\n";
    place.write("ring.py", ask);
    assert_eq!(place.watch("python3 ring.py 0").gap(), "");
    let seen = place.watch("python3 ring.py 5");
    assert_eq!(seen.status.code(), Some(5));
    assert!(seen.gap().contains("was refused io_uring"), "{}", seen.gap());
}

#[test]
fn a_32_bit_call_is_a_gap() {
    if !has_tool("cc") || !cfg!(target_arch = "x86_64") {
        return;
    }
    let place = Place::new();
    // `open` of nothing by the way of 32-bit programs.
    place.write("old.c", "int main() { long r; __asm__ volatile (\"int $0x80\" : \"=a\"(r) : \"a\"(5), \"b\"(0), \"c\"(0)); return r == -14 ? 0 : 1; }\n");
    assert!(place.watch("cc -o old old.c").status.success());
    let seen = place.watch("./old");
    // A kernel without 32-bit programs kills it or knows no such call.
    if seen.status.success() {
        assert!(seen.gap().contains("/old is a 32-bit program"), "{}", seen.gap());
    }
}

#[test]
fn a_statically_linked_program_is_seen_like_any_other() {
    if !has_tool("cc") {
        return;
    }
    let place = Place::new();
    place.write(
        "main.c",
        "#include <stdio.h>\nint main() { return fopen(\"data\", \"r\") && !fopen(\"config\", \"r\") ? 0 : 1; }\n",
    );
    let seen = place.watch("cc -static -o program main.c && ./program");
    if !place.root.join("program").exists() {
        // No static C library is installed here.
        return;
    }
    assert_eq!(seen.status.code(), Some(1));
    seen.missed(&place.at("data"));
    seen.made(&place.at("program"));
    place.write("data", "");
    let seen = place.watch("./program");
    assert!(seen.status.success());
    seen.opened(&place.at("data"));
    seen.missed(&place.at("config"));
}

#[test]
fn many_threads_and_processes_at_once_are_all_seen() {
    let place = Place::new();
    let names: Vec<String> = (0..200).map(|number| format!("f{number}")).collect();
    for name in &names {
        place.write(name, "");
    }
    let seen = place
        .watch("for i in 0 1 2 3 4 5 6 7; do (j=$i; while [ $j -lt 200 ]; do cat f$j; j=$((j+8)); done) & done; wait");
    assert!(seen.status.success());
    let opened = seen.paths("opened", "path");
    let missing: Vec<&String> = names.iter().filter(|name| !opened.contains(&place.at(name))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    if has_tool("python3") {
        place.write(
            "threads.py",
            "import threading, glob\nfor f in sorted(glob.glob('f*')):\n t = threading.Thread(target=lambda f=f: open(f).read())\n t.start()\n",
        );
        let seen = place.watch_as(Way::Traced, &["python3", "threads.py"]);
        assert!(seen.status.success());
        let opened = seen.paths("opened", "path");
        assert!(names.iter().all(|name| opened.contains(&place.at(name))), "{}", seen.gap());
    }
}

#[test]
fn a_watched_guardrail_that_takes_too_long_leaves_its_report_and_nobody_behind() {
    let env = crate::env();
    env.write("slow.sh", "test -e late; sleep 600 & echo $! > child.pid; sleep 600\n");
    let out = env.root().join("out.json");
    let command = format!("{} __watch {} -- sh slow.sh", env!("CARGO_BIN_EXE_ralph"), out.display());
    // Else ralph watches the check itself, and the kernel lets nobody watch within that.
    env.settings(json!({ "protect": { "scripts": false } }));
    let (check, run) = guarded(&env, &command, 500, 1);
    assert!(check["problem"].as_str().unwrap().contains("timed out after 500ms"), "{check}");
    assert!(run.took < Duration::from_secs(4), "{:?}", run.took);
    let report: Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    let seen = Seen { status: ExitStatus::default(), stdout: String::new(), report };
    assert!(seen.gap().contains("ended before it was over"), "{}", seen.gap());
    seen.missed(env.path("late").to_str().unwrap());
    assert!(env.processes().is_empty(), "{:?}", env.processes());
}

#[test]
fn a_helper_without_its_words_says_how_it_is_called() {
    let output = Command::new(env!("CARGO_BIN_EXE_ralph")).args(["__watch", "out"]).output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("usage: ralph __watch OUT [ORDER] -- PROGRAM"),
        "{output:?}"
    );
}

#[test]
fn what_changed_beside_the_tree_is_told_and_what_is_hidden_is_not_found() {
    let place = Place::new();
    place.write("tree/own.sh", "true\n").write("home/tool", "#!/bin/sh\necho tool\n").write("home/rc", "echo rc\n");
    let link = place.at("home/also");
    symlink("tool", &link).unwrap();
    let script = "[ ! -e home/rc ] || . ./home/rc; home/also 2>/dev/null || echo none; . ./tree/own.sh\n\
                  echo x >home/log; cat home/log";
    let watch = |hidden: &[String]| {
        let order = serde_json::json!({ "since": 0, "spans": [], "inside": [place.at("tree")], "hidden": hidden });
        fs::write(place.at("order.json"), order.to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ralph"));
        command.arg("__watch").arg(place.out()).arg(place.at("order.json")).args(["--", "sh", "-c", script]);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").current_dir(&place.root);
        let output = command.output().unwrap();
        let report = serde_json::from_slice(&fs::read(place.out()).unwrap()).unwrap();
        Seen { status: output.status, stdout: String::from_utf8_lossy(&output.stdout).into_owned(), report }
    };
    let used = |seen: &Seen| {
        let all = seen.paths("used", "path").into_iter();
        let mut used: Vec<String> =
            all.filter_map(|path| path.strip_prefix(&place.at("home/")).map(str::to_owned)).collect();
        used.sort();
        used
    };
    let seen = watch(&[]);
    assert_eq!((seen.stdout.as_str(), seen.gap()), ("rc\ntool\nx\n", ""));
    assert_eq!(used(&seen), ["also", "rc"], "what the command itself made is its own: {:#}", seen.report);
    fs::remove_file(place.at("home/log")).unwrap();
    // Whatever name leads to it.
    let seen = watch(&[place.at("home/tool"), place.at("home/rc")]);
    assert_eq!(seen.stdout, "none\nx\n");
    assert_eq!(
        seen.report["used"].as_array().map_or(0, |used| used.iter().filter(|one| one["path"] == link).count()),
        0
    );
}
