//! What runners consist of, where an agent can write: the packages of a program and those that they need.
//!
//! Each package is a judge of its own, by content: the same version installed again is no change, and neither is
//! another package beside them.

use super::learn::{Context, Learner};
use super::premises::{name, parent, place, upward};
use super::table::{self, Kit};
use super::{Part, Standing, Why};
use crate::evidence::is_assignment;
use serde_json::Value;
use std::collections::BTreeSet;

/// Packages of one runner.
const MOST_PACKAGES: usize = 2000;

impl Learner<'_> {
    /// Follows a runner's program, wherever it was found.
    pub(super) fn installed_at(&mut self, file: &str, program: &str) {
        if self.is_of_the_system(file) || !self.is_new(format!("installed {file}")) {
            return;
        }
        let real = self.premises.real(file).unwrap_or_else(|| file.to_owned());
        let kit = table::runner(program).map_or(Kit::None, |row| row.kit);
        let by_text = || {
            // pnpm's programs are small scripts that name the real one.
            let text = self.premises.read(file)?;
            let (_, target) = text.split_once("$basedir/")?;
            let target = target.split(['"', ' ', '\n']).next()?;
            self.premises.real(&place(self.premises.root(), parent(file), target))
        };
        let target = if real.contains("node_modules/.bin/") { by_text().unwrap_or(real) } else { real };
        if let Some(package) = node_package(&target) {
            return self.node_packages(&package, program);
        }
        if let Some(package) = target.split_once("vendor/").and_then(|(before, inner)| {
            let mut parts = inner.split('/');
            Some(format!("{before}vendor/{}/{}", parts.next().filter(|part| *part != "bin")?, parts.next()?))
        }) {
            return self.php_packages(&package, program);
        }
        if kit == Kit::Python || self.is_of_a_venv(file) {
            self.python_packages(file, program);
        }
    }

    /// The program that a version manager's shim leads to, with what decides that it does.
    pub(super) fn behind_shim(&mut self, file: &str, folder: &str) -> String {
        let Some((manager, program)) = file.split_once("/shims/") else { return file.to_owned() };
        let (manager, program) = (manager.to_owned(), program.to_owned());
        let why = || Why::Configures { runner: program.clone() };
        let around: Vec<String> = upward(folder).map(str::to_owned).collect();
        for chosen in [".python-version", ".tool-versions", ".ruby-version", ".node-version", ".mise.toml", "mise.toml"]
        {
            for folder in &around {
                let path = place(self.premises.root(), folder, chosen);
                self.judge(&path, Part::Whole, why(), false);
            }
        }
        let usual = format!("{manager}/version");
        self.judge(&usual, Part::Whole, why(), false);
        let own = around
            .iter()
            .find_map(|folder| self.premises.read(&place(self.premises.root(), folder, ".python-version")));
        let version = self.premises.variable("PYENV_VERSION").or(own).or_else(|| self.premises.read(&usual));
        let version = version.and_then(|text| text.split_whitespace().next().map(str::to_owned)).unwrap_or_default();
        let real = format!("{manager}/versions/{version}/bin/{program}");
        if self.premises.standing(&real) != Standing::File {
            return file.to_owned();
        }
        self.known.program(&real, &self.subject.id);
        real
    }

    /// The virtual environment in which a manager runs a program, where there is none yet: an agent may make one, and
    /// what it holds then is nobody's word. uv makes its own for a project, unless it is told not to.
    pub(super) fn environment(&mut self, manager: &str, args: &[String], command: &[String], folder: &str) {
        let options = args.get(..args.len().saturating_sub(command.len())).unwrap_or_default();
        let is_set = |name: &str| self.premises.variable(name).is_some_and(|value| !value.is_empty());
        if !super::premises::is_known(folder) || is_set("UV_PROJECT_ENVIRONMENT") {
            return;
        }
        let around: Vec<String> = upward(folder).map(str::to_owned).collect();
        let at = |folder: &str, file: &str| place(self.premises.root(), folder, file);
        if around.iter().any(|folder| self.premises.standing(&at(folder, ".venv")) != Standing::Nothing) {
            return;
        }
        const AS_IT_IS: [&str; 3] = ["--no-sync", "--no-project", "--active"];
        let told_not_to = options.iter().any(|word| AS_IT_IS.contains(&word.as_str())) || is_set("UV_NO_SYNC");
        let runner = manager.to_owned();
        let projects: Vec<String> = around
            .iter()
            .filter(|folder| self.premises.standing(&at(folder, "pyproject.toml")) == Standing::File)
            .map(|folder| at(folder, ".venv"))
            .collect();
        if manager == "uv" && !told_not_to && !projects.is_empty() {
            let why = Why::Environment { runner, own: true };
            return projects.iter().for_each(|venv| self.judge(venv, Part::Whole, why.clone(), false));
        }
        let Some(program) = command.iter().find(|word| !word.starts_with('-') && !is_assignment(word)) else { return };
        let program = name(program).to_owned();
        for folder in &around {
            let path = at(folder, &format!(".venv/bin/{program}"));
            self.judge(&path, Part::Whole, Why::Environment { runner: runner.clone(), own: false }, true);
        }
    }

    /// Whether a program belongs to a virtual environment of Python.
    pub(super) fn is_of_a_venv(&self, file: &str) -> bool {
        let described = format!("{}/pyvenv.cfg", parent(parent(file)));
        name(parent(file)) == "bin" && self.premises.standing(&described) == Standing::File
    }

    /// What the system's own package manager installs, no ordinary agent can write.
    pub(super) fn is_of_the_system(&self, path: &str) -> bool {
        let local = path.starts_with("/usr/local/");
        !local && ["/usr/", "/bin/", "/sbin/", "/lib/", "/nix/", "/snap/"].iter().any(|folder| path.starts_with(folder))
    }

    fn installed(&mut self, path: &str, runner: &str) {
        self.judge(path, Part::Whole, Why::Installed { runner: runner.to_owned() }, false);
    }

    fn node_packages(&mut self, package: &str, runner: &str) {
        let mut waiting = vec![package.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(folder) = waiting.pop() {
            if !seen.insert(folder.clone()) || self.is_of_the_system(&folder) || seen.len() > MOST_PACKAGES {
                continue;
            }
            self.installed(&folder, runner);
            let description: Value = self
                .premises
                .read(&format!("{folder}/package.json"))
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default();
            let needs = ["dependencies", "optionalDependencies", "peerDependencies"]
                .iter()
                .filter_map(|key| description.get(key)?.as_object());
            for need in needs.flatten().map(|(name, _)| name) {
                let folders = std::iter::successors(Some(folder.as_str()), |folder| {
                    (!folder.is_empty() && *folder != "/").then(|| parent(folder))
                });
                let places = folders.filter(|folder| name(folder) != "node_modules").map(|folder| {
                    if folder.is_empty() {
                        format!("node_modules/{need}")
                    } else {
                        format!("{folder}/node_modules/{need}")
                    }
                });
                let found = places.into_iter().find(|place| self.premises.standing(place) == Standing::Folder);
                let Some(found) = found else { continue };
                let real = self.premises.real(&found).unwrap_or_else(|| found.clone());
                // A link that leads elsewhere is another package.
                if real != found {
                    self.installed(&found, runner);
                }
                waiting.push(real);
            }
        }
    }

    fn php_packages(&mut self, package: &str, runner: &str) {
        let vendor = parent(parent(package)).to_owned();
        let mut waiting = vec![package.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(folder) = waiting.pop() {
            if !seen.insert(folder.clone()) || self.premises.standing(&folder) != Standing::Folder {
                continue;
            }
            self.installed(&folder, runner);
            let description: Value = self
                .premises
                .read(&format!("{folder}/composer.json"))
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default();
            let needs = description.get("require").and_then(Value::as_object).into_iter().flatten();
            waiting.extend(needs.filter(|(name, _)| name.contains('/')).map(|(name, _)| format!("{vendor}/{name}")));
        }
        for file in ["autoload.php", "composer/ClassLoader.php", "composer/platform_check.php"] {
            self.installed(&format!("{vendor}/{file}"), runner);
        }
    }

    /// The packages of a Python program beside the interpreter or environment that it belongs to.
    pub(super) fn python_packages(&mut self, file: &str, program: &str) {
        if self.is_of_the_system(file) {
            return;
        }
        let environment = parent(parent(file)).to_owned();
        let at =
            |inside: &str| if environment.is_empty() { inside.to_owned() } else { format!("{environment}/{inside}") };
        self.installed_if_there(&at("pyvenv.cfg"), program);
        for version in self.premises.list(&at("lib")).into_iter().filter(|name| name.starts_with("python")) {
            for folder in ["site-packages", "dist-packages"] {
                let site = at(&format!("lib/{version}/{folder}"));
                if self.premises.standing(&site) == Standing::Folder {
                    self.site(&site, program);
                }
            }
        }
    }

    fn installed_if_there(&mut self, path: &str, runner: &str) {
        if self.premises.standing(path) != Standing::Nothing {
            self.installed(path, runner);
        }
    }

    /// A folder of Python packages: what is loaded at every start, and the program's package with those that it needs.
    fn site(&mut self, site: &str, program: &str) {
        self.start_files(site, program);
        let names = self.premises.list(site);
        let plain = |name: &str| name.to_lowercase().replace(['_', '.'], "-");
        let described = |wanted: &str| {
            let is_it = |name: &&String| {
                name.strip_suffix(".dist-info")
                    .and_then(|stem| stem.rsplit_once('-'))
                    .is_some_and(|(own, _)| plain(own) == plain(wanted))
            };
            names.iter().find(is_it).cloned()
        };
        let mut waiting = vec![program.replace("py.test", "pytest")];
        // Plugins are loaded because they are there.
        if matches!(program, "pytest" | "py.test" | "python") {
            let (file, text) = ("entry_points.txt".to_owned(), "[pytest11]".to_owned());
            let announces = |info: &&String| {
                self.premises.read(&format!("{site}/{info}/{file}")).is_some_and(|points| points.contains(&text))
            };
            let plugins = names.iter().filter(announces);
            waiting.extend(
                plugins.filter_map(|info| Some(info.strip_suffix(".dist-info")?.rsplit_once('-')?.0.to_owned())),
            );
            let why = Why::Installed { runner: program.to_owned() };
            self.judge(site, Part::Announced { file, text }, why, false);
        }
        let mut seen = BTreeSet::new();
        while let Some(wanted) = waiting.pop() {
            if !seen.insert(plain(&wanted)) || seen.len() > MOST_PACKAGES {
                continue;
            }
            let Some(info) = described(&wanted) else { continue };
            let record = self.premises.read(&format!("{site}/{info}/RECORD")).unwrap_or_default();
            let tops: BTreeSet<&str> = record.lines().filter_map(|line| line.split([',', '/']).next()).collect();
            for top in tops
                .into_iter()
                .filter(|top| !top.is_empty() && *top != ".." && *top != "__pycache__" && !top.ends_with(".dist-info"))
            {
                self.installed(&format!("{site}/{top}"), program);
            }
            self.installed_if_there(&format!("{site}/{info}/entry_points.txt"), program);
            let metadata = self.premises.read(&format!("{site}/{info}/METADATA")).unwrap_or_default();
            let needs = metadata
                .lines()
                .filter_map(|line| line.strip_prefix("Requires-Dist: "))
                .filter(|need| !need.contains("extra =="));
            waiting.extend(
                needs
                    .filter_map(|need| need.split(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).next())
                    .map(str::to_owned),
            );
        }
    }

    /// What Python loads from a folder at every start.
    fn start_files(&mut self, site: &str, program: &str) {
        self.judge(
            site,
            Part::Ending { ending: ".pth".to_owned() },
            Why::Installed { runner: program.to_owned() },
            false,
        );
        for file in ["sitecustomize.py", "usercustomize.py"] {
            self.judge(&format!("{site}/{file}"), Part::Whole, Why::Configures { runner: program.to_owned() }, false);
        }
    }

    /// What every start of Python reads: files of the folder, and of the user's own packages.
    pub(super) fn python_at(&mut self, folder: &str, context: &Context<'_>) {
        self.cache(String::new(), "PYTHONPYCACHEPREFIX");
        let why = || Why::Configures { runner: "python".to_owned() };
        let around: Vec<String> = upward(folder).map(str::to_owned).collect();
        let environment = context.setting.venv.clone().filter(|venv| !venv.is_empty());
        for venv in around.iter().map(|folder| place(self.premises.root(), folder, ".venv")).chain(environment) {
            if self.premises.standing(&format!("{venv}/pyvenv.cfg")) == Standing::File && context.setting.venv.is_some()
            {
                self.python_packages(&format!("{venv}/bin/python"), "python");
            }
        }
        if super::premises::is_known(folder) {
            for file in ["sitecustomize.py", "usercustomize.py"] {
                let path = place(self.premises.root(), folder, file);
                self.judge(&path, Part::Whole, why(), false);
            }
        }
        let python = self.premises.find("python3").and_then(|file| self.premises.real(&file));
        let version = python.as_deref().map(name).filter(|name| name.contains('.')).map(str::to_owned);
        if let (Some(home), Some(version)) = (self.premises.variable("HOME"), version) {
            let site = place(self.premises.root(), "", &format!("{home}/.local/lib/{version}/site-packages"));
            self.start_files(&site, "python");
        }
    }
}

/// The package that a file of Node belongs to.
fn node_package(file: &str) -> Option<String> {
    let at = file.rfind("node_modules/")? + "node_modules/".len();
    let (before, inside) = (file.get(..at)?, file.get(at..)?);
    let mut parts = inside.split('/');
    let first = parts.next().filter(|first| !first.is_empty() && !first.starts_with('.'))?;
    let package = if first.starts_with('@') { format!("{first}/{}", parts.next()?) } else { first.to_owned() };
    Some(format!("{before}{package}"))
}
