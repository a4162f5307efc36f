package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A line of the first page is an observed board: the interval of its first tool with the rates of the next ones.
type line struct {
	card

	Next      string // the other tools of the card, without intervals
	Languages string // the first tools in other languages
	choice    bool   // there is a second tool
}

// lines are the observed boards of the first page, those with the most units first.
type lines struct {
	Clear   []line // the first tool is ahead, with all pairs compared at once
	Unclear []line // it may not be
	Others  []line // of little data, or with one tool alone
}

// maxObserved is how many boards of a kind are on the first page.
const maxObserved = 16

// observedLines returns the observed boards without those of paired paths.
func (r *Renderer) observedLines(paired []string) (out lines) {
	boards := slices.Clone(r.in.Observed)
	sorting.StableFunc(boards, descending(func(b observed.Board) float64 {
		p, _ := mainPart(&b)
		return float64(p.NUnits)
	}))
	for i := range boards {
		to, l := &out.Others, r.observedLine(&boards[i])
		switch {
		case slices.Contains(paired, l.Link) || len(l.Top) == 0:
			continue
		case l.Lead == leadClear:
			to = &out.Clear
		case l.choice:
			to = &out.Unclear
		}
		if len(*to) < maxObserved {
			*to = append(*to, l)
		}
	}
	return out
}

func (r *Renderer) observedLine(b *observed.Board) line {
	p, language := mainPart(b)
	l := line{card: r.observedCard(b)}
	l.Doubts = append(partDoubts(b, p), byLargestAgent(b, p, language)...)
	used := firstUsed(p)
	if len(used) == 0 {
		return l
	}
	m := useMark(p, used[0])
	var next []string
	for i, t := range used {
		once := ""
		if mostlyOne(p, t) {
			once = chart.Whole(int64(t.InOne)) + " in one repository"
		}
		if i == 0 {
			if once != "" {
				l.Doubts = append(l.Doubts, inOneText(b, t)+" in one repository")
			}
			continue
		}
		m.Others = append(m.Others, t.UseRate)
		text := observedName(b, t.Slug) + " " + sighting{b, p, language, t.Use}.rate()
		if once != "" {
			text = fmt.Sprintf("%s %d (%s)", observedName(b, t.Slug), t.Uses, once)
		}
		next = append(next, text)
	}
	l.Next, l.Bar = strings.Join(next, ", "), chart.NewAxis(1).Forest(m)
	l.choice = p.NUnits >= observed.MinUnits && len(p.Tools) > 1 && p.Tools[1].Uses >= observed.MinUses && p.Tools[1].UseRate >= leastChoice
	var others []string
	for _, o := range largeLanguages(b) {
		if language != "" && o.Language != language && len(o.Tools) > 0 && o.Tools[0].Uses > 0 {
			others = append(others, fmt.Sprintf("%s: %s %s", o.Language, observedName(b, o.Tools[0].Slug), sighting{b, o.Part, o.Language, o.Tools[0].Use}.rate()))
		}
	}
	l.Languages = strings.Join(others, "; ")
	return l
}

// byLargestAgent says which tool is first among the units of the agent that made most of them, where that is another
// tool than the first of the part; empty for others.
func byLargestAgent(b *observed.Board, p observed.Part, language string) []string {
	for _, a := range usersOf(b, language) {
		if 2*a.NUnits <= p.NUnits || a.NUnits < observed.MinUnits || len(a.Tools) == 0 || len(p.Tools) == 0 {
			continue
		}
		first := slices.MaxFunc(a.Tools, func(x, y observed.Rate) int { return cmp.Compare(x.UseRate, y.UseRate) })
		if use, _ := useOf(a.Part, p.Tools[0].Slug); first.UseRate > use.UseRate {
			return []string{"with " + a.Agent + " alone, " + observedName(b, first.Slug) + " is first"}
		}
	}
	return nil
}
