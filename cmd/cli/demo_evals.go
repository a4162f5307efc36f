package cli

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	assembly "github.com/firstpick/firstpick/server/app"
	"github.com/firstpick/firstpick/server/console/evalpages"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/state"
)

// sampleCategory is the category of the sample eval, sampleBudget the budget of its run, which
// costs nothing.
const (
	sampleCategory = "payments"
	sampleBudget   = 1
)

// startSample stores an eval with a simulated agent, executes earlier versions of it, and starts
// its run; a worker of the server executes that. The workspace follows the second of its tools,
// which loses some prompts. A catalogue without the category has no sample eval.
func (a *app) startSample(ctx context.Context, srv *assembly.App, w *state.Workspace) error {
	cat, err := a.catalog()
	if err != nil {
		return err
	}
	category, ok := cat.Category(sampleCategory)
	if !ok || len(category.Entries) < 2 {
		return nil
	}
	actor := evals.Actor{Workspace: w}
	source := strings.Replace(evalpages.Beginning(category), "kind: simulated\n", "kind: simulated\n    reasons: true\n", 1)
	if err := a.measureEarlier(ctx, srv, actor, category, source); err != nil {
		return err
	}
	e, _, _, err := srv.Evals.Put(ctx, actor, []byte(source))
	if err != nil {
		return err
	}
	if _, _, err := srv.Evals.Start(ctx, actor, evals.StartRequest{EvalID: e.ID, BudgetUSD: sampleBudget}); err != nil {
		return err
	}
	return srv.Evals.DB.Write(ctx, func(tx *state.Tx) error {
		return srv.Evals.Follow(ctx, tx, a.env.Now(), w.ID, w.OwnerID, category.Entries[1].Tool.Slug)
	})
}

// An earlierSample is a run of weeks ago, with the rates of the first two tools at that time.
type earlierSample struct {
	weeks       int
	first, next string
}

func earlierSamples() []earlierSample {
	return []earlierSample{{6, "0.2", "0.55"}, {3, "0.3", "0.45"}}
}

// earlierTimeout bounds an earlier run, which takes less than a second.
const earlierTimeout = time.Minute

// measureEarlier executes runs of the sample eval with the clock set back, so that the pick
// rate has a history. The rates of the simulated agent differ.
func (a *app) measureEarlier(ctx context.Context, srv *assembly.App, actor evals.Actor, category *catalog.Category, source string) error {
	first, next := category.Entries[0].Tool.Slug, category.Entries[1].Tool.Slug
	for _, s := range earlierSamples() {
		text := strings.NewReplacer(first+": 0.5", first+": "+s.first, next+": 0.25", next+": "+s.next).Replace(source)
		e, _, _, err := srv.Evals.Put(ctx, actor, []byte(text))
		if err != nil {
			return err
		}
		id := srv.Evals.Secrets.ID("run_")
		if err := srv.Evals.DB.Write(ctx, func(tx *state.Tx) error {
			_, _, err := tx.AddRun(ctx, &state.EvalRun{
				ID: id, WorkspaceID: actor.Workspace.ID, EvalID: e.ID, Version: e.Version, EvalName: e.Name, Category: e.Category,
				BudgetMicros: sampleBudget * 1e6, CreatedAt: s.at(a.env.Now()), RunProgress: state.RunProgress{Planned: e.Trials},
			}, 1)
			return err
		}); err != nil {
			return err
		}
		if err := a.executeEarlier(ctx, srv, actor, id, s); err != nil {
			return err
		}
	}
	return nil
}

// at returns the time of an earlier run.
func (s earlierSample) at(now time.Time) time.Time { return now.AddDate(0, 0, -7*s.weeks) }

// executeEarlier executes a queued run as a worker of that time does.
func (a *app) executeEarlier(ctx context.Context, srv *assembly.App, actor evals.Actor, run string, s earlierSample) (err error) {
	w, err := a.evalWorker(srv.Evals.DB, a.workerName())
	if err != nil {
		return err
	}
	w.Runs, w.Log, w.Now = 1, slog.New(slog.DiscardHandler), func() time.Time { return s.at(a.env.Now()) }
	ctx, stop := context.WithTimeout(ctx, earlierTimeout)
	defer stop()
	working, end := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- w.Run(working) }()
	defer func() {
		end()
		err = errors.Join(err, <-done)
	}()
	for {
		r, err := srv.Evals.Run(ctx, actor, run)
		if err != nil || r.EndedAt != nil {
			return err
		}
		if err := a.env.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}
