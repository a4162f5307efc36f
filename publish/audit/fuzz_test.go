package audit_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/publish/audit"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/storage"
)

// files is an Opener in memory.
type files map[string][]byte

type memoryFile struct {
	*bytes.Reader
	name string
}

func (f memoryFile) Close() error       { return nil }
func (f memoryFile) Info() storage.Info { return storage.Info{Name: f.name, Size: f.Size()} }

func (f files) Open(_ context.Context, name string) (storage.File, error) {
	data, ok := f[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return memoryFile{bytes.NewReader(data), name}, nil
}

const (
	emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	manifest    = `{"schemaVersion":1,"statistics":2,"generator":"g","catalog":"c","extractor":"e","asOf":null,"synthetic":false,"counts":{},"evals":[{"name":"e","category":"c","runs":[{"asOf":null,"planned":1,"valid":1,"published":true,"registered":{"index":-1}}]}],"notes":[],"files":[{"path":"PATH","sha256":"` + emptyDigest + `","bytes":0}]}`
)

// FuzzManifest: a manifest of another origin never verifies and never leaves its folder.
func FuzzManifest(f *testing.F) {
	for _, path := range []string{"trials.parquet", "../x", "/x", "a/../b", "manifest.json", "catalog.json"} {
		f.Add(bytes.Replace([]byte(manifest), []byte("PATH"), []byte(path), 1))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		id := content.Digest(data)[:20]
		place := files{"current": []byte(id + "\n"), id + "/manifest.json": data, id + "/catalog.json": nil, id + "/trials.parquet": nil}
		if r, err := audit.Run(t.Context(), audit.Options{From: place, Address: "x"}); err == nil {
			t.Errorf("verified: %+v", r)
		}
	})
}

// Manifests that contradict themselves are refused before a file is read, and an interrupted
// check leaves no files.
func TestDownload(t *testing.T) {
	file := func(path string) string { return `{"path":"` + path + `","sha256":"` + emptyDigest + `","bytes":0}` }
	for want, list := range map[string]string{
		"catalog.json/b: unexpected file in a snapshot": file("catalog.json") + "," + file("catalog.json/b"),
		"files are sorted, each occurs once":            file("catalog.json") + "," + file("catalog.json"),
		"does not list rows.ndjson.gz":                  file("catalog.json"),
		"context canceled":                              file("rows.ndjson.gz"),
	} {
		tmp := t.TempDir()
		t.Setenv("TMPDIR", tmp)
		ctx, cancel := context.WithCancel(t.Context())
		data := []byte(strings.Replace(strings.Replace(manifest, `"schemaVersion":1`, `"schemaVersion":2,"evidence":"quotes"`, 1), file("PATH"), list, 1))
		id := content.Digest(data)[:20]
		_, err := audit.Run(ctx, audit.Options{Address: "x", Snapshot: id, From: hooked{files{id + "/manifest.json": data}, func(name string) error {
			if name == id+"/rows.ndjson.gz" {
				cancel()
				return ctx.Err()
			}
			return nil
		}}})
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", want, left, err)
		}
	}
}
