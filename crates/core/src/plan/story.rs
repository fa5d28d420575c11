//! Stories: what one entry of `userStories` holds, read field by field so that a reader can name what is wrong and a
//! judge can ask for a single field of a story that is broken elsewhere.

use super::document::{Member, Node, Value};
use super::words::Fault;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// Names of the fields, in the order of the template.
pub(super) const ID: &str = "id";
pub(super) const TITLE: &str = "title";
pub(super) const DESCRIPTION: &str = "description";
pub(super) const CRITERIA: &str = "acceptanceCriteria";
pub(super) const PRIORITY: &str = "priority";
pub(super) const PASSES: &str = "passes";
pub(super) const STATUS: &str = "reviewStatus";
pub(super) const COUNT: &str = "reviewCount";
pub(super) const FEEDBACK: &str = "reviewFeedback";
pub(super) const NOTES: &str = "notes";
pub(super) const DEPENDS: &str = "dependsOn";
pub(super) const SPLIT: &str = "splitFrom";
pub(super) const VERIFY: &str = "verifyCommands";
/// The order in which missing fields are put into a story.
pub(super) const FIELDS: [&str; 13] =
    [ID, TITLE, DESCRIPTION, CRITERIA, PRIORITY, PASSES, STATUS, COUNT, FEEDBACK, NOTES, DEPENDS, SPLIT, VERIFY];
/// The fields in which a review decides.
pub(super) const DECISION: [&str; 4] = [STATUS, PASSES, COUNT, FEEDBACK];

/// The name of a story: 1 to 64 of `[A-Za-z0-9._-]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StoryId(String);

impl StoryId {
    const LONGEST: usize = 64;

    pub fn new(id: &str) -> Option<StoryId> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        ((1..=Self::LONGEST).contains(&id.len()) && id.bytes().all(allowed)).then(|| StoryId(id.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for StoryId {
    type Error = Fault;

    fn try_from(id: String) -> Result<StoryId, Fault> {
        StoryId::new(&id).ok_or(Fault::BadId)
    }
}

impl From<StoryId> for String {
    fn from(id: StoryId) -> String {
        id.0
    }
}

impl std::borrow::Borrow<str> for StoryId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a story stands between an implementer and a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewStatus {
    NeedsReview,
    ChangesRequested,
    Approved,
}

impl ReviewStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            ReviewStatus::NeedsReview => "needs_review",
            ReviewStatus::ChangesRequested => "changes_requested",
            ReviewStatus::Approved => "approved",
        }
    }

    pub(super) fn parse(word: &str) -> Option<ReviewStatus> {
        [ReviewStatus::NeedsReview, ReviewStatus::ChangesRequested, ReviewStatus::Approved]
            .into_iter()
            .find(|status| status.as_str() == word)
    }
}

/// One story of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Story {
    pub id: StoryId,
    pub title: String,
    pub description: String,
    pub criteria: Vec<String>,
    /// 1 is the most urgent.
    pub priority: f64,
    pub passes: bool,
    pub status: Option<ReviewStatus>,
    pub count: u32,
    pub feedback: String,
    pub notes: String,
    pub depends_on: Vec<String>,
    /// The story that this one and others replaced.
    pub split_from: Option<String>,
    pub verify_commands: Vec<String>,
    /// Where it stands in the text of the plan.
    pub(super) span: Range<usize>,
}

impl Story {
    pub fn is_approved(&self) -> bool {
        self.status == Some(ReviewStatus::Approved)
    }

    /// The cap approved it, not a reviewer.
    pub fn is_auto_approved(&self) -> bool {
        self.is_approved() && self.feedback.starts_with(super::AUTO_APPROVED)
    }

    /// Nothing is left to do for it.
    pub fn is_done(&self, skip_review: bool) -> bool {
        self.passes && (skip_review || self.is_approved())
    }
}

/// A field as somebody wrote it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Field<T> {
    Absent,
    Wrong(Fault),
    Is(T),
}

impl<T> Field<T> {
    /// The value; what is absent has the value that an absent field stands for.
    pub(super) fn or(self, absent: T) -> Option<T> {
        match self {
            Field::Is(value) => Some(value),
            Field::Absent => Some(absent),
            Field::Wrong(_) => None,
        }
    }

    pub(super) fn known(self) -> Option<T> {
        if let Field::Is(value) = self { Some(value) } else { None }
    }
}

/// An object that is, or should be, a story.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raw<'n, 'a>(pub(super) &'n Node<'a>);

impl<'n, 'a> Raw<'n, 'a> {
    pub(super) fn members(self) -> &'n [Member<'a>] {
        self.0.members().unwrap_or_default()
    }

    pub(super) fn node(self, key: &str) -> Option<&'n Node<'a>> {
        self.0.get(key)
    }

    fn read<T>(self, key: &str, expected: &'static str, read: impl FnOnce(&'n Node<'a>) -> Option<T>) -> Field<T> {
        match self.node(key) {
            None => Field::Absent,
            Some(node) => read(node).map_or(Field::Wrong(Fault::Type { expected }), Field::Is),
        }
    }

    pub(super) fn string(self, key: &str) -> Field<&'n str> {
        self.read(key, "str", Node::string)
    }

    /// A text that must say something.
    pub(super) fn words(self, key: &str) -> Field<&'n str> {
        match self.string(key) {
            Field::Is(text) if text.trim().is_empty() => Field::Wrong(Fault::Blank),
            field => field,
        }
    }

    pub(super) fn bool(self, key: &str) -> Field<bool> {
        self.read(key, "bool", |node| if let Value::Bool(is) = node.value { Some(is) } else { None })
    }

    pub(super) fn strings(self, key: &str) -> Field<Vec<&'n str>> {
        match self.node(key).map(|node| (node, node.items())) {
            None => Field::Absent,
            Some((_, None)) => Field::Wrong(Fault::Type { expected: "list" }),
            Some((_, Some(items))) => match items.iter().map(Node::string).collect() {
                Some(texts) => Field::Is(texts),
                None => Field::Wrong(Fault::Type { expected: "list of str" }),
            },
        }
    }

    pub(super) fn id(self) -> Field<&'n str> {
        match self.string(ID) {
            Field::Is(id) if StoryId::new(id).is_none() => Field::Wrong(Fault::BadId),
            field => field,
        }
    }

    pub(super) fn criteria(self) -> Field<Vec<&'n str>> {
        match self.strings(CRITERIA) {
            Field::Is(texts) if texts.is_empty() => Field::Wrong(Fault::NoCriteria),
            Field::Is(texts) if texts.iter().any(|text| text.trim().is_empty()) => Field::Wrong(Fault::BlankCriterion),
            field => field,
        }
    }

    /// Shell lines: a blank one would be green for nothing.
    pub(super) fn commands(self) -> Field<Vec<&'n str>> {
        match self.strings(VERIFY) {
            Field::Is(lines) if lines.iter().any(|line| line.trim().is_empty()) => Field::Wrong(Fault::BlankCommand),
            field => field,
        }
    }

    pub(super) fn priority(self) -> Field<f64> {
        let number = |node: &Node<'_>| if let Value::Number(raw) = node.value { raw.parse().ok() } else { None };
        self.read(PRIORITY, "int/float", |node| number(node).filter(|number: &f64| number.is_finite()))
    }

    pub(super) fn count(self) -> Field<u32> {
        let Some(node) = self.node(COUNT) else { return Field::Absent };
        match node.value {
            Value::Number(raw) if raw.contains(['.', 'e', 'E']) => Field::Wrong(Fault::Type { expected: "int" }),
            Value::Number(raw) => match raw.parse::<i64>().ok().and_then(|count| u32::try_from(count).ok()) {
                Some(count) => Field::Is(count),
                None => Field::Wrong(Fault::CountOutOfRange { count: raw.to_owned() }),
            },
            _ => Field::Wrong(Fault::Type { expected: "int" }),
        }
    }

    pub(super) fn status(self) -> Field<Option<ReviewStatus>> {
        match self.node(STATUS).map(|node| &node.value) {
            None => Field::Absent,
            Some(Value::Null) => Field::Is(None),
            Some(Value::String(word)) => match ReviewStatus::parse(word) {
                Some(status) => Field::Is(Some(status)),
                None => Field::Wrong(Fault::BadStatus { word: word.clone().into_owned() }),
            },
            Some(_) => Field::Wrong(Fault::Type { expected: "str or null" }),
        }
    }

    /// Null and "" name nobody.
    pub(super) fn split_from(self) -> Field<Option<&'n str>> {
        match self.node(SPLIT).map(|node| &node.value) {
            None => Field::Absent,
            Some(Value::Null) => Field::Is(None),
            Some(Value::String(id)) if id.is_empty() => Field::Is(None),
            Some(Value::String(id)) => match StoryId::new(id) {
                Some(_) => Field::Is(Some(id)),
                None => Field::Wrong(Fault::BadId),
            },
            Some(_) => Field::Wrong(Fault::Type { expected: "str or null" }),
        }
    }

    /// What is wrong with it, by field, as it stands alone.
    pub(super) fn faults(self) -> Vec<(&'static str, Fault)> {
        let mut faults = Vec::new();
        required(&mut faults, ID, self.id());
        required(&mut faults, TITLE, self.words(TITLE));
        optional(&mut faults, DESCRIPTION, self.string(DESCRIPTION));
        required(&mut faults, CRITERIA, self.criteria());
        required(&mut faults, PRIORITY, self.priority());
        required(&mut faults, PASSES, self.bool(PASSES));
        required(&mut faults, STATUS, self.status());
        required(&mut faults, COUNT, self.count());
        required(&mut faults, FEEDBACK, self.string(FEEDBACK));
        optional(&mut faults, NOTES, self.string(NOTES));
        optional(&mut faults, DEPENDS, self.strings(DEPENDS));
        optional(&mut faults, SPLIT, self.split_from());
        optional(&mut faults, VERIFY, self.commands());
        let blank = |notes: Option<&str>| notes.is_some_and(|notes| notes.trim().is_empty());
        if self.bool(PASSES) == Field::Is(true) && blank(self.string(NOTES).or("")) {
            faults.push((NOTES, Fault::EmptyNotes));
        }
        faults
    }

    /// The story, if every field is right.
    pub(super) fn story(self) -> Option<Story> {
        let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect::<Vec<_>>();
        Some(Story {
            id: StoryId::new(self.id().known()?)?,
            title: self.words(TITLE).known()?.to_owned(),
            description: self.string(DESCRIPTION).or("")?.to_owned(),
            criteria: owned(self.criteria().known()?),
            priority: self.priority().known()?,
            passes: self.bool(PASSES).known()?,
            status: self.status().known()?,
            count: self.count().known()?,
            feedback: self.string(FEEDBACK).known()?.to_owned(),
            notes: self.string(NOTES).or("")?.to_owned(),
            depends_on: owned(self.strings(DEPENDS).or(Vec::new())?),
            split_from: self.split_from().or(None)?.map(str::to_owned),
            verify_commands: owned(self.commands().or(Vec::new())?),
            span: self.0.span.clone(),
        })
    }
}

pub(super) fn required<T>(faults: &mut Vec<(&'static str, Fault)>, field: &'static str, read: Field<T>) {
    match read {
        Field::Absent => faults.push((field, Fault::Missing)),
        read => optional(faults, field, read),
    }
}

pub(super) fn optional<T>(faults: &mut Vec<(&'static str, Fault)>, field: &'static str, read: Field<T>) {
    if let Field::Wrong(fault) = read {
        faults.push((field, fault));
    }
}

/// Who a story is when its id cannot be used: its number in the list.
pub(super) fn label(raw: Raw<'_, '_>, at: usize) -> String {
    match raw.id() {
        Field::Is(id) => id.to_owned(),
        _ => format!("#{}", at + 1),
    }
}
