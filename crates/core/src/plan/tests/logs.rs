//! progress.txt: a log that only grows.

use super::super::progress::repair;

const BEFORE: &str =
    "# Log\n\n## Codebase Patterns\n- none\n\n---\n\n### Iteration 1\nbuilt a\n\n### Iteration 2\nbuilt b\n";

fn repaired(after: &str) -> Option<String> {
    let text = repair(BEFORE.as_bytes(), Some(after.as_bytes()));
    if let Some(text) = &text {
        assert_eq!(repair(BEFORE.as_bytes(), Some(text)), None, "second time");
    }
    text.map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn patterns_may_change_and_entries_may_be_added() {
    for lawful in [
        BEFORE.to_owned(),
        BEFORE.replace("- none", "- use bun"),
        format!("{BEFORE}\n### Iteration 3\nbuilt c\n"),
        BEFORE.replace('\n', "\r\n"),
        BEFORE.replace("### Iteration 2", "### Iteration 1b\nmore\n\n### Iteration 2"),
    ] {
        assert_eq!(repaired(&lawful), None);
    }
}

#[test]
fn entries_that_are_gone_are_put_back_and_new_ones_are_kept() {
    let cut = BEFORE.replace("### Iteration 1\nbuilt a\n\n", "").replace("none", "use bun");
    assert_eq!(repaired(&cut).unwrap(), BEFORE.replace("none", "use bun"));
    let reworded = BEFORE.replace("built a", "built everything");
    assert_eq!(repaired(&reworded).unwrap(), BEFORE.replace("built a\n", "built a\nbuilt everything\n"));
    let replaced = "# Log\n\n## Codebase Patterns\n- none\n\n---\n\n### Iteration 3\nbuilt c\n";
    let whole = repaired(replaced).unwrap();
    assert!(whole.starts_with(BEFORE.trim_end()) && whole.contains("### Iteration 3\nbuilt c\n"), "{whole}");
}

#[test]
fn a_log_that_is_gone_or_emptied_is_put_back_whole() {
    assert_eq!(repair(BEFORE.as_bytes(), None).as_deref(), Some(BEFORE.as_bytes()));
    assert_eq!(repaired("").unwrap(), BEFORE);
    assert_eq!(repaired(" \n").unwrap(), BEFORE);
    assert_eq!(repair(b"", None), None);
}

#[test]
fn a_file_without_the_line_gets_its_log_back_above_what_was_written() {
    let whole = repaired("just this\n").unwrap();
    assert_eq!(whole, format!("{BEFORE}just this\n"));
}

#[test]
fn a_log_without_the_line_protects_nothing_and_bytes_need_not_be_text() {
    assert_eq!(repair(b"old", Some(b"new")), None);
    assert_eq!(repair(b"---\n\xff\xfe\n", Some(b"---\nnew")).unwrap(), b"---\n\xff\xfe\nnew");
}
