//! What a watched run of a check showed, and what is learned from it.

use super::premises::{Premises, Standing, name, parent, place};
use super::{Judge, Known, Part, Subject, Used, Why, table};
use serde::{Deserialize, Serialize};

/// Everything that the processes of one check executed and opened, each once, in the order in which it came first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Watched {
    pub executed: Vec<Executed>,
    /// Files that were opened for reading and were there.
    pub opened: Vec<Opened>,
    /// Files that were looked for and not found, unless the check itself made them later.
    pub missed: Vec<Opened>,
    /// Files that the check itself wrote, made or moved there, and folders that it moved: absolute.
    #[serde(default)]
    pub made: Vec<String>,
    /// Where that was asked for: files beside the tree that were made or changed since then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<Used>,
    /// With it: folders from which interpreters took modules, absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// Why something may be missing here; empty if nothing is.
    pub gap: String,
}

/// A program that was started.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Executed {
    /// Absolute, as the kernel was told, with the process's folder before a relative path.
    pub program: String,
    pub args: Vec<String>,
    /// The process's folder.
    pub folder: String,
}

/// A file, and who opened it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Opened {
    /// Absolute.
    pub path: String,
    /// The program of the process that opened it.
    pub by: String,
}

/// What is known of a check after a watched run of it: what it executed or gave to an interpreter by its name judges,
/// so does what shells read, and the configuration that was looked up. What reading took for the work stays the work.
///
/// A check about which nothing is unknown gets no judges from its run: what a runner's tests start in turn is the work.
pub fn learn_watched(subject: &Subject, known: &Known, watched: &Watched, premises: &dyn Premises) -> Known {
    let mut known = known.clone();
    if known.knows(&subject.id) {
        return known;
    }
    let made: Vec<String> = watched.made.iter().map(|path| place(premises.root(), "", path)).collect();
    let is_made = |path: &String| made.contains(path);
    let is_own = |path: &str| {
        let path = place(premises.root(), "", path);
        // What the check itself made is its output.
        let is_work = known.tried.contains(&path) || premises.matches(&subject.work, &path) || is_made(&path);
        let is_product = table::is_made(&path) && !table::sounds_like_a_judge(&path);
        (!path.starts_with('/')
            && !path.is_empty()
            && !is_work
            && !is_product
            && premises.standing(&path) == Standing::File)
            .then_some(path)
    };
    let mut found: Vec<(String, Why, bool)> = Vec::new();
    let mut programs: Vec<String> = Vec::new();
    for executed in &watched.executed {
        match is_own(&executed.program) {
            Some(path) => found.push((path, Why::Watched, true)),
            None if executed.program.starts_with(premises.root()) => {}
            None => programs.push(executed.program.clone()),
        }
        if table::is_interpreter(name(&executed.program)) {
            let script = executed.args.iter().skip(1).find(|word| !word.starts_with('-'));
            let path =
                script.map(|script| place(premises.root(), &place(premises.root(), "", &executed.folder), script));
            found.extend(
                path.and_then(|path| is_own(&format!("{}/{path}", premises.root())))
                    .map(|path| (path, Why::Watched, false)),
            );
        }
    }
    for opened in &watched.opened {
        let by = name(&opened.by);
        let is_read_as_program = table::is_shell(by) || matches!(by, "make" | "gmake" | "just" | "task");
        if let Some(path) = is_own(&opened.path).filter(|path| is_read_as_program || is_configuration(path)) {
            found.push((path, Why::Watched, false));
        }
    }
    for missed in &watched.missed {
        let path = place(premises.root(), "", &missed.path);
        let runner = table::RUNNERS.iter().find(|row| reads(row.reads, &path));
        if let Some(runner) = runner {
            let runner = runner.names.split('|').next().unwrap_or_default().to_owned();
            found.push((path, Why::Configures { runner }, false));
        }
    }
    for (path, why, executed) in found {
        let is_known = known.judges.iter().any(|judge| judge.path == path && judge.of.contains(&subject.id));
        if !is_known {
            known.judge(Judge { path, part: Part::Whole, why, of: vec![subject.id.clone()], executed });
        }
    }
    for program in programs {
        known.program(&program, &subject.id);
    }
    if watched.gap.is_empty() {
        known.unknown.retain(|unknown| unknown.check != subject.id || unknown.varies);
    }
    known
}

/// Whether a file of the project's root looks as if it told a program how to work.
fn is_configuration(path: &str) -> bool {
    const ENDINGS: [&str; 9] = [".toml", ".yml", ".yaml", ".ini", ".cfg", ".conf", ".rc", "rc.json", ".config"];
    const DEPENDENCIES: [&str; 4] = ["package.json", "Cargo.toml", "pyproject.toml", "pom.xml"];
    let file = name(path);
    let is_hidden = file.starts_with('.') && !file.starts_with(".git");
    let is_ending =
        ENDINGS.iter().any(|ending| file.ends_with(ending)) || file.contains(".config.") || file.ends_with("rc");
    parent(path).is_empty() && (is_hidden || is_ending) && !DEPENDENCIES.contains(&file)
}

/// Whether a row of the table names this file.
fn reads(patterns: &str, path: &str) -> bool {
    let of_home = |pattern: &str| pattern.strip_prefix("~/").map(str::to_owned);
    let plain = |pattern: &str| {
        pattern.split(['#']).next().unwrap_or_default().trim_start_matches('^').trim_end_matches('/').to_owned()
    };
    let files = patterns.split_whitespace().flat_map(|pattern| table::braces(&plain(pattern)));
    files.into_iter().any(|file| match of_home(&file) {
        Some(inside) => path.starts_with('/') && path.ends_with(&format!("/{inside}")),
        None => !path.starts_with('/') && (path == file || path.ends_with(&format!("/{file}"))) && !file.is_empty(),
    })
}
