package ranges_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
)

// published is a list as it is published in a format.
func published(f ranges.Format, prefix string) string {
	switch f {
	case ranges.Page:
		return `<html><body><script>var x = {"a": 1};</script><pre>` + strings.ReplaceAll(prefixes(prefix), `"`, "&quot;") + "</pre></body></html>"
	case ranges.Cloudflare:
		return `{"result":{"ipv4_cidrs":["` + prefix + `"],"ipv6_cidrs":["2001:db8::/32"],"etag":"x"},"success":true,"errors":[]}`
	case ranges.CloudFront:
		return `{"syncToken":"1","prefixes":[{"ip_prefix":"` + prefix + `","region":"GLOBAL","service":"CLOUDFRONT","network_border_group":"GLOBAL"},
			{"ip_prefix":"198.19.0.0/24","region":"us-east-1","service":"EC2","network_border_group":"us-east-1"}],
			"ipv6_prefixes":[{"ipv6_prefix":"2001:db8::/32","region":"GLOBAL","service":"CLOUDFRONT"}]}`
	case ranges.Fastly:
		return `{"addresses":["` + prefix + `"],"ipv6_addresses":["2001:db8::/32"]}`
	case ranges.RIPEstat:
		return `{"messages":[],"data":{"resource":"32934","prefixes":[{"prefix":"` + prefix + `","timelines":[{"starttime":"2026-11-01T00:00:00"}]},{"prefix":"2001:db8::/32"}]}}`
	}
	return prefixes(prefix)
}

func TestFormats(t *testing.T) {
	for _, s := range ranges.Sources() {
		got, err := s.Format.Parse([]byte(published(s.Format, "198.18.0.0/24")))
		if err != nil || len(got) == 0 || got[0] != netip.MustParsePrefix("198.18.0.0/24") || slices.Contains(got, netip.MustParsePrefix("198.19.0.0/24")) {
			t.Errorf("%s: %v, %v", s.List, got, err)
		}
		for _, damage := range []string{"", "<html>", "{}", "[]", published(s.Format, "0.0.0.0/0"), published(s.Format, "10.0.0.0/24"), published(s.Format, "x")} {
			if got, err := s.Format.Parse([]byte(damage)); err == nil {
				t.Errorf("%s: %q is %v", s.List, damage, got)
			}
		}
	}
	if _, err := ranges.Format("rumour").Parse([]byte("{}")); err == nil {
		t.Error("an unknown format was read")
	}
	raw := []byte(`<p>{"creationTime": "2026-10-01", "prefixes": [{"ip_prefix": "198.18.0.1/32"}]}</p>`)
	if got, err := ranges.Page.Parse(raw); err != nil || len(got) != 1 {
		t.Errorf("a page with plain text: %v, %v", got, err)
	}
}

// What a list of any format names is valid, narrow enough, and there once.
func FuzzFormats(f *testing.F) {
	formats := []ranges.Format{"", ranges.Page, ranges.Cloudflare, ranges.CloudFront, ranges.Fastly, ranges.RIPEstat}
	for i, format := range formats {
		f.Add(uint8(i), []byte(published(format, "198.18.0.0/24")))
	}
	f.Fuzz(func(t *testing.T, n uint8, raw []byte) {
		list, err := formats[int(n)%len(formats)].Parse(raw)
		if (err == nil) != (len(list) > 0) {
			t.Errorf("%v, %v", list, err)
		}
		for i, p := range list {
			if !p.IsValid() || p != p.Masked() || p.Bits() < 12 || p.Addr().IsPrivate() || slices.Contains(list[:i], p) {
				t.Errorf("%s in %v", p, list)
			}
		}
	})
}
