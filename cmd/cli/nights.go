package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/content"
)

// nightOf describes a measurement of a board's category by its manifest, without trials.
func nightOf(m publish.Manifest, board analytics.Board) nights.Night {
	n := nights.Night{
		At: *board.AsOf, Catalog: m.Catalog, Extractor: m.Extractor, Synthetic: board.Synthetic,
		Prompts: map[string]string{}, Models: map[string]string{}, Board: board,
	}
	unknown := content.Digest(nil) // of a text
	asked, reported := map[string][]string{}, map[string][]string{}
	for _, e := range m.Evals {
		if e.Category != board.Category {
			continue
		}
		for _, p := range e.Prompts {
			if p.SHA256 != unknown {
				n.Prompts[e.Name+"/"+p.ID] = p.SHA256
			}
		}
		for _, a := range e.Agents {
			asked[a.Name] = append(asked[a.Name], a.Asked)
			reported[a.Name] = append(reported[a.Name], a.Reported...)
		}
	}
	for agent := range asked {
		n.Models[agent] = nights.ModelOf(asked[agent], reported[agent])
	}
	return n
}

// publishedNights returns the nights of categories that snapshots of a place have, oldest
// first, without trials.
func publishedNights(ctx context.Context, from publish.Place, categories []string) (map[string][]nights.Night, error) {
	infos, err := from.List(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string][]nights.Night{}
	for _, info := range slices.Backward(infos) { // of equal nights, the first one published counts
		for _, c := range categories {
			m, board, err := from.LoadBoard(ctx, info.ID, c)
			if errors.Is(err, publish.ErrNotFound) || err == nil && board.AsOf == nil {
				continue
			}
			if err != nil {
				return nil, err
			}
			n := nightOf(m, board)
			n.Snapshot = info.ID
			out[c] = append(out[c], n)
		}
	}
	for _, list := range out {
		sorting.StableFunc(list, func(a, b nights.Night) int { return a.At.Compare(b.At) })
	}
	return out, nil
}

// since leaves out the nights before a day, YYYY-MM-DD in UTC; all stay if it is empty.
func since(day string, past []nights.Night) []nights.Night {
	return slices.DeleteFunc(slices.Clone(past), func(n nights.Night) bool { return n.At.UTC().Format(time.DateOnly) < day })
}

// before returns the nights up to a time: later snapshots say nothing of an earlier run.
func before(at time.Time, past []nights.Night) []nights.Night {
	return slices.DeleteFunc(past, func(n nights.Night) bool { return n.At.After(at) })
}

// readHistory reads the trials of a category's nights in snapshots of a place. It calls skipped
// with each night that has no trials of its own.
func readHistory(ctx context.Context, from publish.Place, category string, past []nights.Night, skipped func(nights.Night)) (*nights.History, error) {
	h := nights.New(category)
	for _, n := range past {
		store, err := from.Trials(ctx, n.Snapshot)
		if err != nil {
			return nil, err
		}
		n.Trials, err = store.NightTrials(ctx, category, nil)
		if err := errors.Join(err, store.Close()); err != nil {
			return nil, err
		}
		if !h.Add(n) {
			skipped(n)
		}
	}
	return h, nil
}
