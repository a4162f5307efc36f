package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/public/views"
)

// Manifest returns the manifest of a snapshot that List has. The error is an *apierr.Error:
// 404 for one that is not there.
func (h *Handler) Manifest(ctx context.Context, id string) (views.Manifest, error) {
	if !snapshotID.MatchString(id) {
		return views.Manifest{}, noSnapshot()
	}
	m, err := get(ctx, h, "manifest "+id, func(ctx context.Context) (m views.Manifest, err error) {
		doc, err := h.read(ctx, id+"/"+manifestName)
		if err != nil {
			return m, err
		}
		if err := json.Unmarshal(doc.data, &m); err != nil {
			return m, fmt.Errorf("manifest of snapshot %s: %w", id, err)
		}
		return m, nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return m, noSnapshot()
	}
	if err != nil {
		return m, apierr.Of(err)
	}
	return m, nil
}
