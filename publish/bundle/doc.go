// Package bundle freezes one run into an immutable folder, for the workspace that paid
// for it: scores, and every trial with its transcript, evidence and costs. Package
// format defines the files; server/evals/bundle reads them.
package bundle
