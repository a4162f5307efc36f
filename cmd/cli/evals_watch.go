package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/cmd/evalclient"
	"github.com/firstpick/firstpick/cmd/progress"
	bundleformat "github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/server/evals/resource"
)

// watch shows a run until it ends, then reports its result.
func (o *evalsOptions) watch(ctx context.Context, r *evalclient.Run) error {
	view := progress.New(ctx, o.env.showing(shownRun(r), o.json))
	if err := o.follow(ctx, r, view); err != nil {
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
	if err := view.Summarize(boardOf(report)); err != nil {
		return err
	}
	o.reportRun(&report.Run)
	return remoteOutcome(&report.Run)
}

// boardOf returns the board of a run's results; nil if absent, or an unknown format.
func boardOf(r *evalclient.Report) *analytics.Board {
	s := bundleformat.Scores{}
	if !r.HasResults || json.Unmarshal(r.Scores, &s) != nil {
		return nil
	}
	return &s.Board
}

// follow shows the events of a run until the last.
func (o *evalsOptions) follow(ctx context.Context, r *evalclient.Run, view *progress.View) (err error) {
	state := remoteState(r)
	defer func() { err = errors.Join(err, view.Close()) }()
	if err := view.Show(state); err != nil {
		return err
	}
	printed := func(*evalclient.Event) error { return nil }
	if o.json {
		printed = o.showNDJSON(r)
	}
	show := func(e *evalclient.Event) error {
		note(&state, e)
		return errors.Join(printed(e), view.Show(state))
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

// shownRun is the title of a view.
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

// note adds an event to the display.
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
		s.Phase, s.InFlight, s.Ended = e.Status, 0, true
	}
}

// reportRun prints the counts of planned trials.
func (o *evalsOptions) reportRun(r *evalclient.Run) {
	w := o.env.Stderr
	_, _ = fmt.Fprintf(w, "%s: planned %d = valid %d + excluded %d", clean(r.Status), r.Planned, r.Valid, r.Excluded)
	if missing := r.Planned - r.Valid - r.Excluded; missing > 0 {
		_, _ = fmt.Fprintf(w, " + missing %d", missing)
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
