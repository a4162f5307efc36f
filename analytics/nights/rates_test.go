package nights_test

import (
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
)

// TestRates: every night has the rates of its board and what changed since the one before; none
// has a test.
func TestRates(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	night := func(day int, model string, rate float64) nights.Night {
		return nights.Night{
			At: at.AddDate(0, 0, day), Snapshot: "s", Catalog: "1", Extractor: "1", Models: map[string]string{"a": model},
			Board: analytics.Board{Tools: []analytics.Standing{{Slug: "flask", PickRate: rate, CILow: rate - .1, CIHigh: rate + .1, NTrials: 40}}},
		}
	}
	got := nights.Rates([]nights.Night{night(0, "old", .4), night(1, "old", .5), night(2, "new", .6)})
	if len(got) != 3 {
		t.Fatalf("%d lines", len(got))
	}
	for i, rate := range []float64{.4, .5, .6} {
		if tool := got[i].Tools[0]; tool.PickRate != rate || tool.NTrials != 40 || len(tool.Shown) > 0 {
			t.Errorf("night %d: %+v", i, tool)
		}
	}
	if len(got[0].Breaks)+len(got[1].Breaks) > 0 || len(got[2].Breaks) != 1 || got[2].Breaks[0] != "model a: old → new" {
		t.Errorf("breaks %q %q %q", got[0].Breaks, got[1].Breaks, got[2].Breaks)
	}
}
