//! The few system calls that neither std nor rustix offers, each behind a safe function. The only
//! `unsafe` code of this crate.
#![allow(unsafe_code, reason = "fork-time calls and signal descriptors have no safe interface")]

#[cfg(target_os = "linux")]
pub(crate) mod memory;
#[cfg(target_os = "linux")]
pub(super) mod seccomp;
#[cfg(target_os = "linux")]
pub(super) mod trace;

use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::FromRawFd;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
#[cfg(target_os = "linux")]
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// What a process is started with.
pub(super) struct Start<'a> {
    pub(super) program: &'a Path,
    /// Its arguments, its own name first.
    pub(super) args: Vec<CString>,
    pub(super) environment: Vec<Cow<'a, CStr>>,
    pub(super) folder: &'a Path,
    /// Its standard input, output and error.
    pub(super) ends: [OwnedFd; 3],
}

/// Starts a process in a state that does not depend on how ralph was started: own session, no
/// blocked signals, and none ignored, because the caller ignores none (see [`reset_signals`]).
pub(super) fn start(start: &Start<'_>) -> io::Result<i32> {
    let program = CString::new(start.program.as_os_str().as_bytes())?;
    let folder = CString::new(start.folder.as_os_str().as_bytes())?;
    let pointers = |strings: &mut dyn Iterator<Item = &CStr>| -> Vec<*mut libc::c_char> {
        strings.map(|string| string.as_ptr().cast_mut()).chain([std::ptr::null_mut()]).collect()
    };
    let args = pointers(&mut start.args.iter().map(CString::as_c_str));
    let environment = pointers(&mut start.environment.iter().map(Cow::as_ref));
    spawn(&mut Child {
        program: program.as_ptr(),
        args: args.as_ptr(),
        environment: environment.as_ptr(),
        folder: folder.as_ptr(),
        ends: start.ends.each_ref().map(AsRawFd::as_raw_fd),
        errno: 0,
    })
}

/// What a process is started with, as the kernel takes it: pointers to strings that end in a zero, and to arrays of
/// such pointers that end in a null pointer. They are valid while it is started.
struct Child {
    program: *const libc::c_char,
    args: *const *mut libc::c_char,
    environment: *const *mut libc::c_char,
    folder: *const libc::c_char,
    ends: [libc::c_int; 3],
    /// Why it could not be started; 0 if it could.
    errno: libc::c_int,
}

/// Both this and `posix_spawn` leave out what makes `fork` expensive, a copy of the parent's memory tables. But
/// `posix_spawn` also asks for every signal's handler, one by one, and the caller has none.
#[cfg(target_os = "linux")]
fn spawn(child: &mut Child) -> io::Result<i32> {
    // The words of 16 bytes make it aligned. What runs on it needs little, but may have to load a function first.
    let mut stack = [const { std::mem::MaybeUninit::<u128>::uninit() }; 1 << 12];
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let child = std::ptr::from_mut(child);
    // SAFETY: with CLONE_VFORK the caller waits until the child has executed its program or is gone, so that `child`
    // and the stack outlive its use of them, and nobody else touches them meanwhile. All signals are blocked.
    unsafe {
        let pid = libc::clone(become_program, stack.as_mut_ptr_range().end.cast(), flags, child.cast());
        match (pid, (*child).errno) {
            (-1, _) => Err(io::Error::last_os_error()),
            (pid, 0) => Ok(pid),
            (pid, errno) => {
                libc::waitpid(pid, std::ptr::null_mut(), 0);
                Err(io::Error::from_raw_os_error(errno))
            }
        }
    }
}

/// Runs in the child, on memory that is its parent's: nothing here allocates, locks or returns early.
#[cfg(target_os = "linux")]
extern "C" fn become_program(child: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `spawn` passes a `Child` that lives and that nobody else uses; only calls into the kernel follow.
    unsafe {
        let child = &mut *child.cast::<Child>();
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::setsid();
        let [stdin, stdout, stderr] = child.ends;
        if libc::dup2(stdin, 0) != -1
            && libc::dup2(stdout, 1) != -1
            && libc::dup2(stderr, 2) != -1
            && libc::chdir(child.folder) != -1
            && libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()) != -1
        {
            libc::execve(child.program, child.args.cast(), child.environment.cast());
        }
        child.errno = *libc::__errno_location();
        libc::_exit(127)
    }
}

#[cfg(not(target_os = "linux"))]
fn spawn(child: &mut Child) -> io::Result<i32> {
    let mut pid: libc::pid_t = 0;
    // SAFETY: both objects are initialised before they are used and destroyed after, and every pointer is valid.
    let result = unsafe {
        let mut actions: libc::posix_spawn_file_actions_t = std::mem::zeroed();
        let mut attributes: libc::posix_spawnattr_t = std::mem::zeroed();
        libc::posix_spawn_file_actions_init(&raw mut actions);
        libc::posix_spawnattr_init(&raw mut attributes);
        for (target, end) in (0..).zip(child.ends) {
            libc::posix_spawn_file_actions_adddup2(&raw mut actions, end, target);
        }
        libc::posix_spawn_file_actions_addchdir_np(&raw mut actions, child.folder);
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::posix_spawnattr_setsigmask(&raw mut attributes, &raw const none);
        let flags = libc::POSIX_SPAWN_SETSIGMASK | SETSID;
        libc::posix_spawnattr_setflags(&raw mut attributes, flags.try_into().unwrap_or_default());
        let (actions_in, attributes_in) = (&raw const actions, &raw const attributes);
        let result =
            libc::posix_spawn(&raw mut pid, child.program, actions_in, attributes_in, child.args, child.environment);
        libc::posix_spawn_file_actions_destroy(&raw mut actions);
        libc::posix_spawnattr_destroy(&raw mut attributes);
        result
    };
    child.errno = result;
    if result == 0 { Ok(pid) } else { Err(io::Error::from_raw_os_error(result)) }
}

/// The flag that gives the new process a session of its own; the libc crate does not name it.
#[cfg(not(target_os = "linux"))]
const SETSID: libc::c_int = 0x400;

/// Gives every signal its default action, once for all that is started later: what ralph or its parent ignored would
/// be ignored by every agent too, and a parent that ignores SIGCHLD makes the kernel reap for us. No signal reaches
/// the caller, which blocks them all.
fn reset_signals() {
    for signal in 1..=LAST_SIGNAL {
        // SAFETY: the call takes two numbers; those that may not be changed are refused.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// The highest number of a signal.
#[cfg(target_os = "linux")]
const LAST_SIGNAL: libc::c_int = 64;
#[cfg(not(target_os = "linux"))]
const LAST_SIGNAL: libc::c_int = 31;

/// Blocks every signal and returns a descriptor that becomes readable when a child changes state.
#[cfg(target_os = "linux")]
pub(super) fn block_signals_and_watch_children() -> io::Result<OwnedFd> {
    block_signals_and_watch(&[libc::SIGCHLD])
}

/// Blocks every signal and returns a descriptor that becomes readable when one of these has come.
#[cfg(target_os = "linux")]
pub(super) fn block_signals_and_watch(signals: &[libc::c_int]) -> io::Result<OwnedFd> {
    // SAFETY: each set is initialised before it is read, and the descriptor is new.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        if libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut()) == -1 {
            return Err(io::Error::last_os_error());
        }
        reset_signals();
        let mut watched = std::mem::zeroed();
        libc::sigemptyset(&raw mut watched);
        signals.iter().for_each(|signal| _ = libc::sigaddset(&raw mut watched, *signal));
        let descriptor = libc::signalfd(-1, &raw const watched, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if descriptor == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

/// Elsewhere children are looked after by a short poll.
#[cfg(not(target_os = "linux"))]
pub(super) fn block_signals_and_watch_children() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised by sigfillset before it is read.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
        reset_signals();
    }
    // A pipe whose other end is gone at once would always be ready; one kept open never is.
    let (read, write) = rustix::pipe::pipe()?;
    std::mem::forget(write);
    Ok(read)
}

/// Unblocks every signal in this thread: whoever started ralph may have blocked those that stop it.
pub(crate) fn unblock_signals() {
    // SAFETY: the set is initialised by sigemptyset before it is read.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Makes a command begin with no signal blocked, whatever this process blocks.
#[cfg(target_os = "linux")]
pub(super) fn unblock_signals_of(command: &mut std::process::Command) {
    let unblock = || {
        unblock_signals();
        Ok(())
    };
    // SAFETY: one call into the kernel between fork and exec.
    unsafe { command.pre_exec(unblock) };
}

/// Closes everything but standard input, output and error, so that nothing a shell left open
/// reaches an agent.
pub(super) fn close_inherited() {
    #[cfg(target_os = "linux")]
    // SAFETY: the keeper has just begun and owns no descriptor beyond the first three.
    unsafe {
        libc::close_range(3, libc::c_uint::MAX, 0);
    }
}

/// Puts this process into namespaces of its own for users, mounts and the network, as a sandbox does.
#[cfg(target_os = "linux")]
pub(super) fn enter_namespaces() -> io::Result<()> {
    // SAFETY: the call takes a number, and none of its flags touches memory or descriptors.
    let result = unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWNET) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Puts this process into a mount namespace of its own, and with `users` into one for users first, in which it may mount.
#[cfg(target_os = "linux")]
pub(crate) fn unshare_mounts(users: bool) -> io::Result<()> {
    let flags = libc::CLONE_NEWNS | if users { libc::CLONE_NEWUSER } else { 0 };
    // SAFETY: the call takes a number, and none of its flags touches memory or descriptors.
    let result = unsafe { libc::unshare(flags) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The version of Landlock that the kernel offers.
#[cfg(target_os = "linux")]
pub(super) fn landlock_version() -> io::Result<i64> {
    /// Asks for the version instead of a ruleset.
    const VERSION: libc::c_int = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the call takes no attributes, so nothing is read through the pointer.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, VERSION) };
    if answer >= 0 { Ok(answer) } else { Err(io::Error::last_os_error()) }
}

/// Watches a descriptor for readiness.
pub(crate) fn watch<T: AsFd + AsRawFd>(end: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    // SAFETY: `T` owns its descriptor (an `OwnedFd` or a socket), keeps it for its whole life and
    // always names the same one; nothing here closes or replaces it while it is watched.
    unsafe { AsyncFd::register_with_interest(end, interest) }.map_err(|refused| refused.into_parts().1)
}

/// Whether anybody else has this file open, or it cannot be told. The kernel gives a lease for writing
/// only to one who is alone with a file. It ends when the file is closed; until then others wait in `open`.
#[cfg(target_os = "linux")]
pub(crate) fn is_open_elsewhere(file: &impl AsFd) -> bool {
    // The same number on every architecture; the libc crate has no name for it.
    const F_SETSIG: libc::c_int = 10;
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: these calls take and return numbers and touch only this process's own descriptor. Whoever
    // opens the file in between sends SIGURG, which does nothing, in place of SIGIO, which would kill.
    unsafe { libc::fcntl(fd, F_SETSIG, libc::SIGURG) != 0 || libc::fcntl(fd, libc::F_SETLEASE, libc::F_WRLCK) != 0 }
}

/// Cannot be told here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_open_elsewhere(_: &impl AsFd) -> bool {
    true
}
