//! What can be proposed: agents on the PATH, what the project itself uses to test, and git.

use super::guardrails::{self, Found};
use crate::project::{self, Project};
use ralph_host::look;

#[derive(Debug)]
pub(super) struct Proposals {
    /// Agents, the first to be proposed.
    pub(super) agents: Vec<&'static str>,
    pub(super) guardrails: Vec<Found>,
    pub(super) scm: Option<&'static str>,
}

impl Proposals {
    pub(super) fn find(project: &Project) -> Proposals {
        Proposals {
            agents: ralph_agents::programs().filter(|name| project::program(name, &project.root).is_ok()).collect(),
            guardrails: guardrails::find(&|name| look::text(&project.root.join(name))),
            scm: project.git_root.as_ref().map(|_| "git"),
        }
    }
}
