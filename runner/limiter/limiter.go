// Package limiter decides how many questions one provider, key and model may have
// under way and how fast they follow each other. It learns from what comes back:
// it grows while answers are clean, shrinks when the provider refuses, waits when
// it is told to, and paces itself by the quota that headers state.
//
// It keeps two bounds. How many questions are under way at a time doubles per
// clean round until the first refusal; from then on it grows by a twentieth and
// shrinks by a fifth. How many start per second is bound from the first refusal
// on, since a few questions at a time can be too many per minute: the pace is
// measured from what the provider accepted, see episode, and climbs back slowly,
// see pace.
//
// Refusals that come at random, however few questions are asked, say nothing of a
// limit: they are told apart by slowing down, see noise, and then tolerated.
//
// A Limiter has no clock, no goroutine and no lock: time comes in as a value, and
// one goroutine owns it.
package limiter

import "time"

// A Verdict says what an answer, or a sign during one, tells about the limit.
type Verdict int

const (
	// Neutral tells nothing: the request failed for a reason of its own.
	Neutral Verdict = iota
	// Clean means that the provider took the request.
	Clean
	// Limited means that the provider refused it for the rate: 429.
	Limited
	// Overloaded means that the provider is in trouble itself: 500 to 529. It
	// pauses growth and does not shrink.
	Overloaded
)

// A Signal is one such sign.
type Signal struct {
	Verdict Verdict
	// After is how long the provider asks to wait; 0 where it does not say.
	After  time.Duration
	Window Window
}

// A Window is what headers say of the provider's own limits.
type Window struct {
	Requests, Tokens Quota
}

// empty reports whether headers say that a quota is used up.
func (w Window) empty() bool {
	return w.Requests.Known && w.Requests.Remaining <= 0 || w.Tokens.Known && w.Tokens.Remaining <= 0
}

// A Quota is what is left until it is filled up again. The zero Quota is unknown.
type Quota struct {
	Limit, Remaining int64
	// Reset is the time until Remaining is Limit again.
	Reset time.Duration
	Known bool
}
