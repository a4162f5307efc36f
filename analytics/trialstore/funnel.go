package trialstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// Funnels returns the funnels of runs, by category. A category without such trials has none.
// No runs means the current ones.
func (s *Store) Funnels(ctx context.Context, runs []string) (map[string]analytics.Funnel, error) {
	ids, err := s.chosen(ctx, runs)
	if err != nil {
		return nil, err
	}
	out := map[string]analytics.Funnel{}
	type row struct {
		category string
		analytics.FunnelTool
	}
	rows, err := collect(ctx, s, "funnel", func(rows *sql.Rows) (r row, err error) {
		err = rows.Scan(&r.category, &r.Slug, &r.Named, &r.Picked, &r.Installed, &r.Ran, &r.Builds)
		return r, err
	}, ids)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.Slug == "" {
			out[r.category] = analytics.Funnel{Trials: r.Named, Tools: []analytics.FunnelTool{}}
		}
	}
	for _, r := range rows {
		if r.Slug == "" {
			continue
		}
		f := out[r.category]
		of := float64(f.Trials)
		r.NamedShare, r.PickedShare = float64(r.Named)/of, float64(r.Picked)/of
		r.InstalledShare, r.BuildsShare = float64(r.Installed)/of, float64(r.Builds)/of
		f.Tools = append(f.Tools, r.FunnelTool)
		out[r.category] = f
	}
	return out, nil
}

// installed returns the value of column installed.
func installed(run *journal.Run, agent string, r pick.Result) driver.Value {
	works := slices.ContainsFunc(run.Eval.Agents, func(a eval.Agent) bool { return a.Name == agent && a.IsProgram() })
	if !works || run.Imported {
		return nil
	}
	return r.Installs()
}

// builds returns the value of column builds.
func builds(a *journal.Answer) driver.Value {
	if a == nil || a.Build == nil {
		return nil
	}
	return a.Build.Passed()
}
