package runner

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/plan"
)

// A scheduler is one call of Run. Only its goroutine decides: which trial has the next
// attempt, how much is reserved, which lane is closed. Attempts run in goroutines of
// their own and post functions for it to call.
type scheduler struct {
	*Runner
	agents  map[string]*agentState
	lanes   []*lane
	prompts map[string]string
	known   map[string]string // ids of the manifests that the journal holds, by agent
	tally   *tally
	feed    *feed
	money   money

	inbox chan func()
	over  chan struct{} // closed when the inbox is no longer read

	extraction *Extraction
	answered   []stored // to be extracted before all else

	concurrency int
	inFlight    int // attempts in flight
	storing     int // responses being stored
	memory      int // estimated MB of the attempts in flight
	paused      bool
	stopped     string // no further attempt; see the Stopped constants
	failure     error  // the error that ends the run
	cancel      context.CancelCauseFunc

	alarm struct {
		at   time.Time
		stop context.CancelFunc
	}
	statusAt time.Time // of the last status event
	estimate estimate
	families *families // of a run with a stopping rule
}

// run makes attempts until no trial is left, or no attempt is allowed any more.
func (s *scheduler) run(parent context.Context) (Summary, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	s.cancel = cancel
	s.feed = newFeed(parent, s.Sinks, cancel)
	s.emit(Event{Kind: EventStart})
	if s.failure = s.manifests(ctx); s.failure == nil {
		s.judge()
		s.loop(ctx)
	}
	s.setAlarm(ctx, time.Time{})
	close(s.over)
	s.Control.end()
	sum := s.summary(parent)
	s.emitStatus(s.Now())
	s.emit(Event{Kind: EventEnd, Summary: &sum})
	return sum, errors.Join(s.failure, s.feed.close(), closeSinks(s.Sinks))
}

func (s *scheduler) loop(ctx context.Context) {
	done := ctx.Done()
	for {
		wake := s.dispatch(ctx)
		if s.inFlight+s.storing == 0 && (s.stopped != "" || !s.left()) {
			return
		}
		now := s.Now()
		if s.StatusEvery > 0 {
			if !s.statusAt.Add(s.StatusEvery).After(now) {
				s.emitStatus(now)
			}
			wake = earlier(wake, s.statusAt.Add(s.StatusEvery))
		}
		s.setAlarm(ctx, wake)
		select {
		case f := <-s.inbox:
			f()
		case f := <-s.Control.requests():
			f(s)
		case <-done:
			done = nil // the attempts in flight end by themselves
			s.stopped = stoppedFailed
		}
	}
}

// dispatch begins the attempts that may begin now, in the order of the plan, and returns
// when to look again; the zero time: not before something happens.
func (s *scheduler) dispatch(ctx context.Context) (wake time.Time) {
	s.resumeAnswers(ctx)
	for s.stopped == "" && !s.paused && s.inFlight < s.concurrency && s.storing < storingPerAttempt*s.concurrency {
		now := s.Now()
		if s.extraction.full() {
			return now.Add(waitingLook)
		}
		l, p, at := s.choose(now)
		wake = at
		if p == nil {
			break
		}
		of := s.agents[p.Agent]
		a := s.newAttempt(of, p)
		if !of.money.fits(a.worst) {
			if of.money.held == 0 {
				of.close(StoppedBudget + ": the limit of agent " + of.name)
				continue
			}
			break
		}
		if !s.money.fits(a.worst) {
			if s.money.held == 0 {
				s.stopped = StoppedBudget
			}
			break // wait until others have settled for less
		}
		l.take(p)
		s.begin(ctx, now, a)
	}
	return wake
}

// choose returns the first trial in the plan whose lane is ready for an attempt.
func (s *scheduler) choose(now time.Time) (best *lane, trial *queued, wake time.Time) {
	horizon, _ := s.horizon(now)
	for _, l := range s.lanes {
		if hold, at := l.connection.waits(now, l.limits.State(now).InFlight); hold {
			wake = earlier(wake, at)
			continue
		}
		p, at := l.next(now)
		wake = earlier(wake, at)
		if p == nil || p.place >= horizon || (trial != nil && p.place > trial.place) {
			continue
		}
		if m := s.agents[p.Agent].profile.MemoryMB; m > 0 && s.MemoryCapMB > 0 && s.memory > 0 && s.memory+m > s.MemoryCapMB {
			continue
		}
		ok, at := l.limits.Ready(now)
		if !ok {
			if at.IsZero() && s.inFlight == 0 {
				at = now.Add(time.Second)
			}
			wake = earlier(wake, at)
			continue
		}
		best, trial = l, p
	}
	return best, trial, wake
}

func (s *scheduler) left() bool {
	if len(s.answered) > 0 {
		return true
	}
	end := s.families.reach(s.tally.planned)
	return slices.ContainsFunc(s.lanes, func(l *lane) bool {
		place, ok := l.first()
		return ok && place < end
	})
}

// post hands a function to the scheduler's goroutine.
func (s *scheduler) post(f func()) {
	select {
	case s.inbox <- f:
	case <-s.over:
	}
}

// onSignal returns a function for an agent to report its provider's limits during an
// attempt.
func (s *scheduler) onSignal(l *lane) func(limiter.Signal) {
	return func(sig limiter.Signal) {
		s.post(func() {
			l.limits.Signal(s.Now(), sig)
			if sig.Verdict == limiter.Limited {
				l.limited++
			}
		})
	}
}

// setAlarm wakes the scheduler at a time; the zero time sets no alarm.
func (s *scheduler) setAlarm(ctx context.Context, at time.Time) {
	if s.alarm.at.Equal(at) {
		return
	}
	if s.alarm.stop != nil {
		s.alarm.stop()
	}
	s.alarm.at, s.alarm.stop = at, nil
	if at.IsZero() {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	s.alarm.stop = stop
	wait := at.Sub(s.Now())
	go func() {
		if s.Sleep(ctx, wait) == nil {
			s.post(func() {
				if s.alarm.at.Equal(at) {
					s.alarm.at = time.Time{}
				}
			})
		}
		stop()
	}()
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

func (s *scheduler) emit(e Event) {
	e.At, e.Run = s.Now(), s.tally.runID
	e.Planned, e.Done = s.tally.planned, s.tally.valid+s.tally.excluded
	s.feed.send(e)
}

func (s *scheduler) emitStatus(now time.Time) {
	s.statusAt = now
	st := s.status(now)
	s.emit(Event{Kind: EventStatus, Status: &st})
}

func (s *scheduler) status(now time.Time) Status {
	st := Status{
		Planned: s.tally.planned, Valid: s.tally.valid, Excluded: s.tally.excluded, InFlight: s.inFlight, Storing: s.storing + len(s.answered),
		Concurrency: s.concurrency, Paused: s.paused, SpentUSD: s.money.spent, ReservedUSD: s.money.reserved + s.money.lost,
		CapUSD: s.money.limit, SpentKnown: !s.money.unknown, MemoryMB: s.memory, MemoryCapMB: s.MemoryCapMB,
	}
	horizon, last := s.horizon(now)
	for _, l := range s.lanes {
		st.Lanes = append(st.Lanes, l.status(now, horizon, last))
	}
	return st
}

func (s *scheduler) summary(parent context.Context) Summary {
	if s.stopped == "" && s.families.open() {
		s.stopped = StoppedIncomplete
	}
	if s.stopped == stoppedFailed {
		s.stopped = "" // the error is the reason
	}
	if parent.Err() != nil {
		s.stopped = StoppedInterrupted
	}
	closed := map[string]string{}
	for _, a := range s.agents {
		if a.closed != "" {
			closed[a.name] = a.closed
		}
	}
	sum := s.tally.summary(closed, s.stopped)
	sum.SpentUSD, sum.SpentKnown = s.money.spent, !s.money.unknown
	sum.AtMostUSD = s.money.spent + s.money.lost
	sum.Closed = closed
	if s.families != nil {
		sum.Decided = s.families.stopped
	}
	return sum
}

// newScheduler prepares the lanes, agents and queued trials of a run.
func newScheduler(r *Runner, trials []plan.Trial, done Progress) *scheduler {
	s := &scheduler{
		Runner: r, agents: map[string]*agentState{}, prompts: map[string]string{}, known: done.Manifests, tally: newTally(r.Journal.Run().ID, trials, done),
		money: money{limit: r.MaxCostUSD, spent: done.SpentUSD, lost: done.LostUSD, unknown: done.LostUSD > 0},
		inbox: make(chan func(), 64), over: make(chan struct{}), concurrency: r.concurrency(), paused: r.Paused,
	}
	if s.extraction = r.Extraction; s.extraction == nil {
		s.extraction = NewExtraction(runtime.GOMAXPROCS(0), 0)
	}
	for _, p := range r.Eval.Prompts {
		s.prompts[p.ID] = p.Text
	}
	byKey := map[string]*lane{}
	for _, spec := range r.Eval.Agents {
		built := r.Agents[spec.Name]
		if built == nil {
			continue
		}
		a := &agentState{Agent: built, name: spec.Name, profile: built.Profile(), money: money{limit: spec.MaxCostUSD, spent: done.SpentBy[spec.Name], lost: done.LostBy[spec.Name]}}
		key := a.profile.Lane.Key
		l := byKey[key]
		if l == nil || key == "" {
			l = &lane{name: laneName(spec.Name, a.profile), limits: limiter.New(s.limits(a.profile.Lane))}
			byKey[key] = l
			s.lanes = append(s.lanes, l)
		} else {
			l.limits.SetMax(min(l.limits.State(time.Time{}).Max, s.limits(a.profile.Lane).Max))
		}
		l.agents = append(l.agents, a)
		a.lane, s.agents[spec.Name] = l, a
	}
	for i, t := range trials {
		if done.Valid[t.ID] {
			s.agents[t.Agent].lane.connection.made = true
		}
		_, excluded := done.Excluded[t.ID]
		if done.Valid[t.ID] || excluded {
			continue
		}
		p := &queued{Trial: t, place: i, attempts: done.Attempts[t.ID]}
		if at, ok := done.Answered[t.ID]; ok {
			s.answered = append(s.answered, stored{p, at})
			continue
		}
		l := s.agents[t.Agent].lane
		l.queue = append(l.queue, p)
	}
	s.lanes = slices.DeleteFunc(s.lanes, func(l *lane) bool { return len(l.queue) == 0 })
	if r.Until != nil {
		s.families = newFamilies(r.Until, done)
	}
	return s
}

// limits returns the initial state of a lane's limiter. An agent without provider limits
// has the run's concurrency immediately. If the user set the concurrency, a slow start
// begins there, up to a number that is safe for a provider without earlier attempts.
func (s *scheduler) limits(l agent.Lane) limiter.Config {
	most := s.concurrency
	if l.Max > 0 {
		most = min(most, l.Max)
	}
	if l.Key == "" {
		return limiter.Config{Start: most, Max: most}
	}
	start := l.Start
	if start == 0 && (s.Concurrency > 0 || s.Eval.Concurrency > 0) {
		start = min(most, boldStart)
	}
	return limiter.Config{Start: start, Max: most, Probe: l.Probe}
}

func laneName(agent string, p agent.Profile) string {
	if p.Lane.Key == "" {
		return agent
	}
	return p.Manifest.Kind + " " + p.Manifest.Model
}
