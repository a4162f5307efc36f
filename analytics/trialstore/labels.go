package trialstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// Extracted returns how many of a run's trials people can check: their outcome was
// extracted from an answer. Ready outcomes, the lists of imports of a study and simulated
// agents have none. It does not work on a store made by OpenParquet.
func (s *Store) Extracted(ctx context.Context, r journal.Run) (n int, err error) {
	if r.Synthetic {
		return 0, nil
	}
	name := "extracted"
	if slices.ContainsFunc(r.Eval.Agents, func(a eval.Agent) bool { return a.Kind == eval.KindRecorded }) {
		name = "extracted_recorded" // reads the answers, which may be many bytes
	}
	if err := s.db.QueryRowContext(ctx, query(name), r.ID).Scan(&n); err != nil {
		return 0, s.fail("extracted outcomes of run "+r.ID, err)
	}
	return n, nil
}

// Labelled joins the labels of runs with what was extracted from these trials. The prompts
// are named as those of Cells. A label of a trial that its run does not have is an error.
func (s *Store) Labelled(ctx context.Context, runs []analytics.RunLabels) (analytics.Labels, error) {
	type key struct{ run, trial string }
	readings := map[key]analytics.Reading{}
	var out analytics.Labels
	var ids, trials []string
	for _, r := range runs {
		out.Frame += r.Frame
		ids = append(ids, r.Run)
		for _, l := range r.Labels {
			readings[key{r.Run, l.Trial}] = l
			trials = append(trials, l.Trial)
		}
	}
	_, err := collect(ctx, s, "outcomes", func(rows *sql.Rows) (struct{}, error) {
		var k key
		var eval, prompt, outcome string
		var t analytics.LabelledTrial
		if err := rows.Scan(&k.run, &k.trial, &eval, &prompt, &t.Agent, &outcome, &t.Picked); err != nil {
			return struct{}{}, err
		}
		if l, ok := readings[k]; ok {
			t.Prompt, t.Outcome = eval+"/"+prompt, pick.Kind(outcome)
			t.True, t.TruePicked, t.P = l.Outcome, l.Picked, l.P
			out.Trials = append(out.Trials, t)
			delete(readings, k)
		}
		return struct{}{}, nil
	}, strings.Join(ids, ","), strings.Join(trials, ","))
	if err != nil {
		return out, err
	}
	for _, r := range runs {
		for _, l := range r.Labels {
			if _, missing := readings[key{r.Run, l.Trial}]; missing {
				return out, fmt.Errorf("a label of trial %s, which run %s does not have", l.Trial, r.Run)
			}
		}
	}
	return out, nil
}
