package analytics

import (
	"slices"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/pick"
)

// chose makes a cell of one trial of agent "a".
func chose(prompt, slug string, shortlist ...string) Group {
	return Group{Prompt: prompt, Agent: "a", Outcome: pick.Tool, Picked: slug, Shortlist: shortlist, Trials: 1, LastAt: at}
}

func TestWhomATrialWeighed(t *testing.T) {
	cases := map[string]struct {
		cell                 Group
		shortlistX, defaultX float64
		shortlistY           float64
	}{
		"a pick alone is a default":                 {chose("p", "x", "x"), 1, 1, 0},
		"a pick beside a rival is none":             {chose("p", "x", "x", "y"), 1, 0, 1},
		"a pick is on its shortlist unnamed":        {chose("p", "x"), 1, 1, 0},
		"a list of the rival alone is no default":   {chose("p", "x", "y"), 1, 0, 1},
		"a name counts once":                        {chose("p", "x", "x", "x", "y", "y"), 1, 0, 1},
		"an undecided trial shortlists and no more": {Group{Prompt: "p", Agent: "a", Outcome: pick.Ambiguous, Shortlist: []string{"x", "y"}, Trials: 1}, 1, 0, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := rank(category("x", "y"), []Group{c.cell}, 1, false)
			for _, err := range Check(b) {
				t.Error(err)
			}
			x := b.Tools[slices.IndexFunc(b.Tools, func(s Standing) bool { return s.Slug == "x" })]
			y := b.Tools[slices.IndexFunc(b.Tools, func(s Standing) bool { return s.Slug == "y" })]
			if x.ShortlistRate != c.shortlistX || x.DefaultRate != c.defaultX || y.ShortlistRate != c.shortlistY {
				t.Errorf("x %+v, y %+v", x, y)
			}
		})
	}
}

func TestACellWithoutTrialsIsNothing(t *testing.T) {
	b := rank(category("x"), []Group{chose("p", "x", "x"), {Prompt: "q", Agent: "z", Outcome: pick.None, LastAt: at.Add(time.Hour)}}, 1, false)
	if b.NFamilies != 1 || len(b.Agents) != 1 || !b.AsOf.Equal(at) {
		t.Errorf("%+v", b)
	}
}

func TestFewAgreeingTrialsProveNothing(t *testing.T) {
	b := rank(category("x", "y"), []Group{chose("p", "x", "x"), chose("q", "x", "x")}, 2, false)
	if r := b.Tools[1].BeatenBy[0]; r.Significant || r.PAdjusted < .5 || r.CILow > 0 {
		t.Errorf("two trials show %+v", r)
	}
}

func TestWarningsFollowTheThresholds(t *testing.T) {
	cells := func(prompts, trials int) (out []Group) {
		for i := range prompts {
			c := chose(string(rune('a'+i)), "x", "x")
			c.Trials = trials
			out = append(out, c)
		}
		return out
	}
	cases := map[string]struct {
		cells   []Group
		planned int
		want    []string
	}{
		"20 prompts, 40 trials, all answered": {cells(20, 2), 40, []string{}},
		"20 trials are too few":               {cells(20, 1), 20, []string{Directional}},
		"19 prompts are too few":              {cells(19, 2), 38, []string{Directional}},
		"97 % coverage is incomplete":         {cells(20, 5), 103, []string{Incomplete}},
		"90 % coverage is directional":        {cells(20, 5), 111, []string{Directional, Incomplete}},
		"one prompt":                          {cells(1, 50), 50, []string{Directional, SinglePrompt}},
		"nothing":                             {nil, 10, []string{Directional, Incomplete, NoTrials}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if b := rank(category("x"), c.cells, c.planned, false); !slices.Equal(b.Warnings, c.want) || b.Warnings == nil {
				t.Errorf("got %v, want %v", b.Warnings, c.want)
			}
		})
	}
	for _, code := range WarningCodes() {
		if Explain(code) == Explain("") {
			t.Errorf("%s has no explanation", code)
		}
	}
}
