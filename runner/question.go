package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/pick"
)

const reasonPanic = "panic"

// A question is one attempt at a trial.
type question struct {
	*pending
	agent *asked
	lane  *lane
	task  agent.Task
	worst float64 // the most that it may cost, in US dollars
	paid  bool    // and that is known
	bound bool    // by a budget
	began time.Time

	held   bool            // its answer is stored, without a result
	raw    *journal.RawRef // where that lies as it came; nil for nowhere
	answer *journal.Offset // where an earlier start stored it; nil for a question to be asked
}

func (s *scheduler) question(a *asked, p *pending) *question {
	q := &question{pending: p, agent: a, lane: a.lane, task: agent.Task{
		Trial: p.Trial, Prompt: s.prompt(p), Category: s.Category, Attempt: p.attempts + 1, Signal: s.heard(a.lane),
	}}
	if worst := a.Worst(q.task); worst != nil && a.profile.Paid {
		q.worst, q.paid, q.bound = *worst, true, s.money.limit > 0 || a.money.limit > 0
	}
	return q
}

// prompt is what is asked. A model behind an API has no folder to look into, so
// the project is told to it.
func (s *scheduler) prompt(p *pending) string {
	text := s.prompts[p.PromptID]
	spec := s.spec(p.Agent)
	if s.Describe == nil || p.Template == eval.NoTemplate || spec == nil || !spec.IsModel() {
		return text
	}
	return text + "\n\n" + s.Describe(p.Template)
}

func (s *scheduler) spec(agent string) *eval.Agent {
	for i := range s.Eval.Agents {
		if s.Eval.Agents[i].Name == agent {
			return &s.Eval.Agents[i]
		}
	}
	return nil
}

// begin reserves what the question needs and asks it.
func (s *scheduler) begin(ctx context.Context, now time.Time, q *question) {
	q.began = now
	q.attempts++
	q.lane.asked++
	q.lane.limits.Begin(now)
	q.agent.money.reserve(q.worst)
	s.money.reserve(q.worst)
	s.memory += q.agent.profile.MemoryMB
	s.inFlight++
	go s.carryOut(ctx, q)
}

// carryOut asks, stores what came, and hands in both facts as they come about.
func (s *scheduler) carryOut(ctx context.Context, q *question) {
	var reply agent.Reply
	err := s.announce(ctx, q)
	switch {
	case err == nil:
		reply, err = s.ask(ctx, q)
	case errors.Is(err, ctx.Err()):
		q.paid = false // the run ended first: it was not asked
	default:
		err = &journalError{err}
	}
	sig, now, size := signal(reply, err), s.Now(), int64(toRead(&reply))
	s.extraction.waiting.Add(size) // before another is asked
	var infra *agent.InfraError
	shut := errors.As(err, &infra) && infra.Lane
	outcome := err
	s.post(func() {
		s.inFlight--
		s.storing++
		s.memory -= q.agent.profile.MemoryMB
		q.lane.limits.End(s.Now(), sig)
		q.lane.connection.note(q, s.Now(), outcome)
		if sig.Verdict == limiter.Limited {
			q.lane.limited++
		}
		if shut {
			q.lane.close(infra.Error()) // before another is asked
		}
	})
	var result *pick.Result
	if err == nil { // after others could be asked: it takes a while
		result, err = s.extract(ctx, q, now, &reply)
	}
	settle := s.record(ctx, q, now, reply, result, err)
	s.extraction.waiting.Add(-size)
	s.post(func() {
		s.storing--
		settle()
	})
}

// announce notes a question that may cost money before it is asked, so that a
// killed run knows what it may have been charged for.
func (s *scheduler) announce(ctx context.Context, q *question) error {
	if !q.bound {
		return nil
	}
	return s.Journal.Append(ctx, journal.Record{Kind: journal.KindAsked, Trial: q.Trial, At: q.began.UTC(), Attempt: q.attempts, AtMostUSD: &q.worst})
}

// A panicError is what an agent or the extractor panicked with.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("%s: %v", reasonPanic, e.value) }

// A journalError is a record that could not be written: the run cannot go on.
type journalError struct{ error }

func (e *journalError) Unwrap() error { return e.error }

func (s *scheduler) ask(ctx context.Context, q *question) (reply agent.Reply, err error) {
	defer caught(&err)
	return q.agent.Ask(ctx, q.task)
}

// caught makes an error of a panic.
func caught(err *error) {
	if v := recover(); v != nil {
		*err = &panicError{v}
	}
}

// signal is what an outcome tells of the provider's limits.
func signal(reply agent.Reply, err error) limiter.Signal {
	if err == nil {
		return limiter.Signal{Verdict: limiter.Clean, Window: reply.Window}
	}
	var infra *agent.InfraError
	if !errors.As(err, &infra) {
		return limiter.Signal{}
	}
	sig := limiter.Signal{After: infra.After, Window: infra.Window}
	switch infra.Reason {
	case agent.ReasonRateLimited:
		sig.Verdict = limiter.Limited
	case agent.ReasonServer:
		sig.Verdict = limiter.Overloaded
	}
	return sig
}
