package collect_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/event"
)

const (
	gptbot = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.3; +https://openai.com/gptbot"
	chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"
	phone  = "Mozilla/5.0 (Linux; Android 15; CPH2665 Build/AP3A.240617.008) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36"
)

func identifier(t *testing.T) *collect.Identifier {
	t.Helper()
	lists, err := ranges.Open("")
	if err != nil {
		t.Fatal(err)
	}
	return &collect.Identifier{Who: &agentid.Verifier{Table: agentid.Load(), Ranges: lists}}
}

func TestWhatIsKeptOfWhoCame(t *testing.T) {
	id := identifier(t)
	at := time.Date(2026, 6, 11, 12, 0, 0, 0, time.UTC)
	const opencode = "text/markdown;q=1.0, text/x-markdown;q=0.9, text/plain;q=0.8, text/html;q=0.7, */*;q=0.1"
	for _, tc := range []struct {
		name, ua, ip, accept string
		at                   time.Time
		want                 event.Record
	}{
		{"the edge of Cloudflare", gptbot, "172.71.150.12", "", at,
			event.Record{Agent: "GPTBot", Class: "training_crawler", Verdict: "no_ip", VerdictReason: "cdn_address", VerdictList: "cdn-cloudflare"}},
		{"a list of half a year ago", gptbot, "52.230.152.9", "", at.AddDate(0, 0, 163),
			event.Record{Agent: "GPTBot", Class: "training_crawler", Verdict: "verified_ip", VerdictReason: "old_list", VerdictList: "openai-gptbot", VerdictListDate: "2026-06-11"}},
		{"a fresh list", gptbot, "52.230.152.9", "", at,
			event.Record{Agent: "GPTBot", Class: "training_crawler", Verdict: "verified_ip", VerdictList: "openai-gptbot"}},
		{"OpenCode as a browser", chrome, "203.0.113.9", opencode, at,
			event.Record{Agent: "Unnamed coding agent", Class: "coding_agent"}},
		{"OpenCode as a browser, for text", chrome, "203.0.113.9", "text/plain;q=1.0, text/markdown;q=0.9, text/html;q=0.8, */*;q=0.1", at,
			event.Record{Agent: "Unnamed coding agent", Class: "coding_agent"}},
		{"Chrome of a person", chrome, "203.0.113.9", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7", at,
			event.Record{Class: "browser"}},
		{"a browser that takes markdown last", chrome, "203.0.113.9", "text/html,application/xhtml+xml,text/markdown;q=0.5,*/*;q=0.1", at,
			event.Record{Class: "browser"}},
		{"a phone of OPPO", phone, "203.0.113.9", "text/html", at,
			event.Record{Class: "browser"}},
	} {
		in := event.Input{Type: event.Touch, At: tc.at, Path: "/docs", UserAgent: tc.ua, IP: netip.MustParseAddr(tc.ip), Accept: tc.accept}
		var r event.Record
		id.Identify(&in, &r)
		got := event.Record{Agent: r.Agent, Class: r.Class, Verdict: r.Verdict, VerdictReason: r.VerdictReason, VerdictList: r.VerdictList, VerdictListDate: r.VerdictListDate}
		if got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

// A log holds people's visits too. They are not kept, and least of all as those
// of scanners.
func TestPeoplesVisitsAreNotKept(t *testing.T) {
	onBoth(t, func(b *bench) {
		b.Identify = identifier(t).Identify
		key := b.workspace("people", 30)
		batch := event.Batch{Native: true}
		for _, ua := range []string{phone, chrome, "Mozilla/5.0 (Linux; Android 15; RMX3840 Build/AP3A.240617.008) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.7444.48 Mobile Safari/537.36", gptbot} {
			batch.Inputs = append(batch.Inputs, event.Input{Type: event.Touch, At: b.now, ReceivedAt: b.now, Path: "/", UserAgent: ua, IP: netip.MustParseAddr("172.71.150.12")})
		}
		got, err := b.Take(t.Context(), key, &batch, b.now)
		if err != nil || got.People != 3 || got.Accepted != 1 || got.Edges[agentid.CDNAddress] != 1 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
