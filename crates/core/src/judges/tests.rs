//! Commands, and what they are made of.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// A project in memory, with what stands around it.
#[derive(Default)]
struct World {
    files: BTreeMap<String, String>,
    links: BTreeMap<String, String>,
    /// Whether `mypy` is found by a shim.
    shims: bool,
}

impl World {
    fn of(files: &[(&str, &str)]) -> World {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        World { files: files.collect(), ..World::default() }
    }

    fn learn(&self, command: &str) -> Known {
        learn(&[subject(command)], self)
    }
}

fn subject(command: &str) -> Subject {
    Subject { id: CheckId::new("check"), command: command.to_owned(), judges: Vec::new(), work: Vec::new() }
}

impl Premises for World {
    fn root(&self) -> &str {
        "/p"
    }

    fn read(&self, path: &str) -> Option<String> {
        let path = self.real(path)?;
        self.files.get(&path).cloned()
    }

    fn standing(&self, path: &str) -> Standing {
        let path = self.real(path).unwrap_or_else(|| path.to_owned());
        let inside = format!("{}/", path.trim_end_matches('/'));
        if self.files.contains_key(&path) {
            Standing::File
        } else if path.is_empty() || self.files.keys().any(|file| file.starts_with(&inside)) {
            Standing::Folder
        } else {
            Standing::Nothing
        }
    }

    fn real(&self, path: &str) -> Option<String> {
        Some(self.links.get(path).cloned().unwrap_or_else(|| path.to_owned()))
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let inside = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let below = self.files.keys().filter_map(|file| file.strip_prefix(&inside));
        let names: BTreeSet<String> = below.map(|file| file.split('/').take(1).collect::<String>()).collect();
        names.into_iter().collect()
    }

    fn find(&self, program: &str) -> Option<String> {
        const THERE: [&str; 32] = [
            "sh", "bash", "make", "grep", "node", "npm", "pnpm", "yarn", "python3", "python", "pytest", "cargo", "go",
            "just", "task", "git", "diff", "mvn", "gradle", "ruff", "rspec", "ctest", "cmake", "tox", "phpunit",
            "mypy", "cat", "curl", "deno", "bun", "uv", "golangci-lint",
        ];
        if self.shims && program == "mypy" {
            return Some("/home/me/.pyenv/shims/mypy".to_owned());
        }
        THERE.contains(&program).then(|| format!("/usr/bin/{program}"))
    }

    fn variable(&self, name: &str) -> Option<String> {
        (name == "HOME").then(|| "/home/me".to_owned())
    }

    fn matches(&self, globs: &[String], path: &str) -> bool {
        globs.iter().any(|glob| glob == path)
    }
}

/// Judges that a text names, with what is unknown behind a question mark.
fn named(known: &Known) -> Vec<String> {
    let judges =
        known.judges.iter().filter(|judge| matches!(judge.why, Why::Named { .. }) && judge.part != Part::Output);
    let mut named: Vec<String> = judges.map(|judge| judge.path.clone()).collect();
    named.sort();
    named.dedup();
    named.extend(known.unknown.iter().map(|unknown| format!("? {}", unknown.what)));
    named
}

/// How a row of a table is wrong.
fn differs(row: &str, found: Vec<String>, expected: &[&str]) -> Option<String> {
    (found != expected).then(|| format!("{row}\n    found {found:?}\n    instead of {expected:?}"))
}

/// A project with most of what commands could name.
fn project() -> World {
    World::of(&[
        ("check.sh", "grep -q done work.txt"),
        ("app.sh", "echo hi"),
        ("greet.sh", "echo Hello"),
        ("run.sh", "npm run lint"),
        ("suite.sh", "pytest -q"),
        ("verify.py", "import sys"),
        ("main.py", "print(1)"),
        ("cli.js", "console.log(3)"),
        ("index.js", "console.log('ok')"),
        ("expected.txt", "3"),
        ("work.txt", "3"),
        ("other.txt", "4"),
        ("patterns", "a"),
        ("tools/verify.sh", ". \"$(dirname \"$0\")/lib.sh\"\n\"${BASH_SOURCE%/*}/deep.sh\"\n"),
        ("tools/lib.sh", "x=1"),
        ("tools/deep.sh", "true"),
        ("tools/check.py", "import helper\nfrom src import app\n"),
        ("tools/helper.py", ""),
        ("src/app.py", ""),
        ("ci/all.sh", "DIR=tools\nfor s in deep lib; do sh $DIR/$s.sh; done\n"),
        (
            "ci/one.sh",
            "set -euo pipefail\nROOT=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")/..\" && pwd)\"\ncd \"$ROOT\"\n\"$ROOT/tools/deep.sh\"\n",
        ),
        ("ci/run.sh", "run() { echo \"+ $*\"; \"$@\"; }\nrun sh tools/deep.sh\n"),
        ("ci/env.sh", "\"$TOOL\" check.sh\n"),
        ("ci/default.sh", "sh \"${TOOL:-tools/deep.sh}\"\n"),
        ("ci/args.sh", "sh \"$1\"\n"),
        ("ci/case.sh", "case \"$1\" in\n  a) sh tools/deep.sh ;;\n  *) exit 1 ;;\nesac\n"),
        ("ci/here.sh", "cat > x <<'E'\nit's $(\nE\nsh tools/deep.sh\n"),
        ("checks.d/a.sh", "true"),
        ("checks.d/b.sh", "true"),
        ("tests/t.sh", "true"),
        ("sub/check.sh", "true"),
    ])
}

#[test]
fn what_is_executed_or_interpreted_by_name_judges() {
    let project = project();
    let mut wrong = Vec::new();
    for (command, expected) in [
        ("sh check.sh", &["check.sh"][..]),
        ("sh app.sh", &["app.sh"]),
        ("./app.sh", &["app.sh"]),
        ("python verify.py", &["verify.py"]),
        ("python3 -u -W error verify.py --all", &["verify.py"]),
        ("bash -euo pipefail check.sh", &["check.sh"]),
        ("bash -x -o errexit -- check.sh", &["check.sh"]),
        ("timeout 1h sh check.sh", &["check.sh"]),
        ("timeout -k 5 --signal=KILL 10m bash check.sh", &["check.sh"]),
        ("env -i A=b PATH=/bin sh check.sh", &["check.sh"]),
        ("env -u X -C sub sh check.sh", &["sub/check.sh"]),
        ("nice -n 5 sh check.sh", &["check.sh"]),
        ("time -p sh check.sh", &["check.sh"]),
        ("stdbuf -oL sh check.sh", &["check.sh"]),
        ("flock /tmp/lock sh check.sh", &["check.sh"]),
        ("flock /tmp/lock -c 'sh check.sh'", &["check.sh"]),
        ("sudo -u me -E sh check.sh", &["check.sh"]),
        ("exec sh check.sh", &["check.sh"]),
        ("nohup sh check.sh", &["check.sh"]),
        ("sh -c 'sh check.sh'", &["check.sh"]),
        ("bash -lc \"cd sub && sh ./check.sh\"", &["sub/check.sh"]),
        ("cd sub && sh check.sh", &["sub/check.sh"]),
        ("(cd sub; sh check.sh); sh app.sh", &["app.sh", "sub/check.sh"]),
        ("pushd sub && sh check.sh", &["sub/check.sh"]),
        ("echo x | xargs -n 1 sh check.sh", &["check.sh"]),
        ("find . -name x -exec sh check.sh {} \\;", &["check.sh"]),
        ("if sh check.sh; then :; else exit 1; fi", &["check.sh"]),
        ("sh check.sh || exit 1", &["check.sh"]),
        ("! sh check.sh", &["check.sh"]),
        ("sh check.sh | tee log", &["check.sh"]),
        ("sh check.sh 2>&1 | tail -5", &["check.sh"]),
        ("sh < check.sh", &["check.sh"]),
        ("eval 'sh check.sh'", &["check.sh"]),
        ("trap 'sh check.sh' EXIT", &["check.sh"]),
        (". ./check.sh", &["check.sh"]),
        ("A=1 B=2 sh check.sh", &["check.sh"]),
        ("S=check.sh; sh \"$S\"", &["check.sh"]),
        ("RUN='sh check.sh'; $RUN", &["check.sh"]),
        ("for s in check app; do sh $s.sh; done", &["app.sh", "check.sh"]),
        ("sh checks.d/*.sh", &["checks.d", "checks.d/a.sh", "checks.d/b.sh"]),
        ("for f in checks.d/*.sh; do sh \"$f\" || exit 1; done", &["checks.d", "checks.d/a.sh", "checks.d/b.sh"]),
        ("sh /p/check.sh", &["check.sh"]),
        ("sh ./sub/../check.sh", &["check.sh"]),
        ("sh $PWD/check.sh", &["check.sh"]),
        ("sh tools/verify.sh", &["tools/deep.sh", "tools/lib.sh", "tools/verify.sh"]),
        ("python tools/check.py", &["tools/check.py", "tools/helper.py"]),
        ("python -m tools.check", &["tools/check.py", "tools/helper.py"]),
        ("sh ci/all.sh", &["ci/all.sh", "tools/deep.sh", "tools/lib.sh"]),
        ("bash ci/one.sh", &["ci/one.sh", "tools/deep.sh"]),
        ("bash ci/run.sh", &["ci/run.sh", "tools/deep.sh"]),
        ("sh ci/default.sh", &["ci/default.sh", "tools/deep.sh"]),
        ("sh ci/args.sh tools/deep.sh", &["ci/args.sh", "tools/deep.sh"]),
        ("sh ci/case.sh a", &["ci/case.sh", "tools/deep.sh"]),
        ("sh ci/here.sh", &["ci/here.sh", "tools/deep.sh"]),
        ("sh ci/env.sh", &["ci/env.sh", "? what `\"$TOOL\" check.sh` in ci/env.sh executes"]),
        ("node -r ./index.js cli.js", &["cli.js", "index.js"]),
        ("uv run python verify.py", &["verify.py"]),
        ("uv run --with x python verify.py", &["verify.py"]),
        ("poetry run python verify.py", &["verify.py"]),
        ("command sh check.sh", &["check.sh"]),
        ("PATH=\"$PWD/tools:$PATH\" deep.sh", &["tools/deep.sh"]),
        ("export PATH=tools:$PATH; deep.sh", &["tools/deep.sh"]),
        ("BASH_ENV=./app.sh bash check.sh", &["app.sh", "check.sh"]),
        ("NODE_OPTIONS='--require ./index.js' node cli.js", &["cli.js", "index.js"]),
        ("python -c \"import subprocess; subprocess.run(['sh', 'check.sh'])\"", &["check.sh"]),
        ("node -e \"require('./tools/check')\"", &[]),
        ("cat check.sh | sh", &["? what comes into `sh` in the command"]),
        ("bash -c \"$(cat app.sh)\"", &["? what `bash -c \"$(cat app.sh)\"` in the command runs"]),
        ("eval \"$(cat app.sh)\"", &["app.sh"]),
        ("eval \"$(sed 1d app.sh)\"", &["? what `eval \"$(sed 1d app.sh)\"` in the command runs"]),
        ("mkdir -p ~/bin && cp app.sh ~/bin/add-two && add-two 2 3 | grep -qx 5", &[]),
        ("python3 - <<'E'\nprint(1)\nE\nsh check.sh", &["check.sh"]),
        ("run-parts checks.d", &["? what `run-parts` in the command is configured by"]),
        ("find checks.d -name '*.sh' | xargs -n1 sh", &["? which scripts `xargs -n1 sh` in the command executes"]),
        (
            "find checks.d -name '*.sh' -exec sh {} \\;",
            &["? which scripts `find checks.d -name '*.sh' -exec sh {} \\;` in the command executes"],
        ),
    ] {
        wrong.extend(differs(command, named(&project.learn(command)), expected));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_program_that_a_check_is_there_to_try_is_the_work() {
    let project = project();
    let mut wrong = Vec::new();
    for (command, expected) in [
        ("python main.py | grep -q 1", &[][..]),
        ("./greet.sh | grep Hello", &[]),
        ("sh greet.sh World | sort | grep -q Hello", &[]),
        ("node index.js | grep ok", &[]),
        ("diff <(./app.sh) expected.txt", &["expected.txt"]),
        ("test \"$(node cli.js)\" = 3", &[]),
        ("[ \"$(node cli.js)\" = 3 ]", &[]),
        ("[[ $(node cli.js) == 3 ]]", &[]),
        ("out=$(node cli.js); test \"$out\" = 3", &[]),
        ("out=`node cli.js` && [ $out -eq 3 ]", &[]),
        ("case $(node cli.js) in 3) ;; *) exit 1;; esac", &[]),
        ("python main.py > out.txt && diff out.txt expected.txt", &["expected.txt"]),
        ("./app.sh >out 2>&1; cmp out expected.txt", &["expected.txt"]),
        ("node cli.js | diff - expected.txt", &["expected.txt"]),
        ("node cli.js | diff expected.txt -", &["expected.txt"]),
        ("[ -f expected.txt ] && node cli.js | grep -q ok", &[]),
        ("node cli.js >out && [ -f out ] && [ \"$(cat out)\" = \"$(cat expected.txt)\" ]", &["expected.txt"]),
        ("diff work.txt expected.txt", &["expected.txt"]),
        ("grep -qf patterns work.txt; grep -f patterns work.txt", &["patterns"]),
        ("grep -q done work.txt", &[]),
        ("[ \"$(cat work.txt)\" = \"$(cat expected.txt)\" ]", &["expected.txt"]),
        ("while read l; do grep -q \"$l\" work.txt; done < expected.txt", &["expected.txt"]),
        ("node cli.js < expected.txt | grep 3", &["expected.txt"]),
        ("test -f tests/built", &[]),
        ("test \"$(wc -l < work.txt)\" -gt 2", &[]),
        ("sh tests/*.sh", &[]),
        ("./target/debug/app --selftest", &[]),
        ("node dist/index.js", &[]),
        ("gcc t.c -o t && ./t", &[]),
        // A file that judges stays a judge, whatever reads its words.
        ("sh check.sh | grep -q PASS", &["check.sh"]),
        ("python verify.py | grep OK", &["verify.py"]),
        ("test \"$(sh check.sh)\" = ok", &["check.sh"]),
        (
            "sh run.sh | grep '0 failed'",
            &["run.sh", "? what the script `lint` of package.json will be, which is not there yet"],
        ),
        ("./suite.sh | grep passed", &["suite.sh"]),
        ("cat work.txt | python verify.py", &["verify.py"]),
        ("python main.py | python verify.py", &["verify.py"]),
        // Nobody wrote it yet.
        ("sh new.sh", &["? what new.sh will be, which the command executes and which is not there yet"]),
        ("./new.sh | grep ok", &[]),
        (
            "diff work.txt other.txt",
            &["? which of work.txt and other.txt is the work that `diff work.txt other.txt` compares"],
        ),
    ] {
        wrong.extend(differs(command, named(&project.learn(command)), expected));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let declared = Subject { work: vec!["app.sh".to_owned()], ..subject("sh app.sh && sh check.sh") };
    let known = learn(&[declared], &project);
    assert_eq!((named(&known), known.tried), (vec!["check.sh".to_owned()], vec!["app.sh".to_owned()]));
}

/// Judges with what of them counts, without those that must only stay away.
fn parts(world: &World, command: &str) -> Vec<String> {
    let known = world.learn(command);
    let there = known.judges.iter().filter(|judge| world.standing(&judge.path) != Standing::Nothing);
    let mut parts: Vec<String> = there
        .map(|judge| match &judge.part {
            Part::Whole => judge.path.clone(),
            Part::Output => format!("{} as output", judge.path),
            Part::Package { scripts, sections } => {
                format!("{} {}", judge.path, [scripts.join(","), sections.join(",")].join("#").trim_end_matches('#'))
            }
            Part::Recipes { goals, .. } => format!("{} {}", judge.path, goals.join(",")),
            Part::Sections { .. } => format!("{} sections", judge.path),
            Part::Without { .. } => format!("{} without", judge.path),
            Part::Ending { ending } => format!("{} *{ending}", judge.path),
            Part::Announced { text, .. } => format!("{} {text}", judge.path),
        })
        .collect();
    parts.sort();
    parts.extend(known.unknown.iter().map(|unknown| format!("? {}", unknown.what)));
    parts
}

#[test]
fn recipes_are_followed_goal_by_goal() {
    let world = World::of(&[
        (
            "Makefile",
            "include mk/common.mk\nPY ?= python\nT := tools\n.PHONY: test lint all\nall: test\ntest: lint build\n\t@$(PY) $(T)/verify.py\n\t$(MAKE) -C sub deep\nlint:\n\t@sh ./lint.sh\nbuild: app.c\n\tgcc app.c -o $@\nrelease:\n\tsh release.sh\nloose:\n\tsh loose.sh\ndyn:\n\t$(shell cat x) y\n",
        ),
        ("mk/common.mk", "common:\n\ttrue\n"),
        ("tools/verify.py", ""),
        ("lint.sh", ""),
        ("release.sh", ""),
        ("loose.sh", ""),
        ("app.c", ""),
        ("sub/Makefile", "deep: \n\tsh deep.sh\nother:\n\ttrue\n"),
        ("sub/deep.sh", ""),
        ("sub/other.mk", "x:\n\tsh deep.sh\n"),
        (
            "justfile",
            "set shell := [\"bash\", \"-c\"]\ndir := \"tools\"\ntest: lint (build \"x\")\n    python {{dir}}/verify.py\nlint:\n    sh lint.sh\nbuild what:\n    echo {{what}}\nrelease:\n    sh release.sh\nalias t := test\n",
        ),
        (
            "Taskfile.yml",
            "version: '3'\ntasks:\n  test:\n    deps: [lint]\n    cmds:\n      - python tools/verify.py\n      - task: sub\n  lint: sh lint.sh\n  sub:\n    dir: sub\n    cmds:\n      - sh deep.sh\n  release:\n    cmds:\n      - sh release.sh\n",
        ),
    ]);
    let mut wrong = Vec::new();
    for (command, expected) in [
        (
            "make test",
            &[
                "Makefile build,lint,test", "lint.sh", "mk/common.mk build,lint,test", "sub/Makefile deep",
                "sub/deep.sh", "tools/verify.py",
            ][..],
        ),
        (
            "make",
            &[
                "Makefile ,all,build,lint,test", "lint.sh", "mk/common.mk ,all,build,lint,test", "sub/Makefile deep",
                "sub/deep.sh", "tools/verify.py",
            ],
        ),
        ("make -s -j4 lint", &["Makefile lint", "lint.sh", "mk/common.mk lint"]),
        ("make -C sub deep", &["sub/Makefile deep", "sub/deep.sh"]),
        ("make -Csub deep", &["sub/Makefile deep", "sub/deep.sh"]),
        ("make --directory=sub deep", &["sub/Makefile deep", "sub/deep.sh"]),
        ("make -C sub -f other.mk x", &["sub/deep.sh", "sub/other.mk x"]),
        ("cd sub && make deep", &["sub/Makefile deep", "sub/deep.sh"]),
        (
            "make test T=sub PY=sh",
            &[
                "Makefile build,lint,test",
                "lint.sh",
                "mk/common.mk build,lint,test",
                "sub/Makefile deep",
                "sub/deep.sh",
                "? what sub/verify.py will be, which Makefile executes and which is not there yet",
            ],
        ),
        ("make nothing", &["? how `make nothing` is made, for which Makefile has no rule yet"]),
        ("make dyn", &["Makefile dyn", "mk/common.mk dyn", "? what `… y` in Makefile executes"]),
        ("just test", &["justfile build,lint,test", "lint.sh", "tools/verify.py"]),
        ("just", &["justfile build,lint,test,", "lint.sh", "tools/verify.py"]),
        ("just t", &["justfile build,lint,t,test", "lint.sh", "tools/verify.py"]),
        ("just release", &["justfile release", "release.sh"]),
        ("task test", &["Taskfile.yml lint,sub,test", "lint.sh", "sub/deep.sh", "tools/verify.py"]),
        ("task lint", &["Taskfile.yml lint", "lint.sh"]),
        ("task none", &["? what `task none` does, which Taskfile.yml does not hold yet"]),
    ] {
        wrong.extend(differs(command, parts(&world, command), expected));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let away = |command: &str| {
        let known = world.learn(command);
        known
            .judges
            .into_iter()
            .map(|judge| judge.path)
            .filter(|path| world.standing(path) == Standing::Nothing && !path.contains("customize"))
            .collect::<Vec<_>>()
    };
    assert_eq!(away("make test"), ["GNUmakefile", "makefile", "sub/GNUmakefile", "sub/makefile", "sub/deep"]);
    assert_eq!(away("make loose"), ["GNUmakefile", "makefile", "loose"]);
}

#[test]
fn package_scripts_are_followed_through_every_manager() {
    let world = World::of(&[
        (
            "package.json",
            r#"{"name":"root","workspaces":["packages/*"],"scripts":{"test":"jest --ci","pretest":"sh pre.sh","typecheck":"tsc -p tsconfig.build.json","all":"run-s lint:*","lint:a":"sh a.sh","lint:b":"node b.js","both":"concurrently \"npm:lint:*\" \"sh pre.sh\"","nested":"npm run lint:a && pnpm lint:b","ci":"npm ci && npm test"}}"#,
        ),
        ("pre.sh", ""),
        ("a.sh", ""),
        ("b.js", ""),
        ("tsconfig.build.json", r#"{"extends":"./tsconfig.json"}"#),
        ("tsconfig.json", "{}"),
        ("jest.config.js", "module.exports={setupFiles:['./setup.js']}"),
        ("setup.js", ""),
        ("node_modules/.bin/jest", "#!/usr/bin/env node\n"),
        ("node_modules/.bin/tsc", ""),
        ("node_modules/jest/package.json", r#"{"dependencies":{"core":"1"}}"#),
        ("node_modules/core/package.json", r#"{}"#),
        ("node_modules/left-pad/package.json", "{}"),
        ("node_modules/typescript/package.json", "{}"),
        ("packages/a/package.json", r#"{"name":"@x/a","scripts":{"test":"sh t.sh"}}"#),
        ("packages/a/t.sh", ""),
        ("packages/b/package.json", r#"{"name":"b","scripts":{"build":"true"}}"#),
        ("turbo.json", "{}"),
    ]);
    let mut world = world;
    world.links.insert("node_modules/.bin/jest".to_owned(), "node_modules/jest/bin/jest.js".to_owned());
    world.links.insert("node_modules/.bin/tsc".to_owned(), "node_modules/typescript/bin/tsc".to_owned());
    for bin in ["node_modules/jest/bin/jest.js", "node_modules/typescript/bin/tsc"] {
        world.files.insert(bin.to_owned(), String::new());
    }
    let jest = ["jest.config.js", "node_modules/.bin/jest", "node_modules/core", "node_modules/jest"];
    let tests: Vec<&str> =
        jest.iter().copied().chain(["package.json test#jest,babel", "pre.sh", "setup.js", "tsconfig.json"]).collect();
    let types: &[&str] = &[
        "node_modules/.bin/tsc", "node_modules/typescript", "package.json typecheck", "tsconfig.build.json",
        "tsconfig.json",
    ];
    let mut wrong = Vec::new();
    for command in [
        "npm test", "npm t", "npm run test", "npm run -s test -- --x", "pnpm test", "yarn test", "yarn run test",
        "bun run test", "CI=1 npm test", "npm --prefix . test", "pnpm -C . run test", "node --run test",
    ] {
        wrong.extend(differs(command, parts(&world, command), &tests));
    }
    for (command, expected) in [
        ("npm run typecheck", types),
        (
            "npx tsc -p tsconfig.build.json",
            &["node_modules/.bin/tsc", "node_modules/typescript", "tsconfig.build.json", "tsconfig.json"],
        ),
        ("npm run nested", &["a.sh", "b.js", "package.json nested,lint:a,lint:b"]),
        ("npm --prefix packages/a test", &["packages/a/package.json test", "packages/a/t.sh"]),
        ("cd packages/a && npm test", &["packages/a/package.json test", "packages/a/t.sh"]),
        ("yarn workspace @x/a test", &["packages/a/package.json test", "packages/a/t.sh"]),
        ("npm run missing", &["? what the script `missing` of package.json will be, which is not there yet"]),
        (
            "npm exec -- tsc --noEmit",
            &["node_modules/.bin/tsc", "node_modules/typescript", "tsconfig.build.json", "tsconfig.json"],
        ),
        ("yarn tsc", &["node_modules/.bin/tsc", "node_modules/typescript", "tsconfig.build.json", "tsconfig.json"]),
        ("docker compose run test", &["? what `docker compose run test` in the command runs elsewhere"]),
        (
            "npx --no-install vitest run",
            &["package.json #vitest", "tsconfig.json", "? what `vitest` will be, which is not installed yet"],
        ),
    ] {
        wrong.extend(differs(command, parts(&world, command), expected));
    }
    let found = parts(&world, "npx turbo run test --filter=a");
    for part in ["packages/a/package.json test", "packages/a/t.sh", "turbo.json"] {
        if !found.iter().any(|own| own == part) {
            wrong.push(format!("turbo: no {part} in {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a runner's configuration consists of, by the paths that count, whether they are there or not.
fn configured(world: &World, command: &str) -> BTreeSet<String> {
    let known = world.learn(command);
    known.judges.into_iter().filter(|judge| !matches!(judge.why, Why::Named { .. })).map(|judge| judge.path).collect()
}

#[test]
fn ordinary_commands_of_known_ecosystems_leave_nothing_unknown() {
    let world = World::of(&[
        ("Cargo.toml", "[workspace]\nmembers=[\"crates/*\"]\n"),
        ("crates/a/Cargo.toml", "[package]\nname=\"a\"\n"),
        ("xtask/Cargo.toml", "[package]\nname=\"xtask\"\n"),
        (".cargo/config.toml", "[alias]\nxtask = \"run -p xtask --\"\nlint = \"clippy --all-targets\"\n"),
        ("go.mod", "module x\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\n"),
        ("pom.xml", "<project><modules><module>core</module></modules></project>"),
        ("core/pom.xml", "<project/>"),
        ("gradlew", "#!/bin/sh\nexec java -jar gradle/wrapper/gradle-wrapper.jar\n"),
        ("gradle/wrapper/gradle-wrapper.jar", "x"),
        ("gradle/wrapper/gradle-wrapper.properties", "x"),
        ("settings.gradle", "include 'app'"),
        ("app/build.gradle", ""),
        ("mvnw", "#!/bin/sh\n"),
        ("CMakeLists.txt", ""),
        ("phpunit.xml", ""),
        (".rspec", ""),
        ("tox.ini", "[testenv]\ncommands =\n    pytest {posargs}\n    python tools/check.py\n"),
        ("tools/check.py", ""),
        (".pre-commit-config.yaml", "repos:\n- repo: local\n  hooks:\n  - id: x\n    entry: sh tools/hook.sh\n"),
        ("tools/hook.sh", ""),
        ("deno.json", r#"{"tasks":{"check":"deno test && sh tools/hook.sh"}}"#),
    ]);
    for (command, judges) in [
        (
            "cargo test",
            &[
                "Cargo.toml", "crates/a/Cargo.toml", ".cargo/config.toml", "/home/me/.cargo/config.toml",
                "/.cargo/config.toml", "rust-toolchain.toml", "clippy.toml",
            ][..],
        ),
        ("cargo test --workspace --all-features -- --nocapture", &["Cargo.toml"]),
        ("cargo +nightly clippy --all-targets -- -D warnings", &["Cargo.toml", "clippy.toml"]),
        ("cargo lint", &["Cargo.toml"]),
        ("cargo fmt --check", &["rustfmt.toml", ".rustfmt.toml"]),
        ("cd crates/a && cargo test", &["crates/a/Cargo.toml", "Cargo.toml", "crates/a/.cargo/config.toml"]),
        ("cargo test --manifest-path crates/a/Cargo.toml", &["crates/a/Cargo.toml", "Cargo.toml"]),
        ("go test ./...", &["go.mod", "go.work", "/home/me/.config/go/env", "/go.work"]),
        ("go vet ./... && go build ./...", &["go.mod"]),
        ("golangci-lint run", &[".golangci.yml", "/.golangci.toml"]),
        ("pytest", &["pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", ".coveragerc", "sitecustomize.py"]),
        ("pytest -q tests/test_a.py -k x", &["pytest.ini"]),
        ("python -m pytest", &["pytest.ini", "pytest.py", "pytest/__init__.py"]),
        ("python3 -m unittest discover", &["unittest.py"]),
        ("uv run --frozen pytest", &["pytest.ini"]),
        ("ruff check . && mypy src", &["ruff.toml", "mypy.ini", "/home/me/.config/ruff/ruff.toml"]),
        ("tox -e py312", &["tox.ini", "pytest.ini"]),
        ("pre-commit run --all-files", &[".pre-commit-config.yaml"]),
        ("mvn -q test", &["pom.xml", "core/pom.xml", ".mvn", "/home/me/.m2/settings.xml"]),
        ("./mvnw verify", &["pom.xml", ".mvn"]),
        (
            "gradle test",
            &[
                "build.gradle", "app/build.gradle", "gradle.properties", "/home/me/.gradle/init.gradle",
                "gradle/wrapper",
            ],
        ),
        ("./gradlew test --no-daemon", &["build.gradle", "app/build.gradle.kts", "gradle/wrapper", "settings.gradle"]),
        ("phpunit", &["phpunit.xml", "phpunit.xml.dist"]),
        ("bundle exec rspec", &[".rspec", ".bundle/config"]),
        ("cmake --build build && ctest --test-dir build", &["CMakeLists.txt"]),
        ("deno test", &["deno.json"]),
        ("deno task check", &["deno.json"]),
        ("make -v && git diff --exit-code", &[]),
    ] {
        let known = world.learn(command);
        let unknown: Vec<String> = known.unknown.iter().map(|unknown| unknown.what.clone()).collect();
        let expected: &[&str] = match command {
            "phpunit" | "bundle exec rspec" | "cmake --build build && ctest --test-dir build" => &[],
            "make -v && git diff --exit-code" => &["what Makefile will say, which is not there yet"],
            "pre-commit run --all-files" => &["what `pre-commit` will be, which is not installed yet"],
            _ => &[],
        };
        assert_eq!(unknown, expected, "{command}");
        let found = configured(&world, command);
        for judge in judges {
            assert!(found.contains(*judge), "{command}: no {judge} in {found:?}");
        }
    }
    assert_eq!(parts(&world, "cargo xtask check").iter().filter(|part| *part == "xtask").count(), 0, "no member");
    let hooks = parts(&world, "pre-commit run -a; deno task check");
    assert!(hooks.iter().any(|part| part == "tools/hook.sh"), "{hooks:?}");
    assert!(named(&world.learn("./gradlew test")).contains(&"gradlew".to_owned()));
}

#[test]
fn caches_of_runners_are_known() {
    let world = project();
    let caches = |command: &str| -> Vec<String> {
        world.learn(command).caches.into_iter().map(|cache| format!("{}={}", cache.path, cache.variable)).collect()
    };
    assert_eq!(caches("cd sub && cargo test"), ["sub/target=CARGO_TARGET_DIR"]);
    assert_eq!(caches("go test ./..."), ["=GOCACHE"]);
    assert_eq!(caches("pytest"), [".pytest_cache=", "=PYTHONPYCACHEPREFIX"]);
    assert!(caches("grep -q done work.txt").is_empty());
}

#[test]
fn programs_of_every_text_are_looked_up() {
    let world =
        World::of(&[("Makefile", "test:\n\tgrep -q ok work.txt\n\tsh deep.sh\n"), ("deep.sh", "curl x | cat\n")]);
    let known = world.learn("make test");
    let names: BTreeSet<&str> = known.programs.iter().map(|program| program.name.as_str()).collect();
    for name in ["sh", "make", "grep", "curl", "cat"] {
        assert!(names.contains(name), "{name} in {names:?}");
    }
}

fn counts(part: &Part, one: &str, other: &str) -> bool {
    counted(part, one.as_bytes()) != counted(part, other.as_bytes())
}

#[test]
fn of_a_makefile_other_goals_may_change() {
    let before = "CFLAGS = -O2\nPY = python\nNAME = x\n.PHONY: test lint\ntest: lint\n\t$(PY) verify.py\nlint:\n\tsh lint.sh\nrelease:\n\tsh release.sh $(NAME)\n";
    let part = Part::Recipes { tool: "make".to_owned(), goals: vec!["test".to_owned()] };
    for (edit, other, expected) in [
        ("a new goal", format!("{before}deploy:\n\trm -rf /\n"), false),
        ("another goal", before.replace("release.sh", "publish.sh"), false),
        ("its variable", before.replace("NAME = x", "NAME = y"), false),
        ("a phony goal", before.replace("test lint\n", "test lint deploy\n"), false),
        ("a comment", format!("# hello\n{before}"), false),
        ("the recipe", before.replace("verify.py", "true.py"), true),
        ("a recipe behind it", before.replace("lint.sh", "true.sh"), true),
        ("a variable of it", before.replace("PY = python", "PY = true"), true),
        ("the same variable again", format!("{before}PY = true\n"), true),
        ("what it needs", before.replace("test: lint", "test:"), true),
        ("the recipe once more", format!("{before}test:\n\ttrue\n"), true),
        ("a pattern for everything", format!("{before}%:\n\ttrue\n"), true),
        ("a special target", format!("{before}.IGNORE:\n"), true),
        ("no longer phony", before.replace(".PHONY: test lint", ".PHONY: lint"), true),
        ("the shell", format!("SHELL = /bin/true\n{before}"), true),
        ("flags of make", format!("MAKEFLAGS += -i\n{before}"), true),
        ("the search path", format!("export PATH := evil:$(PATH)\n{before}"), true),
        ("an include", format!("include evil.mk\n{before}"), true),
        ("a program in it", format!("{before}$(shell rm tests)\n"), true),
        ("a variable of the goal", format!("{before}test: PY = true\n"), true),
        ("the file itself as a goal", format!("{before}Makefile:\n\techo\n"), true),
        ("an exported variable", format!("PYTHONPATH = evil\n{before}"), true),
    ] {
        assert_eq!(counts(&part, before, &other), expected, "{edit}");
    }
    let first = Part::Recipes { tool: "make".to_owned(), goals: vec![String::new()] };
    assert!(counts(&first, before, &format!("first:\n\ttrue\n{before}")), "another goal is made now");
}

#[test]
fn of_files_with_sections_the_rest_may_change() {
    let toml = |names: &[&str]| Part::Sections {
        format: Format::Toml,
        names: names.iter().map(|name| (*name).to_owned()).collect(),
    };
    let ini = Part::Sections { format: Format::Ini, names: vec!["tool:pytest".to_owned(), "coverage*".to_owned()] };
    let package = Part::Package { scripts: vec!["test".to_owned()], sections: vec!["jest".to_owned()] };
    let pom = Part::Without {
        format: Format::Xml,
        names: vec!["project/dependencies".to_owned(), "project/version".to_owned()],
    };
    let gradle =
        Part::Without { format: Format::Gradle, names: vec!["dependencies".to_owned(), "repositories".to_owned()] };
    let go = Part::Sections { format: Format::GoMod, names: vec!["replace".to_owned()] };
    let just = Part::Recipes { tool: "just".to_owned(), goals: vec!["test".to_owned()] };
    let task = Part::Recipes { tool: "task".to_owned(), goals: vec!["test".to_owned()] };
    let cargo =
        toml(&["lib.test", "package.autotests", "test", "bin.*.test", "workspace.exclude", "workspace.members=a"]);
    let pytest = toml(&["tool.pytest"]);
    let justfile = "v := 'a'\nset shell := ['sh']\ntest: lint\n    run {{v}}\nlint:\n    l\nother:\n    o\n";
    let taskfile =
        "version: 3\ntasks:\n  test:\n    cmds:\n      - task: lint\n  lint:\n    cmds: [l]\n  other:\n    cmds: [o]\n";
    let build = "plugins {\n  id 'java'\n}\nversion = '1.0'\ndependencies {\n  implementation 'a:b:1'\n}\ntest {\n  useJUnitPlatform()\n}\n";
    let project = "<project><version>1</version><dependencies><dependency>a</dependency></dependencies><build><plugins><plugin>x</plugin></plugins></build></project>";
    for (part, before, other, expected) in [
        (
            &pytest,
            "[tool.pytest.ini_options]\naddopts='-q'\n[project]\nname='a'\n",
            "[project]\nname='b'\n[tool.pytest.ini_options]\naddopts = \"-q\"\n[tool.black]\nx=1\n",
            false,
        ),
        (&pytest, "[project]\n", "[project]\n[tool.pytest.ini_options]\naddopts='--co'\n", true),
        (&pytest, "[project]\n", "[project]\n[tool]\npytest = {ini_options={testpaths='x'}}\n", true),
        (&pytest, "[project]\n", "tool.pytest.ini_options.addopts='--co'\n[project]\n", true),
        (&pytest, "[project]\n", "[project\n", true),
        (
            &cargo,
            "[package]\nname='a'\n[dependencies]\nb='1'\n",
            "[package]\nname='a'\nversion='2'\n[dependencies]\nb='2'\nc='1'\n[features]\nx=[]\n[[bin]]\nname='y'\n",
            false,
        ),
        (&cargo, "[package]\n", "[package]\nautotests=false\n", true),
        (&cargo, "[lib]\n", "[lib]\ntest=false\n", true),
        (&cargo, "[[bin]]\nname='y'\n", "[[bin]]\nname='y'\ntest=false\n", true),
        (&cargo, "[package]\n", "[package]\n[[test]]\nname='it'\nharness=false\n", true),
        (&cargo, "[workspace]\nmembers=['a']\n", "[workspace]\nmembers=['a','b']\n", false),
        (&cargo, "[workspace]\nmembers=['a']\n", "[workspace]\nmembers=['b']\n", true),
        (&cargo, "[workspace]\nmembers=['a']\n", "[workspace]\nmembers=['a']\nexclude=['a']\n", true),
        (&ini, "[metadata]\nname=a\n[tool:pytest]\nx=1\n", "[metadata]\nname=b\n[tool:pytest]\nx=1\n", false),
        (&ini, "[metadata]\n", "[metadata]\n[tool:pytest]\naddopts=--co\n", true),
        (&ini, "[coverage:run]\na=1\n", "[coverage:run]\na=2\n", true),
        (
            &package,
            r#"{"scripts":{"test":"jest"}}"#,
            r#"{"dependencies":{"a":"1"},"scripts":{"dev":"vite","test":"jest"}}"#,
            false,
        ),
        (&package, r#"{"scripts":{"test":"jest"}}"#, r#"{"scripts":{"test":"true"}}"#, true),
        (&package, r#"{"scripts":{"test":"jest"}}"#, r#"{"scripts":{"test":"jest","pretest":"rm -r tests"}}"#, true),
        (&package, r#"{"scripts":{"test":"jest"}}"#, r#"{"scripts":{"test":"jest"},"jest":{"testMatch":[]}}"#, true),
        (&package, r#"{"scripts":{"test":"jest"}}"#, "no json", true),
        (&pom, project, &project.replace("<dependency>a", "<dependency>b"), false),
        (&pom, project, &project.replace("<version>1", "<version>2"), false),
        (&pom, project, &project.replace("<plugin>x", "<plugin>y"), true),
        (
            &pom,
            project,
            &project.replace("<build>", "<properties><skipTests>true</skipTests></properties><build>"),
            true,
        ),
        (
            &gradle,
            build,
            &build.replace("a:b:1'", "a:b:2'\n  testImplementation(\"c:d:1\")\n  api project(':x')"),
            false,
        ),
        (&gradle, build, &build.replace("'1.0'", "'2.0'"), false),
        (&gradle, build, &build.replace("useJUnitPlatform()", "enabled = false"), true),
        (&gradle, build, &build.replace("  implementation", "  tasks.test.enabled = false\n  implementation"), true),
        (&gradle, build, &build.replace("a:b:1'", "a:b:1'; tasks.test.enabled = false"), true),
        (&go, "module x\nrequire a v1\n", "module x\nrequire a v2\nrequire b v1\n", false),
        (&go, "module x\n", "module x\nreplace a => ./fake\n", true),
        (&go, "module x\n", "module x\nreplace (\n\ta => ./fake\n)\n", true),
        (&just, justfile, &justfile.replace("    o\n", "    p\n"), false),
        (&just, justfile, &justfile.replace("    l\n", "    p\n"), true),
        (&just, justfile, &justfile.replace("'a'", "'b'"), true),
        (&just, justfile, &justfile.replace("['sh']", "['true']"), true),
        (&task, taskfile, &taskfile.replace("[o]", "[p]"), false),
        (&task, taskfile, &taskfile.replace("[l]", "[p]"), true),
        (&task, taskfile, &taskfile.replace("version: 3", "version: 3\nset: [x]"), true),
    ] {
        assert_eq!(counts(part, before, other), expected, "{part:?}\n{before}\n{other}");
    }
}

#[test]
fn a_python_runner_is_known_with_the_packages_that_it_needs() {
    let site = ".venv/lib/python3.12/site-packages";
    let mut world = World::of(&[
        (".venv/bin/pytest", "#!/p/.venv/bin/python\n"),
        (".venv/bin/python", ""),
        (".venv/pyvenv.cfg", ""),
    ]);
    for (path, text) in [
        (
            "pytest-8.0.dist-info/RECORD",
            "pytest/__init__.py,x,1\n_pytest/a.py,x,1\npy.py,,\n../../../bin/pytest,,\npytest-8.0.dist-info/METADATA,,\n",
        ),
        (
            "pytest-8.0.dist-info/METADATA",
            "Name: pytest\nRequires-Dist: pluggy<2,>=1.4\nRequires-Dist: nose; extra == 'dev'\n",
        ),
        ("pluggy-1.4.dist-info/RECORD", "pluggy/__init__.py,,\n"),
        ("pluggy-1.4.dist-info/METADATA", "Name: pluggy\n"),
        ("requests-1.dist-info/RECORD", "requests/__init__.py,,\n"),
        ("cov-1.dist-info/RECORD", "cov/plugin.py,,\n"),
        ("cov-1.dist-info/entry_points.txt", "[pytest11]\ncov = cov.plugin\n"),
    ] {
        world.files.insert(format!("{site}/{path}"), text.to_owned());
    }
    for command in [
        ".venv/bin/pytest", ". .venv/bin/activate && pytest", "uv run pytest", "poetry run pytest",
        ".venv/bin/python -m pytest", "uv run python -m pytest",
    ] {
        let known = world.learn(command);
        let paths: BTreeSet<&str> = known.judges.iter().map(|judge| judge.path.as_str()).collect();
        for wanted in ["pytest", "_pytest", "py.py", "pluggy", "cov", "sitecustomize.py", ""] {
            let path = format!("{site}/{wanted}");
            assert!(paths.contains(path.trim_end_matches('/')), "{command}: no {path} in {paths:?}");
        }
        assert!(!paths.iter().any(|path| path.ends_with("/requests") || path.ends_with("/nose")), "{command}");
        assert!(known.unknown.is_empty(), "{command}: {:?}", known.unknown);
    }
}

#[test]
fn a_program_behind_a_shim_is_found() {
    let shims = "/home/me/.pyenv";
    let mut world = World::of(&[(".python-version", "3.12.1\n"), ("sub/x", "")]);
    for (path, text) in [
        ("shims/mypy", "#!/usr/bin/env bash\n"),
        ("versions/3.12.1/bin/mypy", ""),
        ("versions/3.12.1/lib/python3.12/site-packages/mypy-1.dist-info/RECORD", "mypy/main.py,,\n"),
    ] {
        world.files.insert(format!("{shims}/{path}"), text.to_owned());
    }
    world.shims = true;
    let known = world.learn("cd sub && mypy src");
    let paths: BTreeSet<&str> = known.judges.iter().map(|judge| judge.path.as_str()).collect();
    for path in
        ["/home/me/.pyenv/versions/3.12.1/lib/python3.12/site-packages/mypy", ".python-version", "sub/.python-version"]
    {
        assert!(paths.contains(path), "no {path} in {paths:?}");
    }
    let real = "/home/me/.pyenv/versions/3.12.1/bin/mypy";
    assert!(known.programs.iter().any(|program| program.name == real), "{:?}", known.programs);
}

#[test]
fn a_watched_run_shows_what_reading_could_not() {
    let world = project();
    let subject = subject("\"$TOOL\" run; node cli.js | grep 3");
    let known = learn(std::slice::from_ref(&subject), &world);
    assert!(!known.knows(&subject.id));
    let executed = |program: &str, args: &[&str]| Executed {
        program: program.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        folder: "/p/sub".to_owned(),
    };
    let file = |path: &str, by: &str| Opened { path: path.to_owned(), by: by.to_owned() };
    let watched = Watched {
        made: Vec::new(),
        executed: vec![
            executed("/p/app.sh", &["app.sh"]),
            executed("/usr/bin/bash", &["bash", "-e", "check.sh"]),
            executed("/opt/tool/bin/tool", &["tool"]),
            executed("/usr/bin/node", &["node", "/p/cli.js"]),
            executed("/p/target/debug/app", &["app"]),
        ],
        opened: vec![
            file("/p/tools/lib.sh", "/usr/bin/bash"),
            file("/p/work.txt", "/usr/bin/grep"),
            file("/p/src/app.py", "/usr/bin/python3"),
        ],
        missed: vec![
            file("/p/pytest.ini", "/usr/bin/python3"),
            file("/home/me/.npmrc", "/usr/bin/node"),
            file("/p/nothing.txt", "/usr/bin/cat"),
        ],
        used: Vec::new(),
        modules: Vec::new(),
        gap: String::new(),
    };
    let after = learn_watched(&subject, &known, &watched, &world);
    assert!(after.knows(&subject.id));
    let new: BTreeSet<&str> =
        after.judges.iter().filter(|judge| !known.judges.contains(judge)).map(|judge| judge.path.as_str()).collect();
    assert_eq!(new, ["app.sh", "sub/check.sh", "tools/lib.sh", "pytest.ini", "/home/me/.npmrc"].into());
    assert!(after.programs.iter().any(|program| program.name == "/opt/tool/bin/tool"));
    let gap = Watched { gap: "the kernel refuses".to_owned(), ..watched.clone() };
    assert!(!learn_watched(&subject, &known, &gap, &world).knows(&subject.id));
    let all_known = learn(&[super::tests::subject("pytest")], &world);
    assert_eq!(
        learn_watched(&super::tests::subject("pytest"), &all_known, &watched, &world),
        all_known,
        "what tests start is the work"
    );
}

#[test]
fn what_would_be_found_before_a_program_must_stay_away() {
    let world = World::of(&[
        ("package.json", r#"{"scripts":{"test":"sh check.sh"}}"#),
        ("check.sh", "grep -q done work.txt"),
        ("first.sh", "PATH=$PWD/tools:$PATH\nbash check.sh\n"),
        ("Makefile", "export PATH := $(CURDIR)/tools:$(PATH)\ntest:\n\tbash check.sh\n"),
    ]);
    for (command, path) in [
        ("npm test", "node_modules/.bin/sh"),
        ("npm test", "node_modules/.bin/grep"),
        ("sh first.sh", "tools/bash"),
        ("make test", "tools/bash"),
    ] {
        let known = world.learn(command);
        assert!(known.judges.iter().any(|judge| judge.path == path), "{command}: {path}");
    }
    assert!(!world.learn("sh check.sh").judges.iter().any(|judge| judge.path.contains("node_modules")));
}

#[test]
fn what_a_shell_reads_at_its_start_and_lists_of_tests_judge() {
    let world = World::of(&[("check.sh", "true"), ("CTestTestfile.cmake", "add_test(all sh check.sh)")]);
    for (command, path) in [
        ("bash -l check.sh", "/home/me/.bash_profile"),
        ("bash -lc 'sh check.sh'", "/home/me/.profile"),
        ("ctest", "CTestTestfile.cmake"),
    ] {
        assert!(world.learn(command).judges.iter().any(|judge| judge.path == path), "{command}: {path}");
    }
}

#[test]
fn variables_of_an_included_makefile_count_for_the_one_that_includes_it() {
    let world =
        World::of(&[("Makefile", "include common.mk\ntest:\n\t$(RUN) check.sh\n"), ("common.mk", "RUN = sh\n")]);
    let known = world.learn("make test");
    let included: Vec<&Part> =
        known.judges.iter().filter(|judge| judge.path == "common.mk").map(|judge| &judge.part).collect();
    assert_eq!(included.len(), 1);
    for part in included {
        assert!(counts(part, "RUN = sh\n", "RUN = :\n"));
        assert!(!counts(part, "RUN = sh\n", "RUN = sh\nclean:\n\trm -f x\n"));
    }
}

#[test]
fn functions_that_call_each_other_are_read_in_bounded_time() {
    let all: String = (0..30).map(|at| format!("f{at}() {{ f{0}; f{0}; f{0}; f{0}; }}\n", at + 1)).collect();
    World::of(&[("check.sh", &format!("{all}f0\n"))]).learn("sh check.sh");
}

#[test]
fn where_reading_failed_no_check_is_known() {
    let subject = subject("true");
    let known = Known::nothing_of(std::slice::from_ref(&subject));
    assert!(!known.knows(&subject.id));
    assert!(Known::nothing_of(&[]).unknown.is_empty());
}

#[test]
fn an_environment_that_is_not_there_yet_is_nobodys_to_forbid_and_nobodys_word() {
    let environments = |world: &World, command: &str| {
        let known = world.learn(command);
        let own = |judge: &Judge| match judge.why {
            Why::Environment { own, .. } => Some((judge.path.clone(), own)),
            _ => None,
        };
        known.judges.iter().filter_map(own).collect::<Vec<_>>()
    };
    let mut world = World::of(&[("sub/pyproject.toml", "[project]\n"), ("pyproject.toml", "[project]\n")]);
    let made = |paths: &[&str], own: bool| paths.iter().map(|path| ((*path).to_owned(), own)).collect::<Vec<_>>();
    for (command, expected) in [
        ("uv run pytest", made(&[".venv"], true)),
        ("uv run --frozen pytest -q", made(&[".venv"], true)),
        ("cd sub && uv run python -m pytest", made(&["sub/.venv", ".venv"], true)),
        ("uv run --no-sync pytest", made(&[".venv/bin/pytest"], false)),
        ("poetry run pytest", made(&[".venv/bin/pytest"], false)),
        ("pdm run pytest", made(&[".venv/bin/pytest"], false)),
        ("pipenv run pytest tests", made(&[".venv/bin/pytest"], false)),
        ("pytest", Vec::new()),
    ] {
        assert_eq!(environments(&world, command), expected, "{command}");
    }
    world.files.insert(".venv/bin/pytest".to_owned(), String::new());
    assert!(environments(&world, "uv run pytest").is_empty(), "what is there is pinned by what it holds");
}

#[test]
fn a_script_behind_another_program_judges_as_if_it_stood_alone() {
    // The command, the judges that it names, and how much of it is unknown.
    let table: &[(&str, &[&str], usize)] = &[
        ("hyperfine 'sh check.sh'", &["check.sh"], 0),
        ("script -c 'sh check.sh'", &["check.sh"], 0),
        ("taskset -c 0 sh check.sh", &["check.sh"], 0),
        ("taskset 0x3 sh check.sh", &["check.sh"], 0),
        ("setsid -- sh check.sh", &["check.sh"], 0),
        ("xargs -I X sh check.sh", &["check.sh"], 0),
        ("xargs sh", &[], 1),
        ("find . -exec grep -q x {} \\; -exec sh check.sh \\;", &["check.sh"], 0),
        ("find tests -exec sh check.sh \\;", &["check.sh"], 0),
        ("find tests -exec sh {} \\;", &[], 0),
        ("find checks.d -exec {} \\;", &[], 1),
        ("find checks.d -exec sh {} \\;", &[], 1),
        ("command ./check.sh", &["check.sh"], 0),
        ("command -v ./check.sh", &[], 0),
        ("env -v sh check.sh", &["check.sh"], 0),
        ("env -i A=b sh check.sh", &["check.sh"], 0),
        ("flock lock -c 'sh check.sh'", &["check.sh"], 0),
        ("./node_modules/.bin/mocha", &[], 1),
    ];
    let wrong = table.iter().filter_map(|(command, judges, unknown)| {
        let found = named(&project().learn(command));
        let (open, found): (Vec<String>, Vec<String>) = found.into_iter().partition(|name| name.starts_with('?'));
        (found != *judges || open.len() != *unknown).then(|| format!("{command}: {found:?} {open:?}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_installed_program_is_put_back_by_its_installer_and_so_is_the_interpreter_that_it_names() {
    for (path, interpreter, judges) in [
        ("node_modules/.bin/mocha", "/p/tools/node", true),
        ("vendor/bin/phpunit", "/home/me/php", false),
        (".venv/bin/pytest", "/usr/bin/python3", false),
    ] {
        let text = format!("#!{interpreter}\nx\n");
        let files = [(path, text.as_str()), (".venv/pyvenv.cfg", ""), ("tools/node", "")];
        let known = World::of(&files).learn(path);
        let is_installed = |wanted: &str| {
            known.judges.iter().any(|judge| judge.path == wanted && matches!(judge.why, Why::Installed { .. }))
        };
        assert!(is_installed(path), "{path}: {:?}", known.judges);
        assert_eq!(is_installed("tools/node"), judges, "{path}");
        let programs: Vec<&str> = known.programs.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(programs.contains(&interpreter), interpreter.starts_with("/home"), "{path}: {programs:?}");
    }
}

#[test]
fn what_make_computes_before_it_executes_a_recipe_is_computed() {
    for (before, recipe) in [
        ("S = tools/deep.sh", "sh $(strip $(S))"),
        ("", "sh $(dir tools/lib.sh)deep.sh"),
        ("", "sh $(dir check.sh)tools/deep.sh"),
        ("", "sh tools/$(notdir src/deep.sh)"),
        ("", "sh $(firstword tools/deep.sh app.sh)"),
        ("", "sh $(lastword app.sh tools/deep.sh)"),
        ("D = tools", "sh $(addprefix $(D)/,deep.sh)"),
        ("run = sh $(1)/$(2)", "$(call run,tools,deep.sh)"),
        ("F = -e\nF += tools/deep.sh", "sh $(F)"),
        ("S = tools/deep.sh\nS ?= app.sh", "sh $(S)"),
        ("S ?= tools/deep.sh", "sh $(S)"),
        ("define RUN\nsh tools/deep.sh\nendef", "$(RUN)"),
        ("define RUN\nsh app.sh\nendef\nS = tools/deep.sh", "sh $(S)"),
        ("ifneq (a,b:c)\nendif", "sh tools/deep.sh"),
    ] {
        let mut world = project();
        world.files.insert("Makefile".to_owned(), format!("{before}\ntest:\n\t{recipe}\n"));
        let found = named(&world.learn("make"));
        assert!(found.contains(&"tools/deep.sh".to_owned()), "{before} {recipe}: {found:?}");
        assert!(!found.iter().any(|name| name == "app.sh" || name.starts_with('?')), "{before} {recipe}: {found:?}");
    }
    let mut world = project();
    world.files.insert("Makefile".to_owned(), "S != cat patterns\ntest:\n\tsh $(S)\n".to_owned());
    assert!(named(&world.learn("make")).iter().any(|name| name.starts_with('?')), "what a command prints is unknown");
}

#[test]
fn scripts_of_packages_are_followed_whoever_runs_them() {
    let world = World::of(&[
        (
            "package.json",
            r#"{"scripts":{"test:unit":"sh unit.sh","test:e2e":"sh e2e.sh","lint":"sh lint.sh","prepare":"sh prepare.sh"}}"#,
        ),
        (
            "composer.json",
            r#"{"scripts":{"test":["@lint","sh unit.sh","@php e2e.sh"],"lint":"sh lint.sh","magic":"A::b"}}"#,
        ),
        ("deno.json", r#"{"tasks":{"test":"sh unit.sh"}}"#),
        ("unit.sh", "true"),
        ("e2e.sh", "true"),
        ("lint.sh", "true"),
        ("prepare.sh", "true"),
    ]);
    // The command, the scripts that judge, and how much of it is unknown: `run-s` and `concurrently` are not installed.
    let table: &[(&str, &[&str], usize)] = &[
        ("run-s lint test:*", &["e2e.sh", "lint.sh", "unit.sh"], 1),
        ("run-s lint nothing", &["lint.sh"], 2),
        ("concurrently 'npm:test:*' 'sh lint.sh'", &["e2e.sh", "lint.sh", "unit.sh"], 1),
        ("composer test", &["e2e.sh", "lint.sh", "unit.sh"], 0),
        ("composer run lint", &["lint.sh"], 0),
        ("composer magic", &[], 1),
        ("composer nothing", &[], 1),
        ("composer install", &[], 0),
        ("npm ci", &["prepare.sh"], 0),
        ("deno task test", &["unit.sh"], 0),
    ];
    let wrong = table.iter().filter_map(|(command, judges, unknown)| {
        let found = named(&world.learn(command));
        let open: Vec<&String> = found.iter().filter(|name| name.starts_with('?')).collect();
        let scripts: Vec<&String> = found.iter().filter(|name| name.ends_with(".sh")).collect();
        (scripts != *judges || open.len() != *unknown).then(|| format!("{command}: {scripts:?} {open:?}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_runner_that_has_run_if_the_check_succeeds_is_known_by_its_report() {
    let package = |test: &str| format!(r#"{{"scripts":{{"pretest":"echo 1","test":"{test}"}}}}"#);
    let world = |package: &str| {
        World::of(&[
            ("package.json", package),
            ("Makefile", ".PHONY: test\ntest: lint\n\tpytest -q\nlint:\n\techo\nstamp:\n\tpytest\n"),
            ("justfile", "test:\n    pytest\n"),
            ("check.sh", "#!/bin/sh\nset -e\necho begin\npytest \"$@\"\n"),
            ("loose.sh", "pytest\necho end\n"),
            ("Cargo.toml", "[package]\n"),
            ("own/Cargo.toml", "[[test]]\nharness = false\n"),
            ("test/a.test.js", "const test = require('node:test')"),
            ("plain/a.test.js", "require('assert')(1)"),
        ])
    };
    for (command, runners) in [
        ("pytest -q", "pytest"),
        ("pytest a && pytest b", "pytest pytest"),
        ("python3 -m pytest", "pytest"),
        ("python3 -m unittest discover -s unit", "unittest"),
        ("timeout 60 pytest 2>&1", "pytest"),
        ("set -o pipefail; pytest | tee log", "pytest"),
        ("npx jest", "jest"),
        ("npm test", "jest"),
        ("npm run test", "jest"),
        ("make test", "pytest"),
        ("just test", "pytest"),
        ("sh check.sh", "pytest"),
        ("sh check.sh -qq", ""),
        ("cargo test", "cargo test"),
        ("cd own && cargo test", ""),
        ("cargo test --no-run", ""),
        ("node --test test", "node:test"),
        ("node --test plain", ""),
        ("node --test --test-reporter=dot test", ""),
        ("pytest -qq", ""),
        ("pytest -q -q", ""),
        ("pytest -vq", "pytest"),
        ("pytest >log", ""),
        ("pytest | tail -n 1", ""),
        ("{ pytest; } >log", ""),
        ("pytest || true", ""),
        ("if true; then pytest; fi", ""),
        ("sh loose.sh", ""),
        ("make stamp", ""),
        ("PYTEST_ADDOPTS=-qq pytest", ""),
        ("mocha -R dot", ""),
        ("npm test -ws", ""),
        ("turbo test", ""),
        ("echo pytest", ""),
    ] {
        let known = world(&package("jest")).learn(command);
        let found: Vec<&str> = known.runners.iter().map(|runner| runner.name.as_str()).collect();
        assert_eq!(found.join(" "), runners, "{command}");
    }
}

#[test]
fn a_runner_that_is_configured_to_report_otherwise_need_not_say_anything() {
    for (file, text, command, count) in [
        ("pytest.ini", "[pytest]\naddopts = -q\n", "pytest -q", 0),
        ("pytest.ini", "[pytest]\naddopts = --strict-markers\n", "pytest -q", 1),
        (".mocharc.json", r#"{"reporter":"dot"}"#, "mocha", 0),
        (".mocharc.json", r#"{"timeout":9}"#, "mocha", 1),
        ("jest.config.js", "module.exports = { reporters: ['x'] }", "jest", 0),
    ] {
        assert_eq!(World::of(&[(file, text)]).learn(command).runners.len(), count, "{file} {text}");
    }
}

fn assert_named(world: &World, expected: &[(&str, &[&str])]) {
    let wrong = expected.iter().filter_map(|(command, expected)| {
        let found = named(&world.learn(command));
        (found != *expected).then(|| format!("{command}\n    found {found:?}\n    instead of {expected:?}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cases_that_a_check_goes_through_judge_and_new_ones_are_work() {
    let world = World::of(&[
        ("src/add.sh", ""),
        ("golden/a.in", "2 3"),
        ("golden/a.out", "5"),
        ("golden/notes.md", ""),
        ("data/one.txt", "1"),
        ("data/one.want", "1"),
        ("loop.sh", "for f in golden/*.in; do sh src/add.sh $(cat $f) | diff - ${f%.in}.out || exit 1; done\n"),
        ("listed.sh", "for f in $(ls golden/*.in); do sh src/add.sh <$f | cmp - ${f%.in}.out || exit 1; done\n"),
        ("plain.sh", "for f in data/*.txt; do sh src/add.sh $f | diff - \"${f%.txt}.want\"; done\n"),
        ("ci.py", "import json\nfor a in json.load(open('cases.json')):\n    pass\n"),
        ("cases.json", "[]"),
        ("ci/near.py", "from pathlib import Path\nP = Path(__file__).parent / 'samples.csv'\n"),
        ("ci/samples.csv", ""),
        ("ci/all.py", "import os\nfor n in os.listdir('golden'):\n    pass\n"),
        ("ci/doubt.py", "import json\nc = json.load(open('settings.json'))\n"),
        ("settings.json", "{}"),
        ("ci/read.py", "assert 'usage' in open('README.md').read()\n"),
        ("README.md", ">>> 1\n1\n"),
        ("run", "-cp out"),
    ]);
    let expected: &[(&str, &[&str])] = &[
        ("sh loop.sh", &["golden/a.in", "golden/a.out", "loop.sh"]),
        ("sh listed.sh", &["golden/a.in", "golden/a.out", "listed.sh"]),
        ("sh plain.sh", &["data/one.txt", "data/one.want", "plain.sh"]),
        ("python3 ci.py", &["cases.json", "ci.py"]),
        ("python3 ci/near.py", &["ci/near.py", "ci/samples.csv"]),
        ("python3 ci/all.py", &["ci/all.py", "golden/a.in", "golden/a.out", "golden/notes.md"]),
        (
            "python3 ci/doubt.py",
            &["ci/doubt.py", "? whether settings.json, which ci/doubt.py reads, judges or is the work"],
        ),
        ("python3 ci/read.py", &["ci/read.py"]),
        ("python3 -m doctest README.md", &["README.md"]),
        ("java @run T", &["run"]),
    ];
    assert_named(&world, expected);
    for (judges, work) in [(vec!["settings.json".to_owned()], vec![]), (vec![], vec!["settings.json".to_owned()])] {
        let declared = Subject { judges, work, ..subject("python3 ci/doubt.py") };
        assert!(learn(&[declared], &world).unknown.is_empty());
    }
}

#[test]
fn what_git_lists_is_not_known() {
    let world = World::of(&[
        ("tests/test_a.sh", ""),
        ("gen.txt", ""),
        ("ci.sh", "for t in $(git ls-files tests); do sh $t; done"),
    ]);
    for (command, is_known) in [
        ("git ls-files 'tests/*.sh' | xargs -n1 sh", false),
        ("sh ci.sh", false),
        ("git grep -l it tests | xargs cat", false),
        ("git diff --name-only HEAD | xargs cat", false),
        ("git diff --exit-code base", false),
        ("git diff --exit-code", true),
        ("git diff --exit-code HEAD -- gone.txt", true),
        ("git diff --exit-code gen.txt", true),
        ("test -z \"$(git status --porcelain)\"", true),
    ] {
        let unknown = world.learn(command).unknown;
        assert_eq!(!unknown.iter().any(|unknown| unknown.varies), is_known, "{command}: {unknown:?}");
    }
}

#[test]
fn an_output_that_is_compared_is_a_plain_file() {
    let world = World::of(&[("src/add.sh", ""), ("expected.txt", "5")]);
    let outputs = |command: &str| -> Vec<String> {
        let judges = world.learn(command).judges.into_iter().filter(|judge| judge.part == Part::Output);
        judges.map(|judge| judge.path).collect()
    };
    assert_eq!(outputs("sh src/add.sh >out.txt; diff out.txt expected.txt"), ["out.txt"]);
    assert_eq!(outputs("cd src && sh add.sh >o/p; grep 5 o/p"), ["src/o/p"]);
    assert!(outputs("sh src/add.sh >log.txt; diff /tmp/a expected.txt").is_empty());
    assert!(outputs("sh src/add.sh >/tmp/out; diff /tmp/out expected.txt").is_empty());
}

#[test]
fn a_program_whose_output_is_compared_in_a_temporary_place_is_the_work() {
    let world = World::of(&[
        ("src/add.sh", ""),
        ("check.sh", ""),
        ("one.sh", "out=$(mktemp)\nsh src/add.sh 2 3 >\"$out\"\ngrep -qx 5 \"$out\"\n"),
        ("two.sh", "t=`mktemp -d`\ntrap 'rm -rf \"$t\"' EXIT\nsh src/add.sh >$t/out\necho 5 | diff - $t/out\n"),
        ("other.sh", "log=$(mktemp) out=$(mktemp)\nsh src/add.sh >$log\ngrep 5 $out\n"),
        ("copied.sh", "t=$(mktemp -d)\ncp -r . $t\ncd $t && pytest\n"),
        ("executed.sh", "t=$(mktemp -d)\ncp -r . $t\nsh $t/check.sh\n"),
    ]);
    assert_named(
        &world,
        &[
            ("sh one.sh", &["one.sh"]),
            ("sh two.sh", &["two.sh"]),
            ("sh other.sh", &["other.sh", "src/add.sh"]),
            ("sh copied.sh", &["copied.sh", "? where `pytest` runs"]),
            ("sh executed.sh", &["executed.sh", "? which file `sh $t/check.sh` in executed.sh executes"]),
        ],
    );
}

#[test]
fn what_a_makefile_builds_from_sources_is_the_work() {
    let world = World::of(&[
        (
            "Makefile",
            "test: t\n\t./t\nt: add.c test.c\n\tcc -o $@ $^\napp: add.c\n\tcc -o $@ $<\ntry: app\n\tsh check.sh\n",
        ),
        ("add.c", ""),
        ("test.c", ""),
        ("check.sh", "test \"$(./app)\" = 5"),
        ("perl/Makefile.PL", ""),
    ]);
    let known = world.learn("make test");
    let made = Made { check: CheckId::new("check"), path: "t".to_owned(), stays: true };
    assert_eq!((named(&known), known.tried), (vec!["Makefile".to_owned()], vec!["t".to_owned()]));
    assert_eq!(known.made, [made], "make leaves one that is newer than its sources, so that it is tried without");
    let declared = Subject { work: vec!["t".to_owned()], ..subject("make test") };
    assert_eq!(learn(&[declared], &world).made, []);
    assert_named(
        &world,
        &[("make try", &["Makefile", "check.sh"]), ("cd perl && perl Makefile.PL && make test", &["perl/Makefile.PL"])],
    );
}

#[test]
fn what_only_looks_at_a_file_does_not_make_it() {
    let world = World::of(&[("ci.sh", "[ -f .env ] && . ./.env\ntest -e lib.sh && . lib.sh\ntouch made; . ./made\n")]);
    assert_named(&world, &[("sh ci.sh", &[".env", "ci.sh", "lib.sh"])]);
    let world = World::of(&[("ci.sh", "for t in tests/test_*.sh; do . ./$t; done"), ("tests/test_a.sh", "")]);
    assert_named(&world, &[("sh ci.sh", &["ci.sh", "? which files `. ./$t` in ci.sh reads in"])]);
}

#[test]
fn variables_of_a_package_count_with_its_scripts() {
    let with = r#"{"config":{"tests":"tests"},"scripts":{"test":"sh check.sh"}}"#;
    let used = r#"{"scripts":{"test":"sh check.sh $npm_package_config_tests"}}"#;
    let without = r#"{"scripts":{"test":"sh check.sh"}}"#;
    for (package, expected) in
        [(with, "package.json test#config"), (used, "package.json test#config"), (without, "package.json test")]
    {
        let found = parts(&World::of(&[("package.json", package), ("check.sh", "")]), "npm test");
        assert!(found.contains(&expected.to_owned()), "{found:?}");
    }
}

#[test]
fn what_a_check_makes_and_then_executes_is_its_own() {
    let world = World::of(&[
        (
            "ci.sh",
            "[ -f .cache/lib.sh ] || { mkdir -p .cache; echo 'run() { :; }' >.cache/lib.sh; }\n. .cache/lib.sh\n",
        ),
        ("t.c", ""),
    ]);
    for (command, expected) in [
        ("sh ci.sh", ".cache/lib.sh"),
        ("cc -o t t.c && ./t", "t"),
        ("perl Makefile.PL && make test", "Makefile"),
        ("sh check.sh", ""),
    ] {
        let made: Vec<String> = world.learn(command).made.into_iter().map(|made| made.path).collect();
        assert_eq!(made.join(" "), expected, "{command}");
    }
}

#[test]
fn features_and_packages_that_tests_need_stay_where_they_are() {
    let manifest = "[package]\nname = \"a\"\n[features]\ndefault = [\"std\", \"extra\"]\nstd = [\"full\"]\nfull = []\nextra = []\n\
        [dev-dependencies]\nsame = { path = \"same\" }\n";
    let world = World::of(&[
        ("Cargo.toml", manifest),
        ("tests/a.rs", "#![cfg(feature = \"full\")]\n#[test]\nfn a() {}\n"),
        ("src/lib.rs", ""),
    ]);
    let known = world.learn("cargo test");
    let found = known.judges.iter().find(|judge| judge.path == "Cargo.toml").map(|judge| judge.part.clone());
    assert!(found.is_some(), "{known:?}");
    let part = &found.unwrap_or(Part::Whole);
    let before = counted(part, manifest.as_bytes());
    for (from, to, same) in [
        ("\"std\", ", "", false),
        ("[\"full\"]", "[]", false),
        (", \"extra\"", "", true),
        ("std = [", "std = [\"extra\", ", true),
        ("path = \"same\"", "path = \"easy\"", false),
        ("{ path = \"same\" }", "\"1\"", false),
        ("[package]\nname = \"a\"\n", "", false),
        ("name = \"a\"", "name = \"b\"", true),
        ("[dev-dependencies]\n", "[dev-dependencies]\nmore = \"1\"\n", true),
    ] {
        let after = manifest.replace(from, to);
        assert_ne!(after, manifest);
        assert_eq!(counted(part, after.as_bytes()) == before, same, "{from} -> {to}");
    }
}

#[test]
fn checks_that_ask_git_or_pass_over_what_it_ignores_are_known() {
    let world = World::of(&[("package.json", r#"{"scripts":{"format":"prettier --check lib"}}"#)]);
    for (command, obeys, asks) in [
        ("npm run format", true, false),
        ("ruff check .", true, false),
        ("git diff --exit-code gen.txt", false, true),
        ("sh check.sh", false, false),
    ] {
        let known = world.learn(command);
        assert_eq!((known.obeys_git(), known.asks_git()), (obeys, asks), "{command}");
    }
}

#[test]
fn a_check_that_goes_through_folders_names_what_is_in_each() {
    let world = World::of(&[
        ("verify.sh", "for each in packages/*/check.sh; do (cd $(dirname $each) && sh lint.sh) || exit 1; done\n"),
        ("packages/a/check.sh", ""),
        ("packages/a/lint.sh", "sh rules.sh\n"),
        ("packages/a/rules.sh", ""),
        ("packages/b/main.sh", ""),
    ]);
    assert_named(&world, &[("sh verify.sh", &["packages/a/lint.sh", "packages/a/rules.sh", "verify.sh"])]);
    let world = World::of(&[("bin/tool", "#!/usr/bin/env node\n")]);
    assert_named(
        &world,
        &[
            ("./bin/tool --self-check", &["? whether bin/tool, which tries itself, judges or is the work"]),
            ("./bin/tool", &["bin/tool"]),
        ],
    );
}
