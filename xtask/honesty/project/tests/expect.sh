# What every test uses: expect WANTED SCRIPT ARGUMENT...
expect() {
    wanted=$1
    shift
    got=$(sh "$@")
    [ "$got" = "$wanted" ] || {
        echo "$*: expected $wanted, got $got"
        exit 1
    }
}
