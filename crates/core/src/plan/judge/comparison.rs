//! An object before and after: which fields differ, and which are put back.

use crate::plan::Plan;
use crate::plan::document::{Document, Edits, Fix, Node};
use crate::plan::reading::doubled;
use crate::plan::story::{FIELDS, Raw, Story};
use crate::plan::words::{Change, Rule, Violation};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

#[derive(Default)]
pub(super) struct Comparison<'b> {
    story: Option<String>,
    /// The text of the plan before.
    before: &'b str,
    /// Fields before, in their order, by where their values stand.
    old: Vec<(String, Range<usize>)>,
    places: HashMap<String, usize>,
    new: Option<(&'b Document<'b>, Raw<'b, 'b>)>,
    fields: HashMap<&'b str, &'b Node<'b>>,
    fixes: Vec<(String, Fix)>,
    undone: HashSet<String>,
    doubled: bool,
}

impl<'b> Comparison<'b> {
    /// The fields of the file itself.
    pub(super) fn top(before: &'b Plan, document: &'b Document<'b>) -> Comparison<'b> {
        Comparison::new(None, (before.text(), before.fields().to_vec()), document, Raw(&document.root))
    }

    /// A story, and what it was before.
    pub(super) fn story(
        id: &str,
        (before, was): (&'b Plan, Option<&Story>),
        document: &'b Document<'b>,
        raw: Raw<'b, 'b>,
    ) -> Comparison<'b> {
        let was = was.and_then(|was| Document::parse_at(before.text(), was.span.start));
        let members = was.iter().flat_map(|was| Raw(&was.root).members());
        let old = members.map(|member| (member.key.to_string(), member.value.span.clone())).collect();
        Comparison::new(Some(id), (before.text(), old), document, raw)
    }

    fn new(
        story: Option<&str>,
        (before, old): (&'b str, Vec<(String, Range<usize>)>),
        document: &'b Document<'b>,
        raw: Raw<'b, 'b>,
    ) -> Comparison<'b> {
        let places = old.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
        let mut fields = HashMap::with_capacity(raw.members().len());
        for member in raw.members() {
            fields.entry(&*member.key).or_insert(&member.value);
        }
        let new = Some((document, raw));
        Comparison { story: story.map(str::to_owned), before, old, places, new, fields, ..Comparison::default() }
    }

    /// Nobody has compared anything: the story is as it was.
    pub(super) fn is_unread(&self) -> bool {
        self.new.is_none()
    }

    /// The value before, as JSON.
    pub(super) fn old(&self, key: &str) -> Option<&'b str> {
        self.places.get(key).and_then(|at| self.old.get(*at)).and_then(|(_, span)| self.before.get(span.clone()))
    }

    /// The value after, as JSON.
    pub(super) fn now(&self, key: &str) -> Option<&'b str> {
        let (document, _) = self.new?;
        self.fields.get(key).map(|node| document.raw(node))
    }

    /// The field holds the same as before, or stands in neither.
    pub(super) fn is_same(&self, key: &str) -> bool {
        match (self.old(key), self.fields.get(key)) {
            (None, None) => true,
            (Some(old), Some(new)) => {
                self.now(key) == Some(old) || Document::parse(old).is_ok_and(|old| old.root.same(new))
            }
            _ => false,
        }
    }

    pub(super) fn is_undone(&self, key: &str) -> bool {
        self.undone.contains(key)
    }

    /// Puts a field back as it was, and says why.
    pub(super) fn undo(&mut self, key: &str, rule: Rule, violations: &mut Vec<Violation>) {
        if self.undone.insert(key.to_owned()) {
            violations.push(self.violation(key, rule));
            self.fixes.push((key.to_owned(), self.old(key).map_or(Fix::Remove, |raw| Fix::Set(raw.to_owned()))));
        }
    }

    /// Gives a field another value than the agent did.
    pub(super) fn set(&mut self, key: &str, fix: Fix) {
        self.undone.insert(key.to_owned());
        self.fixes.retain(|(fixed, _)| fixed != key);
        self.fixes.push((key.to_owned(), fix));
    }

    pub(super) fn violation(&self, key: &str, rule: Rule) -> Violation {
        Violation { change: Change::new(self.story.as_deref(), key, self.old(key), self.now(key)), rule }
    }

    /// A key that stands twice has the value that it had before; a new one keeps its first.
    pub(super) fn doubled_keys(&mut self, violations: &mut Vec<Violation>) {
        let Some((_, raw)) = self.new.filter(|(_, raw)| raw.0.doubled) else { return };
        let nested =
            raw.members().iter().filter(|member| member.value.doubled && member.key != crate::plan::reading::STORIES);
        let nested: Vec<_> = nested.map(|member| &*member.key).collect();
        for key in doubled(raw.members()) {
            self.doubled = true;
            if self.old(key).is_some() {
                self.undo(key, Rule::DoubledKey, violations);
            } else {
                violations.push(self.violation(key, Rule::DoubledKey));
            }
        }
        for key in nested {
            self.undo(key, Rule::DoubledKey, violations);
        }
    }

    /// Fields that are not `known`: with a rule against it, none of them may change.
    pub(super) fn others(&mut self, known: &[&str], rule: Option<&Rule>, violations: &mut Vec<Violation>) {
        let Some(rule) = rule else { return };
        let old = self.old.iter().map(|(key, _)| key.clone());
        // In the order of the file: the same edits must give the same violations in every replay.
        let members = self.new.iter().flat_map(|(_, raw)| raw.members());
        let new = members.filter(|member| self.old(&member.key).is_none()).map(|member| member.key.to_string());
        let mut differ: Vec<_> =
            old.chain(new).filter(|key| !known.contains(&key.as_str()) && !self.is_same(key)).collect();
        differ.sort_by_key(|key| self.places.get(key).copied().unwrap_or(usize::MAX));
        for key in differ {
            self.undo(&key, rule.clone(), violations);
        }
    }

    pub(super) fn write(&self, edits: &mut Edits) {
        let Some((document, raw)) = self.new.filter(|_| self.doubled || !self.fixes.is_empty()) else { return };
        let order: Vec<_> = if self.old.is_empty() {
            FIELDS.map(str::to_owned).to_vec()
        } else {
            self.old.iter().map(|(key, _)| key.clone()).collect()
        };
        edits.object(document.text, raw.0, &self.fixes, &order);
    }
}
