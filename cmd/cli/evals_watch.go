package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/firstpick/firstpick/cmd/evalclient"
	"github.com/firstpick/firstpick/cmd/progress"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/server/evals/resource"
)

// watch shows a run until it ends, and says what became of it.
func (o *evalsOptions) watch(ctx context.Context, r *evalclient.Run) error {
	if err := o.follow(ctx, r); err != nil {
		if !evalclient.IsCode(err, evalclient.CodeRunNotFound) {
			_, _ = fmt.Fprintf(o.env.Stderr, "the run continues: firstpick evals watch %s watches it, firstpick evals cancel %s cancels it\n",
				clean(r.ID), clean(r.ID))
		}
		return err
	}
	report, err := o.client.Run(ctx, r.ID)
	if err != nil {
		return err
	}
	o.reportRun(&report.Run)
	return remoteOutcome(&report.Run)
}

// follow shows the events of a run until the last.
func (o *evalsOptions) follow(ctx context.Context, r *evalclient.Run) (err error) {
	show := o.showNDJSON(r)
	if !o.json {
		state := remoteState(r)
		view := progress.NewRemote(progress.Config{
			W: o.env.Stderr, TTY: o.env.StderrIsTTY, CI: o.env.Getenv("CI") != "", Now: o.env.Now, NoColor: o.env.Getenv("NO_COLOR") != "", Hide: o.env.Terminal.Hide, Show: o.env.Terminal.Show,
			Run: shownRun(r),
		}, state)
		defer func() { err = errors.Join(err, view.Close()) }()
		if err := view.Show(state); err != nil {
			return err
		}
		show = func(e *evalclient.Event) error {
			note(&state, e)
			return view.Show(state)
		}
	}
	for e, err := range o.client.Watch(ctx, r.ID, 0) {
		if err != nil {
			return err
		}
		if err := show(e); err != nil {
			return err
		}
	}
	return nil
}

// showNDJSON prints each event as a line: {"run":ID,"seq":N,"event":{...}}.
func (o *evalsOptions) showNDJSON(r *evalclient.Run) func(*evalclient.Event) error {
	enc := json.NewEncoder(o.env.Stdout)
	return func(e *evalclient.Event) error {
		return enc.Encode(struct {
			Run   string          `json:"run"`
			Seq   int64           `json:"seq"`
			Event json.RawMessage `json:"event"`
		}{r.ID, e.Seq, e.Body})
	}
}

// shownRun is what a view is titled with.
func shownRun(r *evalclient.Run) journal.Run {
	run := journal.Run{ID: r.ID, Planned: r.Planned}
	run.Eval.Name, run.Eval.Category = r.EvalName, r.Category
	return run
}

func remoteState(r *evalclient.Run) progress.Remote {
	s := progress.Remote{
		Phase: r.Status, Planned: r.Planned, Valid: r.Valid, Excluded: r.Excluded, SpentUSD: r.SpentUSD, AtMostUSD: r.AtMostUSD, BudgetUSD: r.BudgetUSD,
	}
	if r.StartedAt != nil {
		s.Since = *r.StartedAt
	}
	return s
}

// note takes an event into what is shown.
func note(s *progress.Remote, e *evalclient.Event) {
	switch e.Type {
	case evalclient.EventStarted:
		s.Phase = resource.Running
		if s.Since.IsZero() {
			s.Since = e.At
		}
	case evalclient.EventProgress:
		s.Phase = resource.Running
		s.Planned, s.Valid, s.Excluded, s.InFlight, s.SpentUSD, s.AtMostUSD = e.Planned, e.Valid, e.Excluded, e.InFlight, e.SpentUSD, e.AtMostUSD
		s.Lanes = nil
		for _, l := range e.Lanes {
			s.Lanes = append(s.Lanes, progress.RemoteLane{Name: l.Name, Phase: l.Phase, Reason: l.Reason})
		}
	case evalclient.EventEnded:
		s.Phase, s.InFlight = e.Status, 0
	}
}

// reportRun says what became of every planned trial.
func (o *evalsOptions) reportRun(r *evalclient.Run) {
	w := o.env.Stderr
	_, _ = fmt.Fprintf(w, "%s: planned %d = valid %d + excluded %d", clean(r.Status), r.Planned, r.Valid, r.Excluded)
	if missing := r.Planned - r.Valid - r.Excluded; missing > 0 {
		_, _ = fmt.Fprintf(w, " + missing %d", missing)
	}
	_, _ = fmt.Fprintf(w, "\nspent %.4f USD", r.SpentUSD)
	if r.AtMostUSD > r.SpentUSD {
		_, _ = fmt.Fprintf(w, ", at most %.4f: some requests have no known cost", r.AtMostUSD)
	}
	_, _ = fmt.Fprintln(w)
	if r.Note != "" {
		_, _ = fmt.Fprintf(w, "note: %s\n", clean(r.Note))
	}
	if r.HasResults {
		_, _ = fmt.Fprintf(w, "next: firstpick evals rank %s\n", clean(r.ID))
	}
}

// remoteOutcome is the exit code of a run that has ended.
func remoteOutcome(r *evalclient.Run) error {
	missing := r.Planned - r.Valid - r.Excluded
	switch {
	case r.Status == resource.Failed:
		return &codedError{fmt.Errorf("run %s failed: %s", clean(r.ID), clean(r.Note)), exitFailed, ""}
	case r.Status == resource.Cancelled:
		return &codedError{fmt.Errorf("run %s was cancelled; %d trials are missing", clean(r.ID), missing), exitIncomplete, "answers are kept: firstpick evals rank " + clean(r.ID)}
	case missing > 0:
		return &codedError{fmt.Errorf("%d trials are missing", missing), exitIncomplete, "the note has the reason; start a new run"}
	default:
		return nil
	}
}
