// Package ratelimit limits requests by address or key, in memory. A limiter keeps a
// token bucket of each: a burst of a window's requests, refilled evenly. Memory is
// bounded; under a flood of addresses some buckets are dropped, which can only ever
// allow more.
package ratelimit

import (
	"fmt"
	"hash/maphash"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// A Rule allows Quota requests in a Window.
type Rule struct {
	Name   string
	Quota  int
	Window time.Duration
}

// Policy returns the value of RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers).
func (r Rule) Policy() string {
	return fmt.Sprintf(`"%s";q=%d;w=%d`, r.Name, r.Quota, int(r.Window.Seconds()))
}

// Remaining returns the value of RateLimit: left requests now, and the whole quota
// again after some seconds.
func (r Rule) Remaining(left, reset int) string {
	return fmt.Sprintf(`"%s";r=%d;t=%d`, r.Name, left, reset)
}

const (
	shards   = 64
	perShard = 4096 // buckets kept in a shard
)

// A Limiter applies one rule to many keys. Its methods may be called by many goroutines.
type Limiter[K comparable] struct {
	rule   Rule
	policy []string // value of RateLimit-Policy
	quota  float64
	refill float64   // tokens a second
	fold   func(K) K // maps a key to the key of its bucket
	seed   maphash.Seed
	shard  [shards]shard[K]
}

type shard[K comparable] struct {
	mu      sync.Mutex
	buckets map[K]bucket
}

type bucket struct {
	tokens float64
	at     time.Time
}

// ByAddress returns a limiter with one bucket per IPv4 address or IPv6 /64.
func ByAddress(r Rule) *Limiter[netip.Addr] { return newLimiter(r, customer) }

// ByKey returns a limiter with one bucket per key.
func ByKey(r Rule) *Limiter[string] { return newLimiter(r, func(id string) string { return id }) }

func newLimiter[K comparable](r Rule, fold func(K) K) *Limiter[K] {
	l := &Limiter[K]{
		rule: r, policy: []string{r.Policy()},
		quota: float64(r.Quota), refill: float64(r.Quota) / r.Window.Seconds(), fold: fold, seed: maphash.MakeSeed(),
	}
	for i := range l.shard {
		l.shard[i].buckets = map[K]bucket{}
	}
	return l
}

// Allow takes a token. It returns how many are left and, without one, after how many
// seconds the next is there.
func (l *Limiter[K]) Allow(key K, now time.Time) (left, after int, ok bool) {
	return l.Take(key, 1, now)
}

// Peek returns the result of Allow without taking a token.
func (l *Limiter[K]) Peek(key K, now time.Time) (left, after int, ok bool) {
	key = l.fold(key)
	s := &l.shard[maphash.Comparable(l.seed, key)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	b, known := s.buckets[key]
	if !known {
		return l.rule.Quota, 0, true
	}
	if b = l.refilled(b, now); b.tokens < 1 {
		after = int((1-b.tokens)/l.refill) + 1
	}
	return int(b.tokens), after, after == 0
}

// refilled returns a bucket with the tokens added until now.
func (l *Limiter[K]) refilled(b bucket, now time.Time) bucket {
	if past := now.Sub(b.at).Seconds(); past > 0 {
		return bucket{min(l.quota, b.tokens+past*l.refill), now}
	}
	return b
}

// Take takes n tokens, or no token when there are fewer; see Allow.
func (l *Limiter[K]) Take(key K, n int, now time.Time) (left, after int, ok bool) {
	key = l.fold(key)
	s := &l.shard[maphash.Comparable(l.seed, key)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	b, known := s.buckets[key]
	if !known {
		b = bucket{l.quota, now}
		if len(s.buckets) >= perShard {
			s.evict(now, l.rule.Window)
		}
	}
	b = l.refilled(b, now)
	if ok = b.tokens >= float64(n); ok {
		b.tokens -= float64(n)
	} else {
		after = int((float64(n)-b.tokens)/l.refill) + 1
	}
	s.buckets[key] = b
	return int(b.tokens), after, ok
}

// evict makes room: it drops the buckets that are full again, then any half.
func (s *shard[K]) evict(now time.Time, full time.Duration) {
	for a, b := range s.buckets {
		if now.Sub(b.at) > full {
			delete(s.buckets, a)
		}
	}
	for a := range s.buckets {
		if len(s.buckets) < perShard/2 {
			break
		}
		delete(s.buckets, a)
	}
}

// WriteHeaders sets RateLimit and RateLimit-Policy to the result of Allow, Peek or Take.
func (l *Limiter[K]) WriteHeaders(h http.Header, left, after int) {
	h["Ratelimit-Policy"] = l.policy
	h["Ratelimit"] = []string{l.rule.Remaining(left, max(after, int((l.quota-float64(left))/l.refill)))}
}

// Len returns the number of buckets.
func (l *Limiter[K]) Len() int {
	n := 0
	for i := range l.shard {
		l.shard[i].mu.Lock()
		n += len(l.shard[i].buckets)
		l.shard[i].mu.Unlock()
	}
	return n
}
