package agentid_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
	"github.com/firstpick/firstpick/server/channel/agentid/rdns"
	"github.com/firstpick/firstpick/server/channel/agentid/webbotauth"
)

const (
	gptbot  = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.3; +https://openai.com/gptbot"
	chrome  = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
	amazon  = "Mozilla/5.0 (compatible; Amazonbot/0.1; +https://developer.amazon.com/support/amazonbot)"
	petal   = "Mozilla/5.0 (compatible; PetalBot;+https://webmaster.petalsearch.com/site/petalbot)"
	bingbot = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
)

var (
	thatDay  = time.Date(2026, 6, 11, 12, 0, 0, 0, time.UTC) // of the snapshot
	longGone = thatDay.AddDate(0, 0, 60)
)

// settle verifies a visit when the DNS has answered.
func settle(t *testing.T, v *agentid.Verifier, visit agentid.Visit) agentid.Identity {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go v.Names.Run(ctx)
	suffixes := v.Table.Identify(visit.UserAgent).DNS
	for len(suffixes) > 0 && visit.IP.IsValid() && v.Names.Check(visit.IP, suffixes) == rdns.Pending {
		runtime.Gosched()
	}
	return v.Verify(visit)
}

// dns has one crawler of Amazon's.
type dns struct{}

func (dns) LookupAddr(_ context.Context, addr string) ([]string, error) {
	switch addr {
	case "198.18.0.5":
		return []string{"x.crawl.amazonbot.amazon."}, nil
	case "8.8.8.8":
		return []string{"dns.google."}, nil
	}
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

func (dns) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "dns.google." {
		return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("198.18.0.5")}, nil
}

// signed returns a request of ChatGPT's or of somebody else's, and the keys.
func signed(t *testing.T, signer string) (webbotauth.Request, *webbotauth.Directory) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	public := key.Public().(ed25519.PublicKey)
	d := webbotauth.NewDirectory([]string{"https://chatgpt.com"})
	d.Put("https://chatgpt.com", []webbotauth.Key{{Thumbprint: webbotauth.Thumbprint(public), Public: public}}, thatDay)
	params := fmt.Sprintf(`("@authority" "signature-agent");created=%d;expires=%d;keyid="%s";tag="web-bot-auth"`, thatDay.Unix(), thatDay.Unix()+60, webbotauth.Thumbprint(public))
	base := fmt.Sprintf("\"@authority\": shop.example\n\"signature-agent\": \"%s\"\n\"@signature-params\": %s", signer, params)
	return webbotauth.Request{
		SignatureInput: "s=" + params, SignatureAgent: `"` + signer + `"`, Method: "GET", Authority: "shop.example",
		Signature: "s=:" + base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(base))) + ":",
	}, d
}

func TestVerify(t *testing.T) {
	lists, err := ranges.Open("")
	if err != nil {
		t.Fatal(err)
	}
	chatgpt, keys := signed(t, "https://chatgpt.com")
	stranger, _ := signed(t, "https://stranger.test")
	altered := chatgpt
	altered.Authority = "other.example"
	v := &agentid.Verifier{
		Table: agentid.Load(), Ranges: lists, Signatures: &webbotauth.Verifier{Keys: keys}, Names: rdns.New(dns{}, time.Now),
	}
	for _, tc := range []struct {
		name, ua, ip string
		at           time.Time
		signed       webbotauth.Request
		agent        string
		verdict      agentid.Verdict
	}{
		{"GPTBot at home", gptbot, "52.230.152.9", thatDay, webbotauth.Request{}, "GPTBot", agentid.VerifiedIP},
		{"an impostor of GPTBot", gptbot, "203.0.113.9", thatDay, webbotauth.Request{}, "GPTBot", agentid.IPMismatch},
		{"GPTBot's name from the range of another agent", gptbot, "18.97.21.1", thatDay, webbotauth.Request{}, "GPTBot", agentid.IPMismatch},
		{"GPTBot's name inside another word", "XGPTBot/1.0", "203.0.113.9", thatDay, webbotauth.Request{}, "GPTBot", agentid.IPMismatch},
		{"GPTBot when our list is old", gptbot, "203.0.113.9", longGone, webbotauth.Request{}, "GPTBot", agentid.StaleData},
		{"GPTBot without address", gptbot, "", thatDay, webbotauth.Request{}, "GPTBot", agentid.NoIP},
		{"GPTBot through a proxy of the site", gptbot, "10.0.0.3", thatDay, webbotauth.Request{}, "GPTBot", agentid.NoIP},
		{"an agent whose operator publishes nothing", "Mozilla/5.0 (compatible; Bytespider)", "203.0.113.9", thatDay, webbotauth.Request{}, "Bytespider", agentid.Unverifiable},
		{"and without address", "claude-code/2.1", "", thatDay, webbotauth.Request{}, "Claude Code", agentid.Unverifiable},
		{"a list that was never seen", "OAI-AdsBot/1.0", "203.0.113.9", thatDay, webbotauth.Request{}, "OAI-AdsBot", agentid.Unverifiable},
		{"a word for robots.txt", "Google-Extended/1.0", "66.249.66.1", thatDay, webbotauth.Request{}, "Google-Extended", agentid.IPMismatch},
		{"by its name in the DNS", amazon, "198.18.0.5", thatDay, webbotauth.Request{}, "Amazonbot", agentid.VerifiedDNS},
		{"without name in the DNS", petal, "198.18.0.6", thatDay, webbotauth.Request{}, "PetalBot", agentid.IPMismatch},
		{"an old list, and no name", bingbot, "198.18.0.6", longGone, webbotauth.Request{}, "bingbot", agentid.IPMismatch},
		{"a person", chrome, "203.0.113.9", thatDay, webbotauth.Request{}, "", agentid.NoClaim},
		{"nobody", "", "", thatDay, webbotauth.Request{}, "", agentid.NoClaim},
		{"ChatGPT-User as a plain browser", chrome, "52.255.109.81", thatDay, webbotauth.Request{}, "ChatGPT-User", agentid.VerifiedIP},
		{"ChatGPT agent", chrome, "203.0.113.9", thatDay, chatgpt, "ChatGPT agent", agentid.VerifiedSignature},
		{"another agent of the signer", gptbot, "203.0.113.9", thatDay, chatgpt, "GPTBot", agentid.VerifiedSignature},
		{"an agent of somebody else, signed by ChatGPT", "ClaudeBot/1.0", "203.0.113.9", thatDay, chatgpt, "ChatGPT agent", agentid.VerifiedSignature},
		{"a signature for another site", chrome, "203.0.113.9", thatDay, altered, "", agentid.NoClaim},
		{"a signature of old", chrome, "203.0.113.9", thatDay.Add(time.Hour), chatgpt, "", agentid.NoClaim},
		{"signed by a stranger", chrome, "203.0.113.9", thatDay, stranger, "", agentid.SignedUnknown},
		{"signed by a stranger, with an impostor's name", gptbot, "203.0.113.9", thatDay, stranger, "GPTBot", agentid.IPMismatch},
	} {
		visit := agentid.Visit{UserAgent: tc.ua, At: tc.at, Signed: tc.signed}
		if tc.ip != "" {
			visit.IP = netip.MustParseAddr(tc.ip)
		}
		got := settle(t, v, visit)
		if got.Agent.Name != tc.agent || got.Verdict != tc.verdict {
			t.Errorf("%s: %q, %q (%s), want %q, %q", tc.name, got.Agent.Name, got.Verdict, got.Signature, tc.agent, tc.verdict)
		}
		if again := v.Verify(visit); again.Verdict != got.Verdict {
			t.Errorf("%s: %q from memory, %q before", tc.name, again.Verdict, got.Verdict)
		}
	}
	if got := v.Verify(agentid.Visit{UserAgent: petal, IP: netip.MustParseAddr("198.18.7.7"), At: thatDay}); got.Verdict != agentid.Unverifiable {
		t.Errorf("a name that is still looked up: %q", got.Verdict)
	}
	if got := v.Verify(agentid.Visit{UserAgent: chrome, At: thatDay, Signed: stranger}); got.Agent.Class != agentid.UnknownBot {
		t.Errorf("a stranger who signs is a %s", got.Agent.Class)
	}
}

func TestVerifyWithTheTableOnly(t *testing.T) {
	v := &agentid.Verifier{Table: agentid.Load()}
	ip := netip.MustParseAddr("203.0.113.9")
	for ua, want := range map[string]agentid.Verdict{gptbot: agentid.Unverifiable, petal: agentid.Unverifiable, chrome: agentid.NoClaim} {
		if got := v.Verify(agentid.Visit{UserAgent: ua, IP: ip, At: thatDay}); got.Verdict != want {
			t.Errorf("%s: %q, want %q", ua, got.Verdict, want)
		}
	}
}

// Every list that a row names has a source, and every signer is an origin.
func TestRowsNameWhatExists(t *testing.T) {
	var lists []string
	for _, s := range ranges.Sources() {
		if !s.CDN {
			lists = append(lists, s.List)
		}
	}
	table := agentid.Load()
	used := map[string]bool{}
	for _, a := range table.All() {
		for _, list := range a.Lists {
			used[list] = true
			if !slices.Contains(lists, list) {
				t.Errorf("%s names the list %q", a.Name, list)
			}
		}
	}
	for _, list := range lists {
		if !used[list] {
			t.Errorf("no row uses the list %q", list)
		}
	}
	if got := table.Signers(); !slices.Contains(got, "https://chatgpt.com") || len(webbotauth.NewDirectory(got).AsOf()) != 0 {
		t.Errorf("signers %v", got)
	}
}

func BenchmarkVerify(b *testing.B) {
	lists, err := ranges.Open("")
	if err != nil {
		b.Fatal(err)
	}
	v := &agentid.Verifier{Table: agentid.Load(), Ranges: lists}
	for name, visit := range map[string]agentid.Visit{
		"agent":   {UserAgent: gptbot, IP: netip.MustParseAddr("52.230.152.9"), At: thatDay},
		"browser": {UserAgent: chrome, IP: netip.MustParseAddr("203.0.113.9"), At: thatDay},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.Verify(visit)
			}
		})
	}
}
