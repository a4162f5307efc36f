package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firstpick/firstpick/server/channel/traffic"
)

const ingestWorkspaces = 20

// An ingest sends the events of some sites to a server.
type ingest struct {
	*bench
	workspaces []*workspace
	taken      [ingestWorkspaces]atomic.Int64
	refused    atomic.Int64 // answers with 503
	asked      int
}

func newIngest(b *bench, workspaces int) (*ingest, error) {
	g := &ingest{bench: b}
	for n := range workspaces {
		w, err := b.claimedWorkspace(fmt.Sprintf("w%d@example.com", n))
		if err != nil {
			return nil, err
		}
		g.workspaces = append(g.workspaces, w)
	}
	return g, nil
}

// measureIngest measures ingestion of one server alone, next to a program that
// only spins, and while reports are made without pause; and its memory over millions
// of events.
func measureIngest(b *bench) error {
	g, err := newIngest(b, ingestWorkspaces)
	if err != nil {
		return err
	}
	if err := g.grow(); err != nil {
		return err
	}
	for _, load := range []struct {
		name    string
		callers int
		pace    time.Duration // of the requests of a caller
	}{{"64 callers without pause", 64, 0}, {"64 callers, 10 requests/s each", 64, 100 * time.Millisecond}} {
		if err := g.withReports(load.name, load.callers, load.pace); err != nil {
			return err
		}
	}
	memory, err := b.memory()
	fmt.Printf("  at the end %d MiB; %d requests got 503 and were repeated\n", memory, g.refused.Load())
	return err
}

// grow sends the events in five parts and waits until reports count them.
func (g *ingest) grow() error {
	memory, err := g.memory()
	if err != nil {
		return err
	}
	fmt.Printf("  at the start %d MiB\n", memory)
	began := time.Now()
	for part := range 5 {
		if err := g.flood(g.events / 5); err != nil {
			return err
		}
		if memory, err = g.memory(); err != nil {
			return err
		}
		fmt.Printf("  %.1f million events: %d MiB\n", float64((part+1)*g.events/5)/1e6, memory)
	}
	fmt.Printf("  taken in at %.0f/s\n", float64(g.events)/time.Since(began).Seconds())
	if err := g.loaded(); err != nil {
		return err
	}
	memory, err = g.memory()
	fmt.Printf("  in reports after %v: %d MiB\n", time.Since(began).Round(time.Second), memory)
	return err
}

// withReports prints the p99 of single events alone, next to a spinning program, and
// next to reports.
func (g *ingest) withReports(name string, callers int, pace time.Duration) error {
	var alone, spun, beside []rate
	reports := 0
	for range g.rounds {
		r, err := g.single(callers, pace)
		if err != nil {
			return err
		}
		alone = append(alone, r)
		spin := exec.Command("nice", "-n", "19", "sh", "-c", "while :; do :; done")
		if err := spin.Start(); err != nil {
			return err
		}
		r, err = g.single(callers, pace)
		_ = spin.Process.Kill()
		_ = spin.Wait() // it ends by our signal
		if err != nil {
			return err
		}
		spun = append(spun, r)
		stop, made, failed := make(chan struct{}), 0, make(chan error, 1)
		go func() { failed <- g.report(stop, &made) }()
		r, err = g.single(callers, pace)
		close(stop)
		if rerr := <-failed; err == nil {
			err = rerr
		}
		if err != nil {
			return err
		}
		beside, reports = append(beside, r), reports+made
	}
	a, s, b := medians(alone).p99, medians(spun).p99, medians(beside).p99
	fmt.Printf("  %s: p99 %.1f ms alone, %.1f ms beside a loop of lowest priority (%.2f times), %.1f ms beside %d reports (%.2f times)\n",
		name, ms(a), ms(s), float64(s)/float64(a), ms(b), reports, float64(b)/float64(a))
	return nil
}

// flood sends events, 100 in a request.
func (g *ingest) flood(events int) error {
	var left atomic.Int64
	left.Store(int64(events / 100))
	var all sync.WaitGroup
	failed := make([]error, 8)
	for i := range failed {
		all.Go(func() {
			for failed[i] == nil && left.Add(-1) >= 0 {
				failed[i] = g.collect(100)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// collect sends a request of some events to one of the workspaces, to the first most
// often. Of 1,000 events 40 are visits of people whom an assistant referred, each of whom
// comes twice, and one is a conversion; the others are agents.
func (g *ingest) collect(n int) error {
	i := g.sent.Add(1)
	dice := float64(i*7919%10_000) / 10_000
	ws := int(float64(len(g.workspaces)) * dice * dice)
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
		got, err := g.send(http.MethodPost, "/api/collect", g.workspaces[ws].key, "application/json", body.Bytes())
		switch {
		case err != nil:
			return err
		case got.status == http.StatusAccepted:
			g.taken[ws].Add(int64(n))
			return nil
		case got.status == http.StatusServiceUnavailable: // the store is slow; the ids make repeating safe
			g.refused.Add(1)
			time.Sleep(100 * time.Millisecond)
		default:
			return fmt.Errorf("collect: %d %s", got.status, got.body)
		}
	}
}

// loaded waits until the report of the first workspace counts all of its events.
func (g *ingest) loaded() error {
	for began := time.Now(); time.Since(began) < 15*time.Minute; time.Sleep(time.Second) {
		got, err := g.send(http.MethodGet, "/api/agent/workspace?window=7d", g.workspaces[0].token, "", nil)
		if err != nil {
			return err
		}
		var r traffic.Report
		if err := json.Unmarshal(got.body, &r); err != nil {
			return fmt.Errorf("report: %d: %w", got.status, err)
		}
		if r.Health.EventsLast24h == g.taken[0].Load() {
			return nil
		}
	}
	return errors.New("reports lack events after 15 minutes")
}

// single measures requests of one event.
func (g *ingest) single(callers int, pace time.Duration) (rate, error) {
	return pacedLoad(callers, g.span, pace, func(int64) error { return g.collect(1) })
}

// report reads reports of the larger workspaces until it is stopped. Each has
// parameters of its own, so that no cache answers.
func (g *ingest) report(stop <-chan struct{}, made *int) error {
	for ; ; *made++ {
		select {
		case <-stop:
			return nil
		default:
		}
		g.asked++
		path := fmt.Sprintf("/api/agent/workspace?window=%dd&lookbackDays=%d", 30+g.asked%60, 7+g.asked%84)
		got, err := g.send(http.MethodGet, path, g.workspaces[g.asked%3].token, "", nil)
		if err == nil && got.status != http.StatusOK {
			err = fmt.Errorf("report: %d %s", got.status, got.body)
		}
		if err != nil {
			return err
		}
	}
}
