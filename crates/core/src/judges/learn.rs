//! Learning what checks are made of, by reading.
//!
//! From a check's command every text is followed that it leads to: scripts, recipes, package scripts, and what they
//! call in turn. Which of the files on the way judge, and which are the work, is decided by these rules:
//!
//! 1. A file that is executed or interpreted by its name is a judge, wherever it lies: `sh app.sh`, `./run`,
//!    `python verify.py`.
//! 2. Unless it is the program that the check is there to try: another command compares what it prints. Its output
//!    goes through a pipe into `grep`, `diff` or the like, stands in a substitution inside `test`, or ends in a file or
//!    a variable that such a command looks at: `node index.js | grep ok`, `test "$(./app)" = 3`, `./app > out; diff out
//!    expected`.
//! 3. Rule 2 does not hold for a file whose name or folder says that it judges (`sh check.sh | grep PASS`), nor for
//!    one that runs tests, linters or type checkers itself, whatever it is called.
//! 4. What lies in a folder of build results, what a pattern collects among tests, and what people declared as work
//!    is work.
//! 5. A file that nobody has written yet cannot be known: the check is told as unknown, unless rule 2 or 4 makes the
//!    file the work, or the same text makes it.
//! 6. What the comparing side is told is a judge too: expected outputs, files of patterns, programs of `awk`.

use super::premises::{Premises, UNKNOWN, is_known, name, parent, upward};
use super::shell::{self, Call};
use super::table::{self, Kit, Runner};
use super::word::Scope;
use super::{Cache, Judge, Known, Made, Part, Standing, Subject, Unknown, Why};
use crate::evidence;
use std::collections::BTreeSet;

/// Texts behind texts that are followed; nobody writes more.
const DEEPEST: usize = 16;
/// Words of one text that are looked up as names of programs: each costs a look into every folder of the search path.
const MOST_NAMES: usize = 1000;

/// Characters that tell what is not known.
const LONGEST_SENTENCE: usize = 200;

/// What these checks are made of.
pub fn learn(subjects: &[Subject], premises: &dyn Premises) -> Known {
    let mut known = Known::default();
    for subject in subjects {
        let mut learner = Learner { premises, subject, known, seen: BTreeSet::new(), depth: 0 };
        learner.known.program("sh", &subject.id);
        let setting = Setting { certain: true, ..Setting::default() };
        learner.text(&subject.command, &Scope::new(premises, ""), &setting);
        learner.forget_reconfigured();
        known = learner.known;
    }
    known
}

/// One check, and what is known so far.
pub(super) struct Learner<'a> {
    pub(super) premises: &'a dyn Premises,
    pub(super) subject: &'a Subject,
    pub(super) known: Known,
    /// Texts that were followed.
    seen: BTreeSet<String>,
    depth: usize,
}

/// What a text is part of.
#[derive(Debug, Clone, Default)]
pub(super) struct Setting {
    /// The file that holds it; empty for the check's own command.
    pub(super) by: String,
    /// The package whose programs come first in the search path.
    pub(super) package: Option<String>,
    /// The virtual environment that is active.
    pub(super) venv: Option<String>,
    /// Folders that the texts around it put into the search path.
    pub(super) paths: Vec<String>,
    /// Whether the check installs what it uses.
    pub(super) installs: bool,
    /// Whether it has run, and its output is the check's, if the check succeeds.
    pub(super) certain: bool,
    /// Files that the recipes around it make.
    pub(super) made: Vec<String>,
}

/// A text as it is being followed.
pub(super) struct Context<'c> {
    pub(super) setting: &'c Setting,
    /// Files that the text makes before they are used: every argument and every redirection may be one.
    pub(super) made: &'c BTreeSet<String>,
    /// Patterns of files that the text goes through.
    pub(super) loops: &'c BTreeSet<String>,
    pub(super) functions: &'c BTreeSet<String>,
    pub(super) sources: bool,
}

impl<'a> Learner<'a> {
    /// Whether something is followed for the first time.
    pub(super) fn is_new(&mut self, what: String) -> bool {
        self.seen.insert(what)
    }

    pub(super) fn unknown(&mut self, what: String, varies: bool) {
        let line = what.replace(UNKNOWN, "…").split_whitespace().collect::<Vec<_>>().join(" ");
        let what = crate::text::truncate(&line, LONGEST_SENTENCE);
        let unknown = Unknown { check: self.subject.id.clone(), what, varies, made: false };
        if !self.known.unknown.contains(&unknown) {
            self.known.unknown.push(unknown);
        }
    }

    /// Adds a judge, unless people say that it is the work.
    pub(super) fn judge(&mut self, path: &str, part: Part, why: Why, executed: bool) {
        let is_work = self.premises.matches(&self.subject.work, path);
        if is_known(path) && !path.is_empty() && !is_work {
            let of = vec![self.subject.id.clone()];
            self.known.judge(Judge { path: path.to_owned(), part, why, of, executed });
        }
    }

    /// A file that is a judge because a text names it.
    pub(super) fn named(&mut self, path: &str, by: &str, executed: bool) {
        self.judge(path, Part::Whole, named(by), executed);
    }

    pub(super) fn tried(&mut self, path: &str) {
        if !self.known.tried.iter().any(|known| known == path) {
            self.known.tried.push(path.to_owned());
        }
    }

    /// A file that the check makes before it executes it. One that an agent left in its place is not needed.
    pub(super) fn made(&mut self, path: &str, stays: bool) {
        self.tried(path);
        let made = Made { check: self.subject.id.clone(), path: path.to_owned(), stays };
        if !path.starts_with('/') && is_known(path) && !self.known.made.contains(&made) {
            self.known.made.push(made);
        }
    }

    pub(super) fn cache(&mut self, path: String, variable: &str) {
        let cache = Cache { check: self.subject.id.clone(), path, variable: variable.to_owned() };
        if !self.known.caches.contains(&cache) {
            self.known.caches.push(cache);
        }
    }

    /// Every word of a text that is the name of a program: who stands before it in the search path decides.
    pub(super) fn names(&mut self, text: &str, setting: &Setting) {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "._+-[".contains(letter);
        let words = text
            .split(|letter| !is_part(letter))
            .filter(|word| word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '['));
        let words: BTreeSet<&str> = words.collect();
        for word in words.into_iter().take(MOST_NAMES) {
            if self.premises.find(word).is_some() {
                self.known.program(word, &self.subject.id);
                self.nearer(word, setting);
            }
        }
    }

    /// What must stay away, because it would be found before the program that a name leads to.
    pub(super) fn nearer(&mut self, word: &str, setting: &Setting) {
        if setting.installs {
            return;
        }
        let bins = setting.package.iter().flat_map(|package| upward(package));
        let bins = bins.map(|folder| self.below(folder, "node_modules/.bin"));
        let environment = setting.venv.iter().filter(|venv| !venv.is_empty()).map(|venv| format!("{venv}/bin"));
        let places: Vec<String> = bins
            .chain(environment)
            .chain(setting.paths.iter().cloned())
            .map(|folder| self.below(&folder, word))
            .take_while(|path| self.premises.standing(path) != Standing::File)
            .collect();
        for path in places {
            self.configured(&path, &Part::Whole, word);
        }
    }

    /// The folders that a text puts into the search path, without those that are in it anyway.
    fn added_paths(&self, calls: &[Call]) -> Vec<String> {
        let usual = self.premises.variable("PATH").unwrap_or_default();
        let usual: BTreeSet<String> = usual.split(':').map(|folder| self.below("", folder)).collect();
        let mut added: Vec<String> = Vec::new();
        for folder in calls.iter().flat_map(|call| &call.paths) {
            if !usual.contains(folder) && !added.contains(folder) {
                added.push(folder.clone());
            }
        }
        added
    }

    /// Follows a shell text.
    pub(super) fn text(&mut self, text: &str, scope: &Scope<'a>, setting: &Setting) {
        if self.depth >= DEEPEST {
            return self.unknown(format!("what is behind {}", shown(&setting.by)), false);
        }
        self.depth += 1;
        let reading = shell::read(text, scope);
        for line in &reading.unread {
            self.unknown(format!("what `{line}` in {} runs", shown(&setting.by)), false);
        }
        let installs = table::INSTALLING.split('|').any(|words| text.contains(words));
        let activated = reading.calls.iter().find_map(|call| activated(call, scope));
        let setting = Setting {
            installs: setting.installs || installs,
            venv: activated.or_else(|| setting.venv.clone()),
            paths: self.added_paths(&reading.calls).into_iter().chain(setting.paths.iter().cloned()).collect(),
            ..setting.clone()
        };
        self.names(text, &setting);
        for path in reading.named.iter().filter(|path| self.premises.standing(path) == Standing::File) {
            self.named(path, &setting.by, false);
        }
        for output in reading.outputs.iter().filter(|path| !path.starts_with('/')) {
            self.judge(output, Part::Output, named(&setting.by), false);
        }
        let mut made: BTreeSet<String> = reading.written.iter().chain(&setting.made).cloned().collect();
        let certain = if setting.certain { evidence::certain(text) } else { BTreeSet::new() };
        for call in &reading.calls {
            let setting = Setting { certain: !call.compared && certain.contains(&call.raw), ..setting.clone() };
            let context = Context {
                setting: &setting,
                made: &made,
                loops: &reading.loops,
                functions: &reading.functions,
                sources: reading.sources,
            };
            self.call(call, &context);
            let inside = Scope { folder: call.folder.clone(), ..scope.clone() };
            // Whoever only looks at a file does not make it.
            let first = call.words.first().map(String::as_str).unwrap_or_default();
            let only_looks = table::compares(first) || matches!(first, "." | "source" | "cat" | "command");
            let words = call.words.iter().skip(1).filter(|word| !word.starts_with('-') && !only_looks);
            made.extend(words.map(|word| inside.place(word)));
            // Perl's own way to a Makefile.
            made.extend(call.words.iter().any(|word| name(word) == "Makefile.PL").then(|| inside.place("Makefile")));
        }
        self.depth -= 1;
    }

    /// Where a program's name leads in a text: into the package or the virtual environment around it, if it is there.
    pub(super) fn local_program(&self, program: &str, folder: &str, setting: &Setting) -> Option<String> {
        let is_file = |path: &String| self.premises.standing(path) == Standing::File;
        let below =
            |folder: &str, path: &str| if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
        let in_package = setting.package.as_deref().and_then(|package| {
            let vendor = below(package, &format!("vendor/bin/{program}"));
            let mut bins = upward(package).map(|folder| below(folder, &format!("node_modules/.bin/{program}")));
            bins.find(is_file).or_else(|| Some(vendor).filter(is_file))
        });
        let in_venv = || {
            let venv = setting.venv.as_ref()?;
            let given = Some(format!("{venv}/bin/{program}")).filter(|_| !venv.is_empty());
            let around = || upward(folder).map(|folder| below(folder, &format!(".venv/bin/{program}"))).find(is_file);
            given.filter(is_file).or_else(around)
        };
        let by_path = || {
            let found = self.premises.find(program)?;
            let place = super::premises::place(self.premises.root(), "", &found);
            (!place.starts_with('/')).then_some(place)
        };
        in_package.or_else(in_venv).or_else(by_path)
    }

    /// What the runner of this name reads and keeps, if the table knows it.
    pub(super) fn configure_named(&mut self, program: &str, folder: &str) {
        if let Some(row) = table::runner(program) {
            self.configure(row, program, folder);
        }
    }

    /// Everything that a runner reads and keeps.
    pub(super) fn configure(&mut self, runner: &Runner, program: &str, folder: &str) {
        if !is_known(folder) {
            return self.unknown(format!("where `{program}` runs"), false);
        }
        if !self.is_new(format!("runner {} {folder}", runner.names)) {
            return;
        }
        for pattern in runner.reads.split_whitespace() {
            self.configuration(pattern, program, folder);
        }
        for cache in runner.keeps.split_whitespace() {
            let (path, variable) = cache.split_once('=').unwrap_or((cache, ""));
            let path = if path.is_empty() { String::new() } else { self.below(folder, path) };
            self.cache(path, variable);
        }
        if runner.kit == Kit::Python {
            self.cache(String::new(), "PYTHONPYCACHEPREFIX");
            for file in ["sitecustomize.py", "usercustomize.py"] {
                let path = self.below(folder, file);
                self.judge(&path, Part::Whole, Why::Configures { runner: program.to_owned() }, false);
            }
        }
    }

    pub(super) fn below(&self, folder: &str, path: &str) -> String {
        super::premises::place(self.premises.root(), folder, path)
    }

    fn configuration(&mut self, pattern: &str, program: &str, folder: &str) {
        let mark = pattern.find('#').or_else(|| pattern.find("-xml:")).or_else(|| pattern.find("-gradle:"));
        let (file, part) = pattern.split_at(mark.unwrap_or(pattern.len()));
        let part = part_of(part);
        let anywhere = file.starts_with('^');
        for file in table::braces(file.trim_start_matches('^')) {
            let file = file.trim_end_matches('/');
            if let Some(below) = file.strip_prefix("~/") {
                let home = self.home(below);
                self.configured(&home, &part, program);
                continue;
            }
            let folders: Vec<String> = upward(folder).map(str::to_owned).collect();
            for folder in folders {
                let path = self.below(&folder, file);
                self.configured(&path, &part, program);
            }
            if anywhere {
                let mut above = self.premises.root().to_owned();
                while above.len() > 1 {
                    above = parent(&above).to_owned();
                    let path = format!("{}/{file}", above.trim_end_matches('/'));
                    self.configured(&path, &part, program);
                }
            }
        }
    }

    /// A file below the home folder, or where a variable says that it is instead.
    pub(super) fn home(&self, below: &str) -> String {
        const ELSEWHERE: [(&str, &str); 4] = [
            (".cargo/", "CARGO_HOME"),
            (".config/", "XDG_CONFIG_HOME"),
            (".gradle/", "GRADLE_USER_HOME"),
            (".rustup/", "RUSTUP_HOME"),
        ];
        let instead = ELSEWHERE.iter().find_map(|(folder, variable)| {
            Some(format!("{}/{}", self.premises.variable(variable)?, below.strip_prefix(folder)?))
        });
        let go = (below == ".config/go/env").then(|| self.premises.variable("GOENV")).flatten();
        let usual = || self.premises.variable("HOME").map(|home| format!("{home}/{below}"));
        let path = go.or(instead).or_else(usual).unwrap_or_else(|| UNKNOWN.to_string());
        if is_known(&path) { super::premises::place(self.premises.root(), "", &path) } else { path }
    }

    pub(super) fn configured(&mut self, path: &str, part: &Part, program: &str) {
        self.judge(path, part.clone(), Why::Configures { runner: program.to_owned() }, false);
    }

    /// Runs a call again with other words.
    pub(super) fn again(&mut self, words: &[String], call: &Call, context: &Context<'_>) {
        self.call(&Call { words: words.to_vec(), ..call.clone() }, context);
    }

    /// Whether a name means nothing outside of the text: a function of it, or of a file that it reads in.
    pub(super) fn is_function(&self, name: &str, context: &Context<'_>) -> bool {
        let nowhere = || table::runner(name).is_none() && !table::is_plain(name) && self.premises.find(name).is_none();
        context.functions.contains(name) || (context.sources && !name.contains('/') && nowhere())
    }

    pub(super) fn scope(&self, folder: &str) -> Scope<'a> {
        Scope::new(self.premises, folder)
    }
}

/// Why something that a text names is a judge.
pub(super) fn named(by: &str) -> Why {
    Why::Named { by: by.to_owned() }
}

/// How a text is called in a sentence.
pub(super) fn shown(by: &str) -> &str {
    if by.is_empty() { "the command" } else { by }
}

/// The virtual environment that a text makes active.
fn activated(call: &Call, scope: &Scope<'_>) -> Option<String> {
    let [first, path, ..] = call.words.as_slice() else { return None };
    let is_activation = matches!(first.as_str(), "." | "source") && name(path) == "activate" && is_known(path);
    let inside = Scope { folder: call.folder.clone(), ..scope.clone() };
    is_activation.then(|| parent(parent(&inside.place(path))).to_owned())
}

/// What a row's mark behind a file's name means.
fn part_of(mark: &str) -> Part {
    let Some((kind, names)) = mark.get(1..).and_then(|rest| rest.split_once(':')) else { return Part::Whole };
    let names: Vec<String> = names.split(',').map(str::to_owned).collect();
    match (mark.starts_with('#'), table::format(kind)) {
        (true, Some(format)) => Part::Sections { format, names },
        (true, None) => Part::Package { scripts: Vec::new(), sections: names },
        (false, Some(format)) => Part::Without { format, names },
        (false, None) => Part::Whole,
    }
}
