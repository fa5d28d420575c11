//! Where ralph's own words end up: files that grow while it speaks, and are no work of an agent.

use rustix::fs::{FileType, fstat};

/// The files into which standard output and standard error go, by device and inode: directly, or from pipes by
/// programs like `tee` that the same shell started. What runs below ralph is no audience, whatever it holds open.
pub(crate) fn files() -> Vec<(u64, u64)> {
    let (mut files, mut pipes) = (Vec::new(), Vec::new());
    for stat in [fstat(rustix::stdio::stdout()), fstat(rustix::stdio::stderr())].into_iter().flatten() {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => files.push(crate::tree::file_of(&stat)),
            FileType::Fifo => pipes.push(stat.st_ino),
            _ => {}
        }
    }
    files.extend(readers::files(pipes));
    files
}

/// Elsewhere nobody can see what a pipe's reader does.
#[cfg(not(target_os = "linux"))]
mod readers {
    pub(super) fn files(_pipes: Vec<u64>) -> Vec<(u64, u64)> {
        Vec::new()
    }
}

#[cfg(target_os = "linux")]
mod readers {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::path::Path;

    /// Shells around ralph whose other children may read what it says.
    const AROUND: usize = 2;

    #[derive(Default)]
    struct Process {
        reads: Vec<u64>,
        pipes: Vec<u64>,
        files: Vec<(u64, u64)>,
    }

    /// The files that are written by whoever reads these pipes, or pipes that are written by those.
    pub(super) fn files(mut pipes: Vec<u64>) -> Vec<(u64, u64)> {
        let mut files = Vec::new();
        if pipes.is_empty() {
            return files;
        }
        let mut others = others();
        while let Some(pipe) = pipes.pop() {
            let (readers, rest) = others.into_iter().partition(|process| process.reads.contains(&pipe));
            others = rest;
            for Process { pipes: further, files: written, .. } in readers as Vec<Process> {
                pipes.extend(further);
                files.extend(written);
            }
        }
        files
    }

    /// The rest of the pipeline: what was started beside this process, or beside the shell around it. To look at
    /// every process of a machine would take longer than all else that is done before an agent starts.
    fn others() -> Vec<Process> {
        let mut inner = std::process::id().cast_signed();
        let mut others = Vec::new();
        for _ in 0..AROUND {
            let Some(outer) = crate::process::parent_of(inner) else { break };
            let children = std::fs::read_to_string(format!("/proc/{outer}/task/{outer}/children")).unwrap_or_default();
            let beside = children.split_whitespace().filter_map(|pid| pid.parse().ok()).filter(|pid| *pid != inner);
            others.extend(beside.filter_map(Process::of));
            inner = outer;
        }
        others
    }

    impl Process {
        /// What it has open; `None` if it is gone or somebody else's.
        fn of(pid: i32) -> Option<Process> {
            let folder = Path::new("/proc").join(pid.to_string());
            let mut process = Process::default();
            for entry in std::fs::read_dir(folder.join("fd")).ok()?.flatten() {
                let Ok(open) = std::fs::metadata(entry.path()) else { continue };
                let (is_pipe, is_file) = (open.file_type().is_fifo(), open.is_file());
                if !is_pipe && !is_file {
                    continue;
                }
                match (is_pipe, writes(&folder.join("fdinfo").join(entry.file_name()))) {
                    (true, Some(false)) => process.reads.push(open.ino()),
                    (true, Some(true)) => process.pipes.push(open.ino()),
                    (false, Some(true)) => process.files.push((open.dev(), open.ino())),
                    _ => {}
                }
            }
            Some(process)
        }
    }

    /// Whether something is open for writing, by its flags: the last two bits are zero for reading alone.
    fn writes(fdinfo: &Path) -> Option<bool> {
        let info = std::fs::read_to_string(fdinfo).ok()?;
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
        Some(u32::from_str_radix(flags.trim(), 8).ok()? & 3 != 0)
    }
}
