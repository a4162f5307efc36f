package snapshotview_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

var linked = regexp.MustCompile(`(?s)<script type="application/ld\+json">(.*?)</script>`)

// TestBoardsAreDatasets: a page says in both forms how to cite its snapshot, and describes
// its data for search engines. A name cannot end the description.
func TestBoardsAreDatasets(t *testing.T) {
	board := sitetest.Tagged(t)
	board.Name, board.Synthetic = "Web </script><script>alert(1)</script>", true
	s, err := snapshotview.Build(snapshotview.Input{ID: "4f1c0d2e9a7b3c5d6e8f", AsOf: sitetest.AsOf(), Boards: []analytics.Board{board}, BaseURL: sitetest.Base})
	if err != nil {
		t.Fatal(err)
	}
	page, words := forms(t, s, "/leaderboards/webserver")
	found := linked.FindAllStringSubmatch(page, -1)
	if len(found) != 1 {
		t.Fatalf("%d descriptions in\n%s", len(found), page)
	}
	var data struct {
		Type                                             string `json:"@type"`
		Name, Description, Identifier, Citation, Version string
		Distribution                                     []struct{ EncodingFormat, ContentURL string }
	}
	if err := json.Unmarshal([]byte(found[0][1]), &data); err != nil {
		t.Fatal(err)
	}
	if data.Type != "Dataset" || !strings.HasSuffix(data.Name, board.Name) || data.Version != s.ID || !strings.Contains(data.Description, "Simulated agents: not a measurement.") ||
		!strings.Contains(data.Citation, "(simulated agents: not a measurement). Data of 6 May 2026, snapshot "+s.ID) || len(data.Distribution) != 3 ||
		data.Identifier != sitetest.Base+"/snapshots/"+s.ID+"/manifest.json" || data.Distribution[1].ContentURL != sitetest.Base+"/api/public/leaderboard?category=webserver&format=csv" {
		t.Errorf("%+v", data)
	}
	for _, form := range []string{page, words} {
		if !strings.Contains(form, "Data of 6 May 2026, snapshot "+s.ID+".") || strings.Contains(form, "<script>") {
			t.Errorf("no citation, or a name that acts, in\n%s", form)
		}
	}
}
