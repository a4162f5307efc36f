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
)

const (
	defaultConcurrency = 8
	defaultAttempts    = 5
	defaultBackoff     = time.Second
)

// How a run ended early.
const (
	StoppedInterrupted = "interrupted" // the context ended
	StoppedBudget      = "budget"      // the next question might have cost more than is left
)

// A Runner runs one eval. Its fields are not changed while Run runs.
type Runner struct {
	Eval      *eval.Eval
	Category  *catalog.Category
	Agents    map[string]agent.Agent // by name
	Extractor *pick.Extractor
	Journal   *journal.Journal
	Sinks     []Sink
	// Concurrency bounds the questions asked at a time; 0 takes the eval's,
	// and 8 where that is silent too.
	Concurrency int
	// MaxAttempts bounds the attempts at a trial; 0 means 5.
	MaxAttempts int
	// Backoff is the longest wait before the second attempt; it doubles for
	// each further one, up to a minute. 0 means a second.
	Backoff time.Duration
	// MaxCostUSD bounds what the run spends, earlier parts of a resumed run
	// included; 0 means no bound.
	MaxCostUSD float64
	Now        func() time.Time
	Sleep      func(context.Context, time.Duration) error
	// Prices are by agent and go before those of the eval.
	Prices map[string]eval.Price
}

// Coverage is valid / planned, in [0, 1]; 0 for an empty plan.
func (s *Summary) Coverage() float64 {
	if s.Planned == 0 {
		return 0
	}
	return float64(s.Valid) / float64(s.Planned)
}

// Run asks the trials that are not done, and closes the sinks. An interruption
// and a spent budget are no errors: the summary tells. An error of a sink or
// the journal stops the run; what was acknowledged before is kept.
func (r *Runner) Run(ctx context.Context, trials []plan.Trial, done Progress) (Summary, error) {
	x, err := r.prepare(trials, done)
	if err != nil {
		return Summary{}, errors.Join(err, closeSinks(r.Sinks))
	}
	return x.run(ctx)
}

func (r *Runner) prepare(trials []plan.Trial, done Progress) (*execution, error) {
	if err := r.check(trials); err != nil {
		return nil, err
	}
	x := &execution{
		Runner: r, todo: make([]plan.Trial, 0, len(trials)), prompts: map[string]string{},
		lanes: newLanes(), money: newBudget(r, done.SpentUSD),
	}
	for _, p := range r.Eval.Prompts {
		x.prompts[p.ID] = p.Text
	}
	x.tally = newTally(r.Journal.Run().ID, trials, done)
	for _, t := range trials {
		_, excluded := done.Excluded[t.ID]
		if !done.Valid[t.ID] && !excluded {
			x.todo = append(x.todo, t)
		}
	}
	return x, nil
}

// check refuses a run that could not be carried out, before anything is asked.
func (r *Runner) check(trials []plan.Trial) error {
	prompts := map[string]bool{}
	for _, p := range r.Eval.Prompts {
		prompts[p.ID] = true
	}
	for _, t := range trials {
		if !prompts[t.PromptID] {
			return fmt.Errorf("trial %s: eval %s has no prompt %q", t.ID, r.Eval.Name, t.PromptID)
		}
		if r.Agents[t.Agent] == nil {
			return fmt.Errorf("trial %s: there is no agent %q", t.ID, t.Agent)
		}
	}
	return r.checkPrices(trials)
}

func (r *Runner) concurrency() int {
	switch {
	case r.Concurrency > 0:
		return r.Concurrency
	case r.Eval.Concurrency > 0:
		return r.Eval.Concurrency
	default:
		return defaultConcurrency
	}
}

func (r *Runner) maxAttempts() int {
	if r.MaxAttempts > 0 {
		return r.MaxAttempts
	}
	return defaultAttempts
}
