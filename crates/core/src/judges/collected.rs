//! Which files runners collect as tests, and what those tests need, by the names that ecosystems agree on. They are work,
//! so that an agent may change them; but whoever reads the end wants to know which.

/// Folders whose files belong to tests, in lower case.
const FOLDERS: [&str; 17] = [
    "test", "tests", "unittest", "unittests", "__tests__", "__test__", "__snapshots__", "__mocks__", "__fixtures__",
    "e2e", "cypress", "testdata", "testfixtures", "testcases", "androidtest", "step_definitions", "goldens",
];
/// The same, but they may hold specifications for people instead: documents in them are no tests, nor is data that stands
/// directly in them.
const SPECS: [&str; 2] = ["spec", "specs"];
const DOCUMENTS: [&str; 7] = ["md", "mdx", "rst", "adoc", "org", "pdf", "txt"];
const DATA: [&str; 6] = ["yaml", "yml", "json", "toml", "xml", "proto"];
/// Folders of other people's packages, of which no runner collects a test.
const PACKAGES: [&str; 7] = ["node_modules", "site-packages", "bower_components", "vendor", "venv", ".venv", ".tox"];
/// Files in folders of tests that no test needs.
const NO_TESTS: [&str; 4] = ["readme", ".gitignore", ".gitkeep", ".gitattributes"];
/// What stands before or behind the subject of a test, apart from it by one of the separators.
const WORDS: [&str; 7] = ["test", "tests", "spec", "specs", "e2e", "unittest", "tftest"];
const SEPARATORS: [char; 3] = ['_', '-', '.'];
/// The same in names whose words begin with a capital.
const CAPITAL_ENDINGS: [&str; 8] = ["Test", "Tests", "TestCase", "TestCases", "Spec", "Specs", "Suite", "IT"];
/// Names that are tests as they stand, without what follows the first dot.
const STEMS: [&str; 3] = ["test", "tests", "conftest"];
/// Endings that only tests have, and files with what they expect.
const EXTENSIONS: [&str; 9] = ["bats", "feature", "t", "phpt", "robot", "snap", "ambr", "golden", "test"];
/// Parts between dots by which tools mark what a test expects.
const MARKS: [&str; 2] = ["approved", "verified"];
/// Where such a part is Cypress and no language.
const SCRIPTS: [&str; 4] = ["js", "jsx", "ts", "tsx"];

/// Whether a runner would collect this file as a test, or it is what a test needs. The path is relative to the project.
pub fn is_test(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folders: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    if folders.iter().any(|part| PACKAGES.contains(part)) {
        return false;
    }
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    has_name_of_test(stem, extension) || is_among_tests(&folders, name, extension)
}

fn has_name_of_test(stem: &str, extension: &str) -> bool {
    if stem.is_empty() || extension.is_empty() {
        return false;
    }
    let (first, marks) = stem.split_once('.').unwrap_or((stem, ""));
    let mut marks = marks.split('.');
    if EXTENSIONS.contains(&extension) || marks.clone().any(|mark| MARKS.contains(&mark)) {
        return true;
    }
    if DOCUMENTS.contains(&extension) {
        return false;
    }
    let lower = first.to_ascii_lowercase();
    if DATA.contains(&extension) {
        return marks.any(|mark| mark == "test") || ends_apart(&lower, "test") || ends_apart(&lower, "tests");
    }
    let begins =
        |word: &str| lower.strip_prefix(word).is_some_and(|rest| rest.len() > 1 && rest.starts_with(SEPARATORS));
    STEMS.contains(&first)
        || marks.any(|mark| WORDS.contains(&mark) || (mark == "cy" && SCRIPTS.contains(&extension)))
        || WORDS.iter().any(|word| ends_apart(&lower, word))
        || begins("test")
        || begins("tests")
        || CAPITAL_ENDINGS.iter().any(|ending| first.strip_suffix(ending).is_some_and(can_precede_a_capital))
        || first.strip_prefix("Test").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

fn ends_apart(stem: &str, word: &str) -> bool {
    stem.strip_suffix(word).is_some_and(|rest| rest.len() > 1 && rest.ends_with(SEPARATORS))
}

/// `ParserTest` and `HTTP2Test`, but neither `IT` nor `GIT`.
fn can_precede_a_capital(rest: &str) -> bool {
    rest.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
}

fn is_among_tests(folders: &[&str], name: &str, extension: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if NO_TESTS.iter().any(|other| lower == *other || lower.strip_prefix(other).is_some_and(|r| r.starts_with('.'))) {
        return false;
    }
    if folders.iter().any(|part| is_folder_of_tests(part)) {
        return true;
    }
    let Some(at) = folders.iter().position(|part| SPECS.contains(&part.to_ascii_lowercase().as_str())) else {
        return false;
    };
    let directly = at + 1 == folders.len();
    !DOCUMENTS.contains(&extension) && !(directly && (DATA.contains(&extension) || extension.is_empty()))
}

/// `tests`, `Tests`, `integration-tests`, `AppUITests`, `Shop.UnitTests`, `test_data`.
fn is_folder_of_tests(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    let apart = |word: &str| {
        lower.strip_suffix(word).is_some_and(|rest| rest.ends_with(SEPARATORS))
            || lower.strip_prefix(word).is_some_and(|rest| rest.starts_with(SEPARATORS))
    };
    let capital = ["Test", "Tests"].iter().any(|word| part.strip_suffix(word).is_some_and(|rest| !rest.is_empty()));
    FOLDERS.contains(&lower.as_str()) || apart("test") || apart("tests") || capital
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_the_names_that_ecosystems_agree_on() {
        for path in [
            // Rust, Go, C and C++
            "tests/a.rs", "src/parse/tests.rs", "src/parse/snapshots/shop__parse.snap", "tests/ui/bad.stderr",
            "pkg/parse_test.go", "pkg/testdata/in.txt", "src/url_unittest.cc", "test/CMakeLists.txt",
            // JavaScript and TypeScript
            "web/__tests__/x.js", "web/__snapshots__/x.test.js.snap", "app.test.tsx", "app.spec.ts", "app.test.d.ts",
            "login.cy.ts", "cypress/support/commands.js", "test-login.mjs", "e2e/login.ts", "__mocks__/fs.js",
            // Python
            "test_main.py", "app/main_test.py", "conftest.py", "app/tests.py", "tests/data/expected.txt",
            "tests/__snapshots__/test_a.ambr",
            // Java, Kotlin, Scala, Groovy, C#, Swift
            "src/test/java/AppTest.java", "src/test/resources/in.json", "src/integrationTest/kotlin/App.kt",
            "AppTests.cs", "OrderIT.java", "TestOrder.java", "OrderSpec.groovy", "OrderSuite.scala",
            "Shop.UnitTests/Order.cs", "Tests/AppTests/OrderTests.swift", "AppUITests/Login.swift",
            "Order.verified.txt", "Order.approved.json",
            // Ruby, PHP, Elixir, Lua, Perl, Haskell, R, Dart
            "a_spec.rb", "spec/models/order_spec.rb", "spec/spec_helper.rb", "spec/fixtures/orders.yml",
            "tests/Unit/OrderTest.php", "tests/basic.phpt", "test/shop_test.exs", "order_spec.lua", "t/basic.t",
            "ParserSpec.hs", "test-order.R", "order_test.dart", // The rest
            "check.bats", "features/login.feature", "features/step_definitions/login.rb", "login.robot",
            "main.tftest.hcl", "alerts_test.yaml", "Order_Test.cs", "integration-tests/run.sh", "test_data/a.csv",
            "out.golden",
        ] {
            assert!(is_test(path), "{path}");
        }
    }

    #[test]
    fn what_only_sounds_like_a_test_is_none() {
        for path in [
            "src/main.rs", "latest.js", "contest.py", "attest.go", "testing.md", "src/protest/x.rs", "Test",
            "README.md", "Makefile", "src/specification.ts", "manifest.json", "test", "Latest.kt", "GIT.md",
            "src/Inspector.java", "src/unit.rs", "split.py", "it_IT.json", "app.it.json5", "Contest.java", "audit.py",
            "node_modules/x/test/a.js", "vendor/github.com/x/a_test.go", ".venv/lib/site-packages/x/tests/a.py",
            "specs/login.md", "spec/openapi.yaml", "specs/0001-login/plan.md", "tests/README.md", "tests/.gitignore",
            "src/testimonials/page.tsx", "src/Testimonials.tsx", "src/attestation/x.go", ".test", "docs/test-plan.md",
            "api-spec.yaml", "locales/app.it.json", "locales/app.cy.json", "test_results.json", "src/testing/clock.ts",
        ] {
            assert!(!is_test(path), "{path}");
        }
    }
}
