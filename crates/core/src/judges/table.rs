//! What the world's runners read, where they are installed and what they keep. Data only, and how it is looked up.
//!
//! `reads` names configuration files, with blanks between them. `a.{b,c}` are two names. A name means the runner's
//! folder and those above it in the project; `^` all folders above, `~` the home folder; a slash at the end a folder.
//! `file#toml:a.b,c` means these sections, `file-xml:a/b` everything but these. Whatever is not there must stay away.

use super::Format;
use crate::evidence::{is_one_of, program_name};

/// A program that collects work and judges it.
pub(super) struct Runner {
    pub(super) names: &'static str,
    pub(super) reads: &'static str,
    /// Folders that it fills for the next time, each with the variable that tells it another one, as `target=CARGO_TARGET_DIR`.
    pub(super) keeps: &'static str,
    pub(super) kit: Kit,
}

/// How a runner is installed where an agent can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kit {
    /// By itself, found by its name.
    None,
    Node,
    Python,
    Php,
}

const fn row(names: &'static str, kit: Kit, reads: &'static str, keeps: &'static str) -> Runner {
    Runner { names, reads, keeps, kit }
}

const JEST: &str = "package.json#package:jest,babel jest.config.{js,ts,mjs,cjs,mts,cts,json} jest.preset.js \
    babel.config.{js,json,cjs,mjs,cts} .babelrc .babelrc.{js,json,cjs,mjs}";
const VITE: &str = "package.json#package:vitest vitest.config.{js,ts,mjs,cjs,mts,cts} vite.config.{js,ts,mjs,cjs,mts,cts} \
    vitest.workspace.{js,ts,mjs,json} vitest.projects.{js,ts,json}";
const ESLINT: &str = "package.json#package:eslintConfig,eslintIgnore,prettier eslint.config.{js,mjs,cjs,ts,mts,cts} .eslintrc \
    .eslintrc.{js,cjs,mjs,json,yml,yaml} .eslintignore";
const PRETTIER: &str = "package.json#package:prettier .prettierrc .prettierrc.{json,json5,yml,yaml,toml,js,cjs,mjs,ts} \
    prettier.config.{js,cjs,mjs,ts} .prettierignore";
const CARGO: &str = "^.cargo/config.toml ^.cargo/config ~/.cargo/config.toml ~/.cargo/config ^rust-toolchain \
    ^rust-toolchain.toml ~/.rustup/settings.toml {.,}clippy.toml {.,}rustfmt.toml .config/nextest.toml";
const GRADLE: &str = "build.gradle-gradle:dependencies,repositories build.gradle.kts-gradle:dependencies,repositories \
    settings.gradle settings.gradle.kts gradle.properties gradlew gradle/wrapper/ buildSrc/ local.properties \
    ~/.gradle/gradle.properties ~/.gradle/init.gradle ~/.gradle/init.gradle.kts ~/.gradle/init.d/";
const MAVEN: &str = "pom.xml-xml:project/dependencies,project/dependencyManagement,project/version,project/description,project/name,project/url,project/developers,project/licenses,project/scm \
    .mvn/ mvnw ~/.m2/settings.xml ~/.mavenrc";

#[rustfmt::skip]
pub(super) const RUNNERS: &[Runner] = &[
    // JavaScript and TypeScript
    row("npm|npx", Kit::None, ".npmrc ~/.npmrc", ""),
    row("pnpm|pnpx", Kit::None, ".npmrc ~/.npmrc .pnpmfile.cjs .pnpmfile.mjs pnpm-workspace.yaml ~/.config/pnpm/rc", ""),
    row("yarn|yarnpkg", Kit::None, ".npmrc .yarnrc .yarnrc.yml ~/.npmrc ~/.yarnrc ~/.yarnrc.yml .yarn/releases/ .yarn/plugins/", ""),
    row("bun|bunx", Kit::None, "bunfig.toml ~/.bunfig.toml .npmrc ~/.npmrc", ""),
    row("deno", Kit::None, "deno.json#json:compilerOptions,imports,importMap,test,lint,fmt,exclude,unstable deno.jsonc import_map.json", ""),
    row("jest|react-scripts|craco", Kit::Node, JEST, ""),
    row("vitest", Kit::Node, VITE, "node_modules/.vite"),
    row("vite|vue-cli-service|astro|nuxt|nuxi|svelte-kit|svelte-check", Kit::Node, "vite.config.{js,ts,mjs,cjs,mts,cts} svelte.config.{js,ts,mjs} astro.config.{mjs,js,ts} nuxt.config.{js,ts,mjs} vue.config.js tsconfig.json", ""),
    row("mocha|_mocha", Kit::Node, "package.json#package:mocha .mocharc.{js,cjs,mjs,json,jsonc,yml,yaml} test/mocha.opts", ""),
    row("ava", Kit::Node, "package.json#package:ava ava.config.{js,cjs,mjs}", ""),
    row("tap|tape|uvu|qunit|zora|tsd|lab", Kit::Node, "package.json#package:tap,tsd .taprc", ""),
    row("jasmine", Kit::Node, "spec/support/jasmine.{json,js,mjs}", ""),
    row("karma|ng", Kit::Node, "karma.conf.{js,ts,cjs} angular.json", ".angular"),
    row("wtr|web-test-runner", Kit::Node, "web-test-runner.config.{js,mjs,cjs}", ""),
    row("playwright", Kit::Node, "playwright.config.{js,ts,mjs,cjs,mts,cts}", ""),
    row("cypress", Kit::Node, "cypress.config.{js,ts,mjs,cjs} cypress.json cypress.env.json", ""),
    row("wdio|testcafe|nightwatch|test-storybook|stryker", Kit::Node, "wdio.conf.{js,ts} .testcaferc.{json,js,cjs} nightwatch.conf.{js,cjs} stryker.conf.{json,js,mjs}", ""),
    row("c8|nyc", Kit::Node, "package.json#package:c8,nyc .c8rc.json .c8rc .nycrc .nycrc.{json,yml,yaml} nyc.config.{js,cjs,mjs}", ""),
    row("eslint|eslint_d|next", Kit::Node, ESLINT, ".eslintcache"),
    row("tslint|xo|standard|stylelint|oxlint", Kit::Node, "package.json#package:xo,standard,stylelint tslint.json .xo-config.{js,cjs,json} .oxlintrc.json oxlint.json .stylelintrc .stylelintrc.{json,yml,yaml,js,cjs,mjs} stylelint.config.{js,cjs,mjs} .stylelintignore", ""),
    row("prettier", Kit::Node, PRETTIER, ""),
    row("biome", Kit::Node, "biome.json biome.jsonc", ""),
    row("dprint", Kit::Node, "dprint.json dprint.jsonc .dprint.json .dprint.jsonc", ""),
    row("tsc|tsgo|vue-tsc|ngc|ts-node|tsx|swc|esbuild|tsup|rollup|webpack|tsup-node", Kit::Node, "tsconfig.json tsconfig.{base,build,node,app,test,lib,spec}.json .swcrc tsup.config.{ts,js,cjs,json} rollup.config.{js,ts,mjs,cjs} webpack.config.{js,ts,cjs,mjs}", ""),
    row("flow", Kit::Node, ".flowconfig", ""),
    row("turbo", Kit::Node, "turbo.json turbo.jsonc", ".turbo node_modules/.cache"),
    row("nx|lerna", Kit::Node, "nx.json lerna.json project.json workspace.json", ".nx node_modules/.cache"),
    row("npm-run-all|npm-run-all2|run-s|run-p|concurrently|cross-env|dotenv|env-cmd|wireit|nps|wait-on|start-server-and-test|rimraf|shx|cross-spawn|husky|lint-staged", Kit::Node, "package.json#package:wireit,lint-staged package-scripts.{js,yml,yaml} .lintstagedrc .lintstagedrc.{json,js,cjs,mjs,yml,yaml} lint-staged.config.{js,cjs,mjs}", ""),
    row("gulp|grunt", Kit::Node, "gulpfile.{js,ts,mjs,cjs,babel.js} Gruntfile.{js,ts,cjs,coffee} gruntfile.{js,cjs}", ""),
    row("markdownlint|markdownlint-cli2|cspell|commitlint|knip|depcheck|madge|size-limit|publint|attw|svgo|html-validate|pa11y|redocly|spectral", Kit::Node, "package.json#package:cspell,commitlint,knip,size-limit .markdownlint.{json,jsonc,yml,yaml,cjs} .markdownlintrc .markdownlint-cli2.{jsonc,yaml,cjs,mjs} .markdownlintignore cspell.{json,yaml,yml,config.js,config.cjs} .cspell.json commitlint.config.{js,cjs,mjs,ts} .commitlintrc .commitlintrc.{json,yml,js} knip.{json,jsonc,ts} .depcheckrc .madgerc .size-limit.{json,js} .htmlvalidate.json redocly.yaml .spectral.{yml,yaml}", ""),
    // Python
    row("pytest|py.test", Kit::Python, "pytest.ini .pytest.ini pytest.toml .pytest.toml pyproject.toml#toml:tool.pytest,tool.coverage tox.ini#ini:pytest setup.cfg#ini:tool:pytest,coverage* .coveragerc pytest.py pytest/__init__.py _pytest/ pluggy.py", ".pytest_cache"),
    row("unittest|doctest|trial|nose2|nosetests|stestr|behave|robot|manage.py|django-admin|green|ward", Kit::Python, "unittest.py unittest/__init__.py unittest.cfg nose2.cfg .stestr.conf behave.ini setup.cfg#ini:nosetests,unittest,behave pyproject.toml#toml:tool.django,tool.behave,tool.robot", ""),
    row("coverage", Kit::Python, ".coveragerc pyproject.toml#toml:tool.coverage setup.cfg#ini:coverage* tox.ini#ini:coverage*", ""),
    row("tox", Kit::Python, "tox.ini tox.toml setup.cfg#ini:tox*,testenv* pyproject.toml#toml:tool.tox", ".tox"),
    row("nox", Kit::Python, "noxfile.py", ".nox"),
    row("mypy|dmypy", Kit::Python, "mypy.ini .mypy.ini pyproject.toml#toml:tool.mypy setup.cfg#ini:mypy* ~/.config/mypy/config ~/.mypy.ini", ".mypy_cache"),
    row("pyright|basedpyright", Kit::Python, "pyrightconfig.json pyproject.toml#toml:tool.pyright,tool.basedpyright", ""),
    row("ruff", Kit::Python, "^ruff.toml ^.ruff.toml pyproject.toml#toml:tool.ruff ~/.config/ruff/ruff.toml", ".ruff_cache"),
    row("ty|pyrefly|pyre|pytype", Kit::Python, "ty.toml pyrefly.toml .pyre_configuration pytype.cfg pyproject.toml#toml:tool.ty,tool.pyrefly,tool.pytype", ""),
    row("flake8|pycodestyle|pydocstyle|pyflakes", Kit::Python, ".flake8 setup.cfg#ini:flake8*,pycodestyle,pydocstyle tox.ini#ini:flake8*,pycodestyle,pydocstyle .pydocstyle .pycodestyle ~/.config/flake8 pyproject.toml#toml:tool.flake8,tool.pydocstyle", ""),
    row("pylint", Kit::Python, "pylintrc .pylintrc pylintrc.toml .pylintrc.toml pyproject.toml#toml:tool.pylint setup.cfg#ini:pylint* tox.ini#ini:pylint* ~/.pylintrc ~/.config/pylintrc", ""),
    row("black|isort|bandit|vulture|interrogate|djlint|yapf|autoflake|docformatter|codespell|sqlfluff|yamllint|ansible-lint|pip-audit|safety|twine|mkdocs|sphinx-build", Kit::Python, "pyproject.toml#toml:tool.black,tool.isort,tool.bandit,tool.vulture,tool.interrogate,tool.djlint,tool.yapf,tool.autoflake,tool.codespell,tool.sqlfluff .isort.cfg .bandit .style.yapf .djlintrc .codespellrc .sqlfluff .sqlfluffignore .yamllint .yamllint.{yml,yaml} .ansible-lint mkdocs.yml setup.cfg#ini:isort,bandit,yapf,codespell,sqlfluff* tox.ini#ini:isort,bandit,sqlfluff*", ""),
    row("hatch|pdm|pixi|rye|poe|inv|invoke|doit|uv|uvx|poetry|pipenv|pipx|conda|mamba|micromamba", Kit::None, "pyproject.toml#toml:tool.hatch,tool.pdm.scripts,tool.pixi.tasks,tool.rye.scripts,tool.poe,tool.uv.sources,tool.uv.index hatch.toml pixi.toml tasks.py dodo.py uv.toml poe_tasks.toml ~/.config/uv/uv.toml", ""),
    row("pre-commit", Kit::Python, ".pre-commit-config.yaml .pre-commit-hooks.yaml", ""),
    // Rust, Go, C and C++
    row("cargo|cargo-nextest|clippy-driver|rustfmt|rustc", Kit::None, CARGO, "target=CARGO_TARGET_DIR"),
    row("typos|taplo|cargo-deny|cargo-machete", Kit::None, "{.,_,}typos.toml {.,}taplo.toml {.,}deny.toml", ""),
    row("go|gofmt|gotestsum|ginkgo|staticcheck|goimports|mage", Kit::None, "^go.work ~/.config/go/env go.mod#gomod:replace,exclude,ignore staticcheck.conf magefile.go magefiles/", "=GOCACHE"),
    row("golangci-lint", Kit::None, "^.golangci.{yml,yaml,toml,json}", "=GOLANGCI_LINT_CACHE"),
    row("cmake|ctest|cpack", Kit::None, "CMakeLists.txt CMakePresets.json CMakeUserPresets.json CTestConfig.cmake CTestCustom.cmake CTestTestfile.cmake cmake/", "build"),
    row("meson|ninja", Kit::None, "meson.build meson_options.txt meson.options", "builddir"),
    row("clang-format|clang-tidy|cppcheck|cpplint", Kit::None, "^.clang-format ^_clang-format .clang-format-ignore ^.clang-tidy CPPLINT.cfg", ""),
    row("zig", Kit::None, "build.zig", ".zig-cache zig-cache"),
    // JVM
    row("gradle|gradlew", Kit::None, GRADLE, ".gradle build"),
    row("mvn|mvnw|mvnd", Kit::None, MAVEN, "target"),
    row("ant|sbt|lein|ktlint|detekt|scalafmt|kotlinc|javac|mill|bleep", Kit::None, "build.xml build.sbt project/ project.clj .scalafmt.conf detekt.yml config/detekt/ build.sc build.mill .sbtopts .jvmopts", "target"),
    // Ruby, PHP
    row("prove|yath", Kit::None, ".proverc ~/.proverc .yath.rc ~/.yath.rc", ""),
    row("rspec", Kit::None, ".rspec .rspec-local ~/.rspec", ""),
    row("rubocop|standardrb|erblint|erb_lint|haml-lint|brakeman|reek", Kit::None, ".rubocop.yml .rubocop_todo.yml .standard.yml .erb_lint.yml .erb-lint.yml .haml-lint.yml .reek.yml config/brakeman.yml ~/.rubocop.yml", ""),
    row("rails|cucumber|minitest|m|srb|sorbet|steep|bundle|bundler", Kit::None, ".bundle/config ~/.bundle/config cucumber.yml config/cucumber.yml sorbet/config Steepfile", ""),
    row("phpunit|paratest|pest|artisan", Kit::Php, "phpunit.xml phpunit.xml.dist phpunit.dist.xml", ".phpunit.cache"),
    row("phpstan|psalm|phpcs|php-cs-fixer|pint|rector|phpmd|codecept|behat|phpspec|infection|deptrac|ecs", Kit::Php, "phpstan.neon phpstan.neon.dist phpstan.dist.neon phpstan-baseline.neon psalm.xml psalm.xml.dist psalm-baseline.xml phpcs.xml phpcs.xml.dist .phpcs.xml .phpcs.xml.dist .php-cs-fixer.php .php-cs-fixer.dist.php pint.json rector.php phpmd.xml codeception.yml codeception.dist.yml behat.yml behat.yml.dist phpspec.yml infection.json5 deptrac.yaml ecs.php", ""),
    row("composer", Kit::None, "composer.json#json:config,extra.phpstan", ""),
    // others
    row("dotnet", Kit::None, "^Directory.Build.props ^Directory.Build.targets ^Directory.Packages.props global.json ^nuget.config ^NuGet.Config .runsettings", "bin obj"),
    row("swift|swiftlint|swiftformat|xcodebuild", Kit::None, ".swiftlint.yml .swiftformat .swift-version", ".build"),
    row("dart|flutter|melos", Kit::None, "analysis_options.yaml dart_test.yaml melos.yaml", ".dart_tool"),
    row("mix|rebar3", Kit::None, "mix.exs .formatter.exs .credo.exs .dialyzer_ignore.exs .tool-versions rebar.config config/test.exs config/config.exs", "_build"),
    row("gleam|elm|elm-test|spago|purs", Kit::None, "elm.json spago.dhall spago.yaml packages.dhall", "build"),
    row("stack|cabal|hlint|ormolu|fourmolu", Kit::None, "stack.yaml cabal.project cabal.project.local .hlint.yaml fourmolu.yaml", ".stack-work dist-newstyle"),
    row("dune|opam|crystal|shards|nimble|nim|busted|luacheck|stylua|selene", Kit::None, "dune-project dune-workspace .busted .luacheckrc stylua.toml selene.toml nim.cfg config.nims", "_build"),
    row("forge|hardhat|anchor|truffle|slither", Kit::Node, "foundry.toml hardhat.config.{js,ts,cjs} Anchor.toml truffle-config.js slither.config.json", "cache out"),
    row("bats|shellspec|shellcheck|shfmt|hadolint|actionlint|checkmake", Kit::None, ".shellspec .shellcheckrc ~/.shellcheckrc ~/.config/shellcheckrc .hadolint.yaml .hadolint.yml .github/actionlint.yaml", ""),
    row("bazel|bazelisk|buck2|pants", Kit::None, "^.bazelrc ~/.bazelrc .bazelversion MODULE.bazel WORKSPACE WORKSPACE.bazel pants.toml .buckconfig", ""),
    row("buf|protoc|tflint|helm|checkov|conftest", Kit::None, "buf.yaml buf.gen.yaml buf.work.yaml .tflint.hcl .checkov.yaml", ""),
    row("mise|asdf|direnv|moon", Kit::None, "mise.toml .mise.toml mise.local.toml .tool-versions .envrc moon.yml .moon/ ~/.config/mise/config.toml", ""),
    row("Rscript|R", Kit::None, ".Rprofile .Renviron ~/.Rprofile ~/.Renviron", ""),
    row("julia", Kit::None, "test/runtests.jl ~/.julia/config/startup.jl", ""),
];

/// Programs whose status tells how something compares.
const COMPARING: &str = "grep|egrep|fgrep|rg|ag|ack|diff|cmp|comm|test|[|[[|jq|yq|awk|gawk|mawk|expr|xmllint|sha256sum|sha1sum|md5sum|shasum|colordiff|sdiff|numdiff|jd|dyff|htmlq|xmlstarlet";

/// Programs that pass over what git ignores.
const OBEYING: &str = "black|ruff|prettier|typos|biome|oxlint|dprint|isort|djlint|taplo|rg|ag|fd|knip";

/// Programs that another one stands behind.
const PASSING_ON: &str = "env|xargs|timeout|sudo|nice|command|exec|time";

/// Interpreters, each with the options that take a value, and those after which the text itself follows.
#[rustfmt::skip]
const INTERPRETERS: &[(&str, &str, &str)] = &[
    ("python|python3|pypy|pypy3|python2", "-W -X --check-hash-based-pycs", "-c"),
    ("node|nodejs", "-r --require --import --loader --experimental-loader --env-file --env-file-if-exists -C --conditions --test-reporter --test-reporter-destination --test-name-pattern --max-old-space-size --stack-size --title", "-e --eval -p --print"),
    ("tsx|ts-node|ts-node-esm|esno|jiti|swc-node", "-r --require --import --tsconfig -P --project --env-file", "-e --eval -p --print"),
    ("ruby|jruby", "-I -r -C -E", "-e"), ("perl", "-I -M", "-e -E"), ("php", "-c -d", "-r"), ("lua|luajit", "-l", "-e"),
    ("Rscript", "", "-e"), ("julia", "--project -J -L -t -p", "-e -E"), ("pwsh|powershell", "", "-c -Command -EncodedCommand"),
    ("osascript|tclsh|expect|groovy|kotlin|scala|elixir|escript|guile|racket|sbcl|clj|clojure|bb|nu|fish|node-ts", "", "-e -c"),
];

/// Programs that depend on nothing that a project could configure, as far as a check is concerned.
#[rustfmt::skip]
const PLAIN: &str = "[|[[|:|.|source|true|false|test|echo|printf|cat|tac|head|tail|sort|uniq|wc|cut|tr|sed|awk|gawk|mawk|nawk|grep|egrep|fgrep|rg|ag|ack|diff|cmp|comm|\
    diff3|colordiff|sdiff|patch|find|fd|ls|cp|mv|rm|mkdir|rmdir|touch|ln|chmod|chown|chgrp|stat|file|du|df|dd|tee|tar|gzip|gunzip|zcat|bzip2|xz|zstd|zip|unzip|cpio|\
    basename|dirname|realpath|readlink|pwd|cd|pushd|popd|dirs|mktemp|date|sleep|seq|yes|expr|bc|dc|let|read|mapfile|readarray|getopts|getopt|shift|set|unset|export|\
    declare|local|typeset|readonly|return|exit|break|continue|trap|wait|jobs|kill|bg|fg|umask|ulimit|alias|unalias|hash|type|which|command|builtin|enable|shopt|setopt|\
    id|whoami|hostname|uname|arch|nproc|getconf|tty|stty|tput|clear|reset|ps|pgrep|top|free|uptime|env|printenv|logname|groups|who|\
    sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|md5sum|shasum|md5|cksum|b2sum|base64|base32|xxd|od|hexdump|strings|nm|objdump|readelf|ldd|size|strip|ar|ranlib|\
    jq|yq|xmllint|xsltproc|xmlstarlet|column|paste|join|fold|fmt|nl|pr|rev|split|csplit|shuf|tsort|expand|unexpand|iconv|dos2unix|unix2dos|envsubst|numfmt|\
    curl|wget|nc|ping|host|dig|nslookup|openssl|gpg|git|gh|hg|svn|less|more|vi|ed|ex|sync|install|truncate|fallocate|pv|rsync|scp|\
    gcc|g++|cc|c++|clang|clang++|ld|as|gfortran|ghc|ocamlc|ocamlfind|fpc|nasm|javac|java|jar|kotlinc|scalac|rustc|tcc|valc|valac|dmd|ldc2|gdc|nim|v|odin|\
    logger|open|xdg-open|say|notify-send|sqlite3|psql|mysql|redis-cli|mongosh|gcov|lcov|gcovr|valgrind|gdb|strace|perf|hyperfine|\
    pip|pip3|gem|apt|apt-get|brew|corepack|nvm|fnm|volta|n|rustup|pyenv|rbenv|sdk|wait-for-it|ralph|dpkg|apk|dnf|yum|pacman|getent|lsof|ss|netstat|fuser|pkill|killall|mkfifo|chronic|sponge|ts|tree|bat|delta|watchman|printf|select|times|caller|compgen|complete|pipx|locale|localedef|cal|look|spell|aspell|hunspell|dot|pandoc|pdftotext|convert|magick|identify|ffmpeg|ffprobe|exiftool";

/// Programs that run what they are given elsewhere, where nobody sees what judges.
const ELSEWHERE: &str = "docker|docker-compose|podman|podman-compose|nerdctl|kubectl|ssh|earthly|dagger|act|vagrant|multipass|lima|limactl|nix|nix-shell|nix-build|devbox|distrobox|toolbox|buildah|skaffold|tilt|circleci|gitlab-runner|devcontainer|gcloud|aws|fly|heroku|modal";

/// Programs that install what other programs of a check are.
pub(super) const INSTALLING: &str = "npm ci|npm install|npm i|npm add|pnpm install|pnpm i|yarn install|bun install|pip install|pip3 install|uv sync|uv pip|uvx|poetry install|pipenv install|bundle install|composer install|tox|nox|hatch|pnpm dlx|yarn dlx|pixi run|rye sync|pdm install|cargo install|go install|python -m pip";

/// Options whose value is a configuration file, or a folder that holds one.
pub(super) const CONFIGURING: &str = "-c|--config|--config-file|--configuration|--rcfile|--conf|--settings|-s|--settings-file|--ini|--tsconfig|-p|--project|--bootstrap|--ignore-path|--ignore-file|--require|-r|--import|--setup|--preset|--baseline|--plugin|--opts|--spec-config|--runsettings|--setup-file|--setupFiles|--globalSetup|--reporter|--manifest-path|--confcutdir|--rulesdir|--resolve-plugins-relative-to|-I|--init-script|--bazelrc|-f|--file|--makefile|--pom|--env-file";

/// Options whose value is the folder that a program works in.
#[rustfmt::skip]
const FOLDERS: &[(&str, &str)] = &[
    ("make|gmake|ninja|go|cargo|pnpm|env|mise|meson|git|rake", "-C --directory --dir"), ("npm", "--prefix -C"), ("yarn|bun|deno|turbo", "--cwd"),
    ("uv|poetry|pdm", "--directory --project -C -P"), ("composer", "-d --working-dir"), ("just", "-d --working-directory"),
    ("task|go-task", "-d --dir"), ("gradle|gradlew", "-p --project-dir"), ("swift", "--package-path"), ("phpunit|pest", "--working-dir"),
    ("tsc|vue-tsc|tsgo", "-p --project -b --build"), ("vitest|vite|jest", "--root --rootDir"), ("pytest|py.test", "--rootdir"), ("ctest|cmake", "--test-dir --build"),
];

/// Folders that hold what builds and runs leave behind: what lies there is made, not written.
const MADE: &str = "target|build|dist|out|obj|node_modules|.venv|venv|.tox|.nox|__pycache__|coverage|htmlcov|.next|.nuxt|.gradle|.build|_build|builddir|cmake-build-debug|cmake-build-release|.cache|.pytest_cache|.mypy_cache|.ruff_cache|.turbo|.nx|zig-out|.zig-cache|.dart_tool|DerivedData|dist-newstyle|.stack-work|bazel-bin";

/// What the name or folder of a file says if it judges instead of being judged, and the endings that such a word may have.
const JUDGING: &str = "check|test|verif|verify|valid|validate|lint|spec|accept|acceptance|assert|guard|ci|quality|e2e|smoke|gate|grade|judge|precommit|qa|audit|regress|regression|score|scorer|eval|evaluate|compare|selftest|suite";
/// Folders of scripts that are tools and no product.
const TOOLING: &str = "scripts|script|tools|tool|hack|ci|checks|qa|.github|.gitlab|.ci|.circleci|.husky|.githooks|hooks|devtools|maint|etc";
/// What the name of a file says that another one is compared with.
const EXPECTED: &str = "expected|expect|golden|gold|want|wanted|reference|ref|baseline|snapshot|snap|fixture|fixtures|truth|correct|good|approved|desired|target|solution|answer|exp|ok|standard|goldens|expectation|expectations";
/// Words of names of what a check goes through, one by one.
const CASES: &str = "case|cases|testcase|testcases|example|examples|sample|samples|vector|vectors|scenario|scenarios|input|inputs|testdata|golden|goldens|fixture|fixtures";

/// The row of a runner.
pub(super) fn runner(name: &str) -> Option<&'static Runner> {
    RUNNERS.iter().find(|row| is_one_of(name, row.names))
}

/// Whether a program passes over what git ignores.
pub(super) fn obeys_git(program: &str) -> bool {
    is_one_of(program, OBEYING)
}

/// Whether a program's status tells how something compares.
pub(super) fn compares(program: &str) -> bool {
    is_one_of(program_name(program), COMPARING)
}

/// Whether another program stands behind this one's options.
pub(super) fn passes_on(program: &str) -> bool {
    is_one_of(program_name(program), PASSING_ON)
}

/// Whether programs read or execute the files that a variable of this name holds.
pub(super) fn names_files(variable: &str) -> bool {
    const NAMES: &str = "BASH_ENV|ENV|NODE_OPTIONS|PYTHONSTARTUP|LD_PRELOAD|DYLD_INSERT_LIBRARIES|RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|RUSTC|PYTEST_ADDOPTS|PYTEST_PLUGINS|RUBYOPT|PERL5OPT|JAVA_TOOL_OPTIONS|MAKEFILES|GOFLAGS|CC|CXX|SHELL|JUST_JUSTFILE|ESLINT_CONFIG|npm_config_script_shell|npm_config_userconfig|NPM_CONFIG_USERCONFIG|GIT_CONFIG|GIT_CONFIG_GLOBAL";
    is_one_of(variable, NAMES) || variable.ends_with("_RUNNER") || variable.ends_with("_CONFIG")
}

/// Whether this runs a file that it is given.
pub(super) fn is_interpreter(program: &str) -> bool {
    interpreter(program_name(program)).is_some() || is_shell(program_name(program))
}

/// Whether this is a shell whose language is understood.
pub(super) fn is_shell(name: &str) -> bool {
    is_one_of(name, "sh|bash|dash|zsh|ksh|ash|rbash|mksh")
}

/// The options of an interpreter with a value, and those that are followed by the text itself.
pub(super) fn interpreter(name: &str) -> Option<(&'static str, &'static str)> {
    INTERPRETERS.iter().find(|(names, ..)| is_one_of(name, names)).map(|(_, valued, inline)| (*valued, *inline))
}

pub(super) fn is_plain(name: &str) -> bool {
    is_one_of(name, PLAIN)
}

pub(super) fn is_elsewhere(name: &str) -> bool {
    is_one_of(name, ELSEWHERE)
}

/// The options whose value is the folder that a program works in.
pub(super) fn folder_options(name: &str) -> impl Iterator<Item = &'static str> {
    FOLDERS.iter().filter(move |(names, _)| is_one_of(name, names)).flat_map(|(_, options)| options.split(' '))
}

/// Whether a path lies where builds and runs leave what they make.
pub(super) fn is_made(path: &str) -> bool {
    let folders = path.rsplit_once('/').map(|(folders, _)| folders).unwrap_or_default();
    folders.split('/').any(|folder| is_one_of(folder, MADE))
}

/// Whether the name of a file, or a folder that it lies in, says that it judges: a product is seldom called so.
pub(super) fn sounds_like_a_judge(path: &str) -> bool {
    const ENDINGS: [&str; 8] = ["", "s", "y", "er", "ing", "ate", "all", "ed"];
    let folders = path.rsplit_once('/').map(|(folders, _)| folders).unwrap_or_default();
    let is_tooling = folders.split('/').any(|folder| is_one_of(&folder.to_lowercase(), TOOLING));
    let judges = |part: &str| {
        JUDGING.split('|').any(|word| part.strip_prefix(word).is_some_and(|ending| ENDINGS.contains(&ending)))
            || ["check", "checks", "tests", "lint", "verify", "unittest"].iter().any(|word| part.ends_with(word))
    };
    let mut words = path.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(camel_words);
    is_tooling || words.any(|word| judges(&word))
}

/// The words of a name in which each begins with a capital letter, in small letters.
fn camel_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && was_small {
            words.push(String::new());
        }
        was_small = c.is_ascii_lowercase();
        if let Some(word) = words.last_mut() {
            word.push(c.to_ascii_lowercase());
        }
    }
    words
}

/// Whether a path lies among tests, which runners collect.
pub(super) fn is_among_tests(path: &str) -> bool {
    path.split('/').any(|part| is_one_of(part, "test|tests|spec|specs|t|__tests__|e2e|features"))
}

/// Whether a file's name, or a folder that it lies in, says that others are compared with it.
pub(super) fn sounds_expected(path: &str) -> bool {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(camel_words);
    words.into_iter().any(|word| is_one_of(&word, EXPECTED))
}

/// Whether a file's name, or a folder that it lies in, says that a check goes through what it holds.
pub(super) fn sounds_like_cases(path: &str) -> bool {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(camel_words);
    words.into_iter().any(|word| is_one_of(&word, CASES))
}

/// Whether a file holds data, by its ending, and neither describes a package nor locks one.
pub(super) fn is_data(path: &str) -> bool {
    const DESCRIBING: &str = "package.json|package-lock.json|composer.json|tsconfig.json|Cargo.toml|pyproject.toml|\
        pom.xml|deno.json|jsr.json|requirements.txt|CMakeLists.txt|LICENSE.txt|manifest.json|openapi.yaml|openapi.yml|\
        openapi.json";
    let file = path.rsplit('/').next().unwrap_or(path);
    let ending = file.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    is_one_of(ending, "json|jsonl|ndjson|csv|tsv|yaml|yml|toml|txt|xml|in|out|dat|ini|tap")
        && !is_one_of(file, DESCRIBING)
}

/// The names that a pattern with braces stands for.
pub(super) fn braces(pattern: &str) -> Vec<String> {
    match pattern.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
        Some((before, (several, after))) => {
            several.split(',').flat_map(|one| braces(&format!("{before}{one}{after}"))).collect()
        }
        None => vec![pattern.to_owned()],
    }
}

/// The format that a row's name for it means.
pub(super) fn format(name: &str) -> Option<Format> {
    Some(match name {
        "toml" => Format::Toml,
        "ini" => Format::Ini,
        "json" => Format::Json,
        "xml" => Format::Xml,
        "gradle" => Format::Gradle,
        "gomod" => Format::GoMod,
        _ => return None,
    })
}
