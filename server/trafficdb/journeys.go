package trafficdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/server/attribution"
)

const (
	maxConversions = 200_000
	maxTouches     = 1_000_000
)

// ErrNotFound says that a workspace has no such conversion.
var ErrNotFound = errors.New("not found")

// Journeys are what attribution.Credit has to be given for the conversions of a
// window. They are of one moment.
type Journeys struct {
	// Conversions are those of the window, the orders that its refunds take back,
	// and all refunds of these orders.
	Conversions []attribution.Conversion
	// Touches are those by the people who converted and the visitors that they
	// are, and then what Infer has to know of the pages on which these landed: who
	// else was there in the half hours around. They are in no order.
	Touches []attribution.Touch
	// Bindings are all of the workspace since the first touch that could count, the
	// latest of each pair.
	Bindings []attribution.Binding
	// Truncated says that there were more than 200,000 conversions, of which the
	// latest are missing, or a million touches, of which any are.
	Truncated bool
}

// Journeys returns what led to the conversions of a window. The lookback is that
// with which they will be credited; 0 is attribution.MaxLookback.
func (db *DB) Journeys(ctx context.Context, workspace string, w Window, lookback time.Duration) (Journeys, error) {
	return db.journeys(ctx, workspace, w, "", lookback)
}

// Trace returns what led to one conversion, by its id; its order too when it is
// a refund. The error is ErrNotFound when there is none.
func (db *DB) Trace(ctx context.Context, workspace, id string, lookback time.Duration) (Journeys, error) {
	if id == "" {
		return Journeys{}, ErrNotFound
	}
	j, err := db.journeys(ctx, workspace, always(), id, lookback)
	if err == nil && len(j.Conversions) == 0 {
		return j, fmt.Errorf("conversion %s: %w", id, ErrNotFound)
	}
	return j, err
}

func (db *DB) journeys(ctx context.Context, workspace string, w Window, id string, lookback time.Duration) (j Journeys, err error) {
	if lookback <= 0 {
		lookback = attribution.MaxLookback
	}
	lookback = min(max(lookback, attribution.MinLookback), attribution.MaxLookback)
	err = db.report(ctx, func(pool *sql.DB) error {
		return duck.InTx(ctx, pool, func(tx *sql.Tx) error {
			var err error
			if j.Conversions, err = collect(ctx, tx, "conversions", scanConversion, w.args(workspace, id, maxConversions)...); err != nil || len(j.Conversions) == 0 {
				return err
			}
			reach := Window{
				From: j.Conversions[0].At.Add(-lookback),
				To:   j.Conversions[len(j.Conversions)-1].At.Add(attribution.Slack + time.Microsecond), // To is excluded
			}
			if j.Bindings, err = collect(ctx, tx, "bindings", scanBinding, workspace, micro(reach.From)); err != nil {
				return err
			}
			visitors, identities := j.subjects(lookback)
			j.Touches, err = collect(ctx, tx, "touches", scanTouch, reach.args(workspace, joined(visitors), joined(identities), maxTouches)...)
			if err != nil {
				return err
			}
			around, err := collect(ctx, tx, "around", scanTouch, reach.args(workspace, joined(j.landings()), maxTouches)...)
			j.addAround(around)
			return err
		})
	})
	j.Truncated = len(j.Conversions) == maxConversions || len(j.Touches) >= maxTouches
	return j, err
}

func scanConversion(rows *sql.Rows) (c attribution.Conversion, err error) {
	err = rows.Scan(&c.ID, &c.Kind, &c.Visitor, &c.Identity, &c.At, &c.Value, &c.Currency, &c.OrderID, &c.RefundOf)
	return c, err
}

func scanBinding(rows *sql.Rows) (b attribution.Binding, err error) {
	err = rows.Scan(&b.Visitor, &b.Identity, &b.At)
	return b, err
}

func scanTouch(rows *sql.Rows) (t attribution.Touch, err error) {
	err = rows.Scan(&t.ID, &t.At, &t.Visitor, &t.Identity, &t.Family, &t.Agent, &t.Class, &t.Evidence, &t.Host, &t.Path, &t.Referrer, &t.Spoofed)
	return t, err
}
