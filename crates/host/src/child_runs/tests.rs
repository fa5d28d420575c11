use super::*;
use std::ffi::OsStr;

struct State {
    guard: tempfile::TempDir,
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
        State { guard: tempfile::tempdir().unwrap() }
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
