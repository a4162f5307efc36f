package app

import (
	"context"
	"sync"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/public/share"
)

// addPicks lets alerts follow the picks of workspaces' tools.
func (a *App) addPicks(alerts *alert.Service, measured alert.PicksFunc) {
	alerts.Picks = measured
	painter := sync.OnceValues(share.NewPainter) // parses fonts
	alerts.Picture = func(small, title, foot string, bars []alert.Bar) ([]byte, error) {
		p, err := painter()
		if err != nil {
			return nil, err
		}
		pic := share.Picture{Small: small, Title: title, Foot: foot}
		for _, b := range bars {
			pic.Rows = append(pic.Rows, share.Row{Name: b.Name, Value: b.Value, Share: b.Rate})
		}
		return p.PNG(pic)
	}
	if reports := a.Reports; reports != nil {
		alerts.Visits = func(ctx context.Context, workspace string, from, to time.Time) (int64, error) {
			return visits(ctx, reports, workspace, from, to)
		}
	}
}

// visits counts the visits of agents that the dashboard counts.
func visits(ctx context.Context, reports traffic.Reports, workspace string, from, to time.Time) (int64, error) {
	r, err := reports.Report(ctx, workspace, traffic.Query{
		From: from, To: to, TZ: time.UTC, Model: attribution.First, Lookback: 30 * 24 * time.Hour, Parts: traffic.PartTrend, Limit: 1,
	})
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	for _, d := range r.Source.Trend {
		for name, n := range d.ByClass {
			if agentid.Class(name).Headline() {
				sum += n
			}
		}
	}
	return sum, nil
}
