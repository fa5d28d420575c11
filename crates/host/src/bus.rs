//! Bus files: messages that people, agents and runs leave for each other.
//!
//! Writers take the kernel's lock on the file, look at its last bytes, and append in one call; readers
//! never lock. A writer that dies leaves at most the beginning of an entry behind. The next one finds that
//! the file does not end with a whole entry, and puts what it finds there into an entry of its own, of
//! the type `TORN`. Text that somebody appended by hand stays as it is, and readers pass it over.
//!
//! A bus lies where agents write, so nothing but a plain file is opened, and no link is followed.

mod follower;
mod holder;
mod kept;

pub use follower::Follower;

use crate::clock::{Clock, random_bits};
use crate::plain_file;
use ralph_core::bus::{Kind, LONGEST_END, Message, PROJECT_BUS, TASK_BUS, TooLarge, begins_as_entry, ends_whole};
use ralph_core::id::MessageId;
use ralph_core::time::Millis;
use rustix::fs::{CWD, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a writer waits for the others. Each needs microseconds, so this is a stopped process.
const PATIENCE: Millis = Millis::from_secs(10);
/// How often the lock is tried before sleeping: the others are most probably gone by then.
const QUICK_TRIES: u32 = 20;
/// The first sleep between two tries; it doubles up to the longest.
const SHORTEST_NAP: Duration = Duration::from_micros(100);
const LONGEST_NAP: Duration = Duration::from_millis(2);

/// A bus file, which need not exist yet.
#[derive(Debug, Clone)]
pub struct Bus {
    path: PathBuf,
}

/// Whether a message must be on the disk when it is posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    Synced,
    /// Only the end of the machine can lose it, not that of the process.
    Written,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posted {
    Now,
    Before,
}

#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// A link, folder, pipe or device stands where the file should be.
    #[error("the bus {} is a {kind}, not a file: move it away, or name another with --bus FILE", .path.display())]
    NotAFile { path: PathBuf, kind: &'static str },
    #[error("{} holds no message and is not called like a bus, so nothing was posted to it", .path.display())]
    NotABus { path: PathBuf },
    #[error("the bus {} cannot be made, because its folder is missing: mkdir -p {}", .path.display(), folder(.path).display())]
    NoFolder { path: PathBuf },
    #[error("the bus {} has been locked for {PATIENCE} by {holder}; if it hangs, end it and post again", .path.display())]
    Locked { path: PathBuf, holder: String },
    /// A message that would not be read back.
    #[error("nothing was posted to {}: {source}", .path.display())]
    TooLarge { path: PathBuf, source: TooLarge },
    #[error("the bus {} cannot be {doing}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: io::Error },
}

impl BusError {
    /// Whether the disk is at fault, and not what was asked for.
    pub fn is_io(&self) -> bool {
        matches!(self, BusError::Io { .. })
    }
}

impl Bus {
    pub fn at(path: impl Into<PathBuf>) -> Bus {
        Bus { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends messages, all or none, one behind the other.
    pub fn post(&self, messages: &[Message], durability: Durability) -> Result<(), BusError> {
        self.writer().post(messages, durability)
    }

    /// Appends a message unless one with its id stands there already.
    pub fn post_once(&self, message: &Message, durability: Durability) -> Result<Posted, BusError> {
        let entry = self.encode(std::slice::from_ref(message))?;
        let (mut follower, mut is_there) = (self.follow(), false);
        let mut look = |other: Message| is_there |= other.id == message.id;
        // Most of the file is read before anybody has to wait for it.
        follower.read(&mut look)?;
        let mut writer = self.writer();
        let locked = writer.lock()?;
        follower.read_file(locked.file, &mut look)?;
        if is_there {
            return Ok(Posted::Before);
        }
        locked.append(entry, durability).map(|()| Posted::Now)
    }

    /// For somebody who posts much: the file stays open between messages.
    pub fn writer(&self) -> Writer<'_> {
        Writer { bus: self, open: None, left: 0 }
    }

    /// Reads from the beginning on, again and again.
    pub fn follow(&self) -> Follower {
        Follower::new(self.clone())
    }

    /// Every whole message that stands there now; none if there is no file.
    pub fn messages(&self) -> Result<Vec<Message>, BusError> {
        let mut messages = Vec::new();
        self.follow().read(|message| messages.push(message))?;
        Ok(messages)
    }

    /// Whether it is called as buses are: only then can it hold other text and no message.
    fn has_a_usual_name(&self) -> bool {
        self.path.file_name().is_some_and(|name| name == TASK_BUS || name == PROJECT_BUS)
    }

    fn encode(&self, messages: &[Message]) -> Result<String, BusError> {
        let refused = |source| BusError::TooLarge { path: self.path.clone(), source };
        messages.iter().map(Message::encode).collect::<Result<String, _>>().map_err(refused)
    }

    fn open(&self, access: OFlags) -> Result<(File, Stat), BusError> {
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let not_a_file = |kind| BusError::NotAFile { path: self.path.clone(), kind };
        let file = rustix::fs::openat(CWD, &self.path, flags, Mode::from_raw_mode(0o644)).map_err(|errno| {
            let kind = || plain_file::kind_at(&self.path);
            match errno {
                Errno::LOOP | Errno::ISDIR | Errno::NXIO if let Some(kind) = kind() => not_a_file(kind),
                Errno::NOENT if access.contains(OFlags::CREATE) => BusError::NoFolder { path: self.path.clone() },
                _ => self.failed("opened")(errno),
            }
        })?;
        let stat = rustix::fs::fstat(&file).map_err(self.failed("looked at"))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok((File::from(file), stat)),
            other => Err(not_a_file(plain_file::kind(other))),
        }
    }

    fn failed<E: Into<io::Error>>(&self, doing: &'static str) -> impl Fn(E) -> BusError {
        move |source| BusError::Io { path: self.path.clone(), doing, source: source.into() }
    }
}

/// A bus that is written to, perhaps more than once.
#[derive(Debug)]
pub struct Writer<'a> {
    bus: &'a Bus,
    open: Option<(File, (u64, u64))>,
    /// How long it was when this writer left it. If it still is, its end is known to be whole.
    left: u64,
}

impl Writer<'_> {
    /// Appends messages, all or none, one behind the other.
    pub fn post(&mut self, messages: &[Message], durability: Durability) -> Result<(), BusError> {
        let entries = self.bus.encode(messages)?;
        self.lock()?.append(entries, durability)
    }

    /// Locks the file that stands at the path now: one that was moved or deleted meanwhile is left.
    fn lock(&mut self) -> Result<Locked<'_>, BusError> {
        let bus = self.bus;
        loop {
            let (file, inode) = match self.open.take() {
                Some(open) => open,
                None => {
                    self.left = 0;
                    let (file, stat) = bus.open(OFlags::RDWR | OFlags::APPEND | OFlags::CREATE)?;
                    (file, plain_file::inode(&stat))
                }
            };
            wait_for_lock(bus, &file)?;
            match rustix::fs::lstat(&bus.path) {
                Ok(stat) if plain_file::inode(&stat) == inode => {
                    let (file, _) = self.open.insert((file, inode));
                    return Ok(Locked { bus, file, length: stat.st_size.cast_unsigned(), left: &mut self.left });
                }
                // Closing unlocks, and the next turn opens what is there by now.
                Ok(_) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(bus.failed("looked at")(errno)),
            }
        }
    }
}

/// Tries again instead of waiting in the kernel, which has no deadline; a lock is held for microseconds.
fn wait_for_lock(bus: &Bus, file: &File) -> Result<(), BusError> {
    let (mut tries, mut nap, mut began) = (0, SHORTEST_NAP, None);
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(errno) => return Err(bus.failed("locked")(errno)),
        }
        tries += 1;
        if tries < QUICK_TRIES {
            std::thread::yield_now();
            continue;
        }
        if began.get_or_insert_with(Clock::start).elapsed() >= PATIENCE {
            return Err(BusError::Locked { path: bus.path.clone(), holder: holder::of(file) });
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(LONGEST_NAP);
    }
}

struct Locked<'a> {
    bus: &'a Bus,
    file: &'a File,
    length: u64,
    left: &'a mut u64,
}

impl Locked<'_> {
    fn append(mut self, entries: String, durability: Durability) -> Result<(), BusError> {
        let whole = self.is_whole().map_err(self.bus.failed("read"))?;
        let (torn, entries) = if whole { (Vec::new(), entries) } else { self.mend(entries)? };
        if let Err(error) = self.write(entries.as_bytes()) {
            // A full disk has room for what was there before.
            let _ = self.file.set_len(self.length).and_then(|()| self.write(&torn));
            return Err(self.bus.failed("written")(error));
        }
        *self.left = self.length + entries.len() as u64;
        let (bus, file) = (self.bus, self.file);
        // Others may write meanwhile, and one sync serves all that wait for it.
        drop(self);
        match durability {
            Durability::Synced => file.sync_data().map_err(bus.failed("synced to the disk")),
            Durability::Written => Ok(()),
        }
    }

    /// Whether the file is empty or ends with a whole entry, as its last bytes show.
    fn is_whole(&self) -> io::Result<bool> {
        if self.length == *self.left {
            return Ok(true);
        }
        let mut end = [0; LONGEST_END];
        let known = self.length.min(LONGEST_END as u64);
        let end = end.get_mut(..usize::try_from(known).unwrap_or(LONGEST_END)).unwrap_or_default();
        self.file.read_exact_at(end, self.length - known)?;
        Ok(ends_whole(end))
    }

    /// Takes a torn entry out of the file and puts it as a whole one before the new ones; ends other text's line.
    fn mend(&mut self, entries: String) -> Result<(Vec<u8>, String), BusError> {
        let mut follower = self.bus.follow();
        let mut messages = 0_u64;
        follower.read_file(self.file, |_| messages += 1)?;
        let rest = self.read_from(follower.offset()).map_err(self.bus.failed("read"))?;
        if messages == 0 && !begins_as_entry(&rest) && !self.bus.has_a_usual_name() {
            return Err(BusError::NotABus { path: self.bus.path.clone() });
        }
        let (id, now) = (MessageId::from_random(random_bits()), Clock::start().now());
        let torn = Message::new(id, now, Kind::TORN, "ralph", String::from_utf8_lossy(&rest));
        match torn.encode() {
            Ok(torn) if begins_as_entry(&rest) => {
                self.file.set_len(follower.offset()).map_err(self.bus.failed("mended"))?;
                self.length = follower.offset();
                Ok((rest, torn + &entries))
            }
            _ => Ok((Vec::new(), format!("\n{entries}"))),
        }
    }

    fn read_from(&self, offset: u64) -> io::Result<Vec<u8>> {
        let length = usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut rest = vec![0; length];
        self.file.read_exact_at(&mut rest, offset)?;
        Ok(rest)
    }

    /// One call, so that a reader sees the whole or the beginning, and a kill falls before or behind it.
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let written = rustix::io::retry_on_intr(|| rustix::io::write(self.file, bytes))?;
        if written == bytes.len() {
            return Ok(());
        }
        // The rest tells why: no space, a quota, a limit on the size of files.
        let rest = bytes.get(written..).unwrap_or_default();
        io::Write::write_all(&mut &*self.file, rest)
    }
}

impl Drop for Locked<'_> {
    /// Closing would not do: a child of this process may share the open file until it executes something.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(self.file, FlockOperation::Unlock);
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests;
