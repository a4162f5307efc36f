package views

import (
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/render"
)

// seenBoard is an observed board of 100 pull requests whose first tool has an interval from low.
func seenBoard(at time.Time, low float64) observed.Board {
	rate := func(use, low, high float64, uses int) observed.Use {
		return observed.Use{UseRate: use, CILow: low, CIHigh: high, Uses: uses}
	}
	return observed.Board{
		Category: "http", Name: "HTTP clients", Observed: true, AsOf: &at, Unit: "pull request", NUnits: 100, NRepos: 40,
		Tools: []observed.Standing{
			{Rank: 1, RankLow: 1, RankHigh: 1, Tool: "Ash", Slug: "ash", Use: rate(.6, low, .8, 60), NUnits: 100},
			{Rank: 2, RankLow: 2, RankHigh: 2, Tool: "Birch", Slug: "birch", Use: rate(.2, .1, .3, 20), NUnits: 100},
		},
		Languages: []observed.LanguageBoard{{Language: "Python"}},
	}
}

// TestHeadline: the first page leads with what is firm, and of firm results with newer data. Both
// forms have date and size, and what was asked beside what was observed.
func TestHeadline(t *testing.T) {
	old, recent, now := time.Date(2024, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	const seen = "Coding agents used Ash in 60.0% of Python pull requests with HTTP clients, and Birch in 20.0%. Of the 100 Python pull requests that use a listed tool, from 40 repositories, mostly on existing code. Collected in "
	const trials = "agents pick Ash most often"
	for name, tt := range map[string]struct {
		asked    time.Time
		early    bool
		observed time.Time
		low      float64
		want     string
	}{
		"firm and new trials":         {recent, false, recent, .4, trials},
		"an early result":             {recent, true, recent, .4, seen + "February 2026"},
		"old trials, newer use":       {old, false, recent, .4, seen + "February 2026"},
		"both of the same month":      {old, false, old, .4, trials},
		"old use, and an early board": {old, true, old, .4, seen + "November 2024"},
		"use without a clear first":   {old, true, recent, .25, trials},
	} {
		b := asked(map[string]int{"ash": 9}, map[string]int{"ash": 8, "birch": 1}, map[string]int{"ash": 4})
		if b.AsOf = &tt.asked; tt.early {
			b.Warnings = []string{analytics.Directional}
		}
		r, err := New(Input{Site: render.Site{BaseURL: "https://x.example"}, Boards: []analytics.Board{*b}, Observed: []observed.Board{seenBoard(tt.observed, tt.low)}, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		h := r.headline()
		if got := h.Text + " " + h.Note; !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q lacks %q", name, got, tt.want)
		}
		p, err := r.Page("/")
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range [][]byte{p.HTML, p.Markdown} {
			want := tt.want
			if strings.HasPrefix(want, seen) { // the note stands below
				want = strings.TrimPrefix(want, "Coding agents used Ash in 60.0% of Python pull requests with HTTP clients, and Birch in 20.0%. ")
			}
			if !strings.Contains(string(form), want) || !strings.Contains(string(form), trials) {
				t.Errorf("%s lacks %q or %q:\n%s", name, want, trials, form)
			}
		}
	}
}

// TestObservedDates: the date of an observed board is that of its data, and its denominator is
// named in a whole sentence.
func TestObservedDates(t *testing.T) {
	at := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	r, err := New(Input{Site: render.Site{BaseURL: "https://x.example", SnapshotID: "abc"}, Observed: []observed.Board{seenBoard(at, .4)}, Units: 120, Now: at})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]string{
		"/":              {", from 40 repositories, mostly on existing code. Collected in February 2026", "120 pull requests of agents that use a known tool (1 observed board).", "Observed: counted in pull requests, collected February 2026. Dot: share of those that used a tool of the category; one may use several."},
		"/observed/http": {"<dt>Collected</dt><dd>1 February 2026</dd>"},
	} {
		p, err := r.Page(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(p.HTML), w) {
				t.Errorf("%s lacks %q:\n%s", path, w, p.HTML)
			}
		}
	}
}
