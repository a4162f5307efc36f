package evalpages

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/chart"
)

type compareData struct {
	Page     layout.Page
	Run      head
	Others   []choice // runs of the category to compare it with
	Problem  string
	Base     *sideData // nil while none is chosen
	This     *sideData
	Paired   bool
	Notes    []string
	Warnings []string
	Tools    []changeRow
	Own      *aloneChange // of the tool that the workspace follows; nil without
	Still    []string     // tools without a pick in both runs
	Agents   []agentChange
	Only     []onlyRow
	Swap     string
}

// significant is below which p-value a change is significant.
const significant = 0.05

// A sideData is one of two runs that are compared.
type sideData struct {
	Title                                              string
	Name, Link, When, Trials, Prompts, Coverage, Spent string
	Version                                            string // the address of the eval's text
	Synthetic                                          bool
}

// A changeRow is one tool in both runs.
type changeRow struct {
	Tool, Before, Now, Diff, Interval string
	Look                              string // of the own tool: up, down or flat
	P                                 string
	Significant                       bool
	Own                               bool // the workspace follows it
}

// An aloneChange is how sure the change of the own tool is for itself, and among all tested tools.
type aloneChange struct {
	Tool, Diff  string
	Alone, All  verdict
	TestedTools string // at once; empty where it is the only one
}

// A verdict is the interval and the p-value of a test.
type verdict struct {
	Interval, P string
	Significant bool
}

type agentChange struct {
	Agent, Trials string
	Changed       []string
	Tools         []changeRow
}

// An onlyRow lists items in only one of the runs.
type onlyRow struct{ Where, What string }

// compare shows the changes from another run to this one.
func (v *visit) compare() error {
	r, err := v.h.Evals.Run(v.R.Context(), v.actor(), v.param("run"))
	if err != nil {
		return err
	}
	base := v.R.URL.Query().Get("with")
	d := compareData{Page: v.page(), Run: v.head(r, "Compare")}
	if d.Others, err = v.others(r, base); err != nil {
		return err
	}
	status := http.StatusOK
	if base != "" {
		c, err := v.h.Evals.Compare(v.R.Context(), v.actor(), r.ID, base)
		if problem := wrong(err); problem != nil {
			status, d.Problem = problem.Status, problem.Description
		} else if err != nil {
			return err
		} else {
			own, err := v.ownTool()
			if err != nil {
				return err
			}
			d.fill(v, c, own)
		}
	}
	return v.Show(status, "workspace-ev-compare", "Compare "+r.EvalName, d)
}

// others returns the runs that a run can be compared with, the newest first.
func (v *visit) others(r *evals.Run, on string) ([]choice, error) {
	runs, _, err := v.h.Evals.Runs(v.R.Context(), v.actor(), evals.RunQuery{Limit: lookBack})
	if err != nil {
		return nil, err
	}
	var out []choice
	for _, o := range runs {
		if o.HasResults && o.Category == r.Category && o.ID != r.ID {
			out = append(out, choice{Key: o.ID, Name: fmt.Sprintf("%s, version %d · %s · %d trials", o.EvalName, o.EvalVersion, chart.Minute(o.CreatedAt), o.Valid), On: o.ID == on})
		}
	}
	return out, nil
}

func (d *compareData) fill(v *visit, c *evals.Comparison, own string) {
	d.Base, d.This, d.Paired, d.Warnings = v.side("Before", &c.Base), v.side("Now", &c.Run), c.Paired, c.Warnings
	d.Swap = v.at("runs", c.Base.ID, "compare") + query("with", c.Run.ID)
	for _, n := range c.Notes {
		d.Notes = append(d.Notes, n.Message)
	}
	for i := range c.Tools {
		if t := &c.Tools[i]; t.PickRate == 0 && t.BasePickRate == 0 {
			d.Still = append(d.Still, t.Tool)
		} else {
			d.Tools = append(d.Tools, newChange(t, own))
			if row := &d.Tools[len(d.Tools)-1]; row.Own {
				d.Own = &aloneChange{
					Tool: t.Tool, Diff: row.Diff, All: verdict{row.Interval, row.P, row.Significant},
					Alone: verdict{points(t.AloneCILow) + " to " + points(t.AloneCIHigh), picks.PValue(t.PAlone), t.PAlone < significant},
				}
			}
		}
	}
	if d.Own != nil && len(d.Tools) > 1 {
		d.Own.TestedTools = chart.Count(len(d.Tools), "picked tool", "picked tools")
	}
	agents := c.Agents
	if len(agents) == 1 && len(c.OnlyInBase.Agents)+len(c.OnlyInRun.Agents) == 0 {
		agents = nil // its changes are those of all agents
	}
	for _, a := range agents {
		row := agentChange{Agent: a.Agent, Trials: fmt.Sprintf("%d trials before, %d now", a.BaseNTrials, a.NTrials), Changed: a.Changed}
		for i := range a.Tools {
			row.Tools = append(row.Tools, newChange(&a.Tools[i], own))
		}
		d.Agents = append(d.Agents, row)
	}
	for _, side := range []struct {
		name string
		evals.Unshared
	}{{"Only before", c.OnlyInBase}, {"Only now", c.OnlyInRun}} {
		for _, list := range []struct {
			what  string
			names []string
		}{{"prompts", side.Prompts}, {"agents", side.Agents}, {"tools", side.Tools}} {
			if len(list.names) > 0 {
				d.Only = append(d.Only, onlyRow{side.name, list.what + " " + strings.Join(list.names, ", ")})
			}
		}
	}
}

func (v *visit) side(title string, s *evals.Side) *sideData {
	out := &sideData{
		Title: title,
		Name:  fmt.Sprintf("%s, version %d", s.EvalName, s.EvalVersion), Link: v.at("runs", s.ID), Version: v.at("evals", s.EvalID, "versions", strconv.Itoa(s.EvalVersion)), When: "–", Trials: chart.Count(s.NTrials, "valid trial", "valid trials"),
		Prompts: chart.Count(s.NPrompts, "prompt", "prompts"), Coverage: chart.Percent(s.Coverage), Spent: chart.Money(s.SpentUSD), Synthetic: s.Synthetic,
	}
	if s.AsOf != nil {
		out.When = chart.Minute(*s.AsOf)
	}
	return out
}

// newChange describes the change of a tool. Only that of the own tool is good or bad.
func newChange(t *evals.ToolChange, own string) changeRow {
	row := changeRow{
		Tool: t.Tool, Before: between(t.BasePickRate, t.BaseCILow, t.BaseCIHigh), Now: between(t.PickRate, t.CILow, t.CIHigh),
		Diff: points(t.Diff), Interval: points(t.DiffCILow) + " to " + points(t.DiffCIHigh), Look: "flat", Significant: t.Significant, P: picks.PValue(t.PAdjusted),
		Own: own != "" && t.Slug == own,
	}
	switch {
	case !row.Own || !t.Significant:
	case t.Diff > 0:
		row.Look = "up"
	default:
		row.Look = "down"
	}
	return row
}

// points writes a difference of rates in percentage points.
func points(v float64) string {
	text := fmt.Sprintf("%+.1f", stats.Percent(v))
	if text == "+0.0" || text == "-0.0" {
		return "0"
	}
	return strings.Replace(strings.TrimSuffix(text, ".0"), "-", "−", 1)
}
