//! A plan as it was found, and how it becomes a valid one: ids made safe and unique, dependencies that exist and have no
//! cycle, at least one criterion each, a state that no rule forbids.

use super::Options;
use crate::plan::archive::{is_safe, safe_name};
use crate::plan::template::one_line;
use crate::text;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// A plan as it was found.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) project: String,
    pub(super) branch: String,
    pub(super) description: String,
    pub(super) verify: Vec<String>,
    pub(super) stories: Vec<Story>,
    /// Priorities are numbers of ralph's kind already; otherwise they only say what comes before what.
    pub(super) numbered: bool,
    /// Fields that ralph does not know.
    pub(super) more: Map<String, Value>,
}

/// A story as it was found.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// As written; empty if it has none.
    pub(super) id: String,
    /// Another name by which stories depend on it; empty if there is none.
    pub(super) alias: String,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) criteria: Vec<String>,
    /// Less is more urgent.
    pub(super) priority: Option<f64>,
    pub(super) done: bool,
    pub(super) review: Option<Review>,
    pub(super) notes: String,
    pub(super) depends: Vec<String>,
    pub(super) verify: Vec<String>,
    pub(super) more: Map<String, Value>,
}

/// The state of a story's reviews as it was found.
#[derive(Debug)]
pub(super) struct Review {
    pub(super) status: String,
    pub(super) count: u64,
    pub(super) feedback: String,
}

/// What could not be mapped, gathered so that a thousand losses of one kind make one sentence.
#[derive(Debug, Default)]
pub(super) struct Unmapped(Vec<(&'static str, Vec<String>)>);

impl Unmapped {
    pub(super) fn add(&mut self, what: &'static str, which: impl Into<String>) {
        let which = text::cut(&one_line(&which.into()), WHICH_CHARS, "…");
        match self.0.iter_mut().find(|(known, _)| *known == what) {
            Some((_, list)) => list.push(which),
            None => self.0.push((what, vec![which])),
        }
    }

    /// The same, for what is worth saying once however often it occurs.
    pub(super) fn add_once(&mut self, what: &'static str, which: &str) {
        let known = self.0.iter().any(|(kind, list)| *kind == what && list.iter().any(|known| known == which));
        if !known {
            self.add(what, which);
        }
    }

    pub(super) fn sentences(self) -> Vec<String> {
        let sentence = |(what, which): (&str, Vec<String>)| {
            let more = which.len().saturating_sub(NAMED);
            let named = which.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
            if more == 0 { format!("{what}: {named}") } else { format!("{what}: {named} and {more} more") }
        };
        self.0.into_iter().map(sentence).collect()
    }
}

/// How many of a kind are named, and the characters of each.
const NAMED: usize = 10;
const WHICH_CHARS: usize = 80;

/// The longest title: it becomes the subject of a commit.
const TITLE_CHARS: usize = 120;

/// The most reviews that a story keeps: the usual cap.
const REVIEWS: u64 = 5;

/// The note of a story that another tool says is done.
const DONE_NOTE: &str = "imported as done";

impl Draft {
    /// The text of `tasks.json`.
    pub(super) fn write(mut self, options: &Options<'_>, unmapped: &mut Unmapped) -> String {
        self.stories.iter_mut().enumerate().for_each(|(at, story)| story.settle_title(at));
        let ids = safe_ids(&self.stories, unmapped);
        for (story, id) in self.stories.iter_mut().zip(&ids) {
            story.settle_criteria(id, unmapped);
        }
        let depends = dependencies(&self.stories, &ids, unmapped);
        let priorities = self.priorities();
        let stories: Vec<Value> = (self.stories.into_iter().zip(&ids).zip(depends).zip(priorities))
            .map(|(((story, id), depends), priority)| story.write(id, depends, priority, options.reopen, unmapped))
            .collect();
        let project = [one_line(&self.project), one_line(options.project), "plan".to_owned()];
        let project = project.into_iter().find(|name| !name.is_empty());
        let mut plan = Map::new();
        plan.insert("project".to_owned(), json!(project));
        if !self.branch.trim().is_empty() {
            plan.insert("branchName".to_owned(), json!(self.branch.trim()));
        }
        plan.insert("description".to_owned(), json!(self.description.trim()));
        plan.insert("verifyCommands".to_owned(), json!(self.verify));
        plan.insert("userStories".to_owned(), Value::Array(stories));
        add_unknown(&mut plan, self.more, unmapped);
        format!("{:#}\n", Value::Object(plan))
    }

    /// Numbers from 1: as they were, if ralph could have written them, else by their order.
    fn priorities(&self) -> Vec<u64> {
        let whole =
            |priority: f64| (priority.fract() == 0.0 && (1.0..=1e9).contains(&priority)).then_some(priority as u64);
        let kept: Option<Vec<u64>> = self.stories.iter().map(|story| whole(story.priority?)).collect();
        if let Some(kept) = kept.filter(|_| self.numbered) {
            return kept;
        }
        // Without a word about urgency, a task of a list stands in the middle and one of a numbered plan at the end.
        let unsaid = if self.numbered { f64::INFINITY } else { 2.0 };
        let urgency: Vec<f64> = self.stories.iter().map(|story| story.priority.unwrap_or(unsaid)).collect();
        let mut order: Vec<(usize, f64)> = urgency.into_iter().enumerate().collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut priorities = vec![0; order.len()];
        for ((at, _), number) in order.into_iter().zip(1..) {
            if let Some(priority) = priorities.get_mut(at) {
                *priority = number;
            }
        }
        priorities
    }
}

/// Fields that ralph does not know are kept.
fn add_unknown(object: &mut Map<String, Value>, more: Map<String, Value>, unmapped: &mut Unmapped) {
    for (name, value) in more {
        if object.contains_key(&name) || name == "branchName" {
            unmapped.add_once("Fields of another type than ralph's were left out", &name);
        } else {
            unmapped.add_once("Fields that ralph keeps and does not use", &name);
            object.insert(name, value);
        }
    }
}

impl Story {
    /// A title of one line that is not too long for a commit's subject; what it had more goes to the description.
    fn settle_title(&mut self, at: usize) {
        let mut title = one_line(&self.title);
        if title.is_empty() {
            title = one_line(self.description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
        }
        if title.is_empty() {
            title = self
                .criteria
                .iter()
                .map(|criterion| one_line(criterion))
                .find(|line| !line.is_empty())
                .unwrap_or_default();
        }
        if title.is_empty() {
            title = format!("Story {}", at + 1);
        }
        if title.chars().count() > TITLE_CHARS {
            if !one_line(&self.description).starts_with(&title) {
                self.description = format!("{title}\n\n{}", self.description).trim_end().to_owned();
            }
            title = text::cut(&title, TITLE_CHARS - 1, "…");
        }
        self.title = title;
    }

    fn settle_criteria(&mut self, id: &str, unmapped: &mut Unmapped) {
        self.criteria.iter_mut().for_each(|criterion| *criterion = criterion.trim().to_owned());
        self.criteria.retain(|criterion| !criterion.is_empty());
        if self.criteria.is_empty() {
            unmapped.add("No acceptance criteria, so the title is the only one; write better ones before you run", id);
            self.criteria.push(self.title.clone());
        }
    }

    fn write(self, id: &str, depends: Vec<&str>, priority: u64, reopen: bool, unmapped: &mut Unmapped) -> Value {
        let review = self.review.unwrap_or_else(|| Review { status: String::new(), count: 0, feedback: String::new() });
        let mut notes = vec![self.notes.trim().to_owned()];
        let mut state = (Value::Null, 0, String::new());
        match review.status.as_str() {
            _ if self.done => {}
            "needs_review" => state = (json!("needs_review"), review.count, String::new()),
            "changes_requested" if !review.feedback.trim().is_empty() => {
                state = (json!("changes_requested"), review.count, review.feedback.clone());
            }
            "changes_requested" => {
                unmapped.add("Changes were requested without feedback, so the story is reviewed again", id);
                state = (json!("needs_review"), review.count, String::new());
            }
            "" => {}
            _ => unmapped.add("A review's status that does not fit a story that is not done, so the story is open", id),
        }
        if state.1 > REVIEWS {
            unmapped.add("More reviews than a plan keeps, so the count is 5", id);
            state.1 = REVIEWS;
        }
        if state.2.is_empty() {
            notes.push(review.feedback.trim().to_owned());
        }
        let passes = self.done && !reopen;
        if passes {
            notes.push(DONE_NOTE.to_owned());
            state.0 = json!("approved");
        }
        notes.retain(|note| !note.is_empty());
        let fields = [
            ("id", json!(id)),
            ("title", json!(self.title)),
            ("description", json!(self.description.trim())),
            ("acceptanceCriteria", json!(self.criteria)),
            ("priority", json!(priority)),
            ("passes", json!(passes)),
            ("reviewStatus", state.0),
            ("reviewCount", json!(state.1)),
            ("reviewFeedback", json!(state.2)),
            ("notes", json!(notes.join("\n"))),
            ("dependsOn", json!(depends)),
        ];
        let mut story: Map<String, Value> = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        if !self.verify.is_empty() {
            story.insert("verifyCommands".to_owned(), json!(self.verify));
        }
        add_unknown(&mut story, self.more, unmapped);
        Value::Object(story)
    }
}

/// The longest id.
const ID_BYTES: usize = 64;

/// An id for every story: as written if that is safe and not taken, else the next to it, else a number.
fn safe_ids(stories: &[Story], unmapped: &mut Unmapped) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut numbers: HashMap<String, u64> = HashMap::new();
    // A safe id stays whatever others are called; then come those that have to change, then those that are made up.
    let written = |story: &Story| story.id.trim().to_owned();
    let mut ids: Vec<Option<String>> = stories
        .iter()
        .map(|story| safe_id(&written(story)).filter(|id| *id == written(story) && taken.insert(id.clone())))
        .collect();
    for (id, story) in ids.iter_mut().zip(stories).filter(|(id, _)| id.is_none()) {
        if let Some(safe) = safe_id(&written(story)) {
            let free = free(safe, &mut taken, &mut numbers);
            unmapped.add("Ids that had to change", format!("{} is now {free}", written(story)));
            *id = Some(free);
        }
    }
    for (id, number) in ids.iter_mut().zip(1_u64..) {
        id.get_or_insert_with(|| free(format!("US-{number:03}"), &mut taken, &mut numbers));
    }
    ids.into_iter().flatten().collect()
}

/// Letters, digits, dots, underscores and dashes; nothing if none of what was written can stay.
fn safe_id(written: &str) -> Option<String> {
    if !written.is_empty() && written.len() <= ID_BYTES && written.chars().all(is_safe) {
        return Some(written.to_owned());
    }
    let id = text::prefix(&safe_name(written), ID_BYTES).trim_matches(['-', '.']).to_owned();
    (!id.is_empty()).then_some(id)
}

/// This id, or with the first number behind it that makes it unique.
fn free(id: String, taken: &mut HashSet<String>, numbers: &mut HashMap<String, u64>) -> String {
    if taken.insert(id.clone()) {
        return id;
    }
    let next = numbers.entry(id.clone()).or_insert(2);
    loop {
        let suffix = format!("-{next}");
        let candidate = format!("{}{suffix}", text::prefix(&id, ID_BYTES - suffix.len()));
        *next += 1;
        if taken.insert(candidate.clone()) {
            return candidate;
        }
    }
}

/// The ids that each story depends on: those that exist, each once, without cycles.
fn dependencies<'a>(stories: &[Story], ids: &'a [String], unmapped: &mut Unmapped) -> Vec<Vec<&'a str>> {
    // The exact name counts; another case of it, or a number, only where nothing else is called that.
    let mut exact: HashMap<&str, usize> = HashMap::new();
    let mut loose: HashMap<String, usize> = HashMap::new();
    for (at, (story, id)) in stories.iter().zip(ids).enumerate() {
        exact.entry(story.id.trim()).or_insert(at);
        exact.entry(id).or_insert(at);
        for name in [story.id.trim(), story.alias.trim(), id] {
            loose.entry(name.to_lowercase()).or_insert(at);
        }
    }
    let named = |name: &str| exact.get(name).or_else(|| loose.get(&name.to_lowercase())).copied();
    let mut edges: Vec<Vec<usize>> = Vec::with_capacity(stories.len());
    for (at, (story, id)) in stories.iter().zip(ids).enumerate() {
        let mut found: Vec<usize> = Vec::new();
        let mut seen: HashSet<usize> = HashSet::from([at]);
        for name in story.depends.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
            match named(name) {
                Some(on) if seen.insert(on) => found.push(on),
                Some(_) => {}
                None => unmapped.add("Dependencies on something that is not in the file", format!("{id} on {name}")),
            }
        }
        edges.push(found);
    }
    break_cycles(&mut edges, ids, unmapped);
    let names = |found: Vec<usize>| found.into_iter().filter_map(|on| ids.get(on).map(String::as_str)).collect();
    edges.into_iter().map(names).collect()
}

/// Takes away dependencies until every story can come after those that it depends on.
fn break_cycles(edges: &mut [Vec<usize>], ids: &[String], unmapped: &mut Unmapped) {
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    let mut open: Vec<usize> = vec![0; edges.len()];
    for (at, found) in edges.iter().enumerate() {
        for &on in found {
            if let (Some(list), Some(count)) = (needed_by.get_mut(on), open.get_mut(at)) {
                list.push(at);
                *count += 1;
            }
        }
    }
    let mut placed = vec![false; edges.len()];
    let mut ready: Vec<usize> = open.iter().enumerate().filter(|(_, open)| **open == 0).map(|(at, _)| at).collect();
    let mut next = 0;
    loop {
        while let Some(at) = ready.pop() {
            if placed.get_mut(at).is_none_or(|placed| std::mem::replace(placed, true)) {
                continue;
            }
            for &waiting in needed_by.get(at).into_iter().flatten() {
                if let Some(open) = open.get_mut(waiting) {
                    *open = open.saturating_sub(1);
                    if *open == 0 {
                        ready.push(waiting);
                    }
                }
            }
        }
        // What is left waits for a cycle: the first of the file stops waiting.
        while placed.get(next).is_some_and(|placed| *placed) {
            next += 1;
        }
        let (Some(found), Some(id)) = (edges.get_mut(next), ids.get(next)) else { return };
        found.retain(|&on| {
            let stays = placed.get(on).is_some_and(|placed| *placed);
            if !stays {
                let on = ids.get(on).map_or("", String::as_str);
                unmapped.add("Dependencies that would have made a circle", format!("{id} on {on}"));
            }
            stays
        });
        ready.push(next);
    }
}
