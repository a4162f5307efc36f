package limiter_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/limiter"
)

// A flaky server refuses a share of the questions at random, however few there are, and
// the rest as the server behind it does.
type flaky struct {
	server
	sim   *simulation
	share float64
	told  bool
}

func (f *flaky) admit(now time.Time) (bool, limiter.Signal) {
	if f.sim.random.Float64() < f.share {
		return false, verdict(false, f.told, 100*time.Millisecond)
	}
	return f.server.admit(now)
}

// pastWarmUp counts what one client of a few questions at a time reaches after a
// warm-up of five minutes, or of many round trips.
func pastWarmUp(t *testing.T, s *simulation) (perSecond, refused float64) {
	t.Helper()
	const most = 32
	c := s.client(limiter.Config{Max: most}, -1)
	s.run(max(5*time.Minute, 40*s.latency))
	clean, denied := c.clean, c.denied
	long := max(5*time.Minute, 100*s.latency)
	s.run(long)
	if c.broke != "" {
		t.Fatal(c.broke)
	}
	clean, denied = c.clean-clean, c.denied-denied
	return float64(clean) / long.Seconds(), float64(denied) / float64(clean+denied)
}

// A provider that refuses at random has no limit to be found: what it takes is what it
// would take without refusals, less their share.
func TestScatteredRefusalsDoNotSlowALaneDown(t *testing.T) {
	for _, latency := range []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, 2 * time.Second, 30 * time.Second} {
		free, _ := pastWarmUp(t, newSimulation(open{}, latency))
		for _, share := range []float64{0.02, 0.06, 0.15} {
			for _, told := range []bool{false, true} {
				name := fmt.Sprintf("%2.0f %% at random, %v, Retry-After %v", 100*share, latency, told)
				t.Run(name, func(t *testing.T) {
					sim := newSimulation(nil, latency)
					sim.server = &flaky{open{}, sim, share, told}
					got, refused := pastWarmUp(t, sim)
					least := 0.9 * (1 - share)
					if share == 0.02 && latency > 2*time.Second {
						least = 0.65 // hours pass until there were enough refusals
					}
					t.Logf("%s: %.1f/s, %.2f of %.1f/s without refusals; refused %.3f", name, got, got/free, free, refused)
					if got < least*free {
						t.Errorf("%.2f of the throughput without refusals, want %.2f", got/free, least)
					}
				})
			}
		}
	}
}

// Where refusals come at random and from a limit, the limit is kept to all the same.
func TestALimitBehindScatteredRefusalsIsKeptTo(t *testing.T) {
	for _, share := range []float64{0.02, 0.06, 0.15} {
		for _, told := range []bool{false, true} {
			for _, latency := range []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, 2 * time.Second} {
				name := fmt.Sprintf("%2.0f %% at random before a bucket, %v, Retry-After %v", 100*share, latency, told)
				t.Run(name, func(t *testing.T) {
					sim := newSimulation(nil, latency)
					sim.server = &flaky{&bucket{rate: 20, burst: 20, told: told}, sim, share, told}
					got, refused := pastWarmUp(t, sim)
					t.Logf("%s: %.2f of the limit, refused %.3f", name, got/20, refused)
					if got/20 < 0.5 || refused > share+0.05 {
						t.Errorf("%.2f of the limit, want 0.5; refused %.3f, want at most %.3f", got/20, refused, share+0.05)
					}
				})
			}
		}
	}
}
