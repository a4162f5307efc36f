package dashboard

import (
	"html/template"
	"math"
	"slices"
	"time"

	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A trend is a daily time series.
type trend struct {
	Chart   template.HTML
	Legend  []legend
	Columns []string // of the table
	Days    []dayRow
	Unit    string // hour, day or week
	Touches int64  // of the window: what the chart counts
	Partial bool   // a column counts a part of its day or week
	None    string // what an empty chart says
	Single  string // instead of a chart: one column has no trend
}

// A legend names a colour. Link shows this class alone; empty for others.
type legend struct {
	term
	Total count
	Link  string
}

type dayRow struct {
	Day, Link string // Link shows this day or week alone; empty where the window is no longer
	Counts    []count
}

// A measure is a number of a day.
type measure struct {
	term
	of func(traffic.Day) int64
}

// measures are the series of a chart.
type measures struct {
	series  []measure
	name    string // of the chart
	none    string // what an empty chart says, without classes
	classes bool   // the series are classes of agents
}

// visits returns the visits of agents by class.
func visits() measures {
	out := measures{name: "Visits by agents", classes: true}
	for _, c := range classes() {
		out.series = append(out.series, measure{c, func(d traffic.Day) int64 { return d.ByClass[c.Key] }})
	}
	return out
}

// people returns the columns about people that the table of visits has too.
func people() []measure {
	return []measure{
		{term{Name: "People sent"}, func(d traffic.Day) int64 { return d.Referrals }},
		{term{Name: "Conversions"}, func(d traffic.Day) int64 { return d.Conversions }},
	}
}

// landings returns the landings of people whom assistants referred.
func landings() measures {
	return measures{
		series: []measure{{term{"plain", "Landings", "People whom an assistant referred."}, func(d traffic.Day) int64 { return d.Referrals }}},
		name:   "Landings from assistants", none: "No known referrals in this window.",
	}
}

// conversions returns the conversions of agents and all others. Shares of a conversion are
// rounded by day.
func conversions() measures {
	credited := func(d traffic.Day) int64 { return min(int64(math.Round(d.Credited)), d.Conversions) }
	return measures{
		series: []measure{
			{term{"plain", "By agents", "Credited to an agent by the model."}, credited},
			{term{"training_crawler", "Others", "Credited to no agent."}, func(d traffic.Day) int64 { return d.Conversions - credited(d) }},
		},
		name: "Conversions", none: "No conversions in this window.",
	}
}

// weeksFrom is how many days are too many for a column each.
const weeksFrom = 100

// newTrend draws the days of a report, or its weeks when they are many; columns lead to the
// page at a path, of their days alone. Its table has further measures too.
func newTrend(days []traffic.Day, q *query, path string, m measures, further []measure) trend {
	t := trend{Unit: "day", None: m.none}
	if m.classes {
		t.None = q.noVisits()
	}
	step := 1
	switch {
	case q.Hours:
		t.Unit = "hour"
	case len(days) > weeksFrom:
		t.Unit, step = "week", 7
	}
	var series []chart.Series
	var shown []measure
	for _, one := range m.series {
		total := int64(0)
		for _, d := range days {
			total += one.of(d)
		}
		if total == 0 {
			continue
		}
		series = append(series, chart.Series{Class: one.Key, Name: one.Name})
		l := legend{term: one.term, Total: count(total)}
		if m.classes && q.Filter.Class == "" && q.Filter.Agent == "" {
			l.Link = q.link(path, "class", one.Key)
		}
		t.Legend = append(t.Legend, l)
		t.Touches += total
		shown = append(shown, one)
	}
	shown = append(shown, further...)
	for _, one := range shown {
		t.Columns = append(t.Columns, one.Name)
	}
	var columns []chart.Column
	for from := 0; from < len(days); from += step {
		some := days[from:min(from+step, len(days))]
		c := chart.Column{Label: short(some[0].Day), Title: long(some[0].Day), Partial: q.cuts(some, step)}
		if step > 1 {
			c.Title = "Week from " + c.Title
		}
		if c.Partial {
			c.Title += " (partial)"
			t.Partial = true
		}
		if len(days) > step && !q.Hours {
			c.Link = q.link(path, "window", "", "from", some[0].Day, "to", after(some[len(some)-1].Day))
		}
		row := dayRow{Day: c.Title, Link: c.Link}
		for i, one := range shown {
			n := int64(0)
			for _, d := range some {
				n += one.of(d)
			}
			row.Counts = append(row.Counts, count(n))
			if i < len(series) {
				c.Values = append(c.Values, n)
			}
		}
		t.Days = append(t.Days, row)
		columns = append(columns, c)
	}
	switch {
	case len(columns) == 1:
		t.Single = columns[0].Title + " is the only " + t.Unit + " of this window. Choose a longer one to see a chart."
	case t.Touches > 0:
		t.Chart = chart.Columns(series, columns, m.name+" per "+t.Unit+", "+q.span()+": "+chart.Whole(t.Touches)+" in total. The numbers are in the table below.")
	}
	return t
}

// cuts reports whether the window has only a part of days, of which a column has many.
func (q *query) cuts(days []traffic.Day, many int) bool {
	return len(days) < many || q.cutsDay(days[0]) || q.cutsDay(days[len(days)-1])
}

// cutsDay reports whether the window begins or ends within a day or hour.
func (q *query) cutsDay(d traffic.Day) bool {
	return slices.ContainsFunc([]time.Time{q.From, q.To}, func(at time.Time) bool {
		began := "00:00:00"
		if q.Hours {
			began = at.In(q.TZ).Format("15:00:00")
		}
		return q.Span(at) == d.Day && at.In(q.TZ).Format(time.TimeOnly) != began
	})
}

// whole returns the days of a window that it has whole; all of a short one.
func (q *query) whole(days []traffic.Day) []traffic.Day {
	if len(days) < 4 {
		return days
	}
	if q.cutsDay(days[0]) {
		days = days[1:]
	}
	if q.cutsDay(days[len(days)-1]) {
		days = days[:len(days)-1]
	}
	return days
}

// after returns the day after a day.
func after(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return t.AddDate(0, 0, 1).Format(time.DateOnly)
}

func short(day string) string { return formatted(day, "2 Jan", "15:04") }

func long(day string) string { return formatted(day, "Mon 2 Jan 2006", "Mon 2 Jan 2006, 15:04") }

// formatted writes a day of a trend in a layout, and an hour in another.
func formatted(day, layout, hourly string) string {
	if t, err := time.Parse(time.DateOnly, day); err == nil {
		return t.Format(layout)
	}
	t, err := time.Parse(traffic.HourLayout, day)
	if err != nil {
		return day
	}
	return t.Format(hourly)
}
