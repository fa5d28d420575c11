//! A bus file may have been written by anybody and cut anywhere; whole messages are always found.

use proptest::collection::vec;
use proptest::prelude::*;
use ralph_core::bus::{End, Kind, Message, Piece, Scan, ends_whole};
use ralph_core::id::{MessageId, RunId, TaskName};
use ralph_core::time::WallTime;
use std::time::Instant;

fn message(number: u64, body: &str) -> Message {
    Message::new(MessageId::from_random(number), WallTime(1_794_732_301_123), Kind::INFO, "anna", body)
}

/// What a body may hold that looks like something else.
fn bodies() -> impl Strategy<Value = String> {
    let entry = message(99, "inner").encode().unwrap();
    let piece = prop_oneof![
        Just("---".to_owned()),
        Just("\n".to_owned()),
        Just(entry["---\n".len()..].to_owned()),
        Just("---\nid: ".to_owned()),
        Just("bytes: 999999\n---\n".to_owned()),
        Just("<!-- end m100000000000 -->\n\n".to_owned()),
        Just("> quoted\n".to_owned()),
        Just(entry),
        any::<String>(),
    ];
    vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    vec(bodies(), 0..5)
        .prop_map(|bodies| bodies.iter().enumerate().map(|(number, body)| message(1 + number as u64, body)).collect())
}

fn file(messages: &[Message]) -> Vec<u8> {
    messages.iter().flat_map(|message| message.encode().unwrap().into_bytes()).collect()
}

/// The whole messages, the skipped bytes, and how far that reaches.
fn read(bytes: &[u8], end: End) -> (Vec<Message>, usize, usize) {
    let mut scan = Scan::new(bytes, end);
    let (mut found, mut skipped) = (Vec::new(), 0);
    for piece in scan.by_ref() {
        match piece {
            Piece::Message(message) => found.push(message),
            Piece::Skipped(bytes) => skipped += bytes,
        }
    }
    (found, skipped, scan.offset())
}

fn cases(number: u32) -> ProptestConfig {
    ProptestConfig { cases: number, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn any_body_comes_back_byte_for_byte(messages in messages()) {
        let bytes = file(&messages);
        prop_assert_eq!(read(&bytes, End::OfFile), (messages.clone(), 0, bytes.len()));
        prop_assert!(bytes.is_empty() || ends_whole(&bytes));
    }

    #[test]
    fn wherever_a_file_is_cut_the_whole_messages_before_are_read_and_nothing_else(messages in messages()) {
        let bytes = file(&messages);
        let ends: Vec<usize> = (0..messages.len()).map(|count| file(&messages[..=count]).len()).collect();
        for cut in 0..bytes.len() {
            // The blank line behind an entry is for people.
            let whole = ends.iter().filter(|end| **end <= cut + 1).count();
            for end in [End::OfFile, End::OfPart] {
                let (found, skipped, offset) = read(&bytes[..cut], end);
                prop_assert_eq!((found.as_slice(), skipped), (&messages[..whole], 0), "cut at {} of {}", cut, bytes.len());
                prop_assert!(whole == 0 || offset + 1 >= ends[whole - 1], "what is whole is done with");
            }
        }
    }

    #[test]
    fn b06_other_text_between_entries_is_passed_over(messages in messages(), noise in vec("[a-z #\n-]{0,40}", 6)) {
        let mut bytes = Vec::new();
        for (message, noise) in messages.iter().zip(&noise) {
            bytes.extend_from_slice(noise.as_bytes());
            bytes.extend_from_slice(message.encode().unwrap().as_bytes());
        }
        bytes.extend_from_slice(noise[5].as_bytes());
        prop_assert_eq!(read(&bytes, End::OfFile).0, messages);
    }

    #[test]
    fn b04_no_bytes_make_a_reader_fail(bytes in vec(any::<u8>(), 0..400), at in 0..300_usize, messages in messages()) {
        read(&bytes, End::OfFile);
        let mut mixed = file(&messages);
        let at = at.min(mixed.len());
        mixed.splice(at..at, bytes);
        for end in [End::OfFile, End::OfPart] {
            prop_assert!(read(&mixed, end).2 <= mixed.len());
        }
    }
}

#[test]
fn every_header_line_comes_back() {
    let mut full = message(7, "no newline at the end");
    full.kind = Kind::USER_REQUEST;
    full.project = Some("shop".to_owned());
    full.task = TaskName::parse("checkout").ok();
    full.run = RunId::parse("7f3a9k2m");
    full.parents = vec![MessageId::from_random(1), MessageId::from_random(2)];
    assert_eq!(read(&file(std::slice::from_ref(&full)), End::OfFile).0, [full]);
}

#[test]
fn b07_header_lines_of_a_later_version_are_passed_over() {
    let entry = message(7, "x").encode().unwrap().replace("from: anna\n", "from: anna\nmood: good\nbad-list: [1, 2]\n");
    assert_eq!(read(entry.as_bytes(), End::OfFile).0, [message(7, "x")]);
}

#[test]
fn a_header_that_lies_about_its_length_hides_nothing_behind_it() {
    let next = message(8, "next").encode().unwrap();
    for lie in ["0", "4", "6", "99", "16777216", "16777217", "18446744073709551615", "99999999999999999999", "-1", "x"]
    {
        let entry = message(7, "12345").encode().unwrap().replace("bytes: 5", &format!("bytes: {lie}"));
        let (found, skipped, _) = read(format!("{entry}{next}").as_bytes(), End::OfFile);
        assert_eq!(found, [message(8, "next")], "{lie}");
        assert!((entry.len() - 1..=entry.len()).contains(&skipped), "{lie}: {skipped}");
    }
}

#[test]
fn an_entry_is_whole_only_with_an_end_line_of_its_own_id() {
    let entry = message(7, "12345").encode().unwrap().replace("end m7", "end m8");
    assert_eq!(read(entry.as_bytes(), End::OfFile).0, []);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the time is what is tested")]
fn b01_hostile_files_are_read_in_linear_time() {
    let begun = "---\nid: m700000000000\nat: 0\ntype: X\nbytes: 16777216\n---\n";
    for (what, part) in [("headers", begun), ("starts", "---\nid: "), ("ids", "---\nid: x\n"), ("keys", "k: v\n")] {
        let bytes = format!("---\nid: m100000000000\n{}", part.repeat((2 << 20) / part.len()));
        let began = Instant::now();
        assert_eq!(read(bytes.as_bytes(), End::OfFile).0, []);
        // Quadratic time would be minutes.
        assert!(began.elapsed().as_secs() < 20, "{what}: {:?}", began.elapsed());
    }
}
