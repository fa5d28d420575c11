# Puts real programs in the place of the stand-ins, and a project of their kind into the folder.

real_npm() {
    rm ../bin/npm ../bin/npx
    project js
}

# real_package NAME: a package of npm with everything that it needs, as `npm ci` leaves it.
real_package() {
    real_npm
    cp -R "$TOOLS/$1/node_modules" .
}

real_pnpm() {
    rm ../bin/pnpm
    project js
    printf '#!/bin/sh\nexec node %s "$@"\n' "$TOOLS/pnpm/node_modules/pnpm/bin/pnpm.cjs" | program ../bin/pnpm
}

real_pytest() {
    rm ../bin/pytest
    project pytest
    python3 -m venv --without-pip .venv
    cp -R "$TOOLS"/pytest/* .venv/lib/python3*/site-packages
    printf '#!%s/.venv/bin/python\nimport sys\nfrom pytest import console_main\nsys.exit(console_main())\n' "$PWD" | program .venv/bin/pytest
}

real_cargo() {
    rm ../bin/cargo
    for name in cargo rustc rustdoc; do ln -s "$TOOLS/rust/$name" "../bin/$name"; done
    project cargo
    cargo generate-lockfile --offline
    save
}

real_go() {
    rm ../bin/go
    ln -s "$TOOLS/go/go/bin/go" ../bin/go
    project go
    mkdir -p ~/.cache
    cp -R "$TOOLS/go/cache" ~/.cache/go-build
}
