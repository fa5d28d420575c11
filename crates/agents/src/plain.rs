//! Errors in plain text: of programs without a dialect, and of those that were asked for text.
//!
//! Plain text is the agent's own prose, in which every error may be mentioned. So only a line that has the shape of a
//! provider's error is taken for one: it begins with the name of a library's error (`litellm.RateLimitError: …`), calls
//! itself an error and states an HTTP status, or is the JSON of an error; and it counts only
//!
//! - behind an exit code that says that the program failed, if it is the last line on standard error that calls itself
//!   an error, or, where standard error is empty, the last line of all; or
//! - where the program said nothing else at all, besides the labels that programs print when they begin, and the lines
//!   by which a library explains its error.

use crate::complaint::{Complaint, reason_phrase, status_in};
use ralph_core::text;
use std::collections::VecDeque;

/// Lines at the end of the output that are kept, and bytes of each.
const KEPT: usize = 6;
const LINE_BYTES: usize = 2000;
const STDERR_LINES: usize = 20;
/// Lines of explanation that may stand behind an error without being an answer: programs break long ones.
const EXPLANATION: u8 = 8;

enum Shape {
    /// A provider's error, by its status or its body.
    Provider(Box<Complaint>),
    /// A provider's error, by the name that a library has for it.
    Librarys(Box<Complaint>),
    Error,
    Prose,
}

/// What one process printed, as far as it may be an error.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    last: VecDeque<String>,
    so_far: SoFar,
}

#[derive(Debug, Default)]
enum SoFar {
    #[default]
    Labels,
    /// An error, and so many lines that may still stand behind it.
    Failed(Box<Complaint>, u8),
    Said,
}

impl Printed {
    pub(crate) fn line(&mut self, line: &str) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let line = text::prefix(line, LINE_BYTES);
        // Nearly every line is prose behind prose, so nothing else is done for it than to be kept.
        let mut kept = if self.last.len() < KEPT { None } else { self.last.pop_front() }.unwrap_or_default();
        kept.clear();
        kept.push_str(line);
        self.last.push_back(kept);
        if !matches!(self.so_far, SoFar::Said) {
            self.weigh(text::without_controls(line).trim());
        }
    }

    fn weigh(&mut self, line: &str) {
        self.so_far = match (std::mem::take(&mut self.so_far), shape(line)) {
            (SoFar::Said, _) => SoFar::Said,
            (_, Shape::Librarys(complaint)) => SoFar::Failed(complaint, EXPLANATION),
            // A status may be mentioned at the beginning of an answer, so nothing may follow it.
            (_, Shape::Provider(complaint)) => SoFar::Failed(complaint, 0),
            (SoFar::Labels, _) if is_label(line) => SoFar::Labels,
            (SoFar::Failed(complaint, lines @ 1..), _) if !line.contains('<') => SoFar::Failed(complaint, lines - 1),
            _ => SoFar::Said,
        };
    }

    /// The error that is all that the program said, whatever it says by its exit code.
    pub(crate) fn only_error(&self) -> Option<&Complaint> {
        if let SoFar::Failed(complaint, _) = &self.so_far { Some(complaint) } else { None }
    }

    /// The error of a program that failed: the last one on stderr, or if that is empty the last line printed.
    pub(crate) fn error(&self, stderr: &str) -> Option<Complaint> {
        let mut on_stderr = stderr.lines().rev().filter(|line| !line.trim().is_empty()).take(STDERR_LINES).peekable();
        let found = if on_stderr.peek().is_some() {
            last_error(on_stderr)
        } else {
            // What is indented belongs to the line before it.
            let whole = self.last.iter().rev().find(|line| !line.starts_with([' ', '\t']));
            last_error(whole.map(String::as_str).into_iter())
        };
        if let Shape::Provider(complaint) | Shape::Librarys(complaint) = found { Some(*complaint) } else { None }
    }
}

fn last_error<'a>(lines: impl Iterator<Item = &'a str>) -> Shape {
    let mut shapes = lines.map(|line| shape(text::without_controls(line).trim()));
    shapes.find(|shape| !matches!(shape, Shape::Prose)).unwrap_or(Shape::Prose)
}

fn shape(line: &str) -> Shape {
    // Signs before an error: a cross, an arrow, brackets around its level.
    let unmarked = line.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '{');
    let (rest, calls_itself_one) = behind_lead(unmarked);
    let complaint = || Complaint::new(rest).by_fields();
    let provider = |complaint: Complaint| Shape::Provider(Box::new(complaint));
    if rest.starts_with('{') && rest.contains("\"error\"") {
        let complaint = complaint();
        return if complaint.says_why() { provider(complaint) } else { Shape::Prose };
    }
    if let Some((name, behind)) = class_name(rest) {
        let complaint = complaint().with_kind(name);
        // An error about a request, by a name that tells so: not one of a test that wanted another status.
        let is_a_requests = ["Axios", "HTTP", "Http", "API", "Api", "Client", "Request", "Response", "Fetch", "Status"];
        let of_a_request = is_a_requests.iter().any(|word| name.contains(word));
        return if is_a_librarys(name) && !is_told_about(behind) {
            Shape::Librarys(Box::new(complaint))
        } else if of_a_request && complaint.status.is_some() && !is_mentioned(behind) {
            provider(complaint)
        } else {
            Shape::Error
        };
    }
    // Most lines hold no number, and so no status.
    let has_number = rest.bytes().any(|byte| byte.is_ascii_digit());
    let stated = has_number && complaint().status.is_some() && !is_mentioned(rest);
    match (stated, calls_itself_one) {
        (true, true) => provider(complaint()),
        (true, false) if is_bare_status(rest) => provider(complaint()),
        (_, true) => Shape::Error,
        (_, false) => Shape::Prose,
    }
}

/// The line behind the words by which it calls itself an error, and whether there are any.
fn behind_lead(line: &str) -> (&str, bool) {
    // Not `fatal` and `failed`, which git and test runners say.
    const LEADS: [&str; 7] =
        ["api error", "fatal error", "error code", "error", "uncaught exception", "exception", "http error"];
    let (mut rest, mut any) = (line, false);
    loop {
        let lead = LEADS.iter().find_map(|lead| {
            let head = rest.get(..lead.len()).filter(|head| head.eq_ignore_ascii_case(lead))?;
            let behind = rest.get(head.len()..)?;
            // A word of its own that ends as a heading does: `Error: `, `[ERROR] `, `FATAL `.
            let behind = behind
                .strip_prefix([':', ']'])
                .or_else(|| behind.strip_prefix(' ').filter(|_| head.to_uppercase() == head))?;
            Some(behind.trim_start_matches([':', ']', ' ', '-']))
        });
        let Some(behind) = lead.or_else(|| behind_label(rest)) else { return (rest, any) };
        (rest, any) = (behind, true);
    }
}

/// The line behind a few words that say whose error it is: `LLM provider error: …`, `Ran into this error: …`.
fn behind_label(line: &str) -> Option<&str> {
    const OF: [&str; 12] = [
        "llm", "provider", "api", "request", "authentication", "server", "network", "http", "unexpected", "model",
        "stream", "ran",
    ];
    let (label, behind) = line.split_once(": ").filter(|(label, _)| label.len() <= 40)?;
    let label = label.to_ascii_lowercase();
    let first = label.split(' ').next().filter(|word| OF.contains(word))?;
    (label.ends_with(" error") && first != label).then_some(behind)
}

/// The name of an error that the line begins with, and what it says: `openai.RateLimitError: …`.
fn class_name(line: &str) -> Option<(&str, &str)> {
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_')).unwrap_or(line.len());
    let (name, behind) = line.split_at_checked(end)?;
    let last = name.rsplit('.').next()?;
    let is_one = last.ends_with("Error") || last.ends_with("Exception") || name.contains("exceptions.");
    let behind =
        if behind.is_empty() { behind } else { behind.strip_prefix(':').or_else(|| behind.strip_prefix(" ("))? };
    (is_one && last.starts_with(|c: char| c.is_ascii_uppercase()) && last != "Error")
        .then_some((name, behind.trim_start()))
}

/// Whether only libraries that talk to providers have an error of that name.
fn is_a_librarys(name: &str) -> bool {
    const LIBRARIES: [&str; 11] = [
        "litellm", "openai", "anthropic", "google", "groq", "mistralai", "cohere", "botocore", "httpx", "requests",
        "aiohttp",
    ];
    const NAMES: [&str; 12] = [
        "AuthenticationError", "RateLimitError", "PermissionDeniedError", "InternalServerError",
        "ServiceUnavailableError", "APIConnectionError", "APIConnectionTimeoutError", "APITimeoutError",
        "APIStatusError", "AI_APICallError", "OverloadedError", "ContextWindowExceededError",
    ];
    match name.split_once('.') {
        Some((library, _)) => LIBRARIES.contains(&library),
        None => NAMES.contains(&name),
    }
}

/// Whether the line is nothing but a status with its name, and what it says: `HTTP 429`, `401 Unauthorized: …`.
fn is_bare_status(line: &str) -> bool {
    let is_heading = |rest: &str| {
        rest.is_empty()
            || rest.starts_with([':', '.', ',', ';', '-', '('])
            || rest.starts_with(" -")
            || rest.starts_with(" (")
    };
    let lower = line.to_ascii_lowercase();
    let after_http = lower
        .strip_prefix("http/1.1 ")
        .or_else(|| lower.strip_prefix("http/2 "))
        .or_else(|| lower.strip_prefix("http "));
    let number = after_http.unwrap_or(&lower);
    let Some((digits, after)) = number.split_at_checked(3) else { return false };
    let Ok(status) = digits.parse() else { return false };
    reason_phrase(status, after).is_some_and(is_heading) || after_http.is_some() && is_heading(after)
}

/// Whether a sentence goes on behind the status, as where somebody tells about it: `401 is now handled`.
fn is_mentioned(line: &str) -> bool {
    const GOES_ON: &[&str] = &[
        "is", "was", "are", "were", "has", "have", "had", "and", "or", "when", "now", "no", "should", "will", "would",
        "gets", "on", "in", "from", "for", "to", "with", "by", "as", "at", "error", "errors", "response", "responses",
        "handling", "handler", "handlers", "status", "case", "cases", "path", "branch", "page", "pages", "test",
        "tests", "retry", "retries",
    ];
    // A test that wanted another one.
    let mut words = line.split(|c: char| !c.is_alphabetic());
    if words.any(|word| word.starts_with("expect") || word.starts_with("assert")) {
        return true;
    }
    let Some(status) = status_in(line) else { return false };
    let Some((_, after)) = line.split_once(&status.to_string()) else { return false };
    let after = reason_phrase(status, after).unwrap_or(after);
    let Some(after) = after.strip_prefix(' ') else { return false };
    let word = after.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    GOES_ON.contains(&word)
}

/// Whether somebody tells about an error: `openai.RateLimitError: handled by a retry`. Libraries begin as a sentence
/// does, or with what the provider said.
fn is_told_about(behind: &str) -> bool {
    behind.starts_with(char::is_lowercase)
}

/// A line that a program prints when it begins: its version, `Main model: gpt-4o`, a rule, a warning.
fn is_label(line: &str) -> bool {
    // What aider says before it asks its model.
    const BEGINNINGS: [&str; 8] = [
        "Warning", "warning:", "Note: ", "https://", "Can't initialize prompt toolkit", "Initial repo scan",
        "Scanning repo", "Use /help",
    ];
    let is_known = || {
        BEGINNINGS.iter().any(|words| line.starts_with(words))
            || line.starts_with("Added ") && line.ends_with("to the chat.")
    };
    let labelled = line.split_once(": ").is_some_and(|(label, value)| {
        let words = label.split_whitespace().count();
        label.starts_with(|c: char| c.is_ascii_uppercase())
            && words <= 3
            && label.len() <= 30
            && !value.ends_with(['.', '!'])
    });
    let is_version = || {
        let mut words = line.split_whitespace();
        let version = words.nth(1).map(|word| word.trim_start_matches('v'));
        version.is_some_and(|word| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit()))
            && words.next().is_none()
    };
    let is_rule = || line.chars().all(|c| !c.is_alphanumeric());
    labelled || is_version() || is_rule() || is_known()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_core::observation::FailureClass::{self, CannotRun, Limited, Other, Transient};

    const AIDER: &str = "Aider v0.86.1\nMain model: gpt-4o with diff edit format\nWeak model: gpt-4o-mini\nGit repo: .git with 12 files\nRepo-map: using 4096 tokens, auto refresh\nAdded a.py to the chat.\nNote: in-chat filenames are always relative to the git working dir.\n\nlitellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key\nprovided: dummy. You can find your API key at\nhttps://platform.openai.com/account/api-keys.\nThe API provider is not able to authenticate you. Check your API key.\n";

    fn printed(text: &str) -> Printed {
        let mut printed = Printed::default();
        text.lines().for_each(|line| printed.line(line));
        printed
    }

    fn behind_failure(stdout: &str, stderr: &str) -> Option<FailureClass> {
        printed(stdout).error(stderr).map(|complaint| complaint.class())
    }

    #[test]
    fn the_last_error_of_a_program_that_failed_is_classified_by_its_shape() {
        for (line, class) in [
            (
                "litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided",
                CannotRun,
            ),
            ("litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached", Limited),
            (
                "litellm.RateLimitError: OpenAIException - {\"error\":{\"code\":\"insufficient_quota\",\"message\":\"x\"}}",
                CannotRun,
            ),
            (
                "openai.RateLimitError: Error code: 429 - {'error': {'message': 'check your plan and billing details'}}",
                Limited,
            ),
            ("openai.RateLimitError: Error code: 429 - {'error': {'code': 'insufficient_quota'}}", CannotRun),
            ("litellm.NotFoundError: The model `x` does not exist", CannotRun),
            ("litellm.BadRequestError: Your prompt is odd", Other),
            ("litellm.ContextWindowExceededError: Too long", Other),
            ("anthropic.InternalServerError: Error code: 529", Transient),
            ("google.api_core.exceptions.ResourceExhausted: 429 Quota exceeded", Limited),
            ("httpx.ConnectError: [Errno 111] Connection refused", Transient),
            ("AuthenticationError: 401 {\"type\":\"error\"}", CannotRun),
            ("AxiosError: Request failed with status code 401", CannotRun),
            ("Error: Request failed with status code 429", Limited),
            ("HTTP 429", Limited),
            ("HTTP/1.1 503 Service Unavailable", Transient),
            ("401 Unauthorized: bad key", CannotRun),
            ("Error: 401 Incorrect API key provided", CannotRun),
            ("\u{1b}[31m✗ Error: 401 Unauthorized\u{1b}[0m", CannotRun),
            ("[ERROR] HTTP 502", Transient),
            ("ERROR: unexpected status 529", Transient),
            (
                "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"invalid x-api-key\"}}",
                CannotRun,
            ),
            ("{\"error\":{\"code\":429,\"message\":\"slow\",\"status\":\"RESOURCE_EXHAUSTED\"}}", Limited),
            ("API Error: 529 overloaded", Transient),
            ("LLM provider error: Error code: 401 - {'error': {'message': 'Invalid Authentication'}}", CannotRun),
            ("Ran into this error: Server error 503", Transient),
        ] {
            for (stdout, stderr) in [("I look around.", format!("starting\n{line}\n    at x\n")), (line, String::new())]
            {
                assert_eq!(behind_failure(stdout, &stderr), Some(class), "{line}: {stdout}");
            }
        }
    }

    #[test]
    fn i03_what_merely_mentions_an_error_is_prose() {
        for line in [
            "I fixed the 401 handling",
            "Fixed error: 401 Unauthorized",
            "401 Unauthorized responses are now retried.",
            "Error: 401 is now mapped to the login page",
            "The server answers HTTP 429 when the rate limit is hit",
            "HTTP 429 is handled.",
            "AuthenticationError is raised for a wrong API key",
            "Added a test for openai.RateLimitError: it passes",
            "3 tests failed, 401 passed",
            "PermissionError: [Errno 13] Permission denied: 'x'",
            "TypeError: Cannot read properties of undefined (reading 'status')",
            "Error: rate limit, API key, billing, login",
            "Error: 500 tests failed",
            "AssertionError: 401 != 200",
            "openai.RateLimitError: handled by a retry",
            "Error: expected status 200, got status 401",
            "{\"result\":\"the error was 401\"}",
            "fatal: not a git repository",
            "fatal: unable to access 'https://x/y': The requested URL returned error: 403",
            "FAILED: 429 passed, 3 failed",
            "Failed: 500",
            "error: 500 problems (500 errors, 0 warnings)",
            "Error: 503 items left in queue",
            "Error: 500 lines is too long for this file",
            "error: 401 warnings emitted",
            "error: exit status 401",
            "openai.RateLimitError: this is the class that the wrapper must catch",
        ] {
            assert_eq!(behind_failure(line, ""), None, "{line}");
            assert_eq!(behind_failure("", line), None, "{line}");
            assert!(printed(line).only_error().is_none(), "{line}");
        }
        // It went on after its retries, and failed for another reason.
        let stderr = "litellm.RateLimitError: Slow down\nRetrying in 0.2 seconds\nError: no such file\n";
        assert_eq!(behind_failure("", stderr), None);
        assert_eq!(behind_failure("", "litellm.RateLimitError: Slow down\nRetrying in 0.2 seconds\n"), Some(Limited));
    }

    #[test]
    fn i03_of_a_program_that_failed_what_it_said_last_counts() {
        for (stdout, stderr) in [
            ("Ran the tests:\nError: 401 Unauthorized\nThat is what the app should answer. I could not finish.", ""),
            ("HTTP/1.1 403 Forbidden", "Segmentation fault (core dumped)\n"),
            ("Error: 429 Too Many Requests\n", "Error: no such file\n"),
        ] {
            assert_eq!(behind_failure(stdout, stderr), None, "{stdout} {stderr}");
        }
        assert_eq!(behind_failure("I look around.\nError: 429 Too Many Requests\n    at x\n", ""), Some(Limited));
    }

    #[test]
    fn an_error_counts_without_an_exit_code_only_where_nothing_else_was_said() {
        let class = |text: &str| printed(text).only_error().map(Complaint::class);
        assert_eq!(class(AIDER), Some(CannotRun));
        assert_eq!(
            class("litellm.RateLimitError: Slow\nRetrying in 1.0 seconds...\nlitellm.RateLimitError: Slow\n"),
            Some(Limited)
        );
        assert_eq!(class("litellm.BadRequestError: Odd\n"), Some(Other));
        let error = "litellm.AuthenticationError: No";
        for said in [
            format!("I reproduced it:\n{error}\nNow it is fixed."),
            format!("{AIDER}\n<response>DONE</response>"),
            format!("{error}\n{}", "I changed a file.\n".repeat(9)),
            "I fixed the 401 handling".to_owned(),
            "Error: 401 Unauthorized\nwas what the login test returned. I fixed the middleware in auth.py.".to_owned(),
            "HTTP 429 Too Many Requests\nis what the limiter says now. All 12 tests pass.".to_owned(),
            "{\"error\":{\"code\":401,\"message\":\"no\"}}\nThis is the body which the API now returns.".to_owned(),
            String::new(),
        ] {
            assert_eq!(class(&said), None, "{said}");
        }
    }
}
