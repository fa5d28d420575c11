//! New files of the tree that stand before modules which a check would take from elsewhere: of its interpreter, its
//! runner, an installed package, or one of its own that was there. Whoever writes such a file writes a part of the check.

use super::premises::{Premises, Standing, name, parent, place, upward};
use std::collections::BTreeSet;

const SCRIPTS: &[&str] = &["js", "cjs", "mjs", "ts", "mts", "cts", "tsx", "jsx"];

/// Whether a file of this name can stand before a module.
pub fn is_module(file: &str) -> bool {
    let extension = name(file).rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(extension, "py" | "so" | "pm" | "json") || SCRIPTS.contains(&extension)
}

/// What of these new files stands before a module; of a package its folder is named. `folders` are those from which
/// interpreters took modules.
pub fn shadowing(new: &[String], folders: &[String], premises: &dyn Premises) -> Vec<String> {
    let look = Look { folders, premises };
    let found: BTreeSet<String> = new.iter().filter_map(|path| look.shadow(path)).collect();
    found.into_iter().collect()
}

struct Look<'a> {
    folders: &'a [String],
    premises: &'a dyn Premises,
}

impl Look<'_> {
    fn shadow(&self, path: &str) -> Option<String> {
        if let Some(nearer) = self.nearer_package(path) {
            return Some(nearer);
        }
        let (stem, extension) = name(path).rsplit_once('.')?;
        match extension {
            "py" | "so" => self.python(path, stem),
            "pm" => self.perl(path).then(|| path.to_owned()),
            "json" => self.script(path, stem).then(|| path.to_owned()),
            extension if SCRIPTS.contains(&extension) => self.script(path, stem).then(|| path.to_owned()),
            _ => None,
        }
    }

    fn is_file(&self, folder: &str, below: &str) -> bool {
        self.premises.standing(&place(self.premises.root(), folder, below)) == Standing::File
    }

    /// A module in a folder that is no package itself, so that it may be where modules are looked for.
    fn python(&self, path: &str, stem: &str) -> Option<String> {
        let is_package = stem == "__init__";
        let whole = if is_package { parent(path) } else { path };
        let (folder, module) = match is_package {
            true => (parent(whole), name(whole)),
            false => (parent(path), stem.split('.').next().unwrap_or(stem)),
        };
        if module.is_empty() || matches!(module, "conftest" | "test" | "tests") || self.is_file(folder, "__init__.py") {
            return None;
        }
        let holds = |from: &String| {
            let (file, package) = (format!("{module}.py"), format!("{module}/__init__.py"));
            from != folder
                && !self.is_file(from, "__init__.py")
                && (self.is_file(from, &file) || self.is_file(from, &package))
        };
        let before_sibling = is_package && self.is_file(folder, &format!("{module}.py"));
        (before_sibling || self.folders.iter().any(holds)).then(|| whole.to_owned())
    }

    /// A module of which the end of the path is found in one of the folders.
    fn perl(&self, path: &str) -> bool {
        let ends = path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..)).chain([path]);
        // Where perl keeps its own modules, as far as it did not come by them.
        let versions = self.premises.list("/usr/share/perl").into_iter().map(|name| format!("/usr/share/perl/{name}"));
        let own = ["/usr/share/perl5", "/usr/lib/perl5"].map(str::to_owned).into_iter().chain(versions);
        let folders: Vec<String> =
            self.folders.iter().filter(|from| from.starts_with('/')).cloned().chain(own).collect();
        ends.into_iter().any(|end| folders.iter().any(|from| self.is_file(from, end)))
    }

    /// `x.js` is found before `x/index.js`.
    fn script(&self, path: &str, stem: &str) -> bool {
        let folder = parent(path);
        SCRIPTS.iter().any(|extension| self.is_file(folder, &format!("{stem}/index.{extension}")))
    }

    /// A package in a `node_modules` that is nearer than the one that holds it, in a folder that needs none.
    fn nearer_package(&self, path: &str) -> Option<String> {
        let (base, below) = match path.strip_prefix("node_modules/") {
            Some(_) => return None,
            None => path.split_once("/node_modules/")?,
        };
        if self.is_file(base, "package.json") {
            return None;
        }
        let end = below.match_indices('/').map(|(at, _)| at).nth(usize::from(below.starts_with('@')))?;
        let package = format!("node_modules/{}", below.get(..end)?);
        let is_there =
            |folder: &str| self.premises.standing(&place(self.premises.root(), folder, &package)) == Standing::Folder;
        upward(base).skip(1).any(is_there).then(|| format!("{base}/{package}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World(&'static [&'static str]);

    impl Premises for World {
        fn root(&self) -> &str {
            "/p"
        }
        fn read(&self, _: &str) -> Option<String> {
            None
        }
        fn standing(&self, path: &str) -> Standing {
            let below = format!("{path}/");
            match path {
                path if self.0.contains(&path) => Standing::File,
                _ if self.0.iter().any(|file| file.starts_with(&below)) => Standing::Folder,
                _ => Standing::Nothing,
            }
        }
        fn real(&self, _: &str) -> Option<String> {
            None
        }
        fn list(&self, _: &str) -> Vec<String> {
            Vec::new()
        }
        fn find(&self, _: &str) -> Option<String> {
            None
        }
        fn variable(&self, _: &str) -> Option<String> {
            None
        }
        fn matches(&self, _: &[String], _: &str) -> bool {
            false
        }
    }

    #[test]
    fn a_new_file_that_stands_before_a_module_is_told_from_one_that_does_not() {
        let world = World(&[
            "/usr/lib/python3/difflib.py",
            "/usr/lib/python3/json/__init__.py",
            "/usr/lib/python3/json/decoder.py",
            ".venv/lib/python3/site-packages/iniconfig/__init__.py",
            "/usr/share/perl/Test/More.pm",
            "checks/helper.py",
            "web/lib/index.js",
            "node_modules/chai/index.js",
            "app/__init__.py",
            "packages/x/package.json",
        ]);
        let folders =
            ["/usr/lib/python3", "/usr/lib/python3/json", ".venv/lib/python3/site-packages", "/usr/share/perl"];
        let folders = folders.map(str::to_owned);
        for (path, expected) in [
            ("difflib.py", Some("difflib.py")),
            ("src/json/__init__.py", Some("src/json")),
            ("app/json.py", None),
            ("src/decoder.py", None),
            ("src/tax.py", None),
            ("iniconfig/__init__.py", Some("iniconfig")),
            ("checks/helper/__init__.py", Some("checks/helper")),
            ("lib/Test/More.pm", Some("lib/Test/More.pm")),
            ("lib/Tax/More.pm", None),
            ("web/lib.js", Some("web/lib.js")),
            ("web/other.js", None),
            ("test/node_modules/chai/index.js", Some("test/node_modules/chai")),
            ("test/node_modules/other/index.js", None),
            ("packages/x/node_modules/chai/index.js", None),
        ] {
            let found = shadowing(&[path.to_owned()], &folders, &world);
            assert_eq!(found, expected.map(str::to_owned).into_iter().collect::<Vec<_>>(), "{path}");
        }
    }
}
