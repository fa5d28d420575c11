# Every script can be read by the shell.
for script in src/*.sh; do
    sh -n "$script" || exit 1
done
