//! Which packages stand in the stores of packages outside of the project.

use crate::aside::Stop;
use ralph_core::judges::{Packages, Store};
use ralph_core::trust::Span;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Packages of one store; whoever has more is told apart by nobody.
const MOST: usize = 100_000;
/// The file of trusted state that keeps the list.
const FILE: &str = "packages.json";

/// Lists what stands in these stores now, but for what was added there while agents of earlier runs worked. What the list
/// `before` those has counts, whoever put it there anew.
pub fn list(stores: &[Store], before: Packages, worked: &[Span], stop: &Stop) -> Packages {
    let mut packages = if worked.is_empty() { Packages::default() } else { before };
    let is_added = |path: &String| {
        let born = Path::new(path).symlink_metadata().and_then(|meta| meta.created()).ok();
        let born = born.and_then(|born| i64::try_from(born.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok());
        born.is_some_and(|born| worked.iter().any(|(from, until)| (from.0..=until.0).contains(&born)))
    };
    for store in stores.iter().filter(|store| store.is_listed()) {
        match list_one(store, stop) {
            Some(found) => packages.there.extend(found.into_iter().filter(|path| !is_added(path))),
            None => drop(packages.unlisted.insert(store.root.clone())),
        }
    }
    packages
}

/// Keeps the list in the project's trusted state.
pub fn keep(state: &Path, packages: &Packages) -> io::Result<()> {
    std::fs::write(state.join(FILE), serde_json::to_vec(packages)?)
}

/// The list that was kept last; `None` if there is none.
pub fn kept(state: &Path) -> Option<Packages> {
    serde_json::from_slice(&std::fs::read(state.join(FILE)).ok()?).ok()
}

/// Absolute paths of the packages in a store; `None` if there are too many, or nobody may look.
fn list_one(store: &Store, stop: &Stop) -> Option<Vec<String>> {
    let root = Path::new(&store.root);
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        let listing = match root.join(&folder).read_dir() {
            Ok(listing) => listing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(_) => return None,
        };
        for entry in listing {
            let entry = entry.ok().filter(|_| !stop.is_set() && found.len() < MOST)?;
            let path = folder.join(entry.file_name());
            // What has no name that is text is nobody's package.
            let Some(below) = path.to_str() else { continue };
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if store.package(below, is_folder) == Some(below) {
                found.push(format!("{}/{below}", store.root));
            } else if is_folder && store.leads_to_packages(below) {
                folders.push(path);
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pins::Machine;
    use crate::programs::Programs;
    use ralph_core::judges::{Used, counted_outside, stores};
    use ralph_core::time::WallTime;
    use std::ffi::OsString;

    #[test]
    fn packages_that_are_added_are_told_from_those_that_were_there() {
        let home = tempfile::tempdir().unwrap();
        // A function can capture nothing.
        thread_local!(static HOME: std::cell::RefCell<OsString> = const { std::cell::RefCell::new(OsString::new()) });
        HOME.with_borrow_mut(|at| *at = home.path().into());
        let machine = Machine::new(home.path(), Programs::new(home.path(), None), |name| {
            (name == "HOME").then(|| HOME.with_borrow(Clone::clone))
        });
        let write = |path: &str| {
            let file = home.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "x").unwrap();
            Used { path: file.display().to_string(), by: "/usr/bin/x".to_owned(), earlier: false }
        };
        let there = [
            ".cargo/registry/src/index/old-1.0.0/src/lib.rs",
            "go/pkg/mod/example.org/old@v1.0.0/a.go",
            ".local/lib/python3.11/site-packages/old/__init__.py",
            ".cache/pip/http/aa/old",
        ]
        .map(write);
        let packages = list(&stores(&machine), Packages::default(), &[], &Stop::default());
        keep(home.path(), &packages).unwrap();
        assert_eq!(kept(home.path()), Some(packages.clone()));
        let added = [
            ".cargo/registry/src/index/new-1.0.0/src/lib.rs",
            ".cargo/registry/index/index/.cache/se/rd/serde",
            "go/pkg/mod/example.org/new@v1.0.0/a.go",
            "go/pkg/mod/cache/download/example.org/new/@v/list",
            ".local/lib/python3.11/site-packages/new/__init__.py",
            ".cache/pip/http/aa/new",
            ".npm/_cacache/index-v5/aa/bb",
        ]
        .map(write);
        let others = [
            ".local/lib/python3.11/site-packages/easy.pth",
            ".local/lib/python3.11/site-packages/sitecustomize.py",
            ".cargo/bin/cargo-x",
            ".local/bin/x",
            ".testrc",
        ]
        .map(write);
        let counts = |used: &[Used]| counted_outside(used, &packages, &machine, |_| false).len();
        assert_eq!((counts(&there), counts(&added), counts(&others)), (there.len(), 0, others.len()));
        // A later run takes what agents added for added, and what they replaced for what was there.
        let worked = [(WallTime(0), WallTime(i64::MAX))];
        let later = list(&stores(&machine), packages.clone(), &worked, &Stop::default());
        let counts = |used: &[Used]| counted_outside(used, &later, &machine, |_| false).len();
        assert_eq!((counts(&there), counts(&added)), (there.len(), 0));
        let pinned = |path: &str| path.ends_with(".testrc");
        assert_eq!(counted_outside(&others, &packages, &machine, pinned).len(), others.len() - 1);
        // What an earlier run changed is not made better by what it is when this one begins.
        let earlier = others.map(|used| Used { earlier: true, ..used });
        assert_eq!(counted_outside(&earlier, &packages, &machine, pinned).len(), earlier.len());
    }
}
