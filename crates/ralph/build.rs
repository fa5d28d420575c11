//! Makes the start cheap on Linux, because ralph is started for every hook and every keeper.
//!
//! A position-independent program spends as long on its many thousand relocations at every start as
//! on everything else together, so it is linked at a fixed address. What is left is mostly the loading
//! of shared libraries: the unwinder is always linked in, and a release the system's library of C too.
//! Cargo's own way to that (`+crt-static`) cannot be had for the program alone, nor only where a
//! compiler has what it takes; so the linker finds, under the names it looks for, a script that names
//! the archive instead.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The libraries that Rust's own asks for, and the archives that stand in for them.
const ARCHIVES: [(&str, &[&str]); 7] = [
    ("gcc_s", &["gcc_eh", "gcc"]),
    ("util", &["util"]),
    ("rt", &["rt"]),
    ("pthread", &["pthread"]),
    ("m", &["m"]),
    ("dl", &["dl"]),
    ("c", &["c", "gcc_eh", "gcc"]),
];

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_OS") != "linux" || variable("CARGO_CFG_TARGET_ENV") != "gnu" {
        return Ok(());
    }
    println!("cargo:rustc-link-arg-bins=-no-pie");
    // Another target's compiler would have to be asked, and its name is only known to cargo.
    if variable("HOST") != variable("TARGET") {
        return Ok(());
    }
    let out = PathBuf::from(variable("OUT_DIR"));
    // Tests put a library before that of the system, to turn its clock; a release has no such need.
    let whole = variable("PROFILE") == "release" && links_statically(&out);
    let folder = out.join(if whole { "all-static" } else { "mostly-shared" });
    std::fs::create_dir_all(&folder)?;
    for (library, archives) in ARCHIVES.iter().take(if whole { ARCHIVES.len() } else { 1 }) {
        let paths: Option<Vec<String>> = archives.iter().map(|name| archive(name)).collect();
        let Some(paths) = paths else { continue };
        let script = format!("GROUP ( {} )\n", paths.join(" "));
        std::fs::write(folder.join(format!("lib{library}.so")), script)?;
    }
    println!("cargo:rustc-link-arg-bins=-L{}", folder.display());
    if whole {
        println!("cargo:rustc-link-arg-bins=-static");
    }
    Ok(())
}

/// Whether the compiler makes a static program, and has every archive by itself.
fn links_statically(folder: &Path) -> bool {
    let (source, program) = (folder.join("small.c"), folder.join("small"));
    std::fs::write(&source, "int main(void) { return 0; }\n").is_ok()
        && ARCHIVES.iter().all(|(_, archives)| archives.iter().all(|name| archive(name).is_some()))
        && cc().arg("-static").arg("-o").arg(program).arg(source).status().is_ok_and(|done| done.success())
}

/// Where the compiler has an archive: it answers with the bare name if it has none.
fn archive(name: &str) -> Option<String> {
    let asked = cc().arg(format!("-print-file-name=lib{name}.a")).output().ok()?;
    let path = String::from_utf8(asked.stdout).ok()?.trim().to_owned();
    Path::new(&path).is_absolute().then_some(path)
}

fn cc() -> Command {
    #[allow(clippy::disallowed_methods, reason = "while ralph is built there is no keeper to ask")]
    Command::new("cc")
}
