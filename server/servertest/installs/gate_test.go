package installs_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/servertest"
)

// A gate stands before a real server and lets through what sites send, when the
// test says so.
type gate struct {
	URL string
	Key string // of the workspace
	s   *servertest.Service

	// arrived gets a value when a delivery comes in.
	arrived chan struct{}
	// open holds deliveries until release is called, by the test or a request for
	// /open; nil lets them through.
	open chan struct{}
	once sync.Once

	mu sync.Mutex
	// losesAnswers is how many deliveries are stored and answered with a 503 all the
	// same, as by a connection that breaks.
	losesAnswers int
	deliveries   []delivery
}

// A delivery is a request to the collector, and how it ended.
type delivery struct {
	ids    []string
	status int
	answer string
}

// newGate starts a gate; set says how it behaves, before anything comes.
func newGate(t *testing.T, set ...func(*gate)) *gate {
	t.Helper()
	g := &gate{s: servertest.New(t, servertest.Options{}), arrived: make(chan struct{}, 1000)}
	g.s.Collect.Identify = (&collect.Identifier{Who: &agentid.Verifier{Table: agentid.Load()}}).Identify
	g.Key = g.newKey(t, "secret")
	for _, f := range set {
		f(g)
	}
	web := httptest.NewServer(g)
	t.Cleanup(web.Close)
	t.Cleanup(g.release) // first, for it waits for what is held
	g.URL = web.URL
	return g
}

func (g *gate) newKey(t *testing.T, kind string) string {
	t.Helper()
	who := &registrations.Caller{IP: netip.MustParseAddr("203.0.113.7")}
	r, err := g.s.Agents.RegisterAnonymous(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := g.s.Agents.Exchange(t.Context(), who, r.Assertion, nil)
	if err != nil {
		t.Fatal(err)
	}
	bearer, err := g.s.Agents.Authenticate(t.Context(), tokens.AccessToken)
	if err != nil {
		t.Fatal(err)
	}
	_, key, _, err := g.s.Agents.CreateKey(t.Context(), who, bearer, registrations.KeyRequest{Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// release lets through what is held, and what comes.
func (g *gate) release() {
	g.once.Do(func() {
		if g.open != nil {
			close(g.open)
		}
	})
}

// ServeHTTP passes a delivery on. What came whole is stored, though its sender
// may have given up waiting.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if r.URL.Path == "/open" {
		g.release()
		return
	}
	var d delivery
	var batch struct{ Events []struct{ ID string } }
	if err := json.Unmarshal(body, &batch); err == nil {
		for _, e := range batch.Events {
			d.ids = append(d.ids, e.ID)
		}
	}
	g.arrived <- struct{}{}
	if g.open != nil {
		<-g.open
	}
	req, err := http.NewRequest(r.Method, g.s.URL+r.URL.RequestURI(), bytes.NewReader(body)) //nolint:noctx // outlives its sender
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	req.Header = r.Header.Clone()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	answer, _ := io.ReadAll(resp.Body) // what is missing is seen in the answer
	resp.Body.Close()
	d.status, d.answer = resp.StatusCode, strings.TrimSpace(string(answer))
	g.mu.Lock()
	g.deliveries = append(g.deliveries, d)
	lost := g.losesAnswers > 0
	if lost {
		g.losesAnswers--
		d.status = http.StatusServiceUnavailable
	}
	g.mu.Unlock()
	w.WriteHeader(d.status)
	_, _ = w.Write(answer)
}

// seen returns the deliveries so far.
func (g *gate) seen() []delivery {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]delivery(nil), g.deliveries...)
}

// records returns what is stored, in order.
func (g *gate) records(t *testing.T) []event.Record {
	t.Helper()
	stored, err := g.s.Agents.DB.Read().EventsAfter(t.Context(), 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]event.Record, len(stored))
	for i, e := range stored {
		if err := json.Unmarshal(e.Body, &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// complained fails the test if the server did not take a delivery whole.
func (g *gate) complained(t *testing.T) {
	t.Helper()
	for _, d := range g.seen() {
		if d.status != http.StatusAccepted || strings.Contains(d.answer, `"warnings"`) {
			t.Errorf("a delivery of %d events was answered with %d %s", len(d.ids), d.status, d.answer)
		}
	}
}

// holding makes a gate that answers nothing before it is opened.
func holding(g *gate) { g.open = make(chan struct{}) }

// losing makes a gate that loses its first answer.
func losing(g *gate) { g.losesAnswers = 1 }
