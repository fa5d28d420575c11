//! A report as one HTML file that needs nothing else: no script, no network, no other file. It follows
//! the reader's choice of light or dark, and every colour stands beside a mark or a word.

use super::{Block, Document, Fold, Look, Piece, Shown, Table, escape};
use crate::Marks;
use std::fmt::Write as _;

/// Rows and lines that are shown: a browser can scroll, but it has to hold them all.
const FOLD: Fold = Fold { first: 500, last: 1500 };
/// Tables with more rows than this are closed until somebody opens them.
const LONG: usize = 60;

/// Even if something slipped through the escaping, a browser may neither run nor load it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

const STYLE: &str = "\
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fff; --dim: #5f6670; --rule: #d5d9de; --soft: #f4f5f7;
  --bar: #3b6ea8; --good: #1a6b32; --bad: #a3201d; --unsure: #7a5300 }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6e9; --paper: #16181b; --dim: #9aa2ad; --rule: #363b42;
  --soft: #1f2226; --bar: #7fb0e6; --good: #74d08d; --bad: #ff8f88; --unsure: #e6b85c } }
body { max-width: 78rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif }
h1 { font-size: 1.6rem; line-height: 1.25 } h2 { margin-top: 2.2rem; font-size: 1.2rem; border-bottom: 1px solid var(--rule) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.2rem } dt { color: var(--dim) } dd { margin: 0 }
pre, code { font: .9em/1.45 ui-monospace, monospace; background: var(--soft) } code { padding: 0 .2em; border-radius: 3px }
pre { padding: .8rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid var(--rule) }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-size: .9rem }
th, td { padding: .25rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--rule) }
th { color: var(--dim); font-weight: 600 } tbody tr:nth-child(even) { background: var(--soft) }
.good { color: var(--good) } .bad { color: var(--bad); font-weight: 600 } .unsure { color: var(--unsure) }
figure { margin: 1rem 0; max-width: 46rem } figcaption { color: var(--dim) } svg { width: 100%; height: auto }
svg text { font: 12px system-ui, sans-serif; fill: var(--dim) } .bar { fill: var(--bar) } .axis { stroke: var(--rule) }
summary { cursor: pointer; color: var(--dim) }
@media print { body { max-width: none; margin: 0 } .scroll { overflow: visible } }
";

pub fn render(document: &Document) -> String {
    let title = escape::html(&document.title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    for section in &document.sections {
        let _ = writeln!(page, "<section>\n<h2>{}</h2>", escape::html(section.heading));
        section.blocks.iter().for_each(|block| page.push_str(&self::block(block)));
        page.push_str("</section>\n");
    }
    page + "</main>\n</body>\n</html>\n"
}

fn block(block: &Block) -> String {
    match block {
        Block::Line(pieces) => format!("<p>{}</p>\n", pieces.iter().map(piece).collect::<Vec<_>>().join(" · ")),
        Block::Facts(facts) => {
            let fact = |(name, piece): &(&str, Piece)| {
                format!("<dt>{}</dt><dd>{}</dd>\n", escape::html(name), self::piece(piece))
            };
            format!("<dl>\n{}</dl>\n", facts.iter().map(fact).collect::<String>())
        }
        Block::List(pieces) => {
            let item = |shown: Shown<'_, Piece>| match shown {
                Shown::One(piece) => format!("<li>{}</li>\n", self::piece(piece)),
                Shown::LeftOut(count) => format!("<li>… {count} left out</li>\n"),
            };
            format!("<ul>\n{}</ul>\n", FOLD.apply(pieces).into_iter().map(item).collect::<String>())
        }
        Block::Quote(text) => format!("<pre>{}</pre>\n", escape::html_lines(text)),
        Block::Table(table) => self::table(table),
        Block::Plot(plot) => {
            format!("<figure>\n<figcaption>{}</figcaption>\n{}</figure>\n", escape::html(plot.title), plot.as_svg())
        }
    }
}

fn table(table: &Table) -> String {
    let heads = table.heads.iter().map(|head| format!("<th scope=\"col\">{}</th>", piece(head))).collect::<String>();
    let row = |shown: Shown<'_, Vec<Piece>>| match shown {
        Shown::One(cells) => {
            let cells = cells.iter().map(|cell| format!("<td>{}</td>", piece(cell))).collect::<String>();
            format!("<tr>{cells}</tr>\n")
        }
        Shown::LeftOut(count) => format!("<tr><td colspan=\"{}\">… {count} left out</td></tr>\n", table.heads.len()),
    };
    let rows = FOLD.apply(&table.rows).into_iter().map(row).collect::<String>();
    let whole = format!(
        "<div class=\"scroll\"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    );
    if table.rows.len() <= LONG {
        return whole;
    }
    format!("<details>\n<summary>{} rows</summary>\n{whole}</details>\n", table.rows.len())
}

fn piece(piece: &Piece) -> String {
    let words = escape::html(&piece.words);
    let class = match piece.look {
        Look::Plain => return words,
        Look::Code if words.is_empty() => return words,
        Look::Code => return format!("<code>{words}</code>"),
        Look::Good => "good",
        Look::Bad => "bad",
        Look::Unsure => "unsure",
    };
    format!("<span class=\"{class}\">{} {words}</span>", piece.look.mark(Marks::Emoji))
}
