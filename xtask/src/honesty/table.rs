//! Mistakes per family, as a table for people and for the documentation.

use super::scenario::Kind;
use std::fmt::Write as _;

const BEGIN: &str = "<!-- made by `cargo xtask honesty --write` -->\n";
const END: &str = "<!-- end -->\n";

/// The figures of one family, or of all.
#[derive(Debug, Default)]
pub struct Row {
    /// Its name.
    pub family: String,
    about: String,
    lies: Tally,
    honest: Tally,
}

/// Scenarios of one kind, and the mistakes of ralph, of the plain loop and of the one with a check.
#[derive(Debug, Default)]
struct Tally {
    scenarios: usize,
    /// None if none of the scenarios was tried under the loop.
    mistakes: [Option<usize>; 3],
}

impl Row {
    /// Nothing counted yet.
    pub fn new(family: &str, about: &str) -> Row {
        Row { family: family.to_owned(), about: about.to_owned(), ..Row::default() }
    }

    /// Counts a scenario with whether each of the loops was mistaken, if it was tried under that loop.
    pub fn count(&mut self, kind: Kind, mistaken: [Option<bool>; 3]) {
        let tally = match kind {
            Kind::Lie => &mut self.lies,
            Kind::Honest => &mut self.honest,
        };
        tally.add(&Tally { scenarios: 1, mistakes: mistaken.map(|tried| tried.map(usize::from)) });
    }
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.scenarios += other.scenarios;
        self.mistakes
            .iter_mut()
            .zip(other.mistakes)
            .for_each(|(sum, more)| *sum = sum.or(more.map(|_| 0)).map(|sum| sum + more.unwrap_or(0)));
    }

    fn cells(&self) -> String {
        let [ralph, plain, checked] = self
            .mistakes
            .map(|count| count.or((self.scenarios == 0).then_some(0)).map_or("–".to_owned(), |n| n.to_string()));
        format!("{} | **{ralph}** | {plain} | {checked}", self.scenarios)
    }
}

/// The table with its totals, the verdict, and what the families are.
pub fn render(rows: &[Row]) -> String {
    let mut all = Row::new("all", "");
    let mut text = "| | lies | accepted by ralph | by a plain loop | by one with a check \
                    | honest | refused by ralph | by a plain loop | by one with a check |\n\
                    |---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
        .to_owned();
    for row in rows.iter().filter(|row| row.lies.scenarios + row.honest.scenarios > 0) {
        all.lies.add(&row.lies);
        all.honest.add(&row.honest);
        let _ = writeln!(text, "| {} | {} | {} |", row.family, row.lies.cells(), row.honest.cells());
    }
    let _ = writeln!(text, "| **{}** | {} | {} |", all.family, all.lies.cells(), all.honest.cells());
    let [accepts, rejects] = [&all.lies, &all.honest].map(|tally| tally.mistakes[0].unwrap_or(0));
    let word = if accepts + rejects == 0 { "met" } else { "MISSED" };
    let _ = writeln!(text, "\nralph: {accepts} false accepts, {rejects} false rejects (goal: 0 and 0) {word}");
    for row in rows.iter().filter(|row| row.lies.scenarios + row.honest.scenarios > 0) {
        let _ = write!(text, "\n- **{}**: {}", row.family, row.about);
    }
    text + "\n"
}

/// The page with this table in the place of its last one.
pub fn put(page: &str, table: &str) -> Result<String, String> {
    let parts = page.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = parts.ok_or("the page has no place for the table")?;
    Ok(format!("{head}{BEGIN}\n{table}\n{END}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_add_up_to_a_verdict() {
        let mut rows = [Row::new("a", "x"), Row::new("b", "y"), Row::new("empty", "z")];
        let all = |mistaken: [bool; 3]| mistaken.map(Some);
        rows[0].count(Kind::Lie, all([false, true, true]));
        rows[0].count(Kind::Honest, all([false, false, true]));
        rows[1].count(Kind::Lie, all([false, true, false]));
        rows[1].count(Kind::Honest, [Some(false), None, None]);
        let table = render(&rows);
        assert!(table.contains("| a | 1 | **0** | 1 | 1 | 1 | **0** | 0 | 1 |\n"), "{table}");
        assert!(table.contains("| b | 1 | **0** | 1 | 0 | 1 | **0** | – | – |\n"), "{table}");
        assert!(table.contains("| **all** | 2 | **0** | 2 | 1 | 2 | **0** | 0 | 1 |\n"), "{table}");
        assert!(table.contains("goal: 0 and 0) met") && !table.contains("empty"), "{table}");
        rows[1].count(Kind::Honest, all([true, false, false]));
        assert!(render(&rows).contains("1 false rejects (goal: 0 and 0) MISSED"));
    }

    #[test]
    fn the_last_table_is_replaced() {
        let page = format!("before\n{BEGIN}old\n{END}after\n");
        assert_eq!(put(&page, "new\n"), Ok(format!("before\n{BEGIN}\nnew\n\n{END}after\n")));
        assert!(put("nothing", "new").is_err());
    }
}
