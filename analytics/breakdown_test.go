package analytics

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/runner/pick"
)

// drawn returns a board of random trials of two agents with different weights: 30 prompts
// of 15 families, some without trials of an agent.
func drawn(seed uint64) (Board, Measurement) {
	r := rand.New(rand.NewPCG(seed, 3))
	tools := []string{"w", "x", "y", "z"}
	m := Measurement{Category: category(tools...), Design: Design{Families: map[string]string{}, Tags: map[string]map[string]string{}, Weights: map[string]float64{"a": 1, "b": 3}}}
	var groups []Group
	for i := range 30 {
		prompt := "e/p" + string(rune('A'+i))
		m.Design.Families[prompt] = "f" + string(rune('A'+i/2))
		m.Design.Tags[prompt] = map[string]string{"ecosystem": "npm", "persona": ""}
		for _, agent := range []string{"a", "b"} {
			for range r.IntN(4) {
				g := Group{Prompt: prompt, Agent: agent, Trials: 1 + r.IntN(3), Outcome: pick.None, LastAt: time.Unix(1, 0)}
				if k := r.IntN(5); k < 3 { // z is never picked
					g.Outcome, g.Picked = pick.Tool, tools[min(k, r.IntN(3))]
				}
				groups, m.Planned = append(groups, g), m.Planned+g.Trials
			}
		}
	}
	m.Cells = Cells(groups)
	b := Rank(m)
	b.Prompts = m.Prompts()
	return b, m
}

// TestComparisonsAreThoseOfTheBoard: each pair of tools has one test, seen from both
// sides; it is that of beatenBy, and Check derives rank ranges from it.
func TestComparisonsAreThoseOfTheBoard(t *testing.T) {
	pairs := 0
	for seed := range uint64(30) {
		b, _ := drawn(seed)
		if errs := Check(b); len(errs) > 0 {
			t.Fatal(seed, errs)
		}
		for _, s := range b.Tools {
			ahead := []Rival{}
			for _, c := range s.Breakdown.Rivals {
				i := slices.IndexFunc(b.Tools, func(o Standing) bool { return o.Slug == c.Slug })
				back := b.Tools[i].Breakdown.Rivals
				k := slices.IndexFunc(back, func(o Comparison) bool { return o.Slug == s.Slug })
				if k < 0 || back[k].Diff != -c.Diff || back[k].CILow != -c.CIHigh || back[k].Ahead == c.Ahead || back[k].PAdjusted != c.PAdjusted {
					t.Fatalf("%s against %s: %+v, back %+v", s.Slug, c.Slug, c, back)
				}
				if c.Ahead {
					ahead = append(ahead, Rival{c.Tool, c.Slug, b.Tools[i].Rank, b.Tools[i].PickRate, c.Diff, c.CILow, c.CIHigh, c.PAdjusted, c.Significant, c.URL})
				}
				pairs++
			}
			if d := cmp.Diff(s.BeatenBy, ahead); d != "" {
				t.Errorf("%s, beatenBy and rivals: %s", s.Slug, d)
			}
		}
	}
	if pairs < 200 {
		t.Errorf("only %d pairs", pairs)
	}
}

// TestPromptsAreCounted recounts the prompts from the cells.
func TestPromptsAreCounted(t *testing.T) {
	b, m := drawn(7)
	cells := map[[2]string]Cell{}
	for _, c := range m.Cells {
		cells[[2]string{c.Prompt, c.Agent}] = c
	}
	weights := map[string]float64{"a": 0.25, "b": 0.75}
	for i, p := range b.Prompts {
		if p.Eval != "e" || p.Family == "" || !cmp.Equal(p.Tags, map[string]string{"ecosystem": "npm"}) || i > 0 && b.Prompts[i-1].Prompt >= p.Prompt {
			t.Errorf("%+v", p)
		}
		for _, s := range b.Tools {
			r, _ := b.Report(s.Slug)
			share, picks, trials, sum, of := r.ByPrompt[i], 0, 0, 0.0, 0.0
			for agent, w := range weights {
				if c, ok := cells[[2]string{p.Name(), agent}]; ok {
					picks, trials = picks+c.Picks(s.Slug), trials+c.Trials
					sum, of = sum+w*float64(c.Picks(s.Slug))/float64(c.Trials), of+w
				}
			}
			if share.Picks != picks || share.NTrials != trials || p.NTrials != trials || share.PickRate != Round(sum/of) || share.Prompt != p.Name() {
				t.Errorf("%s of %s: %+v, want %d of %d and %g", s.Slug, p.Name(), share, picks, trials, sum/of)
			}
			k := slices.IndexFunc(p.Tools, func(c PromptTool) bool { return c.Slug == s.Slug })
			if picks > 0 != (k >= 0) || k >= 0 && p.Tools[k].Picks != picks {
				t.Errorf("%s of %s: %+v, want %d picks", s.Slug, p.Name(), p.Tools, picks)
			}
		}
	}
	report, _ := b.WithBase("https://x.test").Report("w")
	if got := report.ByPrompt[0].URL; got != "https://x.test/api/public/trials?category=payments&prompt=e%2FpA" {
		t.Error(got)
	}
	if len(report.ByAgent) != 2 || b.Tools[3].Slug != "z" || len(b.Tools[3].Breakdown.ByAgent) != 2 || b.Tools[3].Breakdown.ByAgent[0].CIHigh == 0 {
		t.Errorf("%+v", b.Tools[3].Breakdown)
	}
}

// TestExamplesAreOfDifferentAgentsAndPrompts: as far as there are any.
func TestExamplesAreOfDifferentAgentsAndPrompts(t *testing.T) {
	trial := func(id, agent, prompt, picked string) Example {
		return Example{Trial: id, Agent: agent, Prompt: prompt, Outcome: "tool", Picked: picked}
	}
	from := []Example{
		trial("1", "a", "p", "x"), trial("2", "a", "p", "x"), trial("3", "a", "q", "x"), trial("4", "b", "p", "x"), trial("5", "b", "q", "x"),
		trial("6", "a", "p", "y"), trial("7", "b", "r", "y"),
	}
	b := rank(category("x", "y", "z"), toy(), 60, false)
	b.AddExamples(from)
	for slug, want := range map[string]string{"x": "152 67", "y": "67 152", "z": " 157"} {
		i := slices.IndexFunc(b.Tools, func(s Standing) bool { return s.Slug == slug })
		got, after := "", ""
		for _, e := range b.Tools[i].Breakdown.Examples {
			if e.Picked == slug {
				got += e.Trial
			} else {
				after += e.Trial
			}
		}
		if got+" "+after != want {
			t.Errorf("%s: %s %s, want %s", slug, got, after, want)
		}
	}
}

// TestMostCommonFirst: what an agent picks most often on a prompt comes first, then the order stays.
func TestMostCommonFirst(t *testing.T) {
	b := Board{Prompts: []Prompt{
		{Eval: "e", Prompt: "p", Agents: []PromptAgent{{Agent: "a", Tools: []AgentPick{{Slug: "x", Picks: 1}, {Slug: "y", Picks: 5}}}}},
		{Eval: "e", Prompt: "q", Agents: []PromptAgent{{Agent: "a", Tools: []AgentPick{{Slug: "x", Picks: 5}}}}},
	}}
	examples := []Example{{Trial: "1", Agent: "a", Prompt: "e/p", Picked: "x"}, {Trial: "2", Agent: "a", Prompt: "e/q"}, {Trial: "3", Agent: "a", Prompt: "e/p", Picked: "y"}, {Trial: "4", Agent: "a", Prompt: "e/q", Picked: "x"}}
	b.MostCommonFirst(examples)
	got := ""
	for _, e := range examples {
		got += e.Trial
	}
	if got != "3412" {
		t.Error(got)
	}
}
