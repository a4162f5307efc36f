package archive

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	missTTL     = 5 * time.Second // how long a missing file is not asked for again
	maxMisses   = 4096
	readTimeout = time.Minute
)

// A reads keeps what was read from a source, up to a total size, and for missTTL what the
// source does not have. Concurrent requests for a key share one read.
type reads[V any] struct {
	now    func() time.Time
	size   func(V) int
	most   int // total size that is kept
	flight singleflight.Group

	mu     sync.Mutex
	kept   map[string]kept[V]
	total  int
	misses map[string]time.Time // when they were read
}

// A kept value is read again after ttl, or never where it is 0.
type kept[V any] struct {
	v   V
	at  time.Time
	ttl time.Duration
}

// get returns the value of a key. A miss counts for its epoch only: what appears with the next
// epoch is found at once. The error is fs.ErrNotExist for a miss.
func (c *reads[V]) get(ctx context.Context, key, epoch string, ttl time.Duration, read func(context.Context) (V, error)) (v V, err error) {
	if v, found, err := c.lookup(key, epoch); found {
		return v, err
	}
	result := c.flight.DoChan(key+" "+epoch, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
		defer cancel()
		v, err := read(ctx)
		c.keep(key, epoch, ttl, v, err)
		return v, err
	})
	select {
	case <-ctx.Done():
		return v, ctx.Err()
	case r := <-result:
		return r.Val.(V), r.Err //nolint:forcetypeassert // of read
	}
}

func (c *reads[V]) lookup(key, epoch string) (v V, found bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	fresh := func(at time.Time, ttl time.Duration) bool {
		age := now.Sub(at)
		return ttl == 0 || age >= 0 && age < ttl
	}
	if k, ok := c.kept[key]; ok && fresh(k.at, k.ttl) {
		return k.v, true, nil
	}
	if at, ok := c.misses[key+" "+epoch]; ok && fresh(at, missTTL) {
		return v, true, fs.ErrNotExist
	}
	return v, false, nil
}

func (c *reads[V]) keep(key, epoch string, ttl time.Duration, v V, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch size := c.size(v); {
	case errors.Is(err, fs.ErrNotExist):
		if c.misses == nil || len(c.misses) >= maxMisses {
			c.misses = map[string]time.Time{}
		}
		c.misses[key+" "+epoch] = c.now()
	case err == nil && size <= c.most/4:
		if old, ok := c.kept[key]; ok {
			c.total -= c.size(old.v)
		}
		if c.total += size; c.kept == nil || c.total > c.most {
			c.kept, c.total = map[string]kept[V]{}, size
		}
		c.kept[key] = kept[V]{v, c.now(), ttl}
	}
}
