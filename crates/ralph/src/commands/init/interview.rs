//! The questions, one after the other. Whoever listens may be a terminal or a test.

use super::answers::{self, Answers, COMPLETION_RESPONSE, Guardrail, MAXIMUM_ITERATIONS, Scm};
use super::proposals::Proposals;
use ralph_core::guardrail::FailAction;

/// The person left: Ctrl-C, or the end of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gone;

pub(super) trait Listener {
    /// Asks, and returns the answer without surrounding space.
    fn ask(&mut self, question: &str) -> Result<String, Gone>;

    fn remark(&mut self, line: &str);

    /// Asks for yes or no until one of them is said; an empty answer is `otherwise`.
    fn agrees(&mut self, question: &str, otherwise: bool) -> Result<bool, Gone> {
        loop {
            match self.ask(question)?.to_lowercase().as_str() {
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                "" => return Ok(otherwise),
                _ => self.remark("Please answer y or n."),
            }
        }
    }
}

pub(super) fn interview(listener: &mut impl Listener, proposals: &Proposals) -> Result<Answers, Gone> {
    Ok(Answers {
        agent: agent(listener, proposals)?,
        flags: answers::list(&listener.ask("Agent flags (comma-separated, optional): ")?),
        maximum_iterations: maximum_iterations(listener)?,
        completion_response: or(
            listener.ask(&format!("Completion response [{COMPLETION_RESPONSE}]: "))?,
            COMPLETION_RESPONSE,
        ),
        guardrails: guardrails(listener, proposals)?,
        scm: scm(listener, proposals)?,
    })
}

fn agent(listener: &mut impl Listener, proposals: &Proposals) -> Result<String, Gone> {
    let found = proposals.agents.first().copied();
    let question = with_default("Agent command (e.g., claude, codex, amp, or other LLM CLI)", found);
    needed(listener, &question, found, "An agent command is needed.")
}

fn maximum_iterations(listener: &mut impl Listener) -> Result<i64, Gone> {
    let question = format!("Maximum iterations [{MAXIMUM_ITERATIONS}]: ");
    loop {
        let typed = listener.ask(&question)?;
        match typed.parse::<u32>() {
            _ if typed.is_empty() => return Ok(MAXIMUM_ITERATIONS),
            Ok(number @ 1..) => return Ok(number.into()),
            Ok(0) | Err(_) => listener.remark("Please enter a whole number greater than 0."),
        }
    }
}

fn guardrails(listener: &mut impl Listener, proposals: &Proposals) -> Result<Vec<Guardrail>, Gone> {
    let mut guardrails = Vec::new();
    for found in &proposals.guardrails {
        let question = format!("Add guardrail `{}`, found in {}? (Y/n): ", found.command, found.from);
        if listener.agrees(&question, true)? {
            guardrails.push(Guardrail::new(&found.command, FailAction::Append, ""));
        }
    }
    loop {
        let command = listener.ask("Add guardrail command (leave blank to finish): ")?;
        if command.is_empty() {
            return Ok(guardrails);
        }
        let fail_action = fail_action(listener)?;
        let hint = listener.ask("  Hint (optional, guidance for agent on failure): ")?;
        guardrails.push(Guardrail::new(&command, fail_action, &hint));
    }
}

fn fail_action(listener: &mut impl Listener) -> Result<FailAction, Gone> {
    loop {
        let typed = listener.ask("  Fail action (APPEND|PREPEND|REPLACE): ")?;
        match FailAction::parse(&typed) {
            Some(action) => return Ok(action),
            None => listener.remark("  Please enter APPEND, PREPEND or REPLACE."),
        }
    }
}

fn scm(listener: &mut impl Listener, proposals: &Proposals) -> Result<Option<Scm>, Gone> {
    if !listener.agrees("Configure SCM? (y/N): ", false)? {
        return Ok(None);
    }
    let question = with_default("  SCM command (e.g., git)", proposals.scm);
    let command = needed(listener, &question, proposals.scm, "  An SCM command is needed.")?;
    let tasks = answers::list(&listener.ask("  SCM tasks (comma-separated, e.g., commit,push): ")?);
    if tasks.is_empty() {
        listener.remark("  No tasks: nothing will be done with version control.");
    }
    Ok(Some(Scm { command, tasks }))
}

fn needed(
    listener: &mut impl Listener,
    question: &str,
    otherwise: Option<&str>,
    complaint: &str,
) -> Result<String, Gone> {
    loop {
        let answer = or(listener.ask(question)?, otherwise.unwrap_or_default());
        if !answer.is_empty() {
            return Ok(answer);
        }
        listener.remark(complaint);
    }
}

fn or(answer: String, otherwise: &str) -> String {
    if answer.is_empty() { otherwise.to_owned() } else { answer }
}

fn with_default(question: &str, otherwise: Option<&str>) -> String {
    match otherwise {
        Some(otherwise) => format!("{question} [{otherwise}]: "),
        None => format!("{question}: "),
    }
}

#[cfg(test)]
mod tests {
    use super::super::guardrails::Found;
    use super::*;

    /// Answers what it was given, line by line, and then leaves.
    struct Script<'a> {
        lines: std::str::Lines<'a>,
        heard: Vec<String>,
    }

    impl Listener for Script<'_> {
        fn ask(&mut self, question: &str) -> Result<String, Gone> {
            self.heard.push(question.to_owned());
            self.lines.next().map(|line| line.trim().to_owned()).ok_or(Gone)
        }

        fn remark(&mut self, line: &str) {
            self.heard.push(line.to_owned());
        }
    }

    fn talk(typed: &str, proposals: &Proposals) -> (Result<Answers, Gone>, Vec<String>) {
        let mut script = Script { lines: typed.lines(), heard: Vec::new() };
        let answers = interview(&mut script, proposals);
        assert!(answers.is_err() || script.lines.next().is_none(), "not everything was asked for");
        (answers, script.heard)
    }

    fn found() -> Proposals {
        let guardrails =
            ["make test", "make lint"].map(|command| Found { command: command.to_owned(), from: "Makefile" });
        Proposals { agents: vec!["codex", "amp"], guardrails: guardrails.into(), scm: Some("git") }
    }

    #[test]
    fn empty_answers_take_what_was_found_and_the_defaults() {
        let (answers, heard) = talk("\n\n\n\n\n\n\n\n", &found());
        let expected = Answers {
            agent: "codex".to_owned(),
            flags: Vec::new(),
            maximum_iterations: 10,
            completion_response: "DONE".to_owned(),
            guardrails: ["make test", "make lint"]
                .map(|command| Guardrail::new(command, FailAction::Append, ""))
                .into(),
            scm: None,
        };
        assert_eq!(answers.unwrap(), expected);
        assert!(heard.contains(&"Add guardrail `make test`, found in Makefile? (Y/n): ".to_owned()));
        assert!(heard.first().unwrap().ends_with("[codex]: "));
    }

    #[test]
    fn what_cannot_be_used_is_asked_for_again_with_the_reason() {
        let typed = "\n  \nmy agent\n\n0\n-1\nmany\n1.5\n99999999999\n7\nOK\nmake\nmaybe\n\nprepend\nhint\n\nperhaps\nYES\n\nhg\n\n";
        let (answers, heard) = talk(typed, &Proposals { agents: vec![], guardrails: vec![], scm: None });
        let answers = answers.unwrap();
        assert_eq!((answers.agent.as_str(), answers.maximum_iterations), ("my agent", 7));
        assert_eq!(answers.guardrails, [Guardrail::new("make", FailAction::Prepend, "hint")]);
        assert_eq!(answers.scm, Some(Scm { command: "hg".to_owned(), tasks: vec![] }));
        let times = |line: &str| heard.iter().filter(|heard| *heard == line).count();
        assert_eq!(times("An agent command is needed."), 2);
        assert_eq!(times("Please enter a whole number greater than 0."), 5);
        assert_eq!(times("  Please enter APPEND, PREPEND or REPLACE."), 2);
        assert_eq!(times("Please answer y or n."), 1);
        assert_eq!(times("  An SCM command is needed."), 1);
    }

    #[test]
    fn what_was_found_can_be_declined() {
        let (answers, _) = talk("claude\n\n\n\nn\nno\n\ny\n\ncommit, push\n", &found());
        let answers = answers.unwrap();
        assert_eq!(answers.guardrails, []);
        assert_eq!(answers.scm.unwrap().tasks, ["commit", "push"]);
    }

    #[test]
    fn leaving_at_any_question_leaves_no_answers() {
        let whole = "claude\n\n\n\nmake\nappend\n\n\ny\ngit\ncommit";
        let nothing = Proposals { agents: vec![], guardrails: vec![], scm: None };
        let lines: Vec<&str> = whole.lines().collect();
        for count in 0..lines.len() {
            let (answers, heard) = talk(&lines.get(..count).unwrap().join("\n"), &nothing);
            // A last empty line is no line to `lines`, so two counts may leave at the same question.
            assert!(answers == Err(Gone) && heard.len() <= count + 1, "{count}: {heard:?}");
        }
        assert!(talk(whole, &nothing).0.is_ok());
    }
}
