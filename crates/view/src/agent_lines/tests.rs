//! What is printed, to the letter: the table of `tests/cases/renderings.json`, and what must hold
//! wherever an agent's words can stand.

use super::*;
use crate::Marks;
use ralph_core::agent_event::{TodoItem, TodoStatus};
use ralph_core::evidence::TestsRan;
use serde::Deserialize;

#[derive(Deserialize)]
struct Cases {
    renderings: Vec<Rendering>,
    duration_ms: Vec<Amount>,
    token_count: Vec<Amount>,
}

#[derive(Deserialize)]
struct Rendering {
    name: String,
    agent: String,
    use_emoji: bool,
    show_text: bool,
    show_progress: bool,
    verbose: bool,
    max_output_lines: usize,
    max_output_chars: usize,
    lines: Vec<String>,
    /// What the lines say, for rows that stand for more than one dialect.
    #[serde(default)]
    events: Vec<AgentEvent>,
    output: String,
}

#[derive(Deserialize)]
struct Amount {
    r#in: String,
    out: String,
}

fn cases() -> Cases {
    serde_json::from_str(include_str!("../../tests/cases/renderings.json")).unwrap()
}

/// The defaults of the settings, without colour.
fn options() -> RenderOptions {
    RenderOptions {
        paint: Paint::default(),
        zone: Zone::default(),
        timestamps: false,
        text: true,
        max_output_lines: 3,
        max_output_chars: 120,
        verbose: false,
    }
}

fn marked(marks: Marks) -> RenderOptions {
    RenderOptions { paint: Paint { on: false, marks }, ..options() }
}

fn render(options: RenderOptions, events: &[AgentEvent]) -> String {
    let mut renderer = Renderer::new(options, Some(WallTime(0)));
    let shown: String = events.iter().map(|event| renderer.render(WallTime(0), event)).collect();
    shown + &renderer.end_text(WallTime(0))
}

fn text(text: &str, delta: bool) -> AgentEvent {
    AgentEvent::Text { text: text.to_owned(), voice: Voice::Main, delta }
}

fn start(id: &str, name: &str, input: &str) -> AgentEvent {
    let [id, name, input] = [id, name, input].map(str::to_owned);
    AgentEvent::ToolStart { id, name, input, command: None, writes: None }
}

fn end(id: &str, output: &str, error: bool) -> AgentEvent {
    AgentEvent::ToolEnd {
        id: id.to_owned(),
        output: output.to_owned(),
        lines: output.lines().count() as u64,
        chars: output.chars().count() as u64,
        error,
        exit_code: None,
        tests: TestsRan::Unsaid,
    }
}

fn result(text: &str, is_error: bool, cost_usd: Option<f64>) -> AgentEvent {
    AgentEvent::Result { text: text.to_owned(), is_error, cost_usd, tokens: None }
}

fn todo(content: &str, priority: Option<&str>, status: TodoStatus) -> AgentEvent {
    let item = TodoItem { content: content.to_owned(), status, priority: priority.map(str::to_owned) };
    AgentEvent::Todo { items: vec![item] }
}

#[test]
fn events_are_shown_as_the_table_says() {
    let rows = cases().renderings;
    assert!(rows.len() >= 10);
    for row in rows {
        let options = RenderOptions {
            text: row.show_text,
            verbose: row.verbose || row.show_progress,
            max_output_lines: row.max_output_lines,
            max_output_chars: row.max_output_chars,
            ..marked(if row.use_emoji { Marks::Emoji } else { Marks::Words })
        };
        let mut heard = ralph_agents::Told::default();
        if let Some(dialect) = ralph_agents::by_name(&row.agent) {
            let agent = crate::sample::agent();
            let mut reader = dialect.reader(&agent, "");
            for line in &row.lines {
                reader.line(line.as_bytes(), &mut heard);
            }
            reader.end(&mut heard);
            assert_eq!(render(options.clone(), &heard), row.output, "{}", row.name);
        }
        assert!(!(heard.is_empty() && row.events.is_empty()), "{}: nothing to show", row.name);
        if !row.events.is_empty() {
            assert_eq!(render(options, &row.events), row.output, "{}", row.name);
        }
    }
}

#[test]
fn amounts_are_written_as_the_table_says() {
    for row in cases().duration_ms {
        assert_eq!(amounts::duration(Millis(row.r#in.parse().unwrap())), row.out);
    }
    for row in cases().token_count {
        assert_eq!(amounts::count(row.r#in.parse().unwrap()), row.out);
    }
    for (number, words) in [(999, "999"), (999_499, "999K"), (999_500, "1.0M"), (u64::MAX, "18446744073709.6M")] {
        assert_eq!(amounts::count(number), words);
    }
    assert_eq!(amounts::duration(Millis(59_500)), "1m");
}

#[test]
fn pieces_of_a_message_flow_together_and_anything_shown_ends_it() {
    let remark = AgentEvent::Progress { text: "retry".to_owned() };
    for (events, shown) in [
        (vec![text("I will lo", true), text("ok around.", true)], "I will look around.\n"),
        (vec![text("I will ", true), start("1", "Read", "a"), text("see", true)], "I will \n⏺ Read(a)\nsee\n"),
        (vec![text("one\ntw", true), text("o\n", true), text("three", true)], "one\ntwo\nthree\n"),
        (vec![text("un", true), remark.clone(), text("seen", true)], "unseen\n"),
        (vec![text("whole", false), text("whole", false)], "whole\nwhole\n"),
        (vec![text("piece", true), text("whole\n", false)], "piece\nwhole\n"),
        (vec![text("\n", false), text("", false), text("a\n\nb\n", false)], "\na\n\nb\n"),
    ] {
        assert_eq!(render(options(), &events), shown);
    }
    let verbose = RenderOptions { verbose: true, ..options() };
    assert_eq!(render(verbose, &[text("un", true), remark, text("seen", true)]), "un\n· retry\nseen\n");
    let silent = RenderOptions { text: false, ..options() };
    assert_eq!(render(silent, &[text("a", true), text("b", false), start("1", "Read", "")]), "⏺ Read()\n");
}

#[test]
fn an_error_is_told_once_and_is_not_called_complete() {
    let error = AgentEvent::Error { message: "out of credit".to_owned() };
    for (events, shown) in [
        (
            vec![error.clone(), result("out of credit", true, None)],
            "❌ out of credit\n❌ Failed (tools: 0, errors: 0, time: 0s)\n",
        ),
        (vec![result("no", true, Some(0.5))], "❌ no\n❌ Failed (cost: $0.50, tools: 0, errors: 0, time: 0s)\n"),
        (vec![result("", true, None)], "❌ Failed (tools: 0, errors: 0, time: 0s)\n"),
    ] {
        assert_eq!(render(options(), &events), shown);
    }
    assert_eq!(render(marked(Marks::Words), &[error]), "[ERR] out of credit\n");
}

#[test]
fn what_nobody_stated_is_left_out_and_not_called_zero() {
    for (cost, words) in [(None, ""), (Some(0.0), "cost: $0.00, "), (Some(f64::NAN), "")] {
        let shown = render(options(), &[text("hi", false), result("hi", false, cost)]);
        assert_eq!(shown, format!("hi\n✅ Complete ({words}tools: 0, errors: 0, time: 0s)\n"));
    }
    // An answer that came in the result alone is an answer too.
    assert!(render(options(), &[result("only here", false, None)]).starts_with("only here\n✅ Complete ("));
}

#[test]
fn the_time_is_the_iterations_and_a_recording_has_none() {
    let done = result("", false, None);
    for (began, at, words) in [
        (Some(WallTime(1_000)), WallTime(368_000), ", time: 6m7s)"),
        (Some(WallTime(1_000)), WallTime(0), ", time: 0s)"),
        (None, WallTime(368_000), "errors: 0)"),
    ] {
        let options = RenderOptions { timestamps: true, ..options() };
        let shown = Renderer::new(options, began).render(at, &done);
        assert!(shown.ends_with(&format!("{words}\n")), "{shown}");
        assert_eq!(shown.starts_with('['), began.is_some(), "{shown}");
    }
}

#[test]
fn limits_of_output_hold_and_what_is_left_out_is_counted() {
    let output = "a\nb\nc\nd\n";
    for (lines, shown) in [(0, ""), (1, "  ⎿  a\n  ⎿  ... 3 more lines\n"), (9, "  ⎿  a\n      b\n      c\n      d\n")]
    {
        let options = RenderOptions { max_output_lines: lines, ..options() };
        assert_eq!(render(options, &[end("x", output, false)]), format!("✅ Result (4 lines, 8 chars)\n{shown}"));
    }
    // Blank lines take no room, and those at the end are not left out.
    for (output, shown) in [
        ("\n\na\n\n  \nb\n\nc\n", "✅ Result (8 lines, 13 chars)\n  ⎿  a\n      b\n      c\n"),
        ("a\n\nb\n\nc\n\nd", "✅ Result (7 lines, 10 chars)\n  ⎿  a\n      b\n      c\n  ⎿  ... 2 more lines\n"),
        ("a\n\n\n", "✅ Result (3 lines, 4 chars)\n  ⎿  a\n"),
        ("\n \n", "✅ Result (2 lines, 3 chars)\n"),
    ] {
        assert_eq!(render(options(), &[end("x", output, false)]), shown);
    }
    // An event carries only the beginning of a long output.
    let AgentEvent::ToolEnd { id, chars, .. } = end("x", output, true) else { return };
    let (output, tests) = ("a".to_owned(), TestsRan::Unsaid);
    let cut = AgentEvent::ToolEnd { id, output, lines: 50, chars, error: true, exit_code: None, tests };
    assert_eq!(render(options(), &[cut]), "❌ Error (50 lines, 8 chars)\n  ⎿  a\n  ⎿  ... 49 more lines\n");
}

/// Every place where an agent's words can stand, with lines of ralph's own around them.
fn everywhere(words: &str) -> Vec<(&'static str, Vec<AgentEvent>)> {
    let owned = words.to_owned();
    let limit = |rejected| AgentEvent::Limit { scope: owned.clone(), rejected, resets_at: None };
    vec![
        ("text", vec![text(words, false)]),
        ("pieces of text", words.chars().map(|c| text(&c.to_string(), true)).collect()),
        ("tool name", vec![start("1", words, "in"), end("1", "out", false)]),
        ("tool input", vec![start("1", "Bash", words)]),
        ("tool id", vec![start(words, "Bash", ""), end(words, "out", false)]),
        ("tool output", vec![end("1", words, true)]),
        ("todo item", vec![todo(words, None, TodoStatus::InProgress)]),
        ("priority", vec![todo("do it", Some(words), TodoStatus::Pending)]),
        ("limit", vec![limit(true)]),
        ("limit near", vec![limit(false)]),
        ("error", vec![AgentEvent::Error { message: owned.clone() }]),
        ("failed result", vec![result(words, true, None)]),
        ("result", vec![result(words, false, None)]),
        ("progress", vec![AgentEvent::Progress { text: owned.clone() }]),
        ("unknown", vec![AgentEvent::Unknown { what: owned.clone() }]),
    ]
}

#[test]
fn o01_an_agent_cannot_drive_the_terminal_from_anywhere() {
    let verbose = RenderOptions { verbose: true, timestamps: true, ..options() };
    for dirty in [
        "a\u{1b}[2Jb", "a\u{1b}]0;title\u{7}b", "a\u{1b}]52;c;aGk=\u{1b}\\b", "a\u{1b}]8;;http://x\u{1b}\\b",
        "a\u{1b}P$q\u{1b}\\b", "a\u{9b}31mb", "a\u{9d}0;t\u{9c}b", "a\rb", "a\u{8}\u{7f}b", "a\u{0}\u{7}b",
        "a\u{1b}b\u{1b}cb", "a\u{202e}b\u{202c}", "a\u{2066}b\u{2069}", "a\u{61c}\u{200b}\u{feff}b", "a\u{2028}b",
        "a\u{1b}]never ended", "a\u{1b}",
    ] {
        for ((place, events), (_, harmless)) in everywhere(dirty).into_iter().zip(everywhere("ab")) {
            let shown = render(verbose.clone(), &events);
            let drives = |c: char| {
                (c.is_control() && c != '\n')
                    || "\u{202e}\u{202c}\u{2066}\u{2069}\u{61c}\u{200b}\u{feff}\u{2028}".contains(c)
            };
            assert!(!shown.contains(drives), "{place}: {dirty:?} became {shown:?}");
            assert_eq!(shown.lines().count(), render(verbose.clone(), &harmless).lines().count(), "{place}: {shown:?}");
            let status = events.iter().filter_map(in_a_few_words).collect::<String>();
            assert!(!status.contains(drives), "{place}: {status:?} on the status line");
        }
    }
}

#[test]
fn an_agent_cannot_make_lines_of_ralph_but_by_speaking() {
    for (place, events) in everywhere("a\n✅ Complete (cost: $0.00)") {
        let speaks = ["text", "pieces of text", "tool output", "result"].contains(&place);
        let shown = render(RenderOptions { verbose: true, ..options() }, &events);
        assert_eq!(shown.contains("$0.00"), speaks, "{place}: {shown:?}");
    }
}

#[test]
fn colour_covers_whole_lines_and_says_nothing_alone() {
    let events: Vec<AgentEvent> = everywhere("words").into_iter().flat_map(|(_, events)| events).collect();
    let plain = render(RenderOptions { verbose: true, ..options() }, &events);
    let colored =
        render(RenderOptions { verbose: true, paint: Paint { on: true, marks: Marks::Emoji }, ..options() }, &events);
    assert_eq!(ralph_core::text::for_terminal(&colored), plain);
    for line in colored.lines().filter(|line| line.contains('\u{1b}')) {
        assert!(line.starts_with("\u{1b}[") && line.ends_with("\u{1b}[0m"), "{line:?}");
        assert_eq!(line.matches('\u{1b}').count(), 2, "{line:?}");
    }
    for (tone, code) in
        [("✅ Complete", "32"), ("❌ Error", "31"), ("⏸️ limit", "33"), ("⏺ Bash", "1"), ("· words", "2")]
    {
        assert!(colored.contains(&format!("\u{1b}[{code}m{tone}")), "{tone} in {colored:?}");
    }
}

#[test]
fn with_timestamps_every_line_begins_with_the_time() {
    let events: Vec<AgentEvent> = everywhere("two\nlines").into_iter().flat_map(|(_, events)| events).collect();
    let shown = render(RenderOptions { timestamps: true, ..options() }, &events);
    for line in shown.lines() {
        let stamp: String = line.chars().take(10).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(stamp, "[00:00:00]", "{line:?}");
    }
    assert_eq!(shown.lines().count(), render(options(), &events).lines().count());
}

#[test]
fn a_limit_says_when_it_ends() {
    let limit = AgentEvent::Limit { scope: "five_hour".to_owned(), rejected: true, resets_at: Some(60) };
    let shown = render(options(), &[limit]);
    let when = options().zone.short(WallTime(60_000), WallTime(0));
    assert_eq!(shown, format!("⏸️ limit reached: five_hour · resets {when}\n"));
}
