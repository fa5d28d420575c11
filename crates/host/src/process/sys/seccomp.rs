//! A filter by which the kernel asks another thread before certain calls of this thread and all that it starts.

use crate::watching::{Answer, Call, SILENT, numbers};
use libc::sock_filter;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd};

/// How the kernel calls this machine's own kind of calls. Elsewhere nobody has tried this.
#[cfg(target_arch = "x86_64")]
const NATIVE: Option<u32> = Some(0xc000_003e);
#[cfg(target_arch = "aarch64")]
const NATIVE: Option<u32> = Some(0xc000_00b7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const NATIVE: Option<u32> = None;

/// The other kind of calls that 32-bit programs make here, with the numbers of execve, open and openat.
#[cfg(target_arch = "x86_64")]
const FOREIGN: (u32, [u32; 3]) = (0x4000_0003, [11, 5, 295]);
#[cfg(not(target_arch = "x86_64"))]
const FOREIGN: (u32, [u32; 3]) = (0x4000_0028, [11, 5, 322]);

/// Whether this is the kind of calls whose numbers are known here.
pub(crate) fn is_native(arch: u32) -> bool {
    NATIVE == Some(arch)
}

/// Where the kernel asks.
#[derive(Debug)]
pub(crate) struct Listener(OwnedFd);

/// A call of a watched process that waits for an answer.
#[derive(Debug)]
pub(crate) struct Question {
    id: u64,
    pub(crate) call: Call,
}

/// Puts this thread and all that it starts under the filter. Says too whether set-uid programs have lost their power by
/// it, which is the price for whoever has no privilege.
pub(crate) fn ask_before_calls() -> io::Result<(Listener, bool)> {
    let native = NATIVE.ok_or(io::ErrorKind::Unsupported)?;
    let filter = filter(native)?;
    match install(&filter) {
        Err(error) if error.raw_os_error() == Some(libc::EACCES) => {
            rustix::thread::set_no_new_privs(true)?;
            Ok((install(&filter)?, true))
        }
        installed => Ok((installed?, false)),
    }
}

fn install(filter: &[sock_filter]) -> io::Result<Listener> {
    let listener = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // A signal then does not interrupt a call that was asked about already, to be asked about again and again.
    let killable = libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    // SAFETY: the filter is only read, during the calls, and what comes back is a new descriptor.
    let listener = unsafe {
        let len = filter.len().try_into().map_err(|_| io::ErrorKind::InvalidInput)?;
        let program = libc::sock_fprog { len, filter: filter.as_ptr().cast_mut() };
        let install = |flags: libc::c_ulong| {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
        };
        let mut descriptor = install(listener | killable);
        if descriptor == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) {
            descriptor = install(listener);
        }
        if descriptor == -1 {
            return Err(io::Error::last_os_error());
        }
        Listener(OwnedFd::from_raw_fd(descriptor as i32))
    };
    /// The two sides never run at the same moment, so that the kernel need not look for another core.
    const SAME_CORE: u64 = 1;
    // SAFETY: the call takes a number. Older kernels refuse it, and are slower.
    unsafe { libc::ioctl(listener.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, SAME_CORE) };
    Ok(listener)
}

/// The filter: ask about [`numbers`], and about a few calls of 32-bit programs, by which these are noticed; all else goes
/// on.
fn filter(native: u32) -> io::Result<Vec<sock_filter>> {
    let (foreign, foreign_numbers) = FOREIGN;
    let known: Vec<u32> = numbers().filter_map(|number| number.try_into().ok()).collect();
    let (own, other) = (ask_about(&known, &SILENT)?, ask_about(&foreign_numbers, &[])?);
    let mut filter = vec![load(ARCHITECTURE)?, jump(libc::BPF_JEQ, native, (0, own.len()))?];
    filter.extend(own);
    filter.push(jump(libc::BPF_JEQ, foreign, (0, other.len()))?);
    filter.extend(other);
    filter.push(end(libc::SECCOMP_RET_ALLOW)?);
    Ok(filter)
}

/// Where the number of a call, its kind and the lower half of its first argument stand in what the kernel shows.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

/// Asks about calls of these numbers, but for the silent ones, and lets all others go on.
fn ask_about(numbers: &[u32], silent: &[(libc::c_long, u32, libc::c_int)]) -> io::Result<Vec<sock_filter>> {
    // The last two instructions are the ends: go on, ask.
    let go_on = 1 + 4 * silent.len() + numbers.len();
    let mut filter = vec![load(NUMBER)?];
    for (number, argument, bit) in silent {
        let number = (*number).try_into().map_err(|_| io::ErrorKind::InvalidInput)?;
        filter.push(jump(libc::BPF_JEQ, number, (0, 3))?);
        filter.push(load(ARGUMENTS + 8 * argument)?);
        filter.push(jump(libc::BPF_JSET, bit.cast_unsigned(), (go_on - filter.len() - 1, 0))?);
        filter.push(load(NUMBER)?);
    }
    for number in numbers {
        filter.push(jump(libc::BPF_JEQ, *number, (go_on - filter.len(), 0))?);
    }
    filter.extend([end(libc::SECCOMP_RET_ALLOW)?, end(libc::SECCOMP_RET_USER_NOTIF)?]);
    Ok(filter)
}

fn load(offset: u32) -> io::Result<sock_filter> {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, (0, 0))
}

/// Compares what was loaded with a value, and jumps over so many instructions if it fits, or else.
fn jump(comparison: u32, value: u32, over: (usize, usize)) -> io::Result<sock_filter> {
    instruction(libc::BPF_JMP | comparison | libc::BPF_K, value, over)
}

fn end(action: u32) -> io::Result<sock_filter> {
    instruction(libc::BPF_RET | libc::BPF_K, action, (0, 0))
}

fn instruction(code: u32, k: u32, (yes, no): (usize, usize)) -> io::Result<sock_filter> {
    let too_long = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let (jt, jf) = (yes.try_into().map_err(too_long)?, no.try_into().map_err(too_long)?);
    Ok(sock_filter { code: code as u16, jt, jf, k })
}

impl Listener {
    /// The next question; `None` if whoever asked was interrupted or is gone. Blocks while there is none.
    pub(crate) fn question(&self) -> io::Result<Option<Question>> {
        // SAFETY: zeroes are a valid value, and the kernel wants them.
        let mut asked: Roomy<libc::seccomp_notif> = unsafe { std::mem::zeroed() };
        if !self.call(libc::SECCOMP_IOCTL_NOTIF_RECV, &mut asked)? {
            return Ok(None);
        }
        let libc::seccomp_notif { id, pid, data, .. } = asked.value;
        let call =
            Call { pid: pid.cast_signed(), is_native: is_native(data.arch), number: data.nr.into(), args: data.args };
        Ok(Some(Question { id, call }))
    }

    /// Answers; says whether the process was still there to hear it.
    pub(crate) fn answer(&self, question: &Question, answer: Answer) -> io::Result<bool> {
        let (error, flags) = match answer {
            Answer::GoesOn => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
            Answer::NoSuchCall => (-libc::ENOSYS, 0),
            Answer::NoSuchFile => (-libc::ENOENT, 0),
        };
        let value = libc::seccomp_notif_resp { id: question.id, val: 0, error, flags };
        self.call(libc::SECCOMP_IOCTL_NOTIF_SEND, &mut Roomy { value, _room: [0; ROOM] })
    }

    fn call<T>(&self, request: libc::Ioctl, what: &mut Roomy<T>) -> io::Result<bool> {
        // SAFETY: each request takes the structure that its two callers give it, with room to grow behind it.
        if unsafe { libc::ioctl(self.0.as_raw_fd(), request, std::ptr::from_mut(what)) } == 0 {
            return Ok(true);
        }
        match io::Error::last_os_error() {
            error if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => Ok(false),
            error => Err(error),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Words behind a structure: a later kernel may write and read more of it than is known here.
const ROOM: usize = 32;

#[repr(C)]
struct Roomy<T> {
    value: T,
    _room: [u64; ROOM],
}
