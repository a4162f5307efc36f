package tools

import (
	"github.com/firstpick/firstpick/server/channel/traffic"
)

// A MineQuery has the arguments of getMyAgents.
type MineQuery struct {
	Period  string // 24h, 7d, 30d, 90d
	GroupBy string // agent, page, conversion
	Limit   int
}

const (
	mineRows    = 20
	maxMineRows = 100
)

// ReadMine parses the arguments of getMyAgents, or returns the error response.
func ReadMine(raw []byte) (MineQuery, *Answer) {
	a := read(raw, "period", "groupBy", "limit")
	q := MineQuery{a.word("period", "30d", "7d", "24h", "90d"), a.word("groupBy", "agent", "page", "conversion"), a.number("limit", mineRows, maxMineRows)}
	if len(a.issues) > 0 {
		wrong := invalid(a.issues)
		return q, &wrong
	}
	return q, nil
}

type mine struct {
	Workspace string         `json:"workspace"`
	Period    string         `json:"period"`
	From      string         `json:"from"`
	To        string         `json:"to"`
	GroupBy   string         `json:"groupBy"`
	Totals    mineTotals     `json:"totals"`
	Rows      []mineRow      `json:"rows"`
	Credited  []mineCredited `json:"credited"`
	AtLeast   bool           `json:"atLeast"`
	LastEvent *string        `json:"lastEventAt"`
	URL       string         `json:"url"`
}

type mineTotals struct {
	Touches     int64                    `json:"touches"`
	Conversions int                      `json:"conversions"`
	AgentDriven float64                  `json:"agentDriven"`
	Revenue     []traffic.RevenueOutcome `json:"revenue"`
}

type mineRow struct {
	Key         string   `json:"key"`
	Class       string   `json:"class,omitempty"`
	Touches     *int64   `json:"touches,omitempty"`
	Verified    *int64   `json:"verified,omitempty"`
	Spoofed     *int64   `json:"spoofed,omitempty"`
	Conversions *int     `json:"conversions,omitempty"`
	AgentDriven *float64 `json:"agentDriven,omitempty"`
	Assisted    *int     `json:"assisted,omitempty"`
}

type mineCredited struct {
	Agent       string          `json:"agent"`
	Conversions float64         `json:"conversions"`
	Revenue     []traffic.Money `json:"revenue"`
}

// Mine is the answer of getMyAgents out of a report with outcome, agents and pages.
func Mine(q MineQuery, r *traffic.Report, workspace, url string) Answer {
	out := mine{
		Workspace: workspace, Period: q.Period, From: r.Window.From, To: r.Window.To, GroupBy: q.GroupBy, Rows: []mineRow{}, Credited: []mineCredited{},
		AtLeast: r.Outcome.AtLeast, LastEvent: r.Health.LastEventAt, URL: url,
		Totals: mineTotals{Revenue: append([]traffic.RevenueOutcome{}, r.Outcome.Revenue...)},
	}
	for _, a := range r.Source.Agents {
		out.Totals.Touches += a.Touches
	}
	for _, k := range r.Outcome.Conversions {
		out.Totals.Conversions += k.Total
		out.Totals.AgentDriven += k.AgentDriven
	}
	for _, a := range r.Outcome.TopAgents[:min(q.Limit, len(r.Outcome.TopAgents))] {
		out.Credited = append(out.Credited, mineCredited{a.Agent, a.Conversions, append([]traffic.Money{}, a.Revenue...)})
	}
	switch q.GroupBy {
	case "agent":
		for _, a := range r.Source.Agents {
			out.Rows = append(out.Rows, mineRow{Key: a.Agent, Class: a.Class, Touches: &a.Touches, Verified: &a.Verified, Spoofed: &a.Spoofed})
		}
	case "page":
		for _, p := range r.Source.Pages {
			out.Rows = append(out.Rows, mineRow{Key: p.Host + p.Path, Touches: &p.Touches})
		}
	default:
		for _, k := range r.Outcome.Conversions {
			out.Rows = append(out.Rows, mineRow{Key: k.Kind, Conversions: &k.Total, AgentDriven: &k.AgentDriven, Assisted: &k.Assisted})
		}
	}
	out.Rows = out.Rows[:min(q.Limit, len(out.Rows))]
	return Answer{JSON: encode(out)}
}
