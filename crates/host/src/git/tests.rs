//! With real repositories, hooks and filters: what git does with them is part of what is tested.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests need real git")]

use super::*;
use crate::aside::Stop;
use crate::clock::Clock;
use crate::scm::{self, Committed, OwnCommit, commit, committed, left_out};
use crate::tree::Fingerprinter;
use ralph_core::protect::RepositoryIdentity;
use std::cell::RefCell;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Stdio;
use std::sync::Arc;

thread_local! {
    /// Where git of this test finds the user's settings.
    static HOME: RefCell<PathBuf> = RefCell::default();
}

fn variable(name: &str) -> Option<OsString> {
    (name == "HOME").then(|| HOME.with_borrow(|home| home.clone().into()))
}

fn environment(command: &mut std::process::Command) {
    command.env_clear().env("HOME", HOME.with_borrow(PathBuf::clone)).env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("GIT_ALLOW_PROTOCOL", "file");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "n").env(format!("GIT_{who}_EMAIL"), "n@example.org");
    }
}

/// Runs a command without a keeper.
pub(super) fn ask_directly(command: &Command, stdin: &[u8], sink: &mut impl Sink) -> Result<(), GitError> {
    let mut started = std::process::Command::new(&command.program);
    started.args(&command.args).current_dir(&command.folder);
    environment(&mut started);
    started.envs(command.set.iter().cloned());
    started.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = started.spawn().map_err(|error| GitError::Fault(error.to_string()))?;
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    let writing = std::thread::spawn(move || _ = pipe.write_all(&stdin));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    sink.stdout(&Arc::new(output.stdout));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(GitError::Refused(said)) }
}

/// A repository with a home, a folder of ralph and pins.
struct Place {
    guard: tempfile::TempDir,
    root: PathBuf,
    pins: Pins,
    /// One that remembers, as a run has it.
    fingerprinter: RefCell<Fingerprinter>,
}

impl Place {
    /// One commit, nothing pinned yet.
    fn new() -> Place {
        let guard = tempfile::tempdir().unwrap();
        let base = guard.path().canonicalize().unwrap();
        for folder in ["home", "own", "scratch", "outside", "tree"] {
            std::fs::create_dir(base.join(folder)).unwrap();
        }
        HOME.set(base.join("home"));
        let root = base.join("tree");
        let place = Place { guard, root, pins: Pins::default(), fingerprinter: RefCell::default() };
        place.sh("git init -q -b main; mkdir folder; echo a > a.txt; echo b > folder/b.txt; echo '*.log' > .gitignore");
        place.sh("echo 'build/' >> .gitignore; git add -A; git commit -q -m first");
        place
    }

    /// The same, pinned after this was done.
    async fn pinned(script: &str) -> Place {
        let mut place = Place::new();
        place.sh(script);
        place.pin().await;
        place
    }

    async fn pin(&mut self) {
        let scratch = self.base("scratch");
        let pinning = Pinning { root: &self.root, scratch: &scratch, patience: Millis::ZERO, variable };
        let git = pin(&mut Keeper::absent(), pinning).await.unwrap();
        self.pins = Pins {
            git,
            repository: tree::parts(&self.root),
            tree_seen: true,
            began: Some(Clock::start().now()),
            ..Pins::default()
        };
    }

    fn base(&self, name: &str) -> PathBuf {
        self.guard.path().canonicalize().unwrap().join(name)
    }

    /// Runs a script in the tree, whose neighbours are `../outside` and `../own`, and returns what it printed.
    fn sh(&self, script: &str) -> String {
        let mut command = std::process::Command::new("bash");
        command.args(["-euc", script]).current_dir(&self.root);
        environment(&mut command);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    async fn listed(&self) -> Result<Listing, Unlisted> {
        let (scratch, own) = (self.base("scratch"), [self.base("own")]);
        let on = Inquiry { root: &self.root, pins: &self.pins, scratch: &scratch, patience: Millis::ZERO, own: &own };
        list_tree(&mut Keeper::absent(), on).await
    }

    /// The fingerprint, and what is wrong with the tree.
    async fn look(&self) -> (String, Vec<PinnedChange>) {
        let mut listing = match self.listed().await {
            Ok(listing) => listing,
            Err(unlisted) => return (String::new(), unlisted.changes),
        };
        let print = self.fingerprinter.borrow_mut().print(&mut listing, &Stop::default());
        let TreePrint::Seen { tree, .. } = print else { panic!("{print:?}") };
        (tree, listing.changes)
    }

    async fn words(&self) -> Vec<String> {
        self.look().await.1.iter().map(PinnedChange::words).collect()
    }

    /// What was written since the start and is not in the last commit.
    async fn left_out(&self) -> Vec<String> {
        let (scratch, own) = (self.base("scratch"), [self.base("own")]);
        let on = Inquiry { root: &self.root, pins: &self.pins, scratch: &scratch, patience: Millis::ZERO, own: &own };
        let found = left_out(&mut Keeper::absent(), on, self.pins.began.unwrap()).await.unwrap();
        found.iter().map(|path| path.display().to_string()).collect()
    }

    async fn committed(&self) -> Committed {
        let (scratch, own) = (self.base("scratch"), [self.base("own")]);
        let on = Inquiry { root: &self.root, pins: &self.pins, scratch: &scratch, patience: Millis::ZERO, own: &own };
        committed(&mut Keeper::absent(), on).await.unwrap()
    }
}

/// After `hide`, the work of an agent is changed by `edit`; both are seen.
async fn hidden(at_start: &str, hide: &str, edit: &str) -> Place {
    let place = Place::pinned(at_start).await;
    let before = place.look().await.0;
    place.sh(hide);
    let first = place.look().await.0;
    assert_ne!(first, before, "{hide}");
    place.sh(edit);
    let second = place.look().await.0;
    assert_ne!(second, first, "{hide}; {edit}");
    // Who remembers sees what somebody sees who does not.
    let fresh = Fingerprinter::default().print(&mut place.listed().await.unwrap(), &Stop::default());
    assert!(matches!(fresh, TreePrint::Seen { tree, .. } if tree == second));
    place
}

#[tokio::test]
async fn what_became_ignored_during_the_run_counts() {
    for hide in [
        "echo 1 > work.txt; echo work.txt >> .git/info/exclude",
        "echo 1 > work.txt; echo work.txt >> .gitignore",
        "echo 1 > work.txt; printf '/work.txt\\n/.gitignore\\n' > .git/info/exclude",
        "echo 1 > work.txt; mkdir -p ~/.config/git; echo '*' > ~/.config/git/ignore",
        "echo 1 > work.txt; echo '*' > ../outside/x; git config core.excludesFile $PWD/../outside/x",
        "echo 1 > work.txt; echo '*' > ../outside/x; git config --global core.excludesFile $PWD/../outside/x",
        "mkdir new; echo '*' > new/.gitignore; echo 1 > new/work; ln -s new/work work.txt",
    ] {
        hidden("", hide, "echo 2 > work.txt").await;
    }
    hidden("", "echo '*' > folder/.gitignore; echo 1 > folder/x", "echo 2 > folder/x").await;
    hidden("", "mkdir -p d/e; echo '/e/' > d/.gitignore; echo 1 > d/e/x", "echo 2 > d/e/x").await;
}

#[tokio::test]
async fn what_was_ignored_at_the_start_stays_ignored_whatever_becomes_of_the_rules() {
    let at_start = "mkdir -p build deep/er ~/.config/git; echo x > build/x; echo x > deep/er/o.tmp; echo x > a.log
        printf '*.tmp\\n!keep.tmp\\n' > deep/.gitignore; echo '/er/hidden' > deep/.gitignore2; echo x > deep/er/keep.tmp
        echo '*.swp' > ~/.config/git/ignore; echo x > a.swp; echo mine > .git/info/exclude; echo x > mine
        mkdir own; echo '*' > own/.gitignore; echo x > own/x";
    let place = Place::pinned(at_start).await;
    let before = place.look().await.0;
    place.sh("for file in build/x deep/er/o.tmp a.log a.swp mine own/x; do echo changed > $file; done");
    assert_eq!(place.look().await.0, before);
    place.sh("rm ~/.config/git/ignore .git/info/exclude");
    assert_eq!(place.look().await.0, before);
    place.sh("echo changed > deep/er/keep.tmp");
    assert_ne!(place.look().await.0, before, "a rule that takes back another one");
    place.sh("echo x > deep/er/keep.tmp; rm .gitignore deep/.gitignore");
    let without_rules = place.look().await.0;
    assert_ne!(without_rules, before, "the rules themselves are work");
    place.sh("for file in build/x deep/er/o.tmp a.log a.swp mine own/x; do echo again > $file; done");
    assert_eq!(place.look().await.0, without_rules);
}

#[tokio::test]
async fn no_trick_with_the_index_hides_a_content() {
    for hide in [
        "echo 1 > a.txt; git update-index --assume-unchanged a.txt",
        "echo 1 > a.txt; git update-index --skip-worktree a.txt",
        "echo 1 > a.txt; git config core.worktree /tmp",
        "echo 1 > a.txt; git rm -q --cached a.txt; echo a.txt >> .git/info/exclude",
        "echo 1 > a.txt; git sparse-checkout set --no-cone /folder/ 2>/dev/null; test -e a.txt || echo 1 > a.txt",
        "echo 1 > a.txt; git config core.bare true",
        "echo 1 > a.txt; git rm -q --cached -r .; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),folder",
        "echo 1 > a.txt; rm .git/index",
        "echo 1 > a.txt; echo broken > .git/index",
    ] {
        hidden("", hide, "echo 2 > a.txt").await;
    }
    // A file that is tracked though it is ignored.
    let at_start = "mkdir build; echo 0 > build/kept; git add -f build/kept; git commit -q -m kept";
    hidden(at_start, "git rm -q --cached build/kept", "echo 2 > build/kept").await;
}

#[tokio::test]
async fn links_count_with_what_they_lead_to() {
    hidden("", "echo 1 > ../outside/w; ln -s ../outside/w work", "echo 2 > ../outside/w").await;
    hidden("", "echo 1 > ../outside/w; ln -s $PWD/../outside/w work", "chmod +x ../outside/w").await;
    hidden(
        "",
        "mkdir -p ../outside/d/e; echo 1 > ../outside/d/e/w; ln -s ../outside/d work",
        "echo 2 > ../outside/d/e/w",
    )
    .await;
    hidden("", "mkdir ../outside/d; ln -s ../outside/d work", "echo 2 > ../outside/d/new").await;
    hidden("", "echo 1 > ../outside/w; ln -s w ../outside/x; ln -s ../outside/x work", "echo 2 > ../outside/w").await;
    hidden(
        "",
        "mkdir ../outside/{d,e}; echo 1 > ../outside/e/w; ln -s ../e ../outside/d/e; ln -s ../outside/d work",
        "echo 2 > ../outside/e/w",
    )
    .await;
    hidden("", "mkdir build; echo 1 > build/w; ln -s build/w work", "echo 2 > build/w").await;
    hidden("", "mkdir build; echo 1 > build/w; ln -s build work", "echo 2 > build/w").await;
    hidden("", "ln -s ../outside/later work", "echo 2 > ../outside/later").await;
    hidden("mkdir ../outside/d; ln -s ../outside/d work", "echo 1 > ../outside/d/w", "rm ../outside/d/w").await;
    hidden("", "git clone -q . ../outside/d; ln -s ../outside/d work", "echo 2 > ../outside/d/a.txt").await;
}

#[tokio::test]
async fn links_in_circles_and_to_what_is_listed_cost_nothing() {
    let place =
        Place::pinned("ln -s . self; ln -s .. up; ln -s loop loop; ln -s folder again; mkdir build; ln -s .. build/up")
            .await;
    place.sh("ln -s ../tree ../outside/tree; ln -s ../outside out; ln -s /dev/null null; ln -s missing gone");
    place.sh("ln -s /proc/uptime uptime; ln -s /proc process; ln -s /proc ../outside/process; ln -s /dev/zero zero");
    let before = place.look().await.0;
    // What is ignored is not looked at because something leads to all of it.
    place.sh("echo x > build/x; echo x > a.log; echo x > folder/b.log");
    assert_eq!(place.look().await.0, before);
    place.sh("echo x > folder/b.txt");
    assert_ne!(place.look().await.0, before);
}

#[tokio::test]
async fn repositories_inside_are_looked_into() {
    let module = "git clone -q . ../outside/m; git -c protocol.file.allow=always submodule --quiet add ../outside/m m
        git commit -q -m module";
    for (at_start, hide, edit) in [
        (module, "echo 1 > m/a.txt", "echo 2 > m/a.txt"),
        (module, "echo 1 > m/new", "echo 2 > m/new"),
        (module, "echo 1 > m/new; echo new > .git/modules/m/info/exclude", "echo 2 > m/new"),
        (module, "cd m; echo 1 > a.txt; git commit -q -a -m x", "cd m; git reset -q --soft HEAD~1"),
        (module, "git submodule deinit -f m >/dev/null; echo 1 > m/new", "echo 2 > m/new"),
        (module, "cd m; git init -q deeper; echo 1 > deeper/x", "echo 2 > m/deeper/x"),
        ("", "git init -q inner; echo 1 > inner/x", "echo 2 > inner/x"),
        ("", "git init -q inner; echo 1 > inner/x; echo '*' > inner/.gitignore", "echo 2 > inner/x"),
        ("", "git clone -q . inner; echo x >> inner/.git/info/exclude; echo 1 > inner/x", "echo 2 > inner/x"),
        (
            "git init -q inner; echo 1 > inner/x",
            "echo x >> inner/.git/info/exclude; echo 2 > inner/x",
            "echo 3 > inner/x",
        ),
        (
            "git init -q inner",
            "git init -q inner/a; git init -q inner/a/b; echo 1 > inner/a/b/x; git init -q inner/a-b",
            "echo 2 > inner/a/b/x",
        ),
        ("", "mkdir -p fake/.git; echo 1 > fake/x", "echo 2 > fake/x"),
        ("", "mkdir fake; echo 'gitdir: /nowhere' > fake/.git; echo 1 > fake/x", "echo 2 > fake/x"),
    ] {
        hidden(at_start, hide, edit).await;
    }
    // What they ignored at the start stays ignored.
    let place = Place::pinned("git init -q inner; echo '*.o' > inner/.gitignore; echo 1 > inner/x.o").await;
    let before = place.look().await.0;
    place.sh("echo 2 > inner/x.o");
    assert_eq!(place.look().await.0, before);
}

#[tokio::test]
async fn a_repository_made_anew_is_told_and_can_be_brought_back() {
    for anew in [
        "git init -q -b main",
        "git init -q -b main; git add -A; git commit -q -m anew",
        "git init -q --separate-git-dir ../outside/other",
        "cp -r ../outside/old .git; rm -rf .git/objects; git init -q -b main 2>/dev/null; git add -A; git commit -q -m x || true",
    ] {
        let place = Place::pinned("").await;
        assert_eq!(place.words().await, [""; 0]);
        place.sh(&format!("mv .git ../outside/old; {anew}"));
        let told = place.words().await.join("; ");
        assert!(told.contains(".git was replaced by another repository"), "{anew}: {told}");
        place.sh("rm -rf .git; mv ../outside/old .git");
        assert_eq!(place.words().await, [""; 0]);
    }
}

#[tokio::test]
async fn honest_work_with_git_is_no_violation() {
    for script in [
        "git checkout -q -b topic; git commit -q --allow-empty -m x; git checkout -q main; git merge -q topic",
        "git commit -q --amend -m other; git reflog expire --expire=now --all; git gc -q --prune=now --aggressive",
        "git checkout -q --orphan fresh; git commit -q -m only; git branch -D -q main; git gc -q --prune=now",
        "git checkout -q -b one; echo 1 > one; git add one; git commit -q -m 1; git checkout -q main
         git commit -q --allow-empty -m 2; git rebase -q main one",
        "echo x > a.txt; git stash -q; git stash pop -q",
        "git init -q",
        "git worktree add -q ../outside/linked; git worktree remove ../outside/linked",
        "git config user.name somebody; git remote add origin /nowhere; git config branch.main.remote origin
         git config alias.x status; git config pull.rebase true; git config --global init.defaultBranch main",
        "git repack -q -a -d; git pack-refs --all; git fsck 2>/dev/null",
        "git sparse-checkout set --no-cone /folder/ /a.txt; git sparse-checkout disable",
        "cp -a .git ../outside/copy; rm -rf .git; mv ../outside/copy .git",
        "git tag v1; git notes add -m x; git bisect start -q; git bisect reset",
        "git clone -q . ../outside/m; git -c protocol.file.allow=always submodule --quiet add ../outside/m m
         git config -f .gitmodules submodule.m.update merge; git config submodule.m.update merge; git commit -q -m m",
        "echo '* text=auto eol=lf' > .gitattributes; git add -A; git commit -q -m attributes",
        "rm .git/hooks/own; git commit -q --allow-empty -m x",
        "cp .git/hooks/pre-commit.sample .git/hooks/mine.sample; touch .git/hooks/*",
    ] {
        let place = Place::pinned("echo exit 1 > .git/hooks/own").await;
        place.look().await;
        place.sh(script);
        assert_eq!(place.words().await, [""; 0], "{script}");
    }
}

#[tokio::test]
async fn a_linked_work_tree_is_looked_at_like_any_other() {
    let mut place = Place::new();
    place.sh("git worktree add -q ../outside/linked");
    place.root = place.base("outside/linked");
    place.pin().await;
    let before = place.look().await;
    assert_eq!(before.1, []);
    place.sh("echo x > work; git -C ../../tree commit -q --allow-empty -m elsewhere");
    let after = place.look().await;
    assert!(after.0 != before.0 && after.1.is_empty());
    place.sh("printf '#!/bin/sh' > ../../tree/.git/hooks/pre-commit; git config core.fsmonitor ./x");
    assert_eq!(place.words().await.len(), 2);
}

#[tokio::test]
async fn what_leads_into_ralphs_own_folders_is_told() {
    for lead in [
        "echo 1 > ../own/w; ln -s ../own/w work",
        "ln -s ../own/gone work",
        "ln -s $PWD/../own work",
        "ln -s ../own ../outside/way; ln -s ../outside/way/x/y work",
        "mkdir .ralph; echo 1 > .ralph/w; ln -s .ralph/w work",
        "mkdir .ralph; ln -s .ralph work",
        "git init -q inner; ln -s ../../own/w inner/work",
        "rm a.txt; ln -s ../own/a a.txt; git add -A; git commit -q -m link",
        "mv .git ../own/git; echo 'gitdir: ../own/git' > .git",
        "mv .git ../own/git; ln -s ../own/git .git",
        "mv .git/objects ../own/objects; ln -s ../../own/objects .git/objects",
        "cp -r .git/objects ../own/objects; echo $PWD/../own/objects > .git/objects/info/alternates",
        "git init -q --separate-git-dir ../own/inner inner",
    ] {
        let place = Place::pinned("").await;
        place.sh(lead);
        let told = place.words().await;
        assert!(told.iter().any(|told| told.contains("leads into ralph's own folder")), "{lead}: {told:?}");
    }
    for fine in [
        "mkdir .ralph; echo {} > .ralph/settings.json; ln -s .ralph/settings.json settings.json",
        "ln -s ../ownership x; ln -s ../outside y",
        "echo ../../outside > .git/objects/info/alternates",
    ] {
        let place = Place::pinned("").await;
        place.sh(fine);
        assert_eq!(place.words().await, [""; 0], "{fine}");
    }
}

#[tokio::test]
async fn a_pipe_is_told_at_once_and_never_opened() {
    for pipe in [
        "a.txt", ".gitattributes", ".gitignore", ".gitmodules", "folder/.gitattributes", ".git/index", ".git/config",
        ".git/HEAD", ".git/packed-refs", ".git/info/exclude", ".git/info/attributes", ".git/refs/heads/main",
        ".git/objects/pack/pack-1.idx", ".git/objects/info/alternates", "inner/.git/index", "inner/.git/config",
    ] {
        let place = Place::pinned("git init -q inner; echo 1 > inner/x").await;
        place.sh(&format!("rm -f {pipe}; mkfifo {pipe}"));
        let told = place.words().await;
        let expected = format!("{pipe} is a named pipe, which git would wait for: remove it");
        assert!(told.contains(&expected), "{pipe}: {told:?}");
    }
    let place = Place::pinned("").await;
    place.sh("rm -rf .git; mkfifo .git");
    assert_eq!(place.words().await, [".git is a named pipe, which git would wait for: remove it"]);
    // What a commit opens is more than what a listing does.
    let place = Place::pinned("").await;
    place.sh("mkdir -p new/folder; mkfifo new/folder/.gitignore");
    assert_eq!(tree::blocking_anywhere(&place.root).len(), 1);
    place.sh("rm -r new; object=$(ls .git/objects/??/* | head -1); rm -f $object; mkfifo $object");
    assert_eq!(tree::blocking_anywhere(&place.root).len(), 1);
}

/// What was done is told with a command, and the command undoes it.
async fn is_undone(place: &Place, what: &str, did: &str) {
    let (_, changes) = place.look().await;
    let undo: Vec<String> = changes
        .iter()
        .map(|change| match &change.how {
            Change::Undoable { undo, .. } if change.path.contains(what) => undo.clone(),
            _ => panic!("{did}: {}", change.words()),
        })
        .collect();
    assert!(!undo.is_empty(), "{did}");
    undo.iter().for_each(|undo| drop(place.sh(undo)));
    assert_eq!(place.words().await, [""; 0], "{did}: {undo:?}");
}

#[tokio::test]
async fn settings_that_execute_or_transform_are_told_and_can_be_undone() {
    let at_start =
        "git config filter.kept.clean cat; git config --add core.sshCommand 'ssh -v'; git config core.autocrlf false
        git config credential.helper 'store --file=x'; git config filter.kept.smudge 'it'\\''s'";
    for (what, script) in [
        ("core.hookspath", "git config core.hooksPath ../outside"),
        ("core.hookspath", "git config --global core.hooksPath ../outside"),
        ("filter.x.clean", "git config filter.x.clean 'sed s/a/b/'"),
        ("filter.x.process", "git config --global filter.x.process evil"),
        ("filter.kept.clean", "git config filter.kept.clean evil"),
        ("filter.kept.clean", "git config --add filter.kept.clean evil"),
        ("filter.kept.clean", "git config --unset filter.kept.clean"),
        ("filter.kept.smudge", "git config filter.kept.smudge evil"),
        ("filter.a b.c.clean", "git config 'filter.a b.c.clean' evil"),
        ("core.attributesfile", "git config core.attributesFile ../outside/x"),
        ("core.excludesfile", "git config core.excludesFile ../outside/x"),
        ("core.worktree", "git config core.worktree ../../outside"),
        ("core.fsmonitor", "git config core.fsmonitor ./x"),
        ("diff.x.textconv", "git config diff.x.textconv ./x"),
        ("diff.external", "git config diff.external ./x"),
        ("merge.x.driver", "git config merge.x.driver ./x"),
        ("core.sshcommand", "git config core.sshCommand ./x"),
        ("attr.tree", "git config attr.tree HEAD"),
        ("alias.sync", "git config alias.sync '!./x'"),
        ("gpg.program", "git config gpg.program ./x"),
        ("gpg.ssh.program", "git config gpg.ssh.program ./x"),
        ("credential.helper", "git config --add credential.https://x.helper '!evil'"),
        ("core.autocrlf", "git config core.autocrlf true"),
        ("protocol.ext.allow", "git config protocol.ext.allow always"),
        (
            "filter.y.clean",
            "printf '[filter \"y\"]\\nclean = x\\n' > ../outside/more; git config include.path $PWD/../outside/more",
        ),
        (
            "filter.y.clean",
            "printf '[filter \"y\"]\\nclean = x\\n' > ../outside/more
            git config --global includeIf.gitdir:/.path $PWD/../outside/more",
        ),
        ("filter.z.clean", "git config extensions.worktreeConfig true; git config --worktree filter.z.clean x"),
        ("filter.w.required", "mkdir -p ~/.config/git; printf '[filter \"w\"]\\nrequired\\n' > ~/.config/git/config"),
    ] {
        let place = Place::pinned(at_start).await;
        assert_eq!(place.words().await, [""; 0]);
        place.sh(script);
        let what = if what == "credential.helper" { "credential.https://x.helper" } else { what };
        is_undone(&place, what, script).await;
    }
    let place = Place::pinned(at_start).await;
    place.sh("git config credential.helper evil");
    let told = place.words().await.join("; ");
    assert!(told.contains("credential.helper") && !told.contains("store"), "a secret is not repeated: {told}");
}

#[tokio::test]
async fn hooks_and_attributes_of_the_repository_are_told_and_can_be_undone() {
    let at_start =
        "printf '#!/bin/sh\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo x > .git/hooks/plain
        mkdir .git/hooks/lib; echo x > .git/hooks/lib/helper; echo '*.x text' > .git/info/attributes
        mkdir ~/hooks; echo x > ~/hooks/pre-push; git config core.hooksPath '~/hooks'";
    for (what, script) in [
        (".git/hooks/post-commit", "echo evil > .git/hooks/post-commit; chmod +x .git/hooks/post-commit"),
        (".git/hooks/pre-commit", "echo evil >> .git/hooks/pre-commit"),
        (".git/hooks/pre-commit", "rm .git/hooks/pre-commit; ln -s /bin/true .git/hooks/pre-commit"),
        (".git/hooks/plain", "chmod +x .git/hooks/plain"),
        (".git/hooks/lib/helper", "echo evil > .git/hooks/lib/helper"),
        (".git/info/attributes", "echo '* filter=x' > .git/info/attributes"),
        (".git/info/attributes", "rm .git/info/attributes"),
        ("hooks/pre-push", "echo evil > ~/hooks/pre-push"),
        ("hooks/commit-msg", "echo evil > ~/hooks/commit-msg"),
        ("git/attributes", "mkdir -p ~/.config/git; echo '* filter=x' > ~/.config/git/attributes"),
    ] {
        let place = Place::pinned(at_start).await;
        assert_eq!(place.words().await, [""; 0]);
        place.sh(script);
        is_undone(&place, what, script).await;
    }
    let place = Place::pinned("").await;
    place.sh("rm -r .git/hooks; mkdir .git/hooks; touch .git/info/attributes");
    is_undone(&place, ".git/info/attributes", "an empty file").await;
}

#[tokio::test]
async fn settings_that_git_cannot_read_any_more_are_damage() {
    for (script, path) in [
        ("echo '[broken' > ~/.gitconfig", ".gitconfig was changed"),
        ("echo '[broken' >> .git/config", ".git/config was changed"),
    ] {
        let place = Place::pinned("git config --global user.name x").await;
        place.sh(script);
        let told = place.words().await.join("; ");
        assert!(told.contains(path), "{script}: {told}");
    }
}

#[tokio::test]
async fn a_repository_without_a_commit_is_pinned_too() {
    let mut place = Place::new();
    place.sh("rm -rf .git; git init -q -b main");
    place.pin().await;
    assert!(matches!(&place.pins.git.identity, Some(RepositoryIdentity { commit, .. }) if commit.is_empty()));
    let before = place.look().await;
    place.sh("echo x > work; git add -A; git commit -q -m first");
    let after = place.look().await;
    assert!(after.0 != before.0 && before.1.is_empty() && after.1.is_empty());
    assert_eq!(place.committed().await, Committed::default());
}

#[tokio::test]
async fn what_is_committed_is_compared_with_what_was_checked() {
    let commit = "git add -A; git commit -q -m work";
    for (at_start, script, differs) in [
        // Honest ones.
        ("", "echo x > work; chmod +x work; ln -s work link; git mv a.txt c.txt", ""),
        ("", "printf 'a\\r\\nb\\r\\n' > dos.txt; echo '* text=auto' > .gitattributes", ""),
        ("git config core.autocrlf true", "printf 'a\\r\\nb\\r\\n' > dos.txt", ""),
        (
            "git config filter.rev.clean rev; git config filter.rev.smudge rev; echo '*.big filter=rev' > .gitattributes",
            "echo large > x.big",
            "",
        ),
        ("echo '*.id ident' > .gitattributes", "echo '$Id: 0123456789abcdef $' > x.id", ""),
        ("git clone -q . inner", "git -C inner commit -q --allow-empty -m inner", ""),
        ("", "echo x > \"$(printf 'odd\\n\\\"name\\303')\"; echo y > 'sp ace'", ""),
        // Hooks that were there at the start, or that nobody looked at in time.
        (
            "printf '#!/bin/sh\\necho other > a.txt; git add a.txt; echo a > a.txt' > .git/hooks/pre-commit
          chmod +x .git/hooks/pre-commit",
            "echo x > work",
            "a.txt",
        ),
        (
            "",
            "echo bad > a.txt; git add -A; git commit -q -m work; echo good > a.txt; git update-index --assume-unchanged a.txt",
            "a.txt",
        ),
        (
            "",
            "echo bad > a.txt; git add -A; git commit -q -m work; echo goo > a.txt; touch -r .git/index a.txt; git update-index --skip-worktree a.txt",
            "a.txt",
        ),
        ("echo '*.id ident' > .gitattributes", "echo '$Id: payload() $' > x.id", "x.id"),
        ("", "git add -A; git commit -q --allow-empty -m x; chmod +x a.txt; git config core.fileMode false", "a.txt"),
        (
            "",
            "git rm -q --cached a.txt; git commit -q -m x; git reset -q --soft HEAD~1; rm a.txt; git update-index --skip-worktree a.txt || true; git reset -q; git update-index --assume-unchanged a.txt",
            "a.txt",
        ),
        (
            "ln -s a.txt link; git add -A; git commit -q -m link",
            "git update-index --assume-unchanged link; rm link; ln -s folder link",
            "link",
        ),
        (
            "git clone -q . inner; git add inner 2>/dev/null; git commit -q -m inner",
            "git config submodule.recurse false; git update-index --assume-unchanged inner; git -C inner commit -q --allow-empty -m x",
            "inner",
        ),
    ] {
        let place = Place::pinned(at_start).await;
        place.sh(&format!("{script}; {commit} || true"));
        let found = place.committed().await;
        assert_eq!(found.differs.join(" "), differs, "{script}: {found:?}");
    }
}

#[tokio::test]
async fn filters_that_were_not_there_at_the_start_make_no_content_equal() {
    let place = Place::pinned("").await;
    place.sh("git config filter.x.clean 'echo other'; echo 'work filter=x' > .gitattributes; echo good > work");
    place.sh("git add -A; git commit -q -m work");
    let found = place.committed().await;
    assert_eq!((found.differs.as_slice(), found.changes.len()), (&["work".to_owned()][..], 1), "{found:?}");
}

#[tokio::test]
async fn work_that_a_commit_leaves_out_is_named() {
    let place = Place::pinned("mkdir build; echo x > build/old").await;
    place.sh("echo work >> .gitignore; echo x > work; mkdir -p target/deep; echo x > target/deep/o; echo target >> .gitignore
        echo x > folder/new; echo new > folder/.gitignore; echo x > build/new; mkdir .ralph; echo x > .ralph/x
        git add -A; git commit -q -m work");
    let found = place.committed().await;
    assert_eq!(found.left_out, ["folder/new", "target/", "work"], "{found:?}");
    assert_eq!(found.differs, [""; 0]);
    // In a repository inside, whose commit is all that the outer one holds.
    let inner = "git clone -q . inner; git add inner 2>/dev/null; git commit -q -m inner";
    let place = Place::pinned(inner).await;
    place.sh("echo x > inner/work; echo x > inner/a.txt; git add -A; git commit -q --allow-empty -m work");
    let found = place.committed().await;
    assert_eq!((found.left_out.join(" "), found.differs.join(" ")), ("inner/work".into(), "inner/a.txt".into()));
    // Not staged at all.
    let place = Place::pinned("").await;
    place.sh("echo x > work; git commit -q --allow-empty -m nothing");
    assert_eq!(place.committed().await.left_out, ["work"]);
}

#[tokio::test]
async fn what_is_new_and_in_no_commit_is_found_wherever_git_does_not_look() {
    let at_start = "echo 'old/*.tmp' > .git/info/exclude; mkdir -p old node_modules; echo x > old/a.tmp; \
        echo '*.tmp' >> .gitignore; printf 'local/\\nnode_modules/\\nmany/\\n.env*\\n' >> .gitignore; \
        git clone -q . known; git add -A 2>/dev/null; git commit -q -m start; sleep 0.05";
    let place = Place::pinned(at_start).await;
    assert_eq!(place.left_out().await, [""; 0]);
    place.sh(
        "echo x > sum.tmp; echo x > known/sum.tmp; echo x > old/b.tmp; mkdir -p local/in .ralph many; echo x > local/in/f
        echo x > .ralph/x; echo x > .env.local; echo x > node_modules/x; touch many/{1..300}; echo x > untracked
        git init -q lib; echo x > lib/x; git init -q gone; echo x > gone/x; git -C gone add -A; git -C gone commit -q -m x
        git clone -q \"$PWD\" fetched; git -C fetched commit -q --allow-empty -m x; git clone -q \"$PWD\" registered
        printf '[submodule \"r\"]\\npath = registered\\nurl = ../r\\n[submodule \"f\"]\\npath = fetched\\nurl = ../f\\n' >.gitmodules
        git add gone fetched registered .gitmodules 2>/dev/null; git commit -q -m work",
    );
    assert_eq!(
        place.left_out().await,
        ["fetched", "gone", "known/sum.tmp", "lib/", "local", "many/", "old/b.tmp", "sum.tmp", "untracked"]
    );
}

#[tokio::test]
async fn what_a_checkout_writes_otherwise_is_found_and_kept_as_it_would_be_written() {
    let place = Place::pinned(
        "printf '*.bat text eol=crlf\\n' > .gitattributes; printf 'x\\r\\n' > old.bat; echo '$Id$' > id.txt; git add -A; git commit -q -m a",
    )
    .await;
    place.sh("printf 'x\\ny\\n' > new.txt; printf 'x\\r\\ny\\r\\n' > new.bat; git add -A; git commit -q -m work");
    assert_eq!(place.left_out().await, [""; 0], "what stands here as a checkout writes it is whole");
    for (rule, converted) in [
        ("a.txt text eol=crlf", vec!["a.txt"]),
        ("folder/*.txt eol=crlf", vec!["folder/b.txt"]),
        ("id.txt ident", vec!["id.txt"]),
        ("*.txt -text", vec![]),
        ("a.txt text", vec![]),
    ] {
        place.sh(&format!("echo '{rule}' > .gitattributes; git add -A; git commit -q -m rule"));
        assert_eq!(place.left_out().await, converted, "{rule}");
        for path in converted {
            let kept = std::fs::read(crate::scm::as_committed(&place.base("scratch")).join(path)).unwrap();
            assert_ne!(kept, std::fs::read(place.root.join(path)).unwrap(), "{rule}");
        }
    }
    place.sh("printf 'x\\r\\n' > c.txt; echo 'c.txt text' > .gitattributes; git add -A; git commit -q -m ends");
    assert_eq!(place.left_out().await, ["c.txt"], "checked with one end of a line, committed with another");
}

#[tokio::test]
async fn folders_that_no_commit_can_hold_are_found() {
    let place = Place::pinned("mkdir was_empty; sleep 0.05").await;
    place.sh("mkdir -p folder/empty/deep data node_modules new; echo x > data/x.log; echo x > new/x; git add -A
        git commit -q -m work");
    assert_eq!(place.left_out().await, ["data", "folder/empty/"]);
}

#[tokio::test]
async fn what_git_is_told_not_to_look_at_is_told() {
    let mut place = Place::new();
    place.pin().await;
    place.sh("git update-index --assume-unchanged a.txt; git update-index --skip-worktree folder/b.txt");
    let words = place.words().await;
    assert!(words.len() == 2 && words.iter().all(|words| words.contains("hidden from git")), "{words:?}");
    // Only where a check passes over it does it matter what git ignores.
    place.sh("git update-index --no-assume-unchanged a.txt; git update-index --no-skip-worktree folder/b.txt");
    place.sh("printf 'folder\\nnew\\n' >> .gitignore; git rm -q -r --cached folder; echo x > new");
    assert_eq!(place.words().await, [""; 0]);
    place.pins.git.obeyed = true;
    let words = place.words().await;
    assert!(words.len() == 1 && words[0].starts_with("folder/b.txt was hidden by a rule"), "{words:?}");
}

#[tokio::test]
async fn a_push_that_was_led_elsewhere_is_told() {
    let place = Place::pinned("git init -q --bare ../outside/a.git; git remote add origin ../outside/a.git").await;
    let is_elsewhere = async || {
        let (ways, words) = (place.pins.git.ways.clone().unwrap(), ["push".to_owned()]);
        crate::scm::leads_elsewhere(&mut Keeper::absent(), &place.root, &ways, &words, Millis::ZERO).await.unwrap()
    };
    assert_eq!(is_elsewhere().await, None);
    place.sh("git remote add other ../outside/b.git");
    assert_eq!(is_elsewhere().await, None);
    for (lead, back) in [
        ("git remote set-url --push origin ../outside/b.git", "git config --unset remote.origin.pushurl"),
        ("git remote set-url origin ../outside/b.git", "git remote set-url origin ../outside/a.git"),
        (
            "git config url.../outside/b.git.pushInsteadOf ../outside/a.git",
            "git config --unset url.../outside/b.git.pushInsteadOf",
        ),
        ("git config remote.pushDefault other", "git config --unset remote.pushDefault"),
    ] {
        place.sh(lead);
        assert!(is_elsewhere().await.is_some_and(|why| why.contains("git remote --verbose")), "{lead}");
        place.sh(back);
        assert_eq!(is_elsewhere().await, None, "{back}");
    }
}

#[tokio::test]
async fn a_sparse_work_tree_holds_what_it_held() {
    let at_start = "git sparse-checkout set --no-cone /folder/ /.gitignore";
    let place = Place::pinned(at_start).await;
    assert!(place.pins.git.sparse);
    assert_eq!(place.words().await, [""; 0]);
    place.sh("echo x > folder/work; git add -A; git commit -q -m work");
    assert_eq!(place.committed().await, Committed::default());
}

#[tokio::test]
async fn ten_thousand_files_are_looked_at_as_before() {
    let place = Place::pinned(
        "for folder in $(seq 100); do mkdir -p many/$folder; touch many/$folder/{1..100}; done; git add -A; git commit -q -m many",
    )
    .await;
    let before = place.look().await;
    assert_eq!(before.1, []);
    place.sh("echo x > many/50/50");
    assert_ne!(place.look().await.0, before.0);
    place.sh("git add -A; git commit -q -m x");
    assert_eq!(place.committed().await, Committed::default());
    symlink("many", place.root.join("link")).unwrap();
    std::fs::set_permissions(place.root.join("a.txt"), std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(place.words().await, [""; 0]);
}

#[tokio::test]
async fn the_program_of_a_filter_is_pinned_and_a_checkout_has_the_filters_of_the_start() {
    let start = "printf '#!/bin/sh\\ncat\\n' > tidy; chmod +x tidy; git config filter.tidy.clean './tidy %f'
                 git config filter.tidy.smudge \"sh '$HOME/smudge.sh'\"; echo cat > ~/smudge.sh
                 echo '*.txt filter=tidy' > .gitattributes; git add -A; git commit -q -m filter";
    let place = Place::pinned(start).await;
    assert_eq!(place.words().await, [""; 0]);
    let filters = filters_of(&place.pins.git);
    assert!(filters.contains(&("GIT_CONFIG_COUNT".into(), "2".into())), "{filters:?}");
    assert!(filters.iter().any(|(_, value)| value == "./tidy %f"), "{filters:?}");
    for script in ["echo 'sed s/a/b/' >> tidy", "echo 'sed s/a/b/' > ~/smudge.sh"] {
        let place = Place::pinned(start).await;
        place.sh(script);
        assert_eq!(place.words().await.len(), 1, "{script}");
    }
    assert_eq!(filters_of(&Place::pinned("").await.pins.git), []);
}

#[tokio::test]
async fn what_an_earlier_agent_did_to_git_may_be_undone() {
    let hook = "printf '#!/bin/sh' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit";
    for (did, name, undo) in [
        ("git config filter.own.clean cat", "git's setting filter.own.clean", "git config --unset filter.own.clean"),
        ("git config --unset core.eol", "git's setting core.eol", "git config core.eol lf"),
        (hook, ".git/hooks/pre-commit", "rm .git/hooks/pre-commit"),
    ] {
        let mut place = Place::pinned("git config core.eol lf").await;
        let before = place.pins.git.standings();
        place.sh(did);
        place.pin().await;
        let accepted = before.into_iter().find(|one| one.path == name).map(|one| one.print).unwrap_or_default();
        place.pins.git.accepted.insert(name.to_owned(), accepted);
        let changes = |place: Place| async move {
            let scratch = place.base("scratch");
            let changes = changes(&mut Keeper::absent(), &place.root, &place.pins.git, &scratch).await.unwrap();
            (place, changes)
        };
        let (place, seen) = changes(place).await;
        assert_eq!(seen, [], "{did}");
        place.sh(undo);
        let (_, seen) = changes(place).await;
        assert_eq!(seen, [PinnedChange { path: name.to_owned(), how: Change::PutBack }], "{undo}");
    }
}

/// A commit of these paths, made by ralph.
async fn own_commit(place: &Place, paths: &[&str]) -> Result<Option<String>, GitError> {
    let (paths, scratch): (Vec<PathBuf>, _) = (paths.iter().map(PathBuf::from).collect(), place.base("scratch"));
    let patience = Millis::from_secs(60);
    let wanted = OwnCommit { root: &place.root, paths: &paths, message: "ralph: — one", scratch: &scratch, patience };
    commit(&mut Keeper::absent(), wanted).await
}

#[tokio::test]
async fn an_own_commit_holds_the_named_paths_and_nothing_else_that_is_changed_or_staged() {
    let place = Place::new();
    place.sh("printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit");
    place.sh("git mv folder/b.txt folder/c.txt; echo staged > s.txt; git add s.txt; echo changed >> a.txt");
    place.sh("mkdir -p 'new dir'; echo n > 'new dir/[n]*.txt'; echo l > x.log; echo u > untracked.txt");
    let before = place.sh("git rev-parse HEAD");
    let paths = ["folder/b.txt", "new dir/[n]*.txt", "x.log", "never-there"];
    let id = own_commit(&place, &paths).await.unwrap().unwrap();
    assert_eq!(place.sh("git rev-parse HEAD").trim(), id);
    assert_eq!(place.sh("git rev-parse HEAD^"), before);
    assert_eq!(place.sh("git log -1 --format=%s").trim(), "ralph: — one");
    let changed = "git -c core.quotePath=false show --no-renames --format= --name-status HEAD";
    assert_eq!(place.sh(changed), "D\tfolder/b.txt\nA\tnew dir/[n]*.txt\n");
    let left = "A  folder/c.txt\nA  s.txt\n M a.txt\n?? untracked.txt\n";
    let mut seen: Vec<String> = place.sh("git status --porcelain").lines().map(|line| format!("{line}\n")).collect();
    seen.sort_by_key(|line| left.find(line.as_str()));
    assert_eq!(seen.concat(), left);
    assert_eq!(own_commit(&place, &paths).await, Ok(None), "nothing is left to commit");
}

#[tokio::test]
async fn the_first_commit_can_be_an_own_one_and_a_held_index_makes_none() {
    let place = Place::new();
    place.sh("rm -rf .git; git init -q -b main; touch .git/index.lock");
    let refused = own_commit(&place, &["a.txt"]).await;
    assert!(matches!(&refused, Err(GitError::Refused(why)) if why.contains("index.lock is there")), "{refused:?}");
    assert!(place.sh("git log --oneline 2>&1 || true").contains("does not have any commits"));
    place.sh("rm .git/index.lock");
    let id = own_commit(&place, &["a.txt"]).await.unwrap().unwrap();
    assert_eq!(place.sh("git log --format=%H").trim(), id);
    assert_eq!(place.sh("git ls-tree -r --name-only HEAD"), "a.txt\n");
}

#[tokio::test]
async fn what_was_dirty_before_and_is_as_it_was_is_nobodys_work() {
    let place = Place::new();
    place.sh("mkdir -p sub/.ralph; echo old > sub/old.txt; echo changed >> a.txt; echo n > 'sub/ä b.txt'");
    let project = place.root.join("sub");
    let tree = scm::Tree { root: &place.root, project: &project };
    let began = scm::dirty(&mut Keeper::absent(), tree, Millis::from_secs(60)).await.unwrap();
    let names: Vec<&str> = began.iter().map(|dirty| dirty.path.as_str()).collect();
    assert_eq!(names, ["a.txt", "sub/old.txt", "sub/ä b.txt"]);
    let newly = || scm::newly_dirty(tree, &began, std::time::Duration::from_secs(60)).unwrap();
    assert_eq!(newly(), [""; 0]);
    place.sh("echo x > sub/.ralph/x; echo m > sub/.ralph-active; echo more >> a.txt; rm folder/b.txt; echo l > x.log");
    assert_eq!(newly(), ["a.txt", "folder/b.txt"]);
    place.sh("git add -A; git commit -q -m all");
    assert_eq!(newly(), [""; 0]);
    place.sh("rm -rf .git");
    assert_eq!(scm::newly_dirty(tree, &began, std::time::Duration::from_secs(60)), None);
}
