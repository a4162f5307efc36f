package dashboard

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// spanNights is how many measurements the small chart has.
const spanNights = 60

// An ownTool is the workspace's own tool on the overview.
type ownTool struct {
	Tile    tile
	Name    string // of the tool; empty until chosen
	Missing string // why there is no list of lost prompts; empty with one
	Next    choice // the next step where something is missing
	Lost    []lostRow
	Further []lostRow // more of them, behind a click
	Total   int       // lost prompts
	Few     string    // all of them have too few answers to say of one; empty else
	Prompts int       // of the board; 0 where its prompts are not published
	Eval    string    // the own eval that measured it; empty for a public board
	Badge   string    // the public page of the tool; empty where it is on no public board
}

type lostRow struct {
	Prompt, Text, Rival, Link string
	Theirs, Ours              string
	Few                       string // too few answers, where other prompts have enough
}

// ownTool returns the tile of the pick rate and the prompts that are lost; nil where this
// server follows no tools.
func (v *visit) ownTool(p *page) (*ownTool, error) {
	if v.h.Alerts == nil || v.h.Picks == nil {
		return nil, nil
	}
	ctx := v.R.Context()
	follow, err := v.h.Alerts.Following(ctx, v.Workspace.ID)
	if err != nil {
		return nil, err
	}
	settings := p.Path + "/settings#tool"
	o := &ownTool{Tile: tile{Name: "Pick rate", Value: "–", Link: settings, Lead: true}}
	if follow.Tool == "" {
		o.Tile.Note, o.Missing, o.Next = "No tool chosen. Choose yours to see how often agents pick it.", "Choose your tool first: its prompts are compared with those of its rivals.", choice{Name: "Choose your tool", Link: settings}
		if c, ok, err := v.proposal(); err != nil {
			return nil, err
		} else if ok {
			o.Tile.Note = "Is " + c.Name + " your tool? Confirm it in the settings to see how often agents pick it."
		} else if p.Measures {
			o.Tile.Link, o.Tile.Start = p.Path+"/evals/measure", true
			o.Tile.Value, o.Tile.Note = "Not measured yet", "How often do agents pick your tool over its rivals? From your site the server proposes prompts and a plan."
			o.Missing, o.Next = "Measure your tool first: its prompts are compared with those of its rivals.", choice{Name: "Measure my tool", Link: o.Tile.Link}
		}
		return o, v.askWhose(p, &o.Tile)
	}
	c, _, err := v.h.Picks.Tool(ctx, v.Workspace.ID, follow.Tool)
	if err != nil {
		return nil, err
	}
	o.Name = cmp.Or(c.Name, follow.Tool)
	m, err := v.h.Picks.Measured(ctx, v.Workspace.ID, follow.Tool)
	if err != nil { // the rest of the page does not need it
		if ctx.Err() != nil {
			return nil, err
		}
		v.h.Pages.Log.Error("the picks of a tool cannot be read", "workspace", v.Workspace.ID, "tool", follow.Tool, "err", err)
		o.Missing, o.Tile.Note = "The measurements cannot be read now. Reload the page in a minute.", "The measurements cannot be read now."
		return o, nil
	}
	if m == nil {
		o.Missing, o.Next = "Nothing is measured of "+o.Name+" yet.", choice{Name: "Choose another tool", Link: settings}
		o.Tile.Note = o.Name + " is on no public board of this server, and no own eval has results with it."
		if v.h.Evals {
			o.Next = choice{Name: "Run an own eval", Link: p.Path + "/evals"}
			if p.Measures {
				o.Next, o.Tile.Start = choice{Name: "Measure my tool", Link: p.Path + "/evals/measure"}, true
			}
			o.Tile.Note += " Run an eval to measure it."
			o.Tile.Link = o.Next.Link
		}
		return o, nil
	}
	o.Name, o.Eval = m.Standing().Tool, m.Eval
	if c.Public {
		o.Badge = layout.Under("/tools", follow.Tool)
	}
	if o.measured(m, p.MadeUp); m.Board.Synthetic && p.Measures && o.Eval != "" {
		o.Tile.Real = p.measureAgain(o.Eval)
	}
	return o, nil
}

// askWhose puts the tools of the own evals on the tile of an editor, for one to be chosen.
func (v *visit) askWhose(p *page, t *tile) error {
	if !p.Edits() {
		return nil
	}
	own, err := v.h.Picks.Own(v.R.Context(), v.Workspace.ID)
	if err != nil || len(own) == 0 {
		return err
	}
	t.Value, t.Note, t.Start = "Measured", "Own evals have results. Choose your tool to see its pick rate here.", false
	t.Whose = &whose{p.Path + "/settings/tool", p.FormToken, own}
	return nil
}

// measured fills in what is measured. A rehearsal has no trend, except in a sample.
func (o *ownTool) measured(m *picks.Measured, sample bool) {
	at := m.Standing()
	source := "public board of " + m.Board.Name
	if m.Source == picks.Own {
		source = "your run on " + m.Board.Name
	}
	if m.Board.AsOf != nil {
		source += ", " + m.Board.AsOf.UTC().Format("2 Jan 2006")
	}
	o.Tile = tile{
		Synthetic: m.Board.Synthetic,
		Name:      "Pick rate of " + at.Tool, Value: chart.Percent(at.PickRate), Link: m.URL, Delta: pickDelta(m), Rates: pickRates(m), Lead: true,
		Note: fmt.Sprintf("95%% interval %s–%s · %s · %s", chart.Percent(at.CILow), chart.Percent(at.CIHigh), ranked(m), source),
	}
	o.Tile.Versus, o.Tile.Ruler = versus(m)
	if c := m.Change; c != nil {
		o.Tile.Compare = choice{Name: "Compare with " + c.Since.UTC().Format("2 Jan"), Link: c.URL}
	}
	if m.Source == picks.Own {
		o.Tile.Why = choice{Name: "Reasons", Link: m.URL + "/explain"}
	}
	if m.Board.Synthetic {
		o.Tile.Name = "Rehearsal: simulated pick rate of " + at.Tool
		if !sample {
			o.Tile.Delta, o.Tile.Rates, o.Tile.Compare = delta{}, nil, choice{}
		}
		o.Tile.Note = "Not a measurement: simulated agents gave the answers. " + o.Tile.Note
	}
	for _, by := range m.Overtaken() {
		o.Tile.Note += " · overtaken by " + m.Rival(by.By).Tool + " since " + by.Since.UTC().Format("2 Jan")
	}
	if o.Prompts = len(m.Board.Prompts); o.Prompts == 0 {
		o.Missing = "The prompts of this board are not published."
		return
	}
	lost := m.Lost()
	o.Total, o.Few = len(lost), picks.Few(lost)
	for i := range lost {
		l := &lost[i]
		row := lostRow{Prompt: l.Prompt, Text: l.Text, Rival: l.Rival, Link: l.URL, Theirs: fmt.Sprintf("%d of %d", l.RivalPicks, l.Trials), Ours: fmt.Sprintf("%d of %d", l.Picks, l.Trials)}
		if o.Few == "" {
			row.Few = l.Few()
		}
		o.Lost = append(o.Lost, row)
	}
}

// ranked says the rank and which ranks are possible, among the picked tools where the others widen it. The
// test of all pairs is stricter than a look at two intervals, which may be apart all the same.
func ranked(m *picks.Measured) string {
	at, apart := m.Standing(), 0
	of := chart.Whole(int64(m.Board.Field))
	if _, _, known := render.PickedRange(&m.Board, at); known && render.CountPicked(&m.Board) < m.Board.Field {
		of = fmt.Sprintf("the %d picked tools", render.CountPicked(&m.Board))
	}
	out := fmt.Sprintf("rank %d of %s (possible: %s", at.Rank, of, render.RankRange(&m.Board, at))
	for _, t := range m.Board.Tools {
		if t.CILow > at.CIHigh {
			apart++
		}
	}
	if at.RankLow <= apart {
		out += ", with all pairs of tools compared at once"
	}
	return out + ")"
}

// versusRows is how many tools the plot has.
const versusRows = 3

// versus plots the tool among the most picked ones, each with its interval, and their scale.
func versus(m *picks.Measured) ([]versusRow, template.HTML) {
	tools, most := slices.Clone(m.Board.Tools), 0.0
	own := slices.IndexFunc(tools, func(t analytics.Standing) bool { return t.Slug == m.Slug })
	if own >= versusRows {
		tools[versusRows-1] = tools[own]
	}
	tools = tools[:min(len(tools), versusRows)]
	for _, t := range tools {
		most = max(most, t.CIHigh)
	}
	axis := chart.NewAxis(most)
	var out []versusRow
	for _, t := range tools {
		row := versusRow{Name: t.Tool, Rate: chart.Percent(t.PickRate), Own: t.Slug == m.Slug}
		row.Plot = axis.Forest(chart.Mark{
			Rate: t.PickRate, Low: t.CILow, High: t.CIHigh, Interval: render.Interval(t.CILow, t.CIHigh) != "",
			Text: fmt.Sprintf("%s: %s, 95%% interval %s to %s", t.Tool, row.Rate, chart.Percent(t.CILow), chart.Percent(t.CIHigh)),
		})
		out = append(out, row)
	}
	return out, axis.Ruler()
}

// pickDelta compares with the measurement before. It is coloured where the change is significant:
// of own evals by the test of the two runs, of public boards by the sequential test of all
// measurements.
func pickDelta(m *picks.Measured) delta {
	last := m.Newest()
	if last == nil {
		return delta{}
	}
	before, when, ok := m.Before(last.At)
	if !ok {
		return delta{}
	}
	since := when.UTC().Format("2 Jan 2006")
	diff := m.Standing().PickRate - before.PickRate
	if m.Change != nil {
		diff, since = m.Change.Diff, m.Change.Since.UTC().Format("2 Jan 2006")
	}
	points := picks.Points(diff)
	d := delta{Shown: "no change", Spoken: "about the same as on " + since}
	switch rounded := math.Round(1000 * diff); {
	case rounded > 0:
		d = delta{Shown: "▲ " + points, Spoken: "up " + points + " from " + since}
	case rounded < 0:
		d = delta{Shown: "▼ " + points, Spoken: "down " + points + " from " + since}
	}
	if c := m.Change; c != nil {
		if c.Significant {
			d.Look = map[bool]string{true: rise, false: fall}[diff > 0]
		}
		d.Shown += " since " + c.Since.UTC().Format("2 Jan") + ": " + c.Verdict()
		d.Spoken += ": " + c.Verdict()
		return d
	}
	t, _ := picks.At(last, m.Slug)
	for _, s := range t.Shown {
		d.Look = map[nights.Direction]string{nights.Drop: fall, nights.Rise: rise}[s.Direction]
		d.Spoken += "; the measurements show a " + string(s.Direction) + " since " + s.Since.UTC().Format("2 Jan 2006")
		return d
	}
	d.Spoken += ", which may be chance"
	return d
}

// pickRates draws the rates of the last measurements with their intervals; nil for fewer than two.
func pickRates(m *picks.Measured) *rates {
	type point struct {
		nights.Tool
		at time.Time
	}
	var all []point
	most := 0.0
	for i := max(0, len(m.Nights)-spanNights); i < len(m.Nights); i++ {
		if t, ok := picks.At(&m.Nights[i], m.Slug); ok {
			all, most = append(all, point{t, m.Nights[i].At}), max(most, t.PickRate, t.CIHigh)
		}
	}
	if len(all) < 2 {
		return nil
	}
	first, last := all[0].at, all[len(all)-1].at
	text := func(r point) string { return chart.Percent(r.PickRate) + " on " + r.at.UTC().Format("2 Jan 2006") }
	var line []chart.Point
	for i, r := range all {
		p := chart.Point{X: float64(i) / float64(len(all)-1), Rate: r.PickRate, Low: r.CILow, High: r.CIHigh, Interval: render.Interval(r.CILow, r.CIHigh) != "", Title: text(r)}
		if span := last.Sub(first); span > 0 {
			p.X = float64(r.at.Sub(first)) / float64(span)
		}
		line = append(line, p)
	}
	name := fmt.Sprintf("Pick rate over %d measurements: %s, %s", len(all), text(all[0]), text(all[len(all)-1]))
	return &rates{chart.NewAxis(most).Trend(line, nil, nil, name), text(all[0]), text(all[len(all)-1])}
}
