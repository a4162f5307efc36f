// Package evals implements the evals of workspaces: store them, run them under a
// budget, watch, read and compare the results, and create the keys that let programs
// do so. Each use case is one method and, for writes, one transaction. Evals are text
// here: a Checker parses them. The server never calls agents: a run is a row that
// workers claim.
//
// Errors for the client are *apierr.Error.
package evals
