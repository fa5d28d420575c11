//! What of git and of the repository counts as it was at the start: what is ignored, which repository it is, and what
//! can make a commit differ from what was checked.

use super::RepositoryPart;
use crate::text;
use crate::trust::Standing;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// With what the key of everything of git begins.
pub const GIT: &str = "git's ";
/// What stands before a setting's name where people read about it.
pub const GIT_SETTING: &str = "git's setting ";

/// git and the repository, as they were at the start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GitPins {
    /// What was ignored, by repository; none if that was not looked at, and then the rules count as they are.
    pub ignored: Vec<IgnoreRules>,
    /// Tracked files that these rules would ignore, by their paths in the outermost repository.
    pub tracked_anyway: Vec<String>,
    pub identity: Option<RepositoryIdentity>,
    /// Settings that can execute something or transform a content.
    pub settings: Vec<GitSetting>,
    /// The files from which git read its settings, wherever they are.
    pub settings_files: Vec<RepositoryPart>,
    /// Folders of hooks. A hook that is added there counts.
    pub hook_folders: Vec<String>,
    /// Hooks, and files that say which content is transformed.
    pub files: Vec<GitFile>,
    /// Whether the work tree holds a part of the tracked files only.
    pub sparse: bool,
    /// Tracked files that git was told not to look at; `None` if no check asks git.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Vec<String>>,
    /// Whether a check passes over what git ignores.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub obeyed: bool,
    /// What decided where pushes went, by the machine's own names; `None` if nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ways: Option<BTreeMap<String, String>>,
    /// Where an agent of an earlier run changed a setting or a file: the print of the state that a person accepted, empty
    /// where there was none. Putting that back is no violation.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub accepted: BTreeMap<String, String>,
}

impl GitPins {
    /// What git executes and obeys, as it stands, for whoever remembers it over many runs.
    pub fn standings(&self) -> Vec<Standing> {
        // The same file may be protected too, and is looked at otherwise then.
        let file = |file: &GitFile| {
            let (path, key) = (file.path.clone(), format!("{GIT}file {}", file.path));
            Standing { path, key, print: file.print() }
        };
        let setting = |(name, print): (String, String)| Standing { path: name.clone(), key: name, print };
        self.files.iter().map(file).chain(setting_prints(&self.settings).into_iter().map(setting)).collect()
    }
}

/// A print of all values of each setting, by what people call it.
pub fn setting_prints(settings: &[GitSetting]) -> BTreeMap<String, String> {
    let mut values: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for one in settings {
        values.entry(format!("{GIT_SETTING}{}", one.name)).or_default().push(&one.value);
    }
    values.into_iter().map(|(name, values)| (name, text::hash(format!("{values:?}").as_bytes()))).collect()
}

/// What one repository ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IgnoreRules {
    /// Its path in the outermost repository, in hexadecimal digits: a path need not be text. Empty for that itself.
    pub repository: String,
    /// All its rules as one file in its root would hold them, the weakest first.
    pub rules: String,
}

/// By what a repository is known again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryIdentity {
    /// Device and inode of its folder, and of the one with its objects.
    pub folders: [(u64, u64); 2],
    /// The commit that HEAD named; empty before the first one.
    pub commit: String,
}

/// A setting of git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitSetting {
    pub name: String,
    /// Its value, or the hash of one that may be a secret.
    pub value: String,
    /// The file that says so; empty if it was no file.
    pub file: String,
}

/// A file that git executes or obeys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitFile {
    /// Relative to the root of the work tree where it lies below that.
    pub path: String,
    pub executable: bool,
    /// Hash of its content; empty if it was not there.
    pub hash: String,
}

impl GitFile {
    /// Equal for equal states. One that is not there has the print of nothing.
    pub fn print(&self) -> String {
        if self.hash.is_empty() { String::new() } else { format!("{} {}", self.executable, self.hash) }
    }
}
