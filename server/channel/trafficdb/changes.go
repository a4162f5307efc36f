package trafficdb

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/traffic"
)

// What is many enough to speak of. Rates are per day, so windows of any length
// compare.
const (
	manyTouches = 50 // a spike, or what a drop was expected to be
	manySpoofed = 20
	manyMissing = 10
	someBefore  = 10 // of a spike: fewer before say nothing about what is usual
	loudPerDay  = 10 // events a day, below which a day without is no silence
	spikeTimes  = 3
	quietFor    = 24 * time.Hour
)

// A Change is what is not as it was before the window.
type Change struct {
	What string
	// Agent is whom it is about; Class its class. Empty for folders and silence.
	Agent, Class string
	Folder       string // of a traffic.NewNotFound: the path up to the last slash
	// Now counts touches of the window, Before those of the Baseline before it. Of
	// a Silence Before counts the events before the last 24 hours of the window.
	Now, Before int64
	Since       time.Time // the first touch of the window; of a Silence the last event
}

// a sum is a line of changes.sql.
type sum struct {
	of, name, class   string
	now, before, ever int64
	at                sql.NullTime
}

// Changes returns what changed in a window, by kind and then by size. Backfilled
// events cause no change, and are not compared with; but whom they show is not
// new. A workspace that had nothing before the window has no new agents.
func (db *DB) Changes(ctx context.Context, workspace string, w Window) ([]Change, error) {
	base := traffic.Baseline(w.From, w.To)
	sums, err := ask(ctx, db, "changes", func(rows *sql.Rows) (s sum, err error) {
		err = rows.Scan(&s.of, &s.name, &s.class, &s.now, &s.before, &s.ever, &s.at)
		return s, err
	}, w.args(workspace, micro(w.From.Add(-base)), micro(w.To.Add(-quietFor)), manyMissing)...)
	if err != nil {
		return nil, err
	}
	return w.changes(sums), nil
}

func (w Window) changes(sums []sum) []Change {
	old := slices.ContainsFunc(sums, func(s sum) bool { return s.ever > 0 })
	var out []Change
	add := func(what string, s sum) {
		c := Change{What: what, Agent: s.name, Class: s.class, Now: s.now, Before: s.before, Since: s.at.Time}
		if s.of == "missing" {
			c.Agent, c.Folder = "", s.name
		}
		out = append(out, c)
	}
	length, base := w.To.Sub(w.From), traffic.Baseline(w.From, w.To)
	for _, s := range sums {
		// Counts are compared as rates, in whole numbers: now/length with before/base.
		times := func(n int64) bool {
			return float64(s.now)*float64(base) >= float64(n)*float64(s.before)*float64(length)
		}
		expected := float64(s.before) * float64(length) / float64(base)
		switch s.of {
		case "agent":
			switch {
			case s.now > 0 && s.ever == 0 && old && s.name != "":
				add(traffic.NewAgent, s)
			case s.now >= manyTouches && s.before >= someBefore && times(spikeTimes):
				add(traffic.Spike, s)
			case s.class == string(agentid.UserFetch) && expected >= manyTouches && float64(s.now) <= expected/2:
				add(traffic.FetchDrop, s)
			}
		case "impostor":
			if s.now >= manySpoofed && times(spikeTimes) {
				add(traffic.SpoofBurst, s)
			}
		case "missing":
			if old {
				add(traffic.NewNotFound, s)
			}
		case "all":
			usual := float64(loudPerDay) * (base + length - quietFor).Hours() / 24
			if s.now == 0 && s.before > 0 && float64(s.before) >= usual {
				add(traffic.Silence, s)
			}
		}
	}
	slices.SortFunc(out, func(a, b Change) int {
		return cmp.Or(strings.Compare(a.What, b.What), cmp.Compare(b.Now, a.Now), cmp.Compare(b.Before, a.Before),
			strings.Compare(a.Agent, b.Agent), strings.Compare(a.Folder, b.Folder), strings.Compare(a.Class, b.Class))
	})
	return out
}
