package trialstore

import (
	"context"
	"database/sql"
)

// An OutcomeRow is what rates are computed from: one valid trial, its plan and its outcome.
type OutcomeRow struct {
	Category, Eval, Prompt, Agent, Template string
	Repeat                                  int
	Outcome, Picked                         string
	Shortlist                               []string
}

// OutcomeRows calls each with the valid trials of runs, sorted by their place in the plan.
// No runs means the current ones. Memory does not grow with the trials.
func (s *Store) OutcomeRows(ctx context.Context, runs []string, each func(OutcomeRow) error) error {
	ids, err := s.chosen(ctx, runs)
	if err != nil {
		return err
	}
	_, err = collect(ctx, s, "rows", func(rows *sql.Rows) (struct{}, error) {
		var r OutcomeRow
		var list string
		if err := rows.Scan(&r.Category, &r.Eval, &r.Prompt, &r.Agent, &r.Template, &r.Repeat, &r.Outcome, &r.Picked, &list); err != nil {
			return struct{}{}, err
		}
		r.Shortlist = splitList(list)
		return struct{}{}, each(r)
	}, ids)
	return err
}
