package trafficdb_test

import (
	"context"
	"fmt"
	"time"

	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

// A question is a report as tests and benchmarks ask it.
type question struct {
	name string
	ask  func(context.Context, to) (any, error)
}

// to is whom a question is put to.
type to struct {
	*trafficdb.DB
	ws string
	w  trafficdb.Window
}

// questions returns all that is asked of a workspace.
func questions() []question {
	p := trafficdb.Page{Limit: 100}
	sitemap := make([]trafficdb.PageRef, 50_000)
	for i := range sitemap {
		sitemap[i] = trafficdb.PageRef{Host: "example.com", Path: fmt.Sprintf("/docs/part%d/page%d", i%9, i)}
	}
	return []question{
		{"Agents", func(ctx context.Context, q to) (any, error) { return q.Agents(ctx, q.ws, q.w, p) }},
		{"Pages", func(ctx context.Context, q to) (any, error) { return q.Pages(ctx, q.ws, q.w, p) }},
		{"Gaps", func(ctx context.Context, q to) (any, error) { return q.Gaps(ctx, q.ws, q.w, p) }},
		{"Referrals", func(ctx context.Context, q to) (any, error) { return q.Referrals(ctx, q.ws, q.w, p) }},
		{"Trend", func(ctx context.Context, q to) (any, error) { return q.Trend(ctx, q.ws, q.w) }},
		{"Noise", func(ctx context.Context, q to) (any, error) { return q.Noise(ctx, q.ws, q.w) }},
		{"Health", func(ctx context.Context, q to) (any, error) { return q.Health(ctx, q.ws, q.w.To) }},
		{"Changes", func(ctx context.Context, q to) (any, error) { return q.Changes(ctx, q.ws, q.w, q.w.To) }},
		{"Journeys", func(ctx context.Context, q to) (any, error) { return q.Journeys(ctx, q.ws, q.w, 0) }},
		{"NeverRead", func(ctx context.Context, q to) (any, error) {
			return q.NeverRead(ctx, q.ws, q.w, sitemap, len(sitemap))
		}},
		{"Recent", func(ctx context.Context, q to) (any, error) {
			return q.Recent(ctx, q.ws, q.w.To.Add(-time.Second))
		}},
		{"OneAgent", func(ctx context.Context, q to) (any, error) {
			q.w.Filter.Agent = "ChatGPT-User"
			return q.Pages(ctx, q.ws, q.w, p)
		}},
	}
}
