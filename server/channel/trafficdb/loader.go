package trafficdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/server/channel/event"
)

// batchEvents is how many events a Step loads at most, unless the Loader has
// otherwise. A full batch takes some tenths of a second.
const batchEvents = 20_000

// Stored is an event as the state store has it.
type Stored struct {
	Seq       int64
	Workspace string
	Body      []byte // event.Record as JSON
}

// A Source returns stored events behind a sequence number, in order, limit at
// most. Numbers are in the order of commits: no event may appear later with a
// number at or before one that was returned.
type Source func(ctx context.Context, seq int64, limit int) ([]Stored, error)

// A Loader moves events from the state store into the database. Source, DB and
// Log are required.
type Loader struct {
	Source Source
	DB     *DB
	Log    *slog.Logger
	Batch  int // events of one transaction at most; 0 is 20,000

	skipped  atomic.Int64
	dirty    bool     // something was loaded since the last checkpoint; of Run
	throttle throttle // of Run
}

var errNoType = errors.New("no type")

// Skipped returns how many events could not be read since the Loader started.
func (l *Loader) Skipped() int64 { return l.skipped.Load() }

// Step loads one batch and returns how many events it read; fewer than a batch
// at the end of the queue. An unreadable event is logged, counted and skipped; an erased
// one is skipped, and an erasure removes the events that it lists.
func (l *Loader) Step(ctx context.Context) (n int, err error) {
	n, _, err = l.step(ctx)
	return n, err
}

// manyBytes of events may be all that a source returns although there are more.
const manyBytes = 16 << 20

// step is Step, and reports whether there may be more.
func (l *Loader) step(ctx context.Context) (n int, more bool, err error) {
	// Locked from the read to the write, so that a batch read before an Erase or Rebuild
	// does not restore removed events.
	l.DB.loading.Lock()
	defer l.DB.loading.Unlock()
	mark, err := l.DB.Mark(ctx)
	if err != nil {
		return 0, false, err
	}
	events, err := l.Source(ctx, mark, l.batch())
	if err != nil {
		return 0, false, fmt.Errorf("events after %d: %w", mark, err)
	}
	if len(events) == 0 {
		return 0, false, nil
	}
	b := batch{rows: make([]Row, 0, len(events)), mark: events[len(events)-1].Seq, erased: map[string][]int64{}}
	size := 0
	for _, e := range events {
		size += len(e.Body)
		if err := b.add(e); err != nil {
			l.skipped.Add(1)
			l.Log.LogAttrs(ctx, slog.LevelError, "event skipped", slog.Int64("seq", e.Seq), slog.String("workspace", e.Workspace), slog.Any("err", err))
		}
	}
	if err := l.DB.load(ctx, b); err != nil {
		return len(events), false, err
	}
	return len(events), len(events) == l.batch() || size > manyBytes, l.DB.sortDue(ctx)
}

// Two types that no sender can make: the state store writes them.
const (
	erased  event.Type = "erased"  // the rest of an erased event
	erasure event.Type = "erasure" // events of its workspace are erased
)

// add reads an event into the batch.
func (b *batch) add(e Stored) error {
	row := Row{Seq: e.Seq, Workspace: e.Workspace}
	if err := json.Unmarshal(e.Body, &row.Record); err != nil {
		return err
	}
	switch row.Type {
	case "":
		return errNoType
	case erased:
	case erasure:
		var what struct {
			Seqs []int64 `json:"seqs"`
		}
		if err := json.Unmarshal(e.Body, &what); err != nil {
			return err
		}
		b.erase(e.Workspace, what.Seqs)
	default:
		b.rows = append(b.rows, row)
	}
	return nil
}

// erase drops earlier rows of the batch, and records those that may be in the database.
func (b *batch) erase(workspace string, seqs []int64) {
	b.erased[workspace] = append(b.erased[workspace], seqs...)
	gone := make(map[int64]bool, len(seqs))
	for _, seq := range seqs {
		gone[seq] = true
	}
	b.rows = slices.DeleteFunc(b.rows, func(r Row) bool { return r.Workspace == workspace && gone[r.Seq] })
}

func (l *Loader) batch() int {
	if l.Batch > 0 {
		return l.Batch
	}
	return batchEvents
}

// Run loads new events at each tick, until ctx ends or tick is closed. Failures are
// logged and retried at the next tick. A damaged database is rebuilt.
func (l *Loader) Run(ctx context.Context, tick <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case at, ok := <-tick:
			if !ok {
				return
			}
			if err := l.catchUp(ctx, at); err != nil && ctx.Err() == nil {
				l.Log.LogAttrs(ctx, slog.LevelError, "traffic not loaded", slog.Any("err", err))
			}
		}
	}
}

// catchUp loads all that was committed before a time, and checkpoints when there
// was nothing.
func (l *Loader) catchUp(ctx context.Context, at time.Time) error {
	for {
		n, more, err := l.step(ctx)
		if duck.IsDamaged(err) {
			l.Log.LogAttrs(ctx, slog.LevelWarn, "damaged traffic database rebuilt", slog.Any("err", err))
			err = l.DB.Rebuild(ctx)
			l.throttle = throttle{}
		}
		if err == nil && l.throttle.step(n) {
			err = l.DB.yield(ctx, l.throttle.busy)
		}
		if err != nil {
			return err
		}
		if more {
			l.dirty = true
			continue
		}
		l.DB.Idle(at)
		if n > 0 {
			l.dirty = true
			return nil
		}
		if !l.dirty {
			return nil
		}
		l.dirty = false
		return l.DB.Checkpoint(ctx)
	}
}

// Idle notes that all events accepted before a time are loaded; see Health.
func (db *DB) Idle(at time.Time) {
	db.idle.Lock()
	defer db.idle.Unlock()
	db.idle.at = at
}
