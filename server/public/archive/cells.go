package archive

import (
	"context"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// Cells counts the valid trials of a category of a site by prompt, agent and template, from
// the index of its trial files. They know picks and outcomes, and not what answers named
// besides. The error is an *apierr.Error: 404 where the site has no trials to read.
func (h *Handler) Cells(ctx context.Context, s *snapshotview.Site, category string) ([]analytics.Cell, error) {
	cells, err := get(ctx, h, "cells "+s.ID+" "+category, func(ctx context.Context) (out []analytics.Cell, err error) {
		keys, err := h.evals(ctx, s, category)
		for _, key := range keys {
			err := h.set(key, func(set *trialset.Set) error {
				counts, err := set.Counts(ctx)
				out = append(out, cellsOf(key.eval, counts)...)
				return err
			})
			if err != nil {
				return nil, unread(err)
			}
		}
		return out, err
	})
	if err == nil && len(cells) == 0 {
		err = unread(trialset.ErrNotFound)
	}
	if err != nil {
		return nil, apierr.Of(err)
	}
	return cells, nil
}

// cellsOf sums the counts of an eval, which are sorted.
func cellsOf(eval string, counts []trialset.Count) (out []analytics.Cell) {
	for _, n := range counts {
		if n.Outcome == trialset.Excluded {
			continue
		}
		name := eval + "/" + n.Prompt
		if last := len(out) - 1; last < 0 || out[last].Prompt != name || out[last].Agent != n.Agent || out[last].Template != n.Template {
			out = append(out, analytics.Cell{Prompt: name, Agent: n.Agent, Template: n.Template})
		}
		c := &out[len(out)-1]
		c.Trials, c.Mismatched = c.Trials+n.Trials, c.Mismatched+n.Mismatched
		c.UnresolvedUnknown, c.FirstUnknown = c.Trials, c.Trials // the index does not say
		of := map[string]*int{
			"tool": &c.Outcomes.Tool, "diy": &c.Outcomes.DIY, "other": &c.Outcomes.Other, "none": &c.Outcomes.None,
			"ambiguous": &c.Outcomes.Ambiguous, "refused": &c.Outcomes.Refused, "truncated": &c.Outcomes.Truncated,
		}[n.Outcome]
		if of != nil {
			*of += n.Trials
		}
		if n.Outcome == "tool" && n.Picked != "" {
			i := slices.IndexFunc(c.Tools, func(t analytics.ToolCount) bool { return t.Slug == n.Picked })
			if i < 0 {
				i, c.Tools = len(c.Tools), append(c.Tools, analytics.ToolCount{Slug: n.Picked})
			}
			t := &c.Tools[i]
			t.Picks, t.Shortlists = t.Picks+n.Trials, t.Shortlists+n.Trials
		}
	}
	return out
}
