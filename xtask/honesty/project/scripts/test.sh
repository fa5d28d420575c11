#!/bin/sh
exec sh check.sh
