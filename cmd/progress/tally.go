package progress

import (
	"slices"
	"time"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// A tally counts the progress of a run.
type tally struct {
	run      journal.Run
	started  time.Time
	already  int // settled before this start: a resumed run
	done     int // valid, in this start
	excluded int
	attempts int // failed attempts
	spent    float64
	agents   []*agentTally // in the eval's order
	failures failures
	status   *runner.Status // the last one; nil before the first
	stopped  string

	marks []mark // one a status, oldest first, those of the last rateOver
}

// An agentTally is one agent's share.
type agentTally struct {
	name     string
	planned  int
	done     int // valid, in this start
	excluded int
	attempts int
	picks    map[string]int
}

func (a *agentTally) settled() int { return a.done + a.excluded }

func newTally(run journal.Run) *tally {
	t := &tally{run: run}
	for _, a := range run.Eval.Agents {
		t.agents = append(t.agents, &agentTally{
			name: a.Name, planned: run.Planned / max(1, len(run.Eval.Agents)), picks: map[string]int{},
		})
	}
	return t
}

func (t *tally) note(e runner.Event, now time.Time) {
	a := t.agent(e.Trial.Agent)
	switch e.Kind {
	case runner.EventStart:
		t.started, t.already = e.At, e.Done
	case runner.EventAttempt:
		t.attempts++
		a.attempts++
		t.failures.add(e)
	case runner.EventExcluded:
		t.excluded++
		a.excluded++
		t.failures.add(e)
	case runner.EventResult:
		t.result(a, e)
	case runner.EventStatus:
		t.status = e.Status
		t.mark(now)
	case runner.EventEnd:
		if e.Summary != nil {
			t.stopped = e.Summary.Stopped
			if e.Summary.Decided != nil { // what was not asked is not planned any more
				t.run.Planned = e.Summary.Planned
			}
		}
	}
}

func (t *tally) result(a *agentTally, e runner.Event) {
	t.done++
	a.done++
	if e.CostUSD != nil {
		t.spent += *e.CostUSD
	}
	if e.Result != nil {
		label := string(e.Result.Kind)
		if e.Result.Kind == pick.Tool {
			label = e.Result.Picked
		}
		a.picks[label]++
	}
}

// agent returns an agent's tally; one that is thrown away for a name that the run
// does not have.
func (t *tally) agent(name string) *agentTally {
	i := slices.IndexFunc(t.agents, func(a *agentTally) bool { return a.name == name })
	if i < 0 {
		return &agentTally{picks: map[string]int{}}
	}
	return t.agents[i]
}

// finished is how many trials are accounted for, earlier starts included.
func (t *tally) finished() int { return t.already + t.done + t.excluded }

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
