package views

import (
	"fmt"
	"html/template"
	"math"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A card is a board in a list: its first three tools as a stacked bar.
type card struct {
	Name, Link, URL string
	Claim           string
	Top             []portion
	Bar             template.HTML
	Ruler           template.HTML // of bars of their own
	Note            string
	Units           string // of the note of an observed board: what is counted
	Lead            string // of its first tool: clear or not; empty where that is not known
	Age             age
	Synthetic       bool
}

// A portion is a tool of a card with the class of its colour.
type portion struct {
	Class, Tool, Rate string
	Interval          string        // 95 %; empty where the card has none
	Bar               template.HTML // of its own, where rates may overlap; else empty
	Link              string        // to the answers that picked it; may be empty
	share             float64       // of the answers of a board
}

// An age is when data is from, and a remark where that is long ago.
type age struct{ When, Old string }

// WithOld is like: November 2024 (2 years old).
func (a age) WithOld() string {
	if a.Old == "" {
		return a.When
	}
	return a.When + " (" + a.Old + ")"
}

// ageOf returns the age of data at a moment.
func ageOf(at *time.Time, now time.Time) age {
	if at == nil {
		return age{When: "not measured"}
	}
	a := age{When: at.UTC().Format("January 2006")}
	switch n := monthsBetween(at.UTC(), now.UTC()); {
	case now.IsZero() || n < oldMonths:
	case n < 24:
		a.Old = fmt.Sprintf("%d months old", n)
	default:
		a.Old = fmt.Sprintf("%d years old", n/12)
	}
	return a
}

// seenAgeOf returns the age of an observed board: real work is older than the day on which it was collected.
func seenAgeOf(b *observed.Board, now time.Time) age {
	a := ageOf(b.AsOf, now)
	if a.Old != "" {
		a.Old = "at least " + a.Old
	}
	return a
}

// oldMonths is the age from which a page says it.
const oldMonths = 9

// monthsBetween returns how many months are between those of two moments, as pages show months.
func monthsBetween(from, to time.Time) int {
	return 12*(to.Year()-from.Year()) + int(to.Month()) - int(from.Month())
}

func (r *Renderer) boardCard(b *analytics.Board) card {
	c := card{
		Name: b.Name, Link: boardPath(b.Category), URL: b.URL, Age: ageOf(b.AsOf, r.in.Now), Synthetic: b.Synthetic,
		Note: quantity(b.NTrials, "answer") + " · " + quantity(len(b.Agents), nounOf(b)) + " · " + quantity(b.NPrompts, "prompt"),
	}
	if c.Claim, _ = claim(b); render.Single(*b) && b.NTrials > 1 {
		c.Claim = "On one prompt, " + inSentence(c.Claim)
	}
	var parts []chart.Part
	rest := 1.0
	for _, s := range b.Tools[:min(maxCard, len(b.Tools))] {
		if s.Picks > 0 {
			parts = c.add(parts, classOf(b, s.Slug), s.Tool, s.PickRate)
			rest -= shownRate(s.PickRate)
		}
	}
	name := othersOrNone
	if render.CountPicked(b) <= len(parts) {
		name = "no single pick"
	}
	c.addRest(name, rest)
	c.Bar = chart.Split(parts, whole, fmt.Sprintf("The first %d tools of %s", len(parts), b.Name))
	return c
}

// leastRest is the share of answers from which a card names those without a colour.
const leastRest = .005

// shownRate is a rate as pages print it.
func shownRate(v float64) float64 { return math.Round(1000*v) / 1000 }

// othersOrNone is the grey part of a bar that does not show all picked tools.
const othersOrNone = "others or no tool"

// addRest adds what the tools of a card leave of the bar: its grey part.
func (c *card) addRest(name string, share float64) {
	if len(c.Top) > 0 && share >= leastRest {
		c.Top = append(c.Top, portion{Class: "track", Tool: name, Rate: chart.Fixed(share), share: share})
	}
}

// add adds a tool to a card, and its part to the card's bar.
func (c *card) add(parts []chart.Part, class, tool string, rate float64) []chart.Part {
	c.Top = append(c.Top, portion{Class: class, Tool: tool, Rate: chart.Fixed(rate), share: rate})
	return append(parts, barPart(class, tool, rate))
}

// verbEnding is the ending of a verb of n things: one picks, two pick.
func verbEnding(n int) string {
	if n == 1 {
		return "s"
	}
	return ""
}
