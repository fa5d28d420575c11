//! Where a finished plan is kept: the names of its folder and commit, and the summary that lies beside it.

use crate::plan::stats::{StoryFigures, Totals};
use crate::plan::template::one_line;
use crate::text;
use jiff::civil::Date;
use std::fmt::Write as _;

/// The folder of all archives, in the project's root.
pub const FOLDER: &str = "ralph-archive";

/// The longest label: with date and number a folder's name stays below what file systems allow (255 bytes).
const LABEL_CHARS: usize = 100;

/// Whether a character may stand in the name of a folder and in the id of a story.
pub(super) const fn is_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Text with `-` for every character that is not safe in a name.
pub(super) fn safe_name(text: &str) -> String {
    text.trim().chars().take(LABEL_CHARS).map(|c| if is_safe(c) { c } else { '-' }).collect()
}

/// What an archive is called: as the person says, else by the last part of its branch, else by the project.
pub fn label(wanted: Option<&str>, branch: Option<&str>, project: &str) -> String {
    let branch = branch.map(|branch| branch.rsplit('/').next().unwrap_or_default());
    let mut names = [wanted, branch, Some(project)].into_iter().flatten().map(safe_name);
    names.find(|name| !name.is_empty()).unwrap_or_else(|| "plan".to_owned())
}

/// The archive's folder among those that exist: a second one of a day gets `-2`, a third `-3`. Names that differ only
/// in case are one name to some file systems.
pub fn folder<'a>(date: Date, label: &str, existing: impl IntoIterator<Item = &'a str>) -> String {
    let plain = format!("{date}-{label}");
    let taken: std::collections::HashSet<String> = existing.into_iter().map(str::to_ascii_lowercase).collect();
    let numbered = (2_u64..).map(|number| format!("{plain}-{number}"));
    let mut names = std::iter::once(plain.clone()).chain(numbered);
    names.find(|name| !taken.contains(&name.to_ascii_lowercase())).unwrap_or(plain)
}

/// The subject of the commit that archives a plan.
pub fn commit_subject(label: &str, done: usize, stories: usize) -> String {
    format!("archive(ralph): {label} — {done}/{stories} stories")
}

/// What the summary of an archived plan says.
#[derive(Debug, Clone, Copy)]
pub struct Summary<'a> {
    pub project: &'a str,
    pub label: &'a str,
    pub description: &'a str,
    /// When the plan began, if that is known.
    pub started: Option<Date>,
    pub archived: Date,
    pub stories: &'a [StoryFigures],
}

impl Summary<'_> {
    /// The text of `summary.md`.
    pub fn markdown(&self) -> String {
        let totals = Totals::of(self.stories);
        let mut page = format!("# {}: {}\n", one_line(self.project), one_line(self.label));
        if !self.description.trim().is_empty() {
            let _ = write!(page, "\n{}\n", one_line(self.description));
        }
        let _ = write!(page, "\n- Stories: {} of {} done\n", totals.done, totals.stories);
        let _ = match self.started {
            Some(started) => writeln!(page, "- Dates: {started} to {}", self.archived),
            None => writeln!(page, "- Archived: {}", self.archived),
        };
        let _ = writeln!(page, "- Iterations: {}", totals.iterations);
        let _ = writeln!(page, "- Reviews: {}", totals.reviews);
        if let Some(percent) = totals.rework_percent() {
            let (reworked, reviewed) = (totals.reworked, totals.reviewed);
            let _ = writeln!(page, "- Rework: {reworked} of {reviewed} reviewed stories were sent back ({percent} %)");
        }
        let _ = writeln!(page, "- Approved at the review cap: {}", totals.auto_approved);
        let _ = writeln!(page, "- Cost: {}", dollars(totals.cost));
        if !self.stories.is_empty() {
            page.push_str("\n| story | title | state | iterations | reviews | sent back | cost |\n");
            page.push_str("|---|---|---|---|---|---|---|\n");
        }
        for story in self.stories {
            let _ = writeln!(
                page,
                "| {} | {} | {} | {} | {} | {} | {} |",
                cell(&story.id),
                cell(&story.title),
                state(story),
                story.iterations,
                story.reviews,
                story.sent_back,
                dollars(story.cost),
            );
        }
        page
    }
}

fn state(story: &StoryFigures) -> &'static str {
    match (story.done, story.auto_approved) {
        (true, true) => "approved at the cap",
        (true, false) => "done",
        (false, _) => "open",
    }
}

fn dollars(cost: Option<f64>) -> String {
    cost.map_or_else(|| "unknown".to_owned(), |cost| format!("${}", text::money(cost)))
}

/// Text as one cell of a table.
fn cell(text: &str) -> String {
    one_line(text).replace('\\', "\\\\").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn a_label_is_what_the_person_says_or_the_branch_or_the_project() {
        for (wanted, branch, project, expected) in [
            (Some("first try"), Some("ralph/login"), "shop", "first-try"),
            (None, Some("ralph/login"), "shop", "login"),
            (None, Some("login"), "shop", "login"),
            (None, Some("team/ralph/a b"), "shop", "a-b"),
            (None, Some("ralph/"), "shop", "shop"),
            (Some("  "), None, "my shop/2", "my-shop-2"),
            (None, None, "商店", "--"),
            (None, None, " ", "plan"),
            (Some("../../etc"), None, "shop", "..-..-etc"),
            (Some("a\nb\u{0}c"), None, "shop", "a-b-c"),
            (Some("v1.2_rc-3"), None, "shop", "v1.2_rc-3"),
        ] {
            assert_eq!(label(wanted, branch, project), expected);
        }
        assert_eq!(label(Some(&"x".repeat(5000)), None, "").len(), LABEL_CHARS);
    }

    #[test]
    fn a_second_archive_of_a_day_gets_a_number() {
        let today = date(2026, 11, 6);
        assert_eq!(folder(today, "login", []), "2026-11-06-login");
        assert_eq!(folder(today, "login", ["2026-11-05-login", "2026-11-06-logout"]), "2026-11-06-login");
        assert_eq!(folder(today, "login", ["2026-11-06-login"]), "2026-11-06-login-2");
        assert_eq!(folder(today, "login", ["2026-11-06-LOGIN", "2026-11-06-login-2"]), "2026-11-06-login-3");
        assert_eq!(folder(today, "login", ["2026-11-06-login-2"]), "2026-11-06-login");
    }

    #[test]
    fn the_commit_names_label_and_count() {
        assert_eq!(commit_subject("login", 4, 5), "archive(ralph): login — 4/5 stories");
    }

    #[test]
    fn a_summary_tells_what_was_done_and_what_it_cost() {
        let stories = [
            StoryFigures {
                id: "US-001".to_owned(),
                title: "Store a | status\nof orders".to_owned(),
                done: true,
                reviews: 2,
                sent_back: 1,
                iterations: 4,
                cost: Some(0.42),
                ..StoryFigures::default()
            },
            StoryFigures {
                id: "US-002".to_owned(),
                title: "Show it".to_owned(),
                done: true,
                reviews: 5,
                sent_back: 5,
                auto_approved: true,
                iterations: 10,
                cost: Some(1.0),
            },
            StoryFigures { id: "US-003".to_owned(), title: "Filter".to_owned(), ..StoryFigures::default() },
        ];
        let mut summary = Summary {
            project: "shop",
            label: "order-status",
            description: "Customers see\nthe status.",
            started: Some(date(2026, 11, 2)),
            archived: date(2026, 11, 6),
            stories: &stories,
        };
        insta::assert_snapshot!(summary.markdown(), @r#"
        # shop: order-status

        Customers see the status.

        - Stories: 2 of 3 done
        - Dates: 2026-11-02 to 2026-11-06
        - Iterations: 14
        - Reviews: 7
        - Rework: 2 of 2 reviewed stories were sent back (100 %)
        - Approved at the review cap: 1
        - Cost: $1.42

        | story | title | state | iterations | reviews | sent back | cost |
        |---|---|---|---|---|---|---|
        | US-001 | Store a \| status of orders | done | 4 | 2 | 1 | $0.42 |
        | US-002 | Show it | approved at the cap | 10 | 5 | 5 | $1.00 |
        | US-003 | Filter | open | 0 | 0 | 0 | unknown |
        "#);
        summary.stories = &[];
        summary.started = None;
        let page = summary.markdown();
        assert!(page.contains("- Stories: 0 of 0 done\n- Archived: 2026-11-06\n"), "{page}");
        assert!(page.ends_with("- Cost: unknown\n"), "{page}");
    }
}
