//! A report as Markdown, for a terminal, a pull request or a file. Of many rows those in the middle are
//! left out: nobody reads hundreds of them here.

use super::{Block, Document, Fold, Look, Piece, Shown, Table, escape};
use crate::Marks;
use std::fmt::Write as _;

const FOLD: Fold = Fold { first: 10, last: 30 };

pub fn render(document: &Document, marks: Marks) -> String {
    let mut page = format!("# {}\n", escape::markdown(&document.title));
    for section in &document.sections {
        let _ = writeln!(page, "\n## {}", section.heading);
        for block in &section.blocks {
            page.push('\n');
            page.push_str(&self::block(block, marks));
        }
    }
    page
}

fn block(block: &Block, marks: Marks) -> String {
    match block {
        Block::Line(pieces) => {
            pieces.iter().map(|piece| self::piece(piece, marks)).collect::<Vec<_>>().join(" · ") + "\n"
        }
        Block::Facts(facts) => {
            let line = |(name, piece): &(&str, Piece)| format!("- **{name}**: {}\n", self::piece(piece, marks));
            facts.iter().map(line).collect()
        }
        Block::List(pieces) => list(pieces, marks),
        Block::Quote(text) => escape::markdown_lines(text),
        Block::Table(table) => self::table(table, marks),
        // A plot holds only numbers and blocks, so nothing in it can end the fence.
        Block::Plot(plot) => format!("{}:\n\n```text\n{}```\n", escape::markdown(plot.title), plot.as_text(marks)),
    }
}

fn list(pieces: &[Piece], marks: Marks) -> String {
    let line = |shown: Shown<'_, Piece>| match shown {
        Shown::One(piece) => format!("- {}\n", self::piece(piece, marks)),
        Shown::LeftOut(count) => format!("- … {count} left out\n"),
    };
    FOLD.apply(pieces).into_iter().map(line).collect()
}

fn table(table: &Table, marks: Marks) -> String {
    let line = |pieces: &Vec<Piece>| {
        let cells = pieces.iter().map(|piece| self::piece(piece, marks)).collect::<Vec<_>>();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = line(&table.heads);
    let _ = writeln!(text, "|{}", "---|".repeat(table.heads.len()));
    for shown in FOLD.apply(&table.rows) {
        match shown {
            Shown::One(row) => text.push_str(&line(row)),
            Shown::LeftOut(count) => {
                let _ = writeln!(text, "| … {count} left out |{}", " |".repeat(table.heads.len().saturating_sub(1)));
            }
        }
    }
    text
}

fn piece(piece: &Piece, marks: Marks) -> String {
    match piece.look {
        Look::Plain => escape::markdown(&piece.words),
        Look::Code => escape::markdown_code(&piece.words),
        look => format!("{} {}", look.mark(marks), escape::markdown(&piece.words)),
    }
}
