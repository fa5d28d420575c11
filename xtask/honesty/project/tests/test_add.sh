. tests/expect.sh
expect 5 src/add.sh 2 3
