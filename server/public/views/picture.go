package views

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/public/share"
)

// Picture is what the picture for a link to a page shows; ok is false for a page without one.
func (r *Renderer) Picture(path string) (p share.Picture, ok bool) {
	head, slug, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch head {
	case "", "home":
		h := r.headline()
		p = share.Picture{Small: "firstpick · " + hostOf(r.in.BaseURL), Title: h.Text, Foot: cmp.Or(r.basis(h), r.sum())}
		if h.Link != "" {
			board, _ := r.Picture(h.Link)
			p.Rows = board.Rows
		}
		pairs := r.pairings(h.board)
		if c := contrastOf(h, pairs); c != nil { // both halves of the claim
			p.Title, p.Rows = c.Claim, pairedRows(pairs[0])
			p.Foot = quantity(h.board.NPrompts, "prompt")
			if h.board.AsOf != nil {
				p.Foot += ", " + h.Age.When
			}
			p.Foot += ". Observed: " + pairs[0].Seen.Units + " that use a tool of the category"
			if pairs[0].Collected != "" {
				p.Foot += ", " + pairs[0].Seen.Age.When
			}
			if doubts := slices.DeleteFunc(append([]string{c.Doubt}, pairs[0].Chips...), func(s string) bool { return s == "" }); len(doubts) > 0 {
				p.Foot += ": " + strings.Join(doubts, ", ")
			}
			p.Foot += "."
		}
		return r.marked(p), true
	case "leaderboards":
		if i := slices.IndexFunc(r.in.Boards, func(b analytics.Board) bool { return b.Category == slug }); i >= 0 {
			b := &r.in.Boards[i]
			text, _ := claim(b)
			return r.marked(share.Picture{Small: "firstpick · " + b.Name, Title: text, Rows: rows(b.Tools, ""), Foot: r.boardCard(b).Note + " · " + ageOf(b.AsOf, r.in.Now).When}), true
		}
	case "observed":
		if i := slices.IndexFunc(r.in.Observed, func(b observed.Board) bool { return b.Category == slug }); i >= 0 {
			b := &r.in.Observed[i]
			p = share.Picture{Small: "firstpick · " + b.Heading(), Title: observedClaim(b), Foot: observed.Mark + " in " + r.observedNote(b) + ". Not a pick rate."}
			part, _ := mainPart(b)
			p.Rows = seenRows(b, part, "")
			return r.marked(p), true
		}
	case "tools":
		if t := r.tools[slug]; t != nil && len(t.Places) == 0 {
			s := t.Seen[0]
			p = share.Picture{Small: "firstpick · " + t.Name, Title: s.sentence(t.Name), Rows: seenRows(s.Board, s.Part, slug), Foot: s.Board.Heading() + ". Not a pick rate."}
			return r.marked(p), true
		} else if t != nil {
			b, s := t.Places[0].Board, t.Places[0].Standing
			return r.marked(share.Picture{Small: "firstpick · " + t.Name, Title: sentence(b, s), Rows: rows(b.Tools, slug), Foot: b.Name + " · " + ageOf(b.AsOf, r.in.Now).When + " · " + t.seenNote(r.boardCard(b).Note)}), true
		}
	case "compare":
		return r.comparePicture(slug)
	}
	return p, false
}

// hostOf is the host of an address, or the address where it has none.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

// pairedRows are the first tools of both kinds, when asked and in real work, where the study can see them.
func pairedRows(p pairing) (out []share.Row) {
	for _, t := range p.Tools[:2] {
		out = append(out, share.Row{Name: t.Tool + ", asked", Value: t.Asked.Rate, Share: t.pickRate})
	}
	for i, t := range []pairedTool{p.Tools[1], p.Tools[0]} {
		if t.Used.Rate != "" {
			use, _ := useOf(p.part, t.slug)
			row := usedRow(t.Tool+", real work", use, p.part.NUnits)
			row.Value, row.First = t.Used.Rate, i == 0
			out = append(out, row)
		}
	}
	return out
}

// basis is what a claim of a board of trials is of, with the age of a measurement; empty for other claims.
func (r *Renderer) basis(h headline) string {
	switch {
	case h.board == nil:
		return ""
	case h.Age.Old == "" || r.in.Synthetic:
		return h.Note
	}
	return h.Note + " (" + h.Age.Old + ")"
}

// seenNote says how often a tool was used in real work; other where it was not observed.
func (t *tool) seenNote(other string) string {
	if len(t.Seen) == 0 || t.Seen[0].Use.Uses == 0 {
		return other
	}
	s := t.Seen[0]
	rate := useShare(s.Use, s.Part.NUnits)
	if s.vague() || s.alone() {
		rate = chart.Whole(int64(s.Use.Uses))
	}
	return fmt.Sprintf("%s in real work: %s of %s", observed.Mark, rate, unitsOf(s.Board, s.Part, s.Language))
}

// shortSentence is the first clause of a comparison.
func shortSentence(b *analytics.Board, x, y analytics.Standing) string {
	text, _, cut := strings.Cut(compareSentence(b, x, y), ";")
	if cut {
		text += "."
	}
	return text
}

func (r *Renderer) comparePicture(pair string) (p share.Picture, ok bool) {
	a, b, _ := strings.Cut(pair, "-vs-")
	x, y := r.tools[a], r.tools[b]
	if x == nil || y == nil {
		return p, false
	}
	for _, at := range x.Places {
		if i := slices.IndexFunc(y.Places, func(q place) bool { return q.Board == at.Board }); i >= 0 {
			pair := []analytics.Standing{at.Standing, y.Places[i].Standing}
			sorting.StableFunc(pair, func(a, b analytics.Standing) int { return b.Picks - a.Picks })
			return r.marked(share.Picture{
				Small: "firstpick · " + x.Name + " or " + y.Name, Title: shortSentence(at.Board, at.Standing, y.Places[i].Standing), Rows: rows(pair, ""),
				Foot: at.Board.Name + " · " + ageOf(at.Board.AsOf, r.in.Now).When + " · " + r.boardCard(at.Board).Note,
			}), true
		}
	}
	for _, s := range r.seenWith(x, y, a, b, "") {
		return r.marked(share.Picture{
			Small: "firstpick · " + x.Name + " or " + y.Name, Title: s.sentence(x.Name, y.Name), Foot: s.Board.Heading() + ". Not a pick rate.",
			Rows: []share.Row{usedRow(x.Name, s.First, s.units(0)), usedRow(y.Name, s.Second, s.units(1))},
		}), true
	}
	return p, false
}

// seenRows are the first five tools of an observed board; one that is not among them replaces
// the last.
func seenRows(b *observed.Board, p observed.Part, slug string) (out []share.Row) {
	first := slices.Clone(p.Tools[:min(5, len(p.Tools))])
	if i := slices.IndexFunc(p.Tools, func(t observed.Rate) bool { return t.Slug == slug }); i >= len(first) {
		first[len(first)-1] = p.Tools[i]
	}
	for _, t := range first {
		out = append(out, usedRow(observedName(b, t.Slug), t.Use, p.NUnits))
	}
	return out
}

func usedRow(name string, u observed.Use, units int) share.Row {
	rate, interval := render.UseRate(u, units)
	row := share.Row{Name: name, Value: rate, Share: u.UseRate}
	if interval != "" {
		row.Low, row.High = u.CILow, u.CIHigh
	}
	return row
}

// marked marks the picture of simulated answers, and leaves out invisible characters, which
// would be gaps.
func (r *Renderer) marked(p share.Picture) share.Picture {
	p.Small, p.Title, p.Foot = inert.Line(p.Small), inert.Line(p.Title), inert.Line(p.Foot)
	for i := range p.Rows {
		p.Rows[i].Name = inert.Line(p.Rows[i].Name)
	}
	if r.in.Synthetic {
		p.Small, p.Foot = "SYNTHETIC · "+p.Small, "Simulated agents: not a measurement. "+p.Foot
	}
	return p
}

// rows are the first five tools; one that is not among them replaces the last.
func rows(tools []analytics.Standing, slug string) (out []share.Row) {
	first := slices.Clone(tools[:min(5, len(tools))])
	if i := slices.IndexFunc(tools, func(s analytics.Standing) bool { return s.Slug == slug }); i >= len(first) {
		first[len(first)-1] = tools[i]
	}
	for _, s := range first {
		if s.Picks > 0 || s.Slug == slug {
			out = append(out, share.Row{Name: s.Tool, Value: rateText(s), Share: s.PickRate})
		}
	}
	return out
}

// maxBadge is how many characters of a badge's text are shown.
const maxBadge = 60

// Badge is what a tool's badge says: who picks, a text that is short enough to be shown, and the whole
// one, with board and date. ok is false for a tool that is not measured.
func (r *Renderer) Badge(slug string) (label, text, title string, ok bool) {
	t := r.tools[slug]
	if t == nil {
		return "AI agents", "", "", false
	}
	label = "AI agents"
	var board string
	var at *time.Time
	if len(t.Places) > 0 {
		p := t.Places[0]
		label, board, at = "AI "+nounOf(p.Board)+"s", p.Board.Name, p.Board.AsOf
		if text = "picked in " + rateText(p.Standing); p.Standing.Picks == 0 {
			text = "not picked yet"
		} else if p.Board.NPrompts == 1 {
			text += " on one prompt"
		}
		if p.Board.Synthetic {
			text += " (synthetic)"
		}
	} else {
		s := t.Seen[0]
		board, at, text = s.Board.Name, s.Board.AsOf, "used in "+s.rate()+" (observed)"
		if s.vague() { // the page says how little the figure says, and a badge has no room for it
			text = "observed, too few repositories to say how often"
			if slices.Contains(s.Part.Warnings, observed.OneRepository) {
				text = "observed, one repository decides"
			}
		}
	}
	date := ""
	if at != nil {
		date = " · " + at.UTC().Format("Jan 2006")
	}
	title = inert.Line(text + " · " + board + date)
	if text = title; utf8.RuneCountInString(title) > maxBadge {
		short := clip(board, max(8, maxBadge-utf8.RuneCountInString(title)+utf8.RuneCountInString(board)))
		text = inert.Line(strings.Replace(title, board, short, 1))
	}
	return label, text, title, true
}

// Modified returns the time of the newest data: of the last trial, or of an observed board.
func Modified(asOf time.Time, boards []observed.Board) time.Time {
	for i := range boards {
		if at := boards[i].AsOf; at != nil && at.After(asOf) {
			asOf = *at
		}
	}
	return asOf
}
