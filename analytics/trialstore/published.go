package trialstore

import (
	"context"
	"errors"
)

// Published calls fn with every trial of a run of a store made by OpenParquet, in no
// order: what its file and the trial files of the snapshot both have. It holds one at a
// time. Runs of such a store are named category/eval.
func (s *Store) Published(ctx context.Context, run string, fn func(TrialRow) error) (err error) {
	rows, err := s.db.QueryContext(ctx, query("published"), run)
	if err != nil {
		return s.fail("published", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var t TrialRow
		var list string
		if err := rows.Scan(&t.TrialID, &t.PromptID, &t.Agent, &t.Template, &t.Repeat, &t.Outcome, &t.Picked, &list, &t.Mismatch, &t.Unresolved, &t.Method, &t.FinishedAt); err != nil {
			return s.fail("published", err)
		}
		t.Shortlist = splitList(list)
		t.FinishedAt = micro(t.FinishedAt)
		if err := fn(t); err != nil {
			return err
		}
	}
	return rows.Err()
}
