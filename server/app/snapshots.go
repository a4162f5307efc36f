package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// Snapshots are the published snapshots. The address of the service is set by the Follower.
type Snapshots interface {
	// Interval is how often Current is called.
	Interval() time.Duration
	// Current returns the id of the current snapshot; empty before the first.
	Current(ctx context.Context) (id string, err error)
	// Load reads and verifies a snapshot.
	Load(ctx context.Context, id string) (snapshotview.Input, error)
}

// A Follower serves every new current snapshot. It logs once that a snapshot does not load,
// or that the place of the snapshots does not answer, and keeps serving the one before.
type Follower struct {
	Snapshots Snapshots
	Holder    *snapshotview.Holder
	BaseURL   string
	Log       *slog.Logger

	refused string // id and error that were logged last
	serving string
}

// run polls until ctx ends.
func (f *Follower) run(ctx context.Context, sleep func(context.Context, time.Duration) error) {
	for sleep(ctx, f.Snapshots.Interval()) == nil {
		f.Poll(ctx)
	}
}

// Poll serves the current snapshot if it is a new one.
func (f *Follower) Poll(ctx context.Context) {
	id, err := f.Snapshots.Current(ctx)
	if err == nil && id != "" && id != f.serving {
		err = f.load(ctx, id)
	}
	if err == nil {
		f.refused = ""
		return
	}
	if refused := id + err.Error(); refused != f.refused && ctx.Err() == nil {
		f.refused = refused
		f.Log.Error("the current snapshot is refused; the one before stays", "id", id, "serving", f.serving, "err", err)
	}
}

func (f *Follower) load(ctx context.Context, id string) error {
	in, err := f.Snapshots.Load(ctx, id)
	if err != nil {
		return err
	}
	in.ID, in.BaseURL = id, f.BaseURL
	view, err := snapshotview.Build(in)
	if err != nil {
		return err
	}
	f.Holder.Set(view)
	f.serving = id
	f.Log.Info("serving snapshot", "id", id, "categories", len(in.Boards))
	return nil
}
