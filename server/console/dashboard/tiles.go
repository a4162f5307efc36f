package dashboard

import (
	"cmp"
	"html/template"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A tile is a number of the headline.
type tile struct {
	Name, Value, Note, Link string
	More                    []string // values of other currencies
	Delta                   delta
	Lead                    bool // the first one, wider than the others
	Spark                   template.HTML
	Versus                  []versusRow   // of the first one: the tool among its rivals
	Ruler                   template.HTML // likewise: the scale of these
	Rates                   *rates        // likewise: its earlier measurements; nil without
	Compare                 choice        // likewise: how the newest two runs differ; empty without
	Why                     choice        // likewise: the reasons for losing; empty without any
	Start                   bool          // likewise: nothing is measured, and the visitor can begin
	Synthetic               bool          // likewise: simulated agents gave the answers
	Real                    string        // likewise: the form that asks a real model; empty where that was done
	Whose                   *whose        // likewise: own evals have results and no tool is chosen; nil without
}

// A whose is the form that asks which tool is the workspace's own.
type whose struct {
	Action, FormToken string
	Tools             []picks.Choice
}

// A rates is the trend of the pick rate, with its first and last measurement.
type rates struct {
	Plot        template.HTML
	First, Last string
}

// A versusRow is a tool on the plot of the first tile.
type versusRow struct {
	Name, Rate string
	Plot       template.HTML
	Own        bool
}

// A delta is the change of a number since the period before. Look is the class of a change
// for the better ("up") or the worse ("down"); Shown and Spoken are empty without a
// comparison.
type delta struct{ Look, Shown, Spoken string }

// comparedParts are the parts of a report that tiles are made of.
const comparedParts = traffic.PartOutcome | traffic.PartPages | traffic.PartGaps | traffic.PartReferrals | traffic.PartTrend

// before returns the report of the period of the same length before a report's; nil
// where the events do not reach back over nine tenths of it.
func (v *visit) before(r *traffic.Report) (*traffic.Report, error) {
	q := v.query.Query
	length := q.To.Sub(q.From)
	q.To, q.UntilNow = q.From.Truncate(5*time.Minute), false // so that the report can be cached
	q.From = q.To.Add(-length)
	if r.Health.FirstEventAt == nil {
		return nil, nil
	}
	first, err := time.Parse(time.RFC3339, *r.Health.FirstEventAt)
	if err != nil {
		return nil, err
	}
	if first.After(q.From.Add(length / 10)) {
		return nil, nil
	}
	q.Parts, q.Limit = comparedParts, traffic.MaxLimit
	return v.h.Reports.Report(v.R.Context(), v.Workspace.ID, q)
}

// A headline has the numbers of the tiles for one period.
type headline struct {
	touches, reads, asked, landings, conversions int64
	pages, gaps                                  int
	credited                                     float64
	revenue                                      []traffic.RevenueOutcome // the largest amount first
	days                                         []traffic.Day
}

func newHeadline(r *traffic.Report) headline {
	h := headline{pages: len(r.Source.Pages), revenue: slices.Clone(r.Outcome.Revenue), days: r.Source.Trend}
	sorting.StableFunc(h.revenue, func(a, b traffic.RevenueOutcome) int { return cmp.Compare(float(b.AgentDriven), float(a.AgentDriven)) })
	for _, d := range h.days {
		h.touches += visitsOf(d)
		h.conversions += d.Conversions
	}
	for i := range r.Source.Pages {
		h.reads += r.Source.Pages[i].Touches
	}
	for i := range r.Source.Gaps {
		if g := &r.Source.Gaps[i]; g.Status != 0 { // of a request, not of the site check
			h.asked += g.Asked
			h.gaps++
		}
	}
	for _, ref := range r.Source.Referrals {
		h.landings += ref.Landings
	}
	for _, k := range r.Outcome.Conversions {
		h.credited += k.AgentDriven
	}
	return h
}

func visitsOf(d traffic.Day) int64 {
	n := int64(0)
	for _, c := range classes() {
		n += d.ByClass[c.Key]
	}
	return n
}

// spark draws a number of every day.
func (h *headline) spark(of func(traffic.Day) int64) template.HTML {
	values := make([]int64, len(h.days))
	for i, d := range h.days {
		values[i] = max(of(d), 0)
	}
	return chart.Spark(values)
}

// tiles are the numbers of the headline, compared with the period before unless it is nil.
func tiles(p *page, r, before *traffic.Report) []tile {
	h, old := newHeadline(r), headline{}
	h.days = p.query.whole(h.days) // half a day looks like a fall
	since := ""                    // no comparison
	if before != nil {
		old, since = newHeadline(before), p.query.before()
	}
	change := func(now, then float64) delta { return newCountDelta(now, then, since) }
	counted := func(now, then int) delta {
		if max(now, then) >= traffic.MaxLimit {
			return delta{} // the lists are cut off
		}
		return change(float64(now), float64(then))
	}
	gaps := counted(h.gaps, old.gaps)
	gaps.Look = map[string]string{rise: fall, fall: rise}[gaps.Look] // fewer are better
	out := []tile{
		{
			Name: "Agent visits", Value: chart.Whole(h.touches), Note: "spoofed excluded", Link: p.To("agents"),
			Delta: change(float64(h.touches), float64(old.touches)), Spark: h.spark(visitsOf),
		},
		{
			Name: "Pages read", Value: rowCount(h.pages), Note: chart.Count(h.reads, "read", "reads"), Link: p.To("pages"),
			Delta: counted(h.pages, old.pages), Spark: h.spark(func(d traffic.Day) int64 { return d.Reads }),
		},
		{
			Name: "Gaps", Value: rowCount(h.gaps), Note: chart.Count(h.asked, "failure", "failures") + " for users", Link: p.To("gaps"),
			Delta: gaps, Spark: h.spark(func(d traffic.Day) int64 { return d.Failed }),
		},
		{
			Name: "Referrals", Value: chart.Whole(h.landings), Note: "a minimum", Link: p.To("referrals"),
			Delta: change(float64(h.landings), float64(old.landings)), Spark: h.spark(func(d traffic.Day) int64 { return d.Referrals }),
		},
		{
			Name: "Conversions by agents", Value: share(h.credited), Note: "of " + chart.Whole(h.conversions) + ", a minimum", Link: p.To("conversions"),
			Delta: change(h.credited, old.credited), Spark: h.spark(func(d traffic.Day) int64 { return d.Conversions }),
		},
	}
	if p.query.Filter.Assistant != "" && h.touches == 0 && h.reads == 0 && h.gaps == 0 {
		for i := range out[:3] {
			out[i].Value, out[i].Note = "–", "no visit by an agent of "+p.query.Filter.Assistant
		}
	}
	if p.query.agents() { // people have none
		return out[:3]
	}
	if p.query.Filter.Page != "" {
		out[4].Note = "credited to visits to this page, a minimum"
	}
	revenue := tile{
		Name: "Revenue by agents", Value: "–", Note: "no conversion has a value", Link: p.To("conversions"),
		Spark: h.spark(func(traffic.Day) int64 { return 0 }),
	}
	for i, m := range h.revenue {
		text := amount(m.AgentDriven, m.Currency)
		if i > 0 {
			revenue.More = append(revenue.More, text)
			continue
		}
		revenue.Value, revenue.Note = text, "net, a minimum"
		revenue.Delta = newDelta(float(m.AgentDriven), revenueIn(old.revenue, m.Currency), since)
		if max(h.credited, old.credited) < fewCounted {
			revenue.Delta.Look = ""
		}
		revenue.Spark = h.spark(func(d traffic.Day) int64 { return int64(100 * moneyIn(d.Revenue, m.Currency)) })
	}
	return append(out, revenue)
}

func revenueIn(list []traffic.RevenueOutcome, currency string) float64 {
	for _, m := range list {
		if m.Currency == currency {
			return float(m.AgentDriven)
		}
	}
	return 0
}

func moneyIn(list []traffic.Money, currency string) float64 {
	for _, m := range list {
		if m.Currency == currency {
			return float(m.Amount)
		}
	}
	return 0
}

// float reads an amount of a report; all of them are decimal numbers.
func float(amount string) float64 {
	v, _ := strconv.ParseFloat(amount, 64)
	return v
}

// The classes of changes in the style sheet.
const (
	rise = "up"
	fall = "down"
)

// fewCounted is below how many a change is neither good nor bad: it may well be chance.
const fewCounted = 30

// newCountDelta is newDelta for counts: it has no look where both are small.
func newCountDelta(now, then float64, since string) delta {
	d := newDelta(now, then, since)
	if max(now, then) < fewCounted {
		d.Look = ""
	}
	return d
}

// newDelta compares two numbers of the same unit; since names the period of then, and is
// empty without one. A change from 0 has no percentage.
func newDelta(now, then float64, since string) delta {
	if since == "" || now == 0 && then == 0 {
		return delta{}
	}
	if then <= 0 {
		return delta{rise, "new", "none in " + since}
	}
	percent := math.Round(100 * (now - then) / then)
	text := chart.Whole(int64(math.Abs(percent))) + "%"
	switch {
	case percent > 0:
		return delta{rise, "▲ " + text, "up " + text + " from " + since}
	case percent < 0:
		return delta{fall, "▼ " + text, "down " + text + " from " + since}
	default:
		return delta{"", "no change", "about the same as in " + since}
	}
}

// rowCount counts the rows of a list that may have been cut off.
func rowCount(rows int) string {
	if rows >= traffic.MaxLimit {
		return chart.Whole(int64(rows)) + "+"
	}
	return chart.Whole(int64(rows))
}
