package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/transcript"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func run(id string) journal.Run {
	return journal.Run{
		ID: id, Eval: eval.Eval{Name: "web", Category: "web"}, Planned: 3,
		CreatedAt: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), Catalog: "sha256:00", Extractor: "1.0.0",
	}
}

func record(n int) journal.Record {
	usd := 0.25
	return journal.Record{
		Kind: journal.KindResult, At: time.Date(2026, 5, 1, 12, 0, n, 0, time.UTC), Attempt: 1,
		Trial: plan.Trial{ID: fmt.Sprintf("%020d", n), Eval: "web", Category: "web", PromptID: "p1", Agent: "a", Template: "none", Repeat: n},
		Answer: &journal.Answer{
			Transcript: transcript.Transcript{FinalText: "I'd go with <Flask> & friends.\nThat is " + strconv.Itoa(n)},
			Model:      "m-1", InTokens: 12, OutTokens: 34, CostUSD: &usd, WallMS: 56,
		},
		Result: &pick.Result{Kind: pick.Tool, Picked: "flask", Shortlist: []string{"flask"}},
	}
}

func create(t testing.TB, root, id string) *journal.Journal {
	t.Helper()
	j, err := journal.Create(root, run(id))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func appendAll(t testing.TB, j *journal.Journal, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		if err := j.Append(t.Context(), record(n)); err != nil {
			t.Fatal(err)
		}
	}
}

// numbers scans a run and returns the repeats of its records in order.
func numbers(t testing.TB, root, id string, from journal.Offset) ([]int, journal.Offset, error) {
	t.Helper()
	var out []int
	end, err := journal.Scan(root, id, from, func(r journal.Record, _ journal.Offset) error {
		out = append(out, r.Trial.Repeat)
		return nil
	})
	return out, end, err
}

func wantNumbers(t testing.TB, root, id string, want ...int) {
	t.Helper()
	got, _, err := numbers(t, root, id, journal.Offset{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("records (-want +got):\n%s", d)
	}
}

func segment(root, id string, n int) string {
	return filepath.Join(root, id, fmt.Sprintf("journal-%06d.ndjson", n))
}

func TestRecordsComeBackAsTheyWereWritten(t *testing.T) {
	root := filepath.Join(t.TempDir(), "deep", "runs")
	j := create(t, root, "r1")
	want := []journal.Record{record(1), record(2)}
	if err := j.Append(t.Context(), want...); err != nil {
		t.Fatal(err)
	}
	var got []journal.Record
	if _, err := journal.Scan(root, "r1", journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		got = append(got, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), record(3)); !errors.Is(err, journal.ErrClosed) {
		t.Fatalf("append after close: %v", err)
	}
}

func TestManyWritersAtOnceLoseNothing(t *testing.T) {
	root := t.TempDir()
	j := create(t, root, "r1")
	const writers, each = 16, 20
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				if err := j.Append(t.Context(), record(w*each+i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	got, _, err := numbers(t, root, "r1", journal.Offset{})
	if err != nil || len(got) != writers*each {
		t.Fatalf("%d records, %v", len(got), err)
	}
	seen := map[int]bool{}
	for _, n := range got {
		seen[n] = true
	}
	if len(seen) != writers*each {
		t.Fatalf("%d different records", len(seen))
	}
}

func TestScanGoesOnWhereItStopped(t *testing.T) {
	root := t.TempDir()
	j := create(t, root, "r1")
	appendAll(t, j, 1, 2, 3, 4, 5)
	all, _, err := numbers(t, root, "r1", journal.Offset{})
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("enough")
	for k := range all {
		seen := 0
		end, err := journal.Scan(root, "r1", journal.Offset{}, func(journal.Record, journal.Offset) error {
			if seen == k {
				return stop
			}
			seen++
			return nil
		})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		rest, last, err := numbers(t, root, "r1", end)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(all[k:], rest); d != "" {
			t.Fatalf("after %d records (-want +got):\n%s", k, d)
		}
		appended, _, err := numbers(t, root, "r1", last)
		if err != nil || len(appended) != 0 {
			t.Fatalf("at the end: %v, %v", appended, err)
		}
	}
}

func TestTwoWritersAreRefusedWithThePID(t *testing.T) {
	root := t.TempDir()
	j := create(t, root, "r1")
	_, err := journal.Open(root, "r1")
	if err == nil || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Fatalf("second writer: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := journal.Open(root, "r1")
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestARunIsCreatedOnceAndWhole(t *testing.T) {
	root := t.TempDir()
	create(t, root, "r1")
	if _, err := journal.Create(root, run("r1")); err == nil {
		t.Fatalf("second create: %v", err)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Fatalf("left behind: %v, %v", entries, err)
	}
	got, err := journal.ReadRun(root, "r1")
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != "r1" || got.Eval.Name != "web" || !got.CreatedAt.Equal(run("r1").CreatedAt) {
		t.Fatalf("run: %+v", got)
	}
}

func TestNamesThatLeaveTheRootAreRefused(t *testing.T) {
	for _, id := range []string{"", ".", "..", "../x", "a/b", ".creating-1", "-x", "a b", strings.Repeat("a", 201)} {
		if _, err := journal.Create(t.TempDir(), run(id)); err == nil {
			t.Errorf("create %q succeeded", id)
		}
		if _, err := journal.Open(t.TempDir(), id); err == nil {
			t.Errorf("open %q succeeded", id)
		}
	}
}

func TestListTellsDamagedRunsBesideTheGoodOnes(t *testing.T) {
	root := t.TempDir()
	create(t, root, "b")
	create(t, root, "a")
	create(t, root, "bad")
	if err := os.WriteFile(filepath.Join(root, "bad", "run.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	runs, unreadable, err := journal.List(root)
	var damage *journal.DamageError
	if err != nil || len(unreadable) != 1 || unreadable[0].ID != "bad" || !errors.As(unreadable[0], &damage) || !strings.Contains(damage.Path, "bad") {
		t.Fatalf("unreadable %v, error %v", unreadable, err)
	}
	if len(runs) != 2 || runs[0].ID != "a" || runs[1].ID != "b" {
		t.Fatalf("runs: %+v", runs)
	}
	if runs, _, err := journal.List(filepath.Join(root, "nowhere")); err != nil || runs != nil {
		t.Fatalf("no root: %v, %v", runs, err)
	}
}
