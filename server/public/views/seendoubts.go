package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// seenDoubts explains the warnings of a part of an observed board but that of several languages,
// each in one sentence without a full stop. That of a large repository has the rates without it:
// those of the tools named by slugs, or of the first two.
func seenDoubts(b *observed.Board, p observed.Part, slugs ...string) (out []string) {
	for _, w := range p.Warnings {
		switch {
		case w == observed.MixedLanguages:
		case w == observed.OneRepository && p.Largest != nil:
			out = append(out, largeShare(b, p)+"; "+withoutLargest(b, p, slugs...))
		default:
			out = append(out, render.Capital(strings.ReplaceAll(observed.Explain(w), "pull requests or commits", b.Unit+"s")))
		}
	}
	if len(slugs) == 0 {
		slugs = firstSlugs(p)
	}
	for _, t := range p.Tools {
		if slices.Contains(slugs, t.Slug) && mostlyOne(p, t) {
			out = append(out, inOneText(b, t)+" are in one repository")
		}
	}
	return out
}

// mostlyOne reports whether most uses of a tool are in one repository. Where the part has the warning of one
// repository, its rates without that one are given instead.
func mostlyOne(p observed.Part, t observed.Rate) bool {
	return observed.MostlyOne(t.Uses, t.InOne) && !slices.Contains(p.Warnings, observed.OneRepository)
}

// inOneText is like: 29 of 31 uses of MobX.
func inOneText(b *observed.Board, t observed.Rate) string {
	return fmt.Sprintf("%d of %s of %s", t.InOne, quantity(t.Uses, "use"), observedName(b, t.Slug))
}

// firstSlugs returns the first two used tools of a part.
func firstSlugs(p observed.Part) (out []string) {
	for _, t := range p.Tools[:min(2, len(p.Tools))] {
		if t.Uses > 0 {
			out = append(out, t.Slug)
		}
	}
	return out
}

// citedDoubts are these sentences at the end of a citation.
func citedDoubts(b *observed.Board, p observed.Part, slugs ...string) (text string) {
	for _, doubt := range seenDoubts(b, p, slugs...) {
		text += ". " + doubt
	}
	return text
}

// seenChips are the same warnings in a few words.
func seenChips(b *observed.Board, p observed.Part) (out []string) {
	for _, w := range p.Warnings {
		switch {
		case w == observed.MixedLanguages:
		case w == observed.OneRepository && p.Largest != nil:
			out = append(out, shareText(p.Largest.NUnits, p.NUnits)+" from one repository")
		default:
			out = append(out, observed.Chip(w, b.Unit))
		}
	}
	return out
}

// largeShare is like: One repository has 65% of the pull requests.
func largeShare(b *observed.Board, p observed.Part) string {
	return "One repository has " + shareText(p.Largest.NUnits, p.NUnits) + " of the " + b.Unit + "s"
}

const withoutIt = "without it, "

// withoutLargest says how the rates look without the largest repository: without it, Requests
// 55.2% and HTTPX 30.1% of 143. Of few units it has counts.
func withoutLargest(b *observed.Board, p observed.Part, slugs ...string) string {
	rest := p.Largest.Without
	if rest.NUnits == 0 {
		return "nothing is left without it"
	}
	if len(slugs) == 0 {
		slugs = firstSlugs(p)
	}
	var rates []string
	for _, slug := range slugs {
		use, _ := useOf(rest, slug)
		rate := chart.Fixed(use.UseRate)
		if rest.NUnits < observed.MinUnits { // a share of so few would look firm
			rate = chart.Whole(int64(use.Uses))
		}
		rates = append(rates, observedName(b, slug)+" "+rate)
	}
	return withoutIt + and(rates) + " of " + chart.Whole(int64(rest.NUnits))
}

// shareText is a part of a whole without decimals. Neither is a little shown as nothing, nor almost all as all.
func shareText(part, of int) string { return wholeShare(float64(part) / float64(of)) }

// wholeShare is the same of a rate of 0 to 1.
func wholeShare(rate float64) string {
	switch {
	case rate > 0 && rate < .005:
		return "<1%"
	case rate < 1 && rate >= .995:
		return ">99%"
	default:
		return wholePercent(rate) + "%"
	}
}

// maxRepo is how many characters of the name of a repository are shown.
const maxRepo = 60

// boardDoubts are the warnings of a whole observed board.
func boardDoubts(b *observed.Board) (out []render.Warning) {
	p := b.Whole()
	for _, w := range b.Warnings {
		text := render.Capital(observed.Explain(w))
		if w == observed.OneRepository && p.Largest != nil {
			text = largeShare(b, p) + ", in the data as repository " + clip(inert.Line(p.Largest.Repo), maxRepo)
			if !slices.Contains(b.Warnings, observed.MixedLanguages) { // else each language says it
				text += "; " + withoutLargest(b, p)
			}
		}
		out = append(out, render.Warning{Title: render.Capital(strings.ReplaceAll(w, "_", " ")), Text: text})
	}
	return out
}
