package evals

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

// A StartRequest asks for a run.
type StartRequest struct {
	EvalID  string
	Version int // 0 for the latest
	// BudgetUSD is the maximum cost of the run. Only trials in flight that cost more
	// than estimated can exceed it.
	BudgetUSD float64
	// IdempotencyKey makes repetitions of a request harmless; optional.
	IdempotencyKey string
}

// minBudget is the smallest budget, in US dollars: the precision of the store.
const minBudget = 0.000001

func (r *StartRequest) check(most float64) error {
	switch {
	case math.IsNaN(r.BudgetUSD) || r.BudgetUSD < minBudget:
		return apierr.BadBody("budget_required", "budgetUsd is required: the maximum cost of the run in US dollars, above 0.")
	case r.BudgetUSD > most:
		return apierr.BadBody("budget_too_large", "budgetUsd is at most "+usd(most)+" here. Ask the operator for more.")
	case r.Version < 0:
		return apierr.BadBody("invalid_version", "version counts from 1; leave it out for the latest.")
	case len(r.IdempotencyKey) > 255:
		return apierr.BadBody("invalid_idempotency_key", "Idempotency-Key has at most 255 characters.")
	}
	for _, c := range []byte(r.IdempotencyKey) {
		if c < '!' || c > '~' {
			return apierr.BadBody("invalid_idempotency_key", "Idempotency-Key holds printable ASCII characters without blanks.")
		}
	}
	return nil
}

func (r *StartRequest) hash() []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %d", r.EvalID, r.Version, micros(r.BudgetUSD)))
	return sum[:]
}

// Start queues a run. A request with a repeated idempotency key gets the first run, and
// replayed is true.
func (s *Service) Start(ctx context.Context, a Actor, req StartRequest) (r *Run, replayed bool, err error) {
	caps := s.Caps.or()
	if err := errors.Join(a.may(ScopeRun), s.needPlan(a)); err != nil {
		return nil, false, s.fail(err)
	}
	if err := req.check(caps.BudgetUSD); err != nil {
		return nil, false, err
	}
	now := s.Now()
	err = s.write(ctx, func(tx *state.Tx) error {
		e, err := tx.Eval(ctx, a.Workspace.ID, req.EvalID)
		if err != nil {
			return noEval(err)
		}
		v := &e.Latest
		if req.Version != 0 {
			if v, err = tx.EvalVersion(ctx, a.Workspace.ID, e.ID, req.Version); err != nil {
				return orMissing(err, "eval_not_found", "This eval has no such version.")
			}
		}
		var sum Summary
		if err := json.Unmarshal(v.Summary, &sum); err != nil {
			return err
		}
		row, fresh, err := tx.AddRun(ctx, &state.EvalRun{
			ID: s.Secrets.ID("run_"), WorkspaceID: a.Workspace.ID, EvalID: e.ID, Version: v.Number, EvalName: e.Name, Category: sum.Category,
			BudgetMicros: micros(req.BudgetUSD), IdempotencyKey: req.IdempotencyKey, RequestHash: req.hash(),
			CreatedAt: now, CreatedBy: a.By, RunProgress: state.RunProgress{Planned: sum.Trials},
		}, caps.Queued)
		switch {
		case errors.Is(err, state.ErrOtherRequest):
			return conflict("idempotency_conflict", "This Idempotency-Key was used with another request. Use a new one for a new run.")
		case errors.Is(err, state.ErrQueueFull):
			return queueFull(caps.Queued)
		case err != nil:
			return err
		}
		r, replayed = s.run(row), !fresh
		if replayed {
			return nil
		}
		if err := s.keysFor(ctx, tx, a, sum, v.Source); err != nil {
			return err
		}
		return s.audit(ctx, tx, a, now, "run.queued", map[string]string{"run": r.ID, "eval": e.ID, "name": e.Name, "budget_usd": usd(req.BudgetUSD)})
	})
	if err != nil {
		return nil, false, err
	}
	return r, replayed, nil
}

// keysFor fails when a key is not set that the agents of an eval need, or may not be
// sent where they are: the run would fail, later and less clearly.
func (s *Service) keysFor(ctx context.Context, tx *state.Tx, a Actor, sum Summary, source []byte) error {
	keys, err := s.providerKeys(ctx, tx, a)
	if err != nil {
		return err
	}
	set := make([]string, len(keys))
	for i := range keys {
		set[i] = keys[i].Name
	}
	if names := without(sum.ProviderKeys, set); len(names) > 0 {
		return conflict("provider_key_missing", "The agents of this eval need provider keys that are not set: "+list(names)+". Set them in the settings of the workspace, or with PUT /api/v1/provider-keys/NAME.")
	}
	if len(sum.ProviderKeys) > 0 && sum.KeyHosts == nil { // stored before keys had hosts
		c, _ := s.Checker.Check(source)
		sum.KeyHosts = c.KeyHosts
	}
	if why := boundElsewhere(sum.KeyHosts, keys); why != "" {
		return conflict("provider_key_hosts", why)
	}
	return nil
}

// Run returns a run without its scores.
func (s *Service) Run(ctx context.Context, a Actor, id string) (*Run, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, err
	}
	row, err := s.DB.Read().Run(ctx, a.Workspace.ID, id)
	if err != nil {
		return nil, s.fail(noRun(err))
	}
	return s.run(row), nil
}

// Report returns a run, with its scores when there are any.
func (s *Service) Report(ctx context.Context, a Actor, id string) (*Report, error) {
	r, err := s.Run(ctx, a, id)
	if err != nil || !r.HasResults {
		return &Report{Run: deref(r)}, err
	}
	b, release, err := s.open(a, r)
	if err != nil {
		return nil, err
	}
	defer release()
	scores, err := b.ReadScores(s.BaseURL)
	return &Report{Run: *r, Scores: scores, Manifest: &b.Manifest}, s.fail(err)
}

func deref(r *Run) Run {
	if r == nil {
		return Run{}
	}
	return *r
}

// Results opens the results of a run. The caller releases them.
func (s *Service) Results(ctx context.Context, a Actor, id string) (*bundle.Bundle, func(), error) {
	r, err := s.Run(ctx, a, id)
	if err != nil {
		return nil, nil, err
	}
	if !r.HasResults {
		what := "The run has not ended yet. Watch its events, then ask again."
		if r.EndedAt != nil {
			what = "The run ended without a valid trial, so there is nothing to show."
		}
		return nil, nil, conflict("no_results", what)
	}
	return s.open(a, r)
}

func (s *Service) open(a Actor, r *Run) (*bundle.Bundle, func(), error) {
	b, release, err := s.Bundles.Get(a.Workspace.ID, r.Bundle)
	if err != nil {
		return nil, nil, s.unreadable(r.ID, r.Bundle, err)
	}
	return b, release, nil
}

// unreadable logs that results cannot be read, and returns the API error.
func (s *Service) unreadable(run, bundle string, err error) error {
	s.Log.Error("the results of a run cannot be read", "run", run, "bundle", bundle, "err", err)
	return &apierr.Error{
		Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", RetryAfter: 60, Cause: err,
		Description: "The results of this run cannot be read on this server now. The request id finds the cause in its log.",
	}
}

// A RunQuery chooses runs; empty fields choose all.
type RunQuery struct {
	EvalID, Status string
	Cursor         string
	Limit          int // 0 for 50; at most 200
}

type runPlace struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// Runs returns a page of runs, newest first, and the cursor of the next one; empty
// on the last.
func (s *Service) Runs(ctx context.Context, a Actor, q RunQuery) (list []*Run, next string, err error) {
	var from runPlace
	if err := errors.Join(a.may(ScopeRead), place("runs "+q.EvalID+" "+q.Status, q.Cursor, &from)); err != nil {
		return nil, "", s.fail(err)
	}
	switch q.Status {
	case "", state.RunQueued, state.RunRunning, state.RunDone, state.RunFailed, state.RunCancelled:
	default:
		return nil, "", apierr.InvalidRequest("status is one of queued, running, done, failed, cancelled.")
	}
	tx := s.DB.Read()
	if q.EvalID != "" {
		if _, err := tx.Eval(ctx, a.Workspace.ID, q.EvalID); err != nil {
			return nil, "", s.fail(noEval(err))
		}
	}
	limit := pageOf(q.Limit)
	rows, err := tx.Runs(ctx, a.Workspace.ID, state.RunFilter{EvalID: q.EvalID, Status: q.Status, Before: from.At, BeforeID: from.ID}, limit+1)
	if err != nil {
		return nil, "", s.fail(err)
	}
	if len(rows) > limit {
		rows = rows[:limit]
		next = cursor("runs "+q.EvalID+" "+q.Status, runPlace{rows[limit-1].CreatedAt, rows[limit-1].ID})
	}
	list = make([]*Run, len(rows))
	for i := range rows {
		list[i] = s.run(rows[i])
	}
	return list, next, nil
}

// Cancel asks to cancel a run. A queued one is cancelled at once; a running one by
// its worker, within seconds; one that ended stays as it is.
func (s *Service) Cancel(ctx context.Context, a Actor, id string) (*Run, error) {
	if err := a.may(ScopeRun); err != nil {
		return nil, err
	}
	var row *state.EvalRun
	now := s.Now().UTC().Truncate(time.Microsecond) // as it is stored
	err := s.write(ctx, func(tx *state.Tx) (err error) {
		if row, err = tx.RequestCancel(ctx, a.Workspace.ID, id, now); err != nil {
			return noRun(err)
		}
		if !row.CancelAsked.Equal(now) {
			return nil // it had ended, or somebody asked before
		}
		if row.Status == state.RunCancelled {
			if err := tx.AppendRunEvents(ctx, row.ID, []state.RunEvent{{At: now, Body: ended(row)}}); err != nil {
				return err
			}
		}
		return s.audit(ctx, tx, a, now, "run.cancelled", map[string]string{"run": row.ID})
	})
	if err != nil {
		return nil, err
	}
	return s.run(row), nil
}

// run converts a stored run to its API form.
func (s *Service) run(r *state.EvalRun) *Run {
	at := s.BaseURL + "/api/v1/runs/" + url.PathEscape(r.ID)
	out := &Run{
		ID: r.ID, EvalID: r.EvalID, EvalName: r.EvalName, EvalVersion: r.Version, Category: r.Category, CatalogVersion: r.Catalog, Status: r.Status,
		CreatedAt: r.CreatedAt, StartedAt: optional(r.StartedAt), EndedAt: optional(r.EndedAt), CancelRequested: !r.CancelAsked.IsZero(),
		Planned: r.Planned, Valid: r.Valid, Excluded: r.Excluded,
		BudgetUSD: dollars(r.BudgetMicros), SpentUSD: dollars(r.SpentMicros), AtMostUSD: dollars(r.AtMostMicros),
		Attempts: r.Attempt, Note: r.Failure, HasResults: r.Bundle != "", URL: at, EventsURL: at + "/events", Bundle: r.Bundle,
	}
	if r.Planned > 0 {
		out.Coverage = float64(r.Valid) / float64(r.Planned)
	}
	if out.HasResults {
		out.TracesURL = at + "/traces"
	}
	if out.Origin = r.Origin; out.Origin != "" {
		out.PushedBy = r.CreatedBy
	}
	return out
}
