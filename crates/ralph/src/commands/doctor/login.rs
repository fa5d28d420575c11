//! Whether an agent is logged in, by its variables and files. Their content is neither read nor shown.

use crate::project;
use ralph_agents::{Login, LoginFile, Unseen};
use ralph_core::policy::AgentPolicy;
use ralph_host::look;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    LoggedIn(String),
    /// There is none, and there is no other way.
    LoggedOut,
    /// There is none, but it may be logged in in a way that nobody can see.
    Unknown,
}

/// Looks for the signs, in the environment that the agent would get.
pub(super) fn look(login: &Login, agent: &AgentPolicy) -> Standing {
    let is_set = |name: &&&str| match agent.env.get(**name) {
        Some(value) => !value.is_empty(),
        None => !agent.env_remove.iter().any(|gone| gone == **name) && project::variable(name).is_some(),
    };
    if let Some(variable) = login.variables.iter().find(is_set) {
        return Standing::LoggedIn((*variable).to_owned());
    }
    if let Some(file) = login.files.iter().find(|file| path(file, agent).is_some_and(|path| look::is_filled(&path))) {
        return Standing::LoggedIn(shown(file, agent));
    }
    match login.unseen {
        Unseen::MacKeychain if !cfg!(target_os = "macos") => Standing::LoggedOut,
        Unseen::MacKeychain | Unseen::Anywhere => Standing::Unknown,
    }
}

/// The folder that a variable names, for this agent.
fn moved(file: &LoginFile, agent: &AgentPolicy) -> Option<PathBuf> {
    match agent.env.get(file.variable) {
        Some(value) => Some(PathBuf::from(value)),
        None => project::variable(file.variable).filter(|_| !file.variable.is_empty()).map(PathBuf::from),
    }
}

fn path(file: &LoginFile, agent: &AgentPolicy) -> Option<PathBuf> {
    let usual = || project::variable("HOME").map(|home| PathBuf::from(home).join(file.home));
    moved(file, agent).or_else(usual).map(|folder| folder.join(file.name))
}

fn shown(file: &LoginFile, agent: &AgentPolicy) -> String {
    match moved(file, agent) {
        Some(_) => format!("${}/{}", file.variable, file.name),
        None => format!("~/{}/{}", file.home, file.name),
    }
}
