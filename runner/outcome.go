package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// A response is how an agent answered an attempt, or failed to.
type response struct {
	agent.Reply
	result *pick.Result
	at     time.Time
	err    error
}

// An outcome is the stored result of a finished attempt. The attempt's goroutine stores
// it; the scheduler applies it.
type outcome struct {
	attempt *attempt
	// kind is that of the last record; empty where nothing was stored.
	kind   journal.Kind
	result *pick.Result
	// excluded is why the trial was excluded.
	excluded string
	// failure is why the attempt failed.
	failure *agent.InfraError
	// cost is the attempt's cost. If it is nil, charged reports whether the attempt may
	// have cost its worst case.
	cost    *float64
	charged bool
	// err ends the run: the journal could not be written.
	err error
}

// record stores a response. An answer is stored even while the run is being
// interrupted: it is there and paid for.
func (s *scheduler) record(ctx context.Context, a *attempt, r response) outcome {
	storing := context.WithoutCancel(ctx)
	var broken *journalError
	var crash *panicError
	o := outcome{attempt: a, cost: r.CostUSD, charged: a.agent.profile.Paid}
	switch {
	case errors.As(r.err, &broken):
		o.err = broken.error
	case r.err == nil:
		s.recordAnswer(storing, &o, r)
	case ctx.Err() != nil && a.held: // the next start resumes here
	case ctx.Err() != nil:
		s.recordInterrupted(storing, &o, r)
	case errors.As(r.err, &crash):
		s.recordCrash(storing, &o, r, crash)
	default:
		s.recordFailure(storing, &o, r)
	}
	return o
}

// recordAnswer stores an answer of any content.
func (s *scheduler) recordAnswer(ctx context.Context, o *outcome, r response) {
	a := o.attempt
	s.date(a, r.at, &r.Reply)
	o.result = r.result
	s.store(ctx, o, journal.Record{Kind: journal.KindResult, At: r.At, Answer: &r.Answer, Result: r.result, Raw: a.raw, AtMostUSD: a.atMost(r.CostUSD)}, r.Raw)
}

// date sets the time and the agent of an answer. A stored answer already has both.
func (s *scheduler) date(a *attempt, now time.Time, reply *agent.Reply) {
	if a.held {
		return
	}
	if reply.At.IsZero() {
		reply.At = now.UTC()
		reply.WallMS = now.Sub(a.began).Milliseconds()
	}
	reply.Manifest = a.agent.manifest
}

// recordInterrupted stores the possible cost of an interrupted attempt.
func (s *scheduler) recordInterrupted(ctx context.Context, o *outcome, r response) {
	infra := asInfra(r.err)
	o.cost, o.charged = infra.CostUSD, o.attempt.paid
	if o.cost != nil || o.charged {
		s.store(ctx, o, journal.Record{
			Kind: journal.KindAttempt, At: r.at.UTC(), Reason: StoppedInterrupted, CostUSD: o.cost, AtMostUSD: o.attempt.atMost(o.cost),
		}, infra.Raw)
	}
}

// recordCrash excludes a trial that would crash again, and stores the cost of its
// answer if the crash came after it.
func (s *scheduler) recordCrash(ctx context.Context, o *outcome, r response, crash *panicError) {
	a := o.attempt
	o.charged, o.excluded = a.paid, crash.Error()
	s.store(ctx, o, journal.Record{
		Kind: journal.KindExcluded, At: r.at.UTC(), Reason: o.excluded, CostUSD: r.CostUSD, AtMostUSD: a.atMost(r.CostUSD), Raw: a.raw,
	}, r.Raw)
}

// recordFailure stores a failed attempt, and excludes the trial if another attempt
// would not help.
func (s *scheduler) recordFailure(ctx context.Context, o *outcome, r response) {
	infra := asInfra(r.err)
	o.failure, o.cost, o.charged = infra, infra.CostUSD, infra.Billed
	rec := journal.Record{Kind: journal.KindAttempt, At: r.at.UTC(), Reason: infra.Error(), CostUSD: infra.CostUSD}
	if infra.Billed {
		rec.AtMostUSD = o.attempt.atMost(infra.CostUSD)
	}
	s.store(ctx, o, rec, infra.Raw)
	o.attempt.count(infra)
	if o.err != nil || infra.Lane || infra.Retry && s.mayRetry(o.attempt) {
		return
	}
	o.excluded = infra.Reason
	s.store(ctx, o, journal.Record{Kind: journal.KindExcluded, At: r.at.UTC(), Reason: infra.Reason}, nil)
}

// count counts a failed attempt at a trial.
func (a *attempt) count(infra *agent.InfraError) {
	passing := infra.Reason == agent.ReasonRateLimited || infra.Reason == agent.ReasonServer || infra.Reason == agent.ReasonNetwork
	if passing && !infra.Billed && infra.CostUSD == nil {
		a.free++
	} else {
		a.charged++
	}
}

// mayRetry limits the attempts at a trial. A refusing or unavailable provider costs
// nothing: its trials get ten times as many attempts, and more while others fail alike,
// until its lane is closed.
func (s *scheduler) mayRetry(a *attempt) bool {
	others := int(a.lane.streak.Load()) - a.free
	return a.charged < s.maxAttempts() && (a.free < 10*s.maxAttempts() || others >= troubledStreak)
}

// asInfra classifies an unknown error of an agent as permanent.
func asInfra(err error) *agent.InfraError {
	var infra *agent.InfraError
	if errors.As(err, &infra) {
		return infra
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &agent.InfraError{Reason: agent.ReasonTimeout, Retry: true, Billed: true, Err: err}
	}
	return &agent.InfraError{Reason: "agent", Err: err}
}

// store makes a record of an attempt durable, with the raw answer.
func (s *scheduler) store(ctx context.Context, o *outcome, r journal.Record, raw []byte) {
	o.kind, r.Trial, r.Attempt = r.Kind, o.attempt.Trial, o.attempt.attempts
	if len(raw) > 0 {
		ref, err := s.Journal.Put(ctx, raw)
		if err != nil {
			o.err = err
			return
		}
		r.Raw = &ref
	}
	o.err = s.Journal.Append(ctx, r)
}

// apply books the outcome of an attempt, and queues the trial again if it failed
// without being excluded.
func (s *scheduler) apply(o outcome) {
	a := o.attempt
	if o.err != nil {
		s.fail(a, o.err)
		return
	}
	s.settle(a, o.cost, o.charged)
	if o.failure != nil {
		s.emit(Event{Kind: EventAttempt, Trial: a.Trial, Reason: o.failure.Error()})
	}
	switch {
	case o.kind == journal.KindResult:
		a.lane.answered()
		s.tally.keep(a.Trial)
		s.finishTrial(a, true, picked(o.result))
		s.emit(Event{Kind: EventResult, Trial: a.Trial, Result: o.result, CostUSD: o.cost})
	case o.kind == journal.KindExcluded:
		a.lane.failed++
		s.tally.giveUp(a.Trial, o.excluded)
		s.finishTrial(a, false, "")
		s.emit(Event{Kind: EventExcluded, Trial: a.Trial, Reason: o.excluded})
	case o.failure != nil:
		s.retry(a, o.failure)
	}
}

// retry queues a trial again, or closes the lane if it would only fail again.
func (s *scheduler) retry(a *attempt, infra *agent.InfraError) {
	now := s.Now()
	a.lane.failed++
	a.reason = infra.Error()
	if infra.Lane {
		return // closed already
	}
	a.lane.trouble(now, infra.Error())
	if a.agent.closed != "" {
		return
	}
	if reason := a.lane.connection.failed(a.lane.limits.State(now).InFlight, infra); reason != "" {
		a.lane.close(reason)
		return
	}
	if a.lane.streak.Load() >= troubledStreak && now.Sub(a.lane.troubled) >= s.laneTimeout() {
		a.lane.close(fmt.Sprintf("%s: no answer for %s, last: %s", infra.Reason, s.laneTimeout(), infra.Error()))
		return
	}
	a.again = now.Add(max(infra.After, backoff(s.Backoff, a.ID, a.attempts)))
	if a.lane.connection.trying() {
		a.again = a.lane.connection.at
	}
	a.lane.retries = append(a.lane.retries, a.queued)
}

func (s *scheduler) settle(a *attempt, cost *float64, charged bool) {
	if a.answer != nil {
		cost, charged = nil, false // an earlier start's, which the journal counts
	}
	s.money.settle(a.worst, cost, charged)
	a.agent.money.settle(a.worst, cost, charged)
}

// fail ends the run: an attempt that cannot be stored must not be made.
func (s *scheduler) fail(a *attempt, err error) {
	s.settle(a, nil, a.paid)
	if s.failure == nil {
		s.failure = err
	}
	s.stopped = stoppedFailed
	s.cancel(err)
}

// manifests stores the manifests of the agents that the journal does not have yet.
func (s *scheduler) manifests(ctx context.Context) error {
	var records []journal.Record
	for _, l := range s.lanes {
		for _, a := range l.agents {
			m := a.profile.Manifest
			m.Agent = a.name
			a.profile.Manifest, a.manifest = m, m.ID()
			if s.known[a.name] != a.manifest {
				records = append(records, journal.Record{Kind: journal.KindManifest, At: s.Now().UTC(), Manifest: &m})
			}
		}
	}
	if len(records) == 0 {
		return nil
	}
	return s.Journal.Append(context.WithoutCancel(ctx), records...)
}
