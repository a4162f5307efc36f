package render

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A Forest is a forest plot: rates with their intervals on one axis, in a table.
type Forest struct {
	Caption, Rate string // Rate is the heading of the rates
	Ruler         template.HTML
	Metrics       []string // headings of the columns after the interval
	Rows          []ForestRow
	Intervals     bool
	// Unordered reports that no rank is known: the range of each is that of all.
	Unordered bool
	// Rest are the tools without a pick, RestText what is known of all of them. Bound says how
	// often a tool without a pick may be picked; empty where that is unknown.
	Rest            []RestTool
	RestText, Bound string
	// RankNote says among which tools the ranges of ranks are, where some have no pick.
	RankNote string
}

// A RestTool is a tool without a row. Path is empty where it has no page.
type RestTool struct {
	Slug string
	Link
}

// A ForestRow is a tool in a forest plot. Link is empty where it has no page.
type ForestRow struct {
	Slug, Tool, Link string
	Rank             int    // 0 where no answer picked the tool, or no order is known
	Firm             bool   // no other rank is possible
	Ranks            string // range (95 %); empty where nothing is known of it
	Plot             template.HTML
	Rate, Interval   string
	Metrics          []string
	Note             string // a doubt about the rate, in a few words
	Lead             bool   // the row that the plot is about
	Above            Link   // to the tools that are left out above the row; its text is empty if absent
}

// NewForest draws a board. link returns the page of a tool; "" leaves it without one. The tools
// that always names have a row even where no answer named them.
func NewForest(b *analytics.Board, link func(analytics.Standing) string, always ...string) Forest {
	shown, most := shown(b, always...), 0.0
	f := Forest{Caption: "Tools of " + b.Name + " by pick rate", Rate: "Pick rate", Intervals: !Single(*b)}
	for _, s := range shown {
		if most = max(most, s.PickRate); f.Intervals && s.Picks > 0 && s.CIHigh < 1 {
			most = max(most, s.CIHigh)
		}
	}
	axis := chart.NewAxis(most)
	f.Ruler = axis.Ruler()
	columns := aboveMinimum(metrics(leader(*b)), shown)
	for _, m := range columns {
		f.Metrics = append(f.Metrics, m.Column)
	}
	for _, s := range shown {
		row := ForestRow{Slug: s.Slug, Tool: s.Tool, Link: link(s), Rate: "not picked"}
		for _, m := range columns {
			row.Metrics = append(row.Metrics, metric(m, s))
		}
		mark := chart.Mark{Rate: s.PickRate, Low: s.CILow, High: s.CIHigh, Interval: s.Picks > 0 && Interval(s.CILow, s.CIHigh) != "" && f.Intervals}
		if s.Picks == 0 {
			f.Bound = Bound(s)
		} else {
			row.Rank, row.Rate = s.Rank, chart.Fixed(s.PickRate)
			if f.Intervals {
				row.rank(b, s)
			}
		}
		if mark.Text = row.Rate; mark.Interval {
			row.Interval = Interval(s.CILow, s.CIHigh)
			mark.Text += ", 95% CI " + row.Interval
		}
		row.Plot = axis.Forest(mark)
		f.Rows = append(f.Rows, row)
	}
	f.dropRepeated()
	f.RankNote = rankNote(b, shown)
	for _, s := range rest(b, always...) {
		if len(f.Rest) == 0 {
			f.RestText, f.Bound = fmt.Sprintf("Not picked in %s %s", chart.Whole(int64(b.NTrials)), counted(b.NTrials, "answer")), Bound(s)
		}
		f.Rest = append(f.Rest, RestTool{s.Slug, Link{link(s), s.Tool}})
	}
	return f
}

// Rerank sets the ranges of the rows to those of the whole board, for a plot of some of its tools.
func (f *Forest) Rerank(b *analytics.Board) {
	for i := range f.Rows {
		row := &f.Rows[i]
		if at := slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == row.Slug }); at >= 0 && row.Ranks != "" {
			row.rank(b, b.Tools[at])
		}
	}
}

func (r *ForestRow) rank(b *analytics.Board, s analytics.Standing) {
	low, high, _ := PickedRange(b, s)
	r.Ranks, r.Firm = ranks(low, high), low == high && low > 0
}

// rankNote lists the rank ranges that tools without a pick widen; empty without such a range.
func rankNote(b *analytics.Board, shown []analytics.Standing) string {
	if Single(*b) {
		return ""
	}
	var wider []string
	for _, s := range shown {
		_, high, known := PickedRange(b, s)
		switch {
		case s.Picks == 0:
		case !known && b.Field > len(shown):
			return fmt.Sprintf("Ranks are among all %d tools of the list, also those without a pick, which widen the ranges.", b.Field)
		case high < s.RankHigh:
			wider = append(wider, s.Tool+" "+ranks(s.RankLow, s.RankHigh))
		}
	}
	if len(wider) == 0 {
		return ""
	}
	return fmt.Sprintf("Ranks are among the picked tools. Among all %d of the list, of which those without a pick may still be ahead, the ranges are wider: %s.", b.Field, strings.Join(wider, ", "))
}

// Skip marks that n tools of a board are left out above a row, with a link to the board.
func (f *Forest) Skip(row, n int, board string) {
	if n > 0 && row < len(f.Rows) {
		f.Rows[row].Above = Link{board, fmt.Sprintf("… %d more", n)}
	}
}

// Span is the number of columns after that of the names.
func (f Forest) Span() int {
	if f.Intervals {
		return 3 + len(f.Metrics)
	}
	return 2 + len(f.Metrics)
}

// Ranked reports whether a row has a rank.
func (f Forest) Ranked() bool {
	return slices.ContainsFunc(f.Rows, func(r ForestRow) bool { return r.Rank > 0 || r.Ranks != "" })
}

// Ranged reports whether a row has a rank range.
func (f Forest) Ranged() bool {
	return slices.ContainsFunc(f.Rows, func(r ForestRow) bool { return r.Ranks != "" })
}

// Legend explains the columns of a plot that has the shortlist or the default rate; empty for
// any other.
func (f Forest) Legend() string {
	var texts []string
	if slices.Contains(f.Metrics, "Shortlist") {
		texts = append(texts, "Shortlist: picked or named as a viable option.")
	}
	if slices.Contains(f.Metrics, "Default") {
		texts = append(texts, "Default: picked, and nothing else was considered.")
	}
	return strings.Join(texts, " ")
}

// leastMetric is the rate below which the values of a column say nothing.
const leastMetric = .01

// aboveMinimum leaves out the rates that are next to nothing for each of some tools.
func aboveMinimum(all []analytics.Metric, tools []analytics.Standing) []analytics.Metric {
	return slices.DeleteFunc(all, func(m analytics.Metric) bool {
		return m.Rate && len(tools) > 0 && !slices.ContainsFunc(tools, func(s analytics.Standing) bool { v := m.Value(s); return v != nil && *v >= leastMetric })
	})
}

// dropRepeated drops the metrics that repeat the rate in every row.
func (f *Forest) dropRepeated() {
	for i := len(f.Metrics) - 1; i >= 0; i-- {
		if slices.ContainsFunc(f.Rows, func(r ForestRow) bool { return r.Rank > 0 && r.Metrics[i] != r.Rate }) {
			continue
		}
		f.Metrics = slices.Delete(f.Metrics, i, i+1)
		for j := range f.Rows {
			f.Rows[j].Metrics = slices.Delete(f.Rows[j].Metrics, i, i+1)
		}
	}
}

// dropRanks drops ranks whose ranges all begin with 1 and end with the same rank: no order is
// known.
func (f *Forest) dropRanks() {
	if len(f.Rows) < 2 || f.Rows[0].Ranks == "1" || slices.ContainsFunc(f.Rows, func(r ForestRow) bool { return r.Ranks != f.Rows[0].Ranks || !strings.HasPrefix(r.Ranks, "1–") }) {
		return
	}
	f.Unordered = true
	for i := range f.Rows {
		f.Rows[i].Rank, f.Rows[i].Ranks = 0, ""
	}
}

// NewObservedForest draws an observed board, on an axis that reaches least or further. link returns the page
// of a tool by its slug; "" leaves it without one.
func NewObservedForest(b *observed.Board, least float64, link func(slug string) string) Forest {
	f, most := Forest{Caption: "Tools of " + b.Name + " by observed use rate", Rate: "Use rate", Metrics: []string{"Uses", "Repositories"}, Intervals: b.NUnits >= observed.MinUnits}, least
	for _, s := range used(b) {
		most = max(most, s.CIHigh)
	}
	axis := chart.NewAxis(most)
	f.Ruler = axis.Ruler()
	for _, s := range used(b) {
		rate, interval := UseRate(s.Use, b.NUnits)
		row := ForestRow{Slug: s.Slug, Tool: s.Tool, Link: link(s.Slug), Rank: s.Rank, Ranks: ranks(s.RankLow, s.RankHigh), Firm: s.RankLow == s.RankHigh && s.RankLow > 0, Rate: rate, Interval: interval,
			Metrics: []string{chart.Whole(int64(s.Uses)), chart.Whole(int64(s.Repos))}}
		row.Plot = axis.Forest(chart.Mark{Rate: s.UseRate, Low: s.CILow, High: s.CIHigh, Interval: row.Interval != "", Text: row.Rate + ", 95% CI " + cmp.Or(row.Interval, "unknown")})
		if observed.MostlyOne(s.Uses, s.InOne) {
			row.Note = fmt.Sprintf("%d of %d in one repository", s.InOne, s.Uses)
		}
		f.Rows = append(f.Rows, row)
	}
	if f.dropRanks(); len(b.Languages) > 1 { // tools of different languages have no order
		for i := range f.Rows {
			f.Rows[i].Rank, f.Rows[i].Ranks = 0, ""
		}
	}
	for _, s := range unused(b) {
		f.RestText = fmt.Sprintf("Not used in %s %s", chart.Whole(int64(b.NUnits)), counted(b.NUnits, b.Unit))
		f.Rest = append(f.Rest, RestTool{s.Slug, Link{link(s.Slug), s.Tool}})
	}
	return f
}

// counted returns the noun for n things.
func counted(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
