package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A script is an agent whose answers a test writes.
type script func(ctx context.Context, t agent.Task) (agent.Reply, error)

func (s script) Ask(ctx context.Context, t agent.Task) (agent.Reply, error) { return s(ctx, t) }
func (s script) Profile() agent.Profile                                     { return agent.Profile{Paid: true} }

func (s script) Worst(agent.Task) *float64 { return nil }

// priced is an agent that knows what a question costs at most.
type priced struct {
	script
	usd float64
}

func (p priced) Worst(agent.Task) *float64 { return &p.usd }

// A clock goes on by as much as somebody sleeps.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(max(d, 0))
	return ctx.Err()
}

func flask(context.Context, agent.Task) (agent.Reply, error) {
	return agent.Reply{Result: &pick.Result{Kind: pick.Tool, Picked: "flask", Shortlist: []string{"flask"}}}, nil
}

func infra(reason string, retry bool) error {
	return &agent.InfraError{Reason: reason, Retry: retry, Lane: reason == agent.ReasonAuth, Err: errors.New("no")}
}

// A log is a sink that remembers.
type log struct {
	mu     sync.Mutex
	events []runner.Event
	fail   func(runner.Event) error
	closed int
}

func (l *log) Event(_ context.Context, e runner.Event) error {
	if !l.mu.TryLock() {
		return errors.New("calls overlap")
	}
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	if l.fail != nil {
		return l.fail(e)
	}
	return nil
}

func (l *log) Close() error { l.closed++; return nil }

// A bench is a runner over a fresh journal.
type bench struct {
	*runner.Runner
	root   string
	trials []plan.Trial
	log    *log
}

func (b *bench) close() error { return b.Journal.(io.Closer).Close() }

func newBench(t *testing.T, repeats int, agents map[string]agent.Agent) *bench {
	t.Helper()
	e := &eval.Eval{Name: "web", Category: "web", Repeats: repeats, Templates: []string{"none"}, Prompts: []eval.Prompt{{ID: "p1", Text: "Which?"}}}
	for name := range agents {
		e.Agents = append(e.Agents, eval.Agent{Name: name, Kind: eval.KindOpenAIChat, MaxTokens: 1000})
	}
	b := &bench{root: t.TempDir(), trials: plan.New(e), log: &log{}}
	j, err := journal.Create(b.root, journal.Run{ID: "r1", Eval: *e, Planned: len(b.trials)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	c := newClock()
	b.Runner = &runner.Runner{
		Eval: e, Agents: agents, Journal: j, Sinks: []runner.Sink{b.log}, Concurrency: 4,
		Now: c.Now, Sleep: c.Sleep,
	}
	return b
}

// run runs all trials that are not done and checks what must always hold.
func (b *bench) run(t *testing.T, ctx context.Context) (runner.Summary, error) {
	t.Helper()
	done, err := runner.Replay(b.root, "r1")
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Run(ctx, b.trials, done)
	if s.Planned != s.Valid+s.Excluded+s.Missing || s.Planned != len(b.trials) {
		t.Fatalf("the sum is wrong: %+v", s)
	}
	after, replayErr := runner.Replay(b.root, "r1")
	if replayErr != nil || len(after.Valid) != s.Valid || len(after.Excluded) != s.Excluded {
		t.Fatalf("the journal holds %d valid, %d excluded; told %+v (%v)", len(after.Valid), len(after.Excluded), s, replayErr)
	}
	if b.log.closed == 0 {
		t.Fatal("the sink was not closed")
	}
	return s, err
}

func (b *bench) kinds(t *testing.T) map[journal.Kind]int {
	t.Helper()
	out := map[journal.Kind]int{}
	_, err := journal.Scan(b.root, "r1", journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		out[r.Kind]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryTrialIsAskedOnceAndToldInOrder(t *testing.T) {
	b := newBench(t, 20, map[string]agent.Agent{"a": script(flask), "b": script(flask)})
	s, err := b.run(t, t.Context())
	if err != nil || s.Valid != 40 || s.Stopped != "" {
		t.Fatalf("%+v, %v", s, err)
	}
	first, last := b.log.events[0], b.log.events[len(b.log.events)-1]
	if len(b.log.events) != 43 || first.Kind != runner.EventStart || first.Planned != 40 || last.Kind != runner.EventEnd || last.Summary.Valid != 40 {
		t.Fatalf("%d events, %+v ... %+v", len(b.log.events), first, last)
	}
	for i, e := range b.log.events[1:41] {
		if e.Done != i+1 {
			t.Fatalf("event %d: %d done", i, e.Done)
		}
	}
	again, err := b.run(t, t.Context())
	if err != nil || again.Valid != 40 || b.kinds(t)[journal.KindResult] != 40 {
		t.Fatalf("a finished run asked again: %+v, %v", again, err)
	}
}

func TestFailuresEndAsTheyShould(t *testing.T) {
	cases := map[string]struct {
		ask     script
		want    map[journal.Kind]int
		reason  string
		missing int
	}{
		"a passing failure is retried": {func(ctx context.Context, t agent.Task) (agent.Reply, error) {
			if t.Attempt < 3 {
				return agent.Reply{}, infra("server", true)
			}
			return flask(ctx, t)
		}, map[journal.Kind]int{"manifest": 1, "attempt": 2, "result": 1}, "", 0},
		"a lasting failure excludes the trial": {func(context.Context, agent.Task) (agent.Reply, error) {
			return agent.Reply{}, infra("malformed", true)
		}, map[journal.Kind]int{"manifest": 1, "attempt": 5, "excluded": 1}, "malformed", 0},
		"what cannot pass is not retried": {func(context.Context, agent.Task) (agent.Reply, error) {
			return agent.Reply{}, infra("bad_request", false)
		}, map[journal.Kind]int{"manifest": 1, "attempt": 1, "excluded": 1}, "bad_request", 0},
		"a bad key leaves the trial missing": {func(context.Context, agent.Task) (agent.Reply, error) {
			return agent.Reply{}, infra("auth", false)
		}, map[journal.Kind]int{"manifest": 1, "attempt": 1}, "auth", 1},
		"a panic excludes the trial": {func(context.Context, agent.Task) (agent.Reply, error) {
			panic("index out of range")
		}, map[journal.Kind]int{"manifest": 1, "excluded": 1}, "panic", 0},
		"a refusal is an answer": {func(context.Context, agent.Task) (agent.Reply, error) {
			return agent.Reply{Result: &pick.Result{Kind: pick.Refused}}, nil
		}, map[journal.Kind]int{"manifest": 1, "result": 1}, "", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 1, map[string]agent.Agent{"a": c.ask})
			s, err := b.run(t, t.Context())
			if err != nil || s.Missing != c.missing {
				t.Fatalf("%+v, %v", s, err)
			}
			if d := cmp.Diff(c.want, b.kinds(t)); d != "" {
				t.Fatalf("records (-want +got):\n%s", d)
			}
			if c.reason != "" && s.Reasons[c.reason] != 1 || c.reason == "" && len(s.Reasons) != 0 {
				t.Fatalf("reasons: %v", s.Reasons)
			}
		})
	}
}

func TestABadKeyStopsItsAgentAndNoOther(t *testing.T) {
	asked := 0
	bad := script(func(context.Context, agent.Task) (agent.Reply, error) {
		asked++
		return agent.Reply{}, infra("auth", false)
	})
	b := newBench(t, 30, map[string]agent.Agent{"bad": bad, "good": script(flask)})
	b.Concurrency = 1
	s, err := b.run(t, t.Context())
	if err != nil || s.Valid != 30 || s.Missing != 30 || s.Excluded != 0 || s.Reasons["auth"] != 30 {
		t.Fatalf("%+v, %v", s, err)
	}
	if asked > 2 {
		t.Fatalf("the bad agent was asked %d times", asked)
	}
	b.Agents["bad"] = script(flask)
	if s, err := b.run(t, t.Context()); err != nil || s.Valid != 60 {
		t.Fatalf("resumed: %+v, %v", s, err)
	}
}

func TestAnInterruptionKeepsWhatIsDoneAndNothingElse(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := newBench(t, 50, map[string]agent.Agent{"a": script(func(ctx context.Context, t agent.Task) (agent.Reply, error) {
		if t.Trial.Repeat > 10 {
			<-ctx.Done()
			return agent.Reply{}, ctx.Err()
		}
		return flask(ctx, t)
	})})
	b.log.fail = func(e runner.Event) error {
		if e.Done == 10 {
			cancel()
		}
		return nil
	}
	s, err := b.run(t, ctx)
	if err != nil || s.Stopped != runner.StoppedInterrupted || s.Valid != 10 || s.Missing != 40 {
		t.Fatalf("%+v, %v", s, err)
	}
	if d := cmp.Diff(map[journal.Kind]int{"manifest": 1, "result": 10}, b.kinds(t)); d != "" {
		t.Fatal(d)
	}
}

func TestASinkErrorStopsTheRun(t *testing.T) {
	full := errors.New("the pipe is closed")
	b := newBench(t, 5000, map[string]agent.Agent{"a": script(flask)})
	b.log.fail = func(e runner.Event) error {
		if e.Done >= 3 {
			return full
		}
		return nil
	}
	s, err := b.run(t, t.Context())
	if !errors.Is(err, full) || s.Valid == 5000 {
		t.Fatalf("%+v, %v", s, err)
	}
}

func TestAClosedJournalStopsTheRun(t *testing.T) {
	b := newBench(t, 5, map[string]agent.Agent{"a": script(flask)})
	if err := b.close(); err != nil {
		t.Fatal(err)
	}
	if s, err := b.run(t, t.Context()); !errors.Is(err, journal.ErrClosed) || s.Valid != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
}

func TestTheBudgetIsNeverExceeded(t *testing.T) {
	for _, workers := range []int{1, 8} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			usd := 0.5 // half of the worst case, which is 1000 tokens out
			b := newBench(t, 100, map[string]agent.Agent{"a": priced{func(ctx context.Context, t agent.Task) (agent.Reply, error) {
				r, err := flask(ctx, t)
				r.CostUSD = &usd
				return r, err
			}, 1}})
			b.Concurrency, b.MaxCostUSD = workers, 10
			s, err := b.run(t, t.Context())
			if err != nil || s.Stopped != runner.StoppedBudget || s.Valid != 19 || s.SpentUSD != 9.5 || !s.SpentKnown {
				t.Fatalf("%+v, %v", s, err)
			}
			s, err = b.run(t, t.Context())
			if err != nil || s.Valid != 19 || s.SpentUSD != 9.5 {
				t.Fatalf("resumed without a new budget: %+v, %v", s, err)
			}
		})
	}
}

func TestAttemptsThatMayBeChargedCountAgainstTheBudget(t *testing.T) {
	b := newBench(t, 9, map[string]agent.Agent{"a": priced{func(context.Context, agent.Task) (agent.Reply, error) {
		return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonTimeout, Retry: true, Billed: true}
	}, 1}})
	b.Concurrency, b.MaxCostUSD = 1, 3
	s, err := b.run(t, t.Context())
	if err != nil || s.Stopped != runner.StoppedBudget || s.SpentKnown || b.kinds(t)[journal.KindAttempt] != 3 {
		t.Fatalf("%+v, %v, %v", s, err, b.kinds(t))
	}
}

func TestABoundedRunWantsPrices(t *testing.T) {
	b := newBench(t, 1, map[string]agent.Agent{"dear": script(flask)})
	b.MaxCostUSD = 1
	if _, err := b.Run(t.Context(), b.trials, runner.Progress{}); err == nil || !strings.Contains(err.Error(), "dear") {
		t.Fatalf("error: %v", err)
	}
}

func TestWaitsGrowAndHonourTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Time
		b := newBench(t, 1, map[string]agent.Agent{"a": script(func(_ context.Context, task agent.Task) (agent.Reply, error) {
			asked = append(asked, time.Now())
			e := &agent.InfraError{Reason: agent.ReasonMalformed, Retry: true}
			if task.Attempt == 4 {
				e.After = 30 * time.Second
			}
			return agent.Reply{}, e
		})})
		b.realTime()
		if _, err := b.run(t, t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(asked) != 5 {
			t.Fatalf("asked %d times", len(asked))
		}
		for i, most := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			if wait := asked[i+1].Sub(asked[i]); wait <= 0 || wait > most {
				t.Errorf("wait %d: %s, want up to %s", i+1, wait, most)
			}
		}
		if wait := asked[4].Sub(asked[3]); wait != 30*time.Second {
			t.Errorf("the server asked for 30s and got %s", wait)
		}
		if err := b.close(); err != nil {
			t.Fatal(err)
		}
	})
}
