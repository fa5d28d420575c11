//! What a check used beside the tree, and which of it counts: a file that was made or changed there during the run can
//! decide the check, and nobody's word stands behind it. Packages that were added to a store of packages are ordinary
//! work; so is what belongs to the system, to git, or is pinned by its content.

use super::premises::{Premises, name};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A file outside of the tree that a check executed, read or asked for, and that was made or changed during the run
/// before the check itself did anything to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Used {
    /// Absolute.
    pub path: String,
    /// The program of the process that used it.
    pub by: String,
    /// Whether that happened in an earlier run, so that its content at the start of this one says nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier: bool,
}

/// A folder outside of the tree into which tools put packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Absolute.
    pub root: String,
    depth: Depth,
}

/// Where in a store its packages stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Its tool compares everything in it with the project's lock file, so that nobody has to look.
    Whole,
    /// So many folders below the root.
    Level(usize),
    /// Each file is one.
    File,
    /// The first name with an `@`.
    Versioned,
    /// Behind a folder `site-packages` or `dist-packages`.
    Python,
}

/// Stores: a variable that says where, else where in the home folder, and what below that. The first one counts.
const STORES: &[(&str, &str, &str, Depth)] = &[
    ("CARGO_HOME", ".cargo", "registry/index", Depth::Whole),
    ("CARGO_HOME", ".cargo", "registry/cache", Depth::Level(2)),
    ("CARGO_HOME", ".cargo", "registry/src", Depth::Level(2)),
    ("CARGO_HOME", ".cargo", "git/db", Depth::Whole),
    ("CARGO_HOME", ".cargo", "git/checkouts", Depth::Level(2)),
    ("GOMODCACHE", "", "cache", Depth::Whole),
    ("GOMODCACHE", "", "", Depth::Versioned),
    ("GOPATH", "go", "pkg/mod/cache", Depth::Whole),
    ("GOPATH", "go", "pkg/mod", Depth::Versioned),
    ("npm_config_cache", ".npm", "_npx", Depth::Level(1)),
    ("npm_config_cache", ".npm", "", Depth::Whole),
    ("YARN_CACHE_FOLDER", ".cache/yarn", "", Depth::Level(2)),
    ("", ".yarn/berry/cache", "", Depth::Level(1)),
    ("", ".local/share/pnpm/store", "", Depth::Whole),
    ("", ".cache/pnpm", "", Depth::Whole),
    ("", ".cache/node/corepack", "", Depth::Level(3)),
    ("", ".bun/install/cache", "", Depth::Level(1)),
    ("DENO_DIR", ".cache/deno", "", Depth::File),
    ("PIP_CACHE_DIR", ".cache/pip", "", Depth::File),
    ("UV_CACHE_DIR", ".cache/uv", "archive-v0", Depth::Level(1)),
    ("UV_CACHE_DIR", ".cache/uv", "", Depth::File),
    ("PYTHONUSERBASE", ".local", "lib", Depth::Python),
    ("VIRTUAL_ENV", "", "lib", Depth::Python),
    ("CONDA_PREFIX", "", "lib", Depth::Python),
    ("", ".cache/pypoetry/virtualenvs", "", Depth::Python),
    ("WORKON_HOME", ".virtualenvs", "", Depth::Python),
    ("", ".local/share/virtualenvs", "", Depth::Python),
    ("PYENV_ROOT", ".pyenv", "versions", Depth::Python),
    ("", ".m2/repository", "", Depth::File),
    ("GRADLE_USER_HOME", ".gradle", "caches", Depth::File),
    ("GRADLE_USER_HOME", ".gradle", "wrapper/dists", Depth::Level(2)),
    ("", ".gem/ruby", "", Depth::Level(3)),
    ("", ".local/share/gem/ruby", "", Depth::Level(3)),
    ("COMPOSER_CACHE_DIR", ".cache/composer", "", Depth::File),
    ("NUGET_PACKAGES", ".nuget/packages", "", Depth::Level(2)),
];

/// What the system itself writes while it runs: states, caches of its own, where names lead, which time it is.
const OF_THE_SYSTEM: &[&str] = &[
    "/proc", "/sys", "/dev", "/run", "/var/run", "/var/cache", "/var/lib", "/var/log", "/var/spool",
    "/etc/ld.so.cache", "/etc/localtime", "/etc/resolv.conf", "/etc/hosts", "/etc/mtab", "/etc/adjtime",
];
/// Files that Python executes or asks for plugins wherever they are installed.
const EXECUTED: &[&str] = &["sitecustomize.py", "usercustomize.py", "entry_points.txt"];

/// The stores of this machine.
pub fn stores(premises: &dyn Premises) -> Vec<Store> {
    let home = premises.variable("HOME").filter(|home| home.starts_with('/'));
    let named = STORES.iter().filter_map(|(variable, in_home, below, depth)| {
        let said = Some(*variable).filter(|name| !name.is_empty()).and_then(|name| premises.variable(name));
        let said = said.filter(|folder| folder.starts_with('/'));
        let usual = || Some(format!("{}/{in_home}", home.as_deref()?)).filter(|_| !in_home.is_empty());
        let root = format!("{}/{below}", said.or_else(usual)?.trim_end_matches('/'));
        Some(Store { root: root.trim_end_matches('/').to_owned(), depth: *depth })
    });
    // Where the interpreter in the search path keeps its packages.
    let found = ["python3", "python"].iter().filter_map(|name| premises.find(name));
    let prefixes = found.filter_map(|found| premises.real(&found)).filter_map(|real| {
        let (bin, _) = real.rsplit_once('/')?;
        let (prefix, _) = bin.rsplit_once('/')?;
        prefix.starts_with('/').then(|| prefix.to_owned())
    });
    let prefixes: BTreeSet<String> = prefixes.collect();
    let python = prefixes.into_iter().map(|prefix| Store { root: format!("{prefix}/lib"), depth: Depth::Python });
    named.chain(python).collect()
}

impl Store {
    /// Whether it is worth a list of what is in it.
    pub fn is_listed(&self) -> bool {
        self.depth != Depth::Whole
    }

    /// The package to which a path below the root belongs, by its own path below it; `None` for what belongs to none, or
    /// stands above packages.
    pub fn package<'p>(&self, below: &'p str, is_folder: bool) -> Option<&'p str> {
        let ends = |number: usize| {
            let mut ends = below.match_indices('/').map(|(at, _)| at).chain([below.len()]);
            ends.nth(number.checked_sub(1)?).and_then(|end| below.get(..end))
        };
        match self.depth {
            Depth::Whole | Depth::File => (!is_folder).then_some(below),
            Depth::Level(level) => ends(level),
            Depth::Versioned => match below.split('/').position(|part| part.contains('@')) {
                Some(at) => ends(at + 1),
                None => (!is_folder).then_some(below),
            },
            Depth::Python => {
                let at = below.split('/').position(|part| matches!(part, "site-packages" | "dist-packages"))?;
                ends(at + 2)
            }
        }
    }

    /// Whether a folder below the root can have packages in it, and is none itself.
    pub fn leads_to_packages(&self, below: &str) -> bool {
        const DEEPEST: usize = 8;
        let deepest = if self.depth == Depth::Python { 4 } else { DEEPEST };
        let is_open = self.depth == Depth::File || below.split('/').count() <= deepest;
        is_open && self.package(below, true).is_none()
    }

    fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(&self.root)?.strip_prefix('/')
    }
}

/// Which packages stood in the stores when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Packages {
    /// Absolute paths.
    pub there: BTreeSet<String>,
    /// Roots of stores of which not all is listed.
    pub unlisted: BTreeSet<String>,
}

impl Packages {
    /// Whether a file belongs to a package that was added during the run.
    fn is_added(&self, stores: &[Store], path: &str) -> bool {
        let found = stores.iter().find_map(|store| Some((store, store.below(path)?)));
        let Some((store, below)) = found else { return false };
        let Some(package) = store.package(below, false) else { return false };
        let is_executed = || EXECUTED.contains(&name(path)) || path.ends_with(".pth");
        match store.depth {
            Depth::Whole => true,
            Depth::Python if is_executed() => false,
            _ => !self.unlisted.contains(&store.root) && !self.there.contains(&format!("{}/{package}", store.root)),
        }
    }
}

/// What a check used beside the tree and counts, each once. `is_pinned` says whether a file's content is compared with
/// the one at the start anyway.
pub fn counted_outside(
    used: &[Used],
    packages: &Packages,
    premises: &dyn Premises,
    is_pinned: impl Fn(&str) -> bool,
) -> Vec<String> {
    let stores = stores(premises);
    let home = premises.variable("HOME").unwrap_or_default();
    let of_git = [format!("{home}/.gitconfig"), format!("{home}/.config/git/config")];
    let is_below = |path: &str, folder: &str| {
        path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let counts = |used: &&Used| {
        let path = used.path.as_str();
        let of_the_system = OF_THE_SYSTEM.iter().any(|folder| is_below(path, folder)) && !is_below(path, "/dev/shm");
        // What of git's settings counts is pinned setting by setting.
        let is_setting = || of_git.iter().any(|file| file == path) && name(&used.by).starts_with("git");
        !of_the_system && !is_setting() && !packages.is_added(&stores, path) && (used.earlier || !is_pinned(path))
    };
    let counted: BTreeSet<String> = used.iter().filter(counts).map(|used| used.path.clone()).collect();
    counted.into_iter().collect()
}
