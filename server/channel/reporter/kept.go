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
	// A report is good for some times as long as it took to make, so that one that is
	// read without pause takes a tenth of a core at most from those who send events.
	goodTimes = 9
	goodMost  = 30 * time.Second
	maxKept   = 100
	// makeTime bounds the making of a report that nobody waits for any more.
	makeTime = time.Minute
)

// kept are reports that were made a moment ago. Those who ask for the same at the
// same time get one.
type kept struct {
	now    func() time.Time
	flight singleflight.Group

	mu      sync.Mutex
	reports map[string]keptReport
}

type keptReport struct {
	report *traffic.Report
	until  time.Time
}

// key names what is asked for. A window that ends now is the same a moment later.
func key(workspace string, q *traffic.Query) string {
	window := q.To.Sub(q.From).String()
	if !q.UntilNow {
		window = q.From.String() + " " + q.To.String()
	}
	return fmt.Sprintf("%s %s %s %s %s %d %d %q", workspace, window, q.TZ, q.Model, q.Lookback, q.Parts, q.Rows(), q.Agent)
}

func (k *kept) good(name string) *traffic.Report {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r, ok := k.reports[name]; ok && k.now().Before(r.until) {
		return r.report
	}
	return nil
}

func (k *kept) keep(name string, r *traffic.Report, took time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reports == nil || len(k.reports) >= maxKept {
		k.reports = map[string]keptReport{}
	}
	k.reports[name] = keptReport{r, k.now().Add(min(goodTimes*took, goodMost))}
}

// get returns a report that is good, or has it made. Nobody may change it.
func (k *kept) get(ctx context.Context, name string, build func(context.Context) (*traffic.Report, error)) (*traffic.Report, error) {
	if r := k.good(name); r != nil {
		return r, nil
	}
	made := k.flight.DoChan(name, func() (any, error) {
		building, stop := context.WithTimeout(context.WithoutCancel(ctx), makeTime) // others may wait for it too
		defer stop()
		start := k.now()
		r, err := build(building)
		if err == nil {
			k.keep(name, r, k.now().Sub(start))
		}
		return r, err
	})
	select {
	case res := <-made:
		if res.Err != nil {
			return nil, res.Err
		}
		return res.Val.(*traffic.Report), nil //nolint:forcetypeassert // it is what was put in
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
