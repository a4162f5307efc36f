// Package trafficdb answers questions about accepted events. It keeps them in a
// DuckDB file of their own, in columns, and holds nothing that the state store
// has not: the file may be deleted at any time and is then rebuilt.
//
//	state store ──► Loader.Step ──► Append (rows and mark in one transaction)
//	                                   │
//	                  reports ◄── traffic.duckdb
//
// The file has no key and no index, and tables are only made when the file is:
// what keeps an event from being counted twice is the mark, the sequence number
// up to which events are loaded. Rows are appended in the order of that number,
// which is about the order of time, so a window reads only its part of the file.
// When half a million lie there they are sorted by workspace, class and agent, in
// one transaction that deletes them where they were: a workspace's report then
// passes over the rows of all others.
//
// An erasure comes as an event too. It removes rows in the transaction of its
// batch, so that every server's file loses them, in order.
//
// What the reports count:
//
//   - Touches of agents are those of the classes that agentid calls the headline,
//     without spoofed ones (verdict ip_mismatch). Agents shows those beside the
//     agent that they claim to be; elsewhere they are noise.
//   - An event counts in the day in which it happened, however late it came.
//   - Backfilled events count everywhere but in Changes, where they are only
//     known as the past.
//
// Every report is of one workspace and bounded. Reports run side by side and
// beside Append, each on the state of the moment in which it began. While much
// comes in they have half of the cores.
package trafficdb
