package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/traffic"
)

// A story is what happened at a site, and who is credited with it, through the
// public endpoints from end to end.
type story struct {
	name   string
	events string // NDJSON; AGO(n) is a time n minutes before the test
	query  string
	want   []string // what outcome says, a line each
}

// stories are the worked examples of the attribution guide.
var stories = []story{
	{name: "identify comes after the conversion", events: `
		{"type":"touch","visitorToken":"v","url":"https://acme.example/","referrer":"https://chatgpt.com/","ts":"AGO(60)"}
		{"type":"convert","userRef":"dana","kind":"paid","value":"49.00","currency":"USD","orderId":"o1","ts":"AGO(30)"}
		{"type":"identify","visitorToken":"v","userRef":"dana","ts":"AGO(10)"}`,
		want: []string{"paid 1/1", "USD 49.00 of 49.00, back 0.00", "ChatGPT 1 [USD 49.00] referrer:1"}},
	{name: "a touch after the conversion counts for nothing", events: `
		{"type":"convert","userRef":"dana","visitorToken":"v","kind":"paid","value":"49.00","currency":"USD","ts":"AGO(30)"}
		{"type":"touch","visitorToken":"v","url":"https://acme.example/","referrer":"https://chatgpt.com/","ts":"AGO(20)"}`,
		want: []string{"paid 0/1", "USD 0.00 of 49.00, back 0.00"}},
	{name: "one person on two devices, first touch", events: `
		{"type":"touch","visitorToken":"phone","url":"https://acme.example/","referrer":"https://www.perplexity.ai/","ts":"AGO(90)"}
		{"type":"touch","visitorToken":"laptop","url":"https://acme.example/","referrer":"https://chatgpt.com/","ts":"AGO(60)"}
		{"type":"identify","visitorToken":"phone","email":"dana@example.com","ts":"AGO(50)"}
		{"type":"identify","visitorToken":"laptop","email":"Dana@Example.com","ts":"AGO(40)"}
		{"type":"convert","email":"dana@example.com","kind":"signup","ts":"AGO(30)"}`,
		want: []string{"signup 1/1", "Perplexity 1 [] referrer:1"}},
	{name: "the same, last touch", query: "&model=last", events: `
		{"type":"touch","visitorToken":"phone","url":"https://acme.example/","referrer":"https://www.perplexity.ai/","ts":"AGO(90)"}
		{"type":"touch","visitorToken":"laptop","url":"https://acme.example/","referrer":"https://chatgpt.com/","ts":"AGO(60)"}
		{"type":"identify","visitorToken":"phone","email":"dana@example.com","ts":"AGO(50)"}
		{"type":"identify","visitorToken":"laptop","email":"dana@example.com","ts":"AGO(40)"}
		{"type":"convert","email":"dana@example.com","kind":"signup","ts":"AGO(30)"}`,
		want: []string{"signup 1/1", "ChatGPT 1 [] referrer:1"}},
	{name: "a refund takes back from whom it was credited to", events: `
		{"type":"touch","visitorToken":"v","url":"https://acme.example/?via=mcp-claude","ts":"AGO(90)"}
		{"type":"identify","visitorToken":"v","userRef":"dana","ts":"AGO(80)"}
		{"type":"convert","userRef":"dana","kind":"paid","value":"100.00","currency":"EUR","orderId":"in_1","ts":"AGO(70)"}
		{"type":"touch","visitorToken":"v","url":"https://acme.example/","referrer":"https://chatgpt.com/","ts":"AGO(60)"}
		{"type":"convert","userRef":"dana","kind":"refund","value":"-30.00","currency":"EUR","orderId":"re_1","refundOf":"in_1","ts":"AGO(50)"}`,
		want: []string{"paid 1/1", "EUR 70.00 of 70.00, back 30.00"}},
	{name: "two currencies are never added up", events: `
		{"type":"touch","visitorToken":"v","url":"https://acme.example/?utm_source=chatgpt.com","ts":"AGO(90)"}
		{"type":"identify","visitorToken":"v","userRef":"dana","ts":"AGO(80)"}
		{"type":"convert","userRef":"dana","kind":"paid","value":"10.00","currency":"USD","orderId":"1","ts":"AGO(70)"}
		{"type":"convert","userRef":"dana","kind":"paid","value":"900","currency":"JPY","orderId":"2","ts":"AGO(60)"}
		{"type":"convert","userRef":"kim","kind":"paid","value":"5.50","currency":"USD","orderId":"3","ts":"AGO(60)"}`,
		want: []string{"paid 2/3", "JPY 900 of 900, back 0", "USD 10.00 of 15.50, back 0.00", "ChatGPT 2 [JPY 900 USD 10.00] tag:2"}},
	{name: "a device of six people is nobody's", events: `
		{"type":"touch","visitorToken":"kiosk","url":"https://acme.example/","referrer":"https://chatgpt.com/","ts":"AGO(90)"}
		{"type":"identify","visitorToken":"kiosk","userRef":"p1","ts":"AGO(80)"}
		{"type":"identify","visitorToken":"kiosk","userRef":"p2","ts":"AGO(79)"}
		{"type":"identify","visitorToken":"kiosk","userRef":"p3","ts":"AGO(78)"}
		{"type":"identify","visitorToken":"kiosk","userRef":"p4","ts":"AGO(77)"}
		{"type":"identify","visitorToken":"kiosk","userRef":"p5","ts":"AGO(76)"}
		{"type":"identify","visitorToken":"kiosk","userRef":"p6","ts":"AGO(75)"}
		{"type":"convert","userRef":"p1","kind":"paid","value":"49.00","currency":"USD","orderId":"1","ts":"AGO(30)"}`,
		want: []string{"paid 0/1", "USD 0.00 of 49.00, back 0.00"}},
	{name: "people of one device are not one another", events: `
		{"type":"touch","visitorToken":"shared","url":"https://acme.example/a","ts":"AGO(90)"}
		{"type":"identify","visitorToken":"shared","userRef":"dana","ts":"AGO(80)"}
		{"type":"identify","visitorToken":"shared","userRef":"kim","ts":"AGO(70)"}
		{"type":"identify","visitorToken":"kims","userRef":"kim","ts":"AGO(65)"}
		{"type":"touch","visitorToken":"kims","url":"https://acme.example/","referrer":"https://chatgpt.com/","ts":"AGO(60)"}
		{"type":"convert","userRef":"dana","kind":"paid","value":"49.00","currency":"USD","orderId":"1","ts":"AGO(30)"}`,
		want: []string{"paid 0/1", "USD 0.00 of 49.00, back 0.00"}},
	{name: "linear shares add up to the cent", query: "&model=linear", events: `
		{"type":"touch","visitorToken":"v","url":"https://acme.example/","referrer":"https://chatgpt.com/","ts":"AGO(90)"}
		{"type":"touch","visitorToken":"v","url":"https://acme.example/","referrer":"https://www.perplexity.ai/","ts":"AGO(80)"}
		{"type":"touch","visitorToken":"v","url":"https://acme.example/","referrer":"https://claude.ai/","ts":"AGO(70)"}
		{"type":"convert","visitorToken":"v","kind":"paid","value":"10.00","currency":"USD","orderId":"1","ts":"AGO(30)"}`,
		want: []string{"paid 1/1", "USD 10.00 of 10.00, back 0.00", "ChatGPT 0.334 [USD 3.34]", "Claude 0.333 [USD 3.33]", "Perplexity 0.333 [USD 3.33]"}},
	{name: "an order that is told twice counts once", events: `
		{"type":"convert","id":"hook-1","userRef":"dana","kind":"paid","value":"49.00","currency":"USD","orderId":"in_9","ts":"AGO(30)"}
		{"type":"convert","id":"hook-2","userRef":"dana","kind":"paid","value":"49.00","currency":"USD","orderId":"in_9","ts":"AGO(29)"}`,
		want: []string{"paid 0/1", "USD 0.00 of 49.00, back 0.00"}},
	{name: "a crawl is no reason to buy", events: `
		{"type":"touch","visitorToken":"v","url":"https://acme.example/","userAgent":"Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)","ts":"AGO(90)"}
		{"type":"convert","visitorToken":"v","kind":"signup","ts":"AGO(30)"}`,
		want: []string{"signup 0/1"}},
}

func TestStoriesOfCredit(t *testing.T) {
	s := newKilled(t)
	s.start(s.listen)
	start := time.Now()
	for i, c := range stories {
		t.Run(c.name, func(t *testing.T) {
			token, key := s.claimedWorkspaceOf(fmt.Sprintf("owner%d", i))
			var list []json.RawMessage
			for line := range strings.Lines(strings.TrimSpace(c.events)) {
				for minutes := 0; minutes <= 90; minutes++ {
					line = strings.ReplaceAll(line, fmt.Sprintf("AGO(%d)", minutes), start.Add(-time.Duration(minutes)*time.Minute).UTC().Format(time.RFC3339))
				}
				list = append(list, json.RawMessage(strings.TrimSpace(line)))
			}
			slices.Reverse(list) // the order in which they come must not matter, but for orders told twice
			a, err := s.send(http.DefaultClient, s.base, "POST", "/api/collect", list, key)
			if err != nil || a.status != http.StatusAccepted {
				t.Fatal(a, err)
			}
			var taken struct{ Accepted int64 }
			if err := json.Unmarshal([]byte(a.body), &taken); err != nil {
				t.Fatal(err)
			}
			s.reportWith(token, taken.Accepted)
			a, err = s.send(http.DefaultClient, s.base, "GET", "/api/agent/workspace?window=1d"+c.query, nil, token)
			if err != nil || a.status != http.StatusOK {
				t.Fatal(a, err)
			}
			var r traffic.Report
			if err := json.Unmarshal([]byte(a.body), &r); err != nil {
				t.Fatal(err)
			}
			got := told(&r.Outcome)
			for _, want := range c.want {
				if !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, want) }) {
					t.Errorf("the report does not tell %q; it tells\n  %s", want, strings.Join(got, "\n  "))
				}
			}
		})
	}
}

// told writes an outcome as a story's want does.
func told(o *traffic.Outcome) []string {
	var out []string
	for _, c := range o.Conversions {
		out = append(out, fmt.Sprintf("%s %v/%d", c.Kind, c.AgentDriven, c.Total))
	}
	for _, r := range o.Revenue {
		out = append(out, fmt.Sprintf("%s %s of %s, back %s", r.Currency, r.AgentDriven, r.Total, r.Refunded))
	}
	for _, a := range o.TopAgents {
		var money, evidence []string
		for _, m := range a.Revenue {
			money = append(money, m.Currency+" "+m.Amount)
		}
		for kind, n := range a.Evidence {
			evidence = append(evidence, fmt.Sprintf("%s:%v", kind, n))
		}
		slices.Sort(money)
		slices.Sort(evidence)
		out = append(out, fmt.Sprintf("%s %v [%s] %s", a.Agent, a.Conversions, strings.Join(money, " "), strings.Join(evidence, " ")))
	}
	return out
}
