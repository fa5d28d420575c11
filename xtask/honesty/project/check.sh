# Runs every test that does not begin with the mark "# skip". All must pass, and there must be some.
. ./test.env
passed=0
for test in $TESTS; do
    read -r first <"$test"
    [ "$first" != '# skip' ] || continue
    sh "$test" || {
        echo "FAILED $test"
        exit 1
    }
    passed=$((passed + 1))
done
echo "$passed passed"
[ "$passed" -gt 0 ]
