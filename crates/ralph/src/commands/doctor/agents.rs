//! The agents: which there are, how old they are, and whether they are logged in. Only programs that ralph knows are
//! asked for their version: what another one makes of `--version` might be work.

use super::Setup;
use super::asking::{Answers, Asking, Question};
use super::login::{self, Standing};
use super::version::Version;
use crate::project::{self, Project};
use crate::settings::{Flags, Settings};
use ralph_agents::{Dialect, Login};
use ralph_core::id::TaskName;
use ralph_core::outcome::exit;
use ralph_core::policy::{AgentPolicy, PromptSource};
use ralph_host::probe::Answer;
use ralph_host::process::Command;
use ralph_view::findings::Finding;
use std::io;

pub(super) struct Agents {
    chosen: Option<Agent>,
    others: Vec<Agent>,
    /// Programs that ralph knows and that are there, but cannot be executed.
    forbidden: Vec<&'static str>,
}

struct Agent {
    policy: AgentPolicy,
    dialect: &'static Dialect,
    presence: Presence,
}

enum Presence {
    /// It was asked for its version, and is known well enough to look for its login.
    Asked(Question, &'static Login),
    /// It is there, and for this reason it is not asked.
    There(&'static str),
    Absent(String),
}

/// Asks the agent of the settings and every other one that ralph knows and that is there.
pub(super) fn ask(asking: &mut Asking, setup: &Setup, project: &Project) -> Agents {
    let mut agents = Agents { chosen: chosen(asking, setup, project), others: Vec::new(), forbidden: Vec::new() };
    let is_chosen = |name: &str| agents.chosen.as_ref().is_some_and(|agent| agent.policy.command == name);
    let known: Vec<&str> = ralph_agents::programs().filter(|name| !is_chosen(name)).collect();
    for name in known {
        match project::program(name, &project.root) {
            Ok(_) => agents.others.push(Agent::ask(asking, plain(name), project)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => agents.forbidden.push(name),
            Err(_) => {}
        }
    }
    agents
}

fn chosen(asking: &mut Asking, setup: &Setup, project: &Project) -> Option<Agent> {
    let command = setup.agent.as_deref()?;
    // Settings that cannot be used still name the agent.
    let policy = setup.usable().map_or_else(|| plain(command), |settings| policy(settings, &setup.flags));
    Some(Agent::ask(asking, policy, project))
}

/// An agent about which nothing is known but its program.
fn plain(command: &str) -> AgentPolicy {
    let mut settings = Settings::default();
    command.clone_into(&mut settings.agent.command);
    policy(&settings, &Flags::default())
}

fn policy(settings: &Settings, flags: &Flags) -> AgentPolicy {
    let prompt = PromptSource::Text(String::new());
    settings.policy(TaskName::from_text("doctor"), prompt, flags, String::new()).agent
}

/// The environment is what the agent itself would get.
fn version_command(dialect: &Dialect, policy: &AgentPolicy, project: &Project) -> Command {
    let line = dialect.command(policy);
    Command {
        program: line.program.into(),
        args: vec!["--version".into()],
        folder: project.root.clone(),
        set: line.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        remove: line.env_remove.into_iter().map(Into::into).collect(),
        starts_runs: false,
    }
}

fn explain(command: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound if !command.contains('/') => format!("{command} was not found in PATH"),
        io::ErrorKind::NotFound => format!("{command} does not exist"),
        io::ErrorKind::PermissionDenied => format!("{command} is not executable"),
        _ => format!("{command} cannot be executed: {error}"),
    }
}

impl Agent {
    fn ask(asking: &mut Asking, policy: AgentPolicy, project: &Project) -> Agent {
        let dialect = ralph_agents::for_agent(&policy);
        let found = match policy.env.get("PATH") {
            Some(path) => project::program_on(Some(path.as_ref()), &policy.command, &project.root),
            None => project::program(&policy.command, &project.root),
        };
        let presence = match (found, &dialect.login) {
            // Whoever wrote the project may not be whoever looks at it.
            (Ok(file), _) if file.starts_with(&project.root) => Presence::There("it lies in the project"),
            (Ok(_), None) => Presence::There("ralph does not know it"),
            (Ok(_), Some(login)) => {
                Presence::Asked(asking.add_command(version_command(dialect, &policy, project)), login)
            }
            (Err(error), _) => Presence::Absent(explain(&policy.command, &error)),
        };
        Agent { policy, dialect, presence }
    }

    fn missing<'a>(&'a self, answers: &'a Answers) -> Option<&'a str> {
        match &self.presence {
            Presence::Asked(question, _) => match answers.to(*question) {
                Answer::NotStarted { reason } => Some(reason),
                // By the conventions of shells and loaders: an interpreter that is not there, for one.
                Answer::Said { code: 126 | 127, .. } => Some("something that it needs to run is not there"),
                Answer::Said { .. } | Answer::Silent => None,
            },
            Presence::There(_) => None,
            Presence::Absent(reason) => Some(reason),
        }
    }

    fn finding(&self, answers: &Answers, check: String) -> Finding {
        let missing = |reason: &str| Finding::note(&check, reason).fix(self.dialect.help.install);
        match &self.presence {
            Presence::Absent(reason) => missing(reason),
            Presence::There(why) => {
                Finding::ok(check, format!("{} is there; {why}, so it was not started", self.policy.command))
            }
            Presence::Asked(question, login) => match answers.to(*question) {
                Answer::NotStarted { reason } => missing(reason),
                answer => self.asked(answer, login, check),
            },
        }
    }

    /// Its version and its login, with the more urgent of what to do about them.
    fn asked(&self, answer: &Answer, login: &Login, check: String) -> Finding {
        let name = &self.policy.command;
        let (told, about_version) = match version(answer) {
            Err(why) => (format!("{name}: {why};"), Some(format!("{name} --version"))),
            Ok(version) => match Version::find(login.measured).filter(|oldest| version.is_older_than(oldest)) {
                Some(oldest) => (
                    format!("{name} {version} is older than {oldest}, which ralph was made with;"),
                    Some(self.dialect.help.install.to_owned()),
                ),
                None => (format!("{name} {version},"), None),
            },
        };
        let (standing, about_login) = match login::look(login, &self.policy) {
            Standing::LoggedIn(sign) => (format!("logged in, by {sign}"), None),
            Standing::LoggedOut => ("not logged in".to_owned(), Some(self.dialect.help.login.to_owned())),
            Standing::Unknown => ("logged in or not: unknown".to_owned(), Some(self.dialect.help.login.to_owned())),
        };
        let detail = format!("{told} {standing}");
        match about_login.or(about_version) {
            Some(fix) => Finding::note(check, detail).fix(fix),
            None => Finding::ok(check, detail),
        }
    }
}

fn version(answer: &Answer) -> Result<Version, &'static str> {
    match answer {
        Answer::Said { code: 0, text } => Version::find(text).ok_or("its version cannot be told"),
        Answer::Said { .. } => Err("its --version failed"),
        Answer::Silent | Answer::NotStarted { .. } => Err("its --version did not end and was stopped"),
    }
}

impl Agents {
    /// The agent of a run first.
    pub(super) fn findings(&self, answers: &Answers) -> Vec<Finding> {
        let mut findings = vec![self.first(answers)];
        for agent in &self.others {
            let check = format!("agent {}", agent.dialect.name);
            findings.push(agent.finding(answers, check));
        }
        for name in &self.forbidden {
            let fix = format!("chmod +x \"$(which -a {name})\"");
            findings
                .push(Finding::note(format!("agent {name}"), format!("{name} is in PATH but not executable")).fix(fix));
        }
        findings
    }

    fn first(&self, answers: &Answers) -> Finding {
        match &self.chosen {
            Some(agent) => match agent.missing(answers) {
                Some(reason) => Finding::problem("agent", reason, exit::AGENT).fix(self.instead(agent, answers)),
                None => agent.finding(answers, "agent".to_owned()),
            },
            None => match self.usable(answers) {
                Some(name) => Finding::note("agent", format!("none is configured; {name} is there"))
                    .fix(format!("ralph init --yes --agent {name}")),
                None => {
                    let known: Vec<&str> = ralph_agents::programs().collect();
                    let detail = format!("none is configured and none was found; looked for {}", known.join(", "));
                    let hint =
                        known.first().and_then(|name| ralph_agents::by_name(name)).map(|dialect| dialect.help.install);
                    Finding::problem("agent", detail, exit::AGENT).fix(hint.unwrap_or("ralph init"))
                }
            },
        }
    }

    fn instead(&self, agent: &Agent, answers: &Answers) -> String {
        match self.usable(answers) {
            _ if agent.dialect.login.is_some() => agent.dialect.help.install.to_owned(),
            // Not `init --force`: everything else in the settings would be lost.
            other => format!("ralph run --agent {} …", other.unwrap_or("COMMAND")),
        }
    }

    fn usable(&self, answers: &Answers) -> Option<&'static str> {
        self.others.iter().find(|agent| agent.missing(answers).is_none()).map(|agent| agent.dialect.name)
    }
}
