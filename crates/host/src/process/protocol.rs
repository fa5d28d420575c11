//! The words between ralph and its keeper: length-prefixed frames over a socket, with the ends of a
//! new process's standard streams passed along. Byte strings, because paths and variables need not
//! be UTF-8.

use super::Command;
use super::work::Work;
use ralph_core::observation::{Leaked, StartFault};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// The longest frame: a command line and an environment are at most a few megabytes.
const LONGEST_FRAME: usize = 64 << 20;

/// What ralph asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Start a process; the three ends come along.
    Spawn(Command),
    /// End everything by the ladder.
    End {
        /// From the polite signal to the other one.
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

/// What the keeper answers. Each answer has a number, the one after that of the answer before it: whoever
/// misses one knows that it was lost.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Spawned {
        pid: i32,
    },
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

impl Request {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::default();
        match self {
            Request::Spawn(command) => {
                out.number(1).bytes(command.program.as_bytes()).bytes(command.folder.as_os_str().as_bytes());
                out.list(&command.args, |out, arg| {
                    out.bytes(arg.as_bytes());
                });
                out.list(&command.set, |out, (name, value)| {
                    out.bytes(name.as_bytes()).bytes(value.as_bytes());
                });
                out.list(&command.remove, |out, name| {
                    out.bytes(name.as_bytes());
                });
            }
            Request::End { grace_ms } => {
                out.number(2).number(*grace_ms);
            }
            Request::Work => {
                out.number(3);
            }
            Request::Freeze => {
                out.number(4);
            }
            Request::Thaw => {
                out.number(5);
            }
            Request::Farewell => {
                out.number(6);
            }
            Request::Ping => {
                out.number(7);
            }
        }
        out.finish()
    }

    pub(super) fn decode(frame: &[u8]) -> io::Result<Request> {
        let mut from = Fields(frame);
        Ok(match from.number()? {
            1 => Request::Spawn(Command {
                program: from.os_string()?,
                folder: PathBuf::from(from.os_string()?),
                args: from.list(Fields::os_string)?,
                set: from.list(|from| Ok((from.os_string()?, from.os_string()?)))?,
                remove: from.list(Fields::os_string)?,
            }),
            2 => Request::End { grace_ms: from.number()? },
            3 => Request::Work,
            4 => Request::Freeze,
            5 => Request::Thaw,
            6 => Request::Farewell,
            7 => Request::Ping,
            _ => return Err(garbled()),
        })
    }
}

impl Reply {
    pub(super) fn encode(&self, sequence: u64) -> Vec<u8> {
        let mut out = Encoder::default();
        out.number(sequence);
        match self {
            Reply::Spawned { pid } => {
                out.number(1).signed(*pid);
            }
            Reply::NotSpawned { reason, fault } => {
                out.number(2).bytes(reason.as_bytes()).number(*fault as u64);
            }
            Reply::Exited { code, signal, leftovers } => {
                out.number(3).signed(code.unwrap_or(-1)).signed(signal.unwrap_or(-1)).number((*leftovers).into());
            }
            Reply::Ended { count, leaked } => {
                out.number(4).number((*count).into());
                out.list(leaked, |out, leaked| {
                    out.signed(leaked.pid).bytes(leaked.command.as_bytes());
                });
            }
            Reply::Work(Work { cpu_ms, bytes }) => {
                out.number(5).number(*cpu_ms).number(*bytes);
            }
            Reply::Here => {
                out.number(6);
            }
        }
        out.finish()
    }

    /// An answer with its number.
    pub(super) fn decode(frame: &[u8]) -> io::Result<(u64, Reply)> {
        let mut from = Fields(frame);
        let sequence = from.number()?;
        let reply = match from.number()? {
            1 => Reply::Spawned { pid: from.signed()? },
            2 => Reply::NotSpawned {
                reason: from.string()?,
                fault: match from.number()? {
                    1 => StartFault::Folder,
                    2 => StartFault::Machine,
                    3 => StartFault::NotExecutable,
                    4 => StartFault::Arguments,
                    _ => StartFault::Program,
                },
            },
            3 => Reply::Exited {
                code: Some(from.signed()?).filter(|code| *code >= 0),
                signal: Some(from.signed()?).filter(|signal| *signal >= 0),
                leftovers: from.number()? != 0,
            },
            4 => Reply::Ended {
                count: u32::try_from(from.number()?).unwrap_or(u32::MAX),
                leaked: from.list(|from| Ok(Leaked { pid: from.signed()?, command: from.string()? }))?,
            },
            5 => Reply::Work(Work { cpu_ms: from.number()?, bytes: from.number()? }),
            6 => Reply::Here,
            _ => return Err(garbled()),
        };
        Ok((sequence, reply))
    }
}

fn garbled() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the keeper's socket carried something else than its protocol")
}

#[derive(Default)]
struct Encoder(Vec<u8>);

impl Encoder {
    fn number(&mut self, number: u64) -> &mut Encoder {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    fn signed(&mut self, number: i32) -> &mut Encoder {
        self.number(i64::from(number).cast_unsigned())
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Encoder {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn list<T>(&mut self, items: &[T], each: impl Fn(&mut Encoder, &T)) {
        self.number(items.len() as u64);
        for item in items {
            each(self, item);
        }
    }

    fn finish(self) -> Vec<u8> {
        let mut frame = Vec::with_capacity(self.0.len() + 8);
        frame.extend_from_slice(&(self.0.len() as u64).to_le_bytes());
        frame.extend_from_slice(&self.0);
        frame
    }
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(garbled)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> io::Result<u64> {
        let bytes = self.take(8)?.try_into().map_err(|_| garbled())?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn signed(&mut self) -> io::Result<i32> {
        i32::try_from(self.number()?.cast_signed()).map_err(|_| garbled())
    }

    fn bytes(&mut self) -> io::Result<&'a [u8]> {
        let length = usize::try_from(self.number()?).map_err(|_| garbled())?;
        self.take(length)
    }

    fn os_string(&mut self) -> io::Result<OsString> {
        Ok(OsString::from_vec(self.bytes()?.to_vec()))
    }

    fn string(&mut self) -> io::Result<String> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    fn list<T>(&mut self, each: impl Fn(&mut Fields<'a>) -> io::Result<T>) -> io::Result<Vec<T>> {
        (0..self.number()?).map(|_| each(self)).collect()
    }
}

/// A socket whose other end is gone is an error and no SIGPIPE, and what arrives is not inherited. Where the system
/// has no such flags, Rust ignores SIGPIPE, and [`receive`] marks the descriptors.
#[cfg(target_os = "linux")]
const SENDING: SendFlags = SendFlags::NOSIGNAL;
#[cfg(target_os = "linux")]
const RECEIVING: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const SENDING: SendFlags = SendFlags::empty();
#[cfg(not(target_os = "linux"))]
const RECEIVING: RecvFlags = RecvFlags::empty();

/// Sends one frame, the descriptors with its first byte.
pub(super) fn send(mut socket: &UnixStream, frame: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let sent = if descriptors.is_empty() {
        0
    } else {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        rustix::net::sendmsg(socket, &[IoSlice::new(frame)], &mut ancillary, SENDING)?
    };
    socket.write_all(frame.get(sent..).unwrap_or_default())
}

/// Receives one frame with its descriptors; `None` at the end of the socket.
pub(super) fn receive(mut socket: &UnixStream) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut descriptors = Vec::new();
    let mut header = [0u8; 8];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let got = rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut header)], &mut ancillary, RECEIVING)?.bytes;
    if got == 0 {
        return Ok(None);
    }
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    #[cfg(not(target_os = "linux"))]
    for descriptor in &descriptors {
        rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC)?;
    }
    socket.read_exact(header.get_mut(got..).unwrap_or_default())?;
    let length = usize::try_from(u64::from_le_bytes(header))
        .ok()
        .filter(|length| *length <= LONGEST_FRAME)
        .ok_or_else(garbled)?;
    let mut frame = vec![0; length];
    socket.read_exact(&mut frame)?;
    Ok(Some((frame, descriptors)))
}

/// Collects frames from a socket that is read without blocking.
#[derive(Debug, Default)]
pub(super) struct Decoder(Vec<u8>);

impl Decoder {
    /// Reads what is there.
    pub(super) fn fill(&mut self, mut socket: &UnixStream) -> io::Result<usize> {
        let mut buffer = [0u8; 4096];
        let got = socket.read(&mut buffer)?;
        self.0.extend_from_slice(buffer.get(..got).unwrap_or_default());
        Ok(got)
    }

    /// The next whole frame, if it is there.
    pub(super) fn frame(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(header) = self.0.first_chunk::<8>() else { return Ok(None) };
        let length = usize::try_from(u64::from_le_bytes(*header))
            .ok()
            .filter(|length| *length <= LONGEST_FRAME)
            .ok_or_else(garbled)?;
        if self.0.len() < 8 + length {
            return Ok(None);
        }
        let rest = self.0.split_off(8 + length);
        let mut frame = std::mem::replace(&mut self.0, rest);
        frame.drain(..8);
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_replies_survive_the_wire() {
        let command = Command {
            program: OsString::from_vec(vec![b'a', 0xff]),
            args: vec!["-x".into(), "".into(), "ü\n".into()],
            folder: "/some where".into(),
            set: vec![("A".into(), "b=c".into())],
            remove: vec!["Z".into()],
        };
        for request in [
            Request::Spawn(command),
            Request::End { grace_ms: 5000 },
            Request::Work,
            Request::Freeze,
            Request::Thaw,
            Request::Farewell,
            Request::Ping,
        ] {
            let frame = request.encode();
            assert_eq!(Request::decode(&frame[8..]).unwrap(), request);
            for cut in 8..frame.len() {
                assert!(Request::decode(&frame[8..cut]).is_err());
            }
        }
        let leaked = vec![Leaked { pid: 7, command: "sleep 60".to_owned() }];
        for reply in [
            Reply::Spawned { pid: 42 },
            Reply::NotSpawned { reason: "no".to_owned(), fault: StartFault::Program },
            Reply::NotSpawned { reason: "no".to_owned(), fault: StartFault::Folder },
            Reply::NotSpawned { reason: "no".to_owned(), fault: StartFault::Machine },
            Reply::NotSpawned { reason: "no".to_owned(), fault: StartFault::NotExecutable },
            Reply::NotSpawned { reason: "no".to_owned(), fault: StartFault::Arguments },
            Reply::Exited { code: None, signal: Some(9), leftovers: true },
            Reply::Ended { count: 1, leaked },
            Reply::Work(Work { cpu_ms: 99, bytes: 7 }),
            Reply::Here,
        ] {
            assert_eq!(Reply::decode(&reply.encode(7)[8..]).unwrap(), (7, reply));
        }
    }
}
