package publish_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/publish"
)

const oldID = "03ca6795a1cb72fc561b" // layout 1, formulas 1

// oldSnapshot unpacks the snapshot of an older program and returns its folder.
func oldSnapshot(t *testing.T) string {
	t.Helper()
	f, err := os.Open("../cmd/firstpick/testdata/old/old.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for all := tar.NewReader(zip); ; {
		h, err := all.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(dir, "unsigned")
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg || !strings.HasPrefix(h.Name, "unsigned/") {
			continue
		}
		data, err := io.ReadAll(all)
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o750), os.WriteFile(name, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// Of a snapshot by older formulas, everything that follows from counts is recomputed.
func TestForgedOldSnapshots(t *testing.T) {
	const board, report = "boards/webserver.json", "reports/webserver/flask.json"
	root := oldSnapshot(t)
	if r, err := publish.Verify(t.Context(), root, oldID, nil); err != nil || !r.Counts || r.Documents != 16 || r.Trials != 52 {
		t.Fatalf("%+v, %v", r, err)
	}
	for name, tc := range map[string]struct{ file, old, replacement, blamed string }{
		"a rate":                 {board, `"pickRate":0.961538,"ciLow"`, `"pickRate":0.99,"ciLow"`, board},
		"a rate of an agent":     {board, `"slug":"flask","pickRate":1,"picks":8`, `"slug":"flask","pickRate":0.5,"picks":8`, board},
		"a shortlist rate":       {board, `"shortlistRate":0.038462`, `"shortlistRate":0.5`, board},
		"a rank":                 {board, `"rank":2,"rankLow":2`, `"rank":3,"rankLow":2`, board},
		"an order":               {board, `"slug":"aiohttp"`, `"slug":"bottle"`, board},
		"a mark of the board":    {board, `"synthetic":true`, `"synthetic":false`, board},
		"a warning":              {board, `,"synthetic"],"url":"/tools/flask"`, `],"url":"/tools/flask"`, board},
		"a field of today":       {board, `"nTrials":52,"nPrompts"`, `"estimand":"E","nTrials":52,"nPrompts"`, board},
		"a rate of a report":     {report, `"pickRate":0.961538`, `"pickRate":0.99`, report},
		"a lead":                 {"reports/webserver/fastapi.json", `"diff":0.923077`, `"diff":0.99`, "reports/webserver/fastapi.json"},
		"an interval":            {report, `"ciLow":0.514924`, `"ciLow":0.6`, report}, // unlike the board's
		"the list":               {"categories.json", `"nTrials":52`, `"nTrials":53`, "categories.json"},
		"a mark":                 {"manifest.json", `"synthetic":true,"counts"`, `"synthetic":false,"counts"`, "manifest.json"},
		"a mark of an eval":      {"manifest.json", `"valid":36,"synthetic":true`, `"valid":36,"synthetic":false`, "manifest.json"},
		"a file of no kind":      {"manifest.json", `"path":"refs.json"`, `"path":"refs.jsom"`, "refs.jsom"},
		"trials of a new kind":   {"manifest.json", `"path":"trials.parquet"`, `"path":"trials/webserver/cut/traces.zst"`, "trials/webserver/cut/traces.zst"},
		"a layout of no version": {"manifest.json", `"schemaVersion":1`, `"schemaVersion":0`, "manifest.json"},
	} {
		root := oldSnapshot(t)
		_, err := publish.Verify(t.Context(), root, forge(t, root, oldID, tc.file, tc.old, tc.replacement), nil)
		if damage := (*publish.DamageError)(nil); !errors.As(err, &damage) || damage.Path != tc.blamed {
			t.Errorf("%s: error %v, want one that blames %s", name, err, tc.blamed)
		}
	}
}
