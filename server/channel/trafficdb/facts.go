package trafficdb

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/channel/traffic"
)

const (
	maxLag        = 10 * time.Minute // of the read model behind the last event, as while it is rebuilt
	maxFolders    = 100              // with missing pages
	examplePages  = 1000             // gaps from which examples are selected
	folderSamples = 5                // examples of a folder
)

// Changes returns what changed in a window, as of now: nobody is silent in a part of the
// window that lies ahead. w.Filter does not matter.
func (db *DB) Changes(ctx context.Context, workspace string, w Window, now time.Time) ([]change.Row, error) {
	f, err := db.facts(ctx, workspace, w)
	if err != nil {
		return nil, err
	}
	if now.Before(f.Now) {
		f.Now = now
	}
	return change.Rows(change.Detect(&f)), nil
}

// Recent returns the traffic that alerts look at, of the time until the last live
// event; nil while the read model is behind.
func (db *DB) Recent(ctx context.Context, workspace string, last time.Time) (*change.Traffic, error) {
	health, err := db.Health(ctx, workspace, last)
	if err != nil || last.Sub(health.CompleteThrough) > maxLag {
		return nil, err
	}
	end := last.Add(time.Second) // a sender's clock may be a little ahead
	w := Window{From: end.Add(-change.RecentWindow), To: end}
	f, err := db.facts(ctx, workspace, w)
	if err != nil {
		return nil, err
	}
	return f.Traffic, db.addExamples(ctx, workspace, w, f.Traffic.Missing)
}

// facts reads the input of change.Detect in one transaction.
func (db *DB) facts(ctx context.Context, workspace string, w Window) (change.Facts, error) {
	f := change.Facts{Now: w.To, Traffic: &change.Traffic{From: w.From, To: w.To}}
	base := w.From.Add(-change.Baseline(w.To.Sub(w.From)))
	weekFrom, weekTo, _ := change.WeekAgo(w.From, w.To)
	err := db.report(ctx, func(pool *sql.DB) error {
		return duck.InTx(ctx, pool, func(tx *sql.Tx) (err error) {
			if _, err = collect(ctx, tx, "facts_events", func(rows *sql.Rows) (struct{}, error) {
				var first, last sql.NullTime
				err := rows.Scan(&first, &last, &f.Days)
				f.FirstAt, f.LastAt = first.Time, last.Time
				return struct{}{}, err
			}, workspace, micro(w.To)); err != nil {
				return err
			}
			t := f.Traffic
			if t.Agents, err = collect(ctx, tx, "facts_agents", scanAgent, w.args(workspace, micro(base), micro(weekFrom), micro(weekTo))...); err != nil {
				return err
			}
			if t.Spoofed, err = collect(ctx, tx, "facts_spoofed", scanHour, w.args(workspace)...); err != nil {
				return err
			}
			t.Missing, err = collect(ctx, tx, "facts_missing", scanFolder, w.args(workspace, micro(base), maxFolders)...)
			return err
		})
	})
	return f, err
}

func scanAgent(rows *sql.Rows) (a change.Agent, err error) {
	var first, since, spoofedSince sql.NullTime
	err = rows.Scan(&a.Name, &a.Class, &first, &a.Visits, &a.Before, &a.WeekAgo, &a.Spoofed, &a.SpoofedBefore, &since, &spoofedSince)
	a.FirstAt, a.SinceInWindow, a.SpoofedSinceInWindow = first.Time, since.Time, spoofedSince.Time
	return a, err
}

func scanHour(rows *sql.Rows) (h change.Hour, err error) {
	err = rows.Scan(&h.Start, &h.Visits)
	return h, err
}

func scanFolder(rows *sql.Rows) (f change.Folder, err error) {
	var agents string
	err = rows.Scan(&f.Host, &f.Path, &f.Misses, &f.Pages, &f.Before, &agents, &f.FirstAt)
	f.Agents = names(agents)
	return f, err
}

// addExamples adds missing paths to the folders that may cause an alert.
func (db *DB) addExamples(ctx context.Context, workspace string, w Window, folders []change.Folder) error {
	var gaps []Gap
	for i := range folders {
		f := &folders[i]
		if !f.Many() {
			continue
		}
		if gaps == nil {
			var err error
			if gaps, err = db.Gaps(ctx, workspace, w, Page{Limit: examplePages}); err != nil {
				return err
			}
		}
		for _, g := range gaps {
			missing := g.Kind == traffic.GapNotFound || g.Kind == traffic.GapMissingText
			under := g.Path == f.Path || strings.HasPrefix(g.Path, strings.TrimSuffix(f.Path, "/")+"/")
			if missing && under && g.Host == f.Host && len(f.Examples) < folderSamples {
				f.Examples = append(f.Examples, g.Path)
			}
		}
	}
	return nil
}
