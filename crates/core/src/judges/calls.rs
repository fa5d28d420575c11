//! What one command leads to.

use super::learn::{Context, Learner, Setting, shown};
use super::premises::{UNKNOWN, is_known, name};
use super::shell::{Call, reads_files};
use super::table::{self, Kit};
use super::{Part, Standing, Why};
use crate::evidence::{
    ShellInput, is_assignment, is_one_of, pass_option, positionals, program_name, shell_input, wrapped,
};

/// Files of a pattern that are pinned one by one.
const MOST_CASES: usize = 2000;

impl Learner<'_> {
    /// Follows a command.
    pub(super) fn call(&mut self, call: &Call, context: &Context<'_>) {
        let by = &context.setting.by;
        let Some((first, args)) = call.words.split_first() else { return };
        if !is_known(first) {
            let varies = reads_files(&call.raw);
            return self.unknown(format!("what `{}` in {} executes", call.raw, shown(by)), varies);
        }
        let program = program_name(first);
        if self.is_function(first, context) {
            // A function of another text often runs what it is given.
            let setting = Setting { certain: false, ..context.setting.clone() };
            return self.again_quietly(args, call, &Context { setting: &setting, ..*context });
        }
        let put_before = call.paths.iter().map(|folder| self.below(folder, first));
        let put_before =
            put_before.filter(|_| !first.contains('/')).find(|path| self.premises.standing(path) == Standing::File);
        if first.contains('/') || put_before.is_some() {
            let path = put_before.unwrap_or_else(|| self.scope(&call.folder).place(first));
            let stands_for_itself =
                table::runner(program).is_none() && !table::is_interpreter(program) && !is_manager(program);
            if stands_for_itself && !path.starts_with('/') || !is_known(&path) {
                return self.script(&path, None, args, call, context);
            }
            self.at_path(&path, program, context);
            if self.own_text(&path, program, args, call, context) {
                return;
            }
        } else {
            let file = self.by_name(first, program, call, context);
            let is_installed = |path: &String| path.contains('/') && name(path) == first;
            match file {
                Some(file) if self.own_text(&file, program, args, call, context) => return,
                // The product, which the check installs before it tries it.
                None if !has_meaning(program, args) && context.made.iter().any(is_installed) => return,
                _ => {}
            }
        }
        self.by_meaning(program, args, call, context);
        // `java @options`: what stands in the file is as good as written here.
        for file in args.iter().filter_map(|word| word.strip_prefix('@')).filter(|file| !file.is_empty()) {
            let path = self.scope(&call.folder).place(file);
            if self.premises.standing(&path) == Standing::File {
                self.named(&path, by, false);
            }
        }
        for input in &call.inputs {
            self.input(input, program, context);
        }
    }

    /// Follows a program that is a shell's text; tells whether nothing else needs to be known of it. Of one that has a
    /// meaning of its own, what is not understood is nobody's loss.
    fn own_text(&mut self, file: &str, program: &str, args: &[String], call: &Call, context: &Context<'_>) -> bool {
        let has_meaning = has_meaning(program, args);
        if is_manager(program) {
            return false;
        }
        let unknown = self.known.unknown.len();
        let is_text = self.program_text(file, args, call, context);
        if has_meaning {
            self.known.unknown.truncate(unknown);
        }
        is_text && !has_meaning
    }

    /// A call that may be none: what is not understood of it is nobody's loss.
    fn again_quietly(&mut self, args: &[String], call: &Call, context: &Context<'_>) {
        let is_file = |word: &String| self.premises.standing(&self.scope(&call.folder).place(word)) == Standing::File;
        let known = args.first().is_some_and(|word| {
            let is_program = table::is_interpreter(word) || table::runner(program_name(word)).is_some();
            is_known(word) && (is_program || word.contains('/') && is_file(word))
        });
        if known {
            self.again(args, call, context);
        }
    }

    /// A runner that is executed by its path.
    fn at_path(&mut self, path: &str, program: &str, context: &Context<'_>) {
        if path.starts_with('/') {
            self.known.program(path, &self.subject.id);
            return self.installed_at(path, program);
        }
        match self.premises.standing(path) {
            Standing::Nothing if context.setting.installs || context.made.contains(path) => {}
            Standing::Nothing => self.unknown(format!("what {path} will be, which is not there yet"), true),
            _ => {
                let is_installed =
                    path.contains("node_modules/") || path.starts_with("vendor/") || self.is_of_a_venv(path);
                let installed = Why::Installed { runner: program.to_owned() };
                let why = if is_installed { installed } else { super::learn::named(&context.setting.by) };
                self.judge(path, Part::Whole, why, true);
                self.installed_at(path, program);
                if let Some(text) = self.premises.read(path).filter(|text| text.starts_with("#!")) {
                    let first = text.lines().next().unwrap_or_default();
                    self.names(first, context.setting);
                    self.interpreter_at_path(first, program);
                }
            }
        }
    }

    /// The interpreter that a program's first line names, if it lies where an agent can write.
    fn interpreter_at_path(&mut self, first: &str, program: &str) {
        let word = first.trim_start_matches("#!").split_whitespace().next().unwrap_or_default();
        let path = self.below("", word);
        if word.starts_with('/') && !path.starts_with('/') {
            self.judge(&path, Part::Whole, Why::Installed { runner: program.to_owned() }, true);
        } else if word.starts_with('/') && !self.is_of_the_system(&path) {
            self.known.program(&path, &self.subject.id);
        }
    }

    /// A program that is found by its name; gives its file.
    fn by_name(&mut self, word: &str, program: &str, call: &Call, context: &Context<'_>) -> Option<String> {
        if let Some(path) = self.local_program(word, &call.folder, context.setting) {
            self.nearer(word, context.setting);
            self.at_path(&path, program, context);
            return Some(path);
        }
        let found = self.premises.find(word);
        let is_runner = table::runner(program).is_some_and(|row| row.kit != Kit::None || row.keeps.len() > 1);
        match found {
            Some(file) => {
                self.known.program(word, &self.subject.id);
                self.nearer(word, context.setting);
                let file = self.behind_shim(&file, &call.folder);
                self.installed_at(&file, program);
                Some(file)
            }
            None if is_runner && !context.setting.installs => {
                self.unknown(format!("what `{word}` will be, which is not installed yet"), true);
                None
            }
            None => None,
        }
    }

    fn by_meaning(&mut self, program: &str, args: &[String], call: &Call, context: &Context<'_>) {
        self.reported(program, args, &call.folder, context);
        let setting;
        let context = match super::reported::may_pass_over(program, args) {
            true => {
                setting = Setting { certain: false, ..context.setting.clone() };
                &Context { setting: &setting, ..*context }
            }
            false => context,
        };
        let folder = self.working_folder(program, args, call);
        if table::is_shell(program) {
            return self.shell(args, call, context);
        }
        match program {
            "." | "source" => {
                if let Some(path) = args.first() {
                    let path = self.scope(&call.folder).place(path);
                    self.sourced(&path, call, context);
                }
                return;
            }
            "eval" => {
                let varies = reads_files(&call.raw);
                return self.unknown(format!("what `{}` in {} runs", call.raw, shown(&context.setting.by)), varies);
            }
            "make" | "gmake" => return self.make(args, &folder, context),
            "just" => return self.just(args, &folder, context),
            "task" | "go-task" => return self.taskfile(args, &folder, context),
            "npm" | "pnpm" | "yarn" | "yarnpkg" | "bun" | "npm-run-all" | "npm-run-all2" | "run-s" | "run-p"
            | "turbo" | "nx" | "lerna" | "concurrently" | "composer" | "wireit" => {
                self.configured_runner(program, args, &folder, call);
                return self.package_runner(program, args, &folder, call, context);
            }
            "deno" => {
                self.configured_runner(program, args, &folder, call);
                return self.deno(args, &folder, call, context);
            }
            "cargo" => return self.cargo(args, &folder, call, context),
            "go" => return self.go(args, &folder, call, context),
            "rake" => return self.rake(args, &folder, context),
            "pre-commit" | "tox" | "nox" => {
                self.configured_runner(program, args, &folder, call);
                return self.listed_commands(program, &folder, context);
            }
            "xargs" | "parallel" | "setsid" | "strace" | "nsenter" | "runuser" | "chpst" | "setarch" | "taskset"
            | "chrt" | "faketime" | "script" | "watch" | "entr" | "retry" | "hyperfine" | "wait-for-it"
            | "dumb-init" | "tini" => {
                return self.behind_options(program, args, call, context);
            }
            "find" | "fd" => return self.found(args, call, context),
            "git" => {
                // A command that git does not know is a program of the search path.
                let verb = positionals("git", args).first().map(|verb| format!("git-{verb}"));
                if let Some(program) = verb.filter(|program| self.premises.find(program).is_some()) {
                    return self.again(&[program], call, context);
                }
                self.git_lists(args, call, context);
            }
            _ => {}
        }
        if table::interpreter(program).is_some() {
            return self.interpreted(program, args, call, context);
        }
        self.by_table(program, args, &folder, call, context);
    }

    /// What the tables know of a program: another one behind it, what it reads, or that it reads nothing.
    fn by_table(&mut self, program: &str, args: &[String], folder: &str, call: &Call, context: &Context<'_>) {
        if table::is_elsewhere(program) {
            return self.unknown(format!("what `{}` in {} runs elsewhere", call.raw, shown(&context.setting.by)), true);
        }
        if let Some((rest, is_line)) = wrapped(program, args) {
            let looks_up = program == "command" && args.iter().any(|word| is_one_of(word, "-v|-V"));
            self.configured_runner(program, args, folder, call);
            return match rest.first() {
                Some(line) if is_line => {
                    let scope = self.scope(&call.folder);
                    self.text(line, &scope, context.setting);
                }
                Some(_) if !looks_up => self.wrapped_call(program, args, rest, folder, call, context),
                _ => {}
            };
        }
        // These run scripts of the project by their names too, which its configuration holds.
        if is_one_of(program, "pdm|hatch|rye|pixi") && args.first().is_some_and(|word| word == "run") {
            let rest = args.iter().position(|word| word != "run" && !word.starts_with('-'));
            let rest = rest.and_then(|at| args.get(at..)).unwrap_or_default();
            let is_program = |word: &String| table::runner(program_name(word)).is_some() || table::is_interpreter(word);
            if rest.first().is_some_and(is_program) {
                self.configured_runner(program, args, folder, call);
                return self.wrapped_call(program, args, rest, folder, call, context);
            }
        }
        if table::compares(program) || is_one_of(program, "sed|cat|sort|sha512sum|patch|envsubst") {
            return self.comparing(program, args, call, context);
        }
        if table::runner(program).is_some() {
            self.configured_runner(program, args, folder, call);
            return self.gradle_and_maven(program, folder);
        }
        if !table::is_plain(program) && !program.is_empty() {
            let what = format!("what `{program}` in {} is configured by", shown(&context.setting.by));
            self.unknown(what, false);
        }
    }

    /// A wrapped command: some wrappers put their own programs first in the search path.
    fn wrapped_call(
        &mut self,
        program: &str,
        args: &[String],
        rest: &[String],
        folder: &str,
        call: &Call,
        context: &Context<'_>,
    ) {
        let mut setting = context.setting.clone();
        if is_one_of(program, "npx|pnpx|bunx|npm|pnpm|yarn|bun") {
            setting.package = Some(folder.to_owned());
        }
        if is_one_of(program, "uv|poetry|pipenv|pdm|hatch|rye|pixi|conda|mamba|micromamba") {
            setting.venv = Some(String::new());
            setting.installs |= is_one_of(program, "uv|hatch|pixi");
            if is_one_of(program, "uv|poetry|pipenv|pdm|rye") {
                self.environment(program, args, rest, folder);
            }
        }
        if program == "uvx"
            || (program == "uv" && args.iter().any(|word| word == "tool"))
            || is_one_of(program, "pipx|pnpx|bunx")
        {
            setting.installs = true;
        }
        let context = Context { setting: &setting, ..*context };
        let folder =
            if folder == self.scope(&call.folder).place(".") { call.folder.clone() } else { folder.to_owned() };
        // `sudo -u me`, `env -i A=b`: the table passes over what it knows; what is left of options is passed over here.
        let rest: Vec<String> =
            rest.iter().skip_while(|word| word.starts_with('-') || is_assignment(word)).cloned().collect();
        if program == "flock" && args.iter().any(|word| word == "-c") {
            let line = args.iter().skip_while(|word| *word != "-c").nth(1).cloned().unwrap_or_default();
            let scope = self.scope(&folder);
            return self.text(&line, &scope, context.setting);
        }
        self.again(&rest, &Call { folder, ..call.clone() }, &context);
    }

    /// A program whose options nobody lists here: the first word that can be a command is one.
    fn behind_options(&mut self, program: &str, args: &[String], call: &Call, context: &Context<'_>) {
        const VALUED: &str = "-n|-P|-I|-L|-d|-a|-s|-E|-S|-o|-e|-u|-g|-p|-j|--jobs|--max-args|--max-procs|--delimiter|--arg-file|-c|-f|-i|-t";
        let mut rest = args;
        while let Some((first, tail)) = rest.split_first() {
            if first == "-c" && is_one_of(program, "script|runuser") {
                let scope = self.scope(&call.folder);
                return tail.first().map_or((), |line| self.text(line, &scope, context.setting));
            }
            rest = match first {
                word if word.starts_with('-') && is_one_of(word, VALUED) => tail.get(1..).unwrap_or_default(),
                word if word.starts_with('-') || is_assignment(word) => tail,
                word if word.starts_with(|c: char| c.is_ascii_digit())
                    && word.chars().all(|c| c.is_ascii_digit() || ".,-xsmh".contains(c)) =>
                {
                    tail
                }
                _ => break,
            };
        }
        if rest.is_empty() {
            return;
        }
        // The arguments come in, so what is behind an interpreter without a script of its own nobody knows.
        let is_bare = rest.len() == 1 && rest.first().is_some_and(|word| table::is_interpreter(word));
        if is_bare && matches!(program, "xargs" | "parallel") {
            return self
                .unknown(format!("which scripts `{}` in {} executes", call.raw, shown(&context.setting.by)), false);
        }
        if is_one_of(program, "hyperfine|watch|entr") && rest.len() == 1 {
            let scope = self.scope(&call.folder);
            return rest.first().map_or((), |line| self.text(line, &scope, context.setting));
        }
        self.again(rest, call, context);
    }

    /// What git lists depends on its index, its tags and its attributes, which agents may write.
    fn git_lists(&mut self, args: &[String], call: &Call, context: &Context<'_>) {
        let words = positionals("git", args);
        let Some((verb, operands)) = words.split_first() else { return };
        let only_names = args.iter().any(|word| is_one_of(word, "--name-only|--name-status"));
        let is_file = |word: &str| self.premises.standing(&self.scope(&call.folder).place(word)) != Standing::Nothing;
        let behind = args.iter().skip_while(|word| *word != "--").skip(1).collect::<Vec<_>>();
        let is_moved = |word: &&String| {
            is_known(word)
                && !behind.contains(word)
                && !is_one_of(word, "HEAD|@")
                && !word.contains('*')
                && !is_file(word)
        };
        let depends = match verb.as_str() {
            "ls-files" | "ls-tree" | "grep" | "check-attr" | "check-ignore" => true,
            "diff" | "diff-index" | "diff-tree" => only_names || operands.iter().copied().any(|word| is_moved(&word)),
            "log" | "show" | "status" => only_names,
            _ => false,
        };
        if depends {
            let by = shown(&context.setting.by);
            self.unknown(format!("what `{}` in {by} lists: git's index and references may be edited", call.raw), true);
        }
    }

    /// `find … -exec COMMAND ;`
    fn found(&mut self, args: &[String], call: &Call, context: &Context<'_>) {
        let mut rest = args;
        while let Some(at) = rest.iter().position(|word| is_one_of(word, "-exec|-execdir|-ok|-okdir|-x|-X")) {
            let command = rest.get(at + 1..).unwrap_or_default();
            let end = command.iter().position(|word| word == ";" || word == "+").unwrap_or(command.len());
            let words: Vec<String> =
                command.get(..end).unwrap_or_default().iter().map(|word| word.replace("{}", "*")).collect();
            let among_tests = args.first().is_some_and(|place| table::is_among_tests(place));
            let runs_what_it_finds = words.iter().take(2).any(|word| word == "*");
            if runs_what_it_finds
                && !among_tests
                && (table::is_interpreter(words.first().map_or("", String::as_str))
                    || words.first().is_some_and(|word| word == "*"))
            {
                self.unknown(format!("which scripts `{}` in {} executes", call.raw, shown(&context.setting.by)), false);
            } else if !runs_what_it_finds || !among_tests {
                self.again(&words, call, context);
            }
            rest = command.get(end..).unwrap_or_default();
        }
    }

    fn shell(&mut self, args: &[String], call: &Call, context: &Context<'_>) {
        // `BASH_ENV` and `--rcfile` name files that are read first.
        for pair in args.windows(2) {
            if let [option, file] = pair
                && is_one_of(option, "--rcfile|--init-file")
            {
                let path = self.scope(&call.folder).place(file);
                self.sourced(&path, call, context);
            }
        }
        self.profiles(args, call);
        match shell_input(args) {
            ShellInput::Line { line, arguments, .. } => {
                let mut scope = self.scope(&call.folder);
                scope.arguments = Some(arguments.get(1..).unwrap_or_default().to_vec());
                if !is_known(line) {
                    let varies = reads_files(&call.raw);
                    return self.unknown(format!("what `{}` in {} runs", call.raw, shown(&context.setting.by)), varies);
                }
                self.text(line, &scope, context.setting);
            }
            ShellInput::Script { path, arguments } => {
                let path = self.scope(&call.folder).place(path);
                self.script(&path, Some("sh"), arguments, call, context);
            }
            ShellInput::Nothing => self.comes_in("sh", args, call, context),
        }
    }

    /// What a shell reads before anything else because of how it is called.
    fn profiles(&mut self, args: &[String], call: &Call) {
        let options: Vec<&String> = args.iter().take_while(|word| word.starts_with(['-', '+'])).collect();
        let has = |letter: char, long: &str| {
            options.iter().any(|word| *word == long || !word.starts_with("--") && word.contains(letter))
        };
        let shell = program_name(call.words.first().map(String::as_str).unwrap_or_default());
        let (is_login, is_interactive) = (has('l', "--login"), has('i', "--interactive"));
        let mut files: Vec<&str> = Vec::new();
        if shell == "zsh" {
            files.push(".zshenv");
            files.extend(is_login.then_some([".zprofile", ".zlogin"]).into_iter().flatten());
            files.extend(is_interactive.then_some(".zshrc"));
        } else {
            files.extend(is_login.then_some([".bash_profile", ".bash_login", ".profile"]).into_iter().flatten());
            files.extend((is_login || is_interactive).then_some(".bashrc"));
        }
        for file in files {
            let path = self.home(file);
            self.configured(&path, &Part::Whole, shell);
        }
    }

    fn interpreted(&mut self, program: &str, args: &[String], call: &Call, context: &Context<'_>) {
        let (valued, inline) = table::interpreter(program).unwrap_or_default();
        let scope = self.scope(&call.folder);
        self.configure_named(program, &call.folder);
        if is_one_of(program, "python|python3|python2|pypy|pypy3") {
            self.python_at(&call.folder, context);
        }
        let mut rest = args;
        while let Some((first, tail)) = rest.split_first() {
            let option = first.split_once('=').map_or(first.as_str(), |(option, _)| option);
            if inline.split(' ').any(|own| own == option) {
                return tail.first().map_or((), |text| self.helpers(text, "", program, &call.folder, context));
            }
            let attached = inline.split(' ').filter(|own| own.len() == 2).find_map(|own| first.strip_prefix(own));
            if let Some(text) = attached {
                return self.helpers(text, "", program, &call.folder, context);
            }
            match (program, first.as_str()) {
                ("python" | "python3" | "pypy3" | "pypy", word) if word.starts_with("-m") => {
                    let words: Vec<String> = word
                        .strip_prefix("-m")
                        .filter(|name| !name.is_empty())
                        .map(str::to_owned)
                        .into_iter()
                        .chain(tail.iter().cloned())
                        .collect();
                    return self.module(&words, call, context);
                }
                ("node" | "nodejs" | "tsx", "--test") => return,
                ("node" | "nodejs", "--run") => {
                    return tail.first().map_or((), |script| self.package_script(script, &call.folder, context));
                }
                ("tsx", "watch") => {}
                (_, word) if word.starts_with('-') && word.len() > 1 => {
                    let separate = valued.split(' ').any(|own| own == word);
                    let value = first
                        .split_once('=')
                        .map(|(_, value)| value)
                        .or_else(|| tail.first().filter(|_| separate).map(String::as_str));
                    if let Some(value) = value.filter(|_| !is_one_of(option, "-I|-C|--conditions|--title")) {
                        let path = scope.place(value);
                        if self.premises.standing(&path) == Standing::File {
                            self.named(&path, &context.setting.by, false);
                        }
                    }
                    rest = if separate { tail.get(1..).unwrap_or_default() } else { tail };
                    continue;
                }
                (_, "-") => break,
                (_, word) => {
                    let path = scope.place(word);
                    self.script(&path, Some(program), tail, call, context);
                    self.configure_named(name(word), &call.folder);
                    return;
                }
            }
            rest = tail;
        }
        self.comes_in(program, args, call, context);
    }

    /// An interpreter that reads what comes in: a file, a document that stands in the text, or what nobody knows.
    fn comes_in(&mut self, program: &str, args: &[String], call: &Call, context: &Context<'_>) {
        for input in &call.inputs {
            self.script(input, Some(program), &[], call, context);
        }
        let runs_nothing = args.iter().any(|word| is_one_of(word, "--version|-V|-v|--help|-h|-n"));
        if call.fed && call.inputs.is_empty() && !runs_nothing {
            self.unknown(format!("what comes into `{}` in {}", call.raw, shown(&context.setting.by)), true);
        }
    }

    /// `python -m NAME`: a module of the project, or a runner.
    fn module(&mut self, words: &[String], call: &Call, context: &Context<'_>) {
        let Some((module, rest)) = words.split_first().filter(|(module, _)| is_known(module)) else {
            return self.unknown(format!("which module `{}` in {} runs", call.raw, shown(&context.setting.by)), false);
        };
        let path = self.scope(&call.folder).place(&module.replace('.', "/"));
        let own = [format!("{path}.py"), format!("{path}/__main__.py")];
        if let Some(file) = own.iter().find(|file| self.premises.standing(file) == Standing::File) {
            self.script(file, Some("python"), rest, call, context);
            self.configure_named(module, &call.folder);
            return;
        }
        // A file of that name in the folder would be found first.
        for path in own.into_iter().chain([format!("{path}/__init__.py")]) {
            self.judge(&path, Part::Whole, Why::Configures { runner: module.clone() }, false);
        }
        if module == "doctest" {
            self.documents(rest, call, context);
        }
        let program = program_name(module);
        if let Some((python, _)) = call.words.split_first() {
            let found = self.premises.find(python).map(|file| self.behind_shim(&file, &call.folder));
            let by_path = python.contains('/').then(|| self.scope(&call.folder).place(python));
            let own = by_path.or_else(|| self.local_program(python, &call.folder, context.setting)).or(found);
            if let Some(file) = own {
                self.python_packages(&file, program);
            }
        }
        if wrapped(program, rest).is_some()
            || matches!(program, "tox" | "nox" | "pre-commit")
            || table::runner(program).is_some()
        {
            return self.by_meaning(program, rest, call, context);
        }
        const PLAIN: &str = "pip|venv|json|compileall|py_compile|http|timeit|build|ensurepip|zipfile|this|site|cProfile|trace|tabnanny|ast|tokenize|dis";
        if !is_one_of(module.split('.').next().unwrap_or_default(), PLAIN) {
            self.unknown(
                format!("what `python -m {module}` in {} is configured by", shown(&context.setting.by)),
                false,
            );
        }
    }

    /// `python -m doctest DOCUMENT`: the document holds the tests; a module is the work, and its tests are with it.
    fn documents(&mut self, args: &[String], call: &Call, context: &Context<'_>) {
        for word in args.iter().filter(|word| !word.starts_with('-') && !word.ends_with(".py")) {
            for path in self.files_of(&self.scope(&call.folder).place(word)) {
                self.named(&path, &context.setting.by, false);
            }
        }
    }

    /// The files that a path means: those that are there, if it is a pattern.
    pub(super) fn files_of(&self, path: &str) -> Vec<String> {
        let Some((before, after)) = name(path).split_once('*') else {
            return Some(path.to_owned())
                .filter(|path| self.premises.standing(path) == Standing::File)
                .into_iter()
                .collect();
        };
        let folder = super::premises::parent(path);
        let fits = |file: &String| {
            file.len() >= before.len() + after.len() && file.starts_with(before) && file.ends_with(after)
        };
        let files = self.premises.list(folder).into_iter().filter(fits).filter(|file| !file.starts_with('.'));
        let paths = files.map(|file| self.below(folder, &file));
        paths.filter(|path| self.premises.standing(path) == Standing::File).take(MOST_CASES).collect()
    }

    /// What a runner of the table reads, and what its options name.
    pub(super) fn configured_runner(&mut self, program: &str, args: &[String], folder: &str, call: &Call) {
        let Some(row) = table::runner(program) else { return };
        self.configure(row, program, folder);
        let mut rest = args;
        while let Some((first, tail)) = rest.split_first() {
            let (option, value) = match first.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (first.as_str(), tail.first().map(String::as_str)),
            };
            let value = value.filter(|_| option.starts_with('-') && is_one_of(option, table::CONFIGURING));
            if let Some(path) = value.map(|value| self.scope(&call.folder).place(value))
                && self.premises.standing(&path) == Standing::File
                && !is_one_of(name(&path), "Cargo.toml|pom.xml|package.json|pyproject.toml")
            {
                self.judge(&path, Part::Whole, Why::Configures { runner: program.to_owned() }, false);
            }
            rest = tail;
        }
        if is_one_of(program, "tsc|vue-tsc|tsgo|tsx|ts-node|vitest|jest|eslint|ngc|svelte-check") {
            self.tsconfigs(program, folder);
        }
        if program == "tsc" || program == "eslint" || program == "vitest" || program == "jest" {
            self.own_presets(program);
        }
    }

    /// The folder that a program works in.
    pub(super) fn working_folder(&self, program: &str, args: &[String], call: &Call) -> String {
        let scope = self.scope(&call.folder);
        let own = |word: &str, next: Option<&String>| {
            table::folder_options(program).find_map(|option| match word.strip_prefix(option) {
                Some("") => next.cloned(),
                Some(rest) if rest.starts_with('=') => rest.get(1..).map(str::to_owned),
                // `-Csub`
                Some(rest) if option.len() == 2 && !option.starts_with("--") => Some(rest.to_owned()),
                _ => None,
            })
        };
        let mut folder = call.folder.clone();
        for (at, word) in args.iter().enumerate() {
            if let Some(value) = own(word, args.get(at + 1)) {
                let inside = super::word::Scope { folder: folder.clone(), ..scope.clone() };
                let path = inside.place(&value);
                if self.premises.standing(&path) == Standing::Folder || !is_known(&path) {
                    folder = path;
                }
            }
            if let Some(manifest) = word.strip_prefix("--manifest-path").map(|rest| {
                rest.strip_prefix('=').map_or_else(|| args.get(at + 1).cloned().unwrap_or_default(), str::to_owned)
            }) {
                folder = super::premises::parent(&scope.place(&manifest)).to_owned();
            }
        }
        folder
    }

    /// What a comparing command is told to compare with.
    fn comparing(&mut self, program: &str, args: &[String], call: &Call, context: &Context<'_>) {
        let by = context.setting.by.clone();
        let scope = self.scope(&call.folder);
        let is_file = |learner: &Self, path: &str| learner.premises.standing(path) == Standing::File;
        // A file of patterns, or the program of `awk`, `sed` and `jq`.
        let mut rest = args;
        let mut operands: Vec<String> = Vec::new();
        while let Some((first, tail)) = rest.split_first() {
            // Whether something stands there says nothing of what it holds.
            if is_one_of(program, "[|[[|test")
                && is_one_of(first, "-e|-f|-d|-r|-w|-x|-L|-h|-p|-S|-b|-c|-g|-u|-k|-O|-G|-N")
            {
                rest = tail.get(1..).unwrap_or_default();
                continue;
            }
            let told = is_one_of(
                first,
                "-f|--file|--from-file|--from-to-file|-c|--check|--slurpfile|--rawfile|--argfile|--schema|--relaxng",
            );
            let joined = ["--file=", "--from-file=", "--check="].iter().find_map(|option| first.strip_prefix(option));
            let value = joined.or_else(|| tail.first().filter(|_| told).map(String::as_str));
            if let Some(path) = value.map(|value| scope.place(value)).filter(|path| is_file(self, path)) {
                self.named(&path, &by, false);
            }
            if !first.starts_with('-') || first == "-" {
                operands.push(scope.place(first));
            }
            rest = tail;
        }
        self.cases(program, &operands, context);
        // Both what ran in a folder and what came of it may be unknown: only what is there now can be a judge.
        let there: Vec<&String> = operands
            .iter()
            .filter(|path| self.premises.standing(path) != Standing::Nothing && is_known(path))
            .collect();
        if is_one_of(program, "diff|cmp|comm|colordiff|sdiff|numdiff|jd|dyff|diff3") {
            let written: Vec<&String> = there.iter().copied().filter(|path| !context.made.contains(*path)).collect();
            let expected: Vec<String> =
                written.iter().filter(|path| table::sounds_expected(path)).map(|path| (*path).clone()).collect();
            match (expected.is_empty(), written.as_slice()) {
                (false, _) => expected.iter().for_each(|path| self.named(path, &by, false)),
                (true, [only]) if operands.len() > 1 => self.named(&(*only).clone(), &by, false),
                (true, [one, other]) => {
                    self.unknown(format!("which of {one} and {other} is the work that `{}` compares", call.raw), true);
                }
                _ => {}
            }
        } else if call.compared || program == "cat" || table::compares(program) {
            let expected: Vec<String> = there
                .iter()
                .filter(|path| table::sounds_expected(path) && !context.made.contains(**path))
                .map(|path| (*path).clone())
                .collect();
            expected.iter().for_each(|path| self.named(path, &by, false));
        }
    }

    /// Files that a loop goes through and compares. One more is work, as a new test is; those that are there stay.
    fn cases(&mut self, program: &str, operands: &[String], context: &Context<'_>) {
        let compares = is_one_of(program, "diff|cmp|comm|colordiff|sdiff|numdiff");
        let patterns = operands.iter().filter(|path| name(path).contains('*') && is_known(path));
        for pattern in patterns.filter(|path| !context.made.contains(*path)) {
            let folder = super::premises::parent(pattern);
            if folder.contains('*') {
                let what = format!("which files {pattern} in {} means", shown(&context.setting.by));
                self.unknown(what, true);
                continue;
            }
            let is_case = table::sounds_expected(pattern) || table::sounds_like_cases(pattern);
            if compares || is_case && !table::is_made(pattern) {
                // What is beside expected outputs under the same names is what they are expected for.
                let inputs = context.loops.iter().filter(|path| super::premises::parent(path) == folder && compares);
                let all: Vec<String> = inputs.chain([pattern]).flat_map(|path| self.files_of(path)).collect();
                all.iter().for_each(|path| self.named(path, &context.setting.by, false));
            }
        }
    }

    /// A file that comes in as a program's input.
    fn input(&mut self, input: &str, program: &str, context: &Context<'_>) {
        let by_loop = input.strip_prefix(UNKNOWN);
        let path = by_loop.unwrap_or(input);
        if name(path).contains('*') {
            return self.cases(program, &[path.to_owned()], context);
        }
        let is_there = self.premises.standing(path) == Standing::File && !context.made.contains(path);
        let asks = by_loop.is_some()
            || table::sounds_expected(path)
            || !(table::is_plain(program) || table::compares(program) || table::is_shell(program));
        if is_there && asks {
            self.named(path, &context.setting.by, false);
        }
    }

    /// The goals among a recipe runner's arguments, and the variables.
    pub(super) fn goals(program: &str, args: &[String]) -> (Vec<String>, Vec<(String, String)>) {
        let words = positionals(program, args);
        let assigned = words
            .iter()
            .filter_map(|word| word.split_once('='))
            .map(|(name, value)| (name.trim_end_matches([':', '?', '+']).to_owned(), value.to_owned()));
        let goals = words.iter().filter(|word| !word.contains('=')).map(|word| (*word).clone());
        (goals.collect(), assigned.collect())
    }

    /// The values of an option, in their order.
    pub(super) fn values_of(program: &str, args: &[String], names: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut rest = args;
        while let Some((first, tail)) = rest.split_first() {
            let joined = names.split('|').find_map(|name| {
                let value = first.strip_prefix(name)?;
                let short = name.len() == 2 && !name.starts_with("--");
                value.strip_prefix('=').or_else(|| Some(value).filter(|value| short && !value.is_empty()))
            });
            match joined {
                Some(value) => found.push(value.to_owned()),
                None if is_one_of(first, names) => found.extend(tail.first().cloned()),
                None => {}
            }
            rest = pass_option(program, rest).unwrap_or(tail);
        }
        found
    }
}

/// Whether a program runs what a project has named itself.
fn is_manager(program: &str) -> bool {
    is_one_of(
        program,
        "make|gmake|just|task|go-task|npm|pnpm|yarn|bun|deno|cargo|go|rake|composer|tox|nox|pre-commit|env|timeout|xargs|find",
    )
}

/// Whether more is known of a program than its text.
fn has_meaning(program: &str, args: &[String]) -> bool {
    table::runner(program).is_some()
        || table::is_interpreter(program)
        || table::is_plain(program)
        || table::compares(program)
        || table::is_elsewhere(program)
        || is_manager(program)
        || wrapped(program, args).is_some()
}
