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
)

const reasonPanic = "panic"

// An attempt is one request for a trial.
type attempt struct {
	*queued
	agent *agentState
	lane  *lane
	task  agent.Task
	worst float64 // the most that it may cost, in US dollars
	paid  bool    // and that is known
	bound bool    // by a budget
	began time.Time

	held   bool            // its answer is stored, without a result
	raw    *journal.RawRef // the location of the raw answer; nil if not stored
	answer *journal.Offset // where an earlier start stored it; nil if not answered yet
}

func (s *scheduler) newAttempt(of *agentState, p *queued) *attempt {
	a := &attempt{queued: p, agent: of, lane: of.lane, task: agent.Task{
		Trial: p.Trial, Prompt: s.prompt(p), Category: s.Category, Attempt: p.attempts + 1, Signal: s.onSignal(of.lane),
	}}
	if worst := of.Worst(a.task); worst != nil && of.profile.Paid {
		a.worst, a.paid, a.bound = *worst, true, s.money.limit > 0 || of.money.limit > 0
	}
	return a
}

// atMost returns the worst-case cost of an attempt whose cost is unknown; nil if that
// is unknown too.
func (a *attempt) atMost(cost *float64) *float64 {
	if cost != nil || !a.paid {
		return nil
	}
	return &a.worst
}

// prompt returns the text of a trial's prompt. A model behind an API has no folder to
// look into: its prompt describes the project.
func (s *scheduler) prompt(p *queued) string {
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

// begin reserves the resources of an attempt and starts it.
func (s *scheduler) begin(ctx context.Context, now time.Time, a *attempt) {
	a.began = now
	a.attempts++
	a.lane.attempts++
	a.lane.limits.Begin(now)
	a.agent.money.reserve(a.worst)
	s.money.reserve(a.worst)
	s.memory += a.agent.profile.MemoryMB
	s.inFlight++
	go s.execute(ctx, a)
}

// execute sends the request, posts that it ended, stores the response, and posts the
// outcome.
func (s *scheduler) execute(ctx context.Context, a *attempt) {
	var r response
	r.err = s.announce(ctx, a)
	switch {
	case r.err == nil:
		r.Reply, r.err = s.ask(ctx, a)
	case errors.Is(r.err, ctx.Err()):
		a.paid = false // the run ended before the request
	default:
		r.err = &journalError{r.err}
	}
	r.at = s.Now()
	size := int64(toRead(&r.Reply))
	s.extraction.waiting.Add(size) // before the next attempt begins
	sig, err := signal(r.Reply, r.err), r.err
	s.post(func() { s.end(a, sig, err) })
	if r.err == nil { // after the lane is free: extraction takes a while
		r.result, r.err = s.extract(ctx, a, r.at, &r.Reply)
	}
	o := s.record(ctx, a, r)
	s.extraction.waiting.Add(-size)
	s.post(func() {
		s.storing--
		s.apply(o)
	})
}

// end releases an attempt's share of its lane and of this machine. Its outcome is not
// stored yet.
func (s *scheduler) end(a *attempt, sig limiter.Signal, err error) {
	s.inFlight--
	s.storing++
	s.memory -= a.agent.profile.MemoryMB
	a.lane.limits.End(s.Now(), sig)
	a.lane.connection.note(a, s.Now(), err)
	if sig.Verdict == limiter.Limited {
		a.lane.limited++
	}
	var infra *agent.InfraError
	if errors.As(err, &infra) && infra.Lane {
		a.lane.close(infra.Error()) // before the next attempt begins
	}
}

// announce records an attempt that may cost money before its request is sent, so that a
// killed run knows its possible charges.
func (s *scheduler) announce(ctx context.Context, a *attempt) error {
	if !a.bound {
		return nil
	}
	return s.Journal.Append(ctx, journal.Record{Kind: journal.KindAsked, Trial: a.Trial, At: a.began.UTC(), Attempt: a.attempts, AtMostUSD: &a.worst})
}

// A panicError is the value of a panic in an agent or in the extractor.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("%s: %v", reasonPanic, e.value) }

// A journalError is a failed write of a record: it ends the run.
type journalError struct{ error }

func (e *journalError) Unwrap() error { return e.error }

func (s *scheduler) ask(ctx context.Context, a *attempt) (reply agent.Reply, err error) {
	defer caught(&err)
	reply, err = a.agent.Ask(ctx, a.task)
	if err == nil && s.Installed != nil && reply.Result == nil {
		reply.Transcript.Installed = s.Installed(a.Template)
	}
	return reply, err
}

// caught turns a panic into an error.
func caught(err *error) {
	if v := recover(); v != nil {
		*err = &panicError{v}
	}
}

// signal returns what a response reveals about the provider's limits.
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
