//! justfiles: what a recipe needs, and what of the file counts for it.

use super::learn::{Context, Learner, Setting, named};
use super::premises::{UNKNOWN, place};
use super::{Part, Standing, Why};
use crate::evidence::positionals;
use std::collections::{BTreeMap, BTreeSet};

/// A justfile in blocks: a line that is not indented, and the indented ones behind it.
struct Justfile {
    blocks: Vec<Block>,
}

struct Block {
    /// The recipe's name; empty for anything else.
    recipe: String,
    needs: Vec<String>,
    /// The variable's name; empty for anything else.
    variable: String,
    head: String,
    body: Vec<String>,
}

impl Justfile {
    fn read(text: &str) -> Justfile {
        let mut blocks: Vec<Block> = Vec::new();
        for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match blocks.last_mut() {
                Some(block) if line.starts_with([' ', '\t']) => block.body.push(line.trim_start().to_owned()),
                _ => blocks.push(Block::head(line)),
            }
        }
        // Attributes stand above what they belong to.
        let mut file: Vec<Block> = Vec::new();
        let mut attributes = String::new();
        for mut block in blocks {
            if block.head.starts_with('[') && block.recipe.is_empty() {
                attributes.push_str(&format!("{}\n", block.head));
                continue;
            }
            block.head = std::mem::take(&mut attributes) + &block.head;
            file.push(block);
        }
        Justfile { blocks: file }
    }

    fn closure(&self, goals: &[String]) -> BTreeSet<String> {
        let first = self.blocks.iter().find(|block| !block.recipe.is_empty()).map(|block| block.recipe.clone());
        let is_default = goals.is_empty() || goals.iter().any(String::is_empty);
        let mut wanted: BTreeSet<String> =
            goals.iter().filter(|goal| !goal.is_empty()).cloned().chain(first.filter(|_| is_default)).collect();
        loop {
            let before = wanted.len();
            for block in &self.blocks {
                if wanted.contains(&block.recipe) {
                    wanted.extend(block.needs.iter().cloned());
                }
                if let Some((alias, target)) = block.alias().filter(|(alias, _)| wanted.contains(*alias)) {
                    wanted.extend([alias.to_owned(), target.to_owned()]);
                }
            }
            if wanted.len() == before {
                return wanted;
            }
        }
    }
}

impl Block {
    fn head(line: &str) -> Block {
        let mut block = Block {
            recipe: String::new(),
            needs: Vec::new(),
            variable: String::new(),
            head: line.to_owned(),
            body: Vec::new(),
        };
        const WORDS: [&str; 7] = ["set", "import", "import?", "mod", "mod?", "alias", "unexport"];
        let first = line.split([' ', ':']).next().unwrap_or_default();
        if WORDS.contains(&first) || line.starts_with('[') {
            return block;
        }
        match (line.split_once(":="), line.split_once(':')) {
            (Some((name, _)), _) => block.variable = name.trim().trim_start_matches("export ").to_owned(),
            (None, Some((name, needs))) => {
                block.recipe = name.split_whitespace().next().unwrap_or_default().trim_start_matches('@').to_owned();
                let words = needs.split(|c: char| c.is_whitespace() || "()&".contains(c));
                block.needs = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
            }
            _ => {}
        }
        block
    }

    fn alias(&self) -> Option<(&str, &str)> {
        let (alias, target) = self.head.strip_prefix("alias ")?.split_once(":=")?;
        Some((alias.trim(), target.trim()))
    }

    fn text(&self) -> String {
        format!("{}\n\t{}\n", self.head, self.body.join("\n\t"))
    }
}

/// What of a justfile counts for these recipes.
pub(super) fn counted(text: &str, goals: &[String]) -> String {
    let file = Justfile::read(text);
    let wanted = file.closure(goals);
    let counts = |block: &&Block| {
        let is_own_alias = block.alias().is_none_or(|(alias, _)| wanted.contains(alias));
        if block.recipe.is_empty() { block.variable.is_empty() && is_own_alias } else { wanted.contains(&block.recipe) }
    };
    let mut counted: String = file.blocks.iter().filter(counts).map(Block::text).collect();
    let mut used = BTreeSet::new();
    loop {
        let before = used.len();
        for block in file.blocks.iter().filter(|block| !block.variable.is_empty()) {
            let is_used = block.head.contains("export ") || counted.contains(&block.variable);
            if is_used && used.insert(&block.variable) {
                counted.push_str(&block.text());
            }
        }
        if used.len() == before {
            return counted;
        }
    }
}

impl Learner<'_> {
    /// `just -f file recipe`
    pub(super) fn just(&mut self, args: &[String], folder: &str, context: &Context<'_>) {
        let given = Self::values_of("just", args, "-f|--justfile");
        let file = match given.first() {
            Some(file) => place(self.premises.root(), folder, file),
            None => {
                let usual = ["justfile", ".justfile", "Justfile", "JUSTFILE"];
                let folders: Vec<String> = super::premises::upward(folder).map(str::to_owned).collect();
                let paths =
                    folders.iter().flat_map(|folder| usual.map(|file| place(self.premises.root(), folder, file)));
                let paths: Vec<String> = paths.collect();
                let at = paths.iter().position(|path| self.premises.standing(path) == Standing::File);
                for path in paths.iter().take(at.unwrap_or(0)) {
                    self.judge(path, Part::Whole, Why::Configures { runner: "just".to_owned() }, false);
                }
                paths.get(at.unwrap_or(0)).cloned().unwrap_or_default()
            }
        };
        let goals: Vec<String> =
            positionals("just", args).into_iter().filter(|word| !word.contains('=')).take(1).cloned().collect();
        self.justfile(&file, &goals, context);
    }

    fn justfile(&mut self, path: &str, goals: &[String], context: &Context<'_>) {
        let Some(text) = self.premises.read(path) else {
            return self.unknown(format!("what {path} will say, which is not there yet"), true);
        };
        if !self.is_new(format!("just {path} {}", goals.join(" "))) {
            return;
        }
        let file = Justfile::read(&text);
        let wanted = file.closure(goals);
        let has = |goal: &String| {
            file.blocks
                .iter()
                .any(|block| block.recipe == *goal || block.alias().is_some_and(|(alias, _)| alias == goal))
        };
        for goal in goals.iter().filter(|goal| !has(goal)) {
            self.unknown(format!("what `just {goal}` does, for which {path} has no recipe yet"), true);
        }
        let mut counting: Vec<String> = wanted.iter().filter(|goal| has(goal)).cloned().collect();
        counting.extend(goals.is_empty().then(String::new));
        if !counting.is_empty() {
            let part = Part::Recipes { tool: "just".to_owned(), goals: counting };
            self.judge(path, part, named(&context.setting.by), false);
        }
        let folder = super::premises::parent(path).to_owned();
        let variables: BTreeMap<&str, String> = file
            .blocks
            .iter()
            .filter(|block| !block.variable.is_empty())
            .map(|block| {
                let value = block.head.split_once(":=").map(|(_, value)| value.trim()).unwrap_or_default();
                let is_plain = value.starts_with(['"', '\'']) && value.ends_with(['"', '\'']);
                (
                    block.variable.as_str(),
                    if is_plain { value.trim_matches(['"', '\'']).to_owned() } else { UNKNOWN.to_string() },
                )
            })
            .collect();
        // Attributes and conditions choose recipes by the machine.
        let certain = context.setting.certain && !text.contains("\n[") && !text.contains("if ");
        let setting = Setting { by: path.to_owned(), certain, ..context.setting.clone() };
        for block in &file.blocks {
            for word in ["import ", "import? ", "mod "] {
                if let Some(inner) = block.head.strip_prefix(word).filter(|_| block.recipe.is_empty()) {
                    let inner = place(self.premises.root(), &folder, inner.trim().trim_matches(['"', '\'']));
                    self.judge(&inner, Part::Whole, named(path), false);
                    if let Some(text) = self.premises.read(&inner) {
                        self.names(&text, &setting);
                    }
                }
            }
            if block.head.contains("dotenv-load") {
                let path = place(self.premises.root(), &folder, ".env");
                self.judge(&path, Part::Whole, Why::Configures { runner: "just".to_owned() }, false);
            }
        }
        for block in file.blocks.iter().filter(|block| wanted.contains(&block.recipe)) {
            let scope = self.scope(&folder);
            let fill = |line: &String| filled(line.trim_start_matches(['@', '-']), &variables);
            // A recipe with a first line of its own is one script.
            if block.body.first().is_some_and(|line| line.starts_with("#!")) {
                let lines: Vec<String> = block.body.iter().skip(1).map(fill).collect();
                self.names(block.body.first().map_or("", String::as_str), &setting);
                let is_shell = block.body.first().is_some_and(|line| line.ends_with("sh"));
                if is_shell {
                    self.text(&lines.join("\n"), &scope, &setting);
                } else {
                    self.names(&lines.join("\n"), &setting);
                }
                continue;
            }
            for line in block.body.iter().map(fill) {
                self.text(&line, &scope, &setting);
            }
        }
    }
}

/// A line with its `{{variables}}` replaced.
fn filled(line: &str, variables: &BTreeMap<&str, String>) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, behind) = after.split_once("}}").unwrap_or((after, ""));
        let value = match name.trim() {
            "justfile_directory()" | "invocation_directory()" => ".".to_owned(),
            name => variables.get(name).cloned().unwrap_or_else(|| UNKNOWN.to_string()),
        };
        text.push_str(before);
        text.push_str(&value);
        rest = behind;
    }
    text + rest
}
