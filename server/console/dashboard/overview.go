package dashboard

import (
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// topRows is how many rows of each list the overview shows.
const topRows = 5

// lostRows is how many lost prompts it shows; phones show no more rows of any list.
const lostRows = 3

type overviewData struct {
	Page      page
	Own       *ownTool // nil where this server follows no tools
	Tiles     []tile
	Before    string // the period that tiles are compared with; empty without one
	Trend     trend
	Next      []layout.Step // after the first run; none where all is done
	Failed    []failedRun   // evals whose newest run failed
	Outcome   outcome
	Alerts    []alertRow // of the window
	Changes   []changed
	Further   []changed // more of them, behind a click
	Agents    *listed[agentRow]
	Gaps      *listed[gapRow]
	Pages     *listed[pageRow]
	Referrals *listed[referralRow]
	Landings  *listed[landingRow]
	Empty     []string // what the lists without rows say
	Filtered  bool
	People    bool // conversions belong to what the filter selects
	Noise     string
	Elsewhere string // the hosts of all visits, none of which is of the site; empty else
}

// A listed is the top of a list. All is how many rows the list has, where that is more.
type listed[T any] struct {
	Rows []T
	All  string
}

// topOf returns the top of a list, nil for an empty one.
func topOf[T any](rows []T) *listed[T] {
	if len(rows) == 0 {
		return nil
	}
	out := &listed[T]{Rows: top(rows)}
	if len(rows) > topRows {
		out.All = rowCount(len(rows))
	}
	return out
}

func (h *Handler) overview(v *visit) error {
	if v.query.agents() {
		v.query.ignore("goal", noGoal)
	}
	d := overviewData{Page: v.page("Overview")}
	r, err := v.report(&d.Page, 0, traffic.MaxLimit)
	if err != nil {
		return err
	}
	if d.Page.Health.None {
		return h.installs(v, true)
	}
	d.Trend = newTrend(r.Source.Trend, v.query, d.Page.Path, visits(), people())
	before, err := v.before(r)
	if err != nil {
		return err
	}
	if before != nil {
		d.Before = v.query.before()
	}
	d.People, d.Filtered = !v.query.agents(), v.query.filtered()
	if !d.Filtered { // a filter is about visits only
		if d.Own, err = v.ownTool(&d.Page); err != nil {
			return err
		}
	}
	if d.Own != nil && d.Own.Eval != "" {
		measure := layout.Under(d.Page.Path, "evals")
		if d.Page.Measures {
			measure = d.Page.measureAgain(d.Own.Eval)
		}
		if d.Next, err = v.NextSteps(v.R.Context(), layout.Facts{
			Real: !d.Own.Tile.Synthetic, Measure: measure, Schedule: layout.Under(d.Page.Path, "evals", d.Own.Eval, "schedule"), Badge: d.Own.Badge,
		}); err != nil {
			return err
		}
	}
	if d.Failed, err = v.failedRuns(); err != nil {
		return err
	}
	d.Tiles = tiles(&d.Page, r, before)
	if d.Own != nil {
		shown := min(len(d.Own.Lost), lostRows)
		d.Own.Lost, d.Own.Further, d.Tiles = d.Own.Lost[:shown], d.Own.Lost[shown:], append([]tile{d.Own.Tile}, d.Tiles...)
	}
	if d.Alerts, err = v.recentAlerts(); err != nil {
		return err
	}
	if !d.Filtered && !d.Page.MadeUp {
		d.Elsewhere = allElsewhere(v.Workspace.Site, r)
	}
	d.Outcome = newOutcome(&d.Page, &r.Outcome)
	for i := range r.Changes {
		d.Changes = append(d.Changes, newChange(&d.Page, &r.Changes[i]))
	}
	if d.Filtered { // they are of all visits
		d.Changes, d.Alerts = nil, nil
	}
	d.Changes, d.Further = top(d.Changes), d.Changes[len(top(d.Changes)):]
	d.Agents = topOf(agentRows(&d.Page, r.Source.Agents))
	d.Gaps = topOf(slices.DeleteFunc(gapRows(&d.Page, r.Source.Gaps), func(row gapRow) bool { return row.Status == 0 })) // of requests, as the tile counts
	d.Pages = topOf(pageRows(&d.Page, r.Source.Pages))
	if !d.Page.query.agents() { // people have no agent
		d.Referrals = topOf(referralRows(&d.Page, r))
	}
	d.Landings = topOf(landingRows(&d.Page, r.Source.Landings))
	d.Empty = d.empty()
	noise := int64(0)
	for _, n := range r.Source.Noise {
		noise += n
	}
	d.Noise = chart.Count(noise, "visit", "visits")
	return v.show("workspace", "Overview", d)
}

// measureAgain is the form that measures an eval with other models.
func (p *page) measureAgain(eval string) string {
	return layout.Under(p.Path, "evals", "measure") + "?" + url.Values{"eval": {eval}}.Encode()
}

// allElsewhere returns the hosts of a report's visits, if none is the host of a site or below it;
// empty if one is, and where the hosts or the site are unknown.
func allElsewhere(site string, r *traffic.Report) string {
	var hosts []string
	add := func(host string) { // of a visit; an unknown host may be of the site
		if host = elsewhere(site, host); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	for i := range r.Source.Pages {
		add(r.Source.Pages[i].Host)
	}
	for i := range r.Source.Gaps {
		if g := &r.Source.Gaps[i]; g.Status != 0 {
			add(g.Host)
		}
	}
	for i := range r.Source.Landings {
		add(r.Source.Landings[i].Host)
	}
	if slices.Contains(hosts, "") {
		return ""
	}
	return some(hosts)
}

// empty says which lists have no rows: a line of text takes less room than a card each.
func (d *overviewData) empty() (out []string) {
	referrals := "No known referral from an assistant."
	q := d.Page.query
	if q.agents() {
		referrals = "People have no agent: filter by an assistant to see referrals and conversions."
	}
	for _, list := range []struct {
		none bool
		text string
	}{
		{d.Gaps == nil && d.Trend.Touches > 0, "No missing pages."}, {d.Pages == nil && d.Trend.Touches > 0, "No agent read a page."},
		{d.Referrals == nil, referrals},
	} {
		if list.none {
			out = append(out, list.text)
		}
	}
	if o := d.Own; o != nil && o.Missing == "" && len(o.Lost) == 0 {
		out = append(out, "No prompt is lost: "+o.Name+" is picked most often on each, or ties.")
	}
	return out
}

// A changed is a change with a link to its details.
type changed struct{ Text, Link, More string }

func newChange(p *page, c *traffic.Change) changed {
	out := changed{Text: describe(c, p.query)}
	switch kind, _ := change.KindOfReport(c.What); {
	case kind.Page != "":
		out.Link, out.More = p.To(kind.Page), strings.ToUpper(kind.Page[:1])+kind.Page[1:]
	case c.Agent != "":
		out.Link, out.More = p.To("agents", c.Agent), c.Agent
	}
	return out
}

func top[T any](rows []T) []T { return rows[:min(len(rows), topRows)] }

// An outcome holds the conversions of a window.
type outcome struct {
	Kinds     []kindRow
	Revenue   []revenueRow
	Agents    []creditRow
	Problems  []term
	Truncated bool
	Of        string // the page to whose visits they are credited; empty for all
}

type kindRow struct {
	Kind, Only                string // Only leads to the overview of this kind alone
	Total, Assisted, Possible count
	AgentDriven               string
	Bar                       template.HTML
}

// A revenueRow is the revenue in a currency; Refunded is empty without refunds.
type revenueRow struct{ Currency, Total, AgentDriven, Refunded string }

type creditRow struct {
	Agent, Conversions string
	Revenue            []string
	Evidence           []string
	Bar                template.HTML
}

func newOutcome(p *page, o *traffic.Outcome) outcome {
	out := outcome{Truncated: o.Truncated, Of: p.query.Filter.Page}
	top := 0.0
	for _, k := range o.Conversions {
		top = max(top, k.AgentDriven)
	}
	for _, k := range o.Conversions {
		out.Kinds = append(out.Kinds, kindRow{
			Kind: k.Kind, Only: p.only("goal", k.Kind), Total: count(k.Total), Assisted: count(k.Assisted), Possible: count(k.Possible), AgentDriven: share(k.AgentDriven),
			Bar: chart.Bar(int64(1000*k.AgentDriven), int64(1000*top), "plain"),
		})
	}
	for _, m := range o.Revenue {
		row := revenueRow{Currency: m.Currency, Total: amount(m.Total, m.Currency), AgentDriven: amount(m.AgentDriven, m.Currency)}
		if float(m.Refunded) != 0 {
			row.Refunded = amount(m.Refunded, m.Currency)
		}
		out.Revenue = append(out.Revenue, row)
	}
	most := 0.0
	for _, a := range o.TopAgents {
		most = max(most, a.Conversions)
	}
	for _, a := range o.TopAgents {
		row := creditRow{Agent: a.Agent, Conversions: share(a.Conversions), Bar: chart.Bar(int64(1000*a.Conversions), int64(1000*most), "plain")}
		for _, m := range a.Revenue {
			row.Revenue = append(row.Revenue, amount(m.Amount, m.Currency))
		}
		for _, e := range evidences() {
			if n := a.Evidence[e.Key]; n > 0 {
				row.Evidence = append(row.Evidence, e.Name+" "+share(n))
			}
		}
		out.Agents = append(out.Agents, row)
	}
	for _, p := range problems() {
		if n := o.Problems[p.Key]; n > 0 {
			p.Name = chart.Count(n, "refund", "refunds") + ": " + p.Name
			out.Problems = append(out.Problems, p)
		}
	}
	return out
}
