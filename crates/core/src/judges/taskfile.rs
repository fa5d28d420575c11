//! Taskfiles: what a task needs, and what of the file counts for it. Read by their indentation.

use super::learn::{Context, Learner, Setting, named};
use super::premises::{UNKNOWN, place};
use super::{Part, Standing, Why};
use std::collections::BTreeSet;

/// A Taskfile: what stands outside of its tasks, and each task's lines.
struct Taskfile {
    outside: String,
    tasks: Vec<(String, Vec<String>)>,
}

impl Taskfile {
    fn read(text: &str) -> Taskfile {
        let mut file = Taskfile { outside: String::new(), tasks: Vec::new() };
        let mut among_tasks = false;
        let mut level = None;
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
            let indent = line.len() - line.trim_start().len();
            if indent == 0 {
                among_tasks = line.starts_with("tasks:");
                level = None;
                file.outside.push_str(&format!("{line}\n"));
            } else if !among_tasks {
                file.outside.push_str(&format!("{line}\n"));
            } else if indent <= *level.get_or_insert(indent) {
                let name = line.trim().split_once(": ").map_or(line.trim(), |(name, _)| name).trim_end_matches(':');
                file.tasks.push((name.trim_matches(['"', '\'']).to_owned(), vec![line.trim_start().to_owned()]));
            } else if let Some((_, lines)) = file.tasks.last_mut() {
                lines.push(line.to_owned());
            }
        }
        file
    }

    /// Tasks that are named somewhere in a wanted one are wanted too.
    fn closure(&self, goals: &[String]) -> BTreeSet<String> {
        let default = || vec!["default".to_owned()];
        let is_default = goals.is_empty() || goals.iter().any(String::is_empty);
        let mut wanted: BTreeSet<String> = goals
            .iter()
            .filter(|goal| !goal.is_empty())
            .cloned()
            .chain(if is_default { default() } else { Vec::new() })
            .collect();
        loop {
            let before = wanted.len();
            for (name, lines) in &self.tasks {
                if wanted.contains(name) {
                    let words =
                        lines.iter().flat_map(|line| line.split(|c: char| c.is_whitespace() || "[]{},\"'".contains(c)));
                    let words: BTreeSet<&str> = words.collect();
                    wanted.extend(
                        self.tasks.iter().map(|(name, _)| name.clone()).filter(|name| words.contains(name.as_str())),
                    );
                }
            }
            if wanted.len() == before {
                return wanted;
            }
        }
    }
}

/// What of a Taskfile counts for these tasks.
pub(super) fn counted(text: &str, goals: &[String]) -> String {
    let file = Taskfile::read(text);
    let wanted = file.closure(goals);
    let tasks = file.tasks.iter().filter(|(name, _)| wanted.contains(name));
    tasks.fold(file.outside.clone(), |counted, (_, lines)| counted + &lines.join("\n") + "\n")
}

impl Learner<'_> {
    /// `task -t file name`
    pub(super) fn taskfile(&mut self, args: &[String], folder: &str, context: &Context<'_>) {
        let given = Self::values_of("task", args, "-t|--taskfile");
        let usual = [
            "Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml",
        ];
        let names: Vec<String> = if given.is_empty() { usual.map(str::to_owned).to_vec() } else { given };
        let paths: Vec<String> = names.iter().map(|file| place(self.premises.root(), folder, file)).collect();
        let at = paths.iter().position(|path| self.premises.standing(path) == Standing::File);
        for path in paths.iter().take(at.unwrap_or(0)) {
            self.judge(path, Part::Whole, Why::Configures { runner: "task".to_owned() }, false);
        }
        let Some((path, text)) =
            at.and_then(|at| paths.get(at)).and_then(|path| Some((path.clone(), self.premises.read(path)?)))
        else {
            return self.unknown("what the Taskfile will say, which is not there yet".to_owned(), true);
        };
        let (goals, _) = Self::goals("task", args);
        let file = Taskfile::read(&text);
        let wanted = file.closure(&goals);
        if !self.is_new(format!("task {path} {}", goals.join(" "))) {
            return;
        }
        let has = |goal: &String| file.tasks.iter().any(|(name, _)| name == goal);
        for goal in goals.iter().filter(|goal| !has(goal) && !goal.contains(':')) {
            self.unknown(format!("what `task {goal}` does, which {path} does not hold yet"), true);
        }
        let mut counting: Vec<String> = wanted.iter().filter(|goal| has(goal)).cloned().collect();
        counting.extend(goals.is_empty().then(String::new));
        if !counting.is_empty() {
            let part = Part::Recipes { tool: "task".to_owned(), goals: counting };
            self.judge(&path, part, named(&context.setting.by), false);
        }
        let setting = Setting { by: path.clone(), ..context.setting.clone() };
        self.included_taskfiles(&file.outside, &path, folder, &setting);
        for (_, lines) in file.tasks.iter().filter(|(name, _)| wanted.contains(name)) {
            self.task(lines, folder, &setting);
        }
    }

    fn included_taskfiles(&mut self, outside: &str, path: &str, folder: &str, setting: &Setting) {
        let mut inside = false;
        for line in outside.lines() {
            inside = if line.starts_with([' ', '\t']) { inside } else { line.starts_with("includes:") };
            let Some((_, value)) = line.split_once(": ").filter(|_| inside) else { continue };
            let target = place(self.premises.root(), folder, value.trim().trim_matches(['"', '\'']));
            for inner in [target.clone(), format!("{target}/Taskfile.yml"), format!("{target}/Taskfile.yaml")] {
                if let Some(text) = self.premises.read(&inner) {
                    self.judge(&inner, Part::Whole, named(path), false);
                    self.names(&text, setting);
                }
            }
        }
    }

    /// The commands of a task: items of a list, or the values of `cmd` and `cmds`.
    fn task(&mut self, lines: &[String], folder: &str, setting: &Setting) {
        const KEYS: [&str; 14] = [
            "desc", "summary", "deps", "sources", "generates", "vars", "env", "silent", "dir", "task", "aliases",
            "status", "preconditions", "for",
        ];
        let dir = lines.iter().find_map(|line| line.trim().strip_prefix("dir:"));
        let folder = dir
            .map_or(folder.to_owned(), |dir| place(self.premises.root(), folder, dir.trim().trim_matches(['"', '\''])));
        for (at, line) in lines.iter().enumerate() {
            // The first one is the task's name, at times with its only command.
            let line = if at == 0 { line.split_once(": ").map_or("", |(_, command)| command) } else { line.trim() };
            let item = line.strip_prefix("- ").unwrap_or(line).trim();
            let command = item
                .strip_prefix("cmd:")
                .or_else(|| item.strip_prefix("cmds:"))
                .or_else(|| item.strip_prefix("sh:"))
                .unwrap_or(item)
                .trim();
            let is_key = KEYS.iter().any(|key| item.starts_with(&format!("{key}:")));
            let is_list = command.starts_with('[') && command.ends_with(']');
            if is_key || command.is_empty() || command.ends_with(':') || matches!(command, "|" | ">" | "|-") {
                continue;
            }
            for command in if is_list { command.trim_matches(['[', ']']).split(',').collect() } else { vec![command] } {
                let command = command.trim().trim_matches(['"', '\'']);
                let command = command
                    .replace("{{.TASKFILE_DIR}}", ".")
                    .replace("{{.ROOT_DIR}}", ".")
                    .replace("{{.CLI_ARGS}}", "");
                let command = if command.contains("{{") {
                    command.replace("{{", &UNKNOWN.to_string()).replace("}}", "")
                } else {
                    command
                };
                let scope = self.scope(&folder);
                self.text(&command, &scope, setting);
            }
        }
    }
}
