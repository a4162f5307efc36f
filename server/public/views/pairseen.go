package views

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/render"
)

// bothIn returns the part of a board that has two tools: the whole board, or that of the
// language in which both were used.
func bothIn(b *observed.Board, x, y string) (p observed.Part, language string, ok bool) {
	p, language = mainPart(b)
	if language == "" {
		first, a := useOf(p, x)
		second, c := useOf(p, y)
		return p, "", a && c && first.Uses+second.Uses > 0
	}
	for _, l := range b.Languages {
		first, _ := useOf(l.Part, x)
		second, _ := useOf(l.Part, y)
		if first.Uses > 0 && second.Uses > 0 {
			return l.Part, l.Language, true
		}
	}
	return p, "", false
}

// seenWith returns where two tools were observed: on a board together, that of a category first,
// and then on a board in different languages.
func (r *Renderer) seenWith(x, y *tool, a, b, category string) (out []pairSeen) {
	var boards []*observed.Board
	for _, s := range x.Seen {
		if slices.Contains(boards, s.Board) { // in another language
			continue
		}
		boards = append(boards, s.Board)
		i := slices.IndexFunc(y.Seen, func(o sighting) bool { return o.Board == s.Board })
		if i < 0 {
			continue
		}
		if p, language, ok := bothIn(s.Board, a, b); ok {
			first, _ := useOf(p, a)
			second, _ := useOf(p, b)
			out = append(out, pairSeen{Board: s.Board, Part: p, Language: language, First: first, Second: second})
		} else if o := y.Seen[i]; s.Use.Uses > 0 && o.Use.Uses > 0 {
			out = append(out, pairSeen{Board: s.Board, First: s.Use, Second: o.Use, Apart: []sighting{s, o}})
		}
	}
	sorting.StableFunc(out, func(p, q pairSeen) int {
		home := func(s pairSeen) int {
			if s.Board.Category == category {
				return 0
			}
			return 1
		}
		return cmp.Or(len(p.Apart)-len(q.Apart), home(p)-home(q), q.Part.NUnits-p.Part.NUnits)
	})
	return out
}

// A pairSeen is two tools on a part of an observed board.
type pairSeen struct {
	Board         *observed.Board
	Part          observed.Part
	Language      string
	First, Second observed.Use
	// Apart are both tools in languages of their own, where they share none: they cannot
	// replace each other. Part is empty then.
	Apart []sighting
}

// measure returns how often each was used, by slug.
func (s pairSeen) measure(r *Renderer, x, y string) measure {
	if s.Apart == nil {
		m := r.seenOf(0, s.Board, s.Part, s.Language, []string{x, y}, s.First, s.Second)
		m.Lead = s.lead(x, y)
		if s.turned(x, y) != "" { // the sentence at the top has the rates
			m.Warnings[slices.Index(m.Warnings, largeShare(s.Board, s.Part)+"; "+withoutLargest(s.Board, s.Part, x, y))] = largeShare(s.Board, s.Part)
		}
		return m
	}
	p, q := s.Apart[0], s.Apart[1]
	m, other := r.seenOf(1, p.Board, p.Part, p.Language, []string{x}, p.Use), r.seenOf(1, q.Board, q.Part, q.Language, []string{y}, q.Use)
	m.Tools, m.Of = append(m.Tools, other.Tools...), m.Of+"; "+other.Of
	for _, w := range other.Warnings {
		if !slices.Contains(m.Warnings, w) {
			m.Warnings = append(m.Warnings, w)
		}
	}
	return m
}

// places shows both among the tools that were used as often.
func (s pairSeen) places(r *Renderer, a, b string) []seenPlace {
	if s.Apart == nil {
		return []seenPlace{r.seenPlace(s.Board, s.Part, s.Language, a, b)}
	}
	p, q := s.Apart[0], s.Apart[1]
	return []seenPlace{r.seenPlace(p.Board, p.Part, p.Language, a), r.seenPlace(q.Board, q.Part, q.Language, b)}
}

// cited has the figures of both in a citation; empty where they are of different parts.
func (s pairSeen) cited(x, y string) string {
	if s.Apart != nil {
		return ""
	}
	return ": " + citedUse(x, s.First, s.Part.NUnits) + ", " + citedUse(y, s.Second, s.Part.NUnits) + " of " + unitsOf(s.Board, s.Part, s.Language) + citedDoubts(s.Board, s.Part, s.slug(x), s.slug(y))
}

// sentence says how often two tools were used.
func (s pairSeen) sentence(x, y string) string {
	text := s.counts(x, y)
	if p, _, ok := s.pair(s.slug(x), s.slug(y)); ok {
		verdict := "is significant"
		if !p.Shown {
			text, verdict = "No clear difference: "+inSentence(text), "is not significant"
		} else if all := s.together(p); all != nil && !all.Significant {
			verdict += ", with all pairs at once it is not"
		}
		text += fmt.Sprintf("; for this pair alone, the difference of %s points (95%% CI %s) %s", s.apart(), render.PointsRange(p.CILow, p.CIHigh), verdict)
		return text + "." + s.turned(s.slug(x), s.slug(y))
	}
	return s.untested(s.slug(x), s.slug(y)) + text + "." + s.turned(s.slug(x), s.slug(y))
}

// untested begins a sentence about two tools, by slug, that were both used, where their difference is not known, and
// says why; empty where they were used as often.
func (s pairSeen) untested(a, b string) string {
	if s.Apart != nil || s.First.Uses == 0 || s.Second.Uses == 0 || s.First.UseRate == s.Second.UseRate {
		return ""
	}
	return "The difference is not known: " + s.unknown(a, b) + ". "
}

// units is what the rate of the first or the second tool is of.
func (s pairSeen) units(i int) int {
	if s.Apart != nil {
		return s.Apart[i].Part.NUnits
	}
	return s.Part.NUnits
}

// short is sentence in short, for a page that has the figures below.
func (s pairSeen) short(x, y string) string {
	if s.Apart != nil {
		return s.sentence(x, y)
	}
	p, _, known := s.pair(s.slug(x), s.slug(y))
	turned := s.turned(s.slug(x), s.slug(y))
	first, second := s.First, s.Second
	if second.UseRate > first.UseRate {
		x, y, first, second = y, x, second, first
	}
	rate := func(u observed.Use) string {
		if rate, interval := render.UseRate(u, s.Part.NUnits); interval != "" {
			return rate + " (" + interval + ")"
		}
		return useShare(u, s.Part.NUnits)
	}
	text := fmt.Sprintf("In real work, agents used %s in %s of %s, and %s in %s", x, rate(first), amongUnits(s.Board, s.Part, s.Language), y, rate(second))
	switch {
	case !known:
		text = s.untested(s.slug(x), s.slug(y)) + text
	case p.Shown:
		text += ": significant for this pair alone"
		if all := s.together(p); all != nil && !all.Significant {
			text += ", not with all pairs at once"
		}
	default:
		text += ": no clear difference"
	}
	return text + "." + turned
}

// counts is sentence without its verdict and its full stop.
func (s pairSeen) counts(x, y string) string {
	if s.Apart != nil {
		p, q := s.Apart[0], s.Apart[1]
		return fmt.Sprintf("%s, agents used %s in %s of %s and %s in %s of %s: different languages, so these are not alternatives", inExisting,
			x, useShare(p.Use, p.Part.NUnits), unitsOf(p.Board, p.Part, p.Language), y, useShare(q.Use, q.Part.NUnits), unitsOf(q.Board, q.Part, q.Language))
	}
	units, first, second := amongUnits(s.Board, s.Part, s.Language), s.First, s.Second
	if second.UseRate > first.UseRate {
		x, y, first, second = y, x, second, first
	}
	text := fmt.Sprintf("%s, agents used %s in %s of %s", inExisting, x, useShare(first, s.Part.NUnits), units)
	switch {
	case second.Uses == 0:
		text += " and never " + y
	case first.UseRate == second.UseRate:
		text += ", as often as " + y
	default:
		text += fmt.Sprintf(" and %s in %s", y, useShare(second, s.Part.NUnits))
	}
	return text
}
