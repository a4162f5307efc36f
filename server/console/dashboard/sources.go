package dashboard

import (
	"cmp"
	"html/template"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/route"
)

// listRows is how many rows a list page shows; the others are in the exports.
const listRows = 200

// An agentRow is an agent in a list.
type agentRow struct {
	Name, Link, Operator string
	Only                 string // the overview of this agent alone
	Class                term
	Touches, Spoofed     count
	Pages                count
	OK, Last             string
	ok                   float64 // -1 where it is unknown
	seen                 string  // RFC 3339
	Bar, Split           template.HTML
	verification         verification
}

func agentRows(p *page, agents []traffic.AgentSource) []agentRow {
	most := int64(0)
	for i := range agents {
		most = max(most, agents[i].Touches-agents[i].Spoofed)
	}
	var out []agentRow
	for i := range agents {
		a := &agents[i]
		genuine := a.Touches - a.Spoofed
		row := agentRow{
			Name: a.Agent, Operator: a.Operator, Class: class(a.Class), Touches: count(genuine), Spoofed: count(a.Spoofed), Pages: count(a.Pages),
			verification: newVerification(a), Last: moment(a.LastSeen, p.query.TZ), seen: a.LastSeen, OK: "unknown", ok: -1, Bar: chart.Bar(genuine, most, a.Class),
		}
		if a.Agent != "" {
			row.Link, row.Only = p.To("agents", a.Agent), p.only("agent", a.Agent)
		}
		if a.OKRate != nil {
			row.OK, row.ok = chart.Percent(*a.OKRate), *a.OKRate
		}
		row.Split = row.verification.bar()
		out = append(out, row)
	}
	sorting.StableFunc(out, func(a, b agentRow) int { return cmp.Compare(b.Touches, a.Touches) })
	return out
}

// someNames is how many names of a list are shown.
const someNames = 5

// some lists names, and of many the first.
func some(names []string) string {
	if len(names) <= someNames+1 {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:someNames], ", ") + " and " + chart.Whole(int64(len(names)-someNames)) + " more"
}

// spoken describes the parts of a bar to screen readers.
func spoken(parts []chart.Part) string {
	var words []string
	for _, p := range parts {
		if p.Value > 0 {
			words = append(words, p.Name+" "+chart.Whole(p.Value))
		}
	}
	return strings.Join(words, ", ")
}

// agentColumns are the columns of the list of agents.
func agentColumns() []column[agentRow] {
	return []column[agentRow]{
		textColumn("Agent", "agent", func(r *agentRow) string { return strings.ToLower(r.Name) }),
		{name: "Identity", class: "half"},
		numberColumn("Visits", "visits", func(r *agentRow) count { return r.Touches }),
		numberColumn("Spoofed", "spoofed", func(r *agentRow) count { return r.Spoofed }),
		numberColumn("Pages", "pages", func(r *agentRow) count { return r.Pages }),
		numberColumn("Success rate", "success", func(r *agentRow) float64 { return r.ok }),
		numberColumn("Last seen", "seen", func(r *agentRow) string { return r.seen }),
	}
}

type agentsData struct {
	Page     page
	Headers  []header
	Trend    trend
	Agents   []agentRow
	Verdicts []legend
	Doubts   []legend // of the unverified ones; those that occur
	Advice   advice
	Cut      int // how many rows there are, if more than these; 0 for all
}

func (h *Handler) agents(v *visit) error {
	v.query.ignore("goal", noGoal)
	d := agentsData{Page: v.page("Agents")}
	r, err := v.report(&d.Page, traffic.PartAgents|traffic.PartTrend, listRows)
	if err != nil {
		return err
	}
	d.Trend = newTrend(r.Source.Trend, v.query, d.Page.Path+"/agents", visits(), nil)
	d.Agents = agentRows(&d.Page, r.Source.Agents)
	d.Headers = sortBy(&d.Page, d.Agents, agentColumns(), "-visits")
	all := verificationOf(d.Agents)
	d.Verdicts, d.Doubts = all.verdicts(), all.doubts()
	d.Advice = newAdvice(&all, r.Health.IdentityLists)
	d.Cut = cut(len(d.Agents))
	return v.show("workspace-agents", "Agents", d)
}

func cut(rows int) int {
	if rows < listRows {
		return 0
	}
	return rows
}

type agentData struct {
	Page     page
	Name     string
	Rows     []agentRow
	Split    template.HTML
	Verdicts []legend
	Doubts   []legend // of the unverified ones; those that occur
	Advice   advice
	Trend    trend
	Pages    []pageRow
	Gaps     []gapRow
	Only     string // the overview of this agent alone
}

// agent shows one agent: its verification and its visits.
func (h *Handler) agent(v *visit) error {
	name := route.Param(v.R, "agent")
	v.query.unfilter("agent") // of another one
	v.query.ignore("goal", noGoal)
	v.query.ignore("class", "it is one agent")
	d := agentData{Page: v.page("Agents"), Name: name}
	d.Only = d.Page.only("agent", name)
	v.query.Filter.Agent = d.Name
	r, err := v.report(&d.Page, traffic.PartAgents|traffic.PartTrend|traffic.PartPages|traffic.PartGaps, listRows)
	if err != nil {
		return err
	}
	for _, row := range agentRows(&d.Page, r.Source.Agents) {
		if row.Name == d.Name {
			d.Rows = append(d.Rows, row)
		}
	}
	all := verificationOf(d.Rows)
	d.Verdicts, d.Doubts, d.Split = all.verdicts(), all.doubts(), all.bar()
	d.Advice = newAdvice(&all, r.Health.IdentityLists)
	d.Trend = newTrend(r.Source.Trend, v.query, layout.Under(d.Page.Path, "agents", name), visits(), nil)
	d.Pages, d.Gaps = pageRows(&d.Page, r.Source.Pages), gapRows(&d.Page, r.Source.Gaps)
	d.Pages, d.Gaps = d.Pages[:min(len(d.Pages), agentPages)], d.Gaps[:min(len(d.Gaps), agentPages)]
	return v.show("workspace-agent", d.Name, d)
}

// agentPages is how many pages and gaps of one agent are shown.
const agentPages = 25

// A pageRow is a page that agents read.
type pageRow struct {
	Host, Path string
	Only       string // the overview of this page alone
	Touches    count
	Agents     string
	Split      template.HTML
}

func pageRows(p *page, pages []traffic.PageSource) []pageRow {
	most := int64(0)
	for i := range pages {
		most = max(most, pages[i].Touches)
	}
	var out []pageRow
	for i := range pages {
		r := &pages[i]
		var parts []chart.Part
		for _, c := range classes() {
			parts = append(parts, chart.Part{Series: chart.Series{Class: c.Key, Name: c.Name}, Value: r.ByClass[c.Key]})
		}
		out = append(out, pageRow{
			Host: r.Host, Path: r.Path, Only: p.only("path", r.Host+r.Path), Touches: count(r.Touches), Agents: some(r.Agents), Split: chart.Split(parts, most, "By class: "+spoken(parts)),
		})
	}
	return out
}

// pageColumns are the columns of the list of pages.
func pageColumns() []column[pageRow] {
	return []column[pageRow]{
		textColumn("Page", "page", func(r *pageRow) string { return r.Path }),
		{name: "By class", class: "half"},
		numberColumn("Reads", "reads", func(r *pageRow) count { return r.Touches }),
	}
}

type pagesData struct {
	Page    page
	Legend  []legend // classes that read the listed pages
	Headers []header
	Pages   []pageRow
	Cut     int
}

func (h *Handler) pages(v *visit) error {
	v.query.ignore("goal", noGoal)
	d := pagesData{Page: v.page("Pages")}
	r, err := v.report(&d.Page, traffic.PartPages, listRows)
	if err != nil {
		return err
	}
	for _, c := range classes() {
		l := legend{term: c}
		for i := range r.Source.Pages {
			l.Total += count(r.Source.Pages[i].ByClass[c.Key])
		}
		if v.query.Filter.Class == "" {
			l.Link = v.query.link(d.Page.Path+"/pages", "class", c.Key)
		}
		if l.Total > 0 {
			d.Legend = append(d.Legend, l)
		}
	}
	d.Pages = pageRows(&d.Page, r.Source.Pages)
	d.Headers = sortBy(&d.Page, d.Pages, pageColumns(), "-reads")
	d.Cut = cut(len(d.Pages))
	return v.show("workspace-pages", "Pages", d)
}

// A gapRow is a failed request of agents.
type gapRow struct {
	Kind           term
	Status         int // 0: found by the site check, not in a response
	Host, Path     string
	Only           string // the overview of this page alone
	Touches, Asked count
	Agents         string
	Suggest        string
}

func gapRows(p *page, gaps []traffic.Gap) []gapRow {
	var out []gapRow
	for i := range gaps {
		g := &gaps[i]
		row := gapRow{
			Kind: of(gapKinds(), g.Kind), Status: g.Status, Host: g.Host, Path: g.Path, Touches: count(g.Touches), Asked: count(g.Asked),
			Agents: some(g.Agents), Suggest: sentence(g.Suggest),
		}
		if g.Status != 0 { // of requests
			row.Only = p.only("path", g.Host+g.Path)
		}
		out = append(out, row)
	}
	return out
}

// sentence makes a sentence of a suggestion.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// A gapKind is the gaps of one kind.
type gapKind struct {
	term
	Suggest string
	// Asked says that requests show them; the site check shows the others.
	Asked      bool
	Rows, More []gapRow // More are behind a click
}

// gapsShown is how many gaps of a kind are shown at once.
const gapsShown = 12

type gapsData struct {
	Page  page
	Kinds []gapKind
	Cut   int
	Site  *siteFacts // nil when the site was not looked at
}

// siteFacts are the results of the site check.
type siteFacts struct {
	Site, LookedAt string
	Pages, Read    count
	LLMs, Markdown bool
	Unreachable    bool // LLMs and Markdown are unknown
	Problems       []string
}

func (h *Handler) gaps(v *visit) error {
	v.query.ignore("goal", noGoal)
	d := gapsData{Page: v.page("Gaps")}
	r, err := v.report(&d.Page, traffic.PartGaps, listRows)
	if err != nil {
		return err
	}
	rows := gapRows(&d.Page, r.Source.Gaps)
	if s := r.Source.Site; s != nil {
		d.Site = &siteFacts{s.Site, moment(s.LookedAt, v.query.TZ), count(s.Pages), count(s.Read), s.LLMsTxt, s.Markdown, s.Unreachable, s.Problems}
	}
	kinds, asked := gapKinds(), 0
	for _, row := range rows {
		if !known(kinds, row.Kind.Key) {
			kinds = append(kinds, row.Kind)
		}
	}
	for _, t := range kinds {
		k := gapKind{term: t}
		for _, row := range rows {
			if row.Kind.Key == t.Key {
				k.Suggest, k.Asked, k.Rows = row.Suggest, row.Status != 0, append(k.Rows, row)
			}
		}
		if k.Asked {
			asked += len(k.Rows)
		}
		if len(k.Rows) > gapsShown+2 {
			k.Rows, k.More = k.Rows[:gapsShown], k.Rows[gapsShown:]
		}
		if len(k.Rows) > 0 {
			d.Kinds = append(d.Kinds, k)
		}
	}
	d.Cut = cut(asked)
	return v.show("workspace-gaps", "Gaps", d)
}

// A noiseRow is a class of excluded visits.
type noiseRow struct {
	term
	Touches count
	Bar     template.HTML
	Agents  []string
	Pages   []string // host and path
	Last    string
}

type noiseData struct {
	Page    page
	Noise   []noiseRow
	Total   count
	Spoofed []agentRow
}

func (h *Handler) noise(v *visit) error {
	v.query.ignore("goal", noGoal)
	v.query.ignore("class", "noise has classes of its own")
	d := noiseData{Page: v.page("Noise")}
	r, err := v.report(&d.Page, traffic.PartNoise|traffic.PartAgents, listRows)
	if err != nil {
		return err
	}
	most := int64(0)
	for _, n := range r.Source.Noise {
		most = max(most, n)
	}
	for _, n := range r.Source.NoiseBy {
		d.Noise = append(d.Noise, noiseRow{of(others(), n.Class), count(n.Touches), chart.Bar(n.Touches, most, "plain"), n.Agents, n.Pages, moment(n.LastAt, v.query.TZ)})
		d.Total += count(n.Touches)
	}
	sorting.Func(d.Noise, func(a, b noiseRow) int {
		return cmp.Or(cmp.Compare(b.Touches, a.Touches), strings.Compare(a.Key, b.Key))
	})
	for _, a := range agentRows(&d.Page, r.Source.Agents) {
		if a.Spoofed > 0 {
			d.Spoofed = append(d.Spoofed, a)
		}
	}
	sorting.StableFunc(d.Spoofed, func(a, b agentRow) int { return cmp.Compare(b.Spoofed, a.Spoofed) })
	return v.show("workspace-noise", "Noise", d)
}
