package collectapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestPagesHaveAQuotaOfTheirOwn: what anybody may send with the key of a page does
// not use up what the site's servers may.
func TestPagesHaveAQuotaOfTheirOwn(t *testing.T) {
	rules := quota.DefaultRules()
	if err := rules.Set("collect-events.key", "1000/24h"); err != nil {
		t.Fatal(err)
	}
	g := newLimits(quota.Limiter{Rules: rules})
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	page := &collect.Key{CollectorKey: state.CollectorKey{ID: "k1", Kind: "publishable"}}
	other := &collect.Key{CollectorKey: state.CollectorKey{ID: "k2", Kind: "publishable"}}
	server := &collect.Key{CollectorKey: state.CollectorKey{ID: "k3", Kind: "secret"}}
	for _, c := range []struct {
		key   *collect.Key
		n     int
		after time.Duration
		ok    bool
	}{{page, 600, 0, true}, {page, 401, 0, false}, {page, 400, 0, true}, {page, 1, 0, false}, {other, 1000, 0, true}, {server, 5000, 0, true}, {page, 500, 12*time.Hour + time.Minute, true}} {
		err := g.events(c.key, c.n, now.Add(c.after))
		if (err == nil) != c.ok || err != nil && (apierr.Of(err).Status != http.StatusTooManyRequests || apierr.Of(err).RetryAfter < 1) {
			t.Errorf("%s sends %d after %s: %v", c.key.ID, c.n, c.after, err)
		}
	}
	off := newLimits(quota.Limiter{Rules: rules, Off: true})
	if err := off.events(page, 5000, now); err != nil {
		t.Errorf("with limits off: %v", err)
	}
}
