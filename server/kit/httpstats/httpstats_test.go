package httpstats_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/kit/httpstats"
)

func TestCounts(t *testing.T) {
	c := httpstats.New([]string{"/b", "/a", "/never"})
	for _, one := range []struct {
		route, method string
		status        int
		took          time.Duration
	}{
		{"/b", "GET", 200, 0}, {"/b", "GET", 299, 100 * time.Microsecond}, {"/a", "PUT", 503, time.Hour}, {"/elsewhere", "GET", 404, time.Second},
		{"/a", "get", 200, time.Nanosecond}, {"/a", "GET", 0, -time.Second}, {"/a", "GET", 612, time.Second},
	} {
		c.Count(one.route, one.method, one.status, one.took)
	}
	bucket := func(at ...int) []uint64 {
		out := make([]uint64, len(httpstats.Bounds())+1)
		for _, i := range at {
			out[i]++
		}
		return out
	}
	second := slices.Index(httpstats.Bounds(), 1)
	want := []httpstats.Route{
		{Pattern: "", Requests: []httpstats.Requests{{Method: "GET", Class: "4xx", N: 1}}, Buckets: bucket(second), Seconds: 1},
		{Pattern: "/a", Requests: []httpstats.Requests{
			{Method: "GET", Class: "other", N: 2}, {Method: "PUT", Class: "5xx", N: 1}, {Method: "other", Class: "2xx", N: 1},
		}, Buckets: bucket(len(httpstats.Bounds()), 0, 0, second), Seconds: 3600 + 1e-9 + 1 - 1},
		{Pattern: "/b", Requests: []httpstats.Requests{{Method: "GET", Class: "2xx", N: 2}}, Buckets: bucket(0, 0), Seconds: 0.0001},
	}
	if diff := cmp.Diff(want, c.Routes()); diff != "" {
		t.Error(diff)
	}
}

// What counting adds to a request.
func BenchmarkCount(b *testing.B) {
	c := httpstats.New([]string{"/api/public/report", "/api/public/leaderboard", "/tools/{tool}", "/leaderboards/{category}", "/healthz"})
	for b.Loop() {
		c.Count("/api/public/report", http.MethodGet, http.StatusOK, 20*time.Microsecond)
	}
}
