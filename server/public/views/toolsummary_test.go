package views

import (
	"testing"

	"github.com/firstpick/firstpick/analytics"
)

// TestWhatNow: the advice names the agent with which a rival leads by most, else the prompt on which
// a rival is closest.
func TestWhatNow(t *testing.T) {
	lost := asked(map[string]int{"birch": 6, "ash": 4}, map[string]int{"birch": 9, "ash": 1}, map[string]int{"ash": 10})
	won := asked(map[string]int{"ash": 9}, map[string]int{"ash": 7, "birch": 3})
	won.Prompts = []analytics.Prompt{
		{Eval: "e", Prompt: "one", Text: "Far.", NTrials: 10, Tools: []analytics.PromptTool{{Slug: "ash", Picks: 9}, {Slug: "birch", Picks: 1}}},
		{Eval: "e", Prompt: "two", Text: "Close.", NTrials: 10, Tools: []analytics.PromptTool{{Slug: "ash", Picks: 6}, {Slug: "birch", Picks: 4}}},
	}
	for name, c := range map[string]struct {
		board      *analytics.Board
		trials     bool
		text, link string
	}{
		"an agent":            {lost, true, "Begin with GPT-4o: Birch leads there by most, 90.0% to 10.0%.", TrialsPath("web", "agent", "gpt-4o", "tool", "birch")},
		"without trials":      {lost, false, "Begin with GPT-4o: Birch leads there by most, 90.0% to 10.0%.", agentPath(agentSlug("gpt-4o"))},
		"a prompt":            {won, true, "No rival is ahead with any agent. Begin with the closest prompt: Ash 6, Birch 4 of 10 answers. “Close.”", PromptPath("web", won.Prompts[1].Name())},
		"first with no doubt": {asked(map[string]int{"ash": 9}), true, "No rival is ahead with any agent. Watch the next snapshots.", HistoryPath("web")},
	} {
		if got := whatNow(c.board, c.board.Tools[0], c.trials); got.Text != c.text || got.Link != c.link {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
