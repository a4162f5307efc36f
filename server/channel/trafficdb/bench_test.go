package trafficdb_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/channel/trafficdb/traffictest"
)

// benchEnd is when the events of the benchmarks end.
func benchEnd() time.Time { return time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC) }

// big returns a database with as many events as FIRSTPICK_EVENTS says, one
// million by default. FIRSTPICK_TRAFFIC names a file that is kept, or used again;
// FIRSTPICK_THREADS sets how many threads DuckDB has, FIRSTPICK_MEMORY its limit
// of memory, such as 512MB.
func big(b *testing.B) *trafficdb.DB {
	b.Helper()
	n := 1_000_000
	if s := os.Getenv("FIRSTPICK_EVENTS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	file := os.Getenv("FIRSTPICK_TRAFFIC")
	if file == "" {
		file = filepath.Join(b.TempDir(), "traffic.duckdb")
	}
	db, err := trafficdb.Open(b.Context(), file)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	if size := os.Getenv("FIRSTPICK_MEMORY"); size != "" {
		if err := db.Exec(b.Context(), "set memory_limit = '"+size+"'"); err != nil {
			b.Fatal(err)
		}
	}
	if n := os.Getenv("FIRSTPICK_THREADS"); n != "" {
		if err := db.Exec(b.Context(), "set threads = "+n); err != nil {
			b.Fatal(err)
		}
	}
	if mark, err := db.Mark(b.Context()); err != nil || mark > 0 {
		return db
	}
	o := traffictest.Options{Seed: 1, Events: n, Workspaces: 50, Days: 90, End: benchEnd()}
	start := time.Now()
	const piece = 500_000 // as many as the loader sorts at once
	for from := 0; from < n; from += piece {
		if err := db.Exec(b.Context(), traffictest.SQL(o, from, min(from+piece, n))); err != nil {
			b.Fatal(err)
		}
		if err := db.Sort(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	if err := db.Append(b.Context(), nil, int64(n)); err != nil {
		b.Fatal(err)
	}
	if err := db.Checkpoint(b.Context()); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d events in %v, %d MB, %.1f bytes each", n, time.Since(start).Round(time.Second), info.Size()>>20, float64(info.Size())/float64(n))
	return db
}

// BenchmarkReports asks for each report of the largest workspace.
func BenchmarkReports(b *testing.B) {
	db := big(b)
	for _, days := range []int{30, 90} {
		w := trafficdb.Window{From: benchEnd().AddDate(0, 0, -days), To: benchEnd()}
		for _, q := range questions() {
			b.Run(fmt.Sprintf("%s/%dd", q.name, days), func(b *testing.B) {
				least := time.Hour
				for b.Loop() {
					start := time.Now()
					if _, err := q.ask(b.Context(), to{db, traffictest.Workspace(0), w}); err != nil {
						b.Fatal(err)
					}
					least = min(least, time.Since(start))
				}
				b.ReportMetric(float64(least.Microseconds())/1000, "least-ms")
			})
		}
	}
}

// BenchmarkCredit measures what comes after Journeys.
func BenchmarkCredit(b *testing.B) {
	db := big(b)
	w := trafficdb.Window{From: benchEnd().AddDate(0, 0, -30), To: benchEnd()}
	j, err := db.Journeys(b.Context(), traffictest.Workspace(0), w, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d conversions, %d touches, %d bindings", len(j.Conversions), len(j.Touches), len(j.Bindings))
	for b.Loop() {
		attribution.Credit(j.Conversions, j.Touches, attribution.NewGraph(j.Bindings), attribution.Options{From: w.From, To: w.To})
	}
}

// BenchmarkExport measures raw rows of the largest workspace.
func BenchmarkExport(b *testing.B) {
	db := big(b)
	w := trafficdb.Window{From: benchEnd().AddDate(0, 0, -90), To: benchEnd()}
	ws := traffictest.Workspace(0)
	b.Run("NDJSON", func(b *testing.B) {
		for b.Loop() {
			if err := trafficdb.WriteNDJSON(io.Discard, db.Raw(b.Context(), ws, w)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Parquet", func(b *testing.B) {
		for b.Loop() {
			if err := db.Parquet(b.Context(), ws, w, io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Subject", func(b *testing.B) {
		for b.Loop() {
			for _, err := range db.Subject(b.Context(), ws, []string{"v17"}, nil) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkAppend measures batches of 500 rows every 50 ms, alone and while
// reports run without pause.
func BenchmarkAppend(b *testing.B) {
	db := big(b)
	mark, err := db.Mark(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	rows := slices.Collect(traffictest.Rows(traffictest.Options{Seed: 2, Events: 500, Workspaces: 50, Days: 1, End: benchEnd()}))
	for _, readers := range []int{0, 1, 2} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			ctx, stop := context.WithCancel(b.Context())
			defer stop()
			done := make(chan int)
			for range readers {
				go func() {
					n := 0
					for ; ctx.Err() == nil; n++ {
						q := questions()[n%len(questions())]
						_, _ = q.ask(ctx, to{db, traffictest.Workspace(n % 3), trafficdb.Window{From: benchEnd().AddDate(0, 0, -30), To: benchEnd()}})
					}
					done <- n
				}()
			}
			var took []time.Duration
			for b.Loop() {
				for i := range rows {
					mark++
					rows[i].Seq = mark
				}
				start := time.Now()
				if err := db.Append(b.Context(), rows, mark); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
				time.Sleep(50 * time.Millisecond)
			}
			stop()
			reports := 0
			for range readers {
				reports += <-done
			}
			slices.Sort(took)
			at := func(p float64) float64 { return float64(took[int(p*float64(len(took)-1))].Microseconds()) / 1000 }
			b.ReportMetric(at(0.5), "p50-ms")
			b.ReportMetric(at(0.99), "p99-ms")
			b.ReportMetric(at(1), "max-ms")
			b.ReportMetric(float64(reports), "reports")
		})
	}
}

// BenchmarkLoad moves a million stored events through a Loader.
func BenchmarkLoad(b *testing.B) {
	const n = 1_000_000
	events := stored(slices.Collect(traffictest.Rows(traffictest.Options{Seed: 3, Events: n, Workspaces: 50, Days: 20, End: benchEnd()})))
	for b.Loop() {
		file := filepath.Join(b.TempDir(), "traffic.duckdb")
		db, err := trafficdb.Open(b.Context(), file)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = db.Close() })
		l := &trafficdb.Loader{Source: source(events), DB: db, Log: quiet()}
		start := time.Now()
		steps(b, l)
		b.ReportMetric(n/time.Since(start).Seconds(), "events/s")
		if err := db.Checkpoint(b.Context()); err != nil {
			b.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/n, "B/event")
	}
}
