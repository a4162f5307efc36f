package trialstore

import (
	"context"
	"database/sql"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/runner/pick"
)

// NightTrials returns the valid trials of one category, in any order. No runs means the
// current ones.
func (s *Store) NightTrials(ctx context.Context, category string, runs []string) ([]nights.Trial, error) {
	ids, err := s.chosen(ctx, runs)
	if err != nil {
		return nil, err
	}
	return collect(ctx, s, "night", func(rows *sql.Rows) (t nights.Trial, err error) {
		var eval, prompt string
		err = rows.Scan(&t.ID, &t.FinishedAt, &eval, &prompt, &t.Agent, &t.Template, &t.Picked)
		t.Prompt, t.FinishedAt = eval+"/"+prompt, micro(t.FinishedAt)
		return t, err
	}, category, ids)
}

// Examples returns one trial of each prompt, agent and picked tool by category, sorted by id. No
// runs means the current ones.
func (s *Store) Examples(ctx context.Context, runs []string) (map[string][]analytics.Example, error) {
	ids, err := s.chosen(ctx, runs)
	if err != nil {
		return nil, err
	}
	examples := map[string][]analytics.Example{}
	_, err = collect(ctx, s, "examples", func(rows *sql.Rows) (none struct{}, err error) {
		e, category, eval, prompt, shortlist := analytics.Example{Outcome: string(pick.Tool)}, "", "", "", ""
		err = rows.Scan(&category, &e.Trial, &eval, &prompt, &e.Agent, &e.Picked, &shortlist)
		e.Shortlist = splitList(shortlist)
		e.Prompt, e.URL = eval+"/"+prompt, analytics.TrialPath(e.Trial)
		examples[category] = append(examples[category], e)
		return none, err
	}, ids)
	return examples, err
}
