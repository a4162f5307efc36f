package runner

import (
	"context"
	"time"

	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// The kinds of event.
const (
	EventStart    = "start"
	EventAttempt  = "attempt"  // an attempt failed
	EventResult   = "result"   // a trial has its answer
	EventExcluded = "excluded" // a trial was excluded
	EventStatus   = "status"   // the run's status, about once a second
	EventEnd      = "end"
)

// An Event notifies sinks of a change that is already on disk.
type Event struct {
	Kind  string     `json:"kind"`
	At    time.Time  `json:"at"`
	Run   string     `json:"run"`
	Trial plan.Trial `json:"trial,omitzero"`
	// Reason is why an attempt failed or a trial was excluded.
	Reason  string       `json:"reason,omitempty"`
	Result  *pick.Result `json:"result,omitempty"`
	CostUSD *float64     `json:"cost_usd,omitempty"`
	// Planned and Done, the trials settled by earlier starts, are set for start.
	Planned int `json:"planned,omitempty"`
	Done    int `json:"done,omitempty"`
	// Status is set for status.
	Status *Status `json:"status,omitempty"`
	// Summary is set for end.
	Summary *Summary `json:"summary,omitempty"`
}

// A Sink hears of events. Calls never overlap; an error stops the run. A sink
// may be slow, but then the run is.
type Sink interface {
	Event(ctx context.Context, e Event) error
	Close() error
}

// A Summary counts the outcomes of the planned trials.
type Summary struct {
	RunID    string `json:"run"`
	Planned  int    `json:"planned"`
	Valid    int    `json:"valid"`
	Excluded int    `json:"excluded"`
	Missing  int    `json:"missing"`
	// Reasons counts excluded and missing trials by reason.
	Reasons  map[string]int `json:"reasons"`
	SpentUSD float64        `json:"spent_usd"`
	// SpentKnown is false if an answer had no price, or an attempt may have been
	// charged; AtMostUSD is the worst case.
	SpentKnown bool    `json:"spent_known"`
	AtMostUSD  float64 `json:"at_most_usd"`
	// Closed are the reasons of closed agents, by name.
	Closed map[string]string `json:"closed,omitempty"`
	// Stopped is "", "interrupted", "budget" or "incomplete".
	Stopped string `json:"stopped,omitempty"`
	// Decided is the verdict of the stopping rule, if this start reached it. Planned then
	// counts the families that were asked.
	Decided *journal.Stopped `json:"decided,omitempty"`
}
