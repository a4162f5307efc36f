package evalapi

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/store/quota"
)

// TestRequestsWithoutAKeyAreLimited by address: 30 in ten minutes, then a 429 until
// there is room again.
func TestRequestsWithoutAKeyAreLimited(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	rules := quota.DefaultRules()
	h := &Handler{limits: newLimits(quota.Limiter{Rules: rules}, func() time.Time { return now })}
	ask := func(from string) *apierr.Error {
		t.Helper()
		w := &reqctx.Writer{ResponseWriter: httptest.NewRecorder(), Client: netip.MustParseAddr(from)}
		_, err := h.enter(w, httptest.NewRequest(http.MethodGet, "/api/v1/evals", http.NoBody), reading)
		if err == nil {
			t.Fatal("a request without a key passes")
		}
		return apierr.Of(err)
	}
	const stranger, other = "198.51.100.1", "198.51.100.2"
	for i := range rules["eval-failures.ip"].Quota {
		if e := ask(stranger); e.Status != http.StatusUnauthorized {
			t.Fatalf("request %d: %v", i+1, e)
		}
	}
	e := ask(stranger)
	if e.Status != http.StatusTooManyRequests || e.RetryAfter < 1 {
		t.Fatalf("one more: %d, wait %d", e.Status, e.RetryAfter)
	}
	if e := ask(other); e.Status != http.StatusUnauthorized {
		t.Errorf("another address: %v", e)
	}
	now = now.Add(time.Duration(e.RetryAfter) * time.Second)
	if e := ask(stranger); e.Status != http.StatusUnauthorized {
		t.Errorf("after the wait: %v", e)
	}
}
