package bundle

import (
	"container/list"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/publish/trialset"
)

// A Cache keeps bundles open between requests, because opening one hashes its index,
// which takes longer than most responses. Its methods are safe for concurrent use.
type Cache struct {
	root     string
	fetch    func(workspace, id string) error
	capacity int
	decoder  func() (*zstd.Decoder, error) // one for all bundles

	mu      sync.Mutex
	entries map[cacheKey]*list.Element
	order   *list.List // of *entry, the most recently used in front
	closed  bool
}

type cacheKey struct{ workspace, id string }

// An entry is a bundle in the cache, or an evicted one that is still in use.
type entry struct {
	key  cacheKey
	open func() (*Bundle, error) // opens the bundle on the first call
	// users counts unreleased Gets. Cache.mu guards users and evicted.
	users   int
	evicted bool
}

// NewCache returns a cache for the bundles root/<workspace id>/<bundle id>. It keeps
// at most capacity of them open, and those in use. If fetch is not nil, it is called before
// a bundle is opened, to bring a missing one into root.
func NewCache(root string, fetch func(workspace, id string) error, capacity int) *Cache {
	return &Cache{root: root, fetch: fetch, capacity: max(capacity, 1), decoder: sync.OnceValues(trialset.NewDecoder), entries: map[cacheKey]*list.Element{}, order: list.New()}
}

// Get returns a bundle of a workspace from the cache, or opens it. The caller calls
// release when done, and does not close the bundle. Get fails with trialset.ErrNotFound for
// malformed ids and missing bundles, and with trialset.ErrClosed after Close. Failures are not
// cached.
func (c *Cache) Get(workspace, id string) (b *Bundle, release func(), err error) {
	if !isName(workspace) {
		return nil, nil, fmt.Errorf("run bundles of a workspace %q: %w", workspace, trialset.ErrNotFound)
	}
	e := c.take(cacheKey{workspace, id})
	if e == nil {
		return nil, nil, trialset.ErrClosed
	}
	if b, err = e.open(); err != nil {
		c.forget(e)
		c.release(e)
		return nil, nil, err
	}
	return b, sync.OnceFunc(func() { c.release(e) }), nil
}

// isName reports whether s is a safe folder name, which cannot leave the root.
func isName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' && c != '-'
	})
}

// Close evicts all bundles. Those in use are closed when they are released.
func (c *Cache) Close() error {
	c.mu.Lock()
	c.closed = true
	idle := c.trim(0)
	c.mu.Unlock()
	return closeAll(idle)
}

// take returns the entry of a key, in use and in front. It returns nil after Close.
func (c *Cache) take(key cacheKey) *entry {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	at := c.entries[key]
	if at == nil {
		at = c.order.PushFront(&entry{key: key, open: sync.OnceValues(func() (*Bundle, error) {
			decoder, err := c.decoder()
			if err != nil {
				return nil, err
			}
			if c.fetch != nil {
				if err := c.fetch(key.workspace, key.id); err != nil {
					return nil, err
				}
			}
			return openWith(filepath.Join(c.root, key.workspace), key.id, decoder)
		})})
		c.entries[key] = at
	}
	c.order.MoveToFront(at)
	e := at.Value.(*entry)
	e.users++
	idle := c.trim(c.capacity)
	c.mu.Unlock()
	_ = closeAll(idle) // read only: nothing is lost
	return e
}

// trim evicts the least recently used entries beyond the capacity, and returns those not
// in use. The caller holds the lock, and closes them without it.
func (c *Cache) trim(capacity int) (idle []*entry) {
	for c.order.Len() > capacity {
		if e := c.order.Back().Value.(*entry); c.remove(e) {
			idle = append(idle, e)
		}
	}
	return idle
}

// remove evicts an entry and reports whether it is not in use.
func (c *Cache) remove(e *entry) bool {
	if at := c.entries[e.key]; at != nil && at.Value.(*entry) == e {
		c.order.Remove(at)
		delete(c.entries, e.key)
	}
	e.evicted = true
	return e.users == 0
}

// forget evicts an entry that could not be opened.
func (c *Cache) forget(e *entry) {
	c.mu.Lock()
	c.remove(e)
	c.mu.Unlock()
}

func (c *Cache) release(e *entry) {
	c.mu.Lock()
	e.users--
	last := e.evicted && e.users == 0
	c.mu.Unlock()
	if last {
		_ = closeAll([]*entry{e})
	}
}

func closeAll(entries []*entry) error {
	var errs []error
	for _, e := range entries {
		if b, err := e.open(); err == nil {
			errs = append(errs, b.Close())
		}
	}
	return errors.Join(errs...)
}
