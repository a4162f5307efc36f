package duck_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firstpick/firstpick/analytics/duck"
)

// TestExtensionsLeftOut: what slim.cpp leaves out of the program is not in it, and what the
// queries need is. Every other test of the read models holds for the slim program too.
func TestExtensionsLeftOut(t *testing.T) {
	db, err := duck.Open(t.Context(), "", fstest.MapFS{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for statement, want := range map[string]string{
		"select json_array(1, 2)":                             "json",
		"select * from sql_auto_complete('sel')":              "sql_auto_complete",
		"select 'a' collate de":                               "collat",
		"select count(*) from read_json_auto('nothing.json')": "json",
	} {
		_, err := db.ExecContext(t.Context(), statement)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%s: %v, want an error with %q", statement, err, want)
		}
	}
	for _, statement := range []string{
		"select strftime(now()::timestamp, '%Y'), date_trunc('day', timestamp '2026-11-23 10:00:00'), time_bucket(interval 1 hour, timestamp '2026-11-23 10:00:00')",
		"select list_sort([2, 1]), regexp_matches('abc', 'b'), median(x) from range(3) t(x)",
		"select * from parquet_metadata('/nothing') where false",
	} {
		_, err := db.ExecContext(t.Context(), statement)
		if err != nil && !strings.Contains(err.Error(), "No files found") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
