// Package httpstats counts requests and their durations by route, without locks or
// allocations on the path of a request.
package httpstats

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Bounds are the upper bounds, in seconds, of the buckets of durations.
func Bounds() []float64 { return slices.Clone(bounds[:]) }

var bounds = [...]float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// A Route has the counts of one route.
type Route struct {
	Pattern  string // "" for paths without a route
	Requests []Requests
	Buckets  []uint64 // a histogram: durations up to each of Bounds, then longer ones
	Seconds  float64  // sum of all durations
}

// Requests counts the requests of a method by class of status.
type Requests struct {
	Method string // "other" for methods of no route
	Class  string // "2xx"; "other" for a status outside 100 to 599
	N      uint64
}

// Counters counts the requests of a server.
type Counters struct{ routes map[string]*counts }

type counts struct {
	requests [len(methods) + 1][6]atomic.Uint64 // by method, and by the status' first digit
	buckets  [len(bounds) + 1]atomic.Uint64
	nanos    atomic.Int64
}

var methods = [...]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions}

// New returns counters for routes, by their patterns.
func New(routes []string) *Counters {
	c := &Counters{map[string]*counts{"": {}}}
	for _, route := range routes {
		c.routes[route] = &counts{}
	}
	return c
}

// Count counts a response. A route that is unknown to New counts as "".
func (c *Counters) Count(route, method string, status int, duration time.Duration) {
	r := c.routes[route]
	if r == nil {
		r = c.routes[""]
	}
	class := status / 100
	if class >= len(r.requests[0]) {
		class = 0
	}
	m := 0
	for m < len(methods) && methods[m] != method {
		m++
	}
	r.requests[m][class].Add(1)
	b, seconds := 0, duration.Seconds()
	for b < len(bounds) && seconds > bounds[b] {
		b++
	}
	r.buckets[b].Add(1)
	r.nanos.Add(int64(duration))
}

// Routes returns the routes that had requests, sorted by pattern.
func (c *Counters) Routes() []Route {
	var out []Route
	for pattern, r := range c.routes {
		route := Route{Pattern: pattern, Buckets: make([]uint64, len(r.buckets)), Seconds: time.Duration(r.nanos.Load()).Seconds()}
		for m := range r.requests {
			method := "other"
			if m < len(methods) {
				method = methods[m]
			}
			for class := range r.requests[m] {
				if n := r.requests[m][class].Load(); n > 0 {
					route.Requests = append(route.Requests, Requests{method, className(class), n})
				}
			}
		}
		for b := range r.buckets {
			route.Buckets[b] = r.buckets[b].Load()
		}
		if len(route.Requests) > 0 {
			out = append(out, route)
		}
	}
	slices.SortFunc(out, func(a, b Route) int { return strings.Compare(a.Pattern, b.Pattern) })
	return out
}

func className(class int) string {
	if class == 0 {
		return "other"
	}
	return string(rune('0'+class)) + "xx"
}
