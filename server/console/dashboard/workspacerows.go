package dashboard

import (
	"context"
	"time"

	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// countedRows is how many workspaces of the list have figures: each takes a report.
const countedRows = 20

// rowsTimeout bounds how long the list waits for figures.
const rowsTimeout = 3 * time.Second

// A workspaceRow is a workspace in the list. Figures that are unknown are a dash.
type workspaceRow struct {
	Title, Slug, Link, Role string
	Visits, Rate, Last      string
	Note                    string // on the rate
}

func (h *Handler) rows(v *layout.Visit, list []*state.Membership) (out []workspaceRow) {
	ctx, stop := context.WithTimeout(v.R.Context(), rowsTimeout)
	defer stop()
	for i, m := range list {
		row := workspaceRow{Title: m.Title(), Slug: m.Slug, Link: layout.Under("/workspaces", m.Slug), Visits: "–", Rate: "–", Last: "–"}
		if m.Role != identity.Owner {
			row.Role = string(m.Role)
		}
		if i < countedRows {
			h.count(ctx, m.ID, &row)
		}
		out = append(out, row)
	}
	return out
}

// count fills in the figures of a workspace. Those that cannot be read in time stay unknown:
// the list is there to choose from.
func (h *Handler) count(ctx context.Context, workspace string, row *workspaceRow) {
	now := h.Sessions.Now()
	if h.Reports != nil {
		q := traffic.Query{From: now.AddDate(0, 0, -7), To: now, UntilNow: true, TZ: time.UTC, Model: attribution.First, Lookback: attribution.MaxLookback, Parts: traffic.PartTrend}
		if r, err := h.Reports.Report(ctx, workspace, q); err == nil {
			visits := int64(0)
			for _, d := range r.Source.Trend {
				visits += visitsOf(d)
			}
			row.Visits, row.Last = chart.Whole(visits), "no event yet"
			if r.Health.LastEventAt != nil {
				if last, err := time.Parse(time.RFC3339, *r.Health.LastEventAt); err == nil {
					row.Last = ago(now.Sub(last))
				}
			}
		}
	}
	if h.Alerts == nil || h.Picks == nil {
		return
	}
	follow, err := h.Alerts.Following(ctx, workspace)
	if err != nil || follow.Tool == "" {
		return
	}
	m, err := h.Picks.Measured(ctx, workspace, follow.Tool)
	switch {
	case err != nil || m == nil:
	case m.Board.Synthetic:
		row.Note = "rehearsal only"
	default:
		row.Rate, row.Note = chart.Percent(m.Standing().PickRate), m.Standing().Tool
	}
}
