package evals

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics/nights"
)

// TestSeriesContinue: a kept series goes on with the runs since, and is read again when one
// of its runs is gone.
func TestSeriesContinue(t *testing.T) {
	kept := ownSeries{runs: strings.Fields("a b c"), history: nights.New("mail")}
	for name, c := range map[string]struct {
		runs string
		all  bool // are listed
		from int
		ok   bool
	}{
		"the same runs":            {"a b c", false, 3, true},
		"a new run":                {"a b c d", false, 3, true},
		"the oldest is not listed": {"b c d e", false, 2, true},
		"only the newest":          {"c d", false, 1, true},
		"an erased run":            {"a c d", false, 0, false},
		"the newest is erased":     {"a b", false, 0, false},
		"the oldest is erased":     {"b c", true, 0, false},
		"a new one of all":         {"a b c d", true, 3, true},
		"other runs":               {"x y", false, 0, false},
		"none":                     {"", false, 0, false},
	} {
		if from, ok := kept.continues(strings.Fields(c.runs), c.all); from != c.from || ok != c.ok {
			t.Errorf("%s: %d %t, want %d %t", name, from, ok, c.from, c.ok)
		}
	}
	if _, ok := new(ownSeries).continues([]string{"a"}, true); ok {
		t.Error("a series that was never read goes on")
	}
}
