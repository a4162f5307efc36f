package runner_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/journal"
)

// TestABudgetOfOddAmountsEnds holds that what rounding leaves of reservations is not
// taken for a question under way: it would be waited for for ever.
func TestABudgetOfOddAmountsEnds(t *testing.T) {
	for name, limit := range map[string]func(*bench){
		"of the run": func(b *bench) { b.MaxCostUSD = 2 },
		"of the agents": func(b *bench) {
			for i := range b.Eval.Agents {
				b.Eval.Agents[i].MaxCostUSD = 0.9
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 100, map[string]agent.Agent{
				"a": priced{costing(0.01), 0.1}, "b": priced{costing(0.02), 0.2}, "c": priced{costing(0.03), 0.3},
			})
			limit(b)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if s, err := b.run(t, ctx); err != nil || s.Stopped == runner.StoppedInterrupted || s.Missing == 0 {
				t.Fatalf("%+v, %v", s, err)
			}
		})
	}
}

func TestWhatAnAgentMayHaveSpentCountsWhenResumed(t *testing.T) {
	b := newBench(t, 10, map[string]agent.Agent{"a": priced{costing(1), 1}})
	b.Eval.Agents[0].MaxCostUSD = 5
	worst := 1.0
	charged := journal.Record{Kind: journal.KindAttempt, Trial: b.trials[0], Attempt: 1, AtMostUSD: &worst}
	killed := journal.Record{Kind: journal.KindAsked, Trial: b.trials[1], Attempt: 1, AtMostUSD: &worst}
	if err := b.Journal.Append(t.Context(), charged, killed); err != nil {
		t.Fatal(err)
	}
	if s, err := b.run(t, t.Context()); err != nil || s.Valid != 3 || s.AtMostUSD != 5 {
		t.Fatalf("%+v, %v", s, err)
	}
}

func TestACrashIsPaidForWhenResumed(t *testing.T) {
	for name, c := range map[string]struct {
		ask         script
		spent, lost float64
	}{
		"of the agent": {func(context.Context, agent.Task) (agent.Reply, error) { panic("no") }, 0, 3},
		"after an answer": {func(context.Context, agent.Task) (agent.Reply, error) { // there is no extractor
			usd := 0.5
			return agent.Reply{Answer: journal.Answer{CostUSD: &usd}, Raw: []byte("an answer")}, nil
		}, 1.5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 3, map[string]agent.Agent{"a": priced{c.ask, 1}})
			b.MaxCostUSD = 10
			s, err := b.run(t, t.Context())
			if err != nil || s.Excluded != 3 || s.SpentUSD != c.spent || s.AtMostUSD != c.spent+c.lost {
				t.Fatalf("%+v, %v", s, err)
			}
			done, err := runner.Replay(b.root, "r1")
			if err != nil || done.SpentUSD != c.spent || done.LostUSD != c.lost {
				t.Fatalf("replayed: spent %v, lost %v, %v", done.SpentUSD, done.LostUSD, err)
			}
		})
	}
}

// TestAnInterruptionIsNoErrorWhereverItComes interrupts bounded runs while questions
// are being noted.
func TestAnInterruptionIsNoErrorWhereverItComes(t *testing.T) {
	for i := range 100 {
		b := newBench(t, 200, map[string]agent.Agent{"a": priced{costing(0.25), 1}})
		b.MaxCostUSD, b.Concurrency = 1000, 16
		ctx, cancel := context.WithCancel(t.Context())
		b.log.fail = func(e runner.Event) error {
			if e.Done >= i%20 {
				cancel()
			}
			return nil
		}
		s, err := b.run(t, ctx)
		cancel()
		if err != nil || s.Missing > 0 && s.Stopped != runner.StoppedInterrupted {
			t.Fatalf("%+v, %v", s, err)
		}
		done, err := runner.Replay(b.root, "r1")
		if err != nil || math.Abs(done.SpentUSD+done.LostUSD-s.AtMostUSD) > 1e-9 {
			t.Fatalf("told %+v, replayed spent %v, lost %v, %v", s, done.SpentUSD, done.LostUSD, err)
		}
		_ = b.close()
	}
}
