package reporter

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/firstpick/firstpick/server/channel/traffic"
)

const (
	// A report is cached for ttlFactor times its build time, so that one that is read
	// without pause takes a tenth of a core at most from those who send events.
	ttlFactor  = 9
	maxTTL     = 30 * time.Second
	maxEntries = 100
	// buildTimeout limits the build of a report whose requests were abandoned.
	buildTimeout = time.Minute
)

// A cache holds recent reports. Concurrent requests for the same report share a build.
type cache struct {
	now    func() time.Time
	flight singleflight.Group

	mu      sync.Mutex
	reports map[string]entry
}

type entry struct {
	report *traffic.Report
	until  time.Time
}

// key is the cache key of a query. A window that ends now is the same a moment later.
func key(workspace string, q *traffic.Query) string {
	window := q.To.Sub(q.From).String()
	if !q.UntilNow {
		window = q.From.String() + " " + q.To.String()
	}
	return fmt.Sprintf("%s %s %s %s %s %d %d %t %q", workspace, window, q.TZ, q.Model, q.Lookback, q.Parts, q.Rows(), q.Hours, q.Filter)
}

func (c *cache) fresh(name string) *traffic.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.reports[name]; ok && c.now().Before(r.until) {
		return r.report
	}
	return nil
}

func (c *cache) put(name string, r *traffic.Report, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reports == nil || len(c.reports) >= maxEntries {
		c.reports = map[string]entry{}
	}
	c.reports[name] = entry{r, c.now().Add(min(ttlFactor*took, maxTTL))}
}

// get returns a fresh report, or builds it. The caller must not change it.
func (c *cache) get(ctx context.Context, name string, build func(context.Context) (*traffic.Report, error)) (*traffic.Report, error) {
	if r := c.fresh(name); r != nil {
		return r, nil
	}
	made := c.flight.DoChan(name, func() (any, error) {
		building, stop := context.WithTimeout(context.WithoutCancel(ctx), buildTimeout) // others may wait for it too
		defer stop()
		start := c.now()
		r, err := build(building)
		if err == nil {
			c.put(name, r, c.now().Sub(start))
		}
		return r, err
	})
	select {
	case res := <-made:
		if res.Err != nil {
			return nil, res.Err
		}
		return res.Val.(*traffic.Report), nil //nolint:forcetypeassert // build returns nothing else
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
