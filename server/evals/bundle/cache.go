package bundle

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/handles"
)

// A Cache keeps bundles open between requests, because opening one hashes its index,
// which takes longer than most responses. Its methods are safe for concurrent use.
type Cache struct {
	open *handles.Cache[cacheKey, *Bundle]
}

type cacheKey struct{ workspace, id string }

// NewCache returns a cache for the bundles root/<workspace id>/<bundle id>. It keeps
// at most capacity of them open, and those in use. If fetch is not nil, it is called before
// a bundle is opened, to bring a missing one into root.
func NewCache(root string, fetch func(workspace, id string) error, capacity int) *Cache {
	decoder := sync.OnceValues(trialset.NewDecoder) // one for all bundles
	return &Cache{handles.NewCache(capacity, func(key cacheKey) (*Bundle, error) {
		d, err := decoder()
		if err == nil && fetch != nil {
			err = fetch(key.workspace, key.id)
		}
		if err != nil {
			return nil, err
		}
		return openWith(filepath.Join(root, key.workspace), key.id, d)
	})}
}

// Get returns a bundle of a workspace from the cache, or opens it. The caller calls
// release when done, and does not close the bundle. Get fails with trialset.ErrNotFound for
// malformed ids and missing bundles, and with trialset.ErrClosed after Close. Failures are not
// cached.
func (c *Cache) Get(workspace, id string) (b *Bundle, release func(), err error) {
	if !isName(workspace) {
		return nil, nil, fmt.Errorf("run bundles of a workspace %q: %w", workspace, trialset.ErrNotFound)
	}
	b, release, err = c.open.Get(cacheKey{workspace, id})
	if errors.Is(err, handles.ErrClosed) {
		err = trialset.ErrClosed
	}
	return b, release, err
}

// isName reports whether s is a safe folder name, which cannot leave the root.
func isName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' && c != '-'
	})
}

// Close evicts all bundles. Those in use are closed when they are released.
func (c *Cache) Close() error { return c.open.Close() }
