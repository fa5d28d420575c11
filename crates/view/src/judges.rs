//! What checks are made of, in words: for `ralph judges`, `ralph trust` and whoever else tells it.

use crate::json::{HIDDEN, VERSION};
use crate::{Paint, words};
use ralph_core::check::CheckSpec;
use ralph_core::judges::{Cache, Known, Part, Unknown, Why};
use ralph_core::protect::{Pinned, PinnedState, Pins};
use ralph_core::text;
use ralph_core::trust::Untrusted;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Everything that is known of the checks of a project as it stands.
#[derive(Debug)]
pub struct Judging {
    pub checks: Vec<CheckSpec>,
    pub known: Known,
    pub pins: Pins,
    pub untrusted: Vec<Untrusted>,
    /// Why checks do not run on snapshots here; empty if they do.
    pub live: String,
    /// Whether checks run in a fresh checkout of the commit.
    pub checkout: bool,
    /// Whether what checks are made of is protected at all.
    pub protects: bool,
}

/// Why something judges, as the part of a sentence.
pub fn why(why: &Why) -> String {
    match why {
        Why::Declared => "declared in guardrails[].judges".to_owned(),
        Why::Protected => "declared in protect.paths".to_owned(),
        Why::Named { by } if by.is_empty() => "the command names it".to_owned(),
        Why::Named { by } => format!("{by} names it"),
        Why::Configures { runner } => format!("configures {runner}"),
        Why::Installed { runner } => format!("part of the installation of {runner}"),
        Why::Watched => "a watched run of the check used it".to_owned(),
        Why::Environment { runner, own: true } => {
            format!("not there yet; {runner} makes one for each check, which does not see another one")
        }
        Why::Environment { runner, own: false } => {
            format!("not there yet; {runner} would use it, and nobody knows what it will be")
        }
    }
}

/// What of a judge counts; empty if all of it does.
pub fn part(part: &Part) -> String {
    let listed = |names: &[String]| names.join(", ");
    match part {
        Part::Whole => String::new(),
        Part::Package { scripts, sections } => {
            let scripts = (!scripts.is_empty()).then(|| format!("scripts {}", listed(scripts)));
            let sections = (!sections.is_empty()).then(|| format!("sections {}", listed(sections)));
            [scripts, sections].into_iter().flatten().collect::<Vec<_>>().join("; ")
        }
        Part::Recipes { goals, .. } if goals.is_empty() => "what the first goal needs".to_owned(),
        Part::Recipes { goals, .. } => format!("what {} needs", listed(goals)),
        Part::Sections { names, .. } => format!("sections {}", listed(names)),
        Part::Without { names, .. } => format!("all but the sections {}", listed(names)),
        Part::Output => "that it can be written and is no link".to_owned(),
        Part::Ending { ending } => format!("files that end with {ending}"),
        Part::Announced { file, .. } => format!("plugins that announce themselves in {file}"),
    }
}

/// What would make something known.
pub fn mend(unknown: &Unknown) -> &'static str {
    match unknown.varies {
        true if unknown.what.ends_with("not installed yet") => "install it before the run begins",
        true => {
            "name what it uses in guardrails[].judges, or in guardrails[].work if it is the work, and call it by a fixed path"
        }
        false => "a run watches the check once to find out; or name it in guardrails[].judges",
    }
}

/// How many files and programs are pinned, for the beginning of a run.
pub fn count(files: usize, programs: usize) -> String {
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!("{} and {} are pinned", counted(files, "file"), counted(programs, "program"))
}

impl Judging {
    fn files<'a>(&'a self, check: &'a CheckSpec) -> impl Iterator<Item = &'a Pinned> {
        self.pins.files.iter().filter(|file| file.of.contains(&check.id))
    }

    /// The programs of a check: by name, and the file behind it if there is one.
    fn programs<'a>(&'a self, check: &'a CheckSpec) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
        let used = self.known.programs.iter().filter(|program| program.of.contains(&check.id));
        used.map(|program| {
            let found = self.pins.programs.iter().find(|pinned| pinned.name == program.name);
            (program.name.as_str(), found.map(|pinned| pinned.file.as_str()))
        })
    }

    fn unknown<'a>(&'a self, check: &'a CheckSpec) -> impl Iterator<Item = &'a Unknown> {
        self.known.unknown.iter().filter(|unknown| unknown.check == check.id)
    }

    fn caches<'a>(&'a self, check: &'a CheckSpec) -> Vec<String> {
        let found = self.known.caches.iter().filter(|cache| cache.check == check.id).map(cache_words);
        found.chain(check.terms.caches.iter().cloned()).collect()
    }

    fn changed_by(&self, path: &str) -> Option<&Untrusted> {
        self.untrusted.iter().find(|untrusted| untrusted.path == path)
    }

    fn shown(&self) -> impl Iterator<Item = &CheckSpec> {
        self.checks.iter().filter(|check| !check.terms.hidden)
    }

    /// Programs of checks that are not there, but for those of hidden ones.
    pub fn missing_programs(&self) -> impl Iterator<Item = &str> {
        let all = self.shown().flat_map(|check| self.programs(check));
        all.filter(|(name, file)| file.is_none() && !is_builtin(name)).map(|(name, _)| name)
    }

    /// What is not known, but for hidden checks.
    pub fn unknown_of_shown(&self) -> impl Iterator<Item = &str> {
        self.shown().flat_map(|check| self.unknown(check)).map(|unknown| unknown.what.as_str())
    }

    /// Where checks run, as the part of a sentence.
    fn ground(&self) -> String {
        match (self.checkout, self.live.as_str()) {
            (true, _) => "in a fresh checkout of the commit".to_owned(),
            (false, "") => "on a snapshot of the project".to_owned(),
            (false, why) => format!("in the project itself: {why}"),
        }
    }

    pub fn for_people(&self, paint: Paint) -> String {
        let mut page = String::new();
        if self.checks.is_empty() {
            page.push_str("no check is configured, so nothing but the agent's word stands behind a claim\n");
            page.push_str("propose checks: ralph init --yes --dry-run\n");
        }
        for check in &self.checks {
            let _ = writeln!(page, "{}", paint.bold(&words::one_line(check.name())));
            self.check_for_people(check, paint, &mut page);
            page.push('\n');
        }
        let rules: Vec<&Pinned> = self.pins.files.iter().filter(|file| file.of.is_empty()).collect();
        if !rules.is_empty() {
            let _ = writeln!(page, "{}", paint.bold("protected for all checks"));
            rules.iter().for_each(|file| self.file(file, paint, &mut page));
            page.push('\n');
        }
        if !self.checks.is_empty() {
            let _ = writeln!(page, "checks run {}", words::one_line(&self.ground()));
            if !self.protects {
                page.push_str("protect.scripts is false: what checks are made of may change, and proves less\n");
            }
        }
        if !self.untrusted.is_empty() {
            page.push_str("look at what agents changed, and accept it or put it back: ralph trust --show\n");
        }
        page
    }

    fn check_for_people(&self, check: &CheckSpec, paint: Paint, page: &mut String) {
        if check.terms.hidden {
            let (files, programs) = (self.files(check).count(), self.programs(check).count());
            let unknown = self.unknown(check).count();
            let _ = writeln!(page, "  hidden: {}, {unknown} unknown", count(files, programs));
            return;
        }
        if !check.name.is_empty() {
            let _ = writeln!(page, "  {}", paint.dim(&words::one_line(&check.command)));
        }
        let (absent, present): (Vec<&Pinned>, Vec<&Pinned>) = self
            .files(check)
            .partition(|file| file.state == PinnedState::Nothing && self.changed_by(&file.path).is_none());
        present.into_iter().for_each(|file| self.file(file, paint, page));
        for (name, file) in self.programs(check) {
            let mark =
                if file.and_then(|file| self.changed_by(file)).is_some() { paint.yellow("!") } else { " ".to_owned() };
            let behind = match file {
                Some(file) => paint.dim(&words::one_line(file)),
                None if is_builtin(name) => paint.dim("a word of the shell"),
                None => paint.yellow("is not there"),
            };
            let _ = writeln!(page, "  {mark} {}  {behind}", words::one_line(name));
        }
        for path in self.known.tried.iter() {
            let _ = writeln!(page, "    {}  {}", words::one_line(path), paint.dim("is the work: the check tries it"));
        }
        for unknown in self.unknown(check) {
            let _ = writeln!(page, "  {} not known: {}", paint.yellow("?"), words::one_line(&unknown.what));
            let _ = writeln!(page, "    {}", paint.dim(mend(unknown)));
        }
        let mut reasons: Vec<&Why> = Vec::new();
        for file in &absent {
            if !reasons.contains(&&file.why) {
                reasons.push(&file.why);
            }
        }
        for reason in reasons {
            let paths = absent.iter().filter(|file| file.why == *reason).map(|file| file.path.as_str());
            let (about, paths) = (why(reason), paths.collect::<Vec<_>>().join(", "));
            let line = format!("must stay away ({about}): {paths}");
            let _ = writeln!(page, "    {}", paint.dim(&words::one_line(&line)));
        }
        let caches = self.caches(check);
        if !caches.is_empty() {
            let _ = writeln!(page, "    caches: {}", words::one_line(&caches.join(", ")));
        }
    }

    fn file(&self, file: &Pinned, paint: Paint, page: &mut String) {
        let absent = (file.state == PinnedState::Nothing).then(|| "not there, and must stay away".to_owned());
        let counts = Some(part(&file.part)).filter(|part| !part.is_empty());
        let about = [Some(why(&file.why)), counts, absent].into_iter().flatten().collect::<Vec<_>>().join("; ");
        let (mark, changed) = match self.changed_by(&file.path) {
            Some(by) => (paint.yellow("!"), paint.yellow(&format!("  {}", by.words()))),
            None => (" ".to_owned(), String::new()),
        };
        let (path, about) = (words::one_line(&file.path), paint.dim(&words::one_line(&about)));
        let _ = writeln!(page, "  {mark} {path}  {about}{changed}");
    }

    pub fn for_programs(&self) -> Value {
        let untrusted = |path: &str| self.changed_by(path).is_some();
        let file = |file: &Pinned| {
            json!({
                "path": file.path,
                "part": file.part,
                "counts": Some(part(&file.part)).filter(|part| !part.is_empty()),
                "why": file.why,
                "reason": why(&file.why),
                "exists": file.state != PinnedState::Nothing,
                "trusted": !untrusted(&file.path),
                "changed_by": self.changed_by(&file.path).and_then(|by| by.run.as_ref()),
            })
        };
        let check = |check: &CheckSpec| {
            let (files, programs) = (self.files(check), self.programs(check));
            let unknown: Vec<Value> = self
                .unknown(check)
                .map(|one| json!({ "what": one.what, "varies": one.varies, "mend": mend(one) }))
                .collect();
            if check.terms.hidden {
                return json!({
                    "check": check.name(), "command": HIDDEN, "hidden": true, "known": unknown.is_empty(),
                    "files": files.count(), "programs": programs.count(),
                });
            }
            let programs = programs
                .map(|(name, file)| json!({ "name": name, "file": file, "trusted": !file.is_some_and(untrusted) }));
            json!({
                "check": check.name(),
                "command": check.command,
                "hidden": false,
                "known": unknown.is_empty(),
                "judges": files.map(file).collect::<Vec<_>>(),
                "programs": programs.collect::<Vec<_>>(),
                "unknown": unknown,
                "caches": self.caches(check),
            })
        };
        let rules = self.pins.files.iter().filter(|file| file.of.is_empty());
        json!({
            "v": VERSION,
            "checks": self.checks.iter().map(check).collect::<Vec<_>>(),
            "protected": rules.map(file).collect::<Vec<_>>(),
            "tried": self.known.tried,
            "protects": self.protects,
            "ground": if self.checkout { "checkout" } else if self.live.is_empty() { "snapshot" } else { "live" },
            "live_because": Some(&self.live).filter(|why| !why.is_empty()),
            "untrusted": self.untrusted,
        })
    }
}

/// Words that a shell knows without a program.
fn is_builtin(name: &str) -> bool {
    const BUILTIN: &str = ". : alias bg break builtin cd command continue declare dirs eval exec exit export fg getopts \
                           hash jobs let local mapfile popd pushd read readonly return set shift shopt source times trap \
                           type typeset ulimit umask unalias unset wait";
    BUILTIN.split_whitespace().any(|builtin| builtin == name)
}

fn cache_words(cache: &Cache) -> String {
    match (cache.path.as_str(), cache.variable.as_str()) {
        ("", variable) => format!("where {variable} says"),
        (path, "") => path.to_owned(),
        (path, variable) => format!("{path} ({variable})"),
    }
}

/// What differs between two texts, as lines with `-` and `+`, from the first difference to the last, with a few lines
/// around it; what is longer than `most` lines is cut.
pub fn difference(before: &str, after: &str, most: usize) -> Vec<String> {
    const AROUND: usize = 2;
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let shorter = before.len().min(after.len()) - same;
    let tail =
        before.iter().rev().zip(after.iter().rev()).take(shorter).take_while(|(one, other)| one == other).count();
    let marked = |mark: char, lines: &[&str], from: usize, to: usize| -> Vec<String> {
        let lines = lines.iter().skip(from).take(to.saturating_sub(from));
        lines.map(|line| format!("{mark}{}", text::for_terminal(line))).collect()
    };
    let (old_end, new_end) = (before.len() - tail, after.len() - tail);
    let mut lines = marked(' ', &before, same.saturating_sub(AROUND), same);
    lines.extend(marked('-', &before, same, old_end));
    lines.extend(marked('+', &after, same, new_end));
    lines.extend(marked(' ', &after, new_end, new_end + AROUND.min(tail)));
    let more = lines.len().saturating_sub(most);
    lines.truncate(most);
    lines.extend((more > 0).then(|| format!("… {more} more lines")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_what_went_and_what_came() {
        let lines = |before, after| difference(before, after, 6).join("|");
        assert_eq!(lines("a\nb\nc\nd\ne\n", "a\nb\nX\nd\ne\n"), " a| b|-c|+X| d| e");
        assert_eq!(lines("", "exit 0\n"), "+exit 0");
        assert_eq!(lines("a\na\n", "a\n"), " a|-a");
        assert_eq!(lines("a\n", "a\n"), " a");
        assert_eq!(lines("1\n2\n3\n4\n5\n6\n7\n8\n", ""), "-1|-2|-3|-4|-5|-6|… 2 more lines");
        assert_eq!(lines("\u{1b}[2Jx", ""), "-x");
    }

    #[test]
    fn every_reason_and_part_is_a_sentence() {
        for (reason, told) in [
            (Why::Declared, "declared in guardrails[].judges"),
            (Why::Protected, "declared in protect.paths"),
            (Why::Named { by: String::new() }, "the command names it"),
            (Why::Named { by: "check.sh".to_owned() }, "check.sh names it"),
            (Why::Configures { runner: "npm".to_owned() }, "configures npm"),
            (Why::Installed { runner: "npm".to_owned() }, "part of the installation of npm"),
            (Why::Watched, "a watched run of the check used it"),
        ] {
            assert_eq!(why(&reason), told);
        }
        let names = || vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(part(&Part::Package { scripts: names(), sections: names() }), "scripts a, b; sections a, b");
        assert_eq!(part(&Part::Recipes { tool: "make".to_owned(), goals: names() }), "what a, b needs");
        assert_eq!(part(&Part::Whole), "");
    }
}
