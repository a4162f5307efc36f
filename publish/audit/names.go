package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/storage"
)

func validID(id string) bool { return publish.CheckID(id) == nil }

// current returns the id of the current snapshot.
func current(ctx context.Context, from storage.Opener) (string, error) {
	data, _, err := storage.ReadAll(ctx, from, "current")
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("no current snapshot: %w", publish.ErrNotFound)
	}
	id := strings.TrimSpace(string(data))
	if err == nil && !validID(id) {
		err = problem("current", "not the id of a snapshot: %.40q", id)
	}
	return id, err
}

// resolve returns the id of a snapshot from the start of it, where the place lists any.
func (o Options) resolve(ctx context.Context, book *logbook, start string) (string, error) {
	if validID(start) {
		return start, nil
	}
	ids := map[string]bool{}
	if place, ok := o.From.(storage.Store); ok {
		list, err := place.List(ctx, start)
		if err != nil {
			return start, err
		}
		for _, f := range list {
			if id, name, _ := strings.Cut(f.Name, "/"); name == "manifest.json" && validID(id) {
				ids[id] = true
			}
		}
	}
	if book != nil {
		for id := range book.live {
			if strings.HasPrefix(id, start) {
				ids[id] = true
			}
		}
	}
	if len(ids) != 1 {
		return start, fmt.Errorf("%q is the start of %d ids: %w", start, len(ids), ErrName)
	}
	for id := range ids {
		start = id
	}
	return start, nil
}
