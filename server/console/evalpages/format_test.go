package evalpages

import (
	"testing"

	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

func TestFormats(t *testing.T) {
	for usd, want := range map[float64]string{0: "$0", 0.00001: "under $0.0001", 0.0123: "$0.0123", 0.1: "$0.10", 12.345: "$12.35", 1234567.5: "$1,234,567.50"} {
		if got := chart.Money(usd); got != want {
			t.Errorf("%v is %s, want %s", usd, got, want)
		}
	}
	for usd, want := range map[float64]string{0: "0.01", 0.001: "0.01", 2.43: "2.43", 2.431: "2.44", 10: "10.00"} {
		if got := up(usd); got != want {
			t.Errorf("a budget for %v is %s, want %s", usd, got, want)
		}
	}
	if got := between(0.754, 0.58, 0.872); got != "75.4% (58–87.2%)" {
		t.Error(got)
	}
	for diff, want := range map[float64]string{0: "0", 0.0001: "0", -0.0001: "0", 0.243: "+24.3", -0.11: "−11", 1: "+100"} {
		if got := points(diff); got != want {
			t.Errorf("%v is %s, want %s", diff, got, want)
		}
	}
	for text, want := range map[string]string{"timeout: no answer": "timeout: no answer", "not_asked": "not run before the end", "new_thing: x": "new thing: x", "": ""} {
		if got := traceview.Reason(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
