//! Makefiles: what a goal needs, and what of the file counts for it.
//!
//! Both branches of a condition are read. What only other goals need may change; what could change any goal, such as
//! pattern rules, special targets and variables of the environment, always counts.

use super::directing::directs;
use super::learn::{Context, Learner, Setting, named};
use super::premises::{UNKNOWN, is_known, parent, place};
use super::scripts::pattern;
use super::{Part, Standing, Why};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The tool of a Makefile that is one of several: each may use the variables of the others.
pub(super) const INCLUDING: &str = "make with others";
/// Expansions inside expansions.
const DEEPEST: usize = 12;

static ASSIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"^(?:(?:override|export|private)\s+)*([A-Za-z0-9_.%-]+)\s*(:::?=|::=|:=|\?=|\+=|!=|=)\s*(.*)$")
});

/// A Makefile in parts.
#[derive(Debug, Default)]
pub(super) struct Makefile {
    items: Vec<Item>,
    variables: BTreeMap<String, String>,
}

#[derive(Debug)]
enum Item {
    Variable { name: String, text: String },
    Rule { targets: Vec<String>, needs: Vec<String>, recipe: Vec<String>, text: String },
    Include { files: String, optional: bool, text: String },
    Other { text: String },
}

impl Makefile {
    /// Reads a file in the folder `folder`, with variables that come from the command line.
    pub(super) fn read(text: &str, path: &str, folder: &str, given: &[(String, String)]) -> Makefile {
        let mut file = Makefile::default();
        for (name, value) in
            [("MAKE", "make"), ("CURDIR", if folder.is_empty() { "." } else { folder }), ("MAKEFILE_LIST", path)]
        {
            file.variables.insert(name.to_owned(), value.to_owned());
        }
        file.variables.extend(given.iter().cloned());
        let lines = logical_lines(text);
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            at += 1;
            if let Some(rest) = line.strip_prefix('\t') {
                if let Some(Item::Rule { recipe, text, .. }) = file.items.last_mut() {
                    recipe.push(rest.to_owned());
                    text.push_str(&format!("\n\t{rest}"));
                }
                continue;
            }
            let plain = without_comment(line);
            let plain = plain.trim();
            if plain.is_empty() {
                continue;
            }
            if let Some(name) = plain.strip_prefix("define ").or_else(|| plain.strip_prefix("override define ")) {
                let end = lines.iter().skip(at).position(|line| line.trim() == "endef").unwrap_or(lines.len() - at);
                let body = lines.get(at..at + end).unwrap_or_default().join("\n");
                at += end + 1;
                let name = name.split(['=', ':', ' ']).next().unwrap_or_default();
                file.variables.insert(name.to_owned(), body.clone());
                file.items
                    .push(Item::Variable { name: name.to_owned(), text: format!("define {name}\n{body}\nendef") });
                continue;
            }
            file.line(plain, given);
        }
        file
    }

    fn line(&mut self, line: &str, given: &[(String, String)]) {
        let text = line.to_owned();
        for (word, optional) in [("include ", false), ("-include ", true), ("sinclude ", true)] {
            if let Some(files) = line.strip_prefix(word) {
                return self.items.push(Item::Include { files: files.to_owned(), optional, text });
            }
        }
        if let Some(captures) = ASSIGNED.as_ref().and_then(|regex| regex.captures(line)) {
            let group = |index| captures.get(index).map(|group| group.as_str()).unwrap_or_default();
            let (name, operator, value) = (group(1).to_owned(), group(2), group(3));
            let value = if operator == "!=" { format!("$(shell {value})") } else { value.to_owned() };
            if !given.iter().any(|(own, _)| *own == name) {
                match (operator, self.variables.get_mut(&name)) {
                    ("+=", Some(before)) => before.push_str(&format!(" {value}")),
                    ("?=", Some(_)) => {}
                    _ => drop(self.variables.insert(name.clone(), value)),
                }
            }
            return self.items.push(Item::Variable { name, text });
        }
        const DIRECTIVES: [&str; 12] = [
            "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "export", "unexport", "override", "vpath", "undefine",
            "load",
        ];
        let first = line.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        match split_rule(line).filter(|_| !DIRECTIVES.contains(&first)) {
            Some((targets, rest)) => {
                let rest = rest.trim_start_matches(':');
                let (needs, command) =
                    rest.split_once(';').map_or((rest, None), |(needs, command)| (needs, Some(command)));
                // `test: CFLAGS = -O0` sets a variable for a goal.
                let is_variable = ASSIGNED.as_ref().is_some_and(|regex| regex.is_match(needs.trim()));
                let targets = self.words(targets, &BTreeMap::new());
                let needs = if is_variable { Vec::new() } else { self.words(needs, &BTreeMap::new()) };
                let recipe = command.map(|command| command.trim().to_owned()).into_iter().collect();
                self.items.push(Item::Rule { targets, needs, recipe, text });
            }
            None => self.items.push(Item::Other { text }),
        }
    }

    /// Whether a rule with a recipe makes this file.
    fn makes(&self, word: &str) -> bool {
        let makes = |item: &Item| matches!(item, Item::Rule { targets, recipe, .. } if !recipe.is_empty() && targets.iter().any(|target| target == word));
        self.items.iter().any(makes)
    }

    fn words(&self, text: &str, own: &BTreeMap<String, String>) -> Vec<String> {
        self.expand(text, own, 0).split_whitespace().filter(|word| *word != "|").map(str::to_owned).collect()
    }

    /// A text with its variables replaced; what is only known when make runs becomes unknown.
    fn expand(&self, text: &str, own: &BTreeMap<String, String>, depth: usize) -> String {
        let mut expanded = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            expanded.push_str(before);
            let Some(first) = after.chars().next() else { break };
            match first {
                '$' => {
                    expanded.push('$');
                    rest = after.get(1..).unwrap_or_default();
                }
                '(' | '{' => {
                    let (inside, behind) = closed(after);
                    let value =
                        if depth < DEEPEST { self.reference(inside, own, depth + 1) } else { UNKNOWN.to_string() };
                    expanded.push_str(&value);
                    rest = behind;
                }
                one => {
                    let value = own.get(&one.to_string()).or_else(|| self.variables.get(&one.to_string()));
                    expanded.push_str(value.map_or("\0", String::as_str));
                    rest = after.get(one.len_utf8()..).unwrap_or_default();
                }
            }
        }
        expanded + rest
    }

    /// What stands in `$(…)`.
    fn reference(&self, inside: &str, own: &BTreeMap<String, String>, depth: usize) -> String {
        let (function, rest) = inside.split_once(' ').unwrap_or((inside, ""));
        let argument = || self.expand(rest, own, depth);
        match function {
            "strip" | "wildcard" | "sort" | "abspath" | "realpath" | "info" | "value" if !rest.is_empty() => argument(),
            "dir" if !rest.is_empty() => {
                format!("{}/", Some(parent(argument().trim())).filter(|folder| !folder.is_empty()).unwrap_or("."))
            }
            "notdir" if !rest.is_empty() => super::premises::name(argument().trim()).to_owned(),
            "firstword" if !rest.is_empty() => argument().split_whitespace().next().unwrap_or_default().to_owned(),
            "lastword" if !rest.is_empty() => argument().split_whitespace().next_back().unwrap_or_default().to_owned(),
            "addprefix" => {
                let (prefix, words) = rest.split_once(',').unwrap_or(("", rest));
                let (prefix, words) = (self.expand(prefix, own, depth), self.expand(words, own, depth));
                words.split_whitespace().map(|word| format!("{prefix}{word} ")).collect()
            }
            "call" => {
                let mut parts = rest.split(',');
                let body = self
                    .variables
                    .get(parts.next().unwrap_or_default().trim())
                    .cloned()
                    .unwrap_or_else(|| UNKNOWN.to_string());
                let given =
                    parts.enumerate().map(|(at, part)| ((at + 1).to_string(), self.expand(part.trim(), own, depth)));
                let mut inner = own.clone();
                inner.extend(given);
                self.expand(&body, &inner, depth)
            }
            name if rest.is_empty() => {
                let known = own.get(name).or_else(|| self.variables.get(name));
                known.map_or_else(|| UNKNOWN.to_string(), |value| self.expand(value, own, depth))
            }
            _ => UNKNOWN.to_string(),
        }
    }

    /// The goal that is made if none is named.
    fn default_goal(&self) -> Option<String> {
        let given = self.variables.get(".DEFAULT_GOAL").map(|goal| self.expand(goal, &BTreeMap::new(), 0));
        let targets = self.items.iter().filter_map(|item| match item {
            Item::Rule { targets, .. } => Some(targets.iter()),
            _ => None,
        });
        let is_goal = |target: &&String| !target.contains('%') && (!target.starts_with('.') || target.contains('/'));
        given.filter(|goal| !goal.is_empty()).or_else(|| targets.flatten().find(is_goal).cloned())
    }

    /// Goals and everything that they need.
    fn closure(&self, goals: &[String]) -> BTreeSet<String> {
        let mut wanted: BTreeSet<String> = goals.iter().cloned().collect();
        if goals.is_empty() || goals.iter().any(String::is_empty) {
            wanted.extend(self.default_goal());
        }
        // make looks whether its own file can be made.
        wanted.extend(["Makefile", "makefile", "GNUmakefile"].map(str::to_owned));
        loop {
            let before = wanted.len();
            for item in &self.items {
                if let Item::Rule { targets, needs, .. } = item
                    && targets.iter().any(|target| is_wanted(target, &wanted))
                {
                    wanted.extend(needs.iter().cloned());
                }
            }
            if wanted.len() == before {
                return wanted;
            }
        }
    }

    fn rules(&self, wanted: &BTreeSet<String>) -> impl Iterator<Item = (&Vec<String>, &Vec<String>, &Vec<String>)> {
        self.items.iter().filter_map(move |item| match item {
            Item::Rule { targets, needs, recipe, .. } if targets.iter().any(|target| is_wanted(target, wanted)) => {
                Some((targets, needs, recipe))
            }
            _ => None,
        })
    }
}

/// What of a Makefile counts for these goals.
pub(super) fn counted(text: &str, goals: &[String], tool: &str) -> String {
    let file = Makefile::read(text, "Makefile", "", &[]);
    let wanted = file.closure(goals);
    let mut kept = BTreeSet::new();
    let mut used = String::new();
    for (at, item) in file.items.iter().enumerate() {
        let counts = match item {
            Item::Rule { targets, .. } => {
                targets.iter().any(|target| is_wanted(target, &wanted) || is_special(target) || !is_known(target))
            }
            Item::Include { .. } | Item::Other { .. } => true,
            Item::Variable { name, .. } => tool == INCLUDING || of_the_environment(name),
        };
        if counts {
            kept.insert(at);
            used.push_str(item.text());
        }
    }
    // Variables that something which counts uses, and those that they use.
    loop {
        let before = kept.len();
        for (at, item) in file.items.iter().enumerate() {
            if let Item::Variable { name, text } = item
                && !kept.contains(&at)
                && mentions(&used, name)
            {
                kept.insert(at);
                used.push_str(text);
            }
        }
        if kept.len() == before {
            break;
        }
    }
    let lines = file.items.iter().enumerate().filter(|(at, _)| kept.contains(at)).map(|(_, item)| match item {
        // Which other goals are no files concerns nobody.
        Item::Rule { targets, needs, .. } if targets.iter().all(|target| target == ".PHONY") => {
            let own: Vec<&str> = needs.iter().map(String::as_str).filter(|need| wanted.contains(*need)).collect();
            if own.is_empty() { String::new() } else { format!(".PHONY: {}\n", own.join(" ")) }
        }
        item => format!("{}\n", item.text()),
    });
    let default = if goals.is_empty() { file.default_goal().unwrap_or_default() } else { String::new() };
    lines.collect::<String>() + &default
}

impl Item {
    fn text(&self) -> &str {
        match self {
            Item::Variable { text, .. }
            | Item::Rule { text, .. }
            | Item::Include { text, .. }
            | Item::Other { text } => text,
        }
    }
}

impl Learner<'_> {
    /// `make -C folder -f file NAME=value goal`
    pub(super) fn make(&mut self, args: &[String], folder: &str, context: &Context<'_>) {
        let (goals, given) = Self::goals("make", args);
        if !is_known(folder) || goals.iter().any(|goal| !is_known(goal)) {
            return self.unknown(format!("which goal `make {}` makes", args.join(" ")), false);
        }
        let files = Self::values_of("make", args, "-f|--file|--makefile");
        let files: Vec<String> = if files.is_empty() {
            let usual = ["GNUmakefile", "makefile", "Makefile"];
            let there = usual
                .iter()
                .position(|file| self.premises.standing(&place(self.premises.root(), folder, file)) == Standing::File);
            // One that would be read first must stay away.
            for file in usual.iter().take(there.unwrap_or(0)) {
                let path = place(self.premises.root(), folder, file);
                self.judge(&path, Part::Whole, Why::Configures { runner: "make".to_owned() }, false);
            }
            usual.iter().skip(there.unwrap_or(2)).take(1).map(|file| (*file).to_owned()).collect()
        } else {
            files
        };
        for file in files {
            let path = place(self.premises.root(), folder, &file);
            self.makefile(&path, &goals, &given, folder, context);
        }
    }

    fn makefile(
        &mut self,
        path: &str,
        goals: &[String],
        given: &[(String, String)],
        folder: &str,
        context: &Context<'_>,
    ) {
        let assigned: Vec<String> = given.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !self.is_new(format!("make {path} {folder} {} {}", goals.join(" "), assigned.join(" "))) {
            return;
        }
        if context.made.contains(path) {
            return self.made(path, false);
        }
        let Some(text) = self.premises.read(path) else {
            return self.unknown(format!("what {path} will say, which is not there yet"), true);
        };
        let mut included = Vec::new();
        let whole = self.with_includes(&text, path, given, folder, &mut included);
        let file = Makefile::read(&whole, path, folder, given);
        let wanted = file.closure(goals);
        for goal in goals.iter().filter(|goal| file.rules(&BTreeSet::from([(*goal).clone()])).next().is_none()) {
            self.unknown(format!("how `make {goal}` is made, for which {path} has no rule yet"), true);
        }
        // What another file needs counts in each of them.
        let mut counting: Vec<String> = file
            .rules(&wanted)
            .flat_map(|(targets, ..)| targets)
            .filter(|target| wanted.contains(*target))
            .cloned()
            .collect();
        counting.extend(goals.is_empty().then(String::new));
        counting.sort();
        counting.dedup();
        if !counting.is_empty() {
            let tool = if included.is_empty() { "make" } else { INCLUDING };
            let part = Part::Recipes { tool: tool.to_owned(), goals: counting };
            self.judge(path, part.clone(), named(&context.setting.by), false);
            for inner in included {
                self.judge(&inner, part.clone(), named(path), false);
            }
        }
        let made = self.products(&file, &wanted, folder);
        let setting = Setting { by: path.to_owned(), made, ..context.setting.clone() };
        for text in file.variables.values().filter(|value| value.contains("$(shell")) {
            self.names(text, &setting);
        }
        let phony: BTreeSet<&String> =
            file.rules(&BTreeSet::from([".PHONY".to_owned()])).flat_map(|(_, needs, _)| needs).collect();
        let branches = whole.lines().any(|line| line.trim_start().starts_with("if"));
        for (targets, needs, recipe) in file.rules(&wanted) {
            // What is made once and stands there is not made again.
            let is_made_anew = targets.iter().all(|target| phony.contains(target));
            let setting = Setting { certain: setting.certain && is_made_anew && !branches, ..setting.clone() };
            for target in targets.iter().filter(|target| wanted.contains(*target)) {
                self.must_stay_away(target, phony.contains(target), recipe, folder);
            }
            self.recipe(&file, (targets, needs, recipe), folder, &setting);
        }
        if let Some(shell) = file.variables.get("SHELL") {
            self.names(shell, &setting);
        }
    }

    /// Follows the lines of a recipe.
    fn recipe(
        &mut self,
        file: &Makefile,
        (targets, needs, recipe): (&[String], &[String], &[String]),
        folder: &str,
        setting: &Setting,
    ) {
        let mut own = BTreeMap::new();
        own.insert("@".to_owned(), targets.first().cloned().unwrap_or_default());
        own.insert("<".to_owned(), needs.first().cloned().unwrap_or_default());
        own.insert("^".to_owned(), needs.join(" "));
        for line in recipe {
            let line = file.expand(line.trim_start_matches(['@', '-', '+', ' ']), &own, 0);
            let mut scope = self.scope(folder);
            if file.variables.contains_key("PATH") {
                let path = file.reference("PATH", &own, 0).replace(':', " ");
                scope.set("PATH", vec![path.split_whitespace().collect::<Vec<_>>().join(":")]);
            }
            self.text(&line, &scope, setting);
        }
    }

    /// The files that recipes build from others, which are the work.
    fn products(&mut self, file: &Makefile, wanted: &BTreeSet<String>, folder: &str) -> Vec<String> {
        let mut made = Vec::new();
        for (targets, needs, recipe) in file.rules(wanted) {
            let builds = recipe.iter().any(|line| line.contains("$@") || line.contains("-o"));
            for target in targets.iter().filter(|target| wanted.contains(*target) && is_known(target)) {
                let path = place(self.premises.root(), folder, target);
                let is_text = self.premises.read(&path).is_some();
                if !builds || needs.is_empty() || is_text || target.contains('%') || super::table::is_made(&path) {
                    continue;
                }
                // One that is newer than its sources is not built again.
                if !self.premises.matches(&self.subject.work, &path) && self.executes(file, wanted, target) {
                    self.made(&path, true);
                }
                self.tried(&path);
                made.push(path);
            }
        }
        made
    }

    /// Whether a recipe executes a file by its path.
    fn executes(&self, file: &Makefile, wanted: &BTreeSet<String>, target: &str) -> bool {
        let by_path = format!("./{target}");
        let is_command = |line: &str| ["$<", "./$<", "$^", "./$^"].iter().any(|word| line.starts_with(word));
        file.rules(wanted).any(|(_, needs, recipe)| {
            let lines = recipe.iter().map(|line| line.trim_start_matches(['@', '-', '+', ' ']));
            let needs_it = needs.iter().any(|need| need == target);
            let interprets = |line: &str| {
                let mut words = line.split_whitespace();
                words.next().is_some_and(super::table::is_interpreter)
                    && words.any(|word| word == target || word == "$<")
            };
            lines.into_iter().any(|line| line.contains(&by_path) || interprets(line) || needs_it && is_command(line))
        })
    }

    /// A goal that a recipe makes every time, because no file of its name is there: one would silence it.
    fn must_stay_away(&mut self, target: &str, is_phony: bool, recipe: &[String], folder: &str) {
        let makes_it = recipe.iter().any(|line| {
            line.contains("$@")
                || line
                    .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')
                    .any(|word| word == target && line.contains("-o"))
        });
        let path = place(self.premises.root(), folder, target);
        let is_plain_name = target.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if is_plain_name
            && !is_phony
            && !recipe.is_empty()
            && !makes_it
            && self.premises.standing(&path) == Standing::Nothing
        {
            self.judge(&path, Part::Whole, Why::Configures { runner: "make".to_owned() }, false);
        }
    }

    /// A Makefile with the files that it includes, which count as it does.
    fn with_includes(
        &mut self,
        text: &str,
        path: &str,
        given: &[(String, String)],
        folder: &str,
        included: &mut Vec<String>,
    ) -> String {
        let file = Makefile::read(text, path, folder, given);
        let mut whole = text.to_owned();
        for item in &file.items {
            let Item::Include { files, optional, .. } = item else { continue };
            for word in file.words(files, &BTreeMap::new()) {
                // Files of dependencies are made by compilers. What the Makefile itself makes may come at any time: the
                // check is tried without it.
                if word.ends_with(".d") || file.makes(&word) && directs(&word).is_some() && !self.stands(&word, folder)
                {
                    continue;
                }
                for inner in self.included(&word, folder) {
                    if included.contains(&inner) {
                        continue;
                    }
                    included.push(inner.clone());
                    if let Some(text) = self.premises.read(&inner) {
                        let text = self.with_includes(&text, &inner, given, folder, included);
                        whole.push('\n');
                        whole.push_str(&text);
                    }
                }
                if !is_known(&word) && !*optional {
                    self.unknown(format!("what `include {files}` in {path} reads"), false);
                }
            }
        }
        whole
    }

    fn stands(&self, word: &str, folder: &str) -> bool {
        self.premises.standing(&place(self.premises.root(), folder, word)) != Standing::Nothing
    }

    /// The files that a word behind `include` means.
    fn included(&self, word: &str, folder: &str) -> Vec<String> {
        let path = if is_known(word) { place(self.premises.root(), folder, word) } else { return Vec::new() };
        let Some((before, after)) = super::premises::name(&path).split_once('*') else { return vec![path] };
        let names = self
            .premises
            .list(parent(&path))
            .into_iter()
            .filter(|file| file.starts_with(before) && file.ends_with(after));
        names.map(|file| place(self.premises.root(), parent(&path), &file)).collect()
    }
}

/// Lines as make sees them: one that ends with a backslash goes on.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        match lines.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.push(' ');
                last.push_str(line.trim_start());
            }
            None => lines.push(line.to_owned()),
        }
        goes_on = line.ends_with('\\');
        if let Some(last) = lines.last_mut().filter(|_| goes_on) {
            last.pop();
        }
    }
    lines
}

fn without_comment(line: &str) -> &str {
    let escaped = |at: usize| line.get(..at).is_some_and(|before| before.ends_with('\\'));
    line.match_indices('#').find(|(at, _)| !escaped(*at)).and_then(|(at, _)| line.get(..at)).unwrap_or(line)
}

/// Targets and what stands behind the colon that ends them.
fn split_rule(line: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, c) in line.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return Some((line.get(..at)?, line.get(at + 1..)?)),
            _ => {}
        }
    }
    None
}

/// What stands in the brackets with which a text begins, and what follows.
fn closed(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return (text.get(1..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
        }
    }
    (text.get(1..).unwrap_or_default(), "")
}

/// Whether a target is among the wanted ones, by its pattern if it is one.
fn is_wanted(target: &str, wanted: &BTreeSet<String>) -> bool {
    let by_pattern = |(before, after): (&str, &str)| {
        wanted
            .iter()
            .any(|goal| goal.len() > before.len() + after.len() && goal.starts_with(before) && goal.ends_with(after))
    };
    wanted.contains(target) || target.split_once('%').is_some_and(by_pattern)
}

/// Targets that concern every goal.
fn is_special(target: &str) -> bool {
    target.contains('%') || (target.starts_with('.') && !target.contains('/'))
}

/// Variables that programs or make itself read without being told to.
fn of_the_environment(name: &str) -> bool {
    const ENDINGS: [&str; 8] = ["PATH", "FLAGS", "OPTS", "OPTIONS", "HOME", "_ENV", "SHELL", "PRELOAD"];
    const BEGINNINGS: [&str; 13] =
        ["LD_", "DYLD_", "PYTHON", "NODE", "npm_", "NPM", "CARGO", "RUST", "GO", "MAKE", "GIT_", "BASH", "."];
    const WHOLE: [&str; 14] =
        ["ENV", "CC", "CXX", "LD", "AR", "AS", "CPP", "FC", "LINT", "RM", "IFS", "VPATH", "CI", "JAVA"];
    ENDINGS.iter().any(|ending| name.ends_with(ending))
        || BEGINNINGS.iter().any(|start| name.starts_with(start))
        || WHOLE.contains(&name)
}

/// Whether a text uses a variable.
fn mentions(text: &str, name: &str) -> bool {
    [
        format!("({name})"),
        format!("{{{name}}}"),
        format!("({name}:"),
        format!("{{{name}:"),
        format!("({name} "),
        format!(",{name})"),
        format!("call {name}"),
        format!("${name}"),
    ]
    .iter()
    .any(|form| text.contains(form))
}
