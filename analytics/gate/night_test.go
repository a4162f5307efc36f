package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics/nights"
)

func TestNight(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	line := func(n int, shown ...nights.Shown) nights.Line {
		return nights.Line{At: day(n), Tools: []nights.Tool{{Slug: "stripe", PickRate: 0.6, CILow: 0.31, CIHigh: 0.83, Shown: shown}}}
	}
	drop := nights.Shown{Agent: "opus", Direction: nights.Drop, E: 530, Since: day(3)}
	rise := nights.Shown{Agent: nights.AllAgents, Direction: nights.Rise, E: 61.2, Since: day(2)}
	broken := line(4, rise)
	broken.Breaks = []string{"extractor: 1 → 2"}
	for name, tt := range map[string]struct {
		rule   string
		nights []nights.Line
		want   Status
		says   string
	}{
		"a drop":            {"night(stripe)", []nights.Line{line(1), line(3, drop)}, Failed, "60.0% (31.0%–83.0%), 2 nights from 2026-03-01 to 2026-03-03 dropped since 2026-03-03, agent opus, e=530"},
		"a drop and a rise": {"payments: night( stripe )", []nights.Line{line(1), line(3, drop, rise)}, Failed, "opus, e=530; rose since 2026-03-02, all agents, e=61.2"},
		"a rise":            {"night(stripe)", []nights.Line{line(1), broken}, Met, "rose since 2026-03-02, all agents, e=61.2; since the night before: extractor: 1 → 2"},
		"an earlier drop":   {"night(stripe)", []nights.Line{line(1), line(3, drop), line(4)}, Met, "no change shown"},
		"one night":         {"night(stripe)", []nights.Line{line(1)}, Undecided, "no earlier snapshot"},
		"from a later day":  {"night(stripe) since 2026-03-04", []nights.Line{line(1), line(3, drop)}, Undecided, "no earlier snapshot"},
		"another tool":      {"night(paddle)", []nights.Line{line(1), line(3, drop)}, Undecided, "does not have this tool"},
	} {
		r, err := Parse(tt.rule)
		if err != nil || !r.Nightly() {
			t.Errorf("%s: %v", name, err)
		}
		s := measured()
		s.Nights = map[string][]nights.Line{"": tt.nights}
		got := Check([]Rule{r}, []Subject{s})
		if len(got) != 1 || got[0].Status != tt.want || !strings.Contains(got[0].Measured+" "+got[0].Why, tt.says) {
			t.Errorf("%s: got %+v, want %s with %q", name, got, tt.want, tt.says)
		}
	}
	for rule, want := range map[string]string{
		"night":                            "of which tool",
		"night(stripe) >= 1":               "night has no threshold",
		"night(stripe) vs current":         "only drop(TOOL)",
		"night(stripe) since":              "want METRIC",
		"night(stripe) since last week":    "want METRIC",
		"night(stripe) since 2026-02-30":   "want a day as YYYY-MM-DD",
		"pickRate(stripe) since 2026-03-1": "want METRIC",
	} {
		if _, err := Parse(rule); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", rule, err, want)
		}
	}
}
