//! Settings: the user's file and the project's two, merged, then flags, then judged, then typed. [`Loaded::read`] takes the files as they are and
//! warns of unknown keys, [`Loaded::with_flags`] lays the flags on top, and [`Loaded::check`] judges it all at once and
//! gives [`Settings`], from which comes the policy of a run. Nothing here reads the environment, prints or exits.
//!
//! The types in [`keys`] are the one source of keys, bounds, defaults and documentation; everything else walks the JSON
//! Schema that is made from them.

mod check;
mod display_keys;
mod file;
mod flags;
mod formats;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod guardrail_keys;
mod json;
mod key_path;
mod keys;
mod layers;
mod loop_keys;
mod plan_keys;
mod policy;
mod problem;
mod reference;
mod schema;
mod show;
#[cfg(test)]
mod tests;
mod unknown;
mod verify_keys;

pub use display_keys::DisplaySettings;
pub use flags::Flags;
pub use keys::Settings;
pub use policy::reviewer;
pub use problem::SettingsError;
pub use reference::reference_markdown;
pub use schema::schema;

use key_path::KeyPath;
use layers::{Layers, Origin};
use schema::Node;
use serde_json::Value;
use std::path::Path;

/// The files, from the project's root, lowest first.
pub const FILES: [&str; 2] = [".ralph/settings.json", ".ralph/settings.local.json"];

/// Stands where no agent is named, so that everything else in the settings can be judged.
const SOME_AGENT: &str = "agent";

/// Keys that are known and have no effect yet: silence about them would be a false promise.
const UNUSED: [&str; 3] = ["pipeline", "sandbox", "notify"];

fn unused<'a>(file: &'a str, value: &'a Value) -> impl Iterator<Item = String> + 'a {
    let says_something =
        |key: &&&str| value.get(**key).and_then(Value::as_object).is_some_and(|section| !section.is_empty());
    UNUSED
        .iter()
        .filter(says_something)
        .map(move |key| format!("{file}: `{key}` has no effect in this version of ralph"))
}

/// Settings as they were found: merged, each value with its origin, not yet judged.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    layers: Layers,
    warnings: Vec<String>,
    files: Vec<String>,
}

impl Loaded {
    /// Reads the settings of the project at `root` and of its user. Files that are not there mean defaults.
    pub fn read(root: &Path, user: Option<&Path>) -> Result<Loaded, SettingsError> {
        let mut loaded = Loaded::default();
        let mut report = SettingsError::default();
        let schema = schema();
        let user = user.map(|file| Origin::User(file.display().to_string()));
        for origin in user.into_iter().chain(FILES.map(Origin::File)) {
            match file::read(root, &origin.to_string()) {
                Ok(None) => {}
                Ok(Some(value)) => loaded.add(origin, value, Node(&schema)),
                Err(problem) => report.add(*problem),
            }
        }
        if report.is_empty() { Ok(loaded) } else { Err(report) }
    }

    /// Settings that nobody has written yet, as if they stood alone in the project's file.
    pub fn of(value: Value) -> Loaded {
        let mut loaded = Loaded::default();
        loaded.add(Origin::File("the new settings"), value, Node(&schema()));
        loaded
    }

    fn add(&mut self, origin: Origin, mut value: Value, schema: Node<'_>) {
        let file = origin.to_string();
        self.warnings.extend(unknown::drop_unknown(&file, &mut value, schema));
        self.warnings.extend(unused(&file, &value));
        self.layers.add(origin, value);
        self.files.push(file);
    }

    pub fn with_flags(mut self, flags: &Flags) -> Loaded {
        self.warnings.extend(flags.lay_over(&mut self.layers));
        self
    }

    /// What does no harm but was probably not meant.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The files that were read, by their path from the project's root.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Whether a file or a flag says something about this key.
    pub fn says(&self, keys: &[&str]) -> bool {
        self.layers.origin(&KeyPath::new(keys.iter().copied())) != Origin::Defaults
    }

    /// Judges the settings; the error tells all problems at once.
    pub fn check(&self) -> Result<Settings, SettingsError> {
        let dialects: Vec<&str> = ralph_agents::names().collect();
        check::check(&self.layers, Node(&schema()), &dialects)
    }

    /// The same for whoever starts no agent: a flag may name it later.
    pub fn check_without_agent(&self) -> Result<Settings, SettingsError> {
        if self.layers.merged().pointer("/agent/command").is_some_and(Value::is_string) {
            return self.check();
        }
        self.clone().with_flags(&Flags { agent: Some(SOME_AGENT.to_owned()), ..Flags::default() }).check()
    }

    /// How the agent's output is shown. Looking at a run and going on with it need no settings that a
    /// new run could use, so a section with something wrong in it counts as not there.
    pub fn display(&self) -> DisplaySettings {
        let section = self.layers.merged().get_mut("display").map(Value::take);
        section.and_then(|section| serde_json::from_value(section).ok()).unwrap_or_default()
    }
}
