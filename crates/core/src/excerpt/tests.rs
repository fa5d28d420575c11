//! Excerpts of outputs as real programs print them, and of outputs that nobody should print.
#![allow(clippy::indexing_slicing)]

use super::*;

fn excerpt(output: &str) -> (Excerpt, String) {
    let mut excerpter = Excerpter::default();
    excerpter.feed(output.as_bytes());
    excerpter.finish()
}

#[test]
fn a_short_output_is_shown_whole() {
    let (short, _) = excerpt("running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n    b\n");
    assert_eq!(short.within(5000), "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n    b\n");
    assert_eq!(short.total, 6);
    assert_eq!(excerpt("").0, Excerpt::default());
    assert_eq!(excerpt("").0.within(100), "");
}

#[test]
fn errors_in_the_middle_and_the_end_are_kept_and_gaps_are_counted() {
    let noise = |from: u32, to: u32| (from..to).map(|n| format!("compiled module {n}\n")).collect::<String>();
    let output = format!(
        "make: begin\n{}src/a.c:7: error: 'x' undeclared\n    x = 1;\n    ^\n{}make: *** [all] Error 1\n",
        noise(0, 5000),
        noise(5000, 9000)
    );
    let (excerpt, _) = excerpt(&output);
    let shown = excerpt.within(1000);
    assert_eq!(
        shown.lines().take(7).collect::<Vec<_>>(),
        [
            "make: begin", "compiled module 0", "compiled module 1", "[4998 lines left out]",
            "src/a.c:7: error: 'x' undeclared", "    x = 1;", "    ^",
        ]
    );
    assert!(shown.ends_with("compiled module 8999\nmake: *** [all] Error 1\n"), "{shown}");
    assert_eq!(excerpt.first_error(), Some("src/a.c:7: error: 'x' undeclared"));
}

#[test]
fn little_room_goes_to_errors_and_then_to_the_end() {
    let output = format!("begin\n{}error: one\n{}the end\n", "x\n".repeat(500), "y\n".repeat(500));
    let (excerpt, _) = excerpt(&output);
    for (chars, wanted) in [
        (0, &[][..]),
        (75, &["error: one"]),
        (115, &["error: one", "the end"]),
        (5000, &["begin", "error: one", "the end"]),
    ] {
        let shown = excerpt.within(chars);
        for line in ["begin", "error: one", "the end"] {
            assert_eq!(shown.lines().any(|shown| shown == line), wanted.contains(&line), "{chars}: {line}\n{shown}");
        }
    }
}

#[test]
fn an_excerpt_never_takes_more_than_its_room() {
    let flood = format!("{}\n", "error: 漢字 ".repeat(400)).repeat(3000);
    let progress = format!("{}done\n", "10%\r".repeat(100_000));
    let wall = "`".repeat(100_000);
    for output in [flood.as_str(), progress.as_str(), wall.as_str(), "error\n\n\n\n", "\u{1b}[31merror\u{1b}[0m: red\n"]
    {
        let (excerpt, print) = excerpt(output);
        assert_eq!(print.len(), 32);
        let kept: usize = excerpt.lines.iter().map(|line| line.text.chars().count()).sum();
        assert!(kept <= (3 * ERRORS_KEPT as usize + HEAD_LINES as usize + TAIL_LINES) * (LINE_CHARS + 3), "{kept}");
        for chars in [0, 1, 50, 500, 5000, 50_000] {
            let size = excerpt.within(chars).chars().count();
            // A mark that says how much is missing may stand where nothing else fits.
            assert!(size <= chars.max(GAP_CHARS), "{size} of {chars}");
        }
    }
}

#[test]
fn escape_sequences_do_not_hide_an_error_or_reach_the_excerpt() {
    let (excerpt, _) = excerpt("\u{1b}[1m\u{1b}[31merror\u{1b}[0m: red\n 10%\r 50%\r100% done\r\n");
    assert_eq!(excerpt.within(500), "error: red\n100% done\n");
    assert_eq!(excerpt.first_error(), Some("error: red"));
}

#[test]
fn two_runs_that_fail_alike_have_the_same_print() {
    let run = |first: &str, second: &str, time: &str| {
        excerpt(&format!("seed {time}\ntest {first} ... FAILED\ntest {second} ... FAILED\n2 failed in {time}s\n")).1
    };
    assert_eq!(run("a", "b", "0.31"), run("b", "a", "12.09"), "order and durations do not matter");
    assert_ne!(run("a", "b", "0.31"), run("a", "c", "0.31"));
    // Without anything that looks like an error the last lines tell two outputs apart.
    assert_eq!(excerpt("built in 3.1s\nbye\n").1, excerpt("built in 4.0s\nbye\n").1);
    assert_ne!(excerpt("want a\n").1, excerpt("want b\n").1);
    assert_eq!(excerpt("").1, excerpt("").1);
}

#[test]
fn it_does_not_matter_where_the_output_is_cut() {
    let dull = "nothing to see here\n".repeat(40);
    for output in [
        format!("{dull}error: one\nat a.c:1\n\n{dull}\u{1b}[31merror\u{1b}[0m: two\r\n{dull}  \u{2717} three\nlast"),
        format!("{dull}\n\n\n"),
        "\n".repeat(30),
        "test error ... ok\n".repeat(50),
        format!("{}漢字 error: far behind\n{dull}", "漢".repeat(900)),
    ] {
        let bytes = output.as_bytes();
        let mut by_line = Excerpter::default();
        output.split_inclusive('\n').for_each(|line| by_line.line(line.trim_end_matches('\n').as_bytes()));
        let expected = by_line.finish();
        for size in [1, 2, 7, 64, 1000, bytes.len()] {
            let mut excerpter = Excerpter::default();
            bytes.chunks(size).for_each(|piece| excerpter.feed(piece));
            assert_eq!(excerpter.finish(), expected, "pieces of {size}");
        }
    }
}
