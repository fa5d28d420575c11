//! What one call of a process means: which file it executes, opens, looks for or makes.

use super::Order;
use super::record::{Item, Record};
use super::scrutiny::Scrutiny;
use crate::plain_file::{self, Links};
use crate::process::memory;
use libc::{c_int, c_long};
use ralph_core::judges::{Executed, Opened, Watched};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, Read as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// Bytes of a path, with its final zero; the kernel refuses a longer one.
const LONGEST_PATH: usize = 4096;
/// Bytes of all arguments of a program; the kernel's own limit with an ordinary stack.
const LONGEST_ARGS: usize = 2 << 20;
/// How many interpreters may stand behind each other, as in the kernel.
const INTERPRETERS: usize = 4;
/// Bytes of a file in which the kernel looks for its interpreter.
const FIRST_LINE: u64 = 256;

/// Places that say nothing about a check: the system's own libraries, data of its languages, and files that are none.
const NOISE: [&str; 13] = [
    "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/share/locale", "/usr/share/zoneinfo", "/lib", "/lib32", "/lib64",
    "/etc/ld.so.cache", "/etc/localtime", "/proc", "/sys", "/dev",
];

/// A call that a process has made and that waits to go on.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The thread that made it.
    pub(crate) pid: i32,
    /// Whether it is a call of this machine's own kind; else its number means something else.
    pub(crate) is_native: bool,
    pub(crate) number: c_long,
    pub(crate) args: [u64; 6],
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    GoesOn,
    /// The process is told that the kernel has no such call.
    NoSuchCall,
    /// The process is told that there is no such file.
    NoSuchFile,
}

/// What the arguments of a call mean, by their places.
#[derive(Clone, Copy)]
enum Shape {
    Executes {
        at: At,
        argv: usize,
    },
    Opens {
        at: At,
        flags: usize,
    },
    /// The same, with the flags in memory.
    OpensHow {
        at: At,
        how: usize,
    },
    Makes(At),
    /// Asks for a file without opening it.
    Asks(At),
    /// Makes a ring through which files are opened without a call.
    Ring,
    /// Opens a file without its path.
    Handle,
    /// Changes which file a path means.
    Mounts,
    /// Puts a filter before calls, which may ask another process; only one in a line of processes can.
    Filters {
        flags: usize,
    },
}

/// Where a path stands among the arguments, and the descriptor of the folder to which it is relative.
#[derive(Clone, Copy)]
struct At {
    folder: Option<usize>,
    path: usize,
}

const fn at(folder: usize, path: usize) -> At {
    At { folder: Some(folder), path }
}

/// Relative to the folder of the process.
#[cfg(target_arch = "x86_64")]
const fn here(path: usize) -> At {
    At { folder: None, path }
}

/// Every call that is looked at.
const SHAPES: &[(c_long, Shape)] = &[
    (libc::SYS_openat, Shape::Opens { at: at(0, 1), flags: 2 }),
    (libc::SYS_execve, Shape::Executes { at: At { folder: None, path: 0 }, argv: 1 }),
    (libc::SYS_execveat, Shape::Executes { at: at(0, 1), argv: 2 }),
    (libc::SYS_openat2, Shape::OpensHow { at: at(0, 1), how: 2 }),
    (libc::SYS_renameat, Shape::Makes(at(2, 3))),
    (libc::SYS_renameat2, Shape::Makes(at(2, 3))),
    (libc::SYS_linkat, Shape::Makes(at(2, 3))),
    (libc::SYS_symlinkat, Shape::Makes(at(1, 2))),
    (libc::SYS_io_uring_setup, Shape::Ring),
    (libc::SYS_seccomp, Shape::Filters { flags: 1 }),
    (libc::SYS_open_by_handle_at, Shape::Handle),
    (libc::SYS_mount, Shape::Mounts),
    (libc::SYS_move_mount, Shape::Mounts),
    (libc::SYS_chroot, Shape::Mounts),
    (libc::SYS_pivot_root, Shape::Mounts),
    (libc::SYS_setns, Shape::Mounts),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, Shape::Opens { at: here(0), flags: 1 }),
    (libc::SYS_newfstatat, Shape::Asks(at(0, 1))),
    (libc::SYS_statx, Shape::Asks(at(0, 1))),
    (libc::SYS_faccessat, Shape::Asks(at(0, 1))),
    (libc::SYS_faccessat2, Shape::Asks(at(0, 1))),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_stat, Shape::Asks(here(0))),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_lstat, Shape::Asks(here(0))),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_access, Shape::Asks(here(0))),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, Shape::Makes(here(0))),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rename, Shape::Makes(here(1))),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_link, Shape::Makes(here(1))),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_symlink, Shape::Makes(here(1))),
];

/// The numbers of the calls that are looked at.
pub(crate) fn numbers() -> impl Iterator<Item = c_long> {
    SHAPES.iter().map(|(number, _)| *number)
}

/// Calls that say nothing where an argument has a bit: the call's number, the argument's place, the bit. They open a
/// folder, or ask about what is open already.
pub(crate) const SILENT: [(c_long, u32, c_int); 3] = [
    (libc::SYS_openat, 2, libc::O_DIRECTORY),
    (libc::SYS_newfstatat, 3, libc::AT_EMPTY_PATH),
    (libc::SYS_statx, 2, libc::AT_EMPTY_PATH),
];

/// Looks at calls and keeps what they show.
#[derive(Debug)]
pub(crate) struct Eyes {
    record: Record,
    /// A process has mounted something or changed its root, so that a path may mean another file to it.
    has_mounts: bool,
    /// A process serves a file system. It may have to be answered before a file there can be looked at.
    has_fuse: bool,
    /// Set-uid programs have no power.
    is_weakened: bool,
    user: u32,
    /// Who was refused a ring last.
    without_ring: Option<String>,
    /// What is looked for beside the tree.
    scrutiny: Option<Scrutiny>,
    /// Whether the file of this call must not be found.
    hides: bool,
}

/// What a call shows, to be kept once the process has gone on with it.
#[derive(Debug, Default)]
pub(crate) struct Seen(Vec<Item>);

/// What is at a path, as a process sees it.
enum Found {
    File(Metadata),
    /// A folder, a pipe, or something that may not be looked at.
    Other,
    Nothing,
    /// It cannot be looked at now.
    Unasked,
}

impl Eyes {
    pub(crate) fn new(is_weakened: bool, order: Option<&Order>) -> Eyes {
        let user = rustix::process::geteuid().as_raw();
        Eyes {
            record: Record::default(),
            has_mounts: false,
            has_fuse: false,
            is_weakened,
            user,
            without_ring: None,
            scrutiny: order.map(|order| Scrutiny::new(order, user)),
            hides: false,
        }
    }

    pub(crate) fn record(&mut self) -> &mut Record {
        &mut self.record
    }

    /// Everything that was seen so far.
    pub(crate) fn watched(&self) -> Watched {
        let mut watched = self.record.watched();
        let asked = self.scrutiny.iter().flat_map(Scrutiny::only_asked);
        watched.modules.extend(self.scrutiny.iter().flat_map(Scrutiny::modules).map(|folder| text(folder)));
        watched.used.extend(asked.cloned());
        watched
    }

    pub(crate) fn keep(&mut self, seen: Seen) {
        seen.0.into_iter().for_each(|item| self.record.note(item));
    }

    /// Keeps the program that a process has become already.
    pub(crate) fn keep_start(&mut self, pid: i32, program: &Path, args: Vec<String>) {
        let seen = self.execution(pid, &self.absolute(pid, Path::new("/"), program), program.to_owned(), args);
        self.keep(seen);
    }

    /// What a call shows and what becomes of it. The process waits meanwhile.
    pub(crate) fn look(&mut self, call: &Call) -> (Seen, Answer) {
        if !call.is_native {
            let program = self.program_of(call.pid);
            self.record.gap(format!("{program} is a 32-bit program, whose calls are not seen"));
            return (Seen::default(), Answer::GoesOn);
        }
        let shape = SHAPES.iter().find(|(number, _)| *number == call.number).map(|(_, shape)| *shape);
        let seen = match shape {
            Some(Shape::Opens { at, flags }) => self.opens(call, at, call.int(flags)),
            Some(Shape::OpensHow { at, how }) => self.opens_how(call, at, how),
            Some(Shape::Executes { at, argv }) => self.executes(call, at, argv),
            Some(Shape::Makes(at)) => self.place(call, at).map(|path| self.makes(call.pid, &path)),
            Some(Shape::Asks(at)) => self.asks(call, at),
            Some(Shape::Ring) => {
                self.without_ring = Some(self.program_of(call.pid));
                return (Seen::default(), Answer::NoSuchCall);
            }
            Some(Shape::Handle) => {
                let program = self.program_of(call.pid);
                self.record.gap(format!("{program} opened files by handles, which do not tell a path"));
                None
            }
            Some(Shape::Mounts) => {
                self.has_mounts = true;
                None
            }
            Some(Shape::Filters { flags }) => {
                if call.arg(flags) & libc::SECCOMP_FILTER_FLAG_NEW_LISTENER != 0 {
                    let program = self.program_of(call.pid);
                    self.record.gap(format!("{program} answers for calls itself, which it cannot while it is watched"));
                }
                None
            }
            None => None,
        };
        if std::mem::take(&mut self.hides) {
            return (Seen::default(), Answer::NoSuchFile);
        }
        (seen.unwrap_or_default(), Answer::GoesOn)
    }

    /// Whether nothing at this path says anything about a check.
    fn is_silent(&self, path: &Path) -> bool {
        if self.scrutiny.is_some() { Scrutiny::is_void(path) } else { is_noise(path) }
    }

    /// A process comes by a file without writing it. Says whether it finds it.
    fn finds(&mut self, pid: i32, path: &Path, file: &Metadata) -> bool {
        let Some(scrutiny) = &mut self.scrutiny else { return true };
        if scrutiny.hides(file) {
            self.hides = true;
            return false;
        }
        scrutiny.is_module_inside(path);
        if let Some(used) = scrutiny.uses(path, file, || program_of(pid)) {
            self.record.note_use(used);
        }
        true
    }

    /// The check has failed: if a ring was refused, nobody knows whether for that.
    pub(crate) fn note_failure(&mut self) {
        if let Some(program) = self.without_ring.take() {
            self.record.gap(format!("the check failed and {program} was refused io_uring, as in every watched run"));
        }
    }

    /// The program of a process.
    pub(crate) fn program_of(&self, pid: i32) -> String {
        program_of(pid)
    }

    fn opens_how(&mut self, call: &Call, at: At, how: usize) -> Option<Seen> {
        /// An absolute path begins at the folder: the flag of the kernel.
        const RESOLVE_IN_ROOT: u64 = 0x10;
        let how = self.words::<3>(call, call.arg(how))?;
        let [flags, _, resolve] = how;
        if resolve & RESOLVE_IN_ROOT == 0 {
            // The flags that are known fit.
            return self.opens(call, at, flags as i32);
        }
        let path = self.path(call, call.arg(at.path))?;
        let path = path.strip_prefix("/").unwrap_or(&path);
        let path = tidy(self.folder(call, at)?.join(path));
        self.opens_path(call, &path, flags as i32)
    }

    fn opens(&mut self, call: &Call, at: At, flags: i32) -> Option<Seen> {
        let path = self.place(call, at)?;
        self.opens_path(call, &path, flags)
    }

    fn opens_path(&mut self, call: &Call, path: &Path, flags: i32) -> Option<Seen> {
        if path == Path::new("/dev/fuse") {
            self.has_fuse = true;
            let program = self.program_of(call.pid);
            self.record.gap(format!("{program} serves a file system of its own, whose files were not looked at"));
        }
        if self.is_silent(path) {
            return None;
        }
        let writes = flags & libc::O_ACCMODE != libc::O_RDONLY || flags & libc::O_TRUNC != 0;
        let reads = flags & libc::O_ACCMODE != libc::O_WRONLY && flags & libc::O_TRUNC == 0;
        let found = self.find(call.pid, path);
        if let (Found::File(file), false) = (&found, writes)
            && !self.finds(call.pid, path, file)
        {
            return None;
        }
        if let (Found::File(file), Some(scrutiny)) = (&found, &mut self.scrutiny)
            && flags & libc::O_TRUNC != 0
        {
            scrutiny.makes(call.pid, path, Some(file));
        }
        if is_noise(path) {
            return None;
        }
        match found {
            Found::Other => None,
            Found::Nothing if flags & libc::O_CREAT != 0 => Some(self.makes(call.pid, path)),
            Found::Nothing => Some(self.misses(call, path)),
            Found::File(_) | Found::Unasked => {
                let opened = || Item::Opened(Opened { path: text(path), by: self.program_of(call.pid) });
                let items = [reads.then(opened), writes.then(|| Item::Made(text(path)))];
                Some(Seen(items.into_iter().flatten().collect()))
            }
        }
    }

    fn asks(&mut self, call: &Call, at: At) -> Option<Seen> {
        let path = self.place(call, at).filter(|path| !self.is_silent(path))?;
        match self.find(call.pid, &path) {
            Found::Nothing => Some(self.misses(call, &path)),
            Found::File(file) => {
                let scrutiny = self.scrutiny.as_mut()?;
                self.hides = scrutiny.hides(&file);
                if self.hides {
                    return None;
                }
                scrutiny.asks(call.pid, &path, &file, || program_of(call.pid));
                // What is compiled already is not opened any more.
                let is_module = scrutiny.is_module_inside(&path);
                is_module.then(|| Seen(vec![Item::Opened(Opened { path: text(&path), by: String::new() })]))
            }
            Found::Other | Found::Unasked => None,
        }
    }

    fn misses(&self, call: &Call, path: &Path) -> Seen {
        if self.scrutiny.is_some() {
            return Seen::default();
        }
        Seen(vec![Item::Missed(Opened { path: text(path), by: self.program_of(call.pid) })])
    }

    fn makes(&mut self, pid: i32, path: &Path) -> Seen {
        self.scrutiny.iter_mut().for_each(|scrutiny| scrutiny.makes(pid, path, None));
        Seen(if is_noise(path) { Vec::new() } else { vec![Item::Made(text(path))] })
    }

    fn executes(&mut self, call: &Call, at: At, argv: usize) -> Option<Seen> {
        let given = self.path(call, call.arg(at.path))?;
        let program = self.place(call, at)?;
        match self.find(call.pid, &program) {
            Found::File(file) if file.mode() & 0o111 == 0 => return None,
            Found::File(file) => {
                if !self.finds(call.pid, &program, &file) {
                    return None;
                }
                self.note_power(&program, &file);
            }
            Found::Unasked => {}
            Found::Other => return None,
            Found::Nothing => return Some(self.misses(call, &program)),
        }
        let args = self.args(call, call.arg(argv));
        Some(self.execution(call.pid, &program, given, args))
    }

    /// A program that a process has become or is to become, and its interpreters.
    fn execution(&mut self, pid: i32, program: &Path, mut given: PathBuf, args: Vec<String>) -> Seen {
        let folder = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        let mut executed = Executed { program: text(program), args, folder: text(&folder) };
        let mut seen = vec![Item::Executed(executed.clone())];
        let mut file = program.to_owned();
        // The kernel opens the interpreter of a script by itself.
        for _ in 0..INTERPRETERS {
            let interpreter = if self.has_fuse { None } else { interpreter(&self.seen_by(pid, &file)) };
            let Some((interpreter, argument)) = interpreter else { break };
            let words = [Some(text(Path::new(&interpreter))), argument, Some(text(&given))];
            let rest = executed.args.into_iter().skip(1);
            file = self.absolute(pid, &folder, Path::new(&interpreter));
            if let Found::File(found) = self.find(pid, &file) {
                self.finds(pid, &file, &found);
            }
            let args = words.into_iter().flatten().chain(rest).collect();
            executed = Executed { program: text(&file), args, folder: executed.folder };
            seen.push(Item::Executed(executed.clone()));
            given = interpreter.into();
        }
        Seen(seen)
    }

    fn note_power(&mut self, program: &Path, file: &Metadata) {
        let has_power = file.mode() & libc::S_ISUID != 0 && file.uid() != self.user;
        if self.is_weakened && has_power {
            let program = text(program);
            self.record
                .gap(format!("{program} is a set-uid program, which has no power of its own while it is watched"));
        }
    }

    /// What is at a path, for the process of this call.
    fn find(&mut self, pid: i32, path: &Path) -> Found {
        if self.has_fuse {
            return Found::Unasked;
        }
        let seen = fs::metadata(self.seen_by(pid, path));
        if self.has_mounts {
            let here = fs::metadata(path);
            let same = match (&seen, &here) {
                (Ok(seen), Ok(here)) => (seen.dev(), seen.ino()) == (here.dev(), here.ino()),
                (Err(seen), Err(here)) => seen.kind() == here.kind(),
                _ => false,
            };
            if !same {
                let program = self.program_of(pid);
                self.record.gap(format!("{program} saw other files than there are, under mounts or a root of its own"));
            }
        }
        match seen {
            Ok(file) if file.is_file() => Found::File(file),
            Err(error) if is_absent(&error) => Found::Nothing,
            Ok(_) | Err(_) => Found::Other,
        }
    }

    /// A path by which this process reaches the file that the path means to the process of the call.
    fn seen_by(&self, pid: i32, path: &Path) -> PathBuf {
        if !self.has_mounts {
            return path.to_owned();
        }
        let root = format!("/proc/{pid}/root");
        let inside = fs::read_link(&root).ok().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        Path::new(&root).join(inside.strip_prefix("/").unwrap_or(inside))
    }

    /// The absolute path that a call names.
    fn place(&mut self, call: &Call, at: At) -> Option<PathBuf> {
        let path = self.path(call, call.arg(at.path))?;
        if path.is_absolute() {
            return Some(self.absolute(call.pid, Path::new("/"), &path));
        }
        let folder = self.folder(call, at)?;
        // The folder's descriptor itself, as in `fexecve`.
        Some(if path.as_os_str().is_empty() { folder } else { self.absolute(call.pid, &folder, &path) })
    }

    /// The folder to which a call's path is relative.
    fn folder(&mut self, call: &Call, at: At) -> Option<PathBuf> {
        let link = match at.folder.map(|place| call.int(place)) {
            None | Some(libc::AT_FDCWD) => format!("/proc/{}/cwd", call.pid),
            Some(descriptor) => format!("/proc/{}/fd/{descriptor}", call.pid),
        };
        fs::read_link(link).map_err(|error| self.unreadable(call, &error)).ok()
    }

    /// An absolute path, of one that a process in this folder gave.
    fn absolute(&self, pid: i32, folder: &Path, path: &Path) -> PathBuf {
        if !path.is_absolute() {
            return self.tidied(folder.join(path));
        }
        if let Some(through) = through_proc(pid, path) {
            return through;
        }
        let root = if self.has_mounts { fs::read_link(format!("/proc/{pid}/root")).ok() } else { None };
        let path = match root {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        };
        self.tidied(path)
    }

    fn tidied(&self, path: PathBuf) -> PathBuf {
        if self.has_fuse { path } else { tidy(path) }
    }

    /// The path at an address in the process's memory.
    fn path(&mut self, call: &Call, address: u64) -> Option<PathBuf> {
        let bytes = memory::string(call.pid, address, LONGEST_PATH).map_err(|error| self.unreadable(call, &error));
        Some(PathBuf::from(OsString::from_vec(bytes.ok()??)))
    }

    /// The arguments of a program, from the array of pointers at an address.
    fn args(&mut self, call: &Call, address: u64) -> Vec<String> {
        let mut args = Vec::new();
        let mut left = LONGEST_ARGS;
        // The kernel takes a null pointer for an empty array.
        for place in (0..).take_while(|_| address != 0) {
            let pointer = self.words(call, address.wrapping_add(place * 8)).map(|[pointer]| pointer);
            let Some(pointer @ 1..) = pointer else { break };
            let string = memory::string(call.pid, pointer, left).map_err(|error| self.unreadable(call, &error));
            let Ok(string) = string else { break };
            let Some(bytes) = string else {
                let program = self.program_of(call.pid);
                self.record.gap(format!("{program} started a program with more arguments than are kept"));
                break;
            };
            left = left.saturating_sub(bytes.len() + 1);
            args.push(String::from_utf8_lossy(&bytes).into_owned());
        }
        args
    }

    /// Words at an address in the process's memory.
    fn words<const N: usize>(&mut self, call: &Call, address: u64) -> Option<[u64; N]> {
        memory::words(call.pid, address).map_err(|error| self.unreadable(call, &error)).ok()
    }

    /// Notes that a process may not be looked into. One that is gone does not matter, nor does a wrong address: the
    /// kernel will not read it either.
    fn unreadable(&mut self, call: &Call, error: &io::Error) {
        if matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES)) {
            let name = fs::read_to_string(format!("/proc/{}/comm", call.pid)).unwrap_or_default();
            self.record.gap(format!("the memory of {} may not be read", name.trim()));
        }
    }
}

impl Call {
    fn arg(&self, place: usize) -> u64 {
        self.args.get(place).copied().unwrap_or_default()
    }

    /// An argument that is a C `int`, in the lower half of its register.
    fn int(&self, place: usize) -> i32 {
        self.arg(place) as i32
    }
}

fn program_of(pid: i32) -> String {
    fs::read_link(format!("/proc/{pid}/exe")).map(|path| text(&path)).unwrap_or_default()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn is_noise(path: &Path) -> bool {
    NOISE.iter().any(|noise| path.starts_with(noise)) && !path.starts_with("/dev/shm")
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The file that a path below `/proc` means, such as `/proc/self/exe` or `/dev/fd/3`.
fn through_proc(pid: i32, path: &Path) -> Option<PathBuf> {
    let of_process = |place: &str, rest: &Path| Path::new("/proc").join(pid.to_string()).join(place).join(rest);
    let own = [("/proc/self", ""), ("/proc/thread-self", ""), ("/dev/fd", "fd"), ("/dev/stdin", "fd/0")];
    let own = own.iter().find_map(|(begin, place)| Some(of_process(place, path.strip_prefix(begin).ok()?)));
    let path = own.or_else(|| path.starts_with("/proc").then(|| path.to_owned()))?;
    fs::canonicalize(path).ok().filter(|path| !path.starts_with("/proc"))
}

/// The same path without `.` and `//`. What stands before `..` may be a link, so it is resolved.
fn tidy(path: PathBuf) -> PathBuf {
    let parts: Vec<Component<'_>> = path.components().collect();
    let Some(last) = parts.iter().rposition(|part| *part == Component::ParentDir) else {
        return parts.iter().collect();
    };
    let (head, tail) = parts.split_at(last + 1);
    let head: PathBuf = head.iter().collect();
    fs::canonicalize(&head).unwrap_or(head).join(tail.iter().collect::<PathBuf>())
}

/// The interpreter that the first line of a script names, and its argument.
fn interpreter(script: &Path) -> Option<(OsString, Option<String>)> {
    let file = plain_file::open(rustix::fs::CWD, script, Links::Follow).ok()?;
    let mut start = Vec::new();
    file.take(FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?.trim_ascii();
    let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    let (name, argument) = line.split_at(end);
    let argument = String::from_utf8_lossy(argument.trim_ascii()).into_owned();
    Some((OsStr::from_bytes(name).to_owned(), Some(argument).filter(|argument| !argument.is_empty())))
        .filter(|(name, _)| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_tidied_without_changing_what_it_means() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join("far/away")).unwrap();
        std::os::unix::fs::symlink("far/away", root.join("link")).unwrap();
        for (given, meant) in
            [("a/./b//c", "a/b/c"), ("link/../x", "far/x"), ("far/../link/./x", "link/x"), ("gone/../x", "gone/../x")]
        {
            assert_eq!(tidy(root.join(given)), root.join(meant), "{given}");
        }
    }

    #[test]
    fn the_first_line_of_a_script_names_its_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        let said = |text: &str| {
            fs::write(&script, text).unwrap();
            interpreter(&script)
        };
        assert_eq!(said("#!/bin/sh\necho"), Some(("/bin/sh".into(), None)));
        assert_eq!(
            said("#! /usr/bin/env  -S node -x \n"),
            Some(("/usr/bin/env".into(), Some("-S node -x".to_owned())))
        );
        assert_eq!(said("#!./run"), Some(("./run".into(), None)));
        assert_eq!((said("#!\n"), said("echo"), said("")), (None, None, None));
    }

    #[test]
    fn system_libraries_are_noise_and_projects_are_not() {
        for (path, noise) in [
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", true),
            ("/lib/ld.so", true),
            ("/proc/1/maps", true),
            ("/dev/shm/project/check.sh", false),
            ("/usr/libfoo/x", false),
            ("/home/a/lib/x.so", false),
            ("/usr/bin/make", false),
            ("/etc/gitconfig", false),
        ] {
            assert_eq!(is_noise(Path::new(path)), noise, "{path}");
        }
    }
}
