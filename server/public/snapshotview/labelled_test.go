package snapshotview_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

func TestPagesShowWhatLabelsSay(t *testing.T) {
	for name, tt := range map[string]struct {
		labels                       bool
		html, markdown, tool, toolMD string
	}{
		"labelled": {
			true, "<dt>Extraction error</dt><dd>25%", "Extraction error 25% (95% CI ",
			"<dt>Pick rate, corrected by labels</dt><dd>75%", "- Pick rate, corrected by labels: 75% (95% CI ",
		},
		"unlabelled": {false, "<strong>Unlabelled.</strong>", "- **Unlabelled.**", "<strong>Unlabelled.</strong>", "- **Unlabelled.**"},
	} {
		s := sitetest.NewLabelled(t, tt.labels)
		html, markdown := forms(t, s, "/leaderboards/webserver")
		tool, toolMD := forms(t, s, "/tools/flask")
		for want, page := range map[string]string{tt.html: html, tt.markdown: markdown, tt.tool: tool, tt.toolMD: toolMD} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: want %q in\n%s", name, want, page)
			}
		}
	}
}
