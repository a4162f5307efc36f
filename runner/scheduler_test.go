package runner_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/plan"
)

// profiled is an agent of a certain profile.
type profiled struct {
	agent.Agent
	profile agent.Profile
}

func (p profiled) Profile() agent.Profile { return p.profile }

// costing answers at once and says what it cost.
func costing(usd float64) script {
	return func(ctx context.Context, t agent.Task) (agent.Reply, error) {
		r, err := flask(ctx, t)
		r.CostUSD = &usd
		return r, err
	}
}

// realTime gives a bench the bubble's clock.
func (b *bench) realTime() {
	b.Now = time.Now
	b.Sleep = func(ctx context.Context, d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// waits answers after a time.
func (b *bench) waits(d time.Duration) script {
	return func(ctx context.Context, t agent.Task) (agent.Reply, error) {
		if err := b.Sleep(ctx, d); err != nil {
			return agent.Reply{}, err
		}
		return flask(ctx, t)
	}
}

func TestASlowLaneHoldsNoOtherUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 40, map[string]agent.Agent{"fast": script(flask), "slow": script(flask)})
		b.realTime()
		b.Concurrency = 8
		b.Agents["slow"] = profiled{b.waits(time.Minute), agent.Profile{Lane: agent.Lane{Key: "slow", Max: 2}}}
		began := time.Now()
		var fast time.Duration
		b.log.fail = func(e runner.Event) error {
			if e.Trial.Agent == "fast" && e.Trial.Repeat == 40 {
				fast = e.At.Sub(began)
			}
			return nil
		}
		s, err := b.run(t, t.Context())
		if err != nil || s.Valid != 80 {
			t.Fatalf("%+v, %v", s, err)
		}
		if whole := time.Since(began); fast > time.Minute || whole != 20*time.Minute {
			t.Errorf("fast done after %s, all after %s", fast, whole)
		}
		_ = b.close()
	})
}

func TestABudgetLeavesBalancedBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 100, map[string]agent.Agent{"fast": script(flask), "slow": script(flask)})
		b.realTime()
		b.Concurrency, b.MaxCostUSD = 4, 60
		slow := b.waits(time.Minute)
		cost := costing(1)
		b.Agents["fast"] = priced{cost, 1}
		b.Agents["slow"] = profiled{priced{func(ctx context.Context, t agent.Task) (agent.Reply, error) {
			_, _ = slow(ctx, t)
			return cost(ctx, t)
		}, 1}, agent.Profile{Paid: true, Lane: agent.Lane{Key: "slow", Max: 1}}}
		s, err := b.run(t, t.Context())
		if err != nil || s.Stopped != runner.StoppedBudget || s.SpentUSD != 60 {
			t.Fatalf("%+v, %v", s, err)
		}
		by := map[string]int{}
		for _, e := range b.log.events {
			if e.Kind == runner.EventResult {
				by[e.Trial.Agent]++
			}
		}
		if ahead := by["fast"] - by["slow"]; by["fast"]+by["slow"] != 60 || ahead < 0 || ahead > 8 {
			t.Errorf("asked %v: one is far ahead", by)
		}
		_ = b.close()
	})
}

func TestAnAgentKeepsToItsOwnBudget(t *testing.T) {
	b := newBench(t, 30, map[string]agent.Agent{"capped": priced{costing(1), 1}, "free": script(flask)})
	for i := range b.Eval.Agents {
		if b.Eval.Agents[i].Name == "capped" {
			b.Eval.Agents[i].MaxCostUSD = 5
		}
	}
	s, err := b.run(t, t.Context())
	if err != nil || s.Valid != 35 || s.SpentUSD != 5 || s.Missing != 25 || s.Reasons[runner.StoppedBudget] != 25 {
		t.Fatalf("%+v, %v", s, err)
	}
}

func TestWhatAKilledRunMayHaveSpentCounts(t *testing.T) {
	b := newBench(t, 10, map[string]agent.Agent{"a": priced{costing(1), 1}})
	b.MaxCostUSD = 5
	worst := 1.0
	for _, trial := range b.trials[:2] { // asked twice, killed twice; and asked and answered
		asked := journal.Record{Kind: journal.KindAsked, Trial: trial, Attempt: 1, AtMostUSD: &worst}
		again := asked
		again.Attempt = 2
		if err := b.Journal.Append(t.Context(), asked, again); err != nil {
			t.Fatal(err)
		}
	}
	failed := journal.Record{Kind: journal.KindAttempt, Trial: b.trials[1], Attempt: 2, CostUSD: new(float64)}
	if err := b.Journal.Append(t.Context(), failed); err != nil {
		t.Fatal(err)
	}
	s, err := b.run(t, t.Context())
	if err != nil || s.Stopped != runner.StoppedBudget || s.Valid != 2 || s.SpentUSD != 2 || s.SpentKnown || s.AtMostUSD != 5 {
		t.Fatalf("%+v, %v", s, err)
	}
}

func TestTenStormsLoseNoTrial(t *testing.T) {
	b := newBench(t, 50, map[string]agent.Agent{"a": script(flask)})
	var mu sync.Mutex
	asked := 0
	b.Agents["a"] = script(func(ctx context.Context, task agent.Task) (agent.Reply, error) {
		mu.Lock()
		asked++
		storm := asked%100 < 60
		mu.Unlock()
		if storm {
			return agent.Reply{}, infra(agent.ReasonServer, true)
		}
		return flask(ctx, task)
	})
	if s, err := b.run(t, t.Context()); err != nil || s.Valid != 50 {
		t.Fatalf("%+v, %v", s, err)
	}
}

func TestALaneThatNeverAnswersIsGivenUpAndResumed(t *testing.T) {
	b := newBench(t, 40, map[string]agent.Agent{"down": script(func(context.Context, agent.Task) (agent.Reply, error) {
		return agent.Reply{}, infra(agent.ReasonServer, true)
	})})
	began := b.Now()
	s, err := b.run(t, t.Context())
	if took := b.Now().Sub(began); err != nil || s.Missing != 40 || s.Reasons[agent.ReasonServer] != 40 || took < 30*time.Minute || took > 35*time.Minute {
		t.Fatalf("%+v after %s, %v", s, took, err)
	}
	b.Agents["down"] = script(flask)
	if s, err = b.run(t, t.Context()); err != nil || s.Valid != 40 {
		t.Fatalf("resumed: %+v, %v", s, err)
	}
}

// TestAnOutageExcludesNothing lets a provider be down for everybody, and then for one
// trial alone, which is that trial's own trouble.
func TestAnOutageExcludesNothing(t *testing.T) {
	down := script(func(context.Context, agent.Task) (agent.Reply, error) {
		time.Sleep(50 * time.Millisecond)
		return agent.Reply{}, infra(agent.ReasonServer, true)
	})
	for _, trials := range []int{2, 40} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, trials, map[string]agent.Agent{"a": down})
			b.realTime()
			if s, err := b.run(t, t.Context()); err != nil || s.Missing != trials {
				t.Errorf("%+v, %v", s, err)
			}
			_ = b.close()
		})
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 40, map[string]agent.Agent{"a": script(func(ctx context.Context, task agent.Task) (agent.Reply, error) {
			if task.Trial.Repeat == 7 {
				return down(ctx, task)
			}
			return flask(ctx, task)
		})})
		b.realTime()
		if s, err := b.run(t, t.Context()); err != nil || s.Valid != 39 || s.Excluded != 1 {
			t.Errorf("%+v, %v", s, err)
		}
		_ = b.close()
	})
}

func TestHeavyProgramsShareTheMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 12, map[string]agent.Agent{"heavy": script(flask), "vast": script(flask)})
		b.realTime()
		b.Concurrency, b.MemoryCapMB = 8, 1000
		var mu sync.Mutex
		under, most := 0, 0
		weigh := func(mb int) script {
			ask := b.waits(time.Second)
			return func(ctx context.Context, task agent.Task) (agent.Reply, error) {
				mu.Lock()
				if under += mb; under > most && mb < 1000 {
					most = under
				}
				mu.Unlock()
				r, err := ask(ctx, task)
				mu.Lock()
				under -= mb
				mu.Unlock()
				return r, err
			}
		}
		b.Agents["heavy"] = profiled{weigh(300), agent.Profile{MemoryMB: 300}}
		b.Agents["vast"] = profiled{weigh(5000), agent.Profile{MemoryMB: 5000}} // alone, or it would never be asked
		if s, err := b.run(t, t.Context()); err != nil || s.Valid != 24 || most > 1000 {
			t.Fatalf("%+v, %v, %d MB at a time", s, err, most)
		}
		_ = b.close()
	})
}

// TestWhatTakesNoMemoryIsNotHeldUp asks a model while a program runs that is reckoned
// to take more than there is.
func TestWhatTakesNoMemoryIsNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 10, map[string]agent.Agent{"model": script(flask), "vast": script(flask)})
		b.realTime()
		b.MemoryCapMB = 1000
		b.Agents["model"] = b.waits(time.Second)
		b.Agents["vast"] = profiled{b.waits(time.Minute), agent.Profile{MemoryMB: 5000}}
		began, model := b.Now(), time.Duration(0)
		b.log.fail = func(e runner.Event) error {
			if e.Trial.Agent == "model" {
				model = e.At.Sub(began)
			}
			return nil
		}
		if s, err := b.run(t, t.Context()); err != nil || s.Valid != 20 || model > time.Minute {
			t.Fatalf("%+v, %v, the model was done after %s", s, err, model)
		}
		_ = b.close()
	})
}

func TestALaneKeepsToTheLeastOfItsAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 20, map[string]agent.Agent{"a": script(flask), "b": script(flask), "c": script(flask)})
		b.realTime()
		b.Concurrency = 8
		var mu sync.Mutex
		under, most := 0, 0
		ask := b.waits(time.Second)
		for i := range b.Eval.Agents {
			lane := agent.Lane{Key: "shared", Max: []int{0, 2, 5}[i]}
			b.Agents[b.Eval.Agents[i].Name] = profiled{script(func(ctx context.Context, task agent.Task) (agent.Reply, error) {
				mu.Lock()
				under++
				most = max(most, under)
				mu.Unlock()
				r, err := ask(ctx, task)
				mu.Lock()
				under--
				mu.Unlock()
				return r, err
			}), agent.Profile{Lane: lane}}
		}
		if s, err := b.run(t, t.Context()); err != nil || s.Valid != 60 || most != 2 {
			t.Fatalf("%+v, %v, %d at a time", s, err, most)
		}
		_ = b.close()
	})
}

func TestARunIsSteeredWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 100, map[string]agent.Agent{"a": script(flask)})
		b.realTime()
		b.Agents["a"] = b.waits(time.Second)
		b.Concurrency, b.Control = 2, runner.NewControl()
		ended := make(chan runner.Summary)
		go func() {
			s, err := b.Run(t.Context(), b.trials, runner.Progress{})
			if err != nil {
				t.Error(err)
			}
			ended <- s
		}()
		ctx := t.Context()
		status := func() runner.Status {
			t.Helper()
			st, err := b.Control.Status(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return st
		}
		time.Sleep(5*time.Second + 500*time.Millisecond)
		if st := status(); st.Valid != 10 || st.InFlight != 2 || len(st.Lanes) != 1 || st.Lanes[0].Waiting != 88 {
			t.Errorf("after 5 s: %+v", st)
		}
		if err := b.Control.Pause(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if st := status(); st.Valid != 12 || st.InFlight != 0 || !st.Paused {
			t.Errorf("paused: %+v", st)
		}
		if err := errors.Join(b.Control.SetConcurrency(ctx, 8), b.Control.Resume(ctx)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Second + 500*time.Millisecond)
		if st := status(); st.Valid < 80 || st.InFlight != 8 || st.Concurrency != 8 || st.Paused {
			t.Errorf("resumed at 8: %+v", st)
		}
		for _, bad := range []int{0, -1, runner.MaxConcurrency + 1} {
			if err := b.Control.SetConcurrency(ctx, bad); err == nil {
				t.Errorf("concurrency %d is taken", bad)
			}
		}
		if s := <-ended; s.Valid != 100 {
			t.Errorf("%+v", s)
		}
		if _, err := b.Control.Status(ctx); !errors.Is(err, runner.ErrEnded) {
			t.Errorf("after the end: %v", err)
		}
		_ = b.close()
	})
}

func TestABudgetIsSteered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 100, map[string]agent.Agent{"a": script(flask)})
		b.realTime()
		slow, cost := b.waits(time.Second), costing(1)
		b.Agents["a"] = priced{func(ctx context.Context, task agent.Task) (agent.Reply, error) {
			_, _ = slow(ctx, task)
			return cost(ctx, task)
		}, 1}
		b.Concurrency, b.MaxCostUSD, b.Control = 2, 50, runner.NewControl()
		ended := make(chan runner.Summary)
		go func() {
			s, _ := b.Run(t.Context(), b.trials, runner.Progress{})
			ended <- s
		}()
		time.Sleep(5*time.Second + 500*time.Millisecond)
		if err := b.Control.SetMaxCost(t.Context(), 11); err == nil {
			t.Error("a budget below what is spent and reserved is taken")
		}
		for _, bad := range []float64{0, -1, math.NaN()} {
			if err := b.Control.SetMaxCost(t.Context(), bad); err == nil {
				t.Errorf("a budget of %v is taken", bad)
			}
		}
		if err := b.Control.SetMaxCost(t.Context(), 20); err != nil {
			t.Error(err)
		}
		if s := <-ended; s.SpentUSD != 20 || s.Stopped != runner.StoppedBudget {
			t.Errorf("%+v", s)
		}
		_ = b.close()
	})
}

func TestManifestsAreKeptOnceAndAnswersNameThem(t *testing.T) {
	of := func(version string) agent.Agent {
		return profiled{script(flask), agent.Profile{Manifest: journal.Manifest{Kind: "codex", Version: version}}}
	}
	b := newBench(t, 3, map[string]agent.Agent{"a": of("1")})
	if _, err := b.run(t, t.Context()); err != nil {
		t.Fatal(err)
	}
	b.trials = append(b.trials, plan.Trial{ID: "one more", Agent: "a", PromptID: "p1"})
	for _, version := range []string{"1", "2"} { // the same, then another
		b.Agents["a"] = of(version)
		if _, err := b.run(t, t.Context()); err != nil {
			t.Fatal(err)
		}
		b.trials = append(b.trials, plan.Trial{ID: "and one " + version, Agent: "a", PromptID: "p1"})
	}
	var stored, named []string
	_, err := journal.Scan(b.root, "r1", journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		switch r.Kind {
		case journal.KindManifest:
			stored = append(stored, r.Manifest.ID())
		case journal.KindResult:
			named = append(named, r.Answer.Manifest)
		case journal.KindAttempt, journal.KindExcluded, journal.KindExtraction, journal.KindAsked, journal.KindAnswer, journal.KindJudgement:
		}
		return nil
	})
	if err != nil || len(stored) != 2 || !slices.Equal(named, []string{stored[0], stored[0], stored[0], stored[0], stored[1]}) {
		t.Fatalf("stored %v, named %v, %v", stored, named, err)
	}
}
