package views

import (
	"html"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/server/kit/render"
)

func series(n int) nights.Series {
	s := nights.Series{Category: "web"}
	for i := range n {
		at := time.Date(2026, 3, 1+i, 0, 0, 0, 0, time.UTC)
		l := nights.Line{At: at, Snapshot: strings.Repeat(string(rune('a'+i)), 20), Breaks: []string{}}
		if i == 2 {
			l.Breaks = []string{"model a: old → <b>new</b>", "prompts: 3 reworded"}
		}
		for j, slug := range []string{"django", "flask", "gin", "axum"} {
			rate := .4 - .1*float64(j) + .01*float64(i)
			l.Tools = append(l.Tools, nights.Tool{Slug: slug, PickRate: rate, CILow: rate - .05, CIHigh: rate + .05, NTrials: 100})
		}
		s.Nights = append(s.Nights, l)
	}
	return s
}

// TestHistory: a line appears with the second snapshot; both forms have the rates and marks.
func TestHistory(t *testing.T) {
	b, _ := measured(1)
	r, err := New(Input{Site: render.Site{BaseURL: "https://x.example"}, Boards: []analytics.Board{b}})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		nights   int
		tools    []string
		has, not []string
		lines    int
	}{
		"none":     {0, nil, []string{"No snapshot has trials of this board yet."}, []string{"Table"}, 0},
		"one":      {1, nil, []string{"Measured once so far, on 1 March 2026.", "40.0%"}, []string{"What changed"}, 0},
		"many":     {5, nil, []string{"1 March 2026", "5 March 2026", "44.0%", "39.0%–49.0%", "+4.0", "3 reworded", "model a: old"}, []string{"<b>new<"}, 4},
		"one tool": {5, []string{"gin"}, []string{"24.0%", "tool=gin"}, []string{"44.0%"}, 1},
	} {
		p, ok, err := r.History(series(test.nights), test.tools)
		if err != nil || !ok {
			t.Fatalf("%s: %t %v", name, ok, err)
		}
		if n := strings.Count(string(p.HTML), `class="line"`); n != test.lines {
			t.Errorf("%s: %d lines", name, n)
		}
		for _, form := range []string{html.UnescapeString(strings.ReplaceAll(string(p.HTML), "&lt;b", "")), string(p.Markdown)} {
			for _, part := range test.has {
				if !strings.Contains(form, part) {
					t.Errorf("%s lacks %q:\n%s", name, part, form)
				}
			}
			for _, part := range test.not {
				if strings.Contains(form, part) {
					t.Errorf("%s has %q", name, part)
				}
			}
		}
	}
	if _, ok, err := r.History(series(3), []string{"stripe"}); ok || err != nil {
		t.Errorf("an unknown tool: %t %v", ok, err)
	}
}
