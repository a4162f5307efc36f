package metrics_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/firstpick/firstpick/cmd/metrics"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

var now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// A page is what a scrape got: figures by name and labels.
type page map[string]float64

// scrape asks a listener as Prometheus does, and checks the answer's form.
func scrape(t *testing.T, url string) page {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/plain;version=0.0.4")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", resp.Status, body, err)
	}
	if problems, err := promlint.New(bytes.NewReader(body)).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	out := page{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			at := strings.TrimSuffix(name+" "+strings.Join(labels, ","), " ")
			out[at] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			if h := m.GetHistogram(); h != nil {
				out[at] = float64(h.GetSampleCount())
				out[at+" sum"] = h.GetSampleSum()
				for _, b := range h.GetBucket() {
					out[fmt.Sprintf("%s up to %v", at, b.GetUpperBound())] = float64(b.GetCumulativeCount())
				}
			}
		}
	}
	return out
}

// ours are the figures of this program with a word in them.
func (p page) ours(word string) page {
	out := page{}
	for name, v := range p {
		if strings.HasPrefix(name, "firstpick_") && strings.Contains(name, word) {
			out[name] = v
		}
	}
	return out
}

func serve(t *testing.T, s metrics.Sources) string {
	t.Helper()
	srv := httptest.NewServer(metrics.Handler(s, slog.New(slog.DiscardHandler)))
	t.Cleanup(srv.Close)
	return srv.URL
}

// The depth and the lag of the queue are those of the store at each scrape.
func TestTheQueueShows(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			db := statetest.Open(t, statetest.Address(t, engine))
			at := now
			url := serve(t, metrics.Sources{Queue: func(ctx context.Context) (state.QueueStats, error) { return db.Read().QueueStats(ctx, at) }})
			want := func(what string, queued, running, abandoned, lag float64) {
				t.Helper()
				got := scrape(t, url)
				if diff := cmp.Diff(page{
					"firstpick_eval_runs state=queued": queued, "firstpick_eval_runs state=running": running, "firstpick_eval_runs state=abandoned": abandoned,
					"firstpick_eval_queue_lag_seconds": lag,
				}, got.ours("eval")); diff != "" || got["firstpick_state_up"] != 1 {
					t.Errorf("%s: up %v, %s", what, got["firstpick_state_up"], diff)
				}
			}
			write := func(fn func(tx *state.Tx) error) {
				t.Helper()
				if err := db.Write(t.Context(), fn); err != nil {
					t.Fatal(err)
				}
			}
			claim := func() {
				write(func(tx *state.Tx) error {
					_, err := tx.ClaimRun(t.Context(), "worker", at, time.Minute)
					return err
				})
			}
			want("at first", 0, 0, 0, 0)
			write(func(tx *state.Tx) error {
				if _, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: "w", Slug: "w", Plan: state.PlanPaid, CreatedAt: now, ClaimedAt: now}); err != nil {
					return err
				}
				if _, _, err := tx.PutEval(t.Context(), &state.Eval{ID: "e", WorkspaceID: "w", Name: "e", Latest: state.EvalVersion{Digest: "d", Summary: []byte("{}"), CreatedAt: now}}, state.EvalCap{Evals: 1, Versions: 1}); err != nil {
					return err
				}
				for i := range 3 {
					r := &state.EvalRun{ID: fmt.Sprint("r", i), WorkspaceID: "w", EvalID: "e", Version: 1, CreatedAt: now.Add(time.Duration(i) * time.Second)}
					if _, _, err := tx.AddRun(t.Context(), r, 3); err != nil {
						return err
					}
				}
				return nil
			})
			at = now.Add(10 * time.Second)
			want("three runs wait", 3, 0, 0, 10)
			claim()
			claim()
			want("two are taken", 1, 2, 0, 8)
			at = at.Add(90 * time.Second)
			want("their worker died", 1, 0, 2, 98)
			claim()
			want("one is taken again", 1, 1, 1, 98)
		})
	}
}

// A store that does not answer is told, as is that nothing is known of the queue.
func TestAStoreThatIsDown(t *testing.T) {
	for name, err := range map[string]error{"it hangs": context.DeadlineExceeded, "it fails": errors.New("no connection")} {
		url := serve(t, metrics.Sources{Queue: func(ctx context.Context) (state.QueueStats, error) {
			if until, bound := ctx.Deadline(); !bound || time.Until(until) > 2*time.Second {
				t.Errorf("a scrape may wait until %v", until)
			}
			return state.QueueStats{}, err
		}})
		got := scrape(t, url).ours("")
		if diff := cmp.Diff(page{"firstpick_state_up": 0}, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestRequestsShow(t *testing.T) {
	requests := metrics.NewRequests()
	count := requests.Counter([]string{"/a", "/a/{b}", "/never"})
	url := serve(t, metrics.Sources{Requests: requests, Events: func() int64 { return 7 }, Lists: func() map[string]time.Time {
		return map[string]time.Time{"openai-gptbot": time.Unix(1_781_136_000, 0)}
	}})
	for _, c := range []struct {
		route, method string
		status        int
		took          time.Duration
	}{
		{"/a", "GET", 200, 50 * time.Microsecond}, {"/a", "GET", 200, 100 * time.Microsecond}, {"/a", "GET", 304, 3 * time.Millisecond},
		{"/a/{b}", "DELETE", 204, time.Minute}, {"/nobody/knows", "PATCH", 404, time.Millisecond}, {"/a", "GET", 999, time.Millisecond},
		{"/a/{b}", "get", 0, -time.Second},
	} {
		count(c.route, c.method, c.status, c.took)
	}
	got := scrape(t, url).ours("")
	for at, want := range map[string]float64{
		"firstpick_collect_waiting_events":                                   7,
		"firstpick_agent_list_timestamp_seconds list=openai-gptbot":          1_781_136_000,
		"firstpick_http_requests_total code=2xx,method=GET,route=/a":         2,
		"firstpick_http_requests_total code=3xx,method=GET,route=/a":         1,
		"firstpick_http_requests_total code=other,method=GET,route=/a":       1,
		"firstpick_http_requests_total code=2xx,method=DELETE,route=/a/{b}":  1,
		"firstpick_http_requests_total code=4xx,method=other,route=":         1,
		"firstpick_http_requests_total code=other,method=other,route=/a/{b}": 1,
		"firstpick_http_request_duration_seconds route=/a":                   4,
		"firstpick_http_request_duration_seconds route=/a up to 0.0001":      2,
		"firstpick_http_request_duration_seconds route=/a up to 0.001":       3,
		"firstpick_http_request_duration_seconds route=/a up to 0.0025":      3,
		"firstpick_http_request_duration_seconds route=/a up to 0.005":       4,
		"firstpick_http_request_duration_seconds route=/a up to +Inf":        4,
		"firstpick_http_request_duration_seconds route=/a/{b} sum":           59,
		"firstpick_http_request_duration_seconds route=/a/{b} up to 10":      1,
		"firstpick_http_request_duration_seconds route=/a/{b} up to +Inf":    2,
		"firstpick_http_request_duration_seconds route= up to 0.001":         1,
	} {
		if v, ok := got[at]; !ok || v != want {
			t.Errorf("%s: %v (%v), want %v", at, v, ok, want)
		}
	}
	if never := got.ours("/never"); len(never) > 0 {
		t.Error(never)
	}
}

func TestRequestsAreCountedAtOnce(t *testing.T) {
	requests := metrics.NewRequests()
	count := requests.Counter([]string{"/a"})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				count("/a", "GET", 200, time.Millisecond)
			}
		})
	}
	all.Wait()
	got := scrape(t, serve(t, metrics.Sources{Requests: requests})).ours("")
	if n := got["firstpick_http_requests_total code=2xx,method=GET,route=/a"]; n != 800 {
		t.Errorf("%v requests of 800", n)
	}
}

// BenchmarkCount is what counting adds to a request.
func BenchmarkCount(b *testing.B) {
	count := metrics.NewRequests().Counter([]string{"/api/public/report", "/api/public/leaderboard", "/tools/{tool}", "/leaderboards/{category}", "/healthz"})
	for b.Loop() {
		count("/api/public/report", http.MethodGet, http.StatusOK, 20*time.Microsecond)
	}
}

func TestAWorkerShows(t *testing.T) {
	var mu sync.Mutex
	w := metrics.Worker{Taken: 3, Ended: map[string]uint64{"done": 1, "failed": 1}, Trials: 96, SpentUSD: 1.25}
	url := serve(t, metrics.Sources{Worker: func() metrics.Worker {
		mu.Lock()
		defer mu.Unlock()
		w.Trials++
		return w
	}})
	if diff := cmp.Diff(page{
		"firstpick_eval_worker_runs_taken_total": 3, "firstpick_eval_worker_runs_ended_total status=done": 1, "firstpick_eval_worker_runs_ended_total status=failed": 1,
		"firstpick_eval_worker_trials_total": 97, "firstpick_eval_worker_spent_usd_total": 1.25,
	}, scrape(t, url).ours("")); diff != "" {
		t.Error(diff)
	}
}

// The process is told of, other paths are not, and two handlers do not meet.
func TestTheListener(t *testing.T) {
	url, other := serve(t, metrics.Sources{}), serve(t, metrics.Sources{Events: func() int64 { return 1 }})
	got := scrape(t, url)
	for _, name := range []string{"go_goroutines", "process_start_time_seconds", "process_resident_memory_bytes"} {
		if got[name] <= 0 {
			t.Errorf("%s: %v", name, got[name])
		}
	}
	if len(got.ours("")) > 0 || len(scrape(t, other).ours("")) != 1 {
		t.Error("figures of another listener")
	}
	for target, status := range map[string]int{"GET /": 404, "GET /debug/pprof/": 404, "POST /metrics": 405} {
		method, path, _ := strings.Cut(target, " ")
		r, err := http.NewRequest(method, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("%s: %s", target, resp.Status)
		}
	}
}
