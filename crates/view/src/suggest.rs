//! Commands that people are told to type, as they must be typed where they stand.

use std::path::Path;

/// What a command needs to find the project from the caller's folder.
#[derive(Debug, Clone, Default)]
pub struct Suggest {
    /// ` -C FOLDER`; empty where the project is found anyway.
    folder_flag: String,
}

impl Suggest {
    /// From a folder in which the project is not found.
    pub fn elsewhere(project: &Path) -> Suggest {
        Suggest { folder_flag: format!(" -C {}", quoted(&project.to_string_lossy())) }
    }

    /// A line, with the flag behind each `ralph` that is a program, and not part of a path or a sentence.
    pub fn line(&self, line: &str) -> String {
        let mut typed = String::new();
        let mut rest = line;
        while let Some(at) = rest.find("ralph ") {
            let (before, after) = (&rest[..at], &rest[at + "ralph".len()..]);
            typed.push_str(before);
            typed.push_str("ralph");
            let is_program = typed.len() == "ralph".len() || before.ends_with(": ") || before.ends_with(" && ");
            if is_program && !after.starts_with(" -C ") {
                typed.push_str(&self.folder_flag);
            }
            rest = after;
        }
        typed + rest
    }
}

pub fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c));
    if plain { word.to_owned() } else { ralph_core::text::in_quotes(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_typed_elsewhere_names_the_folder_behind_the_program_alone() {
        for (line, folder, expected) in [
            ("ralph show r1", "/p", "ralph -C /p show r1"),
            ("look at it: ralph status", "/p", "look at it: ralph -C /p status"),
            ("how ralph works", "/p", "how ralph works"),
            ("ralph -C DIR cancel", "/p", "ralph -C DIR cancel"),
            (
                "echo 'x' >> '/my ralph work/.ralph/f.md' && ralph resume r1",
                "/my ralph work",
                "echo 'x' >> '/my ralph work/.ralph/f.md' && ralph -C '/my ralph work' resume r1",
            ),
        ] {
            assert_eq!(Suggest::elsewhere(Path::new(folder)).line(line), expected);
            assert_eq!(Suggest::default().line(line), line);
        }
    }
}
