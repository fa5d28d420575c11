//! The system calls that std lacks: signals by pid, sessions, terminals.
//!
//! All the `unsafe` of this library is in this file; each call works on integers or on memory that
//! the caller owns.
#![allow(unsafe_code)] // system calls by their C interface: see above

use std::ffi::{CStr, c_int};
use std::fmt;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// What a child does between fork and exec.
#[derive(Debug, Clone, Copy)]
pub enum Preparation {
    /// A session of its own without a terminal, no descriptor but the standard streams, no signal ignored:
    /// whatever the shell or CI runner that started the tests left open or set, ralph does not see it.
    CleanStart,
    /// Its stdin becomes the terminal that controls its session.
    ControllingTerminal,
    /// The signal is ignored.
    Ignore(c_int),
    /// The signal is blocked.
    Block(c_int),
    /// At most so many open files.
    OpenFiles(u64),
    /// A network of its own with nothing but a loopback, and a socket that listens there, which is sent
    /// over the given descriptor.
    OwnNetwork {
        /// Where the socket listens.
        port: u16,
        /// A datagram socket whose other end [`receive_descriptor`] reads.
        hand_to: c_int,
    },
}

/// Adds the preparations to a command, to be done in their order.
pub fn prepare(command: &mut Command, steps: Vec<Preparation>) {
    // SAFETY: between fork and exec only async-signal-safe calls are made and nothing is allocated.
    unsafe {
        command.pre_exec(move || steps.iter().try_for_each(|step| perform(*step)));
    }
}

fn perform(step: Preparation) -> io::Result<()> {
    // SAFETY: plain system calls; the structures are complete and live on this stack.
    unsafe {
        match step {
            Preparation::CleanStart => {
                // Closed by the exec and not before: std reports a failing exec through one of them.
                check(libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) as c_int)?;
                // Refused for KILL, STOP and what the C library keeps for itself.
                (1..=64).for_each(|signal| _ = libc::signal(signal, libc::SIG_DFL));
                check(libc::setsid())
            }
            Preparation::ControllingTerminal => check(libc::ioctl(0, libc::TIOCSCTTY as _, 0)),
            Preparation::Ignore(signal) => {
                libc::signal(signal, libc::SIG_IGN);
                Ok(())
            }
            Preparation::Block(signal) => {
                let mut set: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&mut set);
                libc::sigaddset(&mut set, signal);
                check(libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()))
            }
            Preparation::OpenFiles(number) => {
                let limit = libc::rlimit { rlim_cur: number as _, rlim_max: number as _ };
                check(libc::setrlimit(libc::RLIMIT_NOFILE, &limit))
            }
            Preparation::OwnNetwork { port, hand_to } => {
                enter_own_network()?;
                send_descriptor(hand_to, listen_on_loopback(port)?)
            }
        }
    }
}

/// Leaves the machine's network. Without the privilege for that, also its users: there one may.
unsafe fn enter_own_network() -> io::Result<()> {
    // SAFETY: plain system calls; the structures are complete and live on this stack.
    unsafe {
        let (user, group) = (libc::geteuid(), libc::getegid());
        if libc::unshare(libc::CLONE_NEWNET) == -1 {
            check(libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET))?;
            // Everyone stays who they are; the kernel wants the groups given up first.
            write_file(c"/proc/self/setgroups", format_args!("deny"))?;
            write_file(c"/proc/self/uid_map", format_args!("{user} {user} 1"))?;
            write_file(c"/proc/self/gid_map", format_args!("{group} {group} 1"))?;
        }
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        check(socket)?;
        let mut interface: libc::ifreq = std::mem::zeroed();
        for (to, from) in interface.ifr_name.iter_mut().zip(c"lo".to_bytes()) {
            *to = *from as libc::c_char;
        }
        interface.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        check(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &interface))?;
        check(libc::close(socket))
    }
}

/// Writes a small file of the kernel at once, without allocating.
unsafe fn write_file(path: &CStr, text: fmt::Arguments<'_>) -> io::Result<()> {
    let mut buffer = [0u8; 64];
    let mut rest = &mut buffer[..];
    rest.write_fmt(text)?;
    let left = rest.len();
    // SAFETY: the buffer is longer than what is written of it.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        check(file)?;
        check(libc::write(file, buffer.as_ptr().cast(), buffer.len() - left) as c_int)?;
        check(libc::close(file))
    }
}

unsafe fn listen_on_loopback(port: u16) -> io::Result<c_int> {
    // SAFETY: plain system calls; the address is complete and lives on this stack.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        check(socket)?;
        let mut address: libc::sockaddr_in = std::mem::zeroed();
        address.sin_family = libc::AF_INET as libc::sa_family_t;
        address.sin_port = port.to_be();
        address.sin_addr.s_addr = libc::INADDR_LOOPBACK.to_be();
        let size = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        check(libc::bind(socket, (&raw const address).cast(), size))?;
        check(libc::listen(socket, 128))?;
        Ok(socket)
    }
}

/// Room for one descriptor beside a message, aligned as the kernel wants it.
#[repr(C)]
union Envelope {
    header: libc::cmsghdr,
    room: [u8; 64],
}

/// A message of one byte beside which a descriptor travels.
fn message(byte: &mut libc::iovec, envelope: &mut Envelope) -> libc::msghdr {
    // SAFETY: all zero is a complete header; the pointers live as long as the borrows of the caller.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = byte;
        message.msg_iovlen = 1;
        message.msg_control = (&raw mut *envelope).cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<c_int>() as u32) as _;
        message
    }
}

unsafe fn send_descriptor(over: c_int, descriptor: c_int) -> io::Result<()> {
    let mut byte = [0u8; 1];
    let mut vector = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let mut envelope = Envelope { room: [0; 64] };
    let message = message(&mut vector, &mut envelope);
    // SAFETY: the envelope has room for one header and one descriptor.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as u32) as _;
        libc::CMSG_DATA(header).cast::<c_int>().write_unaligned(descriptor);
        check(libc::sendmsg(over, &message, 0) as c_int)
    }
}

/// Takes the descriptor that was sent by [`Preparation::OwnNetwork`].
pub fn receive_descriptor(from: &UnixDatagram) -> io::Result<OwnedFd> {
    let mut byte = [0u8; 1];
    let mut vector = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let mut envelope = Envelope { room: [0; 64] };
    let mut message = message(&mut vector, &mut envelope);
    // SAFETY: the kernel fills at most the envelope; nobody else owns the new descriptor.
    unsafe {
        check(libc::recvmsg(from.as_raw_fd(), &mut message, libc::MSG_CMSG_CLOEXEC) as c_int)?;
        let header = libc::CMSG_FIRSTHDR(&message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
            return Err(io::Error::other("no descriptor came"));
        }
        Ok(OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<c_int>().read_unaligned()))
    }
}

/// Sends a signal to one process; false if there is none.
pub fn signal(pid: u32, signal: c_int) -> bool {
    // SAFETY: always sound. A pid beyond the range of pid_t names nobody.
    c_int::try_from(pid).is_ok_and(|pid| unsafe { libc::kill(pid, signal) } == 0)
}

/// Sends a signal to a whole process group.
pub fn signal_group(leader: u32, signal: c_int) {
    if let Ok(leader) = c_int::try_from(leader) {
        // SAFETY: always sound.
        unsafe { libc::kill(-leader, signal) };
    }
}

/// Waits until a child has ended and leaves it to be reaped, so that its pid still means it.
pub fn wait_without_reaping(pid: u32) {
    loop {
        // SAFETY: the structure is complete and lives on this stack.
        let result = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, libc::WEXITED | libc::WNOWAIT)
        };
        if result == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}

/// A new terminal: the master, which is the screen and the keyboard, and the slave for a program.
pub fn open_terminal(columns: u16, rows: u16) -> io::Result<(OwnedFd, OwnedFd)> {
    let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: plain system calls; nobody else owns the new descriptors. They are born with close-on-exec: a
    // copy of the master in the child of another test would keep this terminal alive after its end.
    unsafe {
        let master = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC);
        check(master)?;
        let master = OwnedFd::from_raw_fd(master);
        check(libc::unlockpt(master.as_raw_fd()))?;
        let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
        let slave = libc::ioctl(master.as_raw_fd(), libc::TIOCGPTPEER as _, flags);
        check(slave)?;
        check(libc::ioctl(master.as_raw_fd(), libc::TIOCSWINSZ as _, &size))?;
        Ok((master, OwnedFd::from_raw_fd(slave)))
    }
}

/// Gives a terminal another size; its programs get SIGWINCH.
pub fn resize_terminal(master: BorrowedFd<'_>, columns: u16, rows: u16) -> io::Result<()> {
    let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the structure is complete and lives on this stack.
    check(unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSWINSZ as _, &size) })
}

/// Waits until the first descriptor has something to read (true) or the second has ended (false).
pub fn readable_before(data: BorrowedFd<'_>, end: BorrowedFd<'_>) -> bool {
    let watch = |fd: BorrowedFd<'_>| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut both = [watch(data), watch(end)];
    loop {
        // SAFETY: the array has the length that is given.
        let ready = unsafe { libc::poll(both.as_mut_ptr(), 2, -1) };
        let [data, end] = &both;
        match ready {
            1.. if end.revents != 0 => return false,
            1.. => return data.revents != 0,
            _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => return false,
        }
    }
}

fn check(result: c_int) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
