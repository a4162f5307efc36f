package attribution

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// large returns a workspace of 90 days: 400,000 crawls and fetches without a
// visitor, 600,000 touches of 300,000 visitors, 100,000 conversions of 80,000
// people on one to three devices each, some refunded.
func large() story {
	r := rand.New(rand.NewPCG(1, 1))
	var s story
	families := []string{"ChatGPT", "Claude", "Perplexity", "Gemini", "Copilot", "Kimi", "Mistral", "Grok"}
	evidence := []string{SignedLink, Tag, Tag, Referrer, Referrer, Declared, "", ""}
	crawlers := []string{"training_crawler", "search_index", "user_fetch", "scanner_probe"}
	visitor, person := make([]string, 300_000), make([]string, 80_000)
	for i := range visitor {
		visitor[i] = fmt.Sprintf("vh:%032x", i*2654435761)
	}
	for i := range person {
		person[i] = fmt.Sprintf("eh:%064x", i*2654435761)
	}
	pages := make([]string, 2000)
	for i := range pages {
		pages[i] = fmt.Sprintf("/docs/section-%d/page-%d", i%20, i)
	}
	at := func() time.Time { return t0.Add(-time.Duration(r.Int64N(int64(90 * 24 * time.Hour)))) }
	for i := range 1_000_000 {
		t := Touch{At: at(), Host: "acme.dev", Path: pages[r.IntN(len(pages))], Family: families[r.IntN(len(families))]}
		if i < 400_000 {
			t.Class = crawlers[r.IntN(len(crawlers))]
		} else {
			t.Visitor = visitor[r.IntN(len(visitor))]
			t.Class, t.Evidence = "browser", evidence[r.IntN(len(evidence))]
		}
		s.touches = append(s.touches, t)
	}
	for i := range 200_000 {
		s.bindings = append(s.bindings, Binding{visitor[i], person[r.IntN(len(person))], at()})
	}
	for i := range 100_000 {
		c := Conversion{ID: fmt.Sprint("c", i), Kind: Paid, Identity: person[r.IntN(len(person))], At: at(), Value: r.Int64N(100_000),
			Currency: "USD", OrderID: fmt.Sprint("o", i)}
		if i%20 == 19 {
			c.Kind, c.Value, c.RefundOf = Refund, -100, fmt.Sprint("o", r.IntN(i))
		}
		s.conversions = append(s.conversions, c)
	}
	return s
}

func BenchmarkCredit(b *testing.B) {
	s := large()
	b.Run("graph", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			NewGraph(s.bindings)
		}
	})
	g := NewGraph(s.bindings)
	for _, m := range []Model{First, Linear, Position} {
		b.Run(string(m), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Credit(s.conversions, s.touches, g, Options{Model: m})
			}
		})
	}
	b.Run("infer", func(b *testing.B) {
		for b.Loop() {
			infer(s.touches)
		}
	})
	credited := Credit(s.conversions, s.touches, g, Options{Model: Linear})
	b.Run("summary", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Summary(credited)
		}
	})
}

// BenchmarkOnePerson is the worst that a sender can do with names: one for as
// many visitors as a person may be.
func BenchmarkOnePerson(b *testing.B) {
	var s story
	for i := range MaxVisitors {
		s.bindings = append(s.bindings, Binding{fmt.Sprint("v", i), "guest", t0})
	}
	for i := range 1_000_000 {
		s.touches = append(s.touches, Touch{Visitor: s.bindings[i%MaxVisitors].Visitor, At: t0.Add(-time.Duration(i) * time.Second),
			Evidence: Tag, Family: "ChatGPT"})
	}
	for i := range 10_000 {
		s.conversions = append(s.conversions, Conversion{ID: fmt.Sprint(i), Identity: "guest", At: t0})
	}
	g := NewGraph(s.bindings)
	for b.Loop() {
		Credit(s.conversions, s.touches, g, Options{Model: Linear})
	}
}

// BenchmarkOneVisitor is the same with tokens: one for everybody.
func BenchmarkOneVisitor(b *testing.B) {
	s := large()
	for i := range s.touches {
		s.touches[i].Visitor, s.touches[i].Class, s.touches[i].Evidence = "v", "browser", Tag
	}
	for i := range s.conversions {
		s.conversions[i].Visitor, s.conversions[i].Identity = "v", ""
	}
	g := NewGraph(nil)
	b.ReportAllocs()
	for b.Loop() {
		Credit(s.conversions, s.touches, g, Options{Model: Linear})
	}
}
