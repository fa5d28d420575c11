. tests/expect.sh
expect 123456 src/add.sh 123000 456
