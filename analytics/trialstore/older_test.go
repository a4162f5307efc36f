package trialstore

import (
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/firstpick/firstpick/analytics/duck"
)

// A file that an older program wrote is opened, and its trials do not report what that
// program's results did not.
func TestFilesWithoutTheNewColumnsAreOpened(t *testing.T) {
	older, path := fstest.MapFS{}, filepath.Join(t.TempDir(), "trials.duckdb")
	for _, name := range []string{"0001_trials.sql", "0002_shard.sql", "0003_current.sql"} {
		text, err := fs.ReadFile(sqlFiles, "schema/"+name)
		if err != nil {
			t.Fatal(err)
		}
		older[name] = &fstest.MapFile{Data: text}
	}
	db, err := duck.Open(t.Context(), path, older)
	if err != nil {
		t.Fatal(err)
	}
	for _, insert := range []string{
		`insert into run values ('r1', 'e', 'c', timestamp '2026-01-01', 1, false, false, '', '1.0.2', '')`,
		`insert into trial values ('r1', 't1', 'e', 'c', 'p', 'a', 'none', 1, 'tool', 'flask', 'flask', false, 'deed', 6, 'm', 0, 0, null, 0, timestamp '2026-01-01', '{}', '{}')`,
	} {
		if _, err := db.ExecContext(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	got, _, err := s.Cells(t.Context(), "c", []string{"r1"})
	if err != nil || len(got) != 1 || got[0].UnresolvedUnknown != 1 || got[0].FirstUnknown != 1 || got[0].DecidedBy.Actions != 1 {
		t.Errorf("cells %+v, %v", got, err)
	}
}
