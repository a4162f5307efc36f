package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/state/statetest"
	"github.com/firstpick/firstpick/server/traffic"
)

const (
	ingestEnv        = "FIRSTPICK_INGEST" // how many events to send first; nothing is measured without it
	ingestWorkspaces = 20
	ingestRounds     = 5
	ingestFor        = 4 * time.Second // of each round
)

// TestIngestBesideReports measures one server: how it takes events in alone, beside
// a program that only spins, and while reports run without pause; and what memory
// it has before and after millions of events. .ci/bench-reports runs it.
func TestIngestBesideReports(t *testing.T) {
	events, _ := strconv.Atoi(os.Getenv(ingestEnv))
	if events == 0 {
		t.Skip("measures for minutes: set " + ingestEnv + " to a number of events")
	}
	for _, engine := range strings.Fields(cmp.Or(os.Getenv("FIRSTPICK_ENGINES"), "postgres sqlite")) {
		t.Run(engine, func(t *testing.T) {
			var args []string
			if engine == "postgres" {
				args = []string{"--state", durableCluster(t)}
			}
			s := newKilled(t, args...)
			s.start(s.listen)
			g := &ingest{killed: s, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
			for n := range ingestWorkspaces {
				token, key := s.claimedWorkspaceOf(fmt.Sprint("w", n))
				g.tokens, g.keys = append(g.tokens, token), append(g.keys, key)
			}
			t.Logf("at the start %d MiB", g.memory())
			began := time.Now()
			for part := range 5 {
				g.flood(events / 5)
				t.Logf("%.1f million events: %d MiB, file %d MiB", float64((part+1)*events/5)/1e6, g.memory(), g.file())
			}
			t.Logf("taken in at %.0f/s", float64(events)/time.Since(began).Seconds())
			g.loaded()
			t.Logf("in reports after %v: %d MiB, file %d MiB", time.Since(began).Round(time.Second), g.memory(), g.file())
			for _, load := range []struct {
				what    string
				callers int
				pause   time.Duration // between the requests of a caller
			}{{"64 callers without pause", 64, 0}, {"64 callers, 10 requests/s each", 64, 100 * time.Millisecond}} {
				var alone, spun, beside []time.Duration
				reports := 0
				for range ingestRounds {
					alone = append(alone, g.p99(load.callers, load.pause))
					stopSpinning := g.spin()
					spun = append(spun, g.p99(load.callers, load.pause))
					stopSpinning()
					stop, done := make(chan struct{}), make(chan int)
					go func() { done <- g.report(stop) }()
					beside = append(beside, g.p99(load.callers, load.pause))
					close(stop)
					reports += <-done
				}
				a, s, b := median(alone), median(spun), median(beside)
				t.Logf("%s: p99 %v alone, %v beside a loop of lowest priority (%.2f times), %v beside %d reports (%.2f times); all: %v, %v, %v",
					load.what, a, s, float64(s)/float64(a), b, reports, float64(b)/float64(a), alone, spun, beside)
			}
			t.Logf("at the end %d MiB; %d requests were told to come again", g.memory(), g.refused.Load())
		})
	}
}

// durableCluster is cluster with a PostgreSQL that syncs to disk.
func durableCluster(t *testing.T) string {
	t.Helper()
	c, err := statetest.StartCluster(true)
	if errors.Is(err, statetest.ErrNoPostgres) {
		t.Skip("no postgres on this machine")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	address, err := c.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// An ingest drives a server.
type ingest struct {
	*killed
	client       *http.Client
	tokens, keys []string
	sent         [ingestWorkspaces]atomic.Int64
	next         atomic.Int64
	refused      atomic.Int64 // answers with 503
	asked        atomic.Int64
}

// memory is what the server has, in MiB.
func (g *ingest) memory() int {
	g.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.running[0].Process.Pid))
	if err != nil {
		g.t.Skip("this system does not tell of memory")
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		g.t.Fatal(err)
	}
	return kib / 1024
}

func (g *ingest) file() int64 {
	info, err := os.Stat(filepath.Join(g.dir, "data", "traffic.duckdb"))
	if err != nil {
		g.t.Fatal(err)
	}
	return info.Size() >> 20
}

// flood sends events, 100 in a request.
func (g *ingest) flood(events int) {
	var all sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(events / 100))
	for range 8 {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				g.collect(100)
			}
		})
	}
	all.Wait()
}

// collect sends a request of some events to one of the workspaces, to the first
// most often. Of 1,000 events 40 are people whom an assistant sent, each of whom
// comes twice, and one is a conversion; the others are agents.
func (g *ingest) collect(n int) {
	i := g.next.Add(1)
	dice := float64(i*7919%10_000) / 10_000
	ws := int(ingestWorkspaces * dice * dice)
	agents := []string{"GPTBot/1.3; +https://openai.com/gptbot", "ClaudeBot/1.0; +claudebot@anthropic.com", "ChatGPT-User/1.0; +https://openai.com/bot", "PerplexityBot/1.0; +https://perplexity.ai/perplexitybot"}
	var body bytes.Buffer
	body.WriteByte('[')
	for k := range int64(n) {
		if k > 0 {
			body.WriteByte(',')
		}
		switch at := i*int64(n) + k; {
		case at%1000 == 7:
			fmt.Fprintf(&body, `{"type":"convert","id":"%d-%d","visitorToken":"v%d","kind":"signup"}`, i, k, (at-4)/2)
		case at%100 < 4:
			fmt.Fprintf(&body, `{"type":"touch","id":"%d-%d","visitorToken":"v%d","url":"https://acme.example/docs/page-%d?utm_source=chatgpt.com","status":200,"userAgent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"}`,
				i, k, at/2, at%50)
		default:
			fmt.Fprintf(&body, `{"type":"touch","id":"%d-%d","url":"https://acme.example/docs/page-%d.md","status":%d,"userAgent":"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; %s)","ip":"203.0.113.%d"}`,
				i, k, at%300, 200+at%9/8*204, agents[at%4], at%250)
		}
	}
	body.WriteByte(']')
	for {
		switch status := g.ask(http.MethodPost, "/api/collect", g.keys[ws], bytes.NewReader(body.Bytes())); status {
		case http.StatusAccepted:
			g.sent[ws].Add(int64(n))
			return
		case http.StatusServiceUnavailable: // the store is slow; ids make that it may be sent again
			g.refused.Add(1)
			time.Sleep(100 * time.Millisecond)
		default:
			g.t.Errorf("collect answered %d", status)
			return
		}
	}
}

// ask returns the status of an answer, which it reads to its end.
func (g *ingest) ask(method, path, bearer string, body io.Reader) int {
	req, err := http.NewRequestWithContext(context.Background(), method, g.base+path, body)
	if err != nil {
		g.t.Error(err)
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	req.Header.Set("Content-Type", "application/json")
	resp, err := g.client.Do(req)
	if err != nil {
		g.t.Error(err)
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		g.t.Error(err)
	}
	return resp.StatusCode
}

// loaded waits until the report of the first workspace counts all.
func (g *ingest) loaded() {
	g.t.Helper()
	for began := time.Now(); time.Since(began) < 15*time.Minute; time.Sleep(time.Second) { // the loader works meanwhile
		a, err := g.send(g.client, g.base, http.MethodGet, "/api/agent/workspace?window=7d", nil, g.tokens[0])
		if err != nil || a.status != http.StatusOK {
			g.t.Fatal(a, err)
		}
		var r traffic.Report
		if err := json.Unmarshal([]byte(a.body), &r); err != nil {
			g.t.Fatal(err)
		}
		if r.Health.EventsLast24h == g.sent[0].Load() {
			return
		}
	}
	g.t.Fatal("events are not in reports after a quarter of an hour")
}

// p99 sends single events for a while and returns which time one of a hundred
// takes longer than.
func (g *ingest) p99(callers int, pause time.Duration) time.Duration {
	var mu sync.Mutex
	var took []time.Duration
	var all sync.WaitGroup
	began := time.Now()
	for n := range callers {
		all.Go(func() {
			var mine []time.Duration
			time.Sleep(pause * time.Duration(n) / time.Duration(callers)) // callers do not come together
			for time.Since(began) < ingestFor {
				start := time.Now()
				g.collect(1)
				mine = append(mine, time.Since(start))
				time.Sleep(pause - time.Since(start)) // the load is what is measured with
			}
			mu.Lock()
			took = append(took, mine...)
			mu.Unlock()
		})
	}
	all.Wait()
	slices.Sort(took)
	return took[len(took)*99/100]
}

// spin starts a program that only takes time of a core, at the lowest priority: so
// much is the least that anything costs those who send, on few cores.
func (g *ingest) spin() (stop func()) {
	g.t.Helper()
	cmd := exec.CommandContext(g.t.Context(), "nice", "-n", "19", "sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it ends by our signal
	}
}

func median(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/2]
}

// report reads reports of the larger workspaces until it is stopped, and returns
// how many. Each asks something new, so that none was made before.
func (g *ingest) report(stop <-chan struct{}) (n int) {
	for ; ; n++ {
		select {
		case <-stop:
			return n
		default:
		}
		path := fmt.Sprintf("/api/agent/workspace?window=%dd&lookbackDays=%d", 30+g.asked.Add(1)%60, 7+n%84)
		if status := g.ask(http.MethodGet, path, g.tokens[n%3], nil); status != http.StatusOK {
			g.t.Errorf("a report answered %d", status)
		}
	}
}
