//! Starting git, or what stands in its place: it answers for the folder in which it is asked, and asks nobody
//! back.

use crate::checks;
use crate::process::{Command, Keeper};
use ralph_core::time::Millis;
use std::ffi::OsString;
use std::path::Path;

/// Variables that would make git answer for another repository; they do not belong in its environment.
pub(crate) const MISLEADING_VARIABLES: &[&str] = &["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"];

/// Runs git for ralph itself and returns what it printed, if it succeeded. No hook and no monitor that the
/// repository's own configuration names is started.
pub async fn run(keeper: &mut Keeper, folder: &Path, args: &[&str], patience: Millis) -> Result<Vec<u8>, String> {
    let alone = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];
    let mut command = command("git", alone.iter().chain(args), folder);
    // Reading must not wait for, or take, the index lock of somebody else's git.
    command.set.extend([("GIT_OPTIONAL_LOCKS".into(), "0".into()), ("LC_ALL".into(), "C".into())]);
    checks::capture(keeper, &command, patience).await
}

/// A program of version control, as people configured it.
pub(crate) fn command(program: &str, args: impl IntoIterator<Item = impl Into<OsString>>, folder: &Path) -> Command {
    Command {
        program: program.into(),
        args: args.into_iter().map(Into::into).collect(),
        folder: folder.to_owned(),
        // Nobody is there to type a password or to edit a text.
        set: vec![("GIT_TERMINAL_PROMPT".into(), "0".into()), ("GIT_EDITOR".into(), "true".into())],
        remove: MISLEADING_VARIABLES.iter().map(OsString::from).collect(),
    }
}
