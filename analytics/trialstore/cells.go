package trialstore

import (
	"context"
	"database/sql"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner/pick"
)

// Totals are a category's figures that its cells do not hold.
type Totals struct {
	// Planned and Valid count trials. Planned is 0 in a store made by
	// OpenParquet: the snapshot's manifest has it.
	Planned, Valid int
	// Synthetic says that at least one of the runs asked a simulated agent.
	Synthetic bool
}

// Cells counts the valid trials of one category by prompt, agent and template. No runs means the current ones. A cell's prompt is "eval/prompt":
// two evals may give different prompts the same id.
func (s *Store) Cells(ctx context.Context, category string, runs []string) ([]analytics.Cell, Totals, error) {
	var t Totals
	ids, err := s.chosen(ctx, runs)
	if err != nil {
		return nil, t, err
	}
	lists := map[string][]string{"": nil}
	groups, err := collect(ctx, s, "cells", func(rows *sql.Rows) (analytics.Group, error) {
		return scanGroup(rows, lists)
	}, category, ids)
	if err != nil {
		return nil, t, err
	}
	cells := analytics.Cells(groups)
	for _, c := range cells {
		t.Valid += c.Trials
	}
	err = s.db.QueryRowContext(ctx, query("totals"), category, ids).Scan(&t.Planned, &t.Synthetic)
	if err != nil {
		return nil, t, s.fail("totals of "+category, err)
	}
	return cells, t, nil
}

// scanGroup shares the split shortlists: there are few of them, and many cells.
func scanGroup(rows *sql.Rows, lists map[string][]string) (analytics.Group, error) {
	var c analytics.Group
	var eval, prompt, outcome, list string
	var method, first, judges sql.NullString // null in older files
	var unresolved sql.NullBool
	if err := rows.Scan(&eval, &prompt, &c.Agent, &c.Template, &outcome, &c.Picked, &list, &method, &unresolved, &first, &judges, &c.Trials, &c.Mismatched, &c.LastAt); err != nil {
		return c, err
	}
	if _, ok := lists[list]; !ok {
		lists[list] = strings.Split(list, ",")
	}
	if method.Valid {
		r := pick.Result{Method: pick.Method(method.String), Unresolved: unresolved.Bool}
		c.DecidedBy.Add(r.Layer(), c.Trials)
	}
	if !unresolved.Valid {
		c.UnresolvedUnknown = c.Trials
	} else if unresolved.Bool {
		c.Unresolved = c.Trials
	}
	if judges.String != "" {
		c.Judged = c.Trials
	}
	if judges.String == judgesAgree {
		c.Agreed = c.Trials
	}
	if c.FirstNamed = first.String; !first.Valid {
		c.FirstUnknown = c.Trials
	}
	c.Prompt, c.Outcome, c.Shortlist, c.LastAt = eval+"/"+prompt, pick.Kind(outcome), lists[list], micro(c.LastAt)
	return c, nil
}
