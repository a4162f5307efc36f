package dashboard_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

// life is over how long the events of a site happen, until the test's time.
const life = 90 * 24 * time.Hour

// A site makes the events of one site: busy on weekdays and by day, with a launch
// that everybody hears of, a release that breaks links, and a day on which
// somebody comes under a false name.
type site struct {
	r         *rand.Rand
	workspace string
	end       time.Time
	hours     []float64 // how much of what people cause has happened by the end of each hour
	rows      []trafficdb.Row
}

// A caller is one who comes by.
type caller struct {
	weight                        int
	agent, family, operator, kind string
	verdict                       string
	steady                        bool // comes by night as by day
}

func callers() []caller {
	return []caller{
		{17, "GPTBot", "GPTBot", "OpenAI", "training_crawler", "verified_ip", true},
		{9, "ClaudeBot", "ClaudeBot", "Anthropic", "training_crawler", "verified_ip", true},
		{3, "Bytespider", "Bytespider", "ByteDance", "training_crawler", "unverifiable", true},
		{7, "OAI-SearchBot", "OAI-SearchBot", "OpenAI", "search_index", "verified_ip", true},
		{5, "PerplexityBot", "PerplexityBot", "Perplexity", "search_index", "verified_ip", true},
		{14, "ChatGPT-User", "ChatGPT", "OpenAI", "user_fetch", "verified_ip", false},
		{6, "Claude-User", "Claude", "Anthropic", "user_fetch", "verified_ip", false},
		{3, "Perplexity-User", "Perplexity", "Perplexity", "user_fetch", "verified_dns", false},
		{8, "Claude Code", "Claude Code", "Anthropic", "coding_agent", "unverifiable", false},
		{5, "Cursor", "Cursor", "Anysphere", "coding_agent", "unverifiable", false},
		{2, "Codex", "Codex", "OpenAI", "coding_agent", "unverifiable", false},
		{2, "ChatGPT agent", "ChatGPT", "OpenAI", "agentic_browser", "verified_signature", false},
		{1, "TavilyBot", "TavilyBot", "Tavily", "data_provider", "unverifiable", true},
		{6, "", "", "", "scanner_probe", "", true},
		{3, "curl", "", "", "http_library", "", true},
		{1, "UptimeRobot", "", "", "monitor", "", true},
		{1, "Slackbot", "", "Slack", "link_preview", "unverifiable", false},
		{4, "Googlebot", "Googlebot", "Google", "search_engine", "verified_ip", true},
		{1, "SomeBot", "", "", "unknown_bot", "unverifiable", true},
	}
}

// newSite returns a site that has had so many events.
func newSite(workspace string, end time.Time, events int) *site {
	s := &site{r: rand.New(rand.NewPCG(7, 7)), workspace: workspace, end: end}
	sum := 0.0
	for h := range int(life / time.Hour) {
		at := end.Add(-life + time.Duration(h)*time.Hour)
		busy := .25 + .75*max(0, math.Sin(math.Pi*float64(at.Hour()-5)/16))
		if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
			busy *= .4
		}
		if launch := end.Add(-20 * 24 * time.Hour); !at.Before(launch) && at.Before(launch.Add(60*time.Hour)) {
			busy *= 5
		}
		sum += busy * (1 + float64(h)/float64(life/time.Hour)) // it grows
		s.hours = append(s.hours, sum)
	}
	for len(s.rows) < events*78/100 {
		s.touch()
	}
	s.spoof(events / 100)
	s.broken(events / 60)
	for len(s.rows) < events {
		s.person()
	}
	slices.SortStableFunc(s.rows, func(a, b trafficdb.Row) int { return cmp.Compare(a.ReceivedAt.UnixMicro(), b.ReceivedAt.UnixMicro()) })
	for i := range s.rows {
		s.rows[i].Seq = int64(i + 1)
		s.rows[i].ID = fmt.Sprintf("e%d", i)
	}
	return s
}

func (s *site) chance(n int) bool { return s.r.IntN(100) < n }

// when returns a moment at which people are awake, or any.
func (s *site) when(steady bool) time.Time {
	if steady {
		return s.end.Add(-time.Duration(s.r.Int64N(int64(life))))
	}
	x := s.r.Float64() * s.hours[len(s.hours)-1]
	h, _ := slices.BinarySearch(s.hours, x)
	return s.end.Add(-life + time.Duration(h)*time.Hour + time.Duration(s.r.Int64N(int64(time.Hour))))
}

func (s *site) add(at time.Time, row trafficdb.Row) {
	row.Workspace, row.At = s.workspace, at.Truncate(time.Microsecond)
	row.ReceivedAt = row.At.Add(time.Second)
	if row.ReceivedAt.Before(s.end) {
		s.rows = append(s.rows, row)
	}
}

func (s *site) page() string {
	pages := []string{
		"/docs/quickstart", "/docs", "/pricing", "/docs/api/authentication", "/llms.txt", "/docs/guides/nextjs.md", "/docs/api/webhooks", "/",
		"/docs/guides/self-hosting-with-docker-compose-and-postgres", "/changelog", "/docs/sdk/python.md", "/docs/sdk/go", "/blog/why-we-rewrote-it",
	}
	if n := int(60 * math.Pow(s.r.Float64(), 2.2)); n < len(pages) {
		return pages[n]
	}
	return fmt.Sprintf("/docs/reference/%s-%d", []string{"list", "create", "delete"}[s.r.IntN(3)], s.r.IntN(40))
}

func (s *site) touch() {
	all := callers()
	n, weights := 0, 0
	for _, c := range all {
		weights += c.weight
	}
	for n = s.r.IntN(weights); n >= all[0].weight; all = all[1:] {
		n -= all[0].weight
	}
	c := all[0]
	row := trafficdb.Row{Record: event.Record{
		Type: event.Touch, Host: "acme.dev", Path: s.page(), Method: "GET", Status: 200,
		Agent: c.agent, Family: c.family, Operator: c.operator, Class: c.kind, Verdict: c.verdict,
	}}
	switch n := s.r.IntN(100); {
	case c.kind == "scanner_probe":
		row.Path, row.Status = []string{"/wp-login.php", "/.env", "/.git/config"}[s.r.IntN(3)], 404
	case n < 9:
		row.Path, row.Status = fmt.Sprintf("/docs/%s", []string{"install", "getting-started", "api/keys.md", "guides/rails.md", "cli.md"}[s.r.IntN(5)]), 404
	case n < 12:
		row.Path, row.Status = "/llms-full.txt", 404
	case n < 15:
		row.Status = []int{403, 429}[s.r.IntN(2)]
	case n < 16:
		row.Status = 500
	}
	switch n := s.r.IntN(100); {
	case c.verdict != "verified_ip":
	case n < 3:
		row.Verdict = "no_ip"
	case n < 5:
		row.Verdict = "stale_data"
	case n < 6:
		row.Verdict = "ip_mismatch"
	}
	s.add(s.when(c.steady), row)
}

// spoof is a burst of somebody who claims to be GPTBot.
func (s *site) spoof(n int) {
	from := s.end.Add(-12 * 24 * time.Hour)
	for range n {
		s.add(from.Add(time.Duration(s.r.Int64N(int64(5*time.Hour)))), trafficdb.Row{Record: event.Record{
			Type: event.Touch, Host: "acme.dev", Path: s.page(), Status: 200, Agent: "GPTBot", Family: "GPTBot", Operator: "OpenAI",
			Class: "training_crawler", Verdict: "ip_mismatch",
		}})
	}
}

// broken is a release that moved pages of which assistants know the old address.
func (s *site) broken(n int) {
	for range n {
		s.add(s.end.Add(-time.Duration(s.r.Int64N(int64(6*24*time.Hour)))), trafficdb.Row{Record: event.Record{
			Type: event.Touch, Host: "acme.dev", Path: fmt.Sprintf("/docs/v3/%s", []string{"auth", "billing", "webhooks", "limits", "errors"}[s.r.IntN(5)]), Status: 404,
			Agent: "ChatGPT-User", Family: "ChatGPT", Operator: "OpenAI", Class: "user_fetch", Verdict: "verified_ip",
		}})
	}
}

// person is somebody who comes, perhaps by way of an assistant, perhaps again,
// and perhaps buys.
func (s *site) person() {
	n := len(s.rows)
	visitor, identity := fmt.Sprintf("v%d", n), fmt.Sprintf("ref:u%d", n)
	at := s.when(false)
	for range 1 + s.r.IntN(3) {
		row := trafficdb.Row{Record: event.Record{Type: event.Touch, Host: "acme.dev", Path: s.page(), Status: 200, Class: "browser", Visitor: visitor}}
		switch k := s.r.IntN(10); {
		case k < 3:
			row.Family = []string{"ChatGPT", "ChatGPT", "Claude", "Perplexity", "Gemini"}[s.r.IntN(5)]
			row.Evidence = []string{"referrer", "referrer", "tag", "signed_link", "declared"}[s.r.IntN(5)]
			if row.Evidence == "referrer" {
				row.Referrer = "chatgpt.com"
			}
		case k < 5:
			row.Referrer = "www.google.com"
		case k == 5: // an assistant read it for them just before
			row.Path = fmt.Sprintf("/docs/reference/quiet-%d", n)
			s.add(at.Add(-4*time.Minute), trafficdb.Row{Record: event.Record{
				Type: event.Touch, Host: "acme.dev", Path: row.Path, Status: 200, Agent: "Claude-User", Family: "Claude", Operator: "Anthropic", Class: "user_fetch", Verdict: "verified_ip",
			}})
		}
		s.add(at, row)
		at = at.Add(time.Duration(s.r.Int64N(int64(72 * time.Hour))))
	}
	if !s.chance(12) {
		return
	}
	s.add(at, trafficdb.Row{Record: event.Record{Type: event.Identify, Visitor: visitor, Identity: identity}})
	s.add(at.Add(time.Second), trafficdb.Row{Record: event.Record{Type: event.Convert, Kind: "signup", Identity: identity}})
	if !s.chance(40) {
		return
	}
	order := fmt.Sprintf("o%d", n)
	paid := event.Record{Type: event.Convert, Kind: "paid", Identity: identity, OrderID: order, Currency: []string{"USD", "USD", "EUR"}[s.r.IntN(3)], Value: []int64{1900, 4900, 19900, 123450}[s.r.IntN(4)]}
	at = at.Add(time.Duration(s.r.Int64N(int64(5 * 24 * time.Hour))))
	s.add(at, trafficdb.Row{Record: paid})
	if s.chance(12) {
		paid.Kind, paid.Value, paid.OrderID, paid.RefundOf = "refund", -paid.Value, "r"+order, order
		s.add(at.Add(48*time.Hour), trafficdb.Row{Record: paid})
	}
}
