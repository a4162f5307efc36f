package safehttp

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
)

// TestClient calls a private address with both kinds of clients, and follows as
// many redirects as it may.
func TestClient(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/end" {
			http.Redirect(w, r, map[string]string{"/1": "/end", "/2": "/1"}[r.URL.Path], http.StatusFound)
		}
	}))
	defer s.Close()
	get := func(l Limits, path string) (int, error) {
		l.Timeout = 5 * time.Second
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := NewClient(l).Do(req)
		if err != nil {
			return 0, err
		}
		return res.StatusCode, res.Body.Close()
	}
	if _, err := get(Limits{}, "/end"); !errors.Is(err, ErrPrivate) {
		t.Errorf("a private address: %v", err)
	}
	for path, want := range map[string]int{"/end": 200, "/1": 200, "/2": 302} {
		if got, err := get(Limits{Private: true, Redirects: 1}, path); got != want || err != nil {
			t.Errorf("%s: %d %v", path, got, err)
		}
	}
}

// TestPorts: a client that has ports connects to no other. No name and no redirect
// changes that, for the check is made at the connection.
func TestPorts(t *testing.T) {
	for name, c := range map[string]struct {
		limits  Limits
		address string
		want    error
	}{
		"https":                    {Limits{Ports: WebPorts(nil)}, "1.1.1.1:443", nil},
		"http":                     {Limits{Ports: WebPorts(nil)}, "[2606:4700:4700::1111]:80", nil},
		"mail":                     {Limits{Ports: WebPorts(nil)}, "1.1.1.1:25", ErrPort},
		"a database":               {Limits{Ports: WebPorts([]int{8443})}, "1.1.1.1:5432", ErrPort},
		"one of the operator's":    {Limits{Ports: WebPorts([]int{8443})}, "1.1.1.1:8443", nil},
		"any, where none is named": {Limits{}, "1.1.1.1:5432", nil},
		"a private address":        {Limits{Ports: WebPorts(nil)}, "10.0.0.1:443", ErrPrivate},
	} {
		if got := Dialer(c.limits).Control("tcp", c.address, nil); !errors.Is(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if Dialer(Limits{Private: true, Ports: WebPorts(nil)}).Control != nil {
		t.Error("an operator's own network is held to ports")
	}
}

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "8.8.8.8": true, "100.63.255.255": true, "100.128.0.0": true, "172.32.0.1": true, "223.255.255.255": true,
		"2606:4700:4700::1111": true, "2a00:1450::1": true, "::ffff:1.1.1.1": true, "64:ff9b::1.1.1.1": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.1.2.3": false, "127.0.0.1": false, "127.255.255.255": false,
		"169.254.169.254": false, "172.16.0.1": false, "192.168.1.1": false, "100.64.0.1": false, "100.127.255.255": false,
		"192.0.0.8": false, "192.0.2.1": false, "198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false,
		"203.0.113.1": false, "224.0.0.1": false, "239.1.1.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"192.88.99.1": false, "168.63.129.16": false, "::ffff:168.63.129.16": false, "168.63.129.17": true,
		"::": false, "::1": false, "::127.0.0.1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false,
		"::ffff:169.254.169.254": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "fc00::1": false,
		"fd12::1": false, "ff02::1": false, "2001:db8::1": false, "2001::1": false, "2002:7f00:1::": false, "2002:a00:1::": false,
		"3fff::1": false, "64:ff9b::7f00:1": false, "64:ff9b::10.0.0.1": false, "64:ff9b:1::1.1.1.1": false, "100::1": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address is public")
	}
}
