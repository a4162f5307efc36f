package views

import (
	"slices"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/render"
)

// TestAddresses: every kind of page is there, once, and pages of boards are as old as these.
func TestAddresses(t *testing.T) {
	b, _ := measured(1)
	at := b.AsOf
	r, err := New(Input{Site: render.Site{BaseURL: "https://x.example"}, Boards: []analytics.Board{b}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, a := range r.Addresses() {
		if seen[a.Path] {
			t.Errorf("%s is there twice", a.Path)
		}
		if seen[a.Path] = true; a.Path == "/leaderboards/web/history" && a.AsOf != at {
			t.Errorf("%s is of %v", a.Path, a.AsOf)
		}
	}
	want := append(r.Paths(), "/snapshots", "/leaderboards/web/history", "/leaderboards/web/prompts/eval/p07", ComparePath(b.Tools[0].Slug, b.Tools[1].Slug), ComparePath(b.Tools[2].Slug, b.Tools[3].Slug))
	if slices.ContainsFunc(want, func(path string) bool { return !seen[path] }) || len(seen) != len(r.Paths())+1+1+24+3 {
		t.Errorf("%d addresses: %v", len(seen), r.Addresses())
	}
}
