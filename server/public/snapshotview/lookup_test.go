package snapshotview

import (
	"testing"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/catalog"
)

// TestLookup: the slug of a tool that was observed is not a name of a measured one, which may have a package of that name;
// where the other tool has no data, it is.
func TestLookup(t *testing.T) {
	browser := catalog.Ref{Slug: "browser", Name: "Browser"}
	python := catalog.Ref{Slug: "browser-python", Name: "Browser for Python", Packages: map[catalog.Ecosystem][]string{"pypi": {"browser"}}}
	for _, seen := range []bool{false, true} {
		s := Site{measured: catalog.NewIndex([]catalog.Ref{python}), index: catalog.NewIndex([]catalog.Ref{browser, python}), home: map[string]string{}}
		if seen {
			s.Observed = []observed.Board{{Category: "testing", Tools: []observed.Standing{{Slug: "browser"}}}}
		}
		for q, want := range map[string]bool{"browser": !seen, "Browser": !seen, "pypi:browser": true, "browser-python": true, "other": false} {
			if _, _, ok := s.lookup(q); ok != want {
				t.Errorf("observed %v, %s: found %v", seen, q, ok)
			}
		}
	}
}
