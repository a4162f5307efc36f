// Package traffictest generates traffic for tests and benchmarks: agents, pages and
// gaps, people and their orders, noise, late events and backfilled ones. The same
// options generate the same events.
package traffictest

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

// Options are the parameters of the generated traffic.
type Options struct {
	Seed       uint64
	Events     int
	Workspaces int       // the first has most events
	Days       int       // over which events come in
	End        time.Time // of the last event's receipt
}

// Workspace returns the name of a workspace; 0 is the one with most events.
func Workspace(n int) string { return fmt.Sprintf("ws_%02d", n) }

// A visitor is a kind of generated visitor.
type visitor struct {
	weight                          int
	agent, family, operator, class  string
	verified, mismatch, unprovable  int // of 100 touches; the rest have no_ip or stale_data
	missing, blocked, failed, plain int // of 100 answers; plain is the share of unknown status
}

// visitors returns the visitors, agents first.
func visitors() []visitor {
	return []visitor{
		{16, "GPTBot", "GPTBot", "OpenAI", "training_crawler", 90, 4, 0, 20, 8, 2, 5},
		{9, "ClaudeBot", "ClaudeBot", "Anthropic", "training_crawler", 85, 5, 0, 25, 6, 1, 5},
		{7, "OAI-SearchBot", "OAI-SearchBot", "OpenAI", "search_index", 95, 1, 0, 8, 2, 1, 5},
		{5, "PerplexityBot", "PerplexityBot", "Perplexity", "search_index", 80, 10, 0, 10, 12, 1, 0},
		{14, "ChatGPT-User", "ChatGPT", "OpenAI", "user_fetch", 92, 3, 0, 30, 3, 2, 0},
		{5, "Claude-User", "Claude", "Anthropic", "user_fetch", 90, 1, 0, 28, 2, 1, 0},
		{3, "Perplexity-User", "Perplexity", "Perplexity", "user_fetch", 88, 6, 0, 12, 3, 2, 0},
		{2, "ChatGPT agent", "ChatGPT", "OpenAI", "agentic_browser", 99, 0, 0, 5, 1, 0, 10},
		{4, "Claude Code", "Claude Code", "Anthropic", "coding_agent", 0, 0, 100, 35, 1, 0, 0},
		{2, "Cursor", "Cursor", "Anysphere", "coding_agent", 0, 0, 100, 30, 1, 0, 0},
		{2, "TavilyBot", "TavilyBot", "Tavily", "data_provider", 0, 0, 100, 15, 5, 1, 0},
		{4, "", "", "", "scanner_probe", 0, 0, 0, 96, 4, 0, 0},
		{3, "curl", "", "", "http_library", 0, 0, 0, 10, 5, 0, 0},
		{2, "UptimeRobot", "", "", "monitor", 0, 0, 0, 0, 0, 1, 0},
		{2, "Slackbot", "", "Slack", "link_preview", 0, 0, 100, 2, 0, 0, 0},
		{1, "OAI-AdsBot", "", "OpenAI", "ads_review", 90, 0, 0, 1, 0, 0, 0},
		{4, "Googlebot", "Googlebot", "Google", "search_engine", 95, 3, 0, 8, 0, 0, 0},
		{1, "SomeBot", "", "", "unknown_bot", 0, 0, 100, 8, 0, 0, 0},
		{14, "", "", "", "browser", 0, 0, 0, 2, 0, 0, 0},
	}
}

// A maker makes events.
type maker struct {
	o        Options
	r        *rand.Rand
	who      []visitor
	weights  int
	families []string
	fetched  map[string]trafficdb.Row // the last fetch for a user, by workspace
}

// Rows returns events in the order in which they come in. Numbers have gaps.
func Rows(o Options) iter.Seq[trafficdb.Row] {
	return func(yield func(trafficdb.Row) bool) {
		m := &maker{o: o, r: rand.New(rand.NewPCG(o.Seed, 1)), who: visitors(), families: []string{"ChatGPT", "Perplexity", "Claude", "Gemini"}, fetched: map[string]trafficdb.Row{}}
		for _, v := range m.who {
			m.weights += v.weight
		}
		seq := int64(0)
		for i := range o.Events {
			seq += 1 + int64(m.r.IntN(20)/19)
			if !yield(m.row(i, seq)) {
				return
			}
		}
	}
}

// chance is true n times of 100.
func (m *maker) chance(n int) bool { return m.r.IntN(100) < n }

func (m *maker) row(i int, seq int64) trafficdb.Row {
	length := time.Duration(m.o.Days) * 24 * time.Hour
	received := m.o.End.Add(-length + time.Duration(float64(length)*float64(i+1)/float64(m.o.Events))).Truncate(time.Microsecond)
	u := m.r.Float64()
	row := trafficdb.Row{Seq: seq, Workspace: Workspace(int(float64(m.o.Workspaces) * u * u))}
	row.ID, row.ReceivedAt = fmt.Sprintf("e%d", i), received
	row.At = received.Add(-time.Duration(m.r.IntN(3_000_000)) * time.Microsecond)
	switch n := m.r.IntN(100); {
	case n < 2: // late
		row.At = received.Add(-time.Duration(m.r.IntN(72*3600)) * time.Second)
	case n < 4:
		row.Backfill = true
		row.At = received.Add(-time.Duration(m.r.IntN(60*24*3600)) * time.Second)
	}
	switch n := m.r.IntN(1000); {
	case n < 25:
		row.Type = event.Identify
		row.Visitor, row.Identity = m.person()
	case n < 45:
		m.convert(&row, i)
	case n < 75:
		m.landing(&row)
	default:
		m.touch(&row)
	}
	return row
}

// person returns a visitor and who it is. Three visitors are two persons; the
// first is a device that everybody uses.
func (m *maker) person() (visitor, identity string) {
	n := m.r.IntN(max(m.o.Events/8/m.o.Workspaces, 20))
	return fmt.Sprintf("v%d", n*m.r.IntN(12)/11), fmt.Sprintf("ref:p%d", n*2/3)
}

func (m *maker) convert(row *trafficdb.Row, i int) {
	row.Type = event.Convert
	row.Visitor, row.Identity = m.person()
	if m.chance(40) {
		row.Visitor = ""
	} else if m.chance(50) {
		row.Identity = ""
	}
	switch n := m.r.IntN(10); {
	case n < 5:
		row.Kind = "signup"
	case n < 9:
		row.Kind, row.OrderID, row.Currency, row.Value = "paid", fmt.Sprintf("o%d", i), "USD", int64(900+m.r.IntN(9000))
		if m.chance(20) {
			row.Currency = "EUR"
		}
	default:
		row.Kind, row.Currency, row.Value = "refund", "USD", -int64(m.r.IntN(3000))
		row.RefundOf = fmt.Sprintf("o%d", m.r.IntN(i+1))
	}
}

func (m *maker) landing(row *trafficdb.Row) {
	row.Type, row.Class, row.Family, row.Status = event.Touch, "browser", m.families[m.zipf(len(m.families))], 200
	row.Host, row.Path = "example.com", m.page()
	if m.chance(5) {
		row.Family = ""
	}
	switch m.r.IntN(4) {
	case 0:
		row.Evidence, row.Via = "signed_link", "mcp"
	case 1:
		row.Evidence, row.UTMSource = "tag", "chatgpt.com"
	case 2:
		row.Evidence, row.Referrer = "referrer", "chatgpt.com"
	default:
		row.Evidence = "declared"
	}
	if m.chance(80) {
		row.Visitor, _ = m.person()
	}
	if m.chance(10) {
		_, row.Identity = m.person()
	}
}

func (m *maker) touch(row *trafficdb.Row) {
	n := m.r.IntN(m.weights)
	k := 0
	for n >= m.who[k].weight {
		n -= m.who[k].weight
		k++
	}
	v := &m.who[k]
	row.Type, row.Agent, row.Family, row.Operator, row.Class = event.Touch, v.agent, v.family, v.operator, v.class
	row.Host, row.Path, row.Method, row.UserAgent = "example.com", m.page(), "GET", "Mozilla/5.0 (compatible; "+v.agent+"/1.0)"
	row.Network, row.Source, row.Bytes, row.DurationMS = "203.0.113.0/24", "node", int64(m.r.IntN(90_000)), int64(m.r.IntN(400))
	m.verdict(row, v)
	m.answer(row, v)
	switch v.class {
	case "browser":
		if m.chance(60) {
			row.Visitor, _ = m.person()
		}
		if m.chance(50) {
			row.Referrer = "www.google.com"
		} else if f, ok := m.fetched[row.Workspace]; ok && m.chance(50) { // a person follows an answer
			row.Path, row.At = f.Path, f.At.Add(time.Duration(m.r.IntN(40*60))*time.Second)
		}
	case "user_fetch":
		m.fetched[row.Workspace] = *row
	case "agentic_browser", "coding_agent":
		row.Evidence = "signature"
		row.Visitor, _ = m.person()
	}
}

func (m *maker) verdict(row *trafficdb.Row, v *visitor) {
	if v.agent == "" {
		return
	}
	switch n := m.r.IntN(100); {
	case n < v.verified:
		row.Verdict = []string{"verified_ip", "verified_ip", "verified_dns", "verified_signature"}[m.r.IntN(4)]
	case n < v.verified+v.mismatch:
		row.Verdict = "ip_mismatch"
	case n < v.verified+v.mismatch+v.unprovable:
		row.Verdict = "unverifiable"
	case n%2 == 0:
		row.Verdict = "no_ip"
	default:
		row.Verdict = "stale_data"
	}
}

func (m *maker) answer(row *trafficdb.Row, v *visitor) {
	row.Status = 200
	switch n := m.r.IntN(100); {
	case n < v.missing:
		row.Status, row.Path = 404, m.missing()
		if m.chance(5) {
			row.Status = 410
		}
	case n < v.missing+v.blocked:
		row.Status = []int{401, 403, 403, 429}[m.r.IntN(4)]
	case n < v.missing+v.blocked+v.failed:
		row.Status = []int{500, 502, 503}[m.r.IntN(3)]
	case n < v.missing+v.blocked+v.failed+v.plain:
		row.Status = 0
	case m.chance(10):
		row.Status = []int{301, 304, 400, 405}[m.r.IntN(4)]
	}
}

// zipf returns a number below n, mostly a small one.
func (m *maker) zipf(n int) int { return int(float64(n) * math.Pow(m.r.Float64(), 2.5)) }

func (m *maker) page() string {
	n := m.zipf(300)
	switch n {
	case 0:
		return "/"
	case 1:
		return "/pricing"
	case 2:
		return "/llms.txt"
	}
	path := fmt.Sprintf("/docs/part%d/page%d", n%9, n)
	switch n % 7 {
	case 0:
		return path + ".md"
	case 1:
		return path + "/"
	}
	return path
}

func (m *maker) missing() string {
	switch n := m.zipf(120); {
	case n == 0:
		return "/llms-full.txt"
	case n < 30:
		return fmt.Sprintf("/docs/old/page%d.md", n)
	default:
		return fmt.Sprintf("/v%d/gone%d", n%8, n)
	}
}
