package pick_test

import (
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
)

// BenchmarkShortAnswers reads the labelled answers: a few sentences each.
func BenchmarkShortAnswers(b *testing.B) {
	c := builtIn(b)
	cases := labelled(b)
	extractors := map[string]*pick.Extractor{}
	for _, k := range cases {
		if cat, ok := c.Category(k.Category); ok && extractors[k.Category] == nil {
			extractors[k.Category] = pick.New(cat, c.Version)
		}
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		k := cases[n%len(cases)]
		extractors[k.Category].Extract(k.Input)
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "answers/s")
}
