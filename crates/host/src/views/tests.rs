use super::*;
use crate::plain_file::make_pipe as pipe;
use ralph_core::activity::PromptFile;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::time::{Duration, Instant};

struct Project {
    guard: tempfile::TempDir,
}

impl Project {
    fn new() -> Project {
        Project { guard: tempfile::tempdir().unwrap() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.guard.path().join(name)
    }

    fn folder(&self) -> Folder {
        self.try_folder().unwrap()
    }

    fn try_folder(&self) -> Result<Folder, ViewError> {
        Folder::prepare(self.guard.path(), &TaskName::from_text("t"))
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap()
    }

    /// Everything in the task folder.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.at(".ralph/tasks/t")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

const SUMMARY: &str = ".ralph/tasks/t/summary.md";
const FEEDBACK: &str = ".ralph/tasks/t/feedback.md";

fn views(summary: &str, feedback: &str) -> Views {
    Views {
        summary: ("summary.md".to_owned(), summary.to_owned()),
        feedback: ("feedback.md".to_owned(), feedback.to_owned()),
        seen_human: String::new(),
        state: ("state.json".to_owned(), "{}\n".to_owned()),
    }
}

/// A prompt's file that takes nobody's place.
fn shows(name: &str) -> PromptFile {
    PromptFile { name: name.to_owned(), instead_of: None }
}

#[test]
fn an_iteration_leaves_its_prompt_its_log_and_its_memory() {
    let project = Project::new();
    let mut folder = project.folder();
    assert_eq!(folder.write_prompt(&shows("prompt_007.txt"), "do it").unwrap(), project.at(".ralph/prompt_007.txt"));
    assert_eq!(project.text(".ralph/prompt_007.txt"), "do it");
    folder.write_prompt(&shows("prompt_1234.txt"), "").unwrap();
    assert_eq!(project.text(".ralph/prompt_1234.txt"), "");
    folder.create_log("guardrail_001_test.log").unwrap().write_all(b"out").unwrap();
    assert_eq!(std::fs::read(project.at(&folder.log_path("guardrail_001_test.log"))).unwrap(), b"out");
    folder.write_views(&views("sum", "- failed")).unwrap();
    assert_eq!(project.names(), ["feedback.md", "state.json", "summary.md"]);
    assert_eq!(folder.read_summary("summary.md"), "sum");
    assert_eq!(folder.read_summary("missing.md"), "");
    assert_eq!(folder.task_folder(), project.at(".ralph/tasks/t"));
    assert_eq!(folder.take_notes(), Vec::<String>::new());
}

#[test]
fn the_last_prompts_stand_in_files_that_are_filled_again() {
    let project = Project::new();
    let mut folder = project.folder();
    let file = |number: u32| project.at(&format!(".ralph/prompt_{number:03}.txt"));
    let inode = |number| file(number).metadata().unwrap().ino();
    let name = |number: u32| format!("prompt_{number:03}.txt");
    let mut write = |number: u32, text: &str| {
        let file = PromptFile { name: name(number), instead_of: number.checked_sub(3).map(name) };
        folder.write_prompt(&file, text).unwrap()
    };
    for number in 1..=3 {
        write(number, "a rather long prompt");
    }
    let first = inode(1);
    write(4, "short");
    assert_eq!(project.text(".ralph/prompt_004.txt"), "short");
    assert_eq!((inode(4), file(1).exists()), (first, false));
    // Somebody reads it still, has it under another name, or put something else in its place.
    let mut reader = std::fs::File::open(file(2)).unwrap();
    write(5, "five");
    let mut text = String::new();
    io::Read::read_to_string(&mut reader, &mut text).unwrap();
    assert_eq!(text, "a rather long prompt");
    std::fs::hard_link(file(3), project.at("mine")).unwrap();
    write(6, "six");
    assert_eq!(project.text("mine"), "a rather long prompt");
    std::fs::write(project.at("else"), "else").unwrap();
    std::fs::remove_file(file(4)).unwrap();
    symlink(project.at("else"), file(4)).unwrap();
    write(7, "seven");
    assert_eq!(project.text("else"), "else");
    // A repeated iteration has its prompt already.
    write(7, "seven again");
    std::fs::write(file(8), "of another run").unwrap();
    write(8, "eight");
    for (number, text) in [(6, "six"), (7, "seven again"), (8, "eight")] {
        assert_eq!(std::fs::read_to_string(file(number)).unwrap(), text);
    }
    assert!((1..=5).all(|number| !file(number).exists()));
}

#[test]
fn git_is_told_to_ignore_all_but_the_settings_unless_the_project_said_otherwise() {
    let project = Project::new();
    project.folder();
    let rules = project.text(".ralph/.gitignore");
    assert!(rules.starts_with('#') && rules.ends_with("\n*\n!settings.json\n"), "{rules}");
    std::fs::write(project.at(".ralph/.gitignore"), "mine").unwrap();
    project.folder();
    assert_eq!(project.text(".ralph/.gitignore"), "mine");
}

#[test]
fn what_people_wrote_is_kept_until_it_was_seen() {
    let project = Project::new();
    let mut folder = project.folder();
    folder.write_views(&views("s", "- failed")).unwrap();
    let file = project.text(FEEDBACK);
    std::fs::write(project.at(FEEDBACK), format!("{file}use tabs\n")).unwrap();
    folder.write_views(&views("s", "- failed again")).unwrap();
    assert!(project.text(FEEDBACK).contains("- failed again") && project.text(FEEDBACK).contains("use tabs"));
    folder.write_views(&Views { seen_human: "use tabs".to_owned(), ..views("s", "- ok") }).unwrap();
    assert!(!project.text(FEEDBACK).contains("use tabs"));
    // What is too large to be read whole is not overwritten.
    std::fs::write(project.at(FEEDBACK), "x".repeat(LARGEST_VIEW as usize + 1)).unwrap();
    folder.write_views(&views("s", "- more")).unwrap();
    assert_eq!(project.at(FEEDBACK).metadata().unwrap().len(), LARGEST_VIEW + 1);
    assert!(folder.take_notes().concat().contains("larger than 1 MiB"));
    assert_eq!(folder.read_feedback("feedback.md").len() as u64, LARGEST_VIEW);
}

#[test]
fn the_same_content_is_written_once_but_an_edit_is_put_right() {
    let project = Project::new();
    let mut folder = project.folder();
    let inodes = || [SUMMARY, FEEDBACK].map(|name| project.at(name).metadata().unwrap().ino());
    folder.write_views(&views("same", "- f")).unwrap();
    let first = inodes();
    folder.write_views(&views("same", "- f")).unwrap();
    assert_eq!(inodes(), first);
    for disturb in [(|path| std::fs::write(path, "edit")) as fn(PathBuf) -> io::Result<()>, std::fs::remove_file] {
        disturb(project.at(SUMMARY)).unwrap();
        folder.write_views(&views("same", "- f")).unwrap();
        assert_eq!(project.text(SUMMARY), "same");
    }
}

#[test]
fn c01_a_deleted_folder_is_made_again_and_told() {
    let project = Project::new();
    let mut folder = project.folder();
    folder.write_views(&views("s", "- f")).unwrap();
    std::fs::remove_dir_all(project.at(".ralph")).unwrap();
    folder.write_prompt(&shows("prompt_002.txt"), "again").unwrap();
    assert_eq!(project.text(".ralph/prompt_002.txt"), "again");
    assert!(project.at(".ralph/.gitignore").exists());
    let note = folder.take_notes().concat();
    assert!(note.contains(".ralph was deleted"), "{note}");
    folder.write_views(&views("s", "- f")).unwrap();
    assert_eq!(project.text(SUMMARY), "s");
    assert!(folder.take_notes().is_empty());
    // Only the task's folder, or moved away instead of deleted.
    std::fs::remove_dir_all(project.at(".ralph/tasks/t")).unwrap();
    folder.write_views(&views("s", "- f")).unwrap();
    assert_eq!(project.text(SUMMARY), "s");
    assert!(folder.take_notes().concat().contains("tasks/t was deleted"));
    std::fs::rename(project.at(".ralph"), project.at("moved")).unwrap();
    assert_eq!(folder.read_summary("summary.md"), "");
    folder.create_log("a.log").unwrap();
    assert!(project.at(".ralph/a.log").exists() && !project.at("moved/a.log").exists());
    assert_eq!(folder.take_notes().len(), 1);
}

#[test]
fn m05_a_marker_is_found_where_the_task_folder_stands_now_and_through_no_link() {
    let project = Project::new();
    let (mut folder, task, real) = (project.folder(), project.at(".ralph/tasks/t"), project.at("real"));
    folder.look().unwrap();
    assert_eq!(folder.marker("DONE"), Marker::Absent);
    std::fs::create_dir(&real).unwrap();
    std::fs::write(real.join("DONE"), "").unwrap();
    std::fs::remove_dir_all(&task).unwrap();
    symlink(&real, &task).unwrap();
    folder.doubt();
    assert_eq!(folder.marker("DONE"), Marker::Absent);
    assert!(folder.look().is_err() && !folder.remove_marker("DONE").unwrap() && real.join("DONE").exists());
    std::fs::remove_file(&task).unwrap();
    std::fs::rename(&real, &task).unwrap();
    folder.look().unwrap();
    assert!(folder.take_notes().concat().contains("tasks/t was deleted or replaced"));
    assert_eq!(folder.marker("DONE"), Marker::Present);
    assert!(folder.remove_marker("DONE").unwrap() && !task.join("DONE").exists());
}

#[test]
fn c02_a_deleted_project_is_an_error_until_it_is_back() {
    let project = Project::new();
    let root = project.at("root");
    std::fs::create_dir(&root).unwrap();
    let mut folder = Folder::prepare(&root, &TaskName::from_text("t")).unwrap();
    std::fs::remove_dir_all(&root).unwrap();
    let error = folder.write_prompt(&shows("prompt_001.txt"), "x").unwrap_err().to_string();
    assert!(error.contains(root.to_str().unwrap()), "{error}");
    assert_eq!(folder.read_summary("summary.md"), "");
    std::fs::create_dir(&root).unwrap();
    folder.write_prompt(&shows("prompt_001.txt"), "x").unwrap();
}

#[test]
fn c14_links_and_files_in_the_place_of_folders_are_refused() {
    for (make, kind) in [
        ((|path| symlink("/tmp", path).unwrap()) as fn(&Path), "symbolic link"),
        (|path| symlink("nowhere", path).unwrap(), "symbolic link"),
        (|path| std::fs::write(path, "").unwrap(), "file"),
        (pipe, "named pipe"),
    ] {
        for place in [".ralph", ".ralph/tasks", ".ralph/tasks/t"] {
            let project = Project::new();
            std::fs::create_dir_all(project.at(place).parent().unwrap()).unwrap();
            make(&project.at(place));
            let error = project.try_folder().unwrap_err().to_string();
            assert!(error.contains(kind) && error.contains(project.at(place).to_str().unwrap()), "{error}");
            // Likewise when an agent does it during a run.
            let project = Project::new();
            let mut folder = project.folder();
            std::fs::remove_dir_all(project.at(place)).unwrap();
            make(&project.at(place));
            assert!(matches!(folder.write_views(&views("s", "f")), Err(ViewError::NotAFolder { .. })), "{place}");
        }
    }
}

#[test]
fn c14_what_stands_in_the_way_of_a_file_is_replaced_and_never_written_through() {
    let project = Project::new();
    let mut folder = project.folder();
    let victim = project.at("victim");
    for make in [
        (|victim, path| symlink(victim, path).unwrap()) as fn(&Path, &Path),
        |victim, path| std::fs::hard_link(victim, path).unwrap(),
        |_, path| pipe(path),
    ] {
        std::fs::write(&victim, "precious").unwrap();
        for name in [SUMMARY, FEEDBACK, ".ralph/prompt_001.txt", ".ralph/x.log"] {
            _ = std::fs::remove_file(project.at(name));
            make(&victim, &project.at(name));
        }
        folder.write_views(&views("sum", "- f")).unwrap();
        folder.write_prompt(&shows("prompt_001.txt"), "prompt").unwrap();
        folder.create_log("x.log").unwrap().write_all(b"log").unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(project.text(SUMMARY), "sum");
        assert_eq!(project.text(".ralph/prompt_001.txt"), "prompt");
    }
    assert_eq!(project.names(), ["feedback.md", "state.json", "summary.md"]);
}

#[test]
fn f09_a_reader_that_takes_its_time_reads_what_it_opened() {
    let project = Project::new();
    let mut folder = project.folder();
    folder.write_views(&views("the first", "- f")).unwrap();
    let mut slow = std::fs::File::open(project.at(SUMMARY)).unwrap();
    for number in 2..6 {
        folder.write_views(&views(&format!("number {number}"), "- f")).unwrap();
    }
    let mut read = String::new();
    std::io::Read::read_to_string(&mut slow, &mut read).unwrap();
    assert_eq!((read.as_str(), project.text(SUMMARY).as_str()), ("the first", "number 5"));
}

#[test]
fn c14_a_spare_file_that_somebody_replaced_is_not_written_through() {
    for make in [
        (|victim, path| symlink(victim, path).unwrap()) as fn(&Path, &Path),
        |victim, path| std::fs::hard_link(victim, path).unwrap(),
        |_, path| pipe(path),
        |victim, path| std::fs::rename(victim, path).unwrap(),
        |_, path| std::fs::create_dir_all(path.join("inner")).unwrap(),
    ] {
        let project = Project::new();
        let mut folder = project.folder();
        folder.write_views(&views("one", "- f")).unwrap();
        folder.write_views(&views("two", "- f")).unwrap();
        let is_spare = |name: &String| name.starts_with(".ralph-tmp-");
        let spares: Vec<String> = project.names().into_iter().filter(is_spare).collect();
        assert_eq!(spares.len(), 1, "the summary's; the rest did not change");
        let spare = project.at(SUMMARY).with_file_name(&spares[0]);
        let (victim, copy) = (project.at("victim"), project.at("copy"));
        std::fs::write(&victim, "precious").unwrap();
        std::fs::hard_link(&victim, &copy).unwrap();
        // Another name for the spare file itself is no safer.
        std::fs::hard_link(&spare, project.at("kept")).unwrap();
        std::fs::remove_file(&spare).unwrap();
        make(&victim, &spare);
        folder.write_views(&views("three", "- f")).unwrap();
        folder.write_views(&views("four, and longer", "- f")).unwrap();
        folder.write_views(&views("5", "- f")).unwrap();
        assert_eq!(project.text(SUMMARY), "5");
        assert_eq!(project.text("copy"), "precious");
        assert_eq!(project.text("kept"), "one");
        drop(folder);
        let left: Vec<String> = project.names().into_iter().filter(|name| !spares.contains(name)).collect();
        assert_eq!(left, ["feedback.md", "state.json", "summary.md"], "spares go with the run");
    }
}

#[test]
fn a_folder_in_the_place_of_a_file_is_named_and_left_with_its_content() {
    let project = Project::new();
    let mut folder = project.folder();
    for name in [SUMMARY, ".ralph/prompt_001.txt"] {
        std::fs::create_dir_all(project.at(name).join("inner")).unwrap();
    }
    let error = folder.write_views(&views("s", "- f")).unwrap_err().to_string();
    assert!(error.contains(project.at(SUMMARY).to_str().unwrap()), "{error}");
    assert!(folder.write_prompt(&shows("prompt_001.txt"), "x").is_err());
    assert!(project.at(SUMMARY).join("inner").is_dir());
    assert_eq!(project.names(), ["feedback.md", "state.json", "summary.md"], "the others are written, nothing is left");
}

#[test]
fn m05_a_link_is_read_as_empty_with_a_note() {
    let project = Project::new();
    let mut folder = project.folder();
    symlink("/etc/passwd", project.at(SUMMARY)).unwrap();
    pipe(&project.at(FEEDBACK));
    assert_eq!(folder.read_summary("summary.md"), "");
    assert_eq!(folder.read_feedback("feedback.md"), "");
    let notes = folder.take_notes().join("\n");
    assert!(notes.contains("symbolic link") && notes.contains("named pipe"), "{notes}");
}

#[test]
fn m07_names_cannot_lead_elsewhere() {
    let project = Project::new();
    let mut folder = project.folder();
    for name in ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\0b"] {
        assert!(matches!(folder.create_log(name), Err(ViewError::NotAName { .. })), "{name:?}");
        assert_eq!(folder.read_summary(name), "");
        let bad = Views { summary: (name.to_owned(), "x".to_owned()), ..views("", "") };
        assert!(folder.write_views(&bad).is_err(), "{name:?}");
    }
}

#[test]
fn f06_writers_at_the_same_moment_use_different_temporary_names() {
    let project = Project::new();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let mut folder = project.folder();
            scope.spawn(move || {
                for round in 0..200 {
                    folder.write_views(&views(&format!("{writer} {round}\n").repeat(500), "- f")).unwrap();
                }
            });
        }
    });
    let lines = project.text(SUMMARY);
    let first = lines.lines().next().unwrap();
    assert!(first.ends_with(" 199") && lines.lines().count() == 500 && lines.lines().all(|line| line == first));
    assert_eq!(project.names(), ["feedback.md", "state.json", "summary.md"]);
}

#[test]
fn f06_what_a_killed_process_left_is_removed() {
    let project = Project::new();
    project.folder();
    for name in [".ralph-tmp-999999999-0", "keep.md"] {
        std::fs::write(project.at(".ralph/tasks/t").join(name), "").unwrap();
    }
    project.folder();
    assert_eq!(project.names(), ["keep.md"]);
}

#[test]
fn f09_a_reader_never_sees_a_gap_or_a_part() {
    let project = Project::new();
    let mut folder = project.folder();
    folder.write_views(&views(&"0".repeat(9000), "- f")).unwrap();
    let (done, finished) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let finished = finished;
            while finished.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                let text = project.text(SUMMARY);
                assert!(text.len() == 9000 && text.bytes().all(|byte| text.starts_with(byte as char)));
            }
        });
        for round in 0..500 {
            folder.write_views(&views(&(round % 10).to_string().repeat(9000), "- f")).unwrap();
        }
        drop(done);
    });
}

#[test]
fn c10_a_prompt_file_that_cannot_be_one_is_refused_with_a_reason() {
    let project = Project::new();
    let at = |name: &str| project.at(name);
    std::fs::create_dir(at("folder")).unwrap();
    pipe(&at("pipe"));
    std::fs::write(at("empty"), "").unwrap();
    std::fs::write(at("blank"), " \n\t\n").unwrap();
    std::fs::write(at("bytes"), b"ab\xff").unwrap();
    File::create(at("large")).unwrap().set_len(LARGEST_PROMPT + 1).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    let began = Instant::now();
    for (name, reason) in [
        ("gone", "does not exist"),
        ("dangling", "does not exist"),
        ("folder", "directory"),
        ("pipe", "named pipe"),
        ("empty", "is empty"),
        ("blank", "is empty"),
        ("bytes", "not UTF-8: look at byte 3"),
        ("large", "larger than 16 MiB"),
        ("empty/below", "cannot be read"),
    ] {
        let error = read_prompt_file(&at(name)).unwrap_err();
        assert!(error.contains(reason) && error.contains(at(name).to_str().unwrap()), "{error}");
    }
    assert!(began.elapsed() < Duration::from_secs(5));
    std::fs::write(at("unreadable"), "x").unwrap();
    std::fs::set_permissions(at("unreadable"), std::fs::Permissions::from_mode(0o000)).unwrap();
    if !rustix::process::geteuid().is_root() {
        assert!(read_prompt_file(&at("unreadable")).is_err());
    }
    std::fs::write(at("prompt.md"), "\u{feff}fix é\n").unwrap();
    symlink(at("prompt.md"), at("link")).unwrap();
    assert_eq!(read_prompt_file(&at("link")).unwrap(), "\u{feff}fix é\n");
}

#[test]
fn d10_no_descriptor_is_left_open() {
    let project = Project::new();
    let mut folder = project.folder();
    let open = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let before = open();
    for round in 0..200 {
        folder.write_views(&views(&round.to_string(), "- f")).unwrap();
        folder.write_prompt(&shows(&format!("prompt_{round:03}.txt")), "p").unwrap();
        std::fs::remove_dir_all(project.at(".ralph")).unwrap();
    }
    // Other tests open files meanwhile, but not by the hundred.
    assert!(open() < before + 150);
}

#[test]
fn feedback_that_was_just_written_is_known_for_the_next_prompt_and_read_anew_for_the_one_after() {
    let project = Project::new();
    let mut folder = project.folder();
    folder.look().unwrap();
    folder.write_views(&views("a", "made by ralph")).unwrap();
    std::fs::write(project.at(FEEDBACK), "from a person").unwrap();
    assert!(folder.read_feedback("feedback.md").contains("made by ralph"));
    assert_eq!(folder.read_feedback("feedback.md"), "from a person");
    folder.write_views(&views("a", "made by ralph")).unwrap();
    std::fs::write(project.at(FEEDBACK), "from a person again").unwrap();
    folder.doubt();
    assert_eq!(folder.read_feedback("feedback.md"), "from a person again");
}
