// Package reporter builds the reports of package traffic from the read model.
package reporter

import (
	"context"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/sitecheck"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

// A Config holds the dependencies of a Service.
type Config struct {
	DB  *trafficdb.DB
	Now func() time.Time
	// Site returns the site check of a workspace, nil before the first one. The function
	// is optional.
	Site func(ctx context.Context, workspace string) (*sitecheck.Result, error)
	// Lists returns how old the lists of agents' addresses are. It may be nil.
	Lists func(now time.Time) ranges.Ages
}

// A Service builds reports. It implements traffic.Reports.
type Service struct {
	Config
	cache cache
}

// New returns a service.
func New(cfg Config) *Service { return &Service{Config: cfg, cache: cache{now: cfg.Now}} }

const day = 24 * time.Hour

// Report returns the report of a workspace, built now or a moment ago. The
// caller must not change it.
func (s *Service) Report(ctx context.Context, workspace string, q traffic.Query) (*traffic.Report, error) {
	return s.cache.get(ctx, key(workspace, &q), func(ctx context.Context) (*traffic.Report, error) { return s.report(ctx, workspace, q) })
}

func (s *Service) report(ctx context.Context, workspace string, q traffic.Query) (*traffic.Report, error) {
	w := trafficdb.Window{From: q.From, To: q.To, TZ: q.TZ, Hours: q.Hours, Filter: q.Filter}
	w.Filter.Goal = "" // of conversions alone
	health, err := s.DB.Health(ctx, workspace, s.Now())
	if err != nil {
		return nil, err
	}
	r := &traffic.Report{
		Window:  traffic.Window{From: stamp(q.From), To: stamp(q.To), TZ: q.TZ.String(), CompleteThrough: stamp(health.CompleteThrough)},
		Health:  traffic.Health{EventsLast24h: health.Last24h},
		Outcome: noOutcome(q), Source: noSource(), Changes: []traffic.Change{},
	}
	if a := s.ages(); a.Lists > 0 {
		r.Health.IdentityLists = &traffic.IdentityLists{Oldest: a.Oldest.UTC().Format(time.DateOnly), Lists: a.Lists, Old: a.Old}
	}
	if health.LastReceivedAt.IsZero() { // no event yet: nothing to count
		return r, nil
	}
	first, last := stamp(health.FirstAt), stamp(health.LastReceivedAt)
	r.Health.FirstEventAt, r.Health.LastEventAt = &first, &last
	var all, credited []attribution.Credited
	if q.Wants(traffic.PartOutcome) {
		truncated := false
		if all, truncated, err = s.credited(ctx, workspace, w, q, false); err != nil {
			return nil, err
		}
		credited = onPage(all, &q)
		r.Outcome = outcome(credited, truncated, q)
	}
	if err := s.source(ctx, workspace, w, q, &r.Source); err != nil {
		return nil, err
	}
	if q.Wants(traffic.PartLandings) {
		r.Source.Landings = addLandings(r.Source.Landings, all, &q)
	}
	if q.Filter.Assistant != "" || q.Filter.Goal != "" || q.Filter.Page != "" {
		addConversions(r.Source.Trend, credited, &q)
	}
	addCredited(r.Source.Trend, credited, &q)
	addRevenue(r.Source.Trend, credited, &q)
	if !q.Wants(traffic.PartChanges) {
		return r, nil
	}
	changes, err := s.DB.Changes(ctx, workspace, w, s.Now())
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		r.Changes = append(r.Changes, traffic.Change{
			What: c.What, Agent: c.Agent, Class: c.Class, Host: c.Host, Folder: c.Folder, Now: c.Now, Before: c.Before, Since: stamp(c.Since),
		})
	}
	return r, nil
}

// ages returns how old the lists of agents' addresses are.
func (s *Service) ages() ranges.Ages {
	if s.Lists == nil {
		return ranges.Ages{}
	}
	return s.Lists(s.Now())
}

func outcome(credited []attribution.Credited, truncated bool, q traffic.Query) traffic.Outcome {
	totals := attribution.Summary(credited)
	out := noOutcome(q)
	out.Truncated = truncated
	for _, k := range totals.Kinds {
		out.Conversions = append(out.Conversions, traffic.KindOutcome{
			Kind: k.Kind, Total: k.Total, AgentDriven: share(k.AgentDriven), Assisted: k.Assisted, Possible: k.Possible,
		})
	}
	for _, m := range totals.Revenue {
		out.Revenue = append(out.Revenue, traffic.RevenueOutcome{
			Currency: m.Currency, Total: money(m.Total, m.Currency), AgentDriven: money(m.AgentDriven, m.Currency), Refunded: money(m.Refunded, m.Currency),
		})
	}
	for _, f := range totals.Families {
		a := traffic.AgentOutcome{Agent: f.Family, Conversions: share(f.Conversions), Kinds: counts(f.Kinds), Revenue: revenue(f.Revenue), Evidence: counts(f.Evidence)}
		out.TopAgents = append(out.TopAgents, a)
	}
	for p, n := range totals.Problems {
		if out.Problems == nil {
			out.Problems = map[string]int{}
		}
		out.Problems[string(p)] = n
	}
	return out
}

// revenue returns sums net of refunds, by currency.
func revenue(sums []attribution.Money) []traffic.Money {
	out := make([]traffic.Money, 0, len(sums))
	for _, m := range sums {
		out = append(out, traffic.Money{Currency: m.Currency, Amount: money(m.Net, m.Currency)})
	}
	return out
}

func noOutcome(q traffic.Query) traffic.Outcome {
	return traffic.Outcome{
		Model: q.Model, LookbackDays: int(q.Lookback / day), AtLeast: true,
		Conversions: []traffic.KindOutcome{}, Revenue: []traffic.RevenueOutcome{}, TopAgents: []traffic.AgentOutcome{},
	}
}

// counts converts counts by kind.
func counts(in map[string]attribution.Count) map[string]float64 {
	out := make(map[string]float64, len(in))
	for kind, n := range in {
		out[kind] = share(n)
	}
	return out
}

func share(c attribution.Count) float64 { return float64(c) / float64(attribution.Whole) }

func money(minor int64, currency string) string {
	exponent, _ := event.Exponent(currency) // stored currencies are valid
	return event.FormatMoney(minor, exponent)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
