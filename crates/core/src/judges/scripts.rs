//! Files that checks execute or interpret by their names, and what those read in turn.

use super::learn::{Context, Learner, Setting, shown};
use super::premises::{TEMPORARY, is_known, name, parent, place};
use super::shell::{Call, reads_files};
use super::word::Scope;
use super::{Part, Standing, Why, rake, table};
use crate::evidence::{is_one_of, positionals, purposes};
use regex::Regex;
use std::sync::LazyLock;

/// Lines of a program that only leads to others.
const LONGEST_WRAPPER: usize = 60;

/// A pattern that is known to be one.
pub(super) fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

/// How the languages name a file of the project that they read in: relative, or beside the script.
static READ_IN: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let all = [
        r#"(?m)\b(?:require|import|from|load|require_relative|include|include_once|require_once|source)\b\s*\(?\s*(?:__DIR__\s*\.\s*)?['"]/?(\.{0,2}/?[\w@./-]+)['"]"#,
        r"(?m)^\s*from\s+(\.*[\w.]+)\s+import\b",
        r"(?m)^\s*import\s+([\w.]+(?:\s*,\s*[\w.]+)*)",
    ];
    all.iter().filter_map(|text| pattern(text)).collect()
});
/// Whatever else may name a file.
static QUOTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r#"['"]([\w@./-]*[\w])['"]|(?:^|[\s='"])((?:\./|[\w-]+/)[\w./-]+)"#));

/// A script that judges.
struct Script<'s> {
    path: &'s str,
    text: &'s str,
    is_shell: bool,
    /// The program that interprets it; `None` if it is executed.
    by_program: Option<&'s str>,
}

impl Learner<'_> {
    /// A file that is executed, or interpreted by a program.
    pub(super) fn script(
        &mut self,
        path: &str,
        by_program: Option<&str>,
        args: &[String],
        call: &Call,
        context: &Context<'_>,
    ) {
        let by = context.setting.by.as_str();
        if !is_known(path) || path.starts_with(TEMPORARY) && !context.made.contains(path) {
            let among_tests = call.words.iter().any(|word| table::is_among_tests(word));
            let is_pattern = call.words.iter().any(|word| word.contains('*'));
            if !(among_tests && is_pattern) {
                let varies = reads_files(&call.raw);
                self.unknown(format!("which file `{}` in {} executes", call.raw, shown(by)), varies);
            }
            return;
        }
        if path.contains(['*', '?']) {
            return self.collected(path, by_program, call, context);
        }
        let is_built = context.setting.made.iter().any(|made| made == path);
        if is_built || self.premises.matches(&self.subject.work, path) {
            return self.tried(path);
        }
        let sounds = table::sounds_like_a_judge(path);
        match self.premises.standing(path) {
            Standing::Folder if by_program.is_some() => return self.folder_script(path, by_program, call, context),
            Standing::File => {}
            _ if context.made.contains(path) => return self.made(path, false),
            _ if call.compared || table::is_made(path) => return self.tried(path),
            Standing::Nothing => {
                self.tried(path);
                return self.unknown(
                    format!("what {path} will be, which {} executes and which is not there yet", shown(by)),
                    true,
                );
            }
            _ => return,
        }
        if table::is_made(path) && !sounds {
            return self.tried(path);
        }
        let text = self.premises.read(path).unwrap_or_default();
        let is_shell = is_shell_text(by_program, &text);
        if call.compared && !sounds && !(is_shell && runs_checks(&text)) {
            return self.tried(path);
        }
        // `./bin/tool --self-check`: only people know whether the product tries itself.
        let tries_itself = |word: &String| word.starts_with("--self") || word.starts_with("self-");
        if by_program.is_none() && !sounds && args.iter().any(tries_itself) {
            self.tried(path);
            return self.unknown(format!("whether {path}, which tries itself, judges or is the work"), true);
        }
        self.named(path, by, by_program.is_none());
        self.follow(&Script { path, text: &text, is_shell, by_program }, args, call, context);
    }

    /// What a program leads to that is a short text of a shell, wherever it was found; tells whether it is one. What the
    /// system installs is left alone.
    pub(super) fn program_text(&mut self, file: &str, args: &[String], call: &Call, context: &Context<'_>) -> bool {
        if self.is_of_the_system(file) {
            return false;
        }
        let is_wrapper = |text: &String| is_shell_text(None, text) && text.lines().nth(LONGEST_WRAPPER).is_none();
        let Some(text) = self.premises.read(file).filter(is_wrapper) else { return false };
        self.follow(&Script { path: file, text: &text, is_shell: true, by_program: None }, args, call, context);
        true
    }

    /// What a script leads to.
    fn follow(&mut self, script: &Script<'_>, args: &[String], call: &Call, context: &Context<'_>) {
        let Script { path, text, is_shell, by_program } = *script;
        if !self.is_new(format!("script {path} {} {}", call.folder, args.join(" "))) {
            return;
        }
        let first = text.lines().next().unwrap_or_default();
        if first.starts_with("#!") {
            self.names(first, context.setting);
        }
        let setting = Setting { by: path.to_owned(), ..context.setting.clone() };
        if is_shell {
            let mut scope = self.scope(&call.folder);
            scope.script = scope.absolute(path);
            scope.arguments = Some(args.to_vec());
            return self.text(text, &scope, &setting);
        }
        // What another language does with its words is not read; which programs of that name there are counts anyway.
        self.names(text, &setting);
        let language = by_program.map_or_else(|| first.to_owned(), str::to_owned);
        self.helpers(text, path, &language, &call.folder, &Context { setting: &setting, ..*context });
    }

    /// Scripts that a pattern collects: tests are work, anything else is executed as if it were named.
    fn collected(&mut self, glob: &str, by_program: Option<&str>, call: &Call, context: &Context<'_>) {
        if table::is_among_tests(glob) {
            return;
        }
        let folder = parent(glob);
        let (before, after) = name(glob).split_once(['*', '?']).unwrap_or((name(glob), ""));
        let folders = if name(glob).contains(['*', '?']) { Vec::new() } else { self.folders_of(folder) };
        if !folders.is_empty() {
            // `cd packages/* && sh lint.sh`: what is in each folder under that name.
            for inner in folders {
                let path = format!("{inner}/{}", name(glob));
                let own = if call.folder == folder { inner } else { call.folder.clone() };
                if self.premises.standing(&path) == Standing::File {
                    self.script(&path, by_program, &[], &Call { folder: own, ..call.clone() }, context);
                }
            }
            return;
        }
        if folder.contains(['*', '?']) || after.contains(['*', '?', '[']) {
            return self
                .unknown(format!("which files `{}` in {} executes", call.raw, shown(&context.setting.by)), false);
        }
        for file in self.premises.list(folder) {
            let fits = file.starts_with(before) && file.ends_with(after) && file.len() >= before.len() + after.len();
            if fits && !file.starts_with('.') {
                let path = place(self.premises.root(), folder, &file);
                if self.premises.standing(&path) == Standing::File {
                    self.script(&path, by_program, &[], call, context);
                }
            }
        }
        // One more would be executed, too.
        let ending = if before.is_empty() { after } else { "" };
        let why = super::learn::named(&context.setting.by);
        self.judge(folder, Part::Ending { ending: ending.to_owned() }, why, false);
    }

    /// The folders that a pattern with one star means.
    fn folders_of(&self, pattern: &str) -> Vec<String> {
        let Some((before, after)) = pattern.split_once('*').filter(|(_, after)| !after.contains(['*', '?'])) else {
            return Vec::new();
        };
        let (start, rest) = (name(before), after.split_once('/').unwrap_or((after, "")));
        let folder = if before.contains('/') { parent(before) } else { "" };
        let fits = |inner: &String| !inner.starts_with('.') && inner.starts_with(start) && inner.ends_with(rest.0);
        let inner = self.premises.list(folder).into_iter().filter(fits);
        let paths = inner.map(|inner| place(self.premises.root(), folder, &format!("{inner}/{}", rest.1)));
        paths.filter(|path| self.premises.standing(path) == Standing::Folder).collect()
    }

    /// `node folder`, `python folder`: the file in it that is executed.
    fn folder_script(&mut self, folder: &str, by_program: Option<&str>, call: &Call, context: &Context<'_>) {
        for file in ["__main__.py", "index.js", "index.ts", "index.mjs", "main.ts"] {
            let path = place(self.premises.root(), folder, file);
            if self.premises.standing(&path) == Standing::File {
                return self.script(&path, by_program, &[], call, context);
            }
        }
        self.unknown(format!("what `{}` in {} executes", call.raw, shown(&context.setting.by)), false);
    }

    /// A file that a shell reads into itself.
    pub(super) fn sourced(&mut self, path: &str, call: &Call, context: &Context<'_>) {
        let by = context.setting.by.as_str();
        if !is_known(path) {
            return self.unknown(format!("what `{}` in {} reads", call.raw, shown(by)), false);
        }
        if path.contains(['*', '?']) {
            // Each of them can end the shell that reads it in, and so can one more.
            return self.unknown(format!("which files `{}` in {} reads in", call.raw, shown(by)), true);
        }
        match self.premises.standing(path) {
            Standing::File => {
                self.named(path, by, false);
                // Its commands were read where it is read in; names of programs count wherever they stand.
                if let Some(text) = self.premises.read(path).filter(|_| self.is_new(format!("sourced {path}"))) {
                    self.names(&text, context.setting);
                }
            }
            // `[ -f .env ] && . ./.env`: what is not there must stay away.
            Standing::Nothing if !context.made.contains(path) => self.named(path, by, false),
            Standing::Nothing => self.made(path, false),
            _ => {}
        }
    }

    /// What a text in another language reads of the project: its own helpers judge, what it is there to try does not.
    /// A helper lies beside a script that judges, in a folder of its own, or is called like a judge; files that others
    /// are compared with are judges too.
    pub(super) fn helpers(&mut self, text: &str, script: &str, language: &str, folder: &str, context: &Context<'_>) {
        let own = parent(script);
        let beside =
            |path: &str| !own.is_empty() && table::sounds_like_a_judge(script) && parent(path).starts_with(own);
        let mut read_in: Vec<String> = Vec::new();
        for captures in READ_IN.iter().flat_map(|regex| regex.captures_iter(text)) {
            let names = captures.get(1).map(|all| all.as_str()).unwrap_or_default();
            read_in.extend(names.split(',').map(|name| name.trim().to_owned()));
        }
        let is_python = language.contains("python") || language.contains("pypy");
        for module in read_in {
            let candidates = if is_python { python_module(&module) } else { other_module(&module) };
            let paths = candidates.iter().map(|path| place(self.premises.root(), own, path));
            let found = paths.filter(|path| self.premises.standing(path) == Standing::File).find(|path| path != script);
            if let Some(path) = found.filter(|path| !table::is_made(path)) {
                if beside(&path) || table::sounds_like_a_judge(&path) && !table::is_among_tests(&path) {
                    self.helper(&path, language, folder, context);
                } else {
                    self.tried(&path);
                }
            }
        }
        self.data(text, script, folder, context);
        for captures in QUOTED.iter().flat_map(|regex| regex.captures_iter(text)) {
            let Some(word) = captures.get(1).or_else(|| captures.get(2)).map(|word| word.as_str()) else { continue };
            let paths = [folder, own].map(|folder| place(self.premises.root(), folder, word));
            let is_judge = |path: &String| {
                !path.starts_with('/')
                    && (table::sounds_like_a_judge(path) || table::sounds_expected(path))
                    && !table::is_made(path)
            };
            let found = paths.iter().find(|path| {
                is_judge(path) && path.as_str() != script && self.premises.standing(path) == Standing::File
            });
            if let Some(path) = found {
                let path = path.clone();
                self.helper(&path, "", folder, context);
            }
        }
    }

    /// Data that a script opens by a name that stands in it. What its name calls cases judges; whether other data is
    /// the work nobody knows.
    fn data(&mut self, text: &str, script: &str, folder: &str, context: &Context<'_>) {
        static OPENING: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"(?i)open|read|load|parse|slurp|file|csv"));
        static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r#"['"]([\w@./*-]*[\w*])['"]"#));
        for line in text.lines().filter(|line| !line.trim_start().starts_with(['#', '/'])) {
            let opens = OPENING.as_ref().is_some_and(|regex| regex.is_match(line));
            for captures in NAMED.iter().flat_map(|regex| regex.captures_iter(line)) {
                let word = captures.get(1).map(|word| word.as_str()).unwrap_or_default();
                let places = [folder, parent(script)].map(|folder| place(self.premises.root(), folder, word));
                let Some(path) = places.into_iter().find(|path| !self.data_at(path).is_empty()) else { continue };
                let is_declared = self.premises.matches(&self.subject.judges, &path)
                    || self.premises.matches(&self.subject.work, &path);
                let is_judge = table::sounds_like_cases(&path) || table::sounds_expected(&path);
                if path.starts_with('/') || path == script || table::is_made(&path) || is_declared {
                    continue;
                }
                if is_judge {
                    let all = self.data_at(&path);
                    all.iter().for_each(|path| self.named(path, &context.setting.by, false));
                } else if opens && table::is_data(&path) {
                    let by = shown(&context.setting.by);
                    self.unknown(format!("whether {path}, which {by} reads, judges or is the work"), true);
                }
            }
        }
    }

    /// The files of data that a path means: itself, what a pattern matches, or what is in a folder.
    fn data_at(&self, path: &str) -> Vec<String> {
        let pattern = match self.premises.standing(path) {
            Standing::Folder if table::sounds_like_cases(path) && !path.is_empty() => format!("{path}/*"),
            _ => path.to_owned(),
        };
        let is_data = |path: &String| table::is_data(path) || table::sounds_expected(path);
        if parent(&pattern).contains('*') {
            Vec::new()
        } else {
            self.files_of(&pattern).into_iter().filter(is_data).collect()
        }
    }

    fn helper(&mut self, path: &str, language: &str, folder: &str, context: &Context<'_>) {
        let text = self.premises.read(path).unwrap_or_default();
        let is_shell =
            language.is_empty() && is_shell_text(if path.ends_with(".sh") { Some("sh") } else { None }, &text);
        let call = Call {
            words: vec![path.to_owned()],
            folder: folder.to_owned(),
            compared: false,
            inputs: Vec::new(),
            fed: false,
            paths: Vec::new(),
            raw: path.to_owned(),
        };
        self.named(path, &context.setting.by, false);
        let by_program = if language.is_empty() { None } else { Some(language) };
        let is_code = !path.ends_with(".json") && !path.ends_with(".txt");
        if is_code {
            let is_shell = is_shell && (path.ends_with(".sh") || text.starts_with("#!"));
            self.follow(&Script { path, text: &text, is_shell, by_program }, &[], &call, context);
        }
    }

    /// What TypeScript's configurations extend and refer to.
    pub(super) fn tsconfigs(&mut self, program: &str, folder: &str) {
        static LEADS_TO: LazyLock<Option<Regex>> =
            LazyLock::new(|| pattern(r#""(?:extends|path)"\s*:\s*\[?\s*"([^"]+)""#));
        let mut waiting = vec![place(self.premises.root(), folder, "tsconfig.json")];
        while let Some(path) = waiting.pop() {
            let Some(text) = self.premises.read(&path).filter(|_| self.is_new(format!("tsconfig {path}"))) else {
                continue;
            };
            self.judge(&path, Part::Whole, Why::Configures { runner: program.to_owned() }, false);
            for captures in LEADS_TO.iter().flat_map(|regex| regex.captures_iter(&text)) {
                let Some(target) =
                    captures.get(1).map(|target| target.as_str()).filter(|target| target.starts_with('.'))
                else {
                    continue;
                };
                let at = place(self.premises.root(), parent(&path), target);
                waiting.extend([at.clone(), format!("{at}.json"), format!("{at}/tsconfig.json")]);
            }
        }
    }

    /// Files of the project that a runner's configuration names: set-up files, presets, its own plugins.
    pub(super) fn own_presets(&mut self, program: &str) {
        static NAMED: LazyLock<Option<Regex>> =
            LazyLock::new(|| pattern(r#"['"](?:<rootDir>/)?(\.{0,2}/?[\w./-]+\.(?:js|ts|cjs|mjs|cts|mts|json))['"]"#));
        let configured: Vec<String> = self
            .known
            .judges
            .iter()
            .filter(|judge| matches!(&judge.why, Why::Configures { runner } if runner == program))
            .map(|judge| judge.path.clone())
            .collect();
        for config in configured.into_iter().filter(|path| !path.starts_with('/') && name(path) != "package.json") {
            let Some(text) = self.premises.read(&config).filter(|_| self.is_new(format!("preset {config}"))) else {
                continue;
            };
            for captures in NAMED.iter().flat_map(|regex| regex.captures_iter(&text)) {
                let file = captures.get(1).map(|file| file.as_str()).unwrap_or_default();
                let path = place(self.premises.root(), parent(&config), file.trim_start_matches('/'));
                let is_there = self.premises.standing(&path) == Standing::File;
                if is_there && !table::is_made(&path) && !path.starts_with('/') {
                    self.judge(&path, Part::Whole, Why::Configures { runner: program.to_owned() }, false);
                }
            }
        }
    }

    /// Rake reads a whole program, of which tasks that nobody calls do nothing.
    pub(super) fn rake(&mut self, args: &[String], folder: &str, context: &Context<'_>) {
        let given = Self::values_of("rake", args, "-f|--rakefile");
        let usual = ["rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"].map(str::to_owned).to_vec();
        let goals = positionals("rake", args).into_iter().filter(|word| !word.contains('='));
        let mut goals: Vec<String> = goals.map(|goal| goal.split('[').next().unwrap_or(goal).to_owned()).collect();
        goals.extend(goals.is_empty().then(|| rake::DEFAULT.to_owned()));
        let part = match goals.iter().all(|goal| is_known(goal)) {
            true => Part::Recipes { tool: "rake".to_owned(), goals },
            false => Part::Whole,
        };
        for file in if given.is_empty() { usual } else { given } {
            let path = place(self.premises.root(), folder, &file);
            self.judge(&path, part.clone(), Why::Configures { runner: "rake".to_owned() }, false);
            if let Some(text) = self.premises.read(&path).filter(|_| self.is_new(format!("rake {path}"))) {
                self.names(&text, context.setting);
                let setting = Setting { by: path.clone(), ..context.setting.clone() };
                self.helpers(&text, &path, "ruby", folder, &Context { setting: &setting, ..*context });
            }
        }
        for rakes in ["rakelib", "lib/tasks"] {
            let path = place(self.premises.root(), folder, rakes);
            self.judge(
                &path,
                Part::Ending { ending: ".rake".to_owned() },
                Why::Configures { runner: "rake".to_owned() },
                false,
            );
        }
        for runner in ["rspec", "rubocop"] {
            self.configure_named(runner, folder);
        }
    }

    /// Commands that stand in a list of their own: hooks of pre-commit, environments of tox, sessions of nox.
    pub(super) fn listed_commands(&mut self, program: &str, folder: &str, context: &Context<'_>) {
        static ENTRY: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"(?m)^\s*-?\s*entry:\s*(.+?)\s*$"));
        let files: &[&str] = match program {
            "pre-commit" => &[".pre-commit-config.yaml"],
            "tox" => &["tox.ini", "tox.toml", "setup.cfg"],
            _ => &["noxfile.py"],
        };
        for file in files {
            let path = place(self.premises.root(), folder, file);
            let Some(text) = self.premises.read(&path).filter(|_| self.is_new(format!("listed {path}"))) else {
                continue;
            };
            let setting = Setting { by: path.clone(), installs: true, ..context.setting.clone() };
            let scope = self.scope(folder);
            match program {
                "pre-commit" => {
                    for captures in ENTRY.iter().flat_map(|regex| regex.captures_iter(&text)) {
                        let entry =
                            captures.get(1).map(|entry| entry.as_str().trim_matches(['"', '\''])).unwrap_or_default();
                        if text.contains("local") {
                            self.text(entry, &scope, &setting);
                        }
                    }
                }
                "tox" => self.tox(&text, &scope, &setting),
                _ => {
                    self.names(&text, context.setting);
                    self.helpers(&text, &path, "python", folder, &Context { setting: &setting, ..*context });
                    for runner in
                        ["pytest", "mypy", "ruff", "flake8"].into_iter().filter(|runner| text.contains(runner))
                    {
                        self.configure_named(runner, folder);
                    }
                }
            }
        }
    }

    fn tox(&mut self, text: &str, scope: &Scope<'_>, setting: &Setting) {
        let mut inside = false;
        for line in text.lines() {
            let is_new_key = line.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[');
            let value = line.split_once('=').filter(|(key, _)| is_new_key && key.trim().starts_with("commands"));
            inside = if is_new_key { value.is_some() } else { inside };
            let command = value.map_or(line, |(_, value)| value).trim();
            if inside && !command.is_empty() && !command.starts_with('#') {
                let command = command.trim_start_matches('-').replace("{posargs}", "").replace("{toxinidir}", ".");
                let scope = self.scope(&scope.folder);
                self.text(&command.replace("{envpython}", "python"), &scope, setting);
            }
        }
    }

    pub(super) fn deno(&mut self, args: &[String], folder: &str, call: &Call, context: &Context<'_>) {
        let words = positionals("deno", args);
        let rest: Vec<String> = words.iter().skip(1).map(|word| (*word).clone()).collect();
        match (words.first().map(|word| word.as_str()), rest.first()) {
            (Some("task"), Some(task)) => self.deno_task(task, folder, context),
            (Some("run"), Some(file)) => {
                let path = self.scope(folder).place(file);
                self.script(&path, Some("deno"), rest.get(1..).unwrap_or_default(), call, context);
            }
            (Some(file), _) if file.ends_with(".ts") || file.ends_with(".js") => {
                let path = self.scope(folder).place(file);
                self.script(&path, Some("deno"), &rest, call, context);
            }
            _ => {}
        }
    }

    /// Sources are work; a program that is only there to judge is run from a folder that says so.
    pub(super) fn go(&mut self, args: &[String], folder: &str, call: &Call, context: &Context<'_>) {
        self.configured_runner("go", args, folder, call);
        let words = positionals("go", args);
        let (verb, target) = (words.first().map(|word| word.as_str()), words.get(1));
        match (verb, target) {
            (Some("run"), Some(target)) => {
                let path = self.scope(folder).place(target);
                if table::sounds_like_a_judge(&path) && self.premises.standing(&path) != Standing::Nothing {
                    self.named(&path, &context.setting.by, false);
                } else {
                    self.tried(&path);
                }
            }
            (Some("generate"), _) => {
                self.unknown(format!("what `{}` in {} generates by", call.raw, shown(&context.setting.by)), false);
            }
            (Some("tool"), Some(tool)) => {
                self.configure_named(tool, folder);
            }
            _ => {}
        }
    }

    /// Builds of several projects: each has a file of its own.
    pub(super) fn gradle_and_maven(&mut self, program: &str, folder: &str) {
        static INCLUDED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r#"['"]:?([\w:.-]+)['"]"#));
        static MODULE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"<module>\s*([^<\s]+)\s*</module>"));
        static PARENT: LazyLock<Option<Regex>> =
            LazyLock::new(|| pattern(r"<relativePath>\s*([^<\s]+)\s*</relativePath>"));
        let texts = |learner: &Self, names: &[&str]| -> Vec<String> {
            names
                .iter()
                .filter_map(|file| learner.premises.read(&place(learner.premises.root(), folder, file)))
                .collect()
        };
        if is_one_of(program, "gradle|gradlew") {
            for text in texts(self, &["settings.gradle", "settings.gradle.kts"]) {
                for captures in INCLUDED.iter().flat_map(|regex| regex.captures_iter(&text)) {
                    let project = captures.get(1).map(|project| project.as_str().replace(':', "/")).unwrap_or_default();
                    let inner = place(self.premises.root(), folder, &project);
                    if self.premises.standing(&inner) == Standing::Folder {
                        self.configure_named(program, &inner);
                    }
                }
            }
        }
        if is_one_of(program, "mvn|mvnw|mvnd") {
            for text in texts(self, &["pom.xml"]) {
                let all = MODULE.iter().chain(PARENT.iter()).flat_map(|regex| regex.captures_iter(&text));
                for captures in all {
                    let module = captures.get(1).map(|module| module.as_str()).unwrap_or_default();
                    let inner = place(self.premises.root(), folder, module.trim_end_matches("pom.xml"));
                    if self.is_new(format!("maven {inner}")) && self.premises.standing(&inner) == Standing::Folder {
                        self.configure_named(program, &inner);
                        self.gradle_and_maven(program, &inner);
                    }
                }
            }
        }
    }
}

/// Whether a shell reads this.
fn is_shell_text(by_program: Option<&str>, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let by_itself = || match first.strip_prefix("#!") {
        Some(interpreter) => {
            let mut words =
                interpreter.split_whitespace().map(name).filter(|word| *word != "env" && !word.starts_with('-'));
            words.next().is_some_and(table::is_shell)
        }
        // Without a first line of that kind the shell that calls it reads it.
        None => !text.contains('\0'),
    };
    match by_program {
        Some(program) => table::is_shell(program),
        None => by_itself(),
    }
}

/// Whether a text runs tests, linters or type checkers.
fn runs_checks(text: &str) -> bool {
    text.lines().any(|line| !purposes(line.trim()).is_empty())
}

/// The files that a Python module may be.
fn python_module(module: &str) -> Vec<String> {
    let path = module.trim_start_matches('.').replace('.', "/");
    vec![format!("{path}.py"), format!("{path}/__init__.py")]
}

/// The files that a module of another language may be.
fn other_module(module: &str) -> Vec<String> {
    const ENDINGS: [&str; 13] =
        ["", ".js", ".cjs", ".mjs", ".ts", ".mts", ".cts", ".json", ".rb", ".php", ".pl", "/index.js", "/index.ts"];
    let path = module.strip_prefix("./").unwrap_or(module);
    ENDINGS.iter().map(|ending| format!("{path}{ending}")).collect()
}
