//! What the agent tells about itself: how the test sees what ralph handed to the process.

use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::actions::{Agent, Stop};
use crate::files::write_whole;
use crate::system;
use crate::text::{expand, split_word};

/// Does the action if it is one of these.
pub fn perform(agent: &mut Agent, action: &str, rest: &str) -> Result<bool, Stop> {
    match action {
        "fds" => agent.out.line(open_files()?.as_bytes())?,
        "sigmask" => agent.out.write(signal_sets()?.as_bytes())?,
        "env" => {
            let value = std::env::var_os(rest.trim());
            agent.out.line(value.as_deref().map_or(b"(unset)", OsStrExt::as_bytes))?;
        }
        "env-all" => agent.out.write(&environment())?,
        "save-env" => write_whole(&expand(rest.trim())?, &environment())?,
        "cwd" => agent.out.line(std::env::current_dir()?.as_os_str().as_bytes())?,
        "tty" => match fs::OpenOptions::new().read(true).write(true).open("/dev/tty") {
            Ok(_) => agent.out.line(b"tty: opened")?,
            Err(error) => agent.out.line(format!("tty: {error}").as_bytes())?,
        },
        "ids" => agent.out.line(system::ids().as_bytes())?,
        "status" => agent.out.line(agent.status.to_string().as_bytes())?,
        "args" => agent.out.write(lines(&agent.arguments).as_bytes())?,
        "save-args" => write_whole(&expand(rest.trim())?, lines(&agent.arguments).as_bytes())?,
        "expect-arg" if !agent.arguments.iter().any(|argument| argument.contains(rest)) => {
            return Err(Stop::Unmet(format!("no argument has {rest:?}: {:?}", agent.arguments)));
        }
        "expect-env" => expect_env(rest)?,
        "expect-arg" => {}
        _ => return Ok(false),
    }
    Ok(true)
}

/// `NAME VALUE`, or `NAME` alone for a variable that must be unset.
fn expect_env(rest: &str) -> Result<(), Stop> {
    let (name, value) = split_word(rest);
    let found = std::env::var_os(name);
    let met = match &found {
        Some(found) => rest.contains(' ') && *found == *value,
        None => !rest.contains(' '),
    };
    if met { Ok(()) } else { Err(Stop::Unmet(format!("{name} is {found:?}, not {value:?}"))) }
}

/// `fds: 0 1 2`, and what is behind every descriptor beyond the standard streams.
fn open_files() -> Result<String, Stop> {
    let mut found: Vec<(u32, String)> = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        let entry = entry?;
        let target = fs::read_link(entry.path()).unwrap_or_default();
        found.extend(entry.file_name().to_string_lossy().parse().ok().map(|fd| (fd, target.display().to_string())));
    }
    // The descriptor that read the folder is in the list and closed by now.
    found.retain(|(fd, _)| system::is_open(*fd));
    found.sort();
    let shown = found.iter().map(|(fd, target)| if *fd <= 2 { fd.to_string() } else { format!("{fd}={target}") });
    Ok(format!("fds: {}", shown.collect::<Vec<_>>().join(" ")))
}

/// `blocked: none`, `ignored: PIPE` from the kernel's own account; 32 and 33 belong to the C library.
fn signal_sets() -> Result<String, Stop> {
    let status = fs::read_to_string("/proc/self/status")?;
    let set = |key: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().trim();
        let mask = u64::from_str_radix(mask, 16).unwrap_or(u64::MAX);
        let names: Vec<String> = (1..=64)
            .filter(|signal| mask >> (signal - 1) & 1 == 1 && !matches!(signal, 32 | 33))
            .map(system::signal_name)
            .collect();
        if names.is_empty() { "none".to_owned() } else { names.join(" ") }
    };
    Ok(format!("blocked: {}\nignored: {}\n", set("SigBlk:"), set("SigIgn:")))
}

fn environment() -> Vec<u8> {
    let mut all: Vec<Vec<u8>> =
        std::env::vars_os().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes(), b"\n"].concat()).collect();
    all.sort();
    all.concat()
}

fn lines(words: &[String]) -> String {
    words.iter().map(|word| format!("{word}\n")).collect()
}
