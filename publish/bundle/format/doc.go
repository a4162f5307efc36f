// Package format defines what a run bundle has beside its trial files, which package
// trialset defines. publish/bundle writes bundles, server/evals/bundle reads them.
//
// A bundle is a folder named by the first 20 hexadecimal digits of the SHA-256 of
// its manifest. It appears whole, by rename. The same journal and catalogue give the
// same bytes: it contains no time, path or run id. Raw answers stay with the
// run.
//
//	manifest.json   the eval, counts, costs, and the other files with sizes and hashes
//	scores.json     the board of all agents, and of each alone, as on a public leaderboard
//	explanations.json  why each tool was not picked; absent in bundles of version 1
//	names.json, traces.idx, traces.zst   the trials
//	trials.parquet  one row per valid trial, as in a public snapshot
package format
