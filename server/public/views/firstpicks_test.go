package views

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
)

// TestFirstPicks: the table has the first tool of each agent on each board, those first that differ from the others, and
// says who picked nothing and who was not asked.
func TestFirstPicks(t *testing.T) {
	board := func(category string, agents ...map[string]int) analytics.Board {
		b := asked(agents...)
		b.Category, b.Name = category, category
		return *b
	}
	r := Renderer{in: Input{Boards: []analytics.Board{
		board("large", map[string]int{"ash": 9}, map[string]int{"ash": 8, "birch": 1}, map[string]int{}),
		board("lead", map[string]int{"ash": 9}, map[string]int{"birch": 6, "ash": 3}),
		board("alone", map[string]int{"ash": 9}),
		board("agreed", map[string]int{"ash": 9}, map[string]int{"ash": 9}),
		board("empty", map[string]int{}, map[string]int{}),
	}}}
	f := r.firstPicksOf(&r.in.Boards[1])
	var got []string
	for _, c := range f.Boards {
		got = append(got, c.Name)
	}
	for _, row := range f.Rows {
		line := row.Agent
		for _, c := range row.Cells {
			switch {
			case c.None:
				line += ", none"
			case !c.Asked():
				line += ", not asked"
			default:
				line += ", " + strings.TrimSpace(strings.Join([]string{c.First.Tool, c.First.Rate, c.Second.Tool, c.Second.Rate}, " "))
			}
			if c.Clear {
				line += " clear"
			}
			if c.Other {
				line += " other"
			}
		}
		got = append(got, line)
	}
	want := []string{
		"lead", "large",
		"Gemini, not asked, none other",
		"GPT-4o, Birch 60% Ash 30% other, Ash 80% Birch 10% clear",
		"Claude 3.5 Sonnet, Ash 90% clear, Ash 90% clear",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || !f.Other || f.Left != 0 {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(f.Agreed) != 1 || f.Agreed[0].Claim != "Both agents pick Ash most often, in 90.0% of answers." {
		t.Errorf("agreed: %+v", f.Agreed)
	}
	if b := f.Boards[1]; b.Rest != "The other 2: Ash, 80–90%" || len(b.Others) != 1 || b.Others[0].Agent != "Gemini" {
		t.Errorf("on a phone: %s, %+v", b.Rest, b.Others)
	}
	r.in.Boards = r.in.Boards[1:]
	if r.firstPicksOf(nil) != nil {
		t.Error("a table of one board on which agents differ")
	}
}
