//! An agent's events as lines for people, in a run as it goes on and in its log afterwards. Nothing of the agent gets
//! out of here but through [`ralph_core::text::for_terminal`].

mod flow;
mod lines;
#[cfg(test)]
mod tests;
mod todo;

use crate::words::amounts;
use crate::{Mark, Paint, Tone, Zone};
use flow::Flow;
use lines::{Lines, one_line, shorten};
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::observation::Tokens;
use ralph_core::text;
use ralph_core::time::{Millis, WallTime};
use std::collections::HashMap;

const NAME_CHARS: usize = 80;
const INPUT_CHARS: usize = 80;
/// The longest sentence about an error, and the longest remark.
const ERROR_CHARS: usize = 400;
const REMARK_CHARS: usize = 200;
/// Tools whose end has not come yet; an agent runs few at a time.
const OPEN_TOOLS: usize = 200;

#[derive(Debug, Clone, Default)]
pub struct RenderOptions {
    pub paint: Paint,
    pub zone: Zone,
    pub timestamps: bool,
    pub text: bool,
    pub max_output_lines: usize,
    pub max_output_chars: usize,
    pub verbose: bool,
}

/// Renders the events of one iteration, remembering which tool a result belongs to.
#[derive(Debug, Default)]
pub struct Renderer {
    options: RenderOptions,
    /// When the iteration began; `None` where nobody knows when things happened.
    began: Option<WallTime>,
    flow: Flow,
    names: HashMap<String, String>,
    tools: u64,
    errors: u64,
    spoke: bool,
    /// The last error that was told; a result may repeat it.
    told: String,
}

impl Renderer {
    /// A renderer for one iteration. For a recorded stream, which does not say when each line came,
    /// `began` is `None`: then neither times nor durations are shown.
    pub fn new(options: RenderOptions, began: Option<WallTime>) -> Renderer {
        Renderer { options, began, ..Renderer::default() }
    }

    /// The lines for one event, each with its newline; empty if it has none.
    pub fn render(&mut self, at: WallTime, event: &AgentEvent) -> String {
        let mut lines = self.lines(at);
        if let AgentEvent::Text { text, voice: Voice::Main, delta: true } = event {
            self.spoke = true;
            if self.options.text
                && let Some(whole) = self.flow.feed(text)
            {
                lines.add_text(Tone::Plain, &whole);
            }
            return lines.into_text();
        }
        self.add(&mut lines, at, event);
        let shown = lines.into_text();
        // What is not shown interrupts nothing.
        if shown.is_empty() { shown } else { self.end_text(at) + &shown }
    }

    /// A line that stood in the stream and is none of its events: shown, but not as anybody's words.
    pub fn beside(&mut self, at: WallTime, line: &str) -> String {
        let mut lines = self.lines(at);
        lines.add_text(Tone::Dim, &text::for_terminal(line));
        self.end_text(at) + &lines.into_text()
    }

    /// Ends a message that came in pieces: the line that is still held, if any.
    pub fn end_text(&mut self, at: WallTime) -> String {
        let mut lines = self.lines(at);
        if let Some(rest) = self.flow.end() {
            lines.add_text(Tone::Plain, &rest);
        }
        lines.into_text()
    }

    fn lines(&self, at: WallTime) -> Lines {
        let stamped = self.options.timestamps && self.began.is_some();
        Lines::new(self.options.paint, stamped.then(|| self.options.zone.of_day(at)))
    }

    fn add(&mut self, lines: &mut Lines, at: WallTime, event: &AgentEvent) {
        let marks = self.options.paint.marks;
        match event {
            AgentEvent::Text { text, voice: Voice::Main, .. } => {
                self.spoke = true;
                self.say(lines, Tone::Plain, text);
            }
            AgentEvent::ToolStart { id, name, input, .. } => {
                self.tools += 1;
                let name = one_line(name, NAME_CHARS);
                let input = one_line(input, INPUT_CHARS);
                lines.add(Tone::Head, &format!("{} {name}({input})", marks.of(Mark::Tool)));
                if self.names.len() < OPEN_TOOLS {
                    self.names.insert(id.clone(), name);
                }
            }
            AgentEvent::ToolEnd { .. } => self.tool_end(lines, event),
            AgentEvent::Todo { items } => todo::add(lines, marks, items),
            AgentEvent::Result { text, is_error: false, cost_usd, tokens } => {
                // Usually it repeats what was said before.
                if !std::mem::replace(&mut self.spoke, true) {
                    self.say(lines, Tone::Plain, text);
                }
                let facts = self.facts(at, *cost_usd, *tokens);
                lines.add(Tone::Good, &format!("{} Complete ({facts})", marks.of(Mark::Ok)));
            }
            AgentEvent::Result { text, cost_usd, tokens, .. } => {
                self.complain(lines, text);
                let facts = self.facts(at, *cost_usd, *tokens);
                lines.add(Tone::Bad, &format!("{} Failed ({facts})", marks.of(Mark::Error)));
            }
            AgentEvent::Limit { scope, rejected: true, resets_at } => {
                let resets =
                    resets_at.map(|seconds| self.options.zone.short(WallTime(seconds.saturating_mul(1000)), at));
                let resets = resets.map_or(String::new(), |when| format!(" · resets {when}"));
                let scope = one_line(scope, REMARK_CHARS);
                lines.add(Tone::Waiting, &format!("{} limit reached: {scope}{resets}", marks.of(Mark::Wait)));
            }
            AgentEvent::Error { message } => self.complain(lines, message),
            AgentEvent::Limit { scope, .. } => self.remark(lines, &format!("limit near: {scope}")),
            AgentEvent::Progress { text } => self.remark(lines, text),
            AgentEvent::Unknown { what } => self.remark(lines, what),
            AgentEvent::Text { text, voice: Voice::Thinking, .. } => self.say(lines, Tone::Dim, text),
            AgentEvent::Text { voice: Voice::Sub, .. } | AgentEvent::Spent { .. } => {}
        }
    }

    fn say(&self, lines: &mut Lines, tone: Tone, words: &str) {
        let clean = text::for_terminal(words);
        if self.options.text && !clean.is_empty() {
            lines.add_text(tone, clean.strip_suffix('\n').unwrap_or(&clean));
        }
    }

    fn complain(&mut self, lines: &mut Lines, message: &str) {
        let sentence = one_line(message, ERROR_CHARS);
        if !sentence.is_empty() && sentence != self.told {
            lines.add(Tone::Bad, &format!("{} {sentence}", self.options.paint.marks.of(Mark::Error)));
            self.told = sentence;
        }
    }

    fn remark(&self, lines: &mut Lines, words: &str) {
        if self.options.verbose {
            lines.add(
                Tone::Dim,
                &format!("{} {}", self.options.paint.marks.of(Mark::Remark), one_line(words, REMARK_CHARS)),
            );
        }
    }

    fn tool_end(&mut self, out: &mut Lines, event: &AgentEvent) {
        let AgentEvent::ToolEnd { id, output, lines, chars, error, .. } = event else { return };
        let marks = self.options.paint.marks;
        self.errors += u64::from(*error);
        let name = self.names.remove(id).map_or(String::new(), |name| format!(" ← {name}"));
        let (tone, mark, word) = if *error {
            (Tone::Bad, marks.of(Mark::Error), "Error")
        } else {
            (Tone::Good, marks.of(Mark::Ok), "Result")
        };
        out.add(tone, &format!("{mark} {word}{name} ({lines} lines, {chars} chars)"));
        let clean = text::for_terminal(output);
        // Blank lines say nothing, so they take no room.
        let spoken = clean.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let shown: Vec<(usize, &str)> = spoken.take(self.options.max_output_lines).collect();
        for (index, (_, line)) in shown.iter().enumerate() {
            let lead = if index == 0 { format!("  {}  ", marks.of(Mark::Below)) } else { " ".repeat(6) };
            out.add(Tone::Dim, &format!("{lead}{}", shorten(line, self.options.max_output_chars)));
        }
        let passed = shown.last().map_or(0, |(at, _)| at + 1);
        let is_whole = output.lines().count() as u64 >= *lines;
        let ends_here = is_whole && clean.lines().skip(passed).all(|line| line.trim().is_empty());
        let more = lines.saturating_sub(passed as u64);
        if more > 0 && !shown.is_empty() && !ends_here {
            out.add(Tone::Dim, &format!("  {}  ... {more} more lines", marks.of(Mark::Below)));
        }
    }

    /// What the iteration took so far. What nobody stated is left out: unknown is not zero.
    fn facts(&self, at: WallTime, cost_usd: Option<f64>, tokens: Option<Tokens>) -> String {
        let mut facts = Vec::new();
        facts.extend(cost_usd.filter(|cost| cost.is_finite()).map(|cost| format!("cost: ${cost:.2}")));
        facts.extend(tokens.map(amounts::tokens));
        facts.push(format!("tools: {}", self.tools));
        facts.push(format!("errors: {}", self.errors));
        facts.extend(self.began.map(|began| {
            let took = Millis(u64::try_from(at.0.saturating_sub(began.0)).unwrap_or(0));
            format!("time: {}", amounts::duration(took))
        }));
        facts.join(", ")
    }
}

/// What an event says in a few words, for the status line; `None` if it changes nothing there.
pub fn in_a_few_words(event: &AgentEvent) -> Option<String> {
    match event {
        AgentEvent::ToolStart { name, input, .. } => {
            Some(format!("{} {}", one_line(name, 40), one_line(input, 40)).trim_end().to_owned())
        }
        AgentEvent::ToolEnd { .. } | AgentEvent::Text { voice: Voice::Main, .. } => Some("thinking".to_owned()),
        AgentEvent::Result { .. } => Some("finishing".to_owned()),
        // A client that asks its provider again and again is not starting any more.
        AgentEvent::Progress { text } if !text.starts_with("session: ") => Some(one_line(text, 60)),
        _ => None,
    }
}
