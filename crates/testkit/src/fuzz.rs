//! Inputs that nobody thought of, without a fuzzer: the seeds of a fuzz target and mutations of them, always the same.
//!
//! A fuzz target and its test call the same function. The fuzzer finds new inputs by the hour; the test holds
//! what was found in every run. Whatever broke something becomes a seed.

use std::fs;
use std::path::Path;

/// Pieces that mean something in one of the formats.
const PIECES: [&str; 24] = [
    "\"", "\\", "\\u", "\\ud800", "{", "}", "[", "]", ":", ",", "\n", "\r\n", "---\n", "id: ", "bytes: 9\n", "'", "$(",
    "`", "&&", "<<E\n", "-1e9", "null", "\u{feff}", "\u{e9}",
];

/// Calls the body with every seed in `fuzz/seeds/<target>` and with so many mutations of them.
pub fn fuzz(target: &str, mutations: usize, body: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // The order of a folder is nobody's promise.
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    assert!(!seeds.is_empty(), "{} has no seeds", folder.display());
    let mut random = Random(0x5eed);
    let mutated = (0..mutations).map(|_| mutation(&seeds, &mut random));
    for input in seeds.iter().cloned().chain(mutated) {
        let shown = Shown(&input);
        body(shown.0);
    }
}

/// Shows the input that a panic came from.
struct Shown<'a>(&'a [u8]);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("input: {:?}\n{}", self.0, String::from_utf8_lossy(self.0));
        }
    }
}

/// A seed after a few changes.
fn mutation(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(4) {
        let from = random.below(bytes.len() + 1);
        let to = from + random.below((bytes.len() - from).min(64) + 1);
        match random.below(6) {
            0 => drop(bytes.drain(from..to)),
            1 => {
                let piece = bytes[from..to].to_vec();
                insert(&mut bytes, to, &piece);
            }
            2 => insert(&mut bytes, from, PIECES[random.below(PIECES.len())].as_bytes()),
            3 => insert(&mut bytes, from, &[random.below(256) as u8]),
            4 => bytes.truncate(from),
            _ => {
                let other = &seeds[random.below(seeds.len())];
                let piece = other[random.below(other.len() + 1)..].to_vec();
                insert(&mut bytes, from, &piece);
            }
        }
    }
    bytes
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    drop(bytes.splice(at..at, piece.iter().copied()));
}

/// Numbers that look random and come again in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}
