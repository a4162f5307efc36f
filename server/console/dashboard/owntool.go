package dashboard

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

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
	Prompts int       // of the board; 0 where its prompts are not published
	Eval    string    // the own eval that measured it; empty for a public board
	Badge   string    // the public page of the tool; empty where it is on no public board
}

type lostRow struct {
	Prompt, Text, Rival, Link string
	Theirs, Ours              string
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
	if o.measured(m, p.MadeUp); m.Board.Synthetic && p.Measures {
		o.Tile.Real = p
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
		source = "your newest run on " + m.Board.Name
	}
	if m.Board.AsOf != nil {
		source += ", " + m.Board.AsOf.UTC().Format("2 Jan 2006")
	}
	o.Tile = tile{
		Synthetic: m.Board.Synthetic,
		Name:      "Pick rate of " + at.Tool, Value: chart.Percent(at.PickRate), Link: m.URL, Delta: pickDelta(m), Spark: pickSpark(m), Lead: true,
		Note: fmt.Sprintf("95%% interval %s–%s · rank %d of %d (range %s) · %s", chart.Percent(at.CILow), chart.Percent(at.CIHigh), at.Rank, m.Board.Field, render.RankRange(at), source),
	}
	o.Tile.Versus = versus(m)
	if m.Source == picks.Own {
		o.Tile.Why = m.URL + "/explain"
	}
	if m.Board.Synthetic {
		o.Tile.Name = "Rehearsal: simulated pick rate of " + at.Tool
		if !sample {
			o.Tile.Delta, o.Tile.Spark = delta{}, ""
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
	for _, l := range m.Lost() {
		o.Total++
		o.Lost = append(o.Lost, lostRow{l.Prompt, l.Text, l.Rival, l.URL, fmt.Sprintf("%d/%d", l.RivalPicks, l.Trials), fmt.Sprintf("%d/%d", l.Picks, l.Trials)})
	}
}

// versusRows is how many tools the plot has.
const versusRows = 3

// versus plots the tool among the most picked ones, each with its interval.
func versus(m *picks.Measured) []versusRow {
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
	return out
}

// pickDelta compares with the measurement before. It is coloured where the sequential test
// shows the change, not by chance alone.
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
	points := picks.Points(diff)
	d := delta{Shown: "no change", Spoken: "about the same as on " + since}
	switch rounded := math.Round(1000 * diff); {
	case rounded > 0:
		d = delta{Shown: "▲ " + points, Spoken: "up " + points + " from " + since}
	case rounded < 0:
		d = delta{Shown: "▼ " + points, Spoken: "down " + points + " from " + since}
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

// pickSpark draws the rates of the last measurements.
func pickSpark(m *picks.Measured) template.HTML {
	var values []int64
	for i := max(0, len(m.Nights)-spanNights); i < len(m.Nights); i++ {
		if t, ok := picks.At(&m.Nights[i], m.Slug); ok {
			values = append(values, int64(1000*t.PickRate))
		}
	}
	return chart.Spark(values)
}
