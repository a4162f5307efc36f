package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// outcomes are the possible outcomes of a valid trial.
func outcomes() (all []string) {
	for _, k := range pick.Kinds() {
		all = append(all, string(k))
	}
	return all
}

// checkFilter says which value of a filter that matched nothing is unknown.
func (a *app) checkFilter(ctx context.Context, store *trialstore.Store, f trialstore.Filter) error {
	if known := append(outcomes(), trialstore.Unresolved); f.Outcome != "" && !slices.Contains(known, f.Outcome) {
		return unknownValue("no outcome", f.Outcome, known)
	}
	rows, err := store.Runs(ctx)
	if err != nil {
		return err
	}
	var runs, agents, measured []string
	for _, row := range rows {
		runs, measured = append(runs, row.ID), append(measured, row.Category)
		if f.Run != "" && row.ID != f.Run || f.Category != "" && row.Category != f.Category {
			continue
		}
		run, err := journal.ReadRun(a.runsRoot(), row.ID)
		if err != nil {
			return err
		}
		for _, one := range run.Eval.Agents {
			agents = append(agents, one.Name)
		}
	}
	cat, err := a.catalog()
	if err != nil {
		return err
	}
	var tools []string
	for _, c := range cat.Categories {
		for _, t := range c.Entries {
			if f.Category == "" || c.Slug == f.Category {
				tools = append(tools, t.Tool.Slug)
			}
		}
	}
	for _, one := range []struct {
		what, value string
		known       []string
	}{
		{"no run", f.Run, runs}, {"no category in these runs is named", f.Category, measured},
		{"no agent in these runs is named", f.Agent, agents}, {"no tool in the catalogue is named", f.Picked, tools},
	} {
		slices.Sort(one.known)
		if one.value != "" && !slices.Contains(one.known, one.value) {
			return unknownValue(one.what, one.value, slices.Compact(one.known))
		}
	}
	_, _ = fmt.Fprintln(a.env.Stderr, "note: no trial matches")
	return nil
}
