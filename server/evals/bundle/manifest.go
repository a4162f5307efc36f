package bundle

import (
	"encoding/json"
	"fmt"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/trialset"
)

func damaged(id, name, reason string) error {
	return &trialset.DamageError{Of: "run bundle", Path: id + "/" + name, Reason: reason}
}

func parseManifest(id string, data []byte) (format.Manifest, error) {
	damaged := func(reason string) error { return damaged(id, format.ManifestName, reason) }
	m := format.Manifest{ID: id}
	if got := format.ID(data); got != id {
		return m, damaged("its hash is " + got)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, damaged(err.Error())
	}
	if m.SchemaVersion > format.SchemaVersion {
		return m, fmt.Errorf("run bundle %s has layout %d and this firstpick reads up to %d; update firstpick", id, m.SchemaVersion, format.SchemaVersion)
	}
	want := format.FileNames(m.SchemaVersion)
	if len(m.Files) != len(want) {
		return m, damaged(fmt.Sprintf("lists %d files, not %d", len(m.Files), len(want)))
	}
	for i, f := range m.Files {
		if f.Path != want[i] || f.Bytes < 0 {
			return m, damaged(fmt.Sprintf("lists %q of %d bytes, where %s belongs", f.Path, f.Bytes, want[i]))
		}
	}
	return m, nil
}
