package trafficdb

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
)

const (
	// busyEvents are many for a step, which loads those of a second.
	busyEvents = 100
	// quietSteps with fewer than that make reports have all cores again.
	quietSteps = 10
)

// A throttle sets the number of DuckDB's threads: all at a low rate of events, half at a
// high one. With few cores, a report that uses all of them would delay the collection
// of events.
type throttle struct {
	busy  bool
	quiet int // steps in a row at which there was little
}

// step notes how many events a step loaded, and reports whether busy changed.
func (t *throttle) step(events int) (changed bool) {
	was := t.busy
	if events >= busyEvents {
		t.busy, t.quiet = true, 0
	} else if t.quiet++; t.quiet >= quietSteps {
		t.busy = false
	}
	return t.busy != was
}

// yield gives DuckDB half of the cores or all.
func (db *DB) yield(ctx context.Context, busy bool) error {
	threads := runtime.GOMAXPROCS(0)
	if busy {
		threads = max(threads/2, 1)
	}
	return db.use(func(pool *sql.DB) error {
		if _, err := pool.ExecContext(ctx, fmt.Sprintf("set threads = %d", threads)); err != nil {
			return fmt.Errorf("threads of %s: %w", db.file, err)
		}
		return nil
	})
}
