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

const reasonPanic = "panic"

// trial asks one trial until it has an answer or is given up. An error stops
// the run; a trial that ends without one and without a record is missing.
func (x *execution) trial(ctx context.Context, j job) error {
	defer x.money.release(j.worst)
	for attempt := 1; x.lanes.open(j.trial.Agent); attempt++ {
		began := x.Now()
		reply, result, err := x.ask(ctx, j, attempt)
		if err == nil {
			return x.keep(ctx, j, attempt, began, reply, result)
		}
		if ctx.Err() != nil {
			return nil // interrupted: not the agent's failure
		}
		again, err := x.failed(ctx, j, attempt, err)
		if err != nil || !again {
			return err
		}
	}
	return nil
}

// A panicError is what an agent or the extractor panicked with.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("%s: %v", reasonPanic, e.value) }

func (x *execution) ask(ctx context.Context, j job, attempt int) (reply agent.Reply, result *pick.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v}
		}
	}()
	task := agent.Task{Trial: j.trial, Prompt: j.prompt, Category: x.Category, Attempt: attempt}
	reply, err = x.Agents[j.trial.Agent].Ask(ctx, task)
	if err != nil || reply.Result != nil {
		return reply, reply.Result, err
	}
	extracted := x.Extractor.Extract(reply.Transcript)
	return reply, &extracted, nil
}

// keep stores an answer, whatever it says. It does so even when the run is
// being interrupted: the answer is there and paid for.
func (x *execution) keep(ctx context.Context, j job, attempt int, began time.Time, reply agent.Reply, result *pick.Result) error {
	now := x.Now()
	if reply.At.IsZero() {
		reply.At = now.UTC()
		reply.WallMS = now.Sub(began).Milliseconds()
	}
	if reply.CostUSD == nil {
		reply.CostUSD = x.money.cost(j.trial.Agent, reply.InTokens, reply.OutTokens)
	}
	x.money.book(j.trial.Agent, reply.CostUSD, j.worst)
	record := journal.Record{
		Kind: journal.KindResult, Trial: j.trial, At: reply.At, Attempt: attempt, Answer: &reply.Answer, Result: result,
	}
	return x.store(ctx, record, Event{Kind: EventResult, Trial: j.trial, Result: result, CostUSD: reply.CostUSD})
}

// failed stores a failed attempt and decides whether to make another.
func (x *execution) failed(ctx context.Context, j job, attempt int, cause error) (again bool, err error) {
	var crash *panicError
	if errors.As(cause, &crash) {
		return false, x.exclude(ctx, j, attempt, crash.Error())
	}
	infra := asInfra(cause)
	record := journal.Record{Kind: journal.KindAttempt, Trial: j.trial, At: x.Now().UTC(), Attempt: attempt, Reason: infra.Error()}
	if err := x.store(ctx, record, Event{Kind: EventAttempt, Trial: j.trial, Reason: infra.Error()}); err != nil {
		return false, err
	}
	fits := !infra.Billed || x.money.renew(j.worst)
	switch {
	case infra.Lane:
		x.lanes.close(j.trial.Agent, infra.Error())
		return false, nil
	case !infra.Retry || attempt >= x.maxAttempts():
		return false, x.exclude(ctx, j, attempt, infra.Reason)
	case !fits:
		x.broke.Store(true)
		return false, nil
	}
	wait := max(infra.After, backoff(x.Backoff, j.trial.ID, attempt))
	return x.Sleep(ctx, wait) == nil, nil
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

func (x *execution) exclude(ctx context.Context, j job, attempt int, reason string) error {
	record := journal.Record{Kind: journal.KindExcluded, Trial: j.trial, At: x.Now().UTC(), Attempt: attempt, Reason: reason}
	return x.store(ctx, record, Event{Kind: EventExcluded, Trial: j.trial, Reason: reason})
}

// store makes a record durable, then tells of it.
func (x *execution) store(ctx context.Context, r journal.Record, e Event) error {
	if err := x.Journal.Append(context.WithoutCancel(ctx), r); err != nil {
		return err
	}
	x.tell(e)
	return nil
}
