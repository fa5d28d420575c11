//! Sizes of code, read from the shape that rustfmt gives it: a closing brace stands below the line that it belongs to.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Text;

/// Rooms that are not part of what is shipped.
const NOT_SHIPPED: [&str; 3] = ["testkit", "xtask", "fuzz"];

/// Lines that are neither blank nor a comment, by room, and their sum.
pub fn production_lines(files: &[Text]) -> (String, usize) {
    let mut rooms: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| is_production(file) && !NOT_SHIPPED.contains(&file.room())) {
        let lines = production(&file.text).lines().map(str::trim_start);
        *rooms.entry(file.room()).or_default() += lines.filter(|l| !l.is_empty() && !l.starts_with("//")).count();
    }
    let told = rooms.iter().fold(String::new(), |mut told, (room, lines)| {
        let _ = write!(told, "{}{room} {lines}", if told.is_empty() { "" } else { ", " });
        told
    });
    (told, rooms.values().sum())
}

/// Whether the file holds more than tests.
pub fn is_production(file: &Text) -> bool {
    let is_test = |part: &str| matches!(part, "tests" | "tests.rs" | "examples" | "benches");
    file.is_rust() && !file.path.split('/').any(is_test)
}

/// The part of a file that stands before its tests.
pub fn production(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text)
}

/// Functions of a text that have more lines than this, from `fn` to the closing brace: the line, the name and how many.
pub fn long_functions(text: &str, most: usize) -> Vec<(usize, &str, usize)> {
    let mut found = Vec::new();
    // Those that are open, innermost last: where each began, how far it is indented, and its name.
    let mut open: Vec<(usize, usize, &str)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        if let Some(name) = function(bare) {
            // One line, or a promise without a body.
            if !bare.ends_with([';', '}']) {
                open.push((number, indent, name));
            }
        } else if matches!(bare, "}" | "},") && open.last().is_some_and(|(_, of, _)| *of == indent) {
            let Some((began, _, name)) = open.pop() else { continue };
            let lines = number - began + 1;
            if lines > most {
                found.push((began + 1, name, lines));
            }
        }
    }
    found
}

/// The name of the function that begins in this line.
fn function(line: &str) -> Option<&str> {
    let (before, behind) = line.split_once("fn ")?;
    let is_modifier = |word: &str| {
        matches!(word, "pub" | "const" | "async" | "unsafe" | "extern" | "default")
            || word.starts_with("pub(")
            || word.starts_with('"')
            || word.ends_with(')')
    };
    before.split_whitespace().all(is_modifier).then_some(())?;
    let name = behind.split(['(', '<']).next()?;
    name.chars().all(|letter| letter.is_alphanumeric() || letter == '_').then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_as_long_as_from_its_name_to_its_brace() {
        let text = "impl X {\n    pub(in crate::x) async fn long(\n        a: u8,\n    ) {\n        if a {\n            b();\n        }\n    }\n\n    fn short() {}\n\n    fn promise(&self);\n}\n\nconst fn other() {\n    fn inner() {\n    }\n}\n";
        assert_eq!(long_functions(text, 3), [(2, "long", 7), (15, "other", 4)]);
        assert_eq!(long_functions(text, 7), []);
        assert_eq!(long_functions("// an fn in words {\nlet x = \"fn y() {\";\n}\n", 0), []);
    }

    #[test]
    fn tests_and_comments_are_no_production_lines() {
        let file = |path: &str, text: &str| Text { path: path.to_owned(), text: text.to_owned() };
        let code = "//! Why.\n\nfn a() {\n    // because\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";
        let files = [
            file("crates/core/src/a.rs", code),
            file("crates/core/src/a/tests.rs", code),
            file("crates/core/tests/it/a.rs", code),
            file("crates/host/src/a.rs", code),
            file("crates/testkit/src/a.rs", code),
            file("xtask/src/a.rs", code),
            file("README.md", code),
        ];
        assert_eq!(production_lines(&files), ("core 3, host 3".to_owned(), 6));
    }
}
