package trialstore

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

// runCounts are the counts of a run that its cells do not hold.
type runCounts struct {
	Valid      int        `json:"valid"`
	Excluded   int        `json:"excluded"`
	Unresolved *int       `json:"unresolved"`
	LastAt     *time.Time `json:"last_at"`
}

// A tally is all that a margin counts of a run.
type tally struct {
	runCounts
	Extracted int `json:"extracted"`
	cells     []analytics.Cell
}

// setMargin drops what is counted of a run and, where its trials are complete, counts
// them again.
func (s *Store) setMargin(ctx context.Context, tx *duck.Tx, run journal.Run, complete bool) error {
	if _, err := tx.ExecContext(ctx, `delete from margin where run_id = ?`, run.ID); err != nil || !complete {
		return err
	}
	t, err := s.recount(ctx, tx, run)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `insert into margin values (?, ?, ?, ?, ?, ?, ?, ?)`,
		run.ID, cellsFormat, t.Valid, t.Excluded, t.Unresolved, t.LastAt, t.Extracted, encodeCells(t.cells))
	return err
}

// recount counts a run from its trials.
func (s *Store) recount(ctx context.Context, q querier, run journal.Run) (t tally, err error) {
	cells, err := s.countCells(ctx, q, []string{run.ID})
	if err != nil {
		return t, err
	}
	counts, err := s.countFigures(ctx, q, []string{run.ID})
	if err != nil {
		return t, err
	}
	t.runCounts, t.cells = counts[run.ID], cells[run.ID]
	t.Extracted, err = s.countExtracted(ctx, q, run)
	return t, err
}

// countCells counts the trials of runs, by run.
func (s *Store) countCells(ctx context.Context, q querier, runs []string) (map[string][]analytics.Cell, error) {
	groups := map[string][]analytics.Group{}
	lists := map[string][]string{"": nil}
	_, err := collectFrom(ctx, s, q, "cells", func(rows *sql.Rows) (struct{}, error) {
		run, g, err := scanGroup(rows, lists)
		groups[run] = append(groups[run], g)
		return struct{}{}, err
	}, strings.Join(runs, ","))
	cells := make(map[string][]analytics.Cell, len(groups))
	for run, g := range groups {
		cells[run] = analytics.Cells(g)
	}
	return cells, err
}

func (s *Store) countFigures(ctx context.Context, q querier, runs []string) (map[string]runCounts, error) {
	counts := make(map[string]runCounts, len(runs))
	_, err := collectFrom(ctx, s, q, "figures", func(rows *sql.Rows) (struct{}, error) {
		var run string
		var f runCounts
		err := rows.Scan(&run, &f.Valid, &f.Excluded, &f.Unresolved, &f.LastAt)
		counts[run] = f
		return struct{}{}, err
	}, strings.Join(runs, ","))
	return counts, err
}

func (s *Store) countExtracted(ctx context.Context, q querier, r journal.Run) (n int, err error) {
	if r.Synthetic {
		return 0, nil
	}
	name := "extracted"
	if slices.ContainsFunc(r.Eval.Agents, func(a eval.Agent) bool { return a.Kind == eval.KindRecorded }) {
		name = "extracted_recorded" // reads the answers, which may be many bytes
	}
	if err := q.QueryRowContext(ctx, query(name), r.ID).Scan(&n); err != nil {
		return 0, s.fail("extracted outcomes of run "+r.ID, err)
	}
	return n, nil
}

// Extracted returns how many trials of runs people can check, by run: their outcome was
// extracted from an answer. Ready outcomes, the lists of imports of a study and simulated
// agents have none. It does not work on a store made by OpenParquet.
func (s *Store) Extracted(ctx context.Context, runs []journal.Run) (map[string]int, error) {
	counted := map[string]int{}
	_, err := collect(ctx, s, "margins_extracted", func(rows *sql.Rows) (struct{}, error) {
		var run string
		var n int
		err := rows.Scan(&run, &n)
		counted[run] = n
		return struct{}{}, err
	}, cellsFormat)
	if err != nil {
		return nil, err
	}
	out := make(map[string]int, len(runs))
	for _, r := range runs {
		n, ok := counted[r.ID]
		if !ok {
			if n, err = s.countExtracted(ctx, s.db, r); err != nil {
				return nil, err
			}
		}
		out[r.ID] = n
	}
	return out, nil
}
