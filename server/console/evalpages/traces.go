package evalpages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

// tracesAtOnce is how many trials a page lists.
const tracesAtOnce = 50

// query writes pairs of name and value behind an address; empty values are left out.
func query(pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// filterOf reads which trials an address asks for.
func filterOf(given url.Values) trialset.Filter {
	return trialset.Filter{Agent: given.Get("agent"), Outcome: given.Get("outcome"), Picked: given.Get("picked"), Prompt: given.Get("prompt")}
}

// queryOf is a filter as an address holds it, with more pairs.
func queryOf(f trialset.Filter, pairs ...string) string {
	return query(append([]string{"agent", f.Agent, "outcome", f.Outcome, "picked", f.Picked, "prompt", f.Prompt}, pairs...)...)
}

// A traceRow is a trial in the list.
type traceRow struct {
	Link, Prompt, Agent string
	Repeat              int
	Template            string
	Outcome             traceview.Term
	Picked              string
	Mismatch            bool
	Cost, Took          string
}

type tracesData struct {
	Page      layout.Page
	Run       head
	Filter    trialset.Filter
	Agents    []choice
	Outcomes  []choice
	Prompts   []choice
	Tools     []choice // suggestions; any name is taken
	Rows      []traceRow
	Total     int    // of the run
	First     string // the first page; empty on it
	Next      string
	All       string // link without a filter; empty if unfiltered
	File      string
	Synthetic string
}

// results opens the results of a run. Without results there are no traces,
// and the run's own page says why.
func (v *visit) results() (*evals.Run, *bundle.Bundle, func(), error) {
	r, err := v.h.Evals.Run(v.R.Context(), v.actor(), v.param("run"))
	if err != nil {
		return nil, nil, nil, err
	}
	b, release, err := v.h.Evals.Results(v.R.Context(), v.actor(), r.ID)
	return r, b, release, err
}

func (v *visit) traces() error {
	r, b, release, err := v.results()
	if err != nil {
		return err
	}
	defer release()
	given := v.R.URL.Query()
	f := filterOf(given)
	page, err := b.Traces(v.R.Context(), f, given.Get("cursor"), tracesAtOnce)
	if errors.Is(err, trialset.ErrCursor) {
		return v.see(v.chosen(r.ID) + queryOf(f))
	} else if err != nil {
		return err
	}
	d := tracesData{Page: v.page(), Run: v.head(r, "Traces"), Filter: f, Total: b.Manifest.Counts.Valid + b.Manifest.Counts.Excluded, Synthetic: synthetic(&b.Manifest)}
	tools, err := toolsOf(b)
	if err != nil {
		return err
	}
	for i := range page.Traces {
		e := &page.Traces[i]
		row := v.traceRow(r.ID, e, f, tools)
		if e.CostUSD == nil && e.Outcome != trialset.Excluded && simulates(&b.Manifest, e.Agent) {
			row.Cost = chart.Money(0)
		}
		d.Rows = append(d.Rows, row)
	}
	d.offer(&b.Manifest, tools)
	path := v.at("runs", r.ID, "traces")
	if given.Get("cursor") != "" {
		d.First = path + queryOf(f)
	}
	if page.Next != "" {
		d.Next = path + queryOf(f, "cursor", page.Next)
	}
	if f != (trialset.Filter{}) {
		d.All = path
	}
	d.File = v.at("runs", r.ID, "files", "traces.ndjson") + queryOf(f)
	return v.Show(http.StatusOK, "workspace-ev-traces", "Traces of "+r.EvalName, d)
}

// A toolName is a tool of the board, best first.
type toolName struct{ Slug, Name string }

func toolsOf(b *bundle.Bundle) ([]toolName, error) {
	s, err := b.ReadScores("")
	if err != nil {
		return nil, err
	}
	var out []toolName
	for _, t := range s.Board.Tools {
		out = append(out, toolName{t.Slug, t.Tool})
	}
	return out, nil
}

// named returns the name of a tool; names outside the category are returned unchanged.
func named(tools []toolName, slug string) string {
	for _, t := range tools {
		if t.Slug == slug {
			return t.Name
		}
	}
	return slug
}

func (v *visit) traceRow(run string, e *trialset.Entry, f trialset.Filter, tools []toolName) traceRow {
	row := traceRow{
		Link: v.at("runs", run, "traces", e.ID) + queryOf(f), Prompt: e.Prompt, Agent: e.Agent, Repeat: e.Repeat, Outcome: traceview.OutcomeOf(e),
		Picked: named(tools, e.Picked), Mismatch: e.Mismatch, Cost: chart.MaybeMoney(e.CostUSD), Took: chart.Seconds(e.WallMS),
	}
	if e.Outcome == "excluded" {
		row.Cost, row.Took = "–", "–"
	}
	if e.Template != "none" {
		row.Template = e.Template
	}
	return row
}

// offer fills in the choices of the filter form.
func (d *tracesData) offer(m *format.Manifest, tools []toolName) {
	for _, a := range m.Agents {
		d.Agents = append(d.Agents, choice{Key: a.Name, Name: a.Name, On: a.Name == d.Filter.Agent})
	}
	for _, t := range traceview.Outcomes() {
		d.Outcomes = append(d.Outcomes, choice{Key: t.Key, Name: t.Name, On: t.Key == d.Filter.Outcome})
	}
	for _, p := range m.Eval.Prompts {
		d.Prompts = append(d.Prompts, choice{Key: p.ID, Name: p.ID, On: p.ID == d.Filter.Prompt})
	}
	for _, t := range tools {
		d.Tools = append(d.Tools, choice{Key: t.Slug, Name: t.Name})
	}
}

// neighbours returns the trials before and behind one in the list of a filter; empty
// where there is none.
func neighbours(ctx context.Context, b *bundle.Bundle, f trialset.Filter, id string) (before, behind string, err error) {
	found := false
	for cursor := ""; ; {
		p, err := b.Traces(ctx, f, cursor, trialset.MaxPage)
		if err != nil {
			return "", "", err
		}
		list := p.Traces
		if !found {
			i := slices.IndexFunc(list, func(e trialset.Entry) bool { return e.ID == id })
			if i > 0 {
				before = list[i-1].ID
			}
			if i < 0 {
				if len(list) > 0 {
					before = list[len(list)-1].ID
				}
				list = nil
			} else {
				found, list = true, list[i+1:]
			}
		}
		if found && len(list) > 0 {
			return before, list[0].ID, nil
		}
		if cursor = p.Next; cursor == "" {
			if !found {
				before = ""
			}
			return before, "", nil
		}
	}
}

// missingTrial says that a run has no such trial.
func missingTrial(err error) error {
	if errors.Is(err, trialset.ErrNotFound) {
		return &apierr.Error{Status: http.StatusNotFound, Code: "trial_not_found", Description: "This run has no such trial."}
	}
	return err
}
