package rdns_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid/rdns"
)

// zone is a DNS of a few names.
type zone struct {
	ptr   map[string][]string
	addrs map[string][]string
	asked int
}

func (z *zone) LookupAddr(_ context.Context, addr string) ([]string, error) {
	z.asked++
	if addr == "192.0.2.99" {
		return nil, errors.New("timeout")
	}
	if names, ok := z.ptr[addr]; ok {
		return names, nil
	}
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

func (z *zone) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	var all []netip.Addr
	for _, a := range z.addrs[host] {
		all = append(all, netip.MustParseAddr(a))
	}
	if all == nil {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	return all, nil
}

func newZone() *zone {
	return &zone{
		ptr: map[string][]string{
			"66.249.66.1": {"Crawl-66-249-66-1.googlebot.com."},
			"192.0.2.1":   {"crawl.googlebot.com."},           // claims a name that is not its own
			"192.0.2.2":   {"googlebot.com.evil.example."},    // its own, and not Google's
			"192.0.2.3":   {"evilgooglebot.com."},             // nor this
			"2001:db8::1": {"a.example.", "b.googlebot.com."}, // the second counts
			"8.8.8.8":     {"dns.google."},                    // by which a resolver is known to work
		},
		addrs: map[string][]string{
			"Crawl-66-249-66-1.googlebot.com.": {"66.249.66.1"}, "crawl.googlebot.com.": {"66.249.66.9"},
			"googlebot.com.evil.example.": {"192.0.2.2"}, "evilgooglebot.com.": {"192.0.2.3"},
			"dns.google.": {"8.8.8.8", "8.8.4.4"}, "b.googlebot.com.": {"192.0.2.7", "2001:db8::1"}, "a.example.": {"2001:db8::1"},
		},
	}
}

// lookup checks an address, and waits for the DNS if need be.
func lookup(t *testing.T, c *rdns.Checker, ip netip.Addr, suffixes []string) rdns.Result {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go c.Run(ctx)
	for {
		if r := c.Check(ip, suffixes); r != rdns.Pending {
			return r
		}
		runtime.Gosched()
	}
}

func TestLookup(t *testing.T) {
	google := []string{"googlebot.com", "google.com"}
	c := rdns.New(newZone(), time.Now)
	for _, tc := range []struct {
		ip   string
		want rdns.Result
	}{
		{"66.249.66.1", rdns.Confirmed}, {"::ffff:66.249.66.1", rdns.Confirmed}, {"2001:db8::1", rdns.Confirmed},
		{"192.0.2.1", rdns.Refuted}, {"192.0.2.2", rdns.Refuted}, {"192.0.2.3", rdns.Refuted},
		{"192.0.2.50", rdns.Refuted}, {"192.0.2.99", rdns.Failed},
	} {
		if got := lookup(t, c, netip.MustParseAddr(tc.ip), google); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.ip, got, tc.want)
		}
	}
	if got := lookup(t, c, netip.MustParseAddr("66.249.66.1"), []string{"search.msn.com"}); got != rdns.Refuted {
		t.Errorf("Bing's: %d", got)
	}
	if got := lookup(t, c, netip.Addr{}, google); got != rdns.Failed {
		t.Errorf("no address: %d", got)
	}
}

// A resolver that answers that nothing exists refutes nobody.
func TestAResolverThatFindsNothingIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		full := z.ptr
		z.ptr = nil
		c := rdns.New(z, time.Now)
		var warned []error
		c.Warn(func(err error) { warned = append(warned, err) })
		google, ip := []string{"googlebot.com"}, netip.MustParseAddr("66.249.66.1")
		of := func(ip string) rdns.Result { return lookup(t, c, netip.MustParseAddr(ip), google) }
		for _, addr := range []string{"66.249.66.1", "192.0.2.50", "192.0.2.51"} {
			if got := of(addr); got != rdns.Failed {
				t.Errorf("%s by a resolver that finds nothing: %d", addr, got)
			}
		}
		if len(warned) != 1 || !errors.Is(warned[0], rdns.ErrResolver) {
			t.Errorf("warned %v, want once", warned)
		}
		z.ptr = full
		time.Sleep(11 * time.Minute)
		if got := lookup(t, c, ip, google); got != rdns.Confirmed {
			t.Errorf("by a resolver that works again: %d", got)
		}
		if got := of("192.0.2.50"); got != rdns.Refuted {
			t.Errorf("an address without a name, by a resolver that works again: %d", got)
		}
		z.ptr = nil
		time.Sleep(25 * time.Hour)
		if got := of("192.0.2.50"); got != rdns.Failed || len(warned) != 2 {
			t.Errorf("by a resolver that broke: %d, warned %v", got, warned)
		}
	})
}

func TestCheckNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		c := rdns.New(z, time.Now)
		ip, bad, google := netip.MustParseAddr("66.249.66.1"), netip.MustParseAddr("192.0.2.99"), []string{"googlebot.com"}
		for range 3 {
			if got := c.Check(ip, google); got != rdns.Pending {
				t.Fatalf("before the look-up: %d", got)
			}
		}
		c.Check(bad, google)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go c.Run(ctx)
		synctest.Wait()
		if got := c.Check(ip, google); got != rdns.Confirmed {
			t.Errorf("after it: %d", got)
		}
		if got := c.Check(bad, google); got != rdns.Failed {
			t.Errorf("a failure: %d", got)
		}
		if z.asked != 2 {
			t.Errorf("%d questions, want 2", z.asked)
		}
		time.Sleep(11 * time.Minute)
		if got := c.Check(bad, google); got != rdns.Pending {
			t.Errorf("a failure of old: %d", got)
		}
		if got := c.Check(ip, google); got != rdns.Confirmed {
			t.Errorf("11 minutes on: %d", got)
		}
		time.Sleep(24 * time.Hour)
		if got := c.Check(ip, google); got != rdns.Pending {
			t.Errorf("a day on: %d", got)
		}
	})
}

func TestManyAddressesAreBounded(t *testing.T) {
	c := rdns.New(newZone(), time.Now)
	ip := netip.MustParseAddr("198.18.0.1")
	for range 30_000 {
		if got := c.Check(ip, nil); got != rdns.Pending {
			t.Fatal(got)
		}
		ip = ip.Next()
	}
}
