#!/bin/sh
set -e
sh lint.sh
npm test
