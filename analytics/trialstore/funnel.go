package trialstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// A Funnel counts the trials of a category whose agents work in a folder, by how far they came
// with a tool: named, picked, installed, builds. Each step is a part of the one before.
type Funnel struct {
	// Trials is the number of these trials: the denominator of every share.
	Trials int          `json:"trials"`
	Tools  []FunnelTool `json:"tools"`
}

// A FunnelTool is one tool in a Funnel, most picked first.
type FunnelTool struct {
	Slug string `json:"slug"`
	// Named counts the trials that name the tool as an option, Picked those that pick it,
	// Installed those that also add its package, or began with it.
	Named     int `json:"named"`
	Picked    int `json:"picked"`
	Installed int `json:"installed"`
	// Ran counts the trials of Installed in which the eval's command ran, Builds those in
	// which it passed.
	Ran    int `json:"ran"`
	Builds int `json:"builds"`

	NamedShare     float64 `json:"namedShare"`
	PickedShare    float64 `json:"pickedShare"`
	InstalledShare float64 `json:"installedShare"`
	BuildsShare    float64 `json:"buildsShare"`
}

// Funnels returns the funnels of runs, by category. A category without such trials has none.
// No runs means the current ones.
func (s *Store) Funnels(ctx context.Context, runs []string) (map[string]Funnel, error) {
	ids, err := s.chosen(ctx, runs)
	if err != nil {
		return nil, err
	}
	out := map[string]Funnel{}
	type row struct {
		category string
		FunnelTool
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
			out[r.category] = Funnel{Trials: r.Named, Tools: []FunnelTool{}}
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
