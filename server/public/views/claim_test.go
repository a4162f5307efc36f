package views

import (
	"testing"

	"github.com/firstpick/firstpick/analytics"
)

// asked is a board on which each agent has 10 answers, with so many picks of each tool.
func asked(agents ...map[string]int) *analytics.Board {
	b := &analytics.Board{Name: "Web", Category: "web"}
	total := map[string]int{}
	for i, picks := range agents {
		a := analytics.AgentBoard{Agent: []string{"claude-3-5-sonnet-20241022", "gpt-4o", "gemini", "llama"}[i], NTrials: 10}
		for _, slug := range []string{"ash", "birch", "cedar", "elm"} {
			if n := picks[slug]; n > 0 {
				a.Tools = append(a.Tools, analytics.AgentRate{Slug: slug, PickRate: float64(n) / 10, Picks: n})
				total[slug] += n
			}
		}
		b.Agents, b.NTrials = append(b.Agents, a), b.NTrials+10
	}
	for _, slug := range []string{"ash", "birch", "cedar", "elm"} {
		n := total[slug]
		b.Tools = append(b.Tools, analytics.Standing{Slug: slug, Tool: map[string]string{"ash": "Ash", "birch": "Birch", "cedar": "Cedar", "elm": "Elm"}[slug], Picks: n, PickRate: float64(n) / float64(b.NTrials), NTrials: b.NTrials, CIHigh: 1})
	}
	return b
}

func TestClaim(t *testing.T) {
	for want, b := range map[string]*analytics.Board{
		"All 3 agents pick Ash most often, in 63.3% of answers.":                     asked(map[string]int{"ash": 9}, map[string]int{"ash": 6, "birch": 3}, map[string]int{"ash": 4}),
		"Claude 3.5 Sonnet prefers Birch; two other agents prefer Ash.":              asked(map[string]int{"birch": 9}, map[string]int{"ash": 9}, map[string]int{"ash": 9}),
		"Agents disagree: one prefers Ash, one prefers Birch and one prefers Cedar.": asked(map[string]int{"ash": 9}, map[string]int{"birch": 9}, map[string]int{"cedar": 9}),
		"No agent picked a tool of this list in 20 answers.":                         asked(map[string]int{}, map[string]int{}),
		"Claude 3.5 Sonnet picks Ash in 70% of its answers.":                         asked(map[string]int{"ash": 7, "birch": 3}),
		"2 of 3 agents pick Ash most often.":                                         asked(map[string]int{"ash": 9}, map[string]int{"ash": 9}, map[string]int{"ash": 5, "birch": 5}),
	} {
		if got, _ := claim(b); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	// Two against two: nobody is the exception.
	if got, _ := claim(asked(map[string]int{"ash": 9}, map[string]int{"ash": 9}, map[string]int{"birch": 9}, map[string]int{"birch": 9})); got != "Agents disagree: two prefer Ash and two prefer Birch." {
		t.Errorf("got %q", got)
	}
}

func TestSentence(t *testing.T) {
	b := asked(map[string]int{"birch": 9}, map[string]int{"ash": 9, "cedar": 1}, map[string]int{"ash": 9})
	for i, want := range []string{
		"Agents pick Ash in 60% of answers, except Claude 3.5 Sonnet, which prefers Birch.",
		"Agents pick Birch in 30% of answers; Ash leads with 60%. It is first with Claude 3.5 Sonnet.",
		"Agents pick Cedar in 3.3% of answers; Ash leads with 60%.",
		"No agent picked Elm in 30 answers.",
	} {
		if got := sentence(b, b.Tools[i]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
