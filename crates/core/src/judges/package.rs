//! Scripts that a package's description names, and the programs that run them.

use super::learn::{Context, Learner, Setting, named, shown};
use super::premises::{is_known, parent, place, upward};
use super::shell::Call;
use super::{Format, Part, Standing, Why};
use crate::evidence::{is_one_of, positionals};
use serde_json::Value;

const PACKAGE: &str = "package.json";

impl Learner<'_> {
    /// `npm run x`, `yarn x`, `run-s x y`, `turbo run x` and their like.
    pub(super) fn package_runner(
        &mut self,
        program: &str,
        args: &[String],
        folder: &str,
        call: &Call,
        context: &Context<'_>,
    ) {
        if !is_known(folder) {
            return self.unknown(format!("where `{}` in {} runs", call.raw, shown(&context.setting.by)), false);
        }
        let own_args = args.iter().position(|word| word == "--").map_or(args, |at| args.get(..at).unwrap_or_default());
        let words: Vec<String> = positionals(program, own_args).into_iter().cloned().collect();
        let given: Vec<String> = args.iter().skip(own_args.len() + 1).cloned().collect();
        let first = words.first().map(String::as_str).unwrap_or_default();
        let second = words.get(1).map(String::as_str).unwrap_or_default();
        match (program, first) {
            ("concurrently", _) => return self.concurrently(args, folder, context),
            ("composer", _) => return self.composer(first, second, folder, context),
            ("npm-run-all" | "npm-run-all2" | "run-s" | "run-p", _) => {
                for pattern in &words {
                    self.scripts_like(pattern, folder, context);
                }
                return;
            }
            ("turbo" | "lerna" | "nx" | "wireit", _) => {
                let names = words
                    .iter()
                    .filter(|word| !is_one_of(word, "run|run-many|affected|exec"))
                    .map(|word| word.rsplit(':').next().unwrap_or(word).to_owned());
                let targets = Self::values_of(program, args, "-t|--target|--targets");
                let names: Vec<String> =
                    targets.iter().flat_map(|names| names.split(',').map(str::to_owned)).chain(names).collect();
                return self.in_all_packages(program, &names, folder, context);
            }
            ("npm", "exec" | "x") | ("pnpm", "exec" | "dlx") | ("yarn", "exec" | "dlx") | ("bun", "x") => {
                let rest: Vec<String> = args
                    .iter()
                    .skip_while(|word| *word != first)
                    .skip(1)
                    .filter(|word| *word != "--")
                    .cloned()
                    .collect();
                let setting = Setting {
                    package: Some(folder.to_owned()),
                    installs: context.setting.installs || is_one_of(first, "dlx"),
                    ..context.setting.clone()
                };
                return self.again(
                    &rest,
                    &Call { folder: folder.to_owned(), ..call.clone() },
                    &Context { setting: &setting, ..*context },
                );
            }
            _ => {}
        }
        let Some(script) = self.script_by_verb(program, &words, folder, call, context) else { return };
        const EVERYWHERE: &str = "-r|--recursive|--filter|-F|--workspaces|-ws|-w|--workspace";
        if own_args.iter().any(|word| is_one_of(word.split('=').next().unwrap_or_default(), EVERYWHERE)) {
            self.in_all_packages(program, &[script], folder, context);
        } else {
            self.script_or_program(&script, &words, &given, folder, call, context);
        }
    }

    /// The script that a package manager's first words mean; `None` if they mean something else, which is followed.
    fn script_by_verb(
        &mut self,
        program: &str,
        words: &[String],
        folder: &str,
        call: &Call,
        context: &Context<'_>,
    ) -> Option<String> {
        let word = |index: usize| words.get(index).map(String::as_str).unwrap_or_default();
        let (first, second) = (word(0), word(1));
        match (program, first, second) {
            ("bun", "run", file) | ("bun", file, _) if file.contains('.') => {
                let path = self.scope(folder).place(file);
                self.script(&path, Some("bun"), words.get(1..).unwrap_or_default(), call, context);
            }
            (_, "run" | "run-script" | "rum" | "urn", script) => {
                return Some(script.to_owned()).filter(|script| !script.is_empty());
            }
            ("npm" | "pnpm", "test" | "t" | "tst", _) => return Some("test".to_owned()),
            ("yarn" | "yarnpkg", "workspace", package) => {
                self.in_package(package, words.get(2..).unwrap_or_default(), folder, context);
            }
            ("yarn" | "yarnpkg", "workspaces", _) => {
                let names = words.iter().skip(1).filter(|word| !is_one_of(word, "foreach|run|focus"));
                self.in_all_packages(program, &names.cloned().collect::<Vec<_>>(), folder, context);
            }
            (_, "ci" | "install" | "i" | "add" | "install-clean" | "install-test" | "it" | "rebuild", _)
            | ("yarn", "", _) => {
                self.lifecycle(&["preinstall", "install", "postinstall", "prepare"], folder, context);
            }
            ("npm", "start" | "stop" | "restart", _) => return Some(first.to_owned()),
            ("npm", "pack" | "publish", _) => {
                self.lifecycle(&["prepack", "prepare", "prepublishOnly"], folder, context);
            }
            ("npm", _, _) | ("bun", "test", _) | (_, "", _) => {}
            (_, name, _) => return Some(name.to_owned()),
        }
        None
    }

    /// A script of the package, or else a program of one that it depends on.
    fn script_or_program(
        &mut self,
        script: &str,
        words: &[String],
        given: &[String],
        folder: &str,
        call: &Call,
        context: &Context<'_>,
    ) {
        let package = self.package_of(folder);
        let has = self.json(&package).pointer("/scripts").and_then(|scripts| scripts.get(script)).is_some();
        let is_program = || {
            self.local_program(
                script,
                folder,
                &Setting { package: Some(parent(&package).to_owned()), ..Setting::default() },
            )
            .is_some()
        };
        if has || !is_program() {
            return self.package_script_with(script, &package, given, context);
        }
        let rest: Vec<String> = words.iter().skip_while(|word| *word != script).chain(given).cloned().collect();
        let setting = Setting { package: Some(parent(&package).to_owned()), ..context.setting.clone() };
        self.again(
            &rest,
            &Call { folder: folder.to_owned(), ..call.clone() },
            &Context { setting: &setting, ..*context },
        );
    }

    /// The description of the package that a folder belongs to.
    fn package_of(&self, folder: &str) -> String {
        let path = |folder: &str| place(self.premises.root(), folder, PACKAGE);
        upward(folder)
            .map(path)
            .find(|path| self.premises.standing(path) == Standing::File)
            .unwrap_or_else(|| path(folder))
    }

    fn json(&self, path: &str) -> Value {
        self.premises.read(path).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    pub(super) fn package_script(&mut self, script: &str, folder: &str, context: &Context<'_>) {
        let package = self.package_of(folder);
        self.package_script_with(script, &package, &[], context);
    }

    fn package_script_with(&mut self, script: &str, package: &str, given: &[String], context: &Context<'_>) {
        if !is_known(script) {
            return self.unknown(format!("which script of {package} runs"), false);
        }
        let scripts = self.json(package).pointer("/scripts").cloned().unwrap_or_default();
        if scripts.get(script).is_none() {
            return self
                .unknown(format!("what the script `{script}` of {package} will be, which is not there yet"), true);
        }
        // Scripts find what stands there in variables.
        let has_variables =
            self.json(package).pointer("/config").is_some() || scripts.to_string().contains("npm_package_config");
        let sections = has_variables.then(|| "config".to_owned()).into_iter().collect();
        let part = Part::Package { scripts: vec![script.to_owned()], sections };
        self.judge(package, part, named(&context.setting.by), false);
        if !self.is_new(format!("script {script} of {package} {}", given.join(" "))) {
            return;
        }
        let folder = parent(package).to_owned();
        let setting = Setting { by: package.to_owned(), package: Some(folder.clone()), ..context.setting.clone() };
        for name in [format!("pre{script}"), script.to_owned(), format!("post{script}")] {
            if let Some(text) = scripts.get(&name).and_then(Value::as_str) {
                let given: Vec<String> = given
                    .iter()
                    .filter(|_| name == script)
                    .map(|word| shlex::try_quote(word).map_or_else(|_| word.clone(), Into::into))
                    .collect();
                let line = if given.is_empty() { text.to_owned() } else { format!("{text} {}", given.join(" ")) };
                let scope = self.scope(&folder);
                self.text(&line, &scope, &setting);
            }
        }
    }

    /// Scripts that run when something is installed; those that are not there must stay away.
    fn lifecycle(&mut self, names: &[&str], folder: &str, context: &Context<'_>) {
        let package = self.package_of(folder);
        let part =
            Part::Package { scripts: names.iter().map(|name| (*name).to_owned()).collect(), sections: Vec::new() };
        self.judge(&package, part, named(&context.setting.by), false);
        let scripts = self.json(&package).pointer("/scripts").cloned().unwrap_or_default();
        for name in names.iter().filter(|name| scripts.get(**name).is_some()) {
            self.package_script_with(name, &package, &[], context);
        }
    }

    /// `run-s test:*`
    fn scripts_like(&mut self, pattern: &str, folder: &str, context: &Context<'_>) {
        let package = self.package_of(folder);
        let (before, glob) = pattern.split_once('*').map_or((pattern, false), |(before, _)| (before, true));
        let scripts = self.json(&package).pointer("/scripts").cloned().unwrap_or_default();
        let names: Vec<String> = scripts.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        for name in names.iter().filter(|name| name.as_str() == pattern || glob && name.starts_with(before)) {
            self.package_script_with(name, &package, &[], context);
        }
        if !names.iter().any(|name| name == pattern) && !glob {
            self.unknown(format!("what the script `{pattern}` of {package} will be, which is not there yet"), true);
        }
    }

    /// Each argument is a line of its own; `npm:test:*` is a script.
    fn concurrently(&mut self, args: &[String], folder: &str, context: &Context<'_>) {
        for line in positionals("concurrently", args).into_iter().cloned().collect::<Vec<_>>() {
            match line.split_once(':').filter(|(manager, _)| is_one_of(manager, "npm|pnpm|yarn|bun|node")) {
                Some((_, script)) => self.scripts_like(script, folder, context),
                None => {
                    let scope = self.scope(folder);
                    self.text(&line, &scope, context.setting);
                }
            }
        }
    }

    /// Scripts of these names, in every package of the workspace that has them.
    fn in_all_packages(&mut self, program: &str, names: &[String], folder: &str, context: &Context<'_>) {
        let root = self.package_of(folder);
        let section = Part::Package { scripts: Vec::new(), sections: vec!["workspaces".to_owned()] };
        self.judge(&root, section, Why::Configures { runner: program.to_owned() }, false);
        let packages = self.workspace(&root);
        let mut found = false;
        for package in packages.iter().chain([&root]) {
            let scripts = self.json(package).pointer("/scripts").cloned().unwrap_or_default();
            for name in names.iter().filter(|name| scripts.get(name.as_str()).is_some()) {
                found = true;
                self.package_script_with(name, package, &[], context);
            }
            if is_one_of(program, "nx|turbo|lerna") {
                let project = place(self.premises.root(), parent(package), "project.json");
                self.judge(&project, Part::Whole, Why::Configures { runner: program.to_owned() }, false);
            }
        }
        if !found {
            self.unknown(format!("what `{program} {}` runs", names.join(" ")), false);
        }
    }

    /// `yarn workspace NAME SCRIPT`
    fn in_package(&mut self, name: &str, words: &[String], folder: &str, context: &Context<'_>) {
        let root = self.package_of(folder);
        let script = words.iter().find(|word| *word != "run").cloned().unwrap_or_default();
        let packages = self.workspace(&root);
        let found =
            packages.iter().find(|path| self.json(path).get("name").and_then(Value::as_str) == Some(name)).cloned();
        match found {
            Some(package) => self.package_script_with(&script, &package, &[], context),
            None => self.unknown(format!("where the package {name} is"), false),
        }
    }

    /// The descriptions of a workspace's packages.
    fn workspace(&self, root: &str) -> Vec<String> {
        let description = self.json(root);
        let listed = description.pointer("/workspaces/packages").or_else(|| description.get("workspaces"));
        let mut globs: Vec<String> = listed
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        let yaml =
            self.premises.read(&place(self.premises.root(), parent(root), "pnpm-workspace.yaml")).unwrap_or_default();
        let mut inside = false;
        for line in yaml.lines() {
            inside = if line.starts_with(|c: char| c.is_ascii_alphabetic()) {
                line.starts_with("packages:")
            } else {
                inside
            };
            if let Some(item) = line.trim().strip_prefix("- ").filter(|_| inside) {
                globs.push(item.trim().trim_matches(['"', '\'']).to_owned());
            }
        }
        let at = |path: &str| place(self.premises.root(), parent(root), path);
        let mut folders = Vec::new();
        for glob in globs.iter().filter(|glob| !glob.starts_with('!')) {
            match glob.split_once('*') {
                Some((before, _)) => {
                    let folder = at(before);
                    for inner in self
                        .premises
                        .list(&folder)
                        .into_iter()
                        .filter(|name| name != "node_modules" && !name.starts_with('.'))
                    {
                        folders.push(place(self.premises.root(), &folder, &inner));
                    }
                }
                None => folders.push(at(glob)),
            }
        }
        let packages = folders.iter().map(|folder| place(self.premises.root(), folder, PACKAGE));
        packages.filter(|path| path != root && self.premises.standing(path) == Standing::File).collect()
    }

    /// Scripts of `composer.json`: lines, lists of lines, and `@other`.
    fn composer(&mut self, first: &str, second: &str, folder: &str, context: &Context<'_>) {
        const OWN: &str = "install|update|require|remove|validate|dump-autoload|audit|show|check-platform-reqs|diagnose|outdated|exec";
        let path = place(self.premises.root(), folder, "composer.json");
        let name = if is_one_of(first, "run|run-script") { second } else { first };
        if name.is_empty() || is_one_of(name, OWN) {
            return;
        }
        let script = self.json(&path).pointer("/scripts").and_then(|scripts| scripts.get(name)).cloned();
        let lines: Vec<String> = match script {
            Some(Value::String(line)) => vec![line],
            Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => {
                return self
                    .unknown(format!("what the script `{name}` of {path} will be, which is not there yet"), true);
            }
        };
        self.judge(
            &path,
            Part::Package { scripts: vec![name.to_owned()], sections: Vec::new() },
            named(&context.setting.by),
            false,
        );
        if !self.is_new(format!("composer {path} {name}")) {
            return;
        }
        let setting = Setting { by: path.clone(), package: Some(folder.to_owned()), ..context.setting.clone() };
        for line in lines {
            match line.strip_prefix('@') {
                Some(line) if line.starts_with("php ") || line.starts_with("putenv ") => {
                    let scope = self.scope(folder);
                    self.text(line, &scope, &setting);
                }
                Some(other) => self.composer(
                    other.split(' ').next().unwrap_or_default(),
                    "",
                    folder,
                    &Context { setting: &setting, ..*context },
                ),
                None if line.contains("::") && !line.contains(' ') => {
                    self.unknown(format!("what `{line}` in {path} does"), false)
                }
                None => {
                    let scope = self.scope(folder);
                    self.text(&line, &scope, &setting);
                }
            }
        }
    }

    pub(super) fn deno_task(&mut self, task: &str, folder: &str, context: &Context<'_>) {
        for file in ["deno.json", "deno.jsonc"] {
            let path = place(self.premises.root(), folder, file);
            let Some(found) = self.json(&path).pointer("/tasks").and_then(|tasks| tasks.get(task)).cloned() else {
                continue;
            };
            let names = vec![format!("tasks.{task}")];
            self.judge(&path, Part::Sections { format: Format::Json, names }, named(&context.setting.by), false);
            let line =
                found.as_str().or_else(|| found.get("command").and_then(Value::as_str)).unwrap_or_default().to_owned();
            let setting = Setting { by: path, ..context.setting.clone() };
            let scope = self.scope(folder);
            if self.is_new(format!("deno {folder} {task}")) {
                self.text(&line, &scope, &setting);
            }
            return;
        }
        self.package_script(task, folder, context);
    }
}
