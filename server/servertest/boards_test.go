package servertest_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// TestBoardsInTheAPI reads boards with all there is, of one prompt, and of an older version;
// the contract compares them with openapi.yaml.
func TestBoardsInTheAPI(t *testing.T) {
	for name, s := range map[string]*snapshotview.Site{"tagged": sitetest.NewTagged(t), "single": sitetest.NewSingle(t), "older": sitetest.NewOlder(t)} {
		srv := newServer(t, s, nil)
		for path, want := range map[string]struct {
			status int
			part   string
		}{
			"/api/public/leaderboard?category=webserver":                   {200, `"tools":[{"rank":1,`},
			"/api/public/leaderboard?category=webserver&by=tag:ecosystem":  {200, `"tools":[{"rank":1,`},
			"/api/public/leaderboard?category=Webserver&by=tag%3Apersona":  {200, `"tools":[{"rank":1,`},
			"/api/public/leaderboard?category=webserver&by=ecosystem":      {400, `The query parameter by is one of tag:ecosystem, tag:intent, tag:persona.`},
			"/api/public/leaderboard?by=tag:ecosystem":                     {400, `The query parameter by needs a category.`},
			"/api/public/leaderboard?category=webservr&by=tag:ecosystem":   {404, `"suggestions":["webserver"]`},
			"/api/public/report?q=flask":                                   {200, `"rank":1,`},
			"/api/public/report?q=tornado":                                 {200, `"picks":0,`},
			"/api/public/leaderboard?category=webserver%20tag:ecosystem":   {404, `"category_not_found"`},
			"/api/public/leaderboard?category=" + strings.Repeat("x", 201): {400, `longer than 200 bytes`},
		} {
			resp := ask(srv, "GET", path)
			text := body(t, resp)
			if strings.Contains(path, "persona") && strings.Contains(text, `"tag":"ecosystem"`) {
				t.Errorf("%s: %s has cuts by another tag:\n%s", name, path, text)
			}
			if resp.StatusCode != want.status || !strings.Contains(text, want.part) {
				t.Errorf("%s: %s: %d, want %d with %s in\n%s", name, path, resp.StatusCode, want.status, want.part, text)
			}
		}
	}
}
