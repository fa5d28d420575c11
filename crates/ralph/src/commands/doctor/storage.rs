//! Where ralph writes: its state, the project's `.ralph`, and the room that is left.

use crate::project::Project;
use ralph_core::outcome::exit;
use ralph_host::look::{self, Disk};
use ralph_host::state_dir::{self, StateDirError};
use ralph_view::findings::Finding;
use std::io;
use std::path::Path;

/// Below this a journal and the logs of one iteration may not fit.
const TOO_LITTLE: u64 = 16 << 20;
/// Below this a night of logs may not fit.
const LITTLE: u64 = 1 << 30;
const ELSEWHERE: &str = "export RALPH_STATE_DIR=/a/folder/outside/the/project";

pub(super) fn findings(project: &Project) -> Vec<Finding> {
    let mut findings = vec![state(project), folder(project), room("disk", nearest(&project.state))];
    if !on_one_disk(nearest(&project.state), &project.root) {
        findings.push(room("disk project", &project.root));
    }
    findings
}

fn state(project: &Project) -> Finding {
    let folder = &project.state;
    if let Err(error) = state_dir::inspect(folder, &project.root) {
        // The same code as a run would end with.
        let code = if matches!(error, StateDirError::Io { .. }) { exit::IO } else { exit::USAGE };
        return Finding::problem("state", error.to_string(), code).fix(ELSEWHERE);
    }
    let shown = folder.display();
    match look::disk(nearest(folder)) {
        Disk::Local => Finding::ok("state", format!("{shown}, on a local disk")),
        Disk::Memory => {
            let detail = format!("{shown} is in memory: after a restart there is nothing to resume");
            Finding::note("state", detail).fix(ELSEWHERE)
        }
        Disk::Network => {
            let detail = format!("{shown} is on a network file system, whose locks and syncs may be promises only");
            Finding::note("state", detail).fix(ELSEWHERE)
        }
    }
}

fn folder(project: &Project) -> Finding {
    let own = project.root.join(".ralph");
    let refuse = |detail: String, fix: String| Finding::problem("project", detail, exit::USAGE).fix(fix);
    match look::kind(&own) {
        Some("directory") => {}
        None => {
            return match look::may_write(&project.root) {
                Ok(()) => Finding::ok("project", format!("{}; .ralph will be made", project.root.display())),
                Err(error) => {
                    let root = project.root.display();
                    refuse(format!("{root} cannot be written: {error}"), writable(&project.root, &error))
                }
            };
        }
        Some(kind) => {
            let detail = format!("{} is a {kind}, not a directory", own.display());
            return refuse(detail, format!("mv '{0}' '{0}.old'", own.display()));
        }
    }
    match look::may_write(&own) {
        Ok(()) => Finding::ok("project", project.root.display().to_string()),
        Err(error) => refuse(format!("{} cannot be written: {error}", own.display()), writable(&own, &error)),
    }
}

/// What to type about a folder that cannot be written: nobody's rights help on a disk that is read-only.
fn writable(folder: &Path, error: &io::Error) -> String {
    let folder = folder.display();
    if error.kind() == io::ErrorKind::ReadOnlyFilesystem {
        format!("findmnt -T '{folder}'")
    } else {
        format!("chmod u+wx '{folder}'")
    }
}

fn room(check: &str, path: &Path) -> Finding {
    match look::room(path) {
        Ok(free) if free < TOO_LITTLE => {
            Finding::problem(check, format!("only {} are free at {}", size(free), path.display()), exit::IO)
                .fix("df -h")
        }
        Ok(free) if free < LITTLE => {
            Finding::note(check, format!("{} are free at {}", size(free), path.display())).fix("df -h")
        }
        Ok(free) => Finding::ok(check, format!("{} are free", size(free))),
        Err(error) => {
            Finding::note(check, format!("the room at {} cannot be told: {error}", path.display())).fix("df -h")
        }
    }
}

/// The nearest part of a path that is there.
fn nearest(path: &Path) -> &Path {
    path.ancestors().find(|part| part.exists()).unwrap_or(path)
}

fn on_one_disk(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => one.dev() == other.dev(),
        _ => true,
    }
}

fn size(bytes: u64) -> String {
    match bytes >> 20 {
        mebibytes @ 0..10_240 => format!("{mebibytes} MiB"),
        mebibytes => format!("{} GiB", mebibytes >> 10),
    }
}
