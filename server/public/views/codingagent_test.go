package views

import (
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/render"
)

// TestCodingAgents: an agent that did enough real work has a page with a line for each board, with the first tool of all
// agents; the page of one that was asked, too, has both; the list of agents leads there.
func TestCodingAgents(t *testing.T) {
	agent := func(name string, units, ash, birch int) observed.AgentBoard {
		use := func(slug string, n int) observed.Rate {
			return observed.Rate{Slug: slug, Use: observed.Use{UseRate: float64(n) / float64(units), CILow: .2, CIHigh: .9, Uses: n}, Repos: 8}
		}
		return observed.AgentBoard{Agent: name, Part: observed.Part{NUnits: units, NRepos: 12, Warnings: []string{observed.FewRepositories}, Tools: []observed.Rate{use("birch", birch), use("ash", ash)}}}
	}
	at := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	b := seenBoard(at, .4)
	b.Tools[1].Uses, b.Tools[1].UseRate = 20, .2
	b.Agents = []observed.AgentBoard{agent("Claude Code", 60, 10, 45), agent("m", 12, 9, 0), agent("Devin", 9, 9, 0)}
	a := asked(map[string]int{"ash": 8, "elm": 1}, map[string]int{"ash": 9})
	a.Agents[0].Agent = "m"
	r, err := New(Input{Site: render.Site{BaseURL: "https://x.example", SnapshotID: "abc"}, Boards: []analytics.Board{*a}, Observed: []observed.Board{b}, Now: at})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]string{
		"/ai-agents/claude-code": {"Most used by Claude Code in real work: Birch (HTTP clients · Python, 75%, 95% CI 20–90%)", "75%", "60 pull requests · 12 repositories", "all agents: Ash 60%", "Not pick rates"},
		"/ai-agents/m":           {"What it used in real work", "9 of 12", "Ash"},
		"/ai-agents":             {"/ai-agents/claude-code", "Devin"},
	} {
		p, err := r.Page(path)
		if err != nil {
			t.Fatal(err)
		}
		for form, text := range map[string]string{"HTML": string(p.HTML), "markdown": string(p.Markdown)} {
			for _, w := range want {
				if form == "markdown" {
					w = strings.NewReplacer("Not pick rates", "Never a pick rate", "What it used", "what it used").Replace(w)
				}
				if !strings.Contains(text, w) {
					t.Errorf("%s as %s lacks %q: %s", path, form, w, text)
				}
			}
			if strings.Contains(text, "fewer than 20 repositories") || strings.Contains(text, "/ai-agents/devin") {
				t.Errorf("%s as %s: %s", path, form, text)
			}
		}
	}
	if r.agents["devin"] != nil {
		t.Error("a page for nine pull requests")
	}
	if got := usedSentence("Devin", nil); got != "Devin used no tool often enough for a rate." {
		t.Error(got)
	}
}

// TestAgentsOfOneSlug: agents whose names differ in a way that a path does not hold have no page of another one, and break none.
func TestAgentsOfOneSlug(t *testing.T) {
	at := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	b := seenBoard(at, .4)
	use := observed.Rate{Slug: "ash", Use: observed.Use{UseRate: .9, CIHigh: 1, Uses: 54}}
	for _, name := range []string{"日本", "中文", ".."} {
		b.Agents = append(b.Agents, observed.AgentBoard{Agent: name, Part: observed.Part{NUnits: 60, NRepos: 30, Tools: []observed.Rate{use}}})
	}
	one, two := asked(map[string]int{"ash": 8}), asked(map[string]int{"elm": 8})
	one.Agents[0].Agent, two.Agents[0].Agent, two.Category = "m", "M", "other"
	r, err := New(Input{Site: render.Site{BaseURL: "https://x.example", SnapshotID: "abc"}, Boards: []analytics.Board{*one, *two}, Observed: []observed.Board{b}, Now: at})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range r.Paths() {
		if _, err := r.Page(path); err != nil || strings.HasSuffix(path, "/..") {
			t.Errorf("%s: %v", path, err)
		}
	}
	for name, want := range map[string]string{"日本": "/ai-agents/__", "中文": "", "..": "", "M": "/ai-agents/m"} {
		if got := r.codingAgentPath(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
