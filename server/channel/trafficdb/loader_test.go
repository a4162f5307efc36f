package trafficdb_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/channel/trafficdb/traffictest"
)

const dieEnv = "TRAFFICDB_TEST_DIE"

// TestMain lets the test binary be a loader that is killed.
func TestMain(m *testing.M) {
	if file := os.Getenv(dieEnv); file != "" {
		loadAndDie(file)
	}
	os.Exit(m.Run())
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// stored returns rows as the state store has them.
func stored(rows []trafficdb.Row) []trafficdb.Stored {
	out := make([]trafficdb.Stored, len(rows))
	for i, r := range rows {
		body, err := json.Marshal(r.Record)
		if err != nil {
			panic(err) // records are plain
		}
		out[i] = trafficdb.Stored{Seq: r.Seq, Workspace: r.Workspace, Body: body}
	}
	return out
}

// source serves stored events.
func source(events []trafficdb.Stored) trafficdb.Source {
	return func(_ context.Context, seq int64, limit int) ([]trafficdb.Stored, error) {
		i, _ := slices.BinarySearchFunc(events, seq+1, func(e trafficdb.Stored, n int64) int { return int(e.Seq - n) })
		return events[i:min(i+limit, len(events))], nil
	}
}

func some(seed uint64, n int) []trafficdb.Row {
	return slices.Collect(traffictest.Rows(traffictest.Options{Seed: seed, Events: n, Workspaces: 3, Days: 60, End: end()}))
}

// all returns the rows of a workspace as the database has them.
func all(t testing.TB, db *trafficdb.DB, workspace string) []trafficdb.Row {
	t.Helper()
	var out []trafficdb.Row
	for r, err := range db.Raw(t.Context(), workspace, trafficdb.Window{To: end().AddDate(1, 0, 0)}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// same fails unless the database holds exactly these rows.
func same(t testing.TB, db *trafficdb.DB, rows []trafficdb.Row) {
	t.Helper()
	for n := range 4 {
		ws := traffictest.Workspace(n)
		got, want := all(t, db, ws), of(rows, ws)
		if len(got) != len(want) {
			t.Fatalf("%s has %d rows, want %d", ws, len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%s:\n got %+v\nwant %+v", ws, got[i], want[i])
			}
		}
	}
}

func steps(t testing.TB, l *trafficdb.Loader) (n int) {
	t.Helper()
	for {
		more, err := l.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if more == 0 {
			return n
		}
		n += more
	}
}

// TestFailureBetweenAppendAndMark loads with a database that fails now and then
// at the worst moment, and is opened anew each time.
func TestFailureBetweenAppendAndMark(t *testing.T) {
	rows := some(1, 3000)
	file := filepath.Join(t.TempDir(), "traffic.duckdb")
	failures := 0
	for round := 0; ; round++ {
		db := open(t, file)
		l := &trafficdb.Loader{Source: source(stored(rows)), DB: db, Log: quiet(), Batch: 400}
		n := 0
		db.FailBeforeMark(func() error {
			if n++; n == 2 && round < 20 {
				failures++
				return errors.New("injected")
			}
			return nil
		})
		var err error
		for more := 1; more > 0 && err == nil; {
			more, err = l.Step(t.Context())
		}
		if err == nil {
			same(t, db, rows)
			break
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if failures == 0 {
		t.Error("nothing failed")
	}
}

// loadAndDie loads forever-growing batches until it is killed.
func loadAndDie(file string) {
	db, err := trafficdb.Open(context.Background(), file)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	db.SetRun(1000)
	l := &trafficdb.Loader{Source: source(stored(some(2, 20_000))), DB: db, Log: quiet(), Batch: 300}
	for {
		if n, err := l.Step(context.Background()); err != nil || n == 0 {
			fmt.Println(n, err)
			os.Exit(1)
		}
		fmt.Println("step")
	}
}

// TestKilledLoader kills a loader with SIGKILL at odd moments.
func TestKilledLoader(t *testing.T) {
	file := filepath.Join(t.TempDir(), "traffic.duckdb")
	rows := some(2, 20_000)
	before := int64(-1)
	for round := range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), dieEnv+"="+file)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range round*2 + 2 {
			if _, err := out.Read(make([]byte, 5)); err != nil {
				break
			}
		}
		time.Sleep(time.Duration(round) * 3 * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		db := open(t, file)
		mark, err := db.Mark(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if mark <= before || db.Remade() != "" {
			t.Errorf("mark %d after %d; made anew: %q", mark, before, db.Remade())
		}
		before = mark
		n, _ := slices.BinarySearchFunc(rows, mark+1, func(r trafficdb.Row, n int64) int { return int(r.Seq - n) })
		same(t, db, rows[:n])
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRebuild compares what was loaded bit by bit with what is loaded at once.
func TestRebuild(t *testing.T) {
	rows := some(3, 5000)
	for name, file := range map[string]string{"file": filepath.Join(t.TempDir(), "traffic.duckdb"), "memory": ""} {
		t.Run(name, func(t *testing.T) {
			db := open(t, file)
			if n := steps(t, &trafficdb.Loader{Source: source(stored(rows)), DB: db, Log: quiet(), Batch: 123}); n != len(rows) {
				t.Fatal(n)
			}
			same(t, db, rows)
			if err := db.Rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
			if mark, err := db.Mark(t.Context()); err != nil || mark != 0 {
				t.Fatal(mark, err)
			}
			same(t, db, nil)
			steps(t, &trafficdb.Loader{Source: source(stored(rows)), DB: db, Log: quiet()})
			same(t, db, rows)
		})
	}
}

// TestUnreadableEvents are passed over, and what looks odd is loaded.
func TestUnreadableEvents(t *testing.T) {
	odd := func(r *event.Record) []byte {
		body, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	bodies := [][]byte{
		[]byte("{"), nil, []byte("null"), []byte("[]"), []byte(`{"type":7}`), []byte(`{"type":"touch","at":"never"}`), []byte("\xff"),
		odd(&event.Record{ID: "a", Type: event.Touch, UserAgent: "a\x00b\xffc\x1f", Status: 1 << 40, At: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}),
		odd(&event.Record{ID: "b", Type: event.Touch, Path: strings.Repeat("ü", 1<<16), Value: -1 << 63}),
		odd(&event.Record{ID: "c", Type: "new", Path: "'; drop table event"}),
	}
	var events []trafficdb.Stored
	for i, b := range bodies {
		events = append(events, trafficdb.Stored{Seq: int64(i + 1), Workspace: "w\x00", Body: b})
	}
	var log strings.Builder
	db := open(t, "")
	l := &trafficdb.Loader{Source: source(events), DB: db, Log: slog.New(slog.NewTextHandler(&log, nil)), Batch: 3}
	if n := steps(t, l); n != len(bodies) || l.Skipped() != 7 || strings.Count(log.String(), "event skipped") != 7 {
		t.Errorf("%d loaded, %d skipped: %s", n, l.Skipped(), log.String())
	}
	got := ""
	for r, err := range db.Raw(t.Context(), "w\x00", trafficdb.Window{To: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}) {
		if err != nil {
			t.Fatal(err)
		}
		got += r.ID
	}
	if got != "abc" {
		t.Errorf("loaded %q", got)
	}
}

// TestAppendRefuses what would be counted twice.
func TestAppendRefuses(t *testing.T) {
	row := func(seq int64) trafficdb.Row { return trafficdb.Row{Seq: seq, Workspace: "w"} }
	db := open(t, "")
	if err := db.Append(t.Context(), []trafficdb.Row{row(5), row(7)}, 9); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		rows []trafficdb.Row
		mark int64
	}{
		"the same rows":         {[]trafficdb.Row{row(5), row(7)}, 9},
		"a row before the mark": {[]trafficdb.Row{row(8)}, 12},
		"a mark that goes back": {nil, 8},
		"a row behind the mark": {[]trafficdb.Row{row(12)}, 11},
		"no order":              {[]trafficdb.Row{row(12), row(11)}, 13},
		"one row twice":         {[]trafficdb.Row{row(12), row(12)}, 13},
	} {
		if err := db.Append(t.Context(), c.rows, c.mark); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if mark, err := db.Mark(t.Context()); err != nil || mark != 9 || len(all(t, db, "w")) != 2 {
		t.Error(mark, err)
	}
}

// TestReportsYield loads much in one step, and then little in some.
func TestReportsYield(t *testing.T) {
	all := runtime.GOMAXPROCS(0)
	half := max(all/2, 1)
	for after, want := range map[int]int{0: half, 9: half, 10: all, 15: all} {
		rows := some(6, 700)
		db := open(t, "")
		events := source(stored(rows))
		limit := 300
		l := &trafficdb.Loader{DB: db, Log: quiet(), Source: func(ctx context.Context, seq int64, _ int) ([]trafficdb.Stored, error) {
			defer func() { limit = 1 }()
			return events(ctx, seq, limit)
		}}
		ticks := make(chan time.Time, after+1)
		for range after + 1 {
			ticks <- end()
		}
		close(ticks)
		l.Run(t.Context(), ticks)
		if got, err := db.Threads(t.Context()); err != nil || got != want {
			t.Errorf("%d threads after %d quiet steps, want %d, %v", got, after, want, err)
		}
	}
}

// TestRun loads at ticks, goes on after failures, and says how far it is.
func TestRun(t *testing.T) {
	rows := some(5, 2000)
	db := open(t, filepath.Join(t.TempDir(), "traffic.duckdb"))
	inner := source(stored(rows))
	var fail, calls atomic.Int64
	fail.Store(2)
	l := &trafficdb.Loader{DB: db, Log: quiet(), Batch: 300, Source: func(ctx context.Context, seq int64, limit int) ([]trafficdb.Stored, error) {
		calls.Add(1)
		if fail.Add(-1) >= 0 {
			return nil, errors.New("the store is down")
		}
		return inner(ctx, seq, limit)
	}}
	ticks := make(chan time.Time)
	done := make(chan struct{})
	go func() { defer close(done); l.Run(t.Context(), ticks) }()
	at := end().Add(time.Hour)
	for range 5 { // two fail, one loads, one checkpoints, one rests
		ticks <- at
		at = at.Add(time.Second)
	}
	close(ticks)
	<-done
	same(t, db, rows)
	h, err := db.Health(t.Context(), traffictest.Workspace(0), end())
	if err != nil || !h.CompleteThrough.Equal(at.Add(-time.Second)) {
		t.Errorf("%+v, %v", h, err)
	}
	if calls.Load() != 2+7+1+1 {
		t.Errorf("asked %d times", calls.Load())
	}
}

// A source that ends early because its events are large is asked again at the same
// tick.
func TestLargeEventsComeInOneTick(t *testing.T) {
	db, err := trafficdb.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	large := append(bytes.Repeat([]byte(" "), 17<<20), "{}"...)
	l := &trafficdb.Loader{DB: db, Log: quiet(), Source: func(_ context.Context, seq int64, _ int) ([]trafficdb.Stored, error) {
		if seq == 3 {
			return nil, nil
		}
		return []trafficdb.Stored{{Seq: seq + 1, Workspace: "ws", Body: large}}, nil
	}}
	tick := make(chan time.Time, 1)
	tick <- time.Now()
	close(tick)
	l.Run(t.Context(), tick)
	if mark, err := db.Mark(t.Context()); mark != 3 || err != nil {
		t.Errorf("loaded up to %d: %v", mark, err)
	}
}
