//! What reading asks of the machine, and how its paths are written.

/// What reading may ask. Paths are relative to the project, or absolute.
pub trait Premises {
    /// The project's folder, absolute.
    fn root(&self) -> &str;
    /// The text of a regular file, links followed; `None` if there is none or it is no text of a sensible size.
    fn read(&self, path: &str) -> Option<String>;
    /// What stands at a path, links followed.
    fn standing(&self, path: &str) -> Standing;
    /// Where a path leads through all links: relative to the project if that is inside, else absolute.
    fn real(&self, path: &str) -> Option<String>;
    /// The names in a folder, sorted.
    fn list(&self, folder: &str) -> Vec<String>;
    /// The file that a program's name leads to by the search path, absolute.
    fn find(&self, program: &str) -> Option<String>;
    /// A variable of the environment in which checks run.
    fn variable(&self, name: &str) -> Option<String>;
    /// Whether one of these globs means the path.
    fn matches(&self, globs: &[String], path: &str) -> bool;
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Nothing,
    File,
    Folder,
    /// A pipe, a device, a link that leads nowhere.
    Other,
}

/// Stands in a word or path for something that is only known when the check runs.
pub(super) const UNKNOWN: char = '\0';

/// Where a text's temporary files stand for reading: nothing can be there, and each variable has a place of its own.
pub(super) const TEMPORARY: &str = "/dev/null/temporary/";

/// Whether all of a word or path is known.
pub(super) fn is_known(word: &str) -> bool {
    !word.contains(UNKNOWN)
}

/// A path as seen from a folder: relative to the project if it leads into it, else absolute, without `.` and `..`.
pub(super) fn place(root: &str, folder: &str, path: &str) -> String {
    let whole = match (path.starts_with('/'), folder.starts_with('/')) {
        (true, _) => path.to_owned(),
        (false, true) => format!("{folder}/{path}"),
        (false, false) => format!("{root}/{folder}/{path}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let absolute = format!("/{}", parts.join("/"));
    match absolute.strip_prefix(root.trim_end_matches('/')) {
        Some("") => String::new(),
        Some(inside) if inside.starts_with('/') => inside.trim_start_matches('/').to_owned(),
        _ => absolute,
    }
}

/// The folder of a path.
pub(super) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => "",
    }
}

/// The last part of a path.
pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A folder and those above it, up to the project's.
pub(super) fn upward(folder: &str) -> impl Iterator<Item = &str> {
    let inside = !folder.starts_with('/');
    std::iter::successors(Some(folder), move |folder| (inside && !folder.is_empty()).then(|| parent(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_inside_and_absolute_outside() {
        for (folder, path, expected) in [
            ("", "a/b", "a/b"),
            ("x", "./a//b/", "x/a/b"),
            ("x/y", "../a", "x/a"),
            ("", "/p/q/a", "a"),
            ("", "/p/qq/a", "/p/qq/a"),
            ("x", "../../a", "/p/a"),
            ("/e", "a", "/e/a"),
            ("", ".", ""),
        ] {
            assert_eq!(place("/p/q", folder, path), expected, "{folder} {path}");
        }
        assert_eq!(upward("a/b").collect::<Vec<_>>(), ["a/b", "a", ""]);
        assert_eq!(upward("/x/y").collect::<Vec<_>>(), ["/x/y"]);
    }
}
