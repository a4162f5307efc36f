package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/traffic"
)

// TestReportOfAWorkspace sends events to a real server and reads the report, kills
// the server, and takes the read model away: the numbers stay what they are.
func TestReportOfAWorkspace(t *testing.T) {
	s := newKilled(t)
	s.start(s.listen)
	token, key := s.claimedWorkspace()
	events := func(list ...map[string]any) {
		t.Helper()
		if a, err := s.send(http.DefaultClient, s.base, "POST", "/api/collect", list, key); err != nil || a.status != http.StatusAccepted {
			t.Fatal(a, err)
		}
	}
	const assistant = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)"
	events(
		map[string]any{"type": "touch", "url": "https://acme.example/llms.txt", "status": 404, "userAgent": assistant},
		map[string]any{"type": "touch", "url": "https://acme.example/docs", "status": 200, "userAgent": assistant},
		map[string]any{"type": "touch", "visitorToken": "v1", "url": "https://acme.example/", "referrer": "https://chatgpt.com/"},
		map[string]any{"type": "convert", "email": "buyer@example.org", "kind": "paid", "value": "49.00", "currency": "USD", "orderId": "o1"},
		map[string]any{"type": "touch", "url": "/wp-login.php", "status": 404, "userAgent": "curl/8.5.0"},
	)
	events(map[string]any{"type": "identify", "visitorToken": "v1", "email": "Buyer@Example.org"}) // late

	check := func(when string) {
		t.Helper()
		r := s.reportWith(token, 6)
		switch {
		case len(r.Outcome.TopAgents) != 1 || r.Outcome.TopAgents[0].Agent != "ChatGPT" || r.Outcome.TopAgents[0].Evidence["referrer"] != 1:
			t.Errorf("%s: credited is %+v", when, r.Outcome)
		case r.Outcome.Revenue[0] != (traffic.RevenueOutcome{Currency: "USD", Total: "49.00", AgentDriven: "49.00", Refunded: "0.00"}):
			t.Errorf("%s: revenue is %+v", when, r.Outcome.Revenue)
		case len(r.Source.Agents) != 1 || r.Source.Agents[0].Touches != 2 || r.Source.Agents[0].NoIP != 2:
			t.Errorf("%s: agents are %+v", when, r.Source.Agents)
		case len(r.Source.Gaps) != 1 || r.Source.Gaps[0].Path != "/llms.txt":
			t.Errorf("%s: gaps are %+v", when, r.Source.Gaps)
		case r.Source.Noise["scanner_probe"] != 1:
			t.Errorf("%s: noise is %+v", when, r.Source.Noise)
		}
	}
	check("at first")
	s.kill()
	s.start(s.listen)
	check("after a kill")
	s.kill()
	for _, file := range []string{"traffic.duckdb", "traffic.duckdb.wal"} {
		if err := os.Remove(filepath.Join(s.dir, "data", file)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	s.start(s.listen)
	check("without the read model")

	for query, want := range map[string]int{"?model=linear&lookbackDays=30": 200, "?window=7d&tz=Europe/Berlin": 200, "?model=best": 400, "?window=1y": 400, "?from=2026-11-01&to=2026-10-01": 400} {
		if a, err := s.send(http.DefaultClient, s.base, "GET", "/api/agent/workspace"+query, nil, token); err != nil || a.status != want {
			t.Errorf("%s: %s, %v; want %d", query, a, err, want)
		}
	}
}

// reportWith reads the workspace until its report counts so many events.
func (s *killed) reportWith(token string, events int64) *traffic.Report {
	s.t.Helper()
	var last answer
	for range 300 {
		a, err := s.send(http.DefaultClient, s.base, "GET", "/api/agent/workspace", nil, token)
		if err != nil || a.status != http.StatusOK {
			s.t.Fatal(a, err)
		}
		var r traffic.Report
		if err := json.Unmarshal([]byte(a.body), &r); err != nil {
			s.t.Fatal(err)
		}
		if r.Health.EventsLast24h == events {
			return &r
		}
		last = a
		time.Sleep(100 * time.Millisecond) // events are in reports a second late
	}
	s.t.Fatalf("the report never counts %d events: %s", events, last)
	return nil
}

// claimedWorkspace returns an access token and a collector key of a workspace that
// a person claimed.
func (s *killed) claimedWorkspace() (token, key string) { return s.claimedWorkspaceOf("owner") }

func (s *killed) claimedWorkspaceOf(name string) (token, key string) {
	s.t.Helper()
	c := s.begin(name)
	for _, step := range []func(*ceremony) error{s.register, s.startClaim, s.signIn, s.confirm, s.redeem} {
		if err := step(c); err != nil {
			s.t.Fatal(err)
		}
	}
	a, err := s.post("/api/agent/keys", map[string]any{"kind": "secret"}, c.final, http.StatusCreated)
	if err != nil {
		s.t.Fatal(err)
	}
	return c.final, a.text("key")
}
