//! Each rule looks at all files and says what is against it, one sentence a finding.

use std::path::Path;

use super::Text;
use super::shape::{is_production, long_functions, production};

/// The longest function of production code: two screens.
const LONGEST_FUNCTION: usize = 80;

/// Which of our crates each crate may depend on, as ARCHITECTURE.md draws it. Tests may know more.
const ARROWS: [(&str, &[&str]); 11] = [
    ("core", &[]),
    ("agents", &["core"]),
    ("host", &["core"]),
    ("store", &["core"]),
    ("view", &["core"]),
    ("tui", &["core", "view"]),
    ("web", &["core", "view"]),
    ("engine", &["core", "agents", "host", "store"]),
    ("ralph", &["core", "agents", "host", "store", "engine", "view", "tui", "web"]),
    ("testkit", &[]),
    ("xtask", &[]),
];

/// Everything that is against any rule.
pub fn all(files: &[Text], own_places: &[String]) -> Vec<String> {
    let mut found = wrong_arrows(files);
    found.extend(forgotten_files(files));
    found.extend(long(files));
    found.extend(crates_without_walls(files));
    found.extend(places_of_this_machine(files, own_places));
    found
}

/// A crate depends only on those that it may know.
fn wrong_arrows(files: &[Text]) -> Vec<String> {
    let of_manifest = |manifest: &Text| {
        let room = manifest.room().to_owned();
        let Some((_, allowed)) = ARROWS.iter().find(|(of, _)| *of == room) else {
            return vec![format!("{}: ARROWS in xtask/src/tidy/rules.rs does not know this crate", manifest.path)];
        };
        let needed = dependencies(&manifest.text);
        let wrong = needed.filter(|on| !allowed.contains(on));
        wrong.map(|on| format!("{}: {room} must not know {on}; see ARCHITECTURE.md", manifest.path)).collect()
    };
    let manifests = files.iter().filter(|file| file.path.ends_with("/Cargo.toml") && file.room() != "fuzz");
    manifests.flat_map(of_manifest).collect()
}

/// Our crates among the dependencies of a manifest, by their folders; what only tests need is left out.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let mut counts = false;
    manifest.lines().filter_map(move |line| {
        if line.starts_with('[') {
            let section = line.trim_matches(['[', ']']);
            counts = section.ends_with("dependencies") && !section.ends_with("dev-dependencies");
        }
        let name = line.strip_prefix("ralph-loop-").filter(|_| counts)?;
        name.split(['.', ' ', '=']).next()
    })
}

/// A file of Rust is named by the module above it, else nobody compiles it.
fn forgotten_files(files: &[Text]) -> Vec<String> {
    let text_of = |path: &str| files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    let is_forgotten = |file: &&Text| {
        let Some((folder, name)) = file.path.rsplit_once('/') else { return false };
        let stem = name.trim_end_matches(".rs");
        // `mod.rs` stands for its folder.
        let (folder, stem) = match (stem, folder.rsplit_once('/')) {
            ("mod", Some((above, own))) => (above, own),
            _ => (folder, stem),
        };
        // What cargo finds by itself.
        let is_root = matches!(stem, "main" | "lib" | "build") || folder.ends_with("/tests");
        let is_target = ["/bin", "/examples", "/benches", "/fuzz_targets"].iter().any(|end| folder.ends_with(end));
        if is_root || is_target || folder.ends_with("fuzz_targets") {
            return false;
        }
        let above = ["main", "lib", "mod"].map(|root| format!("{folder}/{root}.rs"));
        let mut above = above.into_iter().chain([format!("{folder}.rs")]).filter_map(|path| text_of(&path));
        !above.any(|text| names_module(text, stem))
    };
    let forgotten = files.iter().filter(|file| file.is_rust()).filter(is_forgotten);
    forgotten.map(|file| format!("{}: no `mod` names this file, so that nobody compiles it", file.path)).collect()
}

fn names_module(text: &str, name: &str) -> bool {
    let names = |line: &str| {
        let line = line.trim();
        let behind = line.split_once("mod ").filter(|(before, _)| before.is_empty() || before.starts_with("pub"));
        behind.is_some_and(|(_, rest)| rest.trim_end_matches([';', '{']).trim() == name)
    };
    text.lines().any(names)
}

/// A function is read at once.
fn long(files: &[Text]) -> Vec<String> {
    let of_file = |file: &Text| {
        let found = long_functions(production(&file.text), LONGEST_FUNCTION);
        let say = |(line, name, lines): (usize, &str, usize)| {
            format!("{}:{line}: {name} has {lines} lines; {LONGEST_FUNCTION} is the most", file.path)
        };
        found.into_iter().map(say).collect::<Vec<_>>()
    };
    files.iter().filter(|file| is_production(file)).flat_map(of_file).collect()
}

/// A crate of the product says in its own `clippy.toml` which calls are not made there.
fn crates_without_walls(files: &[Text]) -> Vec<String> {
    let manifests = files.iter().filter(|file| file.path.starts_with("crates/") && file.path.ends_with("/Cargo.toml"));
    let product = manifests.filter(|manifest| manifest.room() != "testkit");
    let walls = product.map(|manifest| format!("crates/{}/clippy.toml", manifest.room()));
    let missing = walls.filter(|walls| files.iter().all(|file| file.path != *walls));
    missing
        .map(|walls| format!("{walls} is missing: which calls are not made in this crate, and where to go instead"))
        .collect()
}

/// What is committed means the same on every machine.
fn places_of_this_machine(files: &[Text], places: &[String]) -> Vec<String> {
    let of_place = |place: &String| {
        let named = files.iter().filter(|file| file.text.contains(place.as_str())).map(|file| file.path.clone());
        named.map(|path| format!("{path} names {place}, which is a folder of this machine")).collect::<Vec<_>>()
    };
    places.iter().flat_map(of_place).collect()
}

/// Snapshots that are not among the paths that insta noted, one a line.
pub fn unused_snapshots(files: &[Text], noted: &str, root: &Path) -> Vec<String> {
    let used: Vec<&Path> = noted.lines().map(Path::new).collect();
    let is_unused = |file: &&Text| !used.contains(&root.join(&file.path).as_path());
    let snapshots = files.iter().filter(|file| file.path.ends_with(".snap"));
    snapshots.filter(is_unused).map(|file| file.path.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> Text {
        Text { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn an_arrow_out_of_core_is_found_and_one_of_its_tests_is_not() {
        let manifest =
            |path: &str, section: &str| file(path, &format!("[{section}]\nralph-loop-host.workspace = true\n"));
        let found = wrong_arrows(&[
            manifest("crates/core/Cargo.toml", "dependencies"),
            manifest("crates/view/Cargo.toml", "target.'cfg(unix)'.dependencies"),
            manifest("crates/agents/Cargo.toml", "dev-dependencies"),
            manifest("crates/engine/Cargo.toml", "dependencies"),
            manifest("crates/new/Cargo.toml", "dependencies"),
        ]);
        let expected = ["core must not know host", "view must not know host", "does not know this crate"];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (said, part) in found.iter().zip(expected) {
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn a_file_that_no_module_names_is_found() {
        let found = forgotten_files(&[
            file("crates/a/src/lib.rs", "pub mod named;\nmod folder;\n// mod forgotten;\n"),
            file("crates/a/src/named.rs", "mod below;\n"),
            file("crates/a/src/named/below.rs", ""),
            file("crates/a/src/folder/mod.rs", ""),
            file("crates/a/src/forgotten.rs", ""),
            file("crates/a/src/bin/tool.rs", ""),
            file("crates/a/tests/it.rs", ""),
            file("crates/a/tests/it/main.rs", "mod one;\n"),
            file("crates/a/tests/it/one.rs", ""),
            file("crates/a/tests/it/two.rs", ""),
        ]);
        let named: Vec<&str> = found.iter().filter_map(|said| said.split(':').next()).collect();
        assert_eq!(named, ["crates/a/src/forgotten.rs", "crates/a/tests/it/two.rs"]);
    }

    #[test]
    fn a_long_function_is_found_but_not_in_tests() {
        let body = format!("fn long() {{\n{}}}\n", "    x();\n".repeat(LONGEST_FUNCTION));
        let in_tests = format!("fn short() {{}}\n\n#[cfg(test)]\nmod tests {{\n{body}}}\n");
        let found = long(&[
            file("crates/a/src/a.rs", &body),
            file("crates/a/src/b.rs", &in_tests),
            file("crates/a/src/b/tests.rs", &body),
            file("crates/a/tests/it/b.rs", &body),
        ]);
        assert_eq!(found, ["crates/a/src/a.rs:1: long has 82 lines; 80 is the most"]);
    }

    #[test]
    fn a_crate_without_walls_is_found() {
        let files = ["crates/a/Cargo.toml", "crates/a/clippy.toml", "crates/b/Cargo.toml", "crates/testkit/Cargo.toml"];
        let found = crates_without_walls(&files.map(|path| file(path, "")));
        assert!(matches!(found.as_slice(), [said] if said.starts_with("crates/b/clippy.toml")), "{found:?}");
    }

    #[test]
    fn a_path_of_this_machine_is_found() {
        let here = "/srv/anna/ralph".to_owned();
        let files = [file("docs/a.md", "see /srv/anna/ralph/target"), file("docs/b.md", "see /tmp/x")];
        let found = places_of_this_machine(&files, &[here]);
        assert_eq!(found, ["docs/a.md names /srv/anna/ralph, which is a folder of this machine"]);
    }

    #[test]
    fn a_snapshot_that_nobody_compares_with_is_found() {
        let files =
            [file("crates/a/tests/it/snapshots/used.snap", ""), file("crates/a/tests/it/snapshots/left.snap", "")];
        let noted = "/w/crates/a/tests/it/snapshots/used.snap\n";
        assert_eq!(unused_snapshots(&files, noted, Path::new("/w")), ["crates/a/tests/it/snapshots/left.snap"]);
    }
}
