//! The live line at the bottom of a terminal: alive? doing what? how far? what did it cost?

use ralph_core::text;
use ralph_core::time::Millis;
use unicode_width::UnicodeWidthChar;

/// Silence that is worth a word.
const QUIET: u64 = 10_000;
/// Frames of the wheel; it turns only when the line is drawn.
const WHEEL: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

#[derive(Debug, Default)]
pub struct StatusLine {
    pub step: &'static str,
    pub iteration: (u32, u32),
    pub activity: String,
    pub began: Millis,
    /// When something was last heard of the agent; `None` while no agent runs.
    pub heard: Option<Millis>,
    pub cost_usd: Option<f64>,
    pub stopping: bool,
    /// How long the wait will still take; the activity says until when.
    pub waiting: Option<Millis>,
    frame: usize,
}

impl StatusLine {
    pub fn draw(&mut self, now: Millis, columns: usize) -> String {
        self.frame = (self.frame + 1) % WHEEL.len();
        let wheel = WHEEL.get(self.frame).copied().unwrap_or_default();
        let mut parts = vec![format!("{wheel} {} {}/{}", self.step, self.iteration.0, self.iteration.1)];
        match self.waiting {
            Some(left) => parts.push(format!("{}, {left} left", self.activity)),
            None if self.activity.is_empty() => {}
            None => parts.push(self.activity.clone()),
        }
        if let Some(heard) = self.heard {
            let silent = now.minus(heard);
            parts.push(if silent.0 < QUIET { "live".to_owned() } else { format!("quiet {silent}") });
        }
        parts.push(now.minus(self.began).to_string());
        if let Some(cost) = self.cost_usd {
            parts.push(format!("${cost:.2}"));
        }
        parts.push(if self.stopping { "stopping, ^C again: now" } else { "^C stop" }.to_owned());
        fit(&parts.join(" · "), columns.saturating_sub(1))
    }
}

/// Cuts a line to a number of columns; wide characters count twice.
pub fn fit(line: &str, columns: usize) -> String {
    let mut used = 0;
    let mut fitted = String::new();
    for c in text::for_terminal(line).chars() {
        let width = c.width().unwrap_or(0);
        if used + width > columns {
            break;
        }
        used += width;
        fitted.push(if c == '\n' || c == '\t' { ' ' } else { c });
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_counts_down() {
        let mut line =
            StatusLine { step: "iteration", activity: "waiting until 14:05".to_owned(), ..StatusLine::default() };
        for (left, words) in [(720_000, "12m00s"), (9_500, "9.5s"), (0, "0ms")] {
            line.waiting = Some(Millis(left));
            let drawn = line.draw(Millis(1000), 200);
            assert!(drawn.contains(&format!(" · waiting until 14:05, {words} left · ")), "{drawn}");
        }
    }

    #[test]
    fn the_line_fits_any_terminal_and_says_what_matters() {
        let mut line = StatusLine {
            step: "iteration",
            iteration: (3, 10),
            activity: "Edit 漢字.rs".to_owned(),
            heard: Some(Millis(1000)),
            cost_usd: Some(0.31),
            ..StatusLine::default()
        };
        let drawn = line.draw(Millis(131_000), 200);
        assert!(drawn.contains("iteration 3/10 · Edit 漢字.rs · quiet 2m10s · 2m11s · $0.31 · ^C stop"), "{drawn}");
        for columns in 0..100 {
            let drawn = line.draw(Millis(5000), columns);
            let width: usize = drawn.chars().map(|c| c.width().unwrap_or(0)).sum();
            assert!(width <= columns.saturating_sub(1));
        }
    }
}
