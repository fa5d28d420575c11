//! Building command lines: what all dialects do alike.

use crate::dialect::{CommandLine, Delivery, session_markers};
use ralph_core::policy::{AgentPolicy, PromptVia};

/// The user's flags as arguments. Settings often hold a flag with its value in one entry, as in
/// `"--model opus"`; such an entry is split the way a shell would.
///
/// Only an entry that begins with a dash and a bare flag is split. Anything else with spaces is a
/// value that belongs together: the script after `-c`, the text in `--append-system-prompt=Be brief`.
pub(crate) fn arguments(flags: &[String]) -> Vec<String> {
    let mut args = Vec::with_capacity(flags.len());
    for entry in flags {
        match split(entry) {
            Some(words) => args.extend(words),
            None => args.push(entry.clone()),
        }
    }
    args
}

fn split(entry: &str) -> Option<Vec<String>> {
    let (first, _) = entry.split_once(char::is_whitespace)?;
    if first.starts_with('-') && !first.contains('=') { shlex::split(entry) } else { None }
}

/// Whether one of these flags is among the arguments, alone or as `--flag=value`.
fn holds(args: &[String], flags: &[&str]) -> bool {
    args.iter().any(|arg| {
        let name = arg.split_once('=').map_or(arg.as_str(), |(name, _)| name);
        flags.contains(&name)
    })
}

/// The value of a flag under one of its names, from `--flag value` or `--flag=value`; the last one counts.
pub(crate) fn value_of<'a>(args: &'a [String], names: &[&str]) -> Option<&'a str> {
    let mut found = None;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if names.contains(&arg.as_str()) {
            found = rest.next().map(String::as_str);
        } else if let Some((_, value)) = arg.split_once('=').filter(|(name, _)| names.contains(name)) {
            found = Some(value);
        }
    }
    found
}

/// The arguments without these flags and their values.
pub(crate) fn take_value(args: Vec<String>, names: &[&str]) -> Vec<String> {
    let mut kept = Vec::with_capacity(args.len());
    let mut rest = args.into_iter();
    while let Some(arg) = rest.next() {
        if names.contains(&arg.as_str()) {
            rest.next();
        } else if !arg.split_once('=').is_some_and(|(name, _)| names.contains(&name)) {
            kept.push(arg);
        }
    }
    kept
}

/// A command line in the making: what the dialect needs, then what the user says, then what must
/// stand last. A flag that the user gives is never given a second time.
pub(crate) struct Arguments {
    own: Vec<String>,
    users: Vec<String>,
    last: Vec<String>,
}

impl Arguments {
    pub(crate) fn of(agent: &AgentPolicy) -> Arguments {
        let users = if agent.whole_flags { agent.flags.clone() } else { arguments(&agent.flags) };
        Arguments { own: Vec::new(), users, last: Vec::new() }
    }

    pub(crate) fn users(&self) -> &[String] {
        &self.users
    }

    /// A sub-command, which stands first even if it is among the user's flags under one of its names.
    pub(crate) fn verb(&mut self, names: &[&str]) {
        if self.users.first().is_some_and(|first| names.contains(&first.as_str())) {
            self.users.remove(0);
        }
        self.own.extend(names.first().map(|&name| name.to_owned()));
    }

    /// The first of these flags, unless the user gives one of them.
    pub(crate) fn flag(&mut self, names: &[&str]) {
        if !holds(&self.users, names) {
            self.own.extend(names.first().map(|&name| name.to_owned()));
        }
    }

    /// The first of these flags with a value, unless the user gives one of them.
    pub(crate) fn option(&mut self, names: &[&str], value: &str) {
        if !holds(&self.users, names) {
            self.set(names, value);
        }
    }

    /// The first of these flags with a value instead of what the user's flags say, unless it is empty.
    /// A named setting is a later word than one among the flags: it can come from the command line.
    pub(crate) fn setting(&mut self, names: &[&str], value: &str) {
        if !value.is_empty() {
            self.users = take_value(std::mem::take(&mut self.users), names);
            self.set(names, value);
        }
    }

    /// Takes these words from what the user gives; a value behind one of them stays.
    pub(crate) fn drop_flags(&mut self, names: &[&str]) {
        self.users.retain(|arg| !names.contains(&arg.as_str()));
    }

    /// Something behind the user's flags.
    pub(crate) fn last(&mut self, arg: &str) {
        self.last.push(arg.to_owned());
    }

    /// The command line, with the variables that unattended use needs; the user's own values win.
    pub(crate) fn command(self, agent: &AgentPolicy, variables: &[(&str, &str)]) -> CommandLine {
        self.command_by(agent, Delivery::Stdin, variables)
    }

    /// The same for a program that takes its prompt in another way, unless the user says how.
    pub(crate) fn command_by(self, agent: &AgentPolicy, usual: Delivery, variables: &[(&str, &str)]) -> CommandLine {
        let (env, env_remove) = environment(agent, variables);
        CommandLine {
            program: agent.command.clone(),
            args: [self.own, self.users, self.last].concat(),
            env,
            env_remove,
            delivery: if agent.prompt_via == PromptVia::Auto { usual } else { delivery(agent) },
        }
    }

    /// The first of these flags with a value, whatever the user gives: it may stand several times.
    pub(crate) fn set(&mut self, names: &[&str], value: &str) {
        self.own.extend(names.first().map(|&name| name.to_owned()));
        self.own.push(value.to_owned());
    }
}

/// How the prompt gets in: as the user says, else by stdin, which has no length limit and no flags.
pub(crate) fn delivery(agent: &AgentPolicy) -> Delivery {
    match agent.prompt_via {
        PromptVia::Auto | PromptVia::Stdin => Delivery::Stdin,
        PromptVia::Arg => Delivery::LastArg,
        PromptVia::File => Delivery::File,
    }
}

/// Variables to set and to remove. The user's word is the last one: a variable that the policy sets
/// replaces the dialect's default and is not removed, one that it removes is not set.
fn environment(agent: &AgentPolicy, defaults: &[(&str, &str)]) -> (Vec<(String, String)>, Vec<String>) {
    let untouched = |name: &str| !agent.env.contains_key(name) && !agent.env_remove.iter().any(|gone| gone == name);
    let set = defaults
        .iter()
        .filter(|(name, _)| untouched(name))
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .chain(agent.env.iter().map(|(name, value)| (name.clone(), value.clone())))
        .collect();
    let remove = session_markers()
        .filter(|name| untouched(name))
        .map(str::to_owned)
        .chain(agent.env_remove.iter().filter(|name| !agent.env.contains_key(*name)).cloned())
        .collect();
    (set, remove)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;

    #[test]
    fn flags_are_split_as_a_shell_would_and_values_stay_whole() {
        let cases: &[(&str, &[&str])] = &[
            ("--model opus", &["--model", "opus"]),
            ("--no-auto-compact", &["--no-auto-compact"]),
            ("-c 'echo hi; cat'", &["-c", "echo hi; cat"]),
            (r#"--say "a \"b\" \n" c\ d"#, &["--say", r#"a "b" \n"#, "c d"]),
            ("--empty ''", &["--empty", ""]),
            ("  --model opus", &["  --model opus"]),
            ("--never 'closed", &["--never 'closed"]),
            ("--dangling \\", &["--dangling \\"]),
            ("echo hi; cat", &["echo hi; cat"]),
            ("--text=Be brief", &["--text=Be brief"]),
            (r"-Dpath=C:\x", &[r"-Dpath=C:\x"]),
            ("", &[""]),
        ];
        for (entry, words) in cases {
            assert_eq!(arguments(&[(*entry).to_owned()]), *words, "{entry}");
        }
    }

    #[test]
    fn flags_are_found_in_both_forms() {
        let args: Vec<String> =
            ["-p", "--model=opus", "--format", "text", "--model", "haiku"].map(str::to_owned).into();
        assert!(holds(&args, &["--print", "-p"]) && holds(&args, &["--model"]) && !holds(&args, &["--mod"]));
        assert_eq!(value_of(&args, &["-m", "--model"]), Some("haiku"));
        assert_eq!(value_of(&args, &["--format"]), Some("text"));
        assert_eq!(value_of(&args, &["-p"]), Some("--model=opus"));
        assert_eq!(value_of(&args, &["--none"]), None);
        assert_eq!(take_value(args, &["-m", "--model"]), ["-p", "--format", "text"]);
    }

    #[test]
    fn the_user_has_the_last_word_on_the_environment() {
        let mut agent = agent("x", &[]);
        agent.env.insert("A".to_owned(), "mine".to_owned());
        agent.env.insert("CLAUDECODE".to_owned(), "1".to_owned());
        agent.env_remove = vec!["B".to_owned(), "A".to_owned()];
        let (set, remove) = environment(&agent, &[("A", "1"), ("B", "1"), ("C", "1")]);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(set, [pair("C", "1"), pair("A", "mine"), pair("CLAUDECODE", "1")]);
        assert!(remove.contains(&"B".to_owned()) && remove.contains(&"CLAUDE_CODE_ENTRYPOINT".to_owned()));
        assert!(!remove.contains(&"A".to_owned()) && !remove.contains(&"CLAUDECODE".to_owned()));
    }
}
