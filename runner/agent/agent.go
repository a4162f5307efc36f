// Package agent holds the ways to ask: answers that were recorded, answers
// that are simulated from a known truth, and any endpoint that speaks the
// OpenAI chat protocol.
//
// An agent asks once and says what happened. It neither retries nor waits for
// a limit to pass, for attempts are the runner's to count and the journal's to
// keep. A failure of infrastructure is an *InfraError; whatever the model says,
// a refusal included, is an answer.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
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
}

// A Reply is what came back.
type Reply struct {
	journal.Answer
	// At is when the answer was given; zero means just now. An agent that
	// states the time also states WallMS.
	At time.Time
	// Result is the outcome where it is known without reading the transcript.
	Result *pick.Result
}

// An Agent can be asked. Its methods may be called concurrently.
type Agent interface {
	// Ask asks once. It fails with an *InfraError, or with the context's error.
	Ask(ctx context.Context, t Task) (Reply, error)
	// Synthetic reports whether the answers are invented.
	Synthetic() bool
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
)

// An InfraError says that no answer came and that it was not the model's doing.
type InfraError struct {
	Reason string // one of the short codes above
	Retry  bool   // another attempt may succeed
	// After is the least time to wait before it; 0 means that nobody said.
	After time.Duration
	// Billed means that the provider may charge for the attempt all the same:
	// the request arrived and its answer got lost.
	Billed bool
	// Lane means that every further question to the same agent would fail
	// alike: asking on would only turn trials into exclusions.
	Lane bool
	Err  error
}

func (e *InfraError) Error() string {
	if e.Err == nil {
		return e.Reason
	}
	return e.Reason + ": " + e.Err.Error()
}

func (e *InfraError) Unwrap() error { return e.Err }

// Deps are what agents need of the world.
type Deps struct {
	Files  fs.FS // the embedded fixtures
	Getenv func(string) string
	Client *http.Client
	Sleep  func(context.Context, time.Duration) error
}

// Build makes the agent that a configuration describes. It reads recorded
// answers and keys at once, so that what is missing is told before a run.
func Build(a eval.Agent, d Deps) (Agent, error) {
	var built Agent
	var err error
	switch a.Kind {
	case eval.KindRecorded:
		built, err = newRecorded(a, d)
	case eval.KindSimulated:
		built, err = newSimulated(a, d)
	case eval.KindOpenAIChat:
		built, err = newChat(a, d)
	default:
		err = fmt.Errorf("kind %q cannot be asked: use %s, %s or %s", a.Kind, eval.KindRecorded, eval.KindSimulated, eval.KindOpenAIChat)
	}
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", a.Name, err)
	}
	return built, nil
}

var errNoRecord = errors.New("the record holds no answer for this trial")
