package ratelimit_test

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/kit/ratelimit"
)

func TestABurstThenEvenly(t *testing.T) {
	l := ratelimit.ByAddress(ratelimit.Rule{Name: "public", Quota: 60, Window: time.Minute})
	a := netip.MustParseAddr("198.51.100.1")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 60 {
		if _, _, ok := l.Allow(a, now); !ok {
			t.Fatalf("request %d of the burst is refused", i+1)
		}
	}
	if _, after, ok := l.Allow(a, now); ok || after != 2 {
		t.Errorf("after the burst: %v, wait %d", ok, after)
	}
	if _, _, ok := l.Allow(a, now.Add(time.Second)); !ok {
		t.Error("a second later one more is allowed")
	}
	if _, _, ok := l.Allow(a, now.Add(-time.Hour)); ok {
		t.Error("a clock that goes back gives tokens")
	}
}

func TestOneIPv6CustomerIsOneAddress(t *testing.T) {
	l := ratelimit.ByAddress(ratelimit.Rule{Name: "public", Quota: 1, Window: time.Minute})
	now := time.Unix(0, 0)
	l.Allow(netip.MustParseAddr("2001:db8::1"), now)
	if _, _, ok := l.Allow(netip.MustParseAddr("2001:db8::2"), now); ok {
		t.Error("the next address of the same /64 has a bucket of its own")
	}
	if _, _, ok := l.Allow(netip.MustParseAddr("2001:db8:0:1::1"), now); !ok {
		t.Error("another /64 is refused")
	}
}

func TestAFloodOfAddressesIsBounded(t *testing.T) {
	l := ratelimit.ByAddress(ratelimit.Rule{Name: "public", Quota: 1, Window: time.Minute})
	now := time.Unix(0, 0)
	for i := range 1_000_000 {
		l.Allow(netip.AddrFrom4([4]byte{byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	if n := l.Len(); n > 64*4096 {
		t.Errorf("%d buckets are kept", n)
	}
}

// A client that waits as long as it is told to is allowed; what is left falls by
// one, and never below nought.
func TestTheWaitIsEnough(t *testing.T) {
	for _, n := range []int{1, 7, 60, 600} {
		l := ratelimit.ByAddress(ratelimit.Rule{Name: "public", Quota: n, Window: time.Minute})
		a := netip.MustParseAddr("198.51.100.1")
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for want := n - 1; want >= 0; want-- {
			if left, after, ok := l.Allow(a, now); left != want || after != 0 || !ok {
				t.Fatalf("%d a minute: %d left, not %d; wait %d, %v", n, left, want, after, ok)
			}
		}
		for range 20 {
			left, after, ok := l.Allow(a, now)
			if ok || left != 0 || after < 1 || after > 61 {
				t.Fatalf("%d a minute: %d left, wait %d, %v", n, left, after, ok)
			}
			now = now.Add(time.Duration(after) * time.Second)
			if _, _, ok := l.Allow(a, now); !ok {
				t.Fatalf("%d a minute: a wait of %ds is not enough", n, after)
			}
			for ok = true; ok; { // the rest of what came in
				_, _, ok = l.Allow(a, now)
			}
		}
	}
}

// In any minute there are at most the burst and what came in.
func TestNoMinuteHoldsMoreThanTwice(t *testing.T) {
	l := ratelimit.ByAddress(ratelimit.Rule{Name: "public", Quota: 30, Window: time.Minute})
	a := netip.MustParseAddr("198.51.100.1")
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var passed []time.Time
	for i := range 3000 {
		now := start.Add(time.Duration(i) * 100 * time.Millisecond)
		if _, _, ok := l.Allow(a, now); ok {
			passed = append(passed, now)
		}
	}
	if n := len(passed); n < 30+5*30-1 || n > 30+5*30 {
		t.Errorf("%d in five minutes", n)
	}
	for i, at := range passed {
		in := 0
		for _, other := range passed[i:] {
			if other.Before(at.Add(time.Minute)) {
				in++
			}
		}
		if in > 60 {
			t.Errorf("%d in the minute from %v", in, at)
		}
	}
}

func TestTheBucketIsFullAfterAMinute(t *testing.T) {
	l := ratelimit.ByAddress(ratelimit.Rule{Name: "public", Quota: 5, Window: time.Minute})
	a := netip.MustParseAddr("198.51.100.1")
	now := time.Unix(0, 0)
	for range 6 {
		l.Allow(a, now)
	}
	if left, _, ok := l.Allow(a, now.Add(24*time.Hour)); left != 4 || !ok {
		t.Errorf("a day later %d are left, %v", left, ok)
	}
	if n := l.Len(); n != 1 {
		t.Errorf("%d buckets", n)
	}
}

func TestHeaders(t *testing.T) {
	l := ratelimit.ByAddress(ratelimit.Rule{Name: "public", Quota: 60, Window: time.Minute})
	for want, args := range map[string][2]int{`"public";r=59;t=1`: {59, 0}, `"public";r=0;t=60`: {0, 2}, `"public";r=60;t=0`: {60, 0}, `"public";r=60;t=7`: {60, 7}} {
		h := http.Header{}
		l.WriteHeaders(h, args[0], args[1])
		if got := h.Get("RateLimit"); got != want || h.Get("RateLimit-Policy") != `"public";q=60;w=60` {
			t.Errorf("%s, not %s: %v", got, want, h)
		}
	}
}

// TestPeekTakesNothing: Peek answers what Allow would, any number of times.
func TestPeekTakesNothing(t *testing.T) {
	l := ratelimit.ByAddress(ratelimit.Rule{Name: "public", Quota: 3, Window: time.Minute})
	a := netip.MustParseAddr("2001:db8::1")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 20 {
		if i == 10 {
			now = now.Add(30 * time.Second)
		}
		var before [2]int
		for range 3 {
			left, after, ok := l.Peek(netip.MustParseAddr("2001:db8::2"), now)
			if before = [2]int{left, after}; ok != (left > 0) {
				t.Fatalf("request %d: %d left, %v", i, left, ok)
			}
		}
		left, after, ok := l.Allow(a, now)
		if ok != (before[0] > 0) || after != before[1] || ok && left != before[0]-1 {
			t.Errorf("request %d: Peek said %v, Allow %d %d %v", i, before, left, after, ok)
		}
	}
}

func TestNetworks(t *testing.T) {
	for address, want := range map[string][2]string{
		"198.51.100.7":        {"198.51.100.7", "198.51.100.0/24"},
		"2001:db8:1:2:3::9":   {"2001:db8:1:2::/64", "2001:db8:1::/48"},
		"2001:db8:1:ffff::1":  {"2001:db8:1:ffff::/64", "2001:db8:1::/48"},
		"fe80::1%eth0":        {"fe80::/64", "fe80::/48"},
		"::ffff:198.51.100.7": {"::/64", "::/48"}, // requests carry it unmapped
	} {
		a := netip.MustParseAddr(address)
		if got := [2]string{ratelimit.Address(a), ratelimit.Block(a)}; got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	if ratelimit.Address(netip.Addr{}) != ratelimit.Block(netip.Addr{}) {
		t.Error("no address has two keys")
	}
}
