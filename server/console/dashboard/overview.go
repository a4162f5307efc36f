package dashboard

import (
	"html/template"
	"time"

	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// topRows is how many rows of each list the overview shows.
const topRows = 6

// A tile is a number of the headline.
type tile struct {
	Name, Value, Note, Link string
	Unit                    string          // behind the value
	More                    []traffic.Money // values of other currencies
	Spark                   template.HTML
}

type overviewData struct {
	Page      page
	Tiles     []tile
	Trend     trend
	Outcome   outcome
	Changes   []changed
	Further   []changed // more of them, behind a click
	Agents    []agentRow
	Gaps      []gapRow
	Pages     []pageRow
	Referrals []referralRow
	Noise     string
}

func (h *Handler) overview(v *visit) error {
	d := overviewData{Page: v.page("Overview")}
	r, err := v.report(&d.Page, 0, traffic.MaxLimit)
	if err != nil {
		return err
	}
	if d.Page.Health.None {
		return v.show("workspace-empty", "Install", d)
	}
	d.Trend = newTrend(r.Source.Trend, v.query, true)
	d.Tiles = tiles(&d.Page, r, &d.Trend)
	d.Outcome = newOutcome(&r.Outcome)
	for i := range r.Changes {
		d.Changes = append(d.Changes, newChange(&d.Page, &r.Changes[i]))
	}
	d.Changes, d.Further = top(d.Changes), d.Changes[len(top(d.Changes)):]
	d.Agents = top(agentRows(&d.Page, r.Source.Agents))
	d.Gaps = top(gapRows(r.Source.Gaps))
	d.Pages = top(pageRows(r.Source.Pages))
	d.Referrals = top(referralRows(r.Source.Referrals))
	noise := int64(0)
	for _, n := range r.Source.Noise {
		noise += n
	}
	d.Noise = many(noise, "visit", "visits")
	return v.show("workspace", "Overview", d)
}

// A changed is a change, and where more is told of it.
type changed struct{ Text, Link, More string }

func newChange(p *page, c *traffic.Change) changed {
	out := changed{Text: change(c, p.query)}
	switch {
	case c.What == traffic.NewNotFound:
		out.Link, out.More = p.To("gaps"), "Gaps"
	case c.What == traffic.Silence:
		out.Link, out.More = p.To("settings"), "Settings"
	case c.Agent != "":
		out.Link, out.More = p.To("agents", c.Agent), c.Agent
	}
	return out
}

func top[T any](rows []T) []T { return rows[:min(len(rows), topRows)] }

// tiles are the numbers of the headline.
func tiles(p *page, r *traffic.Report, t *trend) []tile {
	people, asked, conversions := int64(0), int64(0), 0.0
	for _, ref := range r.Source.Referrals {
		people += ref.Landings
	}
	gaps := 0 // without those that no request shows
	for i := range r.Source.Gaps {
		if g := &r.Source.Gaps[i]; g.Status != 0 {
			asked += g.Asked
			gaps++
		}
	}
	for _, k := range r.Outcome.Conversions {
		conversions += k.AgentDriven
	}
	read := int64(0)
	for i := range r.Source.Pages {
		read += r.Source.Pages[i].Touches
	}
	out := []tile{
		{Name: "Agent visits", Value: chart.Whole(t.Touches), Note: "verified and unverified agents, spoofed ones excluded", Link: p.To("agents"), Spark: chart.Spark(t.touches)},
		{Name: "Pages read", Value: rowCount(len(r.Source.Pages)), Note: many(read, "successful read", "successful reads"), Link: p.To("pages")},
		{Name: "Gaps", Value: rowCount(gaps), Note: many(asked, "failed request", "failed requests") + " for users", Link: p.To("gaps")},
		{Name: "Referrals", Value: chart.Whole(people), Note: "minimum: assistants hide many", Link: p.To("referrals"), Spark: chart.Spark(t.referrals)},
		{Name: "Conversions by agents", Value: share(conversions), Note: "of " + chart.Whole(t.Conversions) + " conversions (minimum)", Link: p.To("conversions"), Spark: chart.Spark(t.conversions)},
	}
	revenue := tile{Name: "Revenue by agents", Value: "–", Note: "no conversion has a value", Link: p.To("conversions")}
	for i, m := range r.Outcome.Revenue {
		amount := traffic.Money{Currency: m.Currency, Amount: grouped(m.AgentDriven)}
		if i == 0 {
			revenue.Value, revenue.Unit, revenue.Note = amount.Amount, amount.Currency, "minimum, net of refunds"
			continue
		}
		revenue.More = append(revenue.More, amount)
	}
	return append(out, revenue)
}

// rowCount counts the rows of a list that may have been cut off.
func rowCount(rows int) string {
	if rows >= traffic.MaxLimit {
		return chart.Whole(int64(rows)) + "+"
	}
	return chart.Whole(int64(rows))
}

// A trend is what happened day by day.
type trend struct {
	Chart   template.HTML
	Legend  []legend
	Columns []string // of the table
	Days    []dayRow
	Unit    string // day or week
	// Sums of the window.
	Touches, Referrals, Conversions int64

	touches, referrals, conversions []int64
}

// A legend names a colour.
type legend struct {
	term
	Total count
}

type dayRow struct {
	Day    string
	Counts []count
}

// weeksFrom is how many days are too many for a column each.
const weeksFrom = 100

// newTrend draws the days of a report, or its weeks when they are many. Its table
// has people and conversions too, if asked for.
func newTrend(days []traffic.Day, q *query, people bool) trend {
	t := trend{Unit: "day"}
	step := 1
	if len(days) > weeksFrom {
		t.Unit, step = "week", 7
	}
	totals := map[string]int64{}
	for _, d := range days {
		for name, n := range d.ByClass {
			totals[name] += n
		}
		t.Referrals += d.Referrals
		t.Conversions += d.Conversions
	}
	var series []chart.Series
	for _, c := range classes() {
		if totals[c.Key] > 0 {
			series = append(series, chart.Series{Class: c.Key, Name: c.Name})
			t.Legend = append(t.Legend, legend{c, count(totals[c.Key])})
			t.Columns = append(t.Columns, c.Name)
			t.Touches += totals[c.Key]
		}
	}
	if people {
		t.Columns = append(t.Columns, "People sent", "Conversions")
	}
	var columns []chart.Column
	for from := 0; from < len(days); from += step {
		some := days[from:min(from+step, len(days))]
		c := chart.Column{Label: short(some[0].Day), Title: long(some[0].Day), Values: make([]int64, len(series))}
		if step > 1 {
			c.Title = "Week from " + c.Title
		}
		referrals, conversions := int64(0), int64(0)
		for _, d := range some {
			for i, s := range series {
				c.Values[i] += d.ByClass[s.Class]
			}
			referrals += d.Referrals
			conversions += d.Conversions
		}
		row := dayRow{Day: c.Title}
		for _, n := range c.Values {
			row.Counts = append(row.Counts, count(n))
		}
		if people {
			row.Counts = append(row.Counts, count(referrals), count(conversions))
		}
		t.Days = append(t.Days, row)
		t.touches = append(t.touches, c.Total())
		t.referrals, t.conversions = append(t.referrals, referrals), append(t.conversions, conversions)
		columns = append(columns, c)
	}
	if t.Touches > 0 {
		t.Chart = chart.Columns(series, columns, "Visits by agents per "+t.Unit+", "+q.span()+": "+chart.Whole(t.Touches)+" in total. The numbers are in the table below.")
	}
	return t
}

func short(day string) string { return formatted(day, "2 Jan") }

func long(day string) string { return formatted(day, "Mon 2 Jan 2006") }

func formatted(day, layout string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return t.Format(layout)
}

// An outcome is what came of it.
type outcome struct {
	Kinds     []kindRow
	Revenue   []revenueRow
	Agents    []creditRow
	Problems  []term
	Truncated bool
}

type kindRow struct {
	Kind                      string
	Total, Assisted, Possible count
	AgentDriven               string
	Bar                       template.HTML
}

type revenueRow struct{ Currency, Total, AgentDriven, Refunded string }

type creditRow struct {
	Agent, Conversions string
	Revenue            []string
	Evidence           []string
	Bar                template.HTML
}

func newOutcome(o *traffic.Outcome) outcome {
	out := outcome{Truncated: o.Truncated}
	for _, k := range o.Conversions {
		out.Kinds = append(out.Kinds, kindRow{
			Kind: k.Kind, Total: count(k.Total), Assisted: count(k.Assisted), Possible: count(k.Possible), AgentDriven: share(k.AgentDriven),
			Bar: chart.Bar(int64(1000*k.AgentDriven), 1000*int64(k.Total), "plain"),
		})
	}
	for _, m := range o.Revenue {
		out.Revenue = append(out.Revenue, revenueRow{m.Currency, grouped(m.Total), grouped(m.AgentDriven), grouped(m.Refunded)})
	}
	most := 0.0
	for _, a := range o.TopAgents {
		most = max(most, a.Conversions)
	}
	for _, a := range o.TopAgents {
		row := creditRow{Agent: a.Agent, Conversions: share(a.Conversions), Bar: chart.Bar(int64(1000*a.Conversions), int64(1000*most), "plain")}
		for _, m := range a.Revenue {
			row.Revenue = append(row.Revenue, sum(&m))
		}
		for _, e := range evidences() {
			if n := a.Evidence[e.Key]; n > 0 {
				row.Evidence = append(row.Evidence, share(n)+" "+e.Name)
			}
		}
		out.Agents = append(out.Agents, row)
	}
	for _, p := range problems() {
		if n := o.Problems[p.Key]; n > 0 {
			p.Name = many(int64(n), "refund", "refunds") + ": " + p.Name
			out.Problems = append(out.Problems, p)
		}
	}
	return out
}
