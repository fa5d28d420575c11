//! JSON as a text that is edited in place: every value knows its byte range, so a repair replaces some ranges and
//! leaves all other bytes (formatting, order, unknown fields, BOM, line ends) as their author wrote them.
//!
//! Strict JSON only: no comments, no trailing commas. Doubled keys are seen, not swallowed.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Nesting beyond this is nobody's plan, and would cost stack.
const MOST_NESTED: usize = 128;
const BOM: &str = "\u{feff}";

/// A text that is JSON, and its values.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) text: &'a str,
    pub(super) root: Node<'a>,
}

#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) span: Range<usize>,
    pub(super) value: Value<'a>,
    /// An object in here, however deep, names a key twice.
    pub(super) doubled: bool,
}

#[derive(Debug)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Number(&'a str),
    String(Cow<'a, str>),
    Array(Vec<Node<'a>>),
    Object(Vec<Member<'a>>),
}

#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) key_span: Range<usize>,
    pub(super) value: Node<'a>,
}

/// Where a text stops being JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Syntax {
    pub line: usize,
    pub column: usize,
    pub what: &'static str,
}

impl<'a> Document<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Document<'a>, Syntax> {
        let begin = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let mut parser = Parser { text, at: begin };
        let parsed = parser.value(0).and_then(|root| {
            parser.blanks();
            if parser.at == text.len() { Ok(root) } else { Err("expected the end of the file") }
        });
        parsed.map(|root| Document { text, root }).map_err(|what| place(text, parser.at, what))
    }

    /// One value inside a text that was parsed before; its ranges are those of the whole text.
    pub(super) fn parse_at(text: &'a str, start: usize) -> Option<Document<'a>> {
        Parser { text, at: start }.value(1).ok().map(|root| Document { text, root })
    }

    /// The bytes of a value.
    pub(super) fn raw(&self, node: &Node<'_>) -> &'a str {
        self.text.get(node.span.clone()).unwrap_or_default()
    }
}

fn place(text: &str, at: usize, what: &'static str) -> Syntax {
    let before = text.get(..text.floor_char_boundary(at)).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(line_start..).unwrap_or_default().trim_start_matches(BOM).chars().count() + 1;
    Syntax { line: before.matches('\n').count() + 1, column, what }
}

impl<'a> Node<'a> {
    pub(super) fn members(&self) -> Option<&[Member<'a>]> {
        if let Value::Object(members) = &self.value { Some(members) } else { None }
    }

    pub(super) fn items(&self) -> Option<&[Node<'a>]> {
        if let Value::Array(items) = &self.value { Some(items) } else { None }
    }

    pub(super) fn string(&self) -> Option<&str> {
        if let Value::String(text) = &self.value { Some(text) } else { None }
    }

    /// The first member of this name.
    pub(super) fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.members()?.iter().find(|member| member.key == key).map(|member| &member.value)
    }

    /// The same value, however it is formatted and in whatever order its keys stand.
    pub(super) fn same(&self, other: &Node<'_>) -> bool {
        match (&self.value, &other.value) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(one), Value::Bool(two)) => one == two,
            (Value::Number(one), Value::Number(two)) => {
                one == two
                    || matches!((one.parse::<f64>(), two.parse::<f64>()), (Ok(one), Ok(two)) if one == two && one.abs() < 9e15)
            }
            (Value::String(one), Value::String(two)) => one == two,
            (Value::Array(one), Value::Array(two)) => {
                one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.same(two))
            }
            (Value::Object(one), Value::Object(two)) => {
                let (one, two) = (sorted(one), sorted(two));
                one.len() == two.len()
                    && one.iter().zip(two).all(|(one, two)| one.key == two.key && one.value.same(&two.value))
            }
            _ => false,
        }
    }
}

fn sorted<'m, 'a>(members: &'m [Member<'a>]) -> Vec<&'m Member<'a>> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by(|one, two| one.key.cmp(&two.key));
    members
}

/// Whether a key stands twice in one object.
pub(super) fn names_twice(members: &[Member<'_>]) -> bool {
    /// Up to here comparing all pairs is faster than hashing.
    const FEW: usize = 24;
    if members.len() <= FEW {
        return members.iter().enumerate().any(|(at, one)| members.iter().skip(at + 1).any(|two| one.key == two.key));
    }
    let mut seen = HashSet::with_capacity(members.len());
    !members.iter().all(|member| seen.insert(member.key.as_ref()))
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

type Parsed<T> = Result<T, &'static str>;

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is = self.peek() == Some(byte);
        self.at += usize::from(is);
        is
    }

    fn value(&mut self, depth: usize) -> Parsed<Node<'a>> {
        self.blanks();
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(self.number()?),
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            Some(b'/') => return Err("comments are not JSON"),
            Some(_) => return Err("expected a value"),
            None => return Err("the file ends where a value should stand"),
        };
        let doubled = match &value {
            Value::Array(items) => items.iter().any(|item| item.doubled),
            Value::Object(members) => members.iter().any(|member| member.value.doubled) || names_twice(members),
            _ => false,
        };
        Ok(Node { span: start..self.at, value, doubled })
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Parsed<Value<'a>> {
        let found = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(word));
        self.at += if found { word.len() } else { 0 };
        found.then_some(value).ok_or("expected a value")
    }

    fn object(&mut self, depth: usize) -> Parsed<Value<'a>> {
        let mut members = Vec::with_capacity(16);
        self.list(depth, b'}', |parser| {
            let start = parser.at;
            if parser.peek() != Some(b'"') {
                return Err("expected a key in double quotes");
            }
            let key = parser.string()?;
            let key_span = start..parser.at;
            parser.blanks();
            if !parser.takes(b':') {
                return Err("expected a colon");
            }
            members.push(Member { key, key_span, value: parser.value(depth + 1)? });
            Ok(())
        })?;
        Ok(Value::Object(members))
    }

    fn array(&mut self, depth: usize) -> Parsed<Value<'a>> {
        let mut items = Vec::new();
        self.list(depth, b']', |parser| {
            items.push(parser.value(depth + 1)?);
            Ok(())
        })?;
        Ok(Value::Array(items))
    }

    fn list(&mut self, depth: usize, close: u8, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        if depth >= MOST_NESTED {
            return Err("nested too deep");
        }
        self.at += 1;
        self.blanks();
        if self.takes(close) {
            return Ok(());
        }
        loop {
            self.blanks();
            if self.peek() == Some(close) {
                return Err("a comma before the closing bracket is not JSON");
            }
            item(self)?;
            self.blanks();
            if self.takes(close) {
                return Ok(());
            }
            if !self.takes(b',') {
                return Err(if self.peek().is_none() {
                    "the file ends before a closing bracket"
                } else {
                    "expected a comma"
                });
            }
        }
    }

    fn string(&mut self) -> Parsed<Cow<'a, str>> {
        let start = self.at;
        let mut escaped = false;
        self.at += 1;
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            let plain = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            let plain_bytes = rest.get(..plain).unwrap_or_default();
            // All bytes before the place of the first: without a branch per byte it is several times as fast.
            if plain_bytes.iter().fold(false, |found, byte| found | (*byte < 0x20)) {
                self.at += plain_bytes.iter().position(|byte| *byte < 0x20).unwrap_or_default();
                return Err("a control character inside a string must be escaped");
            }
            self.at += plain;
            match self.peek() {
                Some(b'"') => break,
                // Whatever is escaped, it is not the end of the string.
                Some(_) => (escaped, self.at) = (true, self.at + 2),
                None => {
                    self.at = self.text.len();
                    return Err("the file ends inside a string");
                }
            }
        }
        self.at += 1;
        let quoted = self.text.get(start..self.at).ok_or("invalid escape in a string")?;
        if escaped {
            return serde_json::from_str(quoted).map(Cow::Owned).map_err(|_| "invalid escape in a string");
        }
        Ok(Cow::Borrowed(quoted.get(1..quoted.len() - 1).unwrap_or_default()))
    }

    fn number(&mut self) -> Parsed<&'a str> {
        let start = self.at;
        self.takes(b'-');
        if !self.takes(b'0') {
            self.digits()?;
        }
        if self.takes(b'.') {
            self.digits()?;
        }
        if self.takes(b'e') || self.takes(b'E') {
            let _ = self.takes(b'+') || self.takes(b'-');
            self.digits()?;
        }
        if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err("a number does not begin with 0");
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    fn digits(&mut self) -> Parsed<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err("expected a digit") }
    }
}

/// Replacements of byte ranges that do not overlap.
#[derive(Debug, Default)]
pub(super) struct Edits(Vec<(Range<usize>, String)>);

/// What becomes of one field of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fix {
    /// This is its value, as JSON.
    Set(String),
    Remove,
}

/// An item of an array or object.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) span: Range<usize>,
    pub(super) stays: bool,
}

/// Something that must stand in a list, behind the item of that number (`None`: before all).
#[derive(Debug)]
pub(super) struct Insertion {
    pub(super) after: Option<usize>,
    pub(super) text: String,
}

impl Edits {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = String::with_capacity(text.len() + self.0.iter().map(|(_, new)| new.len()).sum::<usize>());
        let mut at = 0;
        for (range, new) in &self.0 {
            out.push_str(text.get(at..range.start).unwrap_or_default());
            out.push_str(new);
            at = range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }

    /// Gives fields of an object other values. A key that stands there twice is left there once. New keys stand
    /// behind those that precede them in `order`.
    pub(super) fn object(&mut self, text: &str, object: &Node<'_>, fixes: &[(String, Fix)], order: &[String]) {
        let Some(members) = object.members() else { return };
        let wanted: HashMap<&str, &Fix> = fixes.iter().map(|(key, fix)| (key.as_str(), fix)).collect();
        let mut seen = HashSet::with_capacity(members.len());
        let mut items = Vec::with_capacity(members.len());
        for member in members {
            let fix = wanted.get(member.key.as_ref()).copied();
            let stays = seen.insert(member.key.as_ref()) && fix != Some(&Fix::Remove);
            if let (true, Some(Fix::Set(raw))) = (stays, fix) {
                self.replace(text, member.value.span.clone(), raw);
            }
            items.push(Item { span: member.key_span.start..member.value.span.end, stays });
        }
        let colon =
            members.first().and_then(|first| text.get(first.key_span.end..first.value.span.start)).unwrap_or(": ");
        let places: HashMap<&str, usize> = order.iter().enumerate().map(|(at, key)| (key.as_str(), at)).collect();
        let place = |key: &str| places.get(key).copied().unwrap_or(usize::MAX);
        // For each place in the order: the last member that stands at it or before it.
        let mut before: Vec<_> = members.iter().enumerate().map(|(at, member)| (place(&member.key), at)).collect();
        before.sort_unstable();
        let mut last = 0;
        before.iter_mut().for_each(|(_, at)| {
            last = last.max(*at);
            *at = last;
        });
        let mut insertions: Vec<_> = fixes
            .iter()
            .filter(|(key, _)| !seen.contains(key.as_str()))
            .filter_map(|(key, fix)| if let Fix::Set(raw) = fix { Some((place(key), key, raw)) } else { None })
            .collect();
        insertions.sort_by_key(|(place, ..)| *place);
        let insertions = insertions.into_iter().map(|(wanted, key, raw)| Insertion {
            after: before
                .partition_point(|(place, _)| *place < wanted)
                .checked_sub(1)
                .and_then(|at| before.get(at))
                .map(|(_, at)| *at),
            text: format!("{}{colon}{}", quoted(key), like(text, raw)),
        });
        self.list(text, &object.span, &items, insertions.collect());
    }

    /// Takes items out of an array or object, and puts others in.
    pub(super) fn list(&mut self, text: &str, list: &Range<usize>, items: &[Item], mut insertions: Vec<Insertion>) {
        if insertions.is_empty() && items.iter().all(|item| item.stays) {
            return;
        }
        let (open, close) = (list.start + 1, list.end.saturating_sub(1));
        // The blanks before an item, behind the bracket or comma.
        let lead = |at: usize| {
            let from = at.checked_sub(1).and_then(|before| items.get(before)).map_or(open, |before| before.span.end);
            let gap = items.get(at).and_then(|item| text.get(from..item.span.start)).unwrap_or_default();
            gap.rsplit(',').next().unwrap_or_default()
        };
        let usual = lead(usize::from(items.len() > 1));
        insertions.sort_by_key(|insertion| insertion.after);
        let mut insertions = insertions.into_iter().peekable();
        let (mut from, mut begun, mut dirty) = (open, false, false);
        let mut new = String::new();
        for at in 0..=items.len() {
            while let Some(insertion) = insertions.next_if(|next| next.after.map_or(0, |after| after + 1) <= at) {
                new.push_str(if begun { "," } else { "" });
                new.push_str(usual);
                new.push_str(&insertion.text);
                (begun, dirty) = (true, true);
            }
            let item = items.get(at);
            if item.is_some_and(|item| !item.stays) {
                dirty = true;
                continue;
            }
            if dirty {
                match item {
                    Some(_) => new.extend([if begun { "," } else { "" }, lead(at)]),
                    None => {
                        new.push_str(items.last().and_then(|last| text.get(last.span.end..close)).unwrap_or_default())
                    }
                }
                self.0.push((from..item.map_or(close, |item| item.span.start), std::mem::take(&mut new)));
            }
            (begun, dirty) = (true, false);
            from = item.map_or(close, |item| item.span.end);
        }
    }

    fn replace(&mut self, text: &str, range: Range<usize>, raw: &str) {
        let raw = like(text, raw);
        if text.get(range.clone()) != Some(&*raw) {
            self.0.push((range, raw.into_owned()));
        }
    }
}

/// A value from another text, with the line ends of this one: strict JSON has none inside strings.
pub(super) fn like<'r>(text: &str, raw: &'r str) -> Cow<'r, str> {
    if !raw.contains('\n') {
        return Cow::Borrowed(raw);
    }
    let plain = raw.replace("\r\n", "\n");
    Cow::Owned(if text.contains("\r\n") { plain.replace('\n', "\r\n") } else { plain })
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Texts as a JSON list on one line.
pub(super) fn quoted_list<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    format!("[{}]", texts.into_iter().map(quoted).collect::<Vec<_>>().join(", "))
}
