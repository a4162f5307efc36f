// Package runner executes a plan: it makes attempts, stores every answer in the
// run's journal and notifies sinks.
//
// Three guarantees hold at any moment, kill -9 included. A counted answer is on
// disk. An answer is never requested twice: only attempts that
// failed for reasons of infrastructure are repeated, and each is recorded. Every
// planned trial ends as valid, as excluded with a reason, or as missing, and
// planned = valid + excluded + missing.
//
// One goroutine, the scheduler, makes all decisions: the next trial of the plan that
// its provider lane may send, the reserved money, the closed lanes.
// Attempts run in goroutines of their own and report back to it, so it has no locks.
// Under a budget the worst case of an attempt is reserved, and journalled, before the
// request is sent, so a killed run knows its possible charges. Where the
// budget may end the run, no lane gets more than a block ahead of the others. A
// lane without a connection is closed after 20 s and three attempts. Requests that a
// provider refused are repeated; possibly charged ones at most five times.
package runner
