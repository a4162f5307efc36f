package views

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A line of the first page is an observed board, or its part in one language.
type line struct {
	Name, Link string
	Page       string     // Link without its fragment
	Tools      []lineTool // the first ones
	Counted    string
	Doubts     []string
	Age        age
	SameAge    bool // the section of the line has it
	units      int
}

// A lineTool is a tool of a line. Rate and Interval are whole per cent; Interval may be empty. Repos is how many repositories
// have it, and InOne the share of its uses that is in one, where that is most; both may be empty.
type lineTool struct {
	Tool, Link, Rate, Interval, Repos, InOne string

	Plot template.HTML
}

// lines are the observed boards of the first page, those with the most units first. A board of several languages has at
// most two lines in Clear, or one in Unclear.
type lines struct {
	Clear   []line // the first tool is ahead, with all pairs compared at once
	Unclear []line // it may not be
	Others  []line // of other languages, or with little that can be said of an order
}

// The lines of the first page, of each kind.
const (
	maxLines  = 10
	maxOthers = 30
)

// observedLines returns the observed boards without those that are compared above.
func (r *Renderer) observedLines(above []pairing) (out lines) {
	for i := range r.in.Observed {
		b := &r.in.Observed[i]
		if slices.ContainsFunc(above, func(a pairing) bool { return a.Seen.Link == observedPath(b.Category) }) {
			continue
		}
		for _, l := range partsOf(b) {
			if p := l.Part; len(p.Tools) > 0 && p.Tools[0].Uses > 0 {
				to, one := out.of(p), r.observedLine(b, p, l.Language)
				for _, a := range above {
					if len(a.part.Tools) > 0 && a.part.Tools[0].Slug == p.Tools[0].Slug {
						one.Doubts = append(one.Doubts, "another list of tools than "+a.Seen.Name+" above")
					}
				}
				*to = append(*to, one)
			}
		}
	}
	shown := map[string]int{}
	for i, list := range []*[]line{&out.Clear, &out.Unclear} {
		var first []line
		sorting.StableFunc(*list, mostUnits)
		for _, l := range *list {
			if shown[l.Page] == 2-i || len(first) == maxLines {
				out.Others = append(out.Others, l)
				continue
			}
			first = append(first, l)
			shown[l.Page]++
		}
		*list = first
	}
	sorting.StableFunc(out.Others, mostUnits)
	out.Others = out.Others[:min(maxOthers, len(out.Others))]
	return out
}

func mostUnits(x, y line) int { return y.units - x.units }

// of returns the list for a part.
func (l *lines) of(p observed.Part) *[]line {
	switch {
	case len(p.Tools) < 2 || p.Tools[1].Uses < observed.MinUses || p.Tools[1].UseRate < leastChoice, observed.MostlyOne(p.Tools[0].Uses, p.Tools[0].InOne), leadOrder(p) == "":
		return &l.Others
	case leadOrder(p) == leadClear:
		return &l.Clear
	}
	return &l.Unclear
}

// partsOf returns the large languages of a board of several, and else the board as one part.
func partsOf(b *observed.Board) []observed.LanguageBoard {
	if _, several := mainPart(b); several != "" {
		return largeLanguages(b)
	}
	l := observed.LanguageBoard{Part: b.Whole()}
	if len(b.Languages) == 1 {
		l.Language = b.Languages[0].Language
	}
	return []observed.LanguageBoard{l}
}

func (r *Renderer) observedLine(b *observed.Board, p observed.Part, language string) line {
	of := language // whose agents are counted
	if _, several := mainPart(b); several == "" {
		of = ""
	}
	l := line{
		Name: b.Name, Link: observedPath(b.Category), Page: observedPath(b.Category), Age: seenAgeOf(b, r.in.Now), units: p.NUnits,
		Counted: quantity(p.NUnits, b.Unit) + agentShare(b, p, of), Doubts: append(partDoubts(b, p), byLargestAgent(b, p, of)...),
	}
	if of != "" {
		l.Link += "#" + partID(language)
	}
	if language != "" && !strings.Contains(b.Name, language) {
		l.Name += " · " + language
	}
	used := firstUsed(p)
	for _, t := range used[:min(cardTools, len(used))] {
		l.Tools = append(l.Tools, r.lineTool(b, p, t))
	}
	return l
}

func (r *Renderer) lineTool(b *observed.Board, p observed.Part, t observed.Rate) lineTool {
	m := useMark(p, t)
	out := lineTool{Tool: observedName(b, t.Slug), Rate: m.Text}
	if m.Interval {
		out.Rate, out.Interval = shareText(t.Uses, p.NUnits), wholePercent(t.CILow)+"–"+wholePercent(t.CIHigh)+"%"
	}
	m.Text = out.Tool + " " + out.Rate
	out.Plot = chart.NewAxis(1).Forest(m)
	if r.tools[t.Slug] != nil {
		out.Link = toolPath(t.Slug)
	}
	if t.Repos > 0 && p.NRepos > 0 {
		out.Repos = fmt.Sprintf("%d of %d", t.Repos, p.NRepos)
	}
	if observed.MostlyOne(t.Uses, t.InOne) {
		out.InOne = shareText(t.InOne, t.Uses)
	}
	return out
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
