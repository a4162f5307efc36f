package reporter

import (
	"maps"
	"slices"

	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/traffic"
)

// addConversions counts conversions, without refunds, on the days or hours of a query.
func addConversions(days []traffic.Day, credited []attribution.Credited, q *traffic.Query) {
	byDay := map[string]int64{}
	for i := range credited {
		if c := &credited[i]; c.Kind != attribution.Refund {
			byDay[q.Span(c.At)]++
		}
	}
	for i := range days {
		days[i].Conversions = byDay[days[i].Day]
	}
}

// addCredited counts the conversions by agents, without refunds, on the days or hours of a query.
func addCredited(days []traffic.Day, credited []attribution.Credited, q *traffic.Query) {
	byDay := map[string]attribution.Count{}
	for i := range credited {
		if c := &credited[i]; c.Kind != attribution.Refund {
			byDay[q.Span(c.At)] += c.AgentCount()
		}
	}
	for i := range days {
		days[i].Credited = share(byDay[days[i].Day])
	}
}

// addRevenue fills in the revenue of agents on the days or hours of a query, a refund
// when it happened.
func addRevenue(days []traffic.Day, credited []attribution.Credited, q *traffic.Query) {
	byDay := map[string]map[string]int64{} // minor units by day and currency
	for i := range credited {
		c := &credited[i]
		for _, s := range c.Shares {
			if s.Family == attribution.NoAgent || s.Value == 0 {
				continue
			}
			day := q.Span(c.At)
			if byDay[day] == nil {
				byDay[day] = map[string]int64{}
			}
			byDay[day][c.Currency] += s.Value
		}
	}
	for i := range days {
		sums := byDay[days[i].Day]
		for _, currency := range slices.Sorted(maps.Keys(sums)) {
			days[i].Revenue = append(days[i].Revenue, traffic.Money{Currency: currency, Amount: money(sums[currency], currency)})
		}
	}
}
