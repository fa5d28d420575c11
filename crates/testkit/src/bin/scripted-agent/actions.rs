//! The agent while it acts: one line at a time, until the script or an action ends it.
//!
//! Each family of actions has its own file and says by its return value whether the word was its own;
//! here are only the words that steer: conditions, repetition and the end.

use std::path::Path;

use crate::output::Output;
use crate::script::Script;
use crate::text::{duration, expand, number, split_word, unescape};
use crate::{claude, files, processes, reports, speech, system};

/// Everything that lives as long as the process.
pub struct Agent {
    /// What goes to stdout.
    pub out: Output,
    /// The arguments, as recorded by `args` and `save-args`.
    pub arguments: Vec<String>,
    /// The exit code of the last `run`.
    pub status: i32,
    script: Script,
    stdin: Option<Vec<u8>>,
}

/// Why the script stops before its last line.
#[derive(Debug)]
pub enum Stop {
    /// `exit N`.
    Exit(i32),
    /// The action was understood and the machine refused it.
    Failed(String),
    /// The script is wrong: an unknown action or an unreadable argument.
    Wrong(String),
    /// What the script expected is not so.
    Unmet(String),
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Stop {
        Stop::Failed(error.to_string())
    }
}

impl Agent {
    /// An agent that has not begun.
    pub fn new(script: Script, arguments: Vec<String>) -> Agent {
        Agent { out: Output::default(), arguments, status: 0, script, stdin: None }
    }

    /// Does what the script says for this iteration.
    pub fn run(&mut self, iteration: u32) -> Result<(), Stop> {
        let lines = self.script.for_iteration(iteration);
        self.perform_all(&lines)
    }

    fn perform_all(&mut self, lines: &[String]) -> Result<(), Stop> {
        lines.iter().try_for_each(|line| self.perform(line))
    }

    /// One line.
    pub fn perform(&mut self, line: &str) -> Result<(), Stop> {
        let (action, rest) = split_word(line);
        if speech::perform(self, action, rest)? || claude::perform(self, action, rest)? {
            return Ok(());
        }
        // Everything else may take time, write to stderr or end the process: what was said comes first.
        self.out.flush()?;
        if self.steer(action, rest)?
            || files::perform(action, rest)?
            || processes::perform(self, action, rest)?
            || reports::perform(self, action, rest)?
        {
            return Ok(());
        }
        Err(Stop::Wrong(format!("unknown action: {line}")))
    }

    /// The prompt: read once, to its end, when it is first asked for.
    pub fn stdin(&mut self) -> Result<&[u8], Stop> {
        if self.stdin.is_none() {
            self.stdin = Some(system::read_to_end(0)?);
        }
        Ok(self.stdin.as_deref().unwrap_or_default())
    }

    fn steer(&mut self, action: &str, rest: &str) -> Result<bool, Stop> {
        match action {
            "exit" if rest.trim() == "last" => return Err(Stop::Exit(self.status)),
            "exit" => return Err(Stop::Exit(number(rest)?)),
            "section" => {
                let name = rest.trim();
                let missing = || Stop::Wrong(format!("no section [{name}]"));
                let lines = self.script.named(name).ok_or_else(missing)?;
                self.perform_all(&lines)?;
                return Err(Stop::Exit(0));
            }
            "once" => {
                let (file, then) = split_word(rest);
                let file = expand(file)?;
                if !Path::new(&file).exists() {
                    self.perform(then)?;
                    files::create_new(&file)?;
                }
            }
            "try" => match self.perform(rest) {
                Ok(()) => self.out.line(b"ok")?,
                Err(Stop::Failed(message)) => self.out.line(format!("failed: {message}").as_bytes())?,
                Err(other) => return Err(other),
            },
            "repeat" => {
                let (times, then) = split_word(rest);
                for _ in 0..number::<u64>(times)? {
                    self.perform(then)?;
                }
            }
            "tick" => {
                let (pause, rest) = split_word(rest);
                let (times, text) = split_word(rest);
                let (pause, text) = (duration(pause)?, unescape(text)?);
                let times = if times == "forever" { u64::MAX } else { number(times)? };
                for _ in 0..times {
                    self.out.line(&text)?;
                    self.out.flush()?;
                    std::thread::sleep(pause);
                }
            }
            "if-stdin" | "if-env" | "if-arg" => {
                let wrong = || Stop::Wrong(format!("{action} needs `CONDITION => ACTION`: {rest}"));
                let (condition, then) = rest.split_once(" => ").ok_or_else(wrong)?;
                if self.holds(action, condition.trim())? {
                    self.perform(then.trim_start())?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn holds(&mut self, kind: &str, condition: &str) -> Result<bool, Stop> {
        Ok(match kind {
            "if-stdin" => speech::contains(self.stdin()?, &unescape(condition)?),
            "if-arg" => self.arguments.iter().any(|argument| argument.contains(condition)),
            _ => {
                let (name, value) = condition.split_once('=').unwrap_or((condition, ""));
                std::env::var_os(name).is_some_and(|found| found == *value)
            }
        })
    }
}
