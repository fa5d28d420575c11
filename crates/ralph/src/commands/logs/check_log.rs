//! The logs of checks. They lie in the project, where an agent or a later run may have put something
//! else in their place, so a log is taken for a check's own only if the receipt says so.

use ralph_core::check::CheckReport;
use ralph_core::text;
use ralph_host::look;
use ralph_host::raw_log::LONGEST_LOG;
use ralph_view::run_view::{AttemptView, Check};
use ralph_view::words;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Logs up to this size are compared by hash; beyond it the length alone must do.
const HASHED: u64 = 16 << 20;

/// Opens the log of a check, or says why it is not there any more.
pub fn open(path: &Path, report: &CheckReport) -> Result<File, String> {
    // A link or a pipe in its place is not opened: the one leads elsewhere, the other may never answer.
    let found = path.symlink_metadata().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "the log is gone".to_owned(),
        _ => format!("the log cannot be opened ({error})"),
    })?;
    if !found.is_file() {
        return Err("something that is no file stands in the log's place".to_owned());
    }
    let other = || "the log was written over, by a later run or by hand".to_owned();
    // A log that was cut at the limit has a note behind its end.
    if report.output_bytes <= LONGEST_LOG && found.len() != report.output_bytes {
        return Err(other());
    }
    let open = || look::open_unlinked(path).map_err(|error| format!("the log cannot be opened ({error})"));
    if found.len() <= HASHED {
        let mut bytes = Vec::new();
        let read = open()?.take(HASHED).read_to_end(&mut bytes);
        read.map_err(|error| format!("the log cannot be read ({error})"))?;
        if text::hash(&bytes) != report.output_hash {
            return Err(other());
        }
    }
    open()
}

pub fn heading(attempt: &AttemptView, check: &Check) -> String {
    let command = text::for_terminal(check.report.spec.name());
    let kind = check.kind.as_str();
    format!("── iteration {} · {kind} \"{command}\" {}", attempt.iteration, words::check_end(check))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_core::check::{CheckEnding, CheckSpec};
    use ralph_core::id::CheckId;
    use ralph_core::time::Millis;

    fn report(output: &str) -> CheckReport {
        CheckReport {
            spec: CheckSpec::new(CheckId::new("x"), "x"),
            ending: CheckEnding::Exited { code: 1 },
            duration: Millis::ZERO,
            output_head: output.to_owned(),
            output_hash: text::hash(output.as_bytes()),
            output_bytes: output.len() as u64,
            excerpt: Default::default(),
            output_print: String::new(),
            log: String::new(),
            leaked: 0,
            carried: Vec::new(),
            live: String::new(),
            empty: false,
            pinned: Vec::new(),
            outside: Vec::new(),
            unwatched: String::new(),
        }
    }

    #[test]
    fn only_the_checks_own_output_is_taken_for_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("own"), "abc").unwrap();
        std::fs::write(at("edited"), "abd").unwrap();
        std::fs::write(at("longer"), "abcd").unwrap();
        std::os::unix::fs::symlink(at("own"), at("link")).unwrap();
        assert!(open(&at("own"), &report("abc")).is_ok());
        for (name, why) in
            [("edited", "written over"), ("longer", "written over"), ("link", "no file"), ("none", "gone")]
        {
            let error = open(&at(name), &report("abc")).unwrap_err();
            assert!(error.contains(why), "{name}: {error}");
        }
    }
}
