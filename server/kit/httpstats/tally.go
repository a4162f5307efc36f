// Package httpstats counts requests in place, without locks or memory of its own per
// request: on the read path there is no room for more.
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

// A Route says how often a route was asked, and how long that took.
type Route struct {
	Pattern  string // "" for paths without a route
	Requests []Requests
	Buckets  []uint64 // durations up to each of Bounds, and one for longer ones
	Seconds  float64  // all durations together
}

// Requests are how many of a method had an answer of a class.
type Requests struct {
	Method string // "other" for those that no route has
	Class  string // "2xx"; "other" for those that HTTP does not have
	N      uint64
}

// A Tally has a place for each route.
type Tally struct{ routes map[string]*counts }

type counts struct {
	requests [len(methods) + 1][6]atomic.Uint64 // by method, and by the status' first digit
	buckets  [len(bounds) + 1]atomic.Uint64
	nanos    atomic.Int64
}

var methods = [...]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions}

// New makes a tally for routes, by their patterns.
func New(routes []string) *Tally {
	t := &Tally{map[string]*counts{"": {}}}
	for _, route := range routes {
		t.routes[route] = &counts{}
	}
	return t
}

// Count counts an answer. A route that was not named to New counts as none.
func (t *Tally) Count(route, method string, status int, took time.Duration) {
	r := t.routes[route]
	if r == nil {
		r = t.routes[""]
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
	b, seconds := 0, took.Seconds()
	for b < len(bounds) && seconds > bounds[b] {
		b++
	}
	r.buckets[b].Add(1)
	r.nanos.Add(int64(took))
}

// Routes returns the routes that were asked, sorted by pattern.
func (t *Tally) Routes() []Route {
	var out []Route
	for pattern, r := range t.routes {
		c := Route{Pattern: pattern, Buckets: make([]uint64, len(r.buckets)), Seconds: time.Duration(r.nanos.Load()).Seconds()}
		for m := range r.requests {
			method := "other"
			if m < len(methods) {
				method = methods[m]
			}
			for class := range r.requests[m] {
				if n := r.requests[m][class].Load(); n > 0 {
					c.Requests = append(c.Requests, Requests{method, className(class), n})
				}
			}
		}
		for b := range r.buckets {
			c.Buckets[b] = r.buckets[b].Load()
		}
		if len(c.Requests) > 0 {
			out = append(out, c)
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
