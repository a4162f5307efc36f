package trafficdb

import (
	"context"
	"database/sql"
	"time"
)

// A Referral is how many people an assistant sent.
type Referral struct {
	Family   string // ChatGPT; attribution.OtherAgent for an unknown one
	Landings int64
	Visitors int64            // different ones among those that are known
	Evidence map[string]int64 // adds up to Landings
	// AtLeast is true: assistants hide many of the people whom they send.
	AtLeast bool
	LastAt  time.Time
}

// Referrals returns the families of assistants that sent people, the most frequent
// first. A landing is a touch by a person with evidence of any kind.
func (db *DB) Referrals(ctx context.Context, workspace string, w Window, p Page) ([]Referral, error) {
	kinds := evidences()
	return ask(ctx, db, "referrals", func(rows *sql.Rows) (Referral, error) {
		r := Referral{AtLeast: true, Evidence: map[string]int64{}}
		var n [5]int64
		err := rows.Scan(&r.Family, &r.Landings, &r.Visitors, &n[0], &n[1], &n[2], &n[3], &n[4], &r.LastAt)
		for i, kind := range kinds {
			if n[i] != 0 {
				r.Evidence[kind] = n[i]
			}
		}
		return r, err
	}, w.only(workspace, p.args()...)...)
}

// A Landing is a page on which people from assistants landed.
type Landing struct {
	Host, Path string
	Landings   int64
	Visitors   int64    // different ones among those that are known
	Families   []string // of the assistants, at most 20
}

// Landings returns the pages of the landings that Referrals counts, the most frequent first.
func (db *DB) Landings(ctx context.Context, workspace string, w Window, p Page) ([]Landing, error) {
	return ask(ctx, db, "landings", func(rows *sql.Rows) (Landing, error) {
		var l Landing
		var joined string
		err := rows.Scan(&l.Host, &l.Path, &l.Landings, &l.Visitors, &joined)
		l.Families = names(joined)
		return l, err
	}, w.only(workspace, p.args()...)...)
}

// A Day counts the events of a day.
type Day struct {
	Day         string           // 2026-11-19, or an hour as in traffic.HourLayout
	ByClass     map[string]int64 // touches of agents
	Referrals   int64            // landings of people from assistants
	Conversions int64            // without refunds
	Reads       int64            // touches of agents whose status is below 400 or unknown
	Failed      int64            // touches of agents on behalf of users that a Gap counts
}

// Trend returns the days, or hours, of a window in its time zone, oldest first, also those
// on which nothing happened; of more than 400 the last 400. The first and the
// last hold only the part that is in the window.
func (db *DB) Trend(ctx context.Context, workspace string, w Window) ([]Day, error) {
	days := w.days()
	if len(days) == 0 {
		return nil, nil
	}
	if w.From.Before(days[0].start) {
		w.From = days[0].start
	}
	out := make([]Day, len(days))
	place := map[int64]int{}
	var starts []any
	piece := 24 * time.Hour.Microseconds() // the largest that divides all beginnings
	for i, d := range days {
		out[i] = Day{Day: d.day, ByClass: map[string]int64{}}
		at := d.start.UnixMicro()
		place[at] = i
		starts = append(starts, at)
		for rest := at % piece; rest != 0; rest = at % piece {
			piece = rest
		}
	}
	counts := newByClass()
	_, err := ask(ctx, db, "trend", func(rows *sql.Rows) (struct{}, error) {
		var start int64
		var found Day
		err := rows.Scan(append(append([]any{&start}, counts.targets()...), &found.Referrals, &found.Conversions, &found.Reads, &found.Failed)...)
		if err != nil {
			return struct{}{}, err
		}
		d := &out[place[start]]
		found.Day, found.ByClass = d.Day, counts.counted()
		*d = found
		return struct{}{}, err
	}, w.only(workspace, starts, piece)...)
	if err != nil {
		return nil, err
	}
	return out, nil
}
