//! Output of any length, kept until it was read: a little of it in memory, more in a file without a name.

use crate::process::drive::{Chunk, Sink};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// What is kept in memory: more than most listings need.
const IN_MEMORY: usize = 1 << 20;

#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    memory: Vec<u8>,
    file: Option<File>,
    problem: Option<io::Error>,
}

impl Spool {
    /// One whose file, if it needs one, is made in this folder.
    pub fn new(folder: &Path) -> Spool {
        Spool { folder: folder.to_owned(), memory: Vec::new(), file: None, problem: None }
    }

    /// Everything from the beginning, once nothing more is added.
    pub fn read(&mut self) -> io::Result<Box<dyn BufRead + '_>> {
        if let Some(problem) = &self.problem {
            return Err(io::Error::new(problem.kind(), problem.to_string()));
        }
        match &mut self.file {
            None => Ok(Box::new(self.memory.as_slice())),
            Some(file) => {
                file.seek(io::SeekFrom::End(0))?;
                file.write_all(&self.memory)?;
                self.memory.clear();
                file.rewind()?;
                Ok(Box::new(BufReader::with_capacity(128 << 10, file)))
            }
        }
    }

    /// Adds these bytes behind the rest. What cannot be kept is told by [`Spool::read`].
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.problem.is_none() {
            self.problem = self.add(bytes).err();
        }
    }

    /// Adds all of another one.
    pub(crate) fn append(&mut self, other: &mut Spool) -> io::Result<()> {
        let mut from = other.read()?;
        loop {
            let bytes = from.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            let count = bytes.len();
            self.push(bytes);
            from.consume(count);
        }
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.memory.extend_from_slice(bytes);
        if self.memory.len() < IN_MEMORY {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(without_name(&self.folder)?),
        };
        // It may have been read meanwhile.
        file.seek(io::SeekFrom::End(0))?;
        file.write_all(&self.memory)?;
        self.memory.clear();
        Ok(())
    }
}

fn without_name(folder: &Path) -> io::Result<File> {
    let path = folder.join(format!("spool-{}", std::process::id()));
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

impl Sink for Spool {
    fn stdout(&mut self, bytes: &Chunk) {
        self.push(bytes);
    }

    fn stderr(&mut self, _: &Chunk) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn what_is_long_comes_back_whole_and_again_and_leaves_no_file() {
        let place = tempfile::tempdir().unwrap();
        for chunks in [0, 3, 40] {
            let mut spool = Spool::new(place.path());
            for number in 0..chunks {
                spool.stdout(&Arc::new(vec![number; 100_000]));
            }
            for _ in 0..2 {
                let mut all = Vec::new();
                spool.read().unwrap().read_to_end(&mut all).unwrap();
                assert_eq!(all, (0..chunks).flat_map(|number| vec![number; 100_000]).collect::<Vec<u8>>());
            }
            assert_eq!(place.path().read_dir().unwrap().count(), 0);
        }
    }

    #[test]
    fn what_could_not_be_kept_is_an_error_and_not_a_part() {
        let mut spool = Spool::new(Path::new("/nowhere/at/all"));
        spool.stdout(&Arc::new(vec![b'x'; 2 * IN_MEMORY]));
        assert!(spool.read().is_err());
        assert!(spool.read().is_err(), "asking again makes no whole of it");
    }
}
