package trafficdb

import (
	"context"
	"database/sql"
	"time"

	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/server/channel/agentid"
)

// Recent is what alerts look at. Backfilled events are not counted; they only
// tell when something was first seen.
type Recent struct {
	Agents  []RecentAgent // of the headline classes, by name and class
	Spoofed []SpoofedHour // hours in which impostors came, the earliest first
	Missing []MissingPart // the 100 with most touches, those first
	// UserFetches counts what agents fetched for people in the window,
	// UserFetchesBefore what they did in as long a time right before it. Impostors
	// are not among them.
	UserFetches, UserFetchesBefore int64
}

// A RecentAgent is an agent that came in the window.
type RecentAgent struct {
	Agent, Class string // Agent is empty for one without a name
	// FirstAt is when it was first here, also before the window; zero when only
	// impostors ever were.
	FirstAt time.Time
	Touches int64
	Spoofed int64 // impostors among them
}

// A SpoofedHour is how often impostors came in an hour.
type SpoofedHour struct {
	Hour    time.Time // when it began, UTC
	Touches int64
}

// A MissingPart is a part of a site of which pages are missing: those whose
// paths begin with the same two segments.
type MissingPart struct {
	Host, Part string   // /docs/v2
	Touches    int64    // answered with 404 or 410, without those of impostors
	Paths      int64    // different ones
	Agents     []string // by name, 20 at most
	FirstAt    time.Time
}

// MaxMissing is how many parts Recent.Missing lists at most.
const MaxMissing = 100

// Recent returns what happened from one time until before another.
func (db *DB) Recent(ctx context.Context, workspace string, from, to time.Time) (r Recent, err error) {
	w := Window{From: from, To: to}
	err = db.report(ctx, func(pool *sql.DB) error {
		return duck.InTx(ctx, pool, func(tx *sql.Tx) error {
			agents, err := collect(ctx, tx, "recent_agents", r.agent, w.args(workspace, micro(from.Add(-to.Sub(from))))...)
			if err != nil {
				return err
			}
			for _, a := range agents {
				if a.Touches > 0 {
					r.Agents = append(r.Agents, a)
				}
			}
			if r.Spoofed, err = collect(ctx, tx, "recent_spoofed", scanSpoofed, w.args(workspace)...); err != nil {
				return err
			}
			r.Missing, err = collect(ctx, tx, "recent_missing", scanMissing, w.args(workspace, MaxMissing)...)
			return err
		})
	})
	return r, err
}

// agent scans an agent and adds up fetches for people.
func (r *Recent) agent(rows *sql.Rows) (a RecentAgent, err error) {
	var before int64
	var first sql.NullTime
	err = rows.Scan(&a.Agent, &a.Class, &a.Touches, &a.Spoofed, &before, &first)
	a.FirstAt = first.Time
	if a.Class == string(agentid.UserFetch) {
		r.UserFetches += a.Touches - a.Spoofed
		r.UserFetchesBefore += before
	}
	return a, err
}

func scanSpoofed(rows *sql.Rows) (s SpoofedHour, err error) {
	err = rows.Scan(&s.Hour, &s.Touches)
	return s, err
}

func scanMissing(rows *sql.Rows) (m MissingPart, err error) {
	var agents string
	err = rows.Scan(&m.Host, &m.Part, &m.Touches, &m.Paths, &agents, &m.FirstAt)
	m.Agents = names(agents)
	return m, err
}
