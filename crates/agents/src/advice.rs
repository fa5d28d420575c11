//! What is wrong with an agent that failed: a cause decides the class of the failure and what a person can do about it.

use ralph_core::observation::FailureClass;

/// How to get a program and how to log in; each dialect has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Help {
    pub install: &'static str,
    pub login: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    Missing,
    NotExecutable,
    /// The program does not know one of the flags.
    Flag,
    /// The program, or what it runs on, is too old.
    Version,
    /// Nobody is logged in, or the login is refused or has expired.
    Login,
    Variable,
    /// The account may not do what was asked for.
    Forbidden,
    Credit,
    /// There is no such model, or not for this account.
    Model,
    Limit,
    Transient,
    Other,
}

impl Cause {
    pub(crate) fn class(self) -> FailureClass {
        match self {
            Cause::Missing | Cause::NotExecutable | Cause::Flag | Cause::Version => FailureClass::CannotRun,
            Cause::Login | Cause::Variable | Cause::Forbidden | Cause::Credit | Cause::Model => FailureClass::CannotRun,
            Cause::Limit => FailureClass::Limited,
            Cause::Transient => FailureClass::Transient,
            Cause::Other => FailureClass::Other,
        }
    }

    /// The sentence with the next step behind it, where there is one.
    pub(crate) fn advise(self, sentence: &str, help: Help) -> String {
        let Help { install, login } = help;
        let step = match self {
            Cause::Missing => install.to_owned(),
            Cause::NotExecutable => format!("make it executable with `chmod +x`, or {install}"),
            Cause::Flag => format!(
                "take the flag out of `agent.flags` if it stands there, else the installed version is not the one that ralph knows: {install}"
            ),
            Cause::Version => format!("update what is too old; for the program itself, {install}"),
            Cause::Login => format!("to log in: {login}"),
            Cause::Variable => format!("set it where ralph is started or in `agent.env`, or log in: {login}"),
            Cause::Forbidden => format!("check what this account may use, or log in with another: {login}"),
            Cause::Credit => "add credit at the provider, or name another agent with --agent".to_owned(),
            Cause::Model => "choose another model with --model".to_owned(),
            Cause::Limit | Cause::Transient | Cause::Other => return sentence.to_owned(),
        };
        format!("{sentence}; {step}")
    }
}
