package collectapi

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/store/quota"
)

// limits are the rate limits of keys, of addresses that use a publishable key, which
// everybody can read in a page, and of failures of an address: invalid keys, and
// unreadable bodies without a secret key. Each server counts for itself.
type limits struct {
	off       bool
	keys      *ratelimit.Limiter[string]
	clients   *ratelimit.Limiter[netip.Addr]
	strangers *ratelimit.Limiter[netip.Addr]
	// pages limits the events of publishable keys, so that abuse of such a key does not
	// use up the quota of the site's servers.
	pages *ratelimit.Limiter[string]
}

func newLimits(k quota.Limiter) limits {
	return limits{
		off: k.Off, keys: ratelimit.ByKey(k.Rules["collect.key"]), clients: ratelimit.ByAddress(k.Rules["collect.ip"]),
		strangers: ratelimit.ByAddress(k.Rules["collect-failures.ip"]), pages: ratelimit.ByKey(k.Rules["collect-events.key"]),
	}
}

// authenticate returns the key of a token, if it may send now.
func (h *Handler) authenticate(ctx context.Context, w http.ResponseWriter, token string) (*collect.Key, error) {
	key, err := h.lookUp(ctx, w, token)
	switch {
	case h.limits.off && err != nil:
		return nil, err
	case h.limits.off:
		return key, nil
	case err != nil && key != nil: // the requests of an expired key still count
		if limited := pass(w, h.limits.keys, key.ID, h.Collect.Now(), "with this key"); limited != nil {
			return nil, limited
		}
		return nil, err
	case err != nil:
		return nil, err
	case event.KeyKind(key.Kind) == event.KindPublishable:
		return key, h.limits.page(w, h.Collect.Now())
	default:
		return key, pass(w, h.limits.keys, key.ID, h.Collect.Now(), "with this key")
	}
}

// lookUp returns the key of a token. An invalid token counts as a failure.
func (h *Handler) lookUp(ctx context.Context, w http.ResponseWriter, token string) (*collect.Key, error) {
	key, err := h.Collect.Authenticate(ctx, token)
	if err != nil && apierr.Of(err).Status == http.StatusUnauthorized {
		if limited := h.limits.failed(w, h.Collect.Now()); limited != nil {
			return nil, limited
		}
	}
	return key, err
}

// page applies the request and failure limits of the client's address to a publishable
// key.
func (l *limits) page(w http.ResponseWriter, now time.Time) error {
	if l.off {
		return nil
	}
	client := reqctx.Client(w)
	if left, after, ok := l.strangers.Peek(client, now); !ok {
		return refuse(w, l.strangers, left, after, "that failed, from this address")
	}
	return pass(w, l.clients, client, now, "from this address")
}

// failed counts a failure of the address. It returns an error beyond the limit.
func (l *limits) failed(w http.ResponseWriter, now time.Time) error {
	if l.off {
		return nil
	}
	return pass(w, l.strangers, reqctx.Client(w), now, "that failed, from this address")
}

// events counts the events of a publishable key.
func (l *limits) events(key *collect.Key, n int, now time.Time) error {
	if l.off || event.KeyKind(key.Kind) != event.KindPublishable {
		return nil
	}
	if _, after, ok := l.pages.Take(key.ID, n, now); !ok {
		e := apierr.RateLimited(after)
		e.Description = "This publishable key has used its daily quota of events. Send from your servers with a secret key."
		return e
	}
	return nil
}

// pass takes a token and writes the RateLimit headers. what names the limited requests.
func pass[K comparable](w http.ResponseWriter, l *ratelimit.Limiter[K], key K, now time.Time, what string) error {
	left, after, ok := l.Allow(key, now)
	if !ok {
		return refuse(w, l, left, after, what)
	}
	l.WriteHeaders(w.Header(), left, after)
	return nil
}

func refuse[K comparable](w http.ResponseWriter, l *ratelimit.Limiter[K], left, after int, what string) error {
	l.WriteHeaders(w.Header(), left, after)
	e := apierr.RateLimited(after)
	e.Description = "Too many requests " + what + ". Wait for the time in Retry-After."
	return e
}
