package evalpages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

// How many rows a page shows.
const (
	evalsAtOnce   = 20
	runsAtOnce    = 25
	runsAlongside = 5
	// lookBack is among how many runs the latest of each eval is looked for at once.
	lookBack = 200
)

// A choice is a link, or an option of a form, that is on or off.
type choice struct {
	Key, Name, Link string
	On              bool
}

// A runRow is a run in a list.
type runRow struct {
	ID, Link, Eval, EvalLink string
	Version                  int
	Status                   traceview.Term
	When, Trials             string
	Spent, Budget            string
	Result                   lead
	Pushed                   bool
}

func (v *visit) runRow(r *evals.Run) runRow {
	row := runRow{
		ID: r.ID, Link: v.at("runs", r.ID), Eval: r.EvalName, EvalLink: v.at("evals", r.EvalID), Version: r.EvalVersion, Status: traceview.Of(statuses(), r.Status),
		When: chart.Minute(r.CreatedAt), Trials: strconv.Itoa(r.Valid) + " of " + chart.Count(r.Planned, "trial", "trials"), Spent: spent(r), Budget: "of " + chart.Money(r.BudgetUSD),
	}
	if r.Origin != "" {
		row.Pushed, row.Budget = true, "elsewhere"
	}
	if r.Status == "queued" {
		row.Trials, row.Spent = chart.Count(r.Planned, "trial", "trials"), "–"
	}
	return row
}

// A lead is the tool that leads a run, and how many tie with it; empty where there is
// no result. Rate has its interval with it, and is empty where Tool says why there is
// none. Own is the tool that the workspace follows, where another one leads.
type lead struct {
	Tool, Rate string
	Own        string
	Synthetic  bool
}

// spent formats the cost of a run, with its upper bound if it is not exact.
func spent(r *evals.Run) string {
	if r.AtMostUSD > r.SpentUSD+0.00005 {
		return chart.Money(r.SpentUSD) + ", at most " + chart.Money(r.AtMostUSD)
	}
	return chart.Money(r.SpentUSD)
}

// leads says who leads a run, with the interval that belongs to it. A list is shown
// also where the results of one of its runs cannot be read.
func (v *visit) leads(r *evals.Run) (lead, error) {
	if !r.HasResults {
		return lead{}, nil
	}
	report, err := v.h.Evals.Report(v.R.Context(), v.actor(), r.ID)
	if err != nil && apierr.Of(err).Status == http.StatusServiceUnavailable {
		return lead{Tool: "unavailable"}, nil
	} else if err != nil {
		return lead{}, err
	}
	s := report.Scores
	if s.Board.NTrials == 0 || len(s.Board.Tools) == 0 || s.Board.Tools[0].Picks == 0 {
		return lead{Tool: "no tool was picked"}, nil
	}
	t := s.Board.Tools[0]
	name, ties := t.Tool, 0
	for _, other := range s.Board.Tools[1:] {
		if other.Rank == t.Rank {
			ties++
		}
	}
	if ties > 0 {
		name += " and " + chart.Count(ties, "other", "others")
	}
	out := lead{Tool: name, Rate: between(t.PickRate, t.CILow, t.CIHigh), Synthetic: s.Board.Synthetic}
	slug, err := v.ownTool()
	if err != nil {
		return lead{}, err
	}
	for _, own := range s.Board.Tools[1:] {
		if own.Slug == slug {
			out.Own = own.Tool + " " + chart.Percent(own.PickRate) + ", rank " + strconv.Itoa(own.Rank)
		}
	}
	return out, nil
}

// An evalRow is an eval in the list.
type evalRow struct {
	Name, Link, Category, Agents, Trials string
	Synthetic                            bool
	Last                                 *runRow // nil before the first
	Result                               *runRow // the latest that has one
}

type listData struct {
	Page  layout.Page
	Paid  bool
	Evals []evalRow
	Next  string
	Later bool // it is not the first page
	Runs  []runRow
	More  string // where all runs are
	New   string
	Begin []choice
	Keys  string // where API keys are made
}

func (v *visit) list() error {
	ctx := v.R.Context()
	list, next, err := v.h.Evals.Evals(ctx, v.actor(), v.R.URL.Query().Get("cursor"), evalsAtOnce)
	if err != nil {
		return err
	}
	runs, _, err := v.h.Evals.Runs(ctx, v.actor(), evals.RunQuery{Limit: lookBack})
	if err != nil {
		return err
	}
	latest, results := map[string]*evals.Run{}, map[string]*evals.Run{}
	for _, r := range runs {
		if latest[r.EvalID] == nil {
			latest[r.EvalID] = r
		}
		if r.HasResults && results[r.EvalID] == nil {
			results[r.EvalID] = r
		}
	}
	d := listData{Page: v.area("evals"), Paid: v.paid(), More: v.at("runs"), New: v.at("evals", "new"), Keys: v.at("settings", "evals"), Later: v.R.URL.Query().Has("cursor")}
	if len(list) == 0 {
		d.Begin = v.beginnings("")
	}
	if next != "" {
		d.Next = v.at("evals") + "?cursor=" + url.QueryEscape(next)
	}
	for _, e := range list {
		row := evalRow{Name: e.Name, Link: v.at("evals", e.ID), Category: v.category(e.Category), Agents: names(e.Agents), Trials: chart.Count(e.Trials, "trial", "trials"), Synthetic: e.Synthetic}
		if latest[e.ID] == nil && len(runs) == lookBack {
			older, _, err := v.h.Evals.Runs(ctx, v.actor(), evals.RunQuery{EvalID: e.ID, Limit: 1})
			if err != nil {
				return err
			}
			if len(older) > 0 {
				latest[e.ID] = older[0]
			}
		}
		if last := latest[e.ID]; last != nil {
			r := v.runRow(last)
			row.Last = &r
		}
		if last := results[e.ID]; last != nil {
			r := v.runRow(last)
			if r.Result, err = v.leads(last); err != nil {
				return err
			}
			row.Result = &r
		}
		d.Evals = append(d.Evals, row)
	}
	for _, r := range runs[:min(len(runs), runsAlongside)] {
		row := v.runRow(r)
		if row.Result, err = v.leads(r); err != nil {
			return err
		}
		d.Runs = append(d.Runs, row)
	}
	return v.Show(http.StatusOK, "workspace-ev-list", "Evals", d)
}

// names lists agents, the first few by name.
func names(agents []evals.AgentSummary) string {
	const few = 4
	var out []string
	for _, a := range agents[:min(len(agents), few)] {
		out = append(out, a.Name)
	}
	text := strings.Join(out, ", ")
	if rest := len(agents) - few; rest > 0 {
		text += " and " + chart.Count(rest, "other", "others")
	}
	return text
}

// category returns the name of a category; an unknown slug stands for
// itself.
func (v *visit) category(slug string) string {
	is := func(c *catalog.Category) bool { return c.Slug == slug }
	if i := slices.IndexFunc(v.h.Categories, is); i >= 0 {
		return v.h.Categories[i].Name
	}
	if i := slices.IndexFunc(v.categories(), is); i >= 0 {
		return v.categories()[i].Name
	}
	return slug
}

type historyData struct {
	Page   layout.Page
	Eval   string // whose runs these are; empty for all
	Back   string
	Show   []choice
	Runs   []runRow
	First  string // the newest ones; empty on the first page
	Next   string
	Status traceview.Term
}

// history shows the runs of the workspace, or of one eval.
func (v *visit) history() error {
	given := v.R.URL.Query()
	q := evals.RunQuery{EvalID: given.Get("eval"), Status: given.Get("status"), Cursor: given.Get("cursor"), Limit: runsAtOnce}
	d := historyData{Page: v.area("runs"), Back: v.at("evals"), Status: traceview.Of(statuses(), q.Status)}
	link := func(status, cursor string) string {
		values := url.Values{}
		for name, value := range map[string]string{"eval": q.EvalID, "status": status, "cursor": cursor} {
			if value != "" {
				values.Set(name, value)
			}
		}
		path := v.at("runs")
		if len(values) > 0 {
			path += "?" + values.Encode()
		}
		return path
	}
	if q.EvalID != "" {
		e, err := v.h.Evals.Eval(v.R.Context(), v.actor(), q.EvalID)
		if err != nil {
			return err
		}
		d.Eval, d.Back = e.Name, v.at("evals", e.ID)
	}
	runs, next, err := v.h.Evals.Runs(v.R.Context(), v.actor(), q)
	if err != nil {
		return err
	}
	for _, r := range runs {
		row := v.runRow(r)
		if row.Result, err = v.leads(r); err != nil {
			return err
		}
		d.Runs = append(d.Runs, row)
	}
	d.Show = append(d.Show, choice{Name: "All", Link: link("", ""), On: q.Status == ""})
	for _, t := range statuses() {
		d.Show = append(d.Show, choice{Name: t.Name, Link: link(t.Key, ""), On: q.Status == t.Key})
	}
	if q.Cursor != "" {
		d.First = link(q.Status, "")
	}
	if next != "" {
		d.Next = link(q.Status, next)
	}
	return v.Show(http.StatusOK, "workspace-ev-runs", "Runs", d)
}
