package trafficdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/server/channel/attribution"
)

const (
	maxConversions = 200_000
	maxTouches     = 1_000_000
)

// ErrNotFound means that a workspace has no such conversion.
var ErrNotFound = errors.New("not found")

// Journeys are the input of attribution.Credit for the conversions of a window. They are
// a consistent snapshot.
type Journeys struct {
	// Conversions are those of the window, the orders that its refunds take back,
	// and all refunds of these orders.
	Conversions []attribution.Conversion
	// Touches are the agents' touches of the people who converted and of their visitors,
	// and the touches that an Inference needs of their landing pages. They are not
	// sorted, and spoofed touches are excluded.
	Touches []attribution.Touch
	// Bindings are all of the workspace since the first touch that could count, the
	// latest of each pair.
	Bindings []attribution.Binding
	// Truncated reports that there were more than 200,000 conversions, of which the
	// latest are missing, or a million touches, of which any are.
	Truncated bool
}

// Journeys returns the touches before the conversions of a window. The lookback is that
// of the later credit; 0 is attribution.MaxLookback.
func (db *DB) Journeys(ctx context.Context, workspace string, w Window, lookback time.Duration) (Journeys, error) {
	return db.journeys(ctx, workspace, w, journey{lookback: lookback})
}

// Trace is Journeys for one conversion, by its id, and its order when it is a refund,
// with the touches of people whom no agent sent. The error is ErrNotFound for an unknown
// id.
func (db *DB) Trace(ctx context.Context, workspace, id string, lookback time.Duration) (Journeys, error) {
	if id == "" {
		return Journeys{}, ErrNotFound
	}
	j, err := db.journeys(ctx, workspace, always(), journey{id: id, lookback: lookback, all: true})
	if err == nil && len(j.Conversions) == 0 {
		return j, fmt.Errorf("conversion %s: %w", id, ErrNotFound)
	}
	return j, err
}

// A journey selects the rows that journeys reads.
type journey struct {
	id       string // of one conversion; empty for all
	lookback time.Duration
	all      bool // touches without an agent too
}

func (db *DB) journeys(ctx context.Context, workspace string, w Window, q journey) (j Journeys, err error) {
	if q.lookback <= 0 {
		q.lookback = attribution.MaxLookback
	}
	q.lookback = min(max(q.lookback, attribution.MinLookback), attribution.MaxLookback)
	err = db.report(ctx, func(pool *sql.DB) error {
		return duck.InTx(ctx, pool, func(tx *sql.Tx) error { return j.read(ctx, tx, workspace, w, q) })
	})
	j.Truncated = len(j.Conversions) == maxConversions || len(j.Touches) >= maxTouches
	return j, err
}

func (j *Journeys) read(ctx context.Context, tx *sql.Tx, workspace string, w Window, q journey) (err error) {
	if j.Conversions, err = collect(ctx, tx, "conversions", scanConversion, w.args(workspace, q.id, maxConversions)...); err != nil || len(j.Conversions) == 0 {
		return err
	}
	reach := Window{
		From: j.Conversions[0].At.Add(-q.lookback),
		To:   j.Conversions[len(j.Conversions)-1].At.Add(attribution.Slack + time.Microsecond), // To is excluded
	}
	if j.Bindings, err = collect(ctx, tx, "bindings", scanBinding, workspace, micro(reach.From)); err != nil {
		return err
	}
	visitors, identities := j.subjects(q.lookback)
	scan := newTouches()
	j.Touches, err = collect(ctx, tx, "touches", scan.touch, reach.args(workspace, joined(visitors), joined(identities), q.all, maxTouches)...)
	if err != nil {
		return err
	}
	// Visits just before the first landing, or after the last one, are needed too.
	reach.From, reach.To = reach.From.Add(-attribution.InferWithin), reach.To.Add(attribution.InferWithin)
	around, err := collect(ctx, tx, "around", scan.touch, reach.args(workspace, joined(visitors), joined(identities), maxTouches)...)
	j.addAround(around)
	return err
}

func scanConversion(rows *sql.Rows) (c attribution.Conversion, err error) {
	err = rows.Scan(&c.ID, &c.Kind, &c.Visitor, &c.Identity, &c.At, &c.Value, &c.Currency, &c.OrderID, &c.RefundOf)
	return c, err
}

func scanBinding(rows *sql.Rows) (b attribution.Binding, err error) {
	err = rows.Scan(&b.Visitor, &b.Identity, &b.At)
	return b, err
}

// touchColumns are the columns that touches.touch scans. Those with few values are
// joined, because each column adds to the cost of a row.
const touchColumns = `id, happened_at, visitor, identity, host, path, referrer,
	concat_ws(chr(31), evidence, class, family, agent)`

// touches scans touches.
type touches struct{ known map[string]*attribution.Touch } // by the last of touchColumns

func newTouches() *touches { return &touches{map[string]*attribution.Touch{}} }

func (s *touches) touch(rows *sql.Rows) (attribution.Touch, error) {
	var t attribution.Touch
	var who sql.RawBytes
	if err := rows.Scan(&t.ID, &t.At, &t.Visitor, &t.Identity, &t.Host, &t.Path, &t.Referrer, &who); err != nil {
		return t, err
	}
	like, ok := s.known[string(who)]
	if !ok {
		part := strings.SplitN(string(who), "\x1f", 4)
		like = &attribution.Touch{Evidence: part[0], Class: part[1], Family: part[2], Agent: part[3]}
		s.known[string(who)] = like
	}
	t.Family, t.Agent, t.Class, t.Evidence = like.Family, like.Agent, like.Class, like.Evidence
	return t, nil
}
