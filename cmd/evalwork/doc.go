// Package evalwork runs the evals of workspaces. A Checker says what an eval means and
// whether it may run here; a Worker takes runs from the queue of the state store, asks
// with the workspace's own keys under its budget, and leaves results as bundles.
//
// Workers on several machines share the folders of journals and bundles, on a file
// system that knows locks. A worker that finds no journal of a run which has cost
// something starts it over with what is left of the budget; what the row says that it
// had cost at most stays on the bill.
//
// # A run's life
//
// The row of the run is the job; who claimed it renews its lease. What is asked and
// answered is in the run's journal, so a run whose worker died goes on where it was:
// no trial that has an end is asked again, and the bill is the journal's. Row, last
// event and bundle id end the run in one transaction, fenced by the lease.
//
// A run ends as failed where its eval or its keys make it impossible. What is this
// worker's own trouble, such as a full disk, gives the run back instead; another
// worker, or this one later, goes on.
package evalwork
