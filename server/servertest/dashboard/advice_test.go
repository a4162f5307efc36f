package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/servertest"
)

// The pages of agents say once what would make more visits verifiable.
func TestWhatWouldMakeMoreVisitsVerifiable(t *testing.T) {
	const address, lists = "Send the client IP address</a>", "14 of 26 IP lists are outdated (the oldest: 24 April 2026). An outdated list cannot refute an address, so visits from new addresses are unverified. <a"
	for name, c := range map[string]struct {
		verdict string
		lists   ranges.Ages
		want    []string
		not     []string
	}{
		"the site passes on the address of its CDN": {"no_ip", ranges.Ages{Lists: 26, Oldest: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}, []string{address, "<b>1</b> visit could"}, []string{"IP lists are outdated"}},
		"the server has old lists":                  {"verified_ip", ranges.Ages{Lists: 26, Old: 14, Oldest: time.Date(2026, 4, 24, 0, 0, 0, 0, time.UTC)}, []string{lists}, []string{address}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, servertest.Options{})
			d.lists = c.lists
			o := newOwner(t, d, "dana@example.com")
			at := d.Clock.Now().Add(-time.Hour)
			d.load(t, trafficdb.Row{Workspace: o.id, Record: event.Record{
				Type: event.Touch, ID: "a", At: at, ReceivedAt: at, Path: "/", Agent: "GPTBot", Family: "GPTBot", Operator: "OpenAI", Class: "training_crawler", Verdict: c.verdict, Status: 200,
			}})
			for _, page := range []string{"/agents", "/agents/GPTBot"} {
				status, body := o.get(o.at(page))
				for _, part := range c.want {
					if status != 200 || strings.Count(body, part) != 1 {
						t.Errorf("%s has %q %d times", page, part, strings.Count(body, part))
					}
				}
				for _, part := range c.not {
					if strings.Contains(body, part) {
						t.Errorf("%s has %q", page, part)
					}
				}
			}
		})
	}
}
