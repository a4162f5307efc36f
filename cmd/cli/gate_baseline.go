package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/gate"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// A baseline is an earlier snapshot with what its trials count to.
type baseline struct {
	snapshot *publish.Snapshot
	counts   []trialstore.Count
}

func openBaseline(ctx context.Context, from publish.Place, name string) (*baseline, error) {
	id, err := snapshotID(ctx, from, name)
	if err != nil {
		return nil, err
	}
	s, err := from.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	store, err := s.Trials(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := store.Counts(ctx, nil)
	return &baseline{s, counts}, errors.Join(err, store.Close())
}

// add gives a subject the cells of its category, and notes the other differences.
func (b *baseline) add(catalogue string, s *gate.Subject, name string, runs []journal.Run) {
	board, ok := b.snapshot.Board(s.Board.Category)
	if !ok {
		return
	}
	var cells []analytics.Cell
	for _, c := range b.counts {
		if c.Category == s.Board.Category {
			cells = c.Cells
		}
	}
	m := b.snapshot.Manifest
	base := gate.Baseline{Measurement: analytics.Measurement{Cells: cells, Design: analytics.DesignOf(m.Pool(s.Board.Category))}}
	if m.Catalog != catalogue {
		base.Notes = append(base.Notes, "the catalogue differs")
	}
	if m.Extractor != pick.Version {
		base.Notes = append(base.Notes, "the extractor differs")
	}
	if board.Synthetic != s.Board.Synthetic {
		base.Notes = append(base.Notes, "one of both is simulated")
	}
	if pairByText(base.Measurement.Design, m, s, runs) {
		base.Notes = append(base.Notes, "texts of prompts changed")
	}
	s.Baselines[name] = base
}

// pairByText gives the prompts of an older snapshot, which names families of equal texts
// only, the families that the same texts have now. It reports whether a prompt has another
// text than before.
func pairByText(before analytics.Design, m publish.Manifest, s *gate.Subject, runs []journal.Run) (changed bool) {
	now, families := map[string]string{}, map[string]string{}
	for _, r := range runs {
		for _, p := range r.Eval.Prompts {
			if r.Eval.Category == s.Board.Category && p.Text != "" {
				name := r.Eval.Name + "/" + p.ID
				sum := sha256.Sum256([]byte(p.Text))
				now[name] = hex.EncodeToString(sum[:])
				families[now[name]] = s.Measurement.Design.Families[name]
			}
		}
	}
	for _, e := range m.Evals {
		for _, p := range e.Prompts {
			name := e.Name + "/" + p.ID
			if sum, ok := now[name]; e.Category == s.Board.Category && ok && sum != p.SHA256 {
				changed = true
			}
			if before.Families[name] == "" {
				before.Families[name] = families[p.SHA256]
			}
		}
	}
	return changed
}

// writeTo opens a file for writing, new or with how, and closes it.
func writeTo(path string, how int, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|how, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
