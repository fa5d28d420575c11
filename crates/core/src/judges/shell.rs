//! The commands of a shell text, with where they run and what their words stand for.
//!
//! Branches, loops and functions are all taken as run: a judge that is only sometimes asked is a judge. What is not
//! understood is told line by line, never passed over.

use super::pieces::pieces;
use super::premises::{TEMPORARY, UNKNOWN, is_known};
use super::table;
use super::word::Scope;
use crate::evidence::{bodies, is_one_of, parse};
use brush_parser::ast::{
    Assignment, AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand,
    CompoundList, FunctionDefinition, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline, RedirectList,
    SimpleCommand,
};
use std::collections::{BTreeMap, BTreeSet};

/// Functions in functions, and files that files read, that are followed.
const DEEPEST: usize = 8;
/// Combinations of what a command's words may stand for.
const MOST_COMBINATIONS: usize = 64;
/// Calls of functions that are followed: functions that call each other several times multiply.
const MOST_BODIES: usize = 500;
/// Commands of one text.
const MOST_CALLS: usize = 4000;

/// A command that a text runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    /// Where it runs.
    pub(super) folder: String,
    /// Whether another command compares what it prints.
    pub(super) compared: bool,
    /// Files that it reads as its input.
    pub(super) inputs: Vec<String>,
    /// Whether another command's output comes in.
    pub(super) fed: bool,
    /// Folders that the text puts into the search path.
    pub(super) paths: Vec<String>,
    /// As it is written.
    pub(super) raw: String,
}

/// What a text turned out to hold.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) calls: Vec<Call>,
    /// Lines that were not understood.
    pub(super) unread: Vec<String>,
    /// Files that the text writes, by redirection.
    pub(super) written: BTreeSet<String>,
    /// Those of them that it compares.
    pub(super) outputs: BTreeSet<String>,
    /// Patterns of files that it goes through.
    pub(super) loops: BTreeSet<String>,
    /// Functions that it defines.
    pub(super) functions: BTreeSet<String>,
    /// Files that programs read because a variable names them, such as `BASH_ENV`.
    pub(super) named: BTreeSet<String>,
    /// Whether it reads other texts into itself, so that unknown names may be their functions.
    pub(super) sources: bool,
}

/// Reads a text.
pub(super) fn read(text: &str, scope: &Scope<'_>) -> Reading {
    // What is compared may stand behind what prints it, so the text is walked twice.
    let mut first = Reader::default();
    first.text(text, &mut scope.clone(), false);
    let mut reader = Reader { compares: first.compares, ..Reader::default() };
    reader.text(text, &mut scope.clone(), false);
    reader.reading.functions.extend(reader.functions.into_keys());
    reader.reading
}

/// The commands of a text that holds nothing but simple ones, as they are written; `None` for any other text.
pub(super) fn plain_commands(text: &str) -> Option<Vec<Vec<String>>> {
    let program = parse(text)?;
    let lists = program.complete_commands.iter().flat_map(|list| list.0.iter());
    let pipelines = lists.flat_map(|item| item.0.iter().map(|(_, pipeline)| pipeline));
    let words = |pipeline: &Pipeline| match pipeline.seq.as_slice() {
        [Command::Simple(command)] => {
            let name = command.word_or_name.as_ref()?.value.clone();
            let rest = command.suffix.iter().flat_map(|suffix| suffix.0.iter());
            let rest = rest.filter_map(|item| match item {
                Item::Word(word) => Some(word.value.clone()),
                _ => None,
            });
            Some(std::iter::once(name).chain(rest).collect())
        }
        _ => None,
    };
    pipelines.map(words).collect()
}

/// Whether what a command is depends on what a file holds, so that the next run may do something else.
pub(super) fn reads_files(raw: &str) -> bool {
    const READING: &str = "cat|head|tail|sed|awk|grep|cut|jq|yq|<";
    let substituted = raw.split("$(").skip(1).chain(raw.split('`').skip(1).step_by(2));
    substituted.into_iter().any(|text| {
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '<');
        words.any(|word| is_one_of(word, READING))
    })
}

/// The files that a substituted text prints and nothing else.
fn printed_files(text: &str, scope: &Scope<'_>) -> Option<Vec<String>> {
    let by_shell = text.trim().strip_prefix('<').map(|file| vec![vec!["cat".to_owned(), file.trim().to_owned()]]);
    let commands = by_shell.or_else(|| plain_commands(text))?;
    let files = commands.iter().map(|words| match words.split_first() {
        Some((name, files)) if name == "cat" => files.iter().map(|file| Some(scope.place(&scope.one(file)?))).collect(),
        _ => None,
    });
    files.collect::<Option<Vec<Vec<String>>>>().map(|files| files.concat())
}

/// What the comparing commands of a text look at.
#[derive(Default, Clone)]
struct Compares {
    variables: BTreeSet<String>,
    files: BTreeSet<String>,
}

#[derive(Default)]
struct Reader {
    reading: Reading,
    compares: Compares,
    functions: BTreeMap<String, FunctionDefinition>,
    /// Whether the member of a pipeline that is walked is not its first.
    fed: bool,
    depth: usize,
    /// Bodies of functions that were walked through.
    bodies: usize,
}

impl Reader {
    fn text(&mut self, text: &str, scope: &mut Scope<'_>, compared: bool) {
        let pieces = pieces(text);
        self.reading.unread.extend(pieces.unread);
        self.reading.functions.extend(pieces.functions);
        for program in &pieces.programs {
            for list in &program.complete_commands {
                self.list(list, scope, compared);
            }
        }
    }

    fn list(&mut self, list: &CompoundList, scope: &mut Scope<'_>, compared: bool) {
        for item in &list.0 {
            for (_, pipeline) in item.0.iter() {
                self.pipeline(pipeline, scope, compared);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, scope: &mut Scope<'_>, compared: bool) {
        if let [command] = pipeline.seq.as_slice() {
            return self.command(command, scope, compared);
        }
        for (at, member) in pipeline.seq.iter().enumerate() {
            let later = pipeline.seq.get(at + 1..).unwrap_or_default();
            let is_compared = compared || later.iter().any(|command| compares(command, scope));
            let fed = std::mem::replace(&mut self.fed, at > 0);
            self.command(member, &mut scope.clone(), is_compared);
            self.fed = fed;
        }
    }

    fn command(&mut self, command: &Command, scope: &mut Scope<'_>, compared: bool) {
        match command {
            Command::Simple(command) => self.simple(command, scope, compared),
            Command::Compound(compound, redirects) => {
                let (inputs, is_compared) = self.redirects(redirects.as_ref(), scope);
                let calls = self.reading.calls.len();
                self.compound(compound, scope, compared || is_compared);
                // What a loop reads line by line it asks about.
                if let Some(call) = self.reading.calls.get_mut(calls) {
                    call.inputs.extend(inputs.into_iter().map(|input| format!("{UNKNOWN}{input}")));
                }
            }
            Command::Function(function) => {
                let name = function.fname.value.clone();
                self.functions.insert(name, function.clone());
                // With what it is called is seen at each call; here it only must not go unseen.
                let mut inside = Scope { arguments: None, ..scope.clone() };
                let (calls, unread) = (self.reading.calls.len(), self.reading.unread.len());
                self.body(function, &mut inside, compared);
                let own = self.reading.calls.split_off(calls);
                self.reading.calls.extend(own.into_iter().filter(|call| call.words.iter().all(|word| is_known(word))));
                self.reading.unread.truncate(unread);
            }
            Command::ExtendedTest(test, _) => {
                let text = test.expr.to_string();
                self.note_compared(std::slice::from_ref(&text), scope);
                let inner = scope.expand(&text).inner;
                self.inner(&inner, scope, true);
            }
        }
    }

    fn body(&mut self, function: &FunctionDefinition, scope: &mut Scope<'_>, compared: bool) {
        self.bodies += 1;
        if self.bodies == MOST_BODIES {
            self.reading.unread.push(format!("{}()", function.fname.value));
        }
        if self.depth < DEEPEST && self.bodies < MOST_BODIES {
            self.depth += 1;
            self.compound(&function.body.0, scope, compared);
            self.depth -= 1;
        }
    }

    fn compound(&mut self, compound: &CompoundCommand, scope: &mut Scope<'_>, compared: bool) {
        match compound {
            CompoundCommand::Subshell(shell) => return self.list(&shell.list, &mut scope.clone(), compared),
            CompoundCommand::ForClause(clause) => {
                let mut inner = Vec::new();
                let words = clause.values.iter().flatten().flat_map(|word| scope.words(&word.value, &mut inner));
                let values = words.flatten().collect::<Vec<_>>();
                self.inner(&inner, scope, compared);
                let arguments = || scope.arguments.clone().unwrap_or_else(|| vec![UNKNOWN.to_string()]);
                let values = if clause.values.is_some() { values } else { arguments() };
                let patterns = values.iter().filter(|value| value.contains('*') && is_known(value));
                self.reading.loops.extend(patterns.map(|value| scope.place(value)));
                scope.set(&clause.variable_name, values);
            }
            CompoundCommand::CaseClause(clause) => {
                self.note_compared(std::slice::from_ref(&clause.value.value), scope);
                let inner = scope.expand(&clause.value.value).inner;
                self.inner(&inner, scope, true);
            }
            CompoundCommand::Coprocess(coprocess) => return self.command(&coprocess.body, scope, compared),
            _ => {}
        }
        for list in bodies(compound) {
            self.list(list, scope, compared);
        }
    }

    /// Commands that are substituted in a word.
    fn inner(&mut self, texts: &[String], scope: &Scope<'_>, compared: bool) {
        for text in texts {
            if self.depth < DEEPEST {
                self.depth += 1;
                self.text(text, &mut scope.clone(), compared);
                self.depth -= 1;
            }
        }
    }

    /// Variables and files that a comparing command is given.
    fn note_compared(&mut self, raw: &[String], scope: &Scope<'_>) {
        for word in raw {
            for part in word.split('$').skip(1) {
                let name = part.trim_start_matches('{');
                let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
                self.compares.variables.extend(name.get(..end).filter(|name| !name.is_empty()).map(str::to_owned));
            }
            self.compares.files.extend(scope.one(word).map(|path| scope.place(&path)));
        }
    }

    /// Files that are read as input, and whether a written one is compared.
    fn redirects(&mut self, redirects: Option<&RedirectList>, scope: &Scope<'_>) -> (Vec<String>, bool) {
        let (mut inputs, mut compared) = (Vec::new(), false);
        for redirect in redirects.iter().flat_map(|list| list.0.iter()) {
            self.redirect(redirect, scope, &mut inputs, &mut compared);
        }
        (inputs, compared)
    }

    fn redirect(&mut self, redirect: &IoRedirect, scope: &Scope<'_>, inputs: &mut Vec<String>, compared: &mut bool) {
        let (kind, word) = match redirect {
            IoRedirect::File(_, kind, IoFileRedirectTarget::Filename(word)) => (Some(kind), word),
            IoRedirect::File(_, _, IoFileRedirectTarget::ProcessSubstitution(_, shell)) => {
                return self.list(&shell.list, &mut scope.clone(), *compared);
            }
            IoRedirect::OutputAndError(word, _) => (None, word),
            IoRedirect::HereString(_, word) => {
                let inner = scope.expand(&word.value).inner;
                return self.inner(&inner, scope, true);
            }
            _ => return,
        };
        let expanded = scope.expand(&word.value);
        self.inner(&expanded.inner, scope, false);
        for value in expanded.values.iter().filter(|value| is_known(value)) {
            let path = scope.place(value);
            if matches!(kind, Some(IoFileRedirectKind::Read)) {
                inputs.push(path);
            } else {
                if self.compares.files.contains(&path) {
                    *compared = true;
                    self.reading.outputs.insert(path.clone());
                }
                self.reading.written.insert(path);
            }
        }
    }

    fn simple(&mut self, command: &SimpleCommand, scope: &mut Scope<'_>, compared: bool) {
        for item in command.prefix.iter().flat_map(|prefix| prefix.0.iter()) {
            if let Item::AssignmentWord(assignment, _) = item {
                self.assign(assignment, scope);
            }
        }
        let mut inner = Vec::new();
        let mut words: Vec<Vec<String>> = Vec::new();
        let mut raw = Vec::new();
        if let Some(word) = &command.word_or_name {
            words.extend(scope.words(&word.value, &mut inner));
            raw.push(word.value.clone());
        }
        let first = words.first().and_then(|first| first.first()).cloned().unwrap_or_default();
        let is_comparing = table::compares(&first);
        let (mut inputs, mut is_compared) = (Vec::new(), compared);
        let prefix = command.prefix.iter().flat_map(|prefix| prefix.0.iter());
        for item in prefix.chain(command.suffix.iter().flat_map(|suffix| suffix.0.iter())) {
            match item {
                Item::IoRedirect(redirect) => self.redirect(redirect, scope, &mut inputs, &mut is_compared),
                Item::ProcessSubstitution(_, shell) => {
                    words.push(vec![UNKNOWN.to_string()]);
                    raw.push("<(…)".to_owned());
                    self.list(&shell.list, &mut scope.clone(), compared || is_comparing);
                }
                Item::Word(word) => {
                    words.extend(scope.words(&word.value, &mut inner));
                    raw.push(word.value.clone());
                }
                Item::AssignmentWord(assignment, word)
                    if !command
                        .prefix
                        .as_ref()
                        .is_some_and(|prefix| prefix.0.iter().any(|own| std::ptr::eq(own, item))) =>
                {
                    if matches!(first.as_str(), "export" | "declare" | "local" | "readonly" | "typeset") {
                        self.assign(assignment, scope);
                    } else {
                        words.extend(scope.words(&word.value, &mut inner));
                        raw.push(word.value.clone());
                    }
                }
                Item::AssignmentWord(..) => {}
            }
        }
        if is_comparing {
            self.note_compared(&raw, scope);
        }
        self.inner(&inner, scope, compared || is_comparing);
        if words.is_empty() || first == "eval" && self.evaluated(&inner, scope, compared) {
            return;
        }
        for words in combinations(&words) {
            if self.reading.calls.len() < MOST_CALLS {
                let (folder, inputs, paths) = (scope.folder.clone(), inputs.clone(), search_path(scope));
                let raw = raw.join(" ");
                self.call(Call { words, folder, compared: is_compared, inputs, fed: self.fed, paths, raw }, scope);
            }
        }
    }

    /// `eval "$(cat FILE)"`: what the file holds is run as if it stood there. Tells whether that is all.
    fn evaluated(&mut self, inner: &[String], scope: &Scope<'_>, compared: bool) -> bool {
        let files: Option<Vec<Vec<String>>> = inner.iter().map(|text| printed_files(text, scope)).collect();
        let files = files.unwrap_or_default().concat();
        let texts: Option<Vec<String>> = files.iter().map(|file| scope.premises.read(file)).collect();
        let Some(texts) = texts.filter(|texts| !texts.is_empty()) else { return false };
        self.reading.named.extend(files);
        self.inner(&texts, scope, compared);
        true
    }

    fn assign(&mut self, assignment: &Assignment, scope: &mut Scope<'_>) {
        let AssignmentName::VariableName(name) = &assignment.name else { return };
        let raw: Vec<&String> = match &assignment.value {
            AssignmentValue::Scalar(word) => vec![&word.value],
            AssignmentValue::Array(items) => items.iter().map(|(_, word)| &word.value).collect(),
        };
        for word in raw {
            let expanded = scope.expand(word);
            let compared = self.compares.variables.contains(name);
            if table::names_files(name) {
                let words = expanded.values.iter().flat_map(|value| value.split([' ', '=', ':']));
                self.reading.named.extend(words.filter(|word| is_known(word)).map(|word| scope.place(word)));
            }
            self.inner(&expanded.inner, scope, compared);
            let is_temporary = expanded.inner.iter().any(|text| text.split_whitespace().next() == Some("mktemp"));
            scope.set(name, if is_temporary { vec![format!("{TEMPORARY}{name}")] } else { expanded.values });
        }
    }

    /// A command whose words are settled: what the shell itself does, functions, and programs.
    fn call(&mut self, call: Call, scope: &mut Scope<'_>) {
        let arguments = call.words.get(1..).unwrap_or_default();
        let first_operand = || arguments.iter().find(|word| !word.starts_with('-') || word.len() == 1);
        let name = call.words.first().map(String::as_str).unwrap_or_default();
        if self.functions.contains_key(name) {
            if let Some(function) = self.functions.get(name).cloned() {
                let outer = scope.arguments.replace(arguments.to_vec());
                self.body(&function, scope, call.compared);
                scope.arguments = outer;
            }
            return;
        }
        match name {
            "cd" | "pushd" => {
                let home = || scope.premises.variable("HOME").unwrap_or_else(|| UNKNOWN.to_string());
                let target = first_operand().cloned().unwrap_or_else(home);
                let is_anywhere = target == "-" || target.starts_with(TEMPORARY);
                scope.folder = if is_anywhere { UNKNOWN.to_string() } else { scope.place(&target) };
            }
            "popd" => scope.folder = UNKNOWN.to_string(),
            "set" if arguments.iter().any(|word| word == "--") => {
                scope.arguments = Some(arguments.iter().skip_while(|word| *word != "--").skip(1).cloned().collect());
            }
            "shift" => {
                let count = first_operand().and_then(|count| count.parse().ok()).unwrap_or(1);
                scope.arguments = scope.arguments.take().map(|all| all.into_iter().skip(count).collect());
            }
            "eval" if arguments.iter().all(|word| is_known(word)) => {
                self.inner(&[arguments.join(" ")], scope, call.compared);
            }
            "trap" => self.inner(arguments.get(..1).unwrap_or_default(), scope, call.compared),
            "." | "source" => {
                self.reading.sources = true;
                let path = first_operand().map(|path| scope.place(path)).unwrap_or_default();
                if let Some(text) =
                    scope.premises.read(&path).filter(|_| self.depth < DEEPEST && !path.ends_with("bin/activate"))
                {
                    self.depth += 1;
                    let absolute = scope.absolute(&path);
                    let script = std::mem::replace(&mut scope.script, absolute);
                    self.text(&text, scope, call.compared);
                    scope.script = script;
                    self.depth -= 1;
                }
                self.reading.calls.push(call);
            }
            _ => self.reading.calls.push(call),
        }
    }
}

/// The folders that a text has put into the search path.
fn search_path(scope: &Scope<'_>) -> Vec<String> {
    let given = scope.variables.get("PATH").into_iter().flatten();
    let folders = given.flat_map(|value| value.split(':')).filter(|folder| !folder.is_empty() && is_known(folder));
    folders.map(|folder| scope.place(folder)).collect()
}

/// Whether a member of a pipeline judges what comes into it.
fn compares(command: &Command, scope: &Scope<'_>) -> bool {
    match command {
        Command::Simple(command) => {
            let name = command.word_or_name.as_ref().and_then(|word| scope.one(&word.value));
            let arguments = command.suffix.iter().flat_map(|suffix| suffix.0.iter());
            let mut arguments = arguments.filter_map(|item| match item {
                Item::Word(word) => scope.one(&word.value),
                _ => None,
            });
            name.is_some_and(|name| {
                table::compares(&name)
                    || (table::is_interpreter(&name) && arguments.any(|word| !word.starts_with('-')))
                    || (table::passes_on(&name) && arguments.any(|word| table::compares(&word)))
            })
        }
        Command::Compound(compound, _) => bodies(compound).iter().any(|list| {
            let commands = list.0.iter().flat_map(|item| item.0.iter().flat_map(|(_, pipeline)| pipeline.seq.iter()));
            commands.into_iter().any(|command| compares(command, scope))
        }),
        Command::ExtendedTest(..) => true,
        Command::Function(_) => false,
    }
}

/// Every way to choose one alternative for each word.
fn combinations(words: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut all = vec![Vec::with_capacity(words.len())];
    for alternatives in words {
        let unknown = [UNKNOWN.to_string()];
        let chosen = match alternatives.as_slice() {
            [] => &unknown[..],
            several if all.len() * several.len() > MOST_COMBINATIONS => &unknown[..],
            several => several,
        };
        let with = |start: &Vec<String>| {
            let add = |word: &String| start.iter().chain([word]).cloned().collect::<Vec<_>>();
            chosen.iter().map(add).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}
