package views

import (
	"slices"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/render"
)

// TestWhatNow: the advice names where the tool is nearest to the lead, else that nothing stands out; for
// the leader the prompt on which a rival is closest.
func TestWhatNow(t *testing.T) {
	lost := asked(map[string]int{"birch": 6, "ash": 4}, map[string]int{"birch": 9, "ash": 1}, map[string]int{"ash": 10})
	won := asked(map[string]int{"ash": 9}, map[string]int{"ash": 7, "birch": 3})
	won.Prompts = []analytics.Prompt{
		{Eval: "e", Prompt: "one", Text: "Far.", NTrials: 10, Tools: []analytics.PromptTool{{Slug: "ash", Picks: 9}, {Slug: "birch", Picks: 1}}},
		{Eval: "e", Prompt: "two", Text: "Close.", NTrials: 10, Tools: []analytics.PromptTool{{Slug: "ash", Picks: 6}, {Slug: "birch", Picks: 4}}},
	}
	even := asked(map[string]int{"birch": 6, "ash": 4}, map[string]int{"birch": 6, "ash": 4})
	tie := asked(map[string]int{"birch": 10}, map[string]int{"birch": 10})
	far := asked(map[string]int{"birch": 8, "ash": 1}, map[string]int{"birch": 9, "ash": 1})
	behind := func(b *analytics.Board) *analytics.Board {
		b.Tools[0], b.Tools[1] = b.Tools[1], b.Tools[0] // Birch leads
		return b
	}
	tie, far = behind(tie), behind(far)
	prompts := func(one, two, named int) *analytics.Board {
		b := asked(map[string]int{"birch": one + two, "ash": 20 - one - two})
		b.Prompts = []analytics.Prompt{
			{Eval: "e", Prompt: "one", Text: "One.", NTrials: 10, Tools: []analytics.PromptTool{{Slug: "ash", Picks: 10 - one, Shortlists: 10 - one}, {Slug: "birch", Picks: one}}},
			{Eval: "e", Prompt: "two", Text: "Two.", NTrials: 10, Tools: []analytics.PromptTool{{Slug: "ash", Picks: 10 - two, Shortlists: named}, {Slug: "birch", Picks: two}}},
		}
		return b
	}
	for name, c := range map[string]struct {
		board      *analytics.Board
		trials     bool
		text, link string
	}{
		"an agent":            {lost, true, "Begin with " + render.AgentName(lost.Agents[0].Agent) + ", where it is nearest to the lead: Birch 60.0%, Ash 40.0%.", TrialsPath("web", "agent", lost.Agents[0].Agent, "tool", "birch")},
		"without trials":      {lost, false, "Begin with " + render.AgentName(lost.Agents[0].Agent) + ", where it is nearest to the lead: Birch 60.0%, Ash 40.0%.", agentPath(agentSlug(lost.Agents[0].Agent))},
		"agents that tie":     {even, true, "Begin with the 2 agents where it is nearest to the lead, each: Birch 60.0%, Ash 40.0%.", ComparePath("ash", "birch")},
		"never picked":        {tie, false, "No answer picked Ash: look first at the answers that picked Birch.", ComparePath("ash", "birch")},
		"a prompt to win":     {prompts(6, 9, 0), true, "Begin with the prompt where it is nearest to the lead: Ash 4, Birch 6 of 10 answers, not tested. “One.”", PromptPath("web", "e/one")},
		"a prompt that names": {behind(prompts(10, 10, 3)), true, "No answer picked Ash: look first at the answers that picked Birch.", TrialsPath("web", "tool", "birch")},
		"a prompt":            {won, true, "No rival is ahead with any agent. Begin with the closest prompt: Ash 6, Birch 4 of 10 answers. “Close.”", PromptPath("web", won.Prompts[1].Name())},
		"far behind":          {far, true, "Where another tool leads, Ash is far behind: look first at the answers that picked Birch.", TrialsPath("web", "tool", "birch")},
		"first with no doubt": {asked(map[string]int{"ash": 9}), true, "No rival is ahead with any agent. Watch the next snapshots.", HistoryPath("web")},
	} {
		ash := c.board.Tools[slices.IndexFunc(c.board.Tools, func(s analytics.Standing) bool { return s.Slug == "ash" })]
		if got := whatNow(c.board, ash, c.trials); got.Text != c.text || got.Link != c.link {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestNextSteps: a tool that is far behind has the prompts on which it is an option and not picked, where it is
// picked most, and how to measure its own prompts; without data there is the last alone.
func TestNextSteps(t *testing.T) {
	prompt := func(name string, ash, named, birch, cedar int) analytics.Prompt {
		return analytics.Prompt{Eval: "e", Prompt: name, Text: name + ".", NTrials: 20, Tools: []analytics.PromptTool{{Slug: "ash", Picks: ash, Shortlists: named}, {Slug: "birch", Picks: birch, Shortlists: birch}, {Slug: "cedar", Picks: cedar, Shortlists: cedar}}}
	}
	board := func(prompts ...analytics.Prompt) *analytics.Board {
		b := asked(map[string]int{"ash": 1, "birch": 9}, map[string]int{"birch": 9})
		b.Prompts, b.NPrompts = prompts, len(prompts)
		return b
	}
	own := "Ask what your customers ask, against these rivals. /for-vendors"
	for name, c := range map[string]struct {
		board  *analytics.Board
		trials bool
		want   []string
	}{
		"named on two": {board(prompt("one", 0, 1, 9, 0), prompt("two", 1, 5, 6, 6), prompt("three", 0, 0, 15, 0)), true, []string{
			"Picked most in 1 of 20 answers, and an option in 4 more. First there: Birch and Cedar 6 each. “two.” " + PromptPath("web", "e/two"),
			"An option, not picked, in 1 of 20 answers. First there: Birch 9. “one.” " + TrialsPath("web", "prompt", "e/one", "tool", "birch"), own,
		}},
		"without trials": {board(prompt("one", 1, 3, 9, 0), prompt("two", 0, 0, 9, 0)), false, []string{
			"Picked most in 1 of 20 answers, and an option in 2 more. First there: Birch 9. “one.” " + PromptPath("web", "e/one"), own,
		}},
		"picked most elsewhere": {board(prompt("one", 0, 3, 9, 0), prompt("two", 2, 2, 9, 0)), false, []string{
			"An option, not picked, in 3 of 20 answers. First there: Birch 9. “one.” " + PromptPath("web", "e/one"), "Picked most in 2 of 20 answers. “two.” " + PromptPath("web", "e/two"), own,
		}},
		"first on one": {board(prompt("one", 8, 11, 5, 0), prompt("two", 0, 1, 9, 0)), false, []string{
			"An option, not picked, in 1 of 20 answers. First there: Birch 9. “two.” " + PromptPath("web", "e/two"), "Picked most in 8 of 20 answers. “one.” " + PromptPath("web", "e/one"), own,
		}},
		"as often on two": {board(prompt("one", 1, 1, 9, 0), prompt("two", 1, 1, 9, 0), prompt("three", 0, 0, 9, 0)), false, []string{own}},
		"never named":     {board(prompt("one", 0, 0, 9, 0), prompt("two", 0, 0, 9, 0)), true, []string{own}},
	} {
		ash := c.board.Tools[0]
		if name == "never named" {
			ash.Picks = 0
		}
		var got []string
		for _, s := range nextSteps(c.board, ash, c.trials) {
			got = append(got, s.Text+" "+s.Link)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
