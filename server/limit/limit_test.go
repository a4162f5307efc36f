package limit_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/limit"
)

func TestABurstThenEvenly(t *testing.T) {
	l := limit.New("public", 60)
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
	l := limit.New("public", 1)
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
	l := limit.New("public", 1)
	now := time.Unix(0, 0)
	for i := range 1_000_000 {
		l.Allow(netip.AddrFrom4([4]byte{byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	if n := l.Len(); n > 64*4096 {
		t.Errorf("%d buckets are kept", n)
	}
}
