//! Links the program at a fixed address on Linux: a position-independent one spends as long on its
//! many thousand relocations at every start as on everything else together, and ralph is started
//! for every hook and every keeper.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
