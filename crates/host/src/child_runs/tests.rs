use super::*;
use std::cell::RefCell;
use std::ffi::OsStr;

struct State {
    guard: tempfile::TempDir,
    /// Of the folders whose runs this process carries.
    locks: RefCell<Vec<File>>,
}

/// Whether somebody carries a run.
#[derive(Clone, Copy)]
enum Carried {
    Alive,
    Dead,
    /// The number lives again, as another process.
    NumberReused,
    OtherBoot,
}

fn register(run_folder: &Path, parent: Option<&Path>) -> Result<Registration, RegisterError> {
    super::register(run_folder, &Origin { parent: parent.map(Path::to_owned), started_in: None })
}

impl State {
    fn new() -> State {
        State { guard: tempfile::tempdir().unwrap(), locks: RefCell::default() }
    }

    fn folder(&self, run: &str) -> PathBuf {
        self.guard.path().join("runs").join(run)
    }

    /// Records `child` in the folder of `parent`.
    fn record(&self, parent: &str, child: &str, carried: Carried) {
        let me = Identity::of_self();
        let identity = match carried {
            Carried::Alive => me,
            Carried::Dead => Identity { pid: i32::MAX, ..me },
            Carried::NumberReused => Identity { start: me.start + 1, ..me },
            Carried::OtherBoot => Identity { boot: "another".to_owned(), ..me },
        };
        let children = self.folder(parent).join(CHILDREN);
        std::fs::create_dir_all(&children).unwrap();
        std::fs::create_dir_all(self.folder(child)).unwrap();
        if matches!(carried, Carried::Alive) {
            self.locks.borrow_mut().extend(lock::hold(&self.folder(child)).unwrap());
        }
        Record { identity, folder: Some(self.folder(child)) }.write(&children.join(child)).unwrap();
    }

    fn names(children: &[Child]) -> Vec<&str> {
        children.iter().map(|child| child.run.as_str()).collect()
    }
}

#[test]
fn a_registered_run_is_known_by_itself_and_by_its_parent_until_it_ends() {
    let state = State::new();
    let (parent, child) = (state.folder("parent"), state.folder("child"));
    let registered = register(&parent, None).unwrap();
    assert_eq!(process_of(&parent), Some(Identity::of_self()));
    let below = register(&child, Some(&parent)).unwrap();
    let known = live_children(&parent);
    assert_eq!(known, [Child { run: run_of(&child).unwrap(), identity: Identity::of_self(), folder: child.clone() }]);
    assert_eq!(ancestors(&child), [run_of(&parent).unwrap()]);
    std::fs::write(child.join("001.stdout.log"), "it worked").unwrap();
    drop(below);
    assert_eq!((live_children(&parent), process_of(&child)), (vec![], None));
    assert!(child.join("001.stdout.log").exists());
    drop(registered);
    assert!(!parent.exists(), "a run that left nothing leaves no folder");
}

#[test]
fn a_run_that_was_carried_is_found_until_it_is_forgotten_or_left_nothing() {
    let state = State::new();
    let registered = ["left", "empty"].map(|run| register(&state.folder(run), None).unwrap());
    let names = || carried(state.guard.path()).iter().map(RunId::to_string).collect::<Vec<_>>();
    assert_eq!(names(), ["empty", "left"]);
    std::fs::write(state.folder("left").join("001.stdout.log"), "it worked").unwrap();
    drop(registered);
    assert_eq!(names(), ["left"]);
    forget(state.guard.path(), &RunId::parse("left").unwrap());
    assert_eq!(names(), [""; 0]);
    let again = register(&state.folder("left"), None).unwrap();
    assert_eq!(names(), ["left"], "a run that goes on is found again");
    drop(again);
}

#[test]
fn of_the_dead_only_the_newest_are_kept_and_the_living_are_never_forgotten() {
    let state = State::new();
    let runs = ["e", "d", "c", "b", "a"].map(|run| RunId::parse(run).unwrap());
    let mut registered: Vec<_> = runs.iter().map(|run| register(&state.folder(run.as_str()), None).unwrap()).collect();
    runs.iter().for_each(|run| std::fs::write(state.folder(run.as_str()).join("001.stdout.log"), "").unwrap());
    // All but the oldest end.
    let _living = registered.pop();
    drop(registered);
    forget_dead(state.guard.path(), &runs, 2);
    let names: Vec<String> = carried(state.guard.path()).iter().map(RunId::to_string).collect();
    assert_eq!(names, ["a", "d", "e"]);
}

#[test]
fn a_run_is_carried_by_one_process() {
    let state = State::new();
    let registered = register(&state.folder("a"), None).unwrap();
    let own = Identity::of_self().pid;
    let refused = register(&state.folder("a"), None).unwrap_err();
    assert!(matches!(refused, RegisterError::Carried { pid } if pid == own), "{refused}");
    assert_eq!(process_of(&state.folder("a")).unwrap().pid, own, "who is refused leaves no trace");
    drop(registered);
    register(&state.folder("a"), None).unwrap();
}

#[test]
fn a_parent_that_is_not_there_or_is_the_run_itself_is_none() {
    let state = State::new();
    for parent in ["gone", "a"] {
        let registered = register(&state.folder("a"), Some(&state.folder(parent))).unwrap();
        assert_eq!((live_children(&state.folder("a")), ancestors(&state.folder("a"))), (vec![], vec![]));
        assert!(!state.folder("gone").exists());
        drop(registered);
    }
}

#[test]
fn f03_a_child_is_alive_only_if_number_start_and_boot_agree() {
    let state = State::new();
    for (name, carried) in
        [("a", Carried::Alive), ("b", Carried::Dead), ("c", Carried::NumberReused), ("d", Carried::OtherBoot)]
    {
        state.record("top", name, carried);
    }
    assert_eq!(State::names(&live_children(&state.folder("top"))), ["a"]);
}

#[test]
fn those_who_outlived_their_parent_are_found_and_rings_end() {
    let state = State::new();
    state.record("top", "a", Carried::Alive);
    state.record("a", "a1", Carried::Alive);
    state.record("top", "b", Carried::Dead);
    state.record("b", "b1", Carried::Alive);
    state.record("b1", "b2", Carried::Alive);
    state.record("b2", "top", Carried::Alive);
    assert_eq!(State::names(&live_children(&state.folder("top"))), ["a", "b1"]);
    assert_eq!(State::names(&live_descendants(&state.folder("top"))), ["a1", "a", "b2", "b1"]);
}

#[test]
fn records_of_the_dead_go_when_their_parent_goes_on_unless_somebody_lives_below() {
    let state = State::new();
    state.record("top", "alive", Carried::Alive);
    state.record("top", "dead", Carried::Dead);
    state.record("top", "survived", Carried::Dead);
    state.record("survived", "survivor", Carried::Alive);
    let _registered = register(&state.folder("top"), None).unwrap();
    let left: Vec<String> =
        records(&state.folder("top"), CHILDREN).into_iter().map(|(run, _)| run.to_string()).collect();
    assert_eq!(left, ["alive", "survived"]);
}

#[test]
fn a_run_that_ends_before_its_children_stays_the_way_to_them() {
    let state = State::new();
    let _top = register(&state.folder("top"), None).unwrap();
    let middle = register(&state.folder("middle"), Some(&state.folder("top"))).unwrap();
    let lowest = register(&state.folder("lowest"), Some(&state.folder("middle"))).unwrap();
    drop(middle);
    assert_eq!(State::names(&live_children(&state.folder("top"))), ["lowest"]);
    drop(lowest);
    assert_eq!(live_children(&state.folder("top")), []);
}

#[test]
fn a_run_that_names_another_parent_is_known_to_both() {
    let state = State::new();
    let folders = ["top", "middle", "named"].map(|name| state.folder(name));
    let [_top, _middle] = [&folders[0], &folders[1]].map(|folder| register(folder, None).unwrap());
    let origin = Origin { parent: Some(folders[0].clone()), started_in: Some(folders[1].clone()) };
    let named = super::register(&folders[2], &origin).unwrap();
    assert_eq!(State::names(&live_children(&folders[0])), ["named"]);
    assert_eq!(live_descendants(&folders[1]), []);
    assert_eq!(State::names(&started_below(&folders[1])), ["named"]);
    drop(named);
    assert_eq!(started_below(&folders[1]), []);
}

#[test]
fn a_record_keeps_any_path_and_what_is_none_is_no_record() {
    let state = State::new();
    let path = state.guard.path().join("record");
    for folder in [None, Some(PathBuf::from(OsStr::from_bytes(b"/a\nb/\xff\xfe")))] {
        let record = Record { identity: Identity::of_self(), folder };
        record.write(&path).unwrap();
        assert_eq!(Record::read(&path), Some(record));
    }
    for text in ["", "{}", "not json\n/a", "{\"pid\":1}"] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(Record::read(&path), None, "{text}");
    }
}

#[test]
fn a_record_without_the_lock_of_its_run_is_nobodys() {
    let state = State::new();
    state.record("top", "forged", Carried::Alive);
    assert_eq!(State::names(&live_children(&state.folder("top"))), ["forged"]);
    state.locks.borrow_mut().clear();
    for living in [live_children, live_inside, live_descendants, started_below, spared_below] {
        assert_eq!(living(&state.folder("top")), []);
    }
    // A lock that somebody else holds proves nothing either.
    std::fs::create_dir_all(state.folder("other")).unwrap();
    let _held = lock::hold(&state.folder("other")).unwrap().unwrap();
    assert_eq!(live_children(&state.folder("top")), []);
}

#[cfg(target_os = "linux")]
#[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests need real processes")]
mod forgeries {
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    /// A shell that has printed a line, ended when it is dropped.
    struct Shell(std::process::Child);

    impl Drop for Shell {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn shell(script: &str, args: &[&Path], mark: &str) -> Shell {
        let mut command = Command::new("bash");
        command.args(["-c", script]).args(args).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.env(identity::MARK_VARIABLE, mark).spawn().unwrap();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
        Shell(child)
    }

    fn recorded(state: &State, child: &str, pid: u32) {
        let children = state.folder("top").join(CHILDREN);
        std::fs::create_dir_all(&children).unwrap();
        let identity = Identity::of(pid.cast_signed()).unwrap();
        Record { identity, folder: Some(state.folder(child)) }.write(&children.join(child)).unwrap();
    }

    #[test]
    fn a_daemon_that_locks_and_registers_is_no_run_of_this_ralph() {
        let state = State::new();
        std::fs::create_dir_all(state.folder("a")).unwrap();
        let daemon = shell("exec 9<$0; flock 9; echo; sleep 60", &[&state.folder("a")], "top");
        recorded(&state, "a", daemon.0.id());
        assert_eq!(spared_below(&state.folder("top")), []);
        assert_eq!(
            live_descendants(&state.folder("top")),
            [],
            "and a descriptor of another image is no lock of its own"
        );
    }

    #[test]
    fn a_lock_that_this_program_inherited_is_not_its_own() {
        let state = State::new();
        std::fs::create_dir_all(state.folder("a")).unwrap();
        // This very program, with a lock that a shell took before it became it.
        let script = "exec 9<$0; flock 9; echo; exec \"$1\" --ignored --exact \"$2\"";
        let waiting = Path::new("child_runs::tests::forgeries::waits_for_its_end");
        let own = std::env::current_exe().unwrap();
        let forged = shell(script, &[&state.folder("a"), &own, waiting], "top");
        let pid = forged.0.id();
        recorded(&state, "a", pid);
        let identity = Identity::of(pid.cast_signed()).unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while !proof::is_this_program(&identity) && std::time::Instant::now() < deadline {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(proof::is_this_program(&identity));
        assert_eq!(spared_below(&state.folder("top")), []);
    }

    #[test]
    fn a_program_with_a_preloaded_library_is_another_program() {
        let maps = |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let own = maps("self");
        let folders = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib64"];
        let files = folders.iter().flat_map(std::fs::read_dir).flatten().flatten().map(|entry| entry.path());
        let is_foreign = |path: &PathBuf| {
            path.canonicalize().is_ok_and(|real| path.ends_with("libz.so.1") && !own.contains(real.to_str().unwrap()))
        };
        let Some(library) = files.into_iter().find(is_foreign) else {
            eprintln!("note: there is no library to preload here: this test does nothing");
            return;
        };
        let script = "echo; LD_PRELOAD=$0 exec \"$1\" --ignored --exact \"$2\"";
        let waiting = Path::new("child_runs::tests::forgeries::waits_for_its_end");
        let forged = shell(script, &[&library, &std::env::current_exe().unwrap(), waiting], "top");
        let pid = forged.0.id().to_string();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        let is_loaded = || maps(&pid).contains("libz.so") && maps(&pid).contains("ralph_host");
        while !is_loaded() && std::time::Instant::now() < deadline {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(is_loaded());
        assert!(!proof::is_this_program(&Identity::of(forged.0.id().cast_signed()).unwrap()));
    }

    #[test]
    #[ignore = "another test executes it"]
    fn waits_for_its_end() {
        std::thread::sleep(std::time::Duration::from_secs(60));
    }

    #[test]
    fn the_run_itself_and_runs_above_it_are_not_below_it() {
        let state = State::new();
        let _top = register(&state.folder("top"), None).unwrap();
        // This process carries `top`: by another path, and as the ralph of a run above that has a lock of its own.
        let alias = state.guard.path().join("alias");
        std::os::unix::fs::symlink(state.guard.path().join("runs"), &alias).unwrap();
        let _above = register(&state.folder("above"), None).unwrap();
        for (name, folder) in [("x", alias.join("top")), ("y", state.folder("above")), ("z", alias.join("above"))] {
            std::fs::create_dir_all(state.folder("top").join(CHILDREN)).unwrap();
            let record = Record { identity: Identity::of_self(), folder: Some(folder) };
            record.write(&state.folder("top").join(CHILDREN).join(name)).unwrap();
        }
        assert_eq!(spared_below(&state.folder("top")), []);
    }
}
