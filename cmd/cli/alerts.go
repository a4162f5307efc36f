package cli

import (
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/channel/reporter"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/kit/safehttp"
	"github.com/firstpick/firstpick/server/kit/secret"
)

// alertsEvery is how often it is asked which workspaces and webhooks are due.
const alertsEvery = 10 * time.Second

// alerts starts what tells owners of changes. Without reports it sends only: a
// server that has them looks.
func (a *app) alerts(beside *tasks, svc *registrations.Service, reports traffic.Reports) *alert.Service {
	s := a.alertService(svc, reports)
	beside.every(alertsEvery, s.Run)
	return s
}

func (a *app) alertService(svc *registrations.Service, reports traffic.Reports) *alert.Service {
	cfg := alert.Config{
		DB: svc.DB, Secrets: secret.Source{Rand: rand.Reader}, Log: a.log, Now: a.env.Now, BaseURL: svc.BaseURL,
		Mail: svc.Outbox.Put, Kick: svc.Outbox.Kick, Jitter: mathrand.Float64,
		HTTP:    safehttp.NewClient(safehttp.Limits{Timeout: alert.CallTimeout, Private: a.cfg.CallPrivate, Ports: safehttp.WebPorts(a.cfg.CallPorts)}),
		Private: a.cfg.CallPrivate, Ports: safehttp.WebPorts(a.cfg.CallPorts),
	}
	if made, ok := reports.(*reporter.Service); ok {
		cfg.Traffic = recentTraffic{made.DB}.of
	}
	return alert.New(cfg)
}

// recentTraffic reads from the read model what alerts look at.
type recentTraffic struct{ db *trafficdb.DB }

const (
	// lateReports is how far behind the last event the read model may be: not while
	// it is made anew.
	lateReports  = 10 * time.Minute
	missingMost  = 100  // folders that trafficdb.Recent lists
	missingPaths = 1000 // that examples are looked for among
	examplePaths = 5    // of a folder
)

func (r recentTraffic) of(ctx context.Context, workspace string, last time.Time) (*alert.Traffic, error) {
	health, err := r.db.Health(ctx, workspace, last)
	if err != nil || last.Sub(health.CompleteThrough) > lateReports {
		return nil, err
	}
	end := last.Add(time.Second) // a sender's clock may be a little ahead
	began := end.Add(-alert.RecentFor)
	recent, err := r.db.Recent(ctx, workspace, began, end)
	if err != nil {
		return nil, err
	}
	before, err := r.db.Recent(ctx, workspace, began.Add(-alert.BaselineFor), began)
	if err != nil {
		return nil, err
	}
	weekAgo, err := r.db.Recent(ctx, workspace, began.Add(-alert.BaselineFor), end.Add(-alert.BaselineFor))
	if err != nil {
		return nil, err
	}
	out := &alert.Traffic{Fetches: alert.Fetches{Day: recent.UserFetches, WeekAgo: weekAgo.UserFetches, Week: before.UserFetches}}
	for _, a := range recent.Agents {
		out.Agents = append(out.Agents, alert.Agent{Name: a.Agent, Class: a.Class, FirstAt: a.FirstAt, Touches: a.Touches, Spoofed: a.Spoofed})
	}
	for _, h := range recent.Spoofed {
		out.Spoofed = append(out.Spoofed, alert.Hour{Start: h.Hour, Touches: h.Touches})
	}
	for _, h := range before.Spoofed {
		out.SpoofedBefore += h.Touches
	}
	out.Missing = missingFolders(recent.Missing, before.Missing)
	return out, r.examples(ctx, workspace, trafficdb.Window{From: began, To: end}, out.Missing)
}

// missingFolders compares folders with those of the baseline. Of that the read
// model lists those with most misses; a folder that is not among so many
// is taken to have as many as the last of them.
func missingFolders(recent, before []trafficdb.MissingPart) []alert.Folder {
	unlisted := int64(0)
	if len(before) >= missingMost {
		unlisted = before[len(before)-1].Touches
	}
	var out []alert.Folder
	for _, m := range recent {
		f := alert.Folder{Host: m.Host, Path: m.Part, Misses: m.Touches, Pages: m.Paths, Before: unlisted, Agents: m.Agents, FirstAt: m.FirstAt}
		if i := slices.IndexFunc(before, func(b trafficdb.MissingPart) bool { return b.Host == m.Host && b.Part == m.Part }); i >= 0 {
			f.Before = before[i].Touches
		}
		out = append(out, f)
	}
	return out
}

// examples adds missing paths to the folders that have enough to be told.
func (r recentTraffic) examples(ctx context.Context, workspace string, w trafficdb.Window, folders []alert.Folder) error {
	if !slices.ContainsFunc(folders, func(f alert.Folder) bool { return f.Many() }) {
		return nil
	}
	gaps, err := r.db.Gaps(ctx, workspace, w, trafficdb.Page{Limit: missingPaths})
	if err != nil {
		return err
	}
	for i := range folders {
		f := &folders[i]
		for _, g := range gaps {
			missing := g.Kind == traffic.GapNotFound || g.Kind == traffic.GapMissingText
			under := g.Path == f.Path || strings.HasPrefix(g.Path, strings.TrimSuffix(f.Path, "/")+"/")
			if missing && under && g.Host == f.Host && f.Many() && len(f.Examples) < examplePaths {
				f.Examples = append(f.Examples, g.Path)
			}
		}
	}
	return nil
}
