package reporter

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// credited returns the conversions of a window and whose they are, oldest first; a list has tests
// too.
func (s *Service) credited(ctx context.Context, workspace string, w trafficdb.Window, q traffic.Query, tests bool) (_ []attribution.Credited, truncated bool, err error) {
	j, err := s.DB.Journeys(ctx, workspace, w, q.Lookback)
	if err != nil {
		return nil, false, err
	}
	all := attribution.Credit(j.Conversions, j.Touches, attribution.NewGraph(j.Bindings), attribution.Options{
		Model: q.Model, Lookback: q.Lookback, From: q.From, To: q.To,
	})
	if !tests {
		all = withoutTests(all, j.Conversions)
	}
	return creditedTo(ofGoal(all, j.Conversions, q.Filter.Goal), q.Filter.Assistant), j.Truncated, nil
}

// ofGoal leaves the conversions of a kind, and the refunds of orders of this kind; all where goal
// is empty.
func ofGoal(all []attribution.Credited, orders []attribution.Conversion, goal string) []attribution.Credited {
	if goal == "" {
		return all
	}
	kinds := map[string]string{}
	for i := range orders {
		kinds[orders[i].ID] = orders[i].Kind
	}
	return slices.DeleteFunc(all, func(c attribution.Credited) bool { return c.Kind != goal && (c.Order == "" || kinds[c.Order] != goal) })
}

// sortConversions sorts conversions, the oldest first, as a query says.
func sortConversions(all []attribution.Credited, by string) {
	key, descending := strings.CutPrefix(by, "-")
	if by != "at" {
		slices.Reverse(all)
	}
	if key != "kind" && key != "value" {
		return
	}
	sorting.StableFunc(all, func(a, b attribution.Credited) int {
		if descending {
			a, b = b, a
		}
		if key == "kind" {
			return cmp.Compare(a.Kind, b.Kind)
		}
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Value, b.Value))
	})
}

// withoutTests leaves out conversions that check an installation, and their refunds.
func withoutTests(all []attribution.Credited, orders []attribution.Conversion) []attribution.Credited {
	tests := map[string]bool{}
	for i := range orders {
		if orders[i].IsTest() {
			tests[orders[i].ID] = true
		}
	}
	return slices.DeleteFunc(all, func(c attribution.Credited) bool { return tests[c.ID] || tests[c.Order] })
}

// onPage leaves the conversions that are credited to visits to the page of a query, with the shares
// of these visits alone; all where the query has no page.
func onPage(all []attribution.Credited, q *traffic.Query) []attribution.Credited {
	if q.Filter.Page == "" {
		return all
	}
	return attribution.OnPages(all, q.Model, q.Filter.OnPage)
}

// creditedTo leaves the conversions of which a family has or possibly has a share, with its
// share alone; all where family is empty.
func creditedTo(all []attribution.Credited, family string) []attribution.Credited {
	if family == "" {
		return all
	}
	var out []attribution.Credited
	for _, c := range all {
		i := slices.IndexFunc(c.Shares, func(s attribution.Share) bool { return s.Family == family })
		switch {
		case i >= 0:
			c.Shares, c.Evidence = c.Shares[i:i+1], c.Shares[i].Evidence
		case c.Possible == nil || c.Possible.Family != family:
			continue
		}
		out = append(out, c)
	}
	return out
}

// Conversions lists the conversions of a workspace, the newest first unless the query sorts them.
func (s *Service) Conversions(ctx context.Context, workspace string, q traffic.Query, offset, limit int) (*traffic.Conversions, error) {
	health, err := s.DB.Health(ctx, workspace, s.Now())
	if err != nil {
		return nil, err
	}
	credited, truncated, err := s.credited(ctx, workspace, trafficdb.Window{From: q.From, To: q.To, TZ: q.TZ}, q, true)
	if err != nil {
		return nil, err
	}
	credited = slices.DeleteFunc(onPage(credited, &q), func(c attribution.Credited) bool {
		return q.Only == traffic.OnlyCredited && c.Evidence == "" || q.Only == traffic.OnlyPossible && c.Possible == nil
	})
	sortConversions(credited, q.Sort)
	out := &traffic.Conversions{
		Window: traffic.Window{From: stamp(q.From), To: stamp(q.To), TZ: q.TZ.String(), CompleteThrough: stamp(health.CompleteThrough)},
		Model:  q.Model, LookbackDays: int(q.Lookback / day), Total: len(credited), Offset: offset, Truncated: truncated,
		Conversions: []traffic.ConversionRow{},
	}
	first := min(max(offset, 0), len(credited))
	last := min(first+min(max(limit, 0), traffic.MaxLimit), len(credited))
	for i := range credited[first:last] {
		out.Conversions = append(out.Conversions, row(&credited[first+i]))
	}
	return out, nil
}

// Conversion traces one conversion. Touches are looked for as far back as any
// lookback reaches, to report which of them are too old.
func (s *Service) Conversion(ctx context.Context, workspace, id string, q traffic.Query) (*traffic.Conversion, error) {
	j, err := s.DB.Trace(ctx, workspace, id, attribution.MaxLookback)
	if errors.Is(err, trafficdb.ErrNotFound) {
		return nil, noConversion()
	}
	if err != nil {
		return nil, err
	}
	graph, options := attribution.NewGraph(j.Bindings), attribution.Options{Model: q.Model, Lookback: q.Lookback}
	credited := attribution.Credit(j.Conversions, j.Touches, graph, options)
	i := slices.IndexFunc(credited, func(c attribution.Credited) bool { return c.ID == id })
	if i < 0 {
		return nil, noConversion()
	}
	c := &credited[i]
	out := &traffic.Conversion{
		ConversionRow: row(c), Model: q.Model, LookbackDays: int(q.Lookback / day), Truncated: c.Truncated, Touches: []traffic.ConversionTouch{},
	}
	if c.Kind == attribution.Refund {
		return out, nil
	}
	steps := attribution.Steps(&c.Conversion, j.Touches, graph, options)
	for i := range steps {
		t := &steps[i]
		touch := traffic.ConversionTouch{
			At: stamp(t.At), Agent: t.Agent, Family: t.Touch.Family, Class: t.Class, Host: t.Host, Path: t.Path, Referrer: t.Referrer,
			Evidence: t.Evidence, Why: string(t.Why), Share: share(t.Count),
		}
		if t.Why == attribution.Counted {
			touch.Value = amount(t.Value, c.Currency)
		}
		out.Touches = append(out.Touches, touch)
	}
	return out, nil
}

func noConversion() error {
	return &apierr.Error{Status: 404, Code: "not_found", Description: "This workspace has no such conversion."}
}

func row(c *attribution.Credited) traffic.ConversionRow {
	out := traffic.ConversionRow{
		ID: c.ID, Kind: c.Kind, At: stamp(c.At), Value: amount(c.Value, c.Currency), Credits: []traffic.Credit{},
		Evidence: c.Evidence, Assisted: c.Assisted, Order: c.Order, Problem: string(c.Problem),
		Test: c.IsTest(),
	}
	if c.Kind == attribution.Refund {
		out.Applied = amount(c.Applied, c.Currency)
	}
	for _, s := range c.Shares {
		if s.Family != attribution.NoAgent {
			out.Credits = append(out.Credits, traffic.Credit{Agent: s.Family, Evidence: s.Evidence, Share: share(s.Count), Value: amount(s.Value, c.Currency)})
		}
	}
	if p := c.Possible; p != nil {
		out.Possible = &traffic.Possible{Agent: p.Family, Host: p.Landing.Host, Path: p.Landing.Path, FetchedAt: stamp(p.Fetch.At), LandedAt: stamp(p.Landing.At)}
	}
	return out
}

// amount returns money, or nil for a conversion without money.
func amount(minor int64, currency string) *traffic.Money {
	if currency == "" {
		return nil
	}
	return &traffic.Money{Currency: currency, Amount: money(minor, currency)}
}
