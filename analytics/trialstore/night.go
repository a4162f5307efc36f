package trialstore

import (
	"context"
	"database/sql"

	"github.com/firstpick/firstpick/analytics/nights"
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
