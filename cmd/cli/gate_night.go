package cli

import (
	"context"
	"slices"

	"github.com/firstpick/firstpick/analytics/gate"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish"
)

// A nightly adds their nights to the subjects of rules that need them.
type nightly struct {
	rules    []gate.Rule
	manifest publish.Manifest
	trials   map[string][]nights.Trial // of the measured runs, by category
}

// read reads the trials of the measured runs, as a snapshot would have them.
func (n *nightly) read(ctx context.Context, store *trialstore.Store, cat *catalog.Catalog, chosen selection) (err error) {
	n.rules = slices.DeleteFunc(slices.Clone(n.rules), func(r gate.Rule) bool { return !r.Nightly() })
	if len(n.rules) == 0 || len(chosen.runs) == 0 {
		return nil
	}
	if n.manifest, err = (publish.Input{Store: store, Catalog: cat, Runs: chosen.runs, AllowIncomplete: true}).Manifest(ctx); err != nil {
		return err
	}
	n.trials = map[string][]nights.Trial{}
	for _, r := range chosen.rows {
		if n.trials[r.Category] == nil {
			if n.trials[r.Category], err = store.NightTrials(ctx, r.Category, chosen.ids()); err != nil {
				return err
			}
		}
	}
	return nil
}

// add gives the subjects the nights of the snapshots, and the measured runs as the last.
func (n *nightly) add(ctx context.Context, from publish.Place, subjects []gate.Subject) error {
	var categories []string
	for _, s := range subjects {
		if slices.ContainsFunc(n.rules, func(r gate.Rule) bool { return r.About(s.Board) }) {
			categories = append(categories, s.Board.Category)
		}
	}
	if len(categories) == 0 {
		return nil
	}
	past, err := publishedNights(ctx, from, categories)
	if err != nil {
		return err
	}
	for i := range subjects {
		s := &subjects[i]
		s.Nights = map[string][]nights.Line{}
		for _, r := range n.rules {
			if s.Nights[r.Since] != nil || !r.About(s.Board) || s.Board.AsOf == nil {
				continue
			}
			h, err := readHistory(ctx, from, s.Board.Category, before(*s.Board.AsOf, since(r.Since, past[s.Board.Category])), func(nights.Night) {})
			if err != nil {
				return err
			}
			measured := nightOf(n.manifest, s.Board)
			measured.Trials = n.trials[s.Board.Category]
			h.Add(measured) // unless it is published already
			s.Nights[r.Since] = h.Series().Nights
		}
	}
	return nil
}
