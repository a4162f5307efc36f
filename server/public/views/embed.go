package views

import (
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/server/kit/render"
)

// embedRows is how many tools an embedded plot shows.
const embedRows = 8

// Embed renders the plot of a board for the pages of others, as HTML; ok is false for a
// category without a board.
func (r *Renderer) Embed(category string) (html []byte, ok bool, err error) {
	i := slices.IndexFunc(r.in.Boards, func(b analytics.Board) bool { return b.Category == category })
	if i < 0 {
		return nil, false, nil
	}
	b := &r.in.Boards[i]
	d := struct {
		Name, Note string
		Forest     render.Forest
		Single     bool
		Unlabelled bool
	}{b.Name, r.boardCard(b).Note + " · " + ageOf(b.AsOf, r.in.Now).When, render.NewForest(b, func(analytics.Standing) string { return "" }), render.Single(*b), slices.Contains(b.Warnings, analytics.Unlabelled)}
	d.Forest.Rows, d.Forest.Rest, d.Forest.Bound = d.Forest.Rows[:min(embedRows, len(d.Forest.Rows))], nil, ""
	html, err = r.layout.Page("embed", render.Head{Path: boardPath(category), Title: b.Name, Site: r.in.Site}, d)
	return inert.Text(html), true, err
}
