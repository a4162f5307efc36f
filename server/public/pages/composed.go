package pages

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/views"
)

const (
	maxComposed    = 8 << 20 // bytes, compressed
	maxComposing   = 2       // at a time
	maxWaiting     = 64
	composeTimeout = time.Minute
)

// A composed keeps the pages of one snapshot that readers composed, such as filters of
// boards: the newest, up to maxComposed.
type composed struct {
	flight singleflight.Group
	once   sync.Once
	slots  chan struct{}
	queue  chan struct{}

	mu    sync.Mutex
	site  *snapshotview.Site
	pages map[string]snapshotview.Page
	order []string // oldest first
	size  int
}

// get returns the page at a path with its query, and makes it once for all who wait for it.
// version is a part of the key: what the page depends on besides the snapshot.
func (c *composed) get(ctx context.Context, s *snapshotview.Site, path, version string, make func(context.Context) (views.Page, error)) (page snapshotview.Page, err error) {
	c.once.Do(c.open)
	key := path + " " + version
	if page, ok := c.kept(s, key); ok {
		return page, nil
	}
	result := c.flight.DoChan(s.ID+" "+key, func() (any, error) {
		select {
		case c.queue <- struct{}{}:
			defer func() { <-c.queue }()
		default:
			return page, &apierr.Error{Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", RetryAfter: 5, Description: "Many pages are being made. Try again."}
		}
		c.slots <- struct{}{}
		defer func() { <-c.slots }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), composeTimeout)
		defer cancel()
		made, err := make(ctx)
		if err != nil {
			return page, err
		}
		page, err := s.Pack(path, made.HTML, made.Markdown)
		if err == nil {
			c.keep(s, key, page)
		}
		return page, err
	})
	select {
	case <-ctx.Done():
		return page, ctx.Err()
	case r := <-result:
		return r.Val.(snapshotview.Page), r.Err //nolint:forcetypeassert // of this group
	}
}

func (c *composed) open() {
	c.slots, c.queue = make(chan struct{}, maxComposing), make(chan struct{}, maxWaiting)
}

func (c *composed) kept(s *snapshotview.Site, key string) (page snapshotview.Page, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.site != s {
		return page, false
	}
	page, ok = c.pages[key]
	return page, ok
}

func (c *composed) keep(s *snapshotview.Site, key string, page snapshotview.Page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.site != s {
		c.site, c.pages, c.order, c.size = s, map[string]snapshotview.Page{}, nil, 0
	}
	if _, ok := c.pages[key]; ok {
		return
	}
	c.pages[key], c.order, c.size = page, append(c.order, key), c.size+page.Size()
	for c.size > maxComposed && len(c.order) > 1 {
		c.size -= c.pages[c.order[0]].Size()
		delete(c.pages, c.order[0])
		c.order = c.order[1:]
	}
}
