//! What the world's build tools are called. Data only: how it is matched stands in `command`.
//!
//! A pattern is a program and its first words; alternatives are separated by `|`. Options may stand
//! between the words, and a word of the pattern that begins with a dash may stand anywhere.

use super::Purpose;

/// Commands that do one thing, by purpose. The pattern with the most words wins.
pub(super) const COMMANDS: &[(Purpose, &[&str])] =
    &[(Purpose::Test, TESTS), (Purpose::Lint, LINTS), (Purpose::Typecheck, TYPECHECKS)];

#[rustfmt::skip]
const TESTS: &[&str] = &[
    // JavaScript and TypeScript
    "npm t|tst", "bun test", "deno test", "node --test", "tsx --test", "vitest", "jest", "mocha", "ava", "tap", "tape",
    "jasmine", "uvu", "qunit", "karma start", "wtr|web-test-runner", "playwright test", "cypress run", "wdio", "testcafe",
    "nightwatch", "test-storybook", "react-scripts test", "ng test|e2e",
    // Python
    "pytest|py.test", "unittest", "tox", "nox", "hatch test", "nose2|nosetests", "trial", "stestr run", "behave", "robot",
    "manage.py test", "django-admin test",
    // Rust, Go, Zig, C and C++
    "cargo test|t", "cargo nextest run|r", "cargo llvm-cov", "cargo tarpaulin", "cargo miri test|nextest",
    "cargo hack test", "go test", "gotestsum", "ginkgo", "zig test", "zig build test", "ctest", "meson test",
    // Ruby, PHP
    "rspec", "rails test|spec", "cucumber", "phpunit", "pest", "paratest", "artisan test", "codecept run", "phpspec run",
    // .NET, Swift, Dart, Elixir, Erlang, Haskell, OCaml and others
    "dotnet test", "swift test", "flutter test", "dart test", "mix test", "rebar3 eunit|ct", "gleam test", "lein test",
    "stack test", "cabal test", "dune test|runtest", "crystal spec", "nimble test", "elm-test", "spago test", "busted",
    "forge test", "hardhat test", "anchor test", "bats", "shellspec",
    // build systems
    "bazel|bazelisk test", "buck2 test", "pants test", "just check",
];

#[rustfmt::skip]
const LINTS: &[&str] = &[
    "eslint", "eslint_d", "biome check|lint|ci", "oxlint", "xo", "standard", "tslint", "stylelint", "next lint", "ng lint",
    "prettier --check|-c|-l|--list-different", "dprint check", "deno lint", "deno fmt --check",
    "ruff check", "ruff format --check|--diff", "flake8", "pylint", "pycodestyle", "pydocstyle", "bandit", "black --check",
    "isort --check|--check-only|-c", "djlint --lint|--check",
    "cargo clippy", "cargo fmt --check", "rustfmt --check", "golangci-lint run", "go vet", "staticcheck", "zig fmt --check",
    "rubocop", "standardrb", "erb_lint|erblint", "haml-lint", "phpcs", "pint --test", "php-cs-fixer check",
    "ktlint", "detekt", "checkstyle", "scalafmt --check|--test", "swiftlint", "swiftformat --lint", "dart analyze",
    "flutter analyze", "dotnet format --verify-no-changes", "mix credo", "mix format --check-formatted", "hlint",
    "gleam format --check", "luacheck", "selene", "stylua --check", "shellcheck", "hadolint", "actionlint", "yamllint",
    "ansible-lint", "markdownlint|markdownlint-cli2", "sqlfluff lint", "buf lint", "spectral lint", "redocly lint",
    "tflint", "terraform|tofu fmt -check", "helm lint", "taplo lint|check", "typos", "codespell", "cspell",
    "pre-commit run", "pants lint",
];

#[rustfmt::skip]
const TYPECHECKS: &[&str] = &[
    "tsc", "tsgo", "vue-tsc", "svelte-check", "astro check", "nuxi|nuxt typecheck", "deno check", "flow check|status|full-check",
    "ngc", "tsd", "mypy", "dmypy run|check", "pyright", "basedpyright", "pyre", "pytype", "ty check", "pyrefly check",
    "cargo check|c|build|b", "go build", "zig build", "swift build", "dotnet build", "srb tc|typecheck", "sorbet tc",
    "steep check", "phpstan analyse|analyze", "psalm", "mix dialyzer", "mix compile", "gleam check|build", "javac", "kotlinc",
    "stack build", "cabal build", "dune build", "elm make", "pants check",
];

/// Programs whose arguments are goals, several at once, with names of their own.
#[rustfmt::skip]
pub(super) const GOALS: &[(&str, Purpose, &str)] = &[
    ("make|gmake|task|go-task|ninja", Purpose::Test, "check"),
    ("mvn|mvnw|mvnd", Purpose::Test, "test|integration-test|verify|package|install"),
    ("mvn|mvnw|mvnd", Purpose::Lint, "checkstyle:check|spotless:check|pmd:check|spotbugs:check"),
    ("mvn|mvnw|mvnd", Purpose::Typecheck, "compile|test-compile"),
    ("gradle|gradlew", Purpose::Test,
        "test|check|allTests|jvmTest|unitTest|integrationTest|testDebugUnitTest|testReleaseUnitTest|connectedCheck|connectedAndroidTest"),
    ("gradle|gradlew", Purpose::Lint, "lint|lintDebug|lintRelease|ktlintCheck|detekt|spotlessCheck|checkstyleMain"),
    ("gradle|gradlew", Purpose::Typecheck, "compileJava|compileTestJava|compileKotlin|compileTestKotlin|classes|testClasses"),
    ("sbt", Purpose::Test, "test|testOnly|testQuick"),
    ("sbt", Purpose::Lint, "scalafmtCheck|scalafmtCheckAll"),
    ("sbt", Purpose::Typecheck, "compile|Test/compile"),
    ("xcodebuild", Purpose::Test, "test|test-without-building"),
    ("xcodebuild", Purpose::Typecheck, "build"),
];

/// Goals that may run tests and are there for more: a project without any test has them too.
pub(super) const WIDE_GOALS: &str = "check|verify|package|install|connectedCheck";

/// How many of a runner's arguments are names of scripts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The first; the rest are the script's own arguments.
    First,
    /// All of them.
    Every,
}

/// Programs that run what a project has named itself, with the arguments to pass over before the name.
#[rustfmt::skip]
pub(super) const RUNNERS: &[(&str, usize, Reach)] = &[
    ("npm", 0, Reach::First), ("pnpm", 0, Reach::First), ("pnpm recursive|multi|m", 0, Reach::First),
    ("yarn", 0, Reach::First), ("yarn workspace", 1, Reach::First), ("yarn workspaces", 0, Reach::First),
    ("yarn workspaces foreach", 0, Reach::First), ("bun", 0, Reach::First), ("deno task", 0, Reach::First),
    ("nps", 0, Reach::First), ("npm-run-all|npm-run-all2|run-s|run-p", 0, Reach::Every), ("lerna", 0, Reach::First),
    ("turbo", 0, Reach::Every), ("nx", 0, Reach::First), ("nx run-many|affected", 0, Reach::Every),
    ("moon", 0, Reach::Every), ("gulp", 0, Reach::Every), ("grunt", 0, Reach::Every), ("composer", 0, Reach::First),
    ("pdm run", 0, Reach::First), ("hatch run", 0, Reach::First), ("pixi run", 0, Reach::First),
    ("rye run", 0, Reach::First), ("poe", 0, Reach::First), ("inv|invoke", 0, Reach::Every), ("doit", 0, Reach::Every),
    ("mise run|r", 0, Reach::First), ("make|gmake", 0, Reach::Every), ("just", 0, Reach::First),
    ("task|go-task", 0, Reach::Every), ("mage", 0, Reach::Every), ("ninja", 0, Reach::Every), ("ant", 0, Reach::Every),
    ("rake", 0, Reach::Every), ("cargo make", 0, Reach::First), ("cmake --build", 1, Reach::Every),
];

/// Runners that take `run` before a script's name, or leave it out.
pub(super) const RUN_IS_IMPLIED: &str = "npm|pnpm|yarn|bun|composer|lerna|turbo|nx|moon";

/// What follows a wrapper's own arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wraps {
    /// Another command.
    Command,
    /// One argument that a shell reads.
    Line,
}

/// Programs that run another one and end as it ends, with the arguments to pass over before it.
#[rustfmt::skip]
pub(super) const WRAPPERS: &[(&str, usize, Wraps)] = &[
    ("env|command|exec|nice|ionice|nohup|sudo|doas|time|stdbuf|unbuffer|chronic|caffeinate|arch|winpty|xcrun", 0, Wraps::Command),
    ("xvfb-run|dbus-run-session", 0, Wraps::Command), ("timeout|gtimeout", 1, Wraps::Command), ("flock", 1, Wraps::Command),
    ("setsid -w|--wait", 0, Wraps::Command), ("npx|pnpx|bunx|uvx", 0, Wraps::Command), ("npx -c|--call", 0, Wraps::Line),
    ("npm exec|x", 0, Wraps::Command), ("npm exec|x -c|--call", 0, Wraps::Line), ("pnpm exec|dlx", 0, Wraps::Command),
    ("yarn exec|dlx", 0, Wraps::Command), ("bun x", 0, Wraps::Command), ("node|tsx|ts-node", 0, Wraps::Command),
    ("c8|nyc|cross-env|env-cmd|dotenv", 0, Wraps::Command), ("dotenvx|op|doppler|infisical run", 0, Wraps::Command),
    ("uv run", 0, Wraps::Command), ("uv run -m|--module", 0, Wraps::Command), ("uv tool run", 0, Wraps::Command),
    ("pipx|poetry|pipenv run", 0, Wraps::Command), ("conda|mamba|micromamba run", 0, Wraps::Command),
    ("python", 0, Wraps::Command), ("python -m", 0, Wraps::Command), ("coverage run", 0, Wraps::Command),
    ("coverage run -m", 0, Wraps::Command), ("go run|tool", 0, Wraps::Command), ("bundle exec", 0, Wraps::Command), ("php", 0, Wraps::Command),
    ("rbenv|pyenv|asdf exec", 0, Wraps::Command), ("mise exec|x", 0, Wraps::Command), ("direnv|nvm exec", 1, Wraps::Command),
    ("volta run", 0, Wraps::Command), ("fnm exec", 0, Wraps::Command), ("nix develop -c|--command", 0, Wraps::Command),
    ("nix-shell --run", 0, Wraps::Line),
];

/// Options that take the next argument as their value, where it could be mistaken for a word.
#[rustfmt::skip]
pub(super) const VALUED: &[(&str, &str)] = &[
    ("npm", "--prefix -C -w --workspace --loglevel"), ("pnpm", "--filter -F -C --dir --loglevel --reporter"),
    ("yarn", "--cwd --include --exclude --from -j --jobs"), ("bun", "--cwd --filter -F --preload -r"),
    ("npx|pnpx|bunx", "-p --package -w --workspace"), ("turbo", "--filter -F --cwd --concurrency"),
    ("nx", "-c --configuration -p --projects --exclude --parallel"), ("lerna", "--scope --ignore --concurrency"),
    ("deno", "-c --config --cwd"), ("node|tsx|ts-node", "-r --require --import --loader --experimental-loader --env-file -C --conditions"),
    ("cargo", "--manifest-path --config -C -Z --color -j --jobs -p --package --profile --target --target-dir -F --features"),
    ("go", "-C"), ("swift", "--package-path"), ("make|gmake", "-C --directory -f --file --makefile -I -o -W"),
    ("just", "-f --justfile -d --working-directory --dotenv-path"), ("task|go-task", "-t --taskfile -d --dir"),
    ("ninja", "-C -f -j -k"), ("cmake", "--config -j --parallel"), ("rake", "-f --rakefile -C --directory"),
    ("gradle|gradlew", "-p --project-dir -b -c -g -I --tests"), ("mvn|mvnw|mvnd", "-f --file -pl --projects -P -s -T"),
    ("xcodebuild", "-scheme -project -workspace -destination -configuration -sdk -derivedDataPath"),
    ("composer", "-d --working-dir"), ("python", "-W -X"), ("hatch", "-e --env"),
    ("uv", "--with --with-editable --with-requirements --python -p --project --extra --group --only-group --package --directory --env-file --index-url"),
    ("uvx", "--from --with --python -p"), ("pipx", "--spec --python"), ("poetry", "-C --directory -P --project"),
    ("pdm", "-p --project"), ("pixi", "-e --environment --manifest-path"), ("conda|mamba|micromamba", "-n --name -p --prefix --cwd"),
    ("coverage", "--source --rcfile --include --omit"), ("c8|nyc", "-r --reporter"), ("dotenv|env-cmd", "-e -f -c"),
    ("dotenvx", "-f --env-file"), ("env", "-u --unset -C --chdir"), ("timeout|gtimeout", "-k --kill-after -s --signal"),
    ("flock", "-w --timeout -E --conflict-exit-code"), ("nice", "-n --adjustment"), ("ionice", "-c -n"),
    ("sudo|doas", "-u --user -g --group -h -p -C -r -t -T -U -D"), ("time", "-o --output -f --format"), ("stdbuf", "-i -o -e"),
    ("xvfb-run", "-n --server-num -s --server-args -e --error-file -f --auth-file -w --wait"), ("exec", "-a"),
    ("mise", "-C --cd -E --env"), ("php", "-c -d"), ("xcrun", "--sdk"), ("pnpm|yarn|npm", "--package"),
];

/// Arguments with which any command runs nothing, never ends, or ends well whatever it finds.
pub(super) const IDLE: &str = "-h --help --version --list --listTests --list-tests --collect-only --co --no-run --dry-run \
    --watch --watchAll --watch-all --showConfig --show-config --print-config --init --clearCache --if-present \
    --exit-zero --collectonly --setup-only --setup-plan --fixtures-per-test --list-suites --list-groups --list-files \
    --list-test-files --list-tests-xml --listTestsJson --test-dry-run --dryrun --no-run-tests --show-only";

/// The same for single programs; words without a dash only as the first argument.
#[rustfmt::skip]
pub(super) const IDLE_FOR: &[(&str, &str)] = &[
    ("tsc|vue-tsc|tsgo", "-w -v --all --listFilesOnly"), ("vitest", "--ui -w -v list init bench watch dev"), ("jest", "-v"),
    ("mocha", "-w -V --list-interfaces --list-reporters"), ("eslint|eslint_d", "-v --env-info"), ("node|tsx|ts-node", "-v -e --eval -p --print -c --check watch"),
    ("playwright", "--ui --debug"), ("svelte-check", "--no-fail"), ("biome", "--error-on-warnings=false"),
    ("pytest|py.test", "-V --fixtures --markers"), ("mypy|ruff|black|flake8|rubocop", "-V"),
    ("ruff", "-e -w --show-files --show-settings"), ("python", "-V -c"),
    ("tox", "-l --listenvs --notest l list devenv lint linters flake8 mypy typecheck type format docs pre-commit"),
    ("nox", "-l --install-only lint linters mypy typecheck type format docs pre-commit"),
    ("cargo", "-V"), ("go", "-c -n -list -exec -count=0"), ("golangci-lint", "--issues-exit-code=0"), ("ctest", "-N"),
    ("make|gmake", "-n --just-print --recon -q --question -t --touch -i --ignore-errors -p --print-data-base -v"),
    ("just", "-n -l --summary --show -s --choose --evaluate -V"), ("task|go-task", "-n --dry -l -a --list-all --summary"),
    ("ninja", "-n -t"), ("rake", "-n -T -P -D -W --tasks --prereqs"), ("gulp", "-T --tasks"),
    ("gradle|gradlew", "-m -x --exclude-task --continuous -t"),
    ("mvn|mvnw|mvnd", "-v -DskipTests -Dmaven.test.skip -fn --fail-never -Dmaven.test.failure.ignore"),
    ("dotnet", "-t"), ("bats", "-c --count"), ("swift", "-l list"), ("trial", "-n"), ("behave|cucumber", "-d"), ("busted|forge", "-l"),
    ("turbo", "--dry --graph"), ("nx", "--graph show graph g generate"), ("command", "-v -V"), ("sudo|doas", "-l -v -V"),
    ("npm|pnpm|yarn|bun", "-v"), ("terraform|tofu", "-version"),
];

/// Beginnings and endings of script names, by purpose: `test:unit`, `unit-test`, `lint:fix`.
pub(super) const SCRIPT_WORDS: &[(Purpose, &str)] = &[
    (Purpose::Test, "test|tests|spec|specs"),
    (Purpose::Lint, "lint|linter"),
    (Purpose::Typecheck, "tsc|typecheck|typechecks"),
];

/// Script names that mean something as a whole; every separator is written `-` here.
pub(super) const SCRIPT_NAMES: &[(Purpose, &str)] = &[
    (Purpose::Typecheck, "type-check|check-type|check-types|types-check|ts-check|check-ts|tsc-check"),
    (
        Purpose::Lint,
        "format-check|check-format|fmt-check|check-fmt|prettier-check|check-prettier|style-check|check-style",
    ),
];

/// Words in a script's name after which it does not run, does not end, or only prepares.
pub(super) const SCRIPT_IDLE: &str = "watch|ui|debug|open|dev|serve|server|start|list|help|report|setup|install|init|prepare|clean|build|compile|\
    generate|gen|create|new|add|write|update|docs|data|skip|stop|logs|publish|deploy";
