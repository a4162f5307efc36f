package trialstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/analytics/trialstore"
)

// TestUntrustedFilesAreBounded opens small files that unpack to far more.
func TestUntrustedFilesAreBounded(t *testing.T) {
	db, err := duck.Open(t.Context(), "", fstest.MapFS{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	write := func(name, id string, rows int) string {
		path := filepath.Join(t.TempDir(), name)
		_, err := db.ExecContext(t.Context(), fmt.Sprintf(`copy (
			select %s as trial_id, 'c' as category, 'e' as eval, 'p' as prompt_id, 'a' as agent, 'none' as template, 1 as repeat, 'none' as outcome,
				'' as picked, '' as shortlist, false as mismatch, timestamp '2026-01-01' as finished_at, false as synthetic
			from range(%d)) to %s (format parquet, compression zstd)`, id, rows, duck.Quote(path)))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	short, long := write("short", "'x'", 300_000), write("long", "repeat('x', 10000)", 120_000)
	for name, tc := range map[string]struct {
		path   string
		trials int
		want   string
	}{
		"as many":         {short, 300_000, ""},
		"fewer":           {short, 299_999, "another number of trials: 300000"},
		"more":            {short, 300_001, "another number of trials: 300000"},
		"over the limit":  {short, 5_000_001, "at most 5000000 are checked"},
		"long texts":      {long, 120_000, "bytes of text"},
		"no numbers":      {write("number", "7", 1), 1, "strlen"},
		"not Parquet":     {text(t, "12345678"), 1, "footer of"},
		"a short file":    {text(t, "1"), 1, "too short"},
		"no file":         {"nosuch", 1, "no such file"},
		"a broken footer": {text(t, "PAR1....\x04\x00\x00\x00PAR1"), 1, "read "},
	} {
		s, err := trialstore.OpenUntrusted(t.Context(), tc.path, tc.trials)
		if tc.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			_ = s.Close()
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, trialstore.ErrRows) != strings.Contains(tc.want, "another") {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
	}
}

func text(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
