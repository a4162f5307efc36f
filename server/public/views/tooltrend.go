package views

import (
	"net/url"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
)

// A toolTrend is the pick rate of one tool over the last snapshots, without tests: the history of
// the board has them.
type toolTrend struct {
	historyPage
	Trend   trend
	History string // path
}

// toolTrend draws a tool over the snapshots; nil where they are not known.
func (r *Renderer) toolTrend(b *analytics.Board, slug string) *toolTrend {
	i := slices.IndexFunc(r.in.Trends, func(s nights.Series) bool { return s.Category == b.Category })
	if i < 0 {
		return nil
	}
	measured := func(l nights.Line) bool {
		return slices.ContainsFunc(l.Tools, func(t nights.Tool) bool { return t.Slug == slug })
	}
	series := nights.Series{Category: b.Category, Nights: slices.DeleteFunc(slices.Clone(r.in.Trends[i].Nights), func(l nights.Line) bool { return !measured(l) })}
	if len(series.Nights) == 0 {
		return nil
	}
	t := toolTrend{History: HistoryPath(b.Category) + "?tool=" + url.QueryEscape(slug)}
	t.Single = len(series.Nights) == 1
	t.fill(b, series, []string{slug})
	t.Trend = t.Tools[0]
	return &t
}
