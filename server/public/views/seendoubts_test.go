package views_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics/observed"
	facts "github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/public/views"
)

// TestOneRepository: a page says how much of a board is of one repository, which that is, and the
// rates without it; agents are compared within a language, and a tool of two boards is named.
func TestOneRepository(t *testing.T) {
	at := time.Date(2026, 5, 6, 0, 0, 0, 0, time.UTC)
	s := &facts.Study{Kind: facts.Kind, Observed: true, Name: "field", Unit: facts.PullRequest, AsOf: &at, Source: facts.Source{Cite: "Somebody, 2026."}}
	add := func(n int, repo, language, agent, tool string) {
		for range n {
			id := "r" + string(rune('a'+len(s.Units)/26)) + string(rune('a'+len(s.Units)%26))
			name := repo
			if repo == "" {
				name = id
			}
			s.Units = append(s.Units, facts.Unit{ID: id, Repo: name, Language: language, Agent: agent, Tools: map[string][]string{"web": {tool}, "other": {tool}}})
		}
	}
	add(35, "big", "Python", "Codex", "ash")
	add(20, "", "Python", "Devin", "birch")
	add(20, "", "Python", "Devin", "ash")
	add(50, "", "Go", "Codex", "cedar")
	var boards []observed.Board
	for slug, tools := range map[string][]observed.Tool{
		"web":   {{Slug: "ash", Name: "Ash"}, {Slug: "birch", Name: "Birch"}, {Slug: "cedar", Name: "Cedar"}},
		"other": {{Slug: "ash", Name: "Ash"}},
	} {
		c := observed.Category{Slug: slug, Name: render.Capital(slug), Tools: tools}
		b, ok := observed.Rank(s, c)
		if !ok {
			t.Fatal("too few for a board")
		}
		b.Recount(s, c)
		boards = append(boards, b)
	}
	r, err := views.New(views.Input{Site: render.Site{BaseURL: "https://firstpick.example", SnapshotID: "abc"}, Observed: boards, Now: at})
	if err != nil {
		t.Fatal(err)
	}
	c, ok, err := r.Compare("ash", "birch")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for _, text := range []string{string(c.HTML), string(c.Markdown)} {
		for _, want := range []string{"The difference is not known: one repository has 47% of the pull requests. In real work", "When which?", "In real work: no coding agent has enough data for a test.", "No agent has enough data for a test. A test needs at least 50 pull requests in 20 repositories, and an interval that leaves out some difference."} {
			if !strings.Contains(text, want) {
				t.Errorf("the comparison lacks %q: %s", want, text)
			}
		}
	}
	for path, wants := range map[string][]string{
		"/observed/web": {
			"One repository has 28% of the pull requests, in the data as repository big.", "47% from one repository", "Without it, Ash 20 and Birch 20 of 40.",
			"agents used Ash in 73.3% of 75 in Python (95% CI 14.2%–97.9%) and Cedar in 100.0% of 50 in Go (95% CI 92.5%–100.0%). In Python, other repositories may differ much. Ash is on Other, too (55 of 55 there): its uses count on both, whatever they were for.",
			"So a use may count on several boards", "Ash also on Other",
		},
		"/leaderboards": {"73%", "14–98%"},       // a rate has its interval, however wide
		"/tools":        {"26.7%", "2.1%–85.8%"}, // without it, the rate would look firm
		"/tools/birch":  {"26.7%", "95% CI 2.1%–85.8%", "One repository has 47% of the pull requests; without it, Birch 20 of 40", "of 75 Python pull requests. One repository has 47% of the pull requests; without it, Birch 20 of 40. Data of"},
	} {
		p, err := r.Page(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(p.HTML), string(p.Markdown)} {
			for _, want := range wants {
				if !strings.Contains(text, want) {
					t.Errorf("%s lacks %q: %s", path, want, text)
				}
			}
		}
	}
}

// TestMostUsesInOneRepository: where most uses of a tool are in one repository, its row, its page, its citation
// and the line of the board say so, though no repository decides the board.
func TestMostUsesInOneRepository(t *testing.T) {
	var units []facts.Unit
	add := func(n int, repo, tool string) {
		for range n {
			id := fmt.Sprint("u", len(units))
			units = append(units, facts.Unit{ID: id, Repo: cmp.Or(repo, id), Language: "Go", Agent: "Codex", Tools: map[string][]string{"web": {tool}}})
		}
	}
	add(50, "", "ash")
	add(9, "monorepo", "birch")
	add(2, "", "birch")
	r := webOf(t, units)
	for path, want := range map[string]string{
		"/observed/web": "9 of 11 in one repository", "/leaderboards": "82% in one repo",
		"/tools/birch": "9 of 11 uses of Birch are in one repository. Data of",
	} {
		p, err := r.Page(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(p.HTML), string(p.Markdown)} {
			if !strings.Contains(text, want) || strings.Contains(text, "uses of Ash") {
				t.Errorf("%s lacks %q: %s", path, want, text)
			}
		}
	}
}
