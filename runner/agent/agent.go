// Package agent says what an agent is to the runner: somebody who can be asked.
//
// An agent asks once and says what happened. It neither retries nor waits for
// a limit to pass, for attempts are the runner's to count and the journal's to
// keep. A failure of infrastructure is an *InfraError; whatever the model says,
// a refusal included, is an answer.
package agent

import (
	"context"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// A Task is what an agent is asked.
type Task struct {
	Trial    plan.Trial
	Prompt   string
	Category *catalog.Category
	// Attempt counts from 1.
	Attempt int
	// Signal takes what is heard of the provider's limits while the question is
	// still under way. It is never nil and may be called from any goroutine.
	Signal func(limiter.Signal)
}

// A Reply is what came back.
type Reply struct {
	journal.Answer
	// At is when the answer was given; zero means just now. An agent that
	// states the time also states WallMS.
	At time.Time
	// Result is the outcome where it is known without reading the transcript.
	Result *pick.Result
	// Raw is the answer as it came, a body or a stream, without secrets.
	Raw []byte
	// Window is what the answer's headers say of the provider's limits.
	Window limiter.Window
}

// An Agent can be asked. Its methods may be called concurrently.
type Agent interface {
	// Ask asks once. It fails with an *InfraError, or with the context's error.
	Ask(ctx context.Context, t Task) (Reply, error)
	// Worst is the most that asking once may cost, in US dollars; nil where that
	// is not known.
	Worst(t Task) *float64
	// Profile says what the agent is. It is always the same.
	Profile() Profile
}

// A Profile is what an agent is, and what asking it takes.
type Profile struct {
	// Synthetic means that the answers are invented.
	Synthetic bool
	// Paid means that an answer costs money.
	Paid bool
	Lane Lane
	// MemoryMB is what a question under way takes of this machine's memory; 0 for
	// next to nothing.
	MemoryMB int
	// Manifest is what must be known to ask the same again.
	Manifest journal.Manifest
}

// A Lane is what shares a provider's limits.
type Lane struct {
	// Key is the provider's endpoint, a fingerprint of the key, and the model.
	// Agents of the same key share one limit. Empty: there is none.
	Key string
	// Start is how many questions are asked at a time at first, Max at most; 0
	// leaves it to the runner.
	Start, Max int
	// Probe asks one question alone first: where failing takes long, many must not
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
	ReasonNoAnswer    = "no_answer" // the record holds none
	ReasonSimulated   = "simulated"
	ReasonStalled     = "stalled"     // a program wrote nothing for too long
	ReasonCrashed     = "crashed"     // a program ended without a result
	ReasonOverLimit   = "over_limit"  // a program used more memory, disk or processes than it may
	ReasonNotStarted  = "no_start"    // a program could not be started
	ReasonUnsupported = "unsupported" // the provider rejects a parameter that was set
)

// An InfraError says that no answer came and that it was not the model's doing.
type InfraError struct {
	Reason string // one of the short codes above
	Retry  bool   // another attempt may succeed
	// After is the least time to wait before it; 0 means that nobody said.
	After time.Duration
	// Unreached means that no connection was made: nobody listens there, or there is no
	// such host.
	Unreached bool
	// Billed means that the provider may charge for the attempt all the same:
	// the request arrived and its answer got lost.
	Billed bool
	// Lane means that every further question to the same agent would fail
	// alike: asking on would only turn trials into exclusions.
	Lane bool
	// CostUSD is what the attempt cost, where it is known.
	CostUSD *float64
	// Raw is what came all the same, without secrets.
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

// A Checker is an agent that can be looked at without asking it: whether its
// program is there and of the right version, whether its key is taken. The error
// says what to do about it.
type Checker interface {
	Check(ctx context.Context) error
}
