package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/agentid"
	"github.com/firstpick/firstpick/server/agents"
	"github.com/firstpick/firstpick/server/attribution"
	"github.com/firstpick/firstpick/server/collect"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/state"
	"github.com/firstpick/firstpick/server/state/statetest"
)

// BenchmarkCollect sends events over loopback, n in a request from some
// connections, and measures beside it what a request cannot do without: the
// shared commit of the same rows. FIRSTPICK_DURABLE=1 makes PostgreSQL sync to
// disk, as SQLite always does here. `make bench` prints ratios.
func BenchmarkCollect(b *testing.B) {
	for _, engine := range statetest.Engines() {
		for _, c := range []struct{ n, callers int }{{1, 64}, {100, 8}} {
			name := fmt.Sprintf("%s/%dx%d", engine, c.n, c.callers)
			b.Run(name+"/store", func(b *testing.B) { benchmarkStore(b, engine, c.n, c.callers) })
			b.Run(name+"/http", func(b *testing.B) { benchmarkHTTP(b, engine, c.n, c.callers) })
		}
	}
}

// timed runs f b.N times from some callers at once and reports events and latency.
func timed(b *testing.B, n, callers int, f func(i int64) error) {
	b.Helper()
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	for range callers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				began := time.Now()
				if err := f(i); err != nil {
					b.Error(err)
					return
				}
				took[i-1] = time.Since(began)
			}
		})
	}
	all.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99_ms")
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	b.ReportMetric(float64(mem.HeapAlloc)/(1<<20), "heap_MiB")
}

func benchmarkStore(b *testing.B, engine string, n, callers int) {
	w := collect.NewWriter(statetest.Open(b, statetest.Address(b, engine)))
	defer w.Close()
	body := bytes.Repeat([]byte("x"), 380) // as large as the records of the requests
	timed(b, n, callers, func(i int64) error {
		events := make([]state.CollectedEvent, n)
		for k := range events {
			events[k] = state.CollectedEvent{WorkspaceID: "ws", ID: strconv.FormatInt(i, 36) + "-" + strconv.Itoa(k), ReceivedAt: servertest.Start(), Body: body}
		}
		_, err := w.Store(b.Context(), events)
		return err
	})
}

func benchmarkHTTP(b *testing.B, engine string, n, callers int) {
	var identifier collect.Identifier
	links, err := attribution.NewSigner(1, map[byte][]byte{1: make([]byte, 32)})
	if err != nil {
		b.Fatal(err)
	}
	identifier.Who, identifier.Links = &agentid.Verifier{Table: agentid.Load()}, links
	s := servertest.New(b, servertest.Options{State: statetest.Address(b, engine), Server: func(c *server.Config) { c.AccessLog = false }})
	s.Collect.Identify = identifier.Identify
	claimed, err := s.Agents.RegisterAnonymous(b.Context(), somebody())
	if err != nil {
		b.Fatal(err)
	}
	claim(b, s, claimed.ClaimToken, "bench@example.com") // an unclaimed workspace may send little
	tokens, err := s.Agents.Redeem(b.Context(), somebody(), claimed.ClaimToken)
	if err != nil {
		b.Fatal(err)
	}
	bearer, err := s.Agents.Authenticate(b.Context(), tokens.AccessToken)
	if err != nil {
		b.Fatal(err)
	}
	_, key, _, err := s.Agents.CreateKey(b.Context(), somebody(), bearer, agents.KeyRequest{Kind: "secret"})
	if err != nil {
		b.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers, MaxConnsPerHost: callers}}
	timed(b, n, callers, func(i int64) error {
		var body bytes.Buffer
		body.WriteByte('[')
		for k := range n {
			if k > 0 {
				body.WriteByte(',')
			}
			fmt.Fprintf(&body, `{"type":"touch","id":"%s-%d","url":"https://acme.example/docs/page-%d.md?via=mcp","method":"GET","status":200,"signals":{"userAgent":"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)","ip":"203.0.113.%d","referrer":"https://chatgpt.com/"}}`,
				strconv.FormatInt(i, 36), k, k%50, k%250)
		}
		body.WriteByte(']')
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, s.URL+"/api/collect", &body)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", jsonMedia)
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusAccepted {
			return unexpected{resp.StatusCode, fmt.Sprint(err)}
		}
		return nil
	})
}
