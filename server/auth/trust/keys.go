package trust

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/firstpick/firstpick/server/kit/safehttp"
)

// maxIssuers bounds the issuers whose keys are kept at once.
const maxIssuers = 256

var (
	errUnknownKid  = errors.New("unknown kid")
	errUnavailable = errors.New("keys unavailable")
)

// Keys caches issuers' public keys, one cache an issuer: a key id of one issuer
// never finds a key of another. Its methods may be called by many goroutines.
//
// A set is fresh for the max-age of Cache-Control, at least 10 min and at most
// 24 h. An unknown key id makes it fetch again. An issuer is asked at most 3
// times at once and then once in 30 s. While it cannot be reached, keys serve
// for up to 24 h past their freshness.
type Keys struct {
	now     func() time.Time
	guarded *http.Client // connects to public addresses only
	open    *http.Client // for issuers with AllowPrivate

	mu     sync.Mutex
	caches map[source]*cache
}

// A source is the key of a cache: a changed entry of the trust list gets a new cache.
type source struct {
	iss, uri string
	private  bool
}

// NewKeys returns an empty cache. Now is the clock that freshness is measured
// with.
func NewKeys(now func() time.Time) *Keys {
	return &Keys{now: now, guarded: safehttp.NewClient(safehttp.Limits{Timeout: fetchTime}), open: safehttp.NewClient(safehttp.Limits{Timeout: fetchTime, Private: true}), caches: map[source]*cache{}}
}

// find returns the issuer's keys of an id. It fails with errUnknownKid for an unknown id
// and with errUnavailable when the key set cannot be fetched.
func (k *Keys) find(ctx context.Context, issuer Issuer, kid string) ([]jwk, error) {
	c := k.cache(issuer)
	keys, flight, err := c.look(k.now(), kid)
	if flight == nil {
		return keys, err
	}
	if flight.leader {
		// Others wait for this fetch too, so it outlives the one who asked.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
		go func() {
			defer cancel()
			keys, fresh, err := k.fetch(ctx, issuer)
			c.land(k.now(), keys, fresh, err)
		}()
	}
	select {
	case <-flight.done:
		return c.settle(k.now(), kid)
	case <-ctx.Done():
		return nil, errUnavailable
	}
}

// cache returns the issuer's cache, and creates a missing one. Beyond the maximum it
// evicts the least recently used.
func (k *Keys) cache(issuer Issuer) *cache {
	s := source{issuer.ISS, issuer.JWKSURI, issuer.AllowPrivate}
	now := k.now()
	k.mu.Lock()
	defer k.mu.Unlock()
	c, ok := k.caches[s]
	if !ok {
		if len(k.caches) >= maxIssuers {
			k.evict()
		}
		c = &cache{tokens: burst, filled: now, unknown: map[string]time.Time{}}
		k.caches[s] = c
	}
	c.used = now
	return c
}

func (k *Keys) evict() {
	var oldest source
	var found bool
	for s, c := range k.caches {
		if !found || c.used.Before(k.caches[oldest].used) {
			oldest, found = s, true
		}
	}
	delete(k.caches, oldest)
}
