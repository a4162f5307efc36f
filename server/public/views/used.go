package views

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A used is what agents used of the first tools of a board, from the observed board of the same
// category.
type used struct {
	Name, Of, Link string
	Age            age
	Ruler          template.HTML
	Tools          []portion
	Doubts         []string // of the part
}

// used returns the rates of the first tools in real work and of the first two of a board; nil
// without an observed board that has both, in one language.
func (r *Renderer) used(b *analytics.Board) *used {
	i := slices.IndexFunc(r.in.Observed, func(o observed.Board) bool { return o.Category == b.Category })
	if i < 0 || len(b.Tools) < 2 {
		return nil
	}
	o := &r.in.Observed[i]
	parts := []observed.LanguageBoard{{Part: o.Whole()}}
	if len(o.Languages) > 1 {
		parts = o.Languages
	}
	for _, l := range parts {
		p := l.Part
		u := used{
			Name: o.Name, Age: seenAgeOf(o, r.in.Now), Link: observedPath(o.Category), Of: quantity(p.NUnits, o.Unit) + " of " + chart.Count(p.NRepos, "repository", "repositories") + " that use a listed tool" + agentShare(o, p, l.Language),
		}
		isAsked := func(t observed.Rate) bool { return t.Slug == b.Tools[0].Slug || t.Slug == b.Tools[1].Slug }
		last := 0 // the place of the second of the two
		for i, t := range p.Tools {
			if isAsked(t) {
				last = i
			}
		}
		var slugs, shown, concentrated []string
		between := ""
		for i, t := range p.Tools {
			asked := isAsked(t)
			if asked {
				slugs = append(slugs, t.Slug)
			}
			if asked || (i < cardTools || i < last && last < 2*cardTools) && t.Uses >= observed.MinUses {
				shown = append(shown, t.Slug)
				if u.Tools = append(u.Tools, usePortion(o, p, t)); observed.MostlyOne(t.Uses, t.InOne) {
					concentrated = append(concentrated, inOneText(o, t)+" are in one repository")
				}
			}
			if asked && t.Uses > 0 && i >= len(u.Tools) { // others are left out above it
				between = fmt.Sprintf("%s is %s of the %s that were used", observedName(o, t.Slug), ordinal(i+1), quantity(usedIn(p), "tool"))
			}
		}
		if u.Ruler = chart.NewAxis(1).Ruler(); len(slugs) == 2 {
			if between != "" {
				u.Doubts = append(u.Doubts, between)
			}
			how := "With single pairs compared"
			if pair := p.Pairs[[2]string{slugs[0], slugs[1]}]; pair.Together != nil {
				how = "With all pairs compared at once"
			}
			switch {
			case noneProven(p, shown):
				u.Doubts = append(u.Doubts, how+", no order of these tools is clear")
			case unprovenPair(p, slugs[0], slugs[1]):
				u.Doubts = append(u.Doubts, fmt.Sprintf("%s, the order of %s and %s is not clear", how, observedName(o, slugs[0]), observedName(o, slugs[1])))
			}
			for _, doubt := range slices.Concat(seenDoubts(o, p, slugs...), concentrated) {
				if !slices.Contains(u.Doubts, doubt) {
					u.Doubts = append(u.Doubts, doubt)
				}
			}
			return &u
		}
	}
	return nil
}

// noneProven reports whether no pair of tools, the most used first, is in a proven order.
func noneProven(p observed.Part, slugs []string) bool {
	for i, ahead := range slugs {
		for _, behind := range slugs[i+1:] {
			if !unprovenPair(p, ahead, behind) {
				return false
			}
		}
	}
	return len(slugs) > 1
}
