package views

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/render"
)

// TestTies: where several rivals are picked equally often by an agent, pages name all of them, and link
// to the answers without a choice among them.
func TestTies(t *testing.T) {
	b := asked(map[string]int{"ash": 1, "birch": 3, "cedar": 3}, map[string]int{"ash": 8, "birch": 1, "cedar": 1})
	b.Prompts = []analytics.Prompt{
		{Eval: "e", Prompt: "one", Text: "One.", NTrials: 20, Tools: []analytics.PromptTool{{Slug: "ash", Picks: 9, Shortlists: 9}, {Slug: "birch", Picks: 4, Shortlists: 4}, {Slug: "cedar", Picks: 4, Shortlists: 4}}, Agents: []analytics.PromptAgent{
			{Agent: b.Agents[0].Agent, NTrials: 10, Tools: []analytics.AgentPick{{Slug: "ash", Picks: 1}, {Slug: "birch", Picks: 3}, {Slug: "cedar", Picks: 3}}},
			{Agent: b.Agents[1].Agent, NTrials: 10, Tools: []analytics.AgentPick{{Slug: "ash", Picks: 8}, {Slug: "birch", Picks: 1}, {Slug: "cedar", Picks: 1}}},
		}},
		{Eval: "e", Prompt: "two", Text: "Two.", NTrials: 0},
	}
	r, err := New(Input{Site: render.Site{BaseURL: "https://x.example"}, Boards: []analytics.Board{*b}, Trials: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Page("/tools/ash")
	if err != nil {
		t.Fatal(err)
	}
	for form, parts := range map[string][]string{
		string(p.Markdown): {
			"| Claude 3.5 Sonnet | One. | 1 of 10 | Birch and Cedar 3 each |", "| GPT-4o | One. | 8 of 10 | Birch and Cedar 1 each |",
			"Largest loss: Claude 3.5 Sonnet: Birch and Cedar 30.0% each, Ash 10.0% of 10 answers, not a clear lead.", "Largest win: GPT-4o: Ash 80.0%, Birch and Cedar 10.0% each of 10 answers.",
			"| Birch and Cedar 30.0% each |",
		},
		string(p.HTML): {`Birch and Cedar <span class="sub">3 each</span>`, `Birch and Cedar <span class="sub">30.0% each</span>`, TrialsPath("web", "agent", b.Agents[0].Agent, "prompt", "e/one")},
	} {
		form = strings.ReplaceAll(form, "&amp;", "&")
		for _, want := range parts {
			if !strings.Contains(form, want) {
				t.Errorf("%q is missing in\n%s", want, form)
			}
		}
	}
	four := strongest{slugs: []string{"ash", "birch", "cedar", "elm"}, most: 2}
	if got := four.counted(b); got != "Ash, Birch and two others 2 each" {
		t.Errorf("got %q", got)
	}
}
