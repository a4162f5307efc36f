package dashboard

import (
	"strconv"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/route"
)

// conversionsAtOnce is how many conversions a page lists.
const conversionsAtOnce = 25

// A conversionRow is a conversion in a list, and above its touches.
type conversionRow struct {
	Link, Kind, When, Value string
	Refund                  bool
	Applied                 string
	Credits                 []creditOf
	Possible                *possible
	Assisted, Test          bool
	Problem                 term
	Order                   string // where the order is that a refund takes back
}

type creditOf struct {
	Agent, Share, Value string
	Evidence            term
}

// A possible is a probable, uncredited conversion.
type possible struct{ Agent, Host, Path, Fetched, Landed string }

func newConversion(p *page, c *traffic.ConversionRow) conversionRow {
	row := conversionRow{
		Link: p.To("conversions", c.ID), Kind: c.Kind, When: moment(c.At, p.query.TZ), Value: sum(c.Value), Refund: c.Kind == attribution.Refund,
		Assisted: c.Assisted, Test: c.Test,
	}
	if row.Refund && c.Applied != nil && (c.Value == nil || *c.Applied != *c.Value) {
		row.Applied = sum(c.Applied)
	}
	for _, s := range c.Credits {
		row.Credits = append(row.Credits, creditOf{Agent: s.Agent, Share: chart.Percent(s.Share), Value: sum(s.Value), Evidence: of(evidences(), s.Evidence)})
	}
	if c.Possible != nil {
		row.Possible = &possible{
			c.Possible.Agent, c.Possible.Host, c.Possible.Path, moment(c.Possible.FetchedAt, p.query.TZ), moment(c.Possible.LandedAt, p.query.TZ),
		}
	}
	if c.Order != "" {
		row.Order = p.To("conversions", c.Order)
	}
	if c.Problem != "" {
		row.Problem = of(problems(), c.Problem)
	}
	return row
}

type conversionsData struct {
	Page        page
	Trend       trend
	Outcome     outcome // of the window, also where the list has a part
	Show        []choice
	List        []header
	Total       count
	First, Last count
	Rows        []conversionRow
	Previous    string
	Next        string
	Truncated   bool
}

func (h *Handler) conversions(v *visit) error {
	v.query.ignore("agent", noAgent) // conversions are of people
	v.query.ignore("class", noClass)
	d := conversionsData{Page: v.page("Conversions")}
	r, err := v.report(&d.Page, traffic.PartOutcome|traffic.PartTrend|traffic.PartReferrals|traffic.PartLandings, suggestions)
	if err != nil {
		return err
	}
	d.Trend = newTrend(r.Source.Trend, v.query, d.Page.Path+"/conversions", conversions(), nil)
	only := traffic.Only(v.R.URL.Query().Get("show"))
	if only != traffic.OnlyCredited && only != traffic.OnlyPossible {
		only = ""
	}
	path := layout.Under(d.Page.Path, "conversions")
	d.Outcome = newOutcome(&d.Page, &r.Outcome)
	for i := range d.Outcome.Kinds {
		d.Outcome.Kinds[i].Only = v.query.link(path, "goal", d.Outcome.Kinds[i].Kind)
	}
	for _, c := range []struct {
		name string
		only traffic.Only
	}{{"All", ""}, {"Credited to agents", traffic.OnlyCredited}, {"Possible", traffic.OnlyPossible}} {
		d.Show = append(d.Show, choice{Name: c.name, Link: v.query.link(path, "show", string(c.only)), On: only == c.only})
	}
	d.Page.Filter.Only = string(only)
	d.List = sortBy(&d.Page, nil, []column[conversionRow]{ // the reports sort the rows
		{name: "When", key: "at"}, {name: "Kind", key: "kind", text: true}, {name: "Value", class: "num", key: "value"}, {name: "Credited to"},
	}, "-at")
	number, _ := strconv.Atoi(v.R.URL.Query().Get("page")) // invalid numbers become 0, the first page
	number = min(max(number, 1), 1_000_000)
	q := v.query.Query
	q.Only, q.Sort = only, v.query.sort
	list, err := h.Reports.Conversions(v.R.Context(), v.Workspace.ID, q, (number-1)*conversionsAtOnce, conversionsAtOnce)
	if err != nil {
		return err
	}
	d.Total, d.Truncated = count(list.Total), list.Truncated
	for i := range list.Conversions {
		d.Rows = append(d.Rows, newConversion(&d.Page, &list.Conversions[i]))
	}
	turn := func(to int) string { return v.query.link(path, "show", string(only), "page", strconv.Itoa(to)) }
	if len(d.Rows) > 0 {
		d.First, d.Last = count(list.Offset+1), count(list.Offset+len(d.Rows))
		if int(d.Last) < list.Total {
			d.Next = turn(number + 1)
		}
	}
	if number > 1 {
		d.Previous = turn(number - 1)
	}
	return v.show("workspace-conversions", "Conversions", d)
}

// A touchRow is a touch on the way to a conversion.
type touchRow struct {
	When, Agent, Class, Host, Path, Referrer string
	Evidence                                 term
	Why                                      term
	Share, Value                             string
	Counted                                  bool
}

type conversionData struct {
	Page       page
	Conversion conversionRow
	Touches    []touchRow
	Truncated  bool
	List       string
}

// conversion shows one conversion down to the touches that led to it.
func (h *Handler) conversion(v *visit) error {
	id := route.Param(v.R, "id")
	for _, f := range filters(&v.query.Filter) {
		v.query.ignore(f.name, "it is one conversion")
	}
	d := conversionData{Page: v.page("Conversions")}
	d.Page.Filter.Windows = nil // a conversion is the same in every window
	if _, err := v.report(&d.Page, traffic.PartNone, 1); err != nil {
		return err
	}
	c, err := h.Reports.Conversion(v.R.Context(), v.Workspace.ID, id, v.query.Query)
	if err != nil {
		return err
	}
	d.Conversion, d.Truncated, d.List = newConversion(&d.Page, &c.ConversionRow), c.Truncated, d.Page.To("conversions")
	for i := range c.Touches {
		t := &c.Touches[i]
		row := touchRow{
			When: moment(t.At, v.query.TZ), Agent: t.Agent, Class: class(t.Class).Name, Host: t.Host, Path: t.Path, Referrer: t.Referrer,
			Why: of(reasons(), t.Why), Counted: t.Why == string(attribution.Counted),
		}
		if t.Class == "" || t.Class == string(agentid.Browser) || t.Class == string(agentid.None) {
			row.Agent, row.Class = t.Family, ""
			if t.Family != "" {
				row.Class = "referred a person"
			}
		}
		if t.Evidence != "" {
			row.Evidence = of(evidences(), t.Evidence)
		}
		if row.Counted {
			row.Share, row.Value = chart.Percent(t.Share), sum(t.Value)
		}
		d.Touches = append(d.Touches, row)
	}
	return v.show("workspace-conversion", "Conversion", d)
}
