package trafficdb_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/channel/trafficdb/traffictest"
)

// TestOpenMakesAnew what it cannot use.
func TestOpenMakesAnew(t *testing.T) {
	rows := some(1, 500)
	spoil := map[string]func(t *testing.T, file string){
		"another layout": func(t *testing.T, file string) {
			db := open(t, file)
			if err := db.Exec(t.Context(), "update traffic.layout set version = 99"); err != nil {
				t.Fatal(err)
			}
			_ = db.Close()
		},
		"no database": func(t *testing.T, file string) {
			if err := os.WriteFile(file, bytes.Repeat([]byte("nonsense"), 4096), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"half a file": func(t *testing.T, file string) {
			if err := os.Truncate(file, 5000); err != nil {
				t.Fatal(err)
			}
		},
		"no tables": func(t *testing.T, file string) {
			db := open(t, file)
			if err := db.Exec(t.Context(), "drop table traffic.layout"); err != nil {
				t.Fatal(err)
			}
			_ = db.Close()
		},
	}
	for name, spoil := range spoil {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "traffic.duckdb")
			db := open(t, file)
			if err := db.Append(t.Context(), rows, rows[len(rows)-1].Seq); err != nil {
				t.Fatal(err)
			}
			_ = db.Close()
			spoil(t, file)
			db = open(t, file)
			if mark, err := db.Mark(t.Context()); err != nil || mark != 0 || db.Remade() == "" {
				t.Errorf("mark %d, made anew %q, %v", mark, db.Remade(), err)
			}
			steps(t, &trafficdb.Loader{Source: source(stored(rows)), DB: db, Log: quiet()})
			same(t, db, rows)
		})
	}
}

// TestNoKeyAndNoIndex looks into the file.
func TestNoKeyAndNoIndex(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "traffic.duckdb"))
	for _, table := range []string{"duckdb_indexes()", "duckdb_constraints() where constraint_type <> 'NOT NULL'"} {
		if err := db.Exec(t.Context(), "select case when count(*) > 0 then error('found') end from "+strings.Replace(table, " where", " where database_name = 'traffic' and", 1)); err != nil {
			t.Error(table, err)
		}
	}
}

func TestClosed(t *testing.T) {
	db := open(t, "")
	if err := errors.Join(db.Close(), db.Close()); err != nil {
		t.Error(err)
	}
	if _, err := db.Agents(t.Context(), "w", trafficdb.Window{}, trafficdb.Page{}); err == nil {
		t.Error("a closed database answered")
	}
	if err := db.Append(t.Context(), nil, 1); err == nil {
		t.Error("a closed database took rows")
	}
}

func TestExports(t *testing.T) {
	rows := some(6, 3000)
	rows[0].Workspace, rows[0].UserAgent = "ws_00", "=cmd|' /C calc'!A0"
	db := load(t, rows)
	want := of(rows, "ws_00")
	w := trafficdb.Window{To: end().AddDate(1, 0, 0)}

	var lines bytes.Buffer
	if err := trafficdb.WriteNDJSON(&lines, db.Raw(t.Context(), "ws_00", w)); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(&lines)
	for i := range want {
		var r event.Record
		if err := dec.Decode(&r); err != nil || r != want[i].Record {
			t.Fatalf("line %d: %+v, want %+v (%v)", i, r, want[i].Record, err)
		}
	}
	var sheet bytes.Buffer
	if err := trafficdb.WriteCSV(&sheet, db.Raw(t.Context(), "ws_00", w)); err != nil {
		t.Fatal(err)
	}
	cells, err := csv.NewReader(&sheet).ReadAll()
	if err != nil || len(cells) != len(want)+1 || len(cells[0]) != 40 {
		t.Fatal(len(cells), err)
	}
	if agent := cells[1][slices.Index(cells[0], "user_agent")]; agent != "'=cmd|' /C calc'!A0" {
		t.Errorf("%q", agent)
	}
	var file bytes.Buffer
	if err := db.Parquet(t.Context(), "ws_00", w, &file); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	check := fmt.Sprintf("select case when count(*) <> %d or sum(seq) <> %d then error('other rows') end from read_parquet('%s')", len(want), sumSeq(want), path)
	if err := db.Exec(t.Context(), check); err != nil {
		t.Error(err)
	}
	// One that gives up early, and one whose context ends.
	for range db.Raw(t.Context(), "ws_00", w) {
		break
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, err := range db.Raw(ctx, "ws_00", w) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// namesSeen notes the exports that lie beside the database while one is sent.
type namesSeen struct {
	t     *testing.T
	dir   string
	names []string
}

func (n *namesSeen) Write(p []byte) (int, error) {
	found, err := filepath.Glob(filepath.Join(n.dir, "export-*"))
	if err != nil {
		n.t.Error(err)
	}
	n.names = append(n.names, found...)
	return len(p), nil
}

// TestExportsLeaveNothing: a client may take long, and the server die meanwhile.
func TestExportsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	db, err := trafficdb.Open(t.Context(), filepath.Join(dir, "traffic.duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	seen := &namesSeen{t: t, dir: dir}
	if err := db.Parquet(t.Context(), "ws", trafficdb.Window{To: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}, seen); err != nil || len(seen.names) > 0 {
		t.Errorf("%v lies on disk while it is sent; %v", seen.names, err)
	}
}

func sumSeq(rows []trafficdb.Row) (n int64) {
	for _, r := range rows {
		n += r.Seq
	}
	return n
}

// TestErase deletes a person and nothing else, also from a batch that was read
// before and is written after.
func TestErase(t *testing.T) {
	rows := some(7, 4000)
	db := load(t, rows[:3000])
	about := func(r trafficdb.Row) bool {
		return r.Workspace == "ws_00" && (r.Visitor == "v3" || r.Identity == "ref:p2")
	}
	var subject []trafficdb.Row
	for r, err := range db.Subject(t.Context(), "ws_00", []string{"v3"}, []string{"ref:p2", ""}) {
		if err != nil {
			t.Fatal(err)
		}
		subject = append(subject, r)
	}
	var want, rest []trafficdb.Row
	for _, r := range rows {
		if !about(r) {
			rest = append(rest, r)
		} else if r.Seq <= rows[2999].Seq {
			want = append(want, r)
		}
	}
	if len(want) == 0 || !slices.Equal(subject, want) {
		t.Fatalf("subject has %d rows, want %d", len(subject), len(want))
	}
	store := stored(rows)
	read := make(chan struct{})
	l := &trafficdb.Loader{DB: db, Log: quiet(), Source: func(ctx context.Context, seq int64, limit int) ([]trafficdb.Stored, error) {
		events, err := source(store)(ctx, seq, limit)
		close(read)
		time.Sleep(20 * time.Millisecond)
		return events, err
	}}
	var loading sync.WaitGroup
	loading.Go(func() {
		if _, err := l.Step(t.Context()); err != nil {
			t.Error(err)
		}
	})
	<-read
	n, err := db.Erase(t.Context(), "ws_00", []string{"v3"}, []string{"ref:p2"})
	loading.Wait()
	if err != nil || n != int64(len(rows)-len(rest)) {
		t.Errorf("erased %d, want %d, %v", n, len(rows)-len(rest), err)
	}
	same(t, db, rest)
	if n, err := db.Erase(t.Context(), "ws_00", nil, []string{""}); err != nil || n != 0 {
		t.Error(n, err)
	}
}

// TestReportsWhileAppending asks while rows come in, and while the file is made
// anew. What a report says is always of whole batches.
func TestReportsWhileAppending(t *testing.T) {
	const batch = 250
	rows := some(8, 8000)
	db := open(t, filepath.Join(t.TempDir(), "traffic.duckdb"))
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	w := trafficdb.Window{From: end().AddDate(0, 0, -70), To: end()}
	whole := map[int64]bool{0: true} // counts of ws_00 after each batch
	n := int64(0)
	for part := range slices.Chunk(rows, batch) {
		n += int64(len(of(part, "ws_00")))
		whole[n] = true
	}
	for i := range 4 {
		all.Go(func() {
			for k := i; ctx.Err() == nil; k++ {
				if _, err := questions()[k%len(questions())].ask(ctx, to{db, traffictest.Workspace(k % 4), w}); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				h, err := db.Health(ctx, "ws_00", end())
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				if h.LastReceivedAt.After(end()) {
					t.Error(h)
				}
				seen := int64(0)
				for _, err := range db.Raw(ctx, "ws_00", trafficdb.Window{To: end().AddDate(1, 0, 0)}) {
					if err == nil {
						seen++
					} else if ctx.Err() == nil {
						t.Error(err)
					}
				}
				if ctx.Err() == nil && !whole[seen] {
					t.Errorf("%d rows: no whole number of batches", seen)
				}
			}
		})
	}
	for round := range 2 {
		l := &trafficdb.Loader{Source: source(stored(rows)), DB: db, Log: quiet(), Batch: batch}
		steps(t, l)
		if err := db.Checkpoint(t.Context()); err != nil {
			t.Error(err)
		}
		if round == 0 {
			// A reader of raw rows in pieces may see the old file and the new one: not here.
			stop()
			all.Wait()
			if err := db.Rebuild(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	stop()
	all.Wait()
	same(t, db, rows)
}
