package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
)

const (
	byTag   = "tag:"
	byAgent = "agent"
)

// cutsBy are the values of rank --by.
func cutsBy() (by []string) {
	for _, tag := range analytics.CutTags() {
		by = append(by, byTag+tag)
	}
	return append(by, byAgent, analytics.CutProject)
}

// printCuts prints the rates by a tag of the prompts, or by agent. As JSON these are the
// boards without other cuts.
func (o *rankOptions) printCuts(boards []analytics.Board) error {
	name := strings.TrimPrefix(o.by, byTag)
	for i, b := range boards {
		boards[i] = b.CutBy(name)
	}
	if o.json {
		return o.printBoards(boards)
	}
	t := table{header: []string{"category", name, "tool", "pick rate", "interval", "picks", "trials"}}
	var notes boardNotes
	for _, b := range boards {
		if o.by == byAgent {
			for _, a := range b.Agents {
				t.addRates(b.Category, a.Agent, a.NTrials, a.Tools)
			}
		}
		for _, c := range b.Cuts {
			value := c.Value
			if slices.Contains(c.Warnings, analytics.Directional) {
				value += " (early)"
			}
			t.addRates(b.Category, value, c.NTrials, c.Tools)
		}
		if o.by == analytics.CutProject && len(b.Cuts) == 0 {
			notes.add(b.Category, "all trials began with the same project")
		} else if o.by != byAgent && len(b.Cuts) == 0 {
			notes.add(b.Category, "the prompts have fewer than two values of the tag %s", name)
		}
		notes.board(b, 0)
	}
	return t.printWith(o.env, o.format, notes)
}

func (t *table) addRates(category, value string, trials int, rates []analytics.AgentRate) {
	if len(rates) == 0 {
		t.add(category, value, "-", "-", "-", "0", fmt.Sprint(trials))
	}
	for _, r := range rates {
		interval := "-"
		if r.Interval != nil {
			interval = fmt.Sprintf("%s–%s", percent(r.CILow), percent(r.CIHigh))
		}
		t.add(category, value, r.Slug, percent(r.PickRate), interval, fmt.Sprint(r.Picks), fmt.Sprint(trials))
	}
}

// rateText formats the pick rate and its interval; of a tool that nobody picked, an upper
// limit.
func rateText(s analytics.Standing) (rate, interval string) {
	switch {
	case s.Picks > 0:
		return percent(s.PickRate), fmt.Sprintf("%s–%s", percent(s.CILow), percent(s.CIHigh))
	case s.CIHigh < 1:
		return fmt.Sprintf("not picked (at most %s)", percent(s.CIHigh)), "-"
	}
	return "not picked", "-"
}

// metricText formats a metric; "-" where the board does not have it.
func metricText(m analytics.Metric, s analytics.Standing) string {
	v := m.Value(s)
	switch {
	case v == nil:
		return "-"
	case m.Rate:
		return percent(*v)
	}
	return fmt.Sprint(*v)
}
