package reporter

import (
	"context"

	"github.com/firstpick/firstpick/server/traffic"
	"github.com/firstpick/firstpick/server/trafficdb"
)

// topRows is how many rows of each list a report has; the others are in the
// exports.
const topRows = 50

func noSource() traffic.Source {
	return traffic.Source{
		Agents: []traffic.AgentSource{}, Pages: []traffic.PageSource{}, Gaps: []traffic.Gap{}, Referrals: []traffic.Referral{},
		Trend: []traffic.Day{}, Noise: map[string]int64{},
	}
}

func (s *Service) source(ctx context.Context, workspace string, w trafficdb.Window) (traffic.Source, error) {
	top := trafficdb.Page{Limit: topRows}
	out := noSource()
	agents, err := s.DB.Agents(ctx, workspace, w, top)
	if err != nil {
		return out, err
	}
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
	pages, err := s.DB.Pages(ctx, workspace, w, top)
	if err != nil {
		return out, err
	}
	for _, p := range pages {
		out.Pages = append(out.Pages, traffic.PageSource{Host: p.Host, Path: p.Path, Touches: p.Touches, ByClass: p.ByClass, Agents: p.Agents})
	}
	gaps, err := s.DB.Gaps(ctx, workspace, w, top)
	if err != nil {
		return out, err
	}
	for _, g := range gaps {
		out.Gaps = append(out.Gaps, traffic.Gap{
			Kind: g.Kind, Status: g.Status, Host: g.Host, Path: g.Path, Touches: g.Touches, Asked: g.Asked, Agents: g.Agents, Suggest: suggestion(g.Kind),
		})
	}
	return out, s.people(ctx, workspace, w, top, &out)
}

func (s *Service) people(ctx context.Context, workspace string, w trafficdb.Window, top trafficdb.Page, out *traffic.Source) error {
	referrals, err := s.DB.Referrals(ctx, workspace, w, top)
	if err != nil {
		return err
	}
	for _, r := range referrals {
		out.Referrals = append(out.Referrals, traffic.Referral{
			Agent: r.Family, Landings: r.Landings, Visitors: r.Visitors, Evidence: r.Evidence, AtLeast: r.AtLeast,
		})
	}
	trend, err := s.DB.Trend(ctx, workspace, w)
	if err != nil {
		return err
	}
	for _, d := range trend {
		out.Trend = append(out.Trend, traffic.Day(d))
	}
	noise, err := s.DB.Noise(ctx, workspace, w)
	if err != nil {
		return err
	}
	for _, n := range noise {
		out.Noise[n.Class] += n.Touches
	}
	return nil
}

func suggestion(kind string) string {
	switch kind {
	case trafficdb.MissingText:
		return "publish this page as text"
	case trafficdb.NotFound:
		return "publish it, or redirect to the page that took its place"
	case trafficdb.Blocked:
		return "let agents that people send through your firewall and robots.txt"
	default:
		return "look into the server's log: the page failed"
	}
}
