// Package runner executes a plan: it asks agents, keeps every answer in the
// run's journal and tells sinks what happened.
//
// Three promises hold at any moment, kill -9 included. An answer that was
// counted is on disk. An answer is never asked for again: only attempts that
// failed for reasons of infrastructure are repeated, and each is kept. Every
// planned trial ends as valid, as excluded with a reason, or as missing, and
// planned = valid + excluded + missing.
//
// One goroutine, the scheduler, owns all decisions: the next trial of the plan that
// its provider lane may send, the money that is reserved, the lanes that are closed.
// Attempts run in goroutines of their own and report back to it, so it has no locks.
// Under a budget the worst case of an attempt is reserved, and journalled, before the
// request is sent: a killed run knows what it may have been charged for. Where the
// budget may end the run, no lane gets further ahead of the others than a block. A
// lane that was never reached is closed after 20 s and three attempts. What a provider
// refused is requested again; what may have been charged at most five times.
package runner
