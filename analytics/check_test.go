package analytics

import (
	"math"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
)

func TestCheckFindsEveryKindOfDamage(t *testing.T) {
	cases := map[string]struct {
		damage func(*Board)
		want   string
	}{
		"a lost outcome":             {func(b *Board) { b.Outcomes.DIY-- }, "outcomes sum to 59 of 60"},
		"a coverage beyond one":      {func(b *Board) { *b.Coverage = 1.1 }, "coverage is not in"},
		"a coverage of NaN":          {func(b *Board) { *b.Coverage = math.NaN() }, "coverage is not in"},
		"a lost tool":                {func(b *Board) { b.Tools = b.Tools[:2] }, "field is 3, but 2 tools"},
		"a tool ranked twice":        {func(b *Board) { b.Tools[1].Slug = "stripe" }, "stripe is ranked twice"},
		"a null list":                {func(b *Board) { b.Warnings = nil }, "would print as null"},
		"a rate that counts deny":    {func(b *Board) { b.Tools[0].PickRate = .6 }, "rate 0.6 is not 31 of 60"},
		"a default above the rate":   {func(b *Board) { b.Tools[0].DefaultRate = .9 }, "are not nested"},
		"a rate beside its interval": {func(b *Board) { b.Tools[0].CILow = .6 }, "outside its interval"},
		"an interval without number": {func(b *Board) { b.Tools[0].CIHigh = math.NaN() }, "outside its interval"},
		"a flat interval beyond one": {func(b *Board) { b.Tools[0].FlatHigh = 2 }, "naive interval"},
		"a rank outside its set":     {func(b *Board) { b.Tools[0].RankLow = 2 }, "rank 1 in [2,"},
		"a rank that skips":          {func(b *Board) { b.Tools[1].Rank = 3 }, "its place says 2"},
		"an order that picks deny":   {func(b *Board) { b.Tools[0], b.Tools[1] = b.Tools[1], b.Tools[0] }, "stripe stands below paddle"},
		"a lost rival":               {func(b *Board) { b.Tools[2].BeatenBy = b.Tools[2].BeatenBy[:1] }, "rank 3 and is beaten by 1"},
		"a rival behind":             {func(b *Board) { b.Tools[2].BeatenBy[0].Rank = 3 }, "is not ahead"},
		"a p-value beyond one":       {func(b *Board) { b.Tools[2].BeatenBy[0].PAdjusted = 2 }, "has p 2"},
		"a verdict that p denies":    {func(b *Board) { b.Tools[2].BeatenBy[0].Significant = true }, "significant true"},
		"a lost prompt":              {func(b *Board) { b.Prompts = b.Prompts[1:] }, "stripe: by prompt, "},
		"picks of no agent":          {func(b *Board) { b.Tools[0].Breakdown.ByAgent[0].Picks++ }, "stripe: by agent, 32 picks of 60"},
		"a comparison turned round":  {func(b *Board) { b.Tools[0].Breakdown.Rivals[0].Ahead = true }, "ahead true"},
		"a lost agent":               {func(b *Board) { b.Agents = b.Agents[:1] }, "agents' trials sum to 30 of 60"},
		"unresolved and decided":     {func(b *Board) { *b.Unresolved = 1 }, "1 unresolved of 0 ambiguous trials"},
		"unresolved of no agent":     {func(b *Board) { b.Outcomes.Ambiguous, *b.Unresolved = 1, 1 }, "agents' unresolved trials sum to 0 of 1"},
		"a layer that hides unresolved": {func(b *Board) {
			b.Outcomes.Ambiguous, *b.Unresolved, b.DecidedBy = 1, 1, &DecidedBy{Actions: 60}
		}, "more unresolved trials (1) than undecided ones"},
		"a lost layer":              {func(b *Board) { b.DecidedBy = &DecidedBy{Actions: 59} }, "trials by layer sum to 59 of 60"},
		"a first-named rate of two": {func(b *Board) { *b.Tools[0].FirstNamedRate = 2 }, "first-named rate 2 is not in"},
		"two tools named first": {func(b *Board) {
			*b.Tools[0].FirstNamedRate, *b.Tools[1].FirstNamedRate = .6, .5
		}, "first-named rates sum to 1.1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := rank(category("paddle", "square", "stripe"), toy(), 60, false)
			b.Prompts = Measurement{Category: category(), Cells: Cells(toy())}.Prompts()
			c.damage(&b)
			var text strings.Builder
			for _, err := range Check(b) {
				text.WriteString(err.Error() + "\n")
			}
			if !strings.Contains(text.String(), c.want) {
				t.Errorf("got %q, want %q in it", text.String(), c.want)
			}
		})
	}
}

func TestAPickOutsideTheCategoryFails(t *testing.T) {
	cells := []Group{{Prompt: "p", Agent: "a", Outcome: pick.Tool, Picked: "stranger", Shortlist: []string{"stranger"}, Trials: 1, LastAt: at}}
	if errs := Check(rank(category("x"), cells, 1, false)); len(errs) == 0 {
		t.Error("a pick that is in no field passed")
	}
}
