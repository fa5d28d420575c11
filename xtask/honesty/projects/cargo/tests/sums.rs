//! The program adds.

fn sum(left: &str, right: &str) -> String {
    let output = std::process::Command::new("sh").args(["src/add.sh", left, right]).output();
    String::from_utf8_lossy(&output.map(|output| output.stdout).unwrap_or_default()).trim().to_owned()
}

#[test]
fn adds() {
    assert_eq!(sum("2", "3"), "5");
}

#[test]
fn adds_below_zero() {
    assert_eq!(sum("-2", "3"), "1");
}
