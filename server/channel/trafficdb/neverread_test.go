package trafficdb_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/channel/trafficdb/traffictest"
)

// TestNeverRead gives a sitemap of which half is read.
func TestNeverRead(t *testing.T) {
	rows := slices.Collect(traffictest.Rows(traffictest.Options{Seed: 12, Events: 3000, Workspaces: 2, Days: 30, End: end()}))
	odd := len(rows)
	for i, r := range []event.Record{
		{Path: "/a.md", Status: 200}, {Path: "/b//", Status: 304}, {Path: "/c", Status: 404}, {Path: "/d", Status: 0},
		{Path: "/e", Status: 200, Verdict: "ip_mismatch"}, {Path: "/f", Status: 200, Class: "http_library"}, {Path: "/g.mdx", Status: 200},
		{Host: "other.example", Path: "/h", Status: 200}, {Path: "/", Status: 200, Host: "other.example"},
	} {
		row := trafficdb.Row{Seq: rows[len(rows)-1].Seq + 1, Workspace: "ws_01", Record: r}
		row.Type, row.At, row.Agent = event.Touch, end().Add(-time.Hour), "X"
		if row.Class == "" {
			row.Class = "user_fetch"
		}
		row.ID = fmt.Sprint("odd", i)
		rows = append(rows, row)
	}
	db := load(t, rows)
	pages := []trafficdb.PageRef{{Host: "other.example", Path: ""}, {Host: "third.example", Path: "/"}, {Host: "OTHER.example", Path: "/h/"}}
	for _, p := range []string{"/a", "/a/", "/b", "/c", "/d.md", "/e", "/f", "/g", "/h", "/i\x1f/x", "/"} {
		pages = append(pages, trafficdb.PageRef{Host: "example.com", Path: p})
	}
	check := func(w trafficdb.Window, workspace string, pages, want []trafficdb.PageRef) {
		t.Helper()
		got, err := db.NeverRead(t.Context(), workspace, w, pages, len(pages))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s %s:\n got %q\nwant %q", workspace, w.Filter.Agent, got, want)
		}
	}
	w := trafficdb.Window{From: end().Add(-2 * time.Hour), To: end(), Filter: traffic.Filter{Agent: "X"}}
	var want []trafficdb.PageRef
	for _, i := range []int{1, 6, 8, 9, 10, 11, 12, 13} {
		want = append(want, pages[i])
	}
	check(w, "ws_01", pages, want)
	check(trafficdb.Window{From: end(), To: end()}, "ws_01", pages, pages)

	var sitemap []trafficdb.PageRef
	for i := range 400 {
		sitemap = append(sitemap, trafficdb.PageRef{Host: "example.com", Path: fmt.Sprintf("/docs/part%d/page%d", i%9, i)})
	}
	for _, agent := range []string{"", "Claude Code"} {
		w := trafficdb.Window{From: end().AddDate(0, 0, -9), To: end(), Filter: traffic.Filter{Agent: agent}}
		want := ledger{of(rows[:odd], "ws_00"), w}.never(sitemap)
		if len(want) < 100 || len(want) == len(sitemap) {
			t.Fatal(len(want))
		}
		check(w, "ws_00", sitemap, want)
		if some, err := db.NeverRead(t.Context(), "ws_00", w, sitemap, 7); err != nil || !slices.Equal(some, want[:7]) {
			t.Error(some, err)
		}
	}
	if none, err := db.NeverRead(t.Context(), "ws_00", w, sitemap, 0); len(none) != 0 || err != nil {
		t.Error(none, err)
	}
}
