package reporter

import (
	"context"

	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

func noSource() traffic.Source {
	return traffic.Source{
		Agents: []traffic.AgentSource{}, Pages: []traffic.PageSource{}, Gaps: []traffic.Gap{}, Referrals: []traffic.Referral{}, Landings: []traffic.Landing{},
		Trend: []traffic.Day{}, Noise: map[string]int64{}, NoiseBy: []traffic.NoiseClass{},
	}
}

// source fills in the parts that are asked for.
func (s *Service) source(ctx context.Context, workspace string, w trafficdb.Window, q traffic.Query, out *traffic.Source) error {
	top := trafficdb.Page{Limit: q.Rows()}
	for _, part := range []struct {
		is   traffic.Parts
		fill func() error
	}{
		{traffic.PartAgents, func() error { return s.agents(ctx, workspace, w, top, out) }},
		{traffic.PartPages, func() error { return s.pages(ctx, workspace, w, top, out) }},
		{traffic.PartGaps, func() error { return s.gaps(ctx, workspace, w, top, out) }},
		{traffic.PartReferrals, func() error { return s.referrals(ctx, workspace, w, top, out) }},
		{traffic.PartLandings, func() error { return s.landings(ctx, workspace, w, out) }},
		{traffic.PartTrend, func() error { return s.trend(ctx, workspace, w, out) }},
		{traffic.PartNoise, func() error { return s.noise(ctx, workspace, w, out) }},
		{traffic.PartGaps, func() error { return s.site(ctx, workspace, w, out) }},
	} {
		if !q.Wants(part.is) {
			continue
		}
		if err := part.fill(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) agents(ctx context.Context, workspace string, w trafficdb.Window, top trafficdb.Page, out *traffic.Source) error {
	agents, err := s.DB.Agents(ctx, workspace, w, top)
	for i := range agents {
		a := &agents[i]
		row := traffic.AgentSource{
			Agent: a.Agent, Operator: a.Operator, Class: a.Class, Touches: a.Touches, Pages: a.Pages, Verified: a.Verified, Spoofed: a.Spoofed,
			Unverifiable: a.Unverifiable, Stale: a.Stale, NoIP: a.NoIP, FirstSeen: stamp(a.FirstAt), LastSeen: stamp(a.LastSeen),
		}
		if rate, known := a.OKRate(); known {
			row.OKRate = &rate
		}
		out.Agents = append(out.Agents, row)
	}
	return err
}

func (s *Service) pages(ctx context.Context, workspace string, w trafficdb.Window, top trafficdb.Page, out *traffic.Source) error {
	pages, err := s.DB.Pages(ctx, workspace, w, top)
	for _, p := range pages {
		out.Pages = append(out.Pages, traffic.PageSource{Host: p.Host, Path: p.Path, Touches: p.Touches, ByClass: p.ByClass, Agents: p.Agents})
	}
	return err
}

func (s *Service) gaps(ctx context.Context, workspace string, w trafficdb.Window, top trafficdb.Page, out *traffic.Source) error {
	gaps, err := s.DB.Gaps(ctx, workspace, w, top)
	for _, g := range gaps {
		out.Gaps = append(out.Gaps, traffic.Gap{
			Kind: g.Kind, Status: g.Status, Host: g.Host, Path: g.Path, Touches: g.Touches, Asked: g.Asked, Agents: g.Agents, Suggest: suggestion(g.Kind),
		})
	}
	return err
}

func (s *Service) referrals(ctx context.Context, workspace string, w trafficdb.Window, top trafficdb.Page, out *traffic.Source) error {
	referrals, err := s.DB.Referrals(ctx, workspace, w, top)
	for _, r := range referrals {
		out.Referrals = append(out.Referrals, traffic.Referral{
			Agent: r.Family, Landings: r.Landings, Visitors: r.Visitors, Evidence: r.Evidence, AtLeast: r.AtLeast,
		})
	}
	return err
}

func (s *Service) trend(ctx context.Context, workspace string, w trafficdb.Window, out *traffic.Source) error {
	trend, err := s.DB.Trend(ctx, workspace, w)
	for _, d := range trend {
		out.Trend = append(out.Trend, traffic.Day{
			Day: d.Day, ByClass: d.ByClass, Referrals: d.Referrals, Conversions: d.Conversions, Reads: d.Reads, Failed: d.Failed,
		})
	}
	return err
}

func (s *Service) noise(ctx context.Context, workspace string, w trafficdb.Window, out *traffic.Source) error {
	noise, err := s.DB.Noise(ctx, workspace, w)
	for _, n := range noise {
		out.Noise[n.Class] += n.Touches
		out.NoiseBy = append(out.NoiseBy, traffic.NoiseClass{Class: n.Class, Touches: n.Touches, Agents: listOf(n.Agents), Pages: listOf(n.Pages), LastAt: stamp(n.LastAt)})
	}
	return err
}

// listOf returns a list that JSON writes as one.
func listOf(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func suggestion(kind string) string {
	switch kind {
	case traffic.GapMissingText:
		return "publish this page as text"
	case traffic.GapNotFound:
		return "publish it, or redirect to the page that took its place"
	case traffic.GapBlocked:
		return "let agents that people send through your firewall and robots.txt"
	case neverRead:
		return "link it from llms.txt and from the pages that agents read"
	case robotsConflict:
		return "robots.txt forbids it to these agents and they read it: let them, or block them at the server"
	case noLLMs:
		return "publish /llms.txt, with links to the pages that matter"
	case noMarkdown:
		return "answer Accept: text/markdown, or publish each page as .md beside it: coding agents ask for it"
	default:
		return "look into the server's log: the page failed"
	}
}
