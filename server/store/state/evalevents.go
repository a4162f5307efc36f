package state

import (
	"context"
	"time"
)

// A RunEvent is an event of a run, streamed to its watchers.
type RunEvent struct {
	Seq  int64 // 1, 2, 3 in a run
	At   time.Time
	Body []byte
}

// AppendRunEvents stores and numbers events of a run, in order. Concurrent readers
// miss no event. It fails with ErrNotFound when there is no such run. Workers call
// RenewLease in the same transaction, so that one that lost its run adds no events.
func (tx *Tx) AppendRunEvents(ctx context.Context, run string, events []RunEvent) error {
	var seq int64
	if err := tx.one(ctx, []any{&seq}, "update eval_run set last_event = last_event + $2 where id = $1 returning last_event - $2", run, len(events)); err != nil {
		return err
	}
	for i := range events {
		events[i].Seq = seq + int64(i) + 1
		if _, err := tx.exec(ctx, "insert into eval_run_event (run_id, seq, happened_at, body) values ($1, $2, $3, $4)",
			run, events[i].Seq, us(events[i].At), bytes(events[i].Body)); err != nil {
			return err
		}
	}
	return nil
}

// RunEventsAfter returns the events of a run that come after one, in order.
// Those of runs that ended long ago are gone (Sweep).
func (tx *Tx) RunEventsAfter(ctx context.Context, run string, seq int64, limit int) ([]RunEvent, error) {
	var out []RunEvent
	err := tx.list(ctx, func(row scanner) error {
		var e RunEvent
		var at int64
		err := row.Scan(&e.Seq, &at, &e.Body)
		e.At = fromUS(at)
		out = append(out, e)
		return err
	}, "select seq, happened_at, body from eval_run_event where run_id = $1 and seq > $2 order by seq limit $3", run, seq, limit)
	return out, err
}
