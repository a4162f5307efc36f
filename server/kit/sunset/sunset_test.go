package sunset

import (
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	table := []Path{{Pattern: "/api/v1/evals/{id}"}, {Pattern: "/old"}}
	for path, want := range map[string]string{
		"/api/v1/evals/evl_1": "/api/v1/evals/{id}", "/api/v1/evals/": "", "/api/v1/evals": "", "/api/v1/evals/evl_1/runs": "", "/old": "/old", "/old/": "", "/": "",
	} {
		if got, ok := Of(table, path); got.Pattern != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", path, got.Pattern, want)
		}
	}
}

// TestThePolicyIsKept holds the table to what /docs/versioning promises.
func TestThePolicyIsKept(t *testing.T) {
	for _, p := range Table() {
		if p.Since.IsZero() || p.Until.Before(p.Since.AddDate(1, 0, 0)) {
			t.Errorf("%s ends %v, within 12 months of %v", p.Pattern, p.Until.Format(time.DateOnly), p.Since.Format(time.DateOnly))
		}
	}
}
