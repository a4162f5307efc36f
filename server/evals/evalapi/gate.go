package evalapi

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/store/quota"
)

// A use is what a limit is about.
type use int

const (
	reading use = iota
	writing
	running
	uses
)

// A gate bounds how often a key may ask, by what for, and how often an address may
// come without a key that works. Each server counts for itself.
type gate struct {
	off       bool
	now       func() time.Time
	keys      [uses]*ratelimit.Limiter[string]
	strangers *ratelimit.Limiter[netip.Addr]
}

func newGate(k quota.Limiter, now func() time.Time) gate {
	g := gate{off: k.Off, now: now, strangers: ratelimit.ByAddress(k.Rules["eval-failures.ip"])}
	for u, rule := range [uses]string{"eval-read.key", "eval-write.key", "eval-run.key"} {
		g.keys[u] = ratelimit.ByKey(k.Rules[rule])
	}
	return g
}

// enter returns who asks, if they may now.
func (h *Handler) enter(w http.ResponseWriter, r *http.Request, u use) (*evals.Actor, error) {
	token, err := bearer(r)
	var actor *evals.Actor
	if err == nil {
		actor, err = h.Evals.Authenticate(r.Context(), token, reqctx.Client(w), r.UserAgent())
	}
	switch {
	case h.gate.off:
		return actor, err
	case err != nil && apierr.Of(err).Status < http.StatusInternalServerError:
		if e := pass(w, h.gate.strangers, reqctx.Client(w), h.gate.now()); e != nil {
			e.Description = "Too many requests without a key that works. Wait as long as Retry-After says."
			return nil, e
		}
		return nil, err
	case err != nil:
		return nil, err
	}
	if e := pass(w, h.gate.keys[u], actor.By, h.gate.now()); e != nil {
		e.Description = "Too many requests with this key. Wait as long as Retry-After says."
		return nil, e
	}
	return actor, nil
}

// pass takes a token and writes the RateLimit headers.
func pass[K comparable](w http.ResponseWriter, l *ratelimit.Limiter[K], key K, now time.Time) *apierr.Error {
	left, after, ok := l.Allow(key, now)
	l.WriteHeaders(w.Header(), left, after)
	if !ok {
		return apierr.RateLimited(after)
	}
	return nil
}

// The answers with whole traces that may be under way, in all and of one workspace,
// however many keys it has: each holds some megabytes for as long as its reader takes.
const (
	maxReads    = 64
	maxOwnReads = 8
)

// heavy answers with whole traces, if there is a place.
func (h *Handler) heavy(c *call, answer func() error) error {
	leave, err := h.reads.Enter(c.Workspace.ID)
	if err != nil {
		e := apierr.RateLimited(1)
		e.Description = "As many answers with whole traces are under way as may be: " + strconv.Itoa(maxOwnReads) + " of one workspace. Wait until one is read."
		return e
	}
	defer leave()
	return answer()
}

// bearer returns the key of a request. It is taken from the Authorization header
// alone (RFC 6750, 2.1).
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
		Description: "This path needs an eval key: Authorization: Bearer fpe_... The owner of a paid workspace makes one in its settings.",
	}
}
