. tests/expect.sh
expect 6 src/mul.sh 2 3
