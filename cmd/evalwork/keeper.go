package evalwork

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// tellEvery is how often a run's progress is told at most.
	tellEvery = 2 * time.Second
	// tellBytes is how much of it is told a second: a run of many lanes has much to
	// tell each time, and the store keeps all of it.
	tellBytes = 2 << 10
)

// errSilent means that the store could not be told for as long as the lease.
var errSilent = errors.New("the lease ended while the state store did not answer")

// A keeper renews the lease of a run and tells how it stands. It is used by one
// goroutine at a time.
type keeper struct {
	*job
	told  []byte    // the last progress event
	next  time.Time // not before then another
	until time.Time
	order state.Order // what the store said last
}

// begin renews the lease and tells that the run is at work.
func (k *keeper) begin(ctx context.Context) error {
	return k.beat(ctx, body(startedEvent{"started", k.row.Attempt}))
}

// keep renews until ctx ends. lost is called when the run is somebody else's, cancel
// with what the store says of the run when that changes.
func (k *keeper) keep(ctx context.Context, lost func(error), cancel func(state.Order)) {
	every := min(tellEvery, k.w.Lease/3)
	renewed := k.w.Now()
	for k.w.Sleep(ctx, every) == nil {
		events := k.news()
		now := k.w.Now()
		if events == nil && now.Sub(renewed) < k.w.Lease/3 {
			continue
		}
		known := k.order
		switch err := k.beat(ctx, events...); {
		case err == nil:
			renewed = now
		case ctx.Err() != nil:
			return
		case errors.Is(err, state.ErrLeaseLost):
			lost(err)
			return
		case !k.w.Now().Before(k.until):
			lost(errSilent)
			return
		default:
			k.log.Warn("the lease of a run could not be renewed; trying again", "err", err)
		}
		if k.order != known {
			cancel(k.order)
		}
	}
}

// news is what changed since it was told last, if it is time to tell.
func (k *keeper) news() [][]byte {
	if k.w.Now().Before(k.next) {
		return nil
	}
	now := k.clean(body(tell(k.gauge.read())))
	if bytes.Equal(now, k.told) {
		return nil
	}
	return [][]byte{now}
}

// beat renews the lease, with events of now.
func (k *keeper) beat(ctx context.Context, events ...[]byte) error {
	now := k.w.Now()
	var order state.Order
	err := k.w.DB.Write(ctx, func(tx *state.Tx) (err error) {
		if order, err = tx.RenewLease(ctx, k.row.Lease(), now, k.w.Lease, k.progress(k.gauge.read())); err != nil {
			return err
		}
		return appendEvents(ctx, tx, k.row.ID, now, events...)
	})
	if err != nil {
		return err
	}
	k.until, k.order = now.Add(k.w.Lease), order
	if len(events) > 0 {
		k.told = events[len(events)-1]
		k.next = now.Add(time.Duration(len(k.told)) * time.Second / tellBytes)
	}
	return nil
}

func appendEvents(ctx context.Context, tx *state.Tx, run string, now time.Time, bodies ...[]byte) error {
	if len(bodies) == 0 {
		return nil
	}
	events := make([]state.RunEvent, len(bodies))
	for i := range bodies {
		events[i] = state.RunEvent{At: now, Body: bodies[i]}
	}
	return tx.AppendRunEvents(ctx, run, events)
}
