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

// A usage is n pull requests of an agent that use a tool, each in a repository of its own.
type usage struct {
	n                     int
	language, agent, tool string
}

// observedWeb returns the renderer of one observed board, Web.
func observedWeb(t *testing.T, list ...usage) *views.Renderer {
	t.Helper()
	var units []facts.Unit
	for _, u := range list {
		for range u.n {
			id := fmt.Sprint("u", len(units))
			units = append(units, facts.Unit{ID: id, Repo: id, Language: u.language, Agent: u.agent, Tools: map[string][]string{"web": {u.tool}}})
		}
	}
	return webOf(t, units)
}

// webOf returns the renderer of one observed board, Web, of so many units.
func webOf(t *testing.T, units []facts.Unit) *views.Renderer {
	t.Helper()
	at := time.Date(2026, 5, 6, 0, 0, 0, 0, time.UTC)
	s := &facts.Study{Kind: facts.Kind, Observed: true, Name: "field", Unit: facts.PullRequest, AsOf: &at, Source: facts.Source{Cite: "Somebody, 2026."}, Units: units}
	c := observed.Category{Slug: "web", Name: "Web", Tools: []observed.Tool{{Slug: "ash", Name: "Ash"}, {Slug: "birch", Name: "Birch"}, {Slug: "cedar", Name: "Cedar"}, {Slug: "elm", Name: "Elm"}}}
	b, ok := observed.Rank(s, c)
	if !ok {
		t.Fatal("too few for a board")
	}
	b.Recount(s, c)
	r, err := views.New(views.Input{Site: render.Site{BaseURL: "https://firstpick.example", SnapshotID: "abc"}, Observed: []observed.Board{b}, Now: at})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLanguagesAreNotMixed: sentences, pictures and comparisons are of one language each.
func TestLanguagesAreNotMixed(t *testing.T) {
	r := observedWeb(t, usage{40, "TypeScript", "Codex", "ash"}, usage{20, "TypeScript", "Devin", "birch"}, usage{50, "Python", "Devin", "cedar"})
	const claim = "Among pull requests that use a listed tool, agents used Ash in 66.7% of 60 in TypeScript and Cedar in 100.0% of 50 in Python."
	p, err := r.Page("/observed/web")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(p.HTML), string(p.Markdown)} {
		languages, all := strings.Index(text, "By language, observed"), strings.Index(text, "All languages together")
		if !strings.Contains(text, claim) || languages < 0 || all < languages || !strings.Contains(text, "firstpick: OBSERVED: Web, what agents used: Ash 66.7% (95% CI 53.7%–77.5%), Birch 33.3% (95% CI 22.5%–46.3%) of the 60 TypeScript pull requests that use a listed tool. Cedar 100.0% (95% CI 92.5%–100.0%) of the 50 Python pull requests that use a listed tool. Data of 6 May 2026, snapshot abc.") {
			t.Errorf("languages at %d, all at %d: %s", languages, all, text)
		}
	}
	picture, ok := r.Picture("/observed/web")
	if !ok || picture.Title != claim || len(picture.Rows) != 2 || picture.Rows[0].Value != "66.7%" || !strings.Contains(picture.Foot, "TypeScript, 60 pull requests") {
		t.Errorf("%+v", picture)
	}
	for pair, want := range map[string]string{
		"ash birch": "agents used Ash in 66.7% of the 60 TypeScript pull requests that use a listed tool and Birch in 33.3%; for this pair alone, the difference of 33.4 points (95% CI ",
		"ash cedar": "agents used Ash in 66.7% of 60 TypeScript pull requests and Cedar in 100.0% of 50 Python pull requests: different languages, so these are not alternatives.",
	} {
		a, b, _ := strings.Cut(pair, " ")
		p, ok, err := r.Compare(a, b)
		if err != nil || !ok || !strings.Contains(string(p.HTML), want) || !strings.Contains(string(p.Markdown), want) {
			t.Errorf("%s: %v %v %s", pair, ok, err, p.Markdown)
		}
	}
	if _, ok, err := r.Compare("ash", "elm"); ok || err != nil {
		t.Errorf("a tool that nobody used was compared: %v", err)
	}
}

// TestVerdictOfAComparison: a difference is called clear only where the intervals do not overlap.
func TestVerdictOfAComparison(t *testing.T) {
	for rest, unclear := range map[int]bool{29: true, 10: false} {
		r := observedWeb(t, usage{40, "Python", "Codex", "ash"}, usage{rest, "Python", "Devin", "birch"})
		p, ok, err := r.Compare("ash", "birch")
		if got := strings.Contains(string(p.HTML), "No clear difference: in real work"); err != nil || !ok || got != unclear {
			t.Errorf("40 against %d: unclear %v, %v", rest, got, err)
		}
	}
}

// TestOrderThatIsNotKnown: ranks that may be any are not shown, nor is an interval of an agent
// that never used the tool.
func TestOrderThatIsNotKnown(t *testing.T) {
	r := observedWeb(t, usage{31, "Python", "Codex", "ash"}, usage{29, "Python", "Devin", "birch"})
	p, err := r.Page("/tools/ash")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(p.HTML), string(p.Markdown)} {
		if !strings.Contains(text, "no two tools differ significantly") || strings.Contains(text, "1–4") || strings.Contains(text, "0.0%–0.0%") || !strings.Contains(text, "Devin (few) | 0 of 29") && !strings.Contains(text, ">0 of 29<") {
			t.Error(text)
		}
	}
	known, err := observedWeb(t, usage{55, "Python", "Codex", "ash"}, usage{5, "Python", "Devin", "birch"}).Page("/tools/ash")
	if err != nil || strings.Contains(string(known.HTML), "no two tools differ") || !strings.Contains(string(known.HTML), "(range)") {
		t.Errorf("%v %s", err, known.Markdown)
	}
}

// TestNoRanksWithinALanguage: only a whole board is tested, so no tool of a language has a rank.
func TestNoRanksWithinALanguage(t *testing.T) {
	r := observedWeb(t, usage{60, "TypeScript", "Codex", "ash"}, usage{6, "TypeScript", "Devin", "birch"}, usage{50, "Python", "Devin", "cedar"})
	p, err := r.Page("/observed/web")
	if err != nil {
		t.Fatal(err)
	}
	parts, _, _ := strings.Cut(string(p.Markdown), "All languages together")
	if !strings.Contains(parts, "| [Ash]") || strings.Contains(parts, "| 1 |") || !strings.Contains(string(p.HTML), "Within a language only the lead of the first tool is tested") {
		t.Error(parts)
	}
	if p, err = r.Page("/tools/ash"); err != nil || !strings.Contains(string(p.Markdown), "Rank 1, a clear lead over each other tool that was used") {
		t.Errorf("%v %s", err, p.Markdown)
	}
}

// TestWhichCodingAgent: a difference by agent is called clear only where it is tested, with all agents
// that have enough data, and significant; the line below the table says what was tested.
func TestWhichCodingAgent(t *testing.T) {
	for name, tt := range map[string]struct {
		list []usage
		want []string
	}{
		"two tested":         {[]usage{{55, "Python", "Codex", "ash"}, {5, "Python", "Codex", "birch"}, {28, "Python", "Devin", "ash"}, {24, "Python", "Devin", "birch"}}, []string{"In real work: Ash is used clearly more with Codex. No other difference by coding agent is firm.", "Tested, clustered by repository: Codex and Devin, corrected for all two (Holm)."}},
		"one has too little": {[]usage{{55, "Python", "Codex", "ash"}, {5, "Python", "Codex", "birch"}, {30, "Python", "Devin", "birch"}}, []string{"In real work: Ash is used clearly more with Codex.", "Tested, clustered by repository: Codex; the others are described, not tested. A test needs at least 50 pull requests in 20 repositories, and an interval that leaves out some difference. With one agent, no repository may have more than a quarter of them."}},
		"not significant":    {[]usage{{30, "Python", "Codex", "ash"}, {24, "Python", "Codex", "birch"}, {9, "Python", "Devin", "birch"}}, []string{"In real work: no difference by coding agent is firm.", "Tested, clustered by repository: Codex; the others"}},
		"each has little":    {[]usage{{40, "Python", "Codex", "ash"}, {40, "Python", "Devin", "birch"}}, []string{"In real work: no coding agent has enough data for a test."}},
	} {
		p, ok, err := observedWeb(t, tt.list...).Compare("ash", "birch")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		title := "Ash or Birch"
		if name == "not significant" { // the tool that is used more stands first
			title = "Birch or Ash"
		}
		for _, text := range []string{string(p.HTML), string(p.Markdown)} {
			for _, want := range append(tt.want, title) {
				if !strings.Contains(text, want) {
					t.Errorf("%s lacks %q: %s", name, want, text)
				}
			}
		}
		if !strings.Contains(string(p.HTML), "<title>"+title+": which one AI agents use in real work") {
			t.Errorf("the title is of another comparison: %.600s", p.HTML)
		}
	}
}

// TestOrderWithoutTheLargestRepository: where one repository decides the order of two tools, the sentence
// at the top says so, and significance is not known.
func TestOrderWithoutTheLargestRepository(t *testing.T) {
	r := oneLarge(t)
	p, ok, err := r.Compare("ash", "birch")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for _, text := range []string{string(p.HTML), string(p.Markdown)} {
		for _, want := range []string{"Birch in 30. Without that repository, Birch 30 and Ash 3 of 33: the order turns.", "The difference is not known: one repository has 73% of the pull requests. In real work (observed, mostly on existing code), agents used Ash in 93 of the 123 Python pull requests", "of 123 Python pull requests. One repository has 73% of the pull requests; without it, Ash 3 and Birch 30 of 33. Data of"} {
			if !strings.Contains(text, want) {
				t.Errorf("lacks %q: %s", want, text)
			}
		}
	}
	for _, path := range []string{"/tools/ash", "/observed/web"} { // the row of an agent has its doubt
		agents, err := r.Page(path)
		if err != nil || !strings.Contains(string(agents.HTML), "97% from one repository") || !strings.Contains(string(agents.Markdown), "Codex (fewer than 20 repositories) (97% from one repository)") {
			t.Errorf("%s lacks the doubt of an agent: %v %s", path, err, agents.Markdown)
		}
	}
	if !strings.Contains(string(p.HTML), "Significant? not known") {
		t.Errorf("no verdict: %s", p.HTML)
	}
}

// oneLarge returns the renderer of a board in whose main language one repository has most units: Codex used
// Ash in 93 pull requests of 4 repositories, Devin Birch in 30.
func oneLarge(t *testing.T) *views.Renderer {
	t.Helper()
	at := time.Date(2026, 5, 6, 0, 0, 0, 0, time.UTC)
	s := &facts.Study{Kind: facts.Kind, Observed: true, Name: "field", Unit: facts.PullRequest, AsOf: &at, Source: facts.Source{Cite: "Somebody, 2026."}}
	add := func(n int, repo, language, tool string) {
		for range n {
			id := fmt.Sprint("u", len(s.Units))
			s.Units = append(s.Units, facts.Unit{ID: id, Repo: cmp.Or(repo, id), Language: language, Agent: map[string]string{"ash": "Codex", "birch": "Devin"}[tool], Tools: map[string][]string{"web": {tool}}})
		}
	}
	add(90, "big", "Python", "ash")
	add(30, "", "Python", "birch")
	add(3, "", "Python", "ash")
	add(9, "", "Go", "ash")
	c := observed.Category{Slug: "web", Name: "Web", Tools: []observed.Tool{{Slug: "ash", Name: "Ash"}, {Slug: "birch", Name: "Birch"}}}
	b, _ := observed.Rank(s, c)
	b.Recount(s, c)
	r, err := views.New(views.Input{Site: render.Site{BaseURL: "https://firstpick.example", SnapshotID: "abc"}, Observed: []observed.Board{b}, Now: at})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRealWorkHasTwoTests: on a board of one language a pair has the test of this pair alone, and that of all pairs at
// once with its interval and p-value; of several languages, none is ranked, so that the second is missing.
func TestRealWorkHasTwoTests(t *testing.T) {
	one := observedWeb(t, usage{45, "Go", "Codex", "ash"}, usage{20, "Go", "Devin", "birch"}, usage{9, "Go", "Devin", "cedar"})
	two := observedWeb(t, usage{45, "Go", "Codex", "ash"}, usage{20, "Go", "Devin", "birch"}, usage{50, "Python", "Devin", "cedar"})
	for r, has := range map[*views.Renderer]bool{one: true, two: false} {
		p, ok, err := r.Compare("ash", "birch")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if got := strings.Contains(string(p.Markdown), "for this pair alone. Significant? Yes, p "); !got {
			t.Errorf("no test of the pair alone: %s", p.Markdown)
		}
		for form, want := range map[string]string{string(p.Markdown): "With all 6 pairs of tools at once: +", string(p.HTML): "with all 6 pairs of tools at once, p "} {
			if strings.Contains(form, want) != has {
				t.Errorf("%q: %t: %s", want, !has, form)
			}
		}
	}
}
