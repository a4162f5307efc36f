package trafficdb_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

// erasureOf returns the event that tells of an erasure.
func erasureOf(t testing.TB, seq int64, workspace string, seqs []int64) trafficdb.Stored {
	t.Helper()
	body, err := json.Marshal(map[string]any{"type": "erasure", "seqs": seqs})
	if err != nil {
		t.Fatal(err)
	}
	return trafficdb.Stored{Seq: seq, Workspace: workspace, Body: body}
}

// without returns rows without those of a workspace that have certain numbers.
func without(rows []trafficdb.Row, workspace string, seqs []int64) []trafficdb.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r trafficdb.Row) bool { return r.Workspace == workspace && slices.Contains(seqs, r.Seq) })
}

// TestErasureReachesTheReadModel puts an erasure among the events and loads them
// in batches of any length: at once, one by one, with a failure between append and
// mark after which the file is opened again, and anew after that.
func TestErasureReachesTheReadModel(t *testing.T) {
	rows := some(21, 600)
	last := rows[len(rows)-1].Seq
	var seqs []int64 // some of ws_00, sorted or not, and one of another workspace
	for i, r := range rows {
		if r.Workspace == "ws_00" && i%3 == 0 || i == 40 {
			seqs = append(seqs, r.Seq)
		}
	}
	events := append(stored(rows), erasureOf(t, last+2, "ws_00", seqs), erasureOf(t, last+3, "ws_01", nil))
	after := some(22, 50)
	for i := range after {
		after[i].Seq = last + 10 + int64(i)
		after[i].ID += "-after"
	}
	events = append(events, stored(after)...)
	want := without(append(slices.Clone(rows), after...), "ws_00", seqs)
	if len(want) == len(rows)+len(after) {
		t.Fatal("nothing to erase")
	}
	for _, size := range []int{1, 7, 100, 599, 600, 601, 602, 10_000} {
		var log strings.Builder
		file := filepath.Join(t.TempDir(), "traffic.duckdb")
		db := open(t, file)
		db.SetRun(90)
		l := &trafficdb.Loader{Source: source(events), DB: db, Log: slog.New(slog.NewTextHandler(&log, nil)), Batch: size}
		mark := int64(0)
		for mark < last { // the erasure is in the next batch or was in this one
			if _, err := l.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			mark, _ = db.Mark(t.Context())
		}
		if mark == last {
			same(t, db, rows)
		}
		db.FailBeforeMark(func() error { return errors.New("injected") })
		if _, err := l.Step(t.Context()); err == nil && mark < last+10 {
			t.Fatal("no failure")
		}
		if mark == last {
			same(t, db, rows)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = open(t, file)
		l.DB = db
		steps(t, l)
		same(t, db, want)
		if err := db.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		steps(t, l)
		same(t, db, want)
		if l.Skipped() != 0 || log.Len() > 0 {
			t.Errorf("%d skipped: %s", l.Skipped(), log.String())
		}
	}
}

// TestErasedEventsArePassedOver loads what a store holds after an erasure.
func TestErasedEventsArePassedOver(t *testing.T) {
	rows := some(23, 300)
	events := stored(rows)
	var seqs []int64
	for i := range events {
		if rows[i].Workspace == "ws_01" {
			events[i].Body = []byte(`{"type":"erased"}`)
			seqs = append(seqs, rows[i].Seq)
		}
	}
	last := rows[len(rows)-1].Seq
	events = append(events, erasureOf(t, last+1, "ws_01", seqs), trafficdb.Stored{Seq: last + 2, Workspace: "ws_01", Body: []byte(`{"type":"erasure","seqs":"all"}`)})
	db := open(t, "")
	l := &trafficdb.Loader{Source: source(events), DB: db, Log: quiet()}
	if n := steps(t, l); n != len(events) || l.Skipped() != 1 {
		t.Errorf("%d read, %d skipped, want the last one to be", n, l.Skipped())
	}
	same(t, db, without(rows, "ws_01", seqs))
	if mark, err := db.Mark(t.Context()); err != nil || mark != last+2 {
		t.Error(mark, err)
	}
}

// TestDropBefore drops what came in before a time, in one piece and in many.
func TestDropBefore(t *testing.T) {
	rows := some(25, 9000)
	before := rows[5000].ReceivedAt
	rows[7000].ReceivedAt = before.AddDate(0, 0, -1) // of a clock that went back
	rows[7000].Workspace = "ws_00"
	old := func(r trafficdb.Row) bool { return r.Workspace == "ws_00" && r.ReceivedAt.Before(before) }
	want := slices.DeleteFunc(slices.Clone(rows), old)
	for _, piece := range []int{300, 100_000} {
		db := load(t, rows)
		db.SetPiece(piece)
		if n, err := db.DropBefore(t.Context(), "ws_00", before); err != nil || n != int64(len(rows)-len(want)) || n < 1000 {
			t.Errorf("dropped %d, want %d, %v", n, len(rows)-len(want), err)
		}
		same(t, db, want)
		if n, err := db.DropBefore(t.Context(), "ws_00", before); err != nil || n != 0 {
			t.Error(n, err)
		}
	}
}
