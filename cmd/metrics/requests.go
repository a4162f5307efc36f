package metrics

import (
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Requests counts HTTP requests by route, method and class of status. It keeps the
// counter of each such triple at hand: a look-up by labels costs five times as much.
type Requests struct {
	total   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

// NewRequests returns counters without requests.
func NewRequests() *Requests {
	return &Requests{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "firstpick_http_requests_total", Help: "Requests answered, by pattern of the path, method and class of status.",
		}, []string{"route", "method", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "firstpick_http_request_duration_seconds", Help: "How long requests took, by pattern of the path.",
			Buckets: []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		}, []string{"route"}),
	}
}

// Describe implements prometheus.Collector.
func (q *Requests) Describe(out chan<- *prometheus.Desc) {
	q.total.Describe(out)
	q.seconds.Describe(out)
}

// Collect implements prometheus.Collector.
func (q *Requests) Collect(out chan<- prometheus.Metric) {
	q.total.Collect(out)
	q.seconds.Collect(out)
}

// methods have counters of their own; all others are "other".
var methods = [...]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions}

// A series is the metrics of one route, method and class.
type series struct {
	total   prometheus.Counter
	seconds prometheus.Observer
}

// A routeSeries has a place for each method and class; nil before the first request.
type routeSeries [len(methods) + 1][6]atomic.Pointer[series]

// Counter returns a function that counts the requests of routes; requests of others
// have the route "". Many goroutines may call it.
func (q *Requests) Counter(routes []string) func(route, method string, status int, took time.Duration) {
	all := map[string]*routeSeries{"": {}}
	for _, route := range routes {
		all[route] = &routeSeries{}
	}
	return func(route, method string, status int, took time.Duration) {
		s := all[route]
		if s == nil {
			route, s = "", all[""]
		}
		m := slices.Index(methods[:], method)
		if m < 0 {
			m, method = len(methods), "other"
		}
		class := status / 100
		if class >= len(s[m]) {
			class = 0
		}
		p := s[m][class].Load()
		if p == nil {
			code := "other"
			if class > 0 {
				code = strconv.Itoa(class) + "xx"
			}
			p = &series{q.total.WithLabelValues(route, method, code), q.seconds.WithLabelValues(route)}
			s[m][class].Store(p)
		}
		p.total.Inc()
		p.seconds.Observe(took.Seconds())
	}
}
