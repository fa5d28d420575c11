//! Makes the start cheap on Linux, because ralph is started for every hook and every keeper.
//!
//! A position-independent program spends as long on its many thousand relocations at every start as
//! on everything else together, so it is linked at a fixed address. The unwinder of the compiler's
//! own library is linked in where the compiler has it, which saves loading a shared one.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") != "linux" || target("ENV") != "gnu" {
        return;
    }
    println!("cargo:rustc-link-arg-bins=-no-pie");
    // Another target's compiler would have to be asked, and its name is only known to cargo.
    if std::env::var("HOST") != std::env::var("TARGET") {
        return;
    }
    #[allow(clippy::disallowed_methods, reason = "while ralph is built there is no keeper to ask")]
    let asked = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    let path = asked.map(|answer| String::from_utf8_lossy(&answer.stdout).trim().to_owned()).unwrap_or_default();
    if let Some(folder) = Path::new(&path).parent().filter(|folder| folder.is_absolute()) {
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static:+whole-archive=gcc_eh");
    }
}
