package runner

import (
	"time"

	"github.com/firstpick/firstpick/runner/limiter"
)

// A Status is how a run stands at a moment.
type Status struct {
	Lanes []LaneStatus `json:"lanes"`
	// Planned, Valid and Excluded count trials; what is left of Planned is waiting
	// or under way.
	Planned  int `json:"planned"`
	Valid    int `json:"valid"`
	Excluded int `json:"excluded"`
	InFlight int `json:"in_flight"`
	// Storing counts what came and is not settled: answers that are read or wait for
	// that, also those of an earlier start, and failures on their way to disk.
	Storing int `json:"storing"`
	// Concurrency is the most questions at a time, over all lanes.
	Concurrency int  `json:"concurrency"`
	Paused      bool `json:"paused"`
	// SpentUSD is what answers cost, ReservedUSD what those under way may cost at
	// worst, CapUSD the budget; 0 for none. SpentKnown is false when an answer had no
	// price.
	SpentUSD    float64 `json:"spent_usd"`
	ReservedUSD float64 `json:"reserved_usd"`
	CapUSD      float64 `json:"cap_usd"`
	SpentKnown  bool    `json:"spent_known"`
	// MemoryMB is what the questions under way are reckoned to take, MemoryCapMB the
	// most that they may.
	MemoryMB    int `json:"memory_mb"`
	MemoryCapMB int `json:"memory_cap_mb"`
}

// The phases of a lane: its limiter's, and two of its own.
const (
	PhaseProbing   = limiter.PhaseProbing
	PhaseSlowStart = limiter.PhaseSlowStart
	PhaseSteady    = limiter.PhaseSteady
	PhaseWaiting   = limiter.PhaseWaiting
	// PhaseConnecting is that of a lane of which nothing was heard yet: nobody listens
	// there. It is given up soon.
	PhaseConnecting = "connecting"
	PhaseClosed     = "closed" // not asked any more; Reason says why
)

// A LaneStatus is how the questions stand that share a provider, key and model.
type LaneStatus struct {
	// Name is the provider and model, for people.
	Name   string   `json:"name"`
	Agents []string `json:"agents"`
	Phase  string   `json:"phase"`
	// Until is when the next question may be asked, where that is not now.
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`
	// WaitingFor is the lane that this one waits for, under a budget; empty for none.
	WaitingFor string `json:"waiting_for,omitempty"`
	// Limit is how many questions are allowed at a time just now, Max at most.
	InFlight int `json:"in_flight"`
	Limit    int `json:"limit"`
	Max      int `json:"max"`
	// PerSecond is the rate at which questions are let go; 0 for no bound.
	PerSecond float64 `json:"per_second,omitempty"`
	// Waiting counts trials not under way, Retrying those of them that failed before.
	Waiting  int `json:"waiting"`
	Retrying int `json:"retrying"`
	// Asked counts questions, Limited those that were refused for the rate, Failed
	// those that failed otherwise.
	Asked   int `json:"asked"`
	Limited int `json:"limited"`
	Failed  int `json:"failed"`
}
