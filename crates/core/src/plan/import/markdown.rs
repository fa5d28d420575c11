//! Plans that people wrote as Markdown: lists of boxes, and headings that each stand for a task. A box is a story unless
//! it stands below another box or below the heading of a task; then it is a criterion.

use super::Source;
use super::draft::{Draft, Story, Unmapped};
use crate::plan::template::{heading, without_comments};
use regex::Regex;
use std::collections::VecDeque;
use std::sync::LazyLock;

/// The plan in a Markdown text; nothing if there are no tasks in it.
pub(super) fn read(text: &str, unmapped: &mut Unmapped) -> Option<(Source, Draft)> {
    let text = without_comments(text);
    let lines = lines(without_front_matter(&text));
    let mut tasks = task_headings(&lines);
    let source = if tasks.is_empty() { Source::CheckList } else { Source::Headings };
    let mut draft = Draft::default();
    // The headings above, with what each says about urgency.
    let mut sections: Vec<(usize, Option<f64>)> = Vec::new();
    let mut story: Option<Section> = None;
    let mut outside = 0_usize;
    for (at, line) in lines.iter().enumerate() {
        let task = tasks.front().filter(|task| task.line == at).is_some().then(|| tasks.pop_front()).flatten();
        if story.as_ref().is_some_and(|story| task.is_some() || story.ends_at(line)) {
            let urgency = sections.last().and_then(|(_, urgency)| *urgency);
            draft.stories.extend(story.take().map(|story| story.story(urgency, unmapped)));
        }
        if let Some(task) = task {
            story = Some(Section::of_heading(task));
        } else if let Some(story) = &mut story {
            story.take_line(line);
        } else if let Line::Heading { level, words } = line {
            if *level == 1 && draft.project.is_empty() {
                draft.project = plain(words);
            }
            sections.retain(|(above, _)| above < level);
            let inherited = sections.last().and_then(|(_, urgency)| *urgency);
            sections.push((*level, self::level(words).or(inherited)));
        } else if let Line::Item { indent, mark: Some(mark), text } = line {
            story = Some(Section::of_box(*indent, *mark, text));
        } else if !matches!(line, Line::Blank) {
            outside += 1;
        }
    }
    let urgency = sections.last().and_then(|(_, urgency)| *urgency);
    draft.stories.extend(story.map(|story| story.story(urgency, unmapped)));
    draft.stories.retain(|story| {
        let says_something = !story.title.trim().is_empty();
        if !says_something {
            unmapped.add("Boxes without text were left out", "[ ]");
        }
        says_something
    });
    if outside > 0 && !draft.stories.is_empty() {
        unmapped.add(
            "Text outside of tasks was left out; prd.md is the place for it",
            crate::text::count(outside as u64, "line"),
        );
    }
    (!draft.stories.is_empty()).then_some((source, draft))
}

/// What the body of an issue says besides prose.
pub(super) struct Body {
    pub(super) description: String,
    pub(super) criteria: Vec<String>,
    pub(super) depends: Vec<String>,
}

/// The body of an issue: its boxes, or what it lists as acceptance criteria, are the criteria.
pub(super) fn body(text: &str, unmapped: &mut Unmapped) -> Body {
    let commented = without_comments(text);
    let mut section = Section::of_heading(Task { line: 0, level: 0, words: String::new() });
    lines(&commented).iter().for_each(|line| section.take_line(line));
    let story = section.story(None, unmapped);
    Body {
        description: commented.replace('\r', "").trim().to_owned(),
        criteria: story.criteria,
        depends: story.depends,
    }
}

/// A line, as far as it matters here.
enum Line {
    Blank,
    Heading {
        level: usize,
        words: String,
    },
    Item {
        indent: usize,
        mark: Option<Mark>,
        text: String,
    },
    /// Prose, or anything in a code fence.
    Text {
        indent: usize,
        text: String,
    },
}

/// What a box says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Open,
    Done,
    /// A sign of somebody's own, such as `~` for begun.
    Other(char),
}

/// Settings at the beginning of a text are no part of it; a text may also begin with a mere line.
fn without_front_matter(text: &str) -> &str {
    let behind = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
    let Some((settings, behind)) = behind.and_then(|text| text.split_once("\n---")) else { return text };
    let is_setting = |line: &str| line.contains(':') && line.starts_with(|c: char| c.is_ascii_alphabetic());
    if settings.lines().next().is_some_and(is_setting) { behind } else { text }
}

fn lines(text: &str) -> Vec<Line> {
    let mut fence: Option<&str> = None;
    text.lines()
        .map(|line| {
            let trimmed = line.trim();
            let indent = indentation(line);
            let opens = ["```", "~~~"].into_iter().find(|sign| trimmed.starts_with(sign));
            match (fence, opens) {
                (Some(open), Some(sign)) if open == sign => fence = None,
                (None, Some(sign)) => fence = Some(sign),
                (None, None) => return line_of(line, trimmed, indent),
                (Some(_), _) => {}
            }
            Line::Text { indent, text: line.to_owned() }
        })
        .collect()
}

fn line_of(line: &str, trimmed: &str, indent: usize) -> Line {
    if trimmed.is_empty() {
        return Line::Blank;
    }
    if let Some((level, words)) = heading(line).filter(|_| indent < 4) {
        return Line::Heading { level, words: words.to_owned() };
    }
    let Some(item) = behind_bullet(trimmed) else { return Line::Text { indent, text: trimmed.to_owned() } };
    let (mark, text) = mark(item);
    Line::Item { indent, mark, text: text.to_owned() }
}

/// Columns before the first character, a tab as four.
fn indentation(line: &str) -> usize {
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn behind_bullet(line: &str) -> Option<&str> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let behind = match line.len() - digits.len() {
        0 => line.strip_prefix(['-', '*', '+'])?,
        1..=9 => digits.strip_prefix(['.', ')'])?,
        _ => return None,
    };
    (behind.is_empty() || behind.starts_with([' ', '\t'])).then(|| behind.trim())
}

/// The box at the beginning of an item, and what stands behind it.
fn mark(item: &str) -> (Option<Mark>, &str) {
    let boxed = item.strip_prefix('[').and_then(|inside| inside.split_once(']')).and_then(|(sign, behind)| {
        let mut signs = sign.chars();
        let sign = signs.next().unwrap_or(' ');
        // Kiro marks what is optional by a star behind the box.
        let behind = behind.strip_prefix('*').unwrap_or(behind);
        let stands_alone = signs.next().is_none() && (behind.is_empty() || behind.starts_with([' ', '\t']));
        Some((Mark::of(sign)?, behind)).filter(|_| stands_alone)
    });
    let drawn = || {
        let sign = item.chars().next()?;
        // A tick such as ✅ is no box: many plans adorn with it what they want to reach.
        let mark = match sign {
            '☑' | '🗹' => Mark::Done,
            '⬜' | '☐' | '🔲' => Mark::Open,
            _ => return None,
        };
        Some((mark, item.get(sign.len_utf8()..)?.trim_start_matches('\u{fe0f}')))
    };
    match boxed.or_else(drawn) {
        Some((mark, behind)) => (Some(mark), behind.trim()),
        None => (None, item),
    }
}

impl Mark {
    fn of(sign: char) -> Option<Mark> {
        match sign {
            ' ' => Some(Mark::Open),
            'x' | 'X' | '✓' | '✔' | '✅' => Some(Mark::Done),
            '~' | '-' | '/' | '>' | '!' | '?' | '*' | '.' | 'o' => Some(Mark::Other(sign)),
            _ => None,
        }
    }
}

/// A heading that stands for a task.
struct Task {
    line: usize,
    level: usize,
    words: String,
}

/// The headings that are tasks: those that say so or have a box, and numbered ones with boxes below them. One with tasks
/// of its own below it is a group, and steps are tasks only where nothing else is.
fn task_headings(lines: &[Line]) -> VecDeque<Task> {
    let mut found: Vec<(Task, Kind)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Line::Heading { level, words } = line else { continue };
        let Some(kind) = Kind::of(words) else { continue };
        if kind != Kind::Numbered || has_boxes(lines, at, *level) {
            found.push((Task { line: at, level: *level, words: words.clone() }, kind));
        }
    }
    if found.iter().any(|(_, kind)| *kind != Kind::Step) {
        found.retain(|(_, kind)| *kind != Kind::Step);
    }
    let levels: Vec<usize> = found.iter().map(|(task, _)| task.level).collect();
    let is_group = |at: usize| {
        // Between a group and its first task no heading may close the group.
        let (Some((task, _)), Some((next, _))) = (found.get(at), found.get(at + 1)) else { return false };
        let between = lines.get(task.line + 1..next.line).unwrap_or_default();
        let closes = |line: &Line| matches!(line, Line::Heading { level, .. } if *level <= task.level);
        levels.get(at + 1).is_some_and(|next| *next > task.level) && !between.iter().any(closes)
    };
    let groups: Vec<bool> = (0..found.len()).map(is_group).collect();
    found.into_iter().zip(groups).filter(|(_, group)| !group).map(|((task, _), _)| task).collect()
}

/// Whether a box stands between this heading and the next.
fn has_boxes(lines: &[Line], at: usize, level: usize) -> bool {
    let below = lines.get(at + 1..).unwrap_or_default();
    let ends = |line: &&Line| matches!(line, Line::Heading { level: next, .. } if *next <= level);
    below.iter().take_while(|line| !ends(line)).any(|line| matches!(line, Line::Item { mark: Some(_), .. }))
}

/// How a heading says that it is a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Named,
    Step,
    Numbered,
}

impl Kind {
    fn of(words: &str) -> Option<Kind> {
        let words = plain(words);
        match name_of(&words).0 {
            _ if boxed(&words).is_some() => Some(Kind::Named),
            Some(name) if name.to_lowercase().starts_with("step-") => Some(Kind::Step),
            Some(name) if name.starts_with(|c: char| c.is_ascii_digit()) => Some(Kind::Numbered),
            Some(_) => Some(Kind::Named),
            None => None,
        }
    }
}

/// The box of a heading, before or behind its id, or the tick at its end, and its words without it.
fn boxed(words: &str) -> Option<(Mark, String)> {
    let (id, title) = name_of(words);
    if let (Some(words), Some(_)) = (words.strip_suffix('✅'), id) {
        return Some((Mark::Done, words.trim_end().to_owned()));
    }
    [behind_bullet(words).unwrap_or(words), &title].into_iter().find_map(|rest| match mark(rest) {
        (Some(mark), behind) => Some((mark, format!("{}{behind}", words.strip_suffix(rest).unwrap_or_default()))),
        (None, _) => None,
    })
}

/// A task and what stands below it, line by line.
struct Section {
    /// The level of its heading, or the indentation of its box.
    place: Place,
    words: String,
    mark: Option<Mark>,
    prose: Vec<String>,
    boxes: Vec<(bool, String)>,
    listed: Vec<String>,
    depends: Vec<String>,
    priority: Option<f64>,
    says_done: bool,
    /// Below a line that announces acceptance criteria.
    criteria_follow: bool,
    /// The last line was blank.
    paused: bool,
}

#[derive(Clone, Copy)]
enum Place {
    Heading(usize),
    Box(usize),
}

impl Section {
    fn new(place: Place, words: &str, mark: Option<Mark>) -> Section {
        Section {
            place,
            words: words.to_owned(),
            mark,
            prose: Vec::new(),
            boxes: Vec::new(),
            listed: Vec::new(),
            depends: Vec::new(),
            priority: None,
            says_done: false,
            criteria_follow: false,
            paused: false,
        }
    }

    fn of_heading(task: Task) -> Section {
        let words = plain(&task.words);
        let (mark, words) = boxed(&words).map_or((None, words), |(mark, words)| (Some(mark), words));
        Section::new(Place::Heading(task.level), &words, mark)
    }

    fn of_box(indent: usize, mark: Mark, words: &str) -> Section {
        Section::new(Place::Box(indent), words, Some(mark))
    }

    /// Whether the line is no part of this task any more.
    fn ends_at(&self, line: &Line) -> bool {
        match (self.place, line) {
            (Place::Heading(level), Line::Heading { level: next, .. }) => *next <= level,
            (Place::Box(_), Line::Heading { .. }) => true,
            (Place::Box(at), Line::Item { indent, .. }) => *indent <= at,
            (Place::Box(at), Line::Text { indent, .. }) => self.paused && *indent <= at,
            _ => false,
        }
    }

    fn take_line(&mut self, line: &Line) {
        self.paused = matches!(line, Line::Blank);
        match line {
            Line::Blank => {}
            Line::Heading { words, .. } => {
                self.criteria_follow = announces_criteria(words);
                self.prose.push(words.clone());
            }
            Line::Item { mark: Some(mark), text, .. } => self.boxes.push((*mark == Mark::Done, plain(text))),
            Line::Item { mark: None, text, .. } if self.takes_label(text) => {}
            Line::Item { mark: None, text, .. } if self.criteria_follow => self.listed.push(plain(text)),
            Line::Item { mark: None, text, .. } => self.prose.push(format!("- {text}")),
            Line::Text { text, .. } if self.takes_label(text) => {}
            Line::Text { text, .. } => {
                self.criteria_follow = false;
                self.prose.push(text.clone());
            }
        }
    }

    /// Whether the line is a label with a value that a story has a field for.
    fn takes_label(&mut self, line: &str) -> bool {
        let line = plain(line);
        let line = line.trim_matches('_');
        if announces_criteria(line) {
            self.criteria_follow = true;
            return true;
        }
        // The line stays in the description: it may say more than ids.
        self.depends.extend(depends_on(line));
        let Some((label, value)) = line.split_once(':') else { return false };
        match label.trim().to_lowercase().as_str() {
            "priority" if self.priority.is_none() => {
                self.priority =
                    level(value).or_else(|| value.trim().parse().ok().filter(|number: &f64| number.is_finite()));
                self.priority.is_some()
            }
            "status" => {
                self.says_done = is_done_word(value);
                self.says_done
            }
            _ => false,
        }
    }

    fn story(mut self, urgency: Option<f64>, unmapped: &mut Unmapped) -> Story {
        let words = plain(&self.words);
        let (words, inside) = without_dependencies(&words);
        self.depends.extend(inside);
        let (id, title) = name_of(&words);
        // The heading's own box counts, else all of those below it.
        let done = match self.mark {
            Some(mark) => mark == Mark::Done,
            None => self.says_done || (!self.boxes.is_empty() && self.boxes.iter().all(|(done, _)| *done)),
        };
        if let Some(Mark::Other(sign)) = self.mark {
            unmapped.add("Boxes with a sign of their own are open", format!("[{sign}] {title}"));
        }
        let mut criteria: Vec<String> = self.boxes.into_iter().map(|(_, text)| text).collect();
        criteria.append(&mut self.listed);
        let number = id.as_deref().and_then(|id| id.rsplit_once('-')).map(|(_, number)| number.to_owned());
        Story {
            id: id.unwrap_or_default(),
            alias: number.unwrap_or_default(),
            title,
            description: self.prose.join("\n"),
            criteria,
            priority: self.priority.or(urgency),
            done,
            depends: self.depends,
            ..Story::default()
        }
    }
}

fn announces_criteria(words: &str) -> bool {
    let words = words.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    ["acceptance criteria", "acceptance", "criteria", "done when", "definition of done"].contains(&words.as_str())
}

/// Words without emphasis and strikethrough.
fn plain(words: &str) -> String {
    words.replace("**", "").replace("__", "").replace("~~", "").trim().to_owned()
}

/// The id at the beginning of a title, and the title without it. A word that may be part of the title stays there.
fn name_of(words: &str) -> (Option<String>, String) {
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?x)^(?:
                (?i:(?P<word>task|user\ story|story|step|feature|issue|ticket|item|todo|bug)) \s* \#? (?P<number>\d+(?:\.\d+)*[a-z]?)
                    (?: \s* [:.)–—] | \s+ - | \s | $ )
              | \[? (?P<id> [A-Z][A-Z0-9]{0,9}-\d{1,9}(?:\.\d+)* | (?:T|US)\d{1,6}(?:\.\d+)* ) \]?
                    (?: \s* [:.)–—] (?:\s|$) | \s+ - \s | $ )
              | \[? (?P<plain> (?:US|GH|TASK|STORY|BUG|FEAT|FIX|ISSUE|REQ|T)-\d{1,9} | [A-Z]{1,10}-0\d{1,8} | T\d{3,6} ) \]? \s
              | (?P<count> \d{1,6}(?:\.\d{1,6})*) (?: \. | \) | : | \s+ - ) (?:\s|$)
              | (?P<dotted> \d{1,6}(?:\.\d{1,6})+ ) \s
            )\s*",
        )
        .ok()
    });
    let Some(found) = NAME.as_ref().and_then(|name| name.captures(words)) else { return (None, words.to_owned()) };
    let group = |name: &str| found.name(name).map(|group| group.as_str());
    let id = match (group("word"), group("number")) {
        (Some(word), Some(number)) => {
            let word = word.replace(' ', "-");
            let (first, rest) = word.split_at(1);
            Some(format!("{}{}-{number}", first.to_uppercase(), rest.to_lowercase()))
        }
        _ => ["id", "plain", "count", "dotted"].into_iter().find_map(group).map(str::to_owned),
    };
    let behind = found.get(0).map_or(0, |whole| whole.end());
    let title = words.get(behind..).unwrap_or_default().trim();
    // "1.5 seconds" may be a measure and no number of a task; and a title that is only an id names itself.
    let keeps = group("dotted").is_some() || title.is_empty();
    (id, if keeps { words.to_owned() } else { title.to_owned() })
}

/// What a line says that it depends on.
fn depends_on(line: &str) -> Vec<String> {
    let list = ["depends on", "dependencies", "dependency", "blocked by"].into_iter().find_map(|label| {
        let begins = line.get(..label.len())?.eq_ignore_ascii_case(label);
        line.get(label.len()..).filter(|list| begins && list.starts_with([':', ' ']))
    });
    list.map(|list| names_in(list.trim_start_matches(':'))).unwrap_or_default()
}

/// The title without a remark in brackets on what it depends on, and what that is.
fn without_dependencies(words: &str) -> (String, Vec<String>) {
    static REMARK: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)\s*[(\[](?:depends on|deps|blocked by):?\s+([^)\]]*)[)\]]").ok());
    let Some(found) = REMARK.as_ref().and_then(|remark| remark.captures(words)) else {
        return (words.to_owned(), Vec::new());
    };
    let range = found.get(0).map_or(0..0, |whole| whole.range());
    let before = words.get(..range.start).unwrap_or_default();
    let behind = words.get(range.end..).unwrap_or_default();
    (format!("{before}{behind}"), names_in(found.get(1).map_or("", |list| list.as_str())))
}

/// The names in a list such as `Task 1, #2 and US-003`; "none" is no name.
fn names_in(list: &str) -> Vec<String> {
    let list = list.replace(" and ", ",").replace([';', '&'], ",");
    let names = list.split(',').map(|name| name.trim_matches(|c: char| !c.is_alphanumeric() && c != '#'));
    let says_nothing = |name: &str| ["", "none", "nothing", "n/a", "na", "-"].contains(&name.to_lowercase().as_str());
    let name = |name: &str| match name.strip_prefix('#') {
        // "#12 for the schema"
        Some(number) => format!("#{}", number.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default()),
        None => name_of(name).0.unwrap_or_else(|| name.to_owned()),
    };
    names.filter(|name| !says_nothing(name)).map(name).collect()
}

/// How urgent a label or the heading of a section says that something is: 0 is the most urgent, 3 the least.
pub(super) fn level(words: &str) -> Option<f64> {
    let lower = words.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let speaks_of_it = words.iter().any(|word| ["priority", "prio"].contains(word));
    // Alone or beside the word: "High-level design" is not urgent.
    let counts = speaks_of_it || words.len() == 1;
    words.iter().find_map(|word| match *word {
        "p0" => Some(0.0),
        "p1" => Some(1.0),
        "p2" => Some(2.0),
        "p3" | "p4" => Some(3.0),
        "critical" | "urgent" | "blocker" | "highest" if counts => Some(0.0),
        "high" if counts => Some(1.0),
        "medium" | "normal" | "moderate" if counts => Some(2.0),
        "low" | "lowest" | "minor" if counts => Some(3.0),
        number if speaks_of_it => number.parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    })
}

/// Whether a status is one of those by which tools say that something is done.
pub(super) fn is_done_word(status: &str) -> bool {
    let status = status.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    ["done", "complete", "completed", "closed", "finished", "passed", "approved"].contains(&status.as_str())
}
