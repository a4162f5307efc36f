package trialstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
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

// A Count is what is counted of the valid trials of one category.
type Count struct {
	Category string
	// Cells has a cell for each prompt, agent and template. Its prompt is "eval/prompt":
	// two evals may give different prompts the same id.
	Cells []analytics.Cell
	Totals
}

// Counts returns the counts of every category that the runs measured, sorted by category.
// No runs means the current ones. An unknown run is ErrNotFound.
func (s *Store) Counts(ctx context.Context, runs []string) ([]Count, error) {
	margins, err := s.margins(ctx, runs)
	if err != nil {
		return nil, err
	}
	if err := s.read(ctx, margins); err != nil {
		return nil, err
	}
	var out []Count
	for len(margins) > 0 {
		n := slices.IndexFunc(margins, func(m margin) bool { return m.category != margins[0].category })
		if n < 0 {
			n = len(margins)
		}
		out, margins = append(out, merge(margins[:n])), margins[n:]
	}
	return out, nil
}

// Cells returns the counts of one category; see Counts. They are empty where no run
// measured it.
func (s *Store) Cells(ctx context.Context, category string, runs []string) ([]analytics.Cell, Totals, error) {
	margins, err := s.margins(ctx, runs)
	if err != nil {
		return nil, Totals{}, err
	}
	margins = slices.DeleteFunc(margins, func(m margin) bool { return m.category != category })
	err = s.read(ctx, margins)
	c := merge(margins)
	return c.Cells, c.Totals, err
}

// A margin is what is kept of the counts of a run.
type margin struct {
	run, category string
	planned       int
	synthetic     bool
	encoded       []byte // nil where the run is not counted yet
	cells         []analytics.Cell
}

// margins returns those of the wanted runs, sorted by category, without cells.
func (s *Store) margins(ctx context.Context, runs []string) ([]margin, error) {
	if len(runs) == 0 {
		var err error
		if runs, err = s.current(ctx); err != nil {
			return nil, err
		}
	}
	out, err := collect(ctx, s, "margins", func(rows *sql.Rows) (m margin, err error) {
		err = rows.Scan(&m.run, &m.category, &m.planned, &m.synthetic, &m.encoded)
		return m, err
	}, strings.Join(runs, ","), cellsFormat)
	if err != nil {
		return nil, err
	}
	for _, id := range runs {
		if !slices.ContainsFunc(out, func(m margin) bool { return m.run == id }) {
			return nil, fmt.Errorf("run %s: %w", id, ErrNotFound)
		}
	}
	return out, nil
}

// read sets the cells. Those of runs that are not counted yet, and all of a store made by
// OpenParquet, are counted now.
func (s *Store) read(ctx context.Context, margins []margin) error {
	var uncounted []string
	for i := range margins {
		m := &margins[i]
		if m.encoded == nil {
			uncounted = append(uncounted, m.run)
			continue
		}
		var err error
		if m.cells, err = decodeCells(m.encoded); err != nil {
			return &DamagedError{Path: s.path, Err: fmt.Errorf("counts of run %s: %w", m.run, err)}
		}
	}
	if len(uncounted) == 0 {
		return nil
	}
	counted, err := s.countCells(ctx, s.db, uncounted)
	for i, m := range margins {
		if m.encoded == nil {
			margins[i].cells = counted[m.run]
		}
	}
	return err
}

// merge sums the margins of one category.
func merge(margins []margin) Count {
	var c Count
	cells := make([][]analytics.Cell, len(margins))
	for i, m := range margins {
		c.Category, cells[i] = m.category, m.cells
		c.Planned += m.planned
		c.Synthetic = c.Synthetic || m.synthetic
	}
	c.Cells = analytics.Merge(cells...)
	for _, cell := range c.Cells {
		c.Valid += cell.Trials
	}
	return c
}

// scanGroup shares the split shortlists: there are few of them, and many groups.
func scanGroup(rows *sql.Rows, lists map[string][]string) (run string, c analytics.Group, err error) {
	var eval, prompt, outcome, list string
	var method, first, judges sql.NullString // null in older files
	var unresolved sql.NullBool
	if err := rows.Scan(&run, &eval, &prompt, &c.Agent, &c.Template, &outcome, &c.Picked, &list, &method, &unresolved, &first, &judges, &c.Trials, &c.Mismatched, &c.LastAt); err != nil {
		return run, c, err
	}
	if _, ok := lists[list]; !ok {
		lists[list] = splitList(list)
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
	return run, c, nil
}
