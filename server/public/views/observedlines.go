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
	Name   string // empty for boards of an unknown one
	Merged bool   // it has several languages with one line each
	Lines  []line
	More   []line // that are folded away
	Left   int    // boards without a line
	Open   bool   // Lines are in sight
	Firsts string // the first tools
}

// The lines of the first page.
const (
	maxLines  = 8  // of a language
	maxMore   = 20 // of a language, folded away
	openLines = 6  // of all languages: with more, those of the first alone are in sight
	maxFirsts = 6  // tools named in place of lines
	maxMerged = 4  // languages named in one heading
)

// seenLanguages returns the observed boards by language, without those that are compared above.
func (r *Renderer) seenLanguages(above []pairing) (out []seenLanguage) {
	total := 0
	for i := range r.in.Observed {
		b := &r.in.Observed[i]
		if slices.ContainsFunc(above, func(a pairing) bool { return a.Seen.Link == observedPath(b.Category) }) {
			continue
		}
		for _, l := range partsOf(b) {
			p := l.Part
			if len(firstUsed(p)) == 0 || isAnother(above, b, l) {
				continue
			}
			one := r.observedLine(b, p, l.Language)
			at := slices.IndexFunc(out, func(g seenLanguage) bool { return g.Name == l.Language })
			if at < 0 {
				at, out = len(out), append(out, seenLanguage{Name: l.Language})
			}
			out[at].Lines = append(out[at].Lines, one)
			total++
		}
	}
	out = mergeSmall(out)
	sorting.StableFunc(out, func(x, y seenLanguage) int { return cmp.Or(y.strong()-x.strong(), len(y.Lines)-len(x.Lines)) })
	for i := range out {
		g := &out[i]
		sorting.StableFunc(g.Lines, func(x, y line) int { return cmp.Or(x.order()-y.order(), mostUnits(x, y)) })
		var firsts []string
		for _, l := range g.Lines {
			if t := l.Tools[0].Tool; !slices.Contains(firsts, t) {
				firsts = append(firsts, t)
			}
		}
		if g.Firsts = and(firsts); len(firsts) > maxFirsts {
			g.Firsts = strings.Join(firsts[:maxFirsts], ", ") + " and others"
		}
		g.Open, g.Left = i == 0 || total <= openLines, max(0, len(g.Lines)-maxLines-maxMore)
		if shown := len(g.Lines) - g.Left; shown > maxLines {
			g.Lines, g.More = g.Lines[:maxLines], g.Lines[maxLines:shown]
		}
	}
	return out
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
	for _, l := range g.All() {
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

// All returns the lines that are in sight and those that are not.
func (g seenLanguage) All() []line { return slices.Concat(g.Lines, g.More) }

// Boards is like: 13 categories, 2 with a clear lead.
func (g seenLanguage) Boards() string {
	leads := 0
	for _, l := range g.All() {
		if l.Clear {
			leads++
		}
	}
	n := len(g.Lines) + len(g.More) + g.Left
	text := chart.Count(n, "category", "categories")
	if g.Merged { // a category of two languages has two lines
		text = quantity(n, "board")
	}
	if leads > 0 {
		text += ", " + chart.Whole(int64(leads)) + " with a clear lead"
	}
	return text
}

// Folded is like: 5 more: Authentication, Secrets management and 3 others.
func (g seenLanguage) Folded() string {
	var names []string
	for _, l := range g.More[:min(maxFirsts, len(g.More))] {
		names = append(names, l.Name)
	}
	if n := len(g.More) - len(names); n > 0 {
		names = append(names, quantity(n, "other"))
	}
	return chart.Whole(int64(len(g.More))) + " more: " + and(names)
}

// order is the place of a line among those of its language.
func (l line) order() int {
	switch {
	case l.Clear:
		return 0
	case l.weak:
		return 2
	}
	return 1
}

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

func (r *Renderer) observedLine(b *observed.Board, p observed.Part, language string) line {
	of := splitBy(b, language)
	l := line{
		Name: b.Name, Link: observedPath(b.Category), Page: observedPath(b.Category), Age: seenAgeOf(b, r.in.Now), units: p.NUnits,
		Counted: quantity(p.NUnits, b.Unit) + agentShare(b, p, of), Doubts: append(partDoubts(b, p), byLargestAgent(b, p, of)...), weak: isWeak(p),
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
