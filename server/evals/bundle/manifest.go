package bundle

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/firstpick/firstpick/publish/bundle/format"
)

var (
	// ErrNotFound means that the bundle or the trial does not exist.
	ErrNotFound = errors.New("not found")
	// ErrCursor means that a cursor belongs to another bundle or filter.
	ErrCursor = errors.New("the cursor belongs to another list; start again without a cursor")
	// ErrClosed means that the bundle was closed.
	ErrClosed = errors.New("bundle: closed")
)

// A DamageError reports the part of a bundle that was altered.
type DamageError struct {
	// Path is the bundle's id and the file.
	Path   string
	Reason string
}

// Error implements error.
func (e *DamageError) Error() string {
	return "run bundle is damaged: " + e.Path + ": " + e.Reason + "; restore it from a copy, or have it made again"
}

func parseManifest(id string, data []byte) (format.Manifest, error) {
	damaged := func(reason string) error { return &DamageError{id + "/" + format.ManifestName, reason} }
	m := format.Manifest{ID: id}
	if got := digest(data)[:format.IDDigits]; got != id {
		return m, damaged("its hash is " + got)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, damaged(err.Error())
	}
	if m.SchemaVersion > format.SchemaVersion {
		return m, fmt.Errorf("run bundle %s has layout %d and this firstpick reads up to %d; update firstpick", id, m.SchemaVersion, format.SchemaVersion)
	}
	want := format.FileNames()
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
