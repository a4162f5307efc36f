package trafficdb_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

// TestEraseWorkspaces: no file holds a byte of an erased workspace, the events of others
// stay, and the database loads and reports as before.
func TestEraseWorkspaces(t *testing.T) {
	rows := some(31, 3000)
	for i := range rows {
		if rows[i].Workspace == "ws_00" {
			rows[i].Host = "secret-host.example"
		}
	}
	half := len(rows) / 2
	for name, interrupted := range map[string]bool{"at once": false, "interrupted": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "traffic.duckdb")
			db := open(t, file)
			for _, part := range [][]trafficdb.Row{rows[:half], rows[half:]} {
				if err := errors.Join(db.Append(t.Context(), part, part[len(part)-1].Seq), db.Checkpoint(t.Context())); err != nil {
					t.Fatal(err)
				}
			}
			if n := holding(t, dir, "secret-host.example"); n == 0 {
				t.Fatal("the text is not in the file: the search proves nothing")
			}
			if interrupted { // after the deletion, before the file was replaced
				if _, err := db.DropBefore(t.Context(), "ws_00", rows[len(rows)-1].ReceivedAt.AddDate(1, 0, 0)); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file+".erasing", nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.EraseWorkspaces(t.Context(), func(w string) bool { return w == "ws_00" }); err != nil {
				t.Fatal(err)
			}
			if n := holding(t, dir, "secret-host.example"); n > 0 {
				t.Errorf("%d files hold it", n)
			}
			list, err := db.Workspaces(t.Context())
			if err != nil || len(list) == 0 || strings.Contains(strings.Join(list, " "), "ws_00") {
				t.Errorf("%v, %v", list, err)
			}
			if mark, err := db.Mark(t.Context()); err != nil || mark != rows[len(rows)-1].Seq {
				t.Errorf("mark %d, %v", mark, err)
			}
			more := some(32, 10)
			for i := range more {
				more[i].Seq = rows[len(rows)-1].Seq + 1 + int64(i)
				more[i].ID += "-more"
			}
			if err := db.Append(t.Context(), more, more[len(more)-1].Seq); err != nil {
				t.Errorf("after the erasure: %v", err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if again := open(t, file); again.Remade() != "" {
				t.Errorf("the file was made again: %s", again.Remade())
			}
		})
	}
}

// holding counts the files of a folder that hold a text.
func holding(t *testing.T, dir, text string) (n int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(text)) {
			n++
		}
	}
	return n
}

// TestAForeignReadModelIsRefused: a database belongs to the store that claimed it, until it
// is rebuilt.
func TestAForeignReadModelIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "traffic.duckdb")
	db := open(t, file)
	for range 2 {
		if err := db.Claim(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, file)
	var foreign *trafficdb.ForeignError
	if err := db.Claim(t.Context(), "two"); !errors.As(err, &foreign) || foreign.Store != "one" || !strings.Contains(err.Error(), "traffic reindex") {
		t.Fatal(err)
	}
	if err := errors.Join(db.RebuildFor(t.Context(), "two"), db.Claim(t.Context(), "two")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Rebuild(t.Context()), db.Claim(t.Context(), "two")); err != nil {
		t.Errorf("a rebuilt file forgot its store: %v", err)
	}
}
