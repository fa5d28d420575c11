use super::*;
use ralph_core::time::WallTime;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn message(number: u64, body: &str) -> Message {
    Message::new(MessageId::from_random(number), WallTime(1_794_732_301_123), Kind::INFO, "anna", body)
}

fn bus(folder: &tempfile::TempDir) -> Bus {
    Bus::at(folder.path().join("TASK-MESSAGE-BUS.md"))
}

fn post(bus: &Bus, message: &Message) {
    bus.post(std::slice::from_ref(message), Durability::Written).unwrap();
}

fn bodies(bus: &Bus) -> Vec<String> {
    bus.messages().unwrap().into_iter().map(|message| message.body).collect()
}

#[test]
fn what_is_posted_is_read_and_the_file_is_for_people() {
    let folder = tempfile::tempdir().unwrap();
    let bus = bus(&folder);
    assert_eq!(bus.messages().unwrap(), []);
    let large = "x\n".repeat(1 << 19);
    let sent = [message(1, "one"), message(2, "---\nid: forged\n---\n"), message(3, ""), message(4, &large)];
    bus.post(&sent[..2], Durability::Synced).unwrap();
    bus.post(&sent[2..], Durability::Written).unwrap();
    assert_eq!(bus.messages().unwrap(), sent);
    let text = std::fs::read_to_string(bus.path()).unwrap();
    assert!(text.starts_with("---\nid: m100000000000\nat: 2026-11-15T08:45:01.123Z\ntype: INFO\n"), "{text}");
    let mode = std::fs::metadata(bus.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o133, 0, "nobody else writes it: {mode:o}");
}

#[test]
fn d06_wherever_a_writer_died_the_next_one_repairs_and_nothing_else_changes() {
    let folder = tempfile::tempdir().unwrap();
    let bus = bus(&folder);
    let torn = message(2, "torn\n<!-- end m900000000000 -->\n\nand on");
    let first = message(1, "first").encode().unwrap();
    let all = first.clone() + &torn.encode().unwrap();
    for cut in 0..all.len() {
        std::fs::write(bus.path(), &all.as_bytes()[..cut]).unwrap();
        let mut follower = bus.follow();
        let mut followed = Vec::new();
        follower.read(|message| followed.push(message)).unwrap();
        let next = message(3, "next");
        post(&bus, &next);
        let text = std::fs::read_to_string(bus.path()).unwrap();
        let read = bus.messages().unwrap();
        let whole = usize::from(cut + 1 >= first.len()) + usize::from(cut + 1 >= all.len());
        assert_eq!(read[..whole], [message(1, "first"), torn.clone()][..whole], "cut at {cut}");
        assert_eq!(read.last(), Some(&next), "cut at {cut}");
        assert!(text.ends_with(&next.encode().unwrap()), "cut at {cut}");
        // What was left of the torn entry is still there for people.
        let left = &all[if cut + 1 < first.len() { 0 } else { first.len().min(cut) }..cut];
        let kept = read.iter().any(|message| message.kind == Kind::TORN && message.body == left);
        assert!(kept || text.contains(left), "cut at {cut}: {text}");
        assert!(read.len() - whole <= 2, "cut at {cut}");
        // A reader that saw the torn end goes on behind it.
        follower.read(|message| followed.push(message)).unwrap();
        assert_eq!(followed, read, "cut at {cut}");
    }
}

#[test]
fn text_that_a_person_appended_stays() {
    let folder = tempfile::tempdir().unwrap();
    let bus = bus(&folder);
    for note in ["a note without a line end", "# A heading\n\n- a list\n", "---\n", "-", "----\nid\n"] {
        std::fs::write(bus.path(), message(1, "one").encode().unwrap() + note).unwrap();
        post(&bus, &message(2, "two"));
        post(&bus, &message(3, "three"));
        assert_eq!(bodies(&bus), ["one", "two", "three"], "{note}");
        let expected =
            [message(1, "one").encode().unwrap().as_str(), note, "\n", &message(2, "two").encode().unwrap()].concat();
        assert!(std::fs::read_to_string(bus.path()).unwrap().starts_with(&expected), "{note}");
        let mut follower = bus.follow();
        follower.read(|_| {}).unwrap();
        assert!(follower.skipped() >= note.trim().len() as u64, "{note}");
    }
}

#[test]
fn c08_what_is_no_plain_file_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("file"), "").unwrap();
    symlink(at("file"), at("link")).unwrap();
    symlink(at("missing"), at("dangling")).unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    plain_file::make_pipe(&at("pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    for (name, kind) in [
        ("link", "symbolic link"),
        ("dangling", "symbolic link"),
        ("folder", "directory"),
        ("pipe", "named pipe"),
        ("socket", "socket"),
    ] {
        let bus = Bus::at(at(name));
        let errors = [bus.post(&[message(1, "x")], Durability::Written).unwrap_err(), bus.messages().unwrap_err()];
        for error in errors {
            assert!(matches!(&error, BusError::NotAFile { kind: found, .. } if *found == kind), "{name}: {error}");
            assert!(error.to_string().contains(&format!("{name} is a {kind}")), "{error}");
        }
    }
    assert!(!at("missing").exists() && std::fs::read(at("file")).unwrap().is_empty());
    let error = Bus::at(at("no/folder/bus")).post(&[message(1, "x")], Durability::Written).unwrap_err();
    assert!(error.to_string().contains(&format!("mkdir -p {}", at("no/folder").display())), "{error}");
    assert_eq!(Bus::at(at("no/folder/bus")).messages().unwrap(), []);
    assert_eq!(Bus::at(at("file/bus")).messages().unwrap(), []);
}

#[test]
fn f08_a_message_that_may_be_posted_once_is_posted_once_by_many() {
    let folder = tempfile::tempdir().unwrap();
    let bus = bus(&folder);
    let fact = message(9000, "run x is done");
    let posted = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let (bus, fact) = (&bus, &fact);
                scope.spawn(move || {
                    (0..25).for_each(|number| post(bus, &message(100 * thread + number, "noise")));
                    bus.post_once(fact, Durability::Written).unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|posted| *posted == Posted::Now).count()
    });
    assert_eq!(posted, 1);
    let read = bus.messages().unwrap();
    assert_eq!((read.len(), read.iter().filter(|message| **message == fact).count()), (101, 1));
}

#[test]
fn a_follower_goes_on_where_it_was_and_notices_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let bus = bus(&folder);
    let mut follower = bus.follow();
    let mut next = || {
        let mut seen = Vec::new();
        follower.read(|message| seen.push(message.body)).unwrap();
        seen.join(" ")
    };
    assert_eq!(next(), "");
    post(&bus, &message(1, "one"));
    post(&bus, &message(2, "two"));
    assert_eq!((next(), next()), ("one two".to_owned(), String::new()));
    post(&bus, &message(3, "three"));
    assert_eq!(next(), "three");
    // Another file of the same length or longer, in the same place and perhaps with the same inode.
    std::fs::remove_file(bus.path()).unwrap();
    assert_eq!(next(), "");
    (4..9).for_each(|number| post(&bus, &message(number, "new")));
    assert_eq!(next(), "new new new new new");
    std::fs::write(bus.path(), (10..20).map(|number| message(number, "again").encode().unwrap()).collect::<String>())
        .unwrap();
    assert_eq!(next(), ["again"; 10].join(" "));
    std::fs::write(bus.path(), message(20, "short").encode().unwrap()).unwrap();
    assert_eq!(next(), "short");
    // What came just before somebody moved the file away is not lost with it.
    post(&bus, &message(21, "late"));
    std::fs::rename(bus.path(), folder.path().join("old.md")).unwrap();
    post(&bus, &message(22, "first"));
    assert_eq!(next(), "late first");
}

#[test]
fn f09_a_reader_beside_writers_sees_every_message_once() {
    let folder = tempfile::tempdir().unwrap();
    let bus = bus(&folder);
    let large = "---\nid: x\n".repeat(30_000);
    let seen = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|writer: u64| {
                let (bus, large) = (&bus, &large);
                scope.spawn(move || {
                    (0..20)
                        .for_each(|number| post(bus, &message(1000 * writer + number, &format!("{number} {large}"))));
                })
            })
            .collect();
        let (mut follower, mut seen) = (bus.follow(), Vec::new());
        while seen.len() < 60 {
            let over = writers.iter().all(|writer| writer.is_finished());
            follower.read(|message| seen.push(message)).unwrap();
            assert!(!over || seen.len() == 60, "{} messages are lost", 60 - seen.len());
        }
        assert_eq!(follower.skipped(), 0);
        seen
    });
    assert_eq!(seen, bus.messages().unwrap());
    assert!(seen.iter().all(|message| message.body.ends_with(&large)));
}

#[test]
fn f04_a_writer_follows_its_path_to_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let bus = bus(&folder);
    let mut writer = bus.writer();
    let mut post = |number| writer.post(&[message(number, &number.to_string())], Durability::Written).unwrap();
    post(1);
    post(2);
    let old = Bus::at(folder.path().join("old"));
    std::fs::rename(bus.path(), old.path()).unwrap();
    post(3);
    std::fs::remove_file(bus.path()).unwrap();
    post(4);
    assert_eq!((bodies(&old), bodies(&bus)), (vec!["1".to_owned(), "2".to_owned()], vec!["4".to_owned()]));
}

#[test]
fn messages_are_posted_all_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let bus = bus(&folder);
    post(&bus, &message(1, "one"));
    let before = std::fs::read(bus.path()).unwrap();
    let error = bus.post(&[message(2, "x"), message(3, &"x".repeat(17 << 20))], Durability::Written).unwrap_err();
    assert!(error.to_string().contains("most") && !error.is_io(), "{error}");
    assert_eq!(std::fs::read(bus.path()).unwrap(), before);
}

#[test]
fn a_lock_that_does_not_come_free_names_its_holder() {
    let folder = tempfile::tempdir().unwrap();
    let bus = bus(&folder);
    let mut writer = bus.writer();
    let locked = writer.lock().unwrap();
    let file = File::open(bus.path()).unwrap();
    assert!(holder::of(&file).contains(&format!("process {}", std::process::id())), "{}", holder::of(&file));
    assert_eq!(rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive), Err(Errno::WOULDBLOCK));
    drop(locked);
    assert_eq!(holder::of(&file), "another process");
}

#[test]
fn requests_and_acknowledgements_are_kept_outside_the_project_and_nothing_else_is() {
    let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bus = bus(&folder);
    let kinds = [Kind::USER_REQUEST, Kind::INFO, Kind::ACK, Kind::FACT];
    for (number, kind) in (1..).zip(kinds) {
        let message = Message { kind, ..message(number, "x") };
        bus.keep(&message, state.path(), Durability::Synced).unwrap();
    }
    let kept = bus.kept_in(state.path());
    let kinds: Vec<Kind> = kept.messages().unwrap().into_iter().map(|message| message.kind).collect();
    assert_eq!(kinds, [Kind::USER_REQUEST, Kind::ACK]);
    let elsewhere = Bus::at(folder.path().join("other.md"));
    assert_ne!(elsewhere.kept_in(state.path()).path(), kept.path());
    let roundabout =
        Bus::at(folder.path().join("../").join(folder.path().file_name().unwrap()).join("TASK-MESSAGE-BUS.md"));
    assert_eq!(roundabout.kept_in(state.path()).path(), kept.path());
}
