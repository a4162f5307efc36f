package nights_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
)

// A survey measures two tools with agents a and b on ten prompts, five times each.
type survey struct {
	r      *rand.Rand
	number int
	rate   map[string]float64 // at which an agent picks the first tool
	change func(*nights.Night)
}

func newSurvey(seed uint64) *survey {
	return &survey{r: rand.New(rand.NewPCG(seed, 1)), rate: map[string]float64{"a": 0.7, "b": 0.5}, change: func(*nights.Night) {}}
}

func (s *survey) night() nights.Night {
	s.number++
	at := time.Date(2026, 3, s.number, 2, 0, 0, 0, time.UTC)
	n := nights.Night{At: at, Snapshot: fmt.Sprint("s", s.number), Catalog: "c1", Extractor: "1", Prompts: map[string]string{}, Models: map[string]string{}}
	for _, slug := range []string{"one", "two"} {
		n.Board.Tools = append(n.Board.Tools, analytics.Standing{Slug: slug, PickRate: 0.5, CILow: 0.4, CIHigh: 0.6, NTrials: 100})
	}
	for _, agent := range []string{"a", "b"} {
		n.Models[agent] = "model-" + agent
		for p := range 10 {
			prompt := fmt.Sprint("e/p", p)
			n.Prompts[prompt] = fmt.Sprint("text", p)
			for repeat := range 5 {
				t := nights.Trial{ID: fmt.Sprint(agent, p, repeat), FinishedAt: at, Prompt: prompt, Agent: agent}
				if x := s.r.Float64(); x < s.rate[agent] {
					t.Picked = "one"
				} else if x < 0.9 {
					t.Picked = "two"
				}
				n.Trials = append(n.Trials, t)
			}
		}
	}
	s.change(&n)
	return n
}

// add adds so many nights and returns what is shown on the last one.
func (s *survey) add(t *testing.T, h *nights.History, times int) string {
	t.Helper()
	for range times {
		if !h.Add(s.night()) {
			t.Fatal("a night was not added")
		}
	}
	var out []string
	lines := h.Series().Nights
	for _, tool := range lines[len(lines)-1].Tools {
		for _, c := range tool.Shown {
			out = append(out, fmt.Sprintf("%s %s %s since %d", tool.Slug, c.Agent, c.Direction, c.Since.Day()))
		}
	}
	return strings.Join(out, "; ")
}

func TestNothingIsShownWhereNothingChanges(t *testing.T) {
	for seed := range uint64(20) {
		s, h := newSurvey(seed), nights.New("c")
		for range 30 {
			if shown := s.add(t, h, 1); shown != "" {
				t.Errorf("series %d: %s", seed, shown)
			}
		}
	}
}

func TestADropIsShown(t *testing.T) {
	s, h := newSurvey(1), nights.New("c")
	if shown := s.add(t, h, 10); shown != "" {
		t.Errorf("before the drop: %s", shown)
	}
	s.rate["a"] = 0.2
	const want = "one all agents drop since 12; one a drop since 11; two all agents rise since 12; two a rise since 11"
	if shown := s.add(t, h, 3); shown != want {
		t.Errorf("after it: %s", cmp.Diff(want, shown))
	}
	tool := h.Series().Nights[12].Tools[0]
	tool.Shown[0].E = 530
	if got, want := tool.Verdict(), "dropped since 2026-03-12, all agents, e=530 (single agents: 1)"; got != want {
		t.Errorf("verdict %q, want %q", got, want)
	}
	if got := h.Series().Nights[0].Tools[0].Verdict(); got != "no change shown" {
		t.Errorf("verdict %q", got)
	}
}

// A change together with one of the measurement is not one of the answers.
func TestBreaks(t *testing.T) {
	reword := func(n *nights.Night) {
		for name := range n.Prompts {
			n.Prompts[name] = "new " + n.Prompts[name]
		}
	}
	for name, tt := range map[string]struct {
		change func(*nights.Night)
		breaks string
		shown  bool
	}{
		"nothing":      {func(*nights.Night) {}, "", true},
		"extractor":    {func(n *nights.Night) { n.Extractor = "2" }, "extractor: 1 → 2", false},
		"catalogue":    {func(n *nights.Night) { n.Catalog = "c2" }, "catalogue: c1 → c2", false},
		"simulation":   {func(n *nights.Night) { n.Synthetic = true }, "answers: real → simulated", false},
		"prompts":      {reword, "prompts: 10 reworded", false},
		"its model":    {func(n *nights.Night) { n.Models["a"] = nights.ModelOf([]string{"m"}, []string{"y", "x", "y"}) }, "model a: model-a → m (x+y)", false},
		"other model":  {func(n *nights.Night) { n.Models["b"] = nights.ModelOf([]string{"m"}, nil) }, "model b: model-b → m", true},
		"other prompt": {func(n *nights.Night) { delete(n.Prompts, "e/p0"); n.Prompts["e/new"] = "x" }, "prompts: 1 added, 1 removed", true},
		"other agent":  {func(n *nights.Night) { delete(n.Models, "b"); n.Models["c"] = "m" }, "agents: added c, removed b", true},
	} {
		s, h := newSurvey(2), nights.New("c")
		s.add(t, h, 10)
		s.change, s.rate["a"] = tt.change, 0.2
		shown := s.add(t, h, 4)
		lines := h.Series().Nights
		if got := strings.Join(lines[10].Breaks, "; "); got != tt.breaks {
			t.Errorf("%s: breaks %q, want %q", name, got, tt.breaks)
		}
		if len(lines[9].Breaks)+len(lines[11].Breaks) > 0 {
			t.Errorf("%s: breaks on other nights: %q, %q", name, lines[9].Breaks, lines[11].Breaks)
		}
		if strings.Contains(shown, "one a drop") != tt.shown || !tt.shown && shown != "" {
			t.Errorf("%s: shown %q, want a drop: %t", name, shown, tt.shown)
		}
	}
}

// The tests go on after a break: a later drop is shown, and what was shown stays.
func TestAfterABreak(t *testing.T) {
	s, h := newSurvey(3), nights.New("c")
	s.add(t, h, 10)
	s.change = func(n *nights.Night) { n.Extractor = "2" }
	if shown := s.add(t, h, 8); shown != "" {
		t.Errorf("after a break: %s", shown)
	}
	s.rate["a"] = 0.2
	before := s.add(t, h, 3)
	if !strings.Contains(before, "one a drop since 19") {
		t.Errorf("a drop after a break: %q", before)
	}
	s.change = func(n *nights.Night) { n.Extractor = "3" }
	if shown := s.add(t, h, 1); shown != before {
		t.Errorf("a second break changed %q to %q", before, shown)
	}
}

func TestATrialCountsOnce(t *testing.T) {
	s, h := newSurvey(4), nights.New("c")
	s.add(t, h, 10)
	s.rate["a"], s.rate["b"] = 0.55, 0.35
	worse := s.night()
	h.Add(worse)
	want := h.Series()
	for range 5 {
		again := worse
		again.Snapshot, again.Trials = "again", slices.Clone(worse.Trials)
		for i := range again.Trials {
			again.Trials[i].Picked = "two" // as another extractor may find
		}
		if h.Add(again) || h.Len() != 11 {
			t.Fatal("a night of the same trials was added")
		}
	}
	// A resumed run is published again: only its new trial counts.
	resumed := worse
	resumed.Trials = append(slices.Clone(worse.Trials), nights.Trial{ID: "late", FinishedAt: worse.At, Prompt: "e/p0", Agent: "a", Picked: "one"})
	if !h.Add(resumed) || h.Len() != 12 {
		t.Fatal("a night with a new trial was not added")
	}
	last := h.Series().Nights[11]
	if diff := cmp.Diff(want.Nights, h.Series().Nights[:11]); diff != "" || len(last.Tools[0].Shown) > 0 {
		t.Errorf("shown %v; earlier nights changed:\n%s", last.Tools[0].Shown, diff)
	}
}

func TestOnly(t *testing.T) {
	s, h := newSurvey(5), nights.New("c")
	s.add(t, h, 2)
	got := h.Series().Only("two")
	if got.Tool != "two" || len(got.Nights) != 2 || len(got.Nights[1].Tools) != 1 || got.Nights[1].Tools[0].Slug != "two" || len(h.Series().Nights[0].Tools) != 2 {
		t.Errorf("got %+v", got)
	}
}

func BenchmarkHistory(b *testing.B) {
	for b.Loop() {
		s, h := newSurvey(6), nights.New("c")
		for range 100 {
			h.Add(s.night())
		}
	}
}
