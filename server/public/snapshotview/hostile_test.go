package snapshotview_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/public/tools"
)

// TestHostileNamesAreInert: names of agents in older snapshots may be anything.
func TestHostileNamesAreInert(t *testing.T) {
	board := sitetest.Tagged(t)
	board.Agents[0].Agent, board.Estimand = sitetest.Hostile, sitetest.Hostile
	board.Tools[0].Breakdown.ByAgent[0].Agent = sitetest.Hostile
	known, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshotview.Build(snapshotview.Input{ID: "abc", Boards: []analytics.Board{board}, Refs: known.Refs(), BaseURL: sitetest.Base, Notes: []string{sitetest.Hostile}})
	if err != nil {
		t.Fatal(err)
	}
	check := func(name, text, alien string) {
		if strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && c != '\t' && inert.Invisible(c) }) || strings.Contains(strings.ReplaceAll(text, `\<`, ""), alien) {
			t.Errorf("%s can act: %q", name, text)
		}
	}
	for name, res := range map[string]*snapshotview.Resource{
		"board": s.Board("webserver", ""), "cut": s.Board("webserver", "tag:persona"), "report": s.ReportIn("webserver", "flask"), "prompts": s.Prompts("webserver", ""),
	} {
		w := httptest.NewRecorder()
		snapshotview.NewSender("").Send(w, httptest.NewRequest(http.MethodGet, "/", nil), res)
		check(name, w.Body.String(), "<")
		if got := w.Header().Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options %q", name, got)
		}
		var b analytics.Board
		if err := json.Unmarshal(w.Body.Bytes(), &b); err != nil || name == "board" && b.Agents[0].Agent != sitetest.Hostile {
			t.Errorf("%s says something else: %v", name, err)
		}
	}
	for _, path := range []string{"/", "/leaderboards/webserver", "/tools/flask"} {
		page, words := forms(t, s, path)
		check(path, page, "<script>alert")
		check(path+".md", words, "<script>")
	}
	answer := tools.Call{Tool: "getLeaderboard", Arguments: json.RawMessage(`{"category":"webserver"}`)}.Answer(s)
	if check("getLeaderboard", string(answer.JSON), "<"); answer.Failed {
		t.Error("getLeaderboard failed")
	}
}
