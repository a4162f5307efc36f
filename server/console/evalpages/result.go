package evalpages

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

type resultData struct {
	Page      layout.Page
	Run       head
	Took      string
	Spent     string
	Budget    string
	Planned   int
	Valid     int
	Note      string
	Again     bool
	Scores    *format.Scores // nil where there is nothing to show
	Synthetic string         // all, some; empty if absent
	Own       *ownResult     // nil where the run lacks the tool that the workspace follows
	Whose     []choice       // tools to choose the own one from; empty where one is chosen
	Forest    render.Forest
	Matrix    render.Matrix
	Changed   bool // an agent was not the same all the time
	Outcomes  []outcomeRow
	Details   []string // what outcomes do not tell
	Funnel    *funnel
	Excluded  []reasonRow
	Missing   []reasonRow
	Agents    []agentRow
	Manifest  *format.Manifest
	Traces    string
	Files     []choice
	Erase     *layout.Erase
	Next      []layout.Step // after the first run; none where all is done
}

// An outcomeRow is how many trials ended in one way.
type outcomeRow struct {
	traceview.Term
	N    int
	Link string
}

// A reasonRow is how many trials have no answer for a reason.
type reasonRow struct {
	traceview.Term
	N int
}

// An agentRow is one agent of a run: its cost, kind and model.
type agentRow struct {
	Name, Link     string
	Valid, Planned int
	Coverage       string
	Spent, Each    string
	Was            []string // kind, model, version of each manifest
}

func (v *visit) result(report *evals.Report) error {
	r := &report.Run
	d := resultData{
		Page: v.page(), Run: v.head(r, "Result"), Spent: spent(r), Budget: chart.Money(r.BudgetUSD), Planned: r.Planned, Valid: r.Valid, Note: r.Note,
		Erase: v.eraseRunForm(r.ID), Again: r.Attempts > 1, Traces: v.at("runs", r.ID, "traces"),
	}
	if r.StartedAt != nil {
		d.Took = chart.Duration(r.EndedAt.Sub(*r.StartedAt))
	}
	if report.Manifest != nil {
		s := report.Scores
		d.Scores, d.Manifest, d.Synthetic = s, report.Manifest, synthetic(report.Manifest)
		picked := func(t analytics.Standing) string { // the trials that picked it
			if t.Picks == 0 {
				return ""
			}
			return v.chosen(r.ID, "outcome", "tool", "picked", t.Slug)
		}
		own, err := v.ownTool()
		if err != nil {
			return err
		}
		if d.Own, err = v.ownResult(r, &s.Board, own); err != nil {
			return err
		}
		d.Whose = v.whose(r, &s.Board, own)
		if d.Own != nil && (d.Synthetic != "all" || d.Page.MadeUp) { // rehearsals have no trend, except in a sample
			if d.Own.Change, err = v.change(r.ID, own); err != nil {
				return err
			}
		}
		d.Forest = render.NewForest(&s.Board, picked, own)
		if note := rankNote(&s.Board); note != "" {
			d.Forest.RankNote = note
		}
		for i := range d.Forest.Rows {
			d.Forest.Rows[i].Lead = own != "" && d.Forest.Rows[i].Slug == own
		}
		d.Matrix = render.NewMatrix(&s.Board, func(agent string) string { return v.chosen(r.ID, "agent", agent) }, picked,
			func(agent, slug string) string {
				return v.chosen(r.ID, "agent", agent, "outcome", "tool", "picked", slug)
			})
		if len(d.Matrix.Columns) == 1 { // the board has its rates
			d.Matrix = render.Matrix{}
		}
		for _, a := range report.Manifest.Agents {
			d.Changed = d.Changed || len(a.Manifests) > 1
		}
		d.Outcomes, d.Agents = v.outcomes(r, &s.Board), v.agents(r, report.Manifest, s)
		d.Details, d.Funnel = details(s), v.funnel(r, s, own)
		d.Excluded, d.Missing = reasonRows(report.Manifest.Counts.ExcludedBy), reasonRows(report.Manifest.Counts.MissingBy)
		for _, name := range []string{"traces.ndjson", "trials.parquet", "scores.json", "manifest.json"} {
			d.Files = append(d.Files, choice{Name: name, Link: v.at("runs", r.ID, "files", name)})
		}
	}
	if d.Own != nil && r.Origin == "" {
		measure := d.Own.Edit + "#real"
		if d.Page.Measures {
			measure = v.measureAgain(r.EvalID)
		}
		var err error
		if d.Next, err = v.NextSteps(v.R.Context(), layout.Facts{Real: d.Synthetic != "all", Measure: measure, Schedule: d.Own.Schedule}); err != nil {
			return err
		}
	}
	return v.Show(http.StatusOK, "workspace-ev-result", r.EvalName, d)
}

func (v *visit) outcomes(r *evals.Run, b *analytics.Board) []outcomeRow {
	o, unresolved := b.Outcomes, 0
	if b.Unresolved != nil {
		unresolved = *b.Unresolved
	}
	var out []outcomeRow
	for _, t := range []struct {
		key string
		n   int
	}{{"tool", o.Tool}, {"diy", o.DIY}, {"other", o.Other}, {"none", o.None}, {"ambiguous", o.Ambiguous - unresolved}, {trialset.Unresolved, unresolved}, {"refused", o.Refused}, {"truncated", o.Truncated}} {
		if t.n > 0 {
			out = append(out, outcomeRow{traceview.Of(traceview.Outcomes(), t.key), t.n, v.chosen(r.ID, "outcome", t.key)})
		}
	}
	return out
}

// chosen is the address of the traces that a filter chooses.
func (v *visit) chosen(run string, pairs ...string) string {
	return v.at("runs", run, "traces") + query(pairs...)
}

func (v *visit) agents(r *evals.Run, m *format.Manifest, s *format.Scores) []agentRow {
	boards := map[string]*analytics.Board{}
	for i := range s.Agents {
		boards[s.Agents[i].Agent] = &s.Agents[i].Board
	}
	var out []agentRow
	for _, a := range m.Agents {
		row := agentRow{Name: a.Name, Link: v.chosen(r.ID, "agent", a.Name), Valid: a.Valid, Planned: a.Planned, Spent: chart.Money(a.SpentUSD), Each: "–"}
		if a.AtMostUSD > a.SpentUSD+0.00005 {
			row.Spent += ", at most " + chart.Money(a.AtMostUSD)
		}
		if a.Planned > 0 {
			row.Coverage = chart.Percent(float64(a.Valid) / float64(a.Planned))
		}
		if a.Valid > 0 {
			row.Each = chart.Money(a.SpentUSD / float64(a.Valid))
		}
		for _, is := range a.Manifests {
			row.Was = append(row.Was, strings.Join(slices.DeleteFunc([]string{is.Kind, is.Model, is.Version}, func(s string) bool { return s == "" }), " · "))
		}
		out = append(out, row)
	}
	return out
}

// reasonRows sorts why trials have no answer, the most frequent first.
func reasonRows(by map[string]int) []reasonRow {
	var out []reasonRow
	for _, code := range slices.Sorted(maps.Keys(by)) {
		out = append(out, reasonRow{traceview.Of(traceview.Reasons(), code), by[code]})
	}
	sorting.StableFunc(out, func(a, b reasonRow) int { return cmp.Compare(b.N, a.N) })
	return out
}
