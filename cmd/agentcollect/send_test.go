package agentcollect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstpick/firstpick/cmd/agentcollect"
)

// A service answers in memory, as tests tell it to. It counts events by id.
type service struct {
	mu       sync.Mutex
	answer   func(n int) (status int, body string, header http.Header) // to request n, from 0; nil accepts
	stored   map[string]int                                            // id, and how often it was accepted
	order    []string                                                  // paths, as they were accepted
	requests []request
}

type request struct {
	at  time.Time
	ids []string
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	var body struct {
		Events []agentcollect.Event `json:"events"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	if r.Method != "POST" || r.URL.String() != "https://fp.example/api/collect" || r.Header.Get("Authorization") != "Bearer sk" {
		return nil, fmt.Errorf("a strange request: %s %s", r.Method, r.URL)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, e := range body.Events {
		ids = append(ids, e.ID)
	}
	s.requests = append(s.requests, request{time.Now(), ids})
	status, text, header := http.StatusAccepted, "{}", http.Header{}
	if s.answer != nil {
		status, text, header = s.answer(len(s.requests) - 1)
	}
	if status == 0 {
		return nil, errors.New("nobody listens")
	}
	if status < 300 {
		if s.stored == nil {
			s.stored = map[string]int{}
		}
		for _, e := range body.Events {
			if s.stored[e.ID]++; s.stored[e.ID] == 1 {
				s.order = append(s.order, e.Path)
			}
		}
	}
	return &http.Response{StatusCode: status, Status: fmt.Sprint(status), Header: header, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

func (s *service) collector(log io.Writer) *agentcollect.Collector {
	return agentcollect.New(agentcollect.Config{
		URL: "https://fp.example/", Key: "sk", Client: &http.Client{Transport: s}, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
}

func report(c *agentcollect.Collector, from, n int) {
	for i := range n {
		c.Report(agentcollect.Event{Type: agentcollect.Touch, Path: fmt.Sprintf("/%d", from+i)})
	}
}

// inOrder fails unless the service has /from ... /to-1, in order.
func (s *service) inOrder(t *testing.T, from, to int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) != to-from {
		t.Fatalf("%d events arrived, want %d", len(s.order), to-from)
	}
	for i, path := range s.order {
		if path != fmt.Sprintf("/%d", from+i) {
			t.Fatalf("event %d is %s", i, path)
		}
	}
}

func (s *service) arrived() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.order)
}

func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		c := s.collector(io.Discard)
		report(c, 0, 250)
		synctest.Wait()
		if n := s.arrived(); n != 200 { // full batches wait for nobody
			t.Errorf("%d events arrived at once", n)
		}
		time.Sleep(1999 * time.Millisecond)
		synctest.Wait()
		if n := s.arrived(); n != 200 {
			t.Errorf("%d events arrived before 2 s", n)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		s.inOrder(t, 0, 250)
		report(c, 250, 3)
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		s.inOrder(t, 0, 253)
		report(c, 253, 1)
		if got := c.Stats(); got != (agentcollect.Stats{Sent: 253, Dropped: 1}) {
			t.Errorf("%+v", got)
		}
	})
}

// TestAwayAndBack has the service fail in every way that passes. What fits the
// queue arrives, in order, once, and sent again with the ids of the first time.
func TestAwayAndBack(t *testing.T) {
	for name, fail := range map[string]func() (int, string, http.Header){
		"nobody listens": func() (int, string, http.Header) { return 0, "", nil },
		"busy":           func() (int, string, http.Header) { return 503, "{}", http.Header{} },
		"too much":       func() (int, string, http.Header) { return 429, "{}", http.Header{"Retry-After": {"30"}} },
		"a broken proxy": func() (int, string, http.Header) { return 502, "<html>", http.Header{} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				away := true
				s := &service{}
				s.answer = func(int) (int, string, http.Header) {
					if away {
						return fail()
					}
					return 202, "{}", http.Header{}
				}
				var log bytes.Buffer
				c := s.collector(&log)
				report(c, 0, 100)
				synctest.Wait() // this batch is under way
				report(c, 100, 5000)
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				s.mu.Lock()
				away = false
				first := s.requests[0]
				for i, r := range s.requests {
					if fmt.Sprint(r.ids) != fmt.Sprint(first.ids) {
						t.Fatal("a batch was sent again with other ids")
					}
					if i > 0 && name == "too much" && r.at.Sub(s.requests[i-1].at) < 30*time.Second {
						t.Error("it did not wait as it was told to")
					}
				}
				if n := len(s.requests); n < 8 || n > 30 {
					t.Errorf("%d tries in ten minutes", n)
				}
				s.mu.Unlock()
				time.Sleep(3 * time.Minute)
				if err := c.Close(t.Context()); err != nil {
					t.Error(err)
				}
				s.inOrder(t, 0, 5100)
				for id, n := range s.stored {
					if n != 1 {
						t.Fatalf("%s was accepted %d times", id, n)
					}
				}
				if n := strings.Count(log.String(), "\n"); n != 1 {
					t.Errorf("%d lines of log:\n%s", n, log.String())
				}
			})
		})
	}
}

func TestTheOldestAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(int) (int, string, http.Header) { return 503, "", http.Header{} }}
		c := s.collector(io.Discard)
		report(c, 0, 100)
		synctest.Wait() // these are being sent
		report(c, 100, 5300)
		if got := c.Stats(); got.Dropped != 300 || got.Queued != 5100 {
			t.Errorf("%+v", got)
		}
		s.mu.Lock()
		s.answer = nil
		s.mu.Unlock()
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if len(s.order) != 5100 || s.order[99] != "/99" || s.order[100] != "/400" || s.order[5099] != "/5399" {
			t.Errorf("%d arrived: %s %s", len(s.order), s.order[100], s.order[len(s.order)-1])
		}
	})
}

// TestRefused drops what would be refused again, says so once, and goes on.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(n int) (int, string, http.Header) {
			switch n {
			case 0, 1:
				return 401, `{"error":"invalid_key","error_description":"The key is revoked."}`, http.Header{}
			case 2:
				return 302, "", http.Header{"Location": {"https://elsewhere.example/"}}
			case 3:
				return 200, "<html>welcome", http.Header{}
			case 4:
				return 207, `{"accepted":98,"duplicates":1,"rejected":1,"errors":[{"index":3,"message":"kind is missing"}]}`, http.Header{}
			}
			return 202, "{}", http.Header{}
		}}
		var log bytes.Buffer
		c := s.collector(&log)
		report(c, 0, 600)
		synctest.Wait()
		if got := c.Stats(); got != (agentcollect.Stats{Sent: 199, Failed: 401}) {
			t.Errorf("%+v", got)
		}
		for _, words := range []string{"The key is revoked", "302: is url the root", "200: is url the root", "kind is missing"} {
			if strings.Count(log.String(), words) != 1 {
				t.Errorf("the log does not say once %q:\n%s", words, log.String())
			}
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestCloseEnds even when the service is away: soon, with nothing kept up for it.
// TestLargeBatches: a batch that is too large for the service is sent in parts, so
// that what a stranger makes large costs nothing but itself.
func TestLargeBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		s.answer = func(n int) (int, string, http.Header) {
			if len(s.requests[n].ids) > 30 {
				return http.StatusRequestEntityTooLarge, `{"error_description":"too large"}`, nil
			}
			return http.StatusAccepted, "{}", nil
		}
		c := s.collector(io.Discard)
		report(c, 0, 100)
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := c.Stats(); got.Sent != 100 || got.Failed != 0 || got.Queued != 0 || s.arrived() != 100 {
			t.Errorf("%+v, %d arrived", got, s.arrived())
		}
		s.inOrder(t, 0, 100)
	})
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(int) (int, string, http.Header) { return http.StatusRequestEntityTooLarge, "{}", nil }}
		c := s.collector(io.Discard)
		report(c, 0, 3)
		if err := c.Close(t.Context()); err != nil || c.Stats().Failed != 3 || c.Stats().Queued != 0 {
			t.Errorf("%v %+v", err, c.Stats())
		}
	})
}

func TestCloseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(int) (int, string, http.Header) { return 0, "", nil }}
		c := s.collector(io.Discard)
		report(c, 0, 250)
		began := time.Now()
		err := c.Close(context.Background())
		if err == nil || !strings.Contains(err.Error(), "250 events") || time.Since(began) > 15*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
	synctest.Test(t, func(t *testing.T) { // a hanging one ends with the context
		hang := hanging{}
		c := agentcollect.New(agentcollect.Config{URL: "https://fp.example", Key: "sk", Client: &http.Client{Transport: hang}})
		report(c, 0, 1)
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		began := time.Now()
		if err := c.Close(ctx); err == nil || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
	synctest.Test(t, func(t *testing.T) { // once is not away
		s := &service{answer: func(n int) (int, string, http.Header) {
			if n == 0 {
				return 503, "", http.Header{}
			}
			return 202, "{}", http.Header{}
		}}
		c := s.collector(io.Discard)
		report(c, 0, 7)
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		s.inOrder(t, 0, 7)
	})
}

type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestNothingWithoutAKey neither wraps nor queues.
func TestNothingWithoutAKey(t *testing.T) {
	for _, cfg := range []agentcollect.Config{{URL: "https://fp.example"}, {Key: "sk"}, {}} {
		c := agentcollect.New(cfg)
		mux := http.NewServeMux()
		if c.Wrap(mux) != http.Handler(mux) {
			t.Error("a handler was wrapped")
		}
		c.Convert(agentcollect.Conversion{Kind: "signup", Email: "a@example.com"})
		if err := c.Close(t.Context()); err != nil || c.Stats() != (agentcollect.Stats{}) {
			t.Error(err, c.Stats())
		}
	}
}
