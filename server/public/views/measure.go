package views

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A measure is how one or two tools fare when agents are asked, or in real work.
type measure struct {
	Title       string
	Observed    bool
	Tools       []toolRate
	Ruler       template.HTML // of the axis
	Lead        *lead         // of one of two tools; nil where nothing is to compare
	Facts       []render.Fact
	Of          string // what the rates are of
	Board, Link string
	Age         age
	Warnings    []string // of the observed board
	None        string   // why there is no rate
}

// A toolRate is the rate of a tool. Note stands in place of an interval.
type toolRate struct {
	Tool, Rate, Interval, Note string
	Wider                      string // the interval for agents like these; empty where it is not known
	Bar                        template.HTML
}

const (
	whenAsked = "When asked"
	inWork    = "In real work"
)

// Intervals reports whether a rate has an interval.
func (m measure) Intervals() bool {
	return slices.ContainsFunc(m.Tools, func(t toolRate) bool { return t.Interval != "" })
}

// Single reports whether the rates are of one prompt.
func (m measure) Single() bool { return m.Lead != nil && m.Lead.Single }

// askedOf returns what agents pick of tools on a board. Its axis reaches least, or further.
func (r *Renderer) askedOf(least float64, b *analytics.Board, tools ...analytics.Standing) measure {
	m := measure{Title: whenAsked, Board: b.Name, Link: boardPath(b.Category), Age: ageOf(b.AsOf, r.in.Now), Of: r.boardCard(b).Note}
	single := render.Single(*b)
	for _, s := range tools {
		least = max(least, askedEnd(b, s))
	}
	axis := m.axis(least, len(tools))
	for i, s := range tools {
		t := toolRate{Tool: s.Tool, Rate: rateText(s)}
		mark := chart.Mark{Rate: s.PickRate, Text: s.Tool + " " + t.Rate}
		switch {
		case s.Picks == 0:
			t.Note = "in " + quantity(s.NTrials, "answer")
		case single:
			t.Note = "no interval: one prompt"
		default:
			t.Interval = render.Interval(s.CILow, s.CIHigh)
			if d := s.Detail; d != nil && d.PopulationLow != nil && len(tools) == 1 {
				t.Wider = render.Interval(*d.PopulationLow, *d.PopulationHigh)
			}
			mark = chart.Mark{Rate: s.PickRate, Low: s.CILow, High: s.CIHigh, Interval: true, Text: mark.Text + ", 95% CI " + t.Interval}
		}
		if mark.Class = sideClass(i, len(tools)); s.Picks > 0 || len(tools) > 1 {
			t.Bar = axis.Forest(mark)
		}
		m.Tools = append(m.Tools, t)
	}
	if s := tools[0]; len(tools) == 1 && s.Picks > 0 {
		m.Facts = append(m.Facts, rankFact(b, s))
	}
	return m
}

// sideClass is how the rate of a tool of two is drawn: as on the other plots of a comparison.
func sideClass(i, of int) string {
	switch {
	case of == 1:
		return ""
	case i == 0:
		return "dark"
	}
	return "ring"
}

// axis draws the ruler of so many tools whose rates reach so far, and returns its axis. That of one
// tool has little room, and three labels.
func (m *measure) axis(end float64, tools int) chart.Axis {
	a := chart.NewAxis(end)
	if tools == 1 {
		a.Step = a.Top / 2
	}
	m.Ruler = a.Ruler()
	return a
}

// askedEnd is how far the drawing of a rate reaches.
func askedEnd(b *analytics.Board, s analytics.Standing) float64 {
	if render.Single(*b) || s.Picks == 0 {
		return s.PickRate
	}
	return s.CIHigh
}

// seenOf returns what agents used of tools on a part of an observed board. Its axis reaches least,
// or further.
func (r *Renderer) seenOf(least float64, b *observed.Board, p observed.Part, language string, slugs []string, uses ...observed.Use) measure {
	m := measure{
		Title: inWork, Observed: true, Board: b.Name, Link: observedPath(b.Category), Age: seenAgeOf(b, r.in.Now),
		Of: unitsOf(b, p, language) + " · " + chart.Count(p.NRepos, "repository", "repositories"), Warnings: seenDoubts(b, p, slugs...),
	}
	for _, use := range uses {
		least = max(least, use.CIHigh)
	}
	axis := m.axis(least, len(uses))
	for i, use := range uses {
		rate, interval := render.UseRate(use, p.NUnits)
		t := toolRate{Tool: observedName(b, slugs[i]), Rate: rate, Interval: interval, Note: chart.Whole(int64(use.Uses)) + " of " + unitsOf(b, p, language)}
		if interval == "" { // the rate is the count
			if t.Note = fmt.Sprintf("no rate: its interval is over %.0f points", 100*render.MaxInterval); p.NUnits < observed.MinUnits {
				t.Note = fmt.Sprintf("no rate: fewer than %d %ss", observed.MinUnits, b.Unit)
			}
		}
		mark := chart.Mark{Rate: use.UseRate, Low: use.CILow, High: use.CIHigh, Interval: interval != "", Text: t.Tool + " " + t.Rate}
		if mark.Interval {
			mark.Text += ", 95% CI " + interval
		}
		if use.Uses == 0 {
			t.Rate, t.Interval, t.Note = "not used", "", "in "+unitsOf(b, p, language)
			mark = chart.Mark{Text: t.Tool + " not used"}
		}
		if mark.Class = sideClass(i, len(uses)); use.Uses > 0 || len(uses) > 1 {
			t.Bar = axis.Forest(mark)
		}
		m.Tools = append(m.Tools, t)
	}
	return m
}

// measuresOf returns both measures of a tool. Their axes are the same, and reach as far as the first
// tool of each board.
func (r *Renderer) measuresOf(slug string, t *tool) []measure {
	most := 0.0
	if len(t.Places) > 0 {
		b := t.Places[0].Board
		most = askedEnd(b, b.Tools[0])
	}
	if len(t.Seen) > 0 && len(t.Seen[0].Part.Tools) > 0 {
		most = max(most, t.Seen[0].Part.Tools[0].CIHigh)
	}
	asked, seen := measure{Title: whenAsked}, measure{Title: inWork, Observed: true}
	if len(t.Places) > 0 {
		asked = r.askedOf(most, t.Places[0].Board, t.Places[0].Standing)
	} else {
		asked.None = "Not asked yet: no board of trials ranks " + t.Name + "."
	}
	switch {
	case len(t.Seen) > 0:
		s := t.Seen[0]
		seen = r.seenOf(most, s.Board, s.Part, s.Language, []string{slug}, s.Use)
		if rank, used := s.place(); s.Use.Uses > 0 {
			f := render.Fact{Name: "Rank", Value: fmt.Sprintf("%d of %d", rank, len(s.Board.Tools)), Note: chart.Count(used, "was used", "were used")}
			switch low, high, ok := s.rankRange(); {
			case s.alone():
				f.Value, f.Note = "–", "no other listed tool was used"
			case s.Language != "" && s.Part.Tools[0].Slug == slug && leadOrder(s.Part) == leadClear:
				f.Value, f.Note = "1", "a clear lead over each other tool that was used, with all pairs tested at once"
			case s.Language != "": // only whole boards have ranks
				f.Value, f.Note = "not tested", "ranks within a language are not tested"
				if s.overlaps() {
					f.Value, f.Note = "not known", "its interval overlaps others of the "+chart.Count(used, "used tool", "used tools")
				}
			case ok && low == 1 && high >= used:
				f.Value, f.Note = "not known", "the order of the "+chart.Count(used, "used tool", "used tools")+" is not proven"
			case ok && low < high:
				f.Value, f.Note = fmt.Sprintf("%d–%d of %d", low, high, len(s.Board.Tools)), "95% range"
			}
			seen.Facts = append(seen.Facts, f)
		}
	case len(r.in.Observed) == 0:
		return []measure{asked}
	default:
		seen.None = "Not observed: no board of real work lists " + t.Name + "."
	}
	return []measure{asked, seen}
}

// A promptText is the only prompt of a board.
type promptText struct{ Text, Link string }

// maxPromptText is how many characters of the only prompt stand above the figures.
const maxPromptText = 400

// onlyPrompt returns the prompt of a board that has one; nil for others, and where its text is
// not published.
func onlyPrompt(b *analytics.Board) *promptText {
	if len(b.Prompts) != 1 || b.Prompts[0].Text == "" {
		return nil
	}
	return &promptText{clip(strings.TrimSpace(b.Prompts[0].Text), maxPromptText), PromptPath(b.Category, b.Prompts[0].Name())}
}
