package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/views"
)

// Snapshots are the published snapshots. The address of the service is set by the Follower.
type Snapshots interface {
	// Interval is how often Current is called.
	Interval() time.Duration
	// Current returns the id of the current snapshot; empty before the first.
	Current(ctx context.Context) (id string, err error)
	// Load reads and verifies a snapshot.
	Load(ctx context.Context, id string) (snapshotview.Input, error)
	// Retracted returns the reason for which the log retracts a snapshot; empty without one.
	// It is cheap while the log does not change.
	Retracted(ctx context.Context, id string) (reason string, err error)
	// Moves compares a snapshot with the one before it. before is empty without one.
	Moves(ctx context.Context, id string) (before string, moves []views.Move, err error)
	// Trends returns the rates of boards over the last snapshots up to one, oldest first.
	Trends(ctx context.Context, id string, categories []string) ([]nights.Series, error)
}

// A Follower serves every new current snapshot. It logs once that a snapshot does not load,
// or that the place of the snapshots does not answer, and keeps serving the one before.
type Follower struct {
	Snapshots Snapshots
	Holder    *snapshotview.Holder
	BaseURL   string
	Contact   string // of the operator, mailto: or https:; empty without one
	Log       *slog.Logger
	Now       func() time.Time // for the age of data; nil leaves it out

	refused  string // id and error that were logged last
	serving  string
	compared bool   // the changes since the snapshot before are known, or cannot be
	unread   string // error of the log that was logged last
}

// run polls until ctx ends.
func (f *Follower) run(ctx context.Context, sleep func(context.Context, time.Duration) error) {
	for sleep(ctx, f.Snapshots.Interval()) == nil {
		f.Poll(ctx)
	}
}

// Poll serves the current snapshot if it is a new one. Of the one that is served it adds what
// takes longer, and what comes later: the changes since the snapshot before and the trends, at the
// next call, and a retraction.
func (f *Follower) Poll(ctx context.Context) {
	id, err := f.Snapshots.Current(ctx)
	switch {
	case err != nil || id == "":
	case id != f.serving:
		err = f.load(ctx, id)
	default:
		err = f.correct(ctx)
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
	in.ID, in.BaseURL, in.Contact, in.Retracted = id, f.BaseURL, f.Contact, f.retracted(ctx, id, "")
	if f.Now != nil {
		in.Now = f.Now()
	}
	view, err := snapshotview.Build(in)
	if err != nil {
		return err
	}
	f.Holder.Set(view)
	f.serving, f.compared = id, false
	f.Log.Info("serving snapshot", "id", id, "categories", len(view.Boards))
	return nil
}

// correct serves the same snapshot with what became known of it.
func (f *Follower) correct(ctx context.Context) error {
	site := f.Holder.Current()
	news := site.News
	if news.Retracted = f.retracted(ctx, f.serving, news.Retracted); !f.compared {
		f.compared = true
		var err error
		if news.Before, news.Moves, err = f.Snapshots.Moves(ctx, f.serving); err != nil && ctx.Err() == nil {
			f.Log.Warn("the snapshot is not compared with the one before it", "id", f.serving, "err", err)
		}
		if news.Trends, err = f.Snapshots.Trends(ctx, f.serving, categories(site)); err != nil && ctx.Err() == nil {
			f.Log.Warn("earlier snapshots are not read: pages of tools show no trend", "id", f.serving, "err", err)
		}
	}
	if news.Equal(site.News) {
		return nil
	}
	next, err := site.With(news)
	if err == nil {
		f.Holder.Set(next)
	}
	return err
}

func categories(s *snapshotview.Site) []string {
	out := make([]string, len(s.Boards))
	for i := range s.Boards {
		out[i] = s.Boards[i].Category
	}
	return out
}

// retracted returns the reason of a retraction; what was known of it while the log cannot be
// read, which is logged once.
func (f *Follower) retracted(ctx context.Context, id, known string) string {
	reason, err := f.Snapshots.Retracted(ctx, id)
	if err == nil {
		f.unread = ""
		return reason
	}
	if err.Error() != f.unread && ctx.Err() == nil {
		f.unread = err.Error()
		f.Log.Warn("the log is not read: a retraction of the snapshot would not be shown", "id", id, "err", err)
	}
	return known
}
