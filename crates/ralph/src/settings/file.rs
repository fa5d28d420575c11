//! Reads one settings file. A missing file means defaults; anything else that is no object is a problem.

use super::json;
use super::problem::Problem;
use ralph_host::look;
use serde_json::Value;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

/// The largest settings file. Real ones have a few kilobytes; this one was not written for ralph.
const LARGEST: u64 = 1024 * 1024;

/// Reads the object in `root`/`file`; `None` if there is no such file.
pub(super) fn read(root: &Path, file: &str) -> Result<Option<Value>, Box<Problem>> {
    let refused = |refused| {
        Box::new(match refused {
            Refused::Kind(reason) => Problem::with_file(file, reason),
            Refused::System(error) => Problem::unreadable(file, &error),
        })
    };
    let Some(bytes) = bytes(&root.join(file)).map_err(refused)? else {
        return Ok(None);
    };
    object(file, &bytes).map(Some)
}

pub(super) fn object(file: &str, bytes: &[u8]) -> Result<Value, Box<Problem>> {
    let text =
        utf8(bytes).map_err(|reason| Box::new(Problem::with_file(file, reason).hinting("save the file as UTF-8")))?;
    let value = json::parse(file, text)?;
    if value.is_object() {
        return Ok(value);
    }
    let reason = format!("expected an object at the top, found {}", super::problem::found(&value));
    Err(Box::new(Problem::with_file(file, reason).hinting("settings look like {\"agent\": {\"command\": \"claude\"}}")))
}

enum Refused {
    Kind(String),
    System(std::io::Error),
}

fn bytes(path: &Path) -> Result<Option<Vec<u8>>, Refused> {
    let kind = |what: &str| Err(Refused::Kind(what.to_owned()));
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // A link to nothing is there, and its author meant something by it.
            return if path.is_symlink() { kind("is a link to a file that does not exist") } else { Ok(None) };
        }
        Err(error) => return Err(Refused::System(error)),
    };
    if metadata.is_dir() {
        return kind("is a folder, expected a file");
    }
    // Reading a pipe or a device could wait for ever.
    if !metadata.is_file() {
        return kind("is not a regular file");
    }
    let mut bytes = Vec::new();
    // The limit holds for what is read and not for what the file's size was a moment ago.
    look::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes)).map_err(Refused::System)?;
    if bytes.len() as u64 > LARGEST {
        return kind(&format!("is larger than {} KiB", LARGEST / 1024));
    }
    Ok(Some(bytes))
}

/// The text without a byte order mark, which some editors write and JSON does not know.
fn utf8(bytes: &[u8]) -> Result<&str, String> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err("is UTF-16, expected UTF-8".to_owned());
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = good.iter().filter(|&&byte| byte == b'\n').count() + 1;
        format!("is not UTF-8 in line {line}")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_bytes(bytes: &[u8]) -> Result<Option<Value>, String> {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("s.json"), bytes).unwrap();
        read(root.path(), "s.json").map_err(|problem| problem.to_string())
    }

    #[test]
    fn what_is_in_a_file_is_an_object_or_a_problem() {
        assert_eq!(read_bytes(b"\xef\xbb\xbf{}"), Ok(Some(serde_json::json!({}))));
        for (bytes, problem) in [
            (b"[]".as_slice(), "s.json: expected an object at the top, found a list"),
            (b"3", "s.json: expected an object at the top, found 3"),
            (b"", "s.json: syntax error: the file is empty"),
            (b"{\n\"a\": \"\xff\"}", "s.json: is not UTF-8 in line 2"),
            (b"\xff\xfe{\0}\0", "s.json: is UTF-16, expected UTF-8"),
        ] {
            assert_eq!(read_bytes(bytes), Err(problem.to_owned()));
        }
        let mut large = b"{}".to_vec();
        large.resize(LARGEST as usize, b' ');
        assert!(read_bytes(&large).is_ok());
        large.push(b' ');
        assert_eq!(read_bytes(&large), Err("s.json: is larger than 1024 KiB".to_owned()));
    }

    #[test]
    fn only_a_file_that_is_not_there_means_defaults() {
        let root = tempfile::tempdir().unwrap();
        let at = |file: &str| read(root.path(), file).map_err(|problem| problem.to_string());
        assert_eq!(at(".ralph/settings.json"), Ok(None));
        fs::create_dir(root.path().join("folder")).unwrap();
        assert_eq!(at("folder"), Err("folder: is a folder, expected a file".to_owned()));
        fs::write(root.path().join("file"), "").unwrap();
        assert!(at("file/settings.json").unwrap_err().starts_with("file/settings.json: cannot be read: "));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_a_broken_one_is_a_problem() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("real"), "{}").unwrap();
        std::os::unix::fs::symlink("real", root.path().join("link")).unwrap();
        std::os::unix::fs::symlink("nothing", root.path().join("broken")).unwrap();
        assert!(read(root.path(), "link").unwrap().is_some());
        let problem = read(root.path(), "broken").unwrap_err();
        assert_eq!(problem.to_string(), "broken: is a link to a file that does not exist");
        assert_eq!(read(Path::new("/dev"), "null").unwrap_err().to_string(), "null: is not a regular file");
    }
}
