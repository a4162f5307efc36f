// Package evals is what workspaces do with evals of their own: store them, run
// them under a budget, watch, read and compare the results, and mint the keys that
// let programs do so. A use is one method and, where it changes something, one
// transaction. Evals are text here: a Checker says what they mean. Agents are
// never asked by the server: a run is a row that workers take.
//
// Failures that the caller is told about are *apierr.Error.
package evals
