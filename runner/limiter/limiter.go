// Package limiter decides how many attempts one provider, key and model may have in
// flight, and at which rate they start. It adapts to the responses: it grows while
// answers are clean, shrinks when the provider refuses, waits when the provider asks
// to, and paces itself by the quota in headers.
//
// It has two limits. The number of attempts in flight doubles per clean round until the
// first refusal; from then on it grows by a twentieth and shrinks by a fifth. The rate
// is limited from the first refusal on, since a few attempts at a time can be too many
// per minute: the pace is measured from accepted attempts, see episode, and climbs back
// slowly, see pace.
//
// Random refusals, independent of the load, reveal no limit: slowing down distinguishes
// them, see noise, and they are then tolerated.
//
// A Limiter has no clock, no goroutine and no lock: callers pass the time, and one
// goroutine owns it.
package limiter

import "time"

// A Verdict classifies an answer, or a signal during an attempt.
type Verdict int

const (
	// Neutral has no information: the request failed for another reason.
	Neutral Verdict = iota
	// Clean means that the provider took the request.
	Clean
	// Limited means that the provider refused it for the rate: 429.
	Limited
	// Overloaded means that the provider is in trouble itself: 500 to 529. It
	// pauses growth and does not shrink.
	Overloaded
)

// A Signal is a verdict with the provider's limits.
type Signal struct {
	Verdict Verdict
	// After is how long the provider asks to wait; 0 if unknown.
	After  time.Duration
	Window Window
}

// A Window is the provider's limits in headers.
type Window struct {
	Requests, Tokens Quota
}

// empty reports whether headers show a used-up quota.
func (w Window) empty() bool {
	return w.Requests.Known && w.Requests.Remaining <= 0 || w.Tokens.Known && w.Tokens.Remaining <= 0
}

// A Quota is the remaining amount until a reset. The zero Quota is unknown.
type Quota struct {
	Limit, Remaining int64
	// Reset is the time until Remaining is Limit again.
	Reset time.Duration
	Known bool
}
