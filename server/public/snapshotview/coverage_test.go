package snapshotview_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// Nobody knows of how many answers an import is a part, so its page must not say 100 %.
func TestPagesDoNotClaimTheCoverageOfAnImport(t *testing.T) {
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	category, _ := c.Category("webserver")
	cells := []analytics.Group{{Prompt: "p", Agent: "a", Outcome: pick.Tool, Picked: "flask", Trials: 40, LastAt: sitetest.AsOf()}}
	for name, tt := range map[string]struct {
		doubts         []string
		html, markdown string
	}{
		"measured": {nil, "<dt>Valid trials</dt><dd>40 <span class=\"sub\">100% of those planned</span></dd>", "40 valid trials (100% of those planned)"},
		"imported": {[]string{analytics.CoverageUnknown}, "<dt>Valid trials</dt><dd>40 <span class=\"sub\">of an unknown number</span></dd>", "40 valid trials (of an unknown number)"},
	} {
		board := analytics.Rank(analytics.Measurement{Category: category, Cells: analytics.Cells(cells), Planned: 40, Doubts: tt.doubts})
		s, err := snapshotview.Build(snapshotview.Input{ID: "abc", AsOf: sitetest.AsOf(), Boards: []analytics.Board{board}, Refs: c.Refs(), BaseURL: sitetest.Base})
		if err != nil {
			t.Fatal(err)
		}
		page, words := forms(t, s, "/leaderboards/webserver")
		if !strings.Contains(page, tt.html) || !strings.Contains(words, tt.markdown) {
			t.Errorf("%s: want %q and %q in\n%s\n%s", name, tt.html, tt.markdown, page, words)
		}
	}
}
