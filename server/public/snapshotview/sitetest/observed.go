package sitetest

import (
	"fmt"
	"testing" //nolint:depguard // a package of tests

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/catalog"
	facts "github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// FieldStudy is a study of 83 pull requests in 29 repositories. Of webserver, 61 use flask;
// of orm all use prisma, and of payments there are too few.
func FieldStudy() *facts.Study {
	at := AsOf()
	s := &facts.Study{
		Kind: facts.Kind, Observed: true, Name: "field", Title: "A field study", Unit: facts.PullRequest, Read: 90, AsOf: &at,
		Source:   facts.Source{Title: "T", URL: "https://example.com/data", Licence: "CC BY 4.0", Cite: "Somebody & others, 2026."},
		Estimand: "What agents used.", Ecosystems: []catalog.Ecosystem{catalog.PyPI, catalog.NPM},
	}
	servers := []string{"django", "fastapi", "tornado"}
	for i := range 83 {
		u := facts.Unit{ID: fmt.Sprint("u", i), Repo: fmt.Sprint("r", i%29), Language: "Python", Agent: "Codex", Tools: map[string][]string{"webserver": {"flask"}}}
		if i >= 61 {
			u.Agent, u.Tools["webserver"] = "Devin", servers[:1+i%3]
		}
		if i < 67 {
			u.Tools["orm"] = []string{"prisma"}
		}
		if i < 3 {
			u.Tools["payments"] = []string{"stripe"}
		}
		s.Units = append(s.Units, u)
	}
	return s
}

// sees returns the categories of a catalogue as studies see them.
func sees(c *catalog.Catalog) func(*facts.Study, string) (observed.Category, bool) {
	return func(s *facts.Study, slug string) (observed.Category, bool) {
		category, ok := c.Category(slug)
		if !ok {
			return observed.Category{}, false
		}
		return observed.CategoryOf(category, s.Ecosystems), true
	}
}

// NewObserved returns a site with trials of webserver, and the observed boards of
// FieldStudy.
func NewObserved(t testing.TB) *snapshotview.Site {
	t.Helper()
	c, study := catalogue(t), FieldStudy()
	of := sees(c)
	boards, omitted := observed.Boards([]*facts.Study{study}, of)
	category, _ := c.Category("webserver")
	var cells []analytics.Group
	for p := range 24 {
		for i, slug := range []string{"flask", "fastapi", "django", "tornado", "sanic"} {
			cells = append(cells, analytics.Group{Prompt: string(rune('a' + p)), Agent: "m", Outcome: pick.Tool, Picked: slug, Trials: 6 - i, LastAt: AsOf()})
		}
	}
	measured := analytics.Measurement{Category: category, Cells: analytics.Cells(cells), Planned: 480}
	board := analytics.Rank(measured)
	for i := range board.Tools {
		for _, b := range boards {
			if b.Category == "webserver" {
				board.Tools[i].FieldRate = b.Rate(board.Tools[i].Slug)
			}
		}
	}
	seen, _ := of(study, "webserver")
	board.FieldAgreement = observed.Agreement(measured, study, seen, 1)
	s, err := snapshotview.Build(snapshotview.Input{
		ID: "abc", AsOf: AsOf(), Boards: []analytics.Board{board}, Observed: boards, Omitted: omitted, Refs: c.Refs(), BaseURL: Base,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// FieldBoards returns an input with the observed boards of FieldStudy, and nothing else.
func FieldBoards(t testing.TB) (in snapshotview.Input) {
	t.Helper()
	c := catalogue(t)
	in.Observed, in.Omitted = observed.Boards([]*facts.Study{FieldStudy()}, sees(c))
	in.Refs, in.BaseURL = c.Refs(), Base
	return in
}
