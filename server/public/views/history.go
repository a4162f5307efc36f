package views

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// maxTrends is how many tools a history draws, unless a reader chooses more.
const maxTrends = 5

type historyPage struct {
	Name, Link, JSON string
	Choices          []option
	Tools            []trend
	First, Last      string // days of the axis
	Events           []event
	Nights           []historyLine // newest first
	Single           bool          // one snapshot
}

// A trend is a tool over the snapshots.
type trend struct {
	Name, Link, Rate, Interval, Change, Verdict string
	Up, Down                                    bool
	Plot                                        template.HTML
}

// An event is a snapshot before which something changed besides the answers.
type event struct {
	Label, Day string
	Breaks     []string
}

// A historyLine is a snapshot: the rates of the drawn tools, and what changed.
type historyLine struct {
	Day, Link, Snapshot string
	Synthetic           bool
	Rates               []historyRate
	Breaks              []string
}

type historyRate struct{ Rate, Interval string }

// History renders the series of a board. slugs choose the tools; without any they are those
// that the last snapshot picked most. ok is false for a tool that the board does not have.
func (r *Renderer) History(series nights.Series, slugs []string) (p Page, ok bool, err error) {
	i := slices.IndexFunc(r.in.Boards, func(b analytics.Board) bool { return b.Category == series.Category })
	if i < 0 {
		return p, false, nil
	}
	b := &r.in.Boards[i]
	for _, slug := range slugs {
		if !slices.ContainsFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == slug }) {
			return p, false, nil
		}
	}
	path := HistoryPath(b.Category)
	d := historyPage{Name: b.Name, Link: boardPath(b.Category), JSON: "/api/public/history?category=" + b.Category, Single: len(series.Nights) == 1}
	d.Choices = append(d.Choices, option{Text: fmt.Sprintf("First %d", maxTrends), Link: path, On: len(slugs) == 0})
	for _, s := range b.Tools {
		if chosen := slices.Contains(slugs, s.Slug); s.Picks > 0 || chosen {
			d.Choices = append(d.Choices, option{Text: s.Tool, Link: path + "?tool=" + url.QueryEscape(s.Slug), On: chosen})
		}
	}
	h := render.Head{Path: path, Title: b.Name + ": pick rates over time", Section: "boards", Image: "/og" + boardPath(b.Category) + ".png"}
	if len(slugs) > 0 {
		h.Own, h.NoIndex = path+ToolQuery(slugs), true
	}
	if len(slugs) == 1 {
		d.JSON += "&tool=" + url.QueryEscape(slugs[0])
	}
	for _, s := range b.Tools[:min(len(b.Tools), maxTrends)] {
		if len(h.Own) == 0 && s.Picks > 0 {
			slugs = append(slugs, s.Slug)
		}
	}
	d.fill(b, series, slugs)
	h.Description = fmt.Sprintf("How often AI agents picked the tools of %s, over %s, and what changed in between.", b.Name, quantity(len(series.Nights), "snapshot"))
	p, err = r.page("history", h, d)
	return p, true, err
}

// ToolQuery is the query of a history of some tools, of the first ones without any.
func ToolQuery(slugs []string) string {
	if len(slugs) == 0 {
		return ""
	}
	return "?" + url.Values{"tool": slugs}.Encode()
}

// fill draws the tools and lists the snapshots.
func (d *historyPage) fill(b *analytics.Board, series nights.Series, slugs []string) {
	if len(series.Nights) == 0 {
		return
	}
	day := dayOf(series.Nights)
	most, lines := 0.0, make([][]chart.Point, len(slugs))
	var events []chart.Event
	for i, night := range series.Nights {
		x, line := timePlace(series.Nights, i), historyLine{Day: day(night.At), Snapshot: night.Snapshot, Synthetic: night.Synthetic, Breaks: night.Breaks}
		if night.Snapshot != "" {
			line.Link = SnapshotPath(night.Snapshot)
		}
		for j, slug := range slugs {
			at := slices.IndexFunc(night.Tools, func(t nights.Tool) bool { return t.Slug == slug })
			if at < 0 {
				line.Rates = append(line.Rates, historyRate{Rate: "–"})
				continue
			}
			t := night.Tools[at]
			rate := historyRate{chart.Fixed(t.PickRate), render.Interval(t.CILow, t.CIHigh)}
			line.Rates = append(line.Rates, rate)
			p := chart.Point{X: x, Rate: t.PickRate, Low: t.CILow, High: t.CIHigh, Interval: rate.Interval != "", Title: strings.TrimSuffix(line.Day+": "+rate.Rate+", 95% CI "+rate.Interval, ", 95% CI ")}
			if most = max(most, p.Rate); p.Interval {
				most = max(most, p.High)
			}
			lines[j] = append(lines[j], p)
		}
		if len(night.Breaks) > 0 {
			e := event{Label: fmt.Sprint(len(d.Events) + 1), Day: line.Day, Breaks: night.Breaks}
			d.Events = append(d.Events, e)
			events = append(events, chart.Event{X: x, Label: e.Label, Title: e.Day + ": " + strings.Join(e.Breaks, "; ")})
		}
		d.Nights = append(d.Nights, line)
	}
	slices.Reverse(d.Nights)
	d.First, d.Last = day(series.Nights[0].At), day(series.Nights[len(series.Nights)-1].At)
	axis := chart.NewAxis(most)
	for j, slug := range slugs {
		others := slices.Delete(slices.Clone(lines), j, j+1)
		d.Tools = append(d.Tools, newTrend(b, slug, series, lines[j], func(name string) template.HTML { return axis.Trend(lines[j], others, events, name) }))
	}
}

func newTrend(b *analytics.Board, slug string, series nights.Series, line []chart.Point, plot func(name string) template.HTML) trend {
	t := trend{Name: nameOf(b, slug), Link: toolPath(slug), Rate: "not measured"}
	if len(line) == 0 {
		return t
	}
	last := line[len(line)-1]
	t.Rate = chart.Fixed(last.Rate)
	if last.Interval {
		t.Interval = render.Interval(last.Low, last.High)
	}
	if diff := last.Rate - line[0].Rate; len(line) > 1 {
		t.Change, t.Up, t.Down = render.Points(diff), diff > 0, diff < 0
		for _, now := range series.Nights[len(series.Nights)-1].Tools {
			if now.Slug == slug {
				t.Verdict = now.Verdict()
			}
		}
	}
	t.Plot = plot(fmt.Sprintf("Pick rate of %s over %s, %s at the end", t.Name, quantity(len(line), "snapshot"), t.Rate))
	return t
}

// timePlace is the place of a night between the first and the last, 0 to 1, by time.
func timePlace(all []nights.Line, i int) float64 {
	first, last := all[0].At, all[len(all)-1].At
	switch span := last.Sub(first); {
	case len(all) == 1:
		return .5
	case span <= 0:
		return float64(i) / float64(len(all)-1)
	default:
		return float64(all[i].At.Sub(first)) / float64(span)
	}
}

func day(at time.Time) string { return render.Day(&at) }

// dayOf returns how to write the moments of snapshots: by their day, and also by their hour
// where two are of one day.
func dayOf(all []nights.Line) func(time.Time) string {
	seen := map[string]bool{}
	for _, night := range all {
		if seen[day(night.At)] {
			return func(at time.Time) string { return day(at) + at.UTC().Format(", 15:04 UTC") }
		}
		seen[day(night.At)] = true
	}
	return day
}

// KnownTools names the tools of a board, for a reader who asked for another.
func (r *Renderer) KnownTools(category string) (out []render.Link) {
	for i := range r.in.Boards {
		if b := &r.in.Boards[i]; b.Category == category {
			for _, s := range b.Tools {
				out = append(out, render.Link{Path: HistoryPath(category) + "?tool=" + url.QueryEscape(s.Slug), Text: cmp.Or(s.Tool, s.Slug)})
			}
		}
	}
	return out
}
