//! What anybody may have written, as any bytes: for the fuzz targets `bus` and `shell`, and for tests of the same.

use ralph_core::bus::{End, Message, Piece, Scan};
use ralph_core::evidence;

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
}
