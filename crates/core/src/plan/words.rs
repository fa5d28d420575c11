//! Every sentence about plans, made from types: what is wrong with a file ([`Problem`]), which edit of an agent was
//! undone and why ([`Violation`]), what a person changed ([`Change`]).

use super::Mode;
use super::document::Syntax;
use super::story::StoryId;
use crate::text;
use serde::{Deserialize, Serialize};

/// A value in a sentence is a reminder, not a quotation.
const LONGEST_VALUE: usize = 120;
/// Sentences of one answer to an agent: more would bury the first.
const MOST_SENTENCES: usize = 20;

/// Something that a plan file must not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Id of the story, or its number in the list as `#3`.
    pub story: Option<String>,
    pub field: Option<String>,
    pub what: Fault,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("is not there")]
    Gone,
    #[error("is a symbolic link, not a file")]
    Link,
    #[error("is a directory, not a file")]
    Directory,
    #[error("could not be read: {0}")]
    Unreadable(String),
    #[error("is empty")]
    Empty,
    #[error("has {bytes} bytes; a plan has at most {}", super::MOST_BYTES)]
    TooLarge { bytes: u64 },
    #[error("is not UTF-8 (byte {at})")]
    NotUtf8 { at: usize },
    #[error("is not JSON: line {}, column {}: {}", .0.line, .0.column, .0.what)]
    Syntax(Syntax),
    #[error("must be a JSON object")]
    NotAnObject,
    #[error("missing required field")]
    Missing,
    #[error("wrong type")]
    Type { expected: &'static str },
    #[error("must not be blank")]
    Blank,
    #[error("must be 1 to 64 of the characters A-Z a-z 0-9 . _ -")]
    BadId,
    #[error("duplicate id")]
    DoubledId,
    #[error("stands twice")]
    DoubledKey,
    #[error("must not be empty")]
    NoCriteria,
    #[error("must not hold an empty criterion")]
    BlankCriterion,
    #[error("must not hold an empty command")]
    BlankCommand,
    #[error("is '{word}'")]
    BadStatus { word: String },
    #[error("is {count}, must be an integer from 0")]
    CountOutOfRange { count: String },
    #[error("empty notes")]
    EmptyNotes,
    #[error("names '{id}', which is not in the plan")]
    UnknownDependency { id: String },
    #[error("is a cycle: {}", shown(&.0.join(" → ")))]
    Cycle(Vec<String>),
    #[error("names the story itself")]
    SplitFromItself,
    #[error("names '{id}', which is still in the plan")]
    SplitFromPresent { id: String },
    #[error("not approved")]
    NotApproved { status: &'static str },
    #[error("not passing")]
    NotPassing,
    #[error("no feedback")]
    NoFeedback,
    #[error("above the cap")]
    CountAboveCap { count: u32, most: u32 },
}

impl Problem {
    pub(super) fn file(what: Fault) -> Problem {
        Problem { story: None, field: None, what }
    }

    pub(super) fn top(field: &str, what: Fault) -> Problem {
        Problem { story: None, field: Some(field.to_owned()), what }
    }

    pub(super) fn of(story: &str, field: &str, what: Fault) -> Problem {
        Problem { story: Some(story.to_owned()), field: Some(field.to_owned()), what }
    }

    /// The sentence, without the path of the file: only the caller knows it.
    pub fn words(&self) -> String {
        let field = self.field.as_deref().map(shown).unwrap_or_default();
        let Some(story) = self.story.as_deref().map(shown) else {
            return match &self.what {
                Fault::Missing => format!("tasks.json missing required top-level field: '{field}'"),
                Fault::Type { expected } => format!("tasks.json: field '{field}' has wrong type (expected {expected})"),
                what if field.is_empty() => format!("tasks.json {what}"),
                what => format!("tasks.json: '{field}' {what}"),
            };
        };
        match &self.what {
            Fault::Missing => format!("Story {story}: missing required field '{field}'"),
            Fault::Type { expected } => format!("Story {story}: field '{field}' has wrong type (expected {expected})"),
            Fault::DoubledId => format!("Duplicate story ID: '{story}'"),
            Fault::EmptyNotes => empty_notes(&story),
            Fault::BadStatus { word } => format!(
                "Story {story}: '{field}' is '{}', must be null or one of: needs_review, changes_requested, approved",
                shown(word)
            ),
            Fault::NotApproved { status } => format!(
                "Story {story} has passes=true but reviewStatus is '{status}', not 'approved'. Only review iterations \
                 may approve stories. Set passes back to false or complete the review cycle."
            ),
            Fault::NotPassing => format!(
                "Story {story} has reviewStatus 'approved' but passes=false: the two are out of sync. An approved \
                 story passes; a story that does not pass is not approved."
            ),
            Fault::NoFeedback => format!(
                "Story {story} has reviewStatus 'changes_requested' but empty reviewFeedback: feedback required, to \
                 say what must be changed."
            ),
            Fault::CountAboveCap { count, most } => {
                format!(
                    "Story {story} has reviewCount={count} which exceeds reviewCap+1 ({most}). Possible corruption."
                )
            }
            what if field.is_empty() => format!("Story {story} {what}"),
            what => format!("Story {story}: '{field}' {}", text::without_controls(&what.to_string())),
        }
    }
}

fn empty_notes(story: &str) -> String {
    format!("Story {story}: has passes=true but empty 'notes' — document what was done")
}

/// A difference between two states of a plan, in one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Id of the story, or its number in the list as `#3`; absent for the plan itself.
    pub story: Option<String>,
    /// Empty if it is about the story or the file as a whole.
    pub field: String,
    /// Values as JSON, shortened; absent where there was nothing.
    pub from: Option<String>,
    pub to: Option<String>,
}

impl Change {
    pub(super) fn new(story: Option<&str>, field: &str, from: Option<&str>, to: Option<&str>) -> Change {
        let own = |value: Option<&str>| value.map(shown);
        Change { story: story.map(shown), field: shown(field), from: own(from), to: own(to) }
    }

    /// `Story US-001: priority 1 → 2`, `Story US-004 was added`.
    pub fn words(&self) -> String {
        let who = self.story.as_ref().map_or("tasks.json".to_owned(), |story| format!("Story {story}"));
        match (self.field.is_empty(), &self.from, &self.to) {
            (true, None, _) => format!("{who} was added"),
            (true, _, None) => format!("{who} was removed"),
            _ => format!("{who}: {}", self.step()),
        }
    }

    fn step(&self) -> String {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        format!("{} {} → {}", self.field, value(&self.from), value(&self.to))
    }
}

/// An edit of an agent that was undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    #[serde(flatten)]
    pub change: Change,
    pub rule: Rule,
}

/// Which law an edit broke.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "law")]
pub enum Rule {
    /// The last good text was put back whole.
    File {
        why: String,
    },
    /// `passes` or `approved` outside a review.
    Approval {
        mode: Mode,
    },
    /// Another review field than those that the mode may set.
    ReviewField {
        mode: Mode,
    },
    FeedbackNotCleared,
    /// Under skip-review only the story of the iteration may pass.
    PassesOther {
        worked: StoryId,
    },
    /// A part of a review's decision is illegal.
    Decision {
        why: ReviewFault,
    },
    /// Falls with another part of the same decision.
    WithDecision,
    DidNotEndWell,
    PrefixBelowCap,
    /// A review changed something else than its decision and notes.
    ReviewChanges {
        reviewed: StoryId,
    },
    /// Nobody may change this field during a run.
    Frozen,
    CriteriaWeakened,
    /// An unknown field of a story that was not worked on.
    OthersField,
    /// No value for this field.
    Invalid {
        why: String,
    },
    EmptyNotes,
    DoubledKey,
    /// A story with unusable content was not there before, and is not there now.
    Unusable {
        why: String,
    },
    DoubledId,
    Renamed {
        from: StoryId,
    },
    Vanished,
    SplitIncomplete {
        missing: String,
    },
    SplitOutsideImplement {
        mode: Mode,
    },
    SplitFinished,
    SplitTooFine {
        most: usize,
    },
    /// Part of a split that was undone.
    PartOf {
        story: StoryId,
    },
    /// `splitFrom` names no story that this iteration replaced.
    SplitsNothing,
    /// A new story must start clean.
    NewStory,
    UnknownDependency {
        id: String,
    },
    Cycle {
        path: Vec<String>,
    },
}

/// What is wrong with a review's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewFault {
    NotAwaited,
    Count,
    Status,
    OutOfSync,
    NoFeedback,
    NotText,
    EmptyNotes,
}

impl Violation {
    /// The sentence for journal, prompt and hook. It names story and field.
    pub fn words(&self) -> String {
        let Violation { change, rule } = self;
        let story = change.story.as_deref().unwrap_or("tasks.json");
        let who = change.story.as_ref().map_or("tasks.json".to_owned(), |story| format!("Story {story}"));
        let (field, step) = (&change.field, change.step());
        let to = change.to.as_deref().unwrap_or("nothing");
        let about = |law: String| format!("{who}: '{field}' {law} ({step}).");
        let illegal = |law: String| format!("{law} Story {story} had illegal transition: {step}.");
        let review = |why: String| format!("Review iteration made illegal transition on story {story}: {why}.");
        let gone = |law: &str| format!("{who} was removed: a story may disappear only as a split{law}.");
        match rule {
            Rule::File { why } => format!("tasks.json {why}. The last good plan was put back."),
            Rule::Approval { mode } => approval(*mode, story, &step),
            Rule::ReviewField { mode } => {
                illegal(format!("{} iterations cannot change {field} like this.", mode.title()))
            }
            Rule::PassesOther { worked } => {
                illegal(format!("This iteration worked on story {worked}: only that story may pass."))
            }
            Rule::FeedbackNotCleared => format!(
                "{who}: feedback is cleared on resubmission. Set reviewFeedback to \"\" together with reviewStatus \
                 'needs_review' ({step})."
            ),
            Rule::Decision { why } => review(why.words(story, &step)),
            Rule::WithDecision => review(format!("{step} falls with the rest of the decision")),
            Rule::DidNotEndWell => format!("{who}: the agent did not end well, so it decided nothing ({step})."),
            Rule::PrefixBelowCap => {
                format!(
                    "{who}: '{field}' may begin with {} only at the review cap. It was removed.",
                    super::AUTO_APPROVED
                )
            }
            Rule::ReviewChanges { reviewed } if story == reviewed.as_str() => {
                review(format!("a review changes only its decision and notes ({step})"))
            }
            Rule::ReviewChanges { reviewed } => {
                review(format!("a review may only modify one story, and this one reviews {reviewed} ({step})"))
            }
            Rule::Frozen => about("must not change during a run".to_owned()),
            Rule::CriteriaWeakened => about("may get more criteria, but none may be reworded or removed".to_owned()),
            Rule::OthersField => about("may change only in an iteration that works on this story".to_owned()),
            Rule::Invalid { why } => format!("{why} ({step})."),
            Rule::EmptyNotes => empty_notes(story),
            Rule::DoubledKey => format!("{who}: the key '{field}' stands twice."),
            Rule::Unusable { why } => format!("{why}. Story {story} was not added."),
            Rule::DoubledId => format!("Duplicate story ID: '{story}'. The second one was removed."),
            Rule::Renamed { from } => {
                format!("{who} has the title of {from}, which is gone: ids must not be renamed. {from} was put back.")
            }
            Rule::Vanished => gone(", replaced by new stories that name it in 'splitFrom'"),
            Rule::SplitOutsideImplement { mode } => gone(&format!(" in an implement iteration, and this is {mode}")),
            Rule::SplitFinished => gone(" of unfinished work, and it is finished"),
            Rule::SplitTooFine { most } => gone(&format!(" into at most {most} parts")),
            Rule::SplitIncomplete { missing } => format!(
                "The split of story {story} was undone: each of its criteria and verify commands must stand verbatim in \
                 some part. Missing: {missing}."
            ),
            Rule::PartOf { story: whole } => format!("{who} was removed with the split of {whole} that was undone."),
            Rule::SplitsNothing => format!("{who}: 'splitFrom' is {to}, but this iteration replaced no such story."),
            Rule::NewStory if field == super::story::PASSES => {
                format!("New story {story} must start with passes=false (got {to}): no story arrives pre-approved.")
            }
            Rule::NewStory => {
                let start = change.from.as_deref().unwrap_or("nothing");
                format!("New story {story} must start with {field}={start} (got {to}).").replace('"', "'")
            }
            Rule::UnknownDependency { id } => about(format!("names '{}', which is not in the plan", shown(id))),
            Rule::Cycle { path } => about(format!("made a cycle: {}", shown(&path.join(" → ")))),
        }
    }
}

/// In the seed's words.
fn approval(mode: Mode, story: &str, step: &str) -> String {
    if mode == Mode::ReviewFix {
        return format!(
            "Review-fix iterations cannot approve stories. Story {story} must go back to needs_review for re-review. \
             Illegal transition: {step}."
        );
    }
    format!(
        "Implement iterations cannot set passes=true or approve stories. Only review iterations may approve. Story \
         {story} had illegal transition: {step}."
    )
}

impl ReviewFault {
    fn words(self, story: &str, step: &str) -> String {
        match self {
            ReviewFault::NotAwaited => format!("it was not awaiting review ({step})"),
            ReviewFault::Count => format!("a review must increment reviewCount by exactly 1 ({step})"),
            ReviewFault::Status => format!("a review ends with 'approved' or 'changes_requested' ({step})"),
            ReviewFault::OutOfSync => format!("reviewStatus 'approved' and passes=true belong together ({step})"),
            ReviewFault::NoFeedback => {
                format!("'changes_requested' needs a reviewFeedback that says what must be changed ({step})")
            }
            ReviewFault::NotText => format!("reviewFeedback must be a text ({step})"),
            ReviewFault::EmptyNotes => empty_notes(story),
        }
    }
}

/// A value or name from a file in a sentence: short and on one line.
pub(super) fn shown(value: &str) -> String {
    let mut line = String::with_capacity(value.len().min(LONGEST_VALUE * 4));
    for word in text::prefix(value, LONGEST_VALUE * 8).split_whitespace() {
        line.push_str(if line.is_empty() { "" } else { " " });
        line.push_str(word);
    }
    text::cut(&text::without_controls(&line), LONGEST_VALUE, "…")
}

/// Sentences under each other, of which the first are enough.
pub(super) fn joined(sentences: &[String]) -> String {
    let mut lines: Vec<_> = sentences.iter().take(MOST_SENTENCES).cloned().collect();
    if let Some(more) = sentences.len().checked_sub(MOST_SENTENCES).filter(|more| *more > 0) {
        lines.push(format!("… and {more} more."));
    }
    lines.join("\n")
}
