//! What anybody may have written, as any bytes: for the fuzz targets `bus`, `shell` and `import`, and for tests of the same.

use ralph_core::bus::{End, Message, Piece, Scan};
use ralph_core::evidence;
use ralph_core::plan::import::{Options, import as import_plan};

/// A file in one piece holds the messages that it holds in two, none is lost or made up by writing it again, and
/// every byte is accounted for.
pub fn bus(bytes: &[u8]) {
    let (messages, offset) = scanned(bytes, End::OfFile);
    assert!(offset <= bytes.len());
    let (mut in_parts, read) = scanned(&bytes[..bytes.len() / 2], End::OfPart);
    in_parts.extend(scanned(&bytes[read..], End::OfFile).0);
    assert_eq!(in_parts, messages);
    for message in messages {
        let entry = message.encode().expect("it was read");
        let again = scanned(entry.as_bytes(), End::OfFile).0;
        let [again] = again.as_slice() else { panic!("{entry}") };
        // Control characters in names do not come back.
        assert_eq!((&again.id, again.at, &again.body), (&message.id, message.at, &message.body));
        assert_eq!(again.encode().ok(), Some(entry));
    }
}

fn scanned(bytes: &[u8], end: End) -> (Vec<Message>, usize) {
    let mut scan = Scan::new(bytes, end);
    let mut messages = Vec::new();
    for piece in scan.by_ref() {
        if let Piece::Message(message) = piece {
            messages.push(message);
        }
    }
    (messages, scan.offset())
}

/// Any line can be looked at.
pub fn shell(bytes: &[u8]) {
    let Ok(line) = std::str::from_utf8(bytes) else { return };
    let _ = evidence::purposes(line);
}

/// Any file becomes a plan or an error, and a plan that was written is read again without a loss.
pub fn import(bytes: &[u8]) {
    let options = Options { project: "p", reopen: true };
    let Ok(first) = import_plan(bytes, &options) else { return };
    let again = import_plan(first.tasks.as_bytes(), &options).expect("it was written");
    assert_eq!(again.tasks, first.tasks);
}

#[cfg(test)]
mod tests {
    #[test]
    fn any_bytes_on_a_bus_are_read_alike_in_one_piece_and_in_two() {
        ralph_testkit::fuzz("bus", 10_000, super::bus);
    }

    #[test]
    fn any_line_of_a_shell_can_be_looked_at() {
        ralph_testkit::fuzz("shell", 5_000, super::shell);
    }

    #[test]
    fn any_plan_of_another_tool_is_imported_alike_a_second_time() {
        ralph_testkit::fuzz("import", 3_000, super::import);
    }
}
