const { execFileSync } = require('node:child_process')
const assert = require('node:assert')

const add = (left, right) => execFileSync('sh', ['src/add.sh', left, right]).toString().trim()

it('adds', () => assert.equal(add('2', '3'), '5'))
it('adds below zero', () => assert.equal(add('-2', '3'), '1'))
