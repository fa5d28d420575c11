//! Which files can tell a check what to do though nobody names them: what runners look for above and beside the tests,
//! what scripts read where it is there, and what an earlier build left. Nobody forbids to make one; but a check that passes
//! only with it speaks for nobody's word.

/// How a file can tell a check what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Somebody looks for a file of this name.
    Looked,
    /// A build left it, and the next one may take it for what it would make itself.
    Built,
}

/// Folders of installed packages, which are learned and kept in other ways, and of compiled modules, which only their
/// interpreter reads.
const ELSEWHERE: &[&str] =
    &["node_modules", "bower_components", "site-packages", "vendor", "venv", "virtualenv", "__pycache__"];
/// Hidden folders are caches and environments of tools, but for these.
const CONFIGURING: &[&str] = &[".cargo", ".config", ".mvn", ".yarn", ".jest"];
const BUILDS: &[&str] = &["build", "builddir", "dist", "out", "_build", "obj"];
const BUILT: &[&str] = &["o", "d", "a", "so", "dylib", "dll", "class", "jar", "pyc", "tsbuildinfo"];
/// Hidden files that no check reads.
const SILENT: &[&str] = &[".gitkeep", ".keep", ".DS_Store", ".coverage", ".eslintcache", ".stylelintcache"];
const NAMES: &[&str] = &[
    "conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.ini", "pytest.toml", "tox.ini", "setup.cfg",
    "mypy.ini", "ruff.toml", "noxfile.py", "go.mod", "go.work", "karma.conf.js", "phpunit.xml", "phpunit.xml.dist",
    "phpstan.neon", "babel.config.json", "entry_points.txt",
];
/// What stands before the extension of configuration, and endings that only such files have.
const MARKS: &[&str] = &["config", "conf", "setup", "workspace"];
const SCRIPTS: &[&str] = &["js", "cjs", "mjs", "ts", "cts", "mts", "json"];
const ENDINGS: &[&str] = &["pth", "mk", "mak", "env", "rc", "properties", "jvmopts"];

/// Whether no file below a folder of this name can tell a check what to do.
pub fn directs_nothing(folder: &str) -> bool {
    ELSEWHERE.contains(&folder) || (folder.starts_with('.') && !CONFIGURING.contains(&folder))
}

/// Whether a file of this name can tell a check what to do, and how. The path is relative to the work tree.
pub fn directs(path: &str) -> Option<Direction> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut folders = folder.split('/').filter(|part| !part.is_empty());
    if folders.clone().any(directs_nothing) || SILENT.contains(&name) {
        return None;
    }
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_configuration = || {
        let mark = stem.rsplit_once('.').map(|(_, mark)| mark);
        SCRIPTS.contains(&extension) && mark.is_some_and(|mark| MARKS.contains(&mark))
    };
    // A built program has no extension; what has another one is mostly the product itself.
    let is_program = || extension.is_empty() && folders.clone().any(|part| BUILDS.contains(&part));
    if BUILT.contains(&extension) || is_program() {
        return Some(Direction::Built);
    }
    let configures = name.starts_with('.')
        || NAMES.contains(&name)
        || ENDINGS.contains(&extension)
        || is_configuration()
        || folders.any(|part| CONFIGURING.contains(&part));
    configures.then_some(Direction::Looked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_somebody_looks_for_are_known_by_their_names() {
        use Direction::{Built, Looked};
        for (path, expected) in [
            (".env", Some(Looked)),
            ("unit/pytest.ini", Some(Looked)),
            ("tests/conftest.py", Some(Looked)),
            ("test/.babelrc", Some(Looked)),
            ("web/postcss.config.cjs", Some(Looked)),
            ("mk/z.mk", Some(Looked)),
            ("sum/go.mod", Some(Looked)),
            (".cargo/config.toml", Some(Looked)),
            ("build/add.d", Some(Built)),
            ("src/add.d", Some(Built)),
            ("out/T.class", Some(Built)),
            ("build/check", Some(Built)),
            ("build/add.sh", None),
            ("dist/index.js", None),
            ("tsconfig.tsbuildinfo", Some(Built)),
            ("src/add.py", None),
            ("src/config.py", None),
            ("data/table.json", None),
            ("crates/new/Cargo.toml", None),
            ("README.md", None),
            (".pytest_cache/v/lastfailed", None),
            ("node_modules/x/.npmrc", None),
            ("src/__pycache__/add.pyc", None),
            ("target/rules.mk", Some(Looked)),
            ("bin/tool", None),
            ("empty/.gitkeep", None),
        ] {
            assert_eq!(directs(path), expected, "{path}");
        }
    }
}
