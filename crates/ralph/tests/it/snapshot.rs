//! Checks on snapshots of their own, through a real keeper.

use ralph_core::check::{CheckEnding, CheckReport, CheckSpec};
use ralph_core::id::{CheckId, RunId};
use ralph_core::time::Millis;
use ralph_host::checkout::Checkout;
use ralph_host::checks::{self, CheckPlace};
use ralph_host::process::Keeper;
use ralph_host::snapshot::{Judge, Place, Plan, Put, Snapshots, hides_from_checks};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::sync::mpsc;

/// Names the binary under test where it lies elsewhere: an ordinary user may not reach the build folder.
const BINARY: &str = "RALPH_SNAPSHOT_TEST_BINARY";

/// A project in a repository, with trusted state beside it.
struct Bench {
    _guard: TempDir,
    tree: PathBuf,
    state: PathBuf,
    keeper: Keeper,
    snapshots: Snapshots,
}

/// What a check gets beyond its command.
#[derive(Default)]
struct Extras<'a> {
    checkout: Option<&'a Checkout>,
    judges: Vec<Put>,
    fixed: Vec<PathBuf>,
    emptied: Vec<PathBuf>,
    hides_own: bool,
    caches: Vec<PathBuf>,
    environment: Vec<(OsString, OsString)>,
}

fn binary() -> PathBuf {
    std::env::var_os(BINARY).map_or_else(|| env!("CARGO_BIN_EXE_ralph").into(), PathBuf::from)
}

fn git(folder: &Path, args: &[&str]) -> String {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"];
    let done = Command::new("git").current_dir(folder).env("HOME", folder).args(identity).args(args).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Whether this machine can do it at all, asked of another program.
fn can_unshare() -> bool {
    let root = rustix::process::geteuid().is_root();
    let flags: &[&str] = if root { &["-m"] } else { &["--user", "--map-root-user", "--mount"] };
    let inner = "mount -t tmpfs none /tmp";
    let tried = Command::new("unshare").args(flags).args(["sh", "-c", inner]).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

fn place(guard: &Path) -> Place {
    let (tree, state) = (guard.join("project"), guard.join("state"));
    let run_folder = state.join("runs").join(RunId::from_random(7).as_str());
    for folder in [&tree, &run_folder] {
        fs::create_dir_all(folder).unwrap();
    }
    Place { project: tree.clone(), tree, state, run_folder, spare: None }
}

impl Bench {
    /// A project with some files; `None` on a machine that can make no snapshots.
    async fn new() -> Option<Bench> {
        let guard = tempfile::tempdir().unwrap();
        let place = place(guard.path());
        let tree = place.tree.clone();
        fs::write(tree.join("work.txt"), "work\n").unwrap();
        fs::write(tree.join("check.sh"), "exit 0\n").unwrap();
        fs::create_dir(tree.join("folder")).unwrap();
        fs::write(tree.join("folder/file"), "file\n").unwrap();
        git(&tree, &["init", "--quiet"]);
        git(&tree, &["add", "."]);
        git(&tree, &["commit", "--quiet", "-m", "first"]);
        Bench::at(guard, place).await
    }

    async fn at(guard: TempDir, place: Place) -> Option<Bench> {
        let mut keeper = Keeper::start_from(&binary(), &RunId::from_random(7)).unwrap();
        let (tree, state) = (place.tree.canonicalize().unwrap(), place.state.clone());
        match Snapshots::probe(&mut keeper, place).await {
            Ok(snapshots) => Some(Bench { _guard: guard, tree, state, keeper, snapshots }),
            Err(why) => {
                assert!(!can_unshare(), "no snapshot: {why}");
                None
            }
        }
    }

    async fn check(&mut self, command: &str) -> CheckReport {
        self.check_as(CheckSpec::new(CheckId::new("c"), command), Extras::default()).await
    }

    /// Runs a check that must be on a snapshot, and leaves nothing behind.
    async fn check_as(&mut self, spec: CheckSpec, extras: Extras<'_>) -> CheckReport {
        let (report, problem) = self.try_check(spec, extras).await;
        assert_eq!((report.live.as_str(), problem), ("", None));
        report
    }

    async fn try_check(&mut self, spec: CheckSpec, extras: Extras<'_>) -> (CheckReport, Option<String>) {
        let Extras { checkout, judges, fixed, emptied, hides_own, caches, environment } = extras;
        let plan =
            Plan { snapshots: &self.snapshots, checkout, judges, fixed, emptied, hides_own, caches, environment };
        let root = checkout.map_or(self.tree.as_path(), Checkout::project);
        let place = CheckPlace {
            root,
            log: None,
            log_path: "log".to_owned(),
            output_chars: 10_000,
            snapshot: Some(plan),
            watched: None,
            temporary: None,
        };
        let (_silent, mut orders) = mpsc::unbounded_channel();
        let done = checks::run(&mut self.keeper, spec, place, &mut orders).await;
        self.is_clean();
        done
    }

    /// Nothing of any snapshot is left: no folder and no mount.
    fn is_clean(&self) {
        let snapshots = self.state.join("runs").join(RunId::from_random(7).as_str()).join("snapshots");
        let left: Vec<_> = fs::read_dir(&snapshots).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        assert!(left.is_empty(), "{left:?}");
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!mounts.contains(self.tree.to_str().unwrap()), "{mounts}");
    }

    fn at_tree(&self, path: &str) -> PathBuf {
        self.tree.join(path)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at_tree(path)).unwrap()
    }

    /// Everything in the project but the repository.
    fn listing(&self) -> String {
        let listed = Command::new("sh")
            .current_dir(&self.tree)
            .args(["-c", "find . -path ./.git -prune -o -printf '%p %M %l\\n' | sort; cat $(find . -path ./.git -prune -o -type f -print | sort)"])
            .output()
            .unwrap();
        String::from_utf8(listed.stdout).unwrap()
    }
}

fn passed(report: &CheckReport) -> &str {
    assert!(report.passed(), "{:?}: {}", report.ending, report.output_head);
    &report.output_head
}

fn spec(command: &str) -> CheckSpec {
    CheckSpec::new(CheckId::new("c"), command)
}

fn file(path: &str, content: &str) -> Put {
    Put { path: path.into(), what: Judge::File { content: content.into(), executable: false } }
}

#[tokio::test]
async fn a_check_cannot_swap_a_fixed_judge_by_any_name() {
    let Some(mut bench) = Bench::new().await else { return };
    fs::create_dir_all(bench.tree.join("tests/inner")).unwrap();
    fs::write(bench.tree.join("tests/inner/judge"), "strict\n").unwrap();
    let attempts = [
        "echo x > tests/inner/judge",
        "rm tests/inner/judge",
        "echo x > new && mv new tests/inner/judge",
        "mv tests/inner/judge away",
        "mv tests away",
        "mv tests/inner tests/away",
        "rm -rf tests",
        "ln -f f tests/inner/judge",
    ];
    for attempt in attempts {
        let fixed = vec![PathBuf::from("tests/inner/judge"), PathBuf::from("missing/judge")];
        let command = format!("({attempt}) 2>/dev/null; cat tests/inner/judge; echo y > tests/inner/beside");
        let report = bench.check_as(spec(&command), Extras { fixed, ..Extras::default() }).await;
        assert_eq!(passed(&report), "strict\n", "{attempt}");
    }
}

#[tokio::test]
async fn a_check_sees_settings_and_nothing_else_of_ralphs_own_files() {
    let Some(mut bench) = Bench::new().await else { return };
    fs::create_dir_all(bench.tree.join(".ralph/tasks/t")).unwrap();
    for name in ["settings.json", "settings.local.json", "sum.sh", "tasks/t/sum.sh"] {
        fs::write(bench.tree.join(".ralph").join(name), "{}").unwrap();
    }
    let extras = Extras { hides_own: true, ..Extras::default() };
    let report = bench.check_as(spec("ls .ralph; echo x > .ralph/written"), extras).await;
    assert_eq!(passed(&report), "settings.json\nsettings.local.json\n");
    assert!(!bench.tree.join(".ralph/written").exists());
    assert!(passed(&bench.check("ls .ralph").await).contains("tasks"));
}

#[tokio::test]
async fn a_folder_that_an_agent_made_is_empty_for_a_check_and_stays_as_it_is() {
    let Some(mut bench) = Bench::new().await else { return };
    fs::create_dir_all(bench.tree.join(".venv/bin")).unwrap();
    fs::write(bench.tree.join(".venv/bin/pytest"), "exit 0\n").unwrap();
    for _ in 0..2 {
        let extras = Extras { emptied: vec![".venv".into()], ..Extras::default() };
        let report =
            bench.check_as(spec("ls .venv; mkdir .venv/bin; echo x > .venv/bin/own; ls .venv/bin"), extras).await;
        assert_eq!(passed(&report), "own\n");
    }
    assert_eq!(fs::read_dir(bench.tree.join(".venv/bin")).unwrap().count(), 1);
    // Of files that the commit does not hold, and whole folders of them, nothing is there either.
    let nothing = |path: &str| Put { path: path.into(), what: Judge::Nothing };
    let extras = Extras { judges: vec![nothing(".venv/"), nothing("work.txt")], ..Extras::default() };
    assert_eq!(passed(&bench.check_as(spec("ls -A | grep -v git"), extras).await), "check.sh\nfolder\n");
    assert!(bench.tree.join(".venv/bin/pytest").exists() && bench.tree.join("work.txt").exists());
}

#[tokio::test]
async fn what_a_check_writes_reaches_neither_the_tree_nor_the_next_check() {
    let Some(mut bench) = Bench::new().await else { return };
    let before = bench.listing();
    let writing = "set -e; echo changed > work.txt; chmod 755 work.txt; rm check.sh; mv folder/file moved; rmdir folder; \
                   mkdir new; echo new > new/file; ln -s new link; git add -A; git commit --quiet -m x; pwd; cat work.txt \
                   moved new/file link/file; test ! -e check.sh; test -x work.txt";
    let writing =
        format!("export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t; {writing}");
    let said = format!("{}\nchanged\nfile\nnew\nnew\n", bench.tree.display());
    let report = bench.check(&writing).await;
    assert_eq!(passed(&report), said, "absolute paths stay true");
    assert_eq!(bench.listing(), before);
    assert_eq!(git(&bench.tree, &["log", "--format=%s"]), "first\n");
    let next = bench.check("cat work.txt check.sh folder/file; ls; git status --porcelain").await;
    assert_eq!(passed(&next), "work\nexit 0\nfile\ncheck.sh\nfolder\nwork.txt\n");
    // A path through the file system's root is the same file.
    let absolute = format!("echo x > {0}/work.txt && cat work.txt", bench.tree.display());
    assert_eq!(passed(&bench.check(&absolute).await), "x\n");
    assert_eq!(bench.read("work.txt"), "work\n");
}

#[tokio::test]
async fn a_folder_that_is_removed_and_made_anew_is_empty_and_files_keep_their_times() {
    let Some(mut bench) = Bench::new().await else { return };
    let time = bench.at_tree("folder/file").metadata().unwrap().mtime();
    let report = bench
        .check("stat -c %Y folder/file; rm -r folder && mkdir folder && ls -A folder && mv folder other && ls")
        .await;
    assert_eq!(passed(&report), format!("{time}\ncheck.sh\nother\nwork.txt\n"));
    assert_eq!(bench.read("folder/file"), "file\n");
}

#[tokio::test]
async fn exit_codes_signals_and_standard_streams_are_those_of_the_check() {
    let Some(mut bench) = Bench::new().await else { return };
    assert_eq!(bench.check("exit 7").await.ending, CheckEnding::Exited { code: 7 });
    assert_eq!(bench.check("exit 125").await.ending, CheckEnding::Exited { code: 125 });
    assert_eq!(bench.check("no-such-program").await.ending, CheckEnding::Exited { code: 127 });
    assert_eq!(bench.check("kill -KILL $$").await.ending, CheckEnding::Signalled { signal: 9 });
    assert_eq!(passed(&bench.check("cat; echo out; echo err >&2").await), "out\nerr\n");
    // Nothing that the helper changed for itself is left: ignored signals, descriptors, rights.
    let command = "grep -E '^(SigIgn|SigBlk|CapBnd)' /proc/self/status; ls /proc/self/fd; umask; ulimit -a";
    let report = bench.check(command).await;
    let root = bench.tree.clone();
    let place = CheckPlace {
        root: &root,
        log: None,
        log_path: String::new(),
        output_chars: 10_000,
        snapshot: None,
        watched: None,
        temporary: None,
    };
    let (_silent, mut orders) = mpsc::unbounded_channel();
    let (live, _) = checks::run(&mut bench.keeper, spec(command), place, &mut orders).await;
    let of_others = |text: &str| text.lines().filter(|line| !line.starts_with("CapBnd")).collect::<Vec<_>>().join("\n");
    assert_eq!(of_others(passed(&report)), of_others(passed(&live)));
    if !rustix::process::geteuid().is_root() {
        let report = bench.check("grep -E '^Cap(Eff|Prm|Inh|Bnd|Amb)' /proc/self/status").await;
        assert!(passed(&report).lines().all(|line| line.ends_with("0000000000000000")), "{}", report.output_head);
    }
    let report = bench.check("id -u; id -g; echo $GIVEN").await;
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    assert_eq!(passed(&report), format!("{user}\n{group}\n\n"));
    let environment = vec![("GIVEN".into(), "given".into())];
    let report = bench.check_as(spec("echo $GIVEN"), Extras { environment, ..Extras::default() }).await;
    assert_eq!(passed(&report), "given\n");
}

#[tokio::test]
async fn a_service_in_the_tree_can_be_reached_and_a_socket_that_nobody_answers_is_no_obstacle() {
    let Some(mut bench) = Bench::new().await else { return };
    let service = std::os::unix::net::UnixListener::bind(bench.at_tree("service")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(bench.at_tree("dead")).unwrap());
    let answering = std::thread::spawn(move || std::io::Write::write_all(&mut service.accept().unwrap().0, b"here\n"));
    let client = "use IO::Socket::UNIX; print <$_> for IO::Socket::UNIX->new(Peer => 'service') or die $!";
    assert_eq!(passed(&bench.check(&format!("perl -e \"{client}\"").replace('$', "\\$")).await), "here\n");
    answering.join().unwrap().unwrap();
}

#[tokio::test]
async fn judges_are_put_over_and_what_must_be_absent_is() {
    let Some(mut bench) = Bench::new().await else { return };
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("inner"), "outside\n").unwrap();
    fs::write(bench.at_tree("check.sh"), "echo forged\n").unwrap();
    fs::write(bench.at_tree("conftest.py"), "forged\n").unwrap();
    fs::remove_dir_all(bench.at_tree("folder")).unwrap();
    symlink(elsewhere.path(), bench.at_tree("folder")).unwrap();
    symlink(elsewhere.path(), bench.at_tree("linked")).unwrap();
    fs::create_dir_all(bench.at_tree("was-file/now-folder")).unwrap();
    let kept = bench.state.join("kept");
    fs::write(&kept, "echo kept\n").unwrap();
    let nothing = |path: &str| Put { path: path.into(), what: Judge::Nothing };
    let judges = vec![
        file("check.sh", "echo true\n"),
        file("folder/file", "judge\n"),
        file("made/anew/file", "new\n"),
        file("was-file", "file again\n"),
        file("linked/inner", "outside\n"),
        Put { path: "kept.sh".into(), what: Judge::Kept { file: kept, executable: true } },
        Put { path: "link".into(), what: Judge::Link { target: "check.sh".into() } },
        nothing("conftest.py"),
        nothing("no/such/file"),
    ];
    let command = "sh check.sh; cat folder/file made/anew/file was-file; ./kept.sh; sh link; ls -d conftest.py; ls -d no; \
                   test -L linked && test ! -L folder && echo links";
    let extras = || Extras { judges: judges.clone(), ..Extras::default() };
    let report = bench.check_as(spec(command), extras()).await;
    let said = passed(&report);
    assert!(said.starts_with("true\njudge\nnew\nfile again\nkept\ntrue\n") && said.ends_with("links\n"), "{said}");
    assert_eq!(said.matches("No such file").count(), 2, "{said}");
    assert_eq!(bench.read("check.sh"), "echo forged\n", "the live tree stays a violation");
    assert!(bench.at_tree("folder").is_symlink() && bench.at_tree("conftest.py").exists());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1, "nothing is written through a link");
    // What must be absent is absent behind a link too.
    let gone = Extras { judges: vec![nothing("linked/inner")], ..Extras::default() };
    passed(&bench.check_as(spec("test ! -e linked/inner"), gone).await);
    assert!(elsewhere.path().join("inner").exists());
    // Even if it may write, a check does not carry judges into the tree.
    let mut writes = spec("true");
    writes.terms.writes = true;
    assert_eq!(bench.check_as(writes, extras()).await.carried, [""; 0]);
    assert_eq!(bench.read("check.sh"), "echo forged\n");
}

#[tokio::test]
async fn a_file_that_somebody_hid_from_checks_is_known_by_its_mark() {
    let Some(mut bench) = Bench::new().await else { return };
    let hidden = bench.at_tree("folder/file");
    let whose = if rustix::process::geteuid().is_root() { "trusted" } else { "user" };
    let is_known = |path: &Path| hides_from_checks(fs::File::open(path).unwrap());
    assert!(!is_known(&hidden));
    let name = format!("{whose}.overlay.metacopy");
    rustix::fs::setxattr(&hidden, name.as_str(), b"", rustix::fs::XattrFlags::empty()).unwrap();
    // This is why it matters: neither the check nor whoever puts a judge in its place can reach it.
    assert!(!bench.check("cat folder/file").await.passed());
    let judges = vec![file("folder/file", "judge\n")];
    let (report, _) = bench.try_check(spec("true"), Extras { judges, ..Extras::default() }).await;
    assert!(report.live.starts_with("folder/file could not be put over the copy"), "{}", report.live);
    assert!(is_known(&hidden) && !is_known(&bench.at_tree("work.txt")));
}

#[tokio::test]
async fn a_cache_is_filled_by_its_own_check_only() {
    let Some(mut bench) = Bench::new().await else { return };
    fs::create_dir(bench.at_tree("target")).unwrap();
    fs::write(bench.at_tree("target/forged"), "by an agent").unwrap();
    let mut first = spec("ls -A target deep/cache; echo 1 >> target/count; echo x > deep/cache/x; cat target/count");
    first.terms.caches = vec!["target".to_owned(), "./deep/cache/".to_owned()];
    let report = bench.check_as(first.clone(), Extras::default()).await;
    assert_eq!(passed(&report), "deep/cache:\n\ntarget:\n1\n");
    let report = bench.check_as(first.clone(), Extras::default()).await;
    assert_eq!(passed(&report), "deep/cache:\nx\n\ntarget:\ncount\n1\n1\n");
    let other = CheckSpec { id: CheckId::new("other"), ..spec("ls -A target") };
    let caches = vec![PathBuf::from("target")];
    let report = bench.check_as(other, Extras { caches, ..Extras::default() }).await;
    assert_eq!(passed(&report), "");
    assert_eq!(fs::read_dir(bench.at_tree("target")).unwrap().count(), 1);
    assert!(!bench.at_tree("deep").exists());
    for odd in ["..", "/tmp", ".", "a/../..", ".git", "x/.ralph/y"] {
        let mut odd_cache = spec("true");
        odd_cache.terms.caches = vec![odd.to_owned()];
        let (report, _) = bench.try_check(odd_cache, Extras::default()).await;
        assert!(report.live.contains("caches names"), "{odd}: {}", report.live);
    }
}

#[tokio::test]
async fn a_check_that_may_write_changes_tracked_files_if_it_passes() {
    let Some(mut bench) = Bench::new().await else { return };
    for name in ["a", "b", "c", "d", "e/f", "g/h", "same"] {
        fs::create_dir_all(bench.at_tree(name).parent().unwrap()).unwrap();
        fs::write(bench.at_tree(name), "old\n").unwrap();
    }
    fs::write(bench.at_tree(".gitignore"), "ignored\n").unwrap();
    fs::write(bench.at_tree("ignored"), "old\n").unwrap();
    symlink("a", bench.at_tree("link")).unwrap();
    git(&bench.tree, &["add", "."]);
    let command = "echo new > a; chmod 755 b; rm c; rm -r e; rm -r g; mkdir g; echo new > g/h; echo old > same; \
                   echo x > untracked; echo x > ignored; ln -sfn b link; mkdir -p .ralph; echo x > .ralph/x; touch d";
    let mut fails = spec(&format!("{command}; exit 1"));
    fails.terms.writes = true;
    let before = bench.listing();
    assert_eq!(bench.check_as(fails, Extras::default()).await.carried, [""; 0]);
    assert_eq!(bench.listing(), before);
    let mut formats = spec(command);
    formats.terms.writes = true;
    let report = bench.check_as(formats.clone(), Extras::default()).await;
    passed(&report);
    assert_eq!(report.carried, ["a", "b", "c", "e/f", "g/h", "link"]);
    assert_eq!((bench.read("a").as_str(), bench.read("g/h").as_str()), ("new\n", "new\n"));
    assert_eq!(bench.at_tree("b").metadata().unwrap().permissions().mode() & 0o777, 0o755);
    assert!(!bench.at_tree("c").exists() && !bench.at_tree("e/f").exists() && !bench.at_tree("untracked").exists());
    assert_eq!((bench.read("ignored").as_str(), bench.read("d").as_str()), ("old\n", "old\n"));
    assert_eq!(fs::read_link(bench.at_tree("link")).unwrap(), Path::new("b"));
    assert!(!bench.at_tree(".ralph").exists());
    assert_eq!(
        bench.check_as(formats, Extras::default()).await.carried,
        [""; 0],
        "the second time nothing is left to do"
    );
}

#[tokio::test]
async fn what_changed_beside_a_check_is_not_overwritten_by_it() {
    let Some(mut bench) = Bench::new().await else { return };
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("file"), "outside\n").unwrap();
    let tree = bench.tree.clone();
    let ready = bench._guard.path().join("ready");
    let (waits, outside) = (ready.clone(), elsewhere.path().to_owned());
    // Somebody edits the live tree while the check runs.
    let editor = std::thread::spawn(move || {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !waits.exists() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        fs::write(tree.join("work.txt"), "mine\n").unwrap();
        fs::rename(tree.join("folder"), tree.join("renamed")).unwrap();
        symlink(&outside, tree.join("folder")).unwrap();
        fs::remove_file(&waits).unwrap();
    });
    let ready = ready.display();
    let mut formats = spec(&format!(
        "echo theirs > work.txt; echo theirs > folder/file; echo fine > check.sh; touch {ready}; while test -e {ready}; do sleep 0.02; done"
    ));
    formats.terms.writes = true;
    let (report, problem) = bench.try_check(formats, Extras::default()).await;
    editor.join().unwrap();
    passed(&report);
    assert_eq!(report.carried, ["check.sh"]);
    let problem = problem.unwrap();
    assert!(problem.contains("work.txt was not carried over: it changed while the check ran"), "{problem}");
    assert!(problem.contains("folder/file was not carried over"), "{problem}");
    assert_eq!(bench.read("work.txt"), "mine\n");
    assert_eq!(fs::read_to_string(elsewhere.path().join("file")).unwrap(), "outside\n");
}

#[tokio::test]
async fn kept_folders_are_carried_back_also_after_a_failure_and_never_through_links() {
    let Some(mut bench) = Bench::new().await else { return };
    let elsewhere = tempfile::tempdir().unwrap();
    for name in ["coverage/html/stale", "coverage/tracked", "reports/old"] {
        fs::create_dir_all(bench.at_tree(name).parent().unwrap()).unwrap();
        fs::write(bench.at_tree(name), "old\n").unwrap();
    }
    git(&bench.tree, &["add", "coverage/tracked"]);
    symlink(elsewhere.path(), bench.at_tree("linked")).unwrap();
    let mut tests = spec(
        "rm -rf coverage; mkdir -p coverage/html; echo new > coverage/html/index; echo new > coverage/tracked; \
         mkdir -p reports/.git reports/deep; echo x > reports/.git/config; echo x > reports/deep/r; rm reports/old; \
         ln -s /etc/passwd reports/link; rm linked; mkdir linked; echo x > linked/x; echo x > work.txt; exit 3",
    );
    tests.terms.keep = ["coverage", "reports", "linked", "absent", "../outside", "."].map(str::to_owned).to_vec();
    let (report, problem) = bench.try_check(tests, Extras::default()).await;
    assert_eq!((report.ending, report.carried), (CheckEnding::Exited { code: 3 }, Vec::new()));
    let problem = problem.unwrap();
    for told in [
        "reports/link was not carried over: links",
        "linked was not carried",
        "keep names ../outside",
        "keep names ., ",
    ] {
        assert!(problem.contains(told), "{told}: {problem}");
    }
    assert_eq!(bench.read("coverage/html/index"), "new\n");
    assert!(!bench.at_tree("coverage/html/stale").exists(), "what the check removed is gone");
    assert_eq!(bench.read("coverage/tracked"), "old\n", "tracked files are work");
    assert_eq!((bench.read("reports/deep/r").as_str(), bench.at_tree("reports/old").exists()), ("x\n", false));
    assert!(!bench.at_tree("reports/.git").exists() && !bench.at_tree("reports/link").is_symlink());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    assert_eq!(bench.read("work.txt"), "work\n");
}

#[tokio::test]
async fn a_timeout_and_leftover_processes_leave_nothing_behind() {
    let Some(mut bench) = Bench::new().await else { return };
    let mut slow = spec("mkdir -p a/b; chmod 000 a/b; chmod 555 a; echo x > work.txt; setsid sleep 1000 & sleep 1000");
    slow.timeout = Millis(300);
    let report = bench.check_as(slow, Extras::default()).await;
    assert_eq!(report.ending, CheckEnding::TimedOut { limit: Millis(300) });
    let report = bench.check_as(spec("(setsid sleep 1000 >/dev/null 2>&1 &) ; exit 0"), Extras::default()).await;
    assert_eq!((report.ending, report.leaked), (CheckEnding::Exited { code: 0 }, 1));
    // Neither the stack nor descriptors are enough for every depth that a check can make.
    let deep = "i=0; while [ $i -lt 1900 ]; do mkdir d && cd d || exit 1; i=$((i+1)); done";
    passed(&bench.check(deep).await);
    assert_eq!(bench.read("work.txt"), "work\n");
}

#[tokio::test]
async fn trusted_state_cannot_be_written_from_inside() {
    let Some(mut bench) = Bench::new().await else { return };
    let journal = bench.state.join("journal");
    fs::write(&journal, "truth").unwrap();
    let report = bench.check(&format!("cat {0} && echo lie > {0}", journal.display())).await;
    assert!(!report.passed() && report.output_head.contains("Read-only"), "{}", report.output_head);
    assert_eq!(fs::read_to_string(journal).unwrap(), "truth");
}

#[tokio::test]
async fn a_clean_checkout_stands_in_the_place_of_the_project_and_each_check_gets_its_own() {
    let Some(mut bench) = Bench::new().await else { return };
    // A submodule, and another in it.
    let upstream = bench._guard.path().join("upstream");
    for (name, inner) in [("inner", None), ("outer", Some("inner"))] {
        let place = upstream.join(name);
        fs::create_dir_all(&place).unwrap();
        git(&place, &["init", "--quiet"]);
        fs::write(place.join("lib"), format!("{name}\n")).unwrap();
        if let Some(inner) = inner {
            git(&place, &["submodule", "--quiet", "add", upstream.join(inner).to_str().unwrap(), inner]);
        }
        git(&place, &["add", "."]);
        git(&place, &["commit", "--quiet", "-m", "lib"]);
    }
    git(&bench.tree, &["submodule", "--quiet", "add", upstream.join("outer").to_str().unwrap(), "sub"]);
    git(&bench.tree, &["submodule", "--quiet", "update", "--init", "--recursive"]);
    git(&bench.tree, &["commit", "--quiet", "-am", "second"]);
    fs::remove_dir_all(upstream).unwrap();
    fs::write(bench.at_tree("work.txt"), "uncommitted\n").unwrap();
    fs::write(bench.at_tree("untracked"), "x").unwrap();
    let folder = bench.state.join("checkout");
    let (tree, environment) = (bench.tree.clone(), [("GIT_CONFIG_GLOBAL".into(), "/dev/null".into())]);
    let made = Checkout::make(&mut bench.keeper, &tree, Path::new(""), &folder, &environment).await;
    let (checkout, commit) = made.unwrap();
    assert_eq!(checkout.missing(), [""; 0]);
    let on = || Extras { checkout: Some(&checkout), ..Extras::default() };
    let command = "pwd; cat work.txt sub/lib sub/inner/lib; ls; git rev-parse HEAD; git show HEAD:work.txt; git status \
                   --porcelain; git -C sub log --format=%s; echo repaired > work.txt";
    let said =
        format!("{}\nwork\nouter\ninner\ncheck.sh\nfolder\nsub\nwork.txt\n{commit}\nwork\nlib\n", bench.tree.display());
    for _ in 0..2 {
        let report = bench.check_as(spec(command), on()).await;
        assert_eq!(passed(&report), said);
    }
    assert_eq!(fs::read_to_string(folder.join("work.txt")).unwrap(), "work\n");
    // A formatter's changes go where the project still is what was checked.
    let mut formats = spec("echo formatted > work.txt; echo formatted > check.sh");
    formats.terms.writes = true;
    let (report, problem) = bench.try_check(formats, on()).await;
    assert_eq!(report.carried, ["check.sh"]);
    assert!(problem.unwrap().contains("work.txt was not carried over"));
    assert_eq!((bench.read("work.txt").as_str(), bench.read("check.sh").as_str()), ("uncommitted\n", "formatted\n"));
}

#[tokio::test]
async fn a_linked_work_tree_does_not_reach_its_repository_and_a_project_may_lie_deep_in_its_tree() {
    let Some(bench) = Bench::new().await else { return };
    let Bench { _guard: guard, tree: main, state, .. } = bench;
    let linked = guard.path().join("linked");
    git(&main, &["worktree", "add", "--quiet", linked.to_str().unwrap()]);
    let project = linked.join("folder");
    let run_folder = state.join("runs").join(RunId::from_random(7).as_str());
    let place = Place { tree: linked.clone(), project: project.clone(), state, run_folder, spare: None };
    let mut bench = Bench::at(guard, place).await.unwrap();
    let before = git(&main, &["rev-parse", "HEAD"]);
    let report = bench
        .check(
            "pwd; cat file ../work.txt; git -c user.name=t -c user.email=t commit --quiet --allow-empty -m x; \
                git update-ref refs/heads/forged HEAD; git log --format=%s",
        )
        .await;
    let said = format!("{}\nfile\nwork\nx\nfirst\n", project.canonicalize().unwrap().display());
    assert_eq!(passed(&report), said);
    assert_eq!(git(&linked, &["rev-parse", "HEAD"]), before);
    assert!(!git(&main, &["branch", "--list"]).contains("forged"));
    let mut formats = spec("echo 1 > file; echo 2 > ../work.txt");
    formats.terms.writes = true;
    assert_eq!(bench.check_as(formats, Extras::default()).await.carried, ["file", "work.txt"]);
}

#[tokio::test]
async fn names_with_every_character_are_names() {
    let guard = tempfile::tempdir().unwrap();
    let odd = guard.path().join("a,b:c\\d e\n'\"%=ü");
    fs::create_dir(&odd).unwrap();
    let place = place(&odd);
    fs::write(place.tree.join("f"), "x\n").unwrap();
    let Some(mut bench) = Bench::at(guard, place).await else { return };
    assert_eq!(passed(&bench.check("cat f; echo y > f; cat f").await), "x\ny\n");
    // Without a repository nothing is tracked, but folders can be kept.
    let mut keeps = spec("echo y > f; mkdir out; echo z > out/z");
    keeps.terms.writes = true;
    keeps.terms.keep = vec!["out".to_owned()];
    let (report, problem) = bench.try_check(keeps, Extras::default()).await;
    assert!(report.carried.is_empty() && problem.unwrap().contains("no repository"));
    assert_eq!((bench.read("f").as_str(), bench.read("out/z").as_str()), ("x\n", "z\n"));
}

#[tokio::test]
async fn a_project_that_cannot_have_snapshots_is_told_why_and_its_checks_run_on_it() {
    let Some(mut bench) = Bench::new().await else { return };
    let guard = tempfile::tempdir().unwrap();
    let root = Place { tree: "/".into(), project: "/".into(), ..place(guard.path()) };
    let why = Snapshots::probe(&mut bench.keeper, root).await.unwrap_err();
    assert_eq!(why, "the project is the root of the file system");
    let inside = place(guard.path());
    let inside = Place { run_folder: inside.tree.join("runs"), state: inside.tree.join("state"), ..inside };
    for folder in [&inside.state, &inside.run_folder] {
        fs::create_dir_all(folder).unwrap();
    }
    let why = Snapshots::probe(&mut bench.keeper, inside.clone()).await.unwrap_err();
    assert!(why.starts_with("what checks write would lie in the project itself"), "{why}");
    // Another place for what is written may do.
    let spare = guard.path().join("spare");
    fs::create_dir(&spare).unwrap();
    let kept_elsewhere = Place { spare: Some(spare), ..inside };
    Snapshots::probe(&mut bench.keeper, kept_elsewhere).await.unwrap();
    // An order that cannot be obeyed does not become a failed check.
    let unreadable = Put { path: "x".into(), what: Judge::Kept { file: "/no/such/file".into(), executable: false } };
    let extras = Extras { judges: vec![unreadable], ..Extras::default() };
    let (report, problem) = bench.try_check(spec("echo live > work.txt; cat work.txt"), extras).await;
    assert_eq!((passed(&report), problem), ("live\n", None));
    assert!(report.live.contains("x could not be put over the copy"), "{}", report.live);
    assert_eq!(bench.read("work.txt"), "live\n");
}

#[tokio::test]
async fn a_file_system_below_the_project_is_copied_too_or_nothing_is() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    // In a namespace of its own: this test is started again there.
    const INNER: &str = "RALPH_SNAPSHOT_TEST_MOUNTS";
    if std::env::var_os(INNER).is_none() {
        let me = std::env::current_exe().unwrap();
        let name = "snapshot::a_file_system_below_the_project_is_copied_too_or_nothing_is";
        let done =
            Command::new("unshare").arg("-m").arg(me).args(["--exact", name, "--nocapture"]).env(INNER, "1").output();
        let done = done.unwrap();
        assert!(
            done.status.success(),
            "{}{}",
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr)
        );
        return;
    }
    let Some(bench) = Bench::new().await else { return };
    let Bench { _guard: guard, tree, state, .. } = bench;
    let volume = tree.join("volume");
    fs::create_dir(&volume).unwrap();
    assert!(Command::new("mount").args(["-t", "tmpfs", "none"]).arg(&volume).status().unwrap().success());
    fs::write(volume.join("f"), "below\n").unwrap();
    let run_folder = state.join("runs").join(RunId::from_random(7).as_str());
    let place = Place { tree: tree.clone(), project: tree, state, run_folder, spare: None };
    let mut bench = Bench::at(guard, place).await.unwrap();
    let mut keeps = spec("cat volume/f; echo x > volume/f; mkdir volume/out; echo kept > volume/out/r; cat volume/f");
    keeps.terms.keep = vec!["volume/out".to_owned()];
    let plan = Plan {
        snapshots: &bench.snapshots,
        checkout: None,
        judges: Vec::new(),
        fixed: Vec::new(),
        emptied: Vec::new(),
        hides_own: false,
        caches: Vec::new(),
        environment: Vec::new(),
    };
    let place = CheckPlace {
        root: &bench.tree,
        log: None,
        log_path: String::new(),
        output_chars: 999,
        snapshot: Some(plan),
        watched: None,
        temporary: None,
    };
    let (_silent, mut orders) = mpsc::unbounded_channel();
    let (report, problem) = checks::run(&mut bench.keeper, keeps, place, &mut orders).await;
    assert_eq!((passed(&report), report.live.as_str(), problem), ("below\nx\n", "", None));
    assert_eq!((bench.read("volume/f").as_str(), bench.read("volume/out/r").as_str()), ("below\n", "kept\n"));
    assert!(Command::new("umount").arg(volume).status().unwrap().success());
}

#[tokio::test]
async fn what_a_crash_left_is_removed_by_the_next_run() {
    let Some(bench) = Bench::new().await else { return };
    let runs = bench.state.join("runs");
    for run in [RunId::from_random(7), RunId::from_random(8)] {
        let work = runs.join(run.as_str()).join("snapshots/1-1/0/work/work");
        fs::create_dir_all(&work).unwrap();
        fs::write(work.join("f"), "").unwrap();
        fs::set_permissions(work, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let Bench { _guard: guard, tree, state, .. } = bench;
    let run_folder = runs.join(RunId::from_random(7).as_str());
    Bench::at(guard, Place { tree: tree.clone(), project: tree, state, run_folder, spare: None })
        .await
        .unwrap()
        .is_clean();
}

#[test]
fn an_ordinary_user_gets_the_same_snapshots() {
    const NOBODY: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let copies = [("tests", std::env::current_exe().unwrap()), ("ralph", binary())].map(|(name, from)| {
        let to = place.path().join(name);
        fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop)).unwrap();
        to
    });
    let [tests, ralph] = copies;
    let done = Command::new(tests)
        .args(["snapshot::", "--skip", "an_ordinary_user"])
        .current_dir(place.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("TMPDIR", place.path())
        .env("HOME", place.path())
        .env(BINARY, ralph)
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && said.contains("test result: ok"),
        "{said}{}",
        String::from_utf8_lossy(&done.stderr)
    );
}
