// Package trafficdb runs reports over accepted events. It copies them from the state
// store to the columns of a separate DuckDB file. The file may be deleted at any time
// and is then rebuilt.
//
//	state store ──► Loader.Step ──► Append (rows and mark in one transaction)
//	                                   │
//	                  reports ◄── traffic.duckdb
//
// The file has no key and no index, and its tables are created with it. The mark, the
// sequence number up to which events are loaded, prevents that an event counts twice.
// Rows are appended in the order of that number, which is about the order of time, so a
// window reads only its part of the file. Half a million rows are sorted by workspace,
// class and agent, in one transaction that deletes the unsorted ones: a workspace's
// report then skips the rows of all others.
//
// An erasure is an event too. It removes rows in the transaction of its batch, so that
// every server's file loses them, in order.
//
// What the reports count:
//
//   - Touches of agents are those of agentid's headline classes, without spoofed ones
//     (verdict ip_mismatch). Agents counts those with the agent that they claim to be;
//     elsewhere they are noise.
//   - An event counts on the day on which it happened, also when it was received later.
//   - Backfilled events count everywhere but in Changes, where they are only history.
//
// Every report covers one workspace and has a bounded size. Reports run concurrently
// with each other and with Append, each on a snapshot of its start. Under a high rate of
// events they use half of the cores.
package trafficdb
