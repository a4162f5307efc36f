package trialstore_test

import (
	"path/filepath"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// TestDetailsAreCounted counts details of results, and of a later extraction in their place.
func TestDetailsAreCounted(t *testing.T) {
	root := t.TempDir()
	r := testRun("r1", "web", "web-frameworks", start)
	recs := records(r)
	asked, followed := pick.Detail{Name: pick.AskedUser, Rule: "asks"}, pick.Detail{Name: pick.FollowedIncumbent, Rule: "has"}
	recs[0].Result = &pick.Result{Kind: pick.None, Details: []pick.Detail{asked}}
	recs[1].Result.Details = []pick.Detail{followed}
	recs[2].Result.Details = []pick.Detail{asked, followed}
	writeRun(t, root, r, recs)
	s := openStore(t, filepath.Join(t.TempDir(), "trials.duckdb"))
	sync(t, s, root)
	counts := func() analytics.Details {
		got, err := s.Details(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return got["web-frameworks"]
	}
	same(t, "details", counts(), analytics.Details{AskedUser: 2, FollowedIncumbent: 2})
	addTo(t, root, "r1", []journal.Record{{Kind: journal.KindExtraction, Trial: recs[2].Trial, At: start, Result: &pick.Result{Kind: pick.Tool, Picked: "flask", Details: []pick.Detail{followed}}}})
	sync(t, s, root)
	same(t, "details after an extraction", counts(), analytics.Details{AskedUser: 1, FollowedIncumbent: 2})
	row, _, _, err := s.Trial(t.Context(), recs[1].Trial.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "details of a trial", row.Details, []string{"followed_incumbent"})
}
