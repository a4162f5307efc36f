package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/gate"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// A baseline is an earlier snapshot with its trials.
type baseline struct {
	snapshot *publish.Snapshot
	store    *trialstore.Store
}

func openBaseline(ctx context.Context, root, name string) (*baseline, error) {
	id, err := snapshotID(root, name)
	if err != nil {
		return nil, err
	}
	s, err := publish.Load(root, id)
	if err != nil {
		return nil, err
	}
	store, err := s.Trials(ctx, root)
	if err != nil {
		return nil, err
	}
	return &baseline{s, store}, nil
}

// add gives a subject the cells of its category, and notes the other differences.
func (b *baseline) add(ctx context.Context, catalogue string, s *gate.Subject, name string, runs []journal.Run) error {
	board, ok := b.snapshot.Board(s.Board.Category)
	if !ok {
		return nil
	}
	cells, _, err := b.store.Cells(ctx, s.Board.Category, nil)
	if err != nil {
		return err
	}
	m := b.snapshot.Manifest
	base := gate.Baseline{Cells: analytics.ByFamily(cells, m.Families(s.Board.Category))}
	if m.Catalog != catalogue {
		base.Notes = append(base.Notes, "the catalogue differs")
	}
	if m.Extractor != pick.Version {
		base.Notes = append(base.Notes, "the extractor differs")
	}
	if board.Synthetic != s.Board.Synthetic {
		base.Notes = append(base.Notes, "one of both is simulated")
	}
	changed := changedPrompts(m, s.Board.Category, runs)
	for i := range base.Cells {
		if slices.Contains(changed, base.Cells[i].Prompt) {
			base.Cells[i].Prompt += " (before)" // another text is another prompt
		}
	}
	if len(changed) > 0 {
		base.Notes = append(base.Notes, "texts of prompts changed")
	}
	s.Baselines[name] = base
	return nil
}

// changedPrompts lists the prompts, as cells name them, that have the same id as
// before and another text.
func changedPrompts(m publish.Manifest, category string, runs []journal.Run) (changed []string) {
	now := map[string]string{}
	for _, r := range runs {
		for _, p := range r.Eval.Prompts {
			if r.Eval.Category == category {
				sum := sha256.Sum256([]byte(p.Text))
				now[r.Eval.Name+"/"+p.ID] = hex.EncodeToString(sum[:])
			}
		}
	}
	for _, e := range m.Evals {
		for _, p := range e.Prompts {
			name := e.Name + "/" + p.ID
			if sum, ok := now[name]; ok && e.Category == category && sum != p.SHA256 {
				changed = append(changed, name)
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
