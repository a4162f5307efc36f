package progress

import (
	"cmp"
	"slices"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// A tally counts the progress of a run.
type tally struct {
	run      journal.Run
	started  time.Time
	ended    time.Time
	already  int // settled before this start: a resumed run
	done     int // valid, in this start
	excluded int
	attempts int // failed attempts
	spent    float64
	agents   []*agentTally // in the eval's order
	failures failures
	leaders  leaders
	status   *runner.Status // the last one; nil before the first
	stopped  string
	summary  *runner.Summary // nil before the end
	remote   bool            // on a server: less is known of lanes and agents
	phase    string          // of a run on a server
	several  bool            // runs, one after the other: status is that of one

	marks []mark // one a status, oldest first, those of the last rateOver
}

// An agentTally is one agent's share.
type agentTally struct {
	name     string
	planned  int
	earlier  int // answers of earlier starts
	done     int // valid, in this start
	excluded int
	attempts int
	spent    float64 // of all starts
	unpriced bool    // an answer has no known cost
	picks    map[string]int
}

func (a *agentTally) settled() int { return a.done + a.excluded }

// answers are those of all starts.
func (a *agentTally) answers() int { return a.earlier + a.done }

func newTally(run journal.Run, category *catalog.Category) *tally {
	t := &tally{run: run, leaders: newLeaders(run, category)}
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
		if t.started.IsZero() {
			t.started = e.At
		} else {
			t.several = true
		}
		t.already += e.Done
	case runner.EventAttempt:
		t.attempts++
		a.attempts++
		t.failures.add(e)
	case runner.EventExcluded:
		t.excluded++
		a.excluded++
		t.failures.add(e)
	case runner.EventResult:
		t.done++
		a.done++
		if e.CostUSD != nil {
			t.spent += *e.CostUSD
		}
		t.answer(a, e.Trial, e.Result, e.CostUSD)
	case runner.EventStatus:
		t.status = e.Status
		t.mark(now)
	case runner.EventEnd:
		t.ended = e.At
		if e.Summary != nil {
			t.summary, t.stopped = e.Summary, e.Summary.Stopped
			if e.Summary.Decided != nil { // what was not asked is not planned any more
				t.run.Planned = e.Summary.Planned
			}
		}
	}
}

// earlier counts an answer of an earlier start, which is in already too.
func (t *tally) earlier(trial plan.Trial, r *pick.Result, cost *float64) {
	a := t.agent(trial.Agent)
	a.earlier++
	t.answer(a, trial, r, cost)
}

func (t *tally) answer(a *agentTally, trial plan.Trial, r *pick.Result, cost *float64) {
	if cost != nil {
		a.spent += *cost
	} else {
		a.unpriced = true
	}
	if r == nil {
		return
	}
	label := string(r.Kind)
	if r.Kind == pick.Tool {
		label = r.Picked
	}
	a.picks[label]++
	t.leaders.add(trial, r)
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

// untooled is 1 for the label of an outcome without a tool, else 0.
func untooled(label string) int {
	if slices.Contains(pick.Kinds(), pick.Kind(label)) {
		return 1
	}
	return 0
}

// finished is how many trials are accounted for, earlier starts included.
func (t *tally) finished() int { return t.already + t.done + t.excluded }

// lead is the most frequent outcome and its share; of a tie the tool, as in the bars.
func (a *agentTally) lead() (string, float64) {
	best, n := "", 0
	for label, k := range a.picks {
		if k > n || k == n && cmp.Or(cmp.Compare(untooled(label), untooled(best)), cmp.Compare(label, best)) < 0 {
			best, n = label, k
		}
	}
	if a.answers() == 0 {
		return "", 0
	}
	return best, float64(n) / float64(a.answers())
}
