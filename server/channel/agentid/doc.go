// Package agentid identifies a site's visitors: the agent that a request names, its
// class, and how far the claim is verified.
//
// Names come from one table: our rows (data/agents.tsv), and below them two wider
// layers that gen creates from public lists: the names of ai.robots.txt, and the
// patterns of crawler-user-agents. A name is a claim, because any client may send any
// User-Agent; Verifier checks it by signature, address and reverse DNS with the
// packages below: ranges (addresses that operators publish), webbotauth (signed
// requests), rdns (names of addresses).
//
// It stores nothing about a visitor, and it does not guess. An assistant that browses
// as an unmodified Chrome is a browser here, unless it signs or comes from a range of
// its operator.
package agentid

//go:generate go run ./gen -data data -snapshot ranges/data/snapshot.json -inputs $FIRSTPICK_AGENT_INPUTS
