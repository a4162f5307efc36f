package resource

import "time"

// A Schedule starts runs of an eval.
type Schedule struct {
	ID       string `json:"id"`
	EvalID   string `json:"evalId"`
	EvalName string `json:"evalName"`
	Cron     string `json:"cron"`     // five fields
	TimeZone string `json:"timeZone"` // IANA name
	// BudgetUSD is the maximum cost of each run, MonthlyBudgetUSD that of all runs of a
	// calendar month in the time zone.
	BudgetUSD        float64 `json:"budgetUsd"`
	MonthlyBudgetUSD float64 `json:"monthlyBudgetUsd"`
	Status           string  `json:"status"` // active, paused
	Pause            *Pause  `json:"pause"`  // null while active
	// FailuresInARow counts runs that failed or could not be started, since the last that
	// was done.
	FailuresInARow int            `json:"failuresInARow"`
	NextRunAt      *time.Time     `json:"nextRunAt"` // null while paused
	LastRun        *ScheduleTick  `json:"lastRun"`   // the latest that was started
	Month          ScheduleMonth  `json:"month"`
	Ticks          []ScheduleTick `json:"ticks,omitempty"` // the latest, newest first; left out of lists
	CreatedAt      time.Time      `json:"createdAt"`
	UpdatedAt      time.Time      `json:"updatedAt"`
	URL            string         `json:"url"`
}

// The statuses of a schedule.
const (
	Active = "active"
	Paused = "paused"
)

// The reasons of a pause.
const (
	PauseRequested = "requested"  // by a person or program
	PauseFailures  = "failures"   // too many runs in a row failed
	PauseUnusable  = "unreadable" // this version of the program rejects expression or time zone
)

// A Pause is why a schedule starts no runs.
type Pause struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"` // requested, failures, unreadable
	Note   string    `json:"note,omitempty"`
}

// A ScheduleTick is a time of a schedule, or a run that was requested, and its outcome.
type ScheduleTick struct {
	At      time.Time `json:"at"`
	Manual  bool      `json:"manual"`  // the run was requested
	Outcome string    `json:"outcome"` // started, skipped, failed, missed
	RunID   string    `json:"runId,omitempty"`
	// RunStatus is the status of the run now.
	RunStatus string `json:"runStatus,omitempty"`
	Note      string `json:"note,omitempty"` // why no run was started
}

// A ScheduleMonth is the current calendar month of a schedule's budget.
type ScheduleMonth struct {
	StartsAt time.Time `json:"startsAt"`
	EndsAt   time.Time `json:"endsAt"`
	// UsedUSD is what the month's runs cost at most: running ones count with their budget.
	UsedUSD float64 `json:"usedUsd"`
	LeftUSD float64 `json:"leftUsd"`
}
