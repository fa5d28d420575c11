. tests/expect.sh
expect 1 src/add.sh -2 3
