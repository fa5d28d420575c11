//! The inner helper that starts a command and sees what it executes and opens: see [`crate::watching`].

#[cfg(target_os = "linux")]
mod linux;

use super::find::find_program;
use super::sys;
use crate::watching::{self, Order};
use ralph_core::judges::Watched;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The helper's whole life: `OUT [ORDER] -- program args…`. Gives the exit code, or the error that kept the program from starting.
pub fn watch_main(mut args: impl Iterator<Item = OsString>) -> Result<u8, String> {
    let usage = || format!("usage: ralph {} OUT [ORDER] -- PROGRAM [ARGS]", watching::WATCH_ARGUMENT);
    let (out, mut next) = (args.next().ok_or_else(usage)?, args.next());
    let mut order = None;
    if let Some(file) = next.take_if(|next| next != "--") {
        order = Some(Order::read(Path::new(&file)).map_err(|error| format!("{}: {error}", file.display()))?);
        next = args.next();
    }
    let name = next.filter(|dashes| dashes == "--").and_then(|_| args.next()).ok_or_else(usage)?;
    let helper = Helper { out: out.into(), order, name, args: args.collect() };
    helper.run().map_err(|error| format!("{}: {error}", helper.name.to_string_lossy()))
}

/// A command and where to write what is seen of it.
struct Helper {
    out: PathBuf,
    /// What is looked for beside the tree.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nothing can be watched here"))]
    order: Option<Order>,
    name: OsString,
    args: Vec<OsString>,
}

impl Helper {
    #[allow(clippy::disallowed_methods, reason = "the helper looks for the program as a shell does, as process/ may")]
    fn command(&self) -> io::Result<Command> {
        let program = find_program(&self.name, Path::new("."), std::env::var_os("PATH").as_deref())?;
        let mut command = Command::new(program);
        command.arg0(&self.name).args(&self.args);
        Ok(command)
    }

    /// Writes what was seen. A check must not fail because that cannot be written; a missing report is a gap to its reader.
    fn report(&self, watched: &Watched) {
        let _ = watching::write(&self.out, watched);
    }

    /// Becomes the command, which nobody watches.
    fn run_unwatched(&self, why: String) -> io::Result<u8> {
        self.report(&Watched { gap: why, ..Watched::default() });
        sys::unblock_signals();
        #[cfg(target_os = "linux")]
        rustix::process::set_child_subreaper(None)?;
        Err(self.command()?.exec())
    }

    #[cfg(not(target_os = "linux"))]
    fn run(&self) -> io::Result<u8> {
        self.run_unwatched("only on Linux can ralph watch what a check executes and opens".to_owned())
    }
}
