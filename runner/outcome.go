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

// record stores what came of a question and returns what the scheduler is to make
// of it. An answer is stored even while the run is being interrupted: it is there
// and paid for.
func (s *scheduler) record(ctx context.Context, q *question, now time.Time, reply agent.Reply, result *pick.Result, err error) func() {
	storing := context.WithoutCancel(ctx)
	var broken *journalError
	var crash *panicError
	switch {
	case errors.As(err, &broken):
		return func() { s.fail(q, broken.error) }
	case err == nil:
		return s.keep(storing, q, now, reply, result)
	case ctx.Err() != nil && q.held: // the next start goes on from here
		return func() { s.settle(q, reply.CostUSD, q.agent.profile.Paid) }
	case ctx.Err() != nil:
		return s.abandon(storing, q, now, err)
	case errors.As(err, &crash):
		return s.crashed(storing, q, now, reply, crash)
	default:
		return s.failed(storing, q, now, err)
	}
}

// keep stores an answer, whatever it says.
func (s *scheduler) keep(ctx context.Context, q *question, now time.Time, reply agent.Reply, result *pick.Result) func() {
	s.date(q, now, &reply)
	r := journal.Record{Kind: journal.KindResult, Trial: q.Trial, At: reply.At, Attempt: q.attempts, Answer: &reply.Answer, Result: result, Raw: q.raw}
	if reply.CostUSD == nil && q.paid {
		r.AtMostUSD = &q.worst
	}
	if err := s.store(ctx, r, reply.Raw); err != nil {
		return func() { s.fail(q, err) }
	}
	return func() {
		q.lane.answered()
		s.settle(q, reply.CostUSD, q.agent.profile.Paid)
		s.tally.keep(q.Trial)
		s.tell(Event{Kind: EventResult, Trial: q.Trial, Result: result, CostUSD: reply.CostUSD})
	}
}

// date says when an answer came and who gave it. One that was stored before knows.
func (s *scheduler) date(q *question, now time.Time, reply *agent.Reply) {
	if q.held {
		return
	}
	if reply.At.IsZero() {
		reply.At = now.UTC()
		reply.WallMS = now.Sub(q.began).Milliseconds()
	}
	reply.Manifest = q.agent.profile.Manifest.ID()
}

// abandon stores what an interrupted question may have cost.
func (s *scheduler) abandon(ctx context.Context, q *question, now time.Time, cause error) func() {
	infra := asInfra(cause)
	if infra.CostUSD != nil || q.paid {
		r := journal.Record{Kind: journal.KindAttempt, Trial: q.Trial, At: now.UTC(), Attempt: q.attempts, Reason: StoppedInterrupted, CostUSD: infra.CostUSD}
		if infra.CostUSD == nil {
			r.AtMostUSD = &q.worst
		}
		if err := s.store(ctx, r, infra.Raw); err != nil {
			return func() { s.fail(q, err) }
		}
	}
	return func() { s.settle(q, infra.CostUSD, q.paid) }
}

// failed stores a failed attempt and decides whether to make another.
func (s *scheduler) failed(ctx context.Context, q *question, now time.Time, cause error) func() {
	infra := asInfra(cause)
	r := journal.Record{Kind: journal.KindAttempt, Trial: q.Trial, At: now.UTC(), Attempt: q.attempts, Reason: infra.Error(), CostUSD: infra.CostUSD}
	if infra.CostUSD == nil && infra.Billed && q.paid {
		r.AtMostUSD = &q.worst
	}
	if err := s.store(ctx, r, infra.Raw); err != nil {
		return func() { s.fail(q, err) }
	}
	if again := infra.Lane || infra.Retry && s.mayRetry(q, infra); !again {
		last := journal.Record{Kind: journal.KindExcluded, Trial: q.Trial, At: now.UTC(), Attempt: q.attempts, Reason: infra.Reason}
		settle := s.exclude(ctx, q, last, nil, infra.CostUSD, infra.Billed)
		return func() {
			s.tell(Event{Kind: EventAttempt, Trial: q.Trial, Reason: infra.Error()})
			settle()
		}
	}
	return func() {
		s.tell(Event{Kind: EventAttempt, Trial: q.Trial, Reason: infra.Error()})
		s.settle(q, infra.CostUSD, infra.Billed)
		s.retry(q, infra)
	}
}

// mayRetry bounds the attempts at a trial. A provider that refuses or is down costs
// nothing: it is asked ten times as often, and as long as others fail alike until
// its lane is given up.
func (s *scheduler) mayRetry(q *question, infra *agent.InfraError) bool {
	passing := infra.Reason == agent.ReasonRateLimited || infra.Reason == agent.ReasonServer || infra.Reason == agent.ReasonNetwork
	if passing && !infra.Billed && infra.CostUSD == nil {
		q.free++
	} else {
		q.charged++
	}
	others := int(q.lane.streak.Load()) - q.free
	return q.charged < s.maxAttempts() && (q.free < 10*s.maxAttempts() || others >= troubledStreak)
}

// retry puts a trial back, or closes what it would only fail in again.
func (s *scheduler) retry(q *question, infra *agent.InfraError) {
	now := s.Now()
	q.lane.failed++
	q.reason = infra.Error()
	if infra.Lane {
		return // closed already
	}
	q.lane.trouble(now, infra.Error())
	if q.agent.closed != "" {
		return
	}
	if reason := q.lane.connection.failed(q.lane.limits.State(now).InFlight, infra); reason != "" {
		q.lane.close(reason)
		return
	}
	if q.lane.streak.Load() >= troubledStreak && now.Sub(q.lane.troubled) >= s.patience() {
		q.lane.close(fmt.Sprintf("%s: no answer for %s, last: %s", infra.Reason, s.patience(), infra.Error()))
		return
	}
	q.again = now.Add(max(infra.After, backoff(s.Backoff, q.ID, q.attempts)))
	if q.lane.connection.trying() {
		q.again = q.lane.connection.at
	}
	q.lane.retries = append(q.lane.retries, q.pending)
}

// asInfra takes an error that an agent did not classify for one that another
// attempt would meet again.
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

// crashed gives a trial up that would only crash again, and stores what its answer
// cost where the crash came after it.
func (s *scheduler) crashed(ctx context.Context, q *question, now time.Time, reply agent.Reply, crash *panicError) func() {
	r := journal.Record{Kind: journal.KindExcluded, Trial: q.Trial, At: now.UTC(), Attempt: q.attempts, Reason: crash.Error(), CostUSD: reply.CostUSD, Raw: q.raw}
	if reply.CostUSD == nil && q.paid {
		r.AtMostUSD = &q.worst
	}
	return s.exclude(ctx, q, r, reply.Raw, reply.CostUSD, q.paid)
}

func (s *scheduler) exclude(ctx context.Context, q *question, r journal.Record, raw []byte, cost *float64, charged bool) func() {
	if err := s.store(ctx, r, raw); err != nil {
		return func() { s.fail(q, err) }
	}
	return func() {
		q.lane.failed++
		s.settle(q, cost, charged)
		s.tally.giveUp(q.Trial, r.Reason)
		s.tell(Event{Kind: EventExcluded, Trial: q.Trial, Reason: r.Reason})
	}
}

func (s *scheduler) settle(q *question, cost *float64, charged bool) {
	if q.answer != nil {
		cost, charged = nil, false // an earlier start's, which the journal counts
	}
	s.money.settle(q.worst, cost, charged)
	q.agent.money.settle(q.worst, cost, charged)
}

// fail ends the run: what cannot be stored must not be asked.
func (s *scheduler) fail(q *question, err error) {
	s.settle(q, nil, q.paid)
	if s.failure == nil {
		s.failure = err
	}
	s.stopped = stoppedFailed
	s.cancel(err)
}

// store makes a record durable, with the answer as it came.
func (s *scheduler) store(ctx context.Context, r journal.Record, raw []byte) error {
	if len(raw) > 0 {
		ref, err := s.Journal.Put(ctx, raw)
		if err != nil {
			return err
		}
		r.Raw = &ref
	}
	return s.Journal.Append(ctx, r)
}

// manifests stores what the agents are, where the journal does not have it yet.
func (s *scheduler) manifests(ctx context.Context) error {
	var records []journal.Record
	for _, l := range s.lanes {
		for _, a := range l.agents {
			m := a.profile.Manifest
			m.Agent = a.name
			if s.known[a.name] != m.ID() {
				records = append(records, journal.Record{Kind: journal.KindManifest, At: s.Now().UTC(), Manifest: &m})
			}
			a.profile.Manifest = m
		}
	}
	if len(records) == 0 {
		return nil
	}
	return s.Journal.Append(context.WithoutCancel(ctx), records...)
}
