package collectapi

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/firstpick/firstpick/server/apierr"
	"github.com/firstpick/firstpick/server/collect"
	"github.com/firstpick/firstpick/server/event"
	"github.com/firstpick/firstpick/server/limit"
	"github.com/firstpick/firstpick/server/reqctx"
)

// A gate bounds how often a key may send, a page that anybody can take the key
// from by address, and how often an address may come with a key that is none.
// Each server counts for itself.
type gate struct {
	off       bool
	keys      *limit.Limit[string]
	clients   *limit.Limit[netip.Addr]
	strangers *limit.Limit[netip.Addr]
	// pages bounds the events of publishable keys: what anybody may read must not use
	// up what the site's own servers may send.
	pages *limit.Limit[string]
}

func newGate(k limit.Keeper) gate {
	return gate{
		off: k.Off, keys: limit.OfKeys(k.Rules["collect.key"]), clients: limit.OfClients(k.Rules["collect.ip"]),
		strangers: limit.OfClients(k.Rules["collect-failures.ip"]), pages: limit.OfKeys(k.Rules["collect-events.key"]),
	}
}

// authenticate returns the key of a token, if it may send now.
func (h *Handler) authenticate(ctx context.Context, w http.ResponseWriter, token string) (*collect.Key, error) {
	key, err := h.Collect.Authenticate(ctx, token)
	now := h.Collect.Now()
	switch {
	case h.gate.off && err != nil:
		return nil, err
	case h.gate.off:
		return key, nil
	case err != nil && apierr.Of(err).Status == http.StatusUnauthorized:
		if e := pass(w, h.gate.strangers, reqctx.Client(w), now); e != nil {
			return nil, e
		}
		return nil, err
	case err != nil && key != nil: // a key that may not send any more counts as it did
		if e := pass(w, h.gate.keys, key.ID, now); e != nil {
			return nil, e
		}
		return nil, err
	case err != nil:
		return nil, err
	case event.KeyKind(key.Kind) == event.KindPublishable:
		return key, pass(w, h.gate.clients, reqctx.Client(w), now)
	default:
		return key, pass(w, h.gate.keys, key.ID, now)
	}
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

// pass takes a token of a limit and tells what is left.
func pass[K comparable](w http.ResponseWriter, l *limit.Limit[K], of K, now time.Time) error {
	left, after, ok := l.Allow(of, now)
	h := w.Header()
	h["Ratelimit-Policy"] = l.Policy
	h["Ratelimit"] = []string{l.Header(left, after)}
	if !ok {
		return apierr.RateLimited(after)
	}
	return nil
}
