// Package quota bounds how often one address or key may ask. A limit is a token
// bucket of each: a burst of a window's requests, refilled evenly. Memory is
// bounded; under a flood of addresses the oldest buckets are forgotten, which
// can only ever allow more.
package quota

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
type Limit[K comparable] struct {
	Policy []string // value of RateLimit-Policy
	name   string
	quota  float64
	refill float64 // tokens a second
	window time.Duration
	fold   func(K) K // to what has one bucket
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

// OfClients returns a limit of a rule's quota for each address; an IPv6 customer
// counts as one.
func OfClients(r Rule) *Limit[netip.Addr] { return newLimit(r, customer) }

// OfKeys returns a limit of a rule's quota for each key, by its id.
func OfKeys(r Rule) *Limit[string] { return newLimit(r, func(id string) string { return id }) }

func newLimit[K comparable](r Rule, fold func(K) K) *Limit[K] {
	l := &Limit[K]{
		Policy: []string{fmt.Sprintf(`"%s";q=%d;w=%d`, r.Name, r.Quota, int(r.Window.Seconds()))},
		name:   r.Name, quota: float64(r.Quota), refill: float64(r.Quota) / r.Window.Seconds(), window: r.Window, fold: fold, seed: maphash.MakeSeed(),
	}
	for i := range l.shard {
		l.shard[i].buckets = map[K]bucket{}
	}
	return l
}

// Allow takes a token. It returns how many are left and, when there was none,
// after how many seconds there will be.
func (l *Limit[K]) Allow(of K, now time.Time) (left, after int, ok bool) { return l.Take(of, 1, now) }

// Peek returns what Allow would, and takes nothing.
func (l *Limit[K]) Peek(of K, now time.Time) (left, after int, ok bool) {
	of = l.fold(of)
	s := &l.shard[maphash.Comparable(l.seed, of)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	b, known := s.buckets[of]
	if !known {
		return int(l.quota), 0, true
	}
	if b = l.filled(b, now); b.tokens < 1 {
		after = int((1-b.tokens)/l.refill) + 1
	}
	return int(b.tokens), after, after == 0
}

// filled returns a bucket with what came in until now.
func (l *Limit[K]) filled(b bucket, now time.Time) bucket {
	if past := now.Sub(b.at).Seconds(); past > 0 {
		return bucket{min(l.quota, b.tokens+past*l.refill), now}
	}
	return b
}

// Take takes n tokens, or none when there are fewer; see Allow.
func (l *Limit[K]) Take(of K, n int, now time.Time) (left, after int, ok bool) {
	of = l.fold(of)
	s := &l.shard[maphash.Comparable(l.seed, of)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	b, known := s.buckets[of]
	if !known {
		b = bucket{l.quota, now}
		if len(s.buckets) >= perShard {
			s.forget(now, l.window)
		}
	}
	b = l.filled(b, now)
	if ok = b.tokens >= float64(n); ok {
		b.tokens -= float64(n)
	} else {
		after = int((float64(n)-b.tokens)/l.refill) + 1
	}
	s.buckets[of] = b
	return int(b.tokens), after, ok
}

// The sizes of networks, in bits. One IPv6 customer has a /64 at least, and may have
// a /48; who has one IPv4 address often has its neighbours.
const (
	customer6 = 64
	block6    = 48
	block4    = 24
)

// customer folds an IPv6 address to its /64: one customer has that many addresses.
func customer(a netip.Addr) netip.Addr {
	if a.Is6() {
		if p, err := a.Prefix(customer6); err == nil {
			return p.Addr()
		}
	}
	return a
}

// Address returns the key of rules by address: the IPv4 address, or the /64 of an
// IPv6 one.
func Address(a netip.Addr) string {
	if a.Is6() {
		return prefix(a, customer6)
	}
	return a.String()
}

// Block returns the key of rules by address block: the /24 of an IPv4 address, the
// /48 of an IPv6 one.
func Block(a netip.Addr) string {
	if a.Is6() {
		return prefix(a, block6)
	}
	return prefix(a, block4)
}

func prefix(a netip.Addr, bits int) string {
	p, err := a.Prefix(bits)
	if err != nil || !a.IsValid() {
		return a.String()
	}
	return p.String()
}

// forget makes room: buckets that are full again by now, else any half.
func (s *shard[K]) forget(now time.Time, full time.Duration) {
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

// Header returns the value of RateLimit for what Allow said.
func (l *Limit[K]) Header(left, after int) string {
	return fmt.Sprintf(`"%s";r=%d;t=%d`, l.name, left, max(after, int((l.quota-float64(left))/l.refill)))
}

// Len returns how many addresses or keys have a bucket.
func (l *Limit[K]) Len() int {
	n := 0
	for i := range l.shard {
		l.shard[i].mu.Lock()
		n += len(l.shard[i].buckets)
		l.shard[i].mu.Unlock()
	}
	return n
}
