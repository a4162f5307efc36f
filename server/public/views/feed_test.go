package views

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/public/share"
)

// TestFeeds: a feed of a tool or board has the changes of it alone; a change has the time of the trials, and what comes from
// simulated agents is marked.
func TestFeeds(t *testing.T) {
	trials, seen := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	b := asked(map[string]int{"ash": 8, "elm": 1}, map[string]int{"ash": 9})
	b.Category, b.Name = "http", "HTTP clients"
	move := func(slug, tool string) Move {
		return Move{Category: "http", Board: "HTTP clients", Slug: slug, Tool: tool, From: .5, To: .6, Diff: .1}
	}
	r, err := New(Input{
		Site: render.Site{BaseURL: "https://x.example", SnapshotID: "abc", Synthetic: true}, Boards: []analytics.Board{*b}, Observed: []observed.Board{seenBoard(seen, .4)},
		AsOf: trials, Now: seen, Moves: []Move{move("ash", "A\u202esh"), move("elm", "Elm")},
	})
	if err != nil {
		t.Fatal(err)
	}
	of := func(f share.Feed, ok bool) share.Feed {
		if !ok {
			t.Fatal("no feed")
		}
		return f
	}
	for want, f := range map[string]share.Feed{
		"firstpick: SYNTHETIC: what moved /feed.atom: SYNTHETIC: Snapshot abc, SYNTHETIC: Ash +10.0 points in HTTP clients, SYNTHETIC: Elm +10.0 points in HTTP clients":                               r.Feed(),
		"firstpick: SYNTHETIC: Ash /feed.atom?tool=ash: SYNTHETIC: Ash: snapshot abc, SYNTHETIC: Ash +10.0 points in HTTP clients":                                                                     of(r.FeedOfTool("ash")),
		"firstpick: SYNTHETIC: HTTP clients /feed.atom?category=http: SYNTHETIC: HTTP clients: snapshot abc, SYNTHETIC: Ash +10.0 points in HTTP clients, SYNTHETIC: Elm +10.0 points in HTTP clients": of(r.FeedOfBoard("http")),
		"firstpick: SYNTHETIC: OBSERVED: HTTP clients, what agents used /feed.atom?category=http&kind=observed: SYNTHETIC: OBSERVED: HTTP clients, what agents used: snapshot abc":                     of(r.FeedOfObserved("http")),
	} {
		var titles, ids []string
		for i, e := range f.Entries {
			titles, ids = append(titles, e.Title), append(ids, e.ID)
			at := seen
			if i > 0 {
				at = trials
			}
			if !e.Updated.Equal(at) {
				t.Errorf("%s is of %s", e.Title, e.Updated)
			}
		}
		if got := f.Title + " " + strings.TrimPrefix(f.Self, "https://x.example") + ": " + strings.Join(titles, ", "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		slices.Sort(ids)
		if len(slices.Compact(slices.Clone(ids))) != len(ids) {
			t.Errorf("an id twice: %v", ids)
		}
	}
	for _, none := range []func(string) (share.Feed, bool){r.FeedOfTool, r.FeedOfBoard, r.FeedOfObserved} {
		if _, ok := none("nothing"); ok {
			t.Error("a feed of nothing")
		}
	}
}
