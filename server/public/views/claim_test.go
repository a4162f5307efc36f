package views

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
)

// asked is a board on which each agent has 10 answers, with so many picks of each tool.
func asked(agents ...map[string]int) *analytics.Board {
	b := &analytics.Board{Name: "Web", Category: "web"}
	total := map[string]int{}
	for i, picks := range agents {
		a := analytics.AgentBoard{Agent: []string{"claude-3-5-sonnet-20241022", "gpt-4o", "gemini", "llama", "mistral"}[i], NTrials: 10}
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
		"All 3 agents pick Ash most often, in 70.0% of answers.":                             asked(map[string]int{"ash": 9}, map[string]int{"ash": 8, "birch": 1}, map[string]int{"ash": 4}),
		"2 of 3 agents pick Ash most often; GPT-4o is split between Ash and Birch.":          asked(map[string]int{"ash": 9}, map[string]int{"ash": 6, "birch": 3}, map[string]int{"ash": 9}),
		"Claude 3.5 Sonnet picks Birch most often; two other agents pick Ash.":               asked(map[string]int{"birch": 9}, map[string]int{"ash": 9}, map[string]int{"ash": 9}),
		"Agents disagree: one picks Ash most often, one Birch and one Cedar.":                asked(map[string]int{"ash": 9}, map[string]int{"birch": 9}, map[string]int{"cedar": 9}),
		"No agent picked a tool of this list in 20 answers.":                                 asked(map[string]int{}, map[string]int{}),
		"Claude 3.5 Sonnet picks Ash in 70.0% of its answers.":                               asked(map[string]int{"ash": 7, "birch": 3}),
		"2 of 3 agents pick Ash most often; Gemini picks no listed tool.":                    asked(map[string]int{"ash": 9}, map[string]int{"ash": 9}, map[string]int{}),
		"Both agents pick Ash in every answer.":                                              asked(map[string]int{"ash": 10}, map[string]int{"ash": 10}),
		"Claude 3.5 Sonnet picks Ash most often; GPT-4o has no clear favourite.":             asked(map[string]int{"ash": 9}, map[string]int{"ash": 1, "birch": 1}),
		"Agents disagree: one of four picks Ash most often, one Birch and one Cedar.":        asked(map[string]int{"ash": 9}, map[string]int{"birch": 9}, map[string]int{"cedar": 9}, map[string]int{"elm": 9}),
		"Claude 3.5 Sonnet picks Ash and Birch equally often, each in 50.0% of its answers.": asked(map[string]int{"ash": 5, "birch": 5}),
		"Claude 3.5 Sonnet picks 4 tools equally often, each in 10.0% of its answers.":       asked(map[string]int{"ash": 1, "birch": 1, "cedar": 1, "elm": 1}),
		"Agents pick Ash in 30.0% of answers, but no agent has a clear favourite.":           asked(map[string]int{"ash": 3, "birch": 3}, map[string]int{"ash": 3, "cedar": 3}),
		"2 of 3 agents pick Ash most often; Gemini is split between Ash and Birch.":          asked(map[string]int{"ash": 9}, map[string]int{"ash": 9}, map[string]int{"ash": 5, "birch": 5}),
	} {
		if got, _ := claim(b); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	rare := asked(map[string]int{"ash": 1})
	rare.Tools[0].PickRate, rare.Agents[0].Tools[0].PickRate = .03, .03
	if got, _ := claim(rare); got != "Claude 3.5 Sonnet picks Ash in 3.0% of its answers." {
		t.Errorf("got %q", got)
	}
	near := asked(map[string]int{"ash": 5, "birch": 5})
	near.Tools[0].PickRate, near.Agents[0].Tools[0].PickRate = .52, .52
	if got, _ := claim(near); got != "Claude 3.5 Sonnet is split between Ash and Birch." {
		t.Errorf("got %q", got)
	}
	// Two against two: nobody is the exception.
	if got, _ := claim(asked(map[string]int{"ash": 9}, map[string]int{"ash": 9}, map[string]int{"birch": 9}, map[string]int{"birch": 9})); got != "Agents disagree: two pick Ash most often and two Birch." {
		t.Errorf("got %q", got)
	}
}

// TestClaimsOfStudies: a published study asked once, so its claims are in the past.
func TestClaimsOfStudies(t *testing.T) {
	for want, b := range map[string]*analytics.Board{
		"All 3 models picked Ash most often, in 70.0% of answers.":                     asked(map[string]int{"ash": 9}, map[string]int{"ash": 8, "birch": 1}, map[string]int{"ash": 4}),
		"2 of 3 models picked Ash most often; GPT-4o was split between Ash and Birch.": asked(map[string]int{"ash": 9}, map[string]int{"ash": 6, "birch": 3}, map[string]int{"ash": 9}),
		"Claude 3.5 Sonnet picked Birch most often; two other models picked Ash.":      asked(map[string]int{"birch": 9}, map[string]int{"ash": 9}, map[string]int{"ash": 9}),
		"Models disagreed: one picked Ash most often, one Birch and one Cedar.":        asked(map[string]int{"ash": 9}, map[string]int{"birch": 9}, map[string]int{"cedar": 9}),
		"2 of 3 models picked Ash most often; Gemini picked no listed tool.":           asked(map[string]int{"ash": 9}, map[string]int{"ash": 9}, map[string]int{}),
		"Models picked Ash in 30.0% of answers, but no model had a clear favourite.":   asked(map[string]int{"ash": 3, "birch": 3}, map[string]int{"ash": 3, "cedar": 3}),
		"Claude 3.5 Sonnet picked Ash most often; GPT-4o had no clear favourite.":      asked(map[string]int{"ash": 9}, map[string]int{"ash": 1, "birch": 1}),
	} {
		b.Study = "s"
		if got, _ := claim(b); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		rest := []string{"; GPT-4o was split between Ash and Birch", "; Gemini picked no listed tool", "; GPT-4o had no clear favourite"}
		for _, r := range rest {
			want = strings.Replace(want, r, "", 1)
		}
		if short := shortClaim(b); short != want {
			t.Errorf("short: %q, want %q", short, want)
		}
	}
}

// TestPreference: where there are intervals, an agent has a favourite only where its lead is clear
// for other prompts, compared with every other picked tool; else no sentence names one.
func TestPreference(t *testing.T) {
	birch, ash, near := map[string]int{"birch": 9, "ash": 1}, map[string]int{"ash": 9, "birch": 1}, map[string]int{"ash": 6, "birch": 4}
	second := .4
	for _, c := range []struct {
		width float64 // half of each interval
		board *analytics.Board
		want  string
	}{
		{.05, asked(birch, ash, ash), "Claude 3.5 Sonnet prefers Birch; two other agents prefer Ash."},
		{.2, asked(birch, ash, ash), "Claude 3.5 Sonnet prefers Birch; two other agents prefer Ash."},
		{.2, asked(birch, ash, ash, near, near), "Claude 3.5 Sonnet prefers Birch; two other agents prefer Ash; the two others have no clear favourite."},
		{.4, asked(birch, ash, ash), "Agents pick Ash in 63.3% of answers, but no agent has a clear favourite."},
		{.2, asked(birch, near, near), "Claude 3.5 Sonnet prefers Birch; the two others have no clear favourite."},
		{.2, asked(birch, near, near, near), "Claude 3.5 Sonnet prefers Birch; the three others have no clear favourite."},
		{.2, asked(birch, birch, birch, near, map[string]int{}), "3 of 5 agents prefer Birch; of the two others, one picks no listed tool and one has no clear favourite."},
		{.2, asked(birch, ash, map[string]int{"cedar": 9}, near, near), "Agents disagree: one of five prefers Ash, one Birch and one Cedar; the two others have no clear favourite."},
	} {
		for i, a := range c.board.Agents {
			c.board.Agents[i].NFamilies = 20
			for i := range a.Tools {
				a.Tools[i].Interval = &analytics.Interval{CILow: a.Tools[i].PickRate - c.width, CIHigh: a.Tools[i].PickRate + c.width}
			}
		}
		if got, _ := claim(c.board); got != c.want {
			t.Errorf("intervals of ±%g: %q, want %q", c.width, got, c.want)
		}
	}
	tie := asked(birch, ash, near)
	for i := range tie.Agents {
		tie.Agents[i].Tools[0].Interval = &analytics.Interval{CILow: 0, CIHigh: 1}
	}
	tie.Tools[1].BeatenBy = []analytics.Rival{{Slug: "ash"}}
	tie.Tools[1].PickRate = second
	if got, _ := claim(tie); got != "No tool leads clearly: agents pick Ash in 53.3% of answers and Birch in 40.0%." {
		t.Error(got)
	}
}

// TestClearLead: a favourite is compared with the other picked tools. Those that are only on the list do not
// count, however many they are.
func TestClearLead(t *testing.T) {
	rate := func(p, low, high float64) analytics.AgentRate {
		return analytics.AgentRate{Picks: 1, PickRate: p, Interval: &analytics.Interval{CILow: low, CIHigh: high}}
	}
	first, second := rate(.38, .27, .49), rate(.13, .07, .19)
	for picked, want := range map[int]bool{3: true, 43: false} {
		b := &analytics.Board{Tools: make([]analytics.Standing, 43)}
		for i := range picked {
			b.Tools[i].Picks = 1
		}
		if got := clearLead(b, first, second, 20); got != want {
			t.Errorf("%d of 43 tools are picked: clear is %t", picked, got)
		}
	}
}

// TestLegend: a tool has the colour of its place on the board.
func TestLegend(t *testing.T) {
	b := asked(map[string]int{"ash": 6, "birch": 3}, map[string]int{"elm": 9}, map[string]int{"ash": 5, "cedar": 2, "birch": 1})
	bars := agentBarsOf(b)
	var names []string
	for _, l := range bars.Legend {
		names = append(names, l.Class+" "+l.Tool)
	}
	if got := strings.Join(names, ", "); got != "r1 Ash, r2 Birch, r3 Cedar, r4 Elm" {
		t.Error(got)
	}
	if bars.Others || !bars.Nothing || bars.Intervals || bars.Rows[1].First[1].Tool != "Cedar" || bars.Rows[0].First[0].Class != classOf(b, "elm") {
		t.Errorf("%+v", bars)
	}
}

// TestAgeOfData: months count, as they are shown.
func TestAgeOfData(t *testing.T) {
	now := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	for at, want := range map[string]string{
		"2026-11-23": "", "2026-03-01": "", "2026-02-28": "9 months old", "2025-11-01": "12 months old", "2024-12-01": "23 months old", "2024-11-29": "2 years old", "2024-11-24": "2 years old", "2023-01-01": "3 years old",
	} {
		from, err := time.Parse(time.DateOnly, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := ageOf(&from, now).Old; got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
}

// TestBarsOfManyAlike: agents that pick one tool in every answer share a row.
func TestBarsOfManyAlike(t *testing.T) {
	all := map[string]int{"ash": 10}
	var rows []string
	for _, r := range agentBarsOf(asked(all, map[string]int{"ash": 4, "birch": 6}, all, all)).Rows {
		rows = append(rows, r.Agent)
		if joined := strings.Contains(r.Agent, "other"); joined != (len(r.Same) == 3) {
			t.Errorf("%s: %+v", r.Agent, r.Same)
		}
	}
	if got := strings.Join(rows, "; "); got != "GPT-4o; 3 other agents, each" {
		t.Error(got)
	}
	if rows := agentBarsOf(asked(all, all, all)).Rows; len(rows) != 1 || rows[0].Agent != "All 3 agents, each" {
		t.Errorf("%+v", rows)
	}
}

func TestSentence(t *testing.T) {
	b := asked(map[string]int{"birch": 9}, map[string]int{"ash": 9, "cedar": 1}, map[string]int{"ash": 9})
	alone := asked(map[string]int{"ash": 7, "birch": 2})
	even := asked(map[string]int{"ash": 9}, map[string]int{"birch": 9})
	for _, c := range []struct {
		board *analytics.Board
		i     int
		want  string
	}{
		{b, 0, "Ash is first of 3 picked tools: agents pick it in 60.0% of answers; Claude 3.5 Sonnet picks Birch most often."},
		{b, 1, "Birch is second of 3 picked tools: agents pick it in 30.0% of answers; Ash is first with 60.0%. It is first with Claude 3.5 Sonnet."},
		{b, 2, "Cedar is third of 3 picked tools: agents pick it in 3.3% of answers; Ash is first with 60.0%."},
		{b, 3, "No agent picked Elm in 30 answers."},
		{alone, 0, "Ash is first of 2 picked tools: Claude 3.5 Sonnet picks it in 70.0% of its answers."},
		{alone, 1, "Birch is second of 2 picked tools: Claude 3.5 Sonnet picks it in 20.0% of its answers; Ash is first with 70.0%."},
		{even, 0, "Ash shares rank 1 of 2 picked tools: agents pick it in 45.0% of answers, as often as Birch; GPT-4o picks Birch most often."},
		{even, 1, "Birch shares rank 1 of 2 picked tools: agents pick it in 45.0% of answers, as often as Ash; Claude 3.5 Sonnet picks Ash most often."},
	} {
		if got := sentence(c.board, c.board.Tools[c.i]); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestCompareSentence(t *testing.T) {
	alone := asked(map[string]int{"ash": 7, "birch": 2})
	even := asked(map[string]int{"ash": 9}, map[string]int{"birch": 9})
	for _, c := range []struct {
		board *analytics.Board
		i, j  int
		want  string
	}{
		{alone, 0, 1, "Claude 3.5 Sonnet picks Ash in 70.0% of its answers and Birch in 20.0%."},
		{alone, 2, 0, "Claude 3.5 Sonnet picks Ash in 70.0% of its answers and never Cedar."},
		{alone, 1, 2, "Claude 3.5 Sonnet picks Birch in 20.0% of its answers and never Cedar. Ash is first with 70.0%."},
		{alone, 2, 3, "No agent picked Cedar or Elm in 10 answers."},
		{even, 0, 1, "Agents pick Ash as often as Birch: in 45.0% of answers."},
	} {
		if got := compareSentence(c.board, c.board.Tools[c.i], c.board.Tools[c.j]); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestNameCounts: agents with the same rate of one tool may pick different rivals, which are named.
func TestNameCounts(t *testing.T) {
	for want, names := range map[string][]string{"": {"", ""}, "Ash": {"Ash", "", "Ash"}, "Birch (2), Ash (1), Cedar (1)": {"Cedar", "Birch", "Ash", "Birch"}} {
		if got := nameCounts(names); got != want {
			t.Errorf("%q: got %q, want %q", names, got, want)
		}
	}
}

// TestAgentsThatAreAlike share a line of the pages of a tool and of a comparison, and no
// sentence names one of them alone.
func TestAgentsThatAreAlike(t *testing.T) {
	all := map[string]int{"ash": 10}
	b := asked(map[string]int{"ash": 5, "birch": 5}, all, all, map[string]int{}, all)
	r := &Renderer{}
	tests := map[string]struct {
		slug, want string
	}{
		"three of five":  {"birch", "Llama 0.0% no tool in 10 of 10; 3 agents, each 0.0% Ash 100.0%; Claude 3.5 Sonnet 50.0% Ash 50.0%"},
		"an agent alone": {"ash", "Llama 0.0% no tool in 10 of 10; Claude 3.5 Sonnet 50.0% Birch 50.0%; 3 agents, each 100.0% –"},
	}
	for name, c := range tests {
		i := slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == c.slug })
		var got []string
		for _, l := range joinLines(r.agentLines(b, b.Tools[i]), "agent") {
			got = append(got, l.Name+" "+l.Rate+" "+strings.TrimSpace(cmp.Or(l.Rival, "–")+" "+l.RivalRate))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %s", name, text)
		}
	}
	if got := spread(b, b.Tools[1]); got != "Claude 3.5 Sonnet picks it in 50.0%, four agents in 0.0%" {
		t.Error(got)
	}
	parts := compareGroups(b, b.Tools[0], b.Tools[1])[0].Parts
	if len(parts) != 3 || len(parts[0].Same) != 3 || parts[0].A != "100.0%" {
		t.Errorf("%+v", parts)
	}
	var d toolPlace
	if got := d.nobody(b, analytics.Standing{NTrials: 50}); got != "None of 5 agents picked it in 50 answers." {
		t.Error(got)
	}
}

// TestComparePartsSayWhoIsFirst: a part of a comparison names a third tool that is ahead of both, and
// the share of neither tool has no remainder of its arithmetic.
func TestComparePartsSayWhoIsFirst(t *testing.T) {
	b := asked(map[string]int{"ash": 4, "birch": 1, "cedar": 5}, map[string]int{"ash": 9, "birch": 1})
	b.Agents[1].Tools[0].PickRate, b.Agents[1].Tools[1].PickRate = .98, .02
	for _, p := range compareGroups(b, b.Tools[0], b.Tools[1])[0].Parts {
		switch want, neither := p.First, p.Neither; {
		case p.Name == "GPT-4o" && (want != "" || neither != "0.0%"), p.Name != "GPT-4o" && (want != "Cedar" || neither != "50.0%"):
			t.Errorf("%s: first %q, neither %s", p.Name, want, neither)
		}
	}
}

// TestEqualAnswers: a board of one prompt says with how many agents more answers say nothing more.
func TestEqualAnswers(t *testing.T) {
	b := asked(map[string]int{"ash": 10}, map[string]int{"ash": 9, "birch": 1}, map[string]int{"birch": 10})
	if got := equalAnswers(b); got != "" {
		t.Errorf("of several prompts: %q", got)
	}
	b.Warnings = []string{analytics.SinglePrompt}
	if got := equalAnswers(b); got != "Two of 3 agents pick the same tool in every answer: more answers to this prompt say nothing more of them" {
		t.Errorf("got %q", got)
	}
}
