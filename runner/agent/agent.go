// Package agent defines the interface between the runner and the agents under test.
//
// An agent makes one attempt and reports the result. It neither retries nor waits for
// a limit to pass: the runner counts attempts and the journal records them. A failure
// of infrastructure is an *InfraError; everything that the model says, a refusal
// included, is an answer.
package agent

import (
	"context"
	"errors"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// ErrNoKey means that the variable of an agent's key is empty.
var ErrNoKey = errors.New("the key is not set")

// A Task is one attempt at a trial.
type Task struct {
	Trial  plan.Trial
	Prompt string
	// System are instructions that stand above the prompt. Trials have none: users do not
	// give any. Only models behind an API take them.
	System   string
	Category *catalog.Category
	// Attempt counts from 1.
	Attempt int
	// Signal reports the provider's limits while the attempt is still running. It is never nil and may be called from any goroutine.
	Signal func(limiter.Signal)
}

// A Reply is the answer to an attempt.
type Reply struct {
	journal.Answer
	// At is the time of the answer; zero means now. An agent that sets it also sets
	// WallMS.
	At time.Time
	// Result is the outcome if it is known without reading the transcript.
	Result *pick.Result
	// Raw is the unparsed answer, a body or a stream, without secrets.
	Raw []byte
	// Window holds the provider's limits from the answer's headers.
	Window limiter.Window
}

// An Agent answers prompts. Its methods may be called concurrently.
type Agent interface {
	// Ask makes one attempt. It fails with an *InfraError, or with the context's error.
	Ask(ctx context.Context, t Task) (Reply, error)
	// Worst returns the highest possible cost of an attempt in US dollars; nil if it is
	// unknown.
	Worst(t Task) *float64
	// Profile describes the agent. It never changes.
	Profile() Profile
}

// A Profile describes an agent and the resources that it needs.
type Profile struct {
	// Synthetic means that the answers are invented.
	Synthetic bool
	// Paid means that an answer costs money.
	Paid bool
	Lane Lane
	// MemoryMB is the memory that a running attempt uses on this machine; 0 means
	// negligible.
	MemoryMB int
	// Manifest records everything needed to repeat the attempt.
	Manifest journal.Manifest
}

// A Lane identifies agents that share a provider's limits.
type Lane struct {
	// Key is the provider's endpoint, a fingerprint of the key, and the model.
	// Agents of the same key share one limit. Empty means no limit.
	Key string
	// Start is the initial number of concurrent attempts, Max the highest; 0 leaves them
	// to the runner.
	Start, Max int
	// Probe means that the first attempt runs alone: if failing takes long, many must not
	// fail at once.
	Probe bool
}

// The reasons of an InfraError.
const (
	ReasonNetwork     = "network"
	ReasonTimeout     = "timeout"
	ReasonRateLimited = "rate_limited"
	ReasonServer      = "server"
	ReasonMalformed   = "malformed"
	ReasonConflict    = "conflict"
	ReasonAuth        = "auth"
	ReasonQuota       = "quota"
	ReasonNotFound    = "not_found"
	ReasonBadRequest  = "bad_request"
	ReasonNoAnswer    = "no_answer" // the record has no answer
	ReasonSimulated   = "simulated"
	ReasonStalled     = "stalled"     // a program wrote nothing for too long
	ReasonCrashed     = "crashed"     // a program ended without a result
	ReasonOverLimit   = "over_limit"  // a program used more memory, disk or processes than it may
	ReasonNotStarted  = "no_start"    // a program could not be started
	ReasonUnsupported = "unsupported" // the provider rejects a parameter that was set
)

// An InfraError means that the infrastructure, not the model, prevented an answer.
type InfraError struct {
	Reason string // one of the short codes above
	Retry  bool   // another attempt may succeed
	// After is the minimum wait before a retry; 0 means unknown.
	After time.Duration
	// Unreached means that no connection was made: connection refused, or unknown host.
	Unreached bool
	// Billed means that the provider may charge for the attempt: the request arrived and
	// its answer was lost.
	Billed bool
	// Lane means that every further attempt of the same agent would fail alike:
	// continuing would only turn trials into exclusions.
	Lane bool
	// CostUSD is the cost of the attempt if it is known.
	CostUSD *float64
	// Raw is the output so far, without secrets.
	Raw    []byte
	Window limiter.Window
	Err    error
}

func (e *InfraError) Error() string {
	if e.Err == nil {
		return e.Reason
	}
	return e.Reason + ": " + e.Err.Error()
}

func (e *InfraError) Unwrap() error { return e.Err }

// A Checker is an agent that can be checked without an attempt: whether its program is
// installed in the right version, and whether its key is accepted. The error says how
// to fix it.
type Checker interface {
	Check(ctx context.Context) error
}
