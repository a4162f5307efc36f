package progress

import (
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// failuresKept is how many of the first failures are shown with their reason.
const failuresKept = 3

// A tally is what a run has done so far.
type tally struct {
	run      journal.Run
	started  time.Time
	already  int // done before this start: a resumed run
	done     int // valid, in this start
	excluded int
	attempts int // failed attempts
	spent    float64
	agents   []*agentTally // in the eval's order
	failures []string
	stopped  string
}

// An agentTally is one agent's share.
type agentTally struct {
	name     string
	planned  int
	already  int
	done     int
	excluded int
	attempts int
	picks    map[string]int
}

func newTally(run journal.Run) *tally {
	t := &tally{run: run}
	for _, a := range run.Eval.Agents {
		t.agents = append(t.agents, &agentTally{
			name: a.Name, planned: run.Planned / max(1, len(run.Eval.Agents)), picks: map[string]int{},
		})
	}
	return t
}

func (t *tally) note(e runner.Event) {
	switch e.Kind {
	case "start":
		t.started, t.already = e.At, e.Done
	case "attempt":
		t.attempts++
		t.failed(e)
		if a := t.agent(e.Trial.Agent); a != nil {
			a.attempts++
		}
	case "excluded":
		t.excluded++
		t.failed(e)
		if a := t.agent(e.Trial.Agent); a != nil {
			a.excluded++
		}
	case "result":
		t.result(e)
	case "end":
		if e.Summary != nil {
			t.stopped = e.Summary.Stopped
		}
	}
}

func (t *tally) result(e runner.Event) {
	t.done++
	if e.CostUSD != nil {
		t.spent += *e.CostUSD
	}
	a := t.agent(e.Trial.Agent)
	if a == nil {
		return
	}
	a.done++
	if e.Result != nil {
		label := string(e.Result.Kind)
		if e.Result.Kind == pick.Tool {
			label = e.Result.Picked
		}
		a.picks[label]++
	}
}

func (t *tally) failed(e runner.Event) {
	if len(t.failures) < failuresKept {
		t.failures = append(t.failures, e.Trial.Agent+": "+strings.TrimSpace(e.Reason))
	}
}

func (t *tally) agent(name string) *agentTally {
	i := slices.IndexFunc(t.agents, func(a *agentTally) bool { return a.name == name })
	if i < 0 {
		return nil
	}
	return t.agents[i]
}

// finished is how many trials are accounted for, earlier starts included.
func (t *tally) finished() int { return t.already + t.done + t.excluded }

// rate is valid trials a second since the start.
func (t *tally) rate(now time.Time) float64 {
	s := now.Sub(t.started).Seconds()
	if t.started.IsZero() || s <= 0 {
		return 0
	}
	return float64(t.done) / s
}

// eta is the time left at the rate so far; zero when it cannot be told.
func (t *tally) eta(now time.Time) time.Duration {
	rate := t.rate(now)
	if rate == 0 {
		return 0
	}
	left := float64(t.run.Planned - t.finished())
	return time.Duration(left / rate * float64(time.Second)).Round(time.Second)
}

// lead is the most frequent pick and its share.
func (a *agentTally) lead() (string, float64) {
	best, n := "", 0
	for label, k := range a.picks {
		if k > n || k == n && label < best {
			best, n = label, k
		}
	}
	if a.done == 0 {
		return "", 0
	}
	return best, float64(n) / float64(a.done)
}
