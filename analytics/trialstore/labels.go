package trialstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner/pick"
)

// Labelled joins the labels of runs with what was extracted from these trials. The prompts
// are named as those of Cells. A label of a trial that its run does not have is an error.
func (s *Store) Labelled(ctx context.Context, runs []analytics.RunLabels) (analytics.Labels, error) {
	if len(runs) == 0 {
		return analytics.Labels{}, nil
	}
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
