//! Where a plan stands: its stories by state, what the next iteration would do, and what all of it took so far.

use crate::Paint;
use crate::json::VERSION;
use crate::words::{money, one_line};
use ralph_core::id::RunId;
use ralph_core::plan::choice::{self, Budget, Next};
use ralph_core::plan::stats::{StoryFigures, Totals};
use ralph_core::plan::{Mode, Plan, ReviewStatus, Rules, Story};
use ralph_core::text::count;
use serde_json::{Value, json};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// Characters of a title in a line: the whole of it stands in `tasks.json`.
const TITLE_CHARS: usize = 60;

#[derive(Debug, Clone, Copy)]
pub struct PlanStatus<'a> {
    /// The plan's folder, as people are told.
    pub dir: &'a str,
    pub plan: &'a Plan,
    pub rules: Rules,
    /// Iterations that a run may use.
    pub allowed: u32,
    /// One for each story, in their order.
    pub figures: &'a [StoryFigures],
    /// The run that works in the project now.
    pub live: Option<&'a RunId>,
}

/// What a story waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Standing<'a> {
    Done,
    /// ralph approved it, because its number of reviews reached the cap.
    ApprovedAtCap,
    AwaitingReview,
    ChangesRequested,
    Ready,
    /// For these stories.
    Waiting(Vec<&'a str>),
}

impl<'a> PlanStatus<'a> {
    fn standing(&self, story: &'a Story) -> Standing<'a> {
        let skips = self.rules.skip_review;
        match story.status {
            _ if story.is_done(skips) && story.is_auto_approved() => Standing::ApprovedAtCap,
            _ if story.is_done(skips) => Standing::Done,
            Some(ReviewStatus::NeedsReview) if !skips => Standing::AwaitingReview,
            Some(ReviewStatus::ChangesRequested) if !skips => Standing::ChangesRequested,
            _ => match choice::unmet(self.plan, story, self.rules).collect::<Vec<_>>() {
                unmet if unmet.is_empty() => Standing::Ready,
                unmet => Standing::Waiting(unmet),
            },
        }
    }

    pub fn for_people(&self, paint: Paint) -> String {
        let budget = Budget::of(self.plan, self.rules);
        let mut page = format!("{}\n", budget.start_line(self.allowed));
        if let Some(warning) = budget.warning(self.allowed) {
            let _ = writeln!(page, "{}", paint.yellow(&format!("warning: {warning}")));
        }
        if let Some(run) = self.live {
            let _ = writeln!(page, "run {run} works in this project now: ralph show {run}");
        }
        let rows: Vec<[String; 4]> = self.plan.stories().iter().zip(self.figures).map(|row| self.cells(row)).collect();
        let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width()).max().unwrap_or(0);
        let widths = [width(0), width(1), width(2)];
        page.push('\n');
        for (row, story) in rows.iter().zip(self.plan.stories()) {
            let [.., title] = row;
            let mut line = String::new();
            for (cell, width) in row.iter().zip(widths) {
                let _ = write!(line, "{cell}{}  ", " ".repeat(width.saturating_sub(cell.width())));
            }
            line.push_str(title);
            let line = match self.standing(story) {
                Standing::Done => paint.green(line.trim_end()),
                Standing::ApprovedAtCap | Standing::ChangesRequested => paint.yellow(line.trim_end()),
                Standing::AwaitingReview | Standing::Ready => line.trim_end().to_owned(),
                Standing::Waiting(_) => paint.dim(line.trim_end()),
            };
            let _ = writeln!(page, "{line}");
        }
        let _ = writeln!(page, "\n{}", self.totals_line());
        let _ = writeln!(page, "{}", self.next_line());
        page
    }

    fn cells(&self, (story, figures): (&'a Story, &StoryFigures)) -> [String; 4] {
        let state = match self.standing(story) {
            Standing::Done => "done".to_owned(),
            Standing::ApprovedAtCap => "approved at the cap".to_owned(),
            Standing::AwaitingReview => "awaits review".to_owned(),
            Standing::ChangesRequested => "changes requested".to_owned(),
            Standing::Ready => "not begun".to_owned(),
            Standing::Waiting(on) => format!("waits for {}", on.join(", ")),
        };
        let mut took = Vec::new();
        if figures.iterations > 0 {
            took.push(count(figures.iterations.into(), "iteration"));
        }
        if figures.reviews > 0 {
            took.push(count(figures.reviews.into(), "review"));
        }
        took.extend(figures.cost.map(money));
        let title = ralph_core::text::cut(&one_line(&story.title), TITLE_CHARS, "...");
        [story.id.as_str().to_owned(), state, took.join(", "), title]
    }

    fn totals_line(&self) -> String {
        let totals = Totals::of(self.figures);
        let mut parts = vec![count(totals.reviews, "review")];
        if let Some(percent) = totals.rework_percent() {
            parts.push(format!("{} of {} reviewed stories sent back ({percent} %)", totals.reworked, totals.reviewed));
        }
        if totals.auto_approved > 0 {
            parts.push(format!("{} approved at the cap", totals.auto_approved));
        }
        if totals.iterations > 0 {
            parts.push(count(totals.iterations, "iteration"));
        }
        parts.extend(totals.cost.map(money));
        format!("so far: {}", parts.join(", "))
    }

    fn next_line(&self) -> String {
        match choice::next(self.plan, self.rules) {
            Next::Work { mode, story } => {
                let known = self.plan.story(story.as_str());
                let review = match (mode, known) {
                    (Mode::Review, Some(known)) => {
                        format!(", review {} of at most {}", known.count.saturating_add(1), self.rules.cap)
                    }
                    _ => String::new(),
                };
                let title = known.map(|known| one_line(&known.title)).unwrap_or_default();
                format!("next: {mode} {}: {title}{review}", story.as_str())
            }
            Next::Complete => "next: every story is done; keep it: ralph plan archive".to_owned(),
            Next::Empty => "next: there is no story yet; write some: ralph plan draft".to_owned(),
            Next::Stuck(open) => {
                let waits = |(id, on): &(ralph_core::plan::StoryId, Vec<String>)| {
                    if on.is_empty() {
                        format!("{} contradicts itself", id.as_str())
                    } else {
                        format!("{} waits for {}", id.as_str(), on.join(", "))
                    }
                };
                format!("next: nothing can be begun: {}", open.iter().map(waits).collect::<Vec<_>>().join("; "))
            }
        }
    }

    pub fn for_programs(&self) -> Value {
        let budget = Budget::of(self.plan, self.rules);
        let stories = self.plan.stories().iter().zip(self.figures);
        let next = match choice::next(self.plan, self.rules) {
            Next::Work { mode, story } => json!({ "mode": mode.as_str(), "story": story.as_str() }),
            Next::Complete => json!({ "complete": true }),
            Next::Empty | Next::Stuck(_) => Value::Null,
        };
        json!({
            "v": VERSION,
            "dir": self.dir,
            "project": self.plan.project(),
            "branch": self.plan.branch(),
            "description": self.plan.description(),
            "verifyCommands": self.plan.verify_commands(),
            "reviewCap": self.rules.cap,
            "skipReview": self.rules.skip_review,
            "stories": stories.map(|row| self.object(row)).collect::<Vec<_>>(),
            "budget": budget,
            "allowed": self.allowed,
            "next": next,
            "totals": Totals::of(self.figures),
            "run": self.live,
        })
    }

    fn object(&self, (story, figures): (&'a Story, &StoryFigures)) -> Value {
        let (state, waits) = match self.standing(story) {
            Standing::Done | Standing::ApprovedAtCap => ("done", Vec::new()),
            Standing::AwaitingReview => ("awaiting_review", Vec::new()),
            Standing::ChangesRequested => ("changes_requested", Vec::new()),
            Standing::Ready => ("not_begun", Vec::new()),
            Standing::Waiting(on) => ("waiting", on),
        };
        json!({
            "id": story.id.as_str(),
            "title": story.title,
            "state": state,
            "waitsFor": waits,
            "priority": story.priority,
            "dependsOn": story.depends_on,
            "passes": story.passes,
            "reviewStatus": story.status.map(ReviewStatus::as_str),
            "reviewCount": story.count,
            "autoApproved": figures.auto_approved,
            "sentBack": figures.sent_back,
            "iterations": figures.iterations,
            "cost_usd": figures.cost,
        })
    }
}

/// What the file alone tells of each story; whoever knows the runs adds to it.
pub fn figures(plan: &Plan, rules: Rules) -> Vec<StoryFigures> {
    let of = |story: &Story| StoryFigures {
        id: story.id.as_str().to_owned(),
        title: story.title.clone(),
        done: story.is_done(rules.skip_review),
        reviews: story.count,
        // Every review but the one that approved sent it back.
        sent_back: if story.is_approved() && !story.is_auto_approved() {
            story.count.saturating_sub(1)
        } else {
            story.count
        },
        auto_approved: story.is_auto_approved(),
        iterations: 0,
        cost: None,
    };
    plan.stories().iter().map(of).collect()
}

/// Adds what a run took for the stories of the plan. A story is known by its id and its title: those of an earlier plan
/// had the same ids.
pub fn add_run(figures: &mut [StoryFigures], run: &[StoryFigures]) {
    for took in run {
        let is_meant = |story: &&mut StoryFigures| story.id == took.id && story.title == took.title;
        if let Some(story) = figures.iter_mut().find(is_meant) {
            story.iterations += took.iterations;
            story.cost = match (story.cost, took.cost) {
                (Some(sum), Some(cost)) => Some(sum + cost),
                (sum, cost) => sum.or(cost),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Marks;

    fn plan() -> Plan {
        let story = |id: &str, status: &str, count: u32, depends: &str, feedback: &str| {
            format!(
                r#"{{"id":"{id}","title":"Title {id}","description":"d","acceptanceCriteria":["c"],"priority":1,
                "passes":{},"reviewStatus":{status},"reviewCount":{count},"reviewFeedback":"{feedback}","notes":"n",
                "dependsOn":[{depends}]}}"#,
                status == "\"approved\""
            )
        };
        let stories = [
            story("A", "\"approved\"", 2, "", ""),
            story("B", "\"approved\"", 5, "", "[AUTO-APPROVED AT CAP] still wrong"),
            story("C", "\"needs_review\"", 1, "\"A\"", ""),
            story("D", "null", 0, "\"A\"", ""),
            story("E", "null", 0, "\"C\", \"D\"", ""),
        ];
        let text = format!(
            r#"{{"project":"shop","branchName":"ralph/x","description":"d","verifyCommands":[],"userStories":[{}]}}"#,
            stories.join(",")
        );
        Plan::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_plan_is_told_by_the_state_of_its_stories_and_what_comes_next() {
        let (plan, rules) = (plan(), Rules::default());
        let mut figures = figures(&plan, rules);
        let took = |title: &str| StoryFigures {
            id: "A".to_owned(),
            title: title.to_owned(),
            iterations: 2,
            cost: Some(0.25),
            ..StoryFigures::default()
        };
        add_run(&mut figures, &[took("Title A"), took("of another plan"), took("Title A")]);
        let status = PlanStatus { dir: "ralph", plan: &plan, rules, allowed: 3, figures: &figures, live: None };
        let expected = "\
plan: 5 stories, 2 done, about 7 iterations needed (3 allowed)
warning: the plan needs about 7 iterations and 3 are allowed; raise it with -m 7

A  done                 4 iterations, 2 reviews, $0.50  Title A
B  approved at the cap  5 reviews                       Title B
C  awaits review        1 review                        Title C
D  not begun                                            Title D
E  waits for C, D                                       Title E

so far: 8 reviews, 3 of 3 reviewed stories sent back (100 %), 1 approved at the cap, 4 iterations, $0.50
next: review C: Title C, review 2 of at most 5
";
        assert_eq!(status.for_people(Paint { on: false, marks: Marks::Words }), expected);
        let object = status.for_programs();
        assert_eq!(object["next"], json!({"mode": "review", "story": "C"}));
        assert_eq!(object["budget"]["needed"], 7);
        let states: Vec<&str> =
            object["stories"].as_array().unwrap().iter().map(|s| s["state"].as_str().unwrap()).collect();
        assert_eq!(states, ["done", "done", "awaiting_review", "not_begun", "waiting"]);
        assert_eq!(object["stories"][4]["waitsFor"], json!(["C", "D"]));
    }

    #[test]
    fn without_reviews_what_awaits_one_is_open() {
        let (plan, rules) = (plan(), Rules { skip_review: true, ..Rules::default() });
        let figures = figures(&plan, rules);
        let status = PlanStatus { dir: "ralph", plan: &plan, rules, allowed: 15, figures: &figures, live: None };
        let page = status.for_people(Paint { on: false, marks: Marks::Words });
        assert!(page.contains("C  not begun"), "{page}");
        assert!(page.ends_with("next: implement C: Title C\n"), "{page}");
    }
}
