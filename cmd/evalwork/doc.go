// Package evalwork runs the evals of workspaces. A Checker validates an eval and
// checks it against the policy; a Worker takes runs from the queue of the state store,
// executes them with the workspace's keys under its budget, and writes result bundles.
//
// Workers on several machines share the folders of journals and bundles, on a file
// system with locks. If the journal of a run with costs is missing, a worker starts
// the run over with the rest of the budget; the worst-case cost recorded in the row
// stays on the bill.
//
// # A run's life
//
// The row of the run is the job; its worker renews the lease. Attempts and answers are
// in the run's journal, so a run whose worker died resumes:
// finished trials are not repeated, and the bill is the journal's. Row, last
// event and bundle id end the run in one transaction, fenced by the lease.
//
// A run fails if its eval or its keys make it impossible. On trouble of the worker
// itself, such as a full disk, the run is given back instead; another worker, or this
// one later, resumes it.
package evalwork
