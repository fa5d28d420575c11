//! Where the server is reached: in a network of the run's own, or on this machine's loopback.
//!
//! A network of its own is made by the run itself between fork and exec, which needs no privilege
//! where user namespaces are allowed. It opens the listening socket there as well and hands it to the
//! test, whose threads then answer in a network that they are not part of.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::sync::OnceLock;

use crate::sys::{self, Preparation};

/// In a network of its own every port is free.
const PORT: u16 = 8080;

/// Where the server is reached.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Network {
    /// Every run has its own, with nothing in it but its loopback.
    Own,
    /// The loopback of this machine.
    Shared {
        /// The port on it.
        port: u16,
    },
}

/// The way on which a run hands over the listening socket of its network.
pub(crate) struct Handover {
    ours: UnixDatagram,
    theirs: UnixDatagram,
}

impl Network {
    /// Whether the kernel lets us make networks; tried once.
    pub(super) fn own_is_allowed() -> bool {
        static ALLOWED: OnceLock<bool> = OnceLock::new();
        *ALLOWED.get_or_init(|| {
            let tried = Handover::new().and_then(|handover| {
                let mut command = Command::new("true");
                sys::prepare(&mut command, vec![handover.preparation()]);
                command.status().and_then(|_| handover.listener()).map(drop)
            });
            if let Err(error) = &tried {
                eprintln!("note: agents are not cut off from this machine's network: {error}");
            }
            tried.is_ok()
        })
    }

    /// A free port of this machine's loopback.
    pub(super) fn shared() -> (Network, TcpListener) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback has a free port");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        (Network::Shared { port }, listener)
    }

    pub(super) fn port(self) -> u16 {
        match self {
            Network::Own => PORT,
            Network::Shared { port } => port,
        }
    }
}

impl Handover {
    pub(crate) fn new() -> io::Result<Handover> {
        let (ours, theirs) = UnixDatagram::pair()?;
        Ok(Handover { ours, theirs })
    }

    /// What the run does before it begins.
    pub(crate) fn preparation(&self) -> Preparation {
        Preparation::OwnNetwork { port: PORT, hand_to: self.theirs.as_raw_fd() }
    }

    /// The socket of a run that has begun: nothing is waited for.
    pub(crate) fn listener(self) -> io::Result<TcpListener> {
        self.ours.set_nonblocking(true)?;
        sys::receive_descriptor(&self.ours).map(TcpListener::from)
    }
}
