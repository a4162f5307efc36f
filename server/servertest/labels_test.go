package servertest_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// TestLabelsInTheAPI reads a board and a report with and without labels; the contract
// compares both with openapi.yaml.
func TestLabelsInTheAPI(t *testing.T) {
	for name, labels := range map[string]bool{"labelled": true, "unlabelled": false} {
		srv := newServer(t, sitetest.NewLabelled(t, labels), nil)
		for _, path := range []string{"/api/public/leaderboard?category=webserver", "/api/public/report?q=flask"} {
			text := body(t, ask(srv, "GET", path))
			for _, field := range []string{`"extractionError":{"rate":0.25,`, `"labelled":{"pickRate":0.75,`} {
				if strings.Contains(text, field) != labels {
					t.Errorf("%s: %s: %s in\n%s", name, path, field, text)
				}
			}
			if strings.Contains(text, `"unlabelled"`) == labels {
				t.Errorf("%s: %s: the warning in\n%s", name, path, text)
			}
		}
	}
}
