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

// A line is an observed board, or its part in one language.
type line struct {
	Name, Link string
	inLanguage string     // the name with the language
	Page       string     // Link without its fragment
	Tools      []lineTool // the first ones
	Clear      bool       // the first is ahead, with all pairs compared at once
	Counted    string
	Doubts     []string
	Age        age
	SameAge    bool // the section of the line has it
	weak       bool // little can be said of an order
	units      int
}

// A lineTool is a tool of a line. Rate and Interval are whole per cent; Interval may be empty. Repos is how many repositories
// have it, and InOne the share of its uses that is in one, where that is most; both may be empty.
type lineTool struct {
	Tool, Link, Rate, Interval, Repos, InOne string

	Plot template.HTML
}

// seenLanguage has the lines of a language: with a clear lead, then without, then those that say little, each by units.
type seenLanguage struct {
	Name, ID string // Name is empty for boards of an unknown one
	Merged   bool   // it has several languages with one line each
	Lines    []line
}

// maxMerged is how many languages one heading names.
const maxMerged = 4

// seenLanguages returns the observed boards by language, that with the most lines that are not weak first, without those
// that are compared above.
func (r *Renderer) seenLanguages(above []pairing) (out []seenLanguage) {
	for i := range r.in.Observed {
		b := &r.in.Observed[i]
		if slices.ContainsFunc(above, func(a pairing) bool { return a.Seen.Link == observedPath(b.Category) }) {
			continue
		}
		for _, l := range partsOf(b) {
			if len(firstUsed(l.Part)) == 0 || isAnother(above, b, l) {
				continue
			}
			at := slices.IndexFunc(out, func(g seenLanguage) bool { return g.Name == l.Language })
			if at < 0 {
				at, out = len(out), append(out, seenLanguage{Name: l.Language})
			}
			out[at].Lines = append(out[at].Lines, r.observedLine(b, l.Part, l.Language))
		}
	}
	out = mergeSmall(out)
	sorting.StableFunc(out, func(x, y seenLanguage) int { return cmp.Or(y.strong()-x.strong(), len(y.Lines)-len(x.Lines)) })
	for i := range out {
		switch out[i].ID = "observed-" + agentSlug(out[i].Name); {
		case out[i].Merged:
			out[i].ID = "observed-others"
		case out[i].Name == "":
			out[i].ID = "observed-unknown"
		}
		sortLines(out[i].Lines)
	}
	return out
}

// sortLines puts lines with a clear lead first, then those without, then those that say little, each by units.
func sortLines(lines []line) {
	sorting.StableFunc(lines, func(x, y line) int { return cmp.Or(x.order()-y.order(), mostUnits(x, y)) })
}

// isAnother reports whether a part of a board counts work that is compared above, by another list of tools: it has the same
// language and first tool.
func isAnother(above []pairing, b *observed.Board, l observed.LanguageBoard) bool {
	return slices.ContainsFunc(above, func(a pairing) bool {
		return a.Category != b.Category && a.language == l.Language && len(a.part.Tools) > 0 && len(l.Tools) > 0 && a.part.Tools[0].Slug == l.Tools[0].Slug
	})
}

// strong returns how many lines say something of an order.
func (g seenLanguage) strong() (n int) {
	for _, l := range g.Lines {
		if !l.weak {
			n++
		}
	}
	return n
}

// mergeSmall puts the lines of languages that have one each together, where there are two.
func mergeSmall(languages []seenLanguage) []seenLanguage {
	small := seenLanguage{Merged: true}
	var large []seenLanguage
	var names []string
	for _, g := range languages {
		if len(g.Lines) > 1 || g.Name == "" {
			large = append(large, g)
			continue
		}
		g.Lines[0].Name = g.Lines[0].inLanguage
		small.Lines, names = append(small.Lines, g.Lines[0]), append(names, g.Name)
	}
	if len(small.Lines) < 2 || len(large) == 0 {
		return languages
	}
	if small.Name = "Other languages"; len(names) <= maxMerged {
		small.Name = and(names)
	}
	return append(large, small)
}

// Boards is like: 13 categories, 2 with a clear lead.
func (g seenLanguage) Boards() string {
	leads := 0
	for _, l := range g.Lines {
		if l.Clear {
			leads++
		}
	}
	n := len(g.Lines)
	text := chart.Count(n, "category", "categories")
	if g.Merged { // a category of two languages has two lines
		text = quantity(n, "board")
	}
	if leads > 0 {
		text += ", " + chart.Whole(int64(leads)) + " with a clear lead"
	}
	return text
}

// order is the place of a line among those of its language.
func (l line) order() int {
	if l.Clear {
		return 0
	}
	return 1 + l.weakness()
}

// weakness is 1 for a line that says little, and 0 for others.
func (l line) weakness() int {
	if l.weak {
		return 1
	}
	return 0
}

// shareAxis is the axis of plots of shares, with few marks.
func shareAxis() template.HTML { return chart.Axis{Top: 1, Step: .5}.Ruler() }

func mostUnits(x, y line) int { return y.units - x.units }

// isWeak reports whether little can be said of an order of a part: hardly a second tool, one repository decides, or
// too little data.
func isWeak(p observed.Part) bool {
	return len(p.Tools) < 2 || p.Tools[1].Uses < observed.MinUses || p.Tools[1].UseRate < leastChoice || observed.MostlyOne(p.Tools[0].Uses, p.Tools[0].InOne) || leadOrder(p) == ""
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

// splitBy returns the language by which the agents of a part are counted; empty for a board of one language, which counts
// them as a whole.
func splitBy(b *observed.Board, language string) string {
	if _, several := mainPart(b); several == "" {
		return ""
	}
	return language
}

// linesOf returns the lines of a board, named with their language, and of some languages where there are any.
func (r *Renderer) linesOf(b *observed.Board, languages []string) (out []line) {
	for _, l := range partsOf(b) {
		if len(firstUsed(l.Part)) > 0 && (len(languages) == 0 || slices.Contains(languages, l.Language)) {
			line := r.observedLine(b, l.Part, l.Language)
			line.Name = line.inLanguage
			out = append(out, line)
		}
	}
	return out
}

func (r *Renderer) observedLine(b *observed.Board, p observed.Part, language string) line {
	of := splitBy(b, language)
	l := line{
		Name: b.Name, Link: observedPath(b.Category), Page: observedPath(b.Category), Age: seenAgeOf(b, r.in.Now), units: p.NUnits,
		Counted: quantity(p.NUnits, b.Unit) + mostByOne(b, p, of), Doubts: append(partDoubts(b, p), byLargestAgent(b, p, of)...), weak: isWeak(p),
	}
	l.Clear = leadOrder(p) == leadClear
	if of != "" {
		l.Link += "#" + partID(language)
	}
	if l.inLanguage = l.Name; language != "" && !strings.Contains(b.Name, language) {
		l.inLanguage += " · " + language
	}
	used := firstUsed(p)
	for _, t := range used[:min(cardTools, len(used))] {
		l.Tools = append(l.Tools, r.lineTool(b, p, t))
	}
	return l
}

func (r *Renderer) lineTool(b *observed.Board, p observed.Part, t observed.Rate) lineTool {
	out := lineTool{Tool: observedName(b, t.Slug)}
	out.Rate, out.Interval = wholeUse(p, t)
	m := useMark(p, t)
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
