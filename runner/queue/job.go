package queue

import (
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/plan"
)

const (
	kindTrial = "firstpick_trial"
	// wallDefault is the time limit of an attempt whose eval sets none: above the
	// default limits of agents. wallMargin lets an agent end by its own limit first.
	wallDefault = 2 * time.Hour
	wallMargin  = 5 * time.Minute
)

// An attemptJob is the job of one attempt at a trial. Its unique key is run and trial, so
// a trial never has two attempts in flight.
type attemptJob struct {
	Run     string     `json:"run" river:"unique"`
	TrialID string     `json:"trial_id" river:"unique"`
	Trial   plan.Trial `json:"trial"`
	Prompt  string     `json:"prompt"`
	Attempt int        `json:"attempt"`
	// LimitS is the time limit of the attempt, in seconds.
	LimitS int `json:"limit_s"`
}

// Kind implements river.JobArgs.
func (attemptJob) Kind() string { return kindTrial }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (attemptJob) InsertOpts() river.InsertOpts {
	return river.InsertOpts{
		Queue: queueName,
		// River runs a job again only if the worker gave it back, or if a dead worker's
		// attempts were not written off. A failed attempt ends the job: the coordinator
		// retries.
		MaxAttempts: 25,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning,
			rivertype.JobStateRetryable, rivertype.JobStateScheduled,
		}},
	}
}

// limit is the longest duration of an agent's attempt.
func limit(a eval.Agent) time.Duration {
	wall := a.TimeoutS
	if a.CLI != nil {
		wall = a.CLI.WallS
	}
	if wall == 0 {
		return wallDefault
	}
	return time.Duration(wall)*time.Second + wallMargin
}
