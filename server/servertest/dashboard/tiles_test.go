package dashboard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/servertest"
)

// Tiles are compared with the period before, where events reach back over it.
func TestTilesAreComparedWithThePeriodBefore(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	var rows []trafficdb.Row
	visit := func(hoursAgo, n int) {
		for range n {
			at := d.Clock.Now().Add(-time.Duration(hoursAgo) * time.Hour)
			rows = append(rows, trafficdb.Row{Workspace: o.id, Record: event.Record{
				Type: event.Touch, ID: fmt.Sprint(len(rows)), At: at, ReceivedAt: at, Path: "/", Agent: "GPTBot", Class: "training_crawler", Verdict: "verified_ip", Status: 200,
			}})
		}
	}
	visit(3*24, 12)
	visit(9*24, 3)
	visit(14*24-10, 5)
	d.load(t, rows...)
	for window, want := range map[string]string{
		"7d":  `title="up 50% from the 7 days before"><span aria-hidden="true">▲ 50%</span><span class="hidden">up 50% from the 7 days before</span>`,
		"30d": "", // nothing is known of the 30 days before
	} {
		status, body := o.get(o.at("?window=" + window))
		if status != 200 || strings.Contains(body, "▲") != (want != "") || !strings.Contains(body, want) {
			t.Errorf("%s: status %d, want %q", window, status, want)
		}
		if got := strings.Count(body, `class="spark"`); got != 6 {
			t.Errorf("%s: %d sparklines", window, got)
		}
	}
}
