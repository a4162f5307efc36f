package views

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
)

// TestFirstSighting: the page of a tool leads with the observed board that says most about it.
func TestFirstSighting(t *testing.T) {
	board := func(category string, units, ash, birch int) observed.Board {
		b := observed.Board{Category: category, Name: category, NUnits: units}
		for _, s := range []observed.Standing{{Slug: "ash", Tool: "Ash"}, {Slug: "birch", Tool: "Birch"}} {
			if s.Uses = ash; s.Slug == "birch" {
				s.Uses = birch
			}
			s.UseRate = float64(s.Uses) / float64(units)
			b.Tools = append(b.Tools, s)
		}
		return b
	}
	home := analytics.Board{Category: "home", Tools: []analytics.Standing{{Slug: "ash", Tool: "Ash"}}}
	for name, c := range map[string]struct {
		seen []observed.Board
		want string
	}{
		"used before not used":        {[]observed.Board{board("unused", 200, 0, 9), board("used", 20, 3, 4)}, "used unused"},
		"alone before not used":       {[]observed.Board{board("unused", 200, 0, 9), board("alone", 60, 60, 0)}, "alone unused"},
		"a choice before none":        {[]observed.Board{board("alone", 60, 60, 0), board("choice", 60, 5, 40)}, "choice alone"},
		"enough data before more use": {[]observed.Board{board("few", 36, 26, 8), board("enough", 53, 20, 9)}, "enough few"},
		"the same question first":     {[]observed.Board{board("more", 90, 50, 9), board("home", 60, 8, 9)}, "home more"},
		"not where it has few data":   {[]observed.Board{board("more", 90, 50, 9), board("home", 36, 26, 8)}, "more home"},
	} {
		ash := toolsOf(Input{Boards: []analytics.Board{home}, Observed: c.seen})["ash"]
		var got []string
		for _, s := range ash.Seen {
			got = append(got, s.Board.Category)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %s, want %s", name, text, c.want)
		}
		if toolsOf(Input{Observed: c.seen})["ash"] == nil {
			t.Errorf("%s: no page without a board of trials", name)
		}
	}
}
