package evalapi

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/store/quota"
)

// A use is a class of requests with a rate limit.
type use int

const (
	reading use = iota
	writing
	running
	uses
)

// limits are the rate limits of a key, by class of requests, and of failed
// authentications of an address. Each server counts for itself.
type limits struct {
	off       bool
	now       func() time.Time
	keys      [uses]*ratelimit.Limiter[string]
	strangers *ratelimit.Limiter[netip.Addr]
}

func newLimits(k quota.Limiter, now func() time.Time) limits {
	l := limits{off: k.Off, now: now, strangers: ratelimit.ByAddress(k.Rules["eval-failures.ip"])}
	for u, rule := range [uses]string{"eval-read.key", "eval-write.key", "eval-run.key"} {
		l.keys[u] = ratelimit.ByKey(k.Rules[rule])
	}
	return l
}

// enter authenticates a request and applies the rate limits.
func (h *Handler) enter(w http.ResponseWriter, r *http.Request, u use) (*evals.Actor, error) {
	token, err := bearer(r)
	var actor *evals.Actor
	if err == nil {
		actor, err = h.Evals.Authenticate(r.Context(), token, reqctx.Client(w), r.UserAgent())
	}
	return h.limit(w.Header(), actor, err, reqctx.Client(w), u)
}

// Admit authenticates the key of a request that comes another way than over the routes,
// and applies the same rate limits: a key has one set of them. The request reads, or starts
// a run.
func (h *Handler) Admit(ctx context.Context, token string, ip netip.Addr, userAgent string, starts bool) (*evals.Actor, error) {
	u := reading
	if starts {
		u = running
	}
	actor, err := h.Evals.Authenticate(ctx, token, ip, userAgent)
	return h.limit(http.Header{}, actor, err, ip, u)
}

// limit applies the rate limits to a request that authenticated as actor, or failed to.
func (h *Handler) limit(head http.Header, actor *evals.Actor, err error, ip netip.Addr, u use) (*evals.Actor, error) {
	switch {
	case h.limits.off:
		return actor, err
	case err != nil && apierr.Of(err).Status < http.StatusInternalServerError:
		if e := pass(head, h.limits.strangers, ip, h.limits.now()); e != nil {
			e.Description = "Too many requests without a valid key. Wait for the time in Retry-After."
			return nil, e
		}
		return nil, err
	case err != nil:
		return nil, err
	}
	if e := pass(head, h.limits.keys[u], actor.By, h.limits.now()); e != nil {
		e.Description = "Too many requests with this key. Wait for the time in Retry-After."
		return nil, e
	}
	return actor, nil
}

// pass takes a token and writes the RateLimit headers.
func pass[K comparable](head http.Header, l *ratelimit.Limiter[K], key K, now time.Time) *apierr.Error {
	left, after, ok := l.Allow(key, now)
	l.WriteHeaders(head, left, after)
	if !ok {
		return apierr.RateLimited(after)
	}
	return nil
}

// heavy runs answer, which reads and sends much of the results, within the limits.
func (h *Handler) heavy(c *call, answer func() error) error {
	return h.Evals.Heavy(c.Workspace.ID, answer)
}

// bearer returns the key of a request. It reads only the Authorization header
// (RFC 6750, 2.1).
func bearer(r *http.Request) (string, error) {
	headers := r.Header.Values("Authorization")
	if len(headers) > 1 {
		return "", apierr.InvalidRequest("Send one Authorization header.")
	}
	if len(headers) == 1 {
		scheme, token, _ := strings.Cut(headers[0], " ")
		if token = strings.TrimSpace(token); strings.EqualFold(scheme, "Bearer") && token != "" {
			return token, nil
		}
	}
	return "", &apierr.Error{
		Status: http.StatusUnauthorized, Code: "unauthorized",
		Description: "This path needs an eval key: Authorization: Bearer fpe_... The owner of a paid workspace creates one in its settings.",
	}
}
