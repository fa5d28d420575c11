use super::*;

/// A run's folder with its log.
struct Place {
    folder: tempfile::TempDir,
    log: RawLog,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let log = RawLog::new(folder.path());
    Place { folder, log }
}

impl Place {
    /// One process that prints this.
    fn process(&mut self, iteration: u32, output: &[(Stream, &str)]) {
        let mut process = self.log.begin(iteration);
        for (stream, bytes) in output {
            process.write(*stream, &chunk(bytes));
        }
        assert_eq!(self.log.end(process), Vec::<String>::new());
    }

    fn read(&self, iteration: u32, stream: Stream) -> String {
        rest(&mut LogReader::new(self.folder.path(), iteration, stream))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn chunk(bytes: &str) -> Chunk {
    Chunk::new(bytes.as_bytes().to_vec())
}

/// Everything that a reader has now.
fn rest(reader: &mut LogReader) -> String {
    let (mut all, mut some) = (Vec::new(), [0; 5]);
    loop {
        match reader.read(&mut some).unwrap() {
            0 => return String::from_utf8(all).unwrap(),
            read => all.extend_from_slice(&some[..read]),
        }
    }
}

#[test]
fn each_stream_of_each_iteration_is_read_as_it_was_printed() {
    use Stream::{CommitStderr, CommitStdout, Stderr, Stdout};
    let mut place = place();
    place.process(1, &[(Stdout, "one "), (Stderr, "[0000000001 stdout 0000000003]\n"), (Stdout, "two")]);
    place.process(1, &[(CommitStdout, "fix it"), (CommitStderr, "hm")]);
    place.process(2, &[]);
    place.process(3, &[(Stdout, "three")]);
    assert_eq!(place.read(1, Stdout), "one two");
    assert_eq!(place.read(1, Stderr), "[0000000001 stdout 0000000003]\n");
    assert_eq!(place.read(1, CommitStdout), "fix it");
    assert_eq!(place.read(1, CommitStderr), "hm");
    assert_eq!(place.read(2, Stdout) + &place.read(4, Stdout), "");
    assert_eq!(place.read(3, Stdout), "three");
    assert_eq!(last_logged(place.folder.path()), Some(3));
    let files = std::fs::read_dir(place.folder.path()).unwrap().count();
    assert_eq!(files, 2, "however many processes there were");
}

#[test]
fn a_reader_follows_what_grows_and_a_repeated_iteration() {
    let mut place = place();
    let mut reader = LogReader::new(place.folder.path(), 1, Stream::Stdout);
    assert_eq!(rest(&mut reader), "");
    let mut process = place.log.begin(1);
    for piece in ["a", "bcdefghi", "j"] {
        process.write(Stream::Stdout, &chunk(piece));
        process.write(Stream::Stderr, &chunk("beside"));
        assert_eq!(rest(&mut reader), piece);
    }
    place.log.end(process);
    place.process(1, &[(Stream::Stdout, "again")]);
    place.process(2, &[(Stream::Stdout, "next")]);
    place.process(1, &[(Stream::Stdout, " and again")]);
    assert_eq!(rest(&mut reader), "again and again");
    assert_eq!(place.read(1, Stream::Stdout), "abcdefghijagain and again");
}

#[test]
fn d13_a_torn_end_hides_nothing_that_comes_later() {
    let lengths = |place: &Place| [INDEX, "raw.log"].map(|name| std::fs::metadata(place.path(name)).unwrap().len());
    let cut = |place: &Place, name: &str, length: u64| {
        OpenOptions::new().write(true).open(place.path(name)).unwrap().set_len(length).unwrap();
    };
    let mut whole = place();
    whole.process(1, &[(Stream::Stdout, "first")]);
    let before = lengths(&whole);
    whole.process(2, &[(Stream::Stdout, "second")]);
    let after = lengths(&whole);
    for (index, log) in
        (before[0]..=after[0]).map(|index| (index, after[1])).chain((before[1]..after[1]).map(|log| (after[0], log)))
    {
        for filled in [false, true] {
            let mut place = place();
            place.process(1, &[(Stream::Stdout, "first")]);
            place.process(2, &[(Stream::Stdout, "second")]);
            cut(&place, INDEX, index);
            cut(&place, "raw.log", log);
            if filled {
                // What a power cut leaves of a file that had grown: room without content.
                cut(&place, INDEX, after[0]);
                cut(&place, "raw.log", after[1]);
            }
            // Another process goes on, and repeats the iteration.
            place.log = RawLog::new(place.folder.path());
            place.process(2, &[(Stream::Stdout, "repeated")]);
            place.process(3, &[(Stream::Stdout, "third")]);
            assert_eq!(place.read(1, Stream::Stdout), "first", "{index} {log} {filled}");
            let second = place.read(2, Stream::Stdout);
            assert!(second.ends_with("repeated"), "{index} {log} {filled}: {second:?}");
            assert_eq!(place.read(3, Stream::Stdout), "third", "{index} {log} {filled}");
            assert_eq!(last_logged(place.folder.path()), Some(3));
        }
    }
}

#[test]
fn b01_a_flood_is_in_the_file_in_its_order_when_the_log_is_closed() {
    let mut place = place();
    let mut process = place.log.begin(7);
    let mut expected = String::new();
    for number in 0..40_000_u32 {
        let piece = format!("{number} {}\n", "x".repeat((number % 97) as usize));
        expected.push_str(&piece);
        process.write(Stream::Stdout, &chunk(&piece));
    }
    assert!(matches!(process.log, Log::Behind(_)), "{} bytes are a stream", expected.len());
    assert_eq!(place.log.end(process), Vec::<String>::new());
    assert!(place.read(7, Stream::Stdout) == expected);
    place.process(8, &[(Stream::Stdout, "calm")]);
    assert_eq!(place.read(8, Stream::Stdout), "calm");
}

#[test]
fn old_output_is_deleted_with_the_large_log_that_holds_it() {
    let mut place = place();
    let large = "x".repeat(1 << 20);
    let pieces: Vec<(Stream, &str)> = (0..33).map(|_| (Stream::Stdout, large.as_str())).collect();
    for iteration in 1..=5 {
        place.process(iteration, &pieces);
        // After a crash, the logs that were left are found by the index.
        place.log = RawLog::new(place.folder.path());
        place.process(iteration, &[(Stream::Stderr, "end")]);
    }
    let Place { folder, mut log } = place;
    let exists = |number| folder.path().join(log_name(number)).exists();
    log.forget(1);
    assert_eq!([0, 1, 2].map(exists), [true; 3], "iteration 2 is in the first log too");
    log.forget(2);
    assert_eq!([0, 1, 2].map(exists), [false, true, true]);
    let read = |iteration| rest(&mut LogReader::new(folder.path(), iteration, Stream::Stderr));
    assert_eq!([read(1), read(2), read(5)], ["", "end", "end"]);
    log.forget(100);
    assert!(exists(2), "what still grows stays");
}

#[test]
fn d01_what_cannot_be_written_leaves_a_gap_and_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let (path, full) = (folder.path().join("log"), "/dev/full");
    let mut log = LogFile::new(OpenOptions::new().write(true).open(full).unwrap());
    log.write(b"lost");
    // The disk has room again.
    log.file = File::create(&path).unwrap();
    log.write(b"found");
    log.write(b" again");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{GAP}found again"));
    assert!(log.problem("the log").unwrap().starts_with("output is missing in the log: No space left"));
}

#[test]
fn a_log_is_cut_where_it_is_too_long() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut log = LogFile::new(File::create(&path).unwrap());
    log.kept.bytes = LONGEST_LOG - 3;
    for piece in ["abc", "d", "e"] {
        log.write(piece.as_bytes());
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("abc{CUT}"));
    assert_eq!(log.problem("x"), None);
    assert_eq!(CUT.matches(&(LONGEST_LOG >> 20).to_string()).count(), 1);
}

#[test]
fn a_folder_that_was_deleted_is_made_again() {
    let mut place = place();
    place.process(1, &[(Stream::Stdout, "said")]);
    std::fs::remove_dir_all(place.folder.path()).unwrap();
    let mut process = place.log.begin(2);
    process.write(Stream::Stdout, &chunk("said again"));
    assert_eq!(place.log.end(process), [format!("{} was deleted; it was made again", place.folder.path().display())]);
    assert_eq!(place.read(2, Stream::Stdout), "said again");
}
