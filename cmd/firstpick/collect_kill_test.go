package main

import (
	"fmt"
	mrand "math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/store/state/statetest"
)

const collectSenders = 8

// TestCollectorKilledKeepsWhatItTook kills a server many times while sites send
// events. Every event that was acknowledged is stored, and none twice.
func TestCollectorKilledKeepsWhatItTook(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a server twenty times: half a minute")
	}
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			var args []string
			if engine == "postgres" {
				args = []string{"--state", cluster(t)}
			}
			s := newKilled(t, args...)
			s.start(s.listen)
			key := s.collectorKey()
			var acked, sent []string
			rounds := kills(t, 20)
			for round := range rounds {
				if round > 0 {
					s.start(s.listen)
				}
				a, b := s.sendUntilKilled(key, round)
				acked, sent = append(acked, a...), append(sent, b...)
			}
			s.start(s.listen)
			defer s.kill()
			if len(acked) < rounds {
				t.Fatalf("%d events were acknowledged in %d rounds", len(acked), rounds)
			}
			// What was acknowledged is known again, all of it.
			if accepted, _ := s.resend(key, acked); accepted != 0 {
				t.Errorf("%d of %d acknowledged events were not stored", accepted, len(acked))
			}
			// And with what was cut off sent again, each is there once.
			accepted, duplicates := s.resend(key, sent)
			if accepted+duplicates != len(sent) {
				t.Errorf("%d sent again, %d accepted, %d known", len(sent), accepted, duplicates)
			}
			if a, err := s.send(http.DefaultClient, s.base, "GET", "/api/collect", nil, key); err != nil || a.number("eventsTotal") != len(sent) {
				t.Errorf("%d events were sent, and counted are: %s, %v", len(sent), a, err)
			}
			t.Logf("%d acknowledged of %d sent; %d came only with the second sending", len(acked), len(sent), accepted)
		})
	}
}

// collectorKey registers an agent and makes a secret key.
func (s *killed) collectorKey() string {
	s.t.Helper()
	c := s.begin("site")
	if err := s.register(c); err != nil {
		s.t.Fatal(err)
	}
	if err := s.exchange(c); err != nil {
		s.t.Fatal(err)
	}
	a, err := s.post("/api/agent/keys", map[string]any{"kind": "secret"}, c.tokens[0], http.StatusCreated)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.text("key")
}

// sendUntilKilled sends events of fresh ids from several senders until the server
// is killed. It returns those that were acknowledged, and all.
func (s *killed) sendUntilKilled(key string, round int) (acked, sent []string) {
	s.t.Helper()
	var mu sync.Mutex
	var senders sync.WaitGroup
	stop := make(chan struct{})
	for n := range collectSenders {
		senders.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				ids := make([]string, 1+(i+n)%4)
				for k := range ids {
					ids[k] = fmt.Sprintf("%d-%d-%d-%d", round, n, i, k)
				}
				a, err := s.send(http.DefaultClient, s.base, "POST", "/api/collect", touches(ids), key)
				mu.Lock()
				sent = append(sent, ids...)
				switch {
				case err == nil && a.status == http.StatusAccepted:
					acked = append(acked, ids...)
				case err == nil && a.status != http.StatusServiceUnavailable:
					s.t.Errorf("answered %s", a)
				}
				mu.Unlock()
			}
		})
	}
	time.Sleep(time.Duration(50+mrand.IntN(250)) * time.Millisecond) // the moment of the kill is the test
	s.kill()
	close(stop)
	senders.Wait()
	return acked, sent
}

func touches(ids []string) map[string]any {
	events := make([]any, len(ids))
	for i, id := range ids {
		events[i] = map[string]any{"type": "touch", "id": id, "url": "https://acme.example/" + id}
	}
	return map[string]any{"events": events}
}

// resend sends events in large requests, and returns how many were new and how
// many known.
func (s *killed) resend(key string, ids []string) (accepted, duplicates int) {
	s.t.Helper()
	for len(ids) > 0 {
		n := min(len(ids), 500)
		a, err := s.send(http.DefaultClient, s.base, "POST", "/api/collect", touches(ids[:n]), key)
		if err != nil || a.status != http.StatusAccepted {
			s.t.Fatalf("%s, %v", a, err)
		}
		accepted, duplicates, ids = accepted+a.number("accepted"), duplicates+a.number("duplicates"), ids[n:]
	}
	return accepted, duplicates
}
