use super::*;
use crate::explanation::Explanation;
use crate::liveness::State;
use crate::run_view::{Prompts, RunView};
use crate::{Style, sample};
use ralph_core::event::{Entry, Event};
use ralph_core::time::WallTime;

/// Text that agents, commands and people could write.
const NASTY: [&str; 14] = [
    "a | b || c",
    "`code` and ```fence``` and `",
    "</pre></td></table><script>alert(1)</script>",
    "<img src=x onerror='x()'>\" onload=\"y()",
    "one\ntwo\r\n\n# three\n- four",
    "\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7} \u{202e}back",
    "&lt;b&gt; &#60; &amp;",
    "[link](javascript:x) ![image](http://x)",
    "**bold** _under_ ~~gone~~ $math$ $more$",
    "# heading",
    "- list",
    "1. list",
    "\\| \\` \\",
    "thanks @somebody, mail a@b.c",
];

#[test]
fn nothing_breaks_out_of_markdown() {
    let expected = [
        "a \\| b \\|\\| c",
        "\\`code\\` and \\`\\`\\`fence\\`\\`\\` and \\`",
        "\\</pre\\>\\</td\\>\\</table\\>\\<script\\>alert(1)\\</script\\>",
        "\\<img src=x onerror='x()'\\>\" onload=\"y()",
        "one two  # three - four",
        "red ⟨U+202E⟩back",
        "\\&lt;b\\&gt; \\&#60; \\&amp;",
        "\\[link\\](javascript:x) !\\[image\\](http://x)",
        "\\*\\*bold\\*\\* \\_under\\_ \\~\\~gone\\~\\~ \\$math\\$ \\$more\\$",
        "\\# heading",
        "\\- list",
        "1\\. list",
        "\\\\\\| \\\\\\` \\\\",
        "thanks @<!-- -->somebody, mail a@b.c",
    ];
    for (nasty, expected) in NASTY.iter().zip(expected) {
        assert_eq!(escape::markdown(nasty), expected);
        let code = escape::markdown_code(nasty);
        let inside = code.strip_prefix('`').and_then(|code| code.strip_suffix('`'));
        match inside.filter(|_| !nasty.contains(['`', '|'])) {
            Some(inside) => assert!(!inside.contains(['`', '|', '\n', '\u{1b}']), "{code}"),
            None => assert_eq!(code, expected, "it stands as words"),
        }
        let quote = escape::markdown_lines(nasty);
        let fence = quote.split("text\n").next().unwrap();
        assert_eq!(quote.matches(fence).count(), 2, "{quote}");
        assert!(!quote.contains('\u{1b}'), "{quote}");
    }
}

#[test]
fn nothing_breaks_out_of_html() {
    for (words, safe) in [
        ("<b>\"x\" & 'y'</b>", "&lt;b&gt;&quot;x&quot; &amp; &#39;y&#39;&lt;/b&gt;"),
        ("&lt;", "&amp;lt;"),
        ("\u{1b}[31mred\u{1b}[0m\nblue", "red blue"),
    ] {
        assert_eq!(escape::html(words), safe);
    }
    for nasty in NASTY {
        for safe in [escape::html(nasty), escape::html_lines(nasty)] {
            assert!(!safe.contains(['<', '>', '"', '\'', '\u{1b}', '\u{202e}']), "{safe}");
        }
    }
    assert!(escape::html_lines("a\nb").contains('\n'), "lines stay lines where they may");
}

#[test]
fn long_text_is_cut_and_says_so() {
    let long = "ä".repeat(1_000_000);
    for safe in [escape::markdown(&long), escape::markdown_code(&long), escape::html(&long)] {
        assert!(safe.len() < 2000 && safe.contains('…'), "{}", safe.len());
    }
    assert!(escape::markdown_lines(&long).len() < 20_000);
    assert!(escape::html_lines(&long).contains("(cut)"));
}

/// The explanation of a journal.
fn case(entries: &[Entry]) -> Explanation {
    let view = RunView::of(entries.to_vec(), Prompts::None).unwrap();
    let row = view.machine.row();
    let state = State::of(&row, false);
    Explanation::of(view, row, state, WallTime(12_000))
}

/// The sample's journal with this text wherever somebody could have put it.
fn poisoned(nasty: &str) -> Vec<Entry> {
    let mut entries = sample::journal();
    for entry in &mut entries {
        match &mut entry.event {
            Event::Started(started) => {
                started.policy.prompt = ralph_core::policy::PromptSource::Text(nasty.to_owned());
                started.policy.agent.command = nasty.to_owned();
                started.root = nasty.to_owned();
                started.policy.guardrails[0].command = nasty.to_owned();
            }
            Event::AgentEnded(seen) => {
                seen.last_text = nasty.to_owned();
                if let Some(failure) = &mut seen.failure {
                    failure.message = nasty.to_owned();
                }
            }
            Event::CheckEnded(report) => {
                report.spec.command = nasty.to_owned();
                report.log = nasty.to_owned();
            }
            _ => {}
        }
    }
    let last = entries.last().unwrap().clone();
    let noted = Event::Noted { note: ralph_core::words::Note::Machine { text: nasty.to_owned() } };
    entries.push(Entry { seq: last.seq + 1, event: noted, ..last });
    entries
}

#[test]
fn whatever_was_written_a_report_keeps_its_form() {
    for nasty in NASTY {
        let entries = poisoned(nasty);
        let document = content::of(&case(&entries), &Style::default());
        let page = html::render(&document);
        for tag in ["script", "img", "a ", "iframe", "link", "object"] {
            assert!(!page.contains(&format!("<{tag}")), "{tag}: {page}");
        }
        assert!(page.contains("default-src 'none'") && !page.contains('\u{1b}'), "{page}");
        for tag in ["table", "section", "td", "pre", "li", "dd", "span", "code", "svg"] {
            let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            let closed = page.matches(&format!("</{tag}>")).count();
            assert!(opened == closed && closed > 0, "{tag}: {opened} and {closed}");
        }
        let text = markdown::render(&document, Marks::Emoji);
        assert!(!text.contains('\u{1b}'), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert!(rows.len() > 8, "{text}");
        for group in rows.chunk_by(|one, other| cells(one) == cells(other)) {
            assert!(group.len() > 2, "a row with another number of cells: {group:?}");
        }
    }
}

/// How many cells a row of a table has.
fn cells(row: &str) -> usize {
    let mut escaped = false;
    let mut count = 0;
    for c in row.chars() {
        if c == '|' && !escaped {
            count += 1;
        }
        escaped = c == '\\' && !escaped;
    }
    count
}

#[test]
fn a_report_says_everything_that_is_known_and_what_is_not() {
    let entries = sample::journal();
    let document = content::of(&case(&entries), &Style::default());
    let text = markdown::render(&document, Marks::Emoji);
    for part in [
        ": complete · verified\n",
        "## What was asked",
        "```text\ndo it\n```",
        "- **settings**: `0123456789abcdef`",
        "- **verified**: ✓ yes",
        "- **cost**: not stated",
        "- **tokens**: not stated",
        "| guardrail \"make test\" | ✓ yes | passed (1.2s) · exit code 0 · output abcdefab (3 bytes)",
        "| 1 | `claude` |",
        "| not stated | not stated | 0 |",
        "Time per iteration:",
        "Neither cost nor tokens were stated.",
        "Failing checks per iteration:",
        "| iteration | `make test` |\n|---|---|\n| 1 | ✗ 1.2s |\n| 2 | ✓ 1.2s |",
        "does not count: files changed while the checks ran",
        "| cccccccc | `01234567` | `.ralph/guardrail_002_make_test.log` |",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let plain = markdown::render(&document, Marks::Words);
    assert!(plain.contains("FAILED 1.2s") && !plain.contains(['█', '✓', '✗']), "{plain}");
    let page = html::render(&document);
    assert!(page.contains("<svg") && page.contains("prefers-color-scheme: dark"), "{page}");
}

#[test]
fn a_journal_cut_anywhere_has_its_report() {
    let whole = sample::journal();
    for length in 1..=whole.len() {
        let entries: Vec<Entry> = whole.iter().take(length).cloned().collect();
        let case = case(&entries);
        let text = markdown::render(&content::of(&case, &Style::default()), Marks::Emoji);
        let ended = case.view.outcome().is_some();
        assert_eq!(text.contains("crashed"), !ended, "{length}: {text}");
        assert_eq!(text.contains("**in flight**"), !ended, "{length}: {text}");
        assert_eq!(json::of(&case, &Style::default())["in_flight"].is_string(), !ended);
        assert!(!html::render(&content::of(&case, &Style::default())).is_empty());
    }
}

#[test]
fn many_rows_are_folded_and_counted() {
    let rows: Vec<Vec<Piece>> = (0..10_000).map(|n| vec![Piece::plain(n.to_string()), Piece::plain("x")]).collect();
    let heads = vec![Piece::plain("n"), Piece::plain("x")];
    let block = || Block::Table(Table { heads: heads.clone(), rows: rows.clone() });
    let document =
        Document { title: String::new(), sections: vec![Section { heading: "Many", blocks: vec![block()] }] };
    let text = markdown::render(&document, Marks::Emoji);
    assert!(text.contains("| 9 | x |\n| … 9960 left out | |\n| 9970 | x |"), "{text}");
    let page = html::render(&document);
    assert!(page.contains("<summary>10000 rows</summary>") && page.contains("… 8000 left out"), "{}", page.len());
    let all = [1, 2, 3];
    assert_eq!(Fold { first: 1, last: 1 }.apply(&all).len(), 3, "one is not left out");
}
