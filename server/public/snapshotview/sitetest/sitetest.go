// Package sitetest makes small sites for tests.
package sitetest

import (
	"testing" //nolint:depguard // a package of tests
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	facts "github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// Base is the address of the sites.
const Base = "https://firstpick.example"

// AsOf is when their last trial ended.
func AsOf() time.Time { return time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC) }

// New returns a site of the built-in catalogue, of which two categories are
// measured: webserver and payments, six tools of each, more picked the later they
// come in the catalogue, times slope. It has the observed boards of FieldStudy.
func New(t testing.TB, slope int) *snapshotview.Site {
	t.Helper()
	c := catalogue(t)
	var boards []analytics.Board
	for _, slug := range []string{"webserver", "payments"} {
		category, _ := c.Category(slug)
		var cells []analytics.Group
		for i, e := range category.Entries[:6] {
			for p, prompt := range []string{"web/api", "web/form", "web/job", "web/page"} {
				cells = append(cells, analytics.Group{
					Prompt: prompt, Agent: "m", Outcome: pick.Tool, Picked: e.Tool.Slug,
					Shortlist: []string{e.Tool.Slug}, Trials: 1 + i*slope + p, LastAt: AsOf(),
				})
			}
		}
		measured := analytics.Measurement{Category: category, Cells: analytics.Cells(cells), Planned: 10_000}
		board := analytics.Rank(measured)
		board.Prompts = measured.Prompts()
		boards = append(boards, board)
	}
	seen, omitted := observed.Boards([]*facts.Study{FieldStudy()}, sees(c))
	s, err := snapshotview.Build(snapshotview.Input{
		ID: "abc", AsOf: AsOf(), Boards: boards, Observed: seen, Omitted: omitted, Refs: c.Refs(), BaseURL: Base, Notes: []string{"A citation & more"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// NewLabelled returns a site with one category, webserver: 40 trials that picked flask.
// With labels, people have read all of them, and one in four picked nothing.
func NewLabelled(t testing.TB, labels bool) *snapshotview.Site {
	t.Helper()
	category, _ := catalogue(t).Category("webserver")
	var cells []analytics.Group
	all := analytics.Labels{Frame: 40, Extracted: 40}
	for i := range 40 {
		prompt := string(rune('a' + i%20))
		cells = append(cells, analytics.Group{Prompt: prompt, Agent: "m", Outcome: pick.Tool, Picked: "flask", Trials: 1, LastAt: AsOf()})
		l := analytics.LabelledTrial{Prompt: prompt, Agent: "m", Outcome: pick.Tool, Picked: "flask", True: pick.Tool, TruePicked: "flask", P: 1}
		if i%4 == 0 {
			l.True, l.TruePicked = pick.None, ""
		}
		if labels {
			all.Trials = append(all.Trials, l)
		}
	}
	measured := analytics.Measurement{Category: category, Cells: analytics.Cells(cells), Planned: 40}
	board := analytics.Rank(measured).WithLabels(measured, all)
	for _, err := range analytics.Check(board) {
		t.Error(err)
	}
	return siteOf(t, board)
}
