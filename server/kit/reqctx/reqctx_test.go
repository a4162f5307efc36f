package reqctx

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestClient(t *testing.T) {
	proxies, err := ParseProxies([]string{"10.0.0.0/8", "fd00::/8"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		peer string
		xff  []string
		want string
	}{
		"a stranger's header is not believed":     {"192.0.2.1:99", []string{"198.51.100.1"}, "192.0.2.1"},
		"a proxy's is":                            {"10.0.0.1:99", []string{"198.51.100.1"}, "198.51.100.1"},
		"the last that is not a proxy":            {"10.0.0.1:99", []string{"203.0.113.9, 198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		"over several lines":                      {"10.0.0.1:99", []string{"203.0.113.9", "198.51.100.1"}, "198.51.100.1"},
		"what stands before nonsense is not read": {"10.0.0.1:99", []string{"198.51.100.1, nonsense, 10.0.0.2"}, "10.0.0.2"},
		"proxies all the way":                     {"10.0.0.1:99", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"none":                                    {"10.0.0.1:99", nil, "10.0.0.1"},
		"IPv6":                                    {"[fd00::1]:99", []string{"2001:db8::1"}, "2001:db8::1"},
		"mapped IPv4":                             {"[::ffff:10.0.0.1]:99", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": c.xff}}
		if got := proxies.Client(r); got != netip.MustParseAddr(c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if _, err := ParseProxies([]string{"10.0.0.1"}); err == nil {
		t.Error("an address is taken for a network")
	}
}

// However the header is made, the answer is the peer or an address that stands
// in the header, and never one that an untrusted peer wrote.
func FuzzForwardedFor(f *testing.F) {
	for _, s := range []string{"198.51.100.1", "a, b", ",,", "[::1]:80", "fe80::1%eth0", "10.0.0.1,10.0.0.2"} {
		f.Add(s, true)
	}
	proxies, err := ParseProxies([]string{"10.0.0.0/8"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header string, trusted bool) {
		peer := "192.0.2.1:1"
		if trusted {
			peer = "10.0.0.1:1"
		}
		got := proxies.Client(&http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": {header}}})
		if !got.IsValid() || !trusted && got.String() != "192.0.2.1" {
			t.Errorf("%q: %v", header, got)
		}
	})
}
