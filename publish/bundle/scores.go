package bundle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

// mostInMemory is how many trials are counted without a file, which most runs spare.
const mostInMemory = 5000

// writeScores writes scores.json and trials.parquet from a store of its own: other runs
// in the same folder may belong to other workspaces.
func (in Input) writeScores(ctx context.Context, run journal.Run, d *staging, m *format.Manifest) (_ []format.File, err error) {
	file := "" // in memory
	if m.Counts.Valid > mostInMemory {
		file = filepath.Join(d.scratch, "trials.duckdb")
	}
	store, err := trialstore.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if _, err := store.Load(ctx, in.RunsRoot, run.ID); err != nil {
		return nil, err
	}
	category, _ := in.Catalog.Category(run.Eval.Category)
	cells, totals, err := store.Cells(ctx, category.Slug, []string{run.ID})
	if err != nil {
		return nil, err
	}
	if totals.Valid != m.Counts.Valid {
		return nil, fmt.Errorf("the number of valid trials changed from %d to %d while reading: the run is still being written; wait until it has finished", m.Counts.Valid, totals.Valid)
	}
	scores, err := score(category, cells, m, analytics.DesignOf(eval.Pool{run.Eval}))
	if err != nil {
		return nil, err
	}
	if err := count(ctx, store, run, &scores); err != nil {
		return nil, err
	}
	data, err := content.JSON(scores)
	if err != nil {
		return nil, err
	}
	written, err := content.WriteFile(filepath.Join(d.bundle, format.ScoresName), data)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(d.bundle, format.TrialsName)
	if err := store.WriteParquet(ctx, path, []string{run.ID}, nil); err != nil {
		return nil, err
	}
	if err := content.Sync(path); err != nil {
		return nil, err
	}
	trials, err := content.HashFile(path)
	return []format.File{written, trials}, err
}

// count adds what a board does not tell of the run.
func count(ctx context.Context, store *trialstore.Store, run journal.Run, s *format.Scores) error {
	details, err := store.Details(ctx, []string{run.ID})
	if err != nil {
		return err
	}
	funnels, err := store.Funnels(ctx, []string{run.ID})
	s.Details = details[run.Eval.Category]
	if f, ok := funnels[run.Eval.Category]; ok {
		s.Funnel = &f
	}
	return err
}

func score(category *catalog.Category, cells []analytics.Cell, m *format.Manifest, design analytics.Design) (format.Scores, error) {
	var errs []error
	rank := func(cells []analytics.Cell, planned int) analytics.Board {
		b := analytics.Rank(analytics.Measurement{Category: category, Cells: cells, Planned: planned, Synthetic: m.Synthetic, Design: design})
		errs = append(errs, analytics.Check(b)...)
		return b
	}
	s := format.Scores{Board: rank(cells, m.Counts.Planned), Agents: []format.AgentScores{}}
	for _, a := range m.Agents {
		var own []analytics.Cell
		for _, c := range cells {
			if c.Agent == a.Name {
				own = append(own, c)
			}
		}
		s.Agents = append(s.Agents, format.AgentScores{Agent: a.Name, Money: a.Money, Board: rank(own, a.Planned)})
	}
	if err := errors.Join(errs...); err != nil {
		return s, fmt.Errorf("no bundle written, the scores are inconsistent: %w", err)
	}
	return s, nil
}
