package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/transcript"
)

const (
	defaultAttempts    = 5
	defaultBackoff     = time.Second
	defaultLaneTimeout = 30 * time.Minute
	// troubledStreak is the number of consecutive failures that indicates a real
	// problem.
	troubledStreak = 20
	// boldStart limits the initial attempts in flight at one provider.
	boldStart = 64
	// storingPerAttempt limits the responses being stored, per attempt in flight: a
	// slow disk slows the run.
	storingPerAttempt = 8
)

// DefaultConcurrency is how many attempts run at a time by default.
const DefaultConcurrency = 32

// MaxConcurrency is the most attempts at a time that a run may have.
const MaxConcurrency = 1024

// Reasons for an early end of a run.
const (
	StoppedInterrupted = "interrupted" // the context ended
	StoppedBudget      = "budget"      // the next attempt might have cost more than is left
	// StoppedIncomplete means that a family lacks trials of a closed agent: the stopping
	// rule cannot be checked.
	StoppedIncomplete = "incomplete"
	stoppedFailed     = "failed" // by an error, which Run returns
)

// A Journal stores the records of a run. It is a *journal.Journal, or wraps one.
type Journal interface {
	Run() journal.Run
	Append(ctx context.Context, records ...journal.Record) error
	Put(ctx context.Context, raw []byte) (journal.RawRef, error)
	ReadAt(at journal.Offset) (journal.Record, error)
	Stop(s journal.Stopped) error
}

// A Runner runs one eval. Its fields are not changed while Run runs.
type Runner struct {
	Eval      *eval.Eval
	Category  *catalog.Category
	Agents    map[string]agent.Agent // by name
	Extractor *pick.Extractor
	Journal   Journal
	Sinks     []Sink
	// Concurrency limits the attempts in flight over all lanes; 0 means the eval's, or
	// DefaultConcurrency if that is 0 too. Each lane learns a limit of its own.
	Concurrency int
	// MaxAttempts limits the possibly charged attempts at a trial; 0 means 5. Attempts
	// that a provider refused do not count.
	MaxAttempts int
	// Backoff is the longest wait before the second attempt; it doubles for each
	// further one, up to a minute. 0 means a second.
	Backoff time.Duration
	// LaneTimeout is how long a lane may be without an answer before it is closed; 0
	// means 30 minutes.
	LaneTimeout time.Duration
	// MaxCostUSD limits the run's spending, earlier starts included; 0 means unlimited.
	MaxCostUSD float64
	// MemoryCapMB limits the estimated memory of the attempts in flight; 0 means
	// unlimited.
	// One attempt may always begin.
	MemoryCapMB int
	// Until ends the run by a stopping rule; nil runs all trials.
	Until *Until
	// Extraction limits concurrent extractions; runs of one process share it. Nil means
	// one for this run with a slot per CPU.
	Extraction *Extraction
	// StatusEvery is how often sinks get a status event; 0 means only at the end.
	StatusEvery time.Duration
	// Describe describes a project template in text; nil adds no description.
	Describe func(template string) string
	// Installed returns the manifests of a project template, which answers are stored
	// with; nil stores none.
	Installed func(template string) []transcript.Manifest
	// Paused begins with a pause: no attempt begins until Control resumes the run. Answers
	// that an earlier start stored are extracted.
	Paused bool
	// Control steers the run while it runs; it may be nil.
	Control *Control
	Now     func() time.Time
	Sleep   func(context.Context, time.Duration) error
}

// Coverage is valid / planned, in [0, 1]; 0 for an empty plan.
func (s *Summary) Coverage() float64 {
	if s.Planned == 0 {
		return 0
	}
	return float64(s.Valid) / float64(s.Planned)
}

// Run makes attempts at the unfinished trials, and closes the sinks. An interruption
// and a spent budget are reported in the summary, not as errors. An error of a sink or
// the journal stops the run; acknowledged records are kept.
func (r *Runner) Run(ctx context.Context, trials []plan.Trial, done Progress) (Summary, error) {
	if err := r.check(trials); err != nil {
		r.Control.end()
		return Summary{}, errors.Join(err, closeSinks(r.Sinks))
	}
	return newScheduler(r, trials, done).run(ctx)
}

// check validates a run before its first attempt.
func (r *Runner) check(trials []plan.Trial) error {
	prompts := map[string]bool{}
	for _, p := range r.Eval.Prompts {
		prompts[p.ID] = true
	}
	used := map[string]agent.Agent{}
	for _, t := range trials {
		if !prompts[t.PromptID] {
			return fmt.Errorf("trial %s: eval %s lacks the prompt %q", t.ID, r.Eval.Name, t.PromptID)
		}
		if r.Agents[t.Agent] == nil {
			return fmt.Errorf("trial %s: unknown agent %q", t.ID, t.Agent)
		}
		used[t.Agent] = r.Agents[t.Agent]
	}
	return CheckBudget(r.Eval, used, r.MaxCostUSD)
}

func (r *Runner) concurrency() int {
	switch {
	case r.Concurrency > 0:
		return r.Concurrency
	case r.Eval.Concurrency > 0:
		return r.Eval.Concurrency
	default:
		return DefaultConcurrency
	}
}

func (r *Runner) maxAttempts() int {
	if r.MaxAttempts > 0 {
		return r.MaxAttempts
	}
	return defaultAttempts
}

func (r *Runner) laneTimeout() time.Duration {
	if r.LaneTimeout > 0 {
		return r.LaneTimeout
	}
	return defaultLaneTimeout
}
