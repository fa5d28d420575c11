//! What stands in a report: everything that the view has, each thing once, most important first.

use super::{Block, Document, Look, Piece, Section, Table, proofs};
use crate::Style;
use crate::explanation::Explanation;
use crate::liveness::State;
use crate::run_view::AttemptView;
use crate::words::amounts;
use crate::{measures, words};
use ralph_core::observation::Tokens;
use ralph_core::outcome::Verification;
use ralph_core::plan::ReviewStatus;
use ralph_core::plan::stats::{StoryFigures, Totals};
use ralph_core::policy::{LoopKind, PromptSource};
use ralph_core::tests_changed::TestChange;

/// What is said where an agent says nothing: not knowing is not zero.
const NOT_STATED: &str = "not stated";
pub(super) const NONE: &str = "–";

pub fn of(case: &Explanation, style: &Style) -> Document {
    let mut sections = vec![asked(case, style), ended(case, style), conditions(case), tests_changed(case)];
    sections.extend([stories(case), iterations(case)]);
    sections.extend([plots(case), proofs::checks(case), proofs::receipts(case)]);
    sections.extend([version_control(case), waits(case, style), notes(case, style)]);
    // Sections without content are left out.
    sections.retain(|section| !section.blocks.is_empty());
    Document { title: format!("Run {}: {}", case.row.run, case.state.standing(&case.row)), sections }
}

pub(super) fn section(heading: &'static str, blocks: Vec<Block>) -> Section {
    Section { heading, blocks }
}

pub(super) fn table(heads: &[&str], rows: Vec<Vec<Piece>>) -> Vec<Block> {
    let heads = heads.iter().map(|head| Piece::plain(*head)).collect();
    if rows.is_empty() { Vec::new() } else { vec![Block::Table(Table { heads, rows })] }
}

/// The stories of a plan: what became of each, and what it took.
fn stories(case: &Explanation) -> Section {
    let figures = case.view.machine.story_figures();
    let plan = case.view.machine.plan();
    let row = |story: &StoryFigures| {
        let status = plan.and_then(|plan| plan.story(&story.id)).and_then(|story| story.status);
        let state = match (story.done, status) {
            (true, _) if story.auto_approved => Piece::new(Look::Unsure, "approved at the cap"),
            (true, Some(status)) => Piece::new(Look::Good, status.as_str()),
            (true, None) => Piece::new(Look::Good, "passes"),
            (false, status) => Piece::plain(status.map_or("not begun", ReviewStatus::as_str)),
        };
        vec![
            Piece::code(story.id.as_str()),
            Piece::plain(story.title.as_str()),
            state,
            Piece::plain(story.reviews.to_string()),
            Piece::plain(story.sent_back.to_string()),
            Piece::plain(story.iterations.to_string()),
            Piece::plain(cost(story.cost)),
        ]
    };
    let mut blocks = table(
        &["story", "title", "state", "reviews", "sent back", "iterations", "cost"],
        figures.iter().map(row).collect(),
    );
    let totals = Totals::of(&figures);
    if let Some(rework) = totals.rework_percent() {
        let auto = Piece::plain(totals.auto_approved.to_string());
        blocks.push(Block::Facts(vec![
            ("rework rate", Piece::plain(format!("{rework} %"))),
            ("approved at the cap", auto),
        ]));
    }
    section("Stories", blocks)
}

fn asked(case: &Explanation, style: &Style) -> Section {
    let Explanation { view, row, .. } = case;
    let policy = view.machine.policy();
    let mut agent = policy.agent.command.clone();
    if !policy.agent.model.is_empty() {
        agent = format!("{agent} ({})", policy.agent.model);
    }
    let mut facts = vec![("task", Piece::plain(row.task.as_str()))];
    if let PromptSource::File(path) = &policy.prompt {
        facts.push(("prompt", Piece::code(path.as_str())));
    }
    facts.extend([
        ("project", Piece::code(view.started.root.as_str())),
        ("agent", Piece::code(agent)),
        ("limits", Piece::plain(words::limits(policy))),
        ("began", Piece::plain(style.zone.local(row.started_at))),
        ("ralph", Piece::plain(view.started.version.as_str())),
    ]);
    facts.extend((!policy.config_hash.is_empty()).then(|| ("settings", Piece::code(policy.config_hash.as_str()))));
    facts.extend(row.parent.as_ref().map(|parent| ("inside run", Piece::code(parent.as_str()))));
    let mut blocks = vec![Block::Facts(facts)];
    if !view.asked().is_empty() {
        blocks.push(Block::Quote(view.asked().to_owned()));
    }
    section("What was asked", blocks)
}

fn ended(case: &Explanation, style: &Style) -> Section {
    let Explanation { view, row, state, .. } = case;
    let verified = match (state, row.verification) {
        (State::Running, _) => Piece::new(Look::Unsure, "not yet: it is running"),
        (_, Some(Verification::Verified)) => {
            Piece::new(Look::Good, "yes: checks that ralph executed passed on the accepted files")
        }
        (_, Some(how @ (Verification::Unpinned | Verification::Untrusted))) => {
            Piece::new(Look::Unsure, format!("no: {}", how.standing()))
        }
        _ => Piece::new(Look::Bad, "no"),
    };
    // A supervised run verifies nothing.
    let (steps, verified) = match row.kind {
        LoopKind::Prompt | LoopKind::Plan => ("iterations", Some(verified)),
        LoopKind::Supervise => ("starts", None),
    };
    let code = row.exit_code.filter(|_| *state != State::Running);
    let mut facts = vec![
        ("state", Piece::plain(case.state.standing(&case.row))),
        ("why", Piece::plain(case.message())),
        ("exit code", Piece::plain(code.map_or(NONE.to_owned(), |code| code.to_string()))),
        (steps, Piece::plain(format!("{} of {}", view.judged(), row.max_iterations))),
        ("time", Piece::plain(case.worked.to_string())),
        ("cost", Piece::plain(cost(row.cost_usd))),
        ("tokens", Piece::plain(tokens(Some(row.tokens).filter(|tokens| tokens.total() > 0)))),
    ];
    facts.extend(verified.map(|verified| ("verified", verified)));
    if !view.waits.is_empty() {
        facts.push(("waited", Piece::plain(view.waited().to_string())));
    }
    let doing = if *state == State::Running { "now" } else { "in flight" };
    facts.extend(case.in_flight(style).map(|words| (doing, Piece::plain(words))));
    facts.extend(case.on_resume().map(|words| ("resume", Piece::plain(words))));
    let blocks = vec![
        Block::Facts(facts),
        Block::Line(vec![Piece::plain("How it came to that:")]),
        Block::List(case.causes().into_iter().map(Piece::plain).collect()),
        Block::Line(vec![Piece::plain("What to type next:")]),
        Block::List(case.next("report", style).into_iter().map(Piece::code).collect()),
    ];
    section("How it ended", blocks)
}

fn conditions(case: &Explanation) -> Section {
    let row = |condition: &crate::conditions::Condition| {
        let met = match condition.met {
            Some(true) => Piece::new(Look::Good, "yes"),
            Some(false) => Piece::new(Look::Bad, "no"),
            None => Piece::new(Look::Unsure, "not looked at"),
        };
        vec![Piece::plain(condition.name.as_str()), met, Piece::plain(condition.detail.as_str())]
    };
    let mut blocks = table(&["condition", "met", "how that is known"], case.conditions.iter().map(row).collect());
    let missing = case.missing();
    if !missing.is_empty() {
        blocks.push(Block::Line(vec![Piece::plain("To be complete:")]));
        blocks.push(Block::List(missing.iter().map(|condition| Piece::plain(condition.needed.as_str())).collect()));
    }
    section("What complete needs", blocks)
}

fn tests_changed(case: &Explanation) -> Section {
    let changed = case.view.outcome().and_then(|outcome| outcome.tests_changed.as_ref());
    let changed = changed.filter(|_| case.tests_changed().is_some());
    let files = changed.map(|changed| changed.files.as_slice()).unwrap_or_default();
    let row = |file: &TestChange| {
        let how = if file.deleted { "deleted" } else { "changed" };
        vec![Piece::code(file.path.as_str()), Piece::plain(how)]
    };
    let mut blocks = table(&["test", "what happened to it"], files.iter().map(row).collect());
    let more = changed.map_or(0, |changed| changed.count.saturating_sub(files.len() as u64));
    blocks.extend((more > 0).then(|| Block::Line(vec![Piece::plain(format!("and {more} more"))])));
    section("Existing tests that changed", blocks)
}

fn iterations(case: &Explanation) -> Section {
    let row = |attempt: &AttemptView| {
        let judged = attempt.judged.as_ref();
        let verdict = words::verdict(attempt);
        let look = if verdict == "accepted" { Look::Good } else { Look::Plain };
        let reasons = judged.map(|judged| crate::json::sentences(&judged.reasons).join("; ")).unwrap_or_default();
        let leaked = attempt.agent.as_ref().map(|agent| agent.seen.process.leaked_count);
        vec![
            Piece::plain(number(attempt.iteration, attempt.attempt)),
            Piece::code(words::program(attempt)),
            Piece::plain(attempt.duration().map_or(NONE.to_owned(), |span| span.to_string())),
            Piece::plain(judged.map_or(NONE, |judged| words::claim(&judged.claim))),
            Piece::new(look, verdict),
            tally(attempt),
            Piece::plain(cost(attempt.cost_usd())),
            Piece::plain(tokens(attempt.tokens())),
            Piece::plain(leaked.map_or(NONE.to_owned(), |leaked| leaked.to_string())),
            Piece::plain(reasons),
        ]
    };
    let heads = ["iteration", "agent", "time", "claim", "verdict", "checks", "cost", "tokens", "leaked", "why"];
    section("Iterations", table(&heads, case.view.attempts.iter().map(row).collect()))
}

fn plots(case: &Explanation) -> Section {
    let attempts = case.view.attempts.as_slice();
    if attempts.is_empty() {
        return section("Plots", Vec::new());
    }
    let unstated = || Block::Line(vec![Piece::plain("Neither cost nor tokens were stated.")]);
    let mut blocks = vec![Block::Plot(measures::time(attempts))];
    blocks.push(measures::spent(attempts).map_or_else(unstated, Block::Plot));
    blocks.extend(measures::failing(attempts).map(Block::Plot));
    section("Plots", blocks)
}

pub(super) fn number(iteration: u32, attempt: u32) -> String {
    match (iteration, attempt) {
        (0, _) => "before the first".to_owned(),
        (_, 0 | 1) => iteration.to_string(),
        _ => format!("{iteration}, attempt {attempt}"),
    }
}

fn tally(attempt: &AttemptView) -> Piece {
    match attempt.tally() {
        (0, 0) => Piece::plain(NONE),
        (passed, 0) => Piece::new(Look::Good, format!("{passed} passed")),
        (passed, failed) => Piece::new(Look::Bad, format!("{failed} failed, {passed} passed")),
    }
}

fn cost(cost: Option<f64>) -> String {
    cost.map_or(NOT_STATED.to_owned(), words::money)
}

fn tokens(tokens: Option<Tokens>) -> String {
    tokens.map_or(NOT_STATED.to_owned(), amounts::in_and_out)
}

fn version_control(case: &Explanation) -> Section {
    let mut rows = Vec::new();
    for attempt in &case.view.attempts {
        for task in &attempt.scm {
            let (look, how) = if task.passed { (Look::Good, "done") } else { (Look::Bad, "failed") };
            rows.push(vec![
                Piece::plain(number(attempt.iteration, attempt.attempt)),
                Piece::code(task.name.as_str()),
                Piece::new(look, how),
                Piece::plain(task.exit_code.map_or(NONE.to_owned(), |code| code.to_string())),
                Piece::plain(task.duration.to_string()),
                Piece::plain(task.detail.as_str()),
            ]);
        }
    }
    section("Version control", table(&["iteration", "task", "result", "exit code", "time", "detail"], rows))
}

fn waits(case: &Explanation, style: &Style) -> Section {
    let rows = case.view.waits.iter().map(|wait| {
        let waited = wait.waited.map_or("its end was not seen".to_owned(), |waited| waited.to_string());
        vec![
            Piece::plain(wait.iteration.to_string()),
            Piece::plain(style.zone.local(wait.at)),
            Piece::plain(style.zone.local(wait.until)),
            Piece::plain(waited),
            Piece::plain(wait.why.as_str()),
        ]
    });
    section("Waits", table(&["iteration", "began", "until", "waited", "for what"], rows.collect()))
}

fn notes(case: &Explanation, style: &Style) -> Section {
    let notes = case.view.notes.iter();
    let notes: Vec<Piece> =
        notes.map(|(at, note)| Piece::plain(format!("{}: {note}", style.zone.local(*at)))).collect();
    section("Notes", if notes.is_empty() { Vec::new() } else { vec![Block::List(notes)] })
}
