package picks_test

import (
	"testing"

	"github.com/firstpick/firstpick/server/channel/picks"
)

// TestFew: prompts with few answers say how many; where only some have few, each of these says so.
func TestFew(t *testing.T) {
	for want, trials := range map[string][]int{
		"": {3, 10},
		"With 3 answers each, that is too few to judge one prompt.":      {3, 3},
		"With 1 to 9 answers each, that is too few to judge one prompt.": {9, 1},
		"With 1 answer each, that is too few to judge one prompt.":       {1},
	} {
		var lost []picks.Lost
		for _, n := range trials {
			lost = append(lost, picks.Lost{Trials: n})
		}
		if got := picks.Few(lost); got != want {
			t.Errorf("%v: %q, want %q", trials, got, want)
		}
	}
	if got := picks.Few(nil); got != "" {
		t.Errorf("none: %q", got)
	}
	if few, enough := (&picks.Lost{Trials: 9}).Few(), (&picks.Lost{Trials: picks.FewAnswers}).Few(); few != "9 answers: too few to judge" || enough != "" {
		t.Errorf("%q, %q", few, enough)
	}
}
