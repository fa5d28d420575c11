//! The words between ralph and its keeper: length-prefixed frames over a socket, with the ends of a
//! new process's standard streams passed along.

use super::Command;
use super::work::Work;
use ralph_core::observation::{Leaked, StartFault};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;

/// The longest frame: a command line and an environment are at most a few megabytes.
const LONGEST_FRAME: usize = 64 << 20;
/// How much of a socket is read at once.
pub(super) const READ_SIZE: usize = 4096;
/// Bytes of a frame's length, which stands before it.
const HEADER: usize = 8;
/// The other side takes what is sent to it within microseconds; one that somebody stopped never does.
const PATIENCE: Timespec = Timespec { tv_sec: 20, tv_nsec: 0 };

/// What ralph asks for.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Request<'a> {
    /// Start a process; the three ends come along. Answered when it did not start, or has ended.
    Spawn(Cow<'a, Command>),
    /// End everything by the ladder.
    End {
        /// Time between SIGTERM and SIGKILL.
        grace_ms: u64,
    },
    /// Say what the tree has done so far.
    Work,
    /// Stop everything where it stands.
    Freeze,
    /// Let everything go on.
    Thaw,
    /// Nothing more will be asked, and ralph itself removes the run's group.
    Farewell,
    /// Say anything.
    Ping,
}

/// One answer of the keeper.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    /// One more than that of the answer before it: whoever misses one knows that it was lost.
    pub(super) number: u64,
    /// How many processes the keeper had been asked to start: an answer about an earlier one may come late.
    pub(super) spawns: u64,
    pub(super) reply: Reply,
}

/// What the keeper answers.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Reply {
    NotSpawned {
        reason: String,
        fault: StartFault,
    },
    /// The process that was started is gone.
    Exited {
        code: Option<i32>,
        signal: Option<i32>,
        /// Whether something that it started still lives.
        leftovers: bool,
    },
    /// Nothing is left.
    Ended {
        /// What had to be ended after the process itself was gone.
        count: u32,
        leaked: Vec<Leaked>,
    },
    Work(Work),
    /// The keeper is there, and has nothing to say.
    Here,
}

/// A path as the bytes that it is; serde's own way refuses those that are not UTF-8.
pub(crate) mod path {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(from).map(PathBuf::from)
    }
}

/// A word as the bytes that it is, copied at once; serde's own way takes one byte after the other, and no path that is
/// not UTF-8.
struct Word<'a>(&'a OsStr);

impl Serialize for Word<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(self.0.as_bytes())
    }
}

impl<'de> Deserialize<'de> for Word<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Word<'de>, D::Error> {
        <&[u8]>::deserialize(from).map(|bytes| Word(OsStr::from_bytes(bytes)))
    }
}

impl Serialize for Command {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Command { program, args, folder, set, remove, starts_runs } = self;
        let args: Vec<Word<'_>> = args.iter().map(|arg| Word(arg)).collect();
        let set: Vec<(Word<'_>, Word<'_>)> = set.iter().map(|(name, value)| (Word(name), Word(value))).collect();
        let remove: Vec<Word<'_>> = remove.iter().map(|name| Word(name)).collect();
        (Word(program), args, Word(folder.as_os_str()), set, remove, starts_runs).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Command, D::Error> {
        type Words<'w> = (Word<'w>, Vec<Word<'w>>, Word<'w>, Vec<(Word<'w>, Word<'w>)>, Vec<Word<'w>>, bool);
        let (program, args, folder, set, remove, starts_runs) = Words::deserialize(from)?;
        let own = |word: Word<'_>| word.0.to_owned();
        Ok(Command {
            program: own(program),
            args: args.into_iter().map(own).collect(),
            folder: own(folder).into(),
            set: set.into_iter().map(|(name, value)| (own(name), own(value))).collect(),
            remove: remove.into_iter().map(own).collect(),
            starts_runs,
        })
    }
}

fn garbled() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the keeper's socket carried something else than its protocol")
}

/// Sends one message, the descriptors with its first byte. Gives up if the other side does not take it for too long.
pub(super) fn send(socket: &UnixStream, message: &impl Serialize, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut frame = Vec::with_capacity(READ_SIZE);
    frame.extend([0; HEADER]);
    let mut frame = postcard::to_extend(message, frame).map_err(|_| garbled())?;
    let length = (frame.len() - HEADER) as u64;
    frame.iter_mut().zip(length.to_le_bytes()).for_each(|(byte, header)| *byte = header);
    let mut rest = frame.as_slice();
    while !rest.is_empty() {
        let sent = if descriptors.is_empty() || rest.len() < frame.len() {
            rustix::net::send(socket, rest, SENDING)
        } else {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
            rustix::net::sendmsg(socket, &[IoSlice::new(rest)], &mut ancillary, SENDING)
        };
        match sent {
            Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
            // A long command line does not fit into the socket at once.
            Err(Errno::AGAIN) if poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&PATIENCE))? > 0 => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// A socket whose other end is gone is an error and no SIGPIPE, and what arrives is not inherited. Where the system
/// has no such flags, Rust ignores SIGPIPE, and [`Decoder::fill`] marks the descriptors.
#[cfg(target_os = "linux")]
const SENDING: SendFlags = SendFlags::NOSIGNAL;
#[cfg(target_os = "linux")]
const RECEIVING: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const SENDING: SendFlags = SendFlags::empty();
#[cfg(not(target_os = "linux"))]
const RECEIVING: RecvFlags = RecvFlags::empty();

/// Collects messages from a socket, whether it is read with or without blocking.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    bytes: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

impl Decoder {
    /// Reads once. `Ok(0)` is the end of the socket.
    pub(super) fn fill(&mut self, socket: &UnixStream) -> io::Result<usize> {
        let mut buffer = [0u8; READ_SIZE];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let into = &mut [IoSliceMut::new(&mut buffer)];
        let got = rustix::net::recvmsg(socket, into, &mut ancillary, RECEIVING)?.bytes;
        self.bytes.extend_from_slice(buffer.get(..got).unwrap_or_default());
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                self.descriptors.extend(received);
            }
        }
        #[cfg(not(target_os = "linux"))]
        for descriptor in &self.descriptors {
            rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC)?;
        }
        Ok(got)
    }

    /// The next message, if it is there as a whole.
    pub(super) fn message<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some((header, rest)) = self.bytes.split_first_chunk::<HEADER>() else { return Ok(None) };
        let length = usize::try_from(u64::from_le_bytes(*header)).ok().filter(|length| *length <= LONGEST_FRAME);
        let length = length.ok_or_else(garbled)?;
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        let message = postcard::from_bytes(frame).map_err(|_| garbled())?;
        self.bytes.drain(..HEADER + length);
        Ok(Some(message))
    }

    /// The descriptors that came since this was last asked. One message at a time brings any: the next process is
    /// asked for when the one before it has ended.
    pub(super) fn descriptors(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.descriptors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::os::fd::AsFd as _;
    use std::os::unix::ffi::OsStringExt as _;

    fn command() -> Command {
        Command {
            program: OsString::from_vec(vec![b'a', 0xff]),
            args: vec!["-x".into(), "".into(), "ü\n".into(), "x".repeat(20_000).into()],
            folder: OsString::from_vec(b"/some \xffwhere".to_vec()).into(),
            set: vec![("A".into(), "b=c".into())],
            remove: vec!["Z".into()],
            starts_runs: true,
        }
    }

    /// What arrives, however the bytes were cut on their way.
    fn passed_on<T: Serialize + DeserializeOwned>(message: &T) -> T {
        let (ours, theirs) = UnixStream::pair().unwrap();
        send(&ours, message, &[]).unwrap();
        let mut decoder = Decoder::default();
        loop {
            if let Some(message) = decoder.message().unwrap() {
                assert!(decoder.bytes.is_empty() && decoder.descriptors().is_empty());
                return message;
            }
            assert_ne!(decoder.fill(&theirs).unwrap(), 0);
        }
    }

    #[test]
    fn requests_and_answers_arrive_as_they_were_sent() {
        for request in [
            Request::Spawn(Cow::Owned(command())),
            Request::End { grace_ms: 5000 },
            Request::Work,
            Request::Freeze,
            Request::Thaw,
            Request::Farewell,
            Request::Ping,
        ] {
            assert_eq!(passed_on(&request), request);
        }
        let leaked = vec![Leaked { pid: 7, command: "sleep 60".to_owned() }];
        for reply in [
            Reply::NotSpawned { reason: "no".to_owned(), fault: StartFault::Arguments },
            Reply::Exited { code: None, signal: Some(9), leftovers: true },
            Reply::Ended { count: 1, leaked },
            Reply::Work(Work { cpu_ms: 99, bytes: 7 }),
            Reply::Here,
        ] {
            let answer = Answer { number: 7, spawns: 3, reply };
            assert_eq!(passed_on(&answer), answer);
        }
    }

    #[test]
    fn descriptors_arrive_with_their_message_and_garbage_is_refused() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let end = ours.as_fd();
        send(&ours, &Request::Ping, &[]).unwrap();
        send(&ours, &Request::Spawn(Cow::Owned(command())), &[end, end, end]).unwrap();
        let mut decoder = Decoder::default();
        let mut seen = Vec::new();
        while seen.len() < 2 {
            decoder.fill(&theirs).unwrap();
            while let Some(request) = decoder.message::<Request<'_>>().unwrap() {
                seen.push(request);
            }
        }
        assert_eq!(seen, [Request::Ping, Request::Spawn(Cow::Owned(command()))]);
        assert_eq!(decoder.descriptors().len(), 3);
        for garbage in [&[0xff; 8][..], &[1, 0, 0, 0, 0, 0, 0, 0, 99]] {
            let mut decoder = Decoder { bytes: garbage.to_vec(), descriptors: Vec::new() };
            assert!(decoder.message::<Request<'_>>().is_err());
        }
    }
}
