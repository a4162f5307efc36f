package reporter

import (
	"context"
	"errors"
	"time"

	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/store/state"
)

// StoredEvents reads the events of the store for a trafficdb.Loader.
func StoredEvents(db *state.DB) trafficdb.Source {
	return func(ctx context.Context, seq int64, limit int) ([]trafficdb.Stored, error) {
		list, err := db.Read().EventsAfter(ctx, seq, limit)
		out := make([]trafficdb.Stored, len(list))
		for i, e := range list {
			out[i] = trafficdb.Stored{Seq: e.Seq, Workspace: e.WorkspaceID, Body: e.Body}
		}
		return out, err
	}
}

// IsAhead reports whether the read model was loaded from a later state of the store, as
// after a restore of an older backup. The store then reuses sequence numbers, and a
// loader that continues from the model's would skip new events.
func IsAhead(ctx context.Context, db *state.DB, events *trafficdb.DB) (bool, error) {
	mark, err := events.Mark(ctx)
	if err != nil {
		return false, err
	}
	last, err := db.Read().LastSeq(ctx)
	return mark > last, err
}

// Adopt binds the read model to the store. It rebuilds a model that is of a later state of
// the store, or of a store that this one was restored from, and returns why. The model of
// another store is a *trafficdb.ForeignError.
func Adopt(ctx context.Context, db *state.DB, events *trafficdb.DB) (rebuilt string, err error) {
	var foreign *trafficdb.ForeignError
	err = events.Claim(ctx, db.ID())
	switch {
	case errors.As(err, &foreign) && db.RestoredFrom(foreign.Store):
		rebuilt = "the store was restored from a backup"
	case err != nil:
		return "", err
	default:
		ahead, err := IsAhead(ctx, db, events)
		if err != nil || !ahead {
			return "", err
		}
		rebuilt = "the store was restored from an older backup"
	}
	return rebuilt, events.RebuildFor(ctx, db.ID())
}

// DropExpired deletes events from the read model that are past the retention of their
// workspace, and all events of deleted workspaces.
func DropExpired(ctx context.Context, db *state.DB, events *trafficdb.DB, now time.Time) error {
	workspaces, err := events.Workspaces(ctx) // first: a workspace created later must not look deleted
	if err != nil {
		return err
	}
	retention, err := db.Read().Retentions(ctx)
	if err != nil {
		return err
	}
	for _, w := range workspaces {
		before := now.Add(24 * time.Hour) // later than all events
		if days, exists := retention[w]; exists {
			before = now.AddDate(0, 0, -days)
		}
		if _, err := events.DropBefore(ctx, w, before); err != nil {
			return err
		}
	}
	return nil
}
