package publish

import (
	"fmt"

	"github.com/firstpick/firstpick/analytics"
)

// ReadManifest reads the manifest of a snapshot and checks it against the id.
func ReadManifest(root, id string) (Manifest, error) {
	dir, err := openSnapshot(root, id)
	if err != nil {
		return Manifest{}, err
	}
	defer func() { _ = dir.Close() }()
	return readManifest(dir, id)
}

// LoadBoard reads one board of a snapshot, without what only reports have, and checks these
// two files alone: it is for series over many snapshots. The error is ErrNotFound for a
// category that the snapshot does not have.
func LoadBoard(root, id, category string) (m Manifest, b analytics.Board, err error) {
	dir, err := openSnapshot(root, id)
	if err != nil {
		return m, b, err
	}
	defer func() { _ = dir.Close() }()
	if m, err = readManifest(dir, id); err != nil {
		return m, b, err
	}
	for _, f := range m.Files {
		if f.Path != boardPath(category) {
			continue
		}
		data, err := readChecked(dir, f)
		if err != nil {
			return m, b, err
		}
		return m, b, decode(map[string][]byte{f.Path: data}, f.Path, &b)
	}
	return m, b, fmt.Errorf("board %s of snapshot %s: %w", category, id, ErrNotFound)
}
