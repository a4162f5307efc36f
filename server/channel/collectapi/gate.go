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

// A gate bounds how often a key may send; a publishable key, which anybody can read
// in a page, by address; and the failures of an address: wrong keys, and bodies that
// cannot be read of requests without a secret key. Each server counts for itself.
type gate struct {
	off       bool
	keys      *ratelimit.Limiter[string]
	clients   *ratelimit.Limiter[netip.Addr]
	strangers *ratelimit.Limiter[netip.Addr]
	// pages bounds the events of publishable keys: what anybody may read must not use
	// up what the site's own servers may send.
	pages *ratelimit.Limiter[string]
}

func newGate(k quota.Limiter) gate {
	return gate{
		off: k.Off, keys: ratelimit.ByKey(k.Rules["collect.key"]), clients: ratelimit.ByAddress(k.Rules["collect.ip"]),
		strangers: ratelimit.ByAddress(k.Rules["collect-failures.ip"]), pages: ratelimit.ByKey(k.Rules["collect-events.key"]),
	}
}

// authenticate returns the key of a token, if it may send now.
func (h *Handler) authenticate(ctx context.Context, w http.ResponseWriter, token string) (*collect.Key, error) {
	key, err := h.lookUp(ctx, w, token)
	switch {
	case h.gate.off && err != nil:
		return nil, err
	case h.gate.off:
		return key, nil
	case err != nil && key != nil: // a key that may not send any more counts as it did
		if limited := pass(w, h.gate.keys, key.ID, h.Collect.Now(), "with this key"); limited != nil {
			return nil, limited
		}
		return nil, err
	case err != nil:
		return nil, err
	case event.KeyKind(key.Kind) == event.KindPublishable:
		return key, h.gate.page(w, h.Collect.Now())
	default:
		return key, pass(w, h.gate.keys, key.ID, h.Collect.Now(), "with this key")
	}
}

// lookUp returns the key of a token. One that is wrong counts as a failure.
func (h *Handler) lookUp(ctx context.Context, w http.ResponseWriter, token string) (*collect.Key, error) {
	key, err := h.Collect.Authenticate(ctx, token)
	if err != nil && apierr.Of(err).Status == http.StatusUnauthorized {
		if limited := h.gate.failed(w, h.Collect.Now()); limited != nil {
			return nil, limited
		}
	}
	return key, err
}

// page applies the request and failure limits of the client's address to a publishable
// key.
func (g *gate) page(w http.ResponseWriter, now time.Time) error {
	if g.off {
		return nil
	}
	client := reqctx.Client(w)
	if left, after, ok := g.strangers.Peek(client, now); !ok {
		return refuse(w, g.strangers, left, after, "that failed, from this address")
	}
	return pass(w, g.clients, client, now, "from this address")
}

// failed counts a failure of the address. It returns the refusal of one that failed
// too often.
func (g *gate) failed(w http.ResponseWriter, now time.Time) error {
	if g.off {
		return nil
	}
	return pass(w, g.strangers, reqctx.Client(w), now, "that failed, from this address")
}

// events counts what came with a publishable key.
func (g *gate) events(key *collect.Key, n int, now time.Time) error {
	if g.off || event.KeyKind(key.Kind) != event.KindPublishable {
		return nil
	}
	if _, after, ok := g.pages.Take(key.ID, n, now); !ok {
		e := apierr.RateLimited(after)
		e.Description = "This publishable key sent all the events that one may in a day. Send from your servers with a secret key."
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
	e.Description = "Too many requests " + what + ". Wait as long as Retry-After says."
	return e
}
