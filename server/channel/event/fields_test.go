package event_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/channel/event"
)

// quote writes a JSON string.
func quote(t testing.TB, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestIdentities(t *testing.T) {
	hash := event.HashEmail("dana@example.com")
	if hash != "eh:07e2f1394b0ea80e2adca010ea8318df697001a005ba7452720edda4b0ce57b3" {
		t.Errorf("hash %q", hash)
	}
	for name, c := range map[string]struct{ field, value, want string }{
		"an address":              {"email", "dana@example.com", hash},
		"spaces and capitals":     {"email", "  Dana@Example.COM ", hash},
		"a domain in letters":     {"email", "a@münchen.de", event.HashEmail("a@xn--mnchen-3ya.de")},
		"a hash":                  {"email", hash, hash},
		"a hash in capitals":      {"userRef", "eh:" + strings.ToUpper(hash[3:]), hash},
		"a user":                  {"userRef", "user_42", "ref:user_42"},
		"an address as a user":    {"userRef", "DANA@example.com", hash},
		"half a hash":             {"userRef", "eh:00", "ref:eh:00"},
		"no hex":                  {"userRef", "eh:" + strings.Repeat("g", 64), "ref:eh:" + strings.Repeat("g", 64)},
		"a handle":                {"userRef", "@dana", "ref:@dana"},
		"a user in other letters": {"userRef", "данa", "ref:данa"},
	} {
		in := one(t, `{"type":"convert","kind":"x",`+quote(t, c.field)+`:`+quote(t, c.value)+`}`, secret())
		if in.Identity != c.want {
			t.Errorf("%s: %q, not %q", name, in.Identity, c.want)
		}
	}
	if in := one(t, `{"type":"convert","kind":"x","userRef":9007199254740993}`, secret()); in.Identity != "ref:9007199254740993" {
		t.Errorf("a number lost digits: %q", in.Identity)
	}
}

func TestPlaces(t *testing.T) {
	for name, c := range map[string]struct{ url, host, path string }{
		"a path":               {"/docs", "", "/docs"},
		"no path":              {"https://acme.dev", "acme.dev", "/"},
		"a query of no path":   {"https://acme.dev?x=/y", "acme.dev", "/"},
		"a fragment":           {"https://acme.dev/a#b/c", "acme.dev", "/a"},
		"credentials":          {"http://u:p@ss@acme.dev/a", "acme.dev", "/a"},
		"a port":               {"http://LOCALHOST:3000/", "localhost:3000", "/"},
		"the usual port":       {"http://acme.dev:80/", "acme.dev", "/"},
		"an IPv6 host":         {"http://[2001:db8::1]:8080/x", "[2001:db8::1]:8080", "/x"},
		"a host in letters":    {"https://bücher.example/", "xn--bcher-kva.example", "/"},
		"two slashes":          {"//evil.example/x", "", "//evil.example/x"},
		"a bad escape":         {"/%zz/%", "", "/%zz/%"},
		"control characters":   {"/a\r\nSet-Cookie:\x00 b", "", "/aSet-Cookie: b"},
		"reversed text":        {"/a\u202egpj.exe", "", "/agpj.exe"},
		"broken UTF-8":         {"/a\xffb", "", "/a\uFFFDb"},
		"an address":           {"/u/dana.d+x@mail.example.com/edit", "", "/u/***/edit"},
		"an escaped address":   {"/u/dana%40example.com", "", "/u/***"},
		"escaped twice":        {"/u/dana%2540example.com/x", "", "/u/***/x"},
		"two addresses":        {"/a@b.co,c@d.co/e@f.co", "", "/***,***/***"},
		"an odd address":       {"/o'neil!x=y~z@exa-mple.co.uk.", "", "/o'neil!x=***."},
		"letters":              {"/ü@пример.рф", "", "/***"},
		"hidden in controls":   {"/dana\x01@exam\x02ple.com", "", "/***"},
		"a package":            {"/npm/@scope/core@12.0.1/index.md", "", "/npm/@scope/core@12.0.1/index.md"},
		"a handle":             {"/@dana", "", "/@dana"},
		"an @ at the end":      {"/a@", "", "/a@"},
		"a word after @":       {"/react@latest", "", "/react@latest"},
		"a percent at the end": {"/a%4", "", "/a%4"},
	} {
		in := one(t, `{"type":"touch","url":`+quote(t, c.url)+`}`, secret())
		if in.Host != c.host || in.Path != c.path {
			t.Errorf("%s: %q %q, not %q %q", name, in.Host, in.Path, c.host, c.path)
		}
	}
	long := strings.Repeat("q", 5000)
	if in := one(t, `{"type":"touch","url":"https://acme.dev/?x=`+long+`&via=md"}`, secret()); in.Via != "md" {
		t.Error("a long query costs the touch its tag")
	}
	if in := one(t, `{"type":"touch","path":"/a","host":"Acme.dev:443"}`, secret()); in.Host != "acme.dev" {
		t.Errorf("host %q", in.Host)
	}
}

func TestTagsOfLinks(t *testing.T) {
	in := one(t, `{"type":"touch","url":"/?via=a%20b&utm_source=chatgpt.com&utm_medium=ai&utm_campaign=c&ref=r&vt=v&secret=s&via=second&VIA=x"}`, secret())
	if got := fmt.Sprint(in.Via, "|", in.UTMSource, "|", in.UTMMedium, "|", in.UTMCampaign, "|", in.Ref, "|", in.VT); got != "a b|chatgpt.com|ai|c|r|v" {
		t.Error(got)
	}
	in = one(t, `{"type":"touch","url":"/?via=url&utm_source=u%zz;&utm_medium=%ff","signals":{"via":"signal"},"utm_source":"top"}`, secret())
	if in.Via != "signal" || in.UTMSource != "top" || in.UTMMedium != "\uFFFD" {
		t.Errorf("%q %q %q", in.Via, in.UTMSource, in.UTMMedium)
	}
	in = one(t, `{"type":"touch","via":"to dana@example.com"}`, secret())
	if in.Via != "to ***" {
		t.Errorf("an address in a tag: %q", in.Via)
	}
}

func TestReferrers(t *testing.T) {
	for referrer, want := range map[string]string{
		"https://chatgpt.com/":               "chatgpt.com /",
		"https://U:p@Chat.OpenAI.com/c?x#y":  "chat.openai.com /c",
		"chatgpt.com":                        "chatgpt.com /",
		"android-app://com.openai.chatgpt/":  "com.openai.chatgpt /",
		"-":                                  " ",
		"$direct":                            " ",
		"/local":                             " ",
		"about:blank":                        " ",
		"https://a.example/m/dana@x.example": "a.example /m/***",
	} {
		in := one(t, `{"type":"touch","path":"/","referrer":`+quote(t, referrer)+`}`, secret())
		if got := in.ReferrerHost + " " + in.ReferrerPath; got != want {
			t.Errorf("%q: %q, not %q", referrer, got, want)
		}
	}
	if in := one(t, `{"type":"touch","signals":{"referrerHost":"Perplexity.ai"}}`, secret()); in.ReferrerHost != "perplexity.ai" {
		t.Errorf("referrerHost %q", in.ReferrerHost)
	}
}

func TestStatus(t *testing.T) {
	for status, want := range map[string]int{`null`: 0, `0`: 0, `-1`: 0, `100`: 100, `"404"`: 404, `599`: 599} {
		if in := one(t, `{"type":"touch","path":"/","status":`+status+`}`, secret()); in.Status != want {
			t.Errorf("%s: %d", status, in.Status)
		}
	}
}

// What strangers write is cut, at the border of a character.
func TestLongHeadersAreCut(t *testing.T) {
	ua, accept := strings.Repeat("ü", 300), strings.Repeat("a", 300)
	in := one(t, `{"type":"touch","path":"/","userAgent":"x`+ua+`","accept":"`+accept+`","signature":"`+strings.Repeat("s", 3000)+`"}`, secret())
	if in.UserAgent != "x"+ua[:510] || in.Accept != accept[:256] || in.Signature != "" {
		t.Errorf("%d %d %d", len(in.UserAgent), len(in.Accept), len(in.Signature))
	}
}

func TestAddressesOfMachines(t *testing.T) {
	for ip, want := range map[string][2]string{
		"203.0.113.7":        {"203.0.113.7", "203.0.113.0/24"},
		"203.0.113.7:443":    {"203.0.113.7", "203.0.113.0/24"},
		"::ffff:203.0.113.7": {"203.0.113.7", "203.0.113.0/24"},
		"2001:db8:1:2::3":    {"2001:db8:1:2::3", "2001:db8:1::/48"},
		"[2001:db8:1::3]:80": {"2001:db8:1::3", "2001:db8:1::/48"},
		"fe80::1%eth0":       {"fe80::1", "fe80::/48"},
	} {
		in := one(t, `{"type":"touch","path":"/","ip":`+quote(t, ip)+`}`, secret())
		if r := in.Record(nil); in.IP.String() != want[0] || r.Network != want[1] {
			t.Errorf("%s: %s in %s", ip, in.IP, r.Network)
		}
	}
	if event.Network(netip.Addr{}) != "" {
		t.Error("no address has a network")
	}
}

func TestMarkdownIsPreferred(t *testing.T) {
	for accept, want := range map[string]bool{
		"text/markdown, text/html, */*":              true,
		"text/markdown, text/plain;q=0.9, */*;q=0.8": true,
		"text/html,application/xhtml+xml,*/*;q=0.8":  false,
		"text/html, text/markdown;q=0.5":             false,
		"Text/Markdown ; charset=utf-8 ; Q=0.9":      true,
		"text/markdown;q=0":                          false,
		"text/markdown;q=NaN":                        false,
		"text/markdown;q=0.9, text/html;q=0.9":       true,
		"*/*":                                        false,
		"":                                           false,
	} {
		in := one(t, `{"type":"touch","path":"/","accept":`+quote(t, accept)+`}`, secret())
		if in.Record(nil).Markdown != want {
			t.Errorf("%q: not %v", accept, want)
		}
	}
}

// A record of a conversion tells nothing of a machine.
func TestRecordsKeepWhatTheirTypeNeeds(t *testing.T) {
	in := one(t, `{"type":"convert","userRef":"u","kind":"paid","value":"49.5","currency":"usd","orderId":"in_1","path":"/checkout","ip":"203.0.113.7",
	  "userAgent":"Mozilla","via":"mcp","selfReported":"ChatGPT"}`, secret())
	b, err := json.Marshal(in.Record(nil))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"id":"","type":"convert","at":"2026-11-21T00:00:00Z","received":"2026-11-21T00:00:00Z","identity":"ref:u","via":"mcp",` +
		`"selfReport":"ChatGPT","kind":"paid","value":4950,"currency":"USD","orderId":"in_1"}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
	touch := one(t, `{"type":"touch","path":"/","userAgent":"Bot/1 (bot-owner@example.com)"}`, secret())
	if touch.UserAgent != "Bot/1 (bot-owner@example.com)" || touch.Record(nil).UserAgent != "Bot/1 (***)" {
		t.Errorf("%q is kept as %q", touch.UserAgent, touch.Record(nil).UserAgent)
	}
}

func TestMoney(t *testing.T) {
	for _, c := range []struct {
		value, currency, kind string
		want                  int64
	}{
		{`"49.00"`, "USD", "paid", 4900},
		{`49`, "USD", "paid", 4900},
		{`49.5`, "usd", "paid", 4950},
		{`0.1`, "EUR", "paid", 10},
		{`"49.0000"`, "USD", "paid", 4900},
		{`1000`, "JPY", "paid", 1000},
		{`"1000.00"`, "JPY", "paid", 1000},
		{`1.234`, "KWD", "paid", 1234},
		{`1.2345`, "CLF", "paid", 12345},
		{`0`, "", "paid", 0},
		{`"0.00"`, "", "paid", 0},
		{`-0`, "USD", "paid", 0},
		{`-49`, "USD", "refund", -4900},
		{`49`, "USD", "refund", -4900},
		{`99999999999999.9999`, "CLF", "paid", 999999999999999999},
		{`null`, "USD", "paid", 0},
	} {
		in := one(t, `{"type":"convert","userRef":"u","kind":"`+c.kind+`","value":`+c.value+`,"currency":"`+c.currency+`"}`, secret())
		if in.Value != c.want {
			t.Errorf("%s %s: %d, not %d", c.value, c.currency, in.Value, c.want)
		}
	}
	o := secret()
	o.Currency = "CHF"
	if in := one(t, `{"type":"convert","userRef":"u","kind":"paid","value":5}`, o); in.Value != 500 || in.Currency != "CHF" {
		t.Errorf("the default currency is not taken: %+v", in)
	}
	for _, s := range []string{"", "-", ".", "5.", ".5", "+5", "--5", "5-", "1e3", "Inf", "0x10", "1_000", " 5", "5 ", "٥", "100000000000000", "1.00000"} {
		if n, err := event.ParseMoney(s, 2); err == nil {
			t.Errorf("%q is %d", s, n)
		}
	}
}

// What is written of an amount is that amount, in every currency.
func TestMoneyRoundTrips(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		exponent := []int{0, 2, 3, 4}[random.IntN(4)]
		minor := random.Int64N(1 << random.IntN(47))
		if random.IntN(2) == 0 {
			minor = -minor
		}
		s := event.FormatMoney(minor, exponent)
		if got, err := event.ParseMoney(s, exponent); err != nil || got != minor {
			t.Fatalf("%d with %d decimals is %q, and that %d, %v", minor, exponent, s, got, err)
		}
	}
	for _, c := range []struct {
		minor    int64
		exponent int
		want     string
	}{{4900, 2, "49.00"}, {-5, 2, "-0.05"}, {0, 2, "0.00"}, {7, 0, "7"}, {1234, 3, "1.234"}, {-1 << 63, 2, "-92233720368547758.08"}} {
		if got := event.FormatMoney(c.minor, c.exponent); got != c.want {
			t.Errorf("%d: %q, not %q", c.minor, got, c.want)
		}
	}
}

func TestCurrencies(t *testing.T) {
	for code, want := range map[string]int{"USD": 2, "JPY": 0, "KWD": 3, "CLF": 4, "XCG": 2} {
		if got, ok := event.Exponent(code); got != want || !ok {
			t.Errorf("%s: %d, %v", code, got, ok)
		}
	}
	for _, code := range []string{"", "usd", "BTC", "XXX", "US"} {
		if _, ok := event.Exponent(code); ok {
			t.Errorf("%q is a currency", code)
		}
	}
}
