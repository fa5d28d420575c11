#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests need real processes")]

use super::*;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Barrier, mpsc};
use std::time::Instant;

struct Place {
    guard: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let guard = tempfile::tempdir().unwrap();
        std::fs::create_dir(guard.path().join("tree")).unwrap();
        Place { guard }
    }

    fn locks(&self) -> PathBuf {
        self.guard.path().join("locks")
    }

    fn tree(&self) -> PathBuf {
        self.guard.path().join("tree")
    }

    fn take(&self) -> Result<WorkTreeLock, LockError> {
        WorkTreeLock::take(&self.locks(), &self.tree(), &me())
    }

    fn places(&self) -> Places {
        Places::of(&self.locks(), &self.tree()).unwrap()
    }
}

fn me() -> Owner {
    Owner::this_process(RunId::parse("r1"), WallTime(1_700_000_000_000), "ralph run -p x".to_owned())
}

fn refused(result: Result<WorkTreeLock, LockError>) -> Owner {
    match result {
        Err(LockError::Held(owner)) => *owner,
        other => panic!("not refused: {other:?}"),
    }
}

/// Another process that holds the lock of `place` until it is killed.
fn holder(place: &Place) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lock::tests::hold_in_another_process", "--nocapture"])
        .env("HOST_TEST_LOCK_PLACE", place.guard.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("lock held")));
    child
}

#[test]
fn hold_in_another_process() {
    let Some(place) = std::env::var_os("HOST_TEST_LOCK_PLACE").map(PathBuf::from) else { return };
    let _lock = WorkTreeLock::take(&place.join("locks"), &place.join("tree"), &me()).unwrap();
    println!("lock held");
    _ = io::stdin().read_line(&mut String::new());
}

#[test]
fn f01_of_twenty_contenders_exactly_one_wins() {
    let place = Place::new();
    let start = Barrier::new(20);
    let (sender, winners) = mpsc::channel();
    let slowest = std::thread::scope(|scope| {
        let contend = || {
            let sender = sender.clone();
            start.wait();
            let began = Instant::now();
            match place.take() {
                Ok(lock) => sender.send(lock).unwrap(),
                other => assert_eq!(refused(other), me()),
            }
            began.elapsed()
        };
        let all: Vec<_> = (0..20).map(|_| scope.spawn(contend)).collect();
        all.into_iter().map(|one| one.join().unwrap()).max().unwrap()
    });
    assert!(slowest < Duration::from_millis(200), "{slowest:?}");
    assert_eq!(winners.try_iter().collect::<Vec<_>>().len(), 1);
}

#[test]
fn f01_the_second_ralph_is_told_who_the_first_is() {
    let place = Place::new();
    let mut first = holder(&place);
    let began = Instant::now();
    let named = refused(place.take());
    assert!(began.elapsed() < Duration::from_millis(200));
    assert_eq!(named.identity.pid, i32::try_from(first.id()).unwrap());
    assert_eq!((named.run, named.command), (me().run, me().command));
    let message = LockError::Held(Box::new(owner(&place.locks(), &place.tree()).unwrap())).to_string();
    for part in [&format!("process {}", first.id()), "(run r1)", "ralph run -p x"] {
        assert!(message.contains(part), "{message}");
    }
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn f02_a_lock_left_by_a_killed_process_is_no_obstacle() {
    let place = Place::new();
    let mut dead = holder(&place);
    dead.kill().unwrap();
    dead.wait().unwrap();
    assert!(place.places().file.metadata().unwrap().len() > 0, "its text is still there");
    assert_eq!(owner(&place.locks(), &place.tree()), None);
    let lock = place.take().unwrap();
    assert_eq!(owner(&place.locks(), &place.tree()), Some(me()));
    drop(lock);
    assert_eq!(owner(&place.locks(), &place.tree()), None);
    drop(place.take().unwrap());
}

#[test]
fn f03_a_left_text_whose_pid_lives_again_is_no_obstacle() {
    let place = Place::new();
    drop(place.take().unwrap());
    let identity = Identity { start: me().identity.start + 1, ..me().identity };
    std::fs::write(place.places().file, serde_json::to_vec(&Owner { identity, ..me() }).unwrap()).unwrap();
    assert_eq!(owner(&place.locks(), &place.tree()), None);
    place.take().unwrap();
}

#[test]
fn f04_deleting_the_lock_file_lets_nobody_in_and_is_noticed() {
    let place = Place::new();
    let mut lock = place.take().unwrap();
    assert_eq!(lock.check(), Standing::Firm);
    std::fs::remove_file(place.places().file).unwrap();
    assert_eq!(refused(place.take()), me(), "the copy in the folder still names the owner");
    assert_eq!(lock.check(), Standing::Mended);
    assert_eq!(lock.check(), Standing::Firm);
    assert_eq!(refused(place.take()), me());
    std::fs::remove_dir_all(place.places().folder).unwrap();
    assert_eq!(refused(place.take()), me());
    assert_eq!(lock.check(), Standing::Mended);
    std::fs::remove_dir_all(place.locks()).unwrap();
    assert_eq!(lock.check(), Standing::Lost);
}

#[test]
fn f04_contenders_never_share_while_the_file_is_deleted_again_and_again() {
    let place = Place::new();
    let lock = place.take().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| _ = refused(place.take())));
        }
        for _ in 0..200 {
            _ = std::fs::remove_file(&place.places().file);
        }
    });
    drop(lock);
    place.take().unwrap();
}

#[test]
fn f05_a_child_does_not_inherit_the_lock() {
    let place = Place::new();
    let lock = place.take().unwrap();
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    drop(lock);
    place.take().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_owner_without_a_readable_text_is_unknown() {
    let place = Place::new();
    let lock = place.take().unwrap();
    for text in ["", "{\"pid\":", "\u{1b}[2J"] {
        std::fs::write(&place.places().file, text).unwrap();
        std::fs::write(place.places().copy(), text).unwrap();
        let began = Instant::now();
        assert_eq!(refused(place.take()), Owner::default());
        assert!(began.elapsed() < Duration::from_millis(200));
    }
    drop(lock);
}

#[test]
fn c14_a_link_in_the_place_of_the_lock_is_refused() {
    let place = Place::new();
    drop(place.take().unwrap());
    let victim = place.guard.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    std::fs::remove_file(place.places().file).unwrap();
    std::os::unix::fs::symlink(&victim, place.places().file).unwrap();
    assert!(matches!(place.take(), Err(LockError::Io { .. })));
    assert_eq!(std::fs::read_to_string(victim).unwrap(), "precious");
}

#[test]
fn l05_every_way_to_a_tree_meets_the_same_lock() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    let odd = place.guard.path().join(std::ffi::OsStr::from_bytes(b"odd\xff\n"));
    std::fs::create_dir(&odd).unwrap();
    std::os::unix::fs::symlink(&odd, place.guard.path().join("alias")).unwrap();
    let _lock = WorkTreeLock::take(&place.locks(), &odd, &me()).unwrap();
    refused(WorkTreeLock::take(&place.locks(), &place.guard.path().join("tree/../alias"), &me()));
    place.take().unwrap();
}

#[test]
fn a_guest_inherits_the_tree_and_a_stranger_who_was_quicker_is_named() {
    let place = Place::new();
    let run = |name: &str| RunId::parse(name).unwrap();
    let owner = |name: &str| Owner { run: Some(run(name)), ..me() };
    let take = |name: &str| WorkTreeLock::take(&place.locks(), &place.tree(), &owner(name));
    let join = |name: &str| WorkTreeLock::join(&place.locks(), &place.tree(), owner(name), run("top")).unwrap();
    let top = take("top").unwrap();
    let (mut one, mut two) = (join("one"), join("two"));
    assert_eq!((one.check(), two.check()), (Standing::Firm, Standing::Firm));
    drop(top);
    assert_eq!((one.check(), two.check(), one.check()), (Standing::Inherited, Standing::Firm, Standing::Firm));
    let holder = refused(take("new"));
    assert_eq!((holder.run, holder.heir_of), (Some(run("one")), Some(run("top"))));
    drop(one);
    let stranger = take("new").unwrap();
    assert!(matches!(two.check(), Standing::Taken(owner) if owner.run == Some(run("new"))));
    drop(two);
    assert_eq!(refused(take("other")).run, Some(run("new")), "a guest that goes takes nobody's name away");
    drop(stranger);
}
