package trust

import (
	"errors"
	"sync"
	"time"
)

const (
	burst      = 3                // fetches of an issuer at once
	refill     = 30 * time.Second // after which one more is allowed
	unknownFor = 30 * time.Second // how long an unknown kid is remembered
	maxUnknown = 256              // unknown kids remembered of an issuer
	staleFor   = 24 * time.Hour   // how long keys serve past their freshness while the issuer is down
)

// A cache holds the keys of one issuer.
type cache struct {
	used time.Time // guarded by Keys.mu

	mu      sync.Mutex
	keys    map[string][]jwk // nil before the first success
	fresh   time.Time        // keys are fresh until then
	failed  bool             // the last fetch failed
	flight  chan struct{}    // closed when the running fetch completes; nil without one
	tokens  float64          // fetches that are allowed now
	filled  time.Time        // when tokens was counted
	unknown map[string]time.Time
}

// A flight is a fetch that is under way; its leader has to do it.
type flight struct {
	leader bool
	done   <-chan struct{}
}

// look answers from memory or returns the fetch that has to be waited for.
func (c *cache) look(now time.Time, kid string) ([]jwk, *flight, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.fresh) {
		if keys := c.keys[kid]; keys != nil {
			return keys, nil, nil
		}
		if until, ok := c.unknown[kid]; ok && now.Before(until) {
			return nil, nil, errUnknownKid
		}
	}
	if c.flight != nil {
		return nil, &flight{done: c.flight}, nil
	}
	if !c.take(now) {
		keys, err := c.answer(now, kid)
		return keys, nil, err
	}
	c.flight = make(chan struct{})
	return nil, &flight{leader: true, done: c.flight}, nil
}

// land stores the result of a fetch.
func (c *cache) land(now time.Time, keys map[string][]jwk, fresh time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed = err != nil; !c.failed {
		c.keys, c.fresh = keys, now.Add(fresh)
	}
	close(c.flight)
	c.flight = nil
}

// settle answers after a fetch and remembers a kid that it did not bring.
func (c *cache) settle(now time.Time, kid string) ([]jwk, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys, err := c.answer(now, kid)
	if errors.Is(err, errUnknownKid) {
		c.remember(now, kid)
	}
	return keys, err
}

// answer looks a kid up in the cached set. A missing kid may be new, so it is reported
// as unknown only while the set is fresh and the issuer reachable.
func (c *cache) answer(now time.Time, kid string) ([]jwk, error) {
	keys := c.keys[kid]
	switch {
	case keys != nil && now.Before(c.fresh.Add(staleFor)):
		return keys, nil
	case now.Before(c.fresh) && !c.failed:
		return nil, errUnknownKid
	}
	return nil, errUnavailable
}

// take takes one token of the bucket.
func (c *cache) take(now time.Time) bool {
	if d := now.Sub(c.filled); d > 0 {
		c.tokens = min(burst, c.tokens+float64(d)/float64(refill))
		c.filled = now
	}
	if c.tokens < 1 {
		return false
	}
	c.tokens--
	return true
}

// remember records an unknown kid. Without room for it only the bucket limits fetches.
func (c *cache) remember(now time.Time, kid string) {
	if len(c.unknown) >= maxUnknown {
		for k, until := range c.unknown {
			if !now.Before(until) {
				delete(c.unknown, k)
			}
		}
	}
	if len(c.unknown) < maxUnknown {
		c.unknown[kid] = now.Add(unknownFor)
	}
}
