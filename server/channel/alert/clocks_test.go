package alert

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/picks"
)

// TestAlertsWhileAClockJumps: of two servers one is ahead by a year for an hour, and behind by
// a year for another. A drop is still sent once, soon after it begins, and so is a digest every
// Monday.
func TestAlertsWhileAClockJumps(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		var jump time.Duration
		other := b.open()
		other.Now = func() time.Time { return b.clock.now().Add(jump) }
		if err := b.FollowTool(t.Context(), "w", "acc", "acme", true); err != nil {
			t.Fatal(err)
		}
		sim := newNightly(7)
		var m *picks.Measured
		for _, s := range []*Service{b.Service, other} {
			s.Picks = func(context.Context, string, string) (*picks.Measured, error) { return m, nil }
			s.Picture = func(string, string, string, []Bar) ([]byte, error) { return []byte("png"), nil }
		}
		var drops, digests []int
		for night := range 42 {
			rates := []float64{0.60, 0.20, 0.10}
			if night >= 20 {
				rates = []float64{0.40, 0.20, 0.10}
			}
			m = sim.measure(rates...)
			for hour := range 3 {
				b.clock.add(8 * time.Hour)
				jump = 0
				switch {
				case hour == 1 && night%5 == 3:
					jump = 365 * day
				case hour == 1 && night%5 == 4:
					jump = -365 * day
				}
				_, swept := b.DB.Rewind(t.Context(), b.clock.now())
				if err := errors.Join(swept, other.LookAtPicks(t.Context()), b.LookAtPicks(t.Context())); err != nil {
					t.Fatal(err)
				}
			}
			for _, m := range b.mails() {
				switch m.Subject[:len("[calm-otter-1] Pick rate")] {
				case "[calm-otter-1] Pick rate":
					drops = append(drops, night)
				case "[calm-otter-1] This week":
					digests = append(digests, night)
				default:
					t.Errorf("night %d: %s", night, m.Subject)
				}
			}
		}
		if len(drops) != 1 || drops[0] < 20 || drops[0] > 27 {
			t.Errorf("drops sent on nights %v, want one soon after 20", drops)
		}
		weekly := 0
		for _, night := range digests {
			if night%7 == 1 {
				weekly++
			} else if night%5 != 3 { // the server that is ahead sends that of its week
				t.Errorf("a digest on night %d", night)
			}
		}
		if weekly != 6 {
			t.Errorf("digests on nights %v, want one on each Monday of six weeks", digests)
		}
	})
}
