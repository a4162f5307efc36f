package reporter

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

const (
	maxModelLag  = 10 * time.Minute // of the read model behind the last event; more while it is rebuilt
	missingPaths = 1000             // searched for examples
	examplePaths = 5                // of a folder
)

// Recent returns the traffic of a workspace that alerts evaluate; nil while the read
// model is behind the workspace's last event.
func (s *Service) Recent(ctx context.Context, workspace string, last time.Time) (*alert.Traffic, error) {
	health, err := s.DB.Health(ctx, workspace, last)
	if err != nil || last.Sub(health.CompleteThrough) > maxModelLag {
		return nil, err
	}
	end := last.Add(time.Second) // a sender's clock may be a little ahead
	start := end.Add(-alert.RecentFor)
	recent, err := s.DB.Recent(ctx, workspace, start, end)
	if err != nil {
		return nil, err
	}
	before, err := s.DB.Recent(ctx, workspace, start.Add(-alert.BaselineFor), start)
	if err != nil {
		return nil, err
	}
	weekAgo, err := s.DB.Recent(ctx, workspace, start.Add(-alert.BaselineFor), end.Add(-alert.BaselineFor))
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
	out.Missing = alert.Baseline(folders(recent.Missing), folders(before.Missing), trafficdb.MaxMissing)
	return out, s.examples(ctx, workspace, trafficdb.Window{From: start, To: end}, out.Missing)
}

func folders(parts []trafficdb.MissingPart) []alert.Folder {
	var out []alert.Folder
	for _, m := range parts {
		out = append(out, alert.Folder{Host: m.Host, Path: m.Part, Misses: m.Touches, Pages: m.Paths, Agents: m.Agents, FirstAt: m.FirstAt})
	}
	return out
}

// examples adds missing paths to the folders that have enough misses for an alert.
func (s *Service) examples(ctx context.Context, workspace string, w trafficdb.Window, folders []alert.Folder) error {
	if !slices.ContainsFunc(folders, func(f alert.Folder) bool { return f.Many() }) {
		return nil
	}
	gaps, err := s.DB.Gaps(ctx, workspace, w, trafficdb.Page{Limit: missingPaths})
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
