//! With real repositories: what git prints is part of what is tested.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests need real git")]

use super::seen::Hash;
use super::*;
use crate::git::MISLEADING_VARIABLES;
use crate::process::drive::Sink as _;
use crate::spool::Spool;
use std::fs::File;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

/// A folder for repositories, whose files are old enough to be cached after `settle`.
struct Repo {
    _guard: tempfile::TempDir,
    root: PathBuf,
}

impl Repo {
    fn empty() -> Repo {
        let guard = tempfile::tempdir().unwrap();
        let root = guard.path().join("tree");
        std::fs::create_dir(&root).unwrap();
        Repo { _guard: guard, root }
    }

    /// One commit with two files, a link, a program and a file in a folder.
    fn new() -> Repo {
        let place = Repo::empty();
        place.git(&["init", "-q", "-b", "main"]);
        for name in ["a.txt", "b.txt", "folder/c.txt", "run.sh"] {
            place.write(name, &format!("{name}\n"));
        }
        place.write(".gitignore", "ignored/\n*.log\n");
        symlink("a.txt", place.at("link")).unwrap();
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "first"]);
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn git(&self, args: &[&str]) -> Vec<u8> {
        git(&self.root, args)
    }

    fn print(&self, fingerprinter: &mut Fingerprinter) -> TreePrint {
        self.print_of(fingerprinter, &self.listing())
    }

    fn listing(&self) -> Vec<u8> {
        self.git(&[LISTING, &[LIVE_RULES]].concat())
    }

    fn print_of(&self, fingerprinter: &mut Fingerprinter, listing: &[u8]) -> TreePrint {
        fingerprinter.print(&mut listing_of(&self.root, listing), &Stop::default())
    }

    /// By a fingerprinter that knows nothing.
    fn fresh(&self) -> TreePrint {
        self.print(&mut Fingerprinter::default())
    }
}

fn listing_of(root: &Path, bytes: &[u8]) -> Listing {
    let mut files = Spool::new(root.parent().unwrap());
    files.stdout(&Arc::new(bytes.to_vec()));
    Listing { root: root.to_owned(), head: head(root).unwrap_or_default(), files, own: Vec::new(), changes: Vec::new() }
}

fn git(folder: &Path, args: &[&str]) -> Vec<u8> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "n").env(format!("GIT_{who}_EMAIL"), "n@example.org");
    }
    MISLEADING_VARIABLES.iter().for_each(|name| _ = command.env_remove(name));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn seen(print: &TreePrint) -> (&str, &str) {
    match print {
        TreePrint::Seen { tree, head } => (tree, head),
        TreePrint::Unknown { why, .. } => panic!("{why}"),
    }
}

/// Waits until the clock has passed what counts as too young to be remembered.
fn settle() {
    std::thread::sleep(std::time::Duration::from_millis(2 * SETTLED_MILLIS as u64));
}

#[test]
fn the_same_content_has_the_same_fingerprint() {
    let (one, other) = (Repo::new(), Repo::new());
    assert_eq!(seen(&one.fresh()).0, seen(&other.fresh()).0);
    let mut remembering = Fingerprinter::default();
    let first = one.print(&mut remembering);
    settle();
    for _ in 0..3 {
        assert!(one.print(&mut remembering).surely_equals(&first));
    }
    one.write("a.txt", "a.txt\n");
    assert!(one.print(&mut remembering).surely_equals(&first), "written anew, but not changed");
}

/// Each change is seen by a fingerprinter that remembers the tree from before, and undone.
#[test]
fn every_kind_of_change_is_seen() {
    let place = Repo::new();
    let executable = |mode| std::fs::set_permissions(place.at("run.sh"), PermissionsExt::from_mode(mode)).unwrap();
    let relink = |target: &str| {
        std::fs::remove_file(place.at("link")).unwrap();
        symlink(target, place.at("link")).unwrap();
    };
    type Change<'a> = (&'a str, Box<dyn Fn() + 'a>, Box<dyn Fn() + 'a>);
    let changes: [Change<'_>; 9] = [
        ("content", Box::new(|| place.write("a.txt", "A.txt\n")), Box::new(|| place.write("a.txt", "a.txt\n"))),
        ("executable bit", Box::new(|| executable(0o755)), Box::new(|| executable(0o644))),
        ("link target", Box::new(|| relink("b.txt")), Box::new(|| relink("a.txt"))),
        (
            "link to file",
            Box::new(|| {
                std::fs::remove_file(place.at("link")).unwrap();
                place.write("link", "a.txt");
            }),
            Box::new(|| relink("a.txt")),
        ),
        (
            "deletion",
            Box::new(|| std::fs::remove_file(place.at("folder/c.txt")).unwrap()),
            Box::new(|| place.write("folder/c.txt", "folder/c.txt\n")),
        ),
        (
            "untracked file",
            Box::new(|| place.write("new/file", "")),
            Box::new(|| std::fs::remove_dir_all(place.at("new")).unwrap()),
        ),
        (
            "staged only",
            Box::new(|| {
                place.write("b.txt", "staged\n");
                place.git(&["add", "b.txt"]);
                place.write("b.txt", "b.txt\n");
            }),
            Box::new(|| _ = place.git(&["reset", "-q"])),
        ),
        (
            "file to folder",
            Box::new(|| {
                std::fs::remove_file(place.at("a.txt")).unwrap();
                std::fs::create_dir(place.at("a.txt")).unwrap();
            }),
            Box::new(|| {
                std::fs::remove_dir(place.at("a.txt")).unwrap();
                place.write("a.txt", "a.txt\n");
            }),
        ),
        (
            "rename",
            Box::new(|| std::fs::rename(place.at("a.txt"), place.at("z.txt")).unwrap()),
            Box::new(|| std::fs::rename(place.at("z.txt"), place.at("a.txt")).unwrap()),
        ),
    ];
    settle();
    let mut remembering = Fingerprinter::default();
    let before = place.print(&mut remembering);
    for (name, change, undo) in changes {
        change();
        assert!(place.print(&mut remembering).surely_differs(&before), "{name}");
        undo();
        settle();
        assert!(place.print(&mut remembering).surely_equals(&before), "{name} undone");
    }
}

#[test]
fn a_backdated_edit_of_the_same_size_is_seen() {
    let place = Repo::new();
    settle();
    let mut remembering = Fingerprinter::default();
    let before = place.print(&mut remembering);
    assert!(remembering.cache.known() > 0);
    let modified = place.at("a.txt").metadata().unwrap().modified().unwrap();
    place.write("a.txt", "b.txt\n");
    File::options().write(true).open(place.at("a.txt")).unwrap().set_modified(modified).unwrap();
    assert!(place.print(&mut remembering).surely_differs(&before));
}

#[test]
fn an_edit_right_after_a_look_is_seen() {
    let place = Repo::new();
    let mut remembering = Fingerprinter::default();
    // Same size, same inode, and most of them within one tick of the kernel's clock.
    let mut prints = std::collections::HashSet::new();
    let listing = place.listing();
    for round in 100..400 {
        place.write("a.txt", &format!("{round}\n"));
        prints.insert(seen(&place.print_of(&mut remembering, &listing)).0.to_owned());
    }
    assert_eq!(prints.len(), 300);
}

#[test]
fn an_edit_that_git_was_told_to_overlook_is_seen() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let place = Repo::new();
        let before = place.fresh();
        place.git(&["update-index", flag, "a.txt"]);
        assert!(place.fresh().surely_equals(&before), "{flag}");
        place.write("a.txt", "hidden edit\n");
        assert_eq!(place.git(&["status", "--porcelain"]), b"");
        assert!(place.fresh().surely_differs(&before), "{flag}");
    }
}

#[test]
fn ignored_files_and_ralphs_own_folder_do_not_count() {
    let place = Repo::new();
    let before = place.fresh();
    place.write("ignored/file", "x");
    place.write("folder/debug.log", "x");
    place.write(".ralph/tasks/t/ralph-summary.md", "x");
    place.write(".ralph/settings.json", "{}");
    assert!(place.fresh().surely_equals(&before));
    place.write(".ralphs/file", "x");
    assert!(place.fresh().surely_differs(&before), "only the folder of that very name is ralph's");
    std::fs::remove_dir_all(place.at(".ralphs")).unwrap();
    place.write("folder/.ralph/file", "x");
    assert!(place.fresh().surely_differs(&before));
    let mut below = Fingerprinter::ignoring(Path::new("folder/.ralph"));
    std::fs::remove_dir_all(place.at(".ralph")).unwrap();
    assert!(place.print(&mut below).surely_equals(&before));
}

#[test]
fn k02_head_is_read_in_every_form() {
    let place = Repo::empty();
    place.git(&["init", "-q", "-b", "main"]);
    assert_eq!(head(&place.root), Some(String::new()), "unborn");
    assert_eq!(seen(&place.fresh()).1, "");
    place.write("a", "1");
    place.git(&["add", "a"]);
    place.git(&["commit", "-q", "-m", "first"]);
    let asked = |root: &Path| Some(String::from_utf8(git(root, &["rev-parse", "HEAD"])).unwrap().trim().to_owned());
    assert_eq!(head(&place.root), asked(&place.root), "loose");
    place.git(&["checkout", "-q", "-b", "topic/deep"]);
    place.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    place.git(&["branch", "x-topic/deep", "main"]);
    place.git(&["pack-refs", "--all"]);
    assert_eq!(head(&place.root), asked(&place.root), "packed");
    let linked = place.root.with_file_name("linked work");
    place.git(&["worktree", "add", "-q", "-b", "other", linked.to_str().unwrap(), "main"]);
    git(&linked, &["commit", "-q", "--allow-empty", "-m", "third"]);
    assert_eq!(head(&linked), asked(&linked), "linked work tree");
    assert_ne!(head(&linked), head(&place.root));
    let mut in_linked = Fingerprinter::default();
    let mut listing = listing_of(&linked, &git(&linked, &[LISTING, &[LIVE_RULES]].concat()));
    assert_eq!(seen(&in_linked.print(&mut listing, &Stop::default())).1, asked(&linked).unwrap());
    place.git(&["checkout", "-q", "--detach", "main"]);
    assert_eq!(head(&place.root), asked(&place.root), "detached");
    // What makes no sense is not guessed, and a pipe does not block.
    for nonsense in ["", "ref: ../../../etc/passwd\n", "ref: refs/heads/../../x\n", "not a commit\n"] {
        std::fs::write(place.at(".git/HEAD"), nonsense).unwrap();
        assert_eq!(head(&place.root), None, "{nonsense:?}");
    }
    std::fs::remove_file(place.at(".git/HEAD")).unwrap();
    plain_file::make_pipe(&place.at(".git/HEAD"));
    assert_eq!(head(&place.root), None);
}

#[test]
fn k02_other_formats_are_left_to_git() {
    let place = Repo::empty();
    place.git(&["init", "-q", "-b", "main", "--ref-format=reftable", "--object-format=sha256"]);
    place.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    assert_eq!(head(&place.root), None);
    let mut listing = Listing { head: "asked".to_owned(), ..listing_of(&place.root, &place.listing()) };
    let print = Fingerprinter::default().print(&mut listing, &Stop::default());
    assert_eq!(seen(&print).1, "asked");
    assert_eq!(git_root(&place.root.join("not/there")), Some(place.root.clone()));
    assert_eq!(git_root(Path::new("/")), None);
}

#[test]
fn k05_of_a_repository_inside_the_commit_counts() {
    let place = Repo::new();
    let inner = place.at("inner");
    std::fs::create_dir(&inner).unwrap();
    git(&inner, &["init", "-q"]);
    git(&inner, &["commit", "-q", "--allow-empty", "-m", "1"]);
    for tracked in [false, true] {
        if tracked {
            place.git(&["-c", "advice.addEmbeddedRepo=false", "add", "inner"]);
        }
        let before = place.fresh();
        git(&inner, &["commit", "-q", "--allow-empty", "-m", "2"]);
        assert!(place.fresh().surely_differs(&before), "tracked: {tracked}");
    }
    std::fs::remove_dir_all(&inner).unwrap();
    seen(&place.fresh());
}

#[test]
fn k06_odd_names_are_names() {
    let place = Repo::new();
    let before = place.fresh();
    let odd: [&[u8]; 8] =
        [b"new\nline", b"-x", b"--stage", b"tab\tin", b"\xff\xfe", b"? quoted\"", b" ", "emoji 🎉".as_bytes()];
    for tracked in [false, true] {
        for name in odd {
            let path = place.root.join(OsStr::from_bytes(name));
            std::fs::write(&path, "1").unwrap();
            if tracked {
                place.git(&["add", "-A"]);
            }
            let first = place.fresh();
            assert!(first.surely_differs(&before), "{name:?}");
            std::fs::write(&path, "2").unwrap();
            assert!(place.fresh().surely_differs(&first), "{name:?}");
        }
    }
}

#[test]
fn k07_a_hostile_configuration_starts_nothing_and_points_nowhere() {
    let place = Repo::new();
    let before = place.fresh();
    let mark = place.root.with_file_name("started");
    let hook = format!("touch '{}'; false", mark.display());
    place.git(&["config", "core.fsmonitor", &hook]);
    place.git(&["config", "core.worktree", "/"]);
    assert!(place.fresh().surely_equals(&before));
    assert!(!mark.exists());
}

#[test]
fn m05_a_folder_that_became_a_link_is_another_tree_and_what_it_leads_to_counts() {
    let place = Repo::new();
    let outside = place.root.with_file_name("outside");
    let before = place.fresh();
    std::fs::rename(place.at("folder"), &outside).unwrap();
    symlink(&outside, place.at("folder")).unwrap();
    let linked = place.fresh();
    assert!(linked.surely_differs(&before), "the same bytes, but elsewhere");
    std::fs::write(outside.join("c.txt"), "changed").unwrap();
    assert!(place.fresh().surely_differs(&linked));
    for bad in ["? ../outside/c.txt\0", "? /etc/passwd\0", "? folder/../../outside/c.txt\0", "? ./a.txt\0"] {
        let mut walk = Walk::from(&place.root).unwrap();
        assert!(walk.parent_of(Listed::parse(bad.trim_end_matches('\0').as_bytes()).unwrap().path).unwrap().is_none());
    }
}

#[test]
fn c08_a_pipe_in_the_place_of_a_file_does_not_block() {
    let place = Repo::new();
    let before = place.fresh();
    std::fs::remove_file(place.at("a.txt")).unwrap();
    plain_file::make_pipe(&place.at("a.txt"));
    assert!(place.fresh().surely_differs(&before));
}

#[test]
fn a_file_that_carries_a_mark_which_hides_it_from_checks_is_not_taken_for_seen() {
    let place = Repo::new();
    let mut fingerprinter = Fingerprinter::default();
    seen(&place.print(&mut fingerprinter));
    let whose = if rustix::process::geteuid().is_root() { "trusted" } else { "user" };
    let name = format!("{whose}.overlay.metacopy");
    let marked = rustix::fs::setxattr(place.at("a.txt"), name.as_str(), b"", rustix::fs::XattrFlags::empty());
    if marked.is_err() {
        return; // This file system has no such marks.
    }
    settle();
    let TreePrint::Unknown { why, .. } = place.print(&mut fingerprinter) else { panic!("the file was taken for seen") };
    assert!(why.contains("a.txt carries a mark") && why.contains("setfattr -x"), "{why}");
    rustix::fs::removexattr(place.at("a.txt"), name.as_str()).unwrap();
    settle();
    seen(&place.print(&mut fingerprinter));
}

#[test]
fn k09_a_listing_that_makes_no_sense_is_not_guessed() {
    let place = Repo::new();
    for broken in ["H 100644 abc 0 no tab\0", "x\0", "? \0", "? a.t"] {
        let print = place.print_of(&mut Fingerprinter::default(), broken.as_bytes());
        assert!(print.fault_in_words().is_some(), "{broken:?}");
    }
}

#[test]
fn k09_no_number_of_files_is_too_many() {
    let place = Repo::new();
    // More than any limit that there was, and none of them is there.
    let many: Vec<u8> = (0..250_000).flat_map(|n| format!("? f{n:06}\0").into_bytes()).collect();
    let mut remembering = Fingerprinter::default();
    let first = place.print_of(&mut remembering, &many);
    assert!(place.print_of(&mut remembering, &many).surely_equals(&first));
    place.write("f200000", "x");
    assert!(place.print_of(&mut remembering, &many).surely_differs(&first));
    assert_eq!(remembering.changed().unwrap(), ["f200000"]);
}

#[test]
fn what_is_gone_is_forgotten_and_named() {
    let place = Repo::new();
    place.write("new.txt", "x");
    settle();
    let mut remembering = Fingerprinter::default();
    place.print(&mut remembering);
    let known = remembering.cache.known();
    assert!(known >= 5);
    place.git(&["rm", "-q", "a.txt", "b.txt"]);
    std::fs::remove_file(place.at("new.txt")).unwrap();
    place.print(&mut remembering);
    // The link leads nowhere now.
    assert_eq!(remembering.cache.known(), known - 4);
    assert_eq!(remembering.changed().unwrap(), ["new.txt", "a.txt", "b.txt", "link"]);
}

/// A fingerprinter that keeps what it learns beside the repository, as each process makes one.
fn keeping(place: &Repo) -> Fingerprinter {
    Fingerprinter::default().keeping(&place.root.with_file_name("kept"))
}

/// Gives the content of `a.txt` in the cache another hash, so that whoever believes it sees another tree.
fn forge(place: &Repo) {
    let file = place.root.with_file_name("kept");
    let mut bytes = std::fs::read(&file).unwrap();
    let content: Hash = Sha256::digest(b"a.txt\n").into();
    let at = memchr::memmem::find(&bytes, &content).unwrap();
    bytes[at] ^= 1;
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn what_was_read_is_known_to_the_next_process() {
    let place = Repo::new();
    settle();
    let first = place.print(&mut keeping(&place));
    let file = place.root.with_file_name("kept");
    let written = std::fs::metadata(&file).unwrap().modified().unwrap();
    let mut next = keeping(&place);
    assert!(place.print(&mut next).surely_equals(&first));
    assert_eq!(next.changed(), None, "nothing to compare with in this process");
    assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), written, "nothing new is not written");
    // It is believed where its sum is right: that is what makes it quick.
    forge(&place);
    let mut bytes = std::fs::read(&file).unwrap();
    let body = bytes.len() - 32;
    let sum: Hash = Sha256::digest(&bytes[..body]).into();
    bytes[body..].copy_from_slice(&sum);
    std::fs::write(&file, bytes).unwrap();
    assert!(place.print(&mut keeping(&place)).surely_differs(&first));
}

#[test]
fn a_damaged_cache_is_not_believed() {
    let place = Repo::new();
    settle();
    let first = place.print(&mut keeping(&place));
    let file = place.root.with_file_name("kept");
    let whole = std::fs::read(&file).unwrap();
    type Damage = fn(&mut Vec<u8>);
    let damages: [Damage; 6] = [
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.clear(),
        |bytes| bytes[20] ^= 0x40,
        |bytes| *bytes.last_mut().unwrap() ^= 1,
        |bytes| bytes.extend_from_slice(b"more"),
        |bytes| bytes[3] = b'?',
    ];
    for (number, damage) in damages.iter().enumerate() {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        std::fs::write(&file, bytes).unwrap();
        assert!(place.print(&mut keeping(&place)).surely_equals(&first), "damage {number}");
        assert_eq!(std::fs::read(&file).unwrap(), whole, "damage {number} is mended");
    }
    // A change between two looks of one process is seen even if the sum is made right.
    let mut remembering = keeping(&place);
    place.print(&mut remembering);
    forge(&place);
    assert!(place.print(&mut remembering).surely_equals(&first));
}

#[test]
fn a_look_that_is_stopped_leaves_what_it_read_to_the_next() {
    let place = Repo::new();
    settle();
    let stop = Stop::default();
    stop.set();
    let mut remembering = keeping(&place);
    let first = place.print(&mut remembering);
    let known = remembering.cache.known();
    let mut listing = listing_of(&place.root, &place.listing());
    assert!(remembering.print(&mut listing, &stop).fault_in_words().is_some());
    assert_eq!(remembering.cache.known(), known);
    place.write("a.txt", "changed");
    assert!(remembering.print(&mut listing, &stop).fault_in_words().is_some());
    assert!(place.print(&mut remembering).surely_differs(&first));
}

#[test]
fn a_cache_that_cannot_be_kept_is_told_and_changes_nothing() {
    let place = Repo::new();
    let mut remembering = Fingerprinter::default().keeping(Path::new("/nowhere/at/all"));
    assert!(place.print(&mut remembering).surely_equals(&place.fresh()));
    assert!(remembering.take_problem().unwrap().contains("could not be kept"));
}

#[test]
fn damage_to_a_repository_is_told_apart_from_a_git_that_fails() {
    use ralph_core::protect::Change;
    type Case = (&'static str, fn(&Repo), &'static str, Change);
    let content = Change::Content { losses: String::new() };
    let cases: [Case; 6] = [
        ("gone", |place| std::fs::remove_dir_all(place.at(".git")).unwrap(), ".git", Change::Deleted),
        (
            "a file",
            |place| {
                std::fs::remove_dir_all(place.at(".git")).unwrap();
                place.write(".git", "gitdir: nowhere\n");
            },
            ".git",
            Change::Replaced { by: "file".to_owned() },
        ),
        ("no HEAD", |place| std::fs::remove_file(place.at(".git/HEAD")).unwrap(), ".git/HEAD", Change::Deleted),
        ("nonsense in HEAD", |place| place.write(".git/HEAD", "nonsense"), ".git/HEAD", content.clone()),
        ("a broken configuration", |place| place.write(".git/config", "[core\n"), ".git/config", content),
        (
            "no objects",
            |place| std::fs::remove_dir_all(place.at(".git/objects")).unwrap(),
            ".git/objects",
            Change::Deleted,
        ),
    ];
    for (name, harm, path, how) in cases {
        let place = Repo::new();
        let parts = parts(&place.root);
        assert_eq!(damage(&place.root, &parts), [], "{name}");
        harm(&place);
        let expected = ralph_core::protect::PinnedChange { path: path.to_owned(), how };
        assert_eq!(damage(&place.root, &parts), [expected], "{name}");
    }
    // What git itself writes, and a machine that fails, leave these parts as they are.
    let place = Repo::new();
    let parts = parts(&place.root);
    place.git(&["checkout", "-q", "-b", "topic"]);
    place.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    place.write(".git/index", "broken");
    place.write(".git/index.lock", "");
    assert_eq!(damage(&place.root, &parts), []);
}

#[test]
fn what_was_written_and_holds_the_same_again_is_told() {
    let place = Repo::new();
    place.write("folder/deep/d.txt", "d\n");
    place.write("outside/kept", "k\n");
    symlink("../outside/kept", place.at("folder/behind")).unwrap();
    place.git(&["add", "-A"]);
    let rename = |from: &str, to: &str| std::fs::rename(place.at(from), place.at(to)).unwrap();
    let mut remembering = Fingerprinter::default();
    let before = place.print(&mut remembering);
    type Deed<'a> = (&'a [&'a str], Box<dyn Fn() + 'a>);
    let deeds: [Deed<'_>; 9] = [
        (&[], Box::new(|| {})),
        (
            &["run.sh"],
            Box::new(|| {
                place.write("run.sh", "Run.sh\n");
                place.write("run.sh", "run.sh\n");
            }),
        ),
        // What a link leads to counts wherever it is named.
        (&["folder/behind", "outside/kept"], Box::new(|| place.write("outside/kept", "k\n"))),
        (
            &["./", "b.txt"],
            Box::new(|| {
                rename("b.txt", "elsewhere");
                rename("elsewhere", "b.txt");
            }),
        ),
        (
            &["./", "folder/"],
            Box::new(|| {
                rename("folder", "elsewhere");
                std::fs::create_dir(place.at("folder")).unwrap();
                place.write("folder/c.txt", "other\n");
                std::fs::remove_dir_all(place.at("folder")).unwrap();
                rename("elsewhere", "folder");
            }),
        ),
        (
            &["folder/deep/"],
            Box::new(|| {
                place.write("folder/deep/new.txt", "n\n");
                std::fs::remove_file(place.at("folder/deep/new.txt")).unwrap();
            }),
        ),
        // Ignored files count for nothing, and what is in a folder of them neither.
        (&["./"], Box::new(|| place.write("ignored/x", "x\n"))),
        (&[], Box::new(|| place.write("ignored/y", "y\n"))),
        (&[], Box::new(|| drop(place.git(&["status"])))),
    ];
    for (told, deed) in deeds {
        settle();
        deed();
        assert!(place.print(&mut remembering).surely_equals(&before));
        assert_eq!(remembering.stirred().unwrap(), told);
        assert!(remembering.changed().unwrap().is_empty());
    }
    settle();
    place.write("run.sh", "other\n");
    let _ = place.print(&mut remembering);
    assert_eq!(remembering.stirred().unwrap(), [""; 0], "what holds something else is told as changed");
    assert_eq!(remembering.changed().unwrap(), ["run.sh"]);
}

#[test]
fn folders_in_any_order_of_names_are_compared_with_themselves() {
    let place = Repo::new();
    for name in ["a/x", "a-b/x", "a.b/x", "a/b/x", "a/b-c/x", "A/x", "-/x", "a/b.c"] {
        place.write(name, name);
        place.write(&format!("new/{name}"), name);
    }
    place.git(&["add", "-A", "--", ".", ":(exclude)new"]);
    git(&place.root, &["init", "-q", "inner"]);
    place.write("inner/in/x", "x");
    place.write("inner/in/.y/x", "x");
    let mut remembering = Fingerprinter::default();
    let before = place.print(&mut remembering);
    settle();
    for _ in 0..2 {
        assert!(place.print(&mut remembering).surely_equals(&before));
        assert!(remembering.stirred().unwrap().is_empty(), "{:?}", remembering.stirred());
    }
    std::fs::create_dir(place.at("new/a/b/z")).unwrap();
    std::fs::create_dir(place.at("a/b-c/z")).unwrap();
    let _ = place.print(&mut remembering);
    assert_eq!(remembering.stirred().unwrap(), ["new/a/b/", "a/b-c/"]);
}

#[test]
fn a_change_right_before_a_look_says_when_the_next_one_is_sure_to_be_seen() {
    let place = Repo::new();
    let mut remembering = Fingerprinter::default();
    settle();
    let _ = place.print(&mut remembering);
    assert_eq!(remembering.settles_at(), None);
    let listing = place.listing();
    // A machine that is busy may look too late to doubt anything.
    let settles = (0..100).find_map(|_| {
        place.write("a.txt", "a.txt\n");
        let now = Clock::start().now();
        let _ = place.print_of(&mut remembering, &listing);
        remembering.settles_at().map(|settles| settles.0 - now.0)
    });
    assert!(settles.is_some_and(|left| (0..=2 * SETTLED_MILLIS).contains(&left)), "{settles:?}");
}
