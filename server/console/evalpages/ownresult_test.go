package evalpages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick"
)

// board ranks 20 prompts, of which the first tool wins some answers of 12, and the second all others.
func board(tools int, first func(prompt int) int) (analytics.Board, []analytics.Prompt) {
	category := &catalog.Category{Slug: "c"}
	for i := range tools {
		slug := string(rune('a' + i))
		category.Entries = append(category.Entries, catalog.Entry{Tool: &catalog.Tool{Slug: slug, Name: strings.ToUpper(slug)}})
	}
	m := analytics.Measurement{Category: category, Planned: 240}
	var groups []analytics.Group
	for i := range 20 {
		prompt := fmt.Sprintf("p%02d", i)
		n := first(i)
		groups = append(groups, analytics.Group{Prompt: prompt, Agent: "x", Trials: n, Outcome: pick.Tool, Picked: "a"}, analytics.Group{Prompt: prompt, Agent: "x", Trials: 12 - n, Outcome: pick.Tool, Picked: "b"})
	}
	m.Cells = analytics.Cells(groups)
	return analytics.Rank(m), m.Prompts()
}

func TestHowSureALeadIs(t *testing.T) {
	wide := func(i int) int { return []int{12, 10, 8, 4}[i%4] }
	for _, c := range []struct {
		name  string
		tools int
		first func(int) int
		want  string
	}{
		{"all pairs", 4, func(i int) int { return 9 + i%3 }, "is significant"},
		{"one pair", 24, wide, "is significant for this pair alone, not with all 276 pairs of tools at once"},
		{"none", 4, func(i int) int { return 7 - 2*(i%2) + i%3%2 }, "is not significant"},
	} {
		b, prompts := board(c.tools, c.first)
		got := describeLead(&b, prompts, b.Tools[0], b.Tools[1])
		if !strings.HasPrefix(got, "the lead of ") || !strings.HasSuffix(got, " over "+b.Tools[1].Tool+" "+c.want) {
			t.Errorf("%s: %q, ranks %d–%d and %d–%d", c.name, got, b.Tools[0].RankLow, b.Tools[0].RankHigh, b.Tools[1].RankLow, b.Tools[1].RankHigh)
		}
	}
	b, prompts := board(24, wide)
	if got := describeLead(&b, prompts[:1], b.Tools[0], b.Tools[1]); !strings.HasSuffix(got, "not significant with all pairs of tools at once") {
		t.Errorf("too few prompts: %q", got)
	}
	stored := analytics.Board{Field: 3, Tools: []analytics.Standing{{Picks: 5, RankLow: 1, RankHigh: 3}, {Picks: 4, RankLow: 1, RankHigh: 3}, {RankLow: 1, RankHigh: 3}}}
	if got := rankNote(&stored); got != "Ranks are among the 2 picked tools. scores.json has them among all 3 tools of the category." {
		t.Errorf("%q", got)
	}
}
