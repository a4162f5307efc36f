package dashboard

import (
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/kit/chart"
)

func TestNumbersAsPeopleReadThem(t *testing.T) {
	for got, want := range map[string]string{
		share(0): "0", share(12): "12", share(1234.5): "1,234.5", share(.333): "0.33", share(2.999): "3", share(.999): "1",
		chart.Percent(1): "100%", chart.Percent(.1249): "12.5%", chart.Percent(0): "0%",
		grouped("1234567.50"): "1,234,567.50", grouped("-0.50"): "-0.50", grouped("-1900"): "-1,900", grouped("x"): "x",
		amount("3738.00", "USD"): "$3,738", amount("-0.50", "USD"): "-$0.50", amount("1225.50", "EUR"): "1,225.50\u00a0EUR", amount("700", "JPY"): "700\u00a0JPY",
		chart.Count(1, "page", "pages"): "1 page", chart.Count(2000, "page", "pages"): "2,000 pages",
		ago(30 * time.Second): "just now", ago(time.Hour): "1 hour ago", ago(50 * time.Hour): "2 days ago",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDeltas(t *testing.T) {
	const since = "the 7 days before"
	for _, c := range []struct {
		now, then float64
		since     string
		want      delta
	}{
		{112, 100, since, delta{"up", "▲ 12%", "up 12% from the 7 days before"}},
		{0, 40, since, delta{"down", "▼ 100%", "down 100% from the 7 days before"}},
		{1300, 100, since, delta{"up", "▲ 1,200%", "up 1,200% from the 7 days before"}},
		{1001, 1000, since, delta{"", "no change", "about the same as in the 7 days before"}},
		{3, 0, since, delta{"up", "new", "none in the 7 days before"}},
		{0, 0, since, delta{}},
		{112, 100, "", delta{}},
	} {
		if got := newDelta(c.now, c.then, c.since); got != c.want {
			t.Errorf("%v after %v: %+v, want %+v", c.now, c.then, got, c.want)
		}
	}
	if got := newCountDelta(29, 12, since); got != (delta{"", "▲ 142%", "up 142% from the 7 days before"}) {
		t.Errorf("small counts: %+v", got)
	}
	if got := newCountDelta(30, 12, since); got.Look != "up" {
		t.Errorf("counts: %+v", got)
	}
}
