//! Which files runners collect as tests, by the names that ecosystems agree on. They are work, so that an agent may change
//! them; but whoever reads the end wants to know which.

/// Folders whose files belong to tests.
const FOLDERS: [&str; 9] = ["test", "tests", "spec", "specs", "__tests__", "__test__", "e2e", "cypress", "testdata"];
/// Names whose stem begins so.
const BEGINNINGS: [&str; 2] = ["test_", "tests_"];
/// Names whose stem ends so.
const ENDINGS: [&str; 12] =
    ["_test", "_tests", "_spec", "-test", "-spec", ".test", ".tests", ".spec", ".e2e", "Test", "Tests", "TestCase"];
/// Names that are tests as they stand, without what follows the first dot.
const STEMS: [&str; 3] = ["test", "tests", "conftest"];
/// Endings that only tests have.
const EXTENSIONS: [&str; 3] = ["bats", "feature", "t"];

/// Whether a runner would collect this file as a test, or what a test needs.
pub fn is_test(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    folder.split('/').any(|part| FOLDERS.contains(&part))
        || !extension.is_empty()
            && (STEMS.contains(&stem)
                || EXTENSIONS.contains(&extension)
                || BEGINNINGS.iter().any(|beginning| stem.starts_with(beginning))
                || ENDINGS.iter().any(|ending| stem.ends_with(ending) && stem.len() > ending.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_the_names_that_ecosystems_agree_on() {
        for path in [
            "tests/a.rs", "src/parse/tests.rs", "web/__tests__/x.js", "app.test.tsx", "app.spec.ts",
            "pkg/parse_test.go", "test_main.py", "app/main_test.py", "conftest.py", "src/test/java/AppTest.java",
            "AppTests.cs", "a_spec.rb", "t/basic.t", "check.bats", "features/login.feature", "tests/data/expected.txt",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in [
            "src/main.rs", "latest.js", "contest.py", "attest.go", "testing.md", "src/protest/x.rs", "Test",
            "README.md", "Makefile", "src/specification.ts", "manifest.json", "test",
        ] {
            assert!(!is_test(path), "{path}");
        }
    }
}
