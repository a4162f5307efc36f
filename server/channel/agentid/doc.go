// Package agentid tells who visits a site: which agent a request names, which
// kind of agent that is, and how much of the claim is proved.
//
// Names come from one table. Its rows are ours (data/agents.tsv), with two wider
// layers under them that gen makes from public lists: the names of ai.robots.txt,
// and the patterns of crawler-user-agents. A name is a claim, for
// anybody may send any User-Agent; Verifier weighs it by signature, address and
// reverse DNS. The means of that are the packages below: ranges (addresses that
// operators publish), webbotauth (signed requests), rdns (names of addresses).
//
// What it does not do: it stores nothing of a visitor, and it does not guess.
// An assistant that browses as plain Chrome is a browser here, unless it signs
// or comes from a range of its operator.
package agentid

//go:generate go run ./gen -data data -snapshot ranges/data/snapshot.json -inputs $FIRSTPICK_AGENT_INPUTS
