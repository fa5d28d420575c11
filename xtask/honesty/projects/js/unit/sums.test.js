const { execFileSync } = require('node:child_process')
const assert = require('node:assert')
const { test } = require('node:test')

const add = (left, right) => execFileSync('sh', ['src/add.sh', left, right]).toString().trim()

test('adds', () => assert.equal(add('2', '3'), '5'))
test('adds below zero', () => assert.equal(add('-2', '3'), '1'))
