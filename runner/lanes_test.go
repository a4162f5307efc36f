package runner_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
)

// refused is what a port gives where nobody listens.
func refused(context.Context, agent.Task) (agent.Reply, error) {
	return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonNetwork, Retry: true, Unreached: true, Err: errors.New("dial tcp 127.0.0.1:11434: connect: connection refused")}
}

// lanesSeen returns what status events said of a lane.
func (b *bench) lanesSeen(name string) (seen []runner.LaneStatus) {
	for _, e := range b.log.events {
		if e.Kind != runner.EventStatus {
			continue
		}
		for _, l := range e.Status.Lanes {
			if l.Name == name {
				seen = append(seen, l)
			}
		}
	}
	return seen
}

func TestALaneThatWasNeverReachedEndsSoon(t *testing.T) {
	for name, c := range map[string]struct {
		takes, least time.Duration
	}{
		"refused at once":                    {0, 20 * time.Second},
		"after a timeout to connect":         {10 * time.Second, 31500 * time.Millisecond},
		"after a dial that hangs for 30 s":   {30 * time.Second, 91500 * time.Millisecond}, // three tries
		"after a timeout of a third of 20 s": {7 * time.Second, 22 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, 200, map[string]agent.Agent{"here": script(flask), "nobody": script(flask)})
			b.realTime()
			b.StatusEvery, b.Concurrency = time.Second, 40
			var asked atomic.Int32
			b.Agents["nobody"] = profiled{script(func(ctx context.Context, task agent.Task) (agent.Reply, error) {
				asked.Add(1)
				if err := b.Sleep(ctx, c.takes); err != nil {
					return agent.Reply{}, err
				}
				return refused(ctx, task)
			}), agent.Profile{}}
			began := time.Now()
			s, err := b.run(t, t.Context())
			took := time.Since(began)
			if err != nil || s.Valid != 200 || s.Missing != 200 || s.Reasons["unreachable"] != 200 {
				t.Fatalf("%s: %+v, %v", name, s, err)
			}
			if took < c.least || took > c.least+time.Second {
				t.Errorf("%s: given up after %s", name, took)
			}
			if n := asked.Load(); n > 60 {
				t.Errorf("%s: asked %d times", name, n)
			}
			for _, want := range []string{"connection refused", "ollama serve", "base_url", "firstpick doctor"} {
				if !strings.Contains(s.Closed["nobody"], want) {
					t.Errorf("%s: no %q in %q", name, want, s.Closed["nobody"])
				}
			}
			connecting := 0
			for _, l := range b.lanesSeen("nobody") {
				if l.Phase == runner.PhaseConnecting && strings.Contains(l.Reason, "connection refused") && !l.Until.IsZero() {
					connecting++
				}
			}
			if connecting < 8 {
				t.Errorf("%s: %d status events say that nobody was reached", name, connecting)
			}
			_ = b.close()
		})
	}
}

// TestAnUnknownHost: a name without an address has its own advice.
func TestAnUnknownHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 4, map[string]agent.Agent{"nobody": script(flask)})
		b.realTime()
		b.Agents["nobody"] = script(func(context.Context, agent.Task) (agent.Reply, error) {
			return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonNetwork, Retry: true, Unreached: true, Err: fmt.Errorf("post: %w", &net.DNSError{Name: "api.x.example", Server: "10.0.0.53:53", Err: "no such host"})}
		})
		s, err := b.run(t, t.Context())
		if err != nil || s.Missing != 4 {
			t.Fatalf("%+v, %v", s, err)
		}
		if got := s.Closed["nobody"]; !strings.HasSuffix(got, "no address of api.x.example is found; check network, DNS and proxy of this machine, and base_url in the eval") {
			t.Error(got)
		}
		_ = b.close()
	})
}

// TestALaneThatAnsweredOnceIsWaitedFor has a provider that goes away after its first
// answer, in this run or before it was resumed.
func TestALaneThatAnsweredOnceIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 40, map[string]agent.Agent{"a": script(flask)})
		b.realTime()
		var asked atomic.Int32
		b.Agents["a"] = script(func(ctx context.Context, task agent.Task) (agent.Reply, error) {
			if asked.Add(1) == 1 {
				return flask(ctx, task)
			}
			return refused(ctx, task)
		})
		for _, when := range []string{"in this run", "before it was resumed"} {
			began := time.Now()
			s, err := b.run(t, t.Context())
			if took := time.Since(began); err != nil || s.Valid != 1 || s.Missing != 39 || took < 30*time.Minute {
				t.Errorf("%s: %+v after %s, %v", when, s, took, err)
			}
		}
		_ = b.close()
	})
}

// budgeted has a fast and a slow lane of 40 paid trials each, a dollar a question.
func budgeted(t *testing.T, maxCost float64) *bench {
	b := newBench(t, 40, map[string]agent.Agent{"fast": priced{costing(1), 1}, "slow": script(flask)})
	b.realTime()
	b.Concurrency, b.MaxCostUSD, b.StatusEvery = 4, maxCost, time.Second
	slow, cost := b.waits(time.Minute), costing(1)
	b.Agents["slow"] = profiled{priced{func(ctx context.Context, t agent.Task) (agent.Reply, error) {
		_, _ = slow(ctx, t)
		return cost(ctx, t)
	}, 1}, agent.Profile{Paid: true, Lane: agent.Lane{Key: "slow", Max: 1}}}
	return b
}

// fastDone is when the fast lane had its last answer.
func (b *bench) fastDone(began time.Time) (took time.Duration) {
	for _, e := range b.log.events {
		if e.Kind == runner.EventResult && e.Trial.Agent == "fast" {
			took = e.At.Sub(began)
		}
	}
	return took
}

func TestABudgetThatCoversAllHoldsNoLaneUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budgeted(t, 80)
		began := time.Now()
		s, err := b.run(t, t.Context())
		if took := b.fastDone(began); err != nil || s.Valid != 80 || took > time.Minute {
			t.Errorf("%+v, %v: the fast lane took %s", s, err, took)
		}
		_ = b.close()
	})
}

func TestALaneThatWaitsForAnotherNamesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budgeted(t, 60)
		s, err := b.run(t, t.Context())
		if err != nil || s.Stopped != runner.StoppedBudget {
			t.Fatalf("%+v, %v", s, err)
		}
		waits := 0
		for _, l := range b.lanesSeen("fast") {
			if l.Phase == runner.PhaseWaiting && strings.Contains(l.Reason, "waits for ") && l.WaitingFor != "" {
				waits++
			}
		}
		if waits == 0 {
			t.Errorf("no status event says that the fast lane waits: %+v", b.lanesSeen("fast"))
		}
		_ = b.close()
	})
}
