//! Small plots: one bar for an iteration, as lines of text or as a picture that needs no program to be
//! seen. Where there are too many, neighbours share a bar, which is as long as the longest of them.

use super::escape;
use crate::Marks;
use crate::measures::{Bar, Plot};
use std::fmt::Write as _;

/// Bars of a plot in text: what fits onto a screen.
const TEXT_BARS: usize = 40;
const TEXT_WIDTH: usize = 40;
/// Bars of a picture: more would be thinner than its pixels.
const PICTURE_BARS: usize = 200;
/// The size of a picture, and of the part of it that bars may fill.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 150.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 130.0;

impl Plot {
    pub fn as_text(&self, marks: Marks) -> String {
        let bars = self.merged(TEXT_BARS);
        let most = longest(&bars);
        let width = bars.iter().map(|bar| bar.label.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for Bar { label, value, shown } in &bars {
            let line = format!("{label:>width$} {} {shown}", text_bar(value.unwrap_or(0.0) / most, marks));
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }

    pub fn as_svg(&self) -> String {
        let bars = self.merged(PICTURE_BARS);
        let most = longest(&bars);
        let title = escape::html(self.title);
        let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">\n");
        #[allow(clippy::cast_precision_loss, reason = "there are at most PICTURE_BARS")]
        let fair = WIDTH / bars.len().max(1) as f64;
        // A few bars do not fill the whole width.
        let step = fair.min(48.0);
        let width = step * 0.8;
        let mut left = 0.0;
        for bar in &bars {
            let value = bar.value.filter(|value| *value > 0.0);
            let height = value.map_or(0.0, |value| ((value / most).min(1.0) * (BOTTOM - TOP)).max(1.0));
            let (label, shown) = (escape::html(&bar.label), escape::html(&bar.shown));
            let _ = writeln!(
                svg,
                "<rect class=\"bar\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"><title>iteration \
                 {label}: {shown}</title></rect>",
                BOTTOM - height
            );
            left += step;
        }
        let _ = writeln!(svg, "<line class=\"axis\" x1=\"0\" y1=\"{BOTTOM}\" x2=\"{WIDTH}\" y2=\"{BOTTOM}\"/>");
        let longest_bar = bars.iter().filter(|bar| bar.value == Some(most)).map(|bar| bar.shown.as_str()).next();
        if let (Some(first), Some(last)) = (bars.first(), bars.last()) {
            let label = |svg: &mut String, x: f64, y: f64, anchor: &str, words: &str| {
                let words = escape::html(words);
                let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"{anchor}\">{words}</text>");
            };
            label(&mut svg, 0.0, 12.0, "start", &format!("most: {}", longest_bar.unwrap_or("not stated")));
            label(&mut svg, 0.0, HEIGHT - 6.0, "start", &first.label);
            if bars.len() > 1 {
                label(&mut svg, left - step + width, HEIGHT - 6.0, "end", &last.label);
            }
        }
        svg + "</svg>\n"
    }

    fn merged(&self, most: usize) -> Vec<Bar> {
        let share = self.bars.len().div_ceil(most).max(1);
        self.bars.chunks(share).filter_map(merge).collect()
    }
}

fn merge(bars: &[Bar]) -> Option<Bar> {
    let (first, last) = (bars.first()?, bars.last()?);
    let length = |bar: &Bar| bar.value.unwrap_or(-1.0);
    let longest = bars.iter().reduce(|most, bar| if length(bar) > length(most) { bar } else { most })?;
    let label = if bars.len() == 1 { first.label.clone() } else { format!("{}-{}", first.label, last.label) };
    Some(Bar { label, ..longest.clone() })
}

/// The length of the longest bar; 1 if all are nothing, so that nothing divided by it stays nothing.
fn longest(bars: &[Bar]) -> f64 {
    let most = bars.iter().filter_map(|bar| bar.value).filter(|value| value.is_finite()).fold(0.0, f64::max);
    if most > 0.0 { most } else { 1.0 }
}

/// A part of the whole width, from 0 to 1.
fn text_bar(part: f64, marks: Marks) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped before")]
    let eighths = (part.clamp(0.0, 1.0) * (TEXT_WIDTH * 8) as f64).round() as usize;
    // Something is never shown as nothing.
    let eighths = if part > 0.0 { eighths.max(1) } else { 0 };
    match marks {
        Marks::Emoji => "█".repeat(eighths / 8) + EIGHTHS.get(eighths % 8).copied().unwrap_or_default(),
        Marks::Words => "#".repeat(eighths.div_ceil(8)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(values: &[Option<f64>]) -> Plot {
        let bar = |(index, value): (usize, &Option<f64>)| Bar {
            label: (index + 1).to_string(),
            value: *value,
            shown: value.map_or("not stated".to_owned(), |value| value.to_string()),
        };
        Plot { title: "a < b", bars: values.iter().enumerate().map(bar).collect() }
    }

    #[test]
    fn bars_are_as_long_as_their_values() {
        let plot = plot(&[Some(10.0), Some(5.0), Some(0.1), Some(0.0), None]);
        let expected = [
            format!("1 {} 10", "█".repeat(40)),
            format!("2 {} 5", "█".repeat(20)),
            "3 ▍ 0.1".to_owned(),
            "4  0".to_owned(),
            "5  not stated".to_owned(),
        ];
        assert_eq!(plot.as_text(Marks::Emoji).lines().collect::<Vec<_>>(), expected);
        let ascii = plot.as_text(Marks::Words);
        assert!(ascii.is_ascii() && ascii.starts_with(&format!("1 {} 10\n", "#".repeat(40))), "{ascii}");
        assert!(ascii.contains("3 # 0.1"), "something is never nothing: {ascii}");
    }

    #[test]
    fn many_iterations_share_bars_and_the_longest_is_kept() {
        let mut values = vec![Some(1.0); 1000];
        values[513] = Some(7.0);
        let plot = plot(&values);
        let text = plot.as_text(Marks::Emoji);
        assert_eq!(text.lines().count(), TEXT_BARS);
        assert!(text.contains("501-525 ████████████████████████████████████████ 7"), "{text}");
        assert_eq!(plot.as_svg().matches("<rect").count(), PICTURE_BARS);
        assert!(plot.as_svg().contains("iteration 511-515: 7<"), "{}", plot.as_svg());
    }

    #[test]
    fn a_picture_is_whole_whatever_it_shows() {
        for values in [vec![], vec![None], vec![Some(0.0), Some(0.0)], vec![Some(f64::INFINITY), Some(1.0)]] {
            let svg = plot(&values).as_svg();
            assert_eq!(svg.matches("<rect").count(), values.len());
            assert!(svg.contains("aria-label=\"a &lt; b\"") && svg.ends_with("</svg>\n"), "{svg}");
            assert!(!svg.contains("NaN"), "{svg}");
        }
    }
}
