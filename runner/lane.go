package runner

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/plan"
)

// A queued is a trial that waits for an attempt.
type queued struct {
	plan.Trial
	place    int // in the order of the plan
	attempts int // made so far, earlier starts included
	charged  int // attempts of this start that may have been charged
	free     int // and those that the provider did not accept
	again    time.Time
	reason   string // of the last failure
}

// An agentState is an agent of the run, with its spending.
type agentState struct {
	agent.Agent
	name     string
	profile  agent.Profile
	manifest string // the id of profile.Manifest
	money    money
	lane     *lane
	closed   string // why its trials get no further attempt
}

// A lane is the trials that share a provider's limits.
type lane struct {
	name     string
	agents   []*agentState
	limits   *limiter.Limiter
	queue    []*queued // trials without an attempt, in the order of the plan
	retries  []*queued
	attempts int
	limited  int
	failed   int
	// troubled is the time since which all attempts failed; zero if the last one
	// succeeded.
	troubled time.Time
	streak   atomic.Int32
	reason   string // of the last failure

	connection connection
}

// next returns the first trial in the plan that may have an attempt now, or the time
// when there may be one; the zero time if none is left.
func (l *lane) next(now time.Time) (p *queued, at time.Time) {
	if len(l.queue) > 0 {
		p = l.queue[0]
	}
	for _, r := range l.retries {
		switch {
		case !r.again.After(now):
			if p == nil || r.place < p.place {
				p = r
			}
		case at.IsZero() || r.again.Before(at):
			at = r.again
		}
	}
	return p, at
}

// first returns the place of the first waiting trial; ok is false if no trial waits.
func (l *lane) first() (place int, ok bool) {
	if len(l.queue) > 0 {
		place, ok = l.queue[0].place, true
	}
	for _, r := range l.retries {
		if !ok || r.place < place {
			place, ok = r.place, true
		}
	}
	return place, ok
}

func (l *lane) take(p *queued) {
	if len(l.queue) > 0 && l.queue[0] == p {
		l.queue = l.queue[1:]
		return
	}
	l.retries = slices.DeleteFunc(l.retries, func(r *queued) bool { return r == p })
}

// close drops the waiting trials of the lane: they are missing, and a resumed run
// makes their attempts.
func (l *lane) close(reason string) {
	for _, a := range l.agents {
		a.close(reason)
	}
}

func (a *agentState) close(reason string) {
	if a.closed != "" {
		return
	}
	a.closed = reason
	of := func(p *queued) bool { return p.Agent == a.name }
	a.lane.queue = slices.DeleteFunc(a.lane.queue, of)
	a.lane.retries = slices.DeleteFunc(a.lane.retries, of)
}

// answered ends a streak of failures.
func (l *lane) answered() {
	l.streak.Store(0)
	l.troubled = time.Time{}
}

// trouble records a failure that concerns the whole lane.
func (l *lane) trouble(now time.Time, reason string) {
	if l.streak.Add(1) == 1 {
		l.troubled = now
	}
	l.reason = reason
}

// status returns the state of the lane. last is the lane that holds the others at the
// horizon, or nil.
func (l *lane) status(now time.Time, horizon int, last *lane) LaneStatus {
	state := l.limits.State(now)
	s := LaneStatus{
		Name: l.name, Phase: state.Phase, Until: state.Until, InFlight: state.InFlight, Limit: state.Limit, Max: state.Max, PerSecond: state.PerSecond,
		Waiting: len(l.queue) + len(l.retries), Retrying: len(l.retries), Asked: l.attempts, Limited: l.limited, Failed: l.failed,
	}
	if l.streak.Load() > 0 {
		s.Reason = l.reason
	}
	if p, _ := l.next(now); last != nil && p != nil && p.place >= horizon {
		s.Phase, s.Until, s.WaitingFor = PhaseWaiting, time.Time{}, last.name
		s.Reason = "waits for " + last.name + ": under a budget all keep within a block of prompts, so that a run that ends early compares like with like"
	}
	if l.connection.trying() {
		s.Phase, s.Until = PhaseConnecting, l.connection.at
		s.Reason = fmt.Sprintf("no connection yet, given up after %s: %s", connectTimeout, l.reason)
	}
	open := false
	for _, a := range l.agents {
		s.Agents = append(s.Agents, a.name)
		if open = open || a.closed == ""; a.closed != "" {
			s.Reason = a.closed
		}
	}
	if !open {
		s.Phase, s.Until = PhaseClosed, time.Time{}
	}
	return s
}
