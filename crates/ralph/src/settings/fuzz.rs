//! Settings from any bytes: for the fuzz target `settings` and for a test of the same.

use super::{FILES, Loaded, file};

/// Every text is refused with a reason, or can be judged, shown and hashed. What is judged as good stays good when it
/// is written as it was shown.
pub(crate) fn any_bytes(bytes: &[u8]) {
    let Ok(value) = file::object(FILES[0], bytes) else { return };
    let loaded = Loaded::of(value);
    let (_, _, _) = (loaded.show(true), loaded.show_json_with_origin(), loaded.display());
    match loaded.check() {
        Ok(_) => {
            let again = Loaded::of(loaded.show_json());
            assert!(again.check().is_ok(), "{}", loaded.show(false));
        }
        Err(error) => assert!(!error.errors().is_empty(), "refused without a reason"),
    }
    assert_eq!(loaded.hash().len(), 64);
}

#[cfg(test)]
mod tests {
    #[test]
    fn any_bytes_are_settings_or_a_problem() {
        ralph_testkit::fuzz("settings", 3_000, super::any_bytes);
    }
}
