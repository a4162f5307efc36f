// Package attribution credits conversions to the families of agents that led to
// them. Its functions are pure: events come in as values, time is an argument, and
// the order of the input never matters.
//
//	bindings ──► Graph ─┐
//	touches ────────────┼─► Credit ──► Credited per conversion ──► Summary
//	conversions ────────┘
//
// Credit is computed for every report, so each report can choose the model and the
// lookback. Its input:
//
//   - conversions: those of the window, each order that a refund of the window
//     takes back however old it is, and all refunds of those orders;
//   - touches: from the oldest of these conversions less the lookback, up to the
//     newest plus Slack;
//   - bindings: from the same moment until now, since an identify may come late.
//
// A touch competes when it has evidence, its class may lead a person here, and
// it is not spoofed (see evidence.go). Among those that can be tied to the
// converting person the model shares one conversion and its money, in whole
// minor units. The rest belongs to the family NoAgent, so the shares of a conversion
// always add up to it.
//
// Probable credit is reported separately: see Inference.
package attribution
