// Package limit bounds how often one address may ask. A limit is a token bucket
// per address: a burst of a minute's requests, refilled evenly. Memory is
// bounded; under a flood of addresses the oldest buckets are forgotten, which
// can only ever allow more.
package limit

import (
	"fmt"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

const (
	shards   = 64
	perShard = 4096 // buckets kept in a shard
)

// A Limit is one named limit. Its methods may be called by many goroutines.
type Limit struct {
	Policy []string // value of RateLimit-Policy
	name   string
	quota  float64
	refill float64 // tokens a second
	seed   maphash.Seed
	shard  [shards]shard
}

type shard struct {
	mu      sync.Mutex
	buckets map[netip.Addr]bucket
}

type bucket struct {
	tokens float64
	at     time.Time
}

// New returns a limit of quota requests a minute.
func New(name string, quota int) *Limit {
	l := &Limit{
		Policy: []string{fmt.Sprintf(`"%s";q=%d;w=60`, name, quota)},
		name:   name, quota: float64(quota), refill: float64(quota) / 60, seed: maphash.MakeSeed(),
	}
	for i := range l.shard {
		l.shard[i].buckets = map[netip.Addr]bucket{}
	}
	return l
}

// Allow takes a token of an address. It returns how many are left and, when
// there was none, after how many seconds there will be.
func (l *Limit) Allow(a netip.Addr, now time.Time) (left, after int, ok bool) {
	s := &l.shard[maphash.Comparable(l.seed, key(a))%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	b, known := s.buckets[key(a)]
	if !known {
		b = bucket{l.quota, now}
		if len(s.buckets) >= perShard {
			s.forget(now)
		}
	}
	if past := now.Sub(b.at).Seconds(); past > 0 {
		b.tokens = min(l.quota, b.tokens+past*l.refill)
		b.at = now
	}
	if ok = b.tokens >= 1; ok {
		b.tokens--
	} else {
		after = int((1-b.tokens)/l.refill) + 1
	}
	s.buckets[key(a)] = b
	return int(b.tokens), after, ok
}

// key folds an IPv6 address to its /64: one customer has that many addresses.
func key(a netip.Addr) netip.Addr {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

// forget makes room: buckets that are full again by now, else any half.
func (s *shard) forget(now time.Time) {
	for a, b := range s.buckets {
		if now.Sub(b.at) > time.Minute {
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

// Header returns the value of RateLimit for what Allow said.
func (l *Limit) Header(left, after int) string {
	return fmt.Sprintf(`"%s";r=%d;t=%d`, l.name, left, max(after, int((l.quota-float64(left))/l.refill)))
}

// Len returns how many addresses have a bucket.
func (l *Limit) Len() int {
	n := 0
	for i := range l.shard {
		l.shard[i].mu.Lock()
		n += len(l.shard[i].buckets)
		l.shard[i].mu.Unlock()
	}
	return n
}
