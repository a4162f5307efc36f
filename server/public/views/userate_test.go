package views_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

// TestOneFormOfACell: the board, the page of a tool and a comparison show what an agent used in one form, with
// the same doubts and the same rule: a count of few, for zero, and where the interval says nothing.
func TestOneFormOfACell(t *testing.T) {
	r := oneLarge(t)
	compared, ok, err := r.Compare("ash", "birch")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	const rule = "Counts replace shares of fewer than 50 pull requests, of a tool without a rival, and with an interval over 90 points."
	pages := map[string]struct {
		page string
		rows []string
	}{
		"board":      {"/observed/web", []string{"| 93 of 93 | 0 of 93 | 93 |", "| 0 of 30 | 30 of 30 | 30 |"}},
		"tool":       {"/tools/ash", []string{"| 93 of 93 | – | 93 |", "| 0 of 30 | – | 30 |"}},
		"comparison": {"", []string{"| 93 of 93 | 0 of 93 | 93 | 4 |", "| 0 of 30 | 30 of 30 | 30 | 30 |"}},
	}
	for name, tt := range pages {
		page := compared
		if tt.page != "" {
			if page, err = r.Page(tt.page); err != nil {
				t.Fatal(err)
			}
		}
		for i, agent := range []string{"| Codex (fewer than 20 repositories) (97% from one repository) ", "| Devin (few) "} {
			if !strings.Contains(string(page.Markdown), agent+tt.rows[i]) {
				t.Errorf("%s lacks %q: %s", name, agent+tt.rows[i], page.Markdown)
			}
		}
		for _, form := range []string{string(page.Markdown), html.UnescapeString(string(page.HTML))} {
			if !strings.Contains(form, rule) || strings.Contains(form, "not used") {
				t.Errorf("%s: the rule is not one: %s", name, form)
			}
		}
		for _, part := range []string{`Codex <span class="chip">fewer than 20 repositories</span> <span class="chip">97% from one repository</span>`, `Devin <span class="chip">few</span>`, "93 of 93", "0 of 30"} {
			if !strings.Contains(string(page.HTML), part) {
				t.Errorf("%s lacks %q: %s", name, part, page.HTML)
			}
		}
	}
}

// TestFewAreCounts: a part of fewer than 50 pull requests has counts on all pages and no rate, and its
// difference is not known.
func TestFewAreCounts(t *testing.T) {
	r := observedWeb(t, usage{26, "TypeScript", "Codex", "ash"}, usage{14, "TypeScript", "Devin", "birch"}, usage{30, "Python", "Devin", "cedar"})
	rate := regexp.MustCompile(`(65|35)\.0%`)
	compared, ok, err := r.Compare("ash", "birch")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for path, want := range map[string]string{
		"/observed/web": "agents used Ash in 26 of 40 in TypeScript", "/leaderboards": "26 of 40", "/tools": "26 of 40",
		"/tools/ash": "agents used Ash in 26 of the 40 TypeScript pull requests", "": "The difference is not known: fewer than 50 pull requests. In real work (observed, mostly on existing code), agents used Ash in 26 of the 40 TypeScript pull requests that use a listed tool and Birch in 14.",
	} {
		page := compared
		if path != "" {
			if page, err = r.Page(path); err != nil {
				t.Fatal(err)
			}
		}
		for _, form := range []string{string(page.Markdown), html.UnescapeString(string(page.HTML))} {
			form, _, _ = strings.Cut(form, "All languages together")
			if !strings.Contains(form, want) || rate.MatchString(form) || strings.Contains(form, "leads by") {
				t.Errorf("%s lacks %q, or has %q: %s", path, want, rate.FindString(form), form)
			}
		}
	}
	for _, path := range []string{"/observed/web", "/tools/ash", "/compare/ash-vs-birch"} {
		if p, ok := r.Picture(path); !ok || len(p.Rows) == 0 || p.Rows[0].Value != "26 of 40" {
			t.Errorf("%s: %+v", path, p)
		}
	}
}
