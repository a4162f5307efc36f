package publish

import (
	"context"
	"fmt"
	"path"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/storage"
)

// LoadBoard reads the manifest of a snapshot and one of its boards, each checked against its
// digest, and no other file: the series of a history reads many snapshots. The board has no
// BeatenBy, Breakdown and Prompts. The error is ErrNotFound, also for a board that the snapshot
// does not have, or a *DamageError if they apply.
func (p Place) LoadBoard(ctx context.Context, id, category string) (m Manifest, b analytics.Board, err error) {
	manifest, from, err := p.manifest(ctx, id)
	if err != nil {
		return m, b, err
	}
	if m, err = ParseManifest(id, manifest); err != nil {
		return m, b, err
	}
	for _, f := range m.Files {
		if f.Path != boardPath(category) {
			continue
		}
		data, _, err := storage.ReadAll(ctx, from, path.Join(id, f.Path))
		if err == nil && content.Digest(data) != f.SHA256 {
			err = &DamageError{Path: f.Path, Reason: "hash differs from the manifest"}
		}
		if err != nil {
			return m, b, err
		}
		return m, b, decode(map[string][]byte{f.Path: data}, f.Path, &b)
	}
	return m, b, fmt.Errorf("board %s of snapshot %s: %w", category, id, ErrNotFound)
}
