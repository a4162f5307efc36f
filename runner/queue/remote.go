package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/firstpick/firstpick/runner/agent"
)

// A remote asks by way of the queue.
type remote struct {
	agent.Agent // for its profile and costs
	c           *Coordinator
	limit       time.Duration
}

// Ask sends the attempt and waits for its result. It also returns a result that an
// earlier start of the coordinator did not receive.
func (r *remote) Ask(ctx context.Context, t agent.Task) (agent.Reply, error) {
	w := r.c.enter(t.Trial.ID, t.Signal)
	defer r.c.leave(t.Trial.ID)
	q := attemptJob{Run: r.c.run.ID, TrialID: t.Trial.ID, Trial: t.Trial, Prompt: t.Prompt, Attempt: t.Attempt, LimitS: int(r.limit.Seconds())}
	for {
		s, err := r.c.send(ctx, q)
		if err != nil {
			return agent.Reply{}, r.failed(ctx, err)
		}
		if s.found == nil {
			r.c.await(w, s.job)
			if s.found, err = r.wait(ctx, w, t.Trial.ID, s); err != nil {
				return agent.Reply{}, r.failed(ctx, err)
			}
		}
		if s.found == nil {
			continue // the job ended without an answer: it was cancelled
		}
		if e := s.found.err; e != nil {
			e.Billed = e.Billed && r.Profile().Paid
			return agent.Reply{}, e
		}
		return s.found.reply, nil
	}
}

// failed distinguishes an unreachable database from the end of the run.
func (r *remote) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &agent.InfraError{Reason: agent.ReasonNetwork, Retry: true, Err: fmt.Errorf("queue: %w", err)}
}

// A sent attempt is in the queue, or has its result.
type sent struct {
	job   int64
	from  int // attempts before it do not count
	found *outcome
}

// send puts an attempt into the queue, or joins the existing one.
func (c *Coordinator) send(ctx context.Context, q attemptJob) (s sent, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryWait)
	defer cancel()
	err = pgx.BeginFunc(ctx, c.db.pool, func(tx pgx.Tx) error {
		// Insert first, then look: a result in between is announced.
		put, err := c.client.InsertTx(ctx, tx, q, nil)
		if err != nil {
			return err
		}
		s = sent{job: put.Job.ID, from: q.Attempt}
		if put.UniqueSkippedAsDuplicate {
			var there attemptJob
			if err := json.Unmarshal(put.Job.EncodedArgs, &there); err != nil {
				return err
			}
			s.from = min(s.from, there.Attempt)
		}
		s.found, err = c.look(ctx, tx, q.TrialID, s.from)
		if err == nil && s.found != nil && !put.UniqueSkippedAsDuplicate {
			return errAnswered // no job needed
		}
		return err
	})
	if errors.Is(err, errAnswered) {
		err = nil
	}
	return s, err
}

var errAnswered = errors.New("answered before")

type rower interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// look returns the result of a trial: its answer, from any attempt, or else the failure
// of an attempt that the journal does not have yet; nil if there is neither.
func (c *Coordinator) look(ctx context.Context, from rower, trial string, attempt int) (*outcome, error) {
	var payload, raw []byte
	err := from.QueryRow(ctx, `select payload, raw from trial_answer
		where run_id = $1 and trial_id = $2 and (answered or attempt >= $3)
		order by answered desc, attempt limit 1`, c.run.ID, trial, attempt).Scan(&payload, &raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o, err := c.db.decode(payload, raw)
	if err != nil { // a retry would read the same stored answer
		o = outcome{err: &agent.InfraError{Reason: agent.ReasonMalformed, Billed: true, Err: err}}
	}
	return &o, nil
}

// wait returns the result of an attempt, or nil if the job ends without one.
func (r *remote) wait(ctx context.Context, w *waiter, trial string, s sent) (*outcome, error) {
	for {
		select {
		case <-ctx.Done():
			return r.give(ctx, trial, s)
		case <-w.wake:
		}
		found, err := r.c.lookNow(ctx, trial, s.from)
		if found != nil {
			return found, nil
		}
		if err != nil {
			continue // the database is away; listen and poll wake the waiter again
		}
		live, err := r.c.live(ctx, map[int64]string{s.job: trial})
		if err != nil || live[s.job] {
			continue
		}
		// A job that has ended has its answer by now, if it has one.
		if found, err = r.c.lookNow(ctx, trial, s.from); err == nil {
			return found, nil
		}
	}
}

func (c *Coordinator) lookNow(ctx context.Context, trial string, attempt int) (*outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, queryWait)
	defer cancel()
	return c.look(ctx, c.db.pool, trial, attempt)
}

// give cancels an attempt because the run ends. A result that a worker has stored
// meanwhile is returned: it is paid for.
func (r *remote) give(ended context.Context, trial string, s sent) (*outcome, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ended), connectWait)
	defer cancel()
	if err := r.c.cancel(ctx, s.job); err != nil {
		r.c.db.log.Warn("queue: cancelling an attempt failed", "trial", trial, "err", err)
	}
	found, err := r.c.look(ctx, r.c.db.pool, trial, s.from)
	if err != nil || found == nil {
		return nil, ended.Err()
	}
	return found, nil
}
