//! What a change of a source file did to the tests in it.

use crate::text;

/// Tests in a source file, and those among them that are switched off, by the words of common test
/// frameworks. Rough, and only used to say more about a change that counts anyway.
pub fn count_tests(source: &str) -> (usize, usize) {
    const TESTS: [&str; 8] = ["#[test]", "::test]", "def test", "it(", "test(", "func Test", "@Test", "it \""];
    const OFF: [&str; 10] = [
        "#[ignore", "mark.skip", "unittest.skip", ".skip(", "xit(", "xdescribe(", "t.Skip", "@Disabled", "@Ignore",
        "xfail",
    ];
    let holds = |line: &str, words: &[&str]| words.iter().any(|word| line.trim_start().starts_with(word));
    let tests = source.lines().filter(|line| holds(line, &TESTS)).count();
    let off = source.lines().filter(|line| OFF.iter().any(|word| line.contains(word))).count();
    (tests, off)
}

/// What a change of a source file did to the tests in it; empty if nothing can be seen.
pub fn test_losses(before: &str, now: &str) -> String {
    let ((tests, off), (tests_now, off_now)) = (count_tests(before), count_tests(now));
    let mut losses = Vec::new();
    if tests_now < tests {
        losses.push(format!("{} fewer", text::count((tests - tests_now) as u64, "test")));
    }
    if off_now > off {
        losses.push(format!("{} newly switched off", text::count((off_now - off) as u64, "test")));
    }
    losses.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_and_silenced_tests_are_counted() {
        let rust = "#[test]\nfn a() {}\n    #[test]\nfn b() {}\n";
        for (before, now, expected) in [
            (rust, "#[test]\nfn a() {}\n", "1 test fewer"),
            (rust, "#[test]\n#[ignore]\nfn a() {}\n#[test]\nfn b() {}\n", "1 test newly switched off"),
            (
                "def test_a():\n  x\ndef test_b():\n  y\n",
                "@pytest.mark.skip\ndef test_a():\n  x\n",
                "1 test fewer, 1 test newly switched off",
            ),
            ("it('a', f)\nit('b', g)\n", "it.skip('a', f)\nit('b', g)\n", "1 test fewer, 1 test newly switched off"),
            (rust, rust, ""),
            (rust, "#[test]\n#[test]\n#[test]\n", ""),
        ] {
            assert_eq!(test_losses(before, now), expected);
        }
    }
}
