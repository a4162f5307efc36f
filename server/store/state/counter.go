package state

import (
	"context"
	"errors"
	"time"
)

// A Count is the state of a sliding window: the events of the current slot, those
// of the slot before, and the elapsed part of the current slot.
type Count struct {
	Current, Before int64
	Into, Window    time.Duration
}

// Estimate returns the number of events in the window that ends now: the current
// slot, and of the slot before the share that the window still covers.
func (c Count) Estimate() float64 {
	return float64(c.Current) + float64(c.Before)*(1-c.Into.Seconds()/c.Window.Seconds())
}

// Count adds one to a counter and returns it. The name is stored as a keyed hash.
func (tx *Tx) Count(ctx context.Context, name string, window time.Duration, now time.Time) (Count, error) {
	c, key, slot := tx.window(name, window, now)
	if err := tx.one(ctx, []any{&c.Current}, `insert into counter (name, slot, n, expires_at) values ($1, $2, 1, $3)
		on conflict (name, slot) do update set n = counter.n + 1 returning n`, key, slot, us(now.Add(2*window))); err != nil {
		return c, err
	}
	var err error
	c.Before, err = tx.slot(ctx, key, slot-1)
	return c, err
}

// Counted returns a counter without adding.
func (tx *Tx) Counted(ctx context.Context, name string, window time.Duration, now time.Time) (Count, error) {
	c, key, slot := tx.window(name, window, now)
	var err error
	if c.Current, err = tx.slot(ctx, key, slot); err == nil {
		c.Before, err = tx.slot(ctx, key, slot-1)
	}
	return c, err
}

func (tx *Tx) window(name string, window time.Duration, now time.Time) (c Count, key []byte, slot int64) {
	w := window.Microseconds()
	return Count{Into: time.Duration(now.UnixMicro()%w) * time.Microsecond, Window: window},
		tx.mac("counter", window.String()+" "+name), now.UnixMicro() / w
}

func (tx *Tx) slot(ctx context.Context, key []byte, slot int64) (int64, error) {
	var n int64
	err := tx.one(ctx, []any{&n}, "select n from counter where name = $1 and slot = $2", key, slot)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return n, err
}
