//! Tracing a process and all that it starts by ptrace, call by call.

use super::seccomp::is_native;
use crate::watching::Call;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// What `ptrace` is asked for; the C libraries do not agree on the type of these numbers.
const TRACE_ME: u32 = 0;
const GO_ON_TO_CALL: u32 = 24;
const SET_OPTIONS: u32 = 0x4200;
const GET_CALL: u32 = 0x420e;

/// Marks stops at calls, and traces all that a process starts.
const OPTIONS: usize = 0x01 | 0x02 | 0x04 | 0x08 | 0x10;

/// Makes the command a process that this thread traces, stopped once it has executed its program.
pub(crate) fn trace(command: &mut Command) {
    // SAFETY: one call into the kernel between fork and exec.
    unsafe { command.pre_exec(|| ptrace(TRACE_ME, 0, 0, 0).map(drop)) };
}

/// Says what is to be reported of a stopped process.
pub(crate) fn set_options(pid: i32) -> io::Result<()> {
    ptrace(SET_OPTIONS, pid, 0, OPTIONS).map(drop)
}

/// Lets a stopped process go on to the next call, with a signal or none.
pub(crate) fn go_on(pid: i32, signal: i32) -> io::Result<()> {
    ptrace(GO_ON_TO_CALL, pid, 0, signal as usize).map(drop)
}

/// The call that a stopped process is about to make; `None` if it has just made one.
pub(crate) fn call(pid: i32) -> io::Result<Option<Call>> {
    /// What the kernel writes: how the process stopped with its kind of calls, two addresses, the number, the arguments.
    const WORDS: usize = 16;
    const ENTRY: u64 = 1;
    let mut words = [0_u64; WORDS];
    ptrace(GET_CALL, pid, size_of_val(&words), words.as_mut_ptr() as usize)?;
    let [how, _, _, number, a, b, c, d, e, f, ..] = words;
    let is_native = is_native((how >> 32) as u32);
    let call = Call { pid, is_native, number: number.cast_signed() as libc::c_long, args: [a, b, c, d, e, f] };
    Ok((how & 0xff == ENTRY).then_some(call))
}

fn ptrace(request: u32, pid: i32, address: usize, data: usize) -> io::Result<libc::c_long> {
    // SAFETY: of the requests above only `GET_CALL` makes the kernel write, at most `address` bytes to `data`.
    let result = unsafe { libc::ptrace(request as _, pid, address, data) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
