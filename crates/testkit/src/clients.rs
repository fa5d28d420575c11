//! Real agent programs, where `cargo xtask test` and `cargo xtask clients` put them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// An installed agent program.
pub struct Client {
    /// Its path; its base name is that of the program.
    pub path: PathBuf,
}

/// The folder with a link to each installed program and to the Node that some of them need.
fn folder() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("this crate is two folders deep");
    root.join("target/xtask-clients/bin")
}

/// The program of that name. Where it is not installed, the test that asked passes with a note on a
/// developer's machine and fails in CI, where nothing may be left out silently.
pub fn client(name: &str) -> Option<Client> {
    let path = folder().join(name);
    if path.exists() {
        return Some(Client { path });
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "the real {name} is not installed");
    eprintln!("note: the real {name} is not installed: this test does nothing here; to install it: cargo xtask test");
    None
}

impl Client {
    /// A `PATH` on which the program's own Node comes first.
    pub fn search_path(&self) -> OsString {
        let mut path = folder().into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
        path
    }
}
