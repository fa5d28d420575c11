exec sh check.sh
