//! Ignore rules of many files as one list. git finds its rules in every folder, beside the repository and in the
//! user's own folder; what was ignored at the start is asked for later by one list, whatever became of those files.

/// Adds the rules that a file in this folder of the repository holds; its own root is empty. Rules of deeper folders are
/// to be added later, because the last rule that matches decides.
pub(crate) fn add(list: &mut String, folder: &[u8], text: &[u8]) {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.starts_with(b"#") || line.trim_ascii().is_empty() {
            continue;
        }
        if folder.is_empty() {
            list.push_str(&as_text(line));
        } else if let Some(rule) = below(folder, line) {
            list.push_str(&rule);
        } else {
            continue;
        }
        list.push('\n');
    }
}

/// A rule of a folder as the root of the repository would say it.
fn below(folder: &[u8], line: &[u8]) -> Option<String> {
    let (not, rule) = line.strip_prefix(b"!").map_or(("", line), |rule| ("!", rule));
    let meaning = rule.trim_ascii_end();
    let name = meaning.strip_suffix(b"/").unwrap_or(meaning);
    if name.is_empty() {
        return None;
    }
    // A rule without a slash counts in every folder below, others only from their own folder on.
    let depth = if name.contains(&b'/') { "" } else { "**/" };
    let rule = rule.strip_prefix(b"/").unwrap_or(rule);
    Some(format!("{not}/{}/{depth}{}", literally(folder), as_text(rule)))
}

/// A path that means nothing but itself in a rule.
fn literally(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for character in as_text(path).chars() {
        // What a rule cannot say, one character that could be anything says.
        match character {
            '*' | '?' | '[' | '\\' => text.extend(['\\', character]),
            '\n' | '\r' => text.push('?'),
            other => text.push(other),
        }
    }
    // Bytes that are no text were made a question mark, which is to stay one.
    if std::str::from_utf8(path).is_err() { text.replace("\\?", "?") } else { text }
}

/// Bytes that are no text become question marks, each of which matches any one byte.
fn as_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_a_folder_mean_the_same_from_the_root() {
        let list = |folder: &[u8], text: &[u8]| {
            let mut list = String::new();
            add(&mut list, folder, text);
            list
        };
        assert_eq!(list(b"", b"\xef\xbb\xbf# no\n\n*.log\r\n!keep.log\n/x/ \n"), "*.log\n!keep.log\n/x/ \n");
        for (rule, expected) in [
            ("*.log", "/a/b/**/*.log\n"),
            ("build/", "/a/b/**/build/\n"),
            ("/build", "/a/b/build\n"),
            ("x/y", "/a/b/x/y\n"),
            ("!kept", "!/a/b/**/kept\n"),
            ("!/kept/", "!/a/b/kept/\n"),
            ("**/deep", "/a/b/**/deep\n"),
            ("all/**", "/a/b/all/**\n"),
            ("*", "/a/b/**/*\n"),
            ("\\#file", "/a/b/**/\\#file\n"),
            ("\\!file", "/a/b/**/\\!file\n"),
            ("/", ""),
            ("!", ""),
            ("# comment", ""),
        ] {
            assert_eq!(list(b"a/b", rule.as_bytes()), expected, "{rule}");
        }
        assert_eq!(list(b"a*[b]\\c", b"x"), "/a\\*\\[b]\\\\c/**/x\n");
        assert_eq!(list(b"a\xff", b"x\xfe"), "/a?/**/x?\n");
    }
}
