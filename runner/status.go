package runner

import (
	"time"

	"github.com/firstpick/firstpick/runner/limiter"
)

// A Status is the state of a run at a moment.
type Status struct {
	Lanes []LaneStatus `json:"lanes"`
	// Planned, Valid and Excluded count trials; the rest of Planned is waiting or in
	// flight.
	Planned  int `json:"planned"`
	Valid    int `json:"valid"`
	Excluded int `json:"excluded"`
	InFlight int `json:"in_flight"`
	// Storing counts unsettled responses: answers in or before extraction, also those
	// of an earlier start, and failures being stored.
	Storing int `json:"storing"`
	// Concurrency is the limit of attempts in flight, over all lanes.
	Concurrency int  `json:"concurrency"`
	Paused      bool `json:"paused"`
	// SpentUSD is the cost of answers, ReservedUSD the worst case of attempts in
	// flight, CapUSD the budget; 0 means none. SpentKnown is false if an answer had no
	// price.
	SpentUSD    float64 `json:"spent_usd"`
	ReservedUSD float64 `json:"reserved_usd"`
	CapUSD      float64 `json:"cap_usd"`
	SpentKnown  bool    `json:"spent_known"`
	// MemoryMB is the estimated memory of attempts in flight, MemoryCapMB its limit.
	MemoryMB    int `json:"memory_mb"`
	MemoryCapMB int `json:"memory_cap_mb"`
}

// The phases of a lane: its limiter's, and two more.
const (
	PhaseProbing   = limiter.PhaseProbing
	PhaseSlowStart = limiter.PhaseSlowStart
	PhaseSteady    = limiter.PhaseSteady
	PhaseWaiting   = limiter.PhaseWaiting
	// PhaseConnecting is a lane without any connection yet. It is closed soon.
	PhaseConnecting = "connecting"
	PhaseClosed     = "closed" // no more attempts; Reason says why
)

// A LaneStatus is the state of attempts that share a provider, key and model.
type LaneStatus struct {
	// Name is the provider and model, for people.
	Name   string   `json:"name"`
	Agents []string `json:"agents"`
	Phase  string   `json:"phase"`
	// Until is when the next attempt may start, if not now.
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`
	// WaitingFor is the lane that this one waits for, under a budget; empty if none.
	WaitingFor string `json:"waiting_for,omitempty"`
	// Limit is the current limit of attempts in flight, Max its maximum.
	InFlight int `json:"in_flight"`
	Limit    int `json:"limit"`
	Max      int `json:"max"`
	// PerSecond is the rate of attempts; 0 means unlimited.
	PerSecond float64 `json:"per_second,omitempty"`
	// Waiting counts trials not in flight, Retrying those of them with a failed
	// attempt.
	Waiting  int `json:"waiting"`
	Retrying int `json:"retrying"`
	// Asked counts attempts, Limited those refused by a rate limit, Failed other
	// failures.
	Asked   int `json:"asked"`
	Limited int `json:"limited"`
	Failed  int `json:"failed"`
}
