package bundle_test

import (
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/firstpick/firstpick/publish/trialset"
	reader "github.com/firstpick/firstpick/server/evals/bundle"
)

// benchWorld is a run of FIRSTPICK_BENCH_TRIALS trials, 100,000 where it is not set,
// of 1.5 kB each.
func benchWorld(b *testing.B) *world {
	b.Helper()
	n, err := strconv.Atoi(os.Getenv("FIRSTPICK_BENCH_TRIALS"))
	if err != nil {
		n = 100_000
	}
	return newWorld(b, 1, size{prompts: 50, repeats: max(1, n/100), text: 1500})
}

func BenchmarkWrite(b *testing.B) {
	w := benchWorld(b)
	for b.Loop() {
		w.in.Root = b.TempDir() // a bundle that is there already would only be compared
		for _, f := range write(b, w.in).Files {
			b.ReportMetric(float64(f.Bytes)/1e6, "MB-"+f.Path)
		}
	}
}

// BenchmarkRead times everything that is read of a bundle.
func BenchmarkRead(b *testing.B) {
	w := benchWorld(b)
	last := w.entries[len(w.entries)-1].ID
	w.texts, w.entries, w.results = nil, nil, nil
	m := write(b, w.in)
	b.Run("open and first page", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			opened, err := reader.Open(w.in.Root, m.ID)
			if err != nil {
				b.Fatal(err)
			}
			fullPage(b, opened, trialset.Filter{}, "")
			_ = opened.Close()
		}
	})
	opened := open(b, w.in.Root, m.ID)
	middle := deep(b, opened)
	for _, page := range []struct {
		name   string
		f      trialset.Filter
		cursor string
	}{{name: "first"}, {"in the middle", trialset.Filter{}, middle}, {name: "filtered", f: trialset.Filter{Agent: "a", Outcome: "excluded"}},
		{name: "of nothing", f: trialset.Filter{Outcome: "diy", Picked: "flask"}}} {
		b.Run("page "+page.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := opened.Traces(b.Context(), page.f, page.cursor, 50); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("full page "+page.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fullPage(b, opened, page.f, page.cursor)
			}
		})
	}
	b.Run("last trace", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := opened.Trace(b.Context(), last); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cells", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := opened.Cells(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	stream(b, "all full pages", func(g *gauge) error {
		for cursor := ""; ; {
			p, err := opened.FullPage(b.Context(), trialset.Filter{}, cursor, 200, 4<<20)
			if err != nil {
				return err
			}
			for _, line := range p.Traces {
				_, _ = g.Write(line)
			}
			if cursor = p.Next; cursor == "" {
				return nil
			}
		}
	})
	stream(b, "ndjson", func(g *gauge) error { return opened.WriteNDJSON(b.Context(), g, trialset.Filter{}) })
	stream(b, "parquet", func(g *gauge) error {
		f, _, err := opened.Parquet()
		if err != nil {
			return err
		}
		_, err = io.Copy(g, f)
		return errors.Join(err, f.Close())
	})
}

// deep returns the cursor of a page in the middle of all.
func deep(b *testing.B, opened *reader.Bundle) string {
	b.Helper()
	cursor := ""
	for n := 0; n < opened.Manifest.Counts.Valid/2; n += trialset.MaxPage {
		p, err := opened.Traces(b.Context(), trialset.Filter{}, cursor, trialset.MaxPage)
		if err != nil {
			b.Fatal(err)
		}
		cursor = p.Next
	}
	return cursor
}

func fullPage(b *testing.B, opened *reader.Bundle, f trialset.Filter, cursor string) {
	b.Helper()
	if _, err := opened.FullPage(b.Context(), f, cursor, 50, 4<<20); err != nil {
		b.Fatal(err)
	}
}

// stream times what is read from beginning to end, and looks at the heap meanwhile.
func stream(b *testing.B, name string, read func(g *gauge) error) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		g := &gauge{base: before.HeapAlloc}
		for b.Loop() {
			g.n = 0
			if err := read(g); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(g.n)
		b.ReportMetric(float64(g.peak)/1e6, "MB-heap-peak")
	})
}

// A gauge is a writer that looks at the heap, now and then.
type gauge struct {
	n, writes  int64
	base, peak uint64
}

func (g *gauge) Write(p []byte) (int, error) {
	g.n += int64(len(p))
	if g.writes++; g.writes%2000 == 1 {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		g.peak = max(g.peak, now.HeapAlloc-min(now.HeapAlloc, g.base))
	}
	return len(p), nil
}
