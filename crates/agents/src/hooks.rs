//! Hooks for one process: where a program can be told of them on its command line, they reach nobody else and leave
//! nothing behind. Of those that were measured only Claude Code can; the others read them from files in the user's
//! home, which belong to the user.

use crate::command::{take_value, value_of};
use crate::dialect::{CommandLine, Dialect};

const SETTINGS: &[&str] = &["--settings"];

impl Dialect {
    /// The command line with hooks; as it was if the program cannot be told of any. `settings` makes them of the value
    /// that the user's own flags give for the program's settings, JSON or the path of a file; `None` if that cannot be
    /// read.
    pub fn hooked(&self, line: CommandLine, settings: impl FnOnce(Option<&str>) -> Option<String>) -> CommandLine {
        // Without its own settings, as `--bare` wants it, it reads none at all.
        if self.name != "claude" || line.args.iter().any(|arg| arg == "--bare") {
            return line;
        }
        let Some(settings) = settings(value_of(&line.args, SETTINGS)) else { return line };
        let mut args = take_value(line.args, SETTINGS);
        args.extend([SETTINGS.concat(), settings]);
        CommandLine { args, ..line }
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::by_name;
    use crate::dialect::tests::agent;

    #[test]
    fn hooks_stand_once_beside_what_the_user_gives_and_only_where_they_are_read() {
        const USUAL: &str = "-p --output-format stream-json --verbose --dangerously-skip-permissions";
        for (program, flags, args) in [
            ("claude", &[][..], format!("{USUAL} --settings hooks")),
            ("claude", &["--settings mine --x"], format!("{USUAL} --x --settings hooks+mine")),
            ("claude", &["--settings=mine"], format!("{USUAL} --settings hooks+mine")),
            ("claude", &["--settings broken"], format!("{USUAL} --settings broken")),
            ("claude", &["--bare"], format!("{USUAL} --bare")),
        ] {
            let dialect = by_name(program).unwrap();
            let line = dialect.hooked(dialect.command(&agent(program, flags)), |given| match given {
                None => Some("hooks".to_owned()),
                Some("broken") => None,
                Some(given) => Some(format!("hooks+{given}")),
            });
            assert_eq!(line.args.join(" "), args);
        }
        for program in ["codex", "gemini", "qwen", "opencode"] {
            let dialect = by_name(program).unwrap();
            let line = dialect.command(&agent(program, &[]));
            assert_eq!(dialect.hooked(line.clone(), |_| Some("hooks".to_owned())), line);
        }
    }
}
