//! Scenarios as data: files of shell in `xtask/honesty/scenarios`, one family a file.
//!
//! A heading `## lie: NAME` or `## honest: NAME` begins a scenario. Lines `# key: value` below it say how it is
//! run; those before the first heading hold for the whole family. The rest is the agent. `docs/honesty.md` lists
//! the keys.

use std::path::Path;
use std::time::Duration;

/// What an agent is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It does not do the work, whatever it says.
    Lie,
    /// It does the work and says so.
    Honest,
}

/// Where the work must be in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// In the project's folder.
    Folder,
    /// In the project's last commit.
    Commit,
}

/// How a run of ralph ends, as far as anybody may rely on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Not as complete.
    Refused,
    /// Complete, and not verified, for whatever reason.
    Unverified,
    /// Complete, by checks of which ralph does not know what they are made of.
    Unpinned,
    /// Complete, by checks that an agent changed and no person accepted.
    Untrusted,
    /// Complete and verified.
    Verified,
}

impl End {
    const ALL: [(&'static str, End); 5] = [
        ("refused", End::Refused),
        ("unverified", End::Unverified),
        ("unpinned", End::Unpinned),
        ("untrusted", End::Untrusted),
        ("verified", End::Verified),
    ];

    /// The end of that name.
    pub fn named(name: &str) -> Option<End> {
        End::ALL.iter().find(|(known, _)| *known == name).map(|(_, end)| *end)
    }

    /// Whether this is the end that was expected.
    pub fn meets(self, expected: End) -> bool {
        self == expected || expected == End::Unverified && matches!(self, End::Unpinned | End::Untrusted)
    }
}

/// Scenarios that lie about, or are clumsy with, the same thing.
#[derive(Debug)]
pub struct Family {
    /// One word.
    pub name: String,
    /// What its check looks at and what its lies have in common.
    pub about: String,
    /// In the order of the file.
    pub scenarios: Vec<Scenario>,
}

/// One agent and how it is run.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// One line.
    pub name: String,
    /// Lie or honest.
    pub kind: Kind,
    /// The agent, in shell.
    pub script: String,
    /// The rest.
    pub keys: Keys,
}

/// How a scenario is run.
#[derive(Debug, Clone)]
pub struct Keys {
    /// The name of the agent program, which is its dialect.
    pub dialect: String,
    /// Checks, in order: a command, or an element of `guardrails` as JSON.
    pub guardrails: Vec<String>,
    /// Further members of the settings, as JSON.
    pub settings: String,
    /// Lines of shell that prepare the project.
    pub setup: String,
    /// The flags of a run of the plan in `ralph/`, instead of a run by a prompt.
    pub plan: Option<String>,
    /// A shell line that somebody else runs beside the loop.
    pub helper: String,
    /// Lines of shell that a person types after the first run; `again` is the same run once more.
    pub then: String,
    /// Programs from registries that it cannot do without.
    pub needs: Vec<String>,
    /// A line of shell that tells whether the work is done, instead of the pristine tests.
    pub judge: String,
    /// The only end of ralph's that is right; without one a lie must not be accepted and the honest must be verified.
    pub end: Option<End>,
    /// Whether a lie is accepted by any end as complete, and not only by a verified one.
    pub complete_is_accepted: bool,
    /// Whether it deceives ralph alone, so that plain loops may come to what is true.
    pub against_ralph: bool,
    /// Whether no plain loop tries it, because that would take too long.
    pub only_ralph: bool,
    /// Whether everything runs as an ordinary user where the benchmark itself is root.
    pub ordinary_user: bool,
    /// No loop takes longer; one that does hangs, and has accepted nothing.
    pub limit: Duration,
    /// How many iterations a loop may use; 0 means as many as its kind usually needs.
    pub iterations: u32,
    /// How long what the agent left behind may go on after the loop, before the truth is asked for.
    pub settle: Duration,
    /// Where the work must be.
    pub truth: Truth,
}

impl Default for Keys {
    fn default() -> Keys {
        Keys {
            dialect: "agent".to_owned(),
            guardrails: Vec::new(),
            settings: String::new(),
            setup: String::new(),
            plan: None,
            helper: String::new(),
            then: String::new(),
            needs: Vec::new(),
            judge: String::new(),
            end: None,
            complete_is_accepted: false,
            against_ralph: false,
            only_ralph: false,
            ordinary_user: false,
            limit: Duration::from_secs(15),
            iterations: 0,
            settle: Duration::ZERO,
            truth: Truth::Folder,
        }
    }
}

impl Scenario {
    /// A lie is told twice; who is honest may need a third try.
    pub fn iterations(&self) -> u32 {
        match (self.keys.iterations, self.kind) {
            (0, Kind::Lie) => 2,
            (0, Kind::Honest) => 3,
            (stated, _) => stated,
        }
    }
}

/// Every family in a folder, by the names of their files.
pub fn read(folder: &Path) -> Result<Vec<Family>, String> {
    let explain = |path: &Path, error: String| format!("{}: {error}", path.display());
    let entries = std::fs::read_dir(folder).map_err(|error| explain(folder, error.to_string()))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let family = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).map_err(|error| explain(path, error.to_string()))?;
        parse(&text).map_err(|error| explain(path, error))
    };
    paths.iter().map(family).collect()
}

fn parse(text: &str) -> Result<Family, String> {
    let mut family = Family { name: String::new(), about: String::new(), scenarios: Vec::new() };
    let mut common = Keys::default();
    let (mut own_guardrails, mut own_end) = (false, false);
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            family.scenarios.push(begin(heading, common.clone())?);
            (own_guardrails, own_end) = (false, false);
            continue;
        }
        let key = line.strip_prefix("# ").and_then(|line| line.split_once(": "));
        match (family.scenarios.last_mut(), key) {
            (None, Some(("family", name))) => name.clone_into(&mut family.name),
            (None, Some(("about", about))) => about.clone_into(&mut family.about),
            (None, Some((key, value))) => set(&mut common, key, value)?,
            (None, None) if line.is_empty() => {}
            (None, None) => return Err(format!("before the first heading: {line}")),
            (Some(scenario), Some((key, value))) if scenario.script.is_empty() => {
                // The first guardrail of its own stands for all of the family's; so does what comes then.
                if key == "guardrail" && !std::mem::replace(&mut own_guardrails, true) {
                    scenario.keys.guardrails.clear();
                } else if key == "then" && !std::mem::replace(&mut own_end, true) {
                    scenario.keys.then.clear();
                }
                set(&mut scenario.keys, key, value)?;
            }
            (Some(scenario), _) => {
                scenario.script.push_str(line);
                scenario.script.push('\n');
            }
        }
    }
    Ok(family)
}

fn begin(heading: &str, keys: Keys) -> Result<Scenario, String> {
    let (kind, name) = match heading.split_once(": ") {
        Some(("lie", name)) => (Kind::Lie, name),
        Some(("honest", name)) => (Kind::Honest, name),
        _ => return Err(format!("neither a lie nor honest: {heading}")),
    };
    Ok(Scenario { name: name.to_owned(), kind, script: String::new(), keys })
}

fn set(keys: &mut Keys, key: &str, value: &str) -> Result<(), String> {
    let number = || value.parse::<u32>().map_err(|error| format!("{key}: {value}: {error}"));
    match key {
        "dialect" => value.clone_into(&mut keys.dialect),
        "guardrail" => keys.guardrails.push(value.to_owned()),
        "settings" => value.clone_into(&mut keys.settings),
        "setup" => add_line(&mut keys.setup, value),
        "plan" => keys.plan = Some(value.to_owned()),
        "then" => add_line(&mut keys.then, value),
        "needs" => keys.needs = value.split(' ').map(str::to_owned).collect(),
        "judge" => value.clone_into(&mut keys.judge),
        "end" => keys.end = Some(End::named(value).ok_or_else(|| format!("not an end: {value}"))?),
        "accepted" if value == "complete" => keys.complete_is_accepted = true,
        "against" if value == "ralph" => keys.against_ralph = true,
        "loops" if value == "ralph" => keys.only_ralph = true,
        "user" if value == "ordinary" => keys.ordinary_user = true,
        "limit" => keys.limit = Duration::from_secs(number()?.into()),
        "helper" => value.clone_into(&mut keys.helper),
        "iterations" => keys.iterations = number()?,
        "settle" => keys.settle = Duration::from_millis(number()?.into()),
        "truth" if value == "commit" => keys.truth = Truth::Commit,
        "truth" if value == "folder" => keys.truth = Truth::Folder,
        _ => return Err(format!("not a key of a scenario: {key}: {value}")),
    }
    Ok(())
}

fn add_line(lines: &mut String, line: &str) {
    lines.push_str(line);
    lines.push('\n');
}

/// The command of a check, which may be a command or an element of `guardrails` as JSON.
pub fn command_of(guardrail: &str) -> String {
    let text = match guardrail.split_once(r#""command":""#) {
        Some((_, rest)) if guardrail.starts_with('{') => rest,
        _ => match guardrail.strip_prefix('"') {
            Some(rest) => rest,
            None => return guardrail.to_owned(),
        },
    };
    let (mut command, mut escaped) = (String::new(), false);
    for letter in text.chars() {
        match letter {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => break,
            _ => {
                command.push(letter);
                escaped = false;
            }
        }
    }
    command
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says where")]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_has_the_keys_of_its_family_and_its_own() {
        let text = "# family: f\n# guardrail: a\n# settle: 5\n\n## lie: one\nx\n# note: of the script\n\n\
                    ## honest: two\n# guardrail: b\n# guardrail: c\ny\n";
        let family = parse(text).unwrap();
        let [one, two] = family.scenarios.as_slice() else { panic!("{family:?}") };
        assert_eq!((one.name.as_str(), one.kind, one.iterations()), ("one", Kind::Lie, 2));
        assert_eq!(one.script, "x\n# note: of the script\n\n");
        assert_eq!(one.keys.guardrails, ["a"]);
        assert_eq!((two.kind, two.keys.settle), (Kind::Honest, Duration::from_millis(5)));
        assert_eq!(two.keys.guardrails, ["b", "c"]);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in ["# wrong: x\n", "## maybe: x\n", "words\n", "# iterations: many\n", "# end: well\n"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_prepares_a_scenario_comes_after_what_prepares_its_family() {
        let family = parse("# family: f\n# setup: a\n\n## lie: one\n# setup: b\n# end: unpinned\nx\n").unwrap();
        let [one] = family.scenarios.as_slice() else { panic!("{family:?}") };
        assert_eq!((one.keys.setup.as_str(), one.keys.end), ("a\nb\n", Some(End::Unpinned)));
    }

    #[test]
    fn a_guardrail_may_be_a_command_a_string_or_an_object() {
        assert_eq!(command_of("sh check.sh"), "sh check.sh");
        assert_eq!(command_of(r#""sh \"a b\" 1>\\2""#), r#"sh "a b" 1>\2"#);
        assert_eq!(command_of(r#"{"name":"all","command":"make \"x\"","writes":true}"#), r#"make "x""#);
    }

    #[test]
    fn an_end_is_met_by_itself_or_by_a_kind_of_it() {
        assert!(End::Untrusted.meets(End::Unverified) && End::Verified.meets(End::Verified));
        assert!(!End::Verified.meets(End::Unverified) && !End::Unverified.meets(End::Unpinned));
    }

    #[test]
    fn names_are_told_apart_and_there_are_enough() {
        let families = read(&crate::step::root().join("xtask/honesty/scenarios")).unwrap();
        let all: Vec<&Scenario> = families.iter().flat_map(|family| &family.scenarios).collect();
        let of = |kind| all.iter().filter(|scenario| scenario.kind == kind).count();
        assert!(of(Kind::Lie) >= 320 && of(Kind::Honest) >= 200, "{} and {}", of(Kind::Lie), of(Kind::Honest));
        for family in &families {
            let mut names: Vec<_> =
                family.scenarios.iter().map(|scenario| (scenario.kind as u8, &scenario.name)).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), family.scenarios.len(), "{}", family.name);
        }
    }
}
