package evalclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstpick/firstpick/server/evals/resource"
)

func event(seq int, body string) string {
	return fmt.Sprintf("id: %d\nevent: x\ndata: %s\n\n", seq, body)
}

const (
	began = `{"type":"started","attempt":1,"at":"2026-11-21T10:00:00Z"}`
	goes  = `{"type":"progress","planned":10,"valid":4,"excluded":1,"inFlight":2,"spentUsd":0.5,"atMostUsd":0.7,"lanes":[{"name":"l","agents":["a"],"phase":"waiting","reason":"r"}]}`
	over  = `{"type":"ended","status":"done","note":""}`
	beat  = ": beat\n\n"
)

// watch collects the events as "SEQ type".
func watch(t *testing.T, c *Client, after int64) (events []string, err error) {
	t.Helper()
	for e, err := range c.Watch(t.Context(), "run_1", after) {
		if err != nil {
			return events, err
		}
		events = append(events, fmt.Sprintf("%d %s", e.Seq, e.Type))
	}
	return events, nil
}

func TestWatchingGoesOnWhereItWasCutOff(t *testing.T) {
	const path = "GET /api/v1/runs/run_1/events"
	whole := []string{"1 started", "2 progress", "3 ended"}
	lost := stream200("")
	for name, c := range map[string]struct {
		after  int64
		script []reply
		events []string
		asked  []string
		slept  []int
		err    string
	}{
		"in one go":        {0, []reply{stream200(beat + event(1, began) + beat + event(2, goes) + event(3, over))}, whole, []string{path}, nil, ""},
		"from a place on":  {2, []reply{stream200(event(3, over))}, whole[2:], []string{path + " Last-Event-ID=2"}, nil, ""},
		"after a break":    {0, []reply{stream200("retry: 3000\n\n" + event(1, began)), stream200(event(2, goes) + event(3, over))}, whole, []string{path, path + " Last-Event-ID=1"}, []int{3}, ""},
		"inside an event":  {0, []reply{stream200(event(1, began) + "id: 2\ndata: {\"type\""), stream200(event(2, goes) + event(3, over))}, whole, []string{path, path + " Last-Event-ID=1"}, []int{1}, ""},
		"what came before": {0, []reply{stream200(event(1, began) + event(2, goes)), stream200(event(1, began) + event(2, goes) + event(3, over))}, whole, []string{path, path + " Last-Event-ID=2"}, []int{1}, ""},
		"a busy server":    {0, []reply{refuse(503, "temporarily_unavailable"), busy(429, "5"), stream200(event(1, began) + event(3, over))}, []string{"1 started", "3 ended"}, []string{path, path, path}, []int{1, 5}, ""},
		"the end again":    {3, []reply{stream200(event(3, over))}, whole[2:], []string{path + " Last-Event-ID=3"}, nil, ""},
		"the end is known": {3, []reply{{status: http.StatusNoContent}}, nil, []string{path + " Last-Event-ID=3"}, nil, ""},
		"no such run":      {0, []reply{refuse(404, CodeRunNotFound)}, nil, []string{path}, nil, CodeRunNotFound},
		"a revoked key":    {0, []reply{stream200(event(1, began)), refuse(401, CodeInvalidToken)}, whole[:1], []string{path, path + " Last-Event-ID=1"}, []int{1}, CodeInvalidToken},
		"unknown types":    {0, []reply{stream200(event(1, began) + event(2, `{"type":"news"}`) + event(3, `no JSON`) + "data: {}\n\n" + event(4, over))}, []string{"1 started", "2 news", "4 ended"}, []string{path}, nil, ""},
		"never an event": {
			0, []reply{lost, lost, lost, lost, lost, lost, lost, lost, lost, lost}, nil,
			[]string{path, path, path, path, path, path, path, path, path, path}, []int{1, 2, 4, 8, 16, 32, 60, 60, 60}, "broke off",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.script...)
			client, clock := newClient(f)
			events, err := watch(t, client, c.after)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if !slices.Equal(events, c.events) {
				t.Errorf("events %q, want %q", events, c.events)
			}
			f.asked(c.asked...)
			if !slices.Equal(clock.slept, c.slept) {
				t.Errorf("slept %v, want %v", clock.slept, c.slept)
			}
		})
	}
}

func TestAnEventHoldsWhatTheServerSays(t *testing.T) {
	f := newFake(t, stream200(event(1, began)+event(2, goes)+event(3, over)))
	client, _ := newClient(f)
	var events []*Event
	for e, err := range client.Watch(t.Context(), "run_1", 0) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if got := f.last.Get("Accept"); got != "text/event-stream" {
		t.Errorf("Accept is %s", got)
	}
	e := events[1]
	if e.Planned != 10 || e.Valid != 4 || e.Excluded != 1 || e.InFlight != 2 || e.SpentUSD != 0.5 || e.AtMostUSD != 0.7 || string(e.Body) != goes {
		t.Errorf("%+v", e)
	}
	if l := e.Lanes[0]; l.Name != "l" || l.Phase != "waiting" || l.Reason != "r" || !slices.Equal(l.Agents, []string{"a"}) {
		t.Errorf("%+v", l)
	}
	if events[0].Attempt != 1 || events[0].At.IsZero() || events[2].Status != resource.Done {
		t.Errorf("%+v and %+v", events[0], events[2])
	}
}

// TestWhoStopsListeningClosesTheStream breaks off after the first event of a run that
// goes on.
func TestWhoStopsListeningClosesTheStream(t *testing.T) {
	closed := make(chan struct{})
	hang := func(_ *http.Request) io.ReadCloser {
		r, w := io.Pipe()
		go func() {
			_, _ = io.WriteString(w, event(1, began))
			_, err := io.WriteString(w, "more")
			for err == nil {
				_, err = io.WriteString(w, beat)
			}
			close(closed)
		}()
		return r
	}
	client, _ := newClient(newFake(t))
	client.HTTP = &http.Client{Transport: piped(hang)}
	for range client.Watch(t.Context(), "run_1", 0) {
		break
	}
	<-closed
}

// piped answers with bodies that are made in this process, so that the clock of a
// bubble counts for them.
type piped func(*http.Request) io.ReadCloser

func (p piped) RoundTrip(r *http.Request) (*http.Response, error) {
	body := p(r)
	if body == nil { // nobody answers
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, Request: r}, nil
}

// TestASilentServerIsGivenUp has it say nothing at all, and nothing after a while. One
// that beats is waited for however long it takes, and so is a slow caller.
func TestASilentServerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &Client{Base: "http://127.0.0.1", Key: testKey, Now: time.Now, Sleep: (&clock{}).sleep}
		start := time.Now()
		client.HTTP = &http.Client{Transport: piped(func(*http.Request) io.ReadCloser { return nil })}
		if _, err := client.Put(t.Context(), nil); !errors.Is(err, errSilent) || time.Since(start) != readTimeout {
			t.Errorf("error %v after %s", err, time.Since(start))
		}

		start = time.Now()
		client.HTTP.Transport = piped(func(r *http.Request) io.ReadCloser {
			body, w := io.Pipe()
			context.AfterFunc(r.Context(), func() { _ = w.CloseWithError(r.Context().Err()) })
			go func() {
				for range 40 {
					_, _ = io.WriteString(w, beat)
					time.Sleep(15 * time.Second)
				}
			}()
			return body
		})
		body, err := client.Download(t.Context(), "run_1", NDJSON, Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // before the first read and after it
			time.Sleep(10 * readTimeout)
			if _, err := body.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.ReadAll(body); !errors.Is(err, errSilent) || time.Since(start) < 29*time.Minute {
			t.Errorf("error %v after %s", err, time.Since(start))
		}
		if err := body.Close(); err != nil {
			t.Error(err)
		}
	})
}
