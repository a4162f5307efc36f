// Package handles keeps expensive things open between requests, such as files whose index
// is hashed when they are opened.
package handles

import (
	"container/list"
	"errors"
	"io"
	"sync"
)

// ErrClosed means that the cache was closed.
var ErrClosed = errors.New("the cache is closed")

// A Cache keeps values open, the most recently used ones. Its methods are safe for
// concurrent use.
type Cache[K comparable, V io.Closer] struct {
	open     func(K) (V, error)
	capacity int

	mu      sync.Mutex
	entries map[K]*list.Element
	order   *list.List // of *entry, the most recently used in front
	closed  bool
}

// An entry is a value in the cache, or an evicted one that is still in use.
type entry[K comparable, V io.Closer] struct {
	key  K
	open func() (V, error) // opens the value on the first call
	// users counts unreleased Gets. Cache.mu guards users and evicted.
	users   int
	evicted bool
}

// NewCache returns a cache that keeps at most capacity values open, and those in use.
func NewCache[K comparable, V io.Closer](capacity int, open func(K) (V, error)) *Cache[K, V] {
	return &Cache[K, V]{open: open, capacity: max(capacity, 1), entries: map[K]*list.Element{}, order: list.New()}
}

// Get returns a value from the cache, or opens it. The caller calls release when done, and
// does not close the value. Get fails with ErrClosed after Close. Failures are not cached.
func (c *Cache[K, V]) Get(key K) (v V, release func(), err error) {
	e := c.take(key)
	if e == nil {
		return v, nil, ErrClosed
	}
	if v, err = e.open(); err != nil {
		c.forget(e)
		c.release(e)
		return v, nil, err
	}
	return v, sync.OnceFunc(func() { c.release(e) }), nil
}

// Keys returns the keys of the kept values, the most recently used first.
func (c *Cache[K, V]) Keys() []K {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := []K{}
	for at := c.order.Front(); at != nil; at = at.Next() {
		out = append(out, at.Value.(*entry[K, V]).key)
	}
	return out
}

// Close evicts all values. Those in use are closed when they are released.
func (c *Cache[K, V]) Close() error {
	c.mu.Lock()
	c.closed = true
	idle := c.trim(0)
	c.mu.Unlock()
	return closeAll(idle)
}

// take returns the entry of a key, in use and in front. It returns nil after Close.
func (c *Cache[K, V]) take(key K) *entry[K, V] {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	at := c.entries[key]
	if at == nil {
		at = c.order.PushFront(&entry[K, V]{key: key, open: sync.OnceValues(func() (V, error) { return c.open(key) })})
		c.entries[key] = at
	}
	c.order.MoveToFront(at)
	e := at.Value.(*entry[K, V])
	e.users++
	idle := c.trim(c.capacity)
	c.mu.Unlock()
	_ = closeAll(idle) // read only: nothing is lost
	return e
}

// trim evicts the least recently used entries beyond the capacity, and returns those not
// in use. The caller holds the lock, and closes them without it.
func (c *Cache[K, V]) trim(capacity int) (idle []*entry[K, V]) {
	for c.order.Len() > capacity {
		if e := c.order.Back().Value.(*entry[K, V]); c.remove(e) {
			idle = append(idle, e)
		}
	}
	return idle
}

// remove evicts an entry and reports whether it is not in use.
func (c *Cache[K, V]) remove(e *entry[K, V]) bool {
	if at := c.entries[e.key]; at != nil && at.Value.(*entry[K, V]) == e {
		c.order.Remove(at)
		delete(c.entries, e.key)
	}
	e.evicted = true
	return e.users == 0
}

// forget evicts an entry that could not be opened.
func (c *Cache[K, V]) forget(e *entry[K, V]) {
	c.mu.Lock()
	c.remove(e)
	c.mu.Unlock()
}

func (c *Cache[K, V]) release(e *entry[K, V]) {
	c.mu.Lock()
	e.users--
	last := e.evicted && e.users == 0
	c.mu.Unlock()
	if last {
		_ = closeAll([]*entry[K, V]{e})
	}
}

func closeAll[K comparable, V io.Closer](entries []*entry[K, V]) error {
	var errs []error
	for _, e := range entries {
		if v, err := e.open(); err == nil {
			errs = append(errs, v.Close())
		}
	}
	return errors.Join(errs...)
}
