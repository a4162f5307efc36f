package evals_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/servertest"
)

// A stream is an open answer of events.
type stream struct {
	t     testing.TB
	resp  *http.Response
	lines *bufio.Scanner
	close context.CancelFunc
}

// watch opens a stream, with Last-Event-ID where last is not empty.
func (a *api) watch(run, last string) *stream {
	a.t.Helper()
	ctx, cancel := context.WithCancel(a.t.Context())
	a.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+"/api/v1/runs/"+run+"/events", nil)
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.key)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { resp.Body.Close() })
	return &stream{a.t, resp, bufio.NewScanner(resp.Body), cancel}
}

// next returns the next block that is not empty, "" at the end.
func (s *stream) next() string {
	var block []string
	for s.lines.Scan() {
		if line := s.lines.Text(); line != "" {
			block = append(block, line)
		} else if len(block) > 0 {
			return strings.Join(block, "|")
		}
	}
	return strings.Join(block, "|")
}

func (s *stream) wants(want string) {
	s.t.Helper()
	if got := s.next(); got != want {
		s.t.Fatalf("%q, not %q", got, want)
	}
}

func TestWatching(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		a := newAPI(t, s, s.EvalKey(t, w))
		_, r := s.Ready(t, w)
		live := a.watch(r.ID, "")
		if h := live.resp.Header; live.resp.StatusCode != 200 || h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-store" || h.Get("X-Accel-Buffering") != "no" {
			t.Errorf("%d %v", live.resp.StatusCode, h)
		}
		live.wants("retry: 2000")
		s.Clock.Doze(1)
		s.Clock.Add(20 * time.Second)
		live.wants(": beat")
		row := s.Begin(t)
		s.Clock.Doze(1)
		s.Clock.Add(time.Second)
		live.wants(`id: 1|event: started|data: {"at":"2026-11-21T10:00:20Z","attempt":1,"type":"started"}`)
		s.AppendEvent(t, row, `{"type":"progress","planned":12,"valid":3,"excluded":0,"inFlight":9,"spentUsd":0.01,"atMostUsd":0.2,"lanes":[]}`)
		s.Clock.Doze(1)
		s.Clock.Add(time.Second)
		progress := `id: 2|event: progress|data: {"at":"2026-11-21T10:00:21Z","atMostUsd":0.2,"excluded":0,"inFlight":9,"lanes":[],"planned":12,"spentUsd":0.01,"type":"progress","valid":3}`
		live.wants(progress)
		back := a.watch(r.ID, "1") // who was cut off
		back.wants("retry: 2000")
		back.wants(progress)
		s.Finish(t, row, bundles)
		s.Clock.Doze(2)
		s.Clock.Add(time.Second)
		ended := `id: 3|event: ended|data: {"at":"2026-11-21T10:00:22Z","note":"","status":"done","type":"ended"}`
		for _, one := range []*stream{live, back} {
			one.wants(ended)
			one.wants("")
		}
		late := a.watch(r.ID, "2")
		late.wants("retry: 2000")
		late.wants(ended)
		late.wants("")
		if again := a.watch(r.ID, "3"); again.resp.StatusCode != http.StatusNoContent {
			t.Errorf("who has all is answered %d", again.resp.StatusCode)
		}
		if got := a.get("/api/v1/runs/" + r.ID + "/events?after=1").is(200); !strings.HasSuffix(got.body, strings.ReplaceAll(ended, "|", "\n")+"\n\n") {
			t.Errorf("after 1: %q", got.body)
		}
		if head := a.do(http.MethodHead, "/api/v1/runs/"+r.ID+"/events", ""); head.status != 200 || head.header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("HEAD: %d %v", head.status, head.header)
		}
	})
}

// TestARevokedKeyStopsWatching: a stream does not outlive its key by more than the
// quarter of a minute after which it is looked at again.
func TestARevokedKeyStopsWatching(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	w := s.Workspace(t, "dana", paid)
	a := newAPI(t, s, s.EvalKey(t, w))
	_, r := s.Ready(t, w)
	live := a.watch(r.ID, "")
	live.wants("retry: 2000")
	keys := must(s.Evals.Keys(t.Context(), servertest.Owner(w)))(t)
	if err := s.Evals.RevokeKey(t.Context(), servertest.Owner(w), keys[0].ID); err != nil {
		t.Fatal(err)
	}
	s.Clock.Doze(1)
	s.Clock.Add(16 * time.Second)
	live.wants("")
}

// TestStreamsAreCounted: the keys of a workspace have ten together, and get a place
// back when one is closed; another workspace has its own.
func TestStreamsAreCounted(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	w := s.Workspace(t, "dana", paid)
	a, other := newAPI(t, s, s.EvalKey(t, w)), newAPI(t, s, s.EvalKey(t, w))
	_, r := s.Ready(t, w)
	var open []*stream
	for range 10 {
		one := a.watch(r.ID, "")
		one.wants("retry: 2000")
		open = append(open, one)
	}
	got := a.get("/api/v1/runs/"+r.ID+"/events").refused(429, "rate_limited")
	if !strings.Contains(got.text("error_description"), "streams") || got.header.Get("Retry-After") == "" {
		t.Errorf("%s %v", got.body, got.header)
	}
	other.get("/api/v1/runs/"+r.ID+"/events").refused(429, "rate_limited")
	eves := s.Workspace(t, "eve", paid)
	_, theirs := s.Ready(t, eves)
	newAPI(t, s, s.EvalKey(t, eves)).watch(theirs.ID, "").wants("retry: 2000")
	open[3].close()
	again := a.watch(r.ID, "")
	for again.resp.StatusCode == http.StatusTooManyRequests { // the server learns of it in its own time
		again = a.watch(r.ID, "")
	}
	again.wants("retry: 2000")
}

// TestAServerThatStopsEndsItsStreams at once, also those that nobody reads.
func TestAServerThatStopsEndsItsStreams(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	w := s.Workspace(t, "dana", paid)
	a := newAPI(t, s, s.EvalKey(t, w))
	_, r := s.Ready(t, w)
	live, deaf := a.watch(r.ID, ""), a.watch(r.ID, "")
	live.wants("retry: 2000")
	row := s.Begin(t)
	long := `{"type":"progress","lanes":["` + strings.Repeat("x", 1<<20) + `"]}`
	for range 20 { // more than the connection holds
		s.AppendEvent(t, row, long)
	}
	s.Clock.Doze(2)
	s.Clock.Add(time.Second)
	began := time.Now()
	s.Stop()
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("stopping took %v", d)
	}
	if _, err := io.Copy(io.Discard, live.resp.Body); err == nil && !strings.Contains(s.Log.String(), "/events") {
		t.Error("the stream is not in the log")
	}
	deaf.close()
}

// TestAServerThatStopsFinishesItsStreams: the reader of a stream gets its whole answer,
// which a connection that is cut off does not have.
func TestAServerThatStopsFinishesItsStreams(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	w := s.Workspace(t, "dana", paid)
	a := newAPI(t, s, s.EvalKey(t, w))
	_, r := s.Ready(t, w)
	live := a.watch(r.ID, "")
	live.wants("retry: 2000")
	s.Clock.Doze(1)
	s.Stop()
	for live.lines.Scan() {
	}
	if err := live.lines.Err(); err != nil {
		t.Errorf("the stream is cut off: %v", err)
	}
}
