// Package runner executes a plan: it asks agents, keeps every answer in the
// run's journal and tells sinks what happened.
//
// Three promises hold at any moment, kill -9 included. An answer that was
// counted is on disk. An answer is never asked for again: only attempts that
// failed for reasons of infrastructure are repeated, and each is kept. Every
// planned trial ends as valid, as excluded with a reason, or as missing, and
// planned = valid + excluded + missing.
package runner
