package publish

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/publish/trialset"
)

// FuzzManifest holds that a manifest that is accepted names files below the snapshot, each
// once.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":1,"files":[{"path":"refs.json","sha256":"00","bytes":3}]}`))
	f.Add([]byte(`{"schemaVersion":2,"evidence":"full","evals":[{"name":"a","category":"b"}],"files":[]}`))
	f.Add([]byte(`{"schemaVersion":2,"evidence":"all"}`))
	f.Add([]byte(`{"schemaVersion":2,"evidence":"none","evals":[{"name":"..","category":"b"}]}`))
	f.Add([]byte(`{"schemaVersion":1,"files":[{"path":"../refs.json"}]}`))
	f.Add([]byte(`{"schemaVersion":2,"evidence":"none","evals":[{"name":"a/../b:c","category":"b"},{"name":"b","category":"b/../b"}]}`))
	f.Add([]byte(`{"schemaVersion":3}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(strings.Repeat("0", 20), data)
		var damage *DamageError
		switch {
		case err != nil && (m.SchemaVersion <= SchemaVersion) != errors.As(err, &damage):
			t.Errorf("error %v", err)
		case err != nil:
			return
		}
		for i, file := range m.Files {
			if !fs.ValidPath(file.Path) || file.Bytes < 0 || i > 0 && m.Files[i-1].Path >= file.Path {
				t.Errorf("%+v passes", file)
			}
		}
		for i, e := range m.Evals {
			place := trialset.Folder(e.Category, e.Name)
			if m.SchemaVersion > 1 && (!fs.ValidPath(place) || strings.Count(place, "/") != 2 ||
				slices.ContainsFunc(m.Evals[:i], func(o Eval) bool { return trialset.Folder(o.Category, o.Name) == place })) {
				t.Errorf("%s passes", place)
			}
		}
	})
}
