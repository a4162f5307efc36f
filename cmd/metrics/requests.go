package metrics

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Requests counts HTTP requests by route, method and class of status.
type Requests struct {
	mu     sync.Mutex
	routes map[string]*routeCounts
}

// NewRequests returns counters without requests.
func NewRequests() *Requests { return &Requests{routes: map[string]*routeCounts{}} }

// methods have counters of their own; all others are "other".
var methods = [...]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions}

// buckets are the upper bounds of the histogram of durations.
var buckets = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// routeCounts are the counters of a route.
type routeCounts struct {
	total  [len(methods) + 1][6]atomic.Uint64 // by method and class of status
	within [len(buckets) + 1]atomic.Uint64    // requests by the first bucket that has them
	sum    atomic.Int64                       // of durations, in nanoseconds
}

// Counter returns a function that counts the requests of routes; requests of others
// have the route "". Many goroutines may call it.
func (q *Requests) Counter(routes []string) func(route, method string, status int, took time.Duration) {
	all := map[string]*routeCounts{}
	q.mu.Lock()
	for _, route := range append(routes, "") {
		if q.routes[route] == nil {
			q.routes[route] = &routeCounts{}
		}
		all[route] = q.routes[route]
	}
	q.mu.Unlock()
	return func(route, method string, status int, took time.Duration) {
		c := all[route]
		if c == nil {
			c = all[""]
		}
		m := slices.Index(methods[:], method)
		if m < 0 {
			m = len(methods)
		}
		class := status / 100
		if class >= len(c.total[m]) {
			class = 0
		}
		b := 0
		for b < len(buckets) && took > buckets[b] {
			b++
		}
		c.total[m][class].Add(1)
		c.within[b].Add(1)
		c.sum.Add(int64(took))
	}
}

// write writes the counters of routes that had requests.
func (q *Requests) write(x *exposition) {
	q.mu.Lock()
	routes := maps.Clone(q.routes)
	q.mu.Unlock()
	names := slices.Sorted(maps.Keys(routes))
	for _, route := range names {
		for m := range routes[route].total {
			for class := range routes[route].total[m] {
				if n := routes[route].total[m][class].Load(); n > 0 {
					method, code := "other", "other"
					if m < len(methods) {
						method = methods[m]
					}
					if class > 0 {
						code = strconv.Itoa(class) + "xx"
					}
					x.add(counter, "firstpick_http_requests_total", "Requests answered, by pattern of the path, method and class of status.", float64(n),
						"code", code, "method", method, "route", route)
				}
			}
		}
	}
	const name, help = "firstpick_http_request_duration_seconds", "How long requests took, by pattern of the path."
	for _, route := range names {
		c, n := routes[route], uint64(0)
		counts := [len(buckets) + 1]uint64{}
		for i := range c.within {
			n += c.within[i].Load()
			counts[i] = n
		}
		if n == 0 {
			continue
		}
		x.head(histogram, name, help)
		for i, bound := range buckets {
			x.sample(name+"_bucket", float64(counts[i]), "route", route, "le", number(bound.Seconds()))
		}
		x.sample(name+"_bucket", float64(n), "route", route, "le", "+Inf")
		x.sample(name+"_sum", time.Duration(c.sum.Load()).Seconds(), "route", route)
		x.sample(name+"_count", float64(n), "route", route)
	}
}
