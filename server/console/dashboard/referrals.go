package dashboard

import (
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A referralRow is an assistant that referred people.
type referralRow struct {
	Agent, Only        string // Only leads to the overview of this assistant alone
	Landings, Visitors count
	Unseen             bool // no landing is in the window, though conversions are credited
	Evidence           string
	Bar                template.HTML
	converted
}

// converted is what became of landings.
type converted struct {
	Conversions string   // credited to them
	Kinds       string   // the conversions by kind
	Rate        string   // conversions of all kinds per 100 landings; a dash above 100, empty without landings
	Revenue     []string // by currency
	over        bool     // the rate exceeds 100
	credited    float64
	rate        float64 // -1 without landings
	money       []traffic.Money
}

func newConverted(conversions float64, kinds map[string]float64, money []traffic.Money, landings int64) converted {
	out := converted{Conversions: share(conversions), credited: conversions, rate: -1, money: money}
	for _, m := range money {
		out.Revenue = append(out.Revenue, amount(m.Amount, m.Currency))
	}
	var words []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		words = append(words, kind+" "+share(kinds[kind]))
	}
	out.Kinds = strings.Join(words, ", ")
	if landings > 0 {
		out.rate, out.over = conversions/float64(landings), conversions > float64(landings)
		if out.Rate = strings.TrimSuffix(chart.Percent(out.rate), "%"); out.over {
			out.Rate = "–"
		}
	}
	return out
}

func referralRows(p *page, r *traffic.Report) []referralRow {
	most := int64(0)
	for i := range r.Source.Referrals {
		most = max(most, r.Source.Referrals[i].Landings)
	}
	var out []referralRow
	for i := range r.Source.Referrals {
		ref := &r.Source.Referrals[i]
		var words []string
		for _, e := range evidences() {
			if n := ref.Evidence[e.Key]; n > 0 {
				words = append(words, e.Name+" "+chart.Whole(n))
			}
		}
		row := referralRow{
			Agent: ref.Agent, Only: p.only("assistant", ref.Agent), Landings: count(ref.Landings), Visitors: count(ref.Visitors), Evidence: strings.Join(words, ", "), Bar: chart.Bar(ref.Landings, most, "plain"),
			converted: newConverted(0, nil, nil, ref.Landings),
		}
		for _, a := range r.Outcome.TopAgents {
			if a.Agent == ref.Agent {
				row.converted = newConverted(a.Conversions, a.Kinds, a.Revenue, ref.Landings)
			}
		}
		out = append(out, row)
	}
	for _, a := range r.Outcome.TopAgents {
		if a.Conversions != 0 && !slices.ContainsFunc(out, func(row referralRow) bool { return row.Agent == a.Agent }) {
			out = append(out, referralRow{Agent: a.Agent, Only: p.only("assistant", a.Agent), Unseen: true, converted: newConverted(a.Conversions, a.Kinds, a.Revenue, 0)})
		}
	}
	return out
}

// A landingRow is a page on which people from assistants landed.
type landingRow struct {
	Host, Path         string
	Only               string // the overview of this page alone
	Landings, Visitors count
	Assistants         string
	Bar                template.HTML
	converted
}

// Cells are the numbers of the row.
func (r *referralRow) Cells(converts bool) landedCells {
	return landedCells{r.Landings, r.Unseen, r.converted, converts}
}

// Cells are the numbers of the row.
func (r *landingRow) Cells(converts bool) landedCells {
	return landedCells{r.Landings, false, r.converted, converts}
}

// A landedCells is the numbers of a row of the overview.
type landedCells struct {
	Landings count
	Unseen   bool
	converted
	Converts bool // conversions belong to what the filter selects
}

// landingsShown is how many landing pages are shown at once.
const landingsShown = 12

func landingRows(p *page, pages []traffic.Landing) []landingRow {
	most := int64(0)
	for i := range pages {
		most = max(most, pages[i].Landings)
	}
	var out []landingRow
	for i := range pages {
		l := &pages[i]
		out = append(out, landingRow{
			Host: l.Host, Path: l.Path, Only: p.only("path", l.Host+l.Path), Landings: count(l.Landings), Visitors: count(l.Visitors), Assistants: some(l.Assistants),
			Bar: chart.Bar(l.Landings, most, "plain"), converted: newConverted(l.Conversions, l.Kinds, l.Revenue, l.Landings),
		})
	}
	return out
}

// revenueColumn is the column of the revenue of rows. It sorts where all of it is of one currency.
func revenueColumn[T any](rows []T, of func(*T) *converted) column[T] {
	name := ""
	for i := range rows {
		for _, m := range of(&rows[i]).money {
			if name != "" && name != m.Currency {
				return column[T]{name: "Revenue", class: "num"}
			}
			name = m.Currency
		}
	}
	return numberColumn("Revenue", "revenue", func(r *T) float64 { return moneyIn(of(r).money, name) })
}

// anyOver reports whether a rate of a list exceeds 100.
func anyOver[T interface{ exceeds() bool }](rows []T) bool {
	return slices.ContainsFunc(rows, func(r T) bool { return r.exceeds() })
}

func (c converted) exceeds() bool { return c.over }

// A landingTable is a part of the list of landing pages.
type landingTable struct {
	Headers []header
	Rows    []landingRow
	Revenue bool // of a page is known
}

// A referred is what the pages of referrals and of conversions both show.
type referred struct {
	Referrals []referralRow
	Landings  []landingRow
	Further   []landingRow // more of them, behind a click
	Revenue   bool         // of an assistant is known
	// The headers of the two tables.
	Headers, LandingHeaders []header
}

func newReferred(p *page, r *traffic.Report) referred {
	d := referred{Referrals: referralRows(p, r)}
	rows := landingRows(p, r.Source.Landings)
	d.Revenue = slices.ContainsFunc(d.Referrals, func(r referralRow) bool { return len(r.Revenue) > 0 })
	n := 5 // columns without revenue
	if d.Revenue {
		n++
	}
	d.Headers = sortBy(p, d.Referrals, []column[referralRow]{
		textColumn("Assistant", "name", func(r *referralRow) string { return strings.ToLower(r.Agent) }),
		numberColumn("Landings (minimum)", "landings", func(r *referralRow) count { return r.Landings }),
		numberColumn("Known visitors", "visitors", func(r *referralRow) count { return r.Visitors }),
		numberColumn("Conversions", "conversions", func(r *referralRow) float64 { return r.credited }),
		numberColumn("Per 100 landings", "rate", func(r *referralRow) float64 { return r.rate }),
		revenueColumn(d.Referrals, func(r *referralRow) *converted { return &r.converted }),
	}[:n], "-landings")
	d.LandingHeaders = sortBy(p, rows, []column[landingRow]{
		textColumn("Page", "name", func(r *landingRow) string { return r.Path }),
		numberColumn("Landings (minimum)", "landings", func(r *landingRow) count { return r.Landings }),
		numberColumn("Known visitors", "visitors", func(r *landingRow) count { return r.Visitors }),
		numberColumn("Conversions", "conversions", func(r *landingRow) float64 { return r.credited }),
		numberColumn("Per 100 landings", "rate", func(r *landingRow) float64 { return r.rate }),
		revenueColumn(rows, func(r *landingRow) *converted { return &r.converted }),
	}[:n], "-landings")
	shown := min(len(rows), landingsShown)
	d.Landings, d.Further = rows[:shown], rows[shown:]
	return d
}

// Table returns a table of some of the landing pages.
func (r referred) Table(rows []landingRow) landingTable {
	return landingTable{r.LandingHeaders, rows, r.Revenue}
}

// Over reports whether the rate of an assistant exceeds 100.
func (r referred) Over() bool { return anyOver(r.Referrals) }

// Over reports whether the rate of a page exceeds 100.
func (t landingTable) Over() bool { return anyOver(t.Rows) }

// noAgent is why a filter by agent does not apply to people.
const noAgent = "people have no agent"

// noClass is why a filter by class does not.
const noClass = "people have no class"

type referralsData struct {
	Page     page
	Trend    trend
	Evidence []term
	Total    count
	referred
}

func (h *Handler) referrals(v *visit) error {
	v.query.ignore("agent", noAgent)
	v.query.ignore("class", noClass)
	d := referralsData{Page: v.page("Referrals"), Evidence: evidences()}
	r, err := v.report(&d.Page, traffic.PartReferrals|traffic.PartLandings|traffic.PartTrend|traffic.PartOutcome, listRows)
	if err != nil {
		return err
	}
	d.Trend = newTrend(r.Source.Trend, v.query, d.Page.Path+"/referrals", landings(), nil)
	d.referred = newReferred(&d.Page, r)
	for i := range d.Referrals {
		d.Total += d.Referrals[i].Landings
	}
	return v.show("workspace-referrals", "Referrals", d)
}
