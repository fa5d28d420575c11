//! What an iteration made of a plan: which edits count, which are undone, and what was decided.
//!
//! The repaired text is the agent's bytes with some ranges replaced by values of the plan before. Judging the
//! repaired text again finds nothing to undo.

mod comparison;
mod decision;
mod dependencies;
mod known;
mod new;
mod split;

pub(super) use decision::without_prefix;
pub use split::Split;

use super::document::{Document, Edits, Insertion, Item, Node};
use super::reading::{FROZEN, STORIES};
use super::story::{Field, ID, Raw, Story, StoryId, VERIFY, label};
use super::words::{Change, Fault, Problem, Rule, Violation};
use super::{Mode, Plan, Rules, Seen, Turn};
use comparison::Comparison;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// What becomes of a plan after an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The plan that counts from now on; its text is what must stand in the file.
    pub plan: Plan,
    /// The file holds something else.
    pub rewrite: bool,
    pub violations: Vec<Violation>,
    pub decision: Decision,
    /// Stories that were lawfully replaced by others.
    pub splits: Vec<Split>,
}

/// What the iteration decided about its story.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "decision")]
pub enum Decision {
    #[default]
    None,
    /// It awaits review; in a split, the part that came in its place.
    Submitted {
        story: StoryId,
    },
    /// Its findings were worked on, and it awaits review again.
    Resubmitted,
    /// It may pass, if the verify commands are green. `at_cap`: no further review follows; `automatic`: the reviewer
    /// wanted changes, and the cap approved.
    Approved {
        at_cap: bool,
        automatic: bool,
    },
    ChangesRequested,
    /// Under skip-review: the implementer says that it passes.
    Passes,
}

/// Judges what stands in the file after an iteration against the plan before it.
pub fn judge(before: &Plan, after: Seen<'_>, turn: &Turn, rules: Rules) -> Judgement {
    let parsed = after.text().and_then(|text| Document::parse(text).map_err(Fault::Syntax));
    match parsed {
        Ok(document) if document.root.members().is_some() => Bench::new(before, &document, turn, rules).judge(),
        Ok(_) => put_back(before, &Problem::file(Fault::NotAnObject)),
        Err(fault) => put_back(before, &Problem::file(fault)),
    }
}

/// The file is beyond repair: the last good plan counts.
fn put_back(before: &Plan, problem: &Problem) -> Judgement {
    let why = problem.words();
    let why = why.strip_prefix("tasks.json ").unwrap_or(&why).to_owned();
    let violation = Violation { change: Change::new(None, "tasks.json", None, None), rule: Rule::File { why } };
    Judgement {
        plan: before.clone(),
        rewrite: true,
        violations: vec![violation],
        decision: Decision::None,
        splits: Vec::new(),
    }
}

/// One judgement in the making.
struct Bench<'b> {
    before: &'b Plan,
    document: &'b Document<'b>,
    turn: &'b Turn,
    rules: Rules,
    edits: Edits,
    violations: Vec<Violation>,
    decision: Decision,
    splits: Vec<Split>,
    /// The stories of `splits`.
    replaced: HashSet<&'b str>,
}

/// A story of the file that stays in the plan.
struct Entry<'b> {
    raw: Raw<'b, 'b>,
    /// The story before; a new one has none.
    was: Option<&'b Story>,
    comparison: Comparison<'b>,
    /// `dependsOn` as the agent wants it; `None` if that is illegal.
    wants: Option<Vec<&'b str>>,
}

impl<'b> Bench<'b> {
    fn new(before: &'b Plan, document: &'b Document<'b>, turn: &'b Turn, rules: Rules) -> Bench<'b> {
        let (edits, violations, splits, replaced) = Default::default();
        Bench { before, document, turn, rules, edits, violations, decision: Decision::None, splits, replaced }
    }

    fn is_review(&self) -> bool {
        self.turn.mode == Mode::Review
    }

    fn judge(mut self) -> Judgement {
        if let Some(stories) = self.top() {
            self.stories(stories);
        }
        let Bench { before, document, edits, violations, decision, splits, .. } = self;
        let (plan, rewrite) = if edits.is_empty() {
            (Plan::of(document), false)
        } else {
            (Plan::read(edits.apply(document.text).as_bytes()), true)
        };
        match plan {
            Ok(plan) => Judgement { plan, rewrite, violations, decision, splits },
            // Whatever the rules above overlooked: a plan that does not hold together never counts.
            Err(problems) => match problems.first() {
                Some(problem) => put_back(before, problem),
                None => put_back(before, &Problem::file(Fault::Empty)),
            },
        }
    }

    /// The fields of the file itself. Returns the list of stories, unless it had to be put back whole.
    fn top(&mut self) -> Option<&'b Node<'b>> {
        let root = &self.document.root;
        let stories = root.get(STORIES);
        let raw = Raw(root);
        let mut comparison = Comparison::top(self.before, self.document);
        comparison.doubled_keys(&mut self.violations);
        for key in FROZEN {
            let same = if key == VERIFY {
                raw.commands().or(Vec::new()).is_some_and(|lines| lines == self.before.verify_commands())
            } else {
                comparison.is_same(key)
            };
            if !same {
                comparison.undo(key, Rule::Frozen, &mut self.violations);
            }
        }
        let usable = stories.filter(|stories| stories.items().is_some() && !comparison.is_undone(STORIES));
        if usable.is_none() && !comparison.is_undone(STORIES) {
            let fault = if stories.is_none() { Fault::Missing } else { Fault::Type { expected: "list" } };
            let why = Problem::top(STORIES, fault).words();
            comparison.undo(STORIES, Rule::Invalid { why }, &mut self.violations);
        }
        let known: Vec<&str> = FROZEN.into_iter().chain([STORIES]).collect();
        let rule = self.is_review().then(|| Rule::ReviewChanges { reviewed: self.turn.story.clone() });
        comparison.others(&known, rule.as_ref(), &mut self.violations);
        comparison.write(&mut self.edits);
        usable
    }

    fn stories(&mut self, stories: &'b Node<'b>) {
        let items = stories.items().unwrap_or_default();
        let (mut entries, mut dropped) = self.sort(items);
        let insertions = self.vanished(items, &mut entries, &mut dropped);
        for entry in &mut entries {
            match entry.was {
                Some(was) => self.known(entry, was),
                None => self.clean(entry),
            }
        }
        let put_back: Vec<&Story> = insertions.iter().map(|(story, _)| *story).collect();
        let put_back = self.dependencies(&mut entries, &put_back);
        for entry in &entries {
            entry.comparison.write(&mut self.edits);
        }
        let insertions = insertions.into_iter().zip(put_back).map(|((_, after), text)| Insertion { after, text });
        let items = items.iter().zip(dropped).map(|(item, dropped)| Item { span: item.span.clone(), stays: !dropped });
        let items: Vec<_> = items.collect();
        self.edits.list(self.document.text, &stories.span, &items, insertions.collect());
    }

    /// Tells known stories, new ones and what is neither apart.
    fn sort(&mut self, items: &'b [Node<'b>]) -> (Vec<Entry<'b>>, Vec<bool>) {
        let mut entries = Vec::with_capacity(items.len());
        let mut dropped = Vec::with_capacity(items.len());
        let mut seen = HashSet::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let raw = Raw(item);
            let who = label(raw, at);
            let rule = match raw.id() {
                _ if item.members().is_none() => Some(unusable(&who, "", Fault::NotAnObject)),
                Field::Absent => Some(unusable(&who, ID, Fault::Missing)),
                Field::Wrong(fault) => Some(unusable(&who, ID, fault)),
                Field::Is(id) if !seen.insert(id) => Some(Rule::DoubledId),
                Field::Is(id) if self.before.story(id).is_none() => new::unusable(raw, &who),
                Field::Is(_) => None,
            };
            dropped.push(rule.is_some());
            match rule {
                Some(rule) => self.whole(&who, None, Some(self.document.raw(item)), rule),
                None => entries.push(Entry {
                    raw,
                    was: self.before.story(&who),
                    comparison: Comparison::default(),
                    wants: None,
                }),
            }
        }
        (entries, dropped)
    }

    /// An edit of a whole story that was undone.
    fn whole(&mut self, story: &str, from: Option<&str>, to: Option<&str>, rule: Rule) {
        self.violations.push(Violation { change: Change::new(Some(story), "", from, to), rule });
    }
}

fn unusable(who: &str, field: &str, fault: Fault) -> Rule {
    Rule::Unusable { why: Problem::of(who, field, fault).words() }
}

/// The first item of each id.
fn places<'b>(items: &'b [Node<'b>]) -> HashMap<&'b str, usize> {
    let mut places = HashMap::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        if let Field::Is(id) = Raw(item).id() {
            places.entry(id).or_insert(at);
        }
    }
    places
}
