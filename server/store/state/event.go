package state

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// A CollectedEvent is an event as it is stored. Its sequence number is given by
// the store, in the order of commits.
type CollectedEvent struct {
	Seq         int64
	WorkspaceID string
	ID          string // unique in the workspace
	OrderKey    string // of a conversion's order, unique in the workspace; optional
	ReceivedAt  time.Time
	Backfill    bool // not to count as a sign of life
	Body        []byte
}

// AddEvents stores events and reports which of them are new; the others are
// duplicates, by id or by order, of stored events or of earlier ones in the list.
// A lock on one row serializes all writers until commit, so that sequence numbers
// follow the order of commits: send events in batches.
func (tx *Tx) AddEvents(ctx context.Context, events []CollectedEvent) ([]bool, error) {
	if len(events) == 0 {
		return nil, nil
	}
	if tx.db.Engine() == "postgres" {
		return tx.addEventsAtOnce(ctx, events)
	}
	return tx.addEventsOneByOne(ctx, events)
}

func (tx *Tx) addEventsOneByOne(ctx context.Context, events []CollectedEvent) ([]bool, error) {
	var seq int64
	if err := tx.one(ctx, []any{&seq}, "update collected_seq set n = n + $1 where id = 1 returning n - $1", len(events)); err != nil {
		return nil, err
	}
	fresh := make([]bool, len(events))
	for i, e := range events {
		seq++
		if e.OrderKey != "" {
			var known int
			if err := tx.one(ctx, []any{&known}, "select count(*) from collected_order where workspace_id = $1 and order_key = $2", e.WorkspaceID, e.OrderKey); err != nil {
				return nil, err
			}
			if known > 0 {
				continue
			}
		}
		n, err := tx.exec(ctx, "insert into collected_event (seq, workspace_id, event_id, received_at, body) values ($1, $2, $3, $4, $5) on conflict do nothing",
			seq, e.WorkspaceID, e.ID, us(e.ReceivedAt), e.Body)
		if err != nil {
			return nil, err
		}
		fresh[i] = n == 1
		if n == 1 && e.OrderKey != "" {
			if _, err := tx.exec(ctx, "insert into collected_order (workspace_id, order_key, seq) values ($1, $2, $3)", e.WorkspaceID, e.OrderKey, seq); err != nil {
				return nil, err
			}
		}
	}
	return fresh, tx.countEvents(ctx, events, fresh)
}

// addEventsAtOnce sends arrays, which SQLite has not, in one statement: PostgreSQL
// spends more time on the way to and from it than on rows.
func (tx *Tx) addEventsAtOnce(ctx context.Context, events []CollectedEvent) ([]bool, error) {
	n := len(events)
	received := make([]int64, n)
	workspaces, ids, orders, bodies := make([]string, n), make([]string, n), make([]string, n), make([][]byte, n)
	ordered := false
	for i, e := range events {
		workspaces[i], ids[i], orders[i], received[i], bodies[i] = e.WorkspaceID, e.ID, e.OrderKey, us(e.ReceivedAt), e.Body
		ordered = ordered || e.OrderKey != ""
	}
	first, fresh := int64(0), make([]bool, n)
	err := tx.list(ctx, func(row scanner) error {
		var place int64
		err := row.Scan(&first, &place)
		fresh[place-1] = err == nil
		return err
	}, `with s as (update collected_seq set n = n + $1 where id = 1 returning n - $1 as base),
		added as (insert into collected_event (seq, workspace_id, event_id, received_at, body)
			select s.base + t.place, t.w, t.e, t.r, t.b from s, unnest($2::text[], $3::text[], $4::bigint[], $5::bytea[]) with ordinality as t (w, e, r, b, place)
			on conflict do nothing returning seq)
		select s.base, added.seq - s.base from s, added`, int64(n), workspaces, ids, received, bodies)
	if err == nil && ordered {
		err = tx.takeOrders(ctx, first, workspaces, orders, fresh)
	}
	if err != nil {
		return nil, err
	}
	return fresh, tx.countEvents(ctx, events, fresh)
}

// takeOrders notes the orders of new events. An event whose order is known goes.
func (tx *Tx) takeOrders(ctx context.Context, base int64, workspaces, orders []string, fresh []bool) error {
	var seqs, twice []int64
	var w, o []string
	for i := range fresh {
		if fresh[i] && orders[i] != "" {
			seqs, w, o = append(seqs, base+int64(i)+1), append(w, workspaces[i]), append(o, orders[i])
		}
	}
	if len(seqs) == 0 {
		return nil
	}
	taken := map[int64]bool{}
	if err := tx.list(ctx, func(row scanner) error {
		var seq int64
		err := row.Scan(&seq)
		taken[seq] = true
		return err
	}, `insert into collected_order (workspace_id, order_key, seq) select * from unnest($1::text[], $2::text[], $3::bigint[])
		on conflict do nothing returning seq`, w, o, seqs); err != nil {
		return err
	}
	for _, seq := range seqs {
		if !taken[seq] {
			fresh[seq-base-1], twice = false, append(twice, seq)
		}
	}
	if len(twice) == 0 {
		return nil
	}
	_, err := tx.exec(ctx, "delete from collected_event where seq = any($1::bigint[])", twice)
	return err
}

func day(t time.Time) int64 { return t.Unix() / 86400 }

func (tx *Tx) countEvents(ctx context.Context, events []CollectedEvent, fresh []bool) error {
	type key struct {
		workspace string
		day       int64
	}
	type sum struct{ n, last, live, liveAt int64 }
	sums := map[key]sum{}
	var keys []key
	for i, e := range events {
		if !fresh[i] {
			continue
		}
		k := key{e.WorkspaceID, day(e.ReceivedAt)}
		s, known := sums[k]
		if !known {
			keys = append(keys, k)
		}
		s.n, s.last = s.n+1, max(s.last, us(e.ReceivedAt))
		if !e.Backfill {
			s.live, s.liveAt = s.live+1, max(s.liveAt, us(e.ReceivedAt))
		}
		sums[k] = s
	}
	for _, k := range keys {
		s := sums[k]
		if _, err := tx.exec(ctx, `insert into collected_day (workspace_id, day, accepted, last_at, live, live_at) values ($1, $2, $3, $4, $5, $6)
			on conflict (workspace_id, day) do update set accepted = collected_day.accepted + excluded.accepted,
			last_at = case when excluded.last_at > collected_day.last_at then excluded.last_at else collected_day.last_at end,
			live = collected_day.live + excluded.live,
			live_at = case when excluded.live_at > collected_day.live_at then excluded.live_at else collected_day.live_at end`,
			k.workspace, k.day, s.n, s.last, s.live, s.liveAt); err != nil {
			return err
		}
	}
	return nil
}

// maxRead bounds the bytes of the bodies that EventsAfter returns.
const maxRead = 32 << 20

var errEnough = errors.New("enough")

// EventsAfter returns stored events behind a sequence number, in order: limit at
// most, and at least one if there is one, but no more than 32 MiB of them.
func (tx *Tx) EventsAfter(ctx context.Context, seq int64, limit int) ([]CollectedEvent, error) {
	var out []CollectedEvent
	size := 0
	err := tx.list(ctx, func(row scanner) error {
		var e CollectedEvent
		var received int64
		if err := row.Scan(&e.Seq, &e.WorkspaceID, &e.ID, &received, &e.Body); err != nil {
			return err
		}
		if size += len(e.Body); size > maxRead && len(out) > 0 {
			return errEnough
		}
		e.ReceivedAt, e.Body = fromUS(received), slices.Clone(e.Body)
		out = append(out, e)
		return nil
	}, "select seq, workspace_id, event_id, received_at, body from collected_event where seq > $1 order by seq limit $2", seq, limit)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}

// FirstEvent returns the body of the oldest stored event of a workspace, or ErrNotFound.
func (tx *Tx) FirstEvent(ctx context.Context, workspace string) ([]byte, error) {
	var body []byte
	err := tx.one(ctx, []any{&body}, "select body from collected_event where workspace_id = $1 order by seq limit 1", workspace)
	return slices.Clone(body), err
}

// EventBodies returns the bodies of events of a workspace by their ids; those that
// are not stored are left out.
func (tx *Tx) EventBodies(ctx context.Context, workspace string, ids []string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, id := range ids {
		var body []byte
		err := tx.one(ctx, []any{&body}, "select body from collected_event where workspace_id = $1 and event_id = $2", workspace, id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out[id] = slices.Clone(body)
	}
	return out, nil
}

// Collected is how much a workspace sent.
type Collected struct {
	Today  int64 // of the day that was asked for, in UTC
	Total  int64 // of the days that are kept
	LastAt time.Time
}

// Collected returns how much a workspace sent.
func (tx *Tx) Collected(ctx context.Context, workspace string, now time.Time) (Collected, error) {
	var c Collected
	var last int64
	err := tx.one(ctx, []any{&c.Today, &c.Total, &last}, `select cast(coalesce(sum(case when day = $2 then accepted else 0 end), 0) as bigint),
		cast(coalesce(sum(accepted), 0) as bigint), coalesce(max(last_at), 0) from collected_day where workspace_id = $1`, workspace, day(now))
	c.LastAt = fromUS(last)
	return c, err
}

// CollectorKeyByHash returns a key that is not revoked, and its workspace. The keys of
// an owner whose account is disabled are not valid.
func (tx *Tx) CollectorKeyByHash(ctx context.Context, hash []byte) (*CollectorKey, *Workspace, error) {
	var k CollectorKey
	var origins string
	var created, used int64
	err := tx.one(ctx, []any{&k.ID, &k.WorkspaceID, &k.Kind, &k.Label, &k.Shown, &origins, &created, &used},
		`select id, workspace_id, kind, label, shown, origins, created_at, last_used_at from collector_key where hash = $1 and revoked_at = 0
			and not exists (select 1 from workspace w join account a on a.id = w.owner_id where w.id = collector_key.workspace_id and a.disabled_at > 0)`, hash)
	if err != nil {
		return nil, nil, err
	}
	k.CreatedAt, k.LastUsedAt = fromUS(created), fromUS(used)
	if err := json.Unmarshal([]byte(origins), &k.Origins); err != nil {
		return nil, nil, err
	}
	w, err := tx.Workspace(ctx, k.WorkspaceID)
	return &k, w, err
}
