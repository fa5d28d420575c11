use super::*;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

fn new_run() -> RunId {
    RunId::from_random(crate::clock::random_bits())
}

/// A shell that has printed its first line, so that its traps are set.
fn shell(script: &str, run: Option<&RunId>) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped());
    if let Some(run) = run {
        command.env(MARK_VARIABLE, run.as_str());
    }
    let mut child = command.spawn().unwrap();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    child
}

fn pid(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap()
}

#[test]
fn a_process_is_alive_until_it_ends_even_if_nobody_waited() {
    assert!(Identity::of_self().is_alive());
    let mut child = shell("echo; exec cat", None);
    let identity = Identity::of(pid(&child)).unwrap();
    let ended = identity.clone();
    child.kill().unwrap();
    // Waiting without reaping: the number is still taken, and the process is dead all the same.
    let known = Pid::from_raw(pid(&child)).unwrap();
    rustix::process::waitid(
        rustix::process::WaitId::Pid(known),
        rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT,
    )
    .unwrap();
    assert!(Identity::of(pid(&child)).is_some() && !ended.is_alive());
    child.wait().unwrap();
    assert!(!ended.is_alive());
}

#[test]
fn e06_a_process_of_another_boot_is_not_alive() {
    let other_boot = Identity { boot: "00000000-0000-0000-0000-000000000000".to_owned(), ..Identity::of_self() };
    assert!(!other_boot.is_alive());
    assert!(!Identity { boot: String::new(), ..Identity::of_self() }.is_alive());
}

#[test]
fn f03_a_number_that_lives_again_is_another_process() {
    let me = Identity::of_self();
    assert!(!Identity { start: me.start + 1, ..me.clone() }.is_alive());
    assert_eq!(serde_json::from_str::<Identity>(&serde_json::to_string(&me).unwrap()).unwrap(), me);
    for nobody in [0, -1, i32::MAX] {
        assert_eq!(Identity::of(nobody), None);
    }
}

#[test]
fn the_start_is_found_behind_any_program_name() {
    let tail = "S 7 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4242 9 9";
    for name in ["cat", "a) R 1 (b", ")", "sp ace", ") S 1 1 1 1", "new\nline"] {
        let stat = os::Stat::parse(format!("12 ({name}) {tail}").as_bytes()).unwrap();
        assert_eq!(stat, os::Stat { state: 'S', parent: 7, start: 4242 }, "{name}");
    }
    let mut odd = b"12 (\xff\xfe) ".to_vec();
    odd.extend_from_slice(tail.as_bytes());
    assert_eq!(os::Stat::parse(&odd).unwrap().start, 4242);
    for broken in ["", "12 cat", "12 (cat) S 1", "12 (cat) S x"] {
        assert_eq!(os::Stat::parse(broken.as_bytes()), None);
    }
}

#[test]
fn a_marker_counts_only_as_a_whole_entry() {
    let holds = |environ: &str| os::holds_entry(environ.as_bytes(), b"RALPH_RUN_ID=ab");
    for yes in ["RALPH_RUN_ID=ab", "A=1\0RALPH_RUN_ID=ab\0", "RALPH_RUN_ID=abc\0RALPH_RUN_ID=ab\0B=2\0"] {
        assert!(holds(yes), "{yes:?}");
    }
    for no in ["", "RALPH_RUN_ID=abc\0", "X_RALPH_RUN_ID=ab\0", "A=RALPH_RUN_ID=ab\0", "RALPH_RUN_ID=a"] {
        assert!(!holds(no), "{no:?}");
    }
}

#[test]
fn e05_an_old_tree_is_ended_with_its_daemons_and_nobody_else() {
    let (run, other) = (new_run(), new_run());
    let mut bystander = shell("echo; exec sleep 60", Some(&other));
    // One ignores the polite signal, one is stopped, one left for a session of its own.
    let mut deaf = shell("trap '' TERM; echo; while :; do sleep 60; done", Some(&run));
    let mut stopped = shell("echo; kill -STOP $$; sleep 60", Some(&run));
    let mut parent = shell("setsid sh -c 'sleep 60 & sleep 60' >/dev/null & echo", Some(&run));
    parent.wait().unwrap();
    // What it started may still be on its way.
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while os::marked(&marker(&run)).len() < 4 && std::time::Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(os::marked(&marker(&run)).len() >= 4);
    let sweep = end_marked(&run, Path::new("/nowhere"), Duration::from_secs(10));
    assert!(sweep.left.is_empty() && sweep.ended.contains(&pid(&deaf)) && sweep.ended.contains(&pid(&stopped)));
    assert_eq!(os::marked(&marker(&run)), Vec::<i32>::new());
    assert_eq!(os::marked(&marker(&other)), [pid(&bystander)]);
    assert_eq!(end_marked(&run, Path::new("/nowhere"), Duration::from_secs(10)), Sweep::default());
    bystander.kill().unwrap();
    for child in [&mut bystander, &mut deaf, &mut stopped] {
        child.wait().unwrap();
    }
}

#[test]
fn a_process_that_changes_its_program_is_not_overlooked() {
    let run = new_run();
    // Nothing but exec: most looks meet it on its way.
    let again = "exec sh -c \"$1\" sh \"$1\"";
    let mut ring = Command::new("sh");
    let mut ring = ring.args(["-c", again, "sh", again]).env(MARK_VARIABLE, run.as_str()).spawn().unwrap();
    let mut seen = 0;
    for _ in 0..1000 {
        seen += usize::from(os::carries(pid(&ring), &marker(&run)));
    }
    ring.kill().unwrap();
    ring.wait().unwrap();
    assert_eq!(seen, 1000);
}

#[test]
fn e05_a_resume_from_inside_the_run_does_not_end_itself() {
    let Ok(run) = std::env::var("HOST_TEST_INNER_RUN") else {
        let run = new_run();
        let name = "identity::tests::e05_a_resume_from_inside_the_run_does_not_end_itself";
        let exe = std::env::current_exe().unwrap();
        let status = Command::new("sh")
            .args(["-c", "\"$0\" --exact \"$1\"; exit $?"])
            .arg(exe)
            .arg(name)
            .env(MARK_VARIABLE, run.as_str())
            .env("HOST_TEST_INNER_RUN", run.as_str())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        return;
    };
    assert_eq!(
        end_marked(&RunId::parse(&run).unwrap(), Path::new("/nowhere"), Duration::from_secs(5)),
        Sweep::default()
    );
}
