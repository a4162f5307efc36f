package trialstore

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// The shape of the simulated measurement.
const (
	benchCategories = 40
	benchTools      = 12
	benchPrompts    = 30
	benchAgents     = 8
)

// BenchmarkRank times what `firstpick rank` does with an open store that is up to date:
// it lists the runs, reads the counts of the current ones, and ranks every category. Beside
// it is a bare scan of the columns that the counts are made of: "x-scan" is how many times
// longer ranking takes.
//
// Not in it: loading journals into the store and making margins (Sync), checking every
// byte of the journals of the ranked runs (journal.Verify; it takes as long as reading
// them), starting the program and printing. With labels rank also reads the labelled
// trials; the benchmark has no such run.
//
// FIRSTPICK_BENCH_TRIALS sets the number of trials.
func BenchmarkRank(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("FIRSTPICK_BENCH_TRIALS"))
	if err != nil {
		n = 100_000
	}
	s := benchStore(b, n)
	var ranked, scanned time.Duration
	b.ResetTimer()
	for range b.N {
		begin := time.Now()
		if got := rankAll(b, s); got != n {
			b.Fatalf("ranked %d trials, want %d", got, n)
		}
		ranked += time.Since(begin)
		begin = time.Now()
		scan(b, s, n)
		scanned += time.Since(begin)
	}
	b.ReportMetric(ranked.Seconds()*1000/float64(b.N), "rank-ms/op")
	b.ReportMetric(scanned.Seconds()*1000/float64(b.N), "scan-ms/op")
	b.ReportMetric(ranked.Seconds()/scanned.Seconds(), "x-scan")
	b.ReportMetric(float64(n), "trials")
}

func rankAll(b *testing.B, s *Store) int {
	b.Helper()
	runs, err := s.Runs(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var current []string
	for _, r := range runs {
		if r.Current {
			current = append(current, r.ID)
		}
	}
	counts, err := s.Counts(b.Context(), current)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Extracted(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	ms := make([]analytics.Measurement, len(counts))
	for i, c := range counts {
		ms[i] = analytics.Measurement{
			Category: benchCategory(c.Category), Cells: c.Cells, Planned: c.Planned, Synthetic: c.Synthetic, Design: analytics.DesignOf(benchPool(c.Category)),
		}
	}
	trials := 0
	for i, board := range analytics.RankAll(ms) {
		trials += board.WithLabels(ms[i], analytics.Labels{}).NTrials
	}
	return trials
}

// benchPool is the eval of a category.
func benchPool(category string) eval.Pool {
	e := eval.Eval{Name: category, Category: category}
	for i := range benchPrompts {
		e.Prompts = append(e.Prompts, eval.Prompt{ID: benchPrompt(i), Text: fmt.Sprintf("Add %s to my service, please: it should survive restart number %d.", category, i), Tags: eval.Tags{Intent: []string{"build", "replace"}[i%2]}})
	}
	return eval.Pool{e}
}

func benchPrompt(i int) string { return fmt.Sprintf("p%02d", i) }

// scan reads every value of the columns that the cells are made of.
func scan(b *testing.B, s *Store, want int) {
	b.Helper()
	const bare = `select count(*), bit_xor(hash(run_id)), bit_xor(hash(category)), bit_xor(hash(eval)), bit_xor(hash(prompt_id)),
		bit_xor(hash(agent)), bit_xor(hash(outcome)), bit_xor(hash(picked)), bit_xor(hash(shortlist)), bit_xor(hash(mismatch)),
		bit_xor(hash(method)), bit_xor(hash(unresolved)), bit_xor(hash(first_named)), bit_xor(hash(judges)),
		max(finished_at) from trial`
	var n int
	var h [13]any
	var last time.Time
	err := s.db.QueryRowContext(b.Context(), bare).Scan(&n, &h[0], &h[1], &h[2], &h[3], &h[4], &h[5], &h[6], &h[7], &h[8], &h[9], &h[10], &h[11], &h[12], &last)
	if err != nil || n != want {
		b.Fatalf("scan: %d rows, %v", n, err)
	}
}

func benchSlug(i int) string { return fmt.Sprintf("tool-%02d", i) }

func benchCategory(slug string) *catalog.Category {
	c := &catalog.Category{Slug: slug, Name: slug, Domain: catalog.DevTools}
	for i := range benchTools {
		c.Entries = append(c.Entries, catalog.Entry{Tool: &catalog.Tool{Slug: benchSlug(i), Name: benchSlug(i), Home: c}})
	}
	return c
}

// benchStore holds n simulated trials, one run a category, written as Sync
// writes them but without a journal.
func benchStore(b *testing.B, n int) *Store {
	b.Helper()
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "bench.duckdb"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for c := range benchCategories {
		from, to := c*n/benchCategories, (c+1)*n/benchCategories
		if err := benchRun(b.Context(), s, c, from, to); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := s.db.ExecContext(b.Context(), "checkpoint"); err != nil {
		b.Fatal(err)
	}
	return s
}

func benchRun(ctx context.Context, s *Store, c, from, to int) error {
	run := fmt.Sprintf("run-%02d", c)
	category := fmt.Sprintf("category-%02d", c)
	const enter = `insert into run values (?, ?, ?, timestamp '2026-01-01', ?, true, false, '', '', '')`
	if _, err := s.db.ExecContext(ctx, enter, run, category, category, to-from); err != nil {
		return err
	}
	for ; from < to; from += 200_000 {
		rows := benchRows(run, category, from, min(to, from+200_000))
		err := duck.InBatch(ctx, s.db, func(tx *duck.Tx) error { return tx.Append(ctx, "trial", rows) })
		if err != nil {
			return err
		}
	}
	return duck.InBatch(ctx, s.db, func(tx *duck.Tx) error {
		return s.setMargin(ctx, tx, journal.Run{ID: run, Synthetic: true}, true)
	})
}

func benchRows(run, category string, from, to int) iter.Seq[[]driver.Value] {
	return func(yield func([]driver.Value) bool) {
		for i := from; i < to; i++ {
			h := mix(uint64(i))
			outcome, picked, list := pick.Tool, benchSlug(skewed(h)), ""
			if h%10 == 0 {
				outcome, picked = pick.DIY, ""
			} else {
				list = picked
				// Four in ten answers weigh the pick against one of three usual rivals.
				other := benchSlug(int(h>>40) % 3)
				if (h>>30)%10 >= 4 {
					other = picked
				}
				if other > picked {
					list += "," + other
				} else if other < picked {
					list = other + "," + picked
				}
			}
			first := picked // three in ten messages name another tool first
			if (h>>50)%10 < 3 {
				first = benchSlug(skewed(mix(h)))
			}
			prompt := benchPrompt(int((h >> 8) % benchPrompts))
			row := []driver.Value{
				run, fmt.Sprintf("%020x", h), category, category, prompt, fmt.Sprintf("agent-%d", (h>>16)%benchAgents),
				"none", int32(1), string(outcome), picked, list, h%50 == 0 && outcome == pick.Tool, "deed", int32(6), "model",
				int64(1000), int64(500), nil, int64(2000), time.Unix(1_770_000_000+int64(i), 0).UTC(), "{}", "{}", false, first, "", prompt, "", "", "",
			}
			if !yield(row) {
				return
			}
		}
	}
}

// skewed picks tool k about 1/k as often as the first: few tools win most.
func skewed(h uint64) int {
	u := float64(mix(h)>>11) / (1 << 53)
	return int(math.Pow(benchTools, u)) - 1
}

// mix is SplitMix64's finaliser: figures that look random and never change.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
