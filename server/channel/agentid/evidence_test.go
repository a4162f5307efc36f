package agentid_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
	"github.com/firstpick/firstpick/server/channel/agentid/rdns"
	"github.com/firstpick/firstpick/server/channel/agentid/webbotauth"
)

const (
	searchbot = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; OAI-SearchBot/1.3; +https://openai.com/searchbot"
	pplxUser  = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Perplexity-User/1.0; +https://perplexity.ai/perplexity-user)"
	pplxBot   = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)"
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	meta      = "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)"
	alexa     = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Amzn-User/0.1) Chrome/119.0.6045.214 Safari/537.36"
	alexaBot  = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Amzn-SearchBot/0.1) Chrome/119.0.6045.214 Safari/537.36"
	release   = "2026-11-22" // 164 days after the day of most lists
)

// broken is a resolver that answers that no name exists.
type broken struct{}

func (broken) LookupAddr(context.Context, string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

func (broken) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

// fetched returns lists of which some were fetched at a time, by their names.
func fetched(t *testing.T, at time.Time, bodies map[string]string) *ranges.Set {
	t.Helper()
	s, err := ranges.Open("")
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		res := httptest.NewRecorder()
		res.Code = http.StatusNotFound
		for _, source := range ranges.Sources() {
			if body := bodies[source.List]; source.URL == r.URL.String() && body != "" {
				res.Code = http.StatusOK
				res.Body.WriteString(body)
			}
		}
		return res.Result(), nil
	})}
	if err := s.Refresh(t.Context(), client, at); err != nil && strings.Count(err.Error(), "answered 404") != len(ranges.Sources())-len(bodies) {
		t.Fatal(err)
	}
	return s
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestEvidence(t *testing.T) {
	now, err := time.Parse(time.DateOnly, release)
	if err != nil {
		t.Fatal(err)
	}
	_, keys := signed(t, "https://chatgpt.com")
	shipped := fetched(t, thatDay, nil)
	fresh := fetched(t, now, map[string]string{
		"perplexity-user":  `{"prefixes":[{"ipv4Prefix":"198.18.4.0/24"}]}`,
		"perplexity-bot":   `{"prefixes":[{"ipv4Prefix":"198.18.5.0/24"}]}`,
		"google-common":    `{"prefixes":[{"ipv4Prefix":"66.249.64.0/24"}]}`,
		"google-user":      `{"prefixes":[{"ipv4Prefix":"198.18.6.0/24"}]}`,
		"amazon-bot":       `<pre>{"creationTime":"x","prefixes":[{"ip_prefix":"198.18.7.1/32"}]}</pre>`,
		"amazon-searchbot": `<pre>{"creationTime":"x","prefixes":[{"ip_prefix":"198.18.7.2/32"}]}</pre>`,
		"amazon-user":      `<pre>{"creationTime":"x","prefixes":[{"ip_prefix":"198.18.7.3/32"}]}</pre>`,
		"meta":             `{"data":{"prefixes":[{"prefix":"57.141.0.0/24"},{"prefix":"2a03:2880::/32"}]}}`,
		"openai-gptbot":    `{"prefixes":[{"ipv4Prefix":"162.158.7.0/24"}]}`,
	})
	for _, tc := range []struct {
		name    string
		lists   *ranges.Set
		dns     rdns.Resolver
		ua, ip  string
		at      time.Time
		verdict agentid.Verdict
		reason  agentid.Reason
		list    string
		asOf    string
	}{
		{"the edge of Cloudflare instead of GPTBot's address", shipped, dns{}, gptbot, "172.71.150.12", thatDay, agentid.NoIP, agentid.CDNAddress, "cdn-cloudflare", ""},
		{"the edge of Cloudflare, IPv6", shipped, dns{}, searchbot, "2606:4700:10::1", thatDay, agentid.NoIP, agentid.CDNAddress, "cdn-cloudflare", ""},
		{"the edge of Fastly", shipped, dns{}, googlebot, "151.101.1.6", thatDay, agentid.NoIP, agentid.CDNAddress, "cdn-fastly", ""},
		{"the edge of Cloudflare, of an agent that DNS verifies", shipped, dns{}, petal, "172.71.150.12", thatDay, agentid.NoIP, agentid.CDNAddress, "cdn-cloudflare", ""},
		{"the edge of Cloudflare, of an agent that nothing verifies", shipped, dns{}, "claude-code/2.1", "172.71.150.12", thatDay, agentid.Unverifiable, "", "", ""},
		{"an agent whose own list has addresses of Cloudflare", fresh, dns{}, gptbot, "162.158.7.9", now, agentid.VerifiedIP, "", "openai-gptbot", ""},
		{"a proxy of the site", shipped, dns{}, gptbot, "10.0.0.3", thatDay, agentid.NoIP, agentid.PrivateAddress, "", ""},
		{"the same machine", shipped, dns{}, gptbot, "127.0.0.1", thatDay, agentid.NoIP, "", "", ""},
		{"spoofed from elsewhere", shipped, dns{}, gptbot, "203.0.113.9", thatDay, agentid.IPMismatch, "", "", ""},

		{"in the last known list, half a year later", shipped, dns{}, gptbot, "52.230.152.9", now, agentid.VerifiedIP, agentid.OldList, "openai-gptbot", "2026-06-11"},
		{"not in the last known list, half a year later", shipped, dns{}, gptbot, "203.0.113.9", now, agentid.StaleData, agentid.OldList, "", "2026-06-11"},
		{"in the last known list, days later", shipped, dns{}, gptbot, "52.230.152.9", thatDay.AddDate(0, 0, 10), agentid.VerifiedIP, "", "openai-gptbot", ""},

		{"Googlebot by a resolver that finds nothing", shipped, broken{}, googlebot, "203.0.113.9", now, agentid.StaleData, agentid.OldList, "", "2026-08-11"},
		{"Googlebot in the last known list, by a resolver that finds nothing", shipped, broken{}, googlebot, "66.249.66.1", now, agentid.VerifiedIP, agentid.OldList, "google-common", "2026-08-11"},
		{"PetalBot by a resolver that finds nothing", shipped, broken{}, petal, "203.0.113.9", now, agentid.Unverifiable, "", "", ""},
		{"Amazonbot by a resolver that finds nothing, its list never fetched", shipped, broken{}, amazon, "203.0.113.9", now, agentid.Unverifiable, "", "", ""},
		{"OAI-AdsBot, its list never fetched", shipped, dns{}, "OAI-AdsBot/1.0", "203.0.113.9", now, agentid.Unverifiable, "", "", ""},
		{"PetalBot by a resolver that works", shipped, dns{}, petal, "203.0.113.9", now, agentid.IPMismatch, "", "", ""},

		{"OAI-SearchBot from GPTBot's range", shipped, dns{}, searchbot, "52.230.152.9", thatDay, agentid.VerifiedIP, agentid.OperatorList, "openai-gptbot", ""},
		{"OAI-SearchBot from GPTBot's range, half a year later", shipped, dns{}, searchbot, "52.230.152.9", now, agentid.VerifiedIP, agentid.OldList, "openai-gptbot", "2026-06-11"},
		{"PerplexityBot's name from GPTBot's range", fresh, dns{}, pplxBot, "52.230.152.9", now, agentid.IPMismatch, "", "", ""},
		{"Googlebot's name from where anybody's scripts fetch", fresh, dns{}, googlebot, "198.18.6.1", now, agentid.IPMismatch, "", "", ""},

		{"Perplexity-User in its range", fresh, dns{}, pplxUser, "198.18.4.1", now, agentid.VerifiedIP, "", "perplexity-user", ""},
		{"Perplexity-User in PerplexityBot's range", fresh, dns{}, pplxUser, "198.18.5.1", now, agentid.VerifiedIP, agentid.OperatorList, "perplexity-bot", ""},
		{"Perplexity-User outside of both", fresh, dns{}, pplxUser, "203.0.113.9", now, agentid.Unverifiable, agentid.OutsideList, "", ""},
		{"PerplexityBot outside of both", fresh, dns{}, pplxBot, "203.0.113.9", now, agentid.IPMismatch, "", "", ""},

		{"Amazonbot in its list", fresh, broken{}, amazon, "198.18.7.1", now, agentid.VerifiedIP, "", "amazon-bot", ""},
		{"Amazonbot by DNS, outside of its list", fresh, dns{}, amazon, "198.18.0.5", now, agentid.VerifiedDNS, "", "", ""},
		{"Amazonbot by neither", fresh, dns{}, amazon, "203.0.113.9", now, agentid.IPMismatch, "", "", ""},
		{"Amzn-SearchBot in its list", fresh, dns{}, alexaBot, "198.18.7.2", now, agentid.VerifiedIP, "", "amazon-searchbot", ""},
		{"Amzn-SearchBot outside of it", fresh, dns{}, alexaBot, "203.0.113.9", now, agentid.Unverifiable, agentid.OutsideList, "", ""},
		{"Amzn-User in its list", fresh, dns{}, alexa, "198.18.7.3", now, agentid.VerifiedIP, "", "amazon-user", ""},
		{"Meta's crawler in its network", fresh, dns{}, meta, "57.141.0.7", now, agentid.VerifiedIP, "", "meta", ""},
		{"Meta's crawler in its network, IPv6", fresh, dns{}, meta, "2a03:2880:f800:1::", now, agentid.VerifiedIP, "", "meta", ""},
		{"Meta's crawler by the shipped list", shipped, dns{}, meta, "57.141.0.7", now, agentid.VerifiedIP, agentid.OldList, "meta", "2026-04-24"},
		{"Meta's crawler from elsewhere", fresh, dns{}, meta, "203.0.113.9", now, agentid.IPMismatch, "", "", ""},
		{"iMessage is not of Meta's network", fresh, dns{}, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0", "203.0.113.9", now, agentid.Unverifiable, "", "", ""},
	} {
		v := &agentid.Verifier{Table: agentid.Load(), Ranges: tc.lists, Signatures: &webbotauth.Verifier{Keys: keys}, Names: rdns.New(tc.dns, time.Now)}
		got := settle(t, v, agentid.Visit{UserAgent: tc.ua, IP: netip.MustParseAddr(tc.ip), At: tc.at})
		asOf := ""
		if !got.Proof.AsOf.IsZero() {
			asOf = got.Proof.AsOf.Format(time.DateOnly)
		}
		if got.Verdict != tc.verdict || got.Proof.Reason != tc.reason || got.Proof.List != tc.list || asOf != tc.asOf {
			t.Errorf("%s: %q by %q, %q as of %q; want %q by %q, %q as of %q", tc.name,
				got.Verdict, got.Proof.Reason, got.Proof.List, asOf, tc.verdict, tc.reason, tc.list, tc.asOf)
		}
	}
}

// An agent on the edge of a CDN that signs is who it says.
func TestASignatureCountsFromACDN(t *testing.T) {
	chatgpt, keys := signed(t, "https://chatgpt.com")
	v := &agentid.Verifier{Table: agentid.Load(), Ranges: fetched(t, thatDay, nil), Signatures: &webbotauth.Verifier{Keys: keys}}
	got := v.Verify(agentid.Visit{UserAgent: gptbot, IP: netip.MustParseAddr("172.71.150.12"), At: thatDay, Signed: chatgpt})
	if got.Verdict != agentid.VerifiedSignature || got.Proof != (agentid.Proof{}) {
		t.Errorf("%+v", got)
	}
}

func TestMarkdownNamesBrowsersOnly(t *testing.T) {
	v := &agentid.Verifier{Table: agentid.Load()}
	for _, tc := range []struct {
		name, ua string
		markdown bool
		agent    string
		class    agentid.Class
	}{
		{"OpenCode and Kilo Code", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36", true, agentid.UnnamedCodingAgent, agentid.CodingAgent},
		{"the same browser of a person", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36", false, "", agentid.Browser},
		{"no User-Agent", "", true, agentid.UnnamedCodingAgent, agentid.CodingAgent},
		{"a named agent", "Claude-User (claude-code/2.1.4; +https://support.anthropic.com/)", true, "Claude Code", agentid.CodingAgent},
		{"a library", "axios/1.8.4", true, "axios", agentid.HTTPLibrary},
	} {
		got := v.Verify(agentid.Visit{UserAgent: tc.ua, At: thatDay, Markdown: tc.markdown})
		if got.Agent.Name != tc.agent || got.Agent.Class != tc.class || got.Agent.Class.Headline() && got.Agent.Family == "" {
			t.Errorf("%s: %q (%s) of %q, want %q (%s)", tc.name, got.Agent.Name, got.Agent.Class, got.Agent.Family, tc.agent, tc.class)
		}
	}
}

// The signers by whose directories agents are known.
func TestSigners(t *testing.T) {
	table := agentid.Load()
	for origin, name := range map[string]string{
		"https://www.kernel.sh": "Kernel",
		"https://web-bot-auth.cloudflare-browser-rendering-085.workers.dev": "Cloudflare Browser Run",
		"https://xhah6q48pbxb4.keydirectory.signer.us-east-1.on.aws":        "Bedrock AgentCore browser",
		"https://meh0x7tptr6o1.keydirectory.signer.ap-southeast-2.on.aws":   "Bedrock AgentCore browser",
	} {
		if a, ok := table.Signer(origin); !ok || a.Name != name {
			t.Errorf("%s is %q, want %q", origin, a.Name, name)
		}
	}
}
