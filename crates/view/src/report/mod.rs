//! A whole run as one document. What stands in it is decided once, in [`content`]; how it looks is the
//! business of [`markdown`] and [`html`]. No text reaches a page but through the escaping of its
//! format, because most of it was written by agents.

pub mod content;
mod escape;
pub mod html;
pub mod json;
pub mod markdown;
mod matrix;
mod plot;
mod proofs;
#[cfg(test)]
mod tests;

use crate::Marks;
use crate::measures::Plot;

pub struct Document {
    pub title: String,
    pub sections: Vec<Section>,
}

pub struct Section {
    pub heading: &'static str,
    pub blocks: Vec<Block>,
}

pub enum Block {
    Line(Vec<Piece>),
    Facts(Vec<(&'static str, Piece)>),
    List(Vec<Piece>),
    Quote(String),
    Table(Table),
    Plot(Plot),
}

pub struct Table {
    pub heads: Vec<Piece>,
    /// As many pieces in each as there are heads.
    pub rows: Vec<Vec<Piece>>,
}

/// A few words on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// As somebody wrote them: not escaped, not cut.
    pub words: String,
    pub look: Look,
}

/// What some words are. It is shown by a mark or a font too, not by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    Plain,
    /// A command, a path, a hash.
    Code,
    Good,
    Bad,
    Unsure,
}

impl Look {
    fn mark(self, marks: Marks) -> &'static str {
        match (self, marks) {
            (Look::Plain | Look::Code, _) => "",
            (Look::Good, Marks::Emoji) => "✓",
            (Look::Bad, Marks::Emoji) => "✗",
            (Look::Good, Marks::Words) => "ok",
            (Look::Bad, Marks::Words) => "FAILED",
            (Look::Unsure, _) => "?",
        }
    }
}

impl Piece {
    fn new(look: Look, words: impl Into<String>) -> Piece {
        Piece { words: words.into(), look }
    }

    fn plain(words: impl Into<String>) -> Piece {
        Piece::new(Look::Plain, words)
    }

    fn code(words: impl Into<String>) -> Piece {
        Piece::new(Look::Code, words)
    }
}

/// How many things of a kind a page shows before it leaves out those in the middle.
#[derive(Debug, Clone, Copy)]
struct Fold {
    first: usize,
    last: usize,
}

enum Shown<'t, T> {
    One(&'t T),
    LeftOut(usize),
}

impl Fold {
    fn apply<'t, T>(&self, all: &'t [T]) -> Vec<Shown<'t, T>> {
        let left_out = all.len().saturating_sub(self.first + self.last);
        // Saying that one is left out takes as much room as that one.
        if left_out <= 1 {
            return all.iter().map(Shown::One).collect();
        }
        let first = all.iter().take(self.first).map(Shown::One);
        let last = all.iter().skip(self.first + left_out).map(Shown::One);
        first.chain([Shown::LeftOut(left_out)]).chain(last).collect()
    }
}
