//! Lines and what they prove: `t` tests, `l` lint, `c` types (it compiles), and nothing.

use super::*;

/// What the status of each line speaks for.
#[rustfmt::skip]
const LINES: &[(&str, &str)] = &[
    // Plain commands of many ecosystems.
    ("t", "npm test"), ("t", "npm t"), ("t", "npm run test:unit"), ("t", "npm test -- --watch=false"), ("t", "npm run test -- -t 'a b'"),
    ("t", "npm --prefix web run test"), ("t", "npm -w pkg test"), ("t", "npm run -s test"), ("l", "npm run lint:fix"), ("c", "npm run type-check"),
    ("c", "npm run check:types"), ("c", "npm run typecheck"), ("l", "npm run format:check"), ("t", "pnpm test"), ("t", "pnpm -r test"),
    ("t", "pnpm --filter web test"), ("c", "pnpm -r exec tsc --noEmit"), ("t", "pnpm vitest run"), ("l", "pnpm lint"),
    ("t", "pnpm --filter web exec vitest run"), ("t", "yarn test"), ("t", "yarn jest --ci"), ("t", "yarn workspace web test"),
    ("t", "yarn workspaces foreach -A run test"), ("t", "yarn dlx vitest run"), ("c", "yarn tsc -b"), ("t", "bun test"), ("t", "bun run test"),
    ("c", "bun run tsc"), ("t", "bunx --bun vitest run"), ("l", "bun x eslint ."), ("t", "deno test -A"), ("l", "deno lint"),
    ("c", "deno check main.ts"), ("t", "deno task test"), ("t", "npx vitest run"), ("t", "npx -y jest@29 --ci"),
    ("l", "npx @biomejs/biome@1.9 check ."), ("t", "npx --no-install mocha"), ("t", "npx -c 'vitest run'"), ("t", "npm exec -- vitest run"),
    ("t", "node --test"), ("t", "node --import tsx --test src"), ("t", "node node_modules/.bin/jest"),
    ("t", "node ./node_modules/vitest/vitest.mjs run"), ("t", "./node_modules/.bin/jest"), ("t", "npx playwright test"), ("t", "npx cypress run"),
    ("lt", "npx turbo run lint test"), ("t", "nx test app"), ("lt", "nx run-many -t lint test"), ("t", "nx run app:test"), ("lt", "run-s lint test"),
    ("t", "pytest"), ("t", "pytest -x -q tests/test_a.py::test_b[x-1]"), ("t", "python -m pytest"), ("t", "python3.12 -m unittest discover"),
    ("t", "uv run pytest"), ("t", "uv run --with pytest-cov pytest --cov"), ("t", "uv run -m pytest"), ("t", "poetry run pytest"),
    ("t", "pipenv run pytest"), ("t", "hatch run test"), ("t", "pdm run pytest"), ("t", "coverage run -m pytest"), ("t", "python manage.py test"),
    ("t", "./manage.py test"), ("t", "conda run -n dev pytest"), ("t", "tox"), ("t", "tox -e py311"), ("t", "nox -s tests"),
    ("l", "uvx ruff check ."), ("l", "python -m ruff check src"), ("l", "ruff format --check ."), ("l", "black --check ."), ("l", "flake8 src"),
    ("c", "mypy src"), ("c", "uv run mypy ."), ("c", "basedpyright"), ("c", "ty check"), ("t", "cargo test"), ("t", "cargo +nightly test"),
    ("t", "cargo -q test"), ("t", "cargo nextest run"), ("t", "cargo --locked nextest run -p a"), ("l", "cargo clippy --all-targets -- -D warnings"),
    ("l", "cargo fmt --all -- --check"), ("c", "cargo check"), ("c", "cargo build --release"), ("t", "go test ./..."),
    ("t", "go test -run xxx ./..."), ("t", "go -C sub test ./..."), ("l", "go vet ./..."), ("c", "go build ./..."), ("l", "golangci-lint run"),
    ("t", "make test"), ("t", "make -C web test"), ("t", "make check"), ("lt", "make -j4 lint test"), ("t", "just test"), ("t", "just check"),
    ("", "just run test"), ("t", "task test"), ("c", "make typecheck"), ("t", "mvn -q clean verify"), ("t", "./mvnw test"),
    ("t", "./gradlew :app:test --tests Foo"), ("t", "gradle check"), ("t", "dotnet test"), ("c", "dotnet build"), ("t", "bundle exec rspec"),
    ("t", "bin/rails test"), ("t", "rake spec"), ("t", "vendor/bin/phpunit"), ("t", "php artisan test"), ("t", "composer test"),
    ("t", "ctest --test-dir build"), ("t", "cmake --build build --target test"), ("t", "swift test"), ("t", "flutter test"), ("t", "mix test"),
    ("t", "sbt 'testOnly a.B'"), ("t", "zig build test"), ("c", "zig build"), ("t", "bats tests"), ("l", "eslint . --fix"), ("l", "prettier -c ."),
    ("l", "shellcheck a.sh"), ("c", "tsc"), ("c", "npx tsc -p ."), ("c", "vue-tsc --noEmit"), ("c", "bundle exec srb tc"),
    // Wrappers, quotes, redirections, comments.
    ("t", "CI=1 pnpm test"), ("t", "env FOO=1 npm test"), ("t", "env \"A=$A\" B=$B npm test"), ("t", "pnpm --filter=\"$P\" test"),
    ("t", "go run gotest.tools/gotestsum@latest ./..."), ("t", "timeout 60 go test ./..."), ("t", "timeout -k 5 --foreground 60s npm test"),
    ("t", "time npm test"), ("t", "/usr/bin/time -v npm test"), ("t", "nice -n 5 npm test"), ("t", "nohup npm test"), ("t", "sudo -u bob npm test"),
    ("t", "xvfb-run -a npm test"), ("t", "sudo env CI=1 timeout 9 uv run python -m pytest"), ("t", "exec npm test"),
    ("t", "cross-env NODE_ENV=test jest"), ("t", "dotenv -e .env -- npm test"), ("t", "bash -c 'npm test'"),
    ("t", "/bin/bash -lc \"cd web && npm test -- 'a b'\""), ("t", "bash -lc \"bash -c 'npm test'\""), ("t", "'npm' \"test\""), ("t", "\\npm test"),
    ("t", "npm test > log 2>&1"), ("t", "npm test &> log"), ("t", "npm test > >(tee log)"), ("t", "npm test <<< y"), ("t", "npm test # || true"),
    ("t", "npm test -- $FILES"), ("t", "npm \\\n  test"), ("t", "\n\nnpm test\n"), ("t", "cat <<'E' > a.sh\nset -e\nE\nnpm test"),
    ("t", "git commit -m \"$(cat <<'E'\nit's done\nE\n)\" && npm test"), ("t", "cat > a.py <<E && pytest\nexit 0\nE"),
    // Lists and chains.
    ("t", "cd x && npm test"), ("t", "npm test && echo ok"), ("lt", "npm run lint && npm test"), ("t", "a; npm test"), ("t", "a\nnpm test"),
    ("t", "npm run dev & npm test"), ("t", "a || b && npm test"), ("t", "(cd web && npm test)"), ("t", "{ cd web; npm test; }"),
    ("t", "source .venv/bin/activate && pytest"), ("lt", "(eslint .) && (npm test)"), ("t", "npm test || exit 1"),
    ("t", "npm test || exit 1; echo done"), ("t", "npm test || { echo failed; exit 1; }"), ("t", "npm test || (echo failed; exit 1)"),
    ("t", "npm test || false"), ("t", "npm test || exit $?"), ("t", "npm test; exit $?"), ("t", "npm test\nexit"), ("t", "cd x || exit; npm test"),
    ("t", "cd x || exit 1\nnpm test"), ("t", "if [ ! -d node_modules ]; then npm ci || exit 1; fi; npm test"), ("t", "exec 2>&1; npm test"),
    ("t", "log() { echo \"$1\"; }; log a; npm test"), ("t", "echo y | npm test"), ("t", "set -o pipefail; npm test | tee log"),
    ("t", "set -euo pipefail; npm test 2>&1 | tail -5"), ("t", "set -o pipefail && npm test |& tee log"),
    ("t", "bash -o pipefail -c 'npm test | tee log'"), ("t", "bash -eo pipefail -c 'npm test | tee log; echo ok'"),
    ("t", "bash -euo pipefail -c 'npm test; echo'"), ("t", "set -e; a; npm test; b"), ("lt", "set -e\nnpm run lint\nnpm test\necho done"),
    ("t", "set -e; (cd web && npm test); echo ok"), ("t", "set -o errexit; npm test; b"),
    ("t", "(exit 0); npm test"), ("t", "npm test || { echo failed; exit 1; }; echo done"), ("t", "set -e; cd web && (npm test; b)"),
    ("t", "set -e; a && b; (npm test; c)"), ("t", "npm exec -c 'vitest run'"), ("t", "npm run test:integration > log"),
    ("t", "npm test 123456789>x"), ("t", "pytest-3 -q"), ("t", "jest --ci --watch false"), ("", "npm +x test"), ("t", "bash -c a; bash -c b; bash -c c; bash -c d; bash -c e; bash -c 'npm test'"),
    // The status is hidden.
    ("", "a && set -o pipefail; npm test | cat"),
    ("", "npm test || true"), ("", "npm test; true"), ("", "npm test; echo $?"), ("", "! npm test"), ("", "if npm test; then echo y; fi"),
    ("", "npm test &"), ("", "npm test & wait"), ("", "npm test && echo PASS || echo FAIL"), ("", "npm test | tee log"),
    ("", "npm test 2>&1 | tail -20"), ("", "npm test |& tail"), ("", "(npm test; true)"), ("", "{ npm test; } || :"), ("", "npm test || exit 0"),
    ("", "npm test || exit 256"), ("", "npm test || exit $X"), ("", "npm test || { echo failed; exit; }"), ("", "npm test || return 1; echo done"),
    ("", "(npm test || exit 1); echo done"), ("", "exit 0; npm test"), ("", "[ -f package.json ] || exit 0; npm test"),
    ("", "[ -f x ] && exit; npm test"), ("", "[ -f x ] || exit 0 && npm test"), ("", "if [ -f skip ]; then exit 0; fi; npm test"),
    ("", "trap 'exit 0' EXIT; npm test"), ("", "quit() { exit 0; }; quit; npm test"), ("", "exec true; npm test"), ("", "while npm test; do :; done"),
    ("", "until npm test; do sleep 1; done"), ("", "for d in a b; do npm test; done"), ("", "case $x in a) npm test;; esac"),
    ("", "[[ -f x ]]; npm test; true"), ("", "set -e; npm test && npm run lint; echo done"), ("", "set -e; set +e; npm test; b"),
    ("", "a && set -e; npm test; b"), ("", "set -- -e; npm test; b"), ("", "set +o pipefail; npm test | cat"),
    ("", "(set -e; npm test; echo ok) && echo done"), ("", "set -e; { cd web && npm test; }; echo ok"),
    ("", "set -e; if x; then set +e; fi; npm test; b"), ("", "(set -e; true); npm test; b"), ("", "bash -c 'npm test; true'"),
    ("", "bash -c 'npm test' || true"), ("", "bash -c \"$CMD npm test\""), ("", "out=$(npm test)"), ("", "echo $(npm test)"), ("", "cat <(npm test)"),
    ("", "npm() { true; }; npm test"), ("", "function npm { true; }\nnpm test"), ("", "run() { npm test; }; run"), ("", "bash <<'E'\nnpm test\nE"),
    ("", "cat <<E\nnpm test\nE"), ("", "npm test | npm run build"), ("", "coproc npm test"),
    // It is no such command, or it runs nothing.
    ("", "echo npm test"), ("", "vitest-ui"), ("", "tsc-watch"), ("", "cat .eslintrc.json"), ("", "grep -r 'npm test' ."), ("", "which jest"),
    ("", "command -v jest"), ("", "type tsc"), ("", "npm install jest"), ("", "npm run"), ("", "npm run build"), ("", "npm run test:watch"),
    ("", "yarn add eslint"), ("", "pnpm why tsc"), ("", "git commit -m 'npm test'"), ("", "npm-test"), ("", "npm test --help"),
    ("", "npm test -- --listTests"), ("", "npm run test --if-present"), ("", "pytest --collect-only"), ("", "pytest --version"),
    ("", "cargo test --no-run"), ("", "cargo test -- --list"), ("", "tsc --watch"), ("", "tsc -w"), ("", "tsc --init"), ("", "tsc -v"),
    ("", "jest --watch"), ("", "vitest list"), ("", "make -n test"), ("", "make -i test"), ("", "go test -c ./..."), ("", "mvn package -DskipTests"),
    ("", "./gradlew build -x test"), ("", "ruff check --exit-zero"), ("", "prettier --write ."), ("", "cargo fmt"), ("", "black ."),
    ("", "cypress open"), ("", "playwright install"), ("", "tox -e lint"), ("", "bash -n -c 'npm test'"), ("", "bash run.sh npm test"),
    ("", "$RUNNER npm test"), ("", "$NPM test"), ("", "docker compose exec web npm test"), ("", "ssh host npm test"), ("", "xargs npm test"),
    ("", "pytest --co"), ("", "pytest --setup-only tests"), ("", "pytest --collectonly"), ("", "rspec --dry-run"), ("", "dotnet test -t"), ("", "dotnet test --list-tests"),
    ("", "ctest -N"), ("", "swift test --list-tests"), ("", "swift test list"), ("", "deno test --no-run"), ("", "phpunit --list-tests"), ("", "cargo test -h"), ("", "go test -list . ./..."),
    ("", "go test -exec true ./..."), ("", "playwright test --list"), ("", "./gradlew test --dry-run"), ("", "./gradlew test --test-dry-run"), ("", "make -kn test"), ("t", "make -kj4 test"), ("t", "make -fMain.in test"),
    ("", "mocha --list-files"), ("", "stack test --no-run-tests"), ("", "robot --dryrun tests"),
    ("", "find . -exec eslint {} +"), ("", "python -c 'import pytest'"), ("", "timeout npm"),
    // It is no line at all.
    ("", ""), ("", "npm test '"), ("", "npm test &&"), ("", "npm test )"), ("", "npm test <<E"), ("", "npm test 99999999999>x"),
    ("", "a[${x:-~99999999999999999999999}]=1 npm test"),
];

fn letters(line: &str) -> String {
    let mut letters: Vec<char> = purposes(line)
        .into_iter()
        .map(|purpose| match purpose {
            Purpose::Test => 't',
            Purpose::Lint => 'l',
            Purpose::Typecheck => 'c',
        })
        .collect();
    letters.sort_unstable();
    letters.into_iter().collect()
}

#[test]
fn a_line_proves_what_its_status_speaks_for() {
    let wrong: Vec<_> = LINES.iter().filter(|(expected, line)| letters(line) != *expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn shells_in_shells_are_followed_to_a_certain_depth() {
    let nested = |depth: usize| {
        let inside = |line: String, _| format!("bash -c {}", shlex::try_quote(&line).unwrap_or_default());
        letters(&(0..depth).fold("npm test".to_owned(), inside))
    };
    assert_eq!([3, 4, 5].map(nested), ["t", "t", ""]);
}

#[test]
fn the_observed_commands_count_as_the_cases_say() {
    let cases: serde_json::Value =
        serde_json::from_str(include_str!("../../tests/cases/observed_commands.json")).unwrap_or_default();
    let commands = cases.get("commands").and_then(|commands| commands.as_array()).cloned().unwrap_or_default();
    assert!(commands.len() >= 27);
    for case in commands {
        let text = |key: &str| case.get(key).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
        let purpose: Purpose = serde_json::from_value(text("kind").into()).unwrap_or(Purpose::Test);
        let counts = case.get("counts").and_then(|counts| counts.as_bool());
        assert_eq!(Some(purposes(&text("command")).contains(&purpose)), counts, "{}", text("command"));
    }
}

#[test]
fn a_project_can_add_commands() {
    let extra = [
        Extra { purpose: Purpose::Test, words: "scripts/ci.sh unit|all".to_owned() },
        Extra { purpose: Purpose::Lint, words: "audit --strict".to_owned() },
        Extra { purpose: Purpose::Test, words: "npm run verify".to_owned() },
    ];
    for (line, expected) in [
        ("cd x && ./scripts/ci.sh -v unit", vec![Purpose::Test]),
        ("scripts/ci.sh deploy", vec![]),
        ("scripts/ci.sh unit --help", vec![]),
        ("audit src --strict && npm run verify", vec![Purpose::Lint, Purpose::Test]),
        ("audit src", vec![]),
        ("scripts/ci.sh unit | cat", vec![]),
        ("npm test", vec![Purpose::Test]),
    ] {
        assert_eq!(purposes_with(line, &extra), expected, "{line}");
        assert!(line == "npm test" || purposes(line).is_empty());
    }
}

#[test]
fn a_check_that_is_there_for_tests_must_run_one() {
    for (line, empty) in [
        ("cargo test", true),
        ("cd web && npm test", true),
        ("make test || true", true),
        ("cargo fmt --check && cargo test", true),
        ("mvn verify", false),
        ("mvn clean test", true),
        ("make check", false),
        ("./gradlew check", false),
        ("cargo test --no-run", false),
        ("sh check.sh", false),
        ("npm run lint", false),
    ] {
        assert_eq!(tally_of(line).is_some(), empty, "{line}");
    }
}

#[test]
fn lines_that_may_have_been_cut_prove_nothing() {
    let padded = |bytes: usize| format!("{};npm test", ":".repeat(bytes - 9));
    assert_eq!(purposes(&padded(4092)), [Purpose::Test]);
    for bytes in [4093, 4096, 4097, 100_000] {
        assert_eq!((padded(bytes).len(), purposes(&padded(bytes))), (bytes, vec![]));
    }
}

/// A generator that always gives the same numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit.max(1) as u64) as usize
    }
}

/// Pieces that change the meaning of what stands around them.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    ";", "&&", "||", "|", "&", "!", "(", ")", "{ ", "; }", "$(", "${", "$[", "`", "'", "\"", "\\", "<<E\n", "\nE\n", "<", ">", "9>", "99999999999>", "~9", "a[", "]",
    "case x in x) ", ";;", " esac", "if ", "; then ", "; fi", "for x in ", "; do ", "; done", "while ", "f() ", "function ", "coproc ", "time ", "[[ ", " ]]", "((", "))",
    "\n", "\t", "\0", "\r", "#", "=", "+=", "=~", "é", "漢", "\u{202e}", "set -e;", "exit", "bash -c ", "$'", "*(", "<(", "|&", "&>", "<<<", "<<-", "-", "@", "--", "$?",
];

#[test]
fn no_line_panics() {
    let mut numbers = Numbers(1);
    // A count and not a time, so that every run is the same; about a second without optimisation.
    for _ in 0..8_000 {
        let line = mutated(&mut numbers);
        let _ = purposes(&line);
        let _ = parse::literal(&line);
    }
}

fn mutated(numbers: &mut Numbers) -> String {
    let mut line: Vec<char> =
        LINES.get(numbers.below(LINES.len())).map(|(_, line)| line.chars().collect()).unwrap_or_default();
    for _ in 0..=numbers.below(6) {
        let at = numbers.below(line.len() + 1);
        match numbers.below(4) {
            0 => drop(line.splice(at..(at + numbers.below(8)).min(line.len()), [])),
            1 => line.extend_from_within(at..(at + numbers.below(20)).min(line.len())),
            _ => {
                let piece = PIECES.get(numbers.below(PIECES.len())).copied().unwrap_or_default();
                for _ in 0..=numbers.below(3) {
                    line.splice(at..at, piece.chars());
                }
            }
        }
    }
    line.into_iter().collect()
}
