package state

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// EventSpan is how many sequence numbers one statement about old events covers. It
// keeps statements short.
const EventSpan = 50_000

// LastSeq returns the highest sequence number that was given.
func (tx *Tx) LastSeq(ctx context.Context) (int64, error) {
	var n int64
	err := tx.one(ctx, []any{&n}, "select n from collected_seq where id = 1")
	return n, err
}

// EventsHolding returns the events of a workspace with numbers in (after,
// after+EventSpan] whose body holds one of the texts, in order.
func (tx *Tx) EventsHolding(ctx context.Context, workspace string, after int64, texts [][]byte) ([]CollectedEvent, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	holds := "instr(body, $"
	if tx.db.Engine() == "postgres" {
		holds = "position($"
	}
	args := []any{workspace, after, after + EventSpan}
	terms := make([]string, len(texts))
	for i, text := range texts {
		args = append(args, text)
		terms[i] = holds + strconv.Itoa(len(args))
		if tx.db.Engine() == "postgres" {
			terms[i] += "::bytea in body"
		}
		terms[i] += ") > 0"
	}
	var out []CollectedEvent
	err := tx.list(ctx, func(row scanner) error {
		e := CollectedEvent{WorkspaceID: workspace}
		var received int64
		err := row.Scan(&e.Seq, &e.ID, &received, &e.Body)
		e.ReceivedAt, e.Body = fromUS(received), slices.Clone(e.Body)
		out = append(out, e)
		return err
	}, "select seq, event_id, received_at, body from collected_event where workspace_id = $1 and seq > $2 and seq <= $3 and ("+
		strings.Join(terms, " or ")+") order by seq", args...)
	return out, err
}

// An erasure is an event that follows the events it erased, so that readers process
// it in order. It holds no name.
type erasure struct {
	Type string  `json:"type"`
	Seqs []int64 `json:"seqs"`
}

// EraseEvents empties events of a workspace. It keeps their ids, so that a sender's
// retry does not restore them, and marks them as erased. An erasure event with the
// given id lists their numbers.
func (tx *Tx) EraseEvents(ctx context.Context, workspace, id string, seqs []int64, now time.Time) error {
	body, err := json.Marshal(erasure{"erasure", seqs})
	if err != nil {
		return err
	}
	// First, as AddEvents does: it may wait for one of the events while it holds this.
	var seq int64
	if err := tx.one(ctx, []any{&seq}, "update collected_seq set n = n + 1 where id = 1 returning n"); err != nil {
		return err
	}
	if err := tx.emptyEvents(ctx, workspace, seqs); err != nil {
		return err
	}
	_, err = tx.exec(ctx, "insert into collected_event (seq, workspace_id, event_id, received_at, body) values ($1, $2, $3, $4, $5)", seq, workspace, id, us(now), body)
	return err
}

func (tx *Tx) emptyEvents(ctx context.Context, workspace string, seqs []int64) error {
	empty := []byte(`{"type":"erased"}`)
	if tx.db.Engine() == "postgres" { // in one statement, for those who send events wait
		_, err := tx.exec(ctx, "update collected_event set body = $3 where workspace_id = $1 and seq = any($2::bigint[])", workspace, seqs, empty)
		return err
	}
	for _, seq := range seqs {
		if _, err := tx.exec(ctx, "update collected_event set body = $3 where workspace_id = $1 and seq = $2", workspace, seq, empty); err != nil {
			return err
		}
	}
	return nil
}

// An Overdue workspace has events older than its retention.
type Overdue struct {
	WorkspaceID string
	Before      time.Time
	Gone        bool // the workspace is deleted: all of its events expire
}

// OverdueWorkspaces returns the workspaces with events older than whole days of
// their retention, and those that are deleted and have events yet.
func (tx *Tx) OverdueWorkspaces(ctx context.Context, now time.Time) ([]Overdue, error) {
	var out []Overdue
	err := tx.list(ctx, func(row scanner) error {
		var o Overdue
		var retention int64
		err := row.Scan(&o.WorkspaceID, &retention)
		if o.Gone = retention == 0; o.Gone {
			retention = -1
		}
		o.Before = time.Unix((day(now)-retention)*86400, 0).UTC()
		out = append(out, o)
		return err
	}, `select d.workspace_id, coalesce(max(w.retention_days), 0) from collected_day d left join workspace w on w.id = d.workspace_id
		group by d.workspace_id having coalesce(max(w.retention_days), 0) = 0 or min(d.day) < $1 - max(w.retention_days) order by d.workspace_id`, day(now))
	return out, err
}

// Retentions returns the retention of each workspace, in days.
func (tx *Tx) Retentions(ctx context.Context) (map[string]int, error) {
	out := map[string]int{}
	err := tx.list(ctx, func(row scanner) error {
		var id string
		var days int
		err := row.Scan(&id, &days)
		out[id] = days
		return err
	}, "select id, retention_days from workspace")
	return out, err
}

// DropEvents deletes the events of a workspace received before a time, with numbers
// in (after, after+EventSpan].
func (tx *Tx) DropEvents(ctx context.Context, workspace string, before time.Time, after int64) (int64, error) {
	return tx.exec(ctx, "delete from collected_event where workspace_id = $1 and received_at < $2 and seq > $3 and seq <= $4",
		workspace, us(before), after, after+EventSpan)
}

// DropDays forgets how much a workspace sent on days before a time.
func (tx *Tx) DropDays(ctx context.Context, workspace string, before time.Time) error {
	_, err := tx.exec(ctx, "delete from collected_day where workspace_id = $1 and day < $2", workspace, day(before))
	return err
}

// SeqBounds returns the lowest number of a stored event, and an upper bound of the
// numbers of events received before a time. The upper bound is approximate: servers'
// clocks may differ by minutes.
func (tx *Tx) SeqBounds(ctx context.Context, before time.Time) (low, high int64, err error) {
	last, err := tx.LastSeq(ctx)
	if err != nil {
		return 0, 0, err
	}
	if err := tx.one(ctx, []any{&low}, "select coalesce(min(seq), 0) from collected_event"); err != nil {
		return 0, 0, err
	}
	least, most := low, last
	for least < most { // the first number whose event is later than the time
		middle := least + (most-least)/2
		var seq, received int64
		err := tx.one(ctx, []any{&seq, &received}, "select seq, received_at from collected_event where seq > $1 order by seq limit 1", middle)
		switch {
		case err == ErrNotFound: //nolint:errorlint // as one returns it
			most = middle
		case err != nil:
			return 0, 0, err
		case received < us(before.Add(clockSpread)):
			least = seq
		default:
			most = middle
		}
	}
	return low - 1, least, nil
}

// clockSpread is by how much the clocks of a store's servers may differ.
const clockSpread = 10 * time.Minute

// DropOrders forgets the orders of a workspace that is gone.
func (tx *Tx) DropOrders(ctx context.Context, workspace string) error {
	_, err := tx.exec(ctx, "delete from collected_order where workspace_id = $1", workspace)
	return err
}
