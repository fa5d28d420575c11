//! A plan that holds together: `tasks.json` read strictly, with every problem named.

use super::document::{Document, Edits, Fix, Member, Node, names_twice};
use super::graph::Graph;
use super::story::{DEPENDS, Field, ID, Raw, SPLIT, Story, StoryId, VERIFY, label, optional, required};
use super::words::{Change, Fault, Problem};
use super::{ReviewStatus, Rules};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// A file larger than this is refused before it is parsed: 10,000 stories have about 8 MB.
pub const MOST_BYTES: u64 = 16 * 1024 * 1024;

pub(super) const PROJECT: &str = "project";
pub(super) const BRANCH: &str = "branchName";
pub(super) const STORIES: &str = "userStories";
const DESCRIPTION: &str = "description";
/// Fields of the file that nobody may change during a run.
pub(super) const FROZEN: [&str; 4] = [PROJECT, BRANCH, DESCRIPTION, VERIFY];

/// The stories and their state, with the text that they stand in. Cheap to clone; in the journal it is its text.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Plan(Arc<Inner>);

struct Inner {
    text: String,
    project: String,
    branch: Option<String>,
    description: String,
    verify_commands: Vec<String>,
    stories: Vec<Story>,
    by_id: HashMap<StoryId, usize>,
    /// The file's own fields, by where their values stand.
    fields: Vec<(String, Range<usize>)>,
}

/// What stands where `tasks.json` should stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen<'a> {
    Bytes(&'a [u8]),
    Gone,
    Link,
    Directory,
    /// Larger than [`MOST_BYTES`]: nobody reads it.
    TooLarge(u64),
    /// In the words of the system.
    Unreadable(&'a str),
}

impl<'a> Seen<'a> {
    /// The text, if there is one.
    pub(super) fn text(self) -> Result<&'a str, Fault> {
        match self {
            Seen::Bytes(bytes) if bytes.len() as u64 > MOST_BYTES => Err(Fault::TooLarge { bytes: bytes.len() as u64 }),
            Seen::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) if text.trim_start_matches('\u{feff}').trim().is_empty() => Err(Fault::Empty),
                Ok(text) => Ok(text),
                Err(error) => Err(Fault::NotUtf8 { at: error.valid_up_to() }),
            },
            Seen::Gone => Err(Fault::Gone),
            Seen::Link => Err(Fault::Link),
            Seen::Directory => Err(Fault::Directory),
            Seen::TooLarge(bytes) => Err(Fault::TooLarge { bytes }),
            Seen::Unreadable(why) => Err(Fault::Unreadable(why.to_owned())),
        }
    }
}

impl Plan {
    /// Reads a file: its form, ids, dependencies. All problems, in the order of the file. The review fields are
    /// looked at by [`Plan::broken_invariants`], which knows the rules.
    pub fn read(bytes: &[u8]) -> Result<Plan, Vec<Problem>> {
        Plan::seen(Seen::Bytes(bytes))
    }

    /// The same for whatever stands at the path.
    pub fn seen(seen: Seen<'_>) -> Result<Plan, Vec<Problem>> {
        let text = seen.text().map_err(|fault| vec![Problem::file(fault)])?;
        let document = Document::parse(text).map_err(|syntax| vec![Problem::file(Fault::Syntax(syntax))])?;
        Plan::of(&document)
    }

    pub(super) fn of(document: &Document<'_>) -> Result<Plan, Vec<Problem>> {
        let root = &document.root;
        let Some(members) = root.members() else { return Err(vec![Problem::file(Fault::NotAnObject)]) };
        let mut problems: Vec<_> = doubled(members).map(|key| Problem::top(key, Fault::DoubledKey)).collect();
        let top = Raw(root);
        let mut faults = Vec::new();
        required(&mut faults, PROJECT, top.string(PROJECT));
        optional(&mut faults, BRANCH, top.string(BRANCH));
        required(&mut faults, DESCRIPTION, top.string(DESCRIPTION));
        optional(&mut faults, VERIFY, top.commands());
        problems.extend(faults.into_iter().map(|(field, fault)| Problem::top(field, fault)));
        let stories = root.get(STORIES);
        let Some(items) = stories.and_then(Node::items) else {
            let fault = if stories.is_none() { Fault::Missing } else { Fault::Type { expected: "list" } };
            problems.push(Problem::top(STORIES, fault));
            return Err(problems);
        };
        let mut read = Vec::with_capacity(items.len());
        let mut by_id = HashMap::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let raw = Raw(item);
            let Some(members) = item.members() else {
                problems.push(Problem::of(&label(raw, at), "", Fault::NotAnObject));
                continue;
            };
            if item.doubled {
                let keys = doubled(members)
                    .chain(members.iter().filter(|member| member.value.doubled).map(|member| &*member.key));
                problems.extend(keys.map(|key| Problem::of(&label(raw, at), key, Fault::DoubledKey)));
            }
            let Some(story) = raw.story().filter(|story| !story.passes || !story.notes.trim().is_empty()) else {
                problems
                    .extend(raw.faults().into_iter().map(|(field, fault)| Problem::of(&label(raw, at), field, fault)));
                continue;
            };
            if by_id.insert(story.id.clone(), read.len()).is_some() {
                problems.push(Problem::of(story.id.as_str(), ID, Fault::DoubledId));
            }
            read.push(story);
        }
        let nested = |member: &&Member<'_>| member.key != STORIES && member.value.doubled;
        problems.extend(members.iter().filter(nested).map(|member| Problem::top(&member.key, Fault::DoubledKey)));
        problems.extend(relations(items));
        if !problems.is_empty() {
            return Err(problems);
        }
        let own = |texts: Option<Vec<&str>>| texts.unwrap_or_default().into_iter().map(str::to_owned).collect();
        Ok(Plan(Arc::new(Inner {
            text: document.text.to_owned(),
            project: top.string(PROJECT).known().unwrap_or_default().to_owned(),
            branch: top.string(BRANCH).known().map(str::to_owned),
            description: top.string(DESCRIPTION).known().unwrap_or_default().to_owned(),
            verify_commands: own(top.commands().known()),
            stories: read,
            by_id,
            fields: members.iter().map(|member| (member.key.to_string(), member.value.span.clone())).collect(),
        })))
    }

    /// The whole file, as it must stand.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    pub fn project(&self) -> &str {
        &self.0.project
    }

    pub fn branch(&self) -> Option<&str> {
        self.0.branch.as_deref()
    }

    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// Shell lines that must be green for every story.
    pub fn verify_commands(&self) -> &[String] {
        &self.0.verify_commands
    }

    /// In the order of the file.
    pub fn stories(&self) -> &[Story] {
        &self.0.stories
    }

    pub fn story(&self, id: &str) -> Option<&Story> {
        self.0.by_id.get(id).and_then(|at| self.0.stories.get(*at))
    }

    pub(super) fn fields(&self) -> &[(String, Range<usize>)] {
        &self.0.fields
    }

    /// Worth a line, no reason to stop.
    pub fn warnings(&self) -> Vec<Problem> {
        let branch = self.0.branch.is_none().then(|| Problem::top(BRANCH, Fault::Missing));
        let present = self.stories().iter().filter_map(|story| {
            let id = story.split_from.as_ref().filter(|id| self.story(id).is_some())?;
            Some(Problem::of(story.id.as_str(), SPLIT, Fault::SplitFromPresent { id: id.clone() }))
        });
        branch.into_iter().chain(present).collect()
    }

    /// Review fields that contradict each other. A count may be as high as in the plan that was `known` before, or
    /// one above the cap.
    pub fn broken_invariants(&self, rules: Rules, known: Option<&Plan>) -> Vec<Problem> {
        let mut problems = Vec::new();
        if rules.skip_review {
            return problems;
        }
        let most = rules.cap.get().saturating_add(1);
        for story in self.stories() {
            let mut add = |field, fault| problems.push(Problem::of(story.id.as_str(), field, fault));
            if story.passes && !story.is_approved() {
                add("passes", Fault::NotApproved { status: story.status.map_or("null", ReviewStatus::as_str) });
            }
            if story.is_approved() && !story.passes {
                add("reviewStatus", Fault::NotPassing);
            }
            if story.status == Some(ReviewStatus::ChangesRequested) && story.feedback.trim().is_empty() {
                add("reviewFeedback", Fault::NoFeedback);
            }
            let was = known.and_then(|known| known.story(story.id.as_str())).map_or(0, |known| known.count);
            if story.count > most.max(was) {
                add("reviewCount", Fault::CountAboveCap { count: story.count, most });
            }
        }
        problems
    }

    /// The plan with fields of some stories set to other values, and its text otherwise as it was.
    pub(super) fn with(&self, stories: &[(&str, Vec<(&'static str, String)>)]) -> Option<Plan> {
        let mut edits = Edits::default();
        for (id, fields) in stories {
            let document = Document::parse_at(self.text(), self.story(id)?.span.start)?;
            let fixes: Vec<_> = fields.iter().map(|(key, raw)| ((*key).to_owned(), Fix::Set(raw.clone()))).collect();
            edits.object(self.text(), &document.root, &fixes, &super::story::FIELDS.map(str::to_owned));
        }
        Plan::read(edits.apply(self.text()).as_bytes()).ok()
    }

    /// What a person changed between two states, story by story and field by field.
    pub fn changes(&self, after: &Plan) -> Vec<Change> {
        let mut changes = Vec::new();
        let (before, now) = (Document::parse(self.text()), Document::parse(after.text()));
        let (Ok(before), Ok(now)) = (before, now) else { return changes };
        fields(&mut changes, None, (&before, &before.root), (&now, &now.root));
        for story in self.stories() {
            let id = story.id.as_str();
            match after.story(id) {
                None => changes.push(Change::new(Some(id), "", Some(&story.title), None)),
                Some(same) if self.text().get(story.span.clone()) == after.text().get(same.span.clone()) => {}
                Some(other) => {
                    let one = Document::parse_at(self.text(), story.span.start);
                    let two = Document::parse_at(after.text(), other.span.start);
                    if let (Some(one), Some(two)) = (one, two) {
                        fields(&mut changes, Some(id), (&one, &one.root), (&two, &two.root));
                    }
                }
            }
        }
        let new = after.stories().iter().filter(|story| self.story(story.id.as_str()).is_none());
        changes.extend(new.map(|story| Change::new(Some(story.id.as_str()), "", None, Some(&story.title))));
        changes
    }
}

/// Differences between the fields of two objects, less the list of stories.
fn fields(
    changes: &mut Vec<Change>,
    story: Option<&str>,
    before: (&Document<'_>, &Node<'_>),
    after: (&Document<'_>, &Node<'_>),
) {
    let map = |node| -> HashMap<String, _> {
        members(node).iter().map(|member| (member.key.to_string(), &member.value)).collect()
    };
    fn members<'n, 'a>(node: &'n Node<'a>) -> &'n [Member<'a>] {
        node.members().unwrap_or_default()
    }
    let (old, new): (HashMap<_, &Node<'_>>, HashMap<_, &Node<'_>>) = (map(before.1), map(after.1));
    for member in members(before.1).iter().filter(|member| story.is_some() || member.key != STORIES) {
        let now = new.get(&*member.key);
        if !now.is_some_and(|now| now.same(&member.value)) {
            let to = now.map(|now| after.0.raw(now));
            changes.push(Change::new(story, &member.key, Some(before.0.raw(&member.value)), to));
        }
    }
    for member in members(after.1).iter().filter(|member| !old.contains_key(&*member.key)) {
        changes.push(Change::new(story, &member.key, None, Some(after.0.raw(&member.value))));
    }
}

/// Keys that an object names again.
pub(super) fn doubled<'n>(members: &'n [Member<'_>]) -> impl Iterator<Item = &'n str> {
    let mut seen = HashSet::new();
    let looked: &[Member<'_>] = if names_twice(members) { members } else { &[] };
    looked.iter().map(|member| &*member.key).filter(move |key| !seen.insert(*key))
}

/// Dependencies between stories: known and without cycles. Stories that are wrong otherwise count too, so that all
/// problems are told at once.
fn relations(items: &[Node<'_>]) -> Vec<Problem> {
    let named = items.iter().map(Raw).filter_map(|raw| Some((raw.id().known()?, raw)));
    let (ids, raws): (Vec<&str>, Vec<_>) = named.unzip();
    let depends: Vec<Vec<&str>> = raws.iter().map(|raw| raw.strings(DEPENDS).known().unwrap_or_default()).collect();
    let known: HashSet<&str> = ids.iter().copied().collect();
    let mut problems = Vec::new();
    for ((id, raw), depends) in ids.iter().zip(&raws).zip(&depends) {
        for unknown in depends.iter().filter(|on| !known.contains(*on)) {
            problems.push(Problem::of(id, DEPENDS, Fault::UnknownDependency { id: (*unknown).to_owned() }));
        }
        if raw.split_from() == Field::Is(Some(id)) {
            problems.push(Problem::of(id, SPLIT, Fault::SplitFromItself));
        }
    }
    let graph = Graph::new(&ids, depends.into_iter());
    for knot in graph.knots() {
        let cycle: Vec<_> =
            graph.cycle(&knot).iter().filter_map(|at| ids.get(*at)).map(|id| (*id).to_owned()).collect();
        let first = cycle.first().cloned().unwrap_or_default();
        problems.push(Problem::of(&first, DEPENDS, Fault::Cycle(cycle)));
    }
    problems
}

impl PartialEq for Plan {
    fn eq(&self, other: &Plan) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Plan {}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Plan").field(&self.text()).finish()
    }
}

impl TryFrom<String> for Plan {
    type Error = String;

    fn try_from(text: String) -> Result<Plan, String> {
        Plan::read(text.as_bytes()).map_err(|problems| problems.first().map(Problem::words).unwrap_or_default())
    }
}

impl From<Plan> for String {
    fn from(plan: Plan) -> String {
        plan.text().to_owned()
    }
}
