// Package queue distributes attempts to other processes over PostgreSQL.
//
// The coordinator, the process of the run, keeps everything that must be
// in one place: the order of trials, limits, money, retries and the journal. Only
// the attempts are remote. An attempt is a River job, keyed by run and trial, so that a
// restarted coordinator finds its pending attempts. A worker makes the attempt, and
// writes the result and the end of the job in one transaction. The row's key, run,
// trial and attempt, makes it exactly once: a second result is ignored.
//
// A worker that dies, or loses the database, sends no heartbeats. After a lease
// another worker writes its attempts off as failed; the
// coordinator is notified, accounts for their possible cost, and retries.
// They are not handed to another worker directly: an attempt might be paid twice and
// counted once.
package queue
