package evalwork

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// progressEvery is the shortest interval between progress events.
	progressEvery = 2 * time.Second
	// progressBytes limits progress events in bytes per second: runs with many lanes have
	// large events, and the store keeps all of them.
	progressBytes = 2 << 10
)

// errLeaseExpired means that the state store did not respond for the whole lease.
var errLeaseExpired = errors.New("the lease expired while the state store did not respond")

// A renewer renews the lease of a run and stores its progress. It is used by one
// goroutine at a time.
type renewer struct {
	*job
	last  []byte    // the last progress event
	next  time.Time // earliest time of the next event
	until time.Time
	order state.Order // the last order from the store
}

// begin renews the lease and stores the started event.
func (k *renewer) begin(ctx context.Context) error {
	return k.beat(ctx, body(startedEvent{"started", k.row.Attempt}))
}

// keep renews until ctx ends. It calls lost when another worker has the run, and cancel
// when the store's order changes.
func (k *renewer) keep(ctx context.Context, lost func(error), cancel func(state.Order)) {
	every := min(progressEvery, k.w.Lease/3)
	renewed := k.w.Now()
	for k.w.Sleep(ctx, every) == nil {
		events := k.progressEvents()
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
			lost(errLeaseExpired)
			return
		default:
			k.log.Warn("the lease of a run could not be renewed; trying again", "err", err)
		}
		if k.order != known {
			cancel(k.order)
		}
	}
}

// progressEvents returns a changed progress event when one is due.
func (k *renewer) progressEvents() [][]byte {
	if k.w.Now().Before(k.next) {
		return nil
	}
	now := k.clean(body(newProgressEvent(k.meter.read())))
	if bytes.Equal(now, k.last) {
		return nil
	}
	return [][]byte{now}
}

// beat renews the lease, with events of now.
func (k *renewer) beat(ctx context.Context, events ...[]byte) error {
	now := k.w.Now()
	var order state.Order
	plans := k.w.Plans
	err := k.w.DB.Write(ctx, func(tx *state.Tx) (err error) {
		if order, err = tx.RenewLease(ctx, k.row.Lease(), now, k.w.Lease, k.progress(k.meter.read())); err != nil {
			return err
		}
		if order.Stop == state.StopPlan {
			if on, known, err := tx.Plans(ctx); err != nil {
				return err
			} else if known {
				plans = on
			}
		}
		return appendEvents(ctx, tx, k.row.ID, now, events...)
	})
	if err != nil {
		return err
	}
	if order.Stop == state.StopPlan && !plans {
		order.Stop = ""
	}
	k.until, k.order = now.Add(k.w.Lease), order
	if len(events) > 0 {
		k.last = events[len(events)-1]
		k.next = now.Add(time.Duration(len(k.last)) * time.Second / progressBytes)
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
