// Package sums adds.
package sums
