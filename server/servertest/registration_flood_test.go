package servertest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
)

// anonymous registers an agent, and returns the status and the text of a refusal.
func (p *peer) anonymous() (int, string) {
	p.t.Helper()
	status, out := p.call("/api/agent/identity", `{"type":"anonymous"}`)
	text, _ := out["error_description"].(string)
	return status, text
}

// TestAFloodOfRegistrationsShutsOutNobodyElse: neither one IPv6 /48, nor 20 IPv4
// addresses, nor networks enough to reach the ceiling keep an agent of another
// network from registering.
func TestAFloodOfRegistrationsShutsOutNobodyElse(t *testing.T) {
	onBothStores(t, behindProxy(), func(t *testing.T, s *servertest.Service) {
		passed := 0
		flood := func(from string) (status int, text string) {
			for range 6 {
				if status, text = newPeer(t, s, from).anonymous(); status != http.StatusOK {
					return status, text
				}
				passed++
			}
			return status, text
		}
		status, text := flood("198.51.100.1")
		if status != http.StatusTooManyRequests || !strings.Contains(text, "from this address") {
			t.Errorf("one address: %d %q", status, text)
		}
		if status, text = flood("2001:db8:a:1::1"); !strings.Contains(text, "from this network (2001:db8:a:1::/64)") {
			t.Errorf("one /64: %d %q", status, text)
		}
		for i := range 10 {
			status, text = flood(fmt.Sprintf("2001:db8:a:%x::1", i+2))
		}
		if status != http.StatusTooManyRequests || !strings.Contains(text, "from this network (2001:db8:a::/48)") {
			t.Errorf("one /48: %d %q", status, text)
		}
		for i := range 20 {
			flood(fmt.Sprintf("203.0.113.%d", i+1))
		}
		if passed != 5+20+20 {
			t.Errorf("%d registrations passed of one address, one /48 and one /24; want 45", passed)
		}
		s.Agents.Limits.Rules["anonymous.all"] = s.Agents.Limits.Rules["anonymous.ip"] // a ceiling of five
		for _, from := range []string{"192.0.2.10", "2001:db8:b::1"} {
			if status, text := newPeer(t, s, from).anonymous(); status != http.StatusOK {
				t.Errorf("%s, over the ceiling: %d %q", from, status, text)
			}
			if status, text := newPeer(t, s, from).anonymous(); status != http.StatusTooManyRequests || !strings.HasPrefix(text, "The service as a whole is over its limit") {
				t.Errorf("%s, again: %d %q", from, status, text)
			}
		}
	})
}
