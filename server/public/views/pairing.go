package views

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A pairing is a category that was asked and observed, in one language: the first two tools of each kind in
// both.
type pairing struct {
	Asked, Seen card
	Answers     string       // that the rates of Asked are of
	Doubts      []string     // of the part of Seen
	Chips       []string     // those that a claim needs next to it
	NotShown    string       // the tools that are left out; may be empty
	Category    string       // of both boards
	Collected   string       // when Seen was, after a comma; empty where that is not known
	Same        bool         // the first tool is the same
	Tools       []pairedTool // the first of each kind, then the second of each
	part        observed.Part
	language    string // of part; empty where that is not known
	Unit        string // that part counts
}

// A pairedTool has the rates of a tool when asked and in real work.
type pairedTool struct {
	slug, Tool  string
	Link        string // its page; empty without one
	Asked, Used portion
	Plot        template.HTML // of both, on one axis
	InOne       string        // the share of its uses that is in one repository, where that is most
	pickRate    float64
}

// firstsWithout says how the rates of tools, by slug, look without a repository that has much of a part; empty where none
// has, or the study can see none of them.
func firstsWithout(b *observed.Board, p observed.Part, slugs []string) string {
	slugs = slices.DeleteFunc(slugs, func(slug string) bool { return usedPortion(b, p, slug).Rate == "" })
	if len(slugs) == 0 || p.Largest == nil || p.Largest.Without.NUnits == 0 || !slices.Contains(p.Warnings, observed.OneRepository) {
		return ""
	}
	return "without the largest repository: " + strings.TrimPrefix(withoutLargest(b, p, slugs...), withoutIt)
}

// otherFirsts names the agents whose first tool is another one than the first of a part, with its rate or count; it is
// described, not tested; nil without one.
func otherFirsts(b *observed.Board, p observed.Part, language string) []string {
	var parts []string
	for _, a := range usersOf(b, language) {
		if a.NUnits < leastAnswers || len(p.Tools) == 0 {
			continue
		}
		if first := seenFirstOf(b, p, a); first.Tool != "" && first.Tool != observedName(b, p.Tools[0].Slug) {
			parts = append(parts, first.Tool+" with "+a.Agent+" ("+first.Rate+")")
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"other first tools, not tested: " + and(parts)}
}

// pairings returns the categories with a board of both kinds and observed.MinUnits: that of the board first, then those with different
// first tools.
func (r *Renderer) pairings(first *analytics.Board) (out []pairing) {
	for _, b := range r.byTrials() {
		i := slices.IndexFunc(r.in.Observed, func(o observed.Board) bool { return o.Category == b.Category })
		if i < 0 || len(b.Tools) == 0 || b.Tools[0].Picks == 0 {
			continue
		}
		o := &r.in.Observed[i]
		p, several := mainPart(o)
		used := firstUsed(p)
		if several != "" && !strings.Contains(o.Name, several) || len(used) == 0 || p.NUnits < observed.MinUnits {
			continue
		}
		d := pairing{Asked: r.boardCard(b), Answers: quantity(b.NTrials, "answer") + ", " + quantity(b.NPrompts, "prompt"), Seen: r.observedCard(o), part: p, Unit: o.Unit, Category: b.Category}
		first, _ := useOf(p, b.Tools[0].Slug)
		d.Same = first.Uses > 0 && first.UseRate >= used[0].UseRate
		if d.language = several; several == "" && len(o.Languages) == 1 {
			d.language = o.Languages[0].Language
		}
		if o.AsOf != nil {
			d.Collected = ", collected " + d.Seen.Age.When
		}
		if len(p.Tools) > 1 && d.Seen.Lead != "" {
			d.Doubts = append(d.Doubts, "lead of "+observedName(o, p.Tools[0].Slug)+" "+d.Seen.Lead)
		}
		if share := strings.TrimPrefix(agentShare(o, p, several), " · "); share != "" {
			d.Doubts, d.Chips = append(d.Doubts, share), []string{share}
		}
		d.Chips = append(d.Chips, seenChips(o, p)...)
		d.Doubts = slices.Concat(d.Doubts, partDoubts(o, p), otherFirsts(o, p, several))
		var slugs []string
		for place := range 2 { // the first of each, then the second of each
			if place < len(b.Tools) && b.Tools[place].Picks > 0 {
				slugs = append(slugs, b.Tools[place].Slug)
			}
			if place < len(used) {
				slugs = append(slugs, used[place].Slug)
			}
		}
		d.NotShown = notShown(b, o, p, slugs)
		if text := firstsWithout(o, p, slices.Compact([]string{b.Tools[0].Slug, used[0].Slug})); text != "" {
			d.Doubts = append(d.Doubts, text)
		}
		for i, slug := range slugs {
			if slices.Contains(slugs[:i], slug) {
				continue
			}
			name := nameOf(b, slug)
			if name == slug { // not on the board
				name = observedName(o, slug)
			}
			s, _ := standingOf(b, slug)
			t := pairedTool{slug: slug, Tool: name, Link: r.seenPath(slug), Asked: askedPortion(b, slug), Used: usedPortion(o, p, slug), pickRate: s.PickRate}
			if at := slices.IndexFunc(p.Tools, func(t observed.Rate) bool { return t.Slug == slug }); at >= 0 {
				l := r.lineTool(o, p, p.Tools[at])
				t.InOne = l.InOne
				if l.InOne != "" && p.Tools[at].Repos > 1 {
					d.Doubts = append(d.Doubts, inOneText(o, p.Tools[at])+" in one repository")
				}
			}
			if t.Used.Rate == "" {
				d.NotShown = strings.TrimSpace(d.NotShown + " The study of real work does not count " + t.Tool + ".")
			}
			t.Plot = pairPlot(b, p, t)
			d.Tools = append(d.Tools, t)
		}
		out = append(out, d)
	}
	place := func(p pairing) int {
		switch {
		case p.Same:
			return 2
		case first != nil && p.Asked.Link == boardPath(first.Category):
			return 0
		}
		return 1
	}
	sorting.StableFunc(out, func(x, y pairing) int { return place(x) - place(y) })
	return out[:min(homePairs, len(out))]
}

// Firsts is like: TensorFlow when asked (70%), PyTorch in real work (53%, 95% CI 18–86%).
func (p pairing) Firsts() string {
	asked := p.Tools[0]
	if p.Same {
		return fmt.Sprintf("%s when asked (%s) and in real work (%s)", asked.Tool, asked.Asked.InBrackets(), asked.Used.InBrackets())
	}
	used := p.Tools[1]
	return fmt.Sprintf("%s when asked (%s), %s in real work (%s)", asked.Tool, asked.Asked.InBrackets(), used.Tool, used.Used.InBrackets())
}

// Bands reports whether a tool has an interval.
func (p pairing) Bands() bool {
	return slices.ContainsFunc(p.Tools, func(t pairedTool) bool { return t.Asked.Interval != "" || t.Used.Interval != "" })
}

// AskedBands reports whether a tool has an interval of answers, as a board of one prompt does not.
func (p pairing) AskedBands() bool {
	return slices.ContainsFunc(p.Tools, func(t pairedTool) bool { return t.Asked.Interval != "" })
}

// A contrast is a claim of the first page that real work used another first tool than the answers picked. Asked and
// Used are the figures of its halves, with what they are of. One means that it gives both rates of the picked tool.
type contrast struct {
	Claim, Asked, Used string
	One                bool

	AskedAge, UsedAge string // with how old they are; empty where they are not known

	Cite  string // how to cite the claim; empty without a snapshot
	Pair  string // the path of the comparison of its two tools; empty without one
	Doubt string // how firm its half of real work is, in a few words; empty where the lead of its tool is clear
	Test  string // of the order of its two tools in real work, without a full stop; empty without one
}

// Base is what both halves are of, and how firm the second is.
func (c contrast) Base() string {
	text := c.Asked + " " + c.Used
	if c.Doubt != "" {
		text += " " + render.Capital(c.Doubt) + "."
	}
	return text
}

// contrastOf returns the contrast of a headline and its pairing; nil where the first tools are the same.
func contrastOf(h headline, pairs []pairing) *contrast {
	if h.board == nil || len(pairs) == 0 || pairs[0].Asked.Link != h.Link || pairs[0].Same {
		return nil
	}
	p := pairs[0]
	asked, used, noun := p.Tools[0], p.Tools[1], nounOf(h.board)
	out := contrast{
		Claim: cmp.Or(h.Short, h.Text) + " In real work, agents used " + used.Tool + " most often.",
		Asked: fmt.Sprintf("Asked: %s of %s to %s", quantity(h.board.NTrials, "answer"), quantity(len(h.board.Agents), noun), quantity(h.board.NPrompts, "prompt")),
		Used:  "Observed: " + p.Seen.Units + " by agents that use a tool of the category" + p.Collected,
	}
	if mostPick(h.board, asked.slug) && asked.Asked.IsShare() && asked.Used.IsShare() {
		out.One = true
		out.Claim = fmt.Sprintf("%s: %ss picked %s in %s of answers, coding agents used it in %s of %ss with such a tool.", h.board.Name, noun, asked.Tool, asked.Asked.Rate, asked.Used.Rate, p.Unit)
	}
	if h.board.AsOf != nil {
		out.AskedAge = h.Age.WithOld()
		out.Asked += ", " + out.AskedAge
	}
	if p.Collected != "" {
		out.UsedAge = p.Seen.Age.WithOld()
	}
	out.Asked += bothRates(asked.Tool, asked.Asked, used.Tool, used.Asked)
	first, second := used, asked
	out.Doubt, out.Test = p.order(used, asked)
	if out.One {
		first, second, out.Doubt = asked, used, "" // two rates of one tool, and no order
	}
	out.Used += bothRates(first.Tool, first.Used, second.Tool, second.Used)
	if asked.Link != "" && used.Link != "" {
		out.Pair = ComparePath(asked.slug, used.slug)
	}
	return &out
}

// mostPick reports whether most of several agents pick a tool first, and most answers pick it.
func mostPick(b *analytics.Board, slug string) bool {
	s, _ := standingOf(b, slug)
	return len(b.Agents) > 1 && 2*s.Picks > b.NTrials && 2*firstsOf(b)[slug] > len(b.Agents)
}

// firstsOf counts the agents of a board that pick a tool most, by its slug.
func firstsOf(b *analytics.Board) map[string]int {
	firsts := map[string]int{}
	for _, a := range b.Agents {
		if best, _ := firstTwo(a); best.Picks > 0 {
			firsts[best.Slug]++
		}
	}
	return firsts
}

// bothRates is like: : FastAPI 66% (95% CI 33–88%), Flask 7% (95% CI 2–18%). A tool without a rate is left out.
func bothRates(first string, x portion, second string, y portion) string {
	text := ": " + first + " " + x.WithInterval()
	if y.Rate != "" {
		text += ", " + second + " " + y.WithInterval()
	}
	return text + "."
}

// order says how firm it is that real work used one tool more than another one, with the other tools of the board: in a
// few words, empty where its lead is clear; and the test of these two, empty without one.
func (p pairing) order(first, second pairedTool) (doubt, test string) {
	pair, ok := p.part.Pairs[[2]string{first.slug, second.slug}]
	switch {
	case second.Used.Rate == "":
		doubt = "the study of real work does not count " + second.Tool
	case !ok || !pair.Known():
		doubt = "difference not tested"
	default:
		test = fmt.Sprintf("in real work, %s leads %s by %s points (95%% CI %s", first.Tool, second.Tool, strings.TrimPrefix(render.Points(pair.Diff), "+"), render.PointsRange(pair.CILow, pair.CIHigh))
		switch {
		case !pair.Shown:
			doubt = "difference not significant"
			test += "): not significant"
		case pair.Together != nil && !pair.Together.Shown:
			among := countPairs(len(p.part.Tools))
			test += " with these two tested alone): not significant with all " + among + " pairs tested at once"
			return fmt.Sprintf("%s over %s: significant alone, not among %s pairs", first.Tool, second.Tool, among), test
		default:
			test += ")"
		}
	}
	if p.Seen.Lead == "" || p.Seen.Lead == leadClear {
		return doubt, test
	}
	lead := "lead of " + first.Tool + " " + p.Seen.Lead
	if second.Used.Rate == "" {
		return doubt + ", " + lead, test
	}
	return lead, test
}

// IsShare reports whether the rate is per cent, and not a count.
func (p portion) IsShare() bool { return strings.HasSuffix(p.Rate, "%") }

// WithInterval is the rate with its interval, if it has one.
func (p portion) WithInterval() string {
	if p.Interval == "" {
		return p.Rate
	}
	return p.Rate + " (95% CI " + p.Interval + ")"
}

// InBrackets is the rate with its interval, if it has one, for brackets.
func (p portion) InBrackets() string {
	if p.Interval == "" {
		return p.Rate
	}
	return p.Rate + ", 95% CI " + p.Interval
}

// notShown names the tools that a pair leaves out, with leastChoice or more: Not shown: Keras 13% when asked.
func notShown(b *analytics.Board, o *observed.Board, p observed.Part, shown []string) string {
	var asked, used, parts []string
	for _, s := range b.Tools {
		if s.PickRate >= leastChoice && !slices.Contains(shown, s.Slug) && len(asked) < cardTools {
			asked = append(asked, s.Tool+" "+shareText(s.Picks, b.NTrials))
		}
	}
	for _, t := range p.Tools {
		if t.UseRate >= leastChoice && !slices.Contains(shown, t.Slug) && len(used) < cardTools {
			used = append(used, observedName(o, t.Slug)+" "+aloneUse(p, t))
		}
	}
	if len(asked) > 0 {
		parts = append(parts, and(asked)+" when asked")
	}
	if len(used) > 0 {
		parts = append(parts, and(used)+" in real work")
	}
	if len(parts) == 0 {
		return ""
	}
	return "Not shown: " + strings.Join(parts, "; ") + "."
}

// pairPlot draws both rates of a tool on one axis: a ring when asked, a dot in real work.
func pairPlot(b *analytics.Board, p observed.Part, t pairedTool) template.HTML {
	axis := chart.NewAxis(1)
	s, _ := standingOf(b, t.slug)
	asked := chart.Mark{Rate: s.PickRate, Low: s.CILow, High: s.CIHigh, Interval: t.Asked.Interval != "", Class: chart.Tick, Text: t.Tool + " when asked: " + t.Asked.Rate}
	i := slices.IndexFunc(p.Tools, func(r observed.Rate) bool { return r.Slug == t.slug })
	if i < 0 || t.Used.Rate == "" { // the study cannot see it
		return axis.Forest(asked)
	}
	used := useMark(p, p.Tools[i])
	used.Text = t.Tool + " in real work: " + t.Used.Rate
	if t.Asked.Rate == "" { // not on the board
		return axis.Forest(used)
	}
	used.Class = "rate" // as on other plots of real work
	return axis.Pair(used, asked)
}

// standingOf returns a tool of a board.
func standingOf(b *analytics.Board, slug string) (s analytics.Standing, ok bool) {
	i := slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == slug })
	if i < 0 {
		return s, false
	}
	return b.Tools[i], true
}

// askedPortion is the pick rate of a tool; empty where the board does not list it.
func askedPortion(b *analytics.Board, slug string) portion {
	s, ok := standingOf(b, slug)
	switch {
	case !ok:
		return portion{}
	case s.Picks == 0:
		return portion{Rate: "0 of " + chart.Whole(int64(b.NTrials))}
	case render.Single(*b):
		return portion{Rate: shareText(s.Picks, b.NTrials)}
	}
	return portion{Rate: shareText(s.Picks, b.NTrials), Interval: wholeInterval(s.CILow, s.CIHigh)}
}

// usedPortion is the rate of use of a tool; empty where the study cannot see it.
func usedPortion(o *observed.Board, p observed.Part, slug string) portion {
	if !slices.ContainsFunc(o.Tools, func(t observed.Standing) bool { return t.Slug == slug }) {
		return portion{}
	}
	use, _ := useOf(p, slug)
	rate, interval := wholeUse(p, observed.Rate{Slug: slug, Use: use})
	return portion{Rate: rate, Interval: interval}
}
