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

// TestPagesShowWhatLabelsSay renders a board with the labels of all its trials, one in
// four of which was wrongly extracted.
func TestPagesShowWhatLabelsSay(t *testing.T) {
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	category, _ := c.Category("webserver")
	var cells []analytics.Cell
	labels := analytics.Labels{Frame: 40, Extracted: 40}
	for i := range 40 {
		prompt := string(rune('a' + i%20))
		cells = append(cells, analytics.Cell{Prompt: prompt, Agent: "m", Outcome: pick.Tool, Picked: "flask", Trials: 1, LastAt: sitetest.AsOf()})
		l := analytics.LabelledTrial{Prompt: prompt, Outcome: pick.Tool, Picked: "flask", True: pick.Tool, TruePicked: "flask", P: 1}
		if i%4 == 0 {
			l.True, l.TruePicked = pick.None, ""
		}
		labels.Trials = append(labels.Trials, l)
	}
	for name, tt := range map[string]struct {
		labels                       analytics.Labels
		html, markdown, tool, toolMD string
	}{
		"labelled": {
			labels, "<dt>Extraction error</dt><dd>25%", "Extraction error 25% (95% CI ",
			"<dt>Pick rate, corrected by labels</dt><dd>75%", "- Pick rate, corrected by labels: 75% (95% CI ",
		},
		"unlabelled": {analytics.Labels{Extracted: 40}, "<strong>unlabelled</strong>", "- **unlabelled**", "<strong>unlabelled</strong>", "- **unlabelled**"},
	} {
		board := analytics.Rank(category, cells, 40, false).WithLabels(cells, tt.labels)
		for _, err := range analytics.Check(board) {
			t.Error(err)
		}
		s, err := snapshotview.Build(snapshotview.Input{ID: "abc", AsOf: sitetest.AsOf(), Boards: []analytics.Board{board}, Refs: c.Refs(), BaseURL: sitetest.Base})
		if err != nil {
			t.Fatal(err)
		}
		html, markdown := forms(t, s, "/leaderboards/webserver")
		tool, toolMD := forms(t, s, "/tools/flask")
		for want, page := range map[string]string{tt.html: html, tt.markdown: markdown, tt.tool: tool, tt.toolMD: toolMD} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: want %q in\n%s", name, want, page)
			}
		}
	}
}
