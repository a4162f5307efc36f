package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// pollInterval is how often the pointer to the current snapshot is read.
const pollInterval = 500 * time.Millisecond

// Snapshots are the published snapshots. The address of the service is set by the Follower.
type Snapshots interface {
	// Current returns the id of the current snapshot; empty before the first.
	Current() (id string, err error)
	// Load reads and verifies a snapshot.
	Load(id string) (snapshotview.Input, error)
}

// A Follower serves every new current snapshot. It refuses a snapshot that does not load,
// logs that once, and keeps serving the one before.
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
	for sleep(ctx, pollInterval) == nil {
		f.Poll()
	}
}

// Poll serves the current snapshot if it is a new one.
func (f *Follower) Poll() {
	id, err := f.Snapshots.Current()
	if err == nil && (id == "" || id == f.serving) {
		return
	}
	if err == nil {
		err = f.load(id)
	}
	if err == nil {
		f.refused = ""
		return
	}
	if refused := id + err.Error(); refused != f.refused {
		f.refused = refused
		f.Log.Error("the current snapshot is refused; the one before stays", "id", id, "serving", f.serving, "err", err)
	}
}

func (f *Follower) load(id string) error {
	in, err := f.Snapshots.Load(id)
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
