package analytics

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/pick"
)

// even returns a board of 20 prompts of 10 families, asked 20 times of each of two agents.
func even(seed uint64, tools ...string) Board {
	r := rand.New(rand.NewPCG(seed, 5))
	m := Measurement{Category: category(tools...), Design: Design{Families: map[string]string{}}}
	var groups []Group
	for i := range 20 {
		prompt := "e/p" + string(rune('A'+i))
		m.Design.Families[prompt] = "f" + string(rune('A'+i/2))
		for _, agent := range []string{"a", "b"} {
			first := r.IntN(15)
			groups = append(groups, Group{Prompt: prompt, Agent: agent, Trials: first, Outcome: pick.Tool, Picked: tools[0], LastAt: time.Unix(1, 0)},
				Group{Prompt: prompt, Agent: agent, Trials: 20 - first, Outcome: pick.Tool, Picked: tools[1], LastAt: time.Unix(1, 0)})
		}
	}
	m.Cells, m.Planned = Cells(groups), 800
	b := Rank(m)
	b.Prompts = m.Prompts()
	return b
}

// TestAloneIsTheTestOfABoardOfTwo: a board of two tools has one pair.
func TestAloneIsTheTestOfABoardOfTwo(t *testing.T) {
	for seed := range uint64(20) {
		b := even(seed, "x", "y")
		l, ok := b.Alone(b.Tools[0], b.Tools[1])
		v := b.Tools[1].Breakdown.Rivals[0]
		if !ok || math.Abs(l.Diff-v.Diff) > 1e-6 || math.Abs(l.Interval.Low-v.CILow) > 1e-6 || math.Abs(l.Interval.High-v.CIHigh) > 1e-6 || math.Abs(l.Adjusted-v.PAdjusted) > 1e-6 || l.Shown != v.Significant {
			t.Errorf("seed %d: alone %+v %v, on the board %+v", seed, l, ok, v)
		}
	}
}

func TestAloneOnABoardOfMany(t *testing.T) {
	b := even(1, "x", "y", "v", "w")
	l, ok := b.Alone(b.Tools[0], b.Tools[1])
	v := b.Tools[1].Breakdown.Rivals[0]
	if !ok || l.Adjusted >= v.PAdjusted || l.Interval.Low <= v.CILow || l.Interval.High >= v.CIHigh {
		t.Errorf("alone %+v %v, with all pairs %+v", l, ok, v)
	}
}

// TestAloneNeedsEqualTrials: the counts by prompt are the rates only where each trial counts the same.
func TestAloneNeedsEqualTrials(t *testing.T) {
	b, _ := drawn(1)
	if l, ok := b.Alone(b.Tools[0], b.Tools[1]); ok {
		t.Errorf("a board with weights: %+v", l)
	}
	b = even(1, "x", "y")
	b.Prompts = b.Prompts[:1]
	if l, ok := b.Alone(b.Tools[0], b.Tools[1]); ok {
		t.Errorf("one prompt: %+v", l)
	}
}
