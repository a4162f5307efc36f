package views

import (
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics/observed"
)

// TestWithoutTheLargest: a pair names the rates of its tools without a repository that has much, each once, and none that the
// study cannot see.
func TestWithoutTheLargest(t *testing.T) {
	b := seenBoard(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), .4)
	p := b.Whole()
	if got := firstsWithout(&b, p, []string{"ash"}); got != "" {
		t.Errorf("no repository has much: %q", got)
	}
	p.Warnings = append(p.Warnings, observed.OneRepository)
	p.Largest = &observed.Largest{NUnits: 40, Without: observed.Part{NUnits: 60, Tools: []observed.Rate{{Slug: "ash", Use: observed.Use{UseRate: .5, Uses: 30}}}}}
	for _, tt := range []struct {
		slugs []string
		want  string
	}{
		{[]string{"ash"}, "without the largest repository: Ash 50.0% of 60"},
		{[]string{"ash", "birch"}, "without the largest repository: Ash 50.0% and Birch 0.0% of 60"},
		{[]string{"ash", "unseen"}, "without the largest repository: Ash 50.0% of 60"},
		{[]string{"unseen"}, ""},
	} {
		if got := firstsWithout(&b, p, tt.slugs); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.slugs, got, tt.want)
		}
	}
	if p.Largest.Without = (observed.Part{}); firstsWithout(&b, p, []string{"ash"}) != "" {
		t.Error("nothing is left, and the pair says something of it")
	}
}

// TestOtherFirsts: a pair names the agents that used another tool most, if they made enough of the units.
func TestOtherFirsts(t *testing.T) {
	b := seenBoard(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), .4)
	agent := func(name string, units int, slug string, uses int) observed.AgentBoard {
		use := observed.Use{UseRate: float64(uses) / float64(units), Uses: uses}
		return observed.AgentBoard{Agent: name, Part: observed.Part{NUnits: units, Tools: []observed.Rate{{Slug: slug, Use: use}}}}
	}
	b.Agents = []observed.AgentBoard{agent("Devin", 22, "birch", 9), agent("Codex", 60, "ash", 40), agent("Cursor", 9, "birch", 9)}
	if got := strings.Join(otherFirsts(&b, b.Whole(), ""), "|"); got != "other first tools, not tested: Birch with Devin (9 of 22)" {
		t.Error(got)
	}
	b.Agents = b.Agents[1:]
	if got := otherFirsts(&b, b.Whole(), ""); got != nil {
		t.Error(got)
	}
}
